"""DROP3, the third decremental reduction procedure (Wilson & Martinez 2000).

The set is edited first. Then its objects are visited, objects far from other classes first. An object
is dropped if the objects that have it as a neighbour are classified as well without it.

Each object reads its neighbours from a list of candidates, which is longer than a vote needs. When a
neighbour is dropped, the next candidate replaces it. When a list runs out, it is filled with the nearest
remaining objects, together with all lists that are about to run out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset.neighbors import NeighborLists
from protoset.selectors import _voting
from protoset.selectors._enemies import nearest_enemies
from protoset.selectors.base import BaseSelector, TieRule
from protoset.selectors.enn import enn
from protoset.spaces import TrainingSpace
from protoset.spaces._lists import smallest_of

MIN_CANDIDATES = 4
"""When a list runs out, all lists with fewer candidates left are filled with it."""

CANDIDATE_BYTES = 256 * 2**20
"""Largest memory of the candidate lists."""


def drop3(
    space: TrainingSpace,
    lists: NeighborLists,
    codes: np.ndarray,
    *,
    n_neighbors: int = 1,
    tie_rule: TieRule = "majority",
    n_jobs: int | None = None,
) -> np.ndarray:
    """Reduce a training set; return the objects kept, ascending. A class may lose all its objects."""
    edited = enn(space, lists, codes, n_neighbors=n_neighbors, tie_rule=tie_rule)
    _, distances = nearest_enemies(space, lists, codes, edited, edited, n_jobs=n_jobs)
    order = edited[np.argsort(-distances, kind="stable")]
    ordered = _voting.with_ordered_ties(lists, codes, tie_rule)
    candidates = CandidateLists(space, ordered, edited, n_neighbors + 1, codes if tie_rule == "majority" else None)
    neighbors = candidates.listed[:, : n_neighbors + 1].astype(np.int64)
    head, following = np.empty(len(neighbors), np.int64), np.empty(neighbors.size, np.int64)
    kernels.associates.link_associates(edited, neighbors, head, following)
    position = 0
    while True:
        lists_of_candidates = candidates.listed, candidates.complete, candidates.cursors
        position = kernels.dropping.drop_in_order(
            order, position, codes, *lists_of_candidates, candidates.kept, neighbors, head, following
        )
        if position == len(order):
            return np.flatnonzero(candidates.kept)
        candidates.fill(MIN_CANDIDATES)


class CandidateLists:
    """Present and future neighbours of each object of the edited set, nearest first.

    If ``codes`` are given, equally near objects are ordered by the size of their class, else by index.

    Attributes
    ----------
    kept : ndarray of bool
        Whether each training object is kept.
    listed : ndarray of int32, shape (n_objects, length)
        The nearest objects that were kept when the list was filled; -1 after the last.
    complete : ndarray of bool
        Whether the list holds all objects that were kept when it was filled.
    cursors : ndarray of int64
        Position of the next neighbour in the list of each object.
    """

    def __init__(
        self,
        space: TrainingSpace,
        lists: NeighborLists,
        edited: np.ndarray,
        n_neighbors: int,
        codes: np.ndarray | None = None,
    ):
        n = space.shape[0]
        # Among equally near objects, the objects that come first in this order count as nearer.
        self._by_priority = np.arange(n)
        if codes is not None:
            self._by_priority = np.argsort(_voting.class_priority(codes)[codes], kind="stable")
        self._space, self._edited, self._n_neighbors = space, edited, n_neighbors
        self._n_distances = 0
        length = max(2 * n_neighbors, _voting.LIST_LENGTH)
        self.kept = np.zeros(n, bool)
        self.kept[edited] = True
        self.listed = np.full((n, length), -1, np.int32)
        self.listed[edited] = lists.first_members(edited, self.kept, length)
        self.complete = (self.listed[:, -1] < 0) & (np.diff(lists.indptr) == n - 1)
        self.cursors = np.zeros(n, np.int64)
        self.fill(n_neighbors)
        self.cursors[:] = n_neighbors

    def fill(self, least: int) -> None:
        """Fill the lists that have fewer than ``least`` candidates left."""
        short = kernels.dropping.running_out(self._edited, self.listed, self.complete, self.cursors, self.kept, least)
        rows, members = self._edited[short], self._by_priority[self.kept[self._by_priority]]
        self._lengthen(len(rows) * len(members))
        for block in row_slices(len(rows), len(members) * 8):
            self._fill(rows[block], members)

    def _lengthen(self, n_distances: int) -> None:
        """Double the length of the lists each time that filling them has cost half a neighbour search.

        Filling is expensive where a class is dropped from one side to the other, as on a line: the dropped
        objects then share their candidates, and all their lists run out together, again and again.
        """
        n, length = self.listed.shape
        self._n_distances += n_distances
        half_a_search = n * n // 4  # a search computes each pair once
        if self._n_distances > half_a_search and 2 * length * n * self.listed.itemsize <= CANDIDATE_BYTES:
            self._n_distances = 0
            self.listed = np.hstack([self.listed, np.full((n, length), -1, np.int32)])

    def _fill(self, rows: np.ndarray, members: np.ndarray) -> None:
        """List the nearest kept objects (``members``) of each row."""
        length = self.listed.shape[1]
        column_of = np.full(len(self.kept), -1)
        column_of[members] = np.arange(len(members))
        own = column_of[rows]
        nearest = smallest_of(self._space.block(rows, members), own, min(length, len(members)), length)
        filled = np.full((len(rows), length), -1, np.int32)
        filled[np.arange(length) < nearest.counts[:, None]] = members[nearest.indices]
        self.listed[rows] = filled
        self.complete[rows] = nearest.counts == len(members) - self.kept[rows]
        # A filled list begins with the present neighbours; the next neighbour comes after them.
        self.cursors[rows] = self._n_neighbors


class DROP3(BaseSelector):
    """Decremental reduction: drops objects whose absence does not harm the classification of the others.

    First, objects that their nearest neighbours misclassify are dropped as noise, as in :class:`ENN`. Then each object
    of the edited set has its ``n_neighbors + 1`` nearest kept objects as neighbours. The associates of an object are
    the objects that have it as a neighbour. Objects are visited once, by the distance to their nearest enemy (object of
    another class), farthest first. An object is dropped if at least as many of its associates are classified correctly
    without it as with it, by their ``n_neighbors`` nearest kept objects.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of neighbours that vote. The publication uses 3. A tied vote goes to the class of the nearest neighbour.
    tie_rule : {"majority", "row_order"}, default="majority"
        Which of several equally near objects are neighbours. "majority": all of them vote in the editing; after the
        editing, objects of the more frequent class come first. "row_order": objects in earlier rows come first.
    metric, metric_params, n_jobs, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

    Notes
    -----
    When an object is dropped, each of its associates gets the next nearest kept object as a neighbour.
    Dropped objects remain associates, but are no longer neighbours; objects dropped as noise are neither. Nearest
    enemies come from the edited set. Objects at equal distances are visited in row order; if the editing leaves a
    single class, all objects are. An object without neighbours counts as misclassified.

    References
    ----------
    D. R. Wilson and T. R. Martinez, "Reduction techniques for instance-based learning algorithms",
    Machine Learning 38 (2000) 257-286.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import DROP3
    >>> X, y = load_iris(return_X_y=True)
    >>> len(DROP3().fit(X, y).sample_indices_)
    9
    """

    def __init__(
        self,
        n_neighbors: int = 1,
        *,
        tie_rule: TieRule = "majority",
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.n_neighbors = n_neighbors
        self.tie_rule = tie_rule

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        k = min(self.n_neighbors, len(codes) - 1)
        lists = _voting.search_lists(space, k + 1, self.n_jobs, self.verbose)
        return drop3(space, lists, codes, n_neighbors=k, tie_rule=self.tie_rule, n_jobs=self.n_jobs)
