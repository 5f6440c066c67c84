"""Time series: dynamic time warping and its kin.

    dtw                 dynamic time warping; the local cost is the squared difference
    ddtw                the same on the series' derivatives (Keogh and Pazzani's estimate)
    erp                 edit distance with real penalty (Chen and Ng); a metric
    series_euclidean    point by point; all series equally long

Series are the rows of a 2-D array, the slices of a 3-D array (instances, channels, length), or a
list of arrays of any lengths, 1-D or (channels, length). Several channels are warped together.

``window`` is the radius of the Sakoe-Chiba band: points i and j may be matched if |i - j| is at most
an int, or at most a fraction (float) of the longer series' length, rounded down. Where two series
differ in length by more than that, the difference is the radius, so that there is always a path.
Distances are square roots of the summed squares, or with ``squared=True`` the sums themselves.
``normalize=True`` gives each series (each of its channels) mean 0 and deviation 1; a constant one
becomes 0.

The neighbour search is exact without computing every pair to the end. Bounds from below (LB_Kim;
LB_Keogh both ways; LB_Improved) are cheap. Each series is first compared with those of the smallest bounds, which
tells how far it has to look. Then the bounds pass over most pairs, and what is left is computed in
the order of its bound and broken off as soon as it is too far for both series.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse

from protoset import kernels
from protoset._arrays import row_numbers, row_pointers
from protoset._validation import (
    LARGEST,
    SMALLEST,
    as_numbers,
    check_flag,
    check_real,
    is_count,
    is_number,
    name_rows,
    refuse_masked,
)
from protoset.spaces.base import (
    BLOCK_BYTES,
    Dissimilarity,
    NearestSoFar,
    Progress,
    RawLists,
    Rows,
    SearchCounters,
    Space,
)

NO_BAND = 2**31
"""A radius that no series reaches."""

SEEDS = 3
"""Series that each is compared with first, as a multiple of the neighbours it needs."""


@dataclass(frozen=True, eq=False)
class Series:
    """Series one after the other.

    Attributes
    ----------
    values : ndarray of shape (n_points,) or (n_points, n_channels)
    starts : ndarray of int64, shape (n_series + 1,)
        Where each series starts.
    """

    values: np.ndarray
    starts: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """Number of points of each series."""
        return np.diff(self.starts)

    @property
    def n_channels(self) -> int:
        """Number of values of a point."""
        return 1 if self.values.ndim == 1 else self.values.shape[1]

    @property
    def equal_length(self) -> bool:
        """Whether all series are equally long."""
        return len(np.unique(self.lengths)) == 1

    def take(self, indices: np.ndarray) -> Series:
        """Return the given series."""
        parts = [self.values[self.starts[i] : self.starts[i + 1]] for i in indices]
        values = np.concatenate(parts) if parts else self.values[:0]
        return Series(values, row_pointers(self.lengths[indices]))

    def rows(self) -> np.ndarray:
        """Equally long series as the rows of an array, points and channels side by side."""
        return self.values.reshape(len(self.lengths), -1)


class SeriesSpace(Space):
    """Elastic dissimilarities between time series.

    Parameters
    ----------
    metric : str
    rows, columns : Series
        Prepared: normalised, differentiated.
    parameters : dict
        All arguments of the metric, checked.
    """

    def __init__(self, metric: str, rows: Series, columns: Series, parameters: dict[str, Any]):
        super().__init__(metric)
        self._rows = rows
        self._columns = columns
        self._parameters = parameters

    @classmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of an array or list of series."""
        checked = _check_parameters(metric, parameters)
        series = _prepare(X, metric, checked)
        largest = float(np.abs(series.values).max())
        if 0 < largest < SMALLEST:
            raise ValueError(
                f"X holds no value above {largest:g}, and squared differences of such values vanish; scale X to above "
                f"{SMALLEST:g}"
            )
        checked["gap"] = _check_gap(checked["gap"], series.n_channels) if metric == "erp" else None
        return cls(metric, series, series, checked)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row series and of column series."""
        return len(self._rows.lengths), len(self._columns.lengths)

    @property
    def _band(self) -> tuple[int, float]:
        """Radius in points and as a fraction, as the kernels take them; -1 for none."""
        window = self._parameters["window"]
        if window is None:
            return -1, -1.0
        return (-1, float(window)) if isinstance(window, float) else (int(window), -1.0)

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Every pair computed to the end."""
        return self._block(rows, columns, upper=False)

    def upper_block(self, rows: slice) -> np.ndarray:
        """Only pairs of a row with a later column."""
        return self._block(rows, slice(rows.start, None), upper=True)

    def _block(self, rows: Rows, columns: Rows, *, upper: bool) -> np.ndarray:
        wanted = np.arange(self.shape[0])[rows], np.arange(self.shape[1])[columns]
        a, b = self._rows, self._columns
        sides = (a.values, a.starts, wanted[0], b.values, b.starts, wanted[1])
        if self.metric == "erp":
            sides = (_two_dimensional(a.values), *sides[1:3], _two_dimensional(b.values), *sides[4:])
            return kernels.series.erp_block(*sides, *self._band, self._parameters["gap"], upper)
        return kernels.series.dtw_block(*sides, *self._band, not self._parameters["squared"], upper)

    def cross(self, queries: Any) -> Self:
        """Space from new series to the columns of this one."""
        series = _prepare(queries, self.metric, self._parameters)
        if series.n_channels != self._columns.n_channels:
            raise ValueError(
                f"X has series of {series.n_channels} channels, but those in fit had {self._columns.n_channels}; "
                "pass the same channels"
            )
        if self.metric == "series_euclidean" and series.lengths[0] != self._columns.lengths[0]:
            raise ValueError(
                f"X has series of {series.lengths[0]} points, but those in fit had {self._columns.lengths[0]}; "
                "metric='series_euclidean' needs the same length"
            )
        return type(self)(self.metric, series, self._columns, self._parameters)

    def prototypes(self, indices: np.ndarray) -> Self:
        """Space without rows, to the given series."""
        nothing = self._rows.take(np.arange(0))
        return type(self)(self.metric, nothing, self._columns.take(indices), self._parameters)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the prepared column series and the arguments."""
        values = {name: value for name, value in self._parameters.items() if name != "gap"}
        arrays = {"values": self._columns.values, "starts": self._columns.starts}
        gap = self._parameters["gap"]
        return values, arrays if gap is None else arrays | {"gap": gap}

    @classmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, to the stored series."""
        parameters = _check_parameters(metric, values)
        series = Series(arrays["values"], arrays["starts"])
        if series.values.dtype != np.float64 or series.values.ndim not in (1, 2) or series.starts.dtype != np.int64:
            raise ValueError("its series have the wrong type")
        ends = (series.starts[0], series.starts[-1]) if series.starts.ndim == 1 and len(series.starts) > 1 else None
        if ends != (0, len(series.values)) or (series.lengths < 1).any() or not np.isfinite(series.values).all():
            raise ValueError("its series do not fit together")
        parameters["gap"] = _check_gap(arrays["gap"], series.n_channels) if metric == "erp" else None
        return cls(metric, series.take(np.arange(0)), series, parameters)

    def nearest(
        self, rows: Rows = slice(None), columns: Rows = slice(None), *, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row; candidates in the order of their bounds, broken off when too far."""
        if self.metric == "erp":
            return super().nearest(rows, columns, n_jobs=n_jobs)
        wanted, among = np.arange(self.shape[0])[rows], np.arange(self.shape[1])[columns]
        a, b = self._rows, self._columns
        upper = lower = b.values[:0]
        if b.equal_length and (a.lengths == b.lengths[0]).all():
            upper, lower = kernels.series.envelopes(b.values, b.starts, self._radius())

        def search(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            sides = (a.values, a.starts, part, b.values, b.starts, among)
            return kernels.series.nearest_series(*sides, upper, lower, *self._band, not self._parameters["squared"])

        parts = np.array_split(wanted, max(1, min(len(wanted), effective_n_jobs(n_jobs))))
        found = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(search)(part) for part in parts)
        return np.concatenate([p for p, _ in found]), np.concatenate([d for _, d in found])

    def _radius(self) -> int:
        """Radius of the band where all series are equally long."""
        length = int(self._columns.lengths[0])
        return kernels.series.band_radius(length, length, *self._band)

    def kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: Progress | None = None
    ) -> RawLists:
        """Exact neighbours by bounds and by breaking off; see the counters of the result."""
        if self.metric == "erp":
            return self.kneighbors_by_pair(n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)
        n = self.shape[0]
        search = _Search(self, min(n_neighbors, n - 1), limit, n_jobs, progress)
        return search.bounded() if self._columns.equal_length else search.ragged()


class _Search:
    """One neighbour search: stripes of rows, each with its own nearest so far, merged at the end."""

    STRIPES = 64

    def __init__(self, space: SeriesSpace, n_neighbors: int, limit: int, n_jobs: int | None, progress: Progress | None):
        self.series, self.n = space._columns, space.shape[0]
        self.band, self.root = space._band, not space._parameters["squared"]
        self.radius = space._radius() if self.series.equal_length else -1
        self.n_neighbors, self.limit = n_neighbors, limit
        self.n_jobs, self.progress = n_jobs, progress
        self.nearest = NearestSoFar(self.n, n_neighbors, limit)

    def bounded(self) -> RawLists:
        """Search among equally long series."""
        kernel, series = kernels.series, self.series
        upper, lower = kernel.envelopes(series.values, series.starts, self.radius)
        n_pairs = self.n * (self.n - 1) // 2
        stored = np.empty(n_pairs if n_pairs * 4 <= BLOCK_BYTES else 0, np.float32)
        seeds = self._seeds(upper, lower, stored)

        def seed(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernel.seed_search(
                series.values, series.starts, seeds.indptr, seeds.indices, first, step, *self.band, self.root,
                *nearest.arrays,
            )  # fmt: skip

        def rest(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernel.bounded_search(
                series.values, series.starts, upper, lower, stored, seeds.indptr, seeds.indices, first, step,
                self.radius, self.root, *nearest.arrays,
            )  # fmt: skip

        first = self._in_stripes(seed, report=False)
        self.nearest.settle()
        second = self._in_stripes(rest, report=True)
        return self.nearest.lists(self._counters(*(first + second)))

    def ragged(self) -> RawLists:
        """Search among series of any lengths."""
        series = self.series

        def search(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernels.series.ragged_search(
                series.values, series.starts, first, step, *self.band, self.root, *nearest.arrays
            )

        return self.nearest.lists(self._counters(*self._in_stripes(search, report=True)))

    def _seeds(self, upper: np.ndarray, lower: np.ndarray, stored: np.ndarray) -> sparse.csr_matrix:
        """Pairs i < j of which one is among those with the smallest bounds of the other."""
        values, starts = self.series.values, self.series.starts
        n_seeds = min(SEEDS * self.n_neighbors, self.n - 1)
        by_bound = NearestSoFar(self.n, n_seeds, n_seeds)
        kernels.series.nearest_bounds(values, starts, upper, lower, 0, 1, stored, *by_bound.arrays)
        raw = by_bound.lists()
        i, j = row_numbers(row_pointers(raw.counts)), raw.indices
        pairs = np.unique(np.minimum(i, j).astype(np.int64) * self.n + np.maximum(i, j))
        return sparse.csr_matrix((np.ones(len(pairs), bool), (pairs // self.n, pairs % self.n)), shape=(self.n, self.n))

    def _in_stripes(
        self, search: Callable[[int, int, NearestSoFar], tuple[int, int, int]], *, report: bool
    ) -> np.ndarray:
        """Run a search over interleaved rows; with several workers each has its own nearest so far."""
        workers = min(effective_n_jobs(self.n_jobs), self.STRIPES)
        own = [self.nearest] if workers == 1 else [self._like_nearest() for _ in range(workers)]
        totals, done = np.zeros(3, np.int64), 0

        def work(worker: int) -> list[tuple[int, int, int]]:
            nonlocal done
            found = []
            for stripe in range(worker, self.STRIPES, workers):
                found.append(search(stripe, self.STRIPES, own[worker]))
                done += 1
                if report and self.progress is not None:
                    pairs = self.n * (self.n - 1) // 2
                    self.progress(pairs * done // self.STRIPES, pairs)
            return found

        for found in Parallel(n_jobs=workers, prefer="threads")(delayed(work)(worker) for worker in range(workers)):
            totals += np.sum(found, axis=0, dtype=np.int64)
        for nearest in own:
            if nearest is not self.nearest:
                self.nearest.push_all(nearest)
        return totals

    def _like_nearest(self) -> NearestSoFar:
        """Room for what a worker finds, that looks no farther than what is known already."""
        nearest = NearestSoFar(self.n, self.n_neighbors, self.limit)
        nearest.thresholds[:] = self.nearest.thresholds
        return nearest

    def _counters(self, bounded: int, abandoned: int, computed: int) -> SearchCounters:
        return SearchCounters(self.n * (self.n - 1) // 2, int(bounded), int(abandoned), int(computed))


def _two_dimensional(values: np.ndarray) -> np.ndarray:
    return values[:, None] if values.ndim == 1 else values


def _check_parameters(metric: str, given: Mapping[str, Any]) -> dict[str, Any]:
    window: Any = given.get("window")
    if is_number(window) and not is_count(window):
        if not 0 <= window <= 1:
            raise ValueError(
                f"metric_params: window={window!r} as a float is a fraction of the length, between 0 and 1; "
                "pass an int for a radius in points"
            )
        window = float(window)
    elif window is not None and not (is_count(window) and window >= 0):
        raise ValueError(
            f"metric_params: window={window!r} must be None for no band, an int (radius in points) or a float "
            "(fraction of the length)"
        )
    if metric == "series_euclidean":
        window = 0  # a band in which every point has but one partner
    return {
        "window": window if window is None or isinstance(window, float) else min(int(window), NO_BAND),
        "squared": check_flag("metric_params: squared", given.get("squared", False)),
        "normalize": check_flag("metric_params: normalize", given.get("normalize", False)),
        "gap": given.get("gap", 0.0),
    }


def _check_gap(gap: Any, n_channels: int) -> np.ndarray:
    if is_number(gap):
        return np.full(n_channels, check_real("metric_params: gap", gap, above=-np.inf, remedy="0 is usual"))
    gap = as_numbers("metric_params: gap", gap)
    if gap.shape != (n_channels,) or not np.isfinite(gap).all():
        raise ValueError(f"metric_params: gap={gap!r} must be a number, or one for each of the {n_channels} channels")
    return gap


def _prepare(X: Any, metric: str, parameters: Mapping[str, Any]) -> Series:
    """Check series, normalise them and take derivatives where that is asked for."""
    parts = _as_list(X)
    _check_points(parts)
    if parameters["normalize"]:
        parts = [_normalised(part) for part in parts]
    if metric == "ddtw":
        short = np.flatnonzero([len(part) < 3 for part in parts])
        if len(short):
            raise ValueError(f"metric='ddtw' needs series of at least 3 points; {name_rows(short)} of X have fewer")
        parts = [((part[1:-1] - part[:-2]) + (part[2:] - part[:-2]) / 2) / 2 for part in parts]
    lengths = np.array([len(part) for part in parts])
    if metric == "series_euclidean" and len(np.unique(lengths)) > 1:
        raise ValueError(
            f"metric='series_euclidean' needs series of one length, got lengths from {lengths.min()} to "
            f"{lengths.max()}; use metric='dtw', or cut or resample them"
        )
    values = np.concatenate(parts)
    return Series(np.ascontiguousarray(values[:, 0] if values.shape[1] == 1 else values), row_pointers(lengths))


def _as_list(X: Any) -> list[np.ndarray]:
    """Return series as arrays of shape (points, channels)."""
    refuse_masked(X)
    if hasattr(X, "iloc"):
        X = X.to_numpy()
    if sparse.issparse(X):
        raise TypeError("Sparse data was passed for X, but series are dense; use X.toarray()")
    if isinstance(X, np.ndarray) and X.dtype.kind != "O":
        if X.ndim not in (2, 3):
            raise ValueError(
                f"Expected 2D array (series, points) or 3D array (series, channels, points), got the shape {X.shape}. "
                "Reshape your data: a single series with X.reshape(1, -1)"
            )
        return [_one_series(series, row) for row, series in enumerate(X)]
    if not hasattr(X, "__len__") or isinstance(X, (str, bytes, set, frozenset, dict)):
        raise TypeError(f"X={type(X).__name__} is not understood; pass series as an array or a list of arrays")
    return [_one_series(series, row) for row, series in enumerate(X)]


def _one_series(series: Any, row: int) -> np.ndarray:
    refuse_masked(series)
    try:
        array = np.asarray(series)
        if array.dtype.kind == "O" and not any(isinstance(value, (str, bytes)) for value in array.flat):
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"row {row} of X is not a series of numbers: {error}") from error
    if array.dtype.kind not in "fiub":
        raise TypeError(f"row {row} of X is not a series of numbers: it has the dtype {array.dtype}")
    if array.ndim not in (1, 2):
        raise ValueError(f"row {row} of X has the shape {array.shape}; a series is 1-D, or 2-D as (channels, points)")
    return (array[:, None] if array.ndim == 1 else array.T).astype(np.float64)


def _check_points(parts: list[np.ndarray]) -> None:
    if not parts:
        raise ValueError("Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required.")
    empty = np.flatnonzero([part.size == 0 for part in parts])
    if len(empty):
        raise ValueError(f"X holds series without points in {name_rows(empty)}; remove them")
    channels = np.array([part.shape[1] for part in parts])
    other = np.flatnonzero(channels != channels[0])
    if len(other):
        raise ValueError(
            f"the series of X have {channels[0]} channels in row 0, but other numbers in {name_rows(other)}; "
            "pass the same channels for every series"
        )
    bad = np.flatnonzero([not np.isfinite(part).all() for part in parts])
    if len(bad):
        raise ValueError(
            f"Input X contains NaN or infinity in {name_rows(bad)}; fill the gaps in, "
            "or pass series of unequal lengths as a list of arrays without padding"
        )
    large = np.flatnonzero([np.abs(part).max() > LARGEST for part in parts])
    if len(large):
        raise ValueError(f"X holds values above {LARGEST:g} in {name_rows(large)}, whose squares overflow; scale X")


def _normalised(part: np.ndarray) -> np.ndarray:
    centred = part - part.mean(axis=0)
    deviation = part.std(axis=0)
    constant = part.max(axis=0) == part.min(axis=0)
    return np.where(constant, 0.0, centred / np.where(deviation > 0, deviation, 1.0))


METRICS = (
    Dissimilarity("dtw", SeriesSpace, "series", ("window", "squared", "normalize"), ragged=True, bounds=True),
    Dissimilarity("ddtw", SeriesSpace, "series", ("window", "squared", "normalize"), ragged=True, bounds=True),
    Dissimilarity("erp", SeriesSpace, "series", ("window", "gap", "normalize"), ragged=True),
    Dissimilarity("series_euclidean", SeriesSpace, "series", ("squared", "normalize"), bounds=True),
)
