"""Prototypes, and training objects that they do not know, from which decisions are learned and evaluated.

    adaptation   -> sets of its trials, which moved without the held-out objects
    selection    -> sets that are selected again without some objects, in folds or once
    otherwise    -> the set itself; the distance of a prototype to itself does not count

Every object of a set has a distance to each of its prototypes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from joblib import delayed

from protoset._blocks import in_threads, n_processors, row_slices
from protoset.adaptation.adapting import ordered_for_moves, starting_set
from protoset.adaptation.descent import MovingSet, WeightedObjects
from protoset.adaptation.selected import FitLists, MovedSelection, class_weight_of, select_without, selects_again
from protoset.adaptation.validation import (
    FEW_OBJECTS,
    MOST_HELD_OUT,
    N_FOLDS,
    TRIAL_OBJECTS,
    TriedSet,
    held_out_shares,
    is_subsampled,
)
from protoset.selectors import REPS, BaseSelector
from protoset.selectors._distinct import TrainingSet
from protoset.spaces import DISSIMILARITIES, TrainingSpace
from protoset.spaces.base import Rows
from protoset.spaces.callables import CallableSpace

FOLDS, PART, LEAVE_ONE_OUT = "folds", "held-out part", "leave-one-out"
"""How objects were held out."""

QUICK_KINDS = ("vectors", "mixed attributes")
"""Kinds of objects with cheap distances: a set of more than ``FEW_OBJECTS`` is selected again too."""

KEPT_BYTES = 64 * 2**20
"""The distances between some objects and a set are kept if they take at most so many bytes."""

FEW_SERIES = 512
"""Largest number of series for which all distances are computed for the calibration alone."""


Distances = Callable[[Rows], np.ndarray]
"""Maps positions of objects to their distances to all prototypes, which may be read only."""


@dataclass(frozen=True, eq=False)
class MeasuredObjects:
    """Training objects with their distances to some prototypes.

    Attributes
    ----------
    codes : ndarray of int
        Their classes.
    weights : ndarray of float
        Number of training objects that each object stands for.
    costs : ndarray of float
        The weights, multiplied by the weight of the class.
    distances : callable
        Maps positions to distances; a prototype that is the object itself is infinitely far.
    """

    codes: np.ndarray
    weights: np.ndarray
    costs: np.ndarray
    distances: Distances

    def __len__(self) -> int:
        """Count the objects."""
        return len(self.codes)

    def sample(self, most: int) -> MeasuredObjects:
        """At most so many of the objects, drawn at random."""
        return self.take(sampled_rows(len(self), most))

    def take(self, rows: np.ndarray) -> MeasuredObjects:
        """Some of the objects."""
        arrays = self.codes[rows], self.weights[rows], self.costs[rows]
        return MeasuredObjects(*arrays, lambda some: self.distances(rows[some]))

    def blocks(self, n_prototypes: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Distances of all objects, block by block."""
        for rows in row_slices(len(self.codes), n_prototypes * 32):
            yield rows, self.distances(rows)


@dataclass(frozen=True, eq=False)
class JudgedSet:
    """Prototypes, objects that they were selected or moved on, and held-out objects.

    Attributes
    ----------
    codes, counts : ndarray
        Class of each prototype, and its votes.
    known, held_out : MeasuredObjects
    degradations : ndarray or None
        Degradations of the prototypes, if the ranking of REPS alone chose them.
    """

    codes: np.ndarray
    counts: np.ndarray
    known: MeasuredObjects
    held_out: MeasuredObjects
    degradations: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Sets that objects were held out from, and the set of a classifier with objects that it knows.

    Attributes
    ----------
    how : str
        "folds", "held-out part" or "leave-one-out".
    sets : list of JudgedSet
    final : JudgedSet
        The set of the classifier; nothing is held out from it.
    class_totals : ndarray of float
        Size of each class.
    """

    how: str
    sets: list[JudgedSet]
    final: JudgedSet
    class_totals: np.ndarray


def hold_out(
    space: TrainingSpace,
    training: TrainingSet,
    selector: BaseSelector,
    moved: MovedSelection | None,
    fit_lists: FitLists | None = None,
    *,
    n_jobs: int | None = None,
) -> HeldOut | None:
    """Hold training objects out of sets like that of a fitted selector; None where no distances are known.

    ``fit_lists`` has the neighbour lists of the fit. Distances are computed in ``n_jobs`` threads.
    """
    if space.partial:
        return None
    if moved is None:
        training = ordered_for_moves(training)
    source = _Source(space, training, selector, moved, n_jobs)
    if space.remote and source.movable is None:
        return None
    objects = source.training.objects
    is_stayed_of_many = moved is not None and is_subsampled(objects) and not moved.adaptation.has_moved
    are_few_series = source.movable is not None and source.movable.is_costly and len(objects) <= FEW_SERIES
    if moved is not None and moved.tried_sets and not are_few_series and not is_stayed_of_many:
        sets = [source.of_trial(tried) for tried in moved.tried_sets if len(tried.held_out)]
    else:
        sets = source.selected_again(fit_lists)
    if sets:
        how = FOLDS if len(sets) > 1 else PART
        if not selects_again(selector):
            # The moves did not see the held-out objects, but the selection did.
            how = LEAVE_ONE_OUT
        return HeldOut(how, sets, source.final(), objects.class_counts)
    final = source.final()
    return HeldOut(LEAVE_ONE_OUT, _in_parts(final), final, objects.class_counts)


def _in_parts(final: JudgedSet) -> list[JudgedSet]:
    """Return a set several times: rules learn from some objects that it knows, and are evaluated on the others."""
    parts = np.random.RandomState(0).permutation(len(final.known)) % N_FOLDS
    sets = []
    for number in range(min(N_FOLDS, len(parts))):
        known, others = (
            final.known.take(np.flatnonzero(parts != number)),
            final.known.take(np.flatnonzero(parts == number)),
        )
        sets.append(replace(final, known=known, held_out=others.sample(MOST_HELD_OUT // N_FOLDS)))
    return sets


def leave_one_out(
    space: TrainingSpace, codes: np.ndarray, kept: np.ndarray, counts: np.ndarray | None = None
) -> JudgedSet:
    """Some objects of a space as prototypes, evaluated on all objects; an object is infinitely far from itself.

    ``codes`` are the classes of all objects.
    """

    def distances(some: Rows) -> np.ndarray:
        rows = np.arange(len(codes))[some]
        block = np.array(space.block(rows, kept))
        block[rows[:, None] == kept] = np.inf
        return block

    weights = np.ones(len(codes))
    known = MeasuredObjects(codes, weights, weights, distances)
    return JudgedSet(codes[kept], np.ones(len(kept)) if counts is None else counts, known, known)


class _Source:
    """Where the distances of training objects come from."""

    def __init__(
        self,
        space: TrainingSpace,
        training: TrainingSet,
        selector: BaseSelector,
        moved: MovedSelection | None,
        n_jobs: int | None,
    ):
        self._n_jobs = n_jobs if space.is_thread_safe else 1
        self.training = training if moved is None else moved.training
        self._space, self._selector, self._moved = space, selector, moved
        self.movable = None if moved is None else moved.movable
        self._class_costs = self.training.objects.costs(class_weight_of(selector))
        if moved is None and space.remote:
            self.movable = space.movable if self.training.is_plain else space.movable_among(self.training.rows)

    def of_trial(self, tried: TriedSet) -> JudgedSet:
        """Set of a trial."""
        trial, labels = tried.trial, tried.prototypes.labels

        def part(rows: np.ndarray, tried_rows: np.ndarray, shares: np.ndarray | None) -> MeasuredObjects:
            return self._part(rows, shares, lambda some: tried.distances(tried_rows[some]), len(labels))

        known = part(trial.seen, tried.seen, trial.seen_shares)
        return JudgedSet(
            labels, np.ones(len(labels)), known, part(trial.held_out, tried.held_out, trial.held_out_shares)
        )

    def selected_again(self, fit_lists: FitLists | None) -> list[JudgedSet]:
        """Sets that are selected without some objects; none where that would take long."""
        objects, space = self.training.objects, self._space
        if space.remote or isinstance(space, CallableSpace) or is_subsampled(objects):
            return []
        record = DISSIMILARITIES.get(space.metric)
        is_quick = record is not None and record.kind in QUICK_KINDS
        known = None
        if not is_quick:
            are_unmoved_series = self._moved is None and record is not None and record.kind == "series"
            if len(objects) > (FEW_SERIES if are_unmoved_series else FEW_OBJECTS):
                return []
            known = self._all_distances()
            if known is None:
                return []
        select = select_without(self._selector, space, self.training, known, fit_lists)
        if select is None:
            return []
        sets = []
        for shares in held_out_shares(objects, np.random.RandomState(0)):
            seen, held_out = np.flatnonzero(shares < 1), np.flatnonzero(shares)
            if not len(held_out) or not len(seen):
                continue
            kept, degradations = select(seen, (objects.counts * (1 - shares))[seen])
            parts = (None, None) if objects.are_single else (1 - shares[seen], shares[held_out])
            known_part = self._part(seen, parts[0], self._between(seen, kept, known), len(kept))
            sets.append(
                JudgedSet(
                    objects.codes[kept],
                    (objects.counts * (1 - shares))[kept],
                    known_part,
                    self._part(held_out, parts[1], self._between(held_out, kept, known), len(kept)),
                    degradations,
                )
            )
        return sets

    def final(self) -> JudgedSet:
        """Return the set of the classifier, with some of many objects."""
        objects, selector = self.training.objects, self._selector
        rows = sampled_rows(len(objects), TRIAL_OBJECTS)
        kept = self.training.position[selector.sample_indices_]
        counts: Any = getattr(selector, "sample_counts_", np.ones(len(kept)))
        if self.movable is not None:
            moved = starting_set(self.movable, objects, kept) if self._moved is None else self._moved.moved
            distances = _among(WeightedObjects.of(self.movable, objects, None), moved, rows)
        else:
            distances = self._between(rows, kept, None)
        known = self._part(rows, None, distances, len(kept))
        degradations = None
        if isinstance(selector, REPS) and (self._moved is None or not self._moved.adaptation.has_moved):
            degradations = selector.degradations_[selector.sample_indices_]
        return JudgedSet(objects.codes[kept], counts, known, known, degradations)

    def _all_distances(self) -> np.ndarray | None:
        movable = self.movable if self.movable is not None else self._space.movable
        if movable is not None and movable.is_costly:
            distinct = self._space.movable_among(self.training.rows) if self.movable is None else movable
            return None if distinct is None else distinct.all_distances(self._n_jobs)
        return self._space.block(self.training.rows, self.training.rows)

    def _between(self, rows: np.ndarray, kept: np.ndarray, known: np.ndarray | None) -> Distances:
        """Distances between distinct objects; infinite from an object to itself, unless it has copies."""
        training = self.training
        own = np.full(len(training.objects), -1)
        own[kept] = np.arange(len(kept))
        own[training.objects.counts > 1] = -1

        def distances(some: Rows) -> np.ndarray:
            wanted = rows[some]
            if known is not None:
                block = known[np.ix_(wanted, kept)]
            else:
                block = np.array(self._space.block(training.rows[wanted], training.rows[kept]))
            is_kept = np.flatnonzero(own[wanted] >= 0)
            block[is_kept, own[wanted][is_kept]] = np.inf
            return block

        return distances

    def _part(
        self, rows: np.ndarray, shares: np.ndarray | None, distances: Distances, n_prototypes: int
    ) -> MeasuredObjects:
        objects = self.training.objects
        weights = objects.counts[rows] * (1.0 if shares is None else shares)
        if 8 * len(rows) * n_prototypes <= KEPT_BYTES:
            distances = _computed_once(distances, len(rows), n_prototypes, self._n_jobs)
        return MeasuredObjects(objects.codes[rows], weights, weights * self._class_costs[rows], distances)


def _computed_once(distances: Distances, n_objects: int, n_prototypes: int, n_jobs: int | None) -> Distances:
    """Distances of all objects, computed at the first request and then kept."""

    @cache
    def everything() -> np.ndarray:
        block = np.empty((n_objects, n_prototypes))

        def write(rows: np.ndarray) -> None:
            block[rows] = distances(rows)

        parts = np.array_split(np.arange(n_objects), n_processors(n_jobs))
        in_threads(n_jobs)(delayed(write)(rows) for rows in parts)
        block.flags.writeable = False
        return block

    return lambda some: everything()[some]


def _among(objects: WeightedObjects, moved: MovingSet, rows: np.ndarray) -> Distances:
    """Distances of some objects to prototypes that move among them; the objects are loaded into memory."""
    taken = objects.take(rows)
    if taken is None:
        return lambda some: objects.movable.measured(objects.distances(moved, rows[some])[0])
    inside = MovingSet(moved.moved, moved.labels, moved.own[rows])
    everything = np.arange(len(rows))
    return lambda some: taken.movable.measured(taken.distances(inside, everything[some])[0])


def sampled_rows(n_objects: int, most: int) -> np.ndarray:
    """Rows of a random sample of limited size, ascending, drawn with a fixed seed."""
    if n_objects <= most:
        return np.arange(n_objects)
    return np.sort(np.random.RandomState(0).permutation(n_objects)[:most])
