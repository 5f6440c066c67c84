"""The method of REPS as a function: every training object is scored as a prototype.

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
from protoset.neighbors.on_workers import WorkerLists
from protoset.selectors._features_on_workers import rank_exponential_on_workers
from protoset.solvers import Loss, Solution, dual_bound, solve

Reading = Literal["consistent", "literal"]
READINGS: tuple[Reading, ...] = ("consistent", "literal")

WEIGHT_TOL = 1e-6
"""Relative error of the weights that a fit is solved to, besides its duality gap."""

LARGEST_BLUR = 1e-3
"""A weight below this fraction of the largest weight may count as 0, because its proof is weak."""

WEIGHT_WARNING = 1e-3
"""Relative error of the weights above which a fit warns."""

SCORE_DECIMALS = 6
"""Scores that agree to this many decimals are tied."""


@dataclass(frozen=True)
class RankedPrototypes:
    """Scores of all training objects as prototypes.

    Attributes
    ----------
    weights : ndarray
        Weights w >= 0 of the max-margin problem.
    degradations : ndarray
        -log_beta(w / max w): 0 for the object with the largest weight, infinite for weight 0.
    scores : ndarray
        Score of each object; smaller is better.
    ranking : ndarray of int
        All objects, best first.
    solution : Solution
        The weights with the bounds of their error.
    truncation_bound : float
        Bound on the change of the optimal objective that is due to neighbours missing from the lists.
    """

    weights: np.ndarray
    degradations: np.ndarray
    scores: np.ndarray
    ranking: np.ndarray
    solution: Solution
    truncation_bound: float


def rank_prototypes(
    lists: NeighborLists | WorkerLists,
    codes: np.ndarray,
    *,
    beta: float = 2.0,
    C: float = 1e-3,
    loss: Loss = "mean",
    reading: Reading = "consistent",
    solver: str = "auto",
    tol: float = 1e-6,
    counts: np.ndarray | None = None,
    costs: np.ndarray | None = None,
    order: np.ndarray | None = None,
) -> RankedPrototypes:
    """Score every object as a prototype.

    Parameters
    ----------
    lists : NeighborLists or WorkerLists
        Nearest neighbours of each object. Lists on workers need ``solver="distributed"``.
    codes : ndarray of int
        Class of each object.
    beta, C, loss, reading, solver, tol
        As in :class:`REPS`.
    counts : ndarray of float, optional
        Number of copies of each object, by default 1. The result is the same as with all copies.
    costs : ndarray of float, optional
        Cost of an error on a copy of each object, by default 1.
    order : ndarray of int, optional
        Order of objects with equal scores and supports; by default the order of the objects.

    Returns
    -------
    RankedPrototypes
    """
    if isinstance(lists, WorkerLists):
        constraints = rank_exponential_on_workers(lists, codes, beta)
    else:
        constraints = rank_exponential(lists, codes, beta, counts=_unless_ones(counts), costs=_unless_ones(costs))
    n_copies = lists.n_objects if counts is None else float(counts.sum())
    solution = solve(
        constraints.features,
        constraints.rho,
        C,
        loss=loss,
        solver=solver,
        tol=tol,
        weight_tol=WEIGHT_TOL,
        n_objects=n_copies,
    )
    if not solution.weight_error <= WEIGHT_WARNING and solution.gap <= tol:
        warnings.warn(
            f"the solver {solution.solver!r} guarantees the weights only up to a relative error of "
            f"{solution.weight_error:.2e}; use solver='auto', or lower C",
            SolverConvergenceWarning,
            stacklevel=2,
        )
    weights = proven_weights(solution, 1.0 if counts is None else np.sqrt(counts))
    alpha = degradations(weights, beta)
    best_ranks = constraints.best_ranks
    scores = alpha + best_ranks if reading == "consistent" else _literal_scores(weights, best_ranks, beta)
    # Scores are rounded, so that ties up to rounding errors are ordered by support too.
    order = np.arange(lists.n_objects) if order is None else order
    ranking = np.lexsort((order, -np.round(constraints.support, SCORE_DECIMALS), np.round(scores, SCORE_DECIMALS)))
    bound = constraints.truncation_bound(dual_bound(C, loss, n_copies))
    return RankedPrototypes(weights, alpha, scores, ranking, solution, bound if loss == "mean" else 2 * bound)


def solving_bytes(n_objects: int, n_entries: int) -> int:
    """Memory of the features, of two copies for the sums that certify the weights, and of 16 numbers per object."""
    return 8 * (3 * n_entries + 16 * n_objects)


def solving_bytes_on_workers(n_objects: int) -> int:
    """Memory in this process where the features are on workers: 64 numbers per object, most of L-BFGS-B."""
    return 8 * 64 * n_objects


def _unless_ones(values: np.ndarray | None) -> np.ndarray | None:
    """Return the values; None if all are 1, which is a faster case."""
    return None if values is None or (values == 1).all() else values


def proven_weights(solution: Solution, roots: np.ndarray | float = 1.0) -> np.ndarray:
    """Weights of a solution; 0 if the certificate cannot distinguish a weight from 0.

    The variables of the problem are the weights times ``roots``, the square roots of the numbers of copies.

    A class far from all others gets weights many orders of magnitude below the largest weight. The exact values of such
    weights depend on the path of the solver. If they ordered the objects, the row order would decide.
    """
    weights = solution.weights / roots
    blur = solution.weight_error * float(np.linalg.norm(solution.weights))
    return np.where(weights > min(blur, LARGEST_BLUR * float(weights.max())), weights, 0.0)


def degradations(weights: np.ndarray, beta: float) -> np.ndarray:
    """Degradations -log_beta(w / max w); all 0 where every weight is 0."""
    largest = weights.max()
    if largest == 0:
        return np.zeros(len(weights))
    with np.errstate(divide="ignore"):
        return np.abs(np.log(weights / largest)) / np.log(beta)


def _literal_scores(weights: np.ndarray, best_ranks: np.ndarray, beta: float) -> np.ndarray:
    """Score as the paper prints it, log w + best rank with the largest kept; negated, so that smaller is better."""
    with np.errstate(divide="ignore"):
        printed = np.log(weights) / np.log(beta) + np.where(np.isfinite(best_ranks), best_ranks, 0.0)
    return -printed
