"""The errors on the page. They are measured on objects that the selection did not use, unless the page says otherwise.

The error of the set is measured on test objects, or without them by cross-validation. The references are measured on
the same test objects, or without them by leave-one-out on the training objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from protoset._report.inputs import ReportInputs
from protoset._report.objects import significant
from protoset._report.stops import Stop, curve_measure
from protoset.evaluation import estimate_error
from protoset.models import CrossValidation, ReferenceErrors, vote_of_neighbors
from protoset.models.cross_validation import is_measured_among_many
from protoset.selectors import REPS
from protoset.selectors.size import SAMPLE_OBJECTS


def measure_set(inputs: ReportInputs, stops: Sequence[Stop], predicted: np.ndarray | None) -> dict[str, Any]:
    """Error of the chosen set; ``predicted`` are the classes of the test objects, -1 where there is none."""
    chosen = next(stop for stop in stops if stop.chosen)
    if predicted is None:
        error, standard_error = chosen.error, chosen.standard_error
        measure = curve_measure(inputs.selector, inputs.rule)
        # The error along the curve may be that of sets that moved where this set did not, or the reverse.
        is_other_set = inputs.has_moved_curve != (inputs.moved is not None)
        is_of_few = inputs.classifier is not None and is_measured_among_many(inputs.classifier, inputs.train.n_objects)
        if measure is not None and (measure != "error" or is_other_set or is_of_few):
            measure = None
            error, standard_error = inputs.held_out_error.error, inputs.held_out_error.standard_error
        if measure is None and inputs.held_out_error.how != "cross-validation":
            return _calibration_error(inputs.held_out_error)
        is_whole_curve = measure == "error" and isinstance(inputs.selector, REPS)
        n_objects, n_classes = inputs.train.n_objects, len(inputs.selector.classes_)
        return {
            "measured_on": "cross-validation",
            "n_measured": n_objects if is_whole_curve else min(n_objects, max(SAMPLE_OBJECTS, n_classes)),
            "error": error,
            "standard_error": standard_error,
        }
    wrong = predicted != inputs.test_codes
    estimate = estimate_error(int(wrong.sum()), len(wrong))
    return {
        "measured_on": "test",
        "n_measured": estimate.n_test,
        "error": estimate.error,
        "standard_error": estimate.standard_error,
        "lower": significant(estimate.lower, 6),
        "upper": significant(estimate.upper, 6),
        "n_errors": estimate.n_errors,
        "confidence": estimate.confidence,
    }


def _calibration_error(measured: CrossValidation) -> dict[str, Any]:
    """Error of the objects by which a classifier was calibrated."""
    return {
        "measured_on": measured.how,
        "n_measured": measured.n_objects,
        "error": measured.error,
        "standard_error": measured.standard_error,
    }


def measure_references(inputs: ReportInputs) -> dict[str, Any]:
    """Errors of always answering the most frequent class, and of 1-NN and k-NN on all training objects.

    By leave-one-out on the training objects; if there are test objects, also on these.
    """
    measured, on_test = inputs.measure_references(), None
    if inputs.queries is not None:
        jobs = inputs.selector.n_jobs
        votes = {k: vote_of_neighbors(inputs.queries, inputs.codes, k, n_jobs=jobs) for k in {1, measured.k}}
        wrong = [float(np.mean(votes[k] != inputs.test_codes)) for k in (1, measured.k)]
        guess = float(np.mean(inputs.test_codes != measured.answer))
        on_test = replace(measured, guess=guess, nearest=wrong[0], knn=wrong[1], n_objects=len(inputs.test_codes))
    return {"leave_one_out": _references(measured), "test": None if on_test is None else _references(on_test)}


def _references(errors: ReferenceErrors) -> dict[str, Any]:
    values = asdict(errors)
    return {"n_measured": values.pop("n_objects"), **values}
