"""Refinement: better prototypes for the same budget, by swaps that lower a smooth leave-one-out error.

    sum over objects i of  1 / (1 + exp(-s (d+ - d-) / (d+ + d-)))

d+ is the distance of i to the nearest prototype of its class other than i itself, d- that to the nearest
prototype of another class. As the steepness s rises, the sum becomes the number of leave-one-out errors;
a small s looks at margins. So s rises in steps, each until no move helps: a swap of a prototype for any
other object, a prototype that leaves, an object that takes a free place.

Each object knows its two nearest prototypes on either side. So one pass over the objects that see a
candidate prices it in place of all prototypes at once, as FasterPAM does for k-medoids. Everyone sees
everyone as long as the matrix of distances fits ``MATRIX_BYTES``; beyond, objects see the candidates in
their neighbour lists. What a move seems to save is computed exactly before it is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset import kernels
from protoset._blocks import row_slices
from protoset._validation import check_count, check_labels, check_real, check_seed, is_count
from protoset.selectors._limits import Callback, SearchLimits, check_limits
from protoset.spaces import CountedSpace, TrainingSpace

MATRIX_BYTES = 256 * 2**20
"""Memory for the matrix of all distances: up to 5,792 objects. Beyond, distances are computed when they are needed."""

COLUMNS = 64
"""Columns of the matrix that are computed at a time: few enough to be turned round in the processor's cache."""

LIST_ENTRIES = 2**24
"""Neighbours in all lists together, where the matrix is too large (about 400 MB while they are turned round)."""

REACH = 6
"""Length of the lists, in numbers of objects per prototype."""

NEGLIGIBLE = 1e-9
"""Change of the objective, a sum over objects of at most 1 each, that rounding may make."""

MANY_OBJECTS = 2048
"""Beyond so many objects there are fewer starts and steps, and moves must save more."""

STEEPNESS, STEEPNESS_OF_MANY = (5.0, 10.0, 20.0, 40.0), (10.0, 40.0)
STARTS, STARTS_OF_MANY = 4, 1
TOLERANCE, TOLERANCE_OF_MANY = 1e-4, 5e-4
"""Part of the objective that a move must save."""


@dataclass(frozen=True, eq=False)
class Refinement:
    """A refined set of prototypes.

    Attributes
    ----------
    indices : ndarray of int
        The prototypes, ascending.
    objective_before, objective_after : float
        Mean loss per object at the last steepness, of the given set and of the refined one.
    n_swaps : int
        Moves made: swaps, prototypes that left, objects that took a free place.
    n_passes : int
        Passes over the candidates.
    n_distances : int
        Dissimilarities asked for; a search for everyone's neighbours asks for each pair once.
    """

    indices: np.ndarray
    objective_before: float
    objective_after: float
    n_swaps: int
    n_passes: int
    n_distances: int


def refine(
    space: TrainingSpace,
    y: Any,
    indices: Any,
    *,
    n_prototypes: int | None = None,
    steepness: Iterable[float] | None = None,
    n_starts: int | None = None,
    max_time: float | None = None,
    callback: Callback | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> Refinement:
    """Improve a set of prototypes, whichever method chose it.

    Parameters
    ----------
    space : TrainingSpace
        Space of the training objects, as ``protoset.spaces.make_space`` makes it.
    y : array-like of shape (n_objects,)
        Their labels.
    indices : array-like of int
        The prototypes to start from, at least one of each class.
    n_prototypes : int, optional
        The budget; by default as many as are given.
    steepness : iterable of float, optional
        Steepness of the loss, step by step; by default 5, 10, 20, 40 up to 2,048 objects, else 10, 40.
    n_starts : int, optional
        How many sets to refine, of which the best is returned: the given one and random ones. By default 4
        up to 2,048 objects, else 1.
    max_time : float, optional
        Seconds after which the best set so far is returned, with a ``ConvergenceWarning``. Ctrl-C during
        the search does the same.
    callback : callable, optional
        Called now and then with a :class:`SearchProgress`; ends the search by returning True.
    n_jobs : int, optional
        Workers of the neighbour search. Changes no result.
    random_state : int or RandomState, optional
        Draws the order of the candidates and the further sets to start from; with None, always the same.
    verbose : int, default=0
        Above 0, print to stderr how far it is.

    Returns
    -------
    Refinement

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset import refine
    >>> from protoset.spaces import make_space
    >>> X, y = load_iris(return_X_y=True)
    >>> refined = refine(make_space(X), y, [0, 1, 50, 51, 100, 101])
    >>> bool(refined.objective_after < refined.objective_before)
    True
    """
    codes, start, budget, steps = _check(space, y, indices, n_prototypes, steepness)
    check_limits(max_time, callback)
    check_seed(random_state)
    n = len(codes)
    starts = (STARTS if n <= MANY_OBJECTS else STARTS_OF_MANY) if n_starts is None else n_starts
    check_count("n_starts", starts, least=1, remedy="pass how many sets to refine")
    counted = space if isinstance(space, CountedSpace) else CountedSpace(space)
    before = counted.n_distances
    generator = check_random_state(0 if random_state is None else random_state)
    sight = Sight(counted, n_neighbors=-(-REACH * n // len(start)), n_jobs=n_jobs)
    limits = SearchLimits(max_time, callback, verbose, "steps of the refinement")
    search = _Search(sight, codes, steps, limits, generator, n_steps=starts * len(steps))
    given = RefinableSet(sight, codes, start, budget, steps[-1])
    best, lowest = start, given.objective
    with limits.interruptible():
        for number in range(starts):
            prototypes = RefinableSet(
                sight, codes, start if number == 0 else _random_set(codes, len(start), generator), budget, steps[0]
            )
            search.run(prototypes)
            prototypes.set_steepness(steps[-1])
            if prototypes.objective < lowest - NEGLIGIBLE:
                best, lowest = prototypes.indices, prototypes.objective
            if limits.reason is not None:
                break
    limits.warn(search.n_done, search.n_steps)
    return Refinement(
        np.sort(best), given.objective / n, lowest / n, search.n_swaps, search.n_passes, counted.n_distances - before
    )


def _check(
    space: TrainingSpace, y: Any, indices: Any, n_prototypes: Any, steepness: Iterable[float] | None
) -> tuple[np.ndarray, np.ndarray, int, tuple[float, ...]]:
    n = space.shape[0]
    if space.partial:
        raise ValueError("refine asks for dissimilarities that a sparse graph does not hold; pass a dense matrix")
    classes, codes = check_labels(y, n)
    start = np.asarray(indices)
    if start.ndim != 1 or start.dtype.kind not in "iu" or len(start) == 0:
        raise ValueError(f"indices={indices!r} must be positions of training objects, such as sample_indices_")
    if start.min() < 0 or start.max() >= n or len(np.unique(start)) < len(start):
        raise ValueError(f"indices must be different positions from 0 to {n - 1}")
    missing = np.setdiff1d(codes, codes[start])
    if len(missing):
        raise ValueError(
            f"indices hold no object of the classes {classes[missing].tolist()}; add one of each, "
            "as every selector does"
        )
    budget = len(start) if n_prototypes is None else n_prototypes
    if not is_count(budget) or not len(start) <= budget <= n:
        raise ValueError(
            f"n_prototypes={n_prototypes!r} must be a count from the {len(start)} prototypes given to the {n} "
            "training objects"
        )
    if steepness is None:
        steepness = STEEPNESS if n <= MANY_OBJECTS else STEEPNESS_OF_MANY
    steps = tuple(check_real("steepness", s, above=0, remedy="the default is (5, 10, 20, 40)") for s in steepness)
    if not steps:
        raise ValueError("steepness=() must hold at least one number; the default is (5, 10, 20, 40)")
    return codes, start.astype(np.int64), int(budget), steps


def _random_set(codes: np.ndarray, size: int, random_state: np.random.RandomState) -> np.ndarray:
    """One object of each class, and others whatever their class."""
    order = random_state.permutation(len(codes))
    _, first = np.unique(codes[order], return_index=True)
    return np.concatenate([order[first], np.delete(order, first)])[:size]


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
        indptr = np.arange(n + 1) * length
        self.indptr, self.rows, self.column = kernels.refining.turn_round(n, indptr, raw.indices, raw.distances)

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
        tolerance = TOLERANCE if len(self._codes) <= MANY_OBJECTS else TOLERANCE_OF_MANY
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


class _Search:
    """Runs through the steps of steepness, each until no move helps."""

    def __init__(
        self,
        sight: Sight,
        codes: np.ndarray,
        steps: tuple[float, ...],
        limits: SearchLimits,
        random_state: np.random.RandomState,
        n_steps: int,
    ):
        self._n, self._steps, self._limits, self._random_state = len(codes), steps, limits, random_state
        self.n_steps, self.n_done, self.n_swaps, self.n_passes = n_steps, 0, 0, 0

    def run(self, prototypes: RefinableSet) -> None:
        """Refine a set."""
        for steepness in self._steps:
            prototypes.set_steepness(steepness)
            if not self._settle(prototypes):
                return
            self.n_done += 1

    def _settle(self, prototypes: RefinableSet) -> bool:
        """Make moves until a whole pass makes none; return False if the search has to end."""
        order = self._random_state.permutation(self._n)
        number = tried = 0
        while tried < self._n:
            found, place = prototypes.next_move(order, number)
            candidate = order[found] if 0 <= found < self._n else -1
            if found < self._n and prototypes.move(candidate, place):
                self.n_swaps += 1
                tried = 0
            elif found >= 0:
                tried += found - number + 1
            number = number if found < 0 else found + 1
            if number >= self._n:
                number, self.n_passes = 0, self.n_passes + 1
            if self._limits.reached(self.n_done, self.n_steps, prototypes.accuracy, len(prototypes.indices)):
                return False
        return True
