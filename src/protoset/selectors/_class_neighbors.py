"""The nearest neighbour of each object in each class, and the in-degrees of this graph.

            nearest in its own class
     object -----------------------> "hit", a within-class edge
            -----------------------> "miss", a between-class edge
            nearest in another class

Marchiori's methods (CCIS, HMN-EI) use this graph to tell objects inside a class from objects at its
border. Leave-one-out is by index: an object is never its own neighbour, but a duplicate of it may be.
Equal distances are ordered by index.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset import kernels
from protoset.selectors._voting import NearestMembers
from protoset.spaces import TrainingSpace

LEAF_MEMBERS = 256
"""Largest group that is searched by one block of dissimilarities; larger groups are halved."""

QUEUE_BYTES = 16 * 2**20
"""Largest memory of one queue of neighbours."""

LONGEST_QUEUE = 64
"""Largest number of neighbours of an object in a queue."""


@dataclass(frozen=True, eq=False)
class NeighborQueue:
    """The nearest members of some objects, in a set of members that shrinks.

    At first each object has one neighbour. An object that has lost all its neighbours gets the next ones, each time
    twice as many: where a set shrinks from its border, many objects lose their nearest member again and again.

    Attributes
    ----------
    rows : ndarray of int64
        The objects, ascending.
    indices : ndarray of int32, shape (n_rows, length)
        Nearest members when the queue was filled, nearest first, without the object itself; -1 after the last.
    distances : ndarray of shape (n_rows, length)
        Distances of these members; infinite after the last.
    cursors : ndarray of int64
        Position of the nearest remaining member in the queue of each object.
    """

    rows: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    cursors: np.ndarray

    @classmethod
    def search(
        cls, space: TrainingSpace, rows: np.ndarray, members: np.ndarray, n_jobs: int | None = None
    ) -> NeighborQueue:
        """Search the nearest member of each row."""
        return cls.of_nearest(rows, *nearest_among(space, rows, members, n_jobs))

    @classmethod
    def of_nearest(cls, rows: np.ndarray, indices: np.ndarray, distances: np.ndarray) -> NeighborQueue:
        """Make queues of one neighbour each, which is already known."""
        return cls(rows, indices.astype(np.int32)[:, None], distances[:, None], np.zeros(len(rows), np.int64))

    @property
    def nearest(self) -> np.ndarray:
        """Nearest member of each object; -1 if there is none."""
        return self.indices[np.arange(len(self.rows)), self.cursors]

    @property
    def nearest_distances(self) -> np.ndarray:
        """Distance of the nearest member of each object; infinite if there is none."""
        return self.distances[np.arange(len(self.rows)), self.cursors]

    def restrict(self, space: TrainingSpace, rows: np.ndarray, members: np.ndarray) -> NeighborQueue:
        """Return the queues of a subset of the objects, in a subset of the members."""
        positions = np.searchsorted(self.rows, rows)
        indices, distances, cursors = self.indices[positions], self.distances[positions], self.cursors[positions]
        is_member = np.zeros(space.shape[0], bool)
        is_member[members] = True
        lost = kernels.classes.move_on(indices, cursors, is_member)
        if len(lost):
            longest = max(1, min(LONGEST_QUEUE, QUEUE_BYTES // (12 * len(self.rows))))
            padding = ((0, 0), (0, max(0, min(2 * indices.shape[1], longest) - indices.shape[1])))
            indices = np.pad(indices, padding, constant_values=-1)
            distances = np.pad(distances, padding, constant_values=np.inf)
            nearest = NearestMembers(space, indices.shape[1])
            nearest.add(members, rows[lost])
            indices[lost], distances[lost] = nearest.neighbors[rows[lost]], nearest.distances[rows[lost]]
            cursors[lost] = 0
        return NeighborQueue(rows, indices, distances, cursors)


@dataclass(frozen=True, eq=False)
class ClassNeighbors:
    """The nearest neighbour of each member of a set (ascending) in each class of the set; one queue per class."""

    members: np.ndarray
    codes: np.ndarray
    queues: list[NeighborQueue]

    @classmethod
    def search(cls, space: TrainingSpace, codes: np.ndarray, n_jobs: int | None = None) -> ClassNeighbors:
        """Search the neighbours among all training objects."""
        members, classes = np.arange(len(codes)), range(int(codes.max()) + 1)
        queues = [NeighborQueue.search(space, members, np.flatnonzero(codes == code), n_jobs) for code in classes]
        return cls(members, codes, queues)

    @property
    def indices(self) -> np.ndarray:
        """Nearest neighbour in each class, (n_members, n_classes); -1 if there is none."""
        return np.column_stack([queue.nearest for queue in self.queues])

    @property
    def distances(self) -> np.ndarray:
        """Distances of the nearest neighbours, (n_members, n_classes); infinite if there is none."""
        return np.column_stack([queue.nearest_distances for queue in self.queues])

    def restrict(self, space: TrainingSpace, members: np.ndarray) -> ClassNeighbors:
        """Return the neighbours within a subset of the members."""
        by_class = [members[self.codes[members] == code] for code in range(len(self.queues))]
        queues = [queue.restrict(space, members, own) for queue, own in zip(self.queues, by_class, strict=True)]
        return ClassNeighbors(members, self.codes, queues)

    def nearest(self) -> np.ndarray:
        """Nearest neighbour of each member in any class; -1 if there is none."""
        distances = self.distances
        tied = distances == distances.min(axis=1, keepdims=True)
        indices, last = self.indices, len(self.codes)  # after every index
        nearest = np.where(tied & (indices >= 0), indices, last).min(axis=1)
        return np.where(nearest < last, nearest, -1)

    def in_degrees(self) -> np.ndarray:
        """In-degrees of the members, by the class that the edges come from, (n_members, n_classes)."""
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
    """Find the nearest member of each row, other than the row itself.

    Rows and members are ascending; a row may be a member. Among equally near members, the lowest index is taken. If
    there is no other member, the index is -1 and the distance infinite.
    """
    indices, distances = np.full(len(rows), -1, np.int64), np.full(len(rows), np.inf)
    if len(rows) and len(members):
        positions = np.minimum(np.searchsorted(members, rows), len(members) - 1)
        is_member = members[positions] == rows
        for mask, search in ((~is_member, _search_outside), (is_member, _search_within)):
            if mask.any():
                indices[mask], distances[mask] = search(space, rows[mask], members, n_jobs)
    return indices, distances


def _search_outside(
    space: TrainingSpace, rows: np.ndarray, members: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest member of rows that are not members."""
    positions, distances = space.nearest(rows, members, n_jobs=n_jobs)
    return members[positions], distances


def _search_within(
    space: TrainingSpace, rows: np.ndarray, members: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest other member of rows that are members.

    The search of the space cannot leave out the row itself. So the members are divided into two halves. The neighbours
    of each half are searched in the other half; inside each half, the same is repeated.
    """
    if len(members) <= LEAF_MEMBERS:
        positions, distances = kernels.classes.nearest_other(space.block(rows, members), np.searchsorted(members, rows))
        return np.where(positions >= 0, members[positions], -1), distances
    middle = len(members) // 2
    lower, upper = members[:middle], members[middle:]
    cut = int(np.searchsorted(rows, upper[0]))
    halves = []
    for half, own, other in ((rows[:cut], lower, upper), (rows[cut:], upper, lower)):
        if len(half):
            indices, distances = _search_within(space, half, own, n_jobs)
            other_indices, other_distances = _search_outside(space, half, other, n_jobs)
            # Among equal distances the lowest index wins; the lower half has the lower indices.
            nearer = other_distances < distances if other is upper else other_distances <= distances
            halves.append((np.where(nearer, other_indices, indices), np.where(nearer, other_distances, distances)))
    return np.concatenate([i for i, _ in halves]), np.concatenate([d for _, d in halves])
