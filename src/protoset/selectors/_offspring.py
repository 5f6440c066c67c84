"""Sets of members as the memetic search handles them: how many objects they classify, and who can be dropped."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset.selectors._voting import NearestMembers
from protoset.spaces import Progress, TrainingSpace

EXTENSION_BYTES = 192 * 2**20
"""Memory for lists of all others, of those objects whose short lists did not suffice."""

TURNED = 512
"""Entries of each list that are also kept the other way round."""

WORK = 1_000_000
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
    start, first : ndarray of int32
        Place of the first member in each object's list, and who that is; the length of the list and -1
        where it has none.
    """

    member: np.ndarray
    hits: int
    size: int
    start: np.ndarray
    first: np.ndarray

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
    space: TrainingSpace, n_neighbors: int, n_jobs: int | None, progress: Progress | None = None
) -> np.ndarray:
    """Each object's nearest others, nearest first."""
    n = space.shape[0]
    length = list_length(n, n_neighbors)
    return space.kneighbors(length, limit=length, n_jobs=n_jobs, progress=progress).indices.reshape(n, length)


class Nursery:
    """Evaluates sets of members and drops from them what is not needed.

    Parameters
    ----------
    space : TrainingSpace
    lists : ndarray of int32, shape (n_objects, length)
        Nearest others, nearest first. What they do not hold is found by distances.
    codes : ndarray of int
        Class of each object.
    n_neighbors : int

    Attributes
    ----------
    member, near, is_hit : ndarray
        Mask of the set at hand, everyone's nearest members (one more than vote), who is classified correctly.
    """

    def __init__(self, space: TrainingSpace, lists: np.ndarray, codes: np.ndarray, n_neighbors: int):
        n, width = len(codes), n_neighbors + 1
        self._space, self._lists, self._codes = space, lists, codes
        self._extended = np.empty((min(n, EXTENSION_BYTES // (4 * n)), n - 1), lists.dtype)
        self._slot, self._n_extended = np.full(n, -1, np.int64), 0
        self._most = min(TURNED, lists.shape[1])
        self._listed_by = kernels.memetic.listed_by(lists[:, : self._most])
        self._by_distance = NearestMembers(space, width)
        self.member, self.is_hit = np.zeros(n, bool), np.zeros(n, bool)
        self.near, self._place = np.full((n, width), -1, np.int32), np.zeros(n, np.int32)
        self._chains = np.empty(n, np.int64), np.empty(n * width, np.int64)
        self._short, self._spare = np.empty(n, np.int64), np.empty(n, np.int64)
        self._arrays = (self._lists, self._extended, self._slot, self.member, self.near, self._place)

    def evaluate(
        self, member: np.ndarray, start: np.ndarray | None = None, first: np.ndarray | None = None
    ) -> Individual:
        """Count the hits of a set; it is the set at hand from then on.

        No list has a member before ``start``, where ``first`` is, if these are given (and taken over).
        """
        n = len(member)
        if start is None or first is None:
            start, first = np.zeros(n, np.int32), np.full(n, -1, np.int32)
        self.member[:] = member
        self._fill_in(kernels.memetic.find_voters(*self._arrays, start, first, self._short))
        hits = kernels.memetic.count_hits(self.near, self._codes, self.is_hit)
        return Individual(member, int(hits), int(np.count_nonzero(member)), start, first)

    def breed(
        self, first: Individual, second: Individual, crossover: float, mutation: float, state: np.ndarray
    ) -> Individual:
        """Make a child of two sets and evaluate it; ``state`` is that of the random numbers, and moved on."""
        child, start, found = np.empty_like(first.member), np.empty_like(first.start), np.empty_like(first.first)
        masks, starts, firsts = (
            (first.member, second.member),
            (first.start, second.start),
            (first.first, second.first),
        )
        kernels.memetic.breed(*masks, crossover, mutation, state, child)
        kernels.memetic.inherit_starts(starts, firsts, *masks, child, self._most, *self._listed_by, start, found)
        return self.evaluate(child, start, found)

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
        while not self.step(threshold, state, WORK) and not interrupted():
            pass
        return self.evaluate(self.member.copy(), child.start, child.first), int(self.tally[3])

    def begin(self, child: Individual) -> None:
        """Make the set at hand ready for local search."""
        self._fill_in(kernels.memetic.find_successors(*self._arrays, self._short))
        kernels.memetic.link_associates(self.near, *self._chains)
        self._visits = np.flatnonzero(self.member)
        self.tally = np.array([child.size, 0, child.hits, 0, 0, 0])

    def step(self, threshold: int, state: np.ndarray, work: int) -> bool:
        """Go on with local search for some work; return whether it is at its end."""
        self.tally[5] = work
        marks = (self._codes, self.is_hit, self._short, self._spare)
        while True:
            done = kernels.memetic.local_search(
                *self._arrays, *self._chains, *marks, self._visits, self.tally, threshold, state
            )
            n_short = int(self.tally[4])
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
        self._place[rows] = self._lists.shape[1] + 1

    def _extend(self, rows: np.ndarray) -> None:
        """List all others of some objects."""
        n = len(self._codes)
        for part in row_slices(len(rows), n * 8):
            block = self._space.block(rows[part], slice(None))
            order = np.argsort(block, axis=1, kind="stable")
            slots = self._n_extended + np.arange(len(order))
            self._extended[slots] = order[order != rows[part][:, None]].reshape(len(order), n - 1)
            self._slot[rows[part]] = slots
            self._n_extended += len(order)
