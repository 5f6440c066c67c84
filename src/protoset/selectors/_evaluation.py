"""Sets of members as the memetic search handles them: how many objects they classify, and who can be dropped."""

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
"""Memory for lists of all others, of those objects whose short lists did not suffice."""

TURNED = 512
"""Entries of each list that are also kept the other way round."""

STEPS = 1_000_000
"""Steps of a local search between two looks at the limits."""


@dataclass(frozen=True, eq=False)
class Individual:
    """A set of members and what it is worth.

    Attributes
    ----------
    member : ndarray of bool
        Which objects are members.
    hits : int
        Objects that their nearest members classify correctly, leaving each out of its own vote.
    size : int
        Number of members.
    start_places, first_members : ndarray of int32
        Place of the first member in each object's list, and who that is; the length of the list and -1
        where it has none.
    """

    member: np.ndarray
    hits: int
    size: int
    start_places: np.ndarray
    first_members: np.ndarray

    @property
    def score(self) -> int:
        """Hits minus members, which orders sets as their fitness does, and is exact."""
        return self.hits - self.size

    @property
    def fitness(self) -> float:
        """Mean of the percentages of hits and of objects left out."""
        n = len(self.member)
        return 50 * (self.score + n) / n


def list_length(n_objects: int, n_neighbors: int) -> int:
    """Length of neighbour lists that most objects' nearest members are in, as sets seldom shrink below sqrt(n)."""
    return min(n_objects - 1, max(256, 8 * math.isqrt(n_objects), n_neighbors + 1))


def search_order(
    space: TrainingSpace, n_neighbors: int, n_jobs: int | None, progress: ProgressCallback | None = None
) -> np.ndarray:
    """Each object's nearest others, nearest first."""
    n = space.shape[0]
    length = list_length(n, n_neighbors)
    return space.kneighbors(length, limit=length, n_jobs=n_jobs, progress=progress).indices.reshape(n, length)


class SetEvaluator:
    """Evaluates sets of members and drops from them what is not needed.

    Parameters
    ----------
    space : TrainingSpace
    order : ndarray of int32, shape (n_objects, length)
        Nearest others of each object, nearest first. What these lists do not hold is found by distances.
    codes : ndarray of int
        Class of each object.
    n_neighbors : int

    Attributes
    ----------
    member, near, is_hit : ndarray
        Mask of the set at hand, everyone's nearest members (one more than vote), who is classified correctly.
    tally : ndarray of int64
        Counts of the local search; ``protoset.kernels.memetic`` names its places.
    """

    def __init__(self, space: TrainingSpace, order: np.ndarray, codes: np.ndarray, n_neighbors: int):
        n, width = len(codes), n_neighbors + 1
        self._space, self._order, self._codes = space, order, codes
        self._extended = np.empty((min(n, EXTENSION_BYTES // (4 * n)), n - 1), order.dtype)
        self._slot, self._n_extended = np.full(n, -1, np.int64), 0
        self._most = min(TURNED, order.shape[1])
        self._listed_by = kernels.lists.listed_by(order[:, : self._most])
        self._everyone = np.arange(n)
        self._by_distance = NearestMembers(space, width)
        self.member, self.is_hit = np.zeros(n, bool), np.zeros(n, bool)
        self.near, self._place = np.full((n, width), -1, np.int32), np.zeros(n, np.int32)
        self._chains = np.empty(n, np.int64), np.empty(n * width, np.int64)
        self._short, self._spare = np.empty(n, np.int64), np.empty(n, np.int64)
        self.tally = np.zeros(6, np.int64)
        self._arrays = (self._order, self._extended, self._slot, self.member, self.near, self._place)

    def evaluate(
        self, member: np.ndarray, start_places: np.ndarray | None = None, first_members: np.ndarray | None = None
    ) -> Individual:
        """Count the hits of a set; it is the set at hand from then on.

        No list has a member before its start place, where the first member is (-1: not known), if these are given.
        """
        n = len(member)
        if start_places is None or first_members is None:
            start_places, first_members = np.zeros(n, np.int32), np.full(n, -1, np.int32)
        else:  # which may be another set's, and are moved on
            start_places, first_members = start_places.copy(), first_members.copy()
        self.member[:] = member
        self._fill_in(kernels.memetic.find_voters(*self._arrays, start_places, first_members, self._short))
        hits = kernels.memetic.count_hits(self.near, self._codes, self.is_hit)
        return Individual(member, int(hits), int(np.count_nonzero(member)), start_places, first_members)

    def breed(
        self, first: Individual, second: Individual, crossover: float, mutation: float, state: np.ndarray
    ) -> Individual:
        """Make a child of two sets and evaluate it; ``state`` is that of the random numbers, and moved on."""
        masks = (first.member, second.member)
        parents = (first.start_places, second.start_places), (first.first_members, second.first_members)
        child, *starts = (np.empty_like(of) for of in (first.member, first.start_places, first.first_members))
        kernels.memetic.breed(*masks, crossover, mutation, state, child)
        kernels.memetic.inherit_starts(*parents, *masks, child, self._most, *self._listed_by, *starts)
        return self.evaluate(child, *starts)

    def improve(
        self, child: Individual, threshold: int, state: np.ndarray, interrupted: Callable[[], bool]
    ) -> tuple[Individual, int]:
        """Drop members from the set at hand while hits change by no less than the threshold.

        Parameters
        ----------
        child : Individual
            The set at hand.
        threshold : int
        state : ndarray of one uint64
            Of the random numbers; moved on.
        interrupted : callable
            Asked now and then whether to stop.

        Returns
        -------
        Individual
        n_losers : int
            Objects that would have lost a voter, summed over all attempts.
        """
        self.begin(child)
        while not self.step(threshold, state, STEPS) and not interrupted():
            pass
        improved = self.evaluate(self.member.copy(), child.start_places, child.first_members)
        return improved, int(self.tally[kernels.memetic.LOSERS])

    def begin(self, child: Individual) -> None:
        """Make the set at hand ready for local search."""
        self._fill_in(kernels.memetic.find_successors(*self._arrays, self._short))
        kernels.associates.link_associates(self._everyone, self.near, *self._chains)
        self._visits = np.flatnonzero(self.member)
        self.tally[:] = 0
        self.tally[[kernels.memetic.SIZE, kernels.memetic.HITS]] = child.size, child.hits

    def step(self, threshold: int, state: np.ndarray, work: int) -> bool:
        """Go on with local search for some work; return whether it is at its end."""
        self.tally[kernels.memetic.WORK] = work
        marks = (self._codes, self.is_hit, self._short, self._spare)
        while True:
            done = kernels.memetic.local_search(
                *self._arrays, *self._chains, *marks, self._visits, self.tally, threshold, state
            )
            n_short = int(self.tally[kernels.memetic.SHORT])
            if n_short == 0:
                return done
            self._fill_in(n_short)
            kernels.memetic.link_last(self._short[:n_short], self._spare[:n_short], self.near, *self._chains)

    def _fill_in(self, n_short: int) -> None:
        """Find the nearest members of the first of ``_short``: extend their lists, or else by distances."""
        if n_short == 0:
            return
        rows = self._short[:n_short]
        self._extend(rows[self._slot[rows] < 0][: len(self._extended) - self._n_extended])
        listed = self._slot[rows] >= 0
        kernels.memetic.find_near(rows[listed], self._extended, self._slot, self.member, self.near, self._place)
        rows = rows[~listed]
        self._by_distance.refill(np.flatnonzero(self.member), rows)
        self.near[rows] = self._by_distance.neighbors[rows]
        # All members that the lists hold are among these, so that there is nobody left to read in them.
        self._place[rows] = self._order.shape[1]

    def _extend(self, rows: np.ndarray) -> None:
        """List all others of some objects."""
        n = len(self._codes)
        for part in row_slices(len(rows), n * 8):
            block = self._space.block(rows[part], slice(None))
            everyone = np.argsort(block, axis=1, kind="stable")
            slots = self._n_extended + np.arange(len(everyone))
            self._extended[slots] = everyone[everyone != rows[part][:, None]].reshape(len(everyone), n - 1)
            self._slot[rows[part]] = slots
            self._n_extended += len(everyone)
