"""The rules by which prototypes decide about queries.

Every rule orders the prototypes for a query and answers with the class of the first. "nearest" orders by distance.
"adjusted" orders by rank among the prototypes + degradation, so that a prototype that misled its neighbours in training
comes later. Among equally near prototypes the majority of their labels decides (``protoset.selectors.ties``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset import kernels
from protoset.selectors.ties import MajorityVote


@dataclass(frozen=True)
class Decision:
    """Prototypes of each query by distance, with what decides among them.

    ``tied`` marks the prototypes that vote, in the order of the prototypes: those with the smallest adjusted rank and,
    among these, the smallest distance. ``winners`` are the positions of the prototypes that win.
    """

    order: np.ndarray
    distances: np.ndarray
    ranks: np.ndarray
    adjusted_ranks: np.ndarray
    tied: np.ndarray
    winners: np.ndarray


def decide(block: np.ndarray, degradations: np.ndarray | None, vote: MajorityVote) -> Decision:
    """Order the prototypes of each query by distance, adjust their ranks, and let the tied ones vote."""
    order = np.argsort(block, axis=1, kind="stable")
    distances = np.take_along_axis(block, order, axis=1)
    n_queries, n_prototypes = block.shape
    indptr = np.arange(n_queries + 1) * n_prototypes
    ranks = kernels.lists.rank_rows(indptr, distances.ravel(), 0).reshape(block.shape)
    adjusted = ranks if degradations is None else ranks + degradations[order]
    if np.isinf(distances).any():
        # An infinite distance is unknown: the prototype is farther than the known ones, and never wins.
        adjusted = np.where(np.isinf(distances), np.inf, adjusted)
    eligible = np.empty(block.shape)
    smallest = adjusted.min(axis=1, keepdims=True)
    np.put_along_axis(eligible, order, np.where(adjusted == smallest, distances, np.inf), axis=1)
    tied = eligible == eligible.min(axis=1, keepdims=True)
    return Decision(order, distances, ranks, adjusted, tied, vote(eligible))


def class_shares(decision: Decision, vote: MajorityVote, beta: float) -> np.ndarray:
    """Share of each class: beta^-(adjusted rank of its best prototype), summing to 1 over the classes.

    The classes of tied prototypes divide their shares by votes. Among them, the classes with most votes divide theirs
    by their sizes in the training set.
    """
    adjusted = decision.adjusted_ranks
    undecided = np.isinf(adjusted).all(axis=1)
    if undecided.any():
        # Nothing but infinite degradations: as in predict, the plain ranks decide.
        known = np.where(np.isinf(decision.distances), np.inf, decision.ranks)
        adjusted = np.where(undecided[:, None], known, adjusted)
    by_prototype = np.empty_like(adjusted)
    np.put_along_axis(by_prototype, decision.order, adjusted, axis=1)
    by_class = np.argsort(vote.codes, kind="stable")
    present, first = np.unique(vote.codes[by_class], return_index=True)
    best = np.full((len(adjusted), len(vote.class_totals)), np.inf)
    best[:, present] = np.minimum.reduceat(by_prototype[:, by_class], first, axis=1)
    support = np.power(beta, best.min(axis=1, keepdims=True) - best)
    rows = np.flatnonzero(np.count_nonzero(decision.tied, axis=1) > 1)
    if len(rows):
        tied = decision.tied[rows][:, by_class]
        votes = np.add.reduceat(np.where(tied, vote.counts[by_class], 0.0), first, axis=1)
        is_tied = np.logical_or.reduceat(tied, first, axis=1)
        support[np.ix_(rows, present)] *= _tied_shares(votes, is_tied, vote.class_totals[present])
    return support / support.sum(axis=1, keepdims=True)


def _tied_shares(votes: np.ndarray, is_tied: np.ndarray, class_totals: np.ndarray) -> np.ndarray:
    """Factors by which tied classes divide their equal shares, row by row; 1 for classes that are not tied."""
    smallest = np.finfo(float).tiny  # votes and sizes may be 0 by weight
    votes = np.where(is_tied, np.maximum(votes, smallest), 0.0)
    is_leading = votes * kernels.ties.EQUAL_VOTES >= votes.max(axis=1, keepdims=True)
    sizes = np.where(is_leading, np.maximum(class_totals, smallest), 0.0)
    leading = np.where(is_leading, votes, 0.0).sum(axis=1, keepdims=True)
    votes = np.where(is_leading, leading * (sizes / sizes.sum(axis=1, keepdims=True)), votes)
    shares = votes / votes.sum(axis=1, keepdims=True) * np.count_nonzero(is_tied, axis=1)[:, None]
    return np.where(is_tied, shares, 1.0)
