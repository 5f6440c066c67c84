"""DataFrames of pandas and polars. They are told by their methods and modules: neither library need be installed."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_polars(X: Any) -> bool:
    """Whether an object is a frame or a series of polars."""
    return any(kind.__module__.partition(".")[0] == "polars" for kind in type(X).__mro__)


def is_frame(X: Any) -> bool:
    """Whether an object is a DataFrame of pandas or of polars."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or is_polars(X))


def refuse_other_frames(X: Any) -> None:
    """Refuse tables that are not read as such: lazy frames of polars, and tables of pyarrow."""
    if is_polars(X) and hasattr(X, "collect"):
        raise TypeError("X is a LazyFrame of polars, whose rows are not computed yet; pass X.collect()")
    if type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "to_pandas"):
        raise TypeError(f"X is a {type(X).__name__} of pyarrow; pass X.to_pandas(), or polars.from_arrow(X)")


def columns_of(X: Any) -> list[tuple[Any, Any]]:
    """Return the name and the values of each column of a frame: a Series of pandas, or an array."""
    if is_polars(X):
        return [(name, _array(X.get_column(name))) for name in X.columns]
    return [(name, X.iloc[:, position]) for position, name in enumerate(X.columns)]


def _array(series: Any) -> np.ndarray:
    """Return a series of polars as an array: NaN for missing numbers, None for other missing values."""
    if series.dtype.is_decimal():
        series = series.cast(float)
    if series.dtype.is_numeric() or series.dtype.is_temporal():
        return series.to_numpy()
    values = np.empty(len(series), object)
    values[:] = series.to_list()
    # As in pandas, a column of truth values without missing ones has a type of its own.
    return values.astype(bool) if str(series.dtype) == "Boolean" and not series.null_count() else values


def take_rows(X: Any, rows: np.ndarray, columns: np.ndarray | None = None) -> Any:
    """Return some rows of a frame or series, and of a frame some columns by position."""
    if is_polars(X):
        return X[rows.tolist()] if columns is None else X[rows.tolist(), columns.tolist()]
    return X.iloc[rows] if columns is None else X.iloc[rows, columns]


def is_series(y: Any) -> bool:
    """Whether an object is a Series of pandas or of polars."""
    return not hasattr(y, "columns") and (hasattr(y, "iloc") or (is_polars(y) and hasattr(y, "to_list")))
