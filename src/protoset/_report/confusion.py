"""Confusion of classes: counts of actual and predicted classes, and the error of each class.

test objects                        -> predictions of the classifier
else classifiers without each fold  -> predictions of the folds, which the check of the labels made
else cross-validation of the set    -> its predictions
else training objects               -> their nearest prototypes; the selection has seen them, so there is no error
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._report.inputs import ReportInputs
from protoset._report.objects import significant
from protoset._report.stops import Stop, curve_measure
from protoset.evaluation import estimate_error
from protoset.spaces import DISSIMILARITIES

QUICK_KINDS = ("vectors", "mixed attributes", "matrix")
"""Kinds of dissimilarities whose cross-validation takes little time."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Predicted classes of some objects.

    ``how`` is "test", "folds", "cross-validation" or "seen objects". ``rows`` are test objects for "test", else
    training objects. ``actual`` and ``predicted`` are codes of classes, -1 where there is no prediction.
    """

    how: str
    rows: np.ndarray
    actual: np.ndarray
    predicted: np.ndarray

    @property
    def of_test(self) -> bool:
        """Whether the objects are test objects."""
        return self.how == "test"

    def on_page(self, rows: np.ndarray) -> list[int]:
        """Predicted classes of the objects that the page holds; -1 where there is none."""
        predictions = np.full(int(max(rows.max(initial=-1), self.rows.max(initial=-1))) + 1, -1)
        predictions[self.rows] = self.predicted
        return predictions[rows].tolist()


def find_answers(inputs: ReportInputs, predicted: np.ndarray | None, shown: np.ndarray, nearest: np.ndarray) -> Answers:
    """Predictions for objects that took no part in the selection, or if there are none, the nearest prototypes.

    ``predicted`` are the classes predicted for all test objects. ``nearest`` are the classes of the nearest prototypes
    of the training objects ``shown``.
    """
    if predicted is not None:
        return Answers("test", np.arange(len(predicted)), inputs.test_codes, predicted)
    if inputs.judged is not None:
        shares = inputs.judged.all_probabilities
        rows = np.flatnonzero(np.isfinite(shares).all(axis=1))
        return Answers("folds", rows, inputs.codes[rows], shares[rows].argmax(axis=1))
    is_measured = curve_measure(inputs.selector, inputs.rule) is None
    record = DISSIMILARITIES.get(inputs.space.metric)
    if is_measured or (record is not None and record.kind in QUICK_KINDS):
        held_out = inputs.held_out_error
        if held_out.rows is not None and held_out.predicted is not None:
            return Answers("cross-validation", held_out.rows, inputs.codes[held_out.rows], held_out.predicted)
    return Answers("seen objects", shown, inputs.codes[shown], nearest)


def describe_confusion(
    inputs: ReportInputs, answers: Answers, stop: Stop, shown: np.ndarray, queries: np.ndarray
) -> dict[str, Any]:
    """Return the counts, the classes, and the predictions for the objects on the page.

    ``stop`` is the chosen one; ``shown`` and ``queries`` are the training and test objects that the page holds.
    """
    actual, predicted = answers.actual, answers.predicted
    pairs, counts = np.unique(np.column_stack([actual, predicted]), axis=0, return_counts=True)
    return {
        "measured_on": answers.how,
        "n_measured": len(actual),
        "n_wrong": int((actual != predicted).sum()),
        "cells": np.column_stack([pairs, counts]).tolist(),
        "classes": _describe_classes(inputs, answers, np.asarray(stop.kept)),
        "objects": None if answers.of_test else answers.on_page(shown),
        "queries": answers.on_page(queries) if answers.of_test else None,
    }


def _describe_classes(inputs: ReportInputs, answers: Answers, kept: np.ndarray) -> list[dict[str, Any]]:
    """Objects, prototypes and error of each class, and the class that it is most often taken for."""
    n_classes = len(inputs.classes)
    n_objects = np.bincount(inputs.codes, minlength=n_classes)
    n_prototypes = np.bincount(inputs.column_codes[kept], minlength=n_classes)
    described = []
    for code in range(n_classes):
        predicted = answers.predicted[answers.actual == code]
        others = predicted[(predicted != code) & (predicted >= 0)]
        taken_for = np.bincount(others, minlength=n_classes)
        n_wrong = int((predicted != code).sum())
        error = lower = upper = None
        if len(predicted) and answers.how != "seen objects":
            estimate = estimate_error(n_wrong, len(predicted))
            error, lower, upper = (significant(value, 6) for value in (estimate.error, estimate.lower, estimate.upper))
        described.append(
            {
                "code": code,
                "n_objects": int(n_objects[code]),
                "n_prototypes": int(n_prototypes[code]),
                "n_measured": len(predicted),
                "n_wrong": n_wrong,
                "error": error,
                "lower": lower,
                "upper": upper,
                "confused_with": [int(taken_for.argmax()), int(taken_for.max())] if len(others) else None,
            }
        )
    return described
