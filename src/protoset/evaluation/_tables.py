"""Tables of results (data sets by methods) for the tests of significance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from protoset._validation import as_numbers

ROUNDING_NOISE = 1e-12
"""Values that differ by at most this share of the largest value count as equal. Means over folds of the same counts
differ in their last digits."""


@dataclass(frozen=True)
class ResultTable:
    """A table of results without missing values."""

    values: np.ndarray
    columns: tuple[str, ...]


def as_table(
    table: Any, names: Any = None, *, least_columns: int, remedy: str = "pass the results of more methods"
) -> ResultTable:
    """Check a table of results. The remedy is the way out in the error about too few columns.

    Without names, the columns have the names of a DataFrame, or their positions.
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
        raise ValueError(f"table has {n_columns} columns (methods), but this test needs {least_columns}; {remedy}")
    if names is not None:
        columns = list(names)
        if len(columns) != n_columns:
            raise ValueError(f"names has {len(columns)} names for {n_columns} columns of table; pass one per column")
    shown = [str(name) for name in (range(n_columns) if columns is None else columns)]
    missing = np.argwhere(~np.isfinite(values))
    if len(missing):
        row, column = missing[0].tolist()
        cell = f"row {row if rows is None else rows[row]!r}, column {shown[column]!r}"
        more = f" and {len(missing) - 1} more cells" if len(missing) > 1 else ""
        raise ValueError(
            f"table has {values[row, column]} at {cell}{more}; these tests need the results of all methods on all "
            "data sets; leave out the row or the column, or run the missing experiments"
        )
    return ResultTable(values, tuple(shown))


def merge_close(values: np.ndarray, tolerance: float) -> np.ndarray:
    """Replace values that differ by at most the tolerance by the lowest of them."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.concatenate([[True], np.diff(ordered) > tolerance])
    merged = np.empty_like(values)
    merged[order] = ordered[np.flatnonzero(first)[np.cumsum(first) - 1]]
    return merged


def rank_rows(values: np.ndarray, *, lower_is_better: bool) -> np.ndarray:
    """Rank the values of each row; 1 is best, and tied values share the mean of their ranks."""
    signed = values if lower_is_better else -values
    return np.array([rankdata(merge_close(row, ROUNDING_NOISE * np.abs(row).max())) for row in signed])
