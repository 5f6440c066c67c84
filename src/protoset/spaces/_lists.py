"""Neighbour lists as searches return them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from protoset import kernels
from protoset._arrays import row_pointers

FEW_ENTRIES = 2**17
"""Largest number of entries of a block for which NumPy is about as fast as a kernel, which must be compiled first."""


@dataclass(frozen=True)
class SearchCounters:
    """Numbers of pairs of objects in a neighbour search, by the work that was done for them.

    Attributes
    ----------
    pairs : int
        All pairs.
    bounded : int
        Pairs that a lower bound excluded before the dissimilarity was computed.
    abandoned : int
        Pairs whose computation was stopped early, because they were too far apart.
    computed : int
        Pairs that were computed completely.
    """

    pairs: int
    bounded: int
    abandoned: int
    computed: int


@dataclass(frozen=True, eq=False)
class RawLists:
    """Neighbours of consecutive rows, in the format of a CSR matrix, ordered by distance and index.

    Attributes
    ----------
    counts : ndarray of int64
        Number of neighbours of each row.
    indices, distances : ndarray
        The neighbours of all rows, one after the other.
    closed : ndarray of bool
        Whether a row has all objects at the distance of its last neighbour.
    counters : SearchCounters or None
        Numbers of pairs of the search; None if it does not count them.
    recall : float or None
        Share of the true neighbours that are listed, measured on a sample of rows; None for an exact search.
    """

    counts: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    closed: np.ndarray
    counters: SearchCounters | None = None
    recall: float | None = None

    @classmethod
    def concatenate(cls, parts: list[RawLists]) -> RawLists:
        """Join the lists of consecutive rows."""
        counts, indices, distances, closed = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("counts", "indices", "distances", "closed")
        )
        return cls(counts, indices, distances, closed)

    def with_rows(self, rows: np.ndarray, lists: RawLists) -> RawLists:
        """Return the lists with other lists for some of the rows."""
        is_kept = np.ones(len(self.counts), bool)
        is_kept[rows] = False
        entries = np.repeat(is_kept, self.counts)
        kept = replace(
            self, counts=self.counts[is_kept], indices=self.indices[entries], distances=self.distances[entries]
        )
        indptr, indices, distances = join_lists(len(is_kept), [(np.flatnonzero(is_kept), kept), (rows, lists)])
        closed = self.closed.copy()
        closed[rows] = lists.closed
        return replace(self, counts=np.diff(indptr), indices=indices, distances=distances, closed=closed)


def join_lists(
    n_rows: int, parts: Sequence[tuple[slice | np.ndarray, RawLists]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join lists of some rows each: the entries of a row follow each other in the order of the parts.

    Returns the pointers to the rows, the indices and the distances.
    """
    counts = np.zeros(n_rows, np.int64)
    for rows, lists in parts:
        counts[rows] += lists.counts
    indptr = row_pointers(counts)
    indices, distances = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    ends = indptr[:-1].copy()
    for rows, lists in parts:
        own = row_pointers(lists.counts)
        targets = np.repeat(ends[rows] - own[:-1], lists.counts) + np.arange(own[-1])
        indices[targets], distances[targets] = lists.indices, lists.distances
        ends[rows] += lists.counts
    return indptr, indices, distances


def smallest_of(block: np.ndarray, own: np.ndarray, k: int, limit: int) -> RawLists:
    """Find the k nearest columns of each row of a block, and all that tie with the last, up to ``limit`` >= k.

    ``own`` is the column of the row itself, which is left out; -1 if the row is not a column. If the ties of a row do
    not fit, the lowest columns are kept.
    """
    if block.size <= FEW_ENTRIES:
        return _smallest_of_few(block, own, k, limit)
    threshold, n_below, n_at = kernels.lists.kth_smallest(block, own, k)
    counts = np.minimum(n_below + n_at, limit)
    indptr = row_pointers(counts)
    indices, distances = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    kernels.lists.gather_smallest(block, own, threshold, n_below, indptr, indices, distances)
    return RawLists(counts, indices, distances, counts == n_below + n_at)


def _smallest_of_few(block: np.ndarray, own: np.ndarray, k: int, limit: int) -> RawLists:
    """Do the same as ``smallest_of``, by NumPy."""
    others, has_own = np.array(block, np.float64), np.flatnonzero(own >= 0)
    others[has_own, own[has_own]] = np.inf
    threshold = np.partition(others, k - 1, axis=1)[:, k - 1 : k] if k > 0 else -np.inf
    is_near = others <= threshold
    is_near[has_own, own[has_own]] = False
    n_near = is_near.sum(axis=1)
    rows, columns = np.nonzero(is_near)
    distances = others[rows, columns]
    # The sort is stable, and the columns are ascending.
    order = np.lexsort((distances, rows))
    counts = np.minimum(n_near, limit)
    order = order[np.arange(len(order)) - np.repeat(row_pointers(n_near)[:-1], n_near) < limit]
    return RawLists(counts, columns[order].astype(np.int32), distances[order], counts == n_near)
