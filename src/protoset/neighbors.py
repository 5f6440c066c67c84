"""Neighbour lists: each object's nearest others with their distances and ranks.

REPS needs nothing else of the data. A rank-exponential feature beta^-rank vanishes below double
precision after a few dozen ranks, so a list of that length stands for the whole row of an n x n
matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from protoset import kernels
from protoset._validation import check_choice, check_count, name_rows
from protoset.spaces import RawLists, Space, make_space

Ties = Literal["min", "average", "ordinal"]
TIES: tuple[Ties, ...] = ("min", "average", "ordinal")

LISTS_BYTES = 512 * 2**20
"""Memory that lists may take to hold all that tie with a last neighbour."""

ENTRY_BYTES = 4 + 8 + 8


@dataclass(frozen=True)
class NeighborLists:
    """Each object's nearest others, nearest first; equal distances by index.

    Object ``i`` has the entries ``indptr[i]`` to ``indptr[i + 1]``. The arrays are read-only and
    checked once, here.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n + 1,)
    indices : ndarray of int32
        The neighbours. An object is never its own neighbour.
    distances : ndarray of float64
    ranks : ndarray of float64
        1 is nearest.
    closed : ndarray of bool, shape (n,)
        Whether the list holds everything at the distance of its last neighbour. A list is left
        open only where that would have taken too much memory.
    ties : {"min", "average", "ordinal"}
        How equal distances are ranked: with the best of their places, with the mean of their
        places, or one after the other by index.
    """

    indptr: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    ranks: np.ndarray
    closed: np.ndarray
    ties: Ties = "min"

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, TIES)
        self._check_structure()
        for name in ("indptr", "indices", "distances", "ranks", "closed"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def _check_structure(self) -> None:
        n, size = len(self.indptr) - 1, len(self.indices)
        if n < 1 or self.indptr[0] != 0 or self.indptr[-1] != size or (np.diff(self.indptr) < 0).any():
            raise ValueError(f"indptr must rise from 0 to the number of entries, {size}")
        if len(self.distances) != size or len(self.ranks) != size or len(self.closed) != n:
            raise ValueError(
                f"{n} lists with {size} entries need as many distances and ranks, "
                f"got {len(self.distances)} and {len(self.ranks)}"
            )
        if size == 0:
            return
        row = np.repeat(np.arange(n, dtype=np.int32), np.diff(self.indptr))
        if self.indices.min() < 0 or self.indices.max() >= n:
            bad = np.unique(row[(self.indices < 0) | (self.indices >= n)])
            raise ValueError(f"indices must lie between 0 and {n - 1}; {name_rows(bad)} list others")
        if (self.indices == row).any():
            bad = row[self.indices == row]
            raise ValueError(
                f"an object is never its own neighbour, but {name_rows(bad)} list themselves; "
                "search one neighbour more and remove the object itself"
            )
        if not (np.isfinite(self.distances).all() and self.distances.min() >= 0):
            bad = np.unique(row[~(np.isfinite(self.distances) & (self.distances >= 0))])
            raise ValueError(f"distances must be finite and not negative; {name_rows(bad)} hold others")
        falls = (np.diff(self.distances) < 0) & (np.diff(row) == 0)
        if falls.any():
            raise ValueError(f"distances must not fall along a list; they do in {name_rows(np.unique(row[1:][falls]))}")

    @classmethod
    def from_raw(cls, raw: RawLists, ties: Ties = "min") -> NeighborLists:
        """Rank the lists that a space found."""
        check_choice("ties", ties, TIES)
        indptr = np.concatenate([[0], np.cumsum(raw.counts)])
        ranks = kernels.lists.rank_rows(indptr, raw.distances, TIES.index(ties))
        return cls(indptr, raw.indices, raw.distances, ranks, raw.closed, ties)

    @classmethod
    def from_arrays(cls, indices: Any, distances: Any, ties: Ties = "min") -> NeighborLists:
        """Take ready-made lists, as ``NearestNeighbors.kneighbors()`` returns them.

        Parameters
        ----------
        indices, distances : array-like of shape (n, k)
            Each object's nearest others in any order. Where an object lists itself, as most
            indexes do that were asked for the neighbours of their own objects, that entry is left out.
        ties : {"min", "average", "ordinal"}
        """
        indices, distances = np.array(indices), np.array(distances, np.float64)
        if indices.ndim != 2 or indices.shape != distances.shape:
            raise ValueError(
                f"neighbors: indices and distances must both have the shape (n_objects, k), "
                f"got {indices.shape} and {distances.shape}"
            )
        if indices.dtype.kind not in "iu":
            raise ValueError(f"neighbors: indices must be whole numbers, got the dtype {indices.dtype}")
        n = len(indices)
        ordered = np.sort(indices, axis=1)
        twice = np.flatnonzero((np.diff(ordered, axis=1) == 0).any(axis=1))
        if len(twice):
            raise ValueError(f"neighbors: {name_rows(twice)} list the same neighbour twice")
        others = indices != np.arange(n)[:, None]
        counts = others.sum(axis=1)
        flat_indices, flat_distances = indices[others].astype(np.int32), distances[others]
        kernels.lists.sort_rows(np.concatenate([[0], np.cumsum(counts)]), flat_indices, flat_distances)
        return cls.from_raw(RawLists(counts, flat_indices, flat_distances, np.ones(n, bool)), ties)

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

    @property
    def has_ties(self) -> bool:
        """Whether any list holds two equal distances."""
        equal = self.distances[1:] == self.distances[:-1]
        starts = self.indptr[1:-1]
        equal[starts[(starts > 0) & (starts < len(self.indices))] - 1] = False
        return bool(equal.any())

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

    def first_member(self, rows: np.ndarray, member: np.ndarray) -> np.ndarray:
        """Nearest listed object that is a member, for each of ``rows``; -1 where none is listed."""
        return kernels.lists.first_member(self.indptr, self.indices, rows, member)


def build_lists(space: Space, n_neighbors: int, *, ties: Ties = "min", n_jobs: int | None = None) -> NeighborLists:
    """Find each object's nearest others.

    Parameters
    ----------
    space : Space
        Space of the training objects.
    n_neighbors : int
        Length of the lists; all others where there are fewer. Lists are longer where several
        objects tie at the last place, as far as ``LISTS_BYTES`` allows.
    ties : {"min", "average", "ordinal"}
    n_jobs : int, optional

    Returns
    -------
    NeighborLists
    """
    check_count("n_neighbors", n_neighbors, least=1, remedy="pass the number of neighbours to look at")
    n = space.shape[0]
    needed = n * min(n_neighbors, n - 1) * ENTRY_BYTES
    if needed > 2**31:
        from protoset._progress import logger

        logger.warning("%d lists of %d neighbours take %.1f GB", n, min(n_neighbors, n - 1), needed / 1e9)
    limit = max(n_neighbors, LISTS_BYTES // (ENTRY_BYTES * n))
    return NeighborLists.from_raw(space.kneighbors(n_neighbors, limit=limit, n_jobs=n_jobs), ties)


def as_lists(neighbors: Any, n_objects: int, ties: Ties = "min") -> NeighborLists:
    """Take neighbour lists in any of the forms that users have.

    Parameters
    ----------
    neighbors : NeighborLists, (indices, distances) or sparse graph
    n_objects : int
        Number of objects that they must be for.
    ties : {"min", "average", "ordinal"}
        Not used where the lists are ranked already.
    """
    if isinstance(neighbors, NeighborLists):
        lists = neighbors
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
