"""Ready-made dissimilarities: a matrix, a condensed vector, or a sparse neighbour graph.

Matrices keep the type they have, memory-mapped ones stay on disk; only blocks are converted.
The diagonal is never used. A query side may have one column per training object, as
scikit-learn slices it, or one per column of the space (the prototypes alone).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse

from protoset import kernels
from protoset._validation import name_rows
from protoset.spaces.base import RawLists, Rows, Space, row_slices


class PrecomputedSpace(Space):
    """Dissimilarities read from a matrix of rows x training objects.

    Parameters
    ----------
    matrix : ndarray or sparse matrix
        What rows are read from.
    columns : ndarray of int
        Which columns of the matrix are the columns of the space.
    n_training : int
        Number of columns that a query has for ``cross``.
    training_columns : ndarray of int
        Which of these are the columns of the space.
    """

    metric = "precomputed"

    def __init__(self, matrix: Any, columns: np.ndarray, n_training: int, training_columns: np.ndarray):
        self._matrix = matrix
        self._columns = columns
        self._n_training = n_training
        self._training_columns = training_columns

    @classmethod
    def from_objects(cls, X: Any, **metric_params: Any) -> Self:
        """Make the space of a square matrix, a condensed vector or a square sparse graph."""
        if sparse.issparse(X):
            return GraphSpace.of(_check_graph(X, square=True))  # type: ignore[return-value]
        matrix = _check_numeric(X)
        if matrix.ndim == 1:
            return CondensedSpace.of(matrix)  # type: ignore[return-value]
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
        everything = np.arange(matrix.shape[0])
        return cls(matrix, everything, len(everything), everything)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self._matrix.shape[0], len(self._columns)

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Read a block of the matrix."""
        wanted = self._columns[columns]
        if np.array_equal(wanted, np.arange(self._matrix.shape[1])):
            return np.asarray(self._matrix[rows], np.float64)
        rows = np.arange(self._matrix.shape[0])[rows]
        return np.asarray(self._matrix[np.ix_(rows, wanted)], np.float64)

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
        kind = GraphSpace if graph else PrecomputedSpace
        return kind(matrix, columns, self._n_training, self._training_columns)

    def take(self, indices: np.ndarray) -> PrecomputedSpace:
        """Space of the given training objects alone."""
        return PrecomputedSpace(
            self.block(indices, indices),
            np.arange(len(indices)),
            self._n_training,
            self._training_columns[indices],
        )

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Which columns of a query the space reads; the matrix itself is not needed to predict."""
        return {"n_training": self._n_training}, {"training_columns": self._training_columns}

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, to ``cross`` from."""
        columns, n_training = arrays["training_columns"], values["n_training"]
        if columns.ndim != 1 or columns.dtype.kind != "i" or not isinstance(n_training, int):
            raise ValueError("training_columns must be a list of positions")
        if len(columns) == 0 or columns.min() < 0 or columns.max() >= n_training:
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
        n = self._n_training
        i, j = self._columns[rows][:, None], self._columns[columns][None, :]
        low, high = np.minimum(i, j), np.maximum(i, j)
        position = n * low - low * (low + 1) // 2 + high - low - 1
        position[low == high] = 0
        block = self._matrix[position].astype(np.float64)
        block[low == high] = 0
        return block


class GraphSpace(PrecomputedSpace):
    """Dissimilarities to listed neighbours only; every other object is farther than all of them."""

    partial = True

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Listed dissimilarities, infinity elsewhere."""
        chosen = self._columns[columns]
        part = self._matrix[rows].tocsc()[:, chosen].tocoo()
        block = np.full(part.shape, np.inf)
        block[part.row, part.col] = part.data
        return block

    def nearest(
        self, rows: Rows = slice(None), columns: Rows = slice(None), *, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest listed column; an error where none is listed."""
        positions, distances = super().nearest(rows, columns, n_jobs=n_jobs)
        unknown = np.flatnonzero(np.isinf(distances))
        if len(unknown):
            raise ValueError(
                f"the sparse graph lists no prototype for {name_rows(unknown)}; "
                "list more neighbours, or pass a dense matrix of dissimilarities to the prototypes"
            )
        return positions, distances

    def kneighbors(self, n_neighbors: int, *, limit: int, n_jobs: int | None = None) -> RawLists:
        """Return the listed neighbours, cut after ``n_neighbors`` and what ties with the last one."""
        indptr = self._matrix.indptr.astype(np.int64)
        indices = self._matrix.indices.astype(np.int32)
        distances = self._matrix.data.astype(np.float64)
        kernels.lists.sort_rows(indptr, indices, distances)
        row = np.repeat(np.arange(self.shape[0]), np.diff(indptr))
        tied_in = kernels.lists.rank_rows(indptr, distances, 0) <= n_neighbors
        kept = tied_in & (np.arange(len(indices)) - indptr[row] < max(limit, n_neighbors))
        counts = np.bincount(row[kept], minlength=self.shape[0])
        closed = counts == np.bincount(row[tied_in], minlength=self.shape[0])
        return RawLists(counts, indices[kept], distances[kept], closed)


def _check_numeric(X: Any) -> np.ndarray:
    """Return a numeric array without copying it; a memory map stays one."""
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"metric='precomputed' needs numbers, but X holds other things: {error}") from error
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
    """Refuse NaN, infinity and negative dissimilarities, reading the matrix block by block."""
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
            "if these are similarities, turn them round first, for example X.max() - X"
        )


def _rows_where(test: Callable[[np.ndarray], np.ndarray], matrix: np.ndarray) -> np.ndarray:
    rows = [
        part.start + np.flatnonzero(test(matrix[part]).any(axis=1))
        for part in row_slices(matrix.shape[0], matrix.shape[1] * 8)
    ]
    return np.concatenate(rows)


def _check_graph(X: Any, *, square: bool) -> sparse.csr_matrix:
    """Return a checked CSR copy, without the diagonal if it is square; listed zeros stay."""
    graph = sparse.csr_matrix(X, copy=True)
    if square and graph.shape[0] != graph.shape[1]:
        raise ValueError(
            f"metric='precomputed' needs a square graph for fit, got the shape {graph.shape}; "
            "pass the graph of all training objects, as sklearn.neighbors.kneighbors_graph makes it"
        )
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    if not np.isfinite(graph.data).all():
        bad = np.unique(row[~np.isfinite(graph.data)])
        raise ValueError(f"Input X contains NaN or infinity in {name_rows(bad)} of the graph; remove those entries")
    if (graph.data < 0).any():
        bad = np.unique(row[graph.data < 0])
        raise ValueError(
            f"Negative values in data: the graph holds negative dissimilarities in {name_rows(bad)}; "
            "pass distances, not similarities"
        )
    pairs = row.astype(np.int64) * graph.shape[1] + graph.indices
    if len(np.unique(pairs)) != len(pairs):
        raise ValueError("the graph lists some pairs twice; merge them with graph.sum_duplicates() or rebuild it")
    if not square:
        return graph
    if graph.nnz and (graph.data == 1).all():
        warnings.warn(
            "every entry of the graph is 1: it seems to say who is a neighbour, not how far away, so that all "
            "neighbours tie; pass distances, as kneighbors_graph(mode='distance') makes them",
            UserWarning,
            stacklevel=2,
        )
    others = row != graph.indices
    counts = np.bincount(row[others], minlength=graph.shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_matrix((graph.data[others], graph.indices[others], indptr), shape=graph.shape)
