"""The search of the refinement: swaps that lower a smooth leave-one-out error, for the same budget.

    sum over objects i of  1 / (1 + exp(-s (d+ - d-) / (d+ + d-)))

d+ is the distance of object i to the nearest prototype of its class other than i itself, d- the distance to the nearest
prototype of another class. An object with several copies counts several times; the other copies of a prototype have it
at distance 0. With a large steepness s the sum is the number of leave-one-out errors; with a small s it
measures margins. So s rises in steps. Each step makes moves until no move helps: a prototype is swapped for another
object, a prototype is removed, or an object takes a free slot.

Each object keeps its two nearest prototypes of its class and of the other classes. So one pass over the objects near a
candidate gives the change of the loss for a swap with every prototype at once, as in FasterPAM for k-medoids. While the
matrix of distances is small (256 MB), a candidate is compared with all objects; beyond, with the objects that have it
in their neighbour lists. A move that seems to help is computed exactly before it is made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from protoset._display import Brief
from protoset.selectors._limits import SearchLimits
from protoset.selectors._refinable_set import NEGLIGIBLE, CandidateDistances, RefinableSet
from protoset.spaces import CountedSpace, TrainingSpace

LIST_REACH = 6
"""Length of the candidate lists, as a multiple of the number of objects per prototype."""


@dataclass(frozen=True)
class Schedule:
    """How long a refinement searches.

    Attributes
    ----------
    steepness : tuple of float
        Steepness of the loss in each step.
    tolerance : float
        Part of the objective that a move must save.
    worthwhile : float
        Part of the objective that a pass must save if another is to follow it.
    share : float
        With many prototypes each move saves little. So a move need not save more than ``share / budget`` of the
        objective, if that is less than ``tolerance``.
    """

    steepness: tuple[float, ...]
    n_starts: int
    tolerance: float
    worthwhile: float
    share: float = np.inf


PATIENT = Schedule((10.0, 20.0, 40.0), n_starts=8, tolerance=1e-4, worthwhile=0.0)
"""Search for few objects: many starts, small savings count."""

HASTY = Schedule((10.0, 40.0), n_starts=1, tolerance=5e-4, worthwhile=0.02)
"""Search for many objects: one start, ends when a pass saves less than 2 %."""

CROWDED = replace(HASTY, share=0.1)
"""``HASTY`` for many prototypes, where each move saves little."""


@dataclass(frozen=True, eq=False, repr=False)
class Refinement(Brief):
    """A refined set of prototypes.

    Attributes
    ----------
    indices : ndarray of int
        Positions of the prototypes, ascending.
    objective_before, objective_after : float
        Mean loss per object, by weight, at the last steepness: of the given set, and of the refined set.
    n_swaps : int
        Number of changes of the set over all starts: swaps, removed prototypes, added prototypes.
    n_passes : int
        Number of passes over the candidates, over all starts.
    n_distances : int
        Number of dissimilarities that were used. A search for the neighbours of all objects counts each pair once.
    n_objects : int
        Number of distinct objects that the refinement used: all objects, or a sample. The objectives are means over
        these objects.
    """

    indices: np.ndarray
    objective_before: float
    objective_after: float
    n_swaps: int
    n_passes: int
    n_distances: int
    n_objects: int


def improve(
    space: TrainingSpace,
    codes: np.ndarray,
    start: np.ndarray,
    budget: int,
    schedule: Schedule,
    random_state: np.random.RandomState,
    *,
    counts: np.ndarray | None = None,
    costs: np.ndarray | None = None,
    limits: SearchLimits | None = None,
    n_jobs: int | None = None,
) -> Refinement:
    """Improve a set of prototypes; :func:`protoset.refine` without its checks and defaults.

    Each object stands for ``counts`` copies, and an error on each costs ``costs``; both are 1 by default. A copy of a
    prototype has that prototype as its neighbour, and the prototype itself has not.
    """
    n, steps = len(codes), schedule.steepness
    counts, costs = (np.ones(n) if values is None else values for values in (counts, costs))
    repeated = np.flatnonzero(counts > 1)
    weights = np.concatenate([costs * np.minimum(counts, 1), costs[repeated] * (counts[repeated] - 1)])
    total = float(weights.sum())
    limits = SearchLimits() if limits is None else limits
    counted = space if isinstance(space, CountedSpace) else CountedSpace(space)
    before = counted.n_distances
    candidates = CandidateDistances(
        counted, n_neighbors=-(-LIST_REACH * n // len(start)), n_jobs=n_jobs, repeated=repeated
    )
    search = _Search(schedule, limits, random_state)
    tolerance = min(schedule.tolerance, schedule.share / budget)

    def make(members: np.ndarray, steepness: float) -> RefinableSet:
        return RefinableSet(candidates, codes, members, budget, steepness, tolerance, weights)

    given = make(start, steps[-1])
    best = (given.objective, start)
    with limits.interruptible():
        for number in range(schedule.n_starts):
            prototypes = make(start if number == 0 else _random_set(codes, len(start), random_state), steps[0])
            search.run(prototypes)
            prototypes.set_steepness(steps[-1])
            best = _better(best, prototypes)
            search.latest = None
            if limits.reason is not None:
                break
    if search.latest is not None:
        # An interruption may come in the middle of a move: the set after the last complete move is judged again.
        best = _better(best, make(search.latest, steps[-1]))
    lowest, indices = best
    limits.warn(search.n_done, search.n_steps)
    return Refinement(
        np.sort(indices),
        given.objective / total,
        lowest / total,
        search.n_swaps,
        search.n_passes,
        counted.n_distances - before,
        n,
    )


def _better(best: tuple[float, np.ndarray], prototypes: RefinableSet) -> tuple[float, np.ndarray]:
    return (prototypes.objective, prototypes.indices) if prototypes.objective < best[0] - NEGLIGIBLE else best


def _random_set(codes: np.ndarray, size: int, random_state: np.random.RandomState) -> np.ndarray:
    """One object of each class, and other objects of any class."""
    order = random_state.permutation(len(codes))
    _, first = np.unique(codes[order], return_index=True)
    return np.concatenate([order[first], np.delete(order, first)])[:size]


class _Search:
    """Runs through the steps of steepness, each until no move helps.

    ``latest`` is the set after the last move, until it is judged.
    """

    def __init__(self, schedule: Schedule, limits: SearchLimits, random_state: np.random.RandomState):
        self._schedule, self._limits, self._random_state = schedule, limits, random_state
        self.n_steps = schedule.n_starts * len(schedule.steepness)
        self.n_done = self.n_swaps = self.n_passes = 0
        self.latest: np.ndarray | None = None

    def run(self, prototypes: RefinableSet) -> None:
        """Refine a set."""
        for steepness in self._schedule.steepness:
            prototypes.set_steepness(steepness)
            if not self._settle(prototypes):
                break
            self.n_done += 1

    def _settle(self, prototypes: RefinableSet) -> bool:
        """Make moves until no candidate helps or a pass saves too little; return False if the search has to end."""
        n = prototypes.n_objects
        order = self._random_state.permutation(n)
        number = tried = 0
        before = prototypes.objective
        while tried < n:
            position, slot = prototypes.next_move(order, number)
            candidate = order[position] if 0 <= position < n else -1
            if position < n and prototypes.move(candidate, slot):
                self.latest = prototypes.indices
                self.n_swaps += 1
                tried = 0
            else:
                tried += max(position - number, 0) + 1
            number = number if position < 0 else position + 1
            accuracy = prototypes.accuracy if self._limits.is_watched else np.nan
            if self._limits.reached(self.n_done, self.n_steps, accuracy, prototypes.size):
                return False
            if number >= n:
                number, self.n_passes = 0, self.n_passes + 1
                saved, before = before - prototypes.objective, prototypes.objective
                if saved < self._schedule.worthwhile * before:
                    break
        return True
