"""Arguments of refusals: the rate of known objects that may be refused, and the label of refused queries."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset._validation import check_real

LARGEST_RATE = 0.99
"""Largest rate of known objects that may be refused."""

OutlierLabel = Any
"""Label of refused queries, or "auto"."""


def check_refuse(refuse: Any) -> float | None:
    """Return the rate of known objects that may be refused; None where nothing is refused."""
    if refuse is None:
        return None
    return check_real("refuse", refuse, above=0, most=LARGEST_RATE, remedy="0.01 is one of a hundred")


def outlier_label_for(label: OutlierLabel, classes: np.ndarray, refuse: float | None) -> Any:
    """Return the label of refused queries; refuse one that training objects have, or that is of another kind."""
    if refuse is None:
        return None
    is_number = all(isinstance(value, (int, float)) for value in classes.tolist())
    if isinstance(label, str) and label == "auto":
        label = -1 if is_number else "unknown"
    if isinstance(label, str) == is_number or classes.dtype.kind in "ub":
        raise ValueError(
            f"outlier_label={label!r} cannot stand beside labels of the dtype {classes.dtype}; pass one of their kind, "
            "or use labels that are signed numbers or texts"
        )
    if label in classes.tolist():
        raise ValueError(f"outlier_label={label!r} is a label of the training set; pass another label")
    return label
