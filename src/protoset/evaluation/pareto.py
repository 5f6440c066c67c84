"""Pareto ranks by non-dominated sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset._validation import as_numbers
from protoset.evaluation._tables import ROUNDING_NOISE, merge_close


def pareto_ranks(points: Any) -> np.ndarray:
    """Rank rows of measures by non-dominated sorting; small measures are good.

    Row j dominates row i if row j is smaller in at least one measure and not larger in any measure. Rank 1 is the
    Pareto front: the rows that no other row dominates. Rank 2 is the front of the remaining rows, and so on (Deb et
    al., 2002). Equal rows have the same rank.

    Parameters
    ----------
    points : array-like of shape (n_rows, n_measures)
        One row of measures per method; in the paper, (ERR, SLR) of each method on one data set. A row with NaN is a
        failed run: it gets no rank and dominates no row.

    Returns
    -------
    ndarray of shape (n_rows,)
        1.0, 2.0, ...; NaN for rows with NaN, so that a mean rank does not count a failed run.

    Notes
    -----
    Values that differ by at most 1e-12 of the largest value of their measure are equal: the order of the folds changes
    the last digits of a mean.

    Dominance follows the text of the paper, not its printed formulas. The formulas join "smaller or equal" by "or", so
    that two rows may dominate each other; they call the row with the smaller measures the dominated row; and they
    require that a row of rank r is dominated by *all* rows of rank r - 1, which leaves rows without a rank.

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
    unranked = np.flatnonzero(~np.isnan(values).any(axis=1))
    if len(unranked):
        values[unranked] = np.column_stack(
            [merge_close(column, ROUNDING_NOISE * np.abs(column).max()) for column in values[unranked].T]
        )
    rank = 0
    while len(unranked):
        rank += 1
        dominated = _dominated(values[unranked])
        ranks[unranked[~dominated]] = rank
        unranked = unranked[dominated]
    return ranks


def _dominated(values: np.ndarray) -> np.ndarray:
    """Whether each row is dominated by another row. Row by row, so that memory stays linear."""
    return np.array([bool(((values <= row).all(axis=1) & (values < row).any(axis=1)).any()) for row in values], bool)
