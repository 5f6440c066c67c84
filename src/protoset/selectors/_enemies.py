"""Nearest enemies: the nearest objects of another class."""

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
    """Find the nearest member of another class, in lists where they reach as far.

    Parameters
    ----------
    space : TrainingSpace
    lists : NeighborLists
        Of all training objects.
    codes : ndarray of int
        Class of each object.
    rows, members : ndarray of int
        Members ascending.
    n_jobs : int, optional
        Workers.

    Returns
    -------
    enemies : ndarray of int64
        The nearest enemy of each row; -1 where all members are of its class.
    distances : ndarray of float64
        Infinite where there is no enemy.
    """
    member = np.zeros(len(codes), bool)
    member[members] = True
    enemies, distances = kernels.dropping.first_enemies(
        lists.indptr, lists.indices, lists.distances, rows, codes, member
    )
    unlisted = np.flatnonzero(enemies < 0)
    for code in np.unique(codes[rows[unlisted]]):
        others = members[codes[members] != code]
        if len(others):
            wanted = unlisted[codes[rows[unlisted]] == code]
            positions, distances[wanted] = space.nearest(rows[wanted], others, n_jobs=n_jobs)
            enemies[wanted] = others[positions]
    return enemies, distances
