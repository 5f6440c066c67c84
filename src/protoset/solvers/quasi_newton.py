"""L-BFGS-B of SciPy on the dual: slower than coordinate ascent, and independent of the compiled kernels."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from protoset.solvers.base import Solution, certify, dot, starting_point

CHECK_EVERY = 5
"""Iterations between two checks of the gap."""

STALLED = 1e-16
"""Gain between two checks, relative to the squared weights, that counts as rounding; weights are then known to 1e-8."""


class _Reached(Exception):  # noqa: N818 - not an error: leaves SciPy's loop
    """The gap is small enough, or does not get smaller."""


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
    """Solve by a bounded quasi-Newton method on the dual; parameters as for ``solve_coordinate``."""
    transposed = features.T.tocsr()
    best = starting_point(features, rho, bound) if start is None else start
    # Scaled by the starting point, so that the method sees numbers around 1.
    unit = float(best.max()) or bound
    best = best / unit
    scale = unit * float(rho.sum()) or 1.0
    n_iter, n_stalled, latest, checked = 0, 0, 0.0, 0.0

    def weights_of(share: np.ndarray) -> np.ndarray:
        return np.maximum(transposed @ (unit * share), 0.0)

    def watch(share: np.ndarray) -> None:
        nonlocal n_iter, n_stalled, best, checked
        n_iter += 1
        best = share.copy()
        if n_iter % CHECK_EVERY == 0:
            solution = certify(features, rho, bound, unit * share, n_iter, "lbfgs")
            n_stalled = n_stalled + 1 if checked - latest <= STALLED * dot(solution.weights, solution.weights) else 0
            if (solution.gap <= tol and solution.weight_error <= weight_tol) or n_stalled >= 3:
                raise _Reached
            checked = latest

    # The line search gives up where a step gains less than the last digit of the dual. Starting afresh, with
    # the dual measured from where it stopped, gives it new digits.
    try:
        while n_iter < max_iter:
            before, origin, origin_weights = n_iter, best, weights_of(best)
            latest = checked = 0.0
            if n_iter > 0:
                # So that the steepest slope is 1: with a small one, the line search may end at once.
                slope = unit * (features @ origin_weights - rho)
                is_open = np.where(slope > 0, origin > 0, origin < bound / unit)
                scale = float(np.abs(slope).max(where=is_open, initial=0.0)) or 1.0

            def loss_from_origin(
                share: np.ndarray,
                origin: np.ndarray = origin,
                origin_weights: np.ndarray = origin_weights,
                scale: float = scale,
            ) -> tuple[float, np.ndarray]:
                nonlocal latest
                weights = weights_of(share)
                grown = 0.5 * dot(weights - origin_weights, weights + origin_weights)
                latest = value = grown - unit * dot(rho, share - origin)
                return value / scale, unit * (features @ weights - rho) / scale

            minimize(
                loss_from_origin,
                origin,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, bound / unit)] * len(rho),
                callback=watch,
                options={"maxiter": max_iter - n_iter, "maxfun": 2 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxls": 60},
            )
            gained = -loss_from_origin(best)[0] * scale
            if n_iter == before or gained <= STALLED * dot(origin_weights, origin_weights):
                break
    except _Reached:
        pass
    return certify(features, rho, bound, unit * best, n_iter, "lbfgs")
