"""Streams: prototypes that continue to move, batch by batch; no object is kept.

    batch -> predictions of the prototypes as they are -> prototypes of new classes -> gradient steps -> next batch

The lengths of the steps fall with the objects seen so far, but never to 0, so that the prototypes follow a drift. A
stream is immutable: ``take`` returns the next stream, so a batch that fails changes nothing.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from protoset._blocks import row_slices
from protoset._validation import check_labels
from protoset.adaptation.adapting import Adaptation
from protoset.adaptation.checks import check_relevances, why_unmovable
from protoset.adaptation.descent import (
    Course,
    MovingSet,
    WeightedObjects,
    begin_moving,
    list_length,
    nearby_prototypes,
    steps_of,
    take_steps,
    typical_distance,
)
from protoset.adaptation.settings import AdaptSettings
from protoset.exceptions import NotMovableError
from protoset.selectors._weights import ClassWeight, class_weights
from protoset.spaces import Dissimilarities, PrototypeSpace, TrainingSpace
from protoset.spaces.movable import MovableObjects, Moved

if TYPE_CHECKING:
    from protoset.kernels.moving import Moving

STREAM_STEEPNESS = 20.0
"""Steepness of the relative loss in a stream."""

STREAM_BATCH = 64
"""Objects per step; steps on fewer objects are shorter."""

STREAM_PASSES = 4
"""Passes over the objects of a batch; fewer over batches that are smaller than a step."""

FALLING_OBJECTS = 12
"""Objects per prototype, over all passes, after which the steps have fallen to 0.7 of their first length."""

SHORTEST_STEPS = 0.05
"""Shortest steps, as a share of the first ones."""

LISTING_OBJECTS = 4096
"""Number of objects after which the length of the steps and the prototypes near each object are computed again."""

FIRST_OBJECTS = 4096
"""Number of objects of the stream from which the typical distance is measured."""

ALL_LABELS = "pass a list of all labels that will ever come, for example classes=np.unique(all_labels)"
"""Way out of an error about ``classes``."""


class where_movable:  # noqa: N801
    """A method that an estimator has only if its ``_refuse_streams`` raises no error."""

    def __init__(self, method: Callable[..., Any]):
        self._method = method

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        """Return the method of an estimator, or the function where there is none."""
        if estimator is None:
            return self._method
        try:
            estimator._refuse_streams()
        except NotMovableError:
            raise
        except (TypeError, ValueError):
            # A parameter is wrong for every method: a call raises the error, hasattr does not.
            pass
        return MethodType(self._method, estimator)


@dataclass(frozen=True, eq=False)
class Batch:
    """Objects that came together.

    Attributes
    ----------
    movable : MovableObjects
        The objects as numbers.
    codes : ndarray of int
        Their classes.
    weights : ndarray of float
        Number of objects that each object stands for.
    predicted : ndarray of int or None
        Classes that were predicted before the prototypes moved on the objects; None if there were no prototypes.
    own : ndarray of int
        For each object the prototype that stands at it, or -1.
    """

    movable: MovableObjects
    codes: np.ndarray
    weights: np.ndarray
    predicted: np.ndarray | None
    own: np.ndarray


@dataclass(frozen=True, eq=False)
class Counters:
    """Counts of a stream.

    Attributes
    ----------
    n_seen : int
        Number of objects so far.
    n_taken : int
        Number of objects on which steps were taken; an object counts once per pass.
    judged, wrong : float
        Weight of the objects that were predicted before the prototypes moved on them, and of the wrong predictions.
    """

    n_seen: int
    n_taken: int = 0
    judged: float = 0.0
    wrong: float = 0.0

    @property
    def error(self) -> float:
        """Share of the wrong predictions, by weight; NaN before the first prediction."""
        return self.wrong / self.judged if self.judged > 0 else float("nan")

    def after(self, batch: Batch) -> Counters:
        """Counters with the objects and predictions of one more batch."""
        counted = replace(self, n_seen=self.n_seen + len(batch.codes))
        if batch.predicted is None:
            return counted
        wrong = float(batch.weights[batch.predicted != batch.codes].sum())
        return replace(counted, judged=self.judged + float(batch.weights.sum()), wrong=self.wrong + wrong)


@dataclass(frozen=True, eq=False)
class StreamedSet:
    """Prototypes of a stream, with their origins, counts and exemplars, in the order in which they were added.

    Attributes
    ----------
    starts : ndarray of int
        Object from which each started, as its position in the stream.
    counts : ndarray of float
        Weight of the objects of its class for which the prototype was the nearest.
    exemplars : ndarray of int
        Object of its class near each, as its position in the stream.
    reaches : ndarray of float
        Distance of the exemplar when it was chosen, plus the length of the moves of the prototype since then.
    class_counts : ndarray of float
        Objects of each class, by weight.
    """

    starts: np.ndarray
    counts: np.ndarray
    exemplars: np.ndarray
    reaches: np.ndarray
    class_counts: np.ndarray


@dataclass(frozen=True, eq=False)
class Stream:
    """Prototypes that learn from a stream, after the batches so far.

    Attributes
    ----------
    moving : Moving
        The prototypes with the state of the optimiser.
    known : StreamedSet
        Origins, counts and exemplars of the prototypes, and counts of the classes.
    counters : Counters
    budget : int
        Number of prototypes at the beginning.
    typical : float
        Typical distance of an object to its nearest prototype, the unit of the steps; 0 while it is not known.
    n_measured : int
        Number of objects from which the typical distance was measured.
    cost : float
        Sum of the weights of all objects, with those of their classes.
    n_costs : int
        Number of these objects.
    generator : RandomState
        Draws the order of the objects, and prototypes of new classes.
    n_passes : int
        Passes over all batches.
    """

    moving: Moving
    known: StreamedSet
    counters: Counters
    budget: int
    typical: float
    n_measured: int
    cost: float
    n_costs: int
    generator: np.random.RandomState
    n_passes: int = 0

    @classmethod
    def begin(
        cls,
        movable: MovableObjects,
        moved: Moved,
        labels: np.ndarray,
        known: StreamedSet,
        counters: Counters,
        random_state: int | np.random.RandomState | None,
    ) -> Stream:
        """Stream of prototypes before they move; the unit of the steps comes with the first batch."""
        start = MovingSet(moved, labels.astype(np.int64), np.empty(0, np.int64))
        generator = check_random_state(0 if random_state is None else random_state)
        return cls(
            begin_moving(start, 1.0, movable.attribute_of),
            known,
            counters,
            budget=len(labels),
            typical=0.0,
            n_measured=0,
            cost=0.0,
            n_costs=0,
            generator=np.random.RandomState(generator.randint(2**31)),
        )

    @property
    def moved(self) -> Moved:
        """Where the prototypes are."""
        return Moved(self.moving.points, self.moving.scales)

    def take(
        self, batch: Batch, settings: AdaptSettings, class_weight: ClassWeight, classes: np.ndarray, n_jobs: int | None
    ) -> Stream:
        """Return the stream after one more batch; ``n_jobs`` changes no result."""
        check_relevances(settings, batch.movable)
        weighted = np.flatnonzero(batch.weights > 0)
        class_counts = self.known.class_counts + np.bincount(batch.codes, batch.weights, minlength=len(classes))
        costs = batch.weights * class_weights(class_weight, classes, np.maximum(class_counts, 1e-300))[batch.codes]
        after = replace(
            self,
            moving=type(self.moving)(*(array.copy() for array in self.moving)),
            known=replace(self.known, class_counts=class_counts),
            generator=deepcopy(self.generator),
            cost=self.cost + float(costs.sum()),
            n_costs=self.n_costs + len(weighted),
        )
        after, own = after._with_new_classes(batch, weighted)
        objects = WeightedObjects(batch.movable, batch.codes, costs * after.n_costs / after.cost)
        after = after._measured(objects, own, weighted)
        before = after.moving.points.copy()
        n_taken = self.counters.n_taken
        n_passes = passes_over(len(weighted), settings) if after.typical > 0.0 else 0
        for _ in range(n_passes):
            after._move(objects, own, after.generator.permutation(weighted), settings, n_taken, n_jobs)
            n_taken += len(weighted)
        counters = replace(self.counters.after(batch), n_taken=n_taken)
        return replace(
            after, known=_counted(after, batch, weighted, before), counters=counters, n_passes=self.n_passes + n_passes
        )

    def _with_new_classes(self, batch: Batch, weighted: np.ndarray) -> tuple[Stream, np.ndarray]:
        """Add prototypes at objects of classes without any, in proportion to the share of the class in the batch."""
        missing = np.setdiff1d(batch.codes[weighted], self.moving.labels)
        if not len(missing):
            return self, batch.own
        drawn = []
        for code in missing:
            members = weighted[batch.codes[weighted] == code]
            wanted = max(1, round(self.budget * len(members) / len(weighted)))
            drawn.append(self.generator.permutation(members)[:wanted])
        rows = np.sort(np.concatenate(drawn))
        own, n_before = batch.own.copy(), len(self.moving.labels)
        own[rows] = n_before + np.arange(len(rows))
        known, positions = self.known, self.counters.n_seen + rows
        known = StreamedSet(
            np.concatenate([known.starts, positions]),
            np.concatenate([known.counts, np.zeros(len(rows))]),
            np.concatenate([known.exemplars, positions]),
            np.concatenate([known.reaches, np.zeros(len(rows))]),
            known.class_counts,
        )
        moving = _extended(self.moving, batch.movable.start(rows), batch.codes[rows])
        return replace(self, moving=moving, known=known), own

    def _measured(self, objects: WeightedObjects, own: np.ndarray, weighted: np.ndarray) -> Stream:
        """Measure the typical distance by the first objects of the stream."""
        if self.n_measured >= FIRST_OBJECTS and self.typical > 0.0:
            return self
        typical = typical_distance(objects, MovingSet(self.moved, self.moving.labels, own), weighted)
        n_measured = self.n_measured + len(weighted)
        typical = (self.typical * self.n_measured + typical * len(weighted)) / n_measured
        if self.typical == 0.0 and typical > 0.0:
            # The softmax starts as sharp as in a fit.
            self.moving.sharpness[0] -= 2 * np.log(typical)
        return replace(self, typical=typical, n_measured=n_measured)

    def _move(
        self,
        objects: WeightedObjects,
        own: np.ndarray,
        rows: np.ndarray,
        settings: AdaptSettings,
        n_taken: int,
        n_jobs: int | None,
    ) -> None:
        """Take steps on the objects, in the order of ``rows``; the prototypes move in place."""
        length = list_length(objects.movable, len(self.moving.labels), loss_of(settings))
        for first in range(0, len(rows), LISTING_OBJECTS):
            some = rows[first : first + LISTING_OBJECTS]
            taken = objects.take(some)
            part, positions, part_own = (
                (objects, some, own) if taken is None else (taken, np.arange(len(some)), own[some])
            )
            prototypes = MovingSet(self.moved, self.moving.labels, part_own)
            lists = np.empty((len(some), 0), np.int32)
            if length:
                lists = nearby_prototypes(part, prototypes, positions, length, n_jobs)
            # Steps have about equal numbers of objects: a step on few objects is noisy.
            per_step = -(-len(some) // -(-len(some) // STREAM_BATCH))
            course = course_at(settings, objects.movable, n_taken + first, len(self.moving.labels), per_step)
            steps = steps_of(course, self.typical, objects.movable, per_step, np.inf)
            order, coordinates = np.arange(len(some)), part.movable.coordinates
            take_steps(part, prototypes, positions, order, lists, self.moving, steps, coordinates)

    def describe(self, movable: MovableObjects, settings: AdaptSettings, classes: np.ndarray) -> Adaptation:
        """Prototypes as they are, with the error before the updates as the error on held-out objects."""
        nothing = float("nan")
        return Adaptation(
            prototypes=movable.objects(self.moved),
            labels=classes[self.moving.labels],
            relevances=self.moving.scales.copy() if settings.relevances else None,
            loss=loss_of(settings),
            objective_before=nothing,
            objective_after=nothing,
            held_out_before=nothing,
            held_out_after=self.counters.error,
            n_passes=self.n_passes,
            reason="the batch of partial_fit ended",
        )


def loss_of(settings: AdaptSettings) -> str:
    """Return the loss that a stream lowers: the relative one unless the softmax is asked for."""
    return "softmax" if settings.loss == "softmax" else "relative"


def passes_over(n_objects: int, settings: AdaptSettings) -> int:
    """Passes over a batch."""
    if settings.n_passes is not None:
        return settings.n_passes
    return min(STREAM_PASSES, -(-STREAM_PASSES * n_objects // STREAM_BATCH))


def course_at(
    settings: AdaptSettings, movable: MovableObjects, n_taken: int, n_prototypes: int, per_step: int
) -> Course:
    """Return how prototypes move after so many objects, with so many of them per step.

    The length of the steps falls with the square root of the objects taken. It grows with the square root of the
    objects per step, so that prototypes move as far over small batches as over large batches.
    """
    share = max(SHORTEST_STEPS, (1.0 + n_taken / (FALLING_OBJECTS * n_prototypes)) ** -0.5)
    share *= min(1.0, per_step / STREAM_BATCH) ** 0.5
    step = movable.step if settings.step is None else settings.step
    return Course(
        loss_of(settings),
        step=step * share,
        steepness=(STREAM_STEEPNESS, STREAM_STEEPNESS),
        relevances=settings.relevances,
    )


def continue_moving(prototypes: PrototypeSpace, objects: Any) -> tuple[MovableObjects, Moved]:
    """New objects as numbers, and prototypes that move among them; refuse prototypes that cannot move."""
    moving = prototypes.moving_among(objects)
    if moving is None:
        raise _refusal(prototypes)
    return moving


def refuse_unmovable(space: TrainingSpace) -> None:
    """Raise an error where the objects of a space cannot move."""
    if space.movable is None:
        raise _refusal(space)


def _refusal(space: Dissimilarities) -> ValueError:
    return ValueError(f"partial_fit moves the prototypes: {why_unmovable(space)}; use fit")


def check_classes(classes: Any, known: np.ndarray | None) -> np.ndarray:
    """Return all labels of a stream, sorted; refuse others than the known ones."""
    if classes is None:
        if known is None:
            raise ValueError(f"classes=None: the first call of partial_fit needs the classes; {ALL_LABELS}")
        return known
    given = _distinct_labels(classes)
    if known is None:
        if len(given) < 2:
            count = "1 class" if len(given) else "no classes"
            raise ValueError(
                f"classes={reprlib.repr(classes)} has {count}, and a stream needs at least 2; {ALL_LABELS}"
            )
        return given
    if given.tolist() != known.tolist():
        raise ValueError(
            f"classes={reprlib.repr(given.tolist())} differ from the classes {reprlib.repr(known.tolist())} of the "
            "earlier calls; leave classes out, or start again with a clone of the classifier"
        )
    return known


def _distinct_labels(classes: Any) -> np.ndarray:
    """Return the labels in ``classes``, sorted; refuse a value that is not a list of labels."""
    if np.asarray(classes, object).ndim == 0:
        raise TypeError(f"classes={reprlib.repr(classes)} is not a list of labels; {ALL_LABELS}")
    if len(classes) == 0:
        return np.empty(0)
    try:
        return check_labels(classes, len(classes), fewest=1)[0]
    except (TypeError, ValueError) as error:
        raise type(error)(f"classes={reprlib.repr(classes)} are no labels: {error}") from error


def check_batch_labels(y: Any, n_objects: int, classes: np.ndarray) -> np.ndarray:
    """Return the labels of a batch as positions in the classes; refuse unknown ones."""
    present, codes = check_labels(y, n_objects, fewest=1)
    position = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in present.tolist() if label not in position]
    if unknown:
        raise ValueError(
            f"y has the label {unknown[0]!r}, which is not among the classes {reprlib.repr(classes.tolist())}; pass "
            "all labels that will ever come as classes in the first call of partial_fit"
        )
    return np.array([position[label] for label in present.tolist()], np.int64)[codes]


def _extended(moving: Moving, points: np.ndarray, labels: np.ndarray) -> Moving:
    """Add prototypes; the squares of their gradients start at the average of the other prototypes."""
    means = moving.point_means.reshape(2, *moving.points.shape)
    all_points = _joined(moving.points, points, np.nan)
    new_means = np.zeros((2, *points.shape))
    new_means[1] = means[1].mean()
    all_means = np.stack([_joined(mean, new_mean, 0.0) for mean, new_mean in zip(means, new_means, strict=True)])
    return moving._replace(
        points=all_points,
        labels=np.concatenate([moving.labels, labels]),
        point_means=np.ascontiguousarray(all_means).reshape(2, -1),
    )


def _joined(first: np.ndarray, second: np.ndarray, fill: float) -> np.ndarray:
    """Rows of two arrays; series with fewer points are padded."""
    width = max(first.shape[1], second.shape[1])
    rows = np.full((len(first) + len(second), width, *first.shape[2:]), fill)
    rows[: len(first), : first.shape[1]] = first
    rows[len(first) :, : second.shape[1]] = second
    return rows


def _counted(stream: Stream, batch: Batch, weighted: np.ndarray, before: np.ndarray) -> StreamedSet:
    """Add the objects of a batch to the nearest prototype of their class, and take near ones as exemplars."""
    moving, known = stream.moving, stream.known
    counts, exemplars, reaches = known.counts.copy(), known.exemplars.copy(), known.reaches.copy()
    reaches += batch.movable.lengths_of_moves(before, stream.moved)
    reaches[np.isnan(reaches)] = stream.typical
    for code in np.unique(batch.codes[weighted]):
        columns, rows = np.flatnonzero(moving.labels == code), weighted[batch.codes[weighted] == code]
        some = Moved(moving.points[columns], moving.scales)
        for part in row_slices(len(rows), len(columns) * 8):
            distances = batch.movable.distances(rows[part], some)
            counts[columns] += np.bincount(distances.argmin(axis=1), batch.weights[rows[part]], minlength=len(columns))
            nearest = distances.argmin(axis=0)
            nearest_distances = distances[nearest, np.arange(len(columns))]
            is_nearer = nearest_distances < reaches[columns]
            exemplars[columns[is_nearer]] = stream.counters.n_seen + rows[part][nearest[is_nearer]]
            reaches[columns[is_nearer]] = nearest_distances[is_nearer]
    return replace(known, counts=counts, exemplars=exemplars, reaches=reaches)
