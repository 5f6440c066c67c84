"""Exact neighbours under edit distances of series without computing every pair to the end.

Each series is first compared with its seeds, the series of the smallest lower bounds; they give a threshold on the
distance of its last neighbour. Then the bounds discard pairs. The remaining pairs are computed in the order of their
bounds; cells that are on no path within the thresholds of both series are not computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from protoset import _blocks, kernels
from protoset._arrays import row_numbers, row_pointers
from protoset._progress import ProgressCallback
from protoset.spaces._lists import RawLists
from protoset.spaces._nearest_so_far import NearestSoFar
from protoset.spaces.series_data import Series
from protoset.spaces.series_search import SeriesSearch

if TYPE_CHECKING:
    from protoset.kernels.elastic import Edits, EditSeries
    from protoset.kernels.elastic_search import EditBounds, Seeds


SEEDS_PER_NEIGHBOR = 3
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
        lengths = np.diff(series.starts)
        self.edit_series, self.edits = series, edits
        self.bounds = bounds_of(series, edits, lengths.max(), equal=bool((lengths == lengths[0]).all()))

    def lists(self) -> RawLists:
        """Find the neighbours."""
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
        n_seeds = min(SEEDS_PER_NEIGHBOR * self.n_neighbors, self.n - 1)
        by_bound = NearestSoFar(self.n, n_seeds, n_seeds)
        kernels.elastic_search.nearest_bounds(self.edit_series, self.bounds, self.edits, stored, by_bound.arrays)
        raw = by_bound.lists()
        i, j = row_numbers(row_pointers(raw.counts)), raw.indices
        pairs = np.unique(np.minimum(i, j).astype(np.int64) * self.n + np.maximum(i, j))
        entries = (np.ones(len(pairs), bool), (pairs // self.n, pairs % self.n))
        matrix = sparse.csr_matrix(entries, shape=(self.n, self.n))
        return kernels.elastic_search.Seeds(matrix.indptr, matrix.indices)


def bounds_of(series: EditSeries, edits: Edits, longest: int, *, equal: bool) -> EditBounds:
    """Return what bounds need to know of each series.

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
