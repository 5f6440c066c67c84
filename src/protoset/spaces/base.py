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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from joblib import Parallel, delayed

from protoset._blocks import map_blocks, row_slices
from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset.spaces._lists import RawLists, smallest_of
from protoset.spaces._nearest_so_far import NearestSoFar

Rows = slice | np.ndarray
"""Which rows or columns: a slice or an array of positions."""


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


class TrainingSpace(Protocol):
    """All that a method asks about the training objects; see :class:`Space` for what it gets."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row objects and of column objects."""

    @property
    def partial(self) -> bool:
        """Whether only the dissimilarities to some neighbours are known."""

    @property
    def remote(self) -> bool:
        """Whether the objects are on other machines."""

    @property
    def approximable(self) -> bool:
        """Whether there is an approximate search for these objects."""

    @property
    def object_bytes(self) -> int:
        """Memory of one object, as far as it is known."""

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities of the given rows to the given columns."""

    def distances_to(self, column: int) -> np.ndarray:
        """Everyone's dissimilarities to one column."""

    def nearest(
        self, rows: Rows = slice(None), columns: Rows = slice(None), *, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row."""

    def kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Nearest others of every training object."""

    def approximate_kneighbors(
        self, n_neighbors: int, *, storage: Storage, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Most of the nearest others of every training object."""

    def subset(self, members: np.ndarray) -> TrainingSpace:
        """Space of some of the training objects."""

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

    remote: bool = False
    """Whether the objects are on other machines."""

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

    def distances_to(self, column: int) -> np.ndarray:
        """Everyone's dissimilarities to one column, for those who ask for many, one after the other."""
        return self.block(slice(None), np.array([column]))[:, 0]

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
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
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

    @property
    def approximable(self) -> bool:
        """Whether there is an approximate search for these objects."""
        return False

    def approximate_kneighbors(
        self, n_neighbors: int, *, storage: Storage, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Most of the nearest others of every training object, with their exact dissimilarities and the recall.

        Parameters
        ----------
        n_neighbors : int
            Exactly this many, or all others if there are fewer.
        storage : Storage
            Where the lists are kept.
        n_jobs : int, optional
        progress : callable, optional
        """
        raise NotImplementedError(f"there is no approximate search for metric={self.metric!r}")

    def subset(self, members: np.ndarray) -> TrainingSpace:
        """Space of some of the training objects."""
        from protoset.spaces._subset import SubsetSpace

        return SubsetSpace(self, members)

    @property
    def object_bytes(self) -> int:
        """Memory of one object as the space keeps it, as far as it is known; 0 where it is not."""
        return 0

    def central_member(self, members: np.ndarray) -> int | None:
        """Return the member nearest to the mean of the members; None where objects have no coordinates."""
        return None

    def kneighbors_by_block(
        self, rows: np.ndarray, n_neighbors: int, *, limit: int, n_jobs: int | None = None
    ) -> RawLists:
        """Neighbours of the given training objects from whole rows of dissimilarities."""
        k = min(n_neighbors, self.shape[1] - 1)

        def search(part: slice) -> RawLists:
            return smallest_of(self.block(rows[part], slice(None)), rows[part], k, max(limit, k))

        return RawLists.concatenate(map_blocks(search, len(rows), self.shape[1], n_jobs))

    def kneighbors_by_pair(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Neighbours of every object where d(a, b) = d(b, a): each pair is computed once and serves both."""
        n = self.shape[0]
        nearest = NearestSoFar(n, min(n_neighbors, n - 1), limit)
        strips = list(row_slices(n, n * 8))
        workers = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
        blocks = workers(delayed(self.upper_block)(part) for part in strips)
        for part, block in zip(strips, blocks, strict=True):
            nearest.push_strip(part.start, block)
            if progress is not None:
                progress(part.stop * (2 * n - part.stop - 1) // 2, n * (n - 1) // 2)
        return nearest.lists()

    def upper_block(self, rows: slice) -> np.ndarray:
        """Dissimilarities of consecutive rows to the columns from the first of them on; pairs c <= r are not read."""
        return self.block(rows, slice(rows.start, None))
