"""Dual coordinate ascent with shrinking, compiled.

One step changes one dual variable. Along it the dual is concave with a curvature of at most
|r_i|^2, so the step gradient / |r_i|^2, cut at the limits, never lowers the dual. Most variables
end at a limit. Variables whose gradient keeps them at a limit are set aside (shrinking), and come
back before the gap is measured on all variables.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from protoset import kernels
from protoset._arrays import row_sums
from protoset.solvers.base import Solution, certify, dot, prove, starting_point

REDUCTION = 0.7
"""Work on the active variables ends when their gradients are this part of the gradients of all variables."""

SMALL_REDUCTION = 0.1
"""The same while less work was done than one pass over all variables."""


def solve_coordinate(
    features: sparse.csr_matrix,
    rho: np.ndarray,
    bound: float,
    *,
    tol: float = 1e-6,
    weight_tol: float = np.inf,
    max_iter: int = 10_000,
    start: np.ndarray | None = None,
) -> Solution:
    """Solve by coordinate ascent on the dual, from the dual variables ``start``.

    Ends at a relative duality gap of ``tol`` and a relative error of the weights of ``weight_tol``, at the latest after
    ``max_iter`` passes over the active objects. ``bound`` is the limit of each dual variable.
    """
    # Unsigned positions spare the kernel the test for negative ones.
    indptr, indices = features.indptr.astype(np.uint64), features.indices.view(np.uint32)
    rows = (indptr, indices, features.data, rho)
    curvature = row_sums(np.square(features.data), features.indptr)
    possible = rho > 0
    dual = starting_point(features, rho, bound) if start is None else start.copy()
    n_iter = 0
    while True:
        # Computed from scratch: rounding errors of the steps add up, and large steps would hide small weights.
        v = features.T @ dual
        weights = np.maximum(v, 0.0)
        products = features @ weights
        proof = prove(products, rho, bound, dual, 0.5 * dot(weights, weights))
        gradient = np.where(possible, rho - products, 0.0)
        smallest = min(0.0, float(gradient.min(where=dual > 0, initial=0.0)))
        largest = max(0.0, float(gradient.max(where=dual < bound, initial=0.0)))
        if proof.reaches(tol, weight_tol) or n_iter >= max_iter or smallest == largest:
            return certify(features, rho, bound, dual, n_iter, "coordinate")
        seen, swept = largest - smallest, 0
        # A variable set aside is at a limit, with a gradient beyond those of all variables that still move.
        low, high = smallest or -np.inf, largest or np.inf
        aside = ((dual <= 0) & (gradient < low)) | ((dual >= bound) & (gradient > high))
        order = np.flatnonzero(possible & ~aside)
        size = len(order)
        # A certificate costs about as much as a pass over all variables: after that much work progress is certified.
        while n_iter < max_iter and largest - smallest > (REDUCTION if swept >= len(rho) else SMALL_REDUCTION) * seen:
            swept += size
            kernels.coordinate.shuffle(order, size, n_iter)
            size, smallest, largest = kernels.coordinate.sweep(*rows, curvature, bound, dual, v, order, size, low, high)
            n_iter += 1
            low, high = smallest or -np.inf, largest or np.inf
