"""Neighbour lists: each object's nearest others with their distances and ranks.

REPS needs nothing else of the data. A rank-exponential feature beta^-rank vanishes below double
precision after a few dozen ranks, so a list of that length stands for the whole row of an n x n
matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from protoset import kernels
from protoset._arrays import row_numbers, row_pointers
from protoset._validation import check_choice, check_count, name_rows
from protoset.spaces import Progress, RawLists, SearchCounters, TrainingSpace, make_space

Ties = Literal["min", "average", "ordinal"]
TIES: tuple[Ties, ...] = ("min", "average", "ordinal")

LISTS_BYTES = 512 * 2**20
"""Memory that lists may take to hold all that tie with a last neighbour."""

ENTRY_BYTES = 64
"""Memory of an entry: index, distance, rank, feature, and the copies while they are made."""


@dataclass(frozen=True, eq=False)
class NeighborLists:
    """Each object's nearest others, nearest first; equal distances by index.

    Object ``i`` has the entries ``indptr[i]`` to ``indptr[i + 1]``. The lists are checked once,
    here; they take over the arrays that they are made from, which are read-only from then on.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n + 1,)
        Where each object's entries start.
    indices : ndarray of int32
        The neighbours. An object is never its own neighbour, and no neighbour is listed twice.
    distances : ndarray of float64
        Their dissimilarities from the object.
    closed : ndarray of bool, shape (n,)
        Whether the list is known to hold everything at the distance of its last neighbour.
    ties : {"min", "average", "ordinal"}
        How equal distances are ranked: with the best of their places, with the mean of their
        places, or one after the other by index.
    counters : SearchCounters or None
        What the search did with the pairs of objects, where it passes over some of them.
    ranks : ndarray of float64
        Rank of each entry in its list; 1 is nearest.
    """

    indptr: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    closed: np.ndarray
    ties: Ties = "min"
    counters: SearchCounters | None = None
    ranks: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, TIES)
        self._take_over("indptr", self.indptr, np.int64)
        self._take_over("distances", self.distances, np.float64)
        self._take_over("closed", self.closed, np.bool_)
        self._check_lengths()
        # In their own type until they are known to fit: a cast would wrap what is too large.
        self._check_indices(np.asarray(self.indices))
        self._take_over("indices", self.indices, np.int32)
        self._check_distances()
        self._take_over("ranks", kernels.lists.rank_rows(self.indptr, self.distances, TIES.index(self.ties)), float)

    def _take_over(self, name: str, values: Any, dtype: Any) -> None:
        array = np.ascontiguousarray(values, dtype)
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    def _check_lengths(self) -> None:
        n, size = self.n_objects, len(self.indices)
        if n < 1 or self.indptr[0] != 0 or self.indptr[-1] != size or (np.diff(self.indptr) < 0).any():
            raise ValueError(f"neighbors: indptr must rise from 0 to the number of entries, {size}")
        if self.distances.shape != (size,) or self.closed.shape != (n,):
            raise ValueError(
                f"neighbors: {n} lists with {size} entries need as many distances, and a sign whether each is closed; "
                f"got the shapes {self.distances.shape} and {self.closed.shape}"
            )

    def _check_indices(self, indices: np.ndarray) -> None:
        n, row = self.n_objects, row_numbers(self.indptr)
        if indices.dtype.kind not in "iu":
            raise ValueError(f"neighbors: indices must be whole numbers, got the dtype {indices.dtype}")
        outside = (indices < 0) | (indices >= n)
        if outside.any():
            raise ValueError(
                f"neighbors: indices must lie between 0 and {n - 1}; {name_rows(np.unique(row[outside]))} list others"
            )
        if (indices == row).any():
            raise ValueError(
                f"neighbors: an object is never its own neighbour, but {name_rows(row[indices == row])} list "
                "themselves; remove those entries"
            )
        twice = np.flatnonzero(kernels.lists.rows_with_repeats(self.indptr, indices))
        if len(twice):
            raise ValueError(f"neighbors: {name_rows(twice)} list the same neighbour twice")

    def _check_distances(self) -> None:
        row = row_numbers(self.indptr)
        bad = ~(np.isfinite(self.distances) & (self.distances >= 0))
        if bad.any():
            raise ValueError(
                f"neighbors: distances must be finite and not negative; {name_rows(np.unique(row[bad]))} hold others"
            )
        falls = (np.diff(self.distances) < 0) & (np.diff(row) == 0)
        if falls.any():
            raise ValueError(
                f"neighbors: distances must not fall along a list; they do in {name_rows(np.unique(row[1:][falls]))}"
            )

    @classmethod
    def from_raw(cls, raw: RawLists, ties: Ties = "min") -> NeighborLists:
        """Rank the lists that a space found."""
        return cls(row_pointers(raw.counts), raw.indices, raw.distances, raw.closed, ties, raw.counters)

    @classmethod
    def from_arrays(cls, indices: Any, distances: Any, ties: Ties = "min") -> NeighborLists:
        """Take ready-made lists, as ``NearestNeighbors.kneighbors()`` returns them.

        Parameters
        ----------
        indices, distances : array-like of shape (n, k)
            Each object's nearest others in any order. Where an object lists itself, as most
            indexes do that were asked for the neighbours of their own objects, that entry is left out.
        ties : {"min", "average", "ordinal"}
            How equal distances are ranked.

        Returns
        -------
        NeighborLists
        """
        indices, distances = _rectangle("indices", indices, "iu"), _rectangle("distances", distances, "fiu")
        if indices.shape != distances.shape:
            raise ValueError(
                f"neighbors: indices and distances must have the same shape, got {indices.shape} and {distances.shape}"
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
        """Take a sparse graph of distances, as ``kneighbors_graph(mode="distance")`` returns it.

        Entries on the diagonal are left out; listed zeros are distances of 0.
        """
        n = graph.shape[0]
        return cls.from_raw(make_space(graph, "precomputed").kneighbors(n, limit=n), ties)

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.indptr) - 1

    def restrict(self, members: np.ndarray) -> NeighborLists:
        """Lists of the members alone, ranked anew among themselves."""
        position = np.full(self.n_objects, -1, np.int64)
        position[members] = np.arange(len(members))
        indptr, indices, distances = kernels.lists.restrict(
            self.indptr, self.indices, self.distances, members, position
        )
        raw = RawLists(np.diff(indptr), indices, distances, self.closed[members])
        return NeighborLists.from_raw(raw, self.ties)

    def best_ranks(self) -> np.ndarray:
        """Smallest rank at which each object is listed by another, infinity where by none."""
        return kernels.lists.best_ranks(self.indices, self.ranks, self.n_objects)

    def first_members(self, rows: np.ndarray, member: np.ndarray, n_members: int) -> np.ndarray:
        """Nearest listed objects that are members, a row for each of ``rows``; -1 where the list has no more."""
        return kernels.lists.first_members(self.indptr, self.indices, rows, member, n_members)


def build_lists(
    space: TrainingSpace,
    n_neighbors: int,
    *,
    ties: Ties = "min",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> NeighborLists:
    """Find each object's nearest others.

    Parameters
    ----------
    space : TrainingSpace
    n_neighbors : int
        Length of the lists; all others where there are fewer. Lists are longer where several
        objects tie at the last place, as far as ``LISTS_BYTES`` allows.
    ties : {"min", "average", "ordinal"}
        How equal distances are ranked.
    n_jobs : int, optional
        Workers of the search.
    progress : callable, optional
        ``progress(done, total)`` is called now and then where the search takes long.

    Returns
    -------
    NeighborLists
    """
    check_count("n_neighbors", n_neighbors, least=1, remedy="pass the number of neighbours to look at")
    n = space.shape[0]
    n_neighbors = min(n_neighbors, n - 1)
    limit = max(n_neighbors, LISTS_BYTES // (ENTRY_BYTES * n))
    raw = space.kneighbors(n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)
    return NeighborLists.from_raw(raw, ties)


def as_lists(neighbors: Any, n_objects: int, ties: Ties = "min") -> NeighborLists:
    """Take neighbour lists in any of the forms that users have.

    Parameters
    ----------
    neighbors : NeighborLists, (indices, distances) or sparse graph
    n_objects : int
        Number of objects that they must be for.
    ties : {"min", "average", "ordinal"}
        How equal distances are ranked, whatever the lists say.

    Returns
    -------
    NeighborLists
    """
    if isinstance(neighbors, NeighborLists):
        lists = neighbors if neighbors.ties == ties else replace(neighbors, ties=ties)
    elif sparse.issparse(neighbors):
        lists = NeighborLists.from_graph(neighbors, ties)
    elif isinstance(neighbors, (tuple, list)) and len(neighbors) == 2:
        indices, distances = neighbors
        lists = NeighborLists.from_arrays(indices, distances, ties)
    else:
        raise TypeError(
            f"neighbors={type(neighbors).__name__} is not understood; pass (indices, distances), "
            "a SciPy sparse graph of distances, or a NeighborLists"
        )
    if lists.n_objects != n_objects:
        raise ValueError(f"neighbors lists {lists.n_objects} objects, but X has {n_objects}; pass one list per object")
    return lists


def _rectangle(name: str, values: Any, kinds: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"neighbors: {name} must have the shape (n_objects, k), but its rows differ in length; "
            "pass a SciPy sparse graph of distances where the numbers of neighbours differ"
        ) from error
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"neighbors: {name} must have the shape (n_objects, k), got {array.shape}")
    if array.dtype.kind not in kinds:
        wanted = "whole numbers" if kinds == "iu" else "real numbers"
        raise ValueError(f"neighbors: {name} must be {wanted}, got the dtype {array.dtype}")
    return array
