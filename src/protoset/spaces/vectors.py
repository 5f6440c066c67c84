"""Vectors under the Euclidean distance, and under distances that are Euclidean after a change of coordinates.

docs/reference/metrics.md lists these distances. The transformed vectors are called images. scikit-learn searches
candidates (by its pairwise reductions, or by a tree in few dimensions), or faiss for many features where it is
installed. Both are fast because they use inner products, which lose the last digits of small distances. So the
distances of the candidates are computed directly, and a row is accepted if the bound on the rounding error proves that
no neighbour and no tie is missing. The few other rows are searched again with more candidates, and at last against
every object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from protoset import kernels
from protoset._blocks import row_slices
from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset._validation import LARGEST, as_numbers, check_vectors, check_width, name_rows
from protoset.spaces._approximate import approximate_lists
from protoset.spaces._candidates import CandidateSource, SklearnCandidates, make_candidates, openmp_threads, rounding
from protoset.spaces._contents import number_vectors
from protoset.spaces._lists import RawLists, join_lists
from protoset.spaces.base import ApproximateSearch, Choice, Dissimilarity, Rows, Space
from protoset.spaces.comparison import Contributions, contributions
from protoset.spaces.movable import LEAST_FACTOR, MovableObjects, Moved
from protoset.spaces.movable_vectors import ChosenRows, Differences, ImageRows, MovableVectors
from protoset.spaces.sparse_vectors import SparseVectorSpace

WIDER = 4
"""Candidates of the second search, as a multiple of the neighbours."""


class VectorSpace(Space):
    """Distances between vectors that are Euclidean distances between their images, ``rows`` and ``columns``.

    ``learned`` are the variances for "seuclidean", the inverse covariance for "mahalanobis". ``factors`` are numbers by
    which the coordinates of the images are multiplied, None for 1; ``rows`` and ``columns`` are already multiplied.
    """

    symmetric = True

    def __init__(
        self,
        metric: str,
        rows: np.ndarray,
        columns: np.ndarray,
        learned: np.ndarray | None = None,
        factors: np.ndarray | None = None,
    ):
        super().__init__(metric, rows, columns, learned, factors)
        self._learned = learned
        self._factors = factors
        self.n_features = columns.shape[1] - (metric in ANGULAR)
        self.object_bytes = columns.shape[1] * columns.itemsize

    @classmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of the rows of a numeric array or DataFrame; of a sparse matrix where the metric allows."""
        if sparse.issparse(X) and metric in SparseVectorSpace.METRICS:
            return SparseVectorSpace.from_objects(X, metric, parameters)  # type: ignore[return-value]
        X = check_vectors(X)
        learned = None
        if metric == "seuclidean":
            learned = _variances(X, parameters.get("V"))
        elif metric == "mahalanobis":
            learned = _inverse_covariance(X, parameters.get("VI"))
        images = _images(X, metric, learned)
        return cls(metric, images, images, learned)

    @property
    def images(self) -> np.ndarray:
        """The transformed column vectors, from which distances are computed."""
        return self._columns

    @property
    def vectors(self) -> np.ndarray | None:
        """The columns as they were given; None where the metric or factors change them."""
        return self._columns if self.metric in ("euclidean", "l2", "sqeuclidean") and self._factors is None else None

    @property
    def objects(self) -> np.ndarray:
        """Vectors with these images; under a metric of directions those of length 1."""
        images = self._columns if self._factors is None else self._columns / self._factors
        return self._restore(images[:, : self.n_features])

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Distances by direct differences."""
        a, b = self._rows[rows], self._columns[columns]
        if len(b) == 1:
            distances = kernels.euclidean.distances_to_one(a, b[0])[:, None]
        else:
            distances = kernels.euclidean.distance_block(a, np.ascontiguousarray(b.T))
        return self._measure_pairs(distances, a[:, -1:], b[:, -1])

    def distances_to(self, column: int) -> np.ndarray:
        """Distances by direct differences, from a transposed copy of the rows, which is kept."""
        image = self._columns[column]
        distances = kernels.euclidean.distances_by_feature(self._features, image)
        return self._measure_pairs(distances, self._rows[:, -1], image[-1])

    @cached_property
    def _features(self) -> np.ndarray:
        return np.ascontiguousarray(self._rows.T)

    def _has_directions(self) -> bool:
        """Whether every vector has a direction, so that the metric depends on the distance of the images alone."""
        return self.metric not in ANGULAR or not (self._rows[:, -1].any() or self._columns[:, -1].any())

    def _measure(self, distances: np.ndarray) -> np.ndarray:
        """Convert Euclidean distances of images to the metric."""
        if self.metric in ANGULAR:
            return distances**2 / 2
        return distances**2 if self.metric == "sqeuclidean" else distances

    def _measure_pairs(self, distances: np.ndarray, of_rows: np.ndarray, of_columns: np.ndarray) -> np.ndarray:
        """Like ``_measure``, also for images without direction; their last features are given."""
        measured = self._measure(distances)
        if self.metric in ANGULAR:
            # Exactly 1 if one of the two has no direction, so that such pairs tie.
            measured[(of_rows > 0) != (of_columns > 0)] = 1.0
        return measured

    def compare(self, row: int, column: int) -> Contributions:
        """Squared differences of the images, feature by feature; none for "mahalanobis", which mixes the features."""
        distance, image, other = self._distance(row, column), self._rows[row], self._columns[column]
        terms = np.square(image.astype(np.float64) - other)[: self.n_features]
        if self.metric in ANGULAR:
            # A vector without direction has the distance 1 from all others, for any features.
            return contributions(distance, terms / 2 if image[-1] == other[-1] else None)
        return contributions(
            distance, None if self.metric == "mahalanobis" else terms, 1 if self.metric == "sqeuclidean" else 2
        )

    def cross(self, queries: Any) -> Self:
        """Space from new vectors to the columns of this space."""
        queries = check_vectors(queries, queries=True)
        check_width(queries.shape[1], self.n_features, self.metric)
        images = _images(queries, self.metric, self._learned)
        return self._like(images if self._factors is None else images * self._factors, self._columns)

    @property
    def movable(self) -> MovableObjects | None:
        """The images, each coordinate with a scale; None where a vector has no direction."""
        return self.movable_rows(self._columns[:, : self.n_features]) if self._has_directions() else None

    def movable_among(self, members: np.ndarray) -> MovableObjects | None:
        """Images of some of the vectors; they are read only when a chunk of them is requested."""
        if self.metric in ANGULAR and self._columns[members, -1].any():
            return None
        return self.movable_rows(ChosenRows(self._columns[:, : self.n_features], members))

    def movable_rows(self, images: ImageRows) -> MovableVectors:
        """Images that can move under the metric of this space."""
        moving = kernels.moving
        surface = {"cosine": moving.ON_SPHERE, "correlation": moving.ON_CENTRED_SPHERE}.get(self.metric, moving.FREE)
        return MovableVectors(
            images,
            Differences(np.arange(images.shape[1]), is_absolute=False),
            read=self._read,
            restore=self._restore,
            place=self._place,
            measure=self._measure,
            surface=surface,
            mixes_attributes=self.metric == "mahalanobis",
            is_complete=True,
        )

    def _read(self, vectors: Any) -> np.ndarray:
        """Coordinates of new vectors, which must have directions where the metric needs them."""
        images = self.cross(vectors)._rows
        self._refuse_without_direction(images)
        return images[:, : self.n_features].astype(np.float64)

    def _refuse_without_direction(self, images: np.ndarray) -> None:
        without = np.flatnonzero(images[:, self.n_features :].any(axis=1))
        if len(without):
            kind = "zero" if self.metric == "cosine" else "constant"
            raise ValueError(
                f"metric={self.metric!r} gives {kind} vectors no direction, and {name_rows(without)} are {kind}; "
                "remove those vectors"
            )

    def moving_among(self, objects: Any) -> tuple[MovableObjects, Moved] | None:
        """New vectors, and the columns with a scale for each coordinate; None where a column has no direction."""
        factors = np.ones(self._columns.shape[1])
        if self._factors is not None:
            factors = np.maximum(self._factors, LEAST_FACTOR)
        columns = self._columns / factors
        space = VectorSpace(self.metric, columns[:0], columns, self._learned)
        if not space._has_directions():
            return None
        images = space.cross(objects)._rows
        self._refuse_without_direction(images)
        movable = space._like(images, images).movable
        points, scales = columns[:, : self.n_features].astype(np.float64), factors[: self.n_features] ** 2
        return None if movable is None else (movable, Moved(np.ascontiguousarray(points), scales))

    def _restore(self, points: np.ndarray) -> np.ndarray:
        """Vectors with the given coordinates; of length 1 if the metric compares directions."""
        if self._learned is None:
            return points.copy()
        if self._learned.ndim == 1:
            return points * np.sqrt(self._learned)
        return solve_triangular(np.linalg.cholesky(self._learned), points.T, lower=True, trans="T").T

    def _place(self, points: np.ndarray, factors: np.ndarray | None) -> VectorSpace:
        """Space of moved vectors."""
        images = points.copy() if factors is None else points * factors
        if self.metric in ANGULAR:
            images = np.hstack([images, np.zeros((len(images), 1))])
            factors = None if factors is None else np.append(factors, 1.0)
        return VectorSpace(self.metric, images[:0], images, self._learned, factors)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the images of the column vectors, and the values that turn queries into images."""
        arrays = {"images": self._columns, "learned": self._learned, "factors": self._factors}
        return {}, {name: array for name, array in arrays.items() if array is not None}

    @classmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, whose columns are the stored vectors, sparse or dense."""
        if values.get("sparse"):
            return SparseVectorSpace.from_state(metric, values, arrays)  # type: ignore[return-value]
        images, learned, factors = check_vectors(arrays["images"], queries=True), None, arrays.get("factors")
        if factors is not None:
            _check_factors(factors, images, metric)
        if metric == "seuclidean":
            learned = _variances(images, arrays["learned"])
        elif metric == "mahalanobis":
            learned = _inverse_covariance(images, arrays["learned"])
        elif metric in ANGULAR and factors is None:
            _check_directions(images)
        if learned is not None:
            _images(np.ones((1, images.shape[1])), metric, learned)
        return cls(metric, images[:0], images, learned, factors)

    def nearest(
        self,
        rows: Rows = slice(None),
        columns: Rows = slice(None),
        *,
        choose: Choice | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row: inner products screen, exact distances decide."""
        if not self._has_directions():
            return super().nearest(rows, columns, choose=choose, n_jobs=n_jobs)
        wanted, among = self._rows[rows], self._columns[columns]
        centre = among.mean(axis=0, dtype=np.float64)
        b = among - centre
        b_norms = np.einsum("ij,ij->i", b, b)
        largest = np.sqrt(b_norms.max())
        positions, distances = np.empty(len(wanted), np.int64), np.empty(len(wanted))
        with openmp_threads(n_jobs):
            for part in row_slices(len(wanted), len(among) * 8):
                a = wanted[part] - centre
                screen = a @ b.T
                screen *= -2
                screen += b_norms
                norms = np.sqrt(np.einsum("ij,ij->i", a, a))
                slack = 2 * rounding(a.shape[1], float(np.finfo(np.float64).eps)) * (norms + largest) ** 2
                positions[part], distances[part], are_tied = kernels.euclidean.nearest_screened(
                    wanted[part], among, screen, slack
                )
                if choose is not None and are_tied.any():
                    tied_rows = wanted[part][are_tied], among, screen[are_tied], slack[are_tied]
                    positions[part][are_tied] = choose(kernels.euclidean.screened_block(*tied_rows))
        return positions, self._measure(distances)

    def quick_squares(self, rows: Rows) -> np.ndarray | None:
        """Squared distances by inner products; None for metrics that are squares themselves."""
        if self.metric in ANGULAR or self.metric == "sqeuclidean":
            return None
        centre, right = self._quick_columns
        left = np.empty((len(self._rows[rows]), right.shape[0]), np.float32)
        images = self._rows[rows] - centre
        # Numbers that are too large for single precision become infinite.
        with np.errstate(over="ignore", invalid="ignore"):
            left[:, :-2], left[:, -2], left[:, -1] = images, np.einsum("ij,ij->i", images, images), 1.0
            squares = left @ right
            return np.maximum(squares, 0.0, out=squares)

    @cached_property
    def _quick_columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Centre of the columns, and the factors that turn (x, |x|^2, 1) into |x - column|^2."""
        centre = self._columns.mean(axis=0, dtype=np.float64)
        images = self._columns - centre
        right = np.empty((images.shape[1] + 2, len(images)), np.float32)
        with np.errstate(over="ignore"):
            right[:-2], right[-2], right[-1] = -2 * images.T, 1.0, np.einsum("ij,ij->i", images, images)
        return centre, right

    def identical(self) -> np.ndarray:
        """Numbers by the content of the images."""
        return number_vectors(self._columns)

    def central_member(self, members: np.ndarray) -> int:
        """Return the member whose image is nearest to the mean of the images."""
        images = self._columns[members].astype(np.float64, copy=False)
        distances = kernels.euclidean.distance_block(images.mean(axis=0, keepdims=True), np.ascontiguousarray(images.T))
        return int(members[distances.argmin()])

    def _kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Find exact neighbours: search candidates, then prove that none is missing."""
        if not self._has_directions():
            return super()._kneighbors(n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)
        raw = self._kneighbors_of_images(n_neighbors, limit, n_jobs, progress)
        return replace(raw, distances=self._measure(raw.distances))

    @property
    def approximate_search(self) -> ApproximateSearch | None:
        """Approximate search; None where a zero vector has no direction, so that images do not give its distances."""
        return self.approximate_kneighbors if self._has_directions() else None

    def approximate_kneighbors(
        self, n_neighbors: int, *, storage: Storage, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Find most neighbours, see ``protoset.spaces._approximate``."""
        images = VectorSpace("euclidean", self._rows, self._columns)
        raw = approximate_lists(images, self._columns, n_neighbors, storage=storage, n_jobs=n_jobs, progress=progress)
        for part in row_slices(len(raw.distances), 8):
            raw.distances[part] = self._measure(raw.distances[part])
        return raw

    def _subset(self, members: np.ndarray) -> VectorSpace:
        """Space of some of the vectors."""
        chosen = self._columns[members]
        return self._like(chosen, chosen)

    def _kneighbors_of_images(
        self, n_neighbors: int, limit: int, n_jobs: int | None, progress: ProgressCallback | None
    ) -> RawLists:
        n = self.shape[0]
        k = min(n_neighbors, n - 1)
        centred = self._columns - self._columns.mean(axis=0, dtype=np.float64)
        candidates = make_candidates(centred, n_jobs)
        narrow = self._propose(candidates, centred, np.arange(n), min(candidates.width(k + 1), n), k, limit, progress)
        open_rows = np.flatnonzero(narrow.counts < 0)
        if not len(open_rows):
            return narrow
        if not isinstance(candidates, SklearnCandidates):
            candidates = SklearnCandidates(centred, n_jobs)  # in double precision
        wide = self._propose(candidates, centred, open_rows, min(WIDER * (k + 1), limit + 1, n), k, limit)
        rest = open_rows[wide.counts < 0]
        images = VectorSpace("euclidean", self._rows, self._columns)
        full = images.kneighbors_by_block(rest, k, limit=limit, n_jobs=n_jobs) if len(rest) else None
        return _interleave(narrow, open_rows, wide, full)

    def _propose(
        self,
        source: CandidateSource,
        centred: np.ndarray,
        rows: np.ndarray,
        width: int,
        k: int,
        limit: int,
        progress: ProgressCallback | None = None,
    ) -> RawLists:
        """Search ``width`` candidates for each row; the count is -1 where the proof fails."""
        parts = []
        for part in row_slices(len(rows), width * 28):
            approximate, candidates = source.nearest(rows[part], width)
            floor = np.full(len(candidates), np.inf)
            if width < len(centred):
                floor = _floor_outside(approximate[:, -1], centred[rows[part]], source.error, source.vanished)
            indices = np.empty(candidates.shape, np.int32)
            distances = np.empty(candidates.shape)
            counts = kernels.euclidean.rerank_candidates(
                self._columns, rows[part], candidates, floor, k, indices, distances
            )
            kept = np.minimum(counts, max(limit, k))
            listed = np.arange(width) < kept[:, None]
            parts.append(RawLists(kept, indices[listed], distances[listed], kept == counts))
            if progress is not None:
                progress(part.stop * len(centred), len(rows) * len(centred))
        return RawLists.concatenate(parts)


def _floor_outside(last: np.ndarray, queries: np.ndarray, error: float, vanished: float) -> np.ndarray:
    """Lower bound on the distances of each row to objects that are not its candidates.

    An object y outside has an approximate distance of at least ``last`` to the query x. Its error
    is at most e(|x| + |y|)^2. That is at most 9 e|x|^2 if |y| < 2|x|; otherwise the distance is at
    least |y|/2 and the error at most 9 e times its square.
    """
    squared = last**2 * (1 - 9 * error) - 9 * error * np.einsum("ij,ij->i", queries, queries) - vanished
    return np.sqrt(np.maximum(squared, 0))


def _interleave(narrow: RawLists, open_rows: np.ndarray, wide: RawLists, full: RawLists | None) -> RawLists:
    """Merge the lists of the rows that were searched again."""
    sources = [(np.arange(len(narrow.counts)), narrow), (open_rows, wide)]
    if full is not None:
        sources.append((open_rows[wide.counts < 0], full))
    closed, parts = narrow.closed.copy(), []
    for rows, lists in sources:
        done = lists.counts >= 0
        closed[rows[done]] = lists.closed[done]
        parts.append((rows[done], replace(lists, counts=lists.counts[done])))
    indptr, indices, distances = join_lists(len(closed), parts)
    return RawLists(np.diff(indptr), indices, distances, closed)


ANGULAR = ("cosine", "correlation")
"""Metrics that depend on the directions of the vectors alone."""


def _images(X: np.ndarray, metric: str, learned: np.ndarray | None) -> np.ndarray:
    """Vectors whose Euclidean distances are those of the metric, up to ``_measure``."""
    if metric in ANGULAR:
        return _directions(X, centred=metric == "correlation")
    if learned is None:
        return X
    X = X.astype(np.float64, copy=False)
    # Not by BLAS, whose last digits depend on the number of vectors.
    images = X / np.sqrt(learned) if learned.ndim == 1 else kernels.euclidean.transform(X, np.linalg.cholesky(learned))
    if not np.abs(images).max() <= LARGEST:
        raise ValueError(
            f"metric={metric!r} transforms X to numbers above {LARGEST:g}; scale X, or pass other metric_params"
        )
    return images


def _directions(X: np.ndarray, *, centred: bool) -> np.ndarray:
    """Vectors scaled to length 1. A zero vector gets a direction of its own, at a right angle to all others."""
    X = X.astype(np.float64)
    if centred:
        constant = X.max(axis=1) == X.min(axis=1)
        X -= X.mean(axis=1, keepdims=True)
        X[constant] = 0.0
    largest = np.abs(X).max(axis=1, keepdims=True)
    X /= np.where(largest > 0, largest, 1.0)  # first, so that no square overflows or underflows
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
    return np.hstack([X / np.where(lengths > 0, lengths, 1.0), lengths == 0])


def _check_directions(images: np.ndarray) -> None:
    """Raise an error for stored images that ``_directions`` cannot have made."""
    lengths = np.sqrt(np.einsum("ij,ij->i", images, images))
    without = images[:, -1] == 1
    if images.dtype != np.float64 or images.shape[1] < 2 or not np.allclose(lengths, 1, rtol=1e-9, atol=0):
        raise ValueError("its vectors are not directions of length 1")
    if not (without | (images[:, -1] == 0)).all() or images[without, :-1].any():
        raise ValueError("its vectors without a direction have other values than 0")


def _check_factors(factors: np.ndarray, images: np.ndarray, metric: str) -> None:
    """Raise an error for stored factors that ``VectorSpace._place`` cannot have made, or that do not fit the images."""
    if factors.dtype != np.float64 or factors.shape != (images.shape[1],):
        raise ValueError("its factors do not fit its vectors")
    if not np.isfinite(factors).all() or (factors < 0).any():
        raise ValueError("its factors are not finite numbers of at least 0")
    if metric in ANGULAR and (len(factors) < 2 or factors[-1] != 1 or images[:, -1].any()):
        raise ValueError("its moved vectors have no direction")


def _variances(X: np.ndarray, V: Any) -> np.ndarray:
    if V is None:
        varies = X.max(axis=0) > X.min(axis=0)
        return np.where(varies, np.var(X, axis=0, ddof=1, dtype=np.float64), 1.0)  # a constant feature counts nothing
    V = as_numbers("metric_params: V", V)
    if V.shape != (X.shape[1],) or not (V > 0).all() or not np.isfinite(V).all():
        raise ValueError(f"metric_params: V must be {X.shape[1]} variances above 0, got {V!r}")
    return V


def _inverse_covariance(X: np.ndarray, VI: Any) -> np.ndarray:
    d = X.shape[1]
    if VI is None:
        deviations = np.std(X, axis=0, dtype=np.float64)
        scaled = (X - X.mean(axis=0, dtype=np.float64)) / np.where(deviations > 0, deviations, 1.0)
        if len(X) < 2 or np.linalg.matrix_rank(scaled) < d:
            raise ValueError(
                f"metric='mahalanobis' cannot learn from {len(X)} objects with {d} features, because their covariance "
                "has no inverse; drop constant or dependent features, or pass metric_params={'VI': ...}"
            )
        inverse = np.linalg.inv(np.atleast_2d(np.cov(scaled, rowvar=False))) / np.outer(deviations, deviations)
        VI = (inverse + inverse.T) / 2
    VI = as_numbers("metric_params: VI", VI)
    symmetric = VI.shape == (d, d) and np.allclose(VI, VI.T, rtol=1e-8, atol=0)
    try:
        np.linalg.cholesky(VI if symmetric else np.full((1, 1), -1.0))
    except np.linalg.LinAlgError:
        raise ValueError(f"metric_params: VI must be a symmetric, positive definite {d} x {d} matrix") from None
    return VI


METRICS = (
    *(
        Dissimilarity(name, VectorSpace, "vectors", sparse=name in SparseVectorSpace.METRICS, moves=True)
        for name in ("euclidean", "l2", "sqeuclidean", "cosine", "correlation")
    ),
    Dissimilarity("seuclidean", VectorSpace, "vectors", ("V",), needs_fitting=True, moves=True),
    Dissimilarity("mahalanobis", VectorSpace, "vectors", ("VI",), needs_fitting=True, moves=True),
)
