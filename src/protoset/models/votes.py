"""Votes of k-NN on everything: the class that the k nearest neighbours vote for, ties included.

Neighbours are counted by their weights, so that an object of weight 2 acts as two objects. All objects at the distance
of the k-th neighbour vote. Of classes with equal votes the one with the larger total in the training set wins, then the
lower code. So the class that wins does not depend on the order of rows or columns.
"""

from __future__ import annotations

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset.spaces import RawLists


def vote_of_nearest(
    lists: RawLists,
    codes: np.ndarray,
    weights: np.ndarray,
    class_totals: np.ndarray,
    own_codes: np.ndarray,
    own_weights: np.ndarray,
    ks: np.ndarray,
) -> np.ndarray:
    """Class that wins the vote of the k nearest neighbours of each row, for each of the ascending ``ks``.

    The neighbours of a row are listed nearest first. ``own_weights`` has the weight of further objects that equal the
    row, of the class ``own_codes``. Where all neighbours together weigh less than k, all vote. Without any neighbour
    the class with the largest total wins.
    """
    n_rows, longest = len(lists.counts), int(lists.counts.max(initial=0))
    ends, winners = np.cumsum(lists.counts), np.empty((n_rows, len(ks)), np.int64)
    for block in row_slices(n_rows, 8 * (4 * longest + 4 * len(class_totals) + 4)):
        counts = lists.counts[block]
        entries = slice(ends[block.start] - counts[0], ends[block.stop - 1])
        is_listed = np.arange(longest) < counts[:, None]
        # Column 0 stands for the further objects that equal the row; -1 is the distance of none.
        own = own_weights[block]
        distances = np.full((len(counts), longest + 1), np.inf)
        distances[:, 0] = np.where(own > 0, 0.0, -1.0)
        distances[:, 1:][is_listed] = lists.distances[entries]
        voters = lists.indices[entries]
        voting = np.zeros((len(counts), longest + 1))
        voting[:, 0] = own
        voting[:, 1:][is_listed] = weights[voters]
        # Weight of the nearer neighbours; a neighbour votes if this weight is at most k - 1.
        nearer = np.cumsum(voting, axis=1)[:, :-1]
        nearer[distances[:, 1:] == distances[:, :-1]] = -np.inf
        nearer = np.maximum.accumulate(nearer, axis=1)[is_listed]
        rows, of_voters = np.nonzero(is_listed)[0], codes[voters]
        votes = np.zeros((len(counts), len(class_totals)))
        votes[np.arange(len(counts)), own_codes[block]] = own
        before = -np.inf
        for position, k in enumerate(ks):
            is_new = (nearer <= k - 1) & (nearer > before) if position else nearer <= k - 1
            np.add.at(votes, (rows[is_new], of_voters[is_new]), weights[voters[is_new]])
            winners[block, position], before = _leaders(votes, class_totals), k - 1
    return winners


def _leaders(votes: np.ndarray, class_totals: np.ndarray) -> np.ndarray:
    """Class with the most votes in each row, see ``protoset.kernels.ties``."""
    equal, rows = kernels.ties.EQUAL_VOTES, np.arange(len(votes))
    leaders = np.zeros(len(votes), np.int64)
    for code in range(1, votes.shape[1]):
        ours, theirs = votes[:, code], votes[rows, leaders]
        total, other = class_totals[code], class_totals[leaders]
        differ, totals_differ = _differ(ours, theirs, equal), _differ(total, other, equal)
        # A later class has the higher code: with equal totals it never goes before.
        is_ahead = np.where(differ, ours > theirs, totals_differ & (total > other))
        leaders[is_ahead] = code
    return leaders


def _differ(a: np.ndarray, b: np.ndarray, equal: float) -> np.ndarray:
    return (a > b * equal) | (b > a * equal)
