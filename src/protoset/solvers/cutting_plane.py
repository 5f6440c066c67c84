"""The cutting-plane algorithm of the paper (its Algorithm 2) with w >= 0.

There is one slack xi for all constraints: for every subset of the objects, the mean violation over the subset is at
most xi. The working set starts empty. Each round solves the problem over the subsets found so far and
adds the subset that the solution violates most: the objects whose constraint it violates.

The small problem of each round is solved to about eight digits of the objective. That limits the precision: with a
small C, weights that are a millionth of the objective stay unproved. With a large C the number of rounds grows, and
this is by far the slowest of the solvers.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from protoset.solvers.base import Solution, certify, dot, prove

DROP_AFTER = 20
"""A subset that had no weight for this many rounds leaves the working set."""

STALLED_AFTER = 50
"""Rounds without a better bound after which the master problem's precision is exhausted."""


def solve_cutting_plane(
    features: sparse.csr_matrix,
    rho: np.ndarray,
    bound: float,
    *,
    tol: float = 1e-6,
    weight_tol: float = np.inf,
    max_iter: int = 10_000,
) -> Solution:
    """Solve by cutting planes; parameters as for ``solve_coordinate``."""
    n, m = features.shape
    transposed = features.T.tocsr()
    subsets = np.empty((0, n), bool)
    planes, offsets = np.empty((0, m)), np.empty(0)
    shares, idle = np.empty(0), np.empty(0, int)
    dual_variables, weights = np.zeros(n), np.zeros(m)
    best_dual, best_round, n_iter = 0.0, 0, 0
    while n_iter - best_round < STALLED_AFTER and n_iter < max_iter:
        products = features @ weights
        violated = products < rho
        proof = prove(products, rho, bound, dual_variables, 0.5 * dot(weights, weights))
        if proof.reaches(tol, weight_tol):
            break
        if proof.dual > best_dual:
            best_dual, best_round = proof.dual, n_iter
        n_iter += 1
        if (subsets == violated).all(axis=1).any():
            break  # already in the working set: the master problem is solved to its own precision
        subsets = np.vstack([subsets, violated])
        planes = np.vstack([planes, bound * (transposed @ violated.astype(float))])
        offsets = np.append(offsets, bound * rho[violated].sum())
        idle = np.append(idle, 0)
        shares = _solve_master(planes, offsets, np.append(shares, 0.0))
        idle = np.where(shares > 0, 0, idle + 1)
        keep = idle < DROP_AFTER
        subsets, planes, offsets = subsets[keep], planes[keep], offsets[keep]
        shares, idle = shares[keep], idle[keep]
        dual_variables = bound * (shares @ subsets)
        weights = np.maximum(shares @ planes, 0.0)
    return certify(features, rho, bound, dual_variables, n_iter, "cutting_plane")


def _solve_master(planes: np.ndarray, offsets: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Maximise offsets . u - 1/2 |max(0, u . planes)|^2 over u >= 0 with sum(u) <= 1."""
    scale = max(float(offsets.max()), np.finfo(float).tiny)

    def negative_dual(shares: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.maximum(shares @ planes, 0.0)
        return (0.5 * weights @ weights - offsets @ shares) / scale, (planes @ weights - offsets) / scale

    result = minimize(
        negative_dual,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(offsets),
        constraints={"type": "ineq", "fun": lambda u: 1.0 - u.sum(), "jac": lambda u: -np.ones_like(u)},
        options={"maxiter": 500, "ftol": 1e-14},
    )
    shares = np.maximum(result.x, 0.0)
    shares[shares < 1e-14] = 0.0
    return shares / max(1.0, float(shares.sum()))
