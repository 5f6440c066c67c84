"""Sets of members as the memetic search handles them: how many objects they classify, and who can be dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from protoset import kernels
from protoset.selectors._voting import NearestMembers
from protoset.spaces import Progress, TrainingSpace

LIST_BYTES = 128 * 2**20
"""Memory of the neighbour lists with the distances that they are sorted by."""

ENTRY_BYTES = 12

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
    """

    member: np.ndarray
    hits: int
    size: int

    @property
    def score(self) -> int:
        """Hits minus members, which orders sets as their fitness does, and is exact."""
        return self.hits - self.size

    @property
    def fitness(self) -> float:
        """Mean of the percentages of hits and of objects left out."""
        n = len(self.member)
        return 50 * (self.score + n) / n


def search_order(
    space: TrainingSpace, n_neighbors: int, n_jobs: int | None, progress: Progress | None = None
) -> np.ndarray:
    """Each object's nearest others, nearest first, as many as fit ``LIST_BYTES``, one per voter at least."""
    n = space.shape[0]
    length = min(n - 1, max(n_neighbors + 1, LIST_BYTES // (ENTRY_BYTES * n)))
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
        self._lists, self._codes = lists, codes
        self._by_distance = NearestMembers(space, width)
        self.member, self.is_hit = np.zeros(n, bool), np.zeros(n, bool)
        self.near, self._place = np.full((n, width), -1, np.int32), np.zeros(n, np.int32)
        self._head, self._following = np.empty(n, np.int64), np.empty(n * width, np.int64)
        self._short, self._spare = np.empty(n, np.int64), np.empty(n, np.int64)

    def evaluate(self, member: np.ndarray) -> Individual:
        """Count the hits of a set; it is the set at hand from then on."""
        self.member[:] = member
        self._fill_in(kernels.memetic.find_voters(self._lists, member, self.near, self._place, self._short))
        hits = kernels.memetic.count_hits(self.near, self._codes, self.is_hit)
        return Individual(member, int(hits), int(np.count_nonzero(member)))

    def improve(
        self, hits: int, threshold: int, state: np.ndarray, interrupted: Callable[[], bool], work: int = WORK
    ) -> tuple[Individual, int]:
        """Drop members from the set at hand while hits change by no less than the threshold.

        Parameters
        ----------
        hits : int
            Of the set at hand.
        threshold : int
        state : ndarray of one uint64
            Of the random numbers; moved on.
        interrupted : callable
            Asked now and then whether to stop.
        work : int
            Steps between two such questions.

        Returns
        -------
        Individual
        n_losers : int
            Objects that would have lost a voter, summed over all attempts.
        """
        arrays = (self._lists, self.member, self.near, self._place)
        self._fill_in(kernels.memetic.find_successors(*arrays, self._short))
        kernels.memetic.link_associates(self.near, self._head, self._following)
        chains = (self._head, self._following)
        visits = np.flatnonzero(self.member)
        tally = np.array([len(visits), 0, hits, 0, 0])
        while not kernels.memetic.local_search(
            *arrays, *chains, self._codes, self.is_hit, self._short, self._spare, visits, tally, threshold, state, work
        ):
            n_short = int(tally[4])
            if n_short:
                self._fill_in(n_short)
                kernels.memetic.link_last(self._short[:n_short], self._spare[:n_short], self.near, *chains)
            elif interrupted():
                break
        return Individual(self.member.copy(), int(tally[2]), int(tally[0])), int(tally[3])

    def _fill_in(self, n_short: int) -> None:
        """Find the nearest members of the first of ``_short`` by distances."""
        if n_short:
            rows, nearest = self._short[:n_short], self._by_distance
            nearest.neighbors[rows], nearest.distances[rows] = -1, np.inf
            nearest.add(np.flatnonzero(self.member), rows)
            self.near[rows] = nearest.neighbors[rows]
            self._place[rows] = self._lists.shape[1] + 1
