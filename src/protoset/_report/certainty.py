"""Certainty of the predictions for test objects: probabilities, possible labels, and novel objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from protoset._blocks import row_slices
from protoset.classifier import PrototypeClassifier
from protoset.decisions import Calibration, label_sets, probabilities_of

if TYPE_CHECKING:
    from protoset._report.inputs import ReportInputs

COVERAGE = 0.9
"""Coverage of the sets of possible labels."""

REFUSED_RATE = 0.01
"""Share of the known objects that may be called novel by mistake."""

PROBABILITY_DIGITS = 4
"""Decimals of a probability."""


def calibration_of(classifier: PrototypeClassifier | None) -> Calibration | None:
    """Calibration of the rule that predicts; None if it is not calibrated."""
    if classifier is None or classifier.calibration_ is None:
        return None
    return classifier.calibration_ if classifier.rule_ in classifier.calibration_.errors else None


def tells_novelty(calibration: Calibration) -> bool:
    """Whether enough objects were held out to detect novel objects."""
    return calibration.novelty.smallest_tail <= REFUSED_RATE


def describe_certainty(inputs: ReportInputs, rows: np.ndarray, kept: np.ndarray) -> dict[str, Any] | None:
    """Probability of the prediction for each test object, its possible labels, and whether it is unlike anything seen.

    ``kept`` are the prototypes as columns of ``query_distances``. None where the classifier is not calibrated.
    """
    classifier, distances = inputs.classifier, inputs.query_distances
    calibration = calibration_of(classifier)
    if classifier is None or distances is None or calibration is None:
        return None
    probabilities: list[float] = []
    possible: list[list[int]] = []
    novel: list[bool] = []
    for block_rows in row_slices(len(rows), 8 * len(kept)):
        block = np.asarray(distances.block(rows[block_rows], kept), float)
        shares = probabilities_of(classifier._rule, calibration.probabilities, block)
        codes = shares.argmax(axis=1)
        sets = label_sets(calibration, shares, codes, COVERAGE, by_class=False)
        nearest = classifier._vote(block)
        probabilities += shares.max(axis=1).round(PROBABILITY_DIGITS).tolist()
        possible += [np.flatnonzero(row).tolist() for row in sets]
        scores = calibration.novelty_of(nearest, block[np.arange(len(block)), nearest])
        novel += (scores > calibration.novelty.limit(REFUSED_RATE)).tolist()
    return {
        "probabilities": probabilities,
        "possible": possible,
        "coverage": COVERAGE,
        "novel": novel if tells_novelty(calibration) else None,
        "rate": REFUSED_RATE,
    }
