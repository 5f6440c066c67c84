"""The one interface between objects and methods.

    row objects          a Space             column objects
   (queries, or the  -- dissimilarities -->  (training objects,
   training objects)                          or the prototypes)

A method never sees the objects. It asks a space for blocks of dissimilarities, for the nearest
among given columns, or for everyone's nearest neighbours. A new kind of object is a new file
with a subclass; only ``block`` and the ways to make one space from another must be written, the
searches have versions that go block by block and may be replaced by better ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from joblib import Parallel, delayed

from protoset import kernels
from protoset._arrays import row_pointers

Rows = slice | np.ndarray
"""Which rows or columns: a slice or an array of positions."""

BLOCK_BYTES = 64 * 2**20
"""Working memory of one block of dissimilarities (one per worker)."""

T = TypeVar("T")


@dataclass(frozen=True)
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
    """

    counts: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    closed: np.ndarray

    @classmethod
    def concatenate(cls, parts: list[RawLists]) -> RawLists:
        """Join the lists of consecutive rows."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))


class Space(ABC):
    """Dissimilarities from row objects to column objects.

    The space of a training set has the same objects on both sides.
    """

    metric: ClassVar[str]
    """The name by which users ask for this dissimilarity."""

    parameters: ClassVar[tuple[str, ...]] = ()
    """Names of the ``metric_params`` that it takes."""

    partial: ClassVar[bool] = False
    """Whether only the dissimilarities to some neighbours are known."""

    @classmethod
    @abstractmethod
    def from_objects(cls, X: Any, **metric_params: Any) -> Self:
        """Make the space of a training set; raises where ``X`` is not what the metric needs."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of row objects and of column objects."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features of a query: what scikit-learn calls ``n_features_in_``."""

    @abstractmethod
    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities of the given rows to the given columns, as float64."""

    @abstractmethod
    def cross(self, queries: Any) -> Self:
        """Space from new objects to the columns of this one."""

    @abstractmethod
    def prototypes(self, indices: np.ndarray) -> Self:
        """Space without rows whose columns are the given ones: what predictions ``cross`` from."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a file needs to bring this space back: JSON values and plain arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Inverse of ``state``; raises ``ValueError`` or ``KeyError`` where something is amiss."""

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

    def kneighbors(self, n_neighbors: int, *, limit: int, n_jobs: int | None = None) -> RawLists:
        """Nearest others of every training object, with all that tie with the last one.

        Parameters
        ----------
        n_neighbors : int
            At least this many, or all others if there are fewer.
        limit : int
            At most this many; a row whose ties do not fit keeps the lowest indices.
        n_jobs : int, optional
        """
        return self.kneighbors_by_block(np.arange(self.shape[0]), n_neighbors, limit=limit, n_jobs=n_jobs)

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


def map_blocks(function: Callable[[slice], T], n_rows: int, row_length: int, n_jobs: int | None = None) -> list[T]:
    """Apply a function to consecutive slices of rows, in threads; a block fits ``BLOCK_BYTES``."""
    return Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(function)(part) for part in row_slices(n_rows, row_length * 8)
    )


def row_slices(n_rows: int, row_bytes: int) -> Iterator[slice]:
    """Cut rows into consecutive slices of at most ``BLOCK_BYTES`` (one row if a row is larger)."""
    step = max(1, BLOCK_BYTES // max(1, row_bytes))
    for start in range(0, max(n_rows, 1), step):
        yield slice(start, min(start + step, n_rows))
