"""The method of REPS, as a function: every training object judged as a prototype.

neighbour lists -> features, rho -> weights -> degradations -> scores -> ranking
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np

from protoset.exceptions import SolverConvergenceWarning
from protoset.features import rank_exponential
from protoset.neighbors import NeighborLists
from protoset.solvers import Loss, Solution, dual_bound, solve

Score = Literal["adjusted", "literal"]
SCORES: tuple[Score, ...] = ("adjusted", "literal")

WEIGHT_TOL = 1e-6
"""Relative error of the weights that a fit is solved to, besides its duality gap."""

LARGEST_BLUR = 1e-3
"""Part of the largest weight up to which weights may count as 0 because their proof is weak."""

WEIGHT_WARNING = 1e-3
"""Relative error of the weights above which a fit warns."""

SCORE_DECIMALS = 6
"""Scores that agree to this many decimals are tied."""


@dataclass(frozen=True)
class RankedPrototypes:
    """Every training object as a prototype, judged.

    Attributes
    ----------
    weights : ndarray
        Weights w >= 0 of the max-margin problem.
    degradations : ndarray
        -log_beta(w / max w): 0 for the best, infinite where the weight is 0.
    scores : ndarray
        Smaller is better.
    ranking : ndarray of int
        All objects, best first.
    solution : Solution
        How the weights were found.
    truncation_bound : float
        How far the cut lists move the smallest objective at most.
    """

    weights: np.ndarray
    degradations: np.ndarray
    scores: np.ndarray
    ranking: np.ndarray
    solution: Solution
    truncation_bound: float


def rank_prototypes(
    lists: NeighborLists,
    codes: np.ndarray,
    *,
    beta: float = 2.0,
    C: float = 1e-3,
    loss: Loss = "mean",
    score: Score = "adjusted",
    solver: str = "auto",
    tol: float = 1e-6,
) -> RankedPrototypes:
    """Judge every object as a prototype.

    Parameters
    ----------
    lists : NeighborLists
        Each object's nearest others.
    codes : ndarray of int
        Class of each object.
    beta, C, loss, score, solver, tol
        As in :class:`REPS`.

    Returns
    -------
    RankedPrototypes
    """
    constraints = rank_exponential(lists, codes, beta)
    solution = solve(constraints.features, constraints.rho, C, loss=loss, solver=solver, tol=tol, weight_tol=WEIGHT_TOL)
    features = constraints.features
    support = np.bincount(features.indices, features.data, minlength=lists.n_objects)
    bound = constraints.truncation_bound(dual_bound(C, loss, lists.n_objects))
    return judge(solution, lists.best_ranks(), support, bound, beta=beta, loss=loss, score=score, tol=tol)


def judge(
    solution: Solution,
    best_ranks: np.ndarray,
    support: np.ndarray,
    bound: float,
    *,
    beta: float,
    loss: Loss,
    score: Score,
    tol: float,
) -> RankedPrototypes:
    """Order all objects by the weights that were found.

    Parameters
    ----------
    solution : Solution
    best_ranks : ndarray
        Smallest rank at which each object is listed by another.
    support : ndarray
        Sum of each object's features over everyone.
    bound : float
        How far the cut lists move the smallest objective in the canonical form.
    beta, loss, score, tol
        As in :class:`REPS`.
    """
    if not solution.weight_error <= WEIGHT_WARNING and solution.gap <= tol:
        warnings.warn(
            f"the solver {solution.solver!r} proves the weights only to a relative error of "
            f"{solution.weight_error:.2e}; use solver='auto', or lower C",
            SolverConvergenceWarning,
            stacklevel=3,
        )
    weights = proven_weights(solution)
    alpha = degradations(weights, beta)
    scores = alpha + best_ranks if score == "adjusted" else _literal_scores(weights, best_ranks, beta)
    # Rounded, so that what is tied but for rounding errors is ordered by support too; index is the last resort.
    ranking = np.lexsort((-np.round(support, SCORE_DECIMALS), np.round(scores, SCORE_DECIMALS)))
    scale = 1.0 if loss == "mean" else 2.0
    return RankedPrototypes(weights, alpha, scores, ranking, solution, scale * bound)


def proven_weights(solution: Solution) -> np.ndarray:
    """Weights of a solution, 0 where its proof does not tell them from 0.

    A class far from all others gets weights many orders of magnitude below the largest. What the
    solver leaves there depends on its path; ordered by it, the row order would decide.
    """
    weights = solution.weights
    blur = solution.weight_error * float(np.linalg.norm(weights))
    return np.where(weights > min(blur, LARGEST_BLUR * float(weights.max())), weights, 0.0)


def degradations(weights: np.ndarray, beta: float) -> np.ndarray:
    """Degradations -log_beta(w / max w); all 0 where every weight is 0, as nothing tells them apart."""
    largest = weights.max()
    if largest == 0:
        return np.zeros(len(weights))
    with np.errstate(divide="ignore"):
        return np.abs(np.log(weights / largest)) / np.log(beta)


def _literal_scores(weights: np.ndarray, best_ranks: np.ndarray, beta: float) -> np.ndarray:
    """Score as the paper prints it, log w + best rank with the largest kept, turned to smaller is better."""
    with np.errstate(divide="ignore"):
        printed = np.log(weights) / np.log(beta) + np.where(np.isfinite(best_ranks), best_ranks, 0.0)
    return -printed
