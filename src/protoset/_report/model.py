"""All values that the page shows, as JSON types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from protoset._report.certainty import describe_certainty
from protoset._report.comparisons import describe_comparisons
from protoset._report.confusion import describe_confusion, find_answers
from protoset._report.errors import measure_references, measure_set
from protoset._report.facts import state_facts
from protoset._report.inputs import ReportInputs
from protoset._report.layout import lay_out
from protoset._report.main_attributes import main_attributes
from protoset._report.moved import describe_moved
from protoset._report.nearest import NearestPrototypes, PrototypeSet, count_members, find_nearest
from protoset._report.objects import describe_objects, significant
from protoset._report.relevances import describe_relevances
from protoset._report.rivals import find_rivals
from protoset._report.shown import choose_shown, important_objects, unique_in_order
from protoset._report.stops import Stop, curve_measure, find_stops, inner_selector
from protoset._report.suspects import describe_suspects, rows_of
from protoset._report.unlike import describe_unlike, find_unlike
from protoset._validation import check_count
from protoset.evaluation import distances_per_query, no_better_than, selection_rate
from protoset.selectors import REPS
from protoset.selectors.ties import vote_of

N_EXPLAINED = 5
"""Prototypes that the page lists for a test object at each stop."""

MAX_QUERIES = 1000
"""Test objects that the page explains at most."""


def page_model(inputs: ReportInputs, *, title: str | None, created: str, most_objects: int) -> dict[str, Any]:
    """Compute all values that the page shows. ``most_objects`` limits the training objects on the page."""
    check_count("most_objects", most_objects, least=1, remedy="the default is most_objects=20000")
    stops, moved = find_stops(inputs), inputs.moved
    n = inputs.train.n_objects
    first = () if moved is None else (moved.exemplars, moved.starts)
    chosen = next(stop for stop in stops if stop.chosen)
    unlike = find_unlike(inputs, _prototype_set(inputs, chosen))
    important = important_objects(stops, n, (*first, rows_of(inputs.suspects)), (unlike.training.rows,))
    shown = choose_shown(important, n, most_objects)
    slots = np.empty(0, int) if moved is None else np.flatnonzero(np.isin(moved.exemplars, shown))
    # All that the page holds: training objects, then moved prototypes.
    listed = np.concatenate([shown, n + slots])
    share = 1.0 if inputs.queries is None else 2 / 3
    values, notes = describe_objects(
        inputs.train,
        shown,
        share=share,
        first=np.searchsorted(shown, important[np.isin(important, shown)]),
        image_shape=inputs.image_shape,
    )
    if values["kind"] == "rows":
        values["main"] = main_attributes(inputs.train, inputs.codes, len(values["names"]))
    nearest = find_nearest(
        inputs.distances,
        shown,
        [_prototype_set(inputs, stop) for stop in stops if stop.kept is not None],
        n_nearest=1,
        leave_out_self=True,
        n_jobs=inputs.selector.n_jobs,
    )
    queries, predicted, query_rows, more = _queries(
        inputs, stops, listed, share, min(MAX_QUERIES, max(1, most_objects // 2)), unlike.test.rows
    )
    notes += more
    number = [stop for stop in stops if stop.kept is not None].index(chosen)
    answers = find_answers(inputs, predicted, shown, nearest.codes[number])
    described = None
    if moved is not None:
        n_columns = len(values.get("names", ()))
        described, more = describe_moved(
            moved, inputs.train, inputs.distances, shown, slots, n_columns, inputs.image_shape
        )
        notes += more
    if len(shown) < inputs.train.n_objects:
        notes.insert(
            0,
            f"The page holds {len(shown):,} of {inputs.train.n_objects:,} training objects: the prototypes and a "
            "random sample. The numbers of objects that a prototype stands for count all training objects.",
        )
    if queries is not None and len(queries["ids"]) < len(inputs.test_ids):
        notes.append(
            f"The page explains {len(queries['ids']):,} of {len(inputs.test_ids):,} test objects, misclassified ones "
            "first; errors count all."
        )
    if inputs.unjudged is not None:
        notes.append(f"Labels are not checked{inputs.unjudged}.")
    objects, layouts = _objects(inputs, shown)
    return {
        "title": title or f"Prototypes of {inputs.train.name}",
        "created": created,
        "kind": inputs.train.kind,
        "rule": inputs.rule,
        "classes": inputs.classes,
        "class_sizes": np.bincount(inputs.codes, minlength=len(inputs.classes)).tolist(),
        "summary": _summary(inputs, stops, predicted),
        "stops": _stops(inputs, stops, shown, listed, nearest.winners),
        "objects": objects
        | _nearest(nearest, stops, listed)
        | {"values": values, "rivals": _rivals(inputs, stops, listed)},
        "layouts": layouts,
        "moved": described,
        "relevances": describe_relevances(inputs),
        "queries": queries,
        "confusion": describe_confusion(inputs, answers, chosen, shown, query_rows),
        "unlike": describe_unlike(inputs, unlike, listed, query_rows),
        "suspects": describe_suspects(inputs.suspects, inputs.ids, inputs.classes, shown),
        "facts": state_facts(inputs, created),
        "notes": notes,
    }


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
        "refined": getattr(inputs.selector, "refinement_", None) is not None,
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


def _rivals(inputs: ReportInputs, stops: Sequence[Stop], listed: np.ndarray) -> list[list[Any]]:
    """Nearest rival of each chosen prototype on the page: its index on the page, -1 for none, and the distance."""
    kept = np.asarray(next(stop.kept for stop in stops if stop.chosen))
    rivals, distances = find_rivals(inputs, kept)
    on_page = np.isin(kept, listed)
    indices = _page_indices(rivals[on_page], listed)
    return [
        [index, significant(distance, 7)] for index, distance in zip(indices, distances[on_page].tolist(), strict=True)
    ]


def _set_degradations(inputs: ReportInputs, on_page: np.ndarray) -> list[float | None] | None:
    """Degradations of the prototypes on the page, where the adjusted rule decides."""
    if inputs.classifier is None or inputs.classifier.degradations_ is None or inputs.rule != "adjusted":
        return None
    return [significant(value) for value in inputs.classifier.degradations_[on_page].tolist()]


def _objects(inputs: ReportInputs, shown: np.ndarray) -> tuple[dict[str, Any], dict[str, Any]]:
    """The objects without their nearest prototypes and values, and what the page says about the map."""
    learned: dict[str, Any] = {}
    for name in ("weights", "degradations"):
        values = getattr(inner_selector(inputs.selector), f"{name}_", None)
        if name == "degradations" and inputs.rule == "adjusted" and not isinstance(inputs.selector, REPS):
            # Those of the ranking are not those that decide.
            values = None
        learned[name] = None if values is None else [significant(value) for value in values[shown].tolist()]
    coordinates, layouts = lay_out(inputs.space, shown, n_jobs=inputs.selector.n_jobs)
    described = {
        "ids": [inputs.ids[row] for row in shown],
        "rows": shown.tolist() if inputs.has_names else None,
        "codes": inputs.codes[shown].tolist(),
        **coordinates,
        **learned,
    }
    return described, layouts


def _queries(
    inputs: ReportInputs,
    stops: Sequence[Stop],
    listed: np.ndarray,
    share: float,
    max_queries: int,
    first: np.ndarray,
) -> tuple[dict[str, Any] | None, np.ndarray | None, np.ndarray, list[str]]:
    """Test objects as the page shows them, the predicted classes of all, the rows of those shown, and notes.

    None without test objects. Of many, the page shows ``first`` and misclassified ones before others.
    """
    if inputs.test is None or inputs.query_distances is None:
        return None, None, np.empty(0, int), []
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
    number = [stop.chosen for stop in stops if stop.kept is not None].index(True)
    predicted = answers.codes[number]
    rows = choose_queries(predicted != inputs.test_codes, max_queries, first)
    explained = NearestPrototypes(
        answers.winners[:, rows],
        answers.ranks[:, rows],
        answers.n_tied[:, rows],
        answers.codes[:, rows],
        [answers.nearest[row] for row in rows],
        [answers.distances[row] for row in rows],
    )
    # Misclassified objects are looked at most.
    wrong = np.flatnonzero(predicted[rows] != inputs.test_codes[rows])
    values, _ = describe_objects(inputs.test, rows, share=1 - share, first=wrong, image_shape=inputs.image_shape)
    winners = explained.winners[number]
    # Shares of single pixels say little: the page shows where two images differ.
    compared = rows if inputs.image_shape is None else rows[:0]
    comparisons, notes = describe_comparisons(inputs, compared, winners, _page_indices(winners, listed))
    described = {
        "ids": [inputs.test_ids[row] for row in rows],
        "codes": inputs.test_codes[rows].tolist(),
        "ranks": _by_stop(explained.ranks, stops),
        "n_tied": _by_stop(explained.n_tied, stops),
        # A class without prototypes may have the largest score; else the class is that of the deciding prototype.
        "predicted": predicted[rows].tolist() if inputs.rule == "scores" else None,
        "certainty": describe_certainty(inputs, rows, np.asarray(chosen.kept)),
        "values": values,
        "comparisons": comparisons,
    }
    return described | _nearest(explained, stops, listed), predicted, rows, notes


def choose_queries(is_wrong: np.ndarray, max_queries: int, first: np.ndarray) -> np.ndarray:
    """Test objects that the page holds: ``first``, misclassified ones up to half of the page, then a random sample."""
    n = len(is_wrong)
    if n <= max_queries:
        return np.arange(n)
    drawn = np.random.default_rng(0).permutation(n)
    important = np.concatenate([first, drawn[is_wrong[drawn]], drawn])[: max_queries // 2]
    return np.sort(unique_in_order(np.concatenate([important, drawn]))[:max_queries])


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
