"""Neighbour lists that stay on the workers of a Dask client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from protoset.neighbors.lists import Ties
from protoset.neighbors.search import check_recall, tied_limit
from protoset.spaces import TrainingSpace


@dataclass(frozen=True, eq=False)
class WorkerLists:
    """Neighbour lists in blocks of rows on workers, each block a ``RawLists``.

    ``starts`` holds the first row of each block, and the number of rows. ``recall`` is None for an exact search.
    ``counters`` is None: searches on workers count no pairs.
    """

    client: Any
    blocks: list[Any]
    starts: np.ndarray
    ties: Ties
    recall: float | None
    counters: None = None

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return int(self.starts[-1])


def build_lists_on_workers(
    space: TrainingSpace, n_neighbors: int, *, search: Literal["exact", "approximate"], ties: Ties
) -> WorkerLists:
    """Find the nearest neighbours of each object of a space with workers, and leave the lists there."""
    cluster, n = space.cluster, space.shape[0]
    n_neighbors = min(n_neighbors, n - 1)
    if search == "approximate":
        lists = cluster.approximate_on_workers(n_neighbors)
        check_recall(lists.recall)
    else:
        lists = cluster.kneighbors_on_workers(n_neighbors, limit=tied_limit(n_neighbors, n))
    return WorkerLists(cluster.client, lists.blocks, cluster.starts, ties, lists.recall)
