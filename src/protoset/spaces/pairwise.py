"""Vectors under the other pairwise distances of scikit-learn, block by block.

SciPy computes each pair on its own, so that a distance does not depend on its block.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from protoset import kernels
from protoset._validation import (
    LARGEST,
    as_numbers,
    check_number_rows,
    check_real,
    check_vectors,
    check_width,
    name_rows,
)
from protoset.spaces._contents import number_vectors
from protoset.spaces.base import Dissimilarity, Rows, Space
from protoset.spaces.comparison import Contributions, contributions
from protoset.spaces.movable import LEAST_FACTOR, MovableObjects, Moved
from protoset.spaces.movable_vectors import Differences, MovableVectors
from protoset.spaces.sparse_vectors import SparseVectorSpace

CITYBLOCK = ("cityblock", "manhattan", "l1")
"""Names of the city-block distance."""

BOOLEAN = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
"""Distances between vectors of truth values."""

OTHER_DISTANCES = ("braycurtis", "canberra", "chebyshev", "hamming", "haversine", "minkowski", "nan_euclidean")
"""Further distances between vectors of numbers."""

ANGLE_ROUNDING = 1e-6
"""Relative rounding error of an angle, as of pi / 2 in single precision."""


class PairwiseSpace(Space):
    """Distances between the rows of arrays, one pair at a time."""

    symmetric = True

    def __init__(self, metric: str, rows: np.ndarray, columns: np.ndarray, parameters: dict[str, Any]):
        super().__init__(metric, rows, columns, parameters)
        self._parameters = parameters
        self.n_features = columns.shape[1]

    @classmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of the rows of an array or DataFrame; of a sparse matrix where the metric allows."""
        if sparse.issparse(X) and metric in SparseVectorSpace.METRICS:
            return SparseVectorSpace.from_objects(X, metric, parameters)  # type: ignore[return-value]
        X = _check(X, metric)
        return cls(metric, X, X, {} if metric != "minkowski" else _check_minkowski(X.shape[1], **parameters))

    @property
    def vectors(self) -> np.ndarray:
        """The columns as they were given."""
        return self._columns

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Distances from SciPy, scikit-learn for "haversine", our own kernel for "nan_euclidean"."""
        a, b = self._rows[rows], self._columns[columns]
        if self.metric == "nan_euclidean":
            return kernels.euclidean.nan_distance_block(a, b)
        if self.metric == "haversine":
            from sklearn.metrics import DistanceMetric  # takes long to import

            return DistanceMetric.get_metric("haversine").pairwise(a, b)
        name = "cityblock" if self.metric in CITYBLOCK else self.metric
        if self.metric == "minkowski":
            # In units of the largest number, so that no power overflows or underflows.
            unit = float(np.abs(self._columns).max()) or 1.0
            return cdist(a / unit, b / unit, name, **self._parameters) * unit
        block = cdist(a, b, name, **self._parameters)
        if self.metric in BOOLEAN or self.metric == "braycurtis":
            block[np.isnan(block)] = 0.0  # two vectors of zeros do not differ
        return block

    def compare(self, row: int, column: int) -> Contributions:
        """Terms of the features, if the distance is a sum over the features."""
        terms, power = _terms(self.metric, self._rows[row], self._columns[column], self._parameters)
        return contributions(self._distance(row, column), terms, power)

    def _subset(self, members: np.ndarray) -> PairwiseSpace:
        """Space of some of the vectors."""
        chosen = self._columns[members]
        return self._like(chosen, chosen)

    def cross(self, queries: Any) -> Self:
        """Space from new vectors to the columns of this space."""
        queries = _check(queries, self.metric, queries=True)
        check_width(queries.shape[1], self.n_features, self.metric)
        return self._like(queries, self._columns)

    @property
    def movable(self) -> MovableObjects | None:
        """The vectors under the city-block distance; None under the other distances."""
        if self.metric not in CITYBLOCK:
            return None
        return MovableVectors(
            self._columns,
            Differences(np.arange(self._columns.shape[1]), is_absolute=True),
            read=lambda vectors: self.cross(vectors)._rows,
            restore=np.copy,
            place=self._place,
        )

    def moving_among(self, objects: Any) -> tuple[MovableObjects, Moved] | None:
        """New vectors, and the columns with the weights as scales, under the city-block distance."""
        rows = self.cross(objects)._rows
        movable = PairwiseSpace(self.metric, rows, rows, {}).movable if self.metric in CITYBLOCK else None
        if movable is None:
            return None
        weights = self._parameters.get("w", np.ones(self._columns.shape[1]))
        return movable, Moved(np.array(self._columns, np.float64), np.square(np.maximum(weights, LEAST_FACTOR)))

    def _place(self, points: np.ndarray, factors: np.ndarray | None) -> PairwiseSpace:
        """Space of moved vectors; the factors of the attributes are weights of the city-block distance."""
        columns = points.copy()
        return PairwiseSpace(self.metric, columns[:0], columns, {} if factors is None else {"w": factors})

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the column vectors and the arguments of the metric."""
        weights = {"w": self._parameters["w"]} if "w" in self._parameters else {}
        return {"p": self._parameters.get("p")}, {"vectors": self._columns} | weights

    @classmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, whose columns are the stored vectors, sparse or dense."""
        if values.get("sparse"):
            return SparseVectorSpace.from_state(metric, values, arrays)  # type: ignore[return-value]
        vectors = _check(arrays["vectors"], metric, queries=True)
        parameters = {}
        if metric == "minkowski":
            parameters = _check_minkowski(vectors.shape[1], values["p"], arrays.get("w"))
        elif metric in CITYBLOCK and "w" in arrays:
            parameters = {"w": _check_weights(vectors.shape[1], arrays["w"])}
        return cls(metric, vectors[:0], vectors, parameters)

    def identical(self) -> np.ndarray:
        """Numbers by the content of the vectors."""
        return number_vectors(self._columns)

    def central_member(self, members: np.ndarray) -> int | None:
        """Return the member nearest to the mean of the members; None where the metric has no use for a mean."""
        if self.metric in (*BOOLEAN, "hamming", "haversine", "nan_euclidean"):
            return None
        mean = self._columns[members].mean(axis=0, keepdims=True, dtype=np.float64)
        return int(members[self.cross(mean).block(slice(None), members).argmin()])


def _terms(metric: str, a: np.ndarray, b: np.ndarray, parameters: dict[str, Any]) -> tuple[np.ndarray | None, float]:
    """Return the terms of the features, None where the distance is no sum over them, and the power of the distance."""
    if metric in BOOLEAN or metric in ("chebyshev", "haversine"):
        return None, 1
    differences = np.abs(a - b)
    if metric == "hamming":
        return (differences > 0) / len(a), 1
    if metric == "braycurtis":
        return differences / max((a + b).sum(), np.finfo(np.float64).tiny), 1
    if metric == "canberra":
        sums = np.abs(a) + np.abs(b)
        return differences / np.where(sums > 0, sums, 1.0), 1
    if metric == "nan_euclidean":
        known = ~np.isnan(differences)
        return np.where(known, differences, 0.0) ** 2 * len(a) / max(known.sum(), 1), 2
    if metric == "minkowski":
        with np.errstate(over="ignore"):
            return parameters.get("w", 1.0) * differences ** parameters["p"], parameters["p"]
    return parameters.get("w", 1.0) * differences, 1


def _check(X: Any, metric: str, *, queries: bool = False) -> np.ndarray:
    if metric == "nan_euclidean":
        return _check_with_gaps(X)
    X = check_vectors(X, queries=queries)
    if metric in BOOLEAN:
        other = np.flatnonzero(~np.isin(X, (0, 1)).all(axis=1))
        if len(other):
            raise ValueError(
                f"metric={metric!r} compares truth values, but X holds other numbers than 0 and 1 in "
                f"{name_rows(other)}; pass for example X > 0"
            )
        return X.astype(bool)
    negative = np.flatnonzero((X < 0).any(axis=1))
    if metric == "braycurtis" and len(negative):
        raise ValueError(f"metric='braycurtis' compares amounts, but X holds negative numbers in {name_rows(negative)}")
    if metric == "haversine":
        _check_coordinates(X)
    return X.astype(np.float64, copy=False)


def _check_coordinates(X: np.ndarray) -> None:
    """Refuse vectors that are not a latitude and a longitude in radians."""
    if X.shape[1] != 2:
        raise ValueError(f"metric='haversine' needs 2 features, latitude and longitude in radians, got {X.shape[1]}")
    for name, values, limit, shown in zip(
        ("latitude", "longitude"), X.T, (np.pi / 2, 2 * np.pi), ("pi / 2", "2 pi"), strict=True
    ):
        outside = np.flatnonzero(np.abs(values) > limit * (1 + ANGLE_ROUNDING))
        if len(outside):
            raise ValueError(
                f"metric='haversine' needs radians: a {name} lies between -{shown} and {shown}, but X holds "
                f"{float(values[outside[0]]):g} in {name_rows(outside)}; pass np.radians(X) if X is in degrees"
            )


def _check_with_gaps(X: Any) -> np.ndarray:
    X = check_number_rows(X, dtype=np.float64, ensure_all_finite="allow-nan")
    large = np.flatnonzero((np.abs(X) > LARGEST).any(axis=1))
    if len(large):
        raise ValueError(f"X holds values above {LARGEST:g} in {name_rows(large)}, whose squares overflow; scale X")
    empty = np.flatnonzero(np.isnan(X).all(axis=1))
    if len(empty):
        raise ValueError(
            f"metric='nan_euclidean' needs a known value in every row, {name_rows(empty)} have none; remove them"
        )
    return X


def _check_minkowski(n_features: int, p: Any = 2, w: Any = None) -> dict[str, Any]:
    remedy = "p=1 is the city-block distance, p=2 the Euclidean one; for a large p use metric='chebyshev'"
    p = check_real("metric_params: p", p, above=0.01, most=50, remedy=remedy)
    if w is None:
        return {"p": p}
    return {"p": p, "w": _check_weights(n_features, w)}


def _check_weights(n_features: int, w: Any) -> np.ndarray:
    w = as_numbers("metric_params: w", w)
    if w.shape != (n_features,) or not (w >= 0).all() or not np.isfinite(w).all():
        raise ValueError(f"metric_params: w must be {n_features} weights, finite and not negative, got {w!r}")
    return w


METRICS = tuple(
    Dissimilarity(
        name,
        PairwiseSpace,
        "vectors",
        ("p", "w") if name == "minkowski" else (),
        sparse=name in SparseVectorSpace.METRICS,
        moves=name in CITYBLOCK,
    )
    for name in (*CITYBLOCK, *BOOLEAN, *OTHER_DISTANCES)
)
