"""A sample of the vectors of a Dask cluster, in this process; the workers search its neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset._cluster import gather, send, submit
from protoset._progress import ProgressCallback
from protoset.spaces._approximate import APPROXIMATE_FROM
from protoset.spaces._lists import RawLists
from protoset.spaces.base import ApproximateSearch
from protoset.spaces.vectors import VectorSpace

SAMPLE_TASK_ROWS = 2_048
"""Number of rows whose neighbours one task searches."""

LEAST_SAMPLE_ROWS = 4_096
"""Smallest number of rows for which the workers search."""


class ClusterSample(VectorSpace):
    """Vectors in this process, whose neighbours the workers search.

    The lists are those of one process, bit by bit. Blocks of distances are computed in this process, because the
    transfer of a block from a worker takes as long. Spaces that are made from this one have no client: they are small.
    """

    def __init__(
        self,
        metric: str,
        rows: np.ndarray,
        columns: np.ndarray,
        learned: np.ndarray | None = None,
        factors: np.ndarray | None = None,
        *,
        client: Any = None,
    ):
        super().__init__(metric, rows, columns, learned, factors)
        self._client = client

    @property
    def approximate_search(self) -> ApproximateSearch | None:
        """Approximate search; None where the workers can compare all pairs."""
        few = self._client is not None and self.shape[0] < APPROXIMATE_FROM
        return None if few else super().approximate_search

    def _kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Exact neighbours: a task for every few rows, against all of them."""
        n = self.shape[0]
        if self._client is None or n < LEAST_SAMPLE_ROWS:
            return super()._kneighbors(n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)
        images = send(self._client, self.images)
        lists = [
            submit(self._client, _search_rows, self.metric, images, rows, n_neighbors, limit)
            for rows in np.split(np.arange(n), range(SAMPLE_TASK_ROWS, n, SAMPLE_TASK_ROWS))
        ]
        return RawLists.concatenate(gather(self._client, lists))


def _search_rows(metric: str, images: np.ndarray, rows: np.ndarray, n_neighbors: int, limit: int) -> RawLists:
    return VectorSpace(metric, images, images).kneighbors_by_block(rows, n_neighbors, limit=limit, n_jobs=1)
