"""The max-margin problem and what a solution of it is.

Every solver works on one canonical form,

    minimise over w >= 0   1/2 |w|^2 + bound * sum_i max(0, rho_i - r_i . w),

whose dual is smooth and has only limits on single variables,

    maximise over 0 <= l <= bound   rho . l - 1/2 |max(0, r'l)|^2,   with w = max(0, r'l).

The gap between the two values proves how far a solution is from the best one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse


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
        (primal - dual) / primal: relative distance to the optimum at most.
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
    n_iter: int
    solver: str


def certify(
    features: sparse.csr_matrix, rho: np.ndarray, bound: float, dual_variables: np.ndarray, n_iter: int, solver: str
) -> Solution:
    """Compute weights, both objectives and the gap from dual variables, from scratch."""
    weights = np.maximum(features.T @ dual_variables, 0.0)
    norm = 0.5 * float(weights @ weights)
    primal = norm + bound * float(np.maximum(rho - features @ weights, 0.0).sum())
    dual = float(rho @ dual_variables) - norm
    return Solution(weights, dual_variables, primal, dual, relative_gap(primal, dual), n_iter, solver)


def relative_gap(primal: float, dual: float) -> float:
    """Return the gap relative to the primal objective, which is never negative."""
    return max(primal - dual, 0.0) / primal if primal > 0 else 0.0


def constrained(rho: np.ndarray) -> np.ndarray:
    """Objects whose constraint can be violated.

    One that has only friends among its neighbours has rho = 0 and no negative feature: its
    constraint holds for every w >= 0, and its dual variable is 0.
    """
    return np.flatnonzero(rho > 0)
