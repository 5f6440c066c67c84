"""Tables of results, data sets by methods, as the tests of significance take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from protoset._validation import as_numbers

NOISE = 1e-12
"""Values that differ by less than this share of the largest one count as equal: means over folds of the same counts
differ in their last digits."""


@dataclass(frozen=True)
class ResultTable:
    """Complete results.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
    columns : tuple of str
    """

    values: np.ndarray
    columns: tuple[str, ...]


def as_table(
    table: Any, names: Any = None, *, least_columns: int, remedy: str = "pass the results of more"
) -> ResultTable:
    """Check a table; of a data frame, the names of its columns are taken.

    Parameters
    ----------
    table : array-like or DataFrame of shape (n_rows, n_columns)
    names : sequence of str, optional
        Names of the columns.
    least_columns : int
        Columns that the test needs.
    remedy : str
        The way out where there are fewer.
    """
    columns = list(table.columns) if hasattr(table, "columns") else None
    rows = list(table.index) if columns is not None else None
    values = as_numbers("table", table)
    if values.ndim != 2:
        raise ValueError(f"table has the shape {values.shape}; pass one row per data set and one column per method")
    n_rows, n_columns = values.shape
    if n_rows == 0:
        raise ValueError(f"table has no rows (its shape is {values.shape}); pass one row per data set")
    if n_columns < least_columns:
        raise ValueError(f"table has {n_columns} columns (methods), and this test needs {least_columns}; {remedy}")
    if names is not None:
        columns = list(names)
        if len(columns) != n_columns:
            raise ValueError(f"names has {len(columns)} names for {n_columns} columns of table; pass one per column")
    shown = [str(name) for name in (range(n_columns) if columns is None else columns)]
    unfit = np.argwhere(~np.isfinite(values))
    if len(unfit):
        row, column = unfit[0].tolist()
        place = f"row {row if rows is None else rows[row]!r}, column {shown[column]!r}"
        more = f" and {len(unfit) - 1} more cells" if len(unfit) > 1 else ""
        raise ValueError(
            f"table has {values[row, column]} at {place}{more}; these tests need all methods on all data sets: leave "
            "out the row or the column, or run what is missing"
        )
    return ResultTable(values, tuple(shown))


def settle(values: np.ndarray, noise: float) -> np.ndarray:
    """Give values that differ by no more than noise the same value: the lowest of them."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.concatenate([[True], np.diff(ordered) > noise])
    settled = np.empty_like(values)
    settled[order] = ordered[np.flatnonzero(first)[np.cumsum(first) - 1]]
    return settled


def rank_rows(values: np.ndarray, *, lower_is_better: bool) -> np.ndarray:
    """Rank each row, 1 is best; tied values share the mean of their ranks."""
    signed = values if lower_is_better else -values
    return np.array([rankdata(settle(row, NOISE * np.abs(row).max())) for row in signed])
