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

Several starts run side by side in threads. Each has its own orders of the candidates, drawn as if the starts came one
after the other, and the best set is chosen in the order of the starts: the number of threads changes no result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from threading import Lock
from typing import NamedTuple

import numpy as np
from joblib import delayed

from protoset._blocks import in_threads, n_processors
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
        Fraction of the objective that a move must save.
    worthwhile : float
        Fraction of the objective that a pass must save; otherwise no other pass follows.
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
    prototype has this prototype as a neighbour; the prototype itself does not. Starts run in ``n_jobs`` threads.
    """
    n = len(codes)
    counts, costs = (np.ones(n) if values is None else values for values in (counts, costs))
    counted = space if isinstance(space, CountedSpace) else CountedSpace(space)
    before = counted.n_distances
    candidates = distances_for(counted, len(start), counts, n_jobs)
    if not (candidates.has_all or space.is_thread_safe):
        n_jobs = 1
    refined = improve_among(
        candidates, codes, start, budget, schedule, random_state, counts, costs, limits=limits, n_jobs=n_jobs
    )
    return replace(refined, n_distances=counted.n_distances - before)


def distances_for(
    space: TrainingSpace, n_prototypes: int, counts: np.ndarray, n_jobs: int | None = None
) -> CandidateDistances:
    """Return the distances that a refinement of a set of at least ``n_prototypes`` needs."""
    n_neighbors = -(-LIST_REACH * len(counts) // n_prototypes)
    return CandidateDistances(space, n_neighbors=n_neighbors, n_jobs=n_jobs, repeated=np.flatnonzero(counts > 1))


def improve_among(
    candidates: CandidateDistances,
    codes: np.ndarray,
    start: np.ndarray,
    budget: int,
    schedule: Schedule,
    random_state: np.random.RandomState,
    counts: np.ndarray,
    costs: np.ndarray,
    *,
    limits: SearchLimits | None = None,
    n_jobs: int | None = None,
) -> Refinement:
    """As ``improve``, with distances from ``distances_for``, which are not counted; Ctrl-C ends it only with limits."""
    repeated = np.flatnonzero(counts > 1)
    weights = np.concatenate([costs * np.minimum(counts, 1), costs[repeated] * (counts[repeated] - 1)])
    total = float(weights.sum())
    limits = SearchLimits(keeps_best=False) if limits is None else limits
    tolerance = min(schedule.tolerance, schedule.share / budget)

    def make(members: np.ndarray, steepness: float) -> RefinableSet:
        return RefinableSet(candidates, codes, members, budget, steepness, tolerance, weights)

    given = make(start, schedule.steepness[-1])
    before = given.objective
    search = _Search(make, schedule, limits, given)
    with limits.interruptible():
        search.run(_starts(start, codes, schedule, random_state), n_jobs)
    best = search.best()
    limits.warn(search.n_done, search.n_steps)
    return Refinement(
        np.sort(best.indices),
        before / total,
        best.objective / total,
        search.n_swaps,
        search.n_passes,
        0,
        len(codes),
    )


def reserve_draws(random_state: np.random.RandomState, n_objects: int, schedule: Schedule) -> np.random.RandomState:
    """Copy a generator for a later refinement; the generator itself continues as if the refinement had used it."""
    reserved = deepcopy(random_state)
    for _ in range(schedule.n_starts * (1 + len(schedule.steepness)) - 1):
        random_state.permutation(n_objects)
    return reserved


class _Start(NamedTuple):
    """A set to refine, and the order of the candidates in each step."""

    number: int
    members: np.ndarray
    orders: list[np.ndarray]


class _Judged(NamedTuple):
    """A set, and its objective at the last steepness."""

    objective: float
    indices: np.ndarray


def _starts(
    start: np.ndarray, codes: np.ndarray, schedule: Schedule, random_state: np.random.RandomState
) -> Iterator[_Start]:
    """Draw the starts, each when it is asked for: there may be more than can ever be refined."""
    for number in range(schedule.n_starts):
        members = start if number == 0 else _random_set(codes, len(start), random_state)
        yield _Start(number, members, [random_state.permutation(len(codes)) for _ in schedule.steepness])


class _Search:
    """Refines the starts, each through the steps of steepness until no move helps.

    ``make(members, steepness)`` makes the set of a start. ``given`` is the set of the first start; its steepness is the
    last one.
    """

    def __init__(
        self,
        make: Callable[[np.ndarray, float], RefinableSet],
        schedule: Schedule,
        limits: SearchLimits,
        given: RefinableSet,
    ):
        self._make, self._schedule, self._limits, self._given = make, schedule, limits, given
        self._best = _Judged(given.objective, given.indices)
        self.n_steps = schedule.n_starts * len(schedule.steepness)
        self.n_done = self.n_swaps = self.n_passes = 0
        self._lock, self._n_ranked = Lock(), 0
        self._judged: dict[int, _Judged] = {}
        """Refined sets that wait, because earlier starts are not finished."""
        self._latest: dict[int, np.ndarray] = {}
        """Sets in work, by start: the members after the last complete move."""

    def run(self, starts: Iterator[_Start], n_jobs: int | None) -> None:
        """Refine the starts in threads; the search may end early."""
        n_workers = min(n_processors(n_jobs), self._schedule.n_starts)

        def work() -> None:
            # An error in one thread ends the others at once.
            with self._limits.interruptible():
                while self._limits.reason is None:
                    with self._lock:
                        start = next(starts, None)
                    if start is None:
                        return
                    self._refine(start)

        if n_workers == 1:
            work()
        else:
            in_threads(n_workers)(delayed(work)() for _ in range(n_workers))

    def best(self) -> _Judged:
        """Return the best set, also of a search that was interrupted."""
        with self._lock:
            best, judged, latest = self._best, self._judged.copy(), self._latest.copy()
        # An interruption may come in the middle of a move: the set after the last complete move is evaluated again.
        for number, members in latest.items():
            prototypes = self._make(members, self._schedule.steepness[-1])
            judged[number] = _Judged(prototypes.objective, prototypes.indices)
        for number in sorted(judged):
            best = _better(best, judged[number])
        return best

    def _refine(self, start: _Start) -> None:
        steps = self._schedule.steepness
        prototypes = self._given if start.number == 0 else self._make(start.members, steps[0])
        for steepness, order in zip(steps, start.orders, strict=True):
            prototypes.set_steepness(steepness)
            if not self._settle(prototypes, order, start.number):
                break
            with self._lock:
                self.n_done += 1
        prototypes.set_steepness(steps[-1])
        with self._lock:
            self._judged[start.number] = _Judged(prototypes.objective, prototypes.indices)
            # In the order of the starts: among equally good sets the first is kept.
            while self._n_ranked in self._judged:
                self._best = _better(self._best, self._judged[self._n_ranked])
                del self._judged[self._n_ranked]
                self._n_ranked += 1
            self._latest.pop(start.number, None)

    def _settle(self, prototypes: RefinableSet, order: np.ndarray, start: int) -> bool:
        """Make moves until no candidate helps or a pass saves too little; return False if the search has to end."""
        n = prototypes.n_objects
        number = n_without_move = 0
        before = prototypes.objective
        while n_without_move < n:
            position, slot = prototypes.next_move(order, number)
            candidate = order[position] if 0 <= position < n else -1
            is_made = position < n and prototypes.move(candidate, slot)
            n_without_move = 0 if is_made else n_without_move + max(position - number, 0) + 1
            number = number if position < 0 else position + 1
            accuracy = prototypes.accuracy if self._limits.is_watched else np.nan
            # One thread at a time: a callback need not be ready for more.
            with self._lock:
                if is_made:
                    self._latest[start] = prototypes.indices
                    self.n_swaps += 1
                self.n_passes += number >= n
                if self._limits.reached(self.n_done, self.n_steps, accuracy, prototypes.size):
                    return False
            if number >= n:
                number = 0
                saved, before = before - prototypes.objective, prototypes.objective
                if saved < self._schedule.worthwhile * before:
                    break
        return True


def _better(best: _Judged, judged: _Judged) -> _Judged:
    return judged if judged.objective < best.objective - NEGLIGIBLE else best


def _random_set(codes: np.ndarray, size: int, random_state: np.random.RandomState) -> np.ndarray:
    """One object of each class, and other objects of any class."""
    order = random_state.permutation(len(codes))
    _, first = np.unique(codes[order], return_index=True)
    return np.concatenate([order[first], np.delete(order, first)])[:size]
