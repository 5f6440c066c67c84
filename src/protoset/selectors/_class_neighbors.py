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
from protoset.selectors._voting import NearestMembers
from protoset.spaces import TrainingSpace

LEAF = 256
"""Group in which each member's nearest other is found from a block of dissimilarities."""

QUEUE_BYTES = 16 * 2**20
"""Memory of one queue of neighbours."""

LONGEST_QUEUE = 64
"""Neighbours of an object in a queue at most."""


@dataclass(frozen=True, eq=False)
class NeighborQueue:
    """The nearest of a shrinking set of members to each of some objects, and who is next.

    One neighbour each at first. Objects that lose theirs get the next ones, and each time that these run
    out, twice as many: a set that shrinks from its border may lose the nearest of everyone beyond it,
    again and again.

    Attributes
    ----------
    rows : ndarray of int64
        The objects, ascending.
    indices : ndarray of int32, shape (n_rows, length)
        The nearest that were members when the queue was filled, but for the object itself, nearest first;
        -1 where there were no more.
    distances : ndarray of shape (n_rows, length)
        Infinite where there were no more.
    cursors : ndarray of int64
        Where in its queue each object has its nearest member.
    """

    rows: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    cursors: np.ndarray

    @classmethod
    def search(
        cls, space: TrainingSpace, rows: np.ndarray, members: np.ndarray, n_jobs: int | None = None
    ) -> NeighborQueue:
        """Find the nearest of the members."""
        return cls.of_nearest(rows, *nearest_among(space, rows, members, n_jobs))

    @classmethod
    def of_nearest(cls, rows: np.ndarray, indices: np.ndarray, distances: np.ndarray) -> NeighborQueue:
        """Take the nearest of each object."""
        return cls(rows, indices.astype(np.int32)[:, None], distances[:, None], np.zeros(len(rows), np.int64))

    @property
    def nearest(self) -> np.ndarray:
        """The nearest member of each object; -1 where there is none."""
        return self.indices[np.arange(len(self.rows)), self.cursors]

    @property
    def nearest_distances(self) -> np.ndarray:
        """How far the nearest member of each object is; infinitely where there is none."""
        return self.distances[np.arange(len(self.rows)), self.cursors]

    def restrict(self, space: TrainingSpace, rows: np.ndarray, members: np.ndarray) -> NeighborQueue:
        """Queue of some of the objects and some of the members."""
        places = np.searchsorted(self.rows, rows)
        indices, distances, cursors = self.indices[places], self.distances[places], self.cursors[places]
        is_member = np.zeros(space.shape[0], bool)
        is_member[members] = True
        lost = kernels.classes.move_on(indices, cursors, is_member)
        if len(lost):
            longest = max(1, min(LONGEST_QUEUE, QUEUE_BYTES // (12 * len(self.rows))))
            more = ((0, 0), (0, max(0, min(2 * indices.shape[1], longest) - indices.shape[1])))
            indices = np.pad(indices, more, constant_values=-1)
            distances = np.pad(distances, more, constant_values=np.inf)
            nearest = NearestMembers(space, indices.shape[1])
            nearest.add(members, rows[lost])
            indices[lost], distances[lost] = nearest.neighbors[rows[lost]], nearest.distances[rows[lost]]
            cursors[lost] = 0
        return NeighborQueue(rows, indices, distances, cursors)


@dataclass(frozen=True, eq=False)
class ClassNeighbors:
    """The nearest neighbour of each member of a set in each class of the set.

    Attributes
    ----------
    members : ndarray of int64
        The set, ascending.
    codes : ndarray of int
        Class of each training object.
    queues : list of NeighborQueue
        Nearest other members of each class.
    """

    members: np.ndarray
    codes: np.ndarray
    queues: list[NeighborQueue]

    @classmethod
    def search(cls, space: TrainingSpace, codes: np.ndarray, n_jobs: int | None = None) -> ClassNeighbors:
        """Find the neighbours among all training objects."""
        members, classes = np.arange(len(codes)), range(int(codes.max()) + 1)
        queues = [NeighborQueue.search(space, members, np.flatnonzero(codes == code), n_jobs) for code in classes]
        return cls(members, codes, queues)

    @property
    def indices(self) -> np.ndarray:
        """Nearest other member of each class, (n_members, n_classes); -1 where there is none."""
        return np.column_stack([queue.nearest for queue in self.queues])

    @property
    def distances(self) -> np.ndarray:
        """Their distances, (n_members, n_classes); infinite where there is none."""
        return np.column_stack([queue.nearest_distances for queue in self.queues])

    def restrict(self, space: TrainingSpace, members: np.ndarray) -> ClassNeighbors:
        """Neighbours within a subset."""
        of_class = [members[self.codes[members] == code] for code in range(len(self.queues))]
        queues = [queue.restrict(space, members, own) for queue, own in zip(self.queues, of_class, strict=True)]
        return ClassNeighbors(members, self.codes, queues)

    def nearest(self) -> np.ndarray:
        """Nearest other member of each member, whatever its class; -1 where there is none."""
        distances = self.distances
        tied = distances == distances.min(axis=1, keepdims=True)
        indices, last = self.indices, len(self.codes)  # after every index
        nearest = np.where(tied & (indices >= 0), indices, last).min(axis=1)
        return np.where(nearest < last, nearest, -1)

    def in_degrees(self) -> np.ndarray:
        """How many members of each class have each member as their nearest in its class, (n_members, n_classes)."""
        n, n_classes = len(self.members), len(self.queues)
        degrees = np.zeros((n, n_classes), np.int64)
        sources = self.codes[self.members]
        for queue in self.queues:
            nearest = queue.nearest
            is_edge = nearest >= 0
            np.add.at(degrees, (np.searchsorted(self.members, nearest[is_edge]), sources[is_edge]), 1)
        return degrees


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
