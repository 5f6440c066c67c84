"""What the page shows, computed by the library and put into types that JSON has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._validation import check_count
from protoset.evaluation import ErrorEstimate, distances_per_query, estimate_error, selection_rate
from protoset.plots.layout import CheckedDissimilarities, plane_coordinates
from protoset.report.budget import Stop, find_stops
from protoset.report.facts import state_facts
from protoset.report.following import Followed, follow
from protoset.report.objects import describe_objects, significant
from protoset.report.parts import Parts
from protoset.spaces import Dissimilarities, Space
from protoset.spaces.base import Rows

N_EXPLAINED = 5
"""Prototypes that are listed for a query at each stop."""

MOST_MEASURED = 10_000
"""Objects that leave-one-out errors are measured on at most."""

MAP_UNITS = 1000


def page_model(parts: Parts, *, title: str | None, created: str, most_objects: int) -> dict[str, Any]:
    """Gather all that the page shows.

    Parameters
    ----------
    parts : Parts
    title : str, optional
    created : str
    most_objects : int
        Objects that the page holds at most.
    """
    check_count("most_objects", most_objects, least=1, remedy="the default is most_objects=2000")
    stops = find_stops(parts.selector, parts.train.n_objects)
    shown = choose_shown(stops, parts.train.n_objects, most_objects)
    jobs = parts.selector.n_jobs
    followed = follow(parts.space, shown, stops, n_nearest=1, leave_out_self=True, n_jobs=jobs)
    share = 1.0 if parts.queries is None else 2 / 3
    objects, notes = describe_objects(parts.train, shown, share=share)
    queries, answers = (
        (None, None)
        if parts.queries is None
        else _queries(parts, parts.queries, stops, shown, share, max(1, most_objects // 2))
    )
    measured = _measure(parts, stops, answers)
    if len(shown) < parts.train.n_objects:
        notes.insert(
            0,
            f"The page holds {len(shown):,} of {parts.train.n_objects:,} training objects: the prototypes, and "
            "others drawn at random. Whom a prototype stands for is counted among these.",
        )
    if queries is not None and len(queries["ids"]) < len(parts.test_ids):
        notes.append(
            f"Of {len(parts.test_ids):,} test objects {len(queries['ids']):,} can be explained; errors count all."
        )
    return {
        "title": title or f"Prototypes of {parts.train.name}",
        "created": created,
        "kind": parts.train.kind,
        "rule": parts.rule,
        "classes": parts.classes,
        "class_sizes": np.bincount(parts.codes, minlength=len(parts.classes)).tolist(),
        "summary": _summary(parts, stops, measured),
        "stops": [_stop(stop, estimate, shown) for stop, estimate in zip(stops, measured.stops, strict=True)],
        "objects": _objects(parts, shown, followed) | {"values": objects},
        "queries": queries,
        "facts": state_facts(parts, created),
        "notes": notes,
    }


def choose_shown(stops: Sequence[Stop], n_objects: int, most: int) -> np.ndarray:
    """Objects that the page holds: the chosen prototypes, those of the other stops, then others at random."""
    if n_objects <= most:
        return np.arange(n_objects)
    rng = np.random.default_rng(0)
    first = [stop.kept for stop in sorted(stops, key=lambda stop: (not stop.chosen, stop.size))]
    order = np.concatenate([*first, rng.permutation(n_objects)])
    _, at = np.unique(order, return_index=True)
    return np.sort(order[np.sort(at)[:most]])


@dataclass(frozen=True)
class Measured:
    """Errors of 1-NN on everything and at every stop."""

    everything: ErrorEstimate
    stops: list[ErrorEstimate]


def _measure(parts: Parts, stops: Sequence[Stop], answers: Followed | None) -> Measured:
    jobs = parts.selector.n_jobs
    if parts.queries is not None and answers is not None:
        codes, winners = parts.test_codes, answers.winners
        nearest, _ = parts.queries.nearest(n_jobs=jobs)
    else:
        n = parts.train.n_objects
        rows = np.arange(n)
        if n > MOST_MEASURED:
            rows = np.sort(np.random.default_rng(0).choice(n, MOST_MEASURED, replace=False))
        lists = parts.space.kneighbors(1, limit=1, n_jobs=jobs)
        codes, nearest = parts.codes[rows], lists.indices[np.cumsum(lists.counts) - lists.counts][rows]
        learned = _degradations(parts)
        winners = follow(
            parts.space, rows, stops, n_nearest=1, leave_out_self=True, degradations=learned, n_jobs=jobs
        ).winners
    wrong = (winners < 0) | (parts.codes[winners] != codes)
    return Measured(
        estimate_error(int((parts.codes[nearest] != codes).sum()), len(codes)),
        [estimate_error(int(row.sum()), len(codes)) for row in wrong],
    )


def _degradations(parts: Parts) -> np.ndarray | None:
    """What adjusts the ranks, where the rule does."""
    return getattr(parts.selector, "degradations_", None) if parts.rule == "adjusted" else None


def _cross_validated(parts: Parts) -> dict[str, float] | None:
    """Error of the chosen size as the automatic size measured it, on objects that no prototype was chosen by."""
    curve = getattr(parts.selector, "size_curve_", None)
    if curve is None or parts.rule != "nearest":
        return None
    return {
        "error": float(curve.errors[curve.chosen]),
        "standard_error": float(curve.standard_errors[curve.chosen]),
    }


def _summary(parts: Parts, stops: Sequence[Stop], measured: Measured) -> dict[str, Any]:
    chosen = next(number for number, stop in enumerate(stops) if stop.chosen)
    n, kept = parts.train.n_objects, stops[chosen].size
    return {
        "n_train": n,
        "n_test": len(parts.test_ids),
        "n_prototypes": kept,
        "selection_rate": selection_rate(kept, n),
        "distances_per_query": distances_per_query(kept),
        "distances_saved": n - distances_per_query(kept),
        "measured_on": "leave-one-out" if parts.queries is None else "test",
        "n_measured": measured.everything.n_test,
        "confidence": measured.everything.confidence,
        "everything": _estimate(measured.everything),
        "prototypes": _estimate(measured.stops[chosen]),
        "cross_validated": _cross_validated(parts),
        "chosen_stop": chosen,
        "refined": getattr(parts.selector, "refinement_", None) is not None,
    }


def _estimate(estimate: ErrorEstimate) -> dict[str, Any]:
    return {
        "error": estimate.error,
        "lower": significant(estimate.lower, 6),
        "upper": significant(estimate.upper, 6),
        "n_errors": estimate.n_errors,
    }


def _stop(stop: Stop, estimate: ErrorEstimate, shown: np.ndarray) -> dict[str, Any]:
    places = np.flatnonzero(np.isin(shown, stop.kept))
    return {"size": stop.size, "chosen": stop.chosen, "kept": places.tolist()} | _estimate(estimate)


def _objects(parts: Parts, shown: np.ndarray, followed: Followed) -> dict[str, Any]:
    weights, degradations = (getattr(parts.selector, name, None) for name in ("weights_", "degradations_"))
    points = lay_out(parts.space, shown)
    return {
        "ids": [parts.ids[row] for row in shown],
        "codes": parts.codes[shown].tolist(),
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        "weights": None if weights is None else [significant(value) for value in weights[shown].tolist()],
        "degradations": None
        if degradations is None
        else [significant(value) for value in degradations[shown].tolist()],
    } | _nearest(followed, shown)


def _queries(
    parts: Parts, queries: Dissimilarities, stops: Sequence[Stop], shown: np.ndarray, share: float, most: int
) -> tuple[dict[str, Any], Followed]:
    n = len(parts.test_codes)
    assert parts.test is not None
    answers = follow(
        queries,
        np.arange(n),
        stops,
        n_nearest=N_EXPLAINED,
        leave_out_self=False,
        degradations=_degradations(parts),
        n_jobs=parts.selector.n_jobs,
    )
    rows = np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    values, _ = describe_objects(parts.test, rows, share=1 - share)
    kept = Followed(
        answers.winners[:, rows],
        answers.ranks[:, rows],
        [answers.nearest[row] for row in rows],
        [answers.distances[row] for row in rows],
    )
    decided = None
    if parts.rule == "adjusted":
        decided = {"winners": [_places(row, shown) for row in kept.winners], "ranks": kept.ranks.tolist()}
    described = {
        "ids": [parts.test_ids[row] for row in rows],
        "codes": parts.test_codes[rows].tolist(),
        "decided": decided,
        "values": values,
    } | _nearest(kept, shown)
    return described, answers


def _nearest(followed: Followed, shown: np.ndarray) -> dict[str, Any]:
    return {
        "nearest": [_places(row, shown) for row in followed.nearest],
        "distances": [[significant(value, 7) for value in row.tolist()] for row in followed.distances],
    }


def _places(positions: np.ndarray, shown: np.ndarray) -> list[int]:
    """Places among the objects of the page; -1 for one that it does not hold."""
    at = np.searchsorted(shown, positions).clip(max=len(shown) - 1)
    return np.where(shown[at] == positions, at, -1).tolist()


@dataclass(frozen=True)
class _Some:
    """Some objects of a space, for the layout."""

    space: Space
    rows: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows)

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        return self.space.block(self.rows[rows], self.rows[columns])


def lay_out(space: Space, shown: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 to ``MAP_UNITS``, both axes on one scale."""
    points = plane_coordinates(CheckedDissimilarities(_Some(space, shown), len(shown)))
    # A map that is higher than wide would waste the page.
    if np.ptp(points[:, 0]) < np.ptp(points[:, 1]):
        points = points[:, ::-1]
    spread = float(np.ptp(points, axis=0).max())
    scaled = (points - points.min(axis=0)) / (spread if spread > 0 else 1.0) * MAP_UNITS
    return scaled.round().astype(int)
