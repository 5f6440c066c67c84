"""Weights of objects, which are counts, and weights of classes, which are costs of an error."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from protoset._validation import as_float, name_rows

ClassWeight = Mapping[Any, float] | str | None
"""None, "balanced", or the weight of each label."""

LEAST_WEIGHT = 1e-12
"""Smallest weight above 0."""

LARGEST_WEIGHT = 1e12
"""Largest weight; products of weights must not leave the range of floats."""


def check_sample_weight(sample_weight: Any, n_objects: int) -> np.ndarray | None:
    """Return the weights of the objects as floats, None where all weigh the same; refuse other values."""
    if sample_weight is None:
        return None
    remedy = "pass one number of at least 0 for each object"
    try:
        weights = np.array(sample_weight)
        if np.iscomplexobj(weights):
            raise TypeError("and not complex")
        weights = weights.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"sample_weight={reprlib.repr(sample_weight)} must be numbers, {error}; {remedy}") from error
    if weights.shape != (n_objects,):
        raise ValueError(
            f"sample_weight={reprlib.repr(sample_weight)} has the shape {weights.shape} for {n_objects} objects in X; "
            f"{remedy}"
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise ValueError(
            f"sample_weight is {weights[wrong[0]]:g} in {name_rows(wrong)}, negative, infinite or NaN; {remedy}"
        )
    beyond = np.flatnonzero((weights > LARGEST_WEIGHT) | ((weights > 0) & (weights < LEAST_WEIGHT)))
    if len(beyond):
        raise ValueError(
            f"sample_weight is {weights[beyond[0]]:g} in {name_rows(beyond)}; pass weights from {LEAST_WEIGHT:g} to "
            f"{LARGEST_WEIGHT:g}, with a mean of about 1, and 0 for objects that take no part"
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for all objects; pass a weight above zero for some")
    return weights


def check_class_weight(class_weight: Any) -> ClassWeight:
    """Return ``class_weight`` as None, "balanced" or a dict of floats; its labels are checked in a fit."""
    remedy = f"pass None, 'balanced', or a dict from labels to numbers from {LEAST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return class_weight
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight={class_weight!r} is not known; {remedy}")
    for label, weight in class_weight.items():
        if not LEAST_WEIGHT <= as_float(weight) <= LARGEST_WEIGHT:
            given, value = reprlib.repr(class_weight), reprlib.repr(weight)
            raise ValueError(f"class_weight={given} has {value} for the label {label!r}; {remedy}")
    return {label: as_float(weight) for label, weight in class_weight.items()}


def class_weights(class_weight: ClassWeight, classes: np.ndarray, class_counts: np.ndarray) -> np.ndarray:
    """Weight of each class; "balanced" as in scikit-learn: n / (number of classes * size of the class)."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        return class_counts.sum() / (len(classes) * class_counts)
    return np.array([class_weight.get(label, 1.0) for label in classes.tolist()])


def refuse_unknown_labels(class_weight: ClassWeight, classes: np.ndarray) -> None:
    """Raise an error for weights of labels that are not in the training set."""
    labels = () if class_weight is None or isinstance(class_weight, str) else class_weight
    unknown = [label for label in labels if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"class_weight={class_weight!r} has weights for {unknown}, which are not among the labels "
            f"{classes.tolist()}; leave them out"
        )
