"""Scores of the predictions at each size of an automatic size."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from protoset._validation import as_float, did_you_mean

Scoring = str | Callable[..., float]
"""A name in ``SCORINGS``, or a function of true and predicted labels."""

SCORINGS = ("accuracy", "balanced_accuracy")
"""Names of the scores."""

MOST_LABELS = 10_000_000
"""Largest number of labels that a function without ``sample_weight`` gets."""


def check_scoring(scoring: Any) -> Scoring:
    """Return a scoring; refuse a value that is neither a known name nor a function."""
    if callable(scoring) or (isinstance(scoring, str) and scoring in SCORINGS):
        return scoring
    raise ValueError(
        f"scoring={scoring!r} is not known{did_you_mean(scoring, SCORINGS)}; choose one of {list(SCORINGS)}, or pass a "
        "function of true and predicted labels, such as sklearn.metrics.matthews_corrcoef"
    )


def name_of_scoring(scoring: Scoring) -> str:
    """Name of a scoring, for people to read."""
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", type(scoring).__name__)


def scored_error(
    scoring: Scoring, classes: np.ndarray, true: np.ndarray, predicted: np.ndarray, weights: np.ndarray
) -> float:
    """1 - score for a name, -score for a function; ``true`` and ``predicted`` are positions in ``classes``.

    A function that takes no ``sample_weight`` gets each object as often as its weight says, rounded, and at least once.
    """
    if scoring == "accuracy":
        return float((weights * (true != predicted)).sum() / weights.sum())
    if scoring == "balanced_accuracy":
        sizes = np.bincount(true, weights)
        wrong = np.bincount(true, weights * (true != predicted))
        return float(np.mean(wrong[sizes > 0] / sizes[sizes > 0]))
    assert callable(scoring)
    if _takes_weights(scoring):
        score: Any = scoring(classes[true], classes[predicted], sample_weight=weights)
    else:
        times = np.maximum(np.rint(weights).astype(int), 1)
        if times.sum() > max(MOST_LABELS, len(times)):
            raise ValueError(
                f"scoring={name_of_scoring(scoring)} has no argument sample_weight, and would get {times.sum():,} "
                "labels for objects of these weights; give it the argument, or pass smaller weights"
            )
        score = scoring(np.repeat(classes[true], times), np.repeat(classes[predicted], times))
    if not np.isfinite(number := as_float(score)):
        raise ValueError(
            f"scoring={name_of_scoring(scoring)} returned {score!r}; it must return a finite number, larger for better "
            "predictions, for arrays of true and predicted labels"
        )
    return -number


def _takes_weights(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "sample_weight" or p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
