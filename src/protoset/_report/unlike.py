"""Novel objects: test and training objects that are far from their nearest prototype, compared with its surroundings.

How far is told by the distance to the nearest prototype, divided by the usual distance there: the mean over the
training objects near that prototype, as in the novelty of a calibrated classifier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._report.certainty import REFUSED_RATE, calibration_of, tells_novelty
from protoset._report.inputs import ReportInputs
from protoset._report.nearest import PrototypeSet
from protoset._report.objects import significant
from protoset.decisions.novelty import FEW_NEIGHBORS
from protoset.selectors.ties import nearest_prototypes
from protoset.spaces import Dissimilarities

MOST_LISTED = 25
"""Training objects that the list has at most, and test objects."""

LEAST_LISTED = 5
"""Smallest number of objects in the list if there is no calibration, which would detect novel objects."""

LISTED_SHARE = 0.01
"""Part of the objects that the list has between these."""


@dataclass(frozen=True, eq=False)
class FarObjects:
    """Objects with their nearest prototypes (as columns of the dissimilarities), the farthest first.

    ``usual`` are the usual distances there. ``n_novel`` is the number of objects, listed or not, that are unlike
    anything seen; None where this is not told.
    """

    rows: np.ndarray
    nearest: np.ndarray
    distances: np.ndarray
    usual: np.ndarray
    n_novel: int | None = None


NOTHING = FarObjects(np.empty(0, int), np.empty(0, int), np.empty(0), np.empty(0))
"""No objects."""


@dataclass(frozen=True, eq=False)
class Unlike:
    """Far training objects and far test objects."""

    training: FarObjects
    test: FarObjects


def find_unlike(inputs: ReportInputs, prototypes: PrototypeSet) -> Unlike:
    """Find the training and the test objects that are farthest from the chosen set, relative to what is usual."""
    n = inputs.train.n_objects
    # A prototype is near itself.
    rows = np.setdiff1d(np.arange(n), prototypes.kept)
    slots, distances = _nearest(inputs, inputs.distances, rows, prototypes)
    calibration = calibration_of(inputs.classifier)
    usual = calibration.radii if calibration else _usual_distances(slots, distances, len(prototypes.kept))
    training = _farthest(rows, slots, distances, usual, prototypes)
    if inputs.query_distances is None:
        return Unlike(training, NOTHING)
    rows = np.arange(len(inputs.test_codes))
    slots, distances = _nearest(inputs, inputs.query_distances, rows, prototypes)
    limit = None
    if calibration is not None and tells_novelty(calibration):
        limit = calibration.novelty.limit(REFUSED_RATE)
    return Unlike(training, _farthest(rows, slots, distances, usual, prototypes, limit))


def _nearest(
    inputs: ReportInputs, distances: Dissimilarities, rows: np.ndarray, prototypes: PrototypeSet
) -> tuple[np.ndarray, np.ndarray]:
    vote, jobs = prototypes.vote, inputs.selector.n_jobs
    if not len(rows):
        return np.empty(0, int), np.empty(0)
    return nearest_prototypes(distances, vote.codes, vote.counts, vote.class_totals, rows, prototypes.kept, n_jobs=jobs)


def _usual_distances(slots: np.ndarray, distances: np.ndarray, n_prototypes: int) -> np.ndarray:
    """Mean distance of the objects near each prototype; with few objects, near the mean of all."""
    is_known = np.isfinite(distances)
    slots, distances = slots[is_known], distances[is_known]
    mean = float(distances.mean()) if len(distances) else 0.0
    if mean == 0:
        return np.ones(n_prototypes)
    sums = np.bincount(slots, distances, minlength=n_prototypes)
    return (sums + FEW_NEIGHBORS * mean) / (np.bincount(slots, minlength=n_prototypes) + FEW_NEIGHBORS)


def _farthest(
    rows: np.ndarray,
    slots: np.ndarray,
    distances: np.ndarray,
    usual: np.ndarray,
    prototypes: PrototypeSet,
    limit: float | None = None,
) -> FarObjects:
    """Objects that are farthest for their surroundings; with a limit, those beyond it alone."""
    scores = distances / usual[slots]
    known = np.flatnonzero(np.isfinite(scores) & (scores > 0))
    n_novel = None
    if limit is None:
        n_listed = min(MOST_LISTED, max(LEAST_LISTED, int(LISTED_SHARE * len(rows))))
    else:
        known, n_listed = known[scores[known] > limit], MOST_LISTED
        n_novel = len(known)
    first = known[np.argsort(-scores[known], kind="stable")][:n_listed]
    return FarObjects(rows[first], prototypes.kept[slots[first]], distances[first], usual[slots[first]], n_novel)


def describe_unlike(inputs: ReportInputs, unlike: Unlike, listed: np.ndarray, queries: np.ndarray) -> dict[str, Any]:
    """The lists as the page shows them; objects are pairs of their index on the page, -1 for none, and their id.

    ``listed`` are the training objects and moved prototypes that the page holds, ``queries`` its test objects.
    """
    n, moved = inputs.train.n_objects, inputs.moved
    index_of = {column: index for index, column in enumerate(listed.tolist())}
    query_of = {row: index for index, row in enumerate(queries.tolist())}

    def prototype(column: int) -> list[Any]:
        real = column if moved is None or column < n else int(moved.exemplars[column - n])
        return [index_of.get(column, -1), inputs.ids[real]]

    def rows_of(far: FarObjects, of_test: bool) -> list[dict[str, Any]]:
        ids, codes = (inputs.test_ids, inputs.test_codes) if of_test else (inputs.ids, inputs.codes)
        positions = query_of if of_test else index_of
        values = (values.tolist() for values in (far.rows, far.nearest, far.distances, far.usual))
        return [
            {
                "test": of_test,
                "object": [positions.get(row, -1), ids[row]],
                "code": int(codes[row]),
                "prototype": prototype(column),
                "nearest_code": int(inputs.column_codes[column]),
                "distance": significant(distance),
                "usual": significant(usual),
                "times": significant(distance / usual),
            }
            for row, column, distance, usual in zip(*values, strict=True)
        ]

    return {
        "objects": rows_of(unlike.test, True) + rows_of(unlike.training, False),
        "n_novel": unlike.test.n_novel,
        "rate": REFUSED_RATE,
    }
