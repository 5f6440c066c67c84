"""Checks of the arguments of plots: labels, kept objects, dissimilarities, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._blocks import row_slices
from protoset._validation import as_numbers, check_count, name_rows


@dataclass(frozen=True, eq=False)
class MarkedObjects:
    """Classes, the position of each object's class among them, and whether each object is kept."""

    classes: list[Any]
    codes: np.ndarray
    kept: np.ndarray


def mark_objects(labels: Any, kept: Any) -> MarkedObjects:
    """Check labels and kept objects."""
    values = np.asarray(labels)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"labels has the shape {values.shape}; pass one label per object, and at least one object")
    try:
        classes, codes = np.unique(values, return_inverse=True)
    except TypeError:
        classes, codes = np.unique([str(label) for label in values], return_inverse=True)
    return MarkedObjects(classes.tolist(), codes.reshape(-1), as_mask(kept, len(values)))


def as_mask(kept: Any, n_objects: int) -> np.ndarray:
    """Return a mask of the kept objects from their positions or from a mask."""
    positions = np.asarray(kept)
    if positions.dtype == bool and positions.shape == (n_objects,):
        return positions
    if positions.ndim != 1 or (len(positions) and positions.dtype.kind not in "iu"):
        raise ValueError(f"kept={kept!r} must be positions of objects, or a mask with True or False for each object")
    outside = positions[(positions < 0) | (positions >= n_objects)]
    if len(outside):
        raise ValueError(f"kept has the position {outside[0]}; pass positions from 0 to {n_objects - 1}")
    mask = np.zeros(n_objects, bool)
    mask[positions.astype(int)] = True
    return mask


class CheckedDissimilarities:
    """Finite dissimilarities among the drawn objects, from a matrix or a space."""

    def __init__(self, source: Any, n_objects: int):
        if callable(getattr(source, "block", None)):
            self._block, shape = source.block, tuple(source.shape)
        else:
            matrix = as_numbers("dissimilarities", source)
            self._block, shape = (lambda rows, columns: matrix[np.ix_(rows, columns)]), matrix.shape
        if shape != (n_objects, n_objects):
            raise ValueError(
                f"dissimilarities has the shape {shape} for {n_objects} labels; pass a square matrix, or the space of "
                "the labelled objects"
            )
        self.n_objects = n_objects

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Dissimilarities from rows to columns."""
        block = np.asarray(self._block(rows, columns), float)
        missing = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if len(missing):
            raise ValueError(
                f"dissimilarities are infinite or missing in {name_rows(rows[missing])}, which cannot be drawn; leave "
                "these objects out"
            )
        return block

    def square(self) -> np.ndarray:
        """All dissimilarities, as a square matrix."""
        objects = np.arange(self.n_objects)
        return self.block(objects, objects)


def misclassified(dissimilarities: CheckedDissimilarities, objects: MarkedObjects) -> np.ndarray:
    """Whether the nearest other kept object has another class (the first of equally near); False if there is none."""
    kept, n = np.flatnonzero(objects.kept), dissimilarities.n_objects
    wrong = np.zeros(n, bool)
    if len(kept) == 0:
        return wrong
    for block in row_slices(n, 8 * len(kept)):
        rows = np.arange(n)[block]
        others = np.where(rows[:, None] == kept, np.inf, dissimilarities.block(rows, kept))
        nearest = others.argmin(axis=1)
        is_judged = np.isfinite(others[np.arange(len(rows)), nearest])
        wrong[block] = is_judged & (objects.codes[kept[nearest]] != objects.codes[rows])
    return wrong


def check_limit(name: str, value: Any) -> int:
    """Return the largest number of things to show, if it is a count of at least 1."""
    return check_count(name, value, least=1, remedy="pass how many to show at most")
