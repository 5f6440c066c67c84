"""Exact neighbours under dynamic time warping without computing every pair to the end.

Each series is first compared with its seeds, series with similar means of segments; they give a threshold on the
distance of its last neighbour. Then cheap lower bounds discard most pairs: LB_Kim, LB_Keogh in both directions,
LB_Improved. The remaining pairs are computed in the order of their bounds, many at once, and abandoned as soon as all
of these exceed the thresholds of both series. Series of unequal lengths are searched with LB_Kim and abandoning alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from protoset import _blocks, kernels
from protoset._progress import ProgressCallback
from protoset.spaces._lists import RawLists, SearchCounters
from protoset.spaces._nearest_so_far import NearestSoFar
from protoset.spaces.series_data import Series

if TYPE_CHECKING:
    from protoset.kernels.series import Warping
    from protoset.kernels.series_search import Seeds

SEEDS_PER_NEIGHBOR = 3
"""Seeds of each series, as a multiple of the neighbours to find."""

SEGMENTS = 16
"""Segments of a series whose means are compared to find seeds."""

STRIPES = 64
"""Interleaved subsets of the rows; a worker takes one after the other."""


class SeriesSearch:
    """A neighbour search over stripes of rows: each worker has its own nearest so far, merged at the end."""

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
        self.n_neighbors, self.limit = min(n_neighbors, self.n - 1), limit
        self.n_jobs, self.progress = n_jobs, progress
        self.nearest = NearestSoFar(self.n, self.n_neighbors, limit)

    def bounded(self, radius: int) -> RawLists:
        """Search among series of equal length; ``radius`` is that of the band, in points."""
        kernel, series, root = kernels.series_search, self.series, self.warping.root
        flat, envelopes = series.values.reshape(len(series.values), -1), kernel.envelopes(*series, radius)
        seeds = self._seeds(flat)

        def search_seeds(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernel.seed_search(flat, series.starts, seeds, first, step, radius, root, nearest.arrays)

        def search_rest(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernel.bounded_search(series, flat, envelopes, seeds, first, step, radius, root, nearest.arrays)

        of_seeds = self._in_stripes(search_seeds, report=False)
        self.nearest.settle()
        of_rest = self._in_stripes(search_rest, report=True)
        return self.nearest.lists(self._counters(*(of_seeds + of_rest)))

    def ragged(self) -> RawLists:
        """Search among series of any lengths."""
        series, warping = self.series, self.warping

        def search(first: int, step: int, nearest: NearestSoFar) -> tuple[int, int, int]:
            return kernels.series_search.ragged_search(series, first, step, warping, nearest.arrays)

        return self.nearest.lists(self._counters(*self._in_stripes(search, report=True)))

    def _seeds(self, flat: np.ndarray) -> Seeds:
        """Pairs i < j where one series is near the other by the means of their segments."""
        n_seeds = min(SEEDS_PER_NEIGHBOR * self.n_neighbors, self.n - 1)
        bounds = np.linspace(0, len(flat) // self.n, SEGMENTS + 1).astype(int)[:-1]
        firsts = (np.arange(self.n)[:, None] * (len(flat) // self.n) + np.unique(bounds)).ravel()
        lengths = np.diff(np.append(firsts, len(flat)))
        means = (np.add.reduceat(flat, firsts, axis=0) / lengths[:, None]).reshape(self.n, -1)
        search = NearestNeighbors(n_neighbors=n_seeds, algorithm="brute").fit(means)
        i, j = np.repeat(np.arange(self.n), n_seeds), search.kneighbors(return_distance=False).ravel()
        pairs = np.unique(np.minimum(i, j) * self.n + np.maximum(i, j))
        matrix = sparse.csr_matrix((np.ones(len(pairs), bool), (pairs // self.n, pairs % self.n)), (self.n, self.n))
        return kernels.series_search.Seeds(matrix.indptr, matrix.indices)

    def _in_stripes(
        self, search: Callable[[int, int, NearestSoFar], tuple[int, int, int]], *, report: bool
    ) -> np.ndarray:
        """Run a search over interleaved rows; return the sums of the pairs bounded, abandoned and computed."""
        workers = min(_blocks.n_processors(self.n_jobs), STRIPES)
        own = [self.nearest] if workers == 1 else [self._like_nearest() for _ in range(workers)]
        totals, n_done = np.zeros(3, np.int64), 0

        def work(worker: int) -> list[tuple[int, int, int]]:
            nonlocal n_done
            counts = []
            for stripe in range(worker, STRIPES, workers):
                counts.append(search(stripe, STRIPES, own[worker]))
                n_done += 1
                if report and self.progress is not None:
                    pairs = self.n * (self.n - 1) // 2
                    self.progress(pairs * n_done // STRIPES, pairs)
            return counts

        for counts in _blocks.in_threads(workers)(delayed(work)(worker) for worker in range(workers)):
            totals += np.sum(counts, axis=0, dtype=np.int64)
        for nearest in own:
            if nearest is not self.nearest:
                self.nearest.push_all(nearest)
        return totals

    def _like_nearest(self) -> NearestSoFar:
        """Empty state for a worker, with the thresholds reached so far."""
        nearest = NearestSoFar(self.n, self.n_neighbors, self.limit)
        nearest.thresholds[:] = self.nearest.thresholds
        return nearest

    def _counters(self, bounded: int, abandoned: int, computed: int) -> SearchCounters:
        return SearchCounters(self.n * (self.n - 1) // 2, int(bounded), int(abandoned), int(computed))
