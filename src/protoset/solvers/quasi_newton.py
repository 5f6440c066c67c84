"""L-BFGS-B on the dual: the second way, from SciPy, slower and independent of our kernels."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from protoset.solvers.base import Solution, certify, dot

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
    start: np.ndarray | None = None,
) -> Solution:
    """Solve by a bounded quasi-Newton method on the dual; parameters as for ``solve_coordinate``.

    ``start`` are dual variables to start from, by default half their limit.
    """
    transposed = features.T.tocsr()
    # In units of the limit and of the largest dual value, so that the method sees numbers around 1.
    scale = bound * float(rho.sum()) or 1.0
    n_iter = 0
    best = np.full(len(rho), 0.5) if start is None else start / bound

    def weights_of(share: np.ndarray) -> np.ndarray:
        return np.maximum(transposed @ (bound * share), 0.0)

    def watch(share: np.ndarray) -> None:
        nonlocal n_iter, best
        n_iter += 1
        best = share.copy()
        if n_iter % CHECK_EVERY == 0:
            found = certify(features, rho, bound, bound * share, n_iter, "lbfgs")
            if found.gap <= tol and found.weight_error <= weight_tol:
                raise _Reached

    # The line search gives up where a step gains less than the last digit of the dual. Starting afresh, with
    # the dual measured from where it stopped, gives it new digits.
    try:
        while n_iter < max_iter:
            before, origin, origin_weights = n_iter, best, weights_of(best)

            def loss_from_origin(
                share: np.ndarray, origin: np.ndarray = origin, origin_weights: np.ndarray = origin_weights
            ) -> tuple[float, np.ndarray]:
                weights = weights_of(share)
                grown = 0.5 * dot(weights - origin_weights, weights + origin_weights)
                value = grown - bound * dot(rho, share - origin)
                return value / scale, bound * (features @ weights - rho) / scale

            minimize(
                loss_from_origin,
                origin,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * len(rho),
                callback=watch,
                options={"maxiter": max_iter - n_iter, "maxfun": 2 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxls": 60},
            )
            if n_iter == before or loss_from_origin(best)[0] >= 0:
                break
    except _Reached:
        pass
    return certify(features, rho, bound, bound * best, n_iter, "lbfgs")
