"""Prototypes of a query by rank + degradation, and the decision among tied prototypes.

Without degradations the order is that of the distances. With them, a prototype that misled its neighbours in training
comes later. Among equally near prototypes the majority of their labels decides (``protoset.selectors.ties``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset import kernels
from protoset._arrays import rank_rows
from protoset.selectors.ties import MajorityVote


@dataclass(frozen=True)
class Decision:
    """Prototypes of each query by distance, with the prototypes that vote and win.

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
    ranks = rank_rows(indptr, distances.ravel(), 0).reshape(block.shape)
    adjusted = ranks if degradations is None else ranks + degradations[order]
    if np.isinf(distances).any():
        # An infinite distance is unknown: the prototype is farther than the known ones, and never wins.
        adjusted = np.where(np.isinf(distances), np.inf, adjusted)
    eligible = np.empty(block.shape)
    smallest = adjusted.min(axis=1, keepdims=True)
    np.put_along_axis(eligible, order, np.where(adjusted == smallest, distances, np.inf), axis=1)
    tied = eligible == eligible.min(axis=1, keepdims=True)
    return Decision(order, distances, ranks, adjusted, tied, vote(eligible))


def nearest_of_classes(block: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Smallest number of each row among the prototypes of each class; infinite for a class without prototypes."""
    by_class = np.argsort(codes, kind="stable")
    present, first = np.unique(codes[by_class], return_index=True)
    smallest = np.full((len(block), n_classes), np.inf)
    smallest[:, present] = np.minimum.reduceat(block[:, by_class], first, axis=1)
    return smallest


def tied_shares(tied: np.ndarray, vote: MajorityVote) -> np.ndarray:
    """Factors by which the classes of tied prototypes divide equal probabilities: by votes, then by class sizes."""
    by_class = np.argsort(vote.codes, kind="stable")
    present, first = np.unique(vote.codes[by_class], return_index=True)
    factors = np.ones((len(tied), len(vote.class_totals)))
    rows = np.flatnonzero(np.count_nonzero(tied, axis=1) > 1)
    if len(rows):
        some = tied[rows][:, by_class]
        votes = np.add.reduceat(np.where(some, vote.counts[by_class], 0.0), first, axis=1)
        is_tied = np.logical_or.reduceat(some, first, axis=1)
        factors[np.ix_(rows, present)] = _tied_shares(votes, is_tied, vote.class_totals[present])
    return factors


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
