"""Sparse vectors: distances by merging the entries of two rows, without loss of digits by cancellation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from protoset import kernels
from protoset._arrays import row_numbers, row_sums
from protoset._validation import LARGEST, SMALLEST, check_vectors, check_width, name_rows
from protoset.spaces._contents import number_ragged
from protoset.spaces.base import Rows, Space
from protoset.spaces.comparison import Contributions, contributions


class SparseVectorSpace(Space):
    """Distances between the rows of CSR matrices with sorted entries; scaled to length 1 for "cosine"."""

    symmetric = True
    METRICS: ClassVar[tuple[str, ...]] = ("euclidean", "l2", "sqeuclidean", "cosine", "cityblock", "manhattan", "l1")

    def __init__(self, metric: str, rows: sparse.csr_matrix, columns: sparse.csr_matrix):
        super().__init__(metric, rows, columns)
        self.n_features = columns.shape[1]

    @classmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of the rows of a sparse matrix."""
        X = _check_sparse(X, metric)
        if X.nnz and np.abs(X.data).max() < SMALLEST:
            raise ValueError(
                f"X has no value above {np.abs(X.data).max():g}, and squared distances of such small values underflow "
                f"to 0; scale X to values above {SMALLEST:g}"
            )
        return cls(metric, X, X)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row vectors and of column vectors."""
        return self._rows.shape[0], self._columns.shape[0]

    @property
    def objects(self) -> sparse.csr_matrix:
        """The column vectors as a sparse matrix; of length 1 under "cosine"."""
        return self._columns

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Distances entry by entry."""
        a, b = self._rows[rows], self._columns[columns]
        absolute = self.metric in ("cityblock", "manhattan", "l1")
        sums = kernels.sparse.difference_block(a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, absolute)
        if self.metric == "cosine":
            # A row without entries has no direction; its distance is 1 to all rows with a direction.
            empty = np.diff(a.indptr)[:, None] == 0
            other = np.diff(b.indptr)[None, :] == 0
            return np.where(empty == other, sums / 2, 1.0)
        return np.sqrt(sums) if self.metric in ("euclidean", "l2") else sums

    def compare(self, row: int, column: int) -> Contributions:
        """Differences feature by feature."""
        distance, a, b = self._distance(row, column), self._rows[[row]], self._columns[[column]]
        differences = np.abs((a - b).toarray()[0])
        if self.metric in ("cityblock", "manhattan", "l1"):
            return contributions(distance, differences)
        if self.metric == "cosine":
            return contributions(distance, differences**2 / 2 if (a.nnz > 0) == (b.nnz > 0) else None)
        return contributions(distance, differences**2, 1 if self.metric == "sqeuclidean" else 2)

    def identical(self) -> np.ndarray:
        """Numbers by the entries of the vectors."""
        columns = self._columns
        return number_ragged(np.diff(columns.indptr), columns.indices, columns.data)

    def _subset(self, members: np.ndarray) -> SparseVectorSpace:
        """Space of some of the vectors."""
        chosen = self._columns[members]
        return self._like(chosen, chosen)

    def central_member(self, members: np.ndarray) -> int:
        """Return the member nearest to the mean of the members."""
        mean = sparse.csr_matrix(self._columns[members].mean(axis=0))
        return int(members[self._like(mean, self._columns).block(slice(None), members).argmin()])

    def cross(self, queries: Any) -> Self:
        """Space from new vectors, sparse or dense, to the columns of this space."""
        if not sparse.issparse(queries):
            queries = sparse.csr_matrix(check_vectors(queries, queries=True))
        queries = _check_sparse(queries, self.metric)
        check_width(queries.shape[1], self.n_features, self.metric)
        return self._like(queries, self._columns)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the entries of the column vectors."""
        columns = self._columns
        arrays = {"data": columns.data, "indices": columns.indices, "indptr": columns.indptr}
        return {"sparse": True, "n_features": int(columns.shape[1])}, arrays

    @classmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, whose columns are the stored vectors."""
        if metric not in cls.METRICS:
            raise ValueError(f"its vectors are sparse, which metric={metric!r} does not take")
        entries = (arrays["data"], arrays["indices"], arrays["indptr"])
        _check_entries(*entries, n_features=values["n_features"])
        columns = sparse.csr_matrix(entries, shape=(len(arrays["indptr"]) - 1, values["n_features"]))
        columns = _check_sparse(columns, metric)
        return cls(metric, columns[:0], columns)


def _check_entries(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, *, n_features: int) -> None:
    """Raise an error for stored entries that are no rows of a sparse matrix: SciPy trusts some of them."""
    starts = indptr.astype(np.int64)
    fit = starts[0] == 0 and starts[-1] == len(data) == len(indices) and (np.diff(starts) >= 0).all()
    if not fit or ((indices < 0) | (indices >= n_features)).any():
        raise ValueError("data, indices and indptr do not fit together")


def _check_sparse(X: Any, metric: str) -> sparse.csr_matrix:
    """Return a checked CSR copy; rows of length 1 for "cosine"."""
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"metric={metric!r} needs a 2D sparse matrix of real numbers, got {X.dtype} of shape {X.shape}"
        )
    X = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) or feature(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    X.check_format(full_check=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    bad = ~(np.abs(X.data) <= LARGEST)
    if bad.any():
        raise ValueError(
            f"Input X contains NaN, infinity or numbers above {LARGEST:g} in "
            f"{name_rows(np.unique(row_numbers(X.indptr)[bad]))}; remove those rows or fill the values in"
        )
    if metric == "cosine":
        row = row_numbers(X.indptr)
        X.data /= np.maximum.reduceat(np.append(np.abs(X.data), 0.0), X.indptr[:-1])[row]
        X.data /= np.sqrt(row_sums(np.square(X.data), X.indptr))[row]
    return X
