"""Nearest enemies. An enemy of an object is an object of another class."""

from __future__ import annotations

import numpy as np

from protoset import kernels
from protoset.neighbors import NeighborLists
from protoset.spaces import TrainingSpace


def nearest_enemies(
    space: TrainingSpace,
    lists: NeighborLists,
    codes: np.ndarray,
    rows: np.ndarray,
    members: np.ndarray,
    *,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest member of another class, in the lists where possible, else by a search; members ascending.

    Returns the nearest enemy of each row and its distance; -1 and infinite if there is none.
    """
    is_member = np.zeros(len(codes), bool)
    is_member[members] = True
    enemies, distances = kernels.dropping.first_enemies(
        lists.indptr, lists.indices, lists.distances, rows, codes, is_member
    )
    unlisted = np.flatnonzero(enemies < 0)
    for code in np.unique(codes[rows[unlisted]]):
        candidates = members[codes[members] != code]
        if len(candidates):
            of_class = unlisted[codes[rows[unlisted]] == code]
            positions, distances[of_class] = space.nearest(rows[of_class], candidates, n_jobs=n_jobs)
            enemies[of_class] = candidates[positions]
    return enemies, distances
