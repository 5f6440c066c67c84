"""A set of prototypes while it is refined: what it costs, what a candidate would change, and moves.

Distances are kept as a matrix as long as it fits ``MATRIX_BYTES``, and everyone sees every candidate.
Beyond, objects see the candidates in their neighbour lists, and distances are computed when they are needed.
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._blocks import row_slices
from protoset._storage import Storage
from protoset.neighbors import choose_search
from protoset.spaces import APPROXIMATE_FROM, TrainingSpace, approximate_library

MATRIX_BYTES = 256 * 2**20
"""Memory for the matrix of all distances: up to 5,792 objects; more where lists would take as much."""

COLUMNS = 64
"""Columns of the matrix that are computed at a time: few enough to be turned round in the processor's cache."""

LIST_ENTRIES, ENTRY_BYTES = 2**23, 40
"""Neighbours in all lists together, and the memory of each while lists are found and turned round (320 MB)."""

APPROXIMATE_SIGHT_FROM = 30_000
"""Objects from which on faiss finds the lists: who is missing from them costs a move, not its exactness."""

NEGLIGIBLE = 1e-9
"""Change of the objective, a sum over objects of at most 1 each, that rounding may make."""


def plan_sight(n_objects: int, n_neighbors: int) -> tuple[int, int]:
    """Length of the lists by which objects see candidates, 0 where a matrix of all distances serves, and its memory."""
    length = max(1, min(n_objects - 1, n_neighbors, LIST_ENTRIES // n_objects))
    matrix, lists = n_objects * n_objects * 8, n_objects * length * ENTRY_BYTES
    return (0, matrix) if matrix <= max(MATRIX_BYTES, lists) else (length, lists)


class Sight:
    """Distances, and who sees which candidate.

    Attributes
    ----------
    columns : ndarray of shape (n_objects, n_objects)
        Everyone's distances to each candidate; empty where they do not fit ``MATRIX_BYTES``.
    indptr, rows, seen_at : ndarray
        Without ``columns``: the objects that see each candidate, and their distances to it.
    """

    def __init__(self, space: TrainingSpace, *, n_neighbors: int, n_jobs: int | None):
        n = space.shape[0]
        length, _ = plan_sight(n, n_neighbors)
        self._space = space
        self.columns, self.indptr, self.seen_at = np.empty((0, 0)), np.zeros(1, np.int32), np.empty(0)
        self.rows = np.empty(0, np.int32)
        if length == 0:
            self.columns = np.empty((n, n))

            def fill(start: int) -> None:
                part = slice(start, min(start + COLUMNS, n))
                self.columns[part] = space.block(slice(None), part).T

            Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(fill)(start) for start in range(0, n, COLUMNS))
            return
        # The graph of pynndescent depends on the number of workers: it has to save more.
        large = APPROXIMATE_SIGHT_FROM if approximate_library() == "faiss" else APPROXIMATE_FROM
        if choose_search(space, "auto", large) == "approximate":
            raw = space.approximate_kneighbors(length, storage=Storage(), n_jobs=n_jobs)
        else:
            raw = space.kneighbors(length, limit=length, n_jobs=n_jobs)
        lists = sparse.csr_array((raw.distances, raw.indices, row_pointers(raw.counts)), shape=(n, n))
        turned = lists.tocsc()
        self.indptr, self.rows, self.seen_at = turned.indptr, turned.indices, turned.data

    def distances_to(self, candidate: int) -> np.ndarray:
        """Everyone's distances to a candidate."""
        if len(self.columns):
            return self.columns[candidate]
        return self._space.distances_to(candidate)

    def columns_of(self, members: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns with the distances of objects to members: where each member's is, and where in it each object."""
        if len(self.columns):
            return self.columns, members, rows
        columns = np.ascontiguousarray(self._space.block(rows, members).T)
        return columns, np.arange(len(members)), np.arange(len(rows))


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

    def __init__(
        self, sight: Sight, codes: np.ndarray, start: np.ndarray, budget: int, steepness: float, tolerance: float
    ):
        n = len(codes)
        self._sight, self._codes, self._everyone, self._tolerance = sight, codes, np.arange(n), tolerance
        self.members = np.full(budget, -1, np.int64)
        self.members[: len(start)] = start
        self._is_member = np.zeros(n, bool)
        self._is_member[start] = True
        self._class_counts = np.bincount(codes[start], minlength=int(codes.max()) + 1)
        self._near, self._distances = np.empty((n, 4), np.int32), np.empty((n, 4))
        n_spares = 2 * kernels.refining.SPARES
        self._spare, self._spare_distances = np.empty((n, n_spares), np.int32), np.empty((n, n_spares))
        self._bound = np.empty((n, 2))
        self._losing, self._reach, self._rises = np.zeros((n, 3)), np.zeros((n, 2)), np.zeros(budget)
        self._changes = np.empty(budget + 1)
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
        self._steepness, self._table = steepness, kernels.refining.loss_table(steepness)
        kernels.refining.losses(self._everyone, self._distances, steepness, self._losing, self._reach)
        kernels.refining.leaving_rises(self._near, self._losing, self._rises)
        self.objective = float(self._losing[:, 0].sum())
        self.least = max(NEGLIGIBLE, self._tolerance * self.objective)

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
            self._sight.seen_at,
            self._codes,
            self._near,
            self._distances,
            self._losing,
            self._reach,
            self._rises,
            self._table,
            self.least,
            self._changes,
        )
        return number, place

    def move(self, candidate: int, place: int) -> bool:
        """Put a candidate (-1: nobody) in a place, if that lowers the objective; return whether it did."""
        column = self._sight.distances_to(candidate) if candidate >= 0 else np.empty(0)
        arrays = (self._codes, self._near, self._distances)
        change = kernels.refining.change_of(place, candidate, column, *arrays, self._losing, self._steepness)
        if change >= -self.least:
            return False
        known = (self._near, self._distances, self._spare, self._spare_distances)
        lost, seen = kernels.refining.touched(
            place, candidate, column, self._codes, self._near, self._spare, self._bound
        )
        for member, step in ((int(self.members[place]), -1), (candidate, 1)):
            if member >= 0:
                self._is_member[member] = step > 0
                self._class_counts[self._codes[member]] += step
        self.members[place] = candidate
        changed = np.concatenate([lost, seen])
        kernels.refining.leave_all(lost, place, *known)
        if candidate >= 0:
            kernels.refining.enter_all(changed, place, candidate, column, self._codes, *known, self._bound)
        self._find_two_nearest(kernels.refining.incomplete(lost, self._near, self._bound))
        kernels.refining.losses(changed, self._distances, self._steepness, self._losing, self._reach)
        self.objective += change
        kernels.refining.leaving_rises(self._near, self._losing, self._rises)
        return True

    def _find_two_nearest(self, rows: np.ndarray) -> None:
        places = np.flatnonzero(self.members >= 0)
        known = (self._near, self._distances, self._spare, self._spare_distances, self._bound)
        for part in row_slices(len(rows), len(places) * 8):
            columns = self._sight.columns_of(self.members[places], rows[part])
            kernels.refining.two_nearest(rows[part], *columns, places, self.members, self._codes, *known)
