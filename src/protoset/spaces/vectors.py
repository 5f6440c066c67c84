"""Vectors under the Euclidean distance.

The search is scikit-learn's (its pairwise reductions, or a tree in few dimensions); it is fast
because it works with inner products, which cost the last digits of small distances. So it only
proposes candidates: their distances are computed directly, and a row is accepted when the bound
on the rounding error proves that no neighbour, and no tie, was missed. The rare other rows are
searched again, wider, and at last against every object.
"""

from __future__ import annotations

import contextlib
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._validation import name_rows, refuse_masked
from protoset.spaces.base import RawLists, Rows, Space, row_slices

EXTRA_CANDIDATES = 3
WIDER = 4
LARGEST = 1e150
SMALLEST = 1e-140


class VectorSpace(Space):
    """Euclidean distances from the rows of one array to the rows of another."""

    metric = "euclidean"

    def __init__(self, rows: np.ndarray, columns: np.ndarray):
        self._rows = rows
        self._columns = columns

    @classmethod
    def from_objects(cls, X: Any, **metric_params: Any) -> Self:
        """Make the space of the rows of a numeric array or DataFrame."""
        X = _check_vectors(X)
        return cls(X, X)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row vectors and of column vectors."""
        return len(self._rows), len(self._columns)

    @property
    def n_features(self) -> int:
        """Number of columns of the vectors."""
        return self._columns.shape[1]

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Distances by direct differences."""
        transposed = np.ascontiguousarray(self._columns[columns].T)
        return kernels.euclidean.distance_block(self._rows[rows], transposed)

    def cross(self, queries: Any) -> Self:
        """Space from new vectors to the columns of this one."""
        queries = _check_vectors(queries)
        if queries.shape[1] != self._columns.shape[1]:
            raise ValueError(
                f"X has {queries.shape[1]} features, but {self.metric} is expecting {self._columns.shape[1]} "
                "features as input; pass the same columns as in fit"
            )
        return type(self)(queries, self._columns)

    def prototypes(self, indices: np.ndarray) -> Self:
        """Space without rows, to the given vectors."""
        return type(self)(self._rows[:0], self._columns[indices])

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the column vectors."""
        return {}, {"vectors": self._columns}

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, to the stored vectors."""
        vectors = _check_vectors(arrays["vectors"])
        return cls(vectors[:0], vectors)

    def nearest(
        self, rows: Rows = slice(None), columns: Rows = slice(None), *, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row; inner products screen, true distances decide."""
        wanted, among = self._rows[rows], self._columns[columns]
        centre = among.mean(axis=0, dtype=np.float64)
        b = among - centre
        b_norms = np.einsum("ij,ij->i", b, b)
        largest = np.sqrt(b_norms.max())
        found = []
        with _openmp_threads(n_jobs):
            for part in row_slices(len(wanted), len(among) * 8):
                a = wanted[part] - centre
                screen = a @ b.T
                screen *= -2
                screen += b_norms
                norms = np.sqrt(np.einsum("ij,ij->i", a, a))
                slack = 2 * _rounding(a.shape[1]) * (norms + largest) ** 2
                found.append(kernels.euclidean.nearest_screened(wanted[part], among, screen, slack))
        return np.concatenate([p for p, _ in found]), np.concatenate([d for _, d in found])

    def kneighbors(self, n_neighbors: int, *, limit: int, n_jobs: int | None = None) -> RawLists:
        """Exact neighbours by proposing candidates and proving them complete."""
        n = self.shape[0]
        k = min(n_neighbors, n - 1)
        centred = self._columns - self._columns.mean(axis=0, dtype=np.float64)
        search = NearestNeighbors(n_neighbors=min(k + 1 + EXTRA_CANDIDATES, n), n_jobs=n_jobs).fit(centred)
        with _openmp_threads(n_jobs):
            narrow = self._propose(search, centred, np.arange(n), min(k + 1 + EXTRA_CANDIDATES, n), k, limit)
            open_rows = np.flatnonzero(narrow.counts < 0)
            if not len(open_rows):
                return narrow
            wide = self._propose(search, centred, open_rows, min(WIDER * (k + 1), limit + 1, n), k, limit)
        rest = open_rows[wide.counts < 0]
        full = self.kneighbors_by_block(rest, k, limit=limit, n_jobs=n_jobs) if len(rest) else None
        return _interleave(narrow, open_rows, wide, full)

    def _propose(
        self,
        search: NearestNeighbors,
        centred: np.ndarray,
        rows: np.ndarray,
        width: int,
        k: int,
        limit: int,
    ) -> RawLists:
        """Search ``width`` candidates for each row; rows that stay unproved have the count -1."""
        parts = []
        for part in row_slices(len(rows), width * 28):
            queries = centred[rows[part]]
            approximate, candidates = search.kneighbors(queries, n_neighbors=width)
            floor = _floor_outside(approximate[:, -1], queries, complete=width == len(centred))
            indices = np.empty(candidates.shape, np.int32)
            distances = np.empty(candidates.shape)
            counts = kernels.euclidean.rerank_candidates(
                self._columns, rows[part], candidates, floor, k, indices, distances
            )
            kept = np.minimum(counts, max(limit, k))
            listed = np.arange(width) < kept[:, None]
            parts.append(RawLists(kept, indices[listed], distances[listed], kept == counts))
        return RawLists.concatenate(parts)


def _rounding(n_features: int) -> float:
    """Bound on the error of a squared distance from inner products, over the squared sum of norms."""
    return 4 * (n_features + 8) * float(np.finfo(np.float64).eps)


def _floor_outside(last: np.ndarray, queries: np.ndarray, *, complete: bool) -> np.ndarray:
    """Distance that no object outside a row's candidates can be below.

    An object y outside has an approximate distance of at least ``last`` to the query x. Its error
    is at most e(|x| + |y|)^2. That is at most 9 e|x|^2 if |y| < 2|x|; otherwise the distance is at
    least |y|/2 and the error at most 9 e times its square.
    """
    if complete:
        return np.full(len(last), np.inf)
    error = 9 * _rounding(queries.shape[1])
    squared = last**2 * (1 - error) - error * np.einsum("ij,ij->i", queries, queries)
    return np.sqrt(np.maximum(squared, 0))


def _interleave(narrow: RawLists, open_rows: np.ndarray, wide: RawLists, full: RawLists | None) -> RawLists:
    """Put the rows that were searched again in their places."""
    counts, closed = narrow.counts.copy(), narrow.closed.copy()
    sources = [(np.flatnonzero(counts >= 0), narrow), (open_rows[wide.counts >= 0], wide)]
    if full is not None:
        sources.append((open_rows[wide.counts < 0], full))
    for rows, lists in sources[1:]:
        done = lists.counts >= 0
        counts[rows], closed[rows] = lists.counts[done], lists.closed[done]
    starts = row_pointers(counts)
    indices, distances = np.empty(starts[-1], np.int32), np.empty(starts[-1])
    for rows, lists in sources:
        lengths = counts[rows]
        offsets = np.repeat(starts[rows] - row_pointers(lengths)[:-1], lengths)
        targets = offsets + np.arange(lengths.sum())
        indices[targets], distances[targets] = lists.indices, lists.distances
    return RawLists(counts, indices, distances, closed)


def _openmp_threads(n_jobs: int | None) -> contextlib.AbstractContextManager[Any]:
    """Hold scikit-learn's reductions to ``n_jobs`` threads; with None they use their own default."""
    if n_jobs is None:
        return contextlib.nullcontext()
    return threadpool_limits(limits=effective_n_jobs(n_jobs))


def _check_vectors(X: Any) -> np.ndarray:
    refuse_masked(X)
    X = check_array(X, dtype=[np.float64, np.float32], order="C", ensure_all_finite=False)
    largest = max(abs(float(X.min())), abs(float(X.max())))
    if not np.isfinite(largest):
        bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
        raise ValueError(
            f"Input X contains NaN or infinity in {name_rows(bad)}; "
            "remove those rows or fill the values in, for example with sklearn.impute.SimpleImputer"
        )
    if largest > LARGEST:
        raise ValueError(
            f"X holds values up to {largest:g}, whose squared distances overflow; scale X to below {LARGEST:g}"
        )
    if 0 < largest < SMALLEST:
        raise ValueError(
            f"X holds no value above {largest:g}, and squared distances of such values vanish; "
            f"scale X to above {SMALLEST:g}"
        )
    return X
