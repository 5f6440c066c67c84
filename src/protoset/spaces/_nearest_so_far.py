"""Neighbours that a search collects pair by pair, in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset import kernels
from protoset.spaces._lists import RawLists, SearchCounters


class NearestSoFar:
    """The nearest neighbours found so far of each of n objects, with all that tie with the last one.

    Parameters
    ----------
    n_objects : int
    n_neighbors : int
        Neighbours to find of each.
    limit : int
        Neighbours to keep of each at most; ties beyond it are dropped from the highest index.

    Attributes
    ----------
    thresholds : ndarray of shape (n_objects,)
        Distance beyond which another object is of no interest to each. It may be lowered from
        outside to a proven bound on the distance of the last neighbour.
    """

    def __init__(self, n_objects: int, n_neighbors: int, limit: int):
        self.n_neighbors, self.limit = n_neighbors, min(max(limit, n_neighbors), n_objects - 1)
        width = self.limit + max(64, n_neighbors)
        self.distances, self.indices = np.empty((n_objects, width)), np.empty((n_objects, width), np.int32)
        self.counts, self.thresholds = np.zeros(n_objects, np.int64), np.full(n_objects, np.inf)
        self.triggers = np.full(n_objects, min(2 * n_neighbors, width), np.int64)
        self.cut_at = np.full(n_objects, np.nan)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the kernels that push pairs take."""
        sizes = (self.n_neighbors, self.limit)
        return self.distances, self.indices, self.counts, self.triggers, self.thresholds, self.cut_at, sizes

    def push_strip(self, first: int, block: np.ndarray) -> None:
        """Take the dissimilarities of rows ``first``, ``first + 1`` ... to the objects from ``first`` on."""
        kernels.nearest.push_strip(first, block, *self.arrays)

    def push_all(self, other: NearestSoFar) -> None:
        """Take what another search found."""
        kernels.nearest.push_lists(other.distances, other.indices, other.counts, other.cut_at, *self.arrays)

    def settle(self) -> None:
        """Drop all beyond each object's last neighbour, so that the thresholds are as low as is known."""
        kernels.nearest.settle(*self.arrays)

    def lists(self, counters: SearchCounters | None = None) -> RawLists:
        """Return the neighbours, by (distance, index)."""
        kernels.nearest.finish(*self.arrays)
        listed = np.arange(self.distances.shape[1]) < self.counts[:, None]
        closed = ~(self.cut_at == self.thresholds)
        return RawLists(self.counts.copy(), self.indices[listed], self.distances[listed], closed, counters)
