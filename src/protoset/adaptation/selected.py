"""Adaptation of the set that a selector chose: fair trials, and a real training object beside every moved prototype."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from protoset._blocks import row_slices
from protoset.adaptation.adapting import (
    Adaptation,
    AdaptSettings,
    SelectWithout,
    adapt_set,
    check_movable,
    starting_set,
)
from protoset.adaptation.descent import MovingSet, WeightedObjects, descend
from protoset.selectors import REPS, BaseSelector, Refined
from protoset.selectors._distinct import DistinctObjects, TrainingSet
from protoset.selectors.refined import Finishing
from protoset.selectors.size import Finish
from protoset.spaces import PrototypeSpace, TrainingSpace
from protoset.spaces.movable import MovableObjects, Moved


@dataclass(frozen=True, eq=False)
class AdaptedSet:
    """A selected set after its adaptation, in the order of ``sample_indices_``.

    Attributes
    ----------
    adaptation : Adaptation
    prototypes : PrototypeSpace
        The space of the prototypes.
    exemplars : ndarray of int
        The nearest training object of the same class to each prototype, as a row.
    """

    adaptation: Adaptation
    prototypes: PrototypeSpace
    exemplars: np.ndarray


def adapt_selected(
    space: TrainingSpace,
    training: TrainingSet,
    selector: BaseSelector,
    settings: AdaptSettings,
    *,
    n_jobs: int | None,
) -> AdaptedSet:
    """Move the prototypes of a fitted selector."""
    distinct, objects = training.distinct_space(space), training.objects
    movable = check_movable(distinct)
    kept = selector.sample_indices_
    start = starting_set(movable, objects, training.position[kept])
    moved, adaptation = adapt_set(
        movable,
        objects,
        start,
        settings,
        class_weight=class_weight_of(selector),
        n_jobs=n_jobs,
        select=_select_without(selector, distinct, objects),
    )
    if not adaptation.has_moved:
        return AdaptedSet(adaptation, space.prototypes(kept), kept)
    exemplars = training.rows[nearest_of_class(movable, objects, moved)]
    return AdaptedSet(adaptation, movable.place(moved.moved), exemplars)


def moved_before_predicting(settings: AdaptSettings, selector: BaseSelector) -> Finishing:
    """What the automatic size does to the sets that it measures, so that the size is chosen for moved sets."""
    class_weight = class_weight_of(selector)

    def finishing(space: TrainingSpace, objects: DistinctObjects) -> Finish | None:
        movable = space.movable
        if movable is None:
            return None
        weights = objects.counts * objects.costs(class_weight)
        weighted = WeightedObjects(movable, objects.codes, weights / weights.mean())

        def finish(train: np.ndarray, kept: np.ndarray, held_out: np.ndarray) -> np.ndarray:
            start = starting_set(movable, objects, kept)
            course = settings.courses(movable, len(train))[0]
            moved = descend(weighted, start, train, course, np.random.RandomState(0))
            return moved.labels[movable.distances(held_out, moved.moved).argmin(axis=1)]

        return finish

    return finishing


def nearest_of_class(movable: MovableObjects, objects: DistinctObjects, prototypes: MovingSet) -> np.ndarray:
    """Nearest object of its class to each prototype: screens propose one per block, exact distances decide."""
    nearest = np.empty(len(prototypes.labels), np.int64)
    for code in np.unique(prototypes.labels):
        columns, rows = np.flatnonzero(prototypes.labels == code), np.flatnonzero(objects.codes == code)
        some = Moved(prototypes.moved.points[columns], prototypes.moved.scales)
        proposed = [rows[part][movable.screen(rows[part], some).argmin(axis=0)] for part in _parts(rows, columns)]
        entries = np.arange(len(columns))[:, None]
        distances = [movable.distances(candidates, some, entries)[:, 0] for candidates in proposed]
        nearest[columns] = np.array(proposed)[np.argmin(distances, axis=0), entries[:, 0]]
    return nearest


def _parts(rows: np.ndarray, columns: np.ndarray) -> Iterator[slice]:
    return row_slices(len(rows), len(columns) * 8)


def class_weight_of(selector: Any) -> Any:
    """Weights of the classes that a selector works with."""
    if isinstance(selector, Refined):
        return selector._refining_class_weight()
    return getattr(selector, "class_weight", None)


def _select_without(selector: Any, space: TrainingSpace, objects: DistinctObjects) -> SelectWithout | None:
    """Return a function that selects again among some objects: REPS, refined shortly if the set was refined.

    None for other methods, which may take long.
    """
    ranking = selector.selector_ if isinstance(selector, Refined) else selector
    if not isinstance(ranking, REPS):
        return None
    rate = len(selector.sample_indices_) / len(objects)

    def select(members: np.ndarray) -> np.ndarray:
        part = objects.take(members)
        inner = clone(ranking).set_params(n_prototypes=max(len(part.classes), round(rate * len(part))))
        again: Any = inner
        if isinstance(selector, Refined):
            again = clone(selector).set_params(selector=inner, n_starts=1, max_time=None, callback=None, verbose=0)
        with again._fitting() as plain:
            plain._fit_distinct(space.subset(members), part)
        return members[again.sample_indices_]

    return select
