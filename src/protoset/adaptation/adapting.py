"""Adaptation: prototypes that move, for the set of any method.

    training objects, prototypes -> trials on held-out objects -> the better course -> moves on all objects

The moves are in ``protoset.adaptation.descent``, the choice of the course is in ``protoset.adaptation.validation``.
This file has the function of users, the order of the stages, and the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset._arrays import row_pointers
from protoset._blocks import row_slices
from protoset._cluster import gathered_labels, is_dask, resolve_client
from protoset._display import Brief
from protoset._validation import check_jobs
from protoset.adaptation.checks import (
    check_movable,
    check_names,
    check_relevances,
    prototype_codes,
    read_prototypes,
    refuse_constant_attributes,
    refuse_no_prototypes,
    weightless_classes,
)
from protoset.adaptation.descent import CHUNK_OBJECTS, Course, MovingSet, WeightedObjects, descend, row_bytes
from protoset.adaptation.settings import AdaptSettings, Loss
from protoset.adaptation.validation import (
    Attempts,
    Errors,
    Trial,
    TriedSet,
    held_out_shares,
    is_subsampled,
    measure,
    n_trial_passes,
    sample_of_trial,
    should_move,
    try_courses,
)
from protoset.selectors._distinct import DistinctObjects, TrainingSet
from protoset.selectors._limits import Callback, SearchLimits
from protoset.selectors._weights import ClassWeight, check_class_weight, refuse_unknown_labels
from protoset.spaces import as_space
from protoset.spaces._hashes import hash_rows
from protoset.spaces.movable import MovableObjects, Moved

OBJECTIVE_OBJECTS = 16_384
"""Largest number of objects on which the objective is measured."""

SelectWithout = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray | None]]
"""Maps training objects and their counts to the prototypes that the method chooses among them, and their degradations.

The degradations are None if the prototypes were not chosen by a ranking alone."""


@dataclass(frozen=True, eq=False, repr=False)
class Adaptation(Brief):
    """Result of an adaptation: moved prototypes, with their losses and errors.

    Attributes
    ----------
    prototypes : array or list
        The prototypes, as objects of the same kind as the training objects. A value between several categories is a
        dict of their shares.
    labels : ndarray
        Labels of the prototypes, as they were given.
    relevances : ndarray of float or None
        Learned scale of each attribute, or of each channel of series; the mean is 1. None if no scales were learned. A
        scale multiplies the squared differences of its attribute; under "cityblock" and "gower" its square root
        multiplies the absolute differences.
    loss : str
        The loss of the chosen course: "relative" or "softmax". If the trials chose none, the loss of the first course.
    objective_before, objective_after : float
        Mean relative loss of the training objects, by weight: with the given prototypes, and with the moved
        prototypes. For very many objects, the mean over a sample.
    held_out_before, held_out_after : float
        Error on held-out training objects, before and after the moves; equal if nothing moved. NaN if Ctrl-C ended the
        trials. After ``partial_fit`` the first is NaN and the second is ``prequential_error_``.
    n_passes : int
        Number of passes over the training objects, 0 if nothing moved; after ``partial_fit``, over all batches.
        Passes of trials do not count.
    reason : str
        Why the moves ended: "the steps fell to 0", or the reason why they were stopped or not made.
    """

    prototypes: Any
    labels: np.ndarray
    relevances: np.ndarray | None
    loss: str
    objective_before: float
    objective_after: float
    held_out_before: float
    held_out_after: float
    n_passes: int
    reason: str

    @property
    def has_moved(self) -> bool:
        """Whether the prototypes differ from the given prototypes."""
        return self.n_passes > 0


def adapt(
    X: Any,
    y: Any,
    prototypes: Any,
    labels: Any,
    *,
    sample_weight: Any = None,
    class_weight: ClassWeight = None,
    metric: Any = "auto",
    metric_params: Mapping[str, Any] | None = None,
    loss: Loss = "auto",
    relevances: bool = False,
    n_passes: int | None = None,
    step: float | None = None,
    max_time: float | None = None,
    callback: Callback | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> Adaptation:
    """Move prototypes by gradient steps, so that they classify the training objects better.

    The prototypes may come from any method. Trial moves on held-out training objects come first; the prototypes move
    only if the trials improve them.

    Parameters
    ----------
    X : array-like, Dask array or DataFrame, or TrainingSpace
        The training objects, of a kind that can move: vectors, mixed attributes or series. Vectors in a memory-mapped
        array or on a Dask cluster are read chunk by chunk.
    y : array-like of shape (n_objects,)
        Labels of the training objects.
    prototypes : array-like
        The prototypes to start from: objects of the same kind as ``X``, often some of them.
    labels : array-like of shape (n_prototypes,)
        Labels of the prototypes. They do not change.
    sample_weight : array-like of shape (n_objects,), optional
        Weight of each object: a weight of 2 is the object twice.
    class_weight : dict, "balanced" or None, default=None
        Cost of an error on an object of each class, as in :class:`REPS`.
    metric, metric_params
        Dissimilarity between objects, as in :class:`REPS`.
    loss : {"auto", "relative", "softmax"}, default="auto"
        Loss that the moves lower. ``"relative"`` is the loss of the refinement: it compares the nearest prototype of
        the object's class with the nearest prototype of another class. ``"softmax"`` uses all prototypes, and is often
        better with many classes. ``"auto"`` chooses by the trials; for series it is ``"relative"``.
    relevances : bool, default=False
        Whether to learn a scale for each attribute as well, or for each channel of series.
    n_passes : int, optional
        Number of passes over the objects. By default 40, and 20 for series; see Notes.
    step : float, optional
        Length of the first steps, in units of the typical distance of an object to its nearest prototype; the length
        falls to 0. By default 0.1 (0.2 for the relative loss and more than 2,048 objects), and 0.4 for series.
    max_time : float, optional
        Seconds after which the moves stop, with a ``SearchStoppedWarning``. The latest prototypes are returned; during
        the trials, the given prototypes.
    callback : callable, optional
        Called with a :class:`SearchProgress` after each pass of the trials and of the moves (for more than 65,536
        objects, or more than 512 MB of coordinates, after each chunk of a pass). Return True to end the adaptation.
    n_jobs : int, optional
        Number of workers of the trials, and of the search for near prototypes if there are many. It does not change
        any result.
    random_state : int or RandomState, optional
        Seed of the held-out objects and of the order of the objects. With None a fixed seed is used.
    verbose : int, default=0
        Above 0, print progress to stderr.

    Returns
    -------
    Adaptation
        The moved prototypes, with their losses and errors.

    Notes
    -----
    The prototypes move only if, on held-out training objects, the error does not rise and the sum of error and mean
    loss falls; for series, if the error does not rise. Moves among all objects are undone if the error on the training
    objects is then above both errors before the moves: on the training objects and on the held-out objects.

    Prototypes that were selected from all objects have too low errors on held-out objects. For ``REPS`` and
    ``Refined(REPS())``, :class:`PrototypeClassifier` therefore selects again without the held-out objects.

    By default, the softmax loss makes 100 passes for more than 2,048 objects (50 for series), the trials of so many
    objects make 20 passes, and both losses make fewer passes for more than 50,000 objects. For up to 2,048 objects, the
    trials also include a short run of 10 passes if neither ``step`` nor ``n_passes`` is given. The trial of series
    makes a quarter of the passes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset import adapt
    >>> X, y = load_iris(return_X_y=True)
    >>> adapted = adapt(X, y, X[[0, 50, 100]], y[[0, 50, 100]])
    >>> bool(adapted.held_out_after < adapted.held_out_before)
    True
    """
    settings = AdaptSettings(loss, relevances, n_passes, step, max_time, callback, random_state, verbose).checked()
    n_jobs, class_weight = check_jobs(n_jobs), check_class_weight(class_weight)
    refuse_no_prototypes(prototypes)
    client = resolve_client(None, X) if is_dask(X) else None
    y = gathered_labels(y, client)
    space = as_space(X, metric, metric_params, y=y, client=client)
    check_movable(space)
    training = ordered_for_moves(TrainingSet.of(space, y, sample_weight))
    refuse_unknown_labels(class_weight, training.objects.classes)
    movable = check_movable(space, training)
    check_names(X, prototypes)
    points = read_prototypes(movable, prototypes)
    codes = prototype_codes(labels, training.objects.classes, len(points), weightless_classes(y, training))
    moved = Moved(points, np.ones(movable.n_scales))
    homes = _homes(movable, training.objects, moved, codes)
    start = MovingSet(moved, codes, _own(training.objects, homes))
    adapted = adapt_set(movable, training.objects, start, settings, class_weight=class_weight, n_jobs=n_jobs)
    adaptation = adapted.adaptation
    # Missing values of prototypes are filled in for the moves only.
    return adaptation if adaptation.has_moved else replace(adaptation, prototypes=prototypes)


@dataclass(frozen=True, eq=False)
class AdaptedSet:
    """Result of an adaptation, for further work with its prototypes.

    Attributes
    ----------
    prototypes : MovingSet
    adaptation : Adaptation
    tried_sets : list of TriedSet
        Sets of the trials. If the set has moved, each of them has moved too, without its held-out objects. If trials
        use a sample, the set itself: it has moved without the held-out objects too.
    was_stopped : bool
        Whether a limit, the callback or Ctrl-C ended the trials or the moves.
    """

    prototypes: MovingSet
    adaptation: Adaptation
    tried_sets: list[TriedSet]
    was_stopped: bool


def adapt_set(
    movable: MovableObjects,
    objects: DistinctObjects,
    start: MovingSet,
    settings: AdaptSettings,
    *,
    class_weight: ClassWeight,
    n_jobs: int | None = None,
    select: SelectWithout | None = None,
) -> AdaptedSet:
    """Move prototypes among distinct objects; see :func:`adapt`.

    ``select`` chooses the prototypes for the trials; by default they start from the given ones.
    """
    check_relevances(settings, movable)
    if settings.relevances:
        refuse_constant_attributes(movable)
    limits = SearchLimits(settings.max_time, settings.callback, settings.verbose, "passes of the adaptation")
    random_state = check_random_state(0 if settings.random_state is None else settings.random_state)
    weighted = WeightedObjects.of(movable, objects, class_weight)
    everything = np.arange(len(objects))
    measured = everything[:: -(-len(everything) // OBJECTIVE_OBJECTS)]
    first = measure(weighted, start, measured)
    courses = settings.courses(movable, len(objects), len(objects.classes))
    watch = _Watch(weighted, limits, measured, first.rate)
    before = after = Attempts(Errors(np.empty(0), math.nan, math.nan), [])
    course: Course | None = None
    with limits.interruptible():
        trials = _trials(objects, movable, start, select, random_state)
        watch.most = n_trial_passes(courses, len(trials)) + courses[0].n_passes
        best, before, after = try_courses(weighted, trials, courses, random_state, watch=watch, n_jobs=n_jobs)
        if should_move(after.errors, before.errors, movable):
            course = best
        if course is not None and limits.reason is None:
            watch.begin(course.n_passes)
            rows = _left(objects, trials)
            descend(weighted, start, rows, course, random_state, watch, n_jobs)
    limits.warn(watch.n_passes, watch.most)
    moved, last = start, first
    if watch.latest is not None:
        last = measure(weighted, watch.latest, measured)
        # Trials have shown that moves help; this is for moves that diverge among all objects.
        moved, last = (watch.latest, last) if last.rate <= max(first.rate, before.errors.rate) else (start, first)
    adaptation = Adaptation(
        prototypes=movable.objects(moved.moved),
        labels=objects.classes[moved.labels],
        relevances=moved.moved.scales if settings.relevances else None,
        loss=(course or courses[0]).loss,
        objective_before=first.mean_loss,
        objective_after=last.mean_loss,
        held_out_before=before.errors.rate,
        held_out_after=(before if moved is start else after).errors.rate,
        n_passes=0 if moved is start else math.ceil(round(watch.n_passes - watch.begun, 6)),
        reason=_why_ended(limits, course, has_begun=watch.latest is not None, has_stayed=moved is start),
    )
    tried_sets = (before if moved is start else after).sets
    if is_subsampled(objects) and tried_sets:
        # Trials are much smaller than the result; the held-out objects took no part in the moves of the result either.
        sample = trials[0]
        tried_sets = [TriedSet(weighted, moved, sample.seen, sample.held_out, sample)]
    return AdaptedSet(moved, adaptation, tried_sets, limits.reason is not None)


def _left(objects: DistinctObjects, trials: list[Trial]) -> np.ndarray:
    """Objects to move among; if trials use a sample, all but their held-out objects, to measure an error later."""
    everything = np.arange(len(objects))
    return np.delete(everything, trials[0].held_out) if is_subsampled(objects) else everything


class _Watch:
    """Counts the passes of trials and moves, asks the limits whether to stop, and keeps the latest prototypes."""

    def __init__(self, objects: WeightedObjects, limits: SearchLimits, measured: np.ndarray, error: float):
        self._objects, self._limits, self._measured, self._error = objects, limits, measured, error
        self._lock = Lock()
        self.n_passes, self.most, self.begun = 0.0, 0, 0.0
        self.latest: MovingSet | None = None
        self._is_final = False

    def begin(self, n_passes: int) -> None:
        """Note that the trials are over: the moves from now on, in ``n_passes`` passes, are the result."""
        self._is_final, self.begun, self.most = True, self.n_passes, round(self.n_passes) + n_passes

    def __call__(self, prototypes: MovingSet, share: float) -> bool:
        """Count a share of a pass."""
        with self._lock:
            self.n_passes += share
            if self._is_final:
                self.latest = prototypes
                if self._limits.is_watched:
                    self._error = measure(self._objects, prototypes, self._measured).rate
            return self._limits.reached(self.n_passes, self.most, 1.0 - self._error, len(prototypes.labels))


def _why_ended(limits: SearchLimits, course: Course | None, *, has_begun: bool, has_stayed: bool) -> str:
    if limits.reason is not None:
        return f"stopped {limits.reason}"
    if course is None:
        return "the moves did not lower the error on held-out objects"
    if not has_begun:
        return "most training objects are at distance 0 from a prototype"
    return "the moves raised the error on the training objects" if has_stayed else "the steps fell to 0"


def _trials(
    objects: DistinctObjects,
    movable: MovableObjects,
    start: MovingSet,
    select: SelectWithout | None,
    random_state: np.random.RandomState,
) -> list[Trial]:
    """Hold out training objects: few objects in several folds, many objects as one part.

    With ``select``, prototypes are selected anew without the held-out objects. Else the trials start from the given
    prototypes, which may know the held-out objects.
    """
    trials = []
    for shares in held_out_shares(objects, random_state, one=movable.is_costly):
        seen, held_out = np.flatnonzero(shares < 1), np.flatnonzero(shares)
        seen = sample_of_trial(seen, random_state)
        first = start
        if select is not None:
            kept, _ = select(seen, (objects.counts * (1 - shares))[seen])
            first = starting_set(movable, objects, kept)
        parts = (None, None) if objects.are_single else (1 - shares[seen], shares[held_out])
        trials.append(Trial(first, seen, held_out, *parts))
    return trials


def ordered_for_moves(training: TrainingSet) -> TrainingSet:
    """Put the objects in the order of their contents, so that the order of the rows does not matter.

    More than a chunk of objects stay in the order of the rows, in which a file or a cluster reads them quickly.
    """
    return training.in_content_order() if len(training.objects) <= CHUNK_OBJECTS else training


def starting_set(movable: MovableObjects, objects: DistinctObjects, kept: np.ndarray) -> MovingSet:
    """Prototypes that stand where training objects are."""
    return MovingSet(Moved(movable.start(kept), np.ones(movable.n_scales)), objects.codes[kept], _own(objects, kept))


def _own(objects: DistinctObjects, homes: np.ndarray) -> np.ndarray:
    """For each object the prototype that started from it, or -1.

    -1 also for an object with copies: the copies are its neighbours, so the prototype counts for it.
    """
    own = np.full(len(objects), -1)
    own[homes[homes >= 0]] = np.flatnonzero(homes >= 0)
    own[objects.counts > 1] = -1
    return own


def _homes(movable: MovableObjects, objects: DistinctObjects, moved: Moved, labels: np.ndarray) -> np.ndarray:
    """For each prototype the training object of its class at the same place, or -1."""
    homes, of_prototypes = np.full(len(labels), -1), _hashes_of(moved.points, labels)
    for part in row_slices(len(objects), row_bytes(movable, 0)):
        rows = np.arange(part.start, part.stop)
        hashes = _hashes_of(movable.start(rows), objects.codes[rows])
        ascending = np.argsort(hashes)
        slots = np.searchsorted(hashes, of_prototypes, sorter=ascending)
        candidates = ascending[np.minimum(slots, len(rows) - 1)]
        is_home = hashes[candidates] == of_prototypes
        homes[is_home] = rows[candidates[is_home]]
    return homes


def _hashes_of(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Hash of the class and the coordinates of each row; series have no coordinates after their end."""
    rows = np.column_stack([labels, points.reshape(len(points), -1)])
    is_known = ~np.isnan(rows)
    return hash_rows(row_pointers(is_known.sum(axis=1)), rows[is_known])
