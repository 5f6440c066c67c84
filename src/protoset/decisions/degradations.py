"""Degradations of a set: the paper's problem on the ranks among its prototypes alone.

Degradations that were learned for all training objects belong to their ranking. A set that was chosen from these
objects in another way has other ranks and neighbours, so the problem is solved again for the set.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from protoset._arrays import rank_rows
from protoset.decisions.held_out import JudgedSet, MeasuredObjects
from protoset.decisions.ranks import decide
from protoset.exceptions import HopelessClassWarning
from protoset.selectors.ranking import degradations, proven_weights
from protoset.selectors.ties import MajorityVote
from protoset.solvers import solve

SET_C = 1e3
"""C of the problem of a set. With a small C the weights only count neighbours, which gives higher errors with few
prototypes."""

RANK_DIGITS = 53
"""Ranks whose feature is below 2^-53 are left out."""


def learn_degradations(judged: JudgedSet, vote: MajorityVote, beta: float = 2.0) -> np.ndarray:
    """Degradations of the prototypes of a set; all 0 if plain ranks make fewer errors on the objects that it knows.

    An object is not its own neighbour there.
    """
    learned = _solve(judged, beta)
    if _n_wrong(judged.known, learned, vote) > _n_wrong(judged.known, np.zeros(len(learned)), vote):
        return np.zeros(len(learned))
    return learned


def _solve(judged: JudgedSet, beta: float) -> np.ndarray:
    """Degradations from the weights of the max-margin problem."""
    rows, rho = [], np.empty(len(judged.known))
    for block_rows, block in judged.known.blocks(len(judged.codes)):
        ranks = ranks_of(block)
        values = np.where(np.isfinite(block), np.power(beta, -np.minimum(ranks, RANK_DIGITS / np.log2(beta))), 0.0)
        values[ranks > RANK_DIGITS / np.log2(beta)] = 0.0
        is_other = judged.codes != judged.known.codes[block_rows, None]
        rho[block_rows] = (beta - 1) * np.where(is_other, values, 0.0).sum(axis=1)
        rows.append(sparse.csr_matrix(np.where(is_other, -values, values)))
    weights = judged.known.weights
    features = sparse.csr_matrix(sparse.vstack(rows).multiply(weights[:, None]))
    solution = solve(features, rho * weights, SET_C, n_objects=float(weights.sum()))
    return degradations(proven_weights(solution), beta)


def ranks_of(block: np.ndarray) -> np.ndarray:
    """Ranks of the prototypes of each row, 1 for the nearest; equal distances share the best rank."""
    order = np.argsort(block, axis=1, kind="stable")
    ordered = np.take_along_axis(block, order, axis=1)
    indptr = np.arange(len(block) + 1) * block.shape[1]
    ranks = np.empty(block.shape)
    np.put_along_axis(ranks, order, rank_rows(indptr, ordered.ravel(), 0).reshape(block.shape), axis=1)
    return ranks


def _n_wrong(objects: MeasuredObjects, alpha: np.ndarray, vote: MajorityVote) -> float:
    wrong = 0.0
    for rows, block in objects.blocks(len(alpha)):
        winners = decide(block, alpha, vote).winners
        wrong += float(objects.weights[rows][vote.codes[winners] != objects.codes[rows]].sum())
    return wrong


def warn_of_hopeless_classes(degradations: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> None:
    """Warn of classes that the rule "adjusted" cannot predict for any query.

    The bound: at best a prototype of the class has rank 1, and the best prototype of another class has the last rank.
    """
    best = np.array([degradations[codes == code].min(initial=np.inf) for code in range(len(classes))])
    others = np.array([np.delete(best, code).min() for code in range(len(classes))])
    hopeless = classes[(1 + best > len(codes) + others) & np.isin(np.arange(len(classes)), codes)]
    if len(hopeless):
        warnings.warn(
            f"rule='adjusted' can never predict the classes {hopeless.tolist()}: the degradations of their prototypes "
            f"are too large for ranks from 1 to {len(codes)}, which is usual for classes far from all others; "
            "use rule='nearest'",
            HopelessClassWarning,
            stacklevel=3,
        )
