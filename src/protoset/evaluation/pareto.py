"""Pareto ranks by non-dominated sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset._validation import as_numbers
from protoset.evaluation._tables import NOISE, settle


def pareto_ranks(points: Any) -> np.ndarray:
    """Rank rows of measures, all of which are to be small, by non-dominated sorting.

    Rank 1 is the Pareto front: the rows that no other dominates. Rank 2 is the front of what is left without rank 1,
    and so on (Deb et al., 2002). Row j dominates row i if it is smaller in at least one measure and smaller or equal
    in all, as the paper's text says; equal rows have the same rank. Values that differ by no more than 1e-12 of the
    largest of their measure are equal: means over folds differ in their last digits by the order of the folds.

    The paper's printed formulas differ from its text, and are not followed. They join the comparisons "smaller or
    equal" by "or", by which two rows may dominate each other; they call the row with the smaller measures the
    dominated one; and they want a row of rank r to be dominated by *all* rows of rank r - 1, which leaves rows
    without a rank.

    Parameters
    ----------
    points : array-like of shape (n_rows, n_measures)
        For the paper: (ERR, SLR) of each method on one data set. A row with NaN is a failed run: it gets no rank and
        dominates nobody.

    Returns
    -------
    ndarray of shape (n_rows,)
        1.0, 2.0, ...; NaN for rows with NaN, so that no mean counts a failure as a rank.

    Examples
    --------
    >>> from protoset.evaluation import pareto_ranks
    >>> pareto_ranks([[0.1, 0.5], [0.2, 0.1], [0.3, 0.2], [float("nan"), 0.1]])
    array([ 1.,  1.,  2., nan])
    """
    values = as_numbers("points", points).astype(np.float64)
    if values.ndim != 2 or (len(values) and values.shape[1] == 0):
        raise ValueError(f"points has the shape {values.shape}; pass one row of measures per method")
    ranks = np.full(len(values), np.nan)
    left = np.flatnonzero(~np.isnan(values).any(axis=1))
    if len(left):
        values[left] = np.column_stack([settle(column, NOISE * np.abs(column).max()) for column in values[left].T])
    rank = 0
    while len(left):
        rank += 1
        dominated = _dominated(values[left])
        ranks[left[~dominated]] = rank
        left = left[dominated]
    return ranks


def _dominated(values: np.ndarray) -> np.ndarray:
    """Whether each row is dominated by another; row by row, so that memory stays linear."""
    return np.array([bool(((values <= row).all(axis=1) & (values < row).any(axis=1)).any()) for row in values], bool)
