"""All values that the page shows, as JSON types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._validation import check_count
from protoset.evaluation import ErrorEstimate, distances_per_query, estimate_error, selection_rate
from protoset.plots.layout import CheckedDissimilarities, plane_coordinates
from protoset.report.facts import state_facts
from protoset.report.inputs import ReportInputs
from protoset.report.nearest import NearestPrototypes, find_nearest, nearest_others
from protoset.report.objects import describe_objects, significant
from protoset.report.stops import Stop, find_stops, inner_selector
from protoset.selectors import Refined
from protoset.spaces import TrainingSpace

N_EXPLAINED = 5
"""Prototypes that the page lists for a test object at each stop."""

MAX_LEAVE_ONE_OUT = 10_000
"""Objects on which leave-one-out errors are measured at most."""

MAP_UNITS = 1000
"""Largest coordinate on the map."""


def page_model(inputs: ReportInputs, *, title: str | None, created: str, most_objects: int) -> dict[str, Any]:
    """Compute all values that the page shows. ``most_objects`` limits the training objects on the page."""
    check_count("most_objects", most_objects, least=1, remedy="the default is most_objects=2000")
    stops = find_stops(inputs.selector, inputs.train.n_objects)
    shown = choose_shown(stops, inputs.train.n_objects, most_objects)
    jobs = inputs.selector.n_jobs
    nearest = find_nearest(inputs.space, shown, stops, n_nearest=1, leave_out_self=True, n_jobs=jobs)
    share = 1.0 if inputs.queries is None else 2 / 3
    objects, notes = describe_objects(inputs.train, shown, share=share)
    queries, answers = _queries(inputs, stops, shown, share, max(1, most_objects // 2))
    errors = _measure(inputs, stops, answers)
    if len(shown) < inputs.train.n_objects:
        notes.insert(
            0,
            f"The page holds {len(shown):,} of {inputs.train.n_objects:,} training objects: the prototypes and a "
            "random sample. The objects that a prototype stands for are counted among these.",
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
        "summary": _summary(inputs, stops, errors),
        "stops": [_stop(stop, estimate, shown) for stop, estimate in zip(stops, errors.stops, strict=True)],
        "objects": _objects(inputs, shown, nearest) | {"values": objects},
        "queries": queries,
        "facts": state_facts(inputs, created),
        "notes": notes,
    }


def choose_shown(stops: Sequence[Stop], n_objects: int, max_objects: int) -> np.ndarray:
    """Objects that the page holds: the chosen prototypes, the prototypes of other stops, then a random sample."""
    if n_objects <= max_objects:
        return np.arange(n_objects)
    rng = np.random.default_rng(0)
    prototypes = [stop.kept for stop in sorted(stops, key=lambda stop: (not stop.chosen, stop.size))]
    order = np.concatenate([*prototypes, rng.permutation(n_objects)])
    _, first_positions = np.unique(order, return_index=True)
    return np.sort(order[np.sort(first_positions)[:max_objects]])


@dataclass(frozen=True)
class Errors:
    """Errors of 1-NN on all training objects, and of the prototypes at every stop."""

    one_nn: ErrorEstimate
    stops: list[ErrorEstimate]


def _measure(inputs: ReportInputs, stops: Sequence[Stop], answers: NearestPrototypes | None) -> Errors:
    jobs = inputs.selector.n_jobs
    if inputs.queries is not None and answers is not None:
        codes, winners = inputs.test_codes, answers.winners
        nearest, _ = inputs.queries.nearest(n_jobs=jobs)
    else:
        n = inputs.train.n_objects
        rows = np.arange(n)
        if n > MAX_LEAVE_ONE_OUT:
            rows = np.sort(np.random.default_rng(0).choice(n, MAX_LEAVE_ONE_OUT, replace=False))
        codes, nearest = inputs.codes[rows], nearest_others(inputs.space, rows, n_jobs=jobs)
        winners = find_nearest(
            inputs.space, rows, stops, n_nearest=1, leave_out_self=True, degradations=_degradations(inputs), n_jobs=jobs
        ).winners
    wrong = (winners < 0) | (inputs.codes[winners] != codes)
    return Errors(
        estimate_error(int((inputs.codes[nearest] != codes).sum()), len(codes)),
        [estimate_error(int(row.sum()), len(codes)) for row in wrong],
    )


def _degradations(inputs: ReportInputs) -> np.ndarray | None:
    """Degradations that adjust the ranks; None if the rule takes the nearest prototype."""
    return getattr(inputs.selector, "degradations_", None) if inputs.rule == "adjusted" else None


def _cross_validated(inputs: ReportInputs) -> dict[str, float] | None:
    """Cross-validated error of the chosen size, measured by the automatic size on held-out objects."""
    curve = getattr(inputs.selector, "size_curve_", None)
    if curve is None or inputs.rule != "nearest":
        return None
    return {"error": float(curve.errors[curve.chosen]), "standard_error": float(curve.standard_errors[curve.chosen])}


def _summary(inputs: ReportInputs, stops: Sequence[Stop], errors: Errors) -> dict[str, Any]:
    chosen = next(number for number, stop in enumerate(stops) if stop.chosen)
    n, kept = inputs.train.n_objects, stops[chosen].size
    return {
        "n_train": n,
        "n_test": len(inputs.test_ids),
        "n_prototypes": kept,
        "selection_rate": selection_rate(kept, n),
        "distances_per_query": distances_per_query(kept),
        "distances_saved": n - distances_per_query(kept),
        "measured_on": "leave-one-out" if inputs.queries is None else "test",
        "n_measured": errors.one_nn.n_test,
        "confidence": errors.one_nn.confidence,
        "everything": _estimate(errors.one_nn),
        "prototypes": _estimate(errors.stops[chosen]),
        "cross_validated": _cross_validated(inputs),
        "chosen_stop": chosen,
        "refined": isinstance(inputs.selector, Refined),
    }


def _estimate(estimate: ErrorEstimate) -> dict[str, Any]:
    return {
        "error": estimate.error,
        "lower": significant(estimate.lower, 6),
        "upper": significant(estimate.upper, 6),
        "n_errors": estimate.n_errors,
    }


def _stop(stop: Stop, estimate: ErrorEstimate, shown: np.ndarray) -> dict[str, Any]:
    kept = np.flatnonzero(np.isin(shown, stop.kept))
    return {"size": stop.size, "chosen": stop.chosen, "kept": kept.tolist()} | _estimate(estimate)


def _objects(inputs: ReportInputs, shown: np.ndarray, nearest: NearestPrototypes) -> dict[str, Any]:
    learned: dict[str, Any] = {}
    for name in ("weights", "degradations"):
        values = getattr(inner_selector(inputs.selector), f"{name}_", None)
        learned[name] = None if values is None else [significant(value) for value in values[shown].tolist()]
    points = lay_out(inputs.space, shown)
    return {
        "ids": [inputs.ids[row] for row in shown],
        "codes": inputs.codes[shown].tolist(),
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        **learned,
    } | _nearest(nearest, shown)


def _queries(
    inputs: ReportInputs, stops: Sequence[Stop], shown: np.ndarray, share: float, max_queries: int
) -> tuple[dict[str, Any] | None, NearestPrototypes | None]:
    """Test objects as the page shows them, and the nearest prototypes of all; None without test objects."""
    if inputs.test is None or inputs.queries is None:
        return None, None
    n = len(inputs.test_codes)
    answers = find_nearest(
        inputs.queries,
        np.arange(n),
        stops,
        n_nearest=N_EXPLAINED,
        leave_out_self=False,
        degradations=_degradations(inputs),
        n_jobs=inputs.selector.n_jobs,
    )
    rows = np.arange(n) if n <= max_queries else np.sort(np.random.default_rng(0).choice(n, max_queries, replace=False))
    values, _ = describe_objects(inputs.test, rows, share=1 - share)
    kept = NearestPrototypes(
        answers.winners[:, rows],
        answers.ranks[:, rows],
        [answers.nearest[row] for row in rows],
        [answers.distances[row] for row in rows],
    )
    decided = None
    if inputs.rule == "adjusted":
        decided = {"winners": [_page_indices(row, shown) for row in kept.winners], "ranks": kept.ranks.tolist()}
    described = {
        "ids": [inputs.test_ids[row] for row in rows],
        "codes": inputs.test_codes[rows].tolist(),
        "decided": decided,
        "values": values,
    } | _nearest(kept, shown)
    return described, answers


def _nearest(nearest: NearestPrototypes, shown: np.ndarray) -> dict[str, Any]:
    return {
        "nearest": [_page_indices(row, shown) for row in nearest.nearest],
        "distances": [[significant(value, 7) for value in row.tolist()] for row in nearest.distances],
    }


def _page_indices(positions: np.ndarray, shown: np.ndarray) -> list[int]:
    """Turn positions in the training set into indices on the page; -1 for objects that the page does not hold."""
    indices = np.searchsorted(shown, positions).clip(max=len(shown) - 1)
    return np.where(shown[indices] == positions, indices, -1).tolist()


def lay_out(space: TrainingSpace, shown: np.ndarray) -> np.ndarray:
    """Coordinates on the map: integers from 0 to ``MAP_UNITS``, both axes on the same scale."""
    points = plane_coordinates(CheckedDissimilarities(space.subset(shown), len(shown)))
    # A wide map uses the page better than a high one.
    if np.ptp(points[:, 0]) < np.ptp(points[:, 1]):
        points = points[:, ::-1]
    spread = float(np.ptp(points, axis=0).max())
    scaled = (points - points.min(axis=0)) / (spread if spread > 0 else 1.0) * MAP_UNITS
    return scaled.round().astype(int)
