"""Adaptation of the set that a selector chose: fair trials, and a real training object beside every moved prototype."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from protoset._blocks import row_slices
from protoset._progress import report
from protoset.adaptation.adapting import (
    Adaptation,
    SelectWithout,
    adapt_set,
    ordered_for_moves,
    starting_set,
)
from protoset.adaptation.checks import check_movable
from protoset.adaptation.descent import MovingSet, WeightedObjects, descend, row_bytes
from protoset.adaptation.settings import AdaptSettings
from protoset.adaptation.validation import Trial, TriedSet, in_memory, is_subsampled
from protoset.neighbors import NeighborLists
from protoset.neighbors.search import NeighborSearch
from protoset.selectors import REPS, BaseSelector, Refined
from protoset.selectors._distinct import DistinctObjects, TrainingSet
from protoset.selectors.refined import Finishing
from protoset.selectors.size import Finish
from protoset.spaces import PrototypeSpace, TrainingSpace, make_space
from protoset.spaces.movable import MovableObjects, Moved


@dataclass(frozen=True, eq=False)
class MovedSelection:
    """A selected set after its adaptation, in the order of ``sample_indices_``.

    Attributes
    ----------
    adaptation : Adaptation
    prototypes : PrototypeSpace
        The space of the prototypes.
    exemplars : ndarray of int
        The nearest training object of the same class to each prototype, as a row.
    training : TrainingSet
        The distinct training objects, in the order in which prototypes moved among them.
    movable : MovableObjects
        The distinct objects, with the distances that are known.
    moved : MovingSet
        The prototypes among the distinct objects.
    tried_sets : list of TriedSet
        Sets of the same kind that do not know some of the objects.
    was_stopped : bool
        Whether a limit, the callback or Ctrl-C ended the trials or the moves.
    """

    adaptation: Adaptation
    prototypes: PrototypeSpace
    exemplars: np.ndarray
    training: TrainingSet
    movable: MovableObjects
    moved: MovingSet
    tried_sets: list[TriedSet]
    was_stopped: bool


def adapt_selected(
    space: TrainingSpace,
    training: TrainingSet,
    selector: BaseSelector,
    settings: AdaptSettings,
    *,
    n_jobs: int | None,
    fit_lists: FitLists | None = None,
) -> MovedSelection:
    """Move the prototypes of a fitted selector; ``fit_lists`` are the neighbour lists of its fit.

    If the set was not refined because it would move, and the moves do not help, it is refined and moves are tried
    again.
    """
    adapted = _adapt_selected(space, training, selector, settings, n_jobs, fit_lists)
    if adapted.adaptation.has_moved or adapted.was_stopped:
        return adapted
    if not (isinstance(selector, Refined) and selector._refine_unmoved(space, training)):
        return adapted
    return _adapt_selected(space, training, selector, settings, n_jobs, fit_lists)


def _adapt_selected(
    space: TrainingSpace,
    training: TrainingSet,
    selector: BaseSelector,
    settings: AdaptSettings,
    n_jobs: int | None,
    fit_lists: FitLists | None,
) -> MovedSelection:
    training = ordered_for_moves(training)
    objects, movable = training.objects, check_movable(space, training)
    kept = selector.sample_indices_
    report(settings.verbose, "moving %d prototypes", len(kept))
    # Prototypes move in the order of their contents, so that the order of the rows changes no result.
    by_content = np.argsort(training.position[kept])
    start = starting_set(movable, objects, training.position[kept][by_content])
    adapted = adapt_set(
        movable,
        objects,
        start,
        settings,
        class_weight=class_weight_of(selector),
        n_jobs=n_jobs,
        select=select_without(selector, space, training, movable.all_distances(n_jobs), fit_lists),
    )
    moved, as_kept = adapted.prototypes, np.argsort(by_content)
    points = Moved(moved.moved.points[as_kept], moved.moved.scales)
    placed, exemplars = space.prototypes(kept), kept
    prototypes = placed.objects
    if adapted.adaptation.has_moved:
        placed, prototypes = movable.place(points), movable.objects(points)
        exemplars = training.rows[nearest_of_class(movable, objects, moved)][as_kept]
    labels = adapted.adaptation.labels[as_kept]
    ordered = MovingSet(points, moved.labels[as_kept], _renumbered(moved.own, as_kept))
    adaptation = replace(adapted.adaptation, prototypes=prototypes, labels=labels)
    return MovedSelection(
        adaptation, placed, exemplars, training, movable, ordered, adapted.tried_sets, adapted.was_stopped
    )


def _renumbered(own: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Prototype of each object, or -1, after the prototypes were put into another order."""
    return np.where(own >= 0, np.argsort(order)[own], -1)


def moved_before_predicting(settings: AdaptSettings, selector: BaseSelector) -> Finishing:
    """Return a function that moves a set before its error is measured, so that the automatic size suits moved sets.

    It takes the first course of the settings, without trials.
    """
    class_weight = class_weight_of(selector)

    def finishing(space: TrainingSpace, objects: DistinctObjects) -> Finish | None:
        movable = space.movable
        if movable is None:
            return None
        weighted = WeightedObjects.of(movable, objects, class_weight)

        def finish(train: np.ndarray, kept: np.ndarray, held_out: np.ndarray) -> np.ndarray:
            train, kept = (each[np.argsort(objects.order[each])] for each in (train, kept))
            some, trials = in_memory(weighted, [Trial(starting_set(movable, objects, kept), train, held_out)])
            course = settings.courses(movable, len(train), len(objects.classes))[0]
            moved = descend(some, trials[0].start, trials[0].seen, course, np.random.RandomState(0))
            return moved.labels[some.movable.distances(trials[0].held_out, moved.moved).argmin(axis=1)]

        return finish

    return finishing


def move_selected(
    movable: MovableObjects, members: np.ndarray, training: TrainingSet, selector: BaseSelector, settings: AdaptSettings
) -> Moved:
    """Move, without trials, the prototypes of a selector that was fitted on some members of the movable objects.

    ``training`` is the training set of the members, in their order.
    """
    training = ordered_for_moves(training)
    objects, rows = training.objects, members[training.rows]
    # Other objects have no weight, and no moves are made for them.
    codes, counts, weights = (
        np.zeros(members.max() + 1, np.int64),
        np.ones(members.max() + 1),
        np.zeros(members.max() + 1),
    )
    codes[rows], counts[rows] = objects.codes, objects.counts
    weights[rows] = objects.counts * objects.costs(class_weight_of(selector))
    spread = DistinctObjects(objects.classes, codes, counts, np.arange(len(codes)))
    start = starting_set(movable, spread, rows[training.position[selector.sample_indices_]])
    course = settings.courses(movable, len(rows), len(objects.classes))[0]
    weighted = WeightedObjects(movable, codes, weights / weights[rows].mean())
    return descend(weighted, start, rows, course, np.random.RandomState(0)).moved


def nearest_of_class(movable: MovableObjects, objects: DistinctObjects, prototypes: MovingSet) -> np.ndarray:
    """Nearest object of its class to each prototype, by quick distances.

    The objects are loaded into memory once, in blocks of consecutive objects. Quick distances choose one candidate per
    block; if there are several blocks, exact distances choose among the candidates.
    """
    nearest, smallest = np.full(len(prototypes.labels), -1), np.full(len(prototypes.labels), np.inf)
    blocks = list(row_slices(len(objects), row_bytes(movable, 0)))
    for block in blocks:
        everything = np.arange(block.start, block.stop)
        taken, first = movable.take(everything), block.start
        if taken is None:
            taken, first = movable, 0
        for code in np.unique(prototypes.labels):
            columns = np.flatnonzero(prototypes.labels == code)
            rows = everything[objects.codes[block] == code] - first
            some = Moved(prototypes.moved.points[columns], prototypes.moved.scales)
            entries = np.arange(len(columns))[:, None]  # each prototype as the one entry of the list of an object
            parts = list(row_slices(len(rows), len(columns) * 8))
            for part in parts:
                proposed = rows[part][taken.screen(rows[part], some).argmin(axis=0)]
                if len(blocks) == len(parts) == 1:
                    nearest[columns] = proposed + first
                    continue
                distances = taken.distances(proposed, some, entries)[:, 0]
                is_nearer = (distances < smallest[columns]) | (nearest[columns] < 0)
                nearest[columns[is_nearer]] = proposed[is_nearer] + first
                smallest[columns[is_nearer]] = distances[is_nearer]
    return nearest


def class_weight_of(selector: Any) -> Any:
    """Weights of the classes that a selector works with."""
    if isinstance(selector, Refined):
        return selector._refining_class_weight()
    return getattr(selector, "class_weight", None)


def selects_again(selector: Any) -> bool:
    """Whether a method selects again without held-out objects: REPS and refined REPS; others may take long."""
    return isinstance(selector._inner() if isinstance(selector, Refined) else selector, REPS)


class FitLists:
    """Exact neighbour lists of a fit, reused when prototypes are selected again without held-out objects.

    Lists of so many objects that trials use a sample are not kept.

    Without the held-out objects, the lists are shorter; only neighbours at their ends, with small features, are
    missing.
    """

    def __init__(self) -> None:
        self._lists: NeighborLists | None = None

    def note(self, lists: Any, objects: DistinctObjects) -> None:
        """Keep the lists of a fit."""
        if isinstance(lists, NeighborLists) and lists.recall is None and not is_subsampled(objects):
            self._lists, self._by_content = lists, np.argsort(objects.order)

    def among(self, objects: DistinctObjects) -> NeighborLists | None:
        """Lists of some of the objects of the fit among themselves, if lists were kept."""
        return None if self._lists is None else self._lists.restrict(self._by_content[objects.order])


def select_without(
    selector: Any,
    space: TrainingSpace,
    training: TrainingSet,
    known: np.ndarray | None,
    fit_lists: FitLists | None = None,
) -> SelectWithout | None:
    """Return a function that selects again among some objects: REPS, refined shortly if the set was refined.

    ``known`` has the dissimilarities of all distinct objects, where they are known; ``fit_lists`` has the neighbour
    lists of the fit. Objects on a cluster come here. None for other methods, which may take long.
    """
    objects = training.objects
    ranking = selector.selector_ if isinstance(selector, Refined) else selector
    if not selects_again(selector):
        return None
    rate = len(selector.sample_indices_) / len(objects)
    rows = training.rows
    if known is not None:
        space, rows = make_space(known, "precomputed"), np.arange(len(objects))
    # Few objects, in this process; a folder keeps the lists of all objects.
    search = NeighborSearch(n_neighbors=NeighborSearch.of(ranking.search).n_neighbors)
    solver = "auto" if ranking.solver == "distributed" else ranking.solver

    def select(members: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        part = objects.take(members, counts)
        n_prototypes = max(len(part.classes), round(rate * len(part)))
        inner = clone(ranking).set_params(n_prototypes=n_prototypes, search=search, solver=solver)
        again: Any = inner
        if isinstance(selector, Refined) and selector.refinement_ is not None:
            again = clone(selector).set_params(selector=inner, n_starts=1, max_time=None, callback=None, verbose=0)
        lists = None if fit_lists is None else fit_lists.among(part)
        with again._fitting() as plain:
            plain._fit_distinct(space.subset(rows[members]), part, **({} if lists is None else {"lists": lists}))
        kept = again.sample_indices_
        return members[kept], again.degradations_[kept] if again is inner else None

    return select
