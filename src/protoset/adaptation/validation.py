"""How prototypes are to move: chosen by errors on training objects that the moves did not see.

    training objects -> folds -> moves on the other folds, by each course -> errors on the fold -> the best course

Few objects are divided into several folds; of many one part is held out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from joblib import delayed
from scipy.special import expit

from protoset._blocks import in_threads, one_blas_thread, row_slices
from protoset.adaptation.descent import (
    LOSS_STEEPNESS,
    Course,
    MovingSet,
    Watch,
    WeightedObjects,
    descend,
    list_length,
    nearby_prototypes,
    row_bytes,
)
from protoset.selectors._distinct import DistinctObjects
from protoset.selectors.size import copies_in_fold, copies_of
from protoset.spaces.movable import MovableObjects

FEW_OBJECTS = 2048
"""Largest number of objects for which the course is chosen by cross-validation."""

N_FOLDS = 5
"""Folds of the cross-validation."""

N_RACED = 3
"""Folds in which all courses are tried; the best one goes on to the other folds."""

HELD_OUT = 0.2
"""Share of the objects that is held out above ``FEW_OBJECTS``."""

MOST_HELD_OUT = 4096
"""Largest number of held-out objects, of many."""

TRIAL_OBJECTS = 16_384
"""Largest number of objects among which a course is tried."""


@dataclass(frozen=True)
class Errors:
    """Errors of prototypes on some objects.

    Attributes
    ----------
    wrong : ndarray of float
        Weight of each object if another class is nearer, half its weight if both are equally near, else 0.
    loss : float
        Sum of the relative losses, by weight.
    weight : float
        Sum of the weights.
    """

    wrong: np.ndarray
    loss: float
    weight: float

    @property
    def rate(self) -> float:
        """Mean error per object, by weight."""
        return float(self.wrong.sum()) / self.weight

    @property
    def mean_loss(self) -> float:
        """Mean relative loss per object, by weight."""
        return self.loss / self.weight

    @property
    def cost(self) -> float:
        """Sum of the error and the mean loss, by which sets are compared: the loss varies less by chance."""
        return self.rate + self.mean_loss


def measure(objects: WeightedObjects, prototypes: MovingSet, rows: np.ndarray) -> Errors:
    """Errors of prototypes on some objects; of many prototypes, only those near an object are compared exactly."""
    wrong, loss, movable = np.empty(len(rows)), 0.0, objects.movable
    length = 0 if movable.is_costly else list_length(movable, len(prototypes.labels), "relative")
    for part in row_slices(len(rows), 3 * row_bytes(movable, len(prototypes.labels))):
        some = rows[part]
        codes, weights = objects.codes[some], objects.weights[some]
        listed = nearby_prototypes(objects, prototypes, some, length) if length else None
        distances, labels = objects.distances(prototypes, some, listed)
        is_same = labels == codes[:, None]
        same = np.where(is_same, distances, np.inf).min(axis=1)
        other = np.where(is_same, np.inf, distances).min(axis=1)
        wrong[part] = weights * ((same > other) + 0.5 * (same == other))
        loss += float(weights @ relative_losses(same, other, LOSS_STEEPNESS))
    return Errors(wrong, loss, float(objects.weights[rows].sum()))


def relative_losses(same: np.ndarray, other: np.ndarray, steepness: float) -> np.ndarray:
    """Relative loss of each object, see ``kernels.adapting.relative_slopes``."""
    both = same + other
    is_usual = (both > 0) & (both < np.inf)
    differences = np.subtract(same, other, out=np.zeros(len(both)), where=is_usual)
    relative = np.divide(differences, both, out=differences, where=is_usual)
    return np.where(is_usual, expit(steepness * relative), np.where(same == other, 0.5, same > other))


def is_subsampled(objects: DistinctObjects) -> bool:
    """Whether trials use only a sample of the objects, and the moves leave out the held-out objects."""
    return len(objects) > TRIAL_OBJECTS + MOST_HELD_OUT


def sample_of_trial(seen: np.ndarray, generator: np.random.RandomState) -> np.ndarray:
    """Return the objects among which a course is tried: all that are not held out, or a sample of them."""
    return seen if len(seen) <= TRIAL_OBJECTS else np.sort(generator.permutation(seen)[:TRIAL_OBJECTS])


def held_out_shares(
    objects: DistinctObjects, generator: np.random.RandomState, *, one: bool = False
) -> Iterator[np.ndarray]:
    """Share of each object to hold out, for each fold; only one fold if there are many objects, or with ``one``.

    Classes are held out in equal parts. Of an object with copies, some copies are held out and the others are not. If
    trials use a sample, an object is held out with all its copies: nearly all objects may have copies.
    """
    n, is_one = len(objects), one or len(objects) > FEW_OBJECTS
    n_parts = max(round(1 / HELD_OUT), -(-n // MOST_HELD_OUT)) if is_one else N_FOLDS
    shuffled, copies = generator.permutation(n), np.ones(n) if is_subsampled(objects) else copies_of(objects)
    by_class = shuffled[np.argsort(objects.codes[shuffled], kind="stable")]
    copies = copies[by_class]
    for part in range(1 if is_one else n_parts):
        shares = np.empty(n)
        shares[by_class] = copies_in_fold(copies, n_parts, part) / copies
        yield shares


@dataclass(frozen=True, eq=False)
class Trial:
    """Prototypes to start from, the objects that they move among, and others that are held out.

    Attributes
    ----------
    start : MovingSet
    seen, held_out : ndarray of int
        The objects. One with several copies may be among both.
    seen_shares, held_out_shares : ndarray of float or None
        Part of the weight of each object that is seen, or held out; None for all of it.
    """

    start: MovingSet
    seen: np.ndarray
    held_out: np.ndarray
    seen_shares: np.ndarray | None = None
    held_out_shares: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class TriedSet:
    """Prototypes that have moved, if at all, without some training objects.

    Attributes
    ----------
    objects : WeightedObjects
        Objects in memory.
    prototypes : MovingSet
        The prototypes after the moves of a trial.
    seen, held_out : ndarray of int
        Objects that they moved among, and others, as rows of ``objects``.
    trial : Trial
        The trial, with the rows of all training objects.
    """

    objects: WeightedObjects
    prototypes: MovingSet
    seen: np.ndarray
    held_out: np.ndarray
    trial: Trial

    def distances(self, rows: np.ndarray) -> np.ndarray:
        """Distances of some of the objects to the prototypes, as the metric has them."""
        return self.objects.movable.measured(self.objects.distances(self.prototypes, rows)[0])


@dataclass(frozen=True, eq=False)
class Attempts:
    """What a course did in all trials: the errors on the held-out objects, and the prototypes of each trial."""

    errors: Errors
    sets: list[TriedSet]


def in_memory(objects: WeightedObjects, trials: list[Trial]) -> tuple[WeightedObjects, list[Trial]]:
    """Take the objects of some trials into memory, once for all of them."""
    rows = np.unique(np.concatenate([part for trial in trials for part in (trial.seen, trial.held_out)]))
    taken = objects.take(rows)
    if taken is None:
        return objects, trials

    def moved_to(trial: Trial) -> Trial:
        start = MovingSet(trial.start.moved, trial.start.labels, trial.start.own[rows])
        seen, held_out = (np.searchsorted(rows, part) for part in (trial.seen, trial.held_out))
        return replace(trial, start=start, seen=seen, held_out=held_out)

    return taken, [moved_to(trial) for trial in trials]


def try_courses(
    objects: WeightedObjects,
    trials: list[Trial],
    courses: list[Course],
    generator: np.random.RandomState,
    *,
    watch: Watch | None = None,
    n_jobs: int | None = None,
) -> tuple[Course, Attempts, Attempts]:
    """Find the best course; returns it with the state of all trials before its moves and after them."""
    given = trials
    n_distinct = len(objects.codes)
    objects, trials = in_memory(objects, trials)
    seeds = generator.randint(2**31, size=len(trials))

    def attempt(course: Course, number: int) -> MovingSet:
        trial = trials[number]
        seen = _with_shares(objects, trial.seen, trial.seen_shares)
        return descend(seen, trial.start, trial.seen, course.trial_course, np.random.RandomState(seeds[number]), watch)

    def judge(prototypes: list[MovingSet]) -> Attempts:
        errors, sets = [], []
        for original, trial, some in zip(given, trials, prototypes, strict=False):
            held_out = _with_shares(objects, trial.held_out, trial.held_out_shares)
            errors.append(measure(held_out, some, trial.held_out))
            sets.append(TriedSet(objects, some, trial.seen, trial.held_out, original))
        return Attempts(_join(errors), sets)

    raced = range(min(N_RACED, len(trials)))
    with one_blas_thread():
        moved = in_threads(n_jobs)(delayed(attempt)(course, number) for course in courses for number in raced)
    by_course = [moved[first : first + len(raced)] for first in range(0, len(moved), len(raced))]
    best = best_of([judge(each).errors for each in by_course], courses, n_distinct)
    others = range(len(raced), len(trials))
    with one_blas_thread():
        rest = in_threads(n_jobs)(delayed(attempt)(courses[best], number) for number in others)
    return courses[best], judge([trial.start for trial in trials]), judge([*by_course[best], *rest])


def n_trial_passes(courses: list[Course], n_trials: int) -> int:
    """Largest number of passes that all trials together can make."""
    n_raced, passes = min(N_RACED, n_trials), [course.trial_course.n_passes for course in courses]
    return n_raced * sum(passes) + (n_trials - n_raced) * max(passes)


def best_of(errors: list[Errors], courses: list[Course], n_objects: int) -> int:
    """Position of the best course: by cost among few objects, by error among many, of which many are held out.

    The cost contains the relative loss, so it favours courses that lower this loss. Courses may have an advantage in
    the cost.
    """
    if n_objects <= FEW_OBJECTS:
        return min(range(len(errors)), key=lambda number: errors[number].cost - courses[number].advantage)
    return min(range(len(errors)), key=lambda number: (errors[number].rate, errors[number].loss))


def should_move(after: Errors, before: Errors, movable: MovableObjects) -> bool:
    """Whether prototypes should move: the error is not higher, and the cost is lower.

    Costly objects have one trial with few held-out objects, so that the cost says little: the error alone counts there.
    """
    return after.rate <= before.rate and (movable.is_costly or after.cost < before.cost)


def _join(parts: list[Errors]) -> Errors:
    wrong, weight = np.concatenate([part.wrong for part in parts]), sum(part.weight for part in parts)
    return Errors(wrong, sum(part.loss for part in parts), weight)


def _with_shares(objects: WeightedObjects, rows: np.ndarray, shares: np.ndarray | None) -> WeightedObjects:
    """The objects; the weights of some rows are multiplied by their shares."""
    if shares is None:
        return objects
    weights = objects.weights.copy()
    weights[rows] *= shares
    return replace(objects, weights=weights)
