"""Ready-made dissimilarities: a matrix, a condensed vector, or a sparse neighbour graph.

Matrices keep their dtype, and memory-mapped matrices stay on disk; blocks are converted. The diagonal is never used.
Queries have one column per training object, as scikit-learn slices them, or one per column of the space (the prototypes
alone).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse

from protoset import kernels
from protoset._arrays import rank_rows, row_numbers, row_pointers
from protoset._blocks import row_slices
from protoset._progress import ProgressCallback
from protoset._validation import input_error, name_rows, refuse_ambiguous
from protoset.exceptions import ManyTiesWarning
from protoset.spaces._contents import number_distances
from protoset.spaces._lists import RawLists
from protoset.spaces.base import Dissimilarity, Rows, Space


class PrecomputedSpace(Space):
    """Dissimilarities read from a matrix of objects or queries x training objects.

    ``columns`` of the matrix are the columns of the space. A query for ``cross`` has ``n_training`` columns; those of
    the space are its ``training_columns``.
    """

    def __init__(self, matrix: Any, columns: np.ndarray, n_training: int, training_columns: np.ndarray):
        super().__init__("precomputed", matrix, columns)
        self._matrix = matrix
        self.n_features = self._n_training = n_training
        self._training_columns = training_columns

    @classmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of a square matrix, a condensed vector or a square sparse graph."""
        if sparse.issparse(X):
            return GraphSpace.of(_check_graph(X, square=True))  # type: ignore[return-value]
        matrix = _check_numeric(X)
        if matrix.ndim == 1:
            return CondensedSpace.of(matrix)  # type: ignore[return-value]
        if matrix.ndim == 2:
            _check_entries(matrix)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"metric='precomputed' needs a square matrix for fit, got the shape {matrix.shape}; "
                "pass the dissimilarities between all training objects"
            )
        return cls.of(matrix)

    @classmethod
    def of(cls, matrix: Any) -> Self:
        """Make the space of a checked square matrix."""
        columns = np.arange(matrix.shape[0])
        return cls(matrix, columns, len(columns), columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self._matrix.shape[0], len(self._columns)

    @property
    def _is_training(self) -> bool:
        return self.shape[0] == self.shape[1]

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Read a block of the matrix."""
        wanted = self._columns[columns]
        if np.array_equal(wanted, np.arange(self._matrix.shape[1])):
            return np.asarray(self._matrix[rows], np.float64)
        rows = np.arange(self._matrix.shape[0])[rows]
        return np.asarray(self._matrix[np.ix_(rows, wanted)], np.float64)

    def identical(self) -> np.ndarray | None:
        """Numbers by the dissimilarities to and from all objects."""
        return number_distances(self.block, self.shape[0])

    def cross(self, queries: Any) -> PrecomputedSpace:
        """Space from queries given by their dissimilarities to the training objects or to the columns."""
        graph = sparse.issparse(queries)
        matrix = _check_graph(queries, square=False) if graph else _check_numeric(queries)
        if matrix.ndim != 2:
            raise ValueError(
                f"Expected a 2D array of dissimilarities of queries x training objects, got the shape {matrix.shape}. "
                "Reshape your data: a single query with X.reshape(1, -1)"
            )
        if not graph:
            _check_entries(matrix)
        if matrix.shape[0] == 0:
            raise ValueError(f"Found array with 0 sample(s) (shape={matrix.shape}) while a minimum of 1 is required.")
        if matrix.shape[1] == self._n_training:
            columns = self._training_columns
        elif matrix.shape[1] == len(self._columns):
            columns = np.arange(len(self._columns))
        else:
            raise ValueError(
                f"X has {matrix.shape[1]} features, but {self.metric} is expecting {self._n_training} features as "
                "input: the dissimilarities of each query to the training objects, "
                f"or to the {len(self._columns)} prototypes alone"
            )
        if graph:
            _refuse_unknown(matrix, columns)
        kind = GraphSpace if graph else PrecomputedSpace
        return kind(matrix, columns, self._n_training, self._training_columns)

    def prototypes(self, indices: np.ndarray) -> PrecomputedSpace:
        """Space without rows and without a matrix: queries are given by their dissimilarities."""
        columns = self._training_columns[indices]
        return PrecomputedSpace(np.empty((0, len(columns))), np.arange(len(columns)), self._n_training, columns)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the columns of a query that the space reads; the matrix is not needed to predict."""
        return {"n_training": self._n_training}, {"training_columns": self._training_columns}

    @classmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, for ``cross``."""
        columns, n_training = arrays["training_columns"], values["n_training"]
        if columns.ndim != 1 or columns.dtype.kind != "i" or type(n_training) is not int:
            raise ValueError("training_columns must be a list of positions")
        if len(columns) == 0 or columns.min() < 0 or columns.max() >= n_training or (np.diff(columns) <= 0).any():
            raise ValueError(f"training_columns do not fit {n_training} training objects")
        return cls(np.empty((0, len(columns))), np.arange(len(columns)), n_training, columns)


class CondensedSpace(PrecomputedSpace):
    """Dissimilarities from the vector of ``scipy.spatial.distance.pdist``, never made square."""

    @classmethod
    def of(cls, matrix: Any) -> Self:
        """Make the space of a checked vector of n(n-1)/2 entries."""
        n = (1 + int(np.sqrt(1 + 8 * len(matrix)))) // 2
        if n * (n - 1) // 2 != len(matrix) or n < 2:
            raise ValueError(
                f"metric='precomputed' got a vector of length {len(matrix)}, which is not n(n-1)/2 for any n "
                "(Reshape your data: expected a 2D square array or a condensed vector of scipy.spatial.distance.pdist)"
            )
        _check_entries(matrix[:, None], one="entry", several="entries")
        return cls(matrix, np.arange(n), n, np.arange(n))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of objects, twice."""
        return self._n_training, self._n_training

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Gather a block from the vector; the diagonal is 0."""
        n, wanted = self._n_training, self._columns[columns]
        chosen = self._columns[rows]
        block = np.empty((len(chosen), len(wanted)))
        # Row by row: the positions of a whole block would take several times its memory.
        for row, i in zip(block, chosen, strict=True):
            low, high = np.minimum(i, wanted), np.maximum(i, wanted)
            position = n * low - low * (low + 1) // 2 + high - low - 1
            position[low == high] = 0
            row[:] = self._matrix[position]
            row[low == high] = 0
        return block


class GraphSpace(PrecomputedSpace):
    """Dissimilarities to listed neighbours alone; every other object is farther than all of them."""

    partial = True

    def identical(self) -> None:
        """Not known: a graph does not list all dissimilarities."""

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Listed dissimilarities, infinity elsewhere."""
        chosen = self._columns[columns]
        entries = self._matrix[rows].tocsc()[:, chosen].tocoo()
        block = np.full(entries.shape, np.inf)
        block[entries.row, entries.col] = entries.data
        return block

    def _subset(self, members: np.ndarray) -> GraphSpace:
        """Graph of some of the objects: their lists without the other objects."""
        return GraphSpace.of(self._matrix[members][:, members])

    def _kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Return the first ``n_neighbors`` listed neighbours, with all ties of the last one."""
        indptr = self._matrix.indptr.astype(np.int64)
        indices = self._matrix.indices.astype(np.int32)
        distances = self._matrix.data.astype(np.float64)
        kernels.lists.sort_rows(indptr, indices, distances)
        row = row_numbers(indptr)
        tied_in = rank_rows(indptr, distances, 0) <= n_neighbors
        kept = tied_in & (np.arange(len(indices)) - indptr[row] < max(limit, n_neighbors))
        counts, listed = np.bincount(row[kept], minlength=self.shape[0]), np.diff(indptr)
        # If the whole list is kept, an object that is not listed may be at the same distance as the last neighbour.
        cut_between = (counts == np.bincount(row[tied_in], minlength=self.shape[0])) & (counts < listed)
        return RawLists(counts, indices[kept], distances[kept], cut_between | (counts == self.shape[0] - 1))


def _check_numeric(X: Any) -> np.ndarray:
    """Return a numeric array without a copy; a memory map stays a memory map."""
    refuse_ambiguous(X)
    try:
        array = X if isinstance(X, np.ndarray) else np.asarray(X)
    except ValueError as error:
        raise ValueError(f"metric='precomputed' needs a matrix, but the rows of X differ in length: {error}") from error
    if array.ndim == 0:
        raise ValueError(
            f"Expected 2D array, got scalar array instead: X={X!r}. Reshape your data to a square matrix of "
            "dissimilarities"
        )
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            message = f"metric='precomputed' needs numbers, but X holds other values: {error}"
            raise input_error(message, error) from error
    if array.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported: metric='precomputed' needs real dissimilarities; take their modulus"
        )
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"metric='precomputed' needs numbers, got an array of dtype {array.dtype}; convert it to float"
        )
    if array.size == 0:
        empty = "sample" if len(array) == 0 else "feature"
        raise ValueError(f"Found array with 0 {empty}(s) (shape={array.shape}) while a minimum of 1 is required.")
    return array


def _check_entries(matrix: np.ndarray, **names: str) -> None:
    """Raise an error for NaN, infinity and negative dissimilarities; the matrix is read block by block."""
    not_finite = _rows_where(lambda block: ~np.isfinite(block), matrix)
    if len(not_finite):
        raise ValueError(
            f"Input X contains NaN or infinity in {name_rows(not_finite, **names)} of the dissimilarities; "
            "drop those objects, or put 0 on the diagonal, which is never used, if only that is affected"
        )
    negative = _rows_where(lambda block: block < 0, matrix)
    if len(negative):
        raise ValueError(
            f"Negative values in data: X holds negative dissimilarities in {name_rows(negative, **names)}; "
            "if these are similarities, convert them first, for example X.max() - X; "
            "if only the diagonal is affected, put 0 there, it is never used"
        )


def _rows_where(test: Callable[[np.ndarray], np.ndarray], matrix: np.ndarray) -> np.ndarray:
    rows = [
        block.start + np.flatnonzero(test(matrix[block]).any(axis=1))
        for block in row_slices(matrix.shape[0], matrix.shape[1] * 8)
    ]
    return np.concatenate(rows)


def _check_graph(X: Any, *, square: bool) -> sparse.csr_matrix:
    """Return a checked CSR copy, without the diagonal if it is square; listed zeros stay."""
    if X.ndim != 2:
        raise ValueError(f"Expected a 2D sparse graph, got the shape {X.shape}. Reshape your data")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"metric='precomputed' needs a graph of real dissimilarities, got the dtype {X.dtype}")
    if X.format in ("csr", "csc", "bsr"):
        X.check_format(full_check=True)
    entries = X.tocoo()
    pairs = entries.row.astype(np.int64) * X.shape[1] + entries.col
    # Checked first: conversions to other formats add up duplicates.
    if len(np.unique(pairs)) != len(pairs):
        raise ValueError("the graph lists some pairs twice; keep one distance of each pair")
    graph = sparse.csr_matrix(entries)
    if square and graph.shape[0] != graph.shape[1]:
        raise ValueError(
            f"metric='precomputed' needs a square graph for fit, got the shape {graph.shape}; "
            "pass the graph of all training objects, as sklearn.neighbors.kneighbors_graph makes it"
        )
    row = row_numbers(graph.indptr)
    if not np.isfinite(graph.data).all():
        bad = np.unique(row[~np.isfinite(graph.data)])
        raise ValueError(f"Input X contains NaN or infinity in {name_rows(bad)} of the graph; remove those entries")
    if (graph.data < 0).any():
        bad = np.unique(row[graph.data < 0])
        raise ValueError(
            f"Negative values in data: the graph holds negative dissimilarities in {name_rows(bad)}; "
            "pass distances, not similarities"
        )
    if not square:
        return graph
    others = row != graph.indices
    if not others.any():
        raise ValueError("the graph lists no neighbours; pass the distances of each object to its nearest neighbours")
    if (graph.data == 1).all():
        warnings.warn(
            "every entry of the graph is 1: it seems to hold connections in place of distances, so that all "
            "neighbours tie; pass distances, as kneighbors_graph(mode='distance') makes them",
            ManyTiesWarning,
            stacklevel=2,
        )
    indptr = row_pointers(np.bincount(row[others], minlength=graph.shape[0]))
    return sparse.csr_matrix((graph.data[others], graph.indices[others], indptr), shape=graph.shape)


def _refuse_unknown(graph: sparse.csr_matrix, columns: np.ndarray) -> None:
    """Raise an error for queries without any listed dissimilarity to the columns."""
    wanted = np.zeros(graph.shape[1], bool)
    wanted[columns] = True
    listed = np.bincount(row_numbers(graph.indptr)[wanted[graph.indices]], minlength=graph.shape[0])
    unknown = np.flatnonzero(listed == 0)
    if len(unknown):
        raise ValueError(
            f"the sparse graph lists no prototype for {name_rows(unknown)}; "
            "list more neighbours, or pass a dense matrix of dissimilarities to the prototypes"
        )


METRICS = (Dissimilarity("precomputed", PrecomputedSpace, "matrix", symmetric=False, sparse=True),)
