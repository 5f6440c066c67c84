"""Reading of tables into a matrix of numbers and a matrix of categories.

docs/reference/metrics.md says which columns are categorical, and which values are missing. Categories of a training
set are numbered by their values (see ``rank_values``), so that the order of the rows does not matter.
"""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from protoset._frames import columns_of, is_frame
from protoset._validation import LARGEST, did_you_mean, is_count, name_rows, refuse_ambiguous
from protoset.spaces._contents import rank_values
from protoset.spaces.base import Rows

MISSING = -1
"""Code of a missing value."""

UNSEEN = -2
"""Code of a category that is not in the training set."""

STORED_TYPES = {kind.__name__: kind for kind in (str, int, float, bool)}
"""Types of the categories that a file can hold."""


@dataclass(frozen=True, eq=False)
class Table:
    """Objects as numbers, NaN where missing, and as codes of categories, ``MISSING`` or ``UNSEEN``."""

    numbers: np.ndarray
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Rows) -> Table:
        """Return some of the objects."""
        return Table(np.ascontiguousarray(self.numbers[rows]), np.ascontiguousarray(self.codes[rows]))


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the table that the user passed. If ``framed``, it has its own name and dtype, from a DataFrame."""

    label: Any
    values: Any
    framed: bool

    @property
    def kind(self) -> str:
        """Kind of the dtype, as in NumPy; "O" for most dtypes of pandas."""
        return self.values.dtype.kind

    def objects(self) -> list[Any]:
        """Return the values as Python objects."""
        # NumPy would convert dates to integers.
        values = list(self.values) if self.kind in "mM" else self.values.tolist()
        return [_plain(value) for value in values] if self.kind in "OUT" else values


@dataclass(frozen=True, eq=False)
class Attributes:
    """Labels of the columns of the training set, and the codes of their categories; None for a numeric column."""

    labels: tuple[Any, ...]
    categories: tuple[dict[Any, int] | None, ...]

    @classmethod
    def learn(cls, X: Any, categorical: Any, metric: str) -> tuple[Self, Table]:
        """Read a training set; ``categorical`` are further categorical columns: names, positions or a mask.

        An entry that is both a name and a position is a name. ``metric`` is for messages.
        """
        columns = _columns(X, metric)
        named = _named(categorical, [column.label for column in columns], columns[0].framed)
        categories: list[dict[Any, int] | None] = []
        for position, column in enumerate(columns):
            is_categorical = position in named or (column.framed and column.kind not in "iufcmM")
            categories.append({} if is_categorical else None)
        attributes = cls(tuple(column.label for column in columns), tuple(categories))
        return attributes._ranked(attributes._table(columns, learn=True))

    def read(self, X: Any, metric: str) -> Table:
        """Read new objects, which must have the columns of the training set."""
        columns = _columns(X, metric)
        if len(columns) != len(self.labels):
            raise ValueError(
                f"X has {len(columns)} features, but {metric} is expecting {len(self.labels)} "
                "features as input; pass the same columns as in fit"
            )
        for column, categories in zip(columns, self.categories, strict=True):
            if categories is not None:
                _refuse_numbers_for_text(column, categories)
        return self._table(columns, learn=False)

    def values(self, table: Table) -> np.ndarray:
        """Attributes of objects: numbers, NaN where missing, and categories, None where missing or unknown."""
        values = np.empty((len(table), len(self.categories)), object)
        numbers, codes = iter(table.numbers.T), iter(table.codes.T)
        for attribute, categories in enumerate(self.categories):
            if categories is None:
                values[:, attribute] = next(numbers)
            else:
                known = list(categories)
                values[:, attribute] = [known[code] if code >= 0 else None for code in next(codes)]
        return values

    def sizes(self) -> list[int]:
        """Return the number of categories of each categorical attribute."""
        return [len(categories) for categories in self.categories if categories is not None]

    def _table(self, columns: list[Column], *, learn: bool) -> Table:
        n_objects = len(columns[0].values)
        number_columns, code_columns = [], []
        for column, categories in zip(columns, self.categories, strict=True):
            if categories is None:
                number_columns.append(_numbers(column, learn))
            else:
                code_columns.append(_codes(column, categories, learn))
        return Table(
            _side_by_side(number_columns, n_objects, np.float64), _side_by_side(code_columns, n_objects, np.int32)
        )

    def _ranked(self, table: Table) -> tuple[Self, Table]:
        """Return the attributes and the table with categories numbered by their values."""
        ranked: list[dict[Any, int] | None] = []
        codes = iter(table.codes.T)
        for categories in self.categories:
            ranked.append(None if categories is None else _rank(categories, next(codes)))
        return type(self)(self.labels, tuple(ranked)), table

    def state(self) -> list[list[list[Any]] | None]:
        """Return the categories as JSON values: pairs of type and value, in the order of their codes."""
        return [
            None if categories is None else _describe(label, categories)
            for label, categories in zip(self.labels, self.categories, strict=True)
        ]

    @classmethod
    def from_state(cls, described: Any) -> Self:
        """Inverse of ``state``; labels are positions."""
        if not isinstance(described, list) or not described:
            raise ValueError("its attributes are not a list")
        categories = [None if pairs is None else _restore(pairs) for pairs in described]
        return cls(tuple(range(len(described))), tuple(categories))


def _columns(X: Any, metric: str) -> list[Column]:
    """Split the table of the user into columns."""
    if sparse.issparse(X):
        raise TypeError(f"metric={metric!r} does not take a sparse matrix; pass a DataFrame, or X.toarray()")
    refuse_ambiguous(X)
    framed = is_frame(X)
    if not framed:
        X = _rectangle(X)
    n_objects, n_columns = X.shape
    for size, name in ((n_objects, "sample"), (n_columns, "feature")):
        if size == 0:
            raise ValueError(f"Found array with 0 {name}(s) (shape={X.shape}) while a minimum of 1 is required.")
    if framed:
        return [Column(label, values, True) for label, values in columns_of(X)]
    return [Column(position, X[:, position], False) for position in range(n_columns)]


def _rectangle(X: Any) -> np.ndarray:
    if isinstance(X, (list, tuple)) and X and all(_is_row(row) for row in X):
        return _from_rows(X)
    try:
        X = np.asarray(X, object if isinstance(X, (list, tuple)) else None)
    except ValueError as error:
        raise ValueError(f"the rows of X differ in their shapes: {error}; pass one row of values per object") from error
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: one row per object, "
            "[X] for a single object"
        )
    return X


def _is_row(row: Any) -> bool:
    return isinstance(row, (list, tuple)) or (hasattr(row, "__array__") and row.ndim == 1)


def _from_rows(rows: list[Any] | tuple[Any, ...]) -> np.ndarray:
    """Make an array of objects of the values: NumPy would convert numbers beside text to text."""
    lengths = np.array([len(row) for row in rows])
    other = np.flatnonzero(lengths != lengths[0])
    if len(other):
        raise ValueError(
            f"the rows of X differ in length: {lengths[0]} values in row 0, other numbers in {name_rows(other)}; "
            "pass a value for each attribute, None where it is missing"
        )
    values = (value for row in rows for value in row)
    return np.fromiter(values, object, lengths.sum()).reshape(len(rows), lengths[0])


def _named(categorical: Any, labels: list[Any], framed: bool) -> set[int]:
    """Positions of the columns that the user names as categorical."""
    if categorical is None:
        return set()
    if isinstance(categorical, (str, bytes)) or not isinstance(categorical, Iterable):
        raise TypeError(
            f"metric_params: categorical={categorical!r} must be a list of columns or a mask; "
            f"pass categorical=[{categorical!r}] for a single column"
        )
    chosen = list(categorical)
    if chosen and all(isinstance(entry, (bool, np.bool_)) for entry in chosen):
        if len(chosen) != len(labels):
            raise ValueError(
                f"metric_params: categorical is a mask of {len(chosen)} columns, but X has {len(labels)}; "
                "pass one truth value per column, or a list of columns"
            )
        return set(np.flatnonzero(chosen).tolist())
    return {position for entry in chosen for position in _positions(entry, labels, framed)}


def _positions(entry: Any, labels: list[Any], framed: bool) -> list[int]:
    if framed and isinstance(entry, Hashable) and not isinstance(entry, (bool, np.bool_)):
        same = [position for position, label in enumerate(labels) if label == entry]
        if same:
            return same
    if is_count(entry) and 0 <= entry < len(labels):
        return [int(entry)]
    names = [label for label in labels if isinstance(label, str)]
    takes = "a name or a position" if framed else "a position"
    raise ValueError(
        f"metric_params: categorical names the column {entry!r}, which X does not have{did_you_mean(entry, names)}; "
        f"pass {takes} from 0 to {len(labels) - 1} for each column"
    )


def _numbers(column: Column, learn: bool) -> np.ndarray:
    """Values of a numeric column, NaN where missing."""
    if column.kind in "iufb":
        dense = column.values if isinstance(column.values, np.ndarray) else _dense(column.values)
        values = dense.astype(np.float64)
    elif column.kind == "M" and column.framed:
        values = _days(column.values)
    else:
        values = _numbers_among_objects(column, learn)
    large = np.flatnonzero(np.abs(values) > LARGEST)
    if len(large):
        raise ValueError(
            f"X: column {column.label!r} holds infinity or numbers beyond {LARGEST:g} in {name_rows(large)}; "
            "remove those rows, scale the column, or put NaN for a missing value"
        )
    return values


def _days(series: Any) -> np.ndarray:
    """Days since 1970-01-01 of a column of dates, of pandas or as an array; NaN where missing."""
    plain = series if isinstance(series.dtype, np.dtype) else series.dt.tz_convert(None)
    times = np.asarray(plain).astype("datetime64[us]")
    days = (times - np.datetime64(0, "us")) / np.timedelta64(1, "D")
    return np.where(np.isnat(times), np.nan, days)


def _dense(series: Any) -> np.ndarray:
    """Values of a numeric pandas column; nullable and sparse dtypes are converted to plain dtypes."""
    plain = isinstance(series.dtype, np.dtype)
    return series.to_numpy() if plain else series.astype(object).to_numpy(np.float64, na_value=np.nan)


def _numbers_among_objects(column: Column, learn: bool) -> np.ndarray:
    objects = column.objects()
    values = np.full(len(objects), np.nan)
    wrong = []
    for row, value in enumerate(objects):
        # NumPy counts durations among the whole numbers.
        if isinstance(value, numbers.Real) and not isinstance(value, np.timedelta64):
            values[row] = _as_float(value)
        elif not is_missing(value):
            wrong.append(row)
    if wrong:
        remedy = (
            f"if it is categorical, add {column.label!r} to metric_params: categorical, else convert it to numbers "
            "with NaN where missing"
            if learn
            else "pass the same columns as in fit, in the same order, with NaN where missing"
        )
        expected = "numbers are expected" if learn else "fit had numbers"
        raise ValueError(
            f"X: column {column.label!r} holds values such as {objects[wrong[0]]!r} in {name_rows(np.array(wrong))} "
            f"where {expected}; {remedy}"
        )
    return values


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _codes(column: Column, categories: dict[Any, int], learn: bool) -> np.ndarray:
    """Codes of the values of a categorical column; with ``learn`` new categories are added."""
    objects = column.objects()
    codes = np.full(len(objects), MISSING, np.int32)
    try:
        for row, value in enumerate(objects):
            if not is_missing(value):
                codes[row] = categories.setdefault(value, len(categories)) if learn else categories.get(value, UNSEEN)
    except TypeError as error:
        raise TypeError(
            f"X: column {column.label!r} holds {value!r} in row {row}, which cannot be a category; convert it to str"
        ) from error
    return codes


def _rank(categories: dict[Any, int], codes: np.ndarray) -> dict[Any, int]:
    """Return the categories in the order of their values, and change their codes in place."""
    ranks = rank_values(categories)
    known = list(categories)
    # The last entry is for MISSING, which is -1.
    codes[:] = np.append(ranks, MISSING)[codes]
    return {known[code]: rank for rank, code in enumerate(np.argsort(ranks).tolist())}


def _refuse_numbers_for_text(column: Column, categories: dict[Any, int]) -> None:
    """Raise an error for numbers where all categories are text: they would count as unseen categories."""
    if not categories or not all(isinstance(category, str) for category in categories):
        return
    objects = column.objects()
    rows = [row for row, value in enumerate(objects) if isinstance(value, numbers.Real) and not is_missing(value)]
    if rows:
        raise ValueError(
            f"X: column {column.label!r} holds numbers such as {objects[rows[0]]!r} in {name_rows(np.array(rows))} "
            f"where fit had text such as {next(iter(categories))!r}; pass the same columns as in fit, in the same "
            "order, with categories as text"
        )


def is_missing(value: Any) -> bool:
    """Whether a value is missing: NaN, None, pandas.NA or NaT."""
    # pandas.NA and NaT are recognised by their names: pandas need not be installed.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)) and bool(value != value)


def _plain(value: Any) -> Any:
    """Convert scalars of NumPy to scalars of Python, which files can hold."""
    return value.item() if isinstance(value, (np.bool_, np.integer, np.floating, np.str_)) else value


def _side_by_side(columns: list[np.ndarray], n_objects: int, dtype: Any) -> np.ndarray:
    return np.ascontiguousarray(np.column_stack(columns)) if columns else np.empty((n_objects, 0), dtype)


def _describe(label: Any, categories: dict[Any, int]) -> list[list[Any]]:
    for value in categories:
        if type(value) not in STORED_TYPES.values():
            raise TypeError(
                f"column {label!r} has categories of the type {type(value).__name__}, which a file cannot hold "
                "without pickle; convert the column to str before fit"
            )
    return [[type(value).__name__, value] for value in categories]


def _restore(pairs: list[list[Any]]) -> dict[Any, int]:
    categories: dict[Any, int] = {}
    for name, value in pairs:
        if type(value) is not STORED_TYPES[name] or is_missing(value):
            raise ValueError(f"its category {value!r} is not of the type {name}")
        categories[value] = len(categories)
    if len(categories) != len(pairs):
        raise ValueError("its categories are listed twice")
    return categories
