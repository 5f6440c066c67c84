"""Calibration of a stream, by objects of its batches that were predicted before the prototypes moved on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset.decisions.calibration import Calibration, Judgement, calibration_by
from protoset.decisions.held_out import sampled_rows
from protoset.decisions.novelty import HeldOutScores
from protoset.decisions.ranks import nearest_of_classes
from protoset.decisions.rules import NearestRule

PREQUENTIAL = "prequential"
"""Name of the calibration on a stream: each object is predicted before the prototypes move on it."""

BATCH_OBJECTS = 256
"""Largest number of objects of a batch that are remembered."""

REMEMBERED_OBJECTS = 4096
"""Largest number of objects of a stream that are remembered; the latest are kept."""


@dataclass(frozen=True, eq=False)
class JudgedStream:
    """Some of the latest objects of a stream, as distances to the nearest prototype of each class when they came.

    Attributes
    ----------
    distances : ndarray of shape (n_objects, n_classes)
    codes, weights : ndarray
        Classes and weights of the objects.
    """

    distances: np.ndarray
    codes: np.ndarray
    weights: np.ndarray

    @classmethod
    def begin(cls, n_classes: int) -> JudgedStream:
        """Return an empty stream."""
        return cls(np.empty((0, n_classes)), np.empty(0, np.int64), np.empty(0))

    def after(
        self, block: np.ndarray, prototype_codes: np.ndarray, codes: np.ndarray, weights: np.ndarray
    ) -> JudgedStream:
        """Remember objects of one more batch, given by their distances to all prototypes."""
        distances = nearest_of_classes(block, prototype_codes, self.distances.shape[1])
        return JudgedStream(
            np.concatenate([self.distances, distances])[-REMEMBERED_OBJECTS:],
            np.concatenate([self.codes, codes])[-REMEMBERED_OBJECTS:],
            np.concatenate([self.weights, weights])[-REMEMBERED_OBJECTS:],
        )

    def calibration(self, rule: NearestRule, class_weights: np.ndarray) -> Calibration | None:
        """Calibrate by the remembered objects; None where there are none. ``class_weights`` has a weight per class."""
        some = np.flatnonzero(self.weights > 0)
        if not len(some):
            return None
        codes, weights, distances = self.codes[some], self.weights[some], self.distances[some]
        costs = weights * class_weights[codes]
        error = float(weights[distances.argmin(axis=1) != codes].sum() / weights.sum())
        novelty = HeldOutScores.of(distances.min(axis=1) / rule.typical, weights)
        radii = np.full(len(rule.vote.codes), rule.typical)
        judgement = Judgement(rule.evidence_of(distances), np.ones(distances.shape), error, error)
        return calibration_by(PREQUENTIAL, rule, judgement, codes, weights, costs, {rule.name: error}, radii, novelty)


def remembered_rows(n_objects: int) -> np.ndarray:
    """Objects of a batch to remember."""
    return sampled_rows(n_objects, BATCH_OBJECTS)
