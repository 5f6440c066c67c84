"""A set of prototypes while it is refined: its loss, how a candidate would change the loss, and moves.

The distances of all objects to all candidates are kept as a matrix while it fits ``MATRIX_BYTES``. Beyond, a
candidate is compared with the objects that have it in their neighbour lists, and other distances are computed when
they are needed. The loss is ``protoset.kernels.refining.loss``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from joblib import delayed
from scipy import sparse

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._blocks import in_threads, n_processors, row_slices
from protoset._storage import Storage
from protoset.neighbors.search import approximate_search_of
from protoset.spaces import TrainingSpace
from protoset.spaces._approximate import APPROXIMATE_FROM, approximate_library

MATRIX_BYTES = 256 * 2**20
"""Largest memory of the matrix of all distances (5,792 objects). A larger matrix is kept if lists would need as
much."""

LIST_ENTRIES = 2**23
"""Largest number of neighbours in all lists together."""

LIST_ENTRY_BYTES = 40
"""Memory per neighbour while lists are searched and transposed (320 MB for ``LIST_ENTRIES``)."""

APPROXIMATE_LISTS_FROM = 30_000
"""Smallest number of objects for which faiss searches the lists. A candidate missing from them is not tried; moves stay
exact."""

LARGEST_EXPONENT = 709.78
"""Beyond this exponent, exp counts as infinite."""

NEGLIGIBLE = 1e-9
"""Largest rounding error of the objective, which is a sum of at most 1 per object."""


def plan_candidates(n_objects: int, n_neighbors: int) -> tuple[int, int]:
    """Length of the neighbour lists, 0 where a matrix of all distances is kept, and the memory of either in bytes."""
    length = max(1, min(n_objects - 1, n_neighbors, LIST_ENTRIES // n_objects))
    matrix, lists = n_objects * n_objects * 8, n_objects * length * LIST_ENTRY_BYTES
    return (0, matrix) if matrix <= max(MATRIX_BYTES, lists) else (length, lists)


def _with_further_copies(lists: sparse.csc_array, repeated: np.ndarray) -> sparse.csc_array:
    """Add rows for the further copies of repeated objects; these rows also list the object itself, at distance 0."""
    further = lists.tocsr()[repeated].tocoo()
    own = np.arange(len(repeated))
    entries = (
        np.concatenate([further.data, np.zeros(len(own))]),
        (np.concatenate([further.coords[0], own]), np.concatenate([further.coords[1], repeated])),
    )
    rows = sparse.coo_array(entries, shape=(len(repeated), lists.shape[1]))
    both = sparse.vstack([lists.tocoo(), rows]).tocoo()
    order = np.lexsort((both.row, both.col))
    indptr = row_pointers(np.bincount(both.col, minlength=lists.shape[1])).astype(np.int32)
    return sparse.csc_array((both.data[order], both.row[order].astype(np.int32), indptr), shape=both.shape)


class CandidateDistances:
    """Distances to the candidates: a matrix of all, or those in neighbour lists.

    ``repeated`` are the objects with several copies. Their further copies have rows of their own, after all objects.
    ``n_jobs`` is the number of threads for distances to the candidates: 1 if all are kept, or if threads are not safe.
    """

    def __init__(
        self, space: TrainingSpace, *, n_neighbors: int, n_jobs: int | None, repeated: np.ndarray | None = None
    ):
        n, repeated = space.shape[0], np.empty(0, np.int64) if repeated is None else repeated
        length, _ = plan_candidates(n + len(repeated), n_neighbors)
        self._space, self.object_of_row = space, np.concatenate([np.arange(n), repeated])
        self.n_objects, self._further = n, n + np.arange(len(repeated))
        self.n_jobs = n_jobs if length > 0 and space.is_thread_safe else 1
        if length == 0:
            columns = np.empty((n, n + len(repeated)))
            space.write_matrix(columns[:, :n].T, n_jobs=n_jobs)
            columns[:, n:] = columns[:, repeated]
            columns[repeated, self._further] = 0.0
            no_lists = np.zeros(1, np.int32), np.empty(0, np.int32), np.empty(0)
            self.arrays = kernels.refining.CandidateArrays(columns, *no_lists)
            return
        # The graph of pynndescent depends on the number of workers: it has to save more.
        large = APPROXIMATE_LISTS_FROM if approximate_library() == "faiss" else APPROXIMATE_FROM
        approximate_search = approximate_search_of(space, "auto", min(large, space.approximate_from or large))
        if approximate_search is not None:
            raw = approximate_search(length, storage=Storage(), n_jobs=n_jobs)
        else:
            raw = space.kneighbors(length, limit=length, n_jobs=n_jobs)
        lists = sparse.csr_array((raw.distances, raw.indices, row_pointers(raw.counts)), shape=(n, n)).tocsc()
        if len(repeated):
            lists = _with_further_copies(lists, repeated)
        self.arrays = kernels.refining.CandidateArrays(np.empty((0, 0)), lists.indptr, lists.indices, lists.data)

    @property
    def has_all(self) -> bool:
        """Whether all distances are kept."""
        return len(self.arrays.columns) > 0

    def distances_within(self, candidate: int, cutoffs: np.ndarray) -> np.ndarray:
        """Distances of all rows to a candidate; those beyond the cut-off of a row may be infinite."""
        if self.has_all:
            return self.arrays.columns[candidate]
        if len(self._further) == 0:
            return self._space.distances_within(candidate, cutoffs)
        widest = cutoffs[: self.n_objects].copy()
        np.maximum.at(widest, self.object_of_row[self._further], cutoffs[self._further])
        distances = self._space.distances_within(candidate, widest)
        distances = distances[self.object_of_row]
        distances[self._further[self.object_of_row[self._further] == candidate]] = 0.0
        return distances

    def columns_of(self, members: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return distances of objects to members, the column of each member, and the position of each object."""
        if self.has_all:
            return self.arrays.columns, members, rows
        objects = self.object_of_row[rows]
        columns = np.ascontiguousarray(self._space.block(objects, members).T)
        if len(self._further):
            columns[(members[:, None] == objects) & (rows >= self.n_objects)] = 0.0
        return columns, np.arange(len(members)), np.arange(len(rows))


class RefinableSet:
    """A set of prototypes, the prototypes nearest to every object, and the objective.

    A move must lower the objective by at least ``least``, which is ``tolerance`` times the objective.

    Attributes
    ----------
    members : ndarray of int64, shape (budget,)
        The prototype in each slot; -1 for a free slot.
    objective : float
        Sum of the losses, by the ``weights`` of the rows of ``candidates``.
    """

    def __init__(
        self,
        candidates: CandidateDistances,
        codes: np.ndarray,
        start: np.ndarray,
        budget: int,
        steepness: float,
        tolerance: float,
        weights: np.ndarray | None = None,
    ):
        codes = codes[candidates.object_of_row]
        kernel, n, n_kept = kernels.refining, len(codes), 2 * kernels.refining.KEPT
        self._candidates, self._codes, self._all_rows, self._tolerance = candidates, codes, np.arange(n), tolerance
        self.members = np.full(budget, -1, np.int64)
        self.members[: len(start)] = start
        is_member, class_counts = np.zeros(n, bool), np.bincount(codes[start], minlength=int(codes.max()) + 1)
        is_member[start] = True
        self._prototypes = kernel.Prototypes(self.members, is_member, class_counts)
        self._nearest = kernel.NearestPrototypes(
            slots=np.empty((n, n_kept), np.int32),
            distances=np.empty((n, n_kept)),
            bounds=np.empty((n, 2)),
            first_slots=np.empty((n, 4), np.int32),
            first_distances=np.empty((n, 4)),
        )
        self._losses = kernel.Losses(
            per_object=np.zeros((n, 4)), reach=np.zeros((n, 2)), removal=np.zeros(budget), table=np.empty(0)
        )
        self._losses.per_object[:, 3] = 1.0 if weights is None else weights
        self._rows_to_write = np.empty((2, n), np.int64)
        parts = np.array_split(self._all_rows, n_processors(candidates.n_jobs))
        in_threads(candidates.n_jobs)(delayed(self._find_nearest)(rows) for rows in parts)
        self.set_steepness(steepness)

    @property
    def n_objects(self) -> int:
        """Number of distinct training objects."""
        return self._candidates.n_objects

    @property
    def size(self) -> int:
        """Number of prototypes."""
        return int(self._prototypes.class_counts.sum())

    @property
    def indices(self) -> np.ndarray:
        """The prototypes, ascending."""
        return np.flatnonzero(self._prototypes.is_member)

    @property
    def accuracy(self) -> float:
        """Share of the objects, by weight, that are nearer to a prototype of their class, leave-one-out."""
        is_right = self._nearest.first_distances[:, 0] < self._nearest.first_distances[:, 2]
        return float(np.average(is_right, weights=self._losses.per_object[:, 3]))

    def set_steepness(self, steepness: float) -> None:
        """Change the steepness of the loss."""
        self._steepness = steepness
        self._losses = self._losses._replace(table=loss_table(steepness))
        kernels.refining.update_losses(self._all_rows, self._nearest, steepness, self._losses)
        self.objective = float((self._losses.per_object[:, 0] * self._losses.per_object[:, 3]).sum())
        self.least = max(NEGLIGIBLE, self._tolerance * self.objective)

    def next_move(self, order: np.ndarray, start: int) -> tuple[int, int]:
        """First candidate that helps, from position ``start`` of ``order`` on, and its slot; see the kernel."""
        position, slot = kernels.refining.next_move(
            order,
            start,
            self._prototypes,
            self._candidates.arrays,
            self._codes,
            self._nearest,
            self._losses,
            self.least,
        )
        return position, slot

    def move(self, candidate: int, slot: int) -> bool:
        """Put a candidate (-1: none) in a slot, if that lowers the objective; return whether it did."""
        kernel, codes, nearest = kernels.refining, self._codes, self._nearest
        column = np.empty(0)
        if candidate >= 0:
            # Prototypes beyond the bound of an object change neither its loss nor its nearest prototypes.
            sides = (codes != codes[candidate]).astype(np.int64)
            column = self._candidates.distances_within(candidate, nearest.bounds[self._all_rows, sides])
        loss = self._losses.per_object
        affected, incomplete = self._rows_to_write
        change = kernel.objective_change(
            slot,
            candidate,
            column,
            codes,
            nearest.first_slots,
            nearest.first_distances,
            loss,
            self._steepness,
            affected,
        )
        if change >= -self.least:
            return False
        for member, step in ((int(self.members[slot]), -1), (candidate, 1)):
            if member >= 0:
                self._prototypes.is_member[member] = step > 0
                self._prototypes.class_counts[codes[member]] += step
        self.members[slot] = candidate
        counts = kernel.replace_prototype(slot, candidate, column, codes, nearest, affected, incomplete)
        self._find_nearest(incomplete[: counts[1]])
        kernel.update_losses(affected[: counts[0]], nearest, self._steepness, self._losses)
        self.objective += change
        return True

    def _find_nearest(self, rows: np.ndarray) -> None:
        filled = np.flatnonzero(self.members >= 0)
        for block in row_slices(len(rows), len(filled) * 8):
            columns = self._candidates.columns_of(self.members[filled], rows[block])
            kernels.refining.find_nearest(rows[block], *columns, filled, self.members, self._codes, self._nearest)


@lru_cache(maxsize=64)
def loss_table(steepness: float) -> np.ndarray:
    """Losses at evenly spaced relative differences from -1 to 1, then the losses where one side is infinitely far.

    All sets of one steepness share a table, so that nothing may write to it. The kernels look up where a loss is.
    """
    size = kernels.refining.TABLE_SIZE
    exponents = [-steepness * (2.0 * entry / size - 1.0) for entry in range(size + 2)]
    # By ``math``, which rounds as the kernels do.
    losses = [1.0 / (1.0 + (math.exp(exponent) if exponent < LARGEST_EXPONENT else np.inf)) for exponent in exponents]
    return np.array([*losses, 0.0, 0.0, 1.0, 1.0])
