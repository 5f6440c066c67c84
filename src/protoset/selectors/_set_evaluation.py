"""Evaluation of sets in the memetic search: objects that a set classifies correctly, members that can be dropped."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset._progress import ProgressCallback
from protoset.selectors._voting import NearestMembers
from protoset.spaces import TrainingSpace

EXTENSION_BYTES = 192 * 2**20
"""Largest memory of the full neighbour lists of objects whose short lists are not enough."""

REVERSED_ENTRIES = 512
"""Number of first entries of each list that are also stored in reverse: for an object, the objects that list it."""

STEPS_PER_CHECK = 1_000_000
"""Steps of a local search between two checks of the search limits."""


@dataclass(frozen=True, eq=False)
class Individual:
    """A set of members, and the number of objects that it classifies correctly, leave-one-out (``hits``).

    Attributes
    ----------
    start_positions, first_members : ndarray of int32
        First member in the list of each object, by position and by index. Without a member in the list:
        the length of the list, and -1.
    """

    member: np.ndarray
    hits: int
    size: int
    start_positions: np.ndarray
    first_members: np.ndarray

    @property
    def score(self) -> int:
        """Hits minus members: an exact number that orders sets as their fitness does."""
        return self.hits - self.size

    @property
    def fitness(self) -> float:
        """Mean of the percentages of hits and of objects that are not members."""
        n = len(self.member)
        return 50 * (self.score + n) / n


def list_length(n_objects: int, n_neighbors: int) -> int:
    """Length of neighbour lists that hold the nearest members of most objects: sets seldom shrink below sqrt(n)."""
    return min(n_objects - 1, max(256, 8 * math.isqrt(n_objects), n_neighbors + 1))


def search_order(
    space: TrainingSpace, n_neighbors: int, n_jobs: int | None, progress: ProgressCallback | None = None
) -> np.ndarray:
    """Search the neighbours of each object, nearest first."""
    n = space.shape[0]
    length = list_length(n, n_neighbors)
    return space.kneighbors(length, limit=length, n_jobs=n_jobs, progress=progress).indices.reshape(n, length)


class SetEvaluator:
    """Evaluates sets of members and drops members that are not needed.

    The set that was evaluated last is the current set. ``order`` holds some neighbours of each object, nearest first;
    members beyond them are found by distances.

    Attributes
    ----------
    member, near, is_hit : ndarray
        Mask of the current set, the nearest members of each object (one more than vote), and whether each
        object is classified correctly.
    tally : ndarray of int64
        Counts of the local search; ``protoset.kernels.memetic`` names its entries.
    """

    def __init__(self, space: TrainingSpace, order: np.ndarray, codes: np.ndarray, n_neighbors: int):
        n, width = len(codes), n_neighbors + 1
        self._space, self._codes = space, codes
        extended = np.empty((min(n, EXTENSION_BYTES // (4 * n)), n - 1), order.dtype)
        self._order, self._n_extended = kernels.memetic.NeighborOrder(order, extended, np.full(n, -1, np.int64)), 0
        self._n_reversed = min(REVERSED_ENTRIES, order.shape[1])
        self._listed_by = kernels.lists.listed_by(order[:, : self._n_reversed])
        self._objects = np.arange(n)
        self._by_distance = NearestMembers(space, width)
        self.member, self.is_hit = np.zeros(n, bool), np.zeros(n, bool)
        self.near = np.full((n, width), -1, np.int32)
        self._members = kernels.memetic.Members(self.member, self.near, np.zeros(n, np.int32))
        self._chains = kernels.memetic.Chains(np.empty(n, np.int64), np.empty(n * width, np.int64))
        self._pending = kernels.memetic.Pending(np.empty(n, np.int64), np.empty(n, np.int64))
        self.tally = np.zeros(6, np.int64)

    def evaluate(
        self, member: np.ndarray, start_positions: np.ndarray | None = None, first_members: np.ndarray | None = None
    ) -> Individual:
        """Make a set the current set and count its hits.

        ``start_positions`` says where to begin in each list: no member comes before. ``first_members`` are the
        members there, or -1 where unknown.
        """
        n = len(member)
        if start_positions is None or first_members is None:
            start_positions, first_members = np.zeros(n, np.int32), np.full(n, -1, np.int32)
        else:  # they may belong to another set, and the kernel changes them
            start_positions, first_members = start_positions.copy(), first_members.copy()
        self.member[:] = member
        starts = (start_positions, first_members)
        self._fill_in(kernels.memetic.find_voters(*self._order, *self._members, *starts, self._pending.rows))
        hits = kernels.memetic.count_hits(self.near, self._codes, self.is_hit)
        return Individual(member, int(hits), int(np.count_nonzero(member)), start_positions, first_members)

    def breed(
        self, first: Individual, second: Individual, crossover: float, mutation: float, state: np.ndarray
    ) -> Individual:
        """Breed a child of two sets and evaluate it; updates ``state``, the state of the random numbers."""
        parents = [(parent.member, parent.start_positions, parent.first_members) for parent in (first, second)]
        child, *starts = map(np.empty_like, parents[0])
        kernels.memetic.breed(first.member, second.member, crossover, mutation, state, child)
        kernels.memetic.inherit_starts(*parents[0], *parents[1], child, self._n_reversed, *self._listed_by, *starts)
        return self.evaluate(child, *starts)

    def improve(
        self, child: Individual, threshold: int, state: np.ndarray, interrupted: Callable[[], bool]
    ) -> tuple[Individual, int]:
        """Local search: drop members whose absence changes the hits by at least the threshold; updates ``state``.

        Returns the improved set, and the number of objects that lost a voter, summed over all attempts.
        """
        self.begin(child)
        while not self.step(threshold, state, STEPS_PER_CHECK) and not interrupted():
            pass
        improved = self.evaluate(self.member.copy(), child.start_positions, child.first_members)
        return improved, int(self.tally[kernels.memetic.LOSERS])

    def begin(self, child: Individual) -> None:
        """Prepare the local search from the current set."""
        self._fill_in(kernels.memetic.find_successors(*self._order, *self._members, self._pending.rows))
        kernels.associates.link_associates(self._objects, self.near, *self._chains)
        self._visits = np.flatnonzero(self.member)
        self.tally[:] = 0
        self.tally[[kernels.memetic.SIZE, kernels.memetic.HITS]] = child.size, child.hits

    def step(self, threshold: int, state: np.ndarray, work: int) -> bool:
        """Continue the local search for some work; return whether it has ended."""
        self.tally[kernels.memetic.WORK] = work
        arrays = (*self._order, *self._members, *self._chains, self._codes, self.is_hit, *self._pending)
        while True:
            done = kernels.memetic.local_search(*arrays, self._visits, self.tally, threshold, state)
            n_short = int(self.tally[kernels.memetic.SHORT])
            if n_short == 0:
                return done
            self._fill_in(n_short)
            rows, links = self._pending.rows[:n_short], self._pending.links[:n_short]
            kernels.memetic.link_last(rows, links, self.near, *self._chains)

    def _fill_in(self, n_short: int) -> None:
        """Find the nearest members of the first ``n_short`` pending objects, by full lists or by distances."""
        if n_short == 0:
            return
        rows, slot = self._pending.rows[:n_short], self._order.slot
        self._extend(rows[slot[rows] < 0][: len(self._order.extended) - self._n_extended])
        listed = slot[rows] >= 0
        kernels.memetic.find_near(rows[listed], *self._order[1:], *self._members)
        rows = rows[~listed]
        self._by_distance.refill(np.flatnonzero(self.member), rows)
        self.near[rows] = self._by_distance.neighbors[rows]
        # All listed members are now among the nearest, so that their lists need not be read on.
        self._members.position[rows] = self._order.lists.shape[1]

    def _extend(self, rows: np.ndarray) -> None:
        """Sort the full neighbour lists of some objects."""
        n = len(self._codes)
        for block in row_slices(len(rows), n * 8):
            objects = rows[block]
            order = np.argsort(self._space.block(objects, slice(None)), axis=1, kind="stable")
            slots = self._n_extended + np.arange(len(objects))
            self._order.extended[slots] = order[order != objects[:, None]].reshape(len(objects), n - 1)
            self._order.slot[objects] = slots
            self._n_extended += len(objects)
