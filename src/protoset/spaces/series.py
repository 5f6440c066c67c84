"""Time series: dynamic time warping and its kin; edit distances of series are in ``protoset.spaces.elastic``.

    dtw                 dynamic time warping; the local cost is the squared difference
    ddtw                dynamic time warping of the derivatives
    series_euclidean    point by point; all series have the same length

docs/reference/metrics.md defines the metrics and their parameters, with unequal lengths. Series that moved may have
learned a factor for each channel: then queries are multiplied by the factors.

``protoset.spaces.series_data`` reads series. ``protoset.spaces.series_search`` is the exact neighbour search that does
not compute every pair to the end, ``protoset.spaces._approximate_series`` the approximate search.
``protoset.spaces.movable_series`` moves series.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import delayed, effective_n_jobs

from protoset import kernels
from protoset._blocks import in_threads
from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset._validation import LARGEST, SMALLEST, check_flag, is_count, is_number
from protoset.spaces._approximate_series import (
    SERIES_APPROXIMATE_FROM,
    ComparedSeries,
    approximate_series_lists,
    segment_numbers,
    series_search_bytes,
)
from protoset.spaces._contents import number_ragged
from protoset.spaces._lists import RawLists, SearchCounters
from protoset.spaces._pair_descent import PairDistances
from protoset.spaces.base import ApproximateSearch, Choice, Dissimilarity, Rows, Space, TrainingSpace
from protoset.spaces.comparison import Alignment, PairComparison
from protoset.spaces.movable import LEAST_FACTOR, MovableObjects, Moved
from protoset.spaces.movable_series import MovableSeries
from protoset.spaces.series_data import Series, check_stored, prepare_series
from protoset.spaces.series_search import (
    SeriesSearch,
    as_points,
    as_series,
    largest_value,
    padded,
    rounding_of,
    single_series,
)

if TYPE_CHECKING:
    from protoset.kernels.series import Warping
    from protoset.kernels.single_precision import Rounding, Shape, SingleSeries

WIDEST_BAND = 2**31
"""Radius of the widest band: larger than the length of any series."""

MATRIX_STRIP = 128
"""Number of series whose distances to all later series are computed at a time."""

QUERIES_AT_ONCE = 1024
"""Rows whose nearest columns a task searches."""

FEW_CELLS = 2**24
"""Up to so many pairs of points, the nearest columns are found by computing all distances. This takes some hundredths
of a second, and moves need the same compiled code."""


class SeriesSpace(Space):
    """Elastic dissimilarities between prepared time series; ``parameters`` are all arguments of the metric, checked."""

    symmetric = remembers = True
    approximate_from = SERIES_APPROXIMATE_FROM

    def __init__(self, metric: str, rows: Series, columns: Series, parameters: dict[str, Any]):
        super().__init__(metric, rows, columns, parameters)
        self._parameters = parameters
        self._remembered: np.ndarray | None = None
        self._remembered_members: tuple[np.ndarray, np.ndarray] | None = None
        """Some of the training series, and their distances, if those of all series are not remembered."""
        self.object_bytes = columns.values.nbytes // max(1, len(columns))

    @classmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of an array or list of series."""
        checked = _check_parameters(metric, parameters)
        series = read_training(X, metric, checked)
        return cls(metric, series, series, checked | {"factors": None})

    @property
    def _warping(self) -> Warping:
        """The band and the unit of the distances, as the kernels take them."""
        return kernels.series.Warping(*band_of(self._parameters["window"]), not self._parameters["squared"])

    @property
    def objects(self) -> Any:
        """The columns: an array where all series are equally long, else a list; prepared, as the metric takes them."""
        factors = self._parameters["factors"]
        series = self._columns.values.reshape(len(self._columns.values), -1)
        series = (series if factors is None else series / factors).T
        each = np.split(series[0] if len(series) == 1 else series, self._columns.starts[1:-1], axis=-1)
        return np.array(each) if len({points.shape for points in each}) == 1 else each

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Compute every pair to the end, unless the distances are remembered."""
        row_indices, column_indices = np.arange(self.shape[0])[rows], np.arange(self.shape[1])[columns]
        known = self._known_block(row_indices, column_indices)
        if known is not None:
            return known
        are_all = isinstance(rows, slice) and isinstance(columns, slice) and rows == columns == slice(None)
        if are_all and self._is_training:
            return self._matrix()
        return self._all_pairs(row_indices, column_indices)

    def _known_block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray | None:
        """Copy of distances that are remembered; None where some are not."""
        if self._remembered is not None:
            return self._remembered[np.ix_(rows, columns)]
        if self._remembered_members is None:
            return None
        members, matrix = self._remembered_members
        position = np.full(self.shape[0], -1)
        position[members] = np.arange(len(members))
        rows, columns = position[rows], position[columns]
        return None if (rows < 0).any() or (columns < 0).any() else matrix[np.ix_(rows, columns)]

    def _all_pairs(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Distances of rows to columns, many at a time; the same numbers as pair by pair."""
        if len(rows) == len(columns) == 1:
            # Lanes take many times the memory of a series.
            return self._block(rows, columns, upper=False)
        if len(rows) < len(columns):
            return self._many_to_each(self._columns, columns, self._rows, rows)
        return np.ascontiguousarray(self._many_to_each(self._rows, rows, self._columns, columns).T)

    def _many_to_each(self, a: Series, many: np.ndarray, b: Series, others: np.ndarray) -> np.ndarray:
        """Distances of the series ``many`` of a to each of the series ``others`` of b, a row for each of the others."""
        values, order = b.values.reshape(len(b.values), -1), np.argsort(a.lengths[many], kind="stable")
        arrays = kernels.series.SeriesArrays(a.values.reshape(len(a.values), -1), a.starts)
        block, starts, lengths = np.empty((len(others), len(many))), b.starts[others], b.lengths[others]
        kernels.adapting_series.squared_block(arrays, many[order], values, starts, lengths, self._warping, block)
        if self._warping.root:
            np.sqrt(block, out=block)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return block if (order[:-1] <= order[1:]).all() else block[:, back]

    def distances_within(self, column: int, cutoffs: np.ndarray) -> np.ndarray:
        """Distances of all series to one up to cut-offs, by lower bounds and abandoning."""
        if not self._is_training or self._remembered is not None or not self._can_abandon():
            return self.distances_to(column)
        distances = np.empty(self.shape[0])
        self._write_within(column, cutoffs, distances)
        return distances

    def _can_abandon(self) -> bool:
        """Whether cut-offs save time; for series of many lengths, complete distances of many pairs are faster."""
        return self._columns.equal_length

    def _write_within(self, column: int, cutoffs: np.ndarray, distances: np.ndarray) -> tuple[int, int, int]:
        """Write the distances of all training series to one; return the pairs bounded, abandoned and computed."""
        single, doubles, shape, rounding = self._searched_series
        kernel, make_batch = kernels.series_columns.distances_within, kernels.single_precision.make_batch
        batches = make_batch(shape, single.values), make_batch(shape, doubles)
        return kernel(column, single, doubles, cutoffs, shape, rounding, *batches, distances)

    @cached_property
    def _searched_series(self) -> tuple[SingleSeries, np.ndarray, Shape, Rounding]:
        """Training series of equal length in single and in double precision, their shape and their rounding."""
        points, radius = as_points(self._columns.arrays), self._radius()
        shape = kernels.single_precision.Shape(points.shape[1], points.shape[2], radius)
        rounding = rounding_of(largest_value(points), points.shape[1:], root=self._warping.root)
        return single_series(points, radius, rounding.scale), padded(points), shape, rounding

    def _matrix(self, n_jobs: int | None = None) -> np.ndarray:
        """Distances of all training series; the same numbers as from a block."""
        return self.matrix(n_jobs=n_jobs) if self._remembered is None else self._remembered

    def remember_matrix(self, *, n_jobs: int | None = None) -> None:
        """Keep the distances of all training series."""
        if self._is_training:
            self._remembered = self._matrix(n_jobs)
            self._remembered.flags.writeable = False

    def remember_members(self, members: np.ndarray, subset: TrainingSpace) -> None:
        """Keep the distances that the space of some training series remembers."""
        if isinstance(subset, SeriesSpace) and subset._remembered is not None:
            self._remembered_members = members, subset._remembered

    def write_matrix(self, matrix: np.ndarray, *, n_jobs: int | None = None) -> None:
        """Write the distances of all training series, each pair once."""
        if self._remembered is not None:
            matrix[...] = self._remembered
        elif self._is_training:
            self._compute_matrix(matrix, n_jobs)
        else:
            super().write_matrix(matrix, n_jobs=n_jobs)

    def _compute_matrix(self, matrix: np.ndarray, n_jobs: int | None) -> None:
        """Compute the distances of all training series, many at a time."""
        series, n = self._columns, self.shape[1]
        arrays = kernels.series.SeriesArrays(series.values.reshape(len(series.values), -1), series.starts)
        order = np.argsort(series.lengths, kind="stable")

        def write(first: int) -> None:
            rows, others = order[first : first + MATRIX_STRIP], order[first:]
            strip = np.empty((len(others), len(rows)))
            starts, lengths = series.starts[others], series.lengths[others]
            kernels.adapting_series.squared_block(arrays, rows, arrays.values, starts, lengths, self._warping, strip)
            if self._warping.root:
                np.sqrt(strip, out=strip)
            matrix[others[:, None], rows] = strip
            matrix[rows[:, None], others] = strip.T

        in_threads(n_jobs)(delayed(write)(first) for first in range(0, n, MATRIX_STRIP))

    def upper_block(self, rows: slice) -> np.ndarray:
        """Compute the pairs of a row with a later column."""
        return self._block(rows, slice(rows.start, None), upper=True)

    def _block(self, rows: Rows, columns: Rows, *, upper: bool) -> np.ndarray:
        row_indices, column_indices = np.arange(self.shape[0])[rows], np.arange(self.shape[1])[columns]
        return kernels.series.series_block(
            self._rows.arrays, row_indices, self._columns.arrays, column_indices, self._warping, upper
        )

    def compare(self, row: int, column: int) -> PairComparison:
        """Return the best alignment; under "ddtw" each derivative stands at the middle one of its three points."""
        a, b = self._rows[[row]].values, self._columns[[column]].values
        radius = kernels.series.band_radius(len(a), len(b), self._warping.radius, self._warping.fraction)
        pairs, costs = kernels.alignment.align(a, b, radius)
        power = 2 if self._warping.root else 1
        return Alignment(self._distance(row, column), pairs + (self.metric == "ddtw"), costs, power)

    def identical(self) -> np.ndarray:
        """Numbers by the lengths and the points of the prepared series."""
        series = self._columns
        return number_ragged(series.lengths, *series.values.reshape(len(series.values), -1).T)

    @property
    def movable(self) -> MovableSeries | None:
        """The series as points that gradient steps change; None where the metric has no gradient."""
        return MovableSeries(self._columns, self._warping, self._read, self._place, self._matrix)

    def _place(self, series: Series, factors: np.ndarray) -> Self:
        """Space without rows of series that moved; queries are multiplied by the factors of the channels."""
        learned = None if (factors == 1).all() else factors
        return type(self)(self.metric, series[:0], series, self._parameters | {"factors": learned})

    def moving_among(self, objects: Any) -> tuple[MovableObjects, Moved] | None:
        """New series, and the columns with a scale for each channel; None where series cannot move."""
        learned, columns = self._parameters["factors"], self._columns
        factors = np.ones(columns.n_channels) if learned is None else np.maximum(learned, LEAST_FACTOR)
        columns = columns if learned is None else Series(columns.values / factors, columns.starts)
        space = type(self)(self.metric, columns[:0], columns, self._parameters | {"factors": None})
        rows = space._read(objects)
        movable, prototypes = space._like(rows, rows).movable, space.movable
        if movable is None or prototypes is None:
            return None
        return movable, Moved(prototypes.start(np.arange(len(columns))), np.square(factors))

    def _subset(self, members: np.ndarray) -> SeriesSpace:
        """Space of some of the series."""
        series = self._columns[members]
        chosen = self._like(series, series)
        chosen._remembered = self._known_block(members, members)
        return chosen

    def cross(self, queries: Any) -> Self:
        """Space from new series to the columns of this space."""
        return self._like(self._read(queries), self._columns)

    def _read(self, queries: Any) -> Series:
        """Check and prepare new series."""
        series = prepare_series(queries, self.metric, self._parameters)
        if series.n_channels != self._columns.n_channels:
            raise ValueError(
                f"X has series of {series.n_channels} channels, but the series in fit had {self._columns.n_channels}; "
                "pass the same channels"
            )
        if self.metric == "series_euclidean" and series.lengths[0] != self._columns.lengths[0]:
            raise ValueError(
                f"X has series of {series.lengths[0]} points, but the series in fit had {self._columns.lengths[0]}; "
                "metric='series_euclidean' needs the same length"
            )
        factors = self._parameters["factors"]
        return series if factors is None else Series(series.values * factors, series.starts)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the prepared column series and the arguments."""
        values = {name: value for name, value in self._parameters.items() if name != "factors"}
        arrays, factors = {"values": self._columns.values, "starts": self._columns.starts}, self._parameters["factors"]
        return values, arrays if factors is None else arrays | {"factors": factors}

    @classmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, whose columns are the stored series."""
        parameters = _check_parameters(metric, values)
        series = Series(arrays["values"], arrays["starts"])
        check_stored(series, metric)
        parameters["factors"] = _check_factors(arrays["factors"], series.n_channels) if "factors" in arrays else None
        return cls(metric, series[:0], series, parameters)

    def nearest(
        self,
        rows: Rows = slice(None),
        columns: Rows = slice(None),
        *,
        choose: Choice | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row, by lower bounds and abandoning.

        If there are few points, and for rows with ties, all distances are computed.
        """
        row_indices, column_indices = np.arange(self.shape[0])[rows], np.arange(self.shape[1])[columns]
        n_blocks = max(effective_n_jobs(n_jobs), -(-len(row_indices) // QUERIES_AT_ONCE))
        blocks = np.array_split(row_indices, max(1, min(len(row_indices), n_blocks)))
        search = self._nearest_search(column_indices)
        results = in_threads(n_jobs)(delayed(search)(block) for block in blocks)
        positions, distances, are_tied = (np.concatenate(parts) for parts in zip(*results, strict=True))
        if choose is not None and are_tied.any():
            tied_rows = row_indices[are_tied]
            positions[are_tied], _ = super().nearest(tied_rows, columns, choose=choose, n_jobs=n_jobs)
        return positions, distances

    def _nearest_search(self, columns: np.ndarray) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Search for the nearest of the columns to given rows."""
        a, b, kernel = self._rows, self._columns, kernels.series_search
        if len(a.values) * int(b.lengths[columns].sum()) <= FEW_CELLS:
            return lambda rows: self._nearest_of_all(rows, columns)
        if not (len(a) and b.equal_length and (a.lengths == b.lengths[0]).all()):
            return lambda rows: kernel.nearest_ragged(a.arrays, rows, b.arrays, columns, self._warping)
        radius, (rows_of, columns_of) = self._radius(), (as_points(series.arrays) for series in (a, b))
        rounding = rounding_of(largest_value(rows_of, columns_of), columns_of.shape[1:], root=self._warping.root)
        y = single_series(columns_of, radius, rounding.scale)
        shape = kernels.single_precision.Shape(columns_of.shape[1], columns_of.shape[2], radius)

        def search(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            # The envelopes of the rows of a block stay in the cache.
            points = rows_of[rows]
            x = single_series(points, radius, rounding.scale)
            return kernel.nearest_series(x, as_series(points), y, b.arrays, columns, shape, rounding)

        return search

    def _nearest_of_all(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find the nearest of the columns to given rows from all distances; the last array marks rows with ties."""
        block = self.block(rows, columns)
        positions, distances = block.argmin(axis=1), block.min(axis=1)
        return positions, distances, (block == distances[:, None]).sum(axis=1) > 1

    def _radius(self) -> int:
        """Radius of the band where all series are equally long."""
        length = int(self._columns.lengths[0])
        return kernels.series.band_radius(length, length, self._warping.radius, self._warping.fraction)

    def _kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Find exact neighbours by lower bounds and abandoning; the result has counters of both."""
        if self._remembered is not None:
            return self._remembered_neighbors(n_neighbors, limit, n_jobs)
        search = SeriesSearch(self._columns, self._warping, n_neighbors, limit, n_jobs, progress)
        lists = search.bounded(self._radius()) if self._columns.equal_length else search.ragged()
        return self._with_all_ties(lists, n_neighbors, limit, n_jobs)

    def _with_all_ties(self, lists: RawLists, n_neighbors: int, limit: int, n_jobs: int | None) -> RawLists:
        """Search series again, by all distances, if the search could not keep all ties of the last neighbour."""
        rows = np.flatnonzero(~lists.closed & (lists.counts < limit))
        if not len(rows):
            return lists
        lists = lists.with_rows(rows, self.kneighbors_by_block(rows, n_neighbors, limit=limit, n_jobs=n_jobs))
        counters = lists.counters
        if counters is not None:
            counters = replace(counters, computed=counters.computed + len(rows) * (self.shape[0] - 1))
        return replace(lists, counters=counters)

    def _remembered_neighbors(self, n_neighbors: int, limit: int, n_jobs: int | None) -> RawLists:
        """Find exact neighbours from the remembered distances, all of which were computed."""
        lists = self.kneighbors_by_block(np.arange(self.shape[0]), n_neighbors, limit=limit, n_jobs=n_jobs)
        n_pairs = self.shape[0] * (self.shape[0] - 1) // 2
        return replace(lists, counters=SearchCounters(n_pairs, 0, 0, n_pairs))

    @property
    def approximate_search(self) -> ApproximateSearch | None:
        """Approximate search for the neighbours."""
        return self.approximate_kneighbors

    def approximate_bytes(self, n_neighbors: int, *, on_disk: bool) -> int:
        """Peak memory of the approximate search; ``on_disk`` says where its lists are."""
        segments, n_channels = segment_numbers(self._mean_radius()), self._columns.n_channels
        return series_search_bytes(n_neighbors, self.object_bytes, segments, n_channels, self.shape[0], on_disk=on_disk)

    def approximate_kneighbors(
        self, n_neighbors: int, *, storage: Storage, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Find most neighbours, see ``protoset.spaces._approximate_series``."""
        compared = ComparedSeries(self._columns, self._pair_distances(), self._mean_radius())
        return approximate_series_lists(compared, n_neighbors, storage=storage, n_jobs=n_jobs, progress=progress)

    def _pair_distances(self) -> PairDistances:
        """Distances of pairs of training series within cut-offs."""
        kernel, series, warping = kernels.series_pairs, self._columns.arrays, self._warping
        if self._columns.equal_length:
            return partial(kernel.warped_pairs, series, self._radius(), warping.root)
        return partial(kernel.ragged_pairs, series, warping)

    def _mean_radius(self) -> int:
        """Radius of the band of two series of average length."""
        length = int(np.ceil(self._columns.lengths.mean()))
        return kernels.series.band_radius(length, length, *band_of(self._parameters["window"]))


def read_training(X: Any, metric: str, parameters: Mapping[str, Any]) -> Series:
    """Read training series; raise an error where their values are too small."""
    series = prepare_series(X, metric, parameters)
    largest = float(np.abs(series.values).max())
    if 0 < largest < SMALLEST:
        raise ValueError(
            f"X holds no value above {largest:g}, and squared differences of such values vanish; scale X to above "
            f"{SMALLEST:g}"
        )
    return series


def check_window(window: Any) -> int | float | None:
    """Return the radius of the band: None, an int in points or a float as a fraction of the length."""
    if is_number(window) and not is_count(window):
        if not 0 <= window <= 1:
            raise ValueError(
                f"metric_params: window={window!r} as a float is a fraction of the length, between 0 and 1; "
                "pass an int for a radius in points"
            )
        return float(window)
    if window is not None and not (is_count(window) and window >= 0):
        raise ValueError(
            f"metric_params: window={window!r} must be None for no band, an int (radius in points) or a float "
            "(fraction of the length)"
        )
    return None if window is None else min(int(window), WIDEST_BAND)


def band_of(window: int | float | None) -> tuple[int, float]:
    """Return a checked window as a radius and a fraction, as the kernels take them."""
    if window is None:
        return -1, -1.0
    return (-1, window) if isinstance(window, float) else (window, -1.0)


def _check_parameters(metric: str, given: Mapping[str, Any]) -> dict[str, Any]:
    window = check_window(given.get("window"))
    return {
        # Under "series_euclidean" every point is matched with the point at the same time alone.
        "window": 0 if metric == "series_euclidean" else window,
        "squared": check_flag("metric_params: squared", given.get("squared", False)),
        "normalize": check_flag("metric_params: normalize", given.get("normalize", False)),
    }


def _check_factors(factors: np.ndarray, n_channels: int) -> np.ndarray:
    """Check the factors of the channels in a file."""
    are_numbers = factors.dtype == np.float64 and factors.shape == (n_channels,)
    if not (are_numbers and ((factors >= 0) & (factors <= LARGEST)).all()):
        raise ValueError(f"its factors are not a number of at least 0 for each of the {n_channels} channels")
    return factors


_WARPING = ("window", "squared", "normalize")
"""Parameters of dynamic time warping."""

METRICS = (
    Dissimilarity("dtw", SeriesSpace, "series", _WARPING, ragged=True, bounds=True, moves=True),
    Dissimilarity("ddtw", SeriesSpace, "series", _WARPING, ragged=True, bounds=True, moves=True),
    Dissimilarity("series_euclidean", SeriesSpace, "series", ("squared", "normalize"), bounds=True, moves=True),
)
