"""All values that the page shows, as JSON types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from protoset._validation import check_count
from protoset.evaluation import distances_per_query, no_better_than, selection_rate
from protoset.plots.layout import CheckedDissimilarities, plane_coordinates
from protoset.report.certainty import describe_certainty
from protoset.report.errors import measure_references, measure_set
from protoset.report.facts import state_facts
from protoset.report.inputs import ReportInputs
from protoset.report.moved import describe_moved
from protoset.report.nearest import NearestPrototypes, PrototypeSet, count_members, find_nearest
from protoset.report.objects import describe_objects, significant
from protoset.report.relevances import describe_relevances
from protoset.report.stops import Stop, curve_measure, find_stops, inner_selector
from protoset.report.suspects import describe_suspects, rows_of
from protoset.selectors import REPS, Refined
from protoset.selectors.ties import vote_of
from protoset.spaces import TrainingSpace

N_EXPLAINED = 5
"""Prototypes that the page lists for a test object at each stop."""

MAP_UNITS = 1000
"""Largest coordinate on the map."""


def page_model(inputs: ReportInputs, *, title: str | None, created: str, most_objects: int) -> dict[str, Any]:
    """Compute all values that the page shows. ``most_objects`` limits the training objects on the page."""
    check_count("most_objects", most_objects, least=1, remedy="the default is most_objects=2000")
    stops, moved = find_stops(inputs), inputs.moved
    n = inputs.train.n_objects
    first = () if moved is None else (moved.exemplars, moved.starts)
    shown = choose_shown(stops, n, most_objects, (*first, rows_of(inputs.suspects)))
    slots = np.empty(0, int) if moved is None else np.flatnonzero(np.isin(moved.exemplars, shown))
    # All that the page holds: training objects, then moved prototypes.
    listed = np.concatenate([shown, n + slots])
    share = 1.0 if inputs.queries is None else 2 / 3
    values, notes = describe_objects(inputs.train, shown, share=share)
    nearest = find_nearest(
        inputs.distances,
        shown,
        [_prototype_set(inputs, stop) for stop in stops if stop.kept is not None],
        n_nearest=1,
        leave_out_self=True,
        n_jobs=inputs.selector.n_jobs,
    )
    queries, predicted = _queries(inputs, stops, listed, share, max(1, most_objects // 2))
    described = None
    if moved is not None:
        n_columns = len(values.get("names", ()))
        described, more = describe_moved(moved, inputs.train, inputs.distances, shown, slots, n_columns)
        notes += more
    if len(shown) < inputs.train.n_objects:
        notes.insert(
            0,
            f"The page holds {len(shown):,} of {inputs.train.n_objects:,} training objects: the prototypes and a "
            "random sample. The numbers of objects that a prototype stands for count all training objects.",
        )
    if queries is not None and len(queries["ids"]) < len(inputs.test_ids):
        notes.append(
            f"The page explains {len(queries['ids']):,} of {len(inputs.test_ids):,} test objects; errors count all."
        )
    return {
        "title": title or f"Prototypes of {inputs.train.name}",
        "created": created,
        "kind": inputs.train.kind,
        "rule": inputs.rule,
        "classes": inputs.classes,
        "class_sizes": np.bincount(inputs.codes, minlength=len(inputs.classes)).tolist(),
        "summary": _summary(inputs, stops, predicted),
        "stops": _stops(inputs, stops, shown, listed, nearest.winners),
        "objects": _objects(inputs, shown) | _nearest(nearest, stops, listed) | {"values": values},
        "moved": described,
        "relevances": describe_relevances(inputs),
        "queries": queries,
        "suspects": describe_suspects(inputs.suspects, inputs.ids, inputs.classes, shown),
        "facts": state_facts(inputs, created),
        "notes": notes,
    }


def choose_shown(
    stops: Sequence[Stop], n_objects: int, max_objects: int, first: Sequence[np.ndarray] = ()
) -> np.ndarray:
    """Objects that the page holds: the chosen prototypes, the prototypes of other stops, then a random sample.

    Before all others come ``first``: objects with which moved prototypes are shown, and labels to check.
    """
    if n_objects <= max_objects:
        return np.arange(n_objects)
    rng = np.random.default_rng(0)
    by_importance = sorted(stops, key=lambda stop: (not stop.chosen, stop.size))
    prototypes = [stop.kept[stop.kept < n_objects] for stop in by_importance if stop.kept is not None]
    order = np.concatenate([*first, *prototypes, rng.permutation(n_objects)])
    _, first_positions = np.unique(order, return_index=True)
    return np.sort(order[np.sort(first_positions)[:max_objects]])


def _prototype_set(inputs: ReportInputs, stop: Stop, *, deciding: bool = False) -> PrototypeSet:
    """The set of a stop, which has one; ``deciding`` by the rule of the classifier, else the nearest one counts."""
    kept, counts = np.asarray(stop.kept), np.asarray(stop.counts)
    vote = replace(vote_of(inputs.selector, inputs.codes), codes=inputs.column_codes[kept], counts=counts)
    # With another rule than "nearest" there is only the set of the classifier.
    is_nearest = not deciding or inputs.classifier is None or inputs.rule == "nearest"
    return PrototypeSet(kept, vote, None if is_nearest else inputs.classifier._rule)  # type: ignore[union-attr]


def _summary(inputs: ReportInputs, stops: Sequence[Stop], predicted: np.ndarray | None) -> dict[str, Any]:
    chosen = next(number for number, stop in enumerate(stops) if stop.chosen)
    n, kept = inputs.train.n_objects, len(inputs.selector.sample_indices_)
    error, references = measure_set(inputs, stops, predicted), measure_references(inputs)
    compared = references["test"] or references["leave_one_out"]
    return {
        "n_train": n,
        "n_test": len(inputs.test_ids),
        "n_prototypes": kept,
        "selection_rate": selection_rate(kept, n),
        "distances_per_query": distances_per_query(kept),
        "distances_saved": n - distances_per_query(kept),
        "error": error,
        "references": references,
        "no_better_than_guessing": no_better_than(error["error"], error["standard_error"], compared["guess"]),
        "chosen_stop": chosen,
        "measure": curve_measure(inputs.selector, inputs.rule) or "error",
        "refined": isinstance(inputs.selector, Refined),
        "moved_curve": inputs.has_moved_curve,
    }


def _stops(
    inputs: ReportInputs, stops: Sequence[Stop], shown: np.ndarray, listed: np.ndarray, winners: np.ndarray
) -> list[dict[str, Any]]:
    """The stops, each with its prototypes on the page and the training objects that they stand for."""
    of_sets = iter(winners)
    described: list[dict[str, Any]] = []
    for stop in stops:
        described.append(
            {
                "size": stop.size,
                "chosen": stop.chosen,
                "moved": stop.chosen and inputs.moved is not None,
                "error": stop.error,
                "standard_error": stop.standard_error,
            }
        )
        if stop.kept is None:
            described[-1] |= {"n_kept": None, "kept": None, "members": None}
            continue
        jobs = inputs.selector.n_jobs
        members = count_members(
            inputs.distances, inputs.codes, _prototype_set(inputs, stop), shown, next(of_sets), n_jobs=jobs
        )
        on_page = np.isin(stop.kept, listed)
        described[-1] |= {
            "n_kept": len(stop.kept),
            "kept": np.searchsorted(listed, stop.kept[on_page]).tolist(),
            "members": [members[slot] for slot in np.flatnonzero(on_page)],
            "degradations": _set_degradations(inputs, on_page) if stop.chosen else None,
        }
    return described


def _set_degradations(inputs: ReportInputs, on_page: np.ndarray) -> list[float | None] | None:
    """Degradations of the prototypes on the page, where the adjusted rule decides."""
    if inputs.classifier is None or inputs.classifier.degradations_ is None or inputs.rule != "adjusted":
        return None
    return [significant(value) for value in inputs.classifier.degradations_[on_page].tolist()]


def _objects(inputs: ReportInputs, shown: np.ndarray) -> dict[str, Any]:
    learned: dict[str, Any] = {}
    for name in ("weights", "degradations"):
        values = getattr(inner_selector(inputs.selector), f"{name}_", None)
        if name == "degradations" and inputs.rule == "adjusted" and not isinstance(inputs.selector, REPS):
            # Those of the ranking are not those that decide.
            values = None
        learned[name] = None if values is None else [significant(value) for value in values[shown].tolist()]
    points = lay_out(inputs.space, shown)
    return {
        "ids": [inputs.ids[row] for row in shown],
        "rows": shown.tolist() if inputs.has_names else None,
        "codes": inputs.codes[shown].tolist(),
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        **learned,
    }


def _queries(
    inputs: ReportInputs, stops: Sequence[Stop], listed: np.ndarray, share: float, max_queries: int
) -> tuple[dict[str, Any] | None, np.ndarray | None]:
    """Test objects as the page shows them, and the predicted classes of all; None without test objects."""
    if inputs.test is None or inputs.query_distances is None:
        return None, None
    n = len(inputs.test_codes)
    answers = find_nearest(
        inputs.query_distances,
        np.arange(n),
        [_prototype_set(inputs, stop, deciding=True) for stop in stops if stop.kept is not None],
        n_nearest=N_EXPLAINED,
        leave_out_self=False,
        n_jobs=inputs.selector.n_jobs,
    )
    chosen = next(stop for stop in stops if stop.chosen)
    predicted = answers.codes[[stop.chosen for stop in stops if stop.kept is not None].index(True)]
    rows = np.arange(n) if n <= max_queries else np.sort(np.random.default_rng(0).choice(n, max_queries, replace=False))
    explained = NearestPrototypes(
        answers.winners[:, rows],
        answers.ranks[:, rows],
        answers.n_tied[:, rows],
        answers.codes[:, rows],
        [answers.nearest[row] for row in rows],
        [answers.distances[row] for row in rows],
    )
    values, _ = describe_objects(inputs.test, rows, share=1 - share)
    described = {
        "ids": [inputs.test_ids[row] for row in rows],
        "codes": inputs.test_codes[rows].tolist(),
        "ranks": _by_stop(explained.ranks, stops),
        "n_tied": _by_stop(explained.n_tied, stops),
        # A class without prototypes may have the largest score; else the class is that of the deciding prototype.
        "predicted": predicted[rows].tolist() if inputs.rule == "scores" else None,
        "certainty": describe_certainty(inputs, rows, np.asarray(chosen.kept)),
        "values": values,
    }
    return described | _nearest(explained, stops, listed), predicted


def _nearest(nearest: NearestPrototypes, stops: Sequence[Stop], listed: np.ndarray) -> dict[str, Any]:
    return {
        "winners": _by_stop(np.array([_page_indices(row, listed) for row in nearest.winners]), stops),
        "nearest": [_page_indices(row, listed) for row in nearest.nearest],
        "distances": [[significant(value, 7) for value in row.tolist()] for row in nearest.distances],
    }


def _by_stop(rows: np.ndarray, stops: Sequence[Stop]) -> list[list[int] | None]:
    """Rows of stops with a set, and None for the others."""
    remaining = iter(rows.tolist())
    return [None if stop.kept is None else next(remaining) for stop in stops]


def _page_indices(positions: np.ndarray, listed: np.ndarray) -> list[int]:
    """Turn positions into indices on the page; -1 for objects and prototypes that the page does not hold."""
    indices = np.searchsorted(listed, positions).clip(max=len(listed) - 1)
    return np.where(listed[indices] == positions, indices, -1).tolist()


def lay_out(space: TrainingSpace, shown: np.ndarray) -> np.ndarray:
    """Coordinates on the map: integers from 0 to ``MAP_UNITS``, both axes on the same scale."""
    points = plane_coordinates(CheckedDissimilarities(space.subset(shown), len(shown)))
    # A wide map uses the page better than a high one.
    if np.ptp(points[:, 0]) < np.ptp(points[:, 1]):
        points = points[:, ::-1]
    spread = float(np.ptp(points, axis=0).max())
    scaled = (points - points.min(axis=0)) / (spread if spread > 0 else 1.0) * MAP_UNITS
    return scaled.round().astype(int)
