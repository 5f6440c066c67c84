"""Dissimilarities between objects: the interface for methods, and the base class of new kinds of objects.

    row objects        dissimilarities      column objects
   (queries, or the  ------------------->  (training objects,
   training objects)                        or prototypes)

    Dissimilarities     blocks of distances and nearest columns
    +- TrainingSpace    + neighbours, subsets, prototypes: all that a selector may ask
    +- PrototypeSpace   + new queries, state for files: all that a classifier may ask
       Space            both; the base class of every kind of object that is kept in this process

A method never sees the objects. A new kind of object is a new file with a subclass of ``Space`` and its records in
``METRICS``. Only the abstract methods must be written. The searches work block by block and may be replaced by faster
ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from joblib import delayed

from protoset._blocks import in_threads, map_blocks, row_slices
from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset._validation import check_count, check_jobs, check_positions
from protoset.spaces._approximate import approximate_search_bytes
from protoset.spaces._lists import FEW_ENTRIES, RawLists, smallest_of
from protoset.spaces._nearest_so_far import NearestSoFar
from protoset.spaces.comparison import PairComparison
from protoset.spaces.movable import MovableObjects, Moved

Rows = slice | np.ndarray
"""Which rows or columns: a slice or an array of positions."""

MATRIX_COLUMNS = 64
"""Columns of a matrix that are computed at a time: few enough to be transposed in the processor's cache."""

Choice = Callable[[np.ndarray], np.ndarray]
"""Maps a block of distances to the position of one of the nearest columns of each row."""


@dataclass(frozen=True)
class Dissimilarity:
    """Record of a metric: its name, its class and its properties.

    Attributes
    ----------
    name : str
        Value of the parameter ``metric``.
    space : type
        Class of the space that computes the metric.
    kind : str
        Kind of objects: "vectors", "mixed attributes", "series", "strings", "matrix" or "objects".
    parameters : tuple of str
        Names of the arguments in ``metric_params``.
    symmetric : bool
        Whether d(a, b) = d(b, a).
    ragged : bool
        Whether objects may differ in length.
    needs_fitting : bool
        Whether the metric learns from the training set, for example ranges.
    bounds : bool
        Whether the neighbour search skips pairs that a lower bound excludes.
    sparse : bool
        Whether sparse matrices are accepted.
    moves : bool
        Whether the objects can move; see ``protoset.spaces.movable``.
    requires : str
        The extra that must be installed; empty if none is needed.
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
    moves: bool = False
    requires: str = ""


class ApproximateSearch(Protocol):
    """A search that finds most of the nearest neighbours, with exact dissimilarities and a measured recall."""

    def __call__(
        self, n_neighbors: int, *, storage: Storage, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Find ``n_neighbors`` neighbours of every training object, or all others; the lists are in ``storage``."""


class Dissimilarities(ABC):
    """Dissimilarities from row objects to column objects.

    Attributes
    ----------
    metric : str
        The name by which users ask for this dissimilarity.
    n_features : int or None
        Number of features of a query, scikit-learn's ``n_features_in_``; None where objects have none.
    """

    metric: str
    n_features: int | None = None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of row objects and of column objects."""

    @abstractmethod
    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities of the given rows to the given columns, as float64."""

    def quick_squares(self, rows: Rows) -> np.ndarray | None:
        """Squared dissimilarities to all columns in single precision, quickly computed; None where no quick way exists.

        Their errors are about 1e-7 of the squared extent of the columns.
        """
        return None

    def nearest(
        self,
        rows: Rows = slice(None),
        columns: Rows = slice(None),
        *,
        choose: Choice | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row.

        Parameters
        ----------
        rows, columns : slice or ndarray of int
            Which rows, and among which columns.
        choose : callable, optional
            Chooses among equally near columns: maps distances of some rows to all ``columns`` to a position for each
            row. Columns that are certainly not the nearest may be infinite. By default the lowest position is taken.
        n_jobs : int, optional
            Workers.

        Returns
        -------
        positions : ndarray of int64
            Position among ``columns``.
        distances : ndarray of float64
        """
        row_numbers = np.arange(self.shape[0])[rows]
        n_columns = len(np.arange(self.shape[1])[columns])

        def search(some: slice) -> tuple[np.ndarray, np.ndarray]:
            block = self.block(row_numbers[some], columns)
            positions = block.argmin(axis=1) if choose is None else choose(block)
            return positions, block[np.arange(len(block)), positions]

        results = map_blocks(search, len(row_numbers), n_columns, n_jobs)
        return np.concatenate([p for p, _ in results]), np.concatenate([d for _, d in results])

    def compare(self, row: int, column: int) -> PairComparison:
        """Split the dissimilarity of a row object to a column object into contributions, if the metric allows it."""
        return PairComparison(self._distance(row, column))

    def _distance(self, row: int, column: int) -> float:
        return float(self.block(np.array([row]), np.array([column]))[0, 0])


class TrainingSpace(Dissimilarities):
    """Dissimilarities among the objects of a training set: the interface that selectors use."""

    partial: bool = False
    """Whether only the dissimilarities to some neighbours are known."""

    remote: bool = False
    """Whether the objects are on other machines."""

    symmetric: bool = False
    """Whether d(a, b) = d(b, a); then a search computes each pair once."""

    is_thread_safe: bool = True
    """Whether several threads may compute blocks at the same time."""

    object_bytes: int = 0
    """Memory of one object in bytes; 0 where it is not known."""

    remembers: bool = False
    """Whether ``remember_matrix`` keeps all dissimilarities."""

    approximate_from: int | None = None
    """Smallest number of objects for which ``search="auto"`` is approximate; None for the number that holds for
    vectors."""

    @abstractmethod
    def prototypes(self, indices: np.ndarray) -> PrototypeSpace:
        """Space without rows whose columns are the given objects. Keeps no other object in memory."""

    @property
    def approximate_search(self) -> ApproximateSearch | None:
        """Approximate search for the neighbours; None where these objects have none."""
        return None

    def approximate_bytes(self, n_neighbors: int, *, on_disk: bool) -> int:
        """Peak memory of the approximate search; ``on_disk`` says where its lists are."""
        return approximate_search_bytes(n_neighbors, self.object_bytes, self.shape[0], on_disk=on_disk)

    @property
    def movable(self) -> MovableObjects | None:
        """The objects as numbers that gradient steps change; None if these objects cannot move."""
        return None

    def movable_among(self, members: np.ndarray) -> MovableObjects | None:
        """Like ``movable``, for some of the objects. Spaces of very many objects override this method."""
        return self.subset(members).movable

    @property
    def cluster(self) -> Any:
        """The same objects as a space whose neighbour lists may stay on workers; None where there are no workers."""
        return None

    def distances_to(self, column: int) -> np.ndarray:
        """Dissimilarities of all rows to one column; faster than ``block`` for one column after the other."""
        return self.block(slice(None), np.array([column]))[:, 0]

    def distances_within(self, column: int, cutoffs: np.ndarray) -> np.ndarray:
        """Like ``distances_to``, for each row up to its cut-off; a larger dissimilarity may be infinite."""
        return self.distances_to(column)

    def write_matrix(self, matrix: np.ndarray, *, n_jobs: int | None = None) -> None:
        """Write the dissimilarities of all rows to all columns; where they are symmetric, compute each pair once."""
        n_columns, is_once = self.shape[1], self.symmetric and self._is_training

        def write(start: int) -> None:
            columns = slice(start, min(start + MATRIX_COLUMNS, n_columns))
            rows = slice(start if is_once else 0, None)
            matrix[rows, columns] = block = self.block(rows, columns)
            if is_once:
                matrix[columns, rows] = block.T

        in_threads(n_jobs)(delayed(write)(start) for start in range(0, n_columns, MATRIX_COLUMNS))

    def matrix(self, *, n_jobs: int | None = None) -> np.ndarray:
        """Dissimilarities of all rows to all columns, as ``write_matrix`` writes them, in a new array."""
        matrix = np.empty(self.shape)
        self.write_matrix(matrix, n_jobs=n_jobs)
        return matrix

    def remember_matrix(self, *, n_jobs: int | None = None) -> None:
        """Keep all dissimilarities for later calls, where computing them again would take long; else do nothing."""

    def remember_members(self, members: np.ndarray, subset: TrainingSpace) -> None:
        """Keep the dissimilarities of some objects that their space, ``subset``, remembers; by default do nothing."""

    @property
    def _is_training(self) -> bool:
        """Whether the row objects are the column objects."""
        return self.shape[0] == self.shape[1]

    def subset(self, members: Any) -> TrainingSpace:
        """Space of some of the training objects, given by their positions, by a mask or by a slice."""
        self._check_training("subset")
        return self._subset(check_positions("members", members, self.shape[0]))

    def _subset(self, members: np.ndarray) -> TrainingSpace:
        from protoset.spaces._subset import SubsetSpace

        return SubsetSpace(self, members)

    def _check_training(self, name: str) -> None:
        if not self._is_training:
            raise ValueError(
                f"{name} needs the space of a training set, and this one has {self.shape[0]} queries as rows and "
                f"{self.shape[1]} other objects as columns; use nearest or block"
            )

    def identical(self) -> np.ndarray | None:
        """Return a number for each training object: equal numbers mean identical objects; None where that is not known.

        The order of the numbers depends on the content of the objects, not on the order of the rows.
        """
        return None

    def central_member(self, members: np.ndarray) -> int | None:
        """Return the member nearest to the mean of the members; None where objects have no coordinates."""
        return None

    def kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Exact nearest neighbours of every training object, with all objects that tie with the last one.

        Parameters
        ----------
        n_neighbors : int
            Smallest length of each list; all other objects if there are fewer.
        limit : int
            Largest length of each list. If the ties do not fit, the ties with the lowest indices are kept.
        n_jobs : int, optional
            Workers.
        progress : callable, optional
            Called as ``progress(done, total)`` during long searches.
        """
        self._check_training("kneighbors")
        n_neighbors = check_count("n_neighbors", n_neighbors, least=0, remedy="pass the number of neighbours")
        limit = check_count("limit", limit, least=0, remedy="pass the largest length of a list")
        return self._kneighbors(n_neighbors, limit=limit, n_jobs=check_jobs(n_jobs), progress=progress)

    def _kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Search as ``kneighbors``, whose arguments are checked; spaces with a faster search replace this method."""
        if self.symmetric:
            return self.kneighbors_by_pair(n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)
        return self.kneighbors_by_block(np.arange(self.shape[0]), n_neighbors, limit=limit, n_jobs=n_jobs)

    def kneighbors_by_block(
        self, rows: np.ndarray, n_neighbors: int, *, limit: int, n_jobs: int | None = None
    ) -> RawLists:
        """Neighbours of the given training objects, from whole rows of dissimilarities."""
        k = min(n_neighbors, self.shape[1] - 1)

        def search(some: slice) -> RawLists:
            return smallest_of(self.block(rows[some], slice(None)), rows[some], k, max(limit, k))

        return RawLists.concatenate(map_blocks(search, len(rows), self.shape[1], n_jobs))

    def kneighbors_by_pair(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Neighbours of every object where d(a, b) = d(b, a): each pair is computed once."""
        n = self.shape[0]
        if n * n <= FEW_ENTRIES:
            return self._kneighbors_of_few(min(n_neighbors, n - 1), limit, progress)
        nearest = NearestSoFar(n, min(n_neighbors, n - 1), limit)
        strips = list(row_slices(n, n * 8))
        workers = in_threads(n_jobs, return_as="generator")
        blocks = workers(delayed(self.upper_block)(strip) for strip in strips)
        for strip, block in zip(strips, blocks, strict=True):
            nearest.push_strip(strip.start, block)
            if progress is not None:
                progress(strip.stop * (2 * n - strip.stop - 1) // 2, n * (n - 1) // 2)
        return nearest.lists()

    def _kneighbors_of_few(self, k: int, limit: int, progress: ProgressCallback | None) -> RawLists:
        """Do the same as ``kneighbors_by_pair``, from all dissimilarities at once."""
        n = self.shape[0]
        upper = np.triu(self.upper_block(slice(0, n)), 1)
        if progress is not None:
            progress(n * (n - 1) // 2, n * (n - 1) // 2)
        return smallest_of(np.where(np.tri(n, dtype=bool), upper.T, upper), np.arange(n), k, max(limit, k))

    def upper_block(self, rows: slice) -> np.ndarray:
        """Dissimilarities of rows to the columns from ``rows.start`` on; only entries above the diagonal count."""
        return self.block(rows, slice(rows.start, None))


class PrototypeSpace(Dissimilarities):
    """Dissimilarities to prototypes: the interface that classifiers and their files use."""

    @property
    def vectors(self) -> np.ndarray | None:
        """The columns as rows of numbers as they were given; None for other objects, or where they were changed."""
        return None

    @property
    def objects(self) -> Any:
        """The columns as objects of the kind that users pass; None if they are not known in this form."""
        return self.vectors

    @abstractmethod
    def cross(self, queries: Any) -> Dissimilarities:
        """Space from new objects to the columns of this one."""

    def moving_among(self, objects: Any) -> tuple[MovableObjects, Moved] | None:
        """New objects as numbers, and the columns as prototypes that move among them; None where they cannot move.

        Values that the metric learned from the training set, such as ranges, do not change.
        """
        return None

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the columns as JSON values and plain arrays, for a file."""

    @classmethod
    @abstractmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Inverse of ``state``, without rows; raises ``ValueError`` or ``KeyError`` where the state is invalid."""


class Space(TrainingSpace, PrototypeSpace):
    """Dissimilarities between objects that this process keeps.

    The space of a training set has the same objects as rows and as columns.

    Parameters
    ----------
    metric : str
        The name by which users ask for this dissimilarity.
    rows, columns : sequence
        The objects in the form that the space stores. In the space of a training set both are the same sequence.
    shared : any
        Further arguments of the class, the same for all spaces of the metric.
    """

    def __init__(self, metric: str, rows: Any, columns: Any, *shared: Any):
        self.metric = metric
        self._rows = rows
        self._columns = columns
        self._shared = shared

    def _like(self, rows: Any, columns: Any) -> Self:
        """Space of other objects under the same metric."""
        return type(self)(self.metric, rows, columns, *self._shared)

    def prototypes(self, indices: np.ndarray) -> PrototypeSpace:
        """Space without rows, whose columns are the given objects."""
        chosen = self._columns[indices]
        return self._like(chosen[:0], chosen)

    @property
    def _is_training(self) -> bool:
        return self._rows is self._columns

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row objects and of column objects."""
        return len(self._rows), len(self._columns)

    @classmethod
    @abstractmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of a training set; raise an error if the metric cannot compare ``X``.

        Parameters
        ----------
        X : any
            The training objects.
        metric : str
            One of the names in the module's ``METRICS``.
        parameters : dict
            Arguments of the metric that the user passed; their names are in the record's ``parameters``.
        y : array-like, optional
            The labels as the user passed them, for metrics that learn from them.
        """
