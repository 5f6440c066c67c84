"""The max-margin problem and what a solution of it is.

Every solver works on one canonical form,

    minimise over w >= 0   1/2 |w|^2 + bound * sum_i max(0, rho_i - r_i . w),

whose dual is smooth and has only limits on single variables,

    maximise over 0 <= l <= bound   rho . l - 1/2 |max(0, r'l)|^2,   with w = max(0, r'l).

The gap between the two values proves how far a solution is from the best one, and, because the
objective is strongly convex, how far its weights are from the best ones: |w - w*|^2 <= 2 gap. The
second proof is the one that matters here: with a small bound the weights decide only a tiny part of
the objective, and a relative gap of 1e-6 alone says nothing about them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

CANCELLED = 1e-13
"""A sum this small beside the sum of its terms' sizes is a rounding error."""


@dataclass(frozen=True)
class Solution:
    """Weights with the proof of their quality.

    Attributes
    ----------
    weights : ndarray
        The weights w >= 0.
    dual_variables : ndarray
        The l that prove the lower bound.
    primal, dual : float
        Objective of the weights, and the lower bound on every objective.
    gap : float
        (primal - dual) / primal: how far the objective is from the optimum at most, relatively.
    weight_error : float
        How far the weights are from the optimal ones at most, relatively (in the 2-norm).
    n_iter : int
        Iterations, in the solver's own unit.
    solver : str
        Name of the method that found it.
    """

    weights: np.ndarray
    dual_variables: np.ndarray
    primal: float
    dual: float
    gap: float
    weight_error: float
    n_iter: int
    solver: str


def certify(
    features: sparse.csr_matrix,
    rho: np.ndarray,
    bound: float,
    dual_variables: np.ndarray,
    n_iter: int,
    solver: str,
) -> Solution:
    """Compute weights, both objectives and the gap from dual variables, from scratch."""
    weights = weights_from(features, dual_variables)
    margins = rho - features @ weights
    norm = 0.5 * dot(weights, weights)
    primal = norm + bound * float(np.maximum(margins, 0.0).sum())
    gap = absolute_gap(margins, dual_variables, bound)
    return Solution(
        weights=weights,
        dual_variables=dual_variables,
        primal=primal,
        dual=dot(rho, dual_variables) - norm,
        gap=gap / primal if gap > 0 else 0.0,
        weight_error=float(np.sqrt(gap / norm)) if gap > 0 and norm > 0 else 0.0,
        n_iter=n_iter,
        solver=solver,
    )


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Inner product on one thread; for one vector, waking BLAS's threads costs more than it saves."""
    return float(np.einsum("i,i->", a, b))


def weights_from(features: sparse.csr_matrix, dual_variables: np.ndarray) -> np.ndarray:
    """Weights max(0, r'l), where what is left of friends and enemies that cancel out counts as 0."""
    pull = features.T @ dual_variables
    sizes = sparse.csr_matrix((np.abs(features.data), features.indices, features.indptr), shape=features.shape)
    return np.where(pull > CANCELLED * (sizes.T @ dual_variables), pull, 0.0)


def absolute_gap(margins: np.ndarray, dual_variables: np.ndarray, bound: float) -> float:
    """Return primal - dual as a sum of terms that are not negative, so that a small gap keeps its digits."""
    terms = np.where(margins > 0, (bound - dual_variables) * margins, -dual_variables * margins)
    return float(terms.sum())


def is_solved(primal: float, norm: float, gap: float, tol: float, weight_tol: float) -> bool:
    """Whether a gap proves the objective to ``tol`` and the weights to ``weight_tol``, both relative."""
    return gap <= tol * primal and gap <= weight_tol**2 * norm


def constrained(rho: np.ndarray) -> np.ndarray:
    """Objects whose constraint can be violated.

    One that has only friends among its neighbours has rho = 0 and no negative feature: its
    constraint holds for every w >= 0, and its dual variable is 0.
    """
    return np.flatnonzero(rho > 0)
