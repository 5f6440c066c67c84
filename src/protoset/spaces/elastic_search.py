"""Exact neighbours under edit distances of series without computing every pair to the end.

Series of one channel and one length: seeds, series with similar means of segments, give a threshold on the distance of
the last neighbour of each series. Bounds discard pairs; the remaining pairs are compared with the thresholds in single
precision, many at once. The distances of pairs that may be within a threshold are then computed (see
``kernels.elastic_lanes``).

Other series: the seeds are the series with the smallest lower bounds. Pairs that no bound discards are computed in the
order of their bounds. Cells on no path within the thresholds of both series are not computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from protoset import _blocks, kernels
from protoset._arrays import row_numbers, row_pointers
from protoset._progress import ProgressCallback
from protoset.spaces._lists import RawLists
from protoset.spaces._nearest_so_far import NearestSoFar
from protoset.spaces.series_data import Series
from protoset.spaces.series_search import SeriesSearch, largest_value, padded, weighted_means

if TYPE_CHECKING:
    from protoset.kernels.elastic import Edits, EditSeries
    from protoset.kernels.elastic_lanes import EditLanes, EditRanges, EditRounding, EditShape
    from protoset.kernels.elastic_search import EditBounds, Seeds


PAIR_SEEDS_PER_NEIGHBOR = 3
"""Seeds of each series, as a multiple of the neighbours to find."""


class ElasticSearch(SeriesSearch):
    """A neighbour search among series of any lengths."""

    def __init__(
        self,
        series: EditSeries,
        edits: Edits,
        n_neighbors: int,
        limit: int,
        n_jobs: int | None,
        progress: ProgressCallback | None,
    ):
        warping = kernels.series.Warping(edits.radius, edits.fraction, False)
        super().__init__(Series(series.values, series.starts), warping, n_neighbors, limit, n_jobs, progress)
        self.edit_series, self.edits = series, edits

    def lists(self) -> RawLists:
        """Find the neighbours."""
        return self._in_lanes() if fits_lanes(self.edit_series) else self._by_pair()

    def _in_lanes(self) -> RawLists:
        """Search among series of one channel and one length: in single precision first, many pairs at once."""
        kernel, edits = kernels.elastic_lanes, self.edits
        doubles, shape = double_lanes(self.edit_series, edits), edit_shape(self.edit_series, edits)
        points = doubles.values[:, 1 : 1 + shape.points]
        rounding = _rounding_of(points)
        single, ranges = _single_lanes(doubles, rounding.scale), _ranges_of(points, edits, shape, rounding.scale)
        means, thresholds = weighted_means(points[:, :, None] * rounding.scale), self.nearest.thresholds
        n_seeds = kernels.series_search.count_seeds(self.n, self.n_neighbors)

        def search_seeds(first: int, step: int, _: NearestSoFar) -> tuple[int, int, int]:
            count = self.n_neighbors
            kernel.edit_thresholds(single, means, first, step, count, n_seeds, shape, rounding, thresholds)
            return 0, 0, 0

        def search_rest(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernel.edit_search(single, ranges, doubles, first, step, shape, rounding, nearest.arrays)

        if self.n_neighbors > 0:
            self._in_stripes(search_seeds, report=False)
        return self.nearest.lists(self._counters(*self._in_stripes(search_rest, report=True)))

    def _by_pair(self) -> RawLists:
        """Search among series of any lengths and channels, pair by pair."""
        lengths = np.diff(self.edit_series.starts)
        is_equal = bool((lengths == lengths[0]).all())
        self.bounds = bounds_of(self.edit_series, self.edits, lengths.max(), equal=is_equal)
        kernel, series, bounds, edits = kernels.elastic_search, self.edit_series, self.bounds, self.edits
        n_pairs = self.n * (self.n - 1) // 2
        stored = np.empty(n_pairs if n_pairs * 4 <= _blocks.BLOCK_BYTES else 0, np.float32)
        seeds = self._seeds_of(stored)

        def search_seeds(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernel.seed_search(series, bounds, edits, seeds, first, step, nearest.arrays)

        def search_rest(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernel.bounded_search(series, bounds, edits, stored, seeds, first, step, nearest.arrays)

        of_seeds = self._in_stripes(search_seeds, report=False)
        self.nearest.settle()
        of_rest = self._in_stripes(search_rest, report=True)
        return self.nearest.lists(self._counters(*(of_seeds + of_rest)))

    def _seeds_of(self, stored: np.ndarray) -> Seeds:
        """Pairs i < j where one series has one of the smallest bounds of the other."""
        n_seeds = min(PAIR_SEEDS_PER_NEIGHBOR * self.n_neighbors, self.n - 1)
        by_bound = NearestSoFar(self.n, n_seeds, n_seeds)
        kernels.elastic_search.nearest_bounds(self.edit_series, self.bounds, self.edits, stored, by_bound.arrays)
        raw = by_bound.lists()
        i, j = row_numbers(row_pointers(raw.counts)), raw.indices
        pairs = np.unique(np.minimum(i, j).astype(np.int64) * self.n + np.maximum(i, j))
        entries = (np.ones(len(pairs), bool), (pairs // self.n, pairs % self.n))
        matrix = sparse.csr_matrix(entries, shape=(self.n, self.n))
        return kernels.elastic_search.Seeds(matrix.indptr, matrix.indices)


LARGEST_COST = 1e30
"""Largest cost in single precision; no path that matches all points costs as much."""


def fits_lanes(series: EditSeries) -> bool:
    """Whether the series have one channel and one length, so that many pairs can be computed at once."""
    lengths = np.diff(series.starts)
    return series.values.ndim == 1 and len(lengths) > 0 and bool((lengths == lengths[0]).all())


def edit_shape(series: EditSeries, edits: Edits) -> EditShape:
    """Return the size of series of equal length."""
    length = int(series.starts[1])
    return kernels.elastic_lanes.EditShape(length, kernels.elastic.edit_radius(length, length, edits))


def double_lanes(series: EditSeries, edits: Edits) -> EditLanes:
    """Series of one channel and one length as rows, as the kernels for many pairs take them."""
    n = len(series.starts) - 1
    values, skips = (_row_padded(numbers.reshape(n, -1)) for numbers in (series.values, series.skips))
    return kernels.elastic_lanes.EditLanes(values, skips, edits.split, edits.stiffness)


def _row_padded(rows: np.ndarray) -> np.ndarray:
    """Rows with a zero before and zeros up to the size that the kernels need."""
    return padded(np.pad(rows, ((0, 0), (1, 0)))[:, :, None])


def _rounding_of(points: np.ndarray) -> EditRounding:
    """Return the largest rounding error of distances in single precision."""
    unit, steps, largest = kernels.single_precision.UNIT_ROUNDOFF, 2 * points.shape[1], largest_value(points)
    absolute, relative = 5 * unit * steps, float(np.exp(1.01 * unit * (4 * steps + 16)))
    return kernels.elastic_lanes.EditRounding(1.0 / largest if largest > 0 else 1.0, absolute, relative)


def _single_lanes(doubles: EditLanes, scale: float) -> EditLanes:
    """Round scaled series and costs to single precision."""
    with np.errstate(over="ignore"):
        skips = np.minimum(doubles.skips * scale, LARGEST_COST).astype(np.float32)
    values = (doubles.values * scale).astype(np.float32)
    split, stiffness = (_single_cost(cost, scale) for cost in (doubles.split, doubles.stiffness))
    return kernels.elastic_lanes.EditLanes(values, skips, split, stiffness)


def _single_cost(cost: float | None, scale: float) -> Any:
    """A scaled cost of the metric in single precision."""
    return None if cost is None else np.float32(min(cost * scale, LARGEST_COST))


def _ranges_of(points: np.ndarray, edits: Edits, shape: EditShape, scale: float) -> EditRanges:
    """Return the ranges of scaled series that their bounds need."""
    values, width = (points * scale).astype(np.float32), 2 * min(shape.radius, shape.points) + 1
    upper, lower = (
        _row_padded(extreme(values, width, axis=1, mode="nearest")) for extreme in (maximum_filter1d, minimum_filter1d)
    )
    # Under ERP the first value is the gap value.
    sums = ((points - points[:, :1]) * scale).sum(axis=1) if edits.padding else np.empty(0)
    return kernels.elastic_lanes.EditRanges(upper, lower, sums)


def bounds_of(series: EditSeries, edits: Edits, longest: int, *, equal: bool) -> EditBounds:
    """Return the values of each series that bounds need.

    Parameters
    ----------
    series : EditSeries
        The series.
    edits : Edits
        The metric.
    longest : int
        Number of points of the longest series that they are compared with.
    equal : bool
        Whether these and the other series are all equally long; else the ranges are those of whole series, as the
        radius of the band depends on both lengths.
    """
    values, starts = series.values.reshape(len(series.values), -1), series.starts
    n, channels = len(starts) - 1, values.shape[1]
    if equal and n:
        radius = kernels.elastic.edit_radius(longest, longest, edits)
        width, points = 2 * min(radius, longest) + 1, values.reshape(n, longest, channels)
        upper = maximum_filter1d(points, width, axis=1, mode="nearest")
        lower = minimum_filter1d(points, width, axis=1, mode="nearest")
    else:
        upper, lower = (
            np.repeat(extreme.reduceat(values, starts[:-1], axis=0)[:, None], longest, axis=1)
            if n
            else np.empty((0, longest, channels))
            for extreme in (np.maximum, np.minimum)
        )
    if series.values.ndim == 1:
        upper, lower = upper[:, :, 0], lower[:, :, 0]
    sizes, sums, least = np.empty(0), np.empty((0, channels)), 0.0
    if edits.padding and n:
        # The gap value before a series is at the distance 0 from itself.
        skips = series.skips.copy()
        skips[starts[:-1]] = 0.0
        sizes = np.add.reduceat(skips, starts[:-1])
        sums = np.add.reduceat(values - values[0], starts[:-1], axis=0)
    elif not edits.padding:
        finite = series.skips[np.isfinite(series.skips)]
        least = float(finite.min(initial=np.inf)) if len(finite) else 0.0
    return kernels.elastic_search.EditBounds(
        np.ascontiguousarray(upper), np.ascontiguousarray(lower), sizes, sums, least
    )
