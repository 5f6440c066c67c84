"""Exact neighbours under dynamic time warping without computing every pair to the end.

Series of equal length: each series is first compared with its seeds, series with similar means of segments; they give
a threshold on the distance of its last neighbour. Then LB_Keogh in both directions discards pairs. The remaining pairs
are compared with the thresholds of both series in the order of their bounds, many at once; the comparison ends as soon
as all of these exceed the thresholds. All of this is done in single precision, with bounds on the rounding errors (see
``kernels.single_precision``). The distances of the pairs that may be within a threshold are then computed. Tighter
bounds take longer than they save (see docs/benchmarks.md).

Series of unequal lengths are searched with LB_Kim and abandoning alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from protoset import _blocks, kernels
from protoset._progress import ProgressCallback
from protoset.spaces._lists import RawLists, SearchCounters
from protoset.spaces._nearest_so_far import NearestSoFar
from protoset.spaces.series_data import Series

if TYPE_CHECKING:
    from protoset.kernels.series import SeriesArrays, Warping
    from protoset.kernels.series_search import SearchWork, SeedWork
    from protoset.kernels.single_precision import Rounding, SingleSeries

SEGMENTS = 16
"""Segments of a series whose means are compared to find seeds."""

KEPT_NEIGHBORS = 512
"""Smallest number of neighbours that a search has room for, per series: the neighbours to find and ties of the last."""

STRIPES = 64
"""Interleaved subsets of the rows; a worker takes one after the other."""


class SeriesSearch:
    """A neighbour search over stripes of rows: each worker has its own nearest so far, merged at the end.

    If the last neighbour of a series has more ties than ``KEPT_NEIGHBORS``, some of them are missing from its list.
    """

    def __init__(
        self,
        series: Series,
        warping: Warping,
        n_neighbors: int,
        limit: int,
        n_jobs: int | None,
        progress: ProgressCallback | None,
    ):
        self.series, self.n, self.warping = series.arrays, len(series), warping
        self.n_neighbors = min(n_neighbors, self.n - 1)
        self.limit = min(limit, max(2 * self.n_neighbors, KEPT_NEIGHBORS))
        self.n_jobs, self.progress = n_jobs, progress
        self.nearest = NearestSoFar(self.n, self.n_neighbors, self.limit)

    def bounded(self, radius: int) -> RawLists:
        """Search among series of equal length; ``radius`` is the radius of the band, in points."""
        kernel, points = kernels.series_search, as_points(self.series)
        shape = kernels.single_precision.Shape(points.shape[1], points.shape[2], radius)
        rounding = rounding_of(largest_value(points), points.shape[1:], root=self.warping.root)
        single, doubles = single_series(points, radius, rounding.scale), padded(points)
        means, thresholds = weighted_means(points * rounding.scale), self.nearest.thresholds

        n_seeds = kernel.count_seeds(self.n, self.n_neighbors)

        @cache
        def seed_work_of(_: NearestSoFar) -> SeedWork:
            """Work space of a worker; each has its own nearest so far."""
            return kernel.make_seed_work(single.values, n_seeds, shape)

        @cache
        def search_work_of(_: NearestSoFar) -> SearchWork:
            return kernel.make_search_work(single, doubles, shape)

        def search_seeds(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            count, work = self.n_neighbors, seed_work_of(nearest)
            kernel.seed_thresholds(single.values, means, first, step, count, n_seeds, shape, rounding, work, thresholds)
            return 0, 0, 0

        def search_rest(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            work = search_work_of(nearest)
            return kernel.bounded_search(single, doubles, first, step, shape, rounding, work, nearest.arrays)

        # If all series would be seeds, the search itself costs no more.
        if self.n_neighbors > 0 and n_seeds < self.n - 1:
            self._in_stripes(search_seeds, report=False)
        return self.nearest.lists(self._counters(*self._in_stripes(search_rest, report=True)))

    def ragged(self) -> RawLists:
        """Search among series of any lengths."""
        series, warping = self.series, self.warping

        def search(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernels.series_search.ragged_search(series, first, step, warping, nearest.arrays)

        return self.nearest.lists(self._counters(*self._in_stripes(search, report=True)))

    def _in_stripes(
        self, search: Callable[[int, int, NearestSoFar], tuple[int, int, int]], *, report: bool
    ) -> np.ndarray:
        """Run a search over interleaved rows; return the sums of the pairs bounded, abandoned and computed."""
        workers = min(_blocks.n_processors(self.n_jobs), STRIPES)
        others = [self._like_nearest() for _ in range(workers - 1)]
        own = [self.nearest, *others]
        totals, n_done, lock = np.zeros(3, np.int64), 0, Lock()

        def work(worker: int) -> list[tuple[int, int, int]]:
            nonlocal n_done
            counts = []
            for stripe in range(worker, STRIPES, workers):
                counts.append(search(stripe, STRIPES, own[worker]))
                with lock:
                    n_done += 1
                if report and self.progress is not None:
                    pairs = self.n * (self.n - 1) // 2
                    self.progress(pairs * n_done // STRIPES, pairs)
            return counts

        for counts in _blocks.in_threads(workers)(delayed(work)(worker) for worker in range(workers)):
            totals += np.sum(counts, axis=0, dtype=np.int64)
        if others:
            self.nearest.push_all(others, workers)
        return totals

    def _like_nearest(self) -> NearestSoFar:
        """Empty state for a worker, with the thresholds reached so far."""
        nearest = NearestSoFar(self.n, self.n_neighbors, self.limit)
        nearest.thresholds[:] = self.nearest.thresholds
        return nearest

    def _counters(self, bounded: int, abandoned: int, computed: int) -> SearchCounters:
        return SearchCounters(self.n * (self.n - 1) // 2, int(bounded), int(abandoned), int(computed))


def as_points(series: SeriesArrays) -> np.ndarray:
    """Series of equal length as (series, points, channels)."""
    n = len(series.starts) - 1
    return series.values.reshape(n, len(series.values) // max(n, 1), -1)


def as_series(points: np.ndarray) -> SeriesArrays:
    """Series of equal length, given as (series, points, channels), one after the other."""
    n, length, channels = points.shape
    values = points.reshape(n * length, channels)
    starts = length * np.arange(n + 1)
    return kernels.series.SeriesArrays(values[:, 0] if channels == 1 else values, starts)


def largest_value(*series: np.ndarray) -> float:
    """Largest absolute value of all series."""
    return max(float(np.abs(values).max(initial=0.0)) for values in series)


def rounding_of(largest: float, shape: tuple[int, ...], *, root: bool) -> Rounding:
    """Return the largest rounding error of distances in single precision.

    Parameters
    ----------
    largest : float
        Largest absolute value of the series.
    shape : tuple of int
        Number of points and channels of a series.
    root : bool
        Whether distances are square roots.
    """
    unit, terms = kernels.single_precision.UNIT_ROUNDOFF, 2 * int(np.prod(shape))
    absolute, relative = 2.5 * unit * np.sqrt(terms), np.exp(1.01 * unit * (terms + 16))
    return kernels.single_precision.Rounding(1.0 / largest if largest > 0 else 1.0, absolute, relative, root)


def single_series(points: np.ndarray, radius: int, scale: float) -> SingleSeries:
    """Round scaled series to single precision, and find the extremes within the band around each point."""
    values = (points * scale).astype(np.float32)
    width = 2 * min(radius, points.shape[1]) + 1
    upper, lower = (extreme(values, width, axis=1, mode="nearest") for extreme in (maximum_filter1d, minimum_filter1d))
    return kernels.single_precision.SingleSeries(padded(values), padded(upper), padded(lower))


def padded(points: np.ndarray) -> np.ndarray:
    """Series as rows, with zeros at the end of each row up to the size that the kernels need."""
    flat = points.reshape(len(points), points.shape[1] * points.shape[2])
    return np.pad(flat, ((0, 0), (0, -flat.shape[1] % kernels.single_precision.PADDED_SIZE)))


def weighted_means(values: np.ndarray) -> np.ndarray:
    """Means of the segments of each series, a row per series; longer segments count more."""
    firsts = np.unique(np.linspace(0, values.shape[1], SEGMENTS + 1).astype(int)[:-1])
    lengths = np.diff(np.append(firsts, values.shape[1]))
    means = np.add.reduceat(values, firsts, axis=1) / np.sqrt(lengths)[:, None]
    return means.reshape(len(values), -1).astype(np.float32)
