"""How prototypes are to move: chosen by errors on training objects that the moves did not see.

    training objects -> folds -> moves on the other folds, by each course -> errors on the fold -> the best course

Few objects are divided into several folds; of many one part is held out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import delayed

from protoset import kernels
from protoset._blocks import in_threads, row_slices
from protoset.adaptation.descent import LOSS_STEEPNESS, Course, MovingSet, Watch, WeightedObjects, descend, row_bytes
from protoset.spaces.movable import MovableObjects

FEW_OBJECTS = 2048
"""Objects up to which the choice is made by cross-validation."""

N_FOLDS = 5
"""Folds of the cross-validation."""

HELD_OUT = 0.2
"""Share of the objects that is held out where there are more."""

MOST_HELD_OUT = 4096
"""Objects that are held out at most."""

TRIAL_OBJECTS = 16_384
"""Objects among which a course is tried at most."""


@dataclass(frozen=True)
class Errors:
    """Errors of prototypes on some objects.

    Attributes
    ----------
    wrong : ndarray of float
        For each object its weight where another class is nearer, half of it where both are as near, else 0.
    loss : float
        Sum of the relative losses, by weight.
    """

    wrong: np.ndarray
    loss: float

    @property
    def rate(self) -> float:
        """Mean error per object, by weight."""
        return float(self.wrong.sum()) / len(self.wrong)

    @property
    def mean_loss(self) -> float:
        """Mean relative loss per object, by weight."""
        return self.loss / len(self.wrong)

    @property
    def cost(self) -> float:
        """Return what sets are compared by: the error, and the loss, which differs less by chance."""
        return self.rate + self.mean_loss


def measure(objects: WeightedObjects, prototypes: MovingSet, rows: np.ndarray) -> Errors:
    """Errors of prototypes on some objects."""
    wrong, loss = np.empty(len(rows)), 0.0
    for part in row_slices(len(rows), 3 * row_bytes(objects.movable, len(prototypes.labels))):
        some = rows[part]
        codes, weights = objects.codes[some], objects.weights[some]
        distances, labels = objects.distances(prototypes, some)
        is_same = labels == codes[:, None]
        same = np.where(is_same, distances, np.inf).min(axis=1)
        other = np.where(is_same, np.inf, distances).min(axis=1)
        wrong[part] = weights * ((same > other) + 0.5 * (same == other))
        loss += kernels.adapting.relative_loss(
            distances, labels, codes, weights, LOSS_STEEPNESS, np.empty_like(distances)
        )
    return Errors(wrong, loss)


def held_out_folds(codes: np.ndarray, generator: np.random.RandomState, *, one: bool = False) -> list[np.ndarray]:
    """Objects to hold out: all in turn where there are few, else one part, as with ``one``; classes in equal shares."""
    shuffled = generator.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    if len(codes) <= FEW_OBJECTS and not one:
        return [np.sort(by_class[fold::N_FOLDS]) for fold in range(N_FOLDS)]
    every = max(round(1 / HELD_OUT), -(-len(codes) // MOST_HELD_OUT))
    return [np.sort(by_class[::every])]


@dataclass(frozen=True, eq=False)
class Trial:
    """Prototypes to start from, the objects that they move among, and others that are held out."""

    start: MovingSet
    seen: np.ndarray
    held_out: np.ndarray


def in_memory(objects: WeightedObjects, trials: list[Trial]) -> tuple[WeightedObjects, list[Trial]]:
    """Take the objects of some trials into memory, once for all of them."""
    rows = np.unique(np.concatenate([part for trial in trials for part in (trial.seen, trial.held_out)]))
    taken = objects.take(rows)
    if taken is None:
        return objects, trials

    def moved_to(trial: Trial) -> Trial:
        start = MovingSet(trial.start.moved, trial.start.labels, trial.start.own[rows])
        return Trial(start, *(np.searchsorted(rows, part) for part in (trial.seen, trial.held_out)))

    return taken, [moved_to(trial) for trial in trials]


def try_courses(
    objects: WeightedObjects,
    trials: list[Trial],
    courses: list[Course],
    generator: np.random.RandomState,
    *,
    watch: Watch | None = None,
    n_jobs: int | None = None,
) -> tuple[Errors, list[Errors]]:
    """Errors on the held-out objects, before the moves and after each course."""
    objects, trials = in_memory(objects, trials)
    seeds = generator.randint(2**31, size=len(trials))

    def attempt(course: Course, number: int) -> Errors:
        trial = trials[number]
        moved = descend(objects, trial.start, trial.seen, course, np.random.RandomState(seeds[number]), watch)
        return measure(objects, moved, trial.held_out)

    attempts = [(course, number) for course in courses for number in range(len(trials))]
    tried = in_threads(n_jobs)(delayed(attempt)(*each) for each in attempts)
    after = [_join(tried[first : first + len(trials)]) for first in range(0, len(tried), len(trials))]
    return _join([measure(objects, trial.start, trial.held_out) for trial in trials]), after


def is_no_worse(after: Errors, before: Errors, movable: MovableObjects) -> bool:
    """Whether prototypes should move: the error is not higher, and the cost is lower.

    Costly objects have one trial with few held-out objects, so that the cost says little: the error alone counts there.
    """
    return after.rate <= before.rate and (movable.is_costly or after.cost < before.cost)


def _join(parts: list[Errors]) -> Errors:
    return Errors(np.concatenate([part.wrong for part in parts]), sum(part.loss for part in parts))
