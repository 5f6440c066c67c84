"""Each object's nearest neighbour in each class, and how often each object is one.

            nearest in its own class
     object -----------------------> "hit", a within-class edge
            -----------------------> "miss", a between-class edge
            nearest in another class

Marchiori's methods read off this graph which objects lie inside a class and which at its border.
Leave-one-out by index: an object is never its own neighbour, but a duplicate of it may be. Equal
distances are ordered by index.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset import kernels
from protoset.spaces import TrainingSpace

LEAF = 256
"""Group in which each member's nearest other is found from a block of dissimilarities."""


@dataclass(frozen=True, eq=False)
class ClassNeighbors:
    """The nearest neighbour of each member of a set in each class of the set.

    Attributes
    ----------
    members : ndarray of int64
        The set, ascending.
    codes : ndarray of int
        Class of each training object.
    indices : ndarray of int64, shape (n_members, n_classes)
        Nearest other member of each class; -1 where there is none.
    distances : ndarray of shape (n_members, n_classes)
        Infinite where there is none.
    """

    members: np.ndarray
    codes: np.ndarray
    indices: np.ndarray
    distances: np.ndarray

    @classmethod
    def search(cls, space: TrainingSpace, codes: np.ndarray, n_jobs: int | None = None) -> ClassNeighbors:
        """Find the neighbours among all training objects."""
        n, n_classes = len(codes), int(codes.max()) + 1
        nothing = np.full((n, n_classes), -1, np.int64)
        empty = cls(np.arange(n), codes, nothing, np.full((n, n_classes), np.inf))
        return empty.restrict(space, empty.members, n_jobs)

    def restrict(self, space: TrainingSpace, members: np.ndarray, n_jobs: int | None = None) -> ClassNeighbors:
        """Neighbours within a subset; only the members who lost one are searched again."""
        places = np.searchsorted(self.members, members)
        indices, distances = self.indices[places], self.distances[places]
        is_member = np.zeros(len(self.codes), bool)
        is_member[members] = True
        lost = (indices < 0) | ~is_member[indices]
        for code in range(indices.shape[1]):
            of_class, rows = members[self.codes[members] == code], np.flatnonzero(lost[:, code])
            indices[rows, code], distances[rows, code] = nearest_among(space, members[rows], of_class, n_jobs)
        return ClassNeighbors(members, self.codes, indices, distances)

    def nearest(self) -> np.ndarray:
        """Nearest other member of each member, whatever its class; -1 where there is none."""
        tied = self.distances == self.distances.min(axis=1, keepdims=True)
        last = np.iinfo(np.int64).max
        nearest = np.where(tied & (self.indices >= 0), self.indices, last).min(axis=1)
        return np.where(nearest < last, nearest, -1)

    def in_degrees(self) -> np.ndarray:
        """How many members of each class have each member as their nearest in its class, (n_members, n_classes)."""
        n, n_classes = self.indices.shape
        is_edge = self.indices >= 0
        targets = np.searchsorted(self.members, self.indices[is_edge])
        sources = np.broadcast_to(self.codes[self.members, None], (n, n_classes))[is_edge]
        return np.bincount(targets * n_classes + sources, minlength=n * n_classes).reshape(n, n_classes)


def nearest_among(
    space: TrainingSpace, rows: np.ndarray, members: np.ndarray, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest other member of each row.

    Parameters
    ----------
    space : TrainingSpace
    rows, members : ndarray of int
        Ascending; rows may be members themselves.
    n_jobs : int, optional

    Returns
    -------
    indices : ndarray of int64
        The lowest among ties; -1 where there is no other member.
    distances : ndarray of float64
        Infinite where there is no other member.
    """
    indices, distances = np.full(len(rows), -1, np.int64), np.full(len(rows), np.inf)
    if len(rows) and len(members):
        place = np.minimum(np.searchsorted(members, rows), len(members) - 1)
        inside = members[place] == rows
        for part, search in ((~inside, _search), (inside, _search_within)):
            if part.any():
                indices[part], distances[part] = search(space, rows[part], members, n_jobs)
    return indices, distances


def _search(
    space: TrainingSpace, rows: np.ndarray, members: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest member of rows that are not members."""
    positions, distances = space.nearest(rows, members, n_jobs=n_jobs)
    return members[positions], distances


def _search_within(
    space: TrainingSpace, rows: np.ndarray, members: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest other member of rows that are members.

    Halves of a group have no object in common, so that the space's own search, which knows nothing
    of leave-one-out, does most of the work.
    """
    if len(members) <= LEAF:
        positions, distances = kernels.classes.nearest_other(space.block(rows, members), np.searchsorted(members, rows))
        return np.where(positions >= 0, members[positions], -1), distances
    middle = len(members) // 2
    lower, upper = members[:middle], members[middle:]
    cut = int(np.searchsorted(rows, upper[0]))
    found = []
    for part, own, other in ((rows[:cut], lower, upper), (rows[cut:], upper, lower)):
        if len(part):
            indices, distances = _search_within(space, part, own, n_jobs)
            others, other_distances = _search(space, part, other, n_jobs)
            # Strictly nearer, or as near with a lower index: all of one half have lower ones.
            nearer = other_distances < distances if other is upper else other_distances <= distances
            found.append((np.where(nearer, others, indices), np.where(nearer, other_distances, distances)))
    return np.concatenate([i for i, _ in found]), np.concatenate([d for _, d in found])
