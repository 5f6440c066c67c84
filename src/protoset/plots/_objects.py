"""Checks of what is drawn: labels, kept objects, dissimilarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._validation import as_numbers, is_count, name_rows


@dataclass(frozen=True, eq=False)
class MarkedObjects:
    """Objects with their classes, kept or dropped.

    Attributes
    ----------
    classes : list
    codes : ndarray of int
        Position of each object's class.
    kept : ndarray of bool
    """

    classes: list[Any]
    codes: np.ndarray
    kept: np.ndarray


def mark_objects(labels: Any, kept: Any) -> MarkedObjects:
    """Check labels and kept objects, which are given by positions or by a mask.

    Parameters
    ----------
    labels : array-like of shape (n_objects,)
    kept : array-like of int, or of bool of shape (n_objects,)
    """
    values = np.asarray(labels)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"labels has the shape {values.shape}; pass one label per object, and at least one object")
    try:
        classes, codes = np.unique(values, return_inverse=True)
    except TypeError:
        classes, codes = np.unique([str(label) for label in values], return_inverse=True)
    return MarkedObjects(classes.tolist(), codes.reshape(-1), as_mask(kept, len(values)))


def as_mask(kept: Any, n_objects: int) -> np.ndarray:
    """Whether each object is kept."""
    given = np.asarray(kept)
    if given.dtype == bool and given.shape == (n_objects,):
        return given
    if given.ndim != 1 or (len(given) and given.dtype.kind not in "iu"):
        raise ValueError(f"kept={kept!r} must be the positions of the kept objects, or True and False for each object")
    unfit = given[(given < 0) | (given >= n_objects)]
    if len(unfit):
        raise ValueError(f"kept has the position {unfit[0]}, but there are {n_objects} objects, from 0 on")
    mask = np.zeros(n_objects, bool)
    mask[given.astype(int)] = True
    return mask


class Dissimilarities:
    """Dissimilarities among the objects that are drawn, from a matrix or a space.

    Parameters
    ----------
    source : array-like of shape (n_objects, n_objects), or Space
    n_objects : int
        As many as there are labels.
    """

    def __init__(self, source: Any, n_objects: int):
        self._space = source if callable(getattr(source, "block", None)) else None
        self._matrix = as_numbers("dissimilarities", source) if self._space is None else None
        shape = self._matrix.shape if self._matrix is not None else tuple(source.shape)
        if shape != (n_objects, n_objects):
            raise ValueError(
                f"dissimilarities has the shape {shape} for {n_objects} labels; pass a square matrix, or the space of "
                "the labelled objects"
            )
        self.n_objects = n_objects

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Dissimilarities of rows to columns, all of them finite."""
        if self._matrix is not None:
            block = self._matrix[np.ix_(rows, columns)]
        else:
            assert self._space is not None
            block = np.asarray(self._space.block(rows, columns), float)
        unfit = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if len(unfit):
            raise ValueError(
                f"dissimilarities are infinite or missing in {name_rows(rows[unfit])}, which have no place on a map; "
                "leave those objects out"
            )
        return block

    def square(self) -> np.ndarray:
        """All of them."""
        every = np.arange(self.n_objects)
        return self.block(every, every)


def check_most(name: str, value: Any) -> int:
    """Return a limit of what is shown if it is a count of at least 1."""
    if is_count(value) and value >= 1:
        return int(value)
    raise ValueError(f"{name}={value!r} must be a whole number of at least 1; pass how many to show at most")
