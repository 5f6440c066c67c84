"""Whether the attributes that the metric compares are those of the objects on the page."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from protoset.models.preparation import Preparation

N_CHECKED_COLUMNS = 200
"""Attributes that are tried to see whether a transform mixes them."""


def keeps_attributes(transform: Callable[[Any], Any] | None, objects: Any, n_features: int | None) -> bool:
    """Whether each attribute that the metric compares is an attribute of the objects, scaled or not.

    A transform such as PCA mixes the attributes. It is tried on copies of an object with one attribute changed.
    """
    table = objects if isinstance(objects, np.ndarray) and objects.ndim == 2 else None
    if table is None or table.shape[1] != n_features:
        return False
    if transform is None or isinstance(transform, Preparation):
        return True
    columns = np.unique(np.linspace(0, table.shape[1] - 1, N_CHECKED_COLUMNS).round().astype(int))
    changed = np.repeat(table[:1], len(columns) + 1, axis=0)
    for number, column in enumerate(columns.tolist(), 1):
        differs = np.flatnonzero(table[:, column] != table[0, column])
        changed[number, column] = table[differs[0] if len(differs) else 0, column]
    try:
        with warnings.catch_warnings():
            # A transform may know the columns of a DataFrame, which an array does not have.
            warnings.simplefilter("ignore")
            result = transform(changed)
    except Exception:  # of any kind, as the transform is the user's: it takes no array
        return False
    result = np.asarray(result.toarray() if hasattr(result, "toarray") else result)
    if result.shape != changed.shape:
        return False
    # Values that are not equal to themselves are missing before and after.
    differ = (result[1:] != result[0]) & ~((result[1:] != result[1:]) & (result[0] != result[0]))
    differ[np.arange(len(columns)), columns] = False
    return not differ.any()
