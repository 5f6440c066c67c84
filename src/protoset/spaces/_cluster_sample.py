"""Some of the vectors of a Dask cluster, here, with the workers at hand for what takes long."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset._cluster import gather, send, submit
from protoset._progress import ProgressCallback
from protoset.spaces._approximate import APPROXIMATE_FROM
from protoset.spaces._lists import RawLists
from protoset.spaces.vectors import VectorSpace

TASK_ROWS, LEAST_ROWS = 2_048, 4_096
"""Rows whose neighbours one task searches, and rows from which on the workers do it."""


class ClusterSample(VectorSpace):
    """Vectors that are here; the workers search their neighbours.

    The lists are those of one process, bit by bit. Blocks of distances are computed here: to bring one from a worker
    takes as long.

    Parameters
    ----------
    metric : str
    rows, columns : ndarray
        The images of the vectors.
    learned : ndarray or None
        As for ``VectorSpace``.
    client : distributed.Client or None
        None in the spaces that are made from this one: they are small.
    """

    def __init__(
        self,
        metric: str,
        rows: np.ndarray,
        columns: np.ndarray,
        learned: np.ndarray | None = None,
        *,
        client: Any = None,
    ):
        super().__init__(metric, rows, columns, learned)
        self._client = client

    @property
    def approximable(self) -> bool:
        """Whether they are too many for the workers to compare each with each."""
        return super().approximable and (self._client is None or self.shape[0] >= APPROXIMATE_FROM)

    def kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Exact neighbours: a task for every few rows, against all of them."""
        n = self.shape[0]
        if self._client is None or n < LEAST_ROWS:
            return super().kneighbors(n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)
        everyone = send(self._client, self.images)
        found = [
            submit(self._client, _search_rows, self.metric, everyone, rows, n_neighbors, limit)
            for rows in np.split(np.arange(n), range(TASK_ROWS, n, TASK_ROWS))
        ]
        return RawLists.concatenate(gather(self._client, found))


def _search_rows(metric: str, images: np.ndarray, rows: np.ndarray, n_neighbors: int, limit: int) -> RawLists:
    return VectorSpace(metric, images, images).kneighbors_by_block(rows, n_neighbors, limit=limit, n_jobs=1)
