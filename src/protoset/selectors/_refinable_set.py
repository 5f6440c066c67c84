"""A set of prototypes while it is refined: what it costs, what a candidate would change, and moves.

Distances are kept as a matrix as long as it fits ``MATRIX_BYTES``, and everyone sees every candidate.
Beyond, objects see the candidates in their neighbour lists, and distances are computed when they are needed.
"""

from __future__ import annotations

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset.spaces import TrainingSpace

MATRIX_BYTES = 256 * 2**20
"""Memory for the matrix of all distances: up to 5,792 objects. Beyond, distances are computed when they are needed."""

COLUMNS = 64
"""Columns of the matrix that are computed at a time: few enough to be turned round in the processor's cache."""

LIST_ENTRIES = 2**24
"""Neighbours in all lists together, where the matrix is too large (about 400 MB while they are turned round)."""

NEGLIGIBLE = 1e-9
"""Change of the objective, a sum over objects of at most 1 each, that rounding may make."""

MANY_OBJECTS = 2048
"""Beyond so many objects there are fewer starts and steps, and moves must save more."""

TOLERANCE, TOLERANCE_OF_MANY = 1e-4, 5e-4
"""Part of the objective that a move must save."""


class Sight:
    """Distances, and who sees which candidate.

    Attributes
    ----------
    columns : ndarray of shape (n_objects, n_objects)
        Everyone's distances to each candidate; empty where they do not fit ``MATRIX_BYTES``.
    indptr, rows, column : ndarray
        The objects that see each candidate, and their distances to it; ``rows`` are all objects where ``columns``
        are there.
    """

    def __init__(self, space: TrainingSpace, *, n_neighbors: int, n_jobs: int | None):
        n = space.shape[0]
        self._space = space
        self.columns, self.indptr, self.column = np.empty((0, 0)), np.zeros(1, np.int64), np.empty(0)
        self.rows = np.arange(n, dtype=np.int32)
        if n * n * 8 <= MATRIX_BYTES:
            self.columns = np.empty((n, n))
            for start in range(0, n, COLUMNS):
                part = slice(start, min(start + COLUMNS, n))
                self.columns[part] = space.block(slice(None), part).T
            return
        length = min(n - 1, n_neighbors, LIST_ENTRIES // n)
        raw = space.kneighbors(length, limit=length, n_jobs=n_jobs)
        self.indptr, self.rows, places = kernels.lists.listed_by(raw.indices.reshape(n, length))
        self.column = raw.distances.reshape(n, length)[self.rows, places]

    def distances_to(self, candidate: int) -> np.ndarray:
        """Everyone's distances to a candidate."""
        if len(self.columns):
            return self.columns[candidate]
        return self._space.block(slice(None), np.array([candidate]))[:, 0]

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Dissimilarities of objects to others."""
        if len(self.columns):
            return self.columns[columns[:, None], rows].T
        return self._space.block(rows, columns)


class RefinableSet:
    """A set of prototypes, everyone's two nearest of them on either side, and the objective.

    Attributes
    ----------
    members : ndarray of int64, shape (budget,)
        The prototypes by place; -1 for a free place.
    objective : float
    least : float
        What a move must save.
    """

    def __init__(self, sight: Sight, codes: np.ndarray, start: np.ndarray, budget: int, steepness: float):
        n = len(codes)
        self._sight, self._codes, self._everyone = sight, codes, np.arange(n)
        self.members = np.full(budget, -1, np.int64)
        self.members[: len(start)] = start
        self._is_member = np.zeros(n, bool)
        self._is_member[start] = True
        self._class_counts = np.bincount(codes[start], minlength=int(codes.max()) + 1)
        self._near, self._distances = np.full((n, 4), -1, np.int32), np.full((n, 4), np.inf)
        self._losing, self._reach, self._rises = np.zeros((n, 3)), np.zeros((n, 2)), np.zeros(budget)
        self._changes = np.empty(budget)
        self._find_two_nearest(self._everyone)
        self.set_steepness(steepness)

    @property
    def n_objects(self) -> int:
        """Number of training objects."""
        return len(self._codes)

    @property
    def size(self) -> int:
        """Number of prototypes."""
        return int(self._class_counts.sum())

    @property
    def indices(self) -> np.ndarray:
        """The prototypes, ascending."""
        return np.flatnonzero(self._is_member)

    @property
    def accuracy(self) -> float:
        """Share of the objects that are nearer to a prototype of their class, leave-one-out."""
        return float(np.mean(self._distances[:, 0] < self._distances[:, 2]))

    def set_steepness(self, steepness: float) -> None:
        """Judge by another steepness from now on."""
        self._steepness = steepness
        kernels.refining.losses(self._everyone, self._distances, steepness, self._losing, self._reach)
        kernels.refining.leaving_rises(self._near, self._losing, self._rises)
        self.objective = float(self._losing[:, 0].sum())
        tolerance = TOLERANCE if self.n_objects <= MANY_OBJECTS else TOLERANCE_OF_MANY
        self.least = max(NEGLIGIBLE, tolerance * self.objective)

    def next_move(self, order: np.ndarray, start: int) -> tuple[int, int]:
        """First candidate from number ``start`` on that helps, and the place for it; see the kernel."""
        free = np.flatnonzero(self.members < 0)
        number, place = kernels.refining.next_move(
            order,
            start,
            self.members,
            self._is_member,
            self._class_counts,
            int(free[0]) if len(free) else -1,
            self._sight.columns,
            self._sight.indptr,
            self._sight.rows,
            self._sight.column,
            self._codes,
            self._near,
            self._distances,
            self._losing,
            self._reach,
            self._rises,
            self._steepness,
            self.least,
            self._changes,
        )
        return number, place

    def move(self, candidate: int, place: int) -> bool:
        """Put a candidate (-1: nobody) in a place, if that lowers the objective; return whether it did."""
        leaving = int(self.members[place])
        column = self._sight.distances_to(candidate) if candidate >= 0 else np.empty(0)
        arrays = (self._codes, self._near, self._distances)
        lost, seen = kernels.refining.touched(place, candidate, column, *arrays)
        touched = np.concatenate([lost, seen])
        kept: list[np.ndarray] = [self._near, self._distances, self._losing, self._reach]
        before = [array[touched] for array in kept]
        self.members[place] = candidate
        kernels.refining.enter_all(seen, place, candidate, column, *arrays)
        self._find_two_nearest(lost)
        change = kernels.refining.losses(touched, self._distances, self._steepness, self._losing, self._reach)
        if change >= -self.least:
            self.members[place] = leaving
            for array, values in zip(kept, before, strict=True):
                array[touched] = values
            return False
        for member, step in ((leaving, -1), (candidate, 1)):
            if member >= 0:
                self._is_member[member] = step > 0
                self._class_counts[self._codes[member]] += step
        self.objective += change
        kernels.refining.leaving_rises(self._near, self._losing, self._rises)
        return True

    def _find_two_nearest(self, rows: np.ndarray) -> None:
        places = np.flatnonzero(self.members >= 0)
        for part in row_slices(len(rows), len(places) * 8):
            block = self._sight.block(rows[part], self.members[places])
            arrays = (self.members, self._codes, self._near, self._distances)
            kernels.refining.two_nearest(rows[part], block, places, *arrays)
