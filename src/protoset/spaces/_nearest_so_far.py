"""Neighbours that a search collects pair by pair, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from joblib import delayed

from protoset import kernels
from protoset._blocks import in_threads, n_processors
from protoset.spaces._lists import RawLists, SearchCounters

FEW_PUSHED = 2**20
"""Up to so many neighbours are added in one thread: threads would take longer to start and end."""


class NearestSoFar:
    """The nearest neighbours found so far of each of n objects, with all ties of the last one.

    If there are more ties than ``limit`` allows, the ties with the highest indices are dropped. ``arrays`` is the state
    that the kernels take.
    """

    def __init__(self, n_objects: int, n_neighbors: int, limit: int):
        limit = min(max(limit, n_neighbors), n_objects - 1)
        width = limit + max(64, n_neighbors)
        self.arrays = kernels.nearest.Nearest(
            distances=np.empty((n_objects, width)),
            indices=np.empty((n_objects, width), np.int32),
            counts=np.zeros(n_objects, np.int64),
            triggers=np.full(n_objects, min(2 * n_neighbors, width), np.int64),
            thresholds=np.full(n_objects, np.inf),
            cut_at=np.full(n_objects, np.nan),
            n_neighbors=n_neighbors,
            limit=limit,
        )

    @property
    def thresholds(self) -> np.ndarray:
        """Distance of each object beyond which other objects are dropped; callers may lower it to a proven bound."""
        return self.arrays.thresholds

    def push_strip(self, first: int, block: np.ndarray) -> None:
        """Add the dissimilarities of the rows ``first``, ``first + 1``, ... to the objects from ``first`` on."""
        kernels.nearest.push_strip(first, block, self.arrays)

    def push_all(self, others: Sequence[NearestSoFar], n_jobs: int | None = None) -> None:
        """Add the neighbours that other searches found, in ``n_jobs`` threads."""

        def push(first: int, last: int) -> None:
            for other in others:
                kernels.nearest.push_lists(other.arrays, first, last, self.arrays)

        n_pushed = sum(int(other.arrays.counts.sum()) for other in others)
        n_threads = n_processors(n_jobs) if n_pushed > FEW_PUSHED else 1
        ends = np.linspace(0, len(self.thresholds), n_threads + 1).astype(int).tolist()
        in_threads(n_threads)(delayed(push)(first, last) for first, last in pairwise(ends))

    def settle(self) -> None:
        """Drop all candidates beyond the last neighbour of each object, so that the thresholds are low."""
        kernels.nearest.settle(self.arrays)

    def lists(self, counters: SearchCounters | None = None) -> RawLists:
        """Return the neighbours, by (distance, index)."""
        kernels.nearest.finish(self.arrays)
        distances, indices, counts, _, thresholds, cut_at, *_ = self.arrays
        listed = np.arange(distances.shape[1]) < counts[:, None]
        return RawLists(counts.copy(), indices[listed], distances[listed], ~(cut_at == thresholds), counters)
