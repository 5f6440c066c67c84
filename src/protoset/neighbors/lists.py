"""Neighbour lists as a value: each object's nearest others with their distances and ranks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from protoset import kernels
from protoset._arrays import rank_rows, row_numbers, row_pointers, smallest_at
from protoset._blocks import row_slices
from protoset._display import Brief
from protoset._storage import Storage
from protoset._validation import check_choice, name_rows
from protoset.spaces import RawLists, SearchCounters, make_space

Ties = Literal["min", "average", "ordinal"]
TIES: tuple[Ties, ...] = ("min", "average", "ordinal")

CHECKED_ENTRIES = 2**20
"""Entries that are checked and ranked at a time, so that long lists need no copies."""


@dataclass(frozen=True, eq=False, repr=False)
class NeighborLists(Brief):
    """Nearest neighbours of each object, nearest first; neighbours at equal distances are ordered by index.

    The list of object ``i`` has the entries from ``indptr[i]`` to ``indptr[i + 1]``. The constructor checks the lists
    and makes its arrays read-only, without a copy.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n + 1,)
        Position of the first entry of each object, and the number of all entries.
    indices : ndarray of int32
        The neighbours. An object is never its own neighbour, and no neighbour is listed twice.
    distances : ndarray of float64
        Dissimilarities between each object and its neighbours.
    closed : ndarray of bool, shape (n,)
        Whether the list of an object is known to have all objects at the distance of its last neighbour.
    ties : {"min", "average", "ordinal"}
        Ranks of neighbours at equal distances: the smallest rank for all, the mean rank for all, or different ranks by
        index.
    counters : SearchCounters or None
        Numbers of pairs that the search excluded, abandoned and computed; None if the search does not count them.
    recall : float or None
        Share of the true neighbours that are listed, measured on a sample; None for lists that are not known to be
        approximate.
    storage : Storage
        Storage of the ranks: in memory, or beside the lists on disk.
    ranks : ndarray of float64
        Rank of each entry in its list; 1 is nearest.
    """

    indptr: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    closed: np.ndarray
    ties: Ties = "min"
    counters: SearchCounters | None = None
    recall: float | None = None
    storage: Storage = field(default_factory=Storage, repr=False)
    ranks: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, TIES)
        self._take_over("indptr", self.indptr, np.int64)
        self._take_over("distances", self.distances, np.float64)
        self._take_over("closed", self.closed, np.bool_)
        self._check_lengths()
        # In their own type until they are known to fit: a cast would wrap values that are too large.
        indices = np.asarray(self.indices)
        for rows, entries in self._parts():
            self._check_indices(rows, indices[entries])
        self._take_over("indices", indices, np.int32)
        twice = [rows.start + self._rows_with_repeats(rows, entries) for rows, entries in self._parts()]
        if any(map(len, twice)):
            raise ValueError(f"lists: {name_rows(np.concatenate(twice))} list the same neighbour twice")
        ranks = self.storage.scratch("neighbor_ranks", self.distances.shape, np.float64)
        for rows, entries in self._parts():
            self._check_distances(rows, self.distances[entries])
            local = self.indptr[rows.start : rows.stop + 1] - self.indptr[rows.start]
            ranks[entries] = rank_rows(local, self.distances[entries], TIES.index(self.ties))
        self._take_over("ranks", ranks, float)

    def _parts(self) -> Iterator[tuple[slice, slice]]:
        """Consecutive rows with about ``CHECKED_ENTRIES`` entries, and their entries."""
        start = 0
        while start < self.n_objects:
            wanted = self.indptr[start] + CHECKED_ENTRIES
            stop = max(start + 1, int(np.searchsorted(self.indptr, wanted, side="right")) - 1)
            yield slice(start, stop), slice(int(self.indptr[start]), int(self.indptr[stop]))
            start = stop

    def _rows_with_repeats(self, rows: slice, entries: slice) -> np.ndarray:
        """Those of the rows, counted from the first of them, that list an object twice."""
        indptr, indices = self.indptr[rows.start : rows.stop + 1] - self.indptr[rows.start], self.indices[entries]
        lists = sparse.csr_matrix((np.ones(len(indices), np.int8), indices, indptr), (len(indptr) - 1, self.n_objects))
        # By columns the rows are ascending, so that repeats follow each other.
        listed_by = lists.tocsc()
        is_repeat = np.append(False, np.diff(listed_by.indices) == 0)[: len(indices)]
        starts = listed_by.indptr[:-1]
        is_repeat[starts[starts < len(indices)]] = False
        return np.unique(listed_by.indices[is_repeat])

    def _take_over(self, name: str, values: Any, dtype: Any) -> None:
        array = np.ascontiguousarray(values, dtype)
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    def _check_lengths(self) -> None:
        n, size = self.n_objects, len(self.indices)
        if n < 1 or self.indptr[0] != 0 or self.indptr[-1] != size or (np.diff(self.indptr) < 0).any():
            raise ValueError(f"lists: indptr must rise from 0 to the number of entries, {size}")
        if self.distances.shape != (size,) or self.closed.shape != (n,):
            raise ValueError(
                f"lists: {n} lists with {size} entries need as many distances, and a sign whether each is closed; "
                f"got the shapes {self.distances.shape} and {self.closed.shape}"
            )

    def _check_indices(self, rows: slice, indices: np.ndarray) -> None:
        n, row = self.n_objects, self._rows_of(rows)
        if indices.dtype.kind not in "iu":
            raise ValueError(f"lists: indices must be whole numbers, got the dtype {indices.dtype}")
        outside = (indices < 0) | (indices >= n)
        if outside.any():
            raise ValueError(
                f"lists: indices must lie between 0 and {n - 1}; {name_rows(np.unique(row[outside]))} list others"
            )
        if (indices == row).any():
            raise ValueError(
                f"lists: an object is never its own neighbour, but {name_rows(row[indices == row])} list "
                "themselves; remove those entries"
            )

    def _check_distances(self, rows: slice, distances: np.ndarray) -> None:
        row = self._rows_of(rows)
        bad = ~(np.isfinite(distances) & (distances >= 0))
        if bad.any():
            raise ValueError(
                f"lists: distances must be finite and not negative; {name_rows(np.unique(row[bad]))} hold others"
            )
        falls = (np.diff(distances) < 0) & (np.diff(row) == 0)
        if falls.any():
            raise ValueError(
                f"lists: distances must not fall along a list; they do in {name_rows(np.unique(row[1:][falls]))}"
            )

    def _rows_of(self, rows: slice) -> np.ndarray:
        return rows.start + row_numbers(self.indptr[rows.start : rows.stop + 1])

    @classmethod
    def from_raw(cls, raw: RawLists, ties: Ties = "min", storage: Storage | None = None) -> NeighborLists:
        """Rank the lists that a space found."""
        return cls(
            row_pointers(raw.counts),
            raw.indices,
            raw.distances,
            raw.closed,
            ties,
            raw.counters,
            raw.recall,
            Storage() if storage is None else storage,
        )

    @classmethod
    def from_folder(cls, folder: str | os.PathLike[str], ties: Ties = "min") -> NeighborLists:
        """Open the lists that a fit with ``NeighborSearch(folder=...)`` wrote; they stay on disk, memory-mapped.

        The ranks are written beside the lists, or kept in memory if the folder is read-only.

        Parameters
        ----------
        folder : path-like
            Folder of the lists.
        ties : {"min", "average", "ordinal"}
            How equal distances are ranked.
        """
        storage = Storage.at(folder)
        if storage.holds("neighbor_indices") and not storage.holds("neighbor_counts"):
            raise ValueError(
                f"the neighbour lists in {storage.folder!r} are unfinished; fit again with "
                "REPS(search=NeighborSearch(folder=...))"
            )
        names = ("neighbor_counts", "neighbor_indices", "neighbor_distances", "neighbor_closed")
        counts, indices, distances, closed = (storage.open(name) for name in names)
        recall = float(storage.open("neighbor_recall")[0]) if storage.holds("neighbor_recall") else np.nan
        known = None if np.isnan(recall) else recall
        raw = RawLists(counts, indices.reshape(-1), distances.reshape(-1), closed, recall=known)
        return cls.from_raw(raw, ties, storage)

    @classmethod
    def from_arrays(cls, indices: Any, distances: Any, ties: Ties = "min") -> NeighborLists:
        """Make lists from arrays, as ``NearestNeighbors.kneighbors()`` returns them.

        Parameters
        ----------
        indices, distances : array-like of shape (n, k)
            The k nearest neighbours of each object, in any order. An entry that lists the object itself is left out;
            many libraries return such entries.
        ties : {"min", "average", "ordinal"}
            How equal distances are ranked.

        Returns
        -------
        NeighborLists
        """
        indices, distances = _rectangle("indices", indices, "iu"), _rectangle("distances", distances, "fiu")
        if indices.shape != distances.shape:
            raise ValueError(
                f"lists: indices and distances must have the same shape, got {indices.shape} and {distances.shape}"
            )
        n = len(indices)
        others = indices != np.arange(n)[:, None]
        counts = others.sum(axis=1)
        indptr = row_pointers(counts)
        flat_indices, flat_distances = indices[others].astype(np.int64), distances[others].astype(np.float64)
        kernels.lists.sort_rows(indptr, flat_indices, flat_distances)
        return cls(indptr, flat_indices, flat_distances, counts == n - 1, ties)

    @classmethod
    def from_graph(cls, graph: Any, ties: Ties = "min") -> NeighborLists:
        """Make lists from a sparse graph of distances, as ``kneighbors_graph(mode="distance")`` returns it.

        Entries on the diagonal are left out. Explicit zeros are distances of 0.
        """
        n = graph.shape[0]
        return cls.from_raw(make_space(graph, "precomputed").kneighbors(n, limit=n), ties)

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.indptr) - 1

    def restrict(self, members: np.ndarray) -> NeighborLists:
        """Return the lists of some objects among themselves, with new ranks."""
        position = np.full(self.n_objects, -1, np.int64)
        position[members] = np.arange(len(members))
        indptr, indices, distances = restrict_rows(self.indptr, self.indices, self.distances, members, position)
        raw = RawLists(np.diff(indptr), indices, distances, self.closed[members], recall=self.recall)
        return NeighborLists.from_raw(raw, self.ties)

    def merged(self, rows: np.ndarray, position: np.ndarray) -> NeighborLists:
        """Return lists of distinct objects from lists of rows, of which several may be copies of one object.

        ``position`` has the number of the distinct object of each row; the objects of ``rows`` have the numbers 0, 1,
        ..., and -1 leaves a row out. Each list has the nearest copy of a neighbour, and never the object itself.
        """
        indptr, indices, distances = restrict_rows(self.indptr, self.indices, self.distances, rows, position)
        row = row_numbers(indptr)
        _, first = np.unique(row.astype(np.int64) * len(rows) + indices, return_index=True)
        kept = np.sort(first[indices[first] != row[first]])
        counts, indices, distances = np.bincount(row[kept], minlength=len(rows)), indices[kept], distances[kept]
        indptr = row_pointers(counts)
        kernels.lists.sort_rows(indptr, indices, distances)
        return NeighborLists.from_raw(
            RawLists(counts, indices, distances, self.closed[rows], recall=self.recall), self.ties
        )

    def nearest_members(self, rows: np.ndarray, member: np.ndarray, vote: Any) -> np.ndarray:
        """Return the nearest member of each of ``rows``; a member is its own nearest, and -1 means not in the list.

        ``vote`` decides ties: it has the class and the count of each object, and the totals of the classes.
        """
        return kernels.lists.nearest_members(
            self.indptr, self.indices, self.distances, self.closed, rows, member, *vote
        )

    def best_ranks(self) -> np.ndarray:
        """Return the smallest rank that each object has in the lists of other objects; infinity if it is in none."""
        return smallest_at(self.indices, self.ranks, self.n_objects)

    def first_members(self, rows: np.ndarray, member: np.ndarray, n_members: int) -> np.ndarray:
        """Return the nearest listed members of each of ``rows``, a row each; -1 if the list has no more members."""
        return kernels.lists.first_members(self.indptr, self.indices, rows, member, n_members)


def as_lists(lists: Any, n_objects: int, ties: Ties = "min") -> NeighborLists:
    """Return neighbour lists that were given in any of the supported forms, as ``NeighborLists``.

    Parameters
    ----------
    lists : NeighborLists, (indices, distances) or sparse graph
        Nearest neighbours of each object of the training set.
    n_objects : int
        Number of objects of the training set.
    ties : {"min", "average", "ordinal"}
        How equal distances are ranked. The ``ties`` of a given NeighborLists are not used.

    Returns
    -------
    NeighborLists
    """
    if isinstance(lists, NeighborLists):
        checked = lists if lists.ties == ties else replace(lists, ties=ties)
    elif sparse.issparse(lists):
        checked = NeighborLists.from_graph(lists, ties)
    elif isinstance(lists, (tuple, list)) and len(lists) == 2:
        indices, distances = lists
        checked = NeighborLists.from_arrays(indices, distances, ties)
    else:
        raise TypeError(
            f"lists={type(lists).__name__} is not understood; pass (indices, distances), "
            "a SciPy sparse graph of distances, or a NeighborLists"
        )
    if checked.n_objects != n_objects:
        raise ValueError(f"lists are of {checked.n_objects} objects, but X has {n_objects}; pass one list per object")
    return checked


def _rectangle(name: str, values: Any, kinds: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"lists: {name} must have the shape (n_objects, k), but its rows differ in length; "
            "pass a SciPy sparse graph of distances where the numbers of neighbours differ"
        ) from error
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"lists: {name} must have the shape (n_objects, k), got {array.shape}")
    if array.dtype.kind not in kinds:
        wanted = "whole numbers" if kinds == "iu" else "real numbers"
        raise ValueError(f"lists: {name} must be {wanted}, got the dtype {array.dtype}")
    return array


def restrict_rows(
    indptr: np.ndarray, indices: np.ndarray, distances: np.ndarray, rows: np.ndarray, position: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists of ``rows``, with the new ``position`` of each object; an object at -1 is left out of all lists."""
    counts, new_counts = np.diff(indptr)[rows], np.zeros(len(rows), np.int64)
    # Memory that is never written to, because objects are left out, is not taken from the system.
    new_indices, new_distances, end = np.empty(counts.sum(), indices.dtype), np.empty(counts.sum(), distances.dtype), 0
    for block in row_slices(len(rows), 32 * int(counts.max(initial=0))):
        lengths = counts[block]
        ends = np.cumsum(lengths)
        entries = np.repeat(indptr[rows[block]] - ends + lengths, lengths) + np.arange(ends[-1])
        positions = position[indices[entries]]
        kept = np.flatnonzero(positions >= 0)
        new_counts[block] = np.diff(np.searchsorted(kept, np.append(0, ends)))
        start, end = end, end + len(kept)
        new_indices[start:end], new_distances[start:end] = positions[kept], distances[entries[kept]]
    return row_pointers(new_counts), new_indices[:end], new_distances[:end]
