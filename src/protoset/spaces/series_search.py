"""Exact neighbours under dynamic time warping without computing every pair to the end.

Bounds from below (LB_Kim; LB_Keogh both ways; LB_Improved) are cheap. Each series is first compared
with those of the smallest bounds, which tells how far it has to look. Then the bounds pass over most
pairs, and what is left is computed in the order of its bound and broken off as soon as it is too far
for both series. Among series of unequal lengths there is LB_Kim and the breaking off.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse

from protoset import _blocks, kernels
from protoset._arrays import row_numbers, row_pointers
from protoset._progress import ProgressCallback
from protoset.spaces._lists import RawLists, SearchCounters
from protoset.spaces._nearest_so_far import NearestSoFar
from protoset.spaces.series_data import Series

SEEDS = 3
"""Series that each is compared with first, as a multiple of the neighbours it needs."""


def search_series(
    series: Series,
    band: tuple[int, float],
    radius: int | None,
    root: bool,
    n_neighbors: int,
    *,
    limit: int,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> RawLists:
    """Find each series' nearest others.

    Parameters
    ----------
    series : Series
        The prepared series.
    band : (int, float)
        Radius of the band in points and as a fraction of the length, as the kernels take it.
    radius : int or None
        Radius in points where all series are equally long.
    root : bool
        Whether distances are square roots.
    n_neighbors, limit, n_jobs, progress
        As in ``Space.kneighbors``.

    Returns
    -------
    RawLists
        With the counters of the search.
    """
    search = _Search(series, band, root, n_neighbors, limit, n_jobs, progress)
    return search.ragged() if radius is None else search.bounded(radius)


class _Search:
    """One neighbour search: stripes of rows, each with its own nearest so far, merged at the end."""

    STRIPES = 64

    def __init__(
        self,
        series: Series,
        band: tuple[int, float],
        root: bool,
        n_neighbors: int,
        limit: int,
        n_jobs: int | None,
        progress: ProgressCallback | None,
    ):
        self.series, self.n = series, len(series)
        self.band, self.root = band, root
        self.n_neighbors, self.limit = min(n_neighbors, self.n - 1), limit
        self.n_jobs, self.progress = n_jobs, progress
        self.nearest = NearestSoFar(self.n, self.n_neighbors, limit)

    def bounded(self, radius: int) -> RawLists:
        """Search among equally long series."""
        kernel, series = kernels.series_search, self.series
        upper, lower = kernel.envelopes(series.values, series.starts, radius)
        n_pairs = self.n * (self.n - 1) // 2
        stored = np.empty(n_pairs if n_pairs * 4 <= _blocks.BLOCK_BYTES else 0, np.float32)
        seeds = self._seeds(upper, lower, stored)

        def seed(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernel.seed_search(
                series.values, series.starts, seeds.indptr, seeds.indices, first, step, *self.band, self.root,
                *nearest.arrays,
            )  # fmt: skip

        def rest(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernel.bounded_search(
                series.values, series.starts, upper, lower, stored, seeds.indptr, seeds.indices, first, step,
                radius, self.root, *nearest.arrays,
            )  # fmt: skip

        first = self._in_stripes(seed, report=False)
        self.nearest.settle()
        second = self._in_stripes(rest, report=True)
        return self.nearest.lists(self._counters(*(first + second)))

    def ragged(self) -> RawLists:
        """Search among series of any lengths."""
        series = self.series

        def search(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernels.series_search.ragged_search(
                series.values, series.starts, first, step, *self.band, self.root, *nearest.arrays
            )

        return self.nearest.lists(self._counters(*self._in_stripes(search, report=True)))

    def _seeds(self, upper: np.ndarray, lower: np.ndarray, stored: np.ndarray) -> sparse.csr_matrix:
        """Pairs i < j of which one is among those with the smallest bounds of the other."""
        values, starts = self.series.values, self.series.starts
        n_seeds = min(SEEDS * self.n_neighbors, self.n - 1)
        by_bound = NearestSoFar(self.n, n_seeds, n_seeds)
        kernels.series_search.nearest_bounds(values, starts, upper, lower, 0, 1, stored, *by_bound.arrays)
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

        for found in Parallel(n_jobs=workers, require="sharedmem")(delayed(work)(worker) for worker in range(workers)):
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
