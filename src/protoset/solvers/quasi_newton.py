"""L-BFGS-B on the dual: the second way, from SciPy, slower and independent of our kernels."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from protoset.solvers.base import Solution, certify

CHECK_EVERY = 5


class _Reached(Exception):  # noqa: N818 - not an error: leaves SciPy's loop
    """The gap is small enough."""


def solve_quasi_newton(
    features: sparse.csr_matrix,
    rho: np.ndarray,
    bound: float,
    *,
    tol: float = 1e-6,
    weight_tol: float = np.inf,
    max_iter: int = 10_000,
) -> Solution:
    """Solve by a bounded quasi-Newton method on the dual; parameters as for ``solve_coordinate``."""
    transposed = features.T.tocsr()
    # In units of the limit and of the largest dual value, so that the method's own tests see numbers around 1.
    scale = bound * float(rho.sum()) or 1.0
    n_iter = 0
    best = np.full(len(rho), 0.5)

    def negative_dual(share: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.maximum(transposed @ (bound * share), 0.0)
        value = 0.5 * weights @ weights - bound * (rho @ share)
        return value / scale, bound * (features @ weights - rho) / scale

    def watch(share: np.ndarray) -> None:
        nonlocal n_iter, best
        n_iter += 1
        best = share.copy()
        if n_iter % CHECK_EVERY == 0:
            found = certify(features, rho, bound, bound * share, n_iter, "lbfgs")
            if found.gap <= tol and found.weight_error <= weight_tol:
                raise _Reached

    # The line search may give up near a kink of max(0, .); starting afresh gets past it.
    try:
        while n_iter < max_iter:
            before, start = n_iter, best
            minimize(
                negative_dual,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * len(rho),
                callback=watch,
                options={"maxiter": max_iter - n_iter, "maxfun": 2 * max_iter, "ftol": 0.0, "gtol": 0.0},
            )
            if n_iter == before or negative_dual(best)[0] >= negative_dual(start)[0]:
                break
    except _Reached:
        pass
    return certify(features, rho, bound, bound * best, n_iter, "lbfgs")
