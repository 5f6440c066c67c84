"""The one interface between objects and methods.

    row objects          a Space             column objects
   (queries, or the  -- dissimilarities -->  (training objects,
   training objects)                          or the prototypes)

A method never sees the objects. It asks a space for blocks of dissimilarities, for the nearest
among given columns, or for everyone's nearest neighbours. A new kind of object is a new file with
a subclass and its records in ``METRICS``; only ``block`` and the ways to make one space from
another must be written, the searches have versions that go block by block and may be replaced by
better ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from joblib import Parallel, delayed

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._blocks import map_blocks, row_slices

Rows = slice | np.ndarray
"""Which rows or columns: a slice or an array of positions."""

Progress = Callable[[int, int], None]
"""Told how much of the work is done: ``progress(done, total)``."""


@dataclass(frozen=True)
class Dissimilarity:
    """What a metric's name stands for, and what it can do.

    Attributes
    ----------
    name : str
        What users pass as ``metric``.
    space : type
        The space that serves it.
    kind : str
        Kind of objects: "vectors", "mixed attributes", "series", "strings", "matrix" or "objects".
    parameters : tuple of str
        Names of the ``metric_params`` that it takes.
    symmetric : bool
        Whether d(a, b) = d(b, a).
    ragged : bool
        Whether objects may differ in length.
    needs_fitting : bool
        Whether it learns something from the training set, such as ranges.
    bounds : bool
        Whether the neighbour search passes over pairs that a bound excludes.
    sparse : bool
        Whether sparse matrices are taken.
    requires : str
        The extra that must be installed; empty where none is needed.
    """

    name: str
    space: type[Space]
    kind: str
    parameters: tuple[str, ...] = ()
    symmetric: bool = True
    ragged: bool = False
    needs_fitting: bool = False
    bounds: bool = False
    sparse: bool = False
    requires: str = ""


@dataclass(frozen=True)
class SearchCounters:
    """What a neighbour search did with the pairs of objects.

    Attributes
    ----------
    pairs : int
        Pairs there are.
    bounded : int
        Pairs that a bound excluded before any of the dissimilarity was computed.
    abandoned : int
        Pairs whose computation was broken off when it was clear that they are too far apart.
    computed : int
        Pairs computed to the end.
    """

    pairs: int
    bounded: int
    abandoned: int
    computed: int


@dataclass(frozen=True, eq=False)
class RawLists:
    """Neighbours of consecutive rows as compressed rows, by (distance, index).

    Attributes
    ----------
    counts : ndarray of int64
        Number of neighbours of each row.
    indices, distances : ndarray
        The neighbours of all rows, one after the other.
    closed : ndarray of bool
        Whether the row holds everything at the distance of its last neighbour.
    counters : SearchCounters or None
        What the search did, where it counts.
    """

    counts: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    closed: np.ndarray
    counters: SearchCounters | None = None

    @classmethod
    def concatenate(cls, parts: list[RawLists]) -> RawLists:
        """Join the lists of consecutive rows."""
        counts, indices, distances, closed = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("counts", "indices", "distances", "closed")
        )
        return cls(counts, indices, distances, closed)


class TrainingSpace(Protocol):
    """All that a method asks about the training objects; see :class:`Space` for what it gets."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row objects and of column objects."""

    @property
    def partial(self) -> bool:
        """Whether only the dissimilarities to some neighbours are known."""

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities of the given rows to the given columns."""

    def nearest(
        self, rows: Rows = slice(None), columns: Rows = slice(None), *, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row."""

    def kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: Progress | None = None
    ) -> RawLists:
        """Nearest others of every training object."""

    def central_member(self, members: np.ndarray) -> int | None:
        """Member nearest to the mean of the members; None where objects have no coordinates."""


class Space(ABC):
    """Dissimilarities from row objects to column objects.

    The space of a training set has the same objects on both sides.

    Parameters
    ----------
    metric : str
        The name by which users ask for this dissimilarity.
    rows, columns : sequence
        The objects as the space keeps them; one and the same in the space of a training set.
    """

    partial: bool = False
    """Whether only the dissimilarities to some neighbours are known."""

    def __init__(self, metric: str, rows: Any, columns: Any):
        self.metric = metric
        self._rows = rows
        self._columns = columns

    @classmethod
    @abstractmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of a training set; raises where ``X`` is not what the metric needs.

        Parameters
        ----------
        X : any
            The training objects.
        metric : str
            One of the names in the module's ``METRICS``.
        parameters : dict
            Those of the record's ``parameters`` that the user gave.
        y : array-like, optional
            The labels as the user gave them, for dissimilarities that learn from them.
        """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row objects and of column objects."""
        return len(self._rows), len(self._columns)

    @property
    def n_features(self) -> int | None:
        """Number of features of a query, scikit-learn's ``n_features_in_``; None where objects have none."""
        return None

    @abstractmethod
    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities of the given rows to the given columns, as float64."""

    @abstractmethod
    def cross(self, queries: Any) -> Self:
        """Space from new objects to the columns of this one."""

    @abstractmethod
    def prototypes(self, indices: np.ndarray) -> Self:
        """Space without rows whose columns are the given ones: what predictions ``cross`` from.

        It keeps none of the other objects alive.
        """

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a file needs to bring the columns back: JSON values and plain arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Inverse of ``state``, without rows; raises ``ValueError`` or ``KeyError`` where something is amiss."""

    def nearest(
        self, rows: Rows = slice(None), columns: Rows = slice(None), *, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row.

        Returns
        -------
        positions : ndarray of int64
            Position among ``columns``; the lowest one among ties.
        distances : ndarray of float64
        """
        wanted = np.arange(self.shape[0])[rows]
        n_columns = len(np.arange(self.shape[1])[columns])

        def search(part: slice) -> tuple[np.ndarray, np.ndarray]:
            block = self.block(wanted[part], columns)
            positions = block.argmin(axis=1)
            return positions, block[np.arange(len(block)), positions]

        found = map_blocks(search, len(wanted), n_columns, n_jobs)
        return np.concatenate([p for p, _ in found]), np.concatenate([d for _, d in found])

    def kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: Progress | None = None
    ) -> RawLists:
        """Nearest others of every training object, with all that tie with the last one.

        Parameters
        ----------
        n_neighbors : int
            At least this many, or all others if there are fewer.
        limit : int
            At most this many; a row whose ties do not fit keeps the lowest indices.
        n_jobs : int, optional
            Workers.
        progress : callable, optional
            Told how much is done, where that takes long.
        """
        return self.kneighbors_by_block(np.arange(self.shape[0]), n_neighbors, limit=limit, n_jobs=n_jobs)

    def central_member(self, members: np.ndarray) -> int | None:
        """Return the member nearest to the mean of the members; None where objects have no coordinates."""
        return None

    def kneighbors_by_block(
        self, rows: np.ndarray, n_neighbors: int, *, limit: int, n_jobs: int | None = None
    ) -> RawLists:
        """Neighbours of the given training objects from whole rows of dissimilarities."""
        k = min(n_neighbors, self.shape[1] - 1)

        def search(part: slice) -> RawLists:
            block = self.block(rows[part], slice(None))
            threshold, n_below, n_at = kernels.lists.kth_smallest(block, rows[part], k)
            counts = np.minimum(n_below + n_at, max(limit, k))
            indptr = row_pointers(counts)
            indices = np.empty(indptr[-1], np.int32)
            distances = np.empty(indptr[-1])
            kernels.lists.gather_smallest(block, rows[part], threshold, n_below, indptr, indices, distances)
            return RawLists(counts, indices, distances, counts == n_below + n_at)

        return RawLists.concatenate(map_blocks(search, len(rows), self.shape[1], n_jobs))

    def kneighbors_by_pair(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: Progress | None = None
    ) -> RawLists:
        """Neighbours of every object where d(a, b) = d(b, a): each pair is computed once and serves both."""
        n = self.shape[0]
        nearest = NearestSoFar(n, min(n_neighbors, n - 1), limit)
        strips = list(row_slices(n, n * 8))
        workers = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        blocks = workers(delayed(self.upper_block)(part) for part in strips)
        for part, block in zip(strips, blocks, strict=True):
            nearest.push_strip(part.start, block)
            if progress is not None:
                progress(part.stop * (2 * n - part.stop - 1) // 2, n * (n - 1) // 2)
        return nearest.lists()

    def upper_block(self, rows: slice) -> np.ndarray:
        """Dissimilarities of consecutive rows to the columns from the first of them on; pairs c <= r are not read."""
        return self.block(rows, slice(rows.start, None))


class NearestSoFar:
    """The nearest neighbours found so far of each of n objects, with all that tie with the last one.

    Parameters
    ----------
    n_objects : int
    n_neighbors : int
        Neighbours to find of each.
    limit : int
        Neighbours to keep of each at most; ties beyond it are dropped from the highest index.

    Attributes
    ----------
    thresholds : ndarray of shape (n_objects,)
        Distance beyond which another object is of no interest to each. It may be lowered from
        outside to a proven bound on the distance of the last neighbour.
    """

    def __init__(self, n_objects: int, n_neighbors: int, limit: int):
        self.n_neighbors, self.limit = n_neighbors, min(max(limit, n_neighbors), n_objects - 1)
        width = self.limit + max(64, n_neighbors)
        self.distances, self.indices = np.empty((n_objects, width)), np.empty((n_objects, width), np.int32)
        self.counts, self.thresholds = np.zeros(n_objects, np.int64), np.full(n_objects, np.inf)
        self.triggers = np.full(n_objects, min(2 * n_neighbors, width), np.int64)
        self.cut_at = np.full(n_objects, np.nan)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the kernels that push pairs take."""
        sizes = (self.n_neighbors, self.limit)
        return self.distances, self.indices, self.counts, self.triggers, self.thresholds, self.cut_at, sizes

    def push_strip(self, first: int, block: np.ndarray) -> None:
        """Take the dissimilarities of rows ``first``, ``first + 1`` ... to the objects from ``first`` on."""
        kernels.nearest.push_strip(first, block, *self.arrays)

    def push_all(self, other: NearestSoFar) -> None:
        """Take what another search found."""
        kernels.nearest.push_lists(other.distances, other.indices, other.counts, other.cut_at, *self.arrays)

    def settle(self) -> None:
        """Drop all beyond each object's last neighbour, so that the thresholds are as low as is known."""
        kernels.nearest.settle(*self.arrays)

    def lists(self, counters: SearchCounters | None = None) -> RawLists:
        """Return the neighbours, by (distance, index)."""
        kernels.nearest.finish(*self.arrays)
        listed = np.arange(self.distances.shape[1]) < self.counts[:, None]
        closed = ~(self.cut_at == self.thresholds)
        return RawLists(self.counts.copy(), self.indices[listed], self.distances[listed], closed, counters)
