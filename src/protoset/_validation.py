"""Checks of arguments. Every error names the argument, the value it got and the way out."""

from __future__ import annotations

import difflib
import math
import numbers
import os
import reprlib
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from protoset._frames import refuse_other_frames

LARGEST_COUNT = 2**63 - 1
"""Largest whole number that an array holds."""

LARGEST_JOBS = 4096
"""Largest value of ``n_jobs``."""

LARGEST_SEED = 2**32 - 1
"""Largest seed that NumPy's ``RandomState`` takes."""

Choice = TypeVar("Choice", bound=str)


def check_choice(name: str, value: Any, choices: Sequence[Choice]) -> Choice:
    """Return the choice that ``value`` is equal to."""
    if isinstance(value, str) and value in choices:
        return choices[choices.index(value)]
    raise ValueError(f"{name}={value!r} is not known{did_you_mean(value, choices)}; choose one of {list(choices)}")


def did_you_mean(value: Any, choices: Iterable[str]) -> str:
    """Return a hint with the choices most similar to ``value``; empty if none is similar."""
    by_lower = {name.lower(): name for name in choices}
    close = difflib.get_close_matches(str(value).lower(), list(by_lower), n=3, cutoff=0.5)
    return f" (did you mean {' or '.join(repr(by_lower[name]) for name in close)}?)" if close else ""


def check_real(name: str, value: Any, *, above: float, most: float = sys.float_info.max, remedy: str) -> float:
    """Return ``value`` as a float if it is a finite number above ``above`` and at most ``most``."""
    number = as_float(value)
    if above < number <= most:
        return number
    limit = f" and at most {most:g}" if most < sys.float_info.max else ""
    raise ValueError(f"{name}={value!r} must be a finite number above {above:g}{limit}; {remedy}")


def check_probability(name: str, value: Any) -> float:
    """Return ``value`` as a float if it is a number from 0 to 1."""
    number = as_float(value)
    if 0 <= number <= 1:
        return number
    raise ValueError(f"{name}={value!r} must be a probability; pass a number from 0 to 1")


def as_float(value: Any) -> float:
    """Return a real number as a float; NaN for anything else."""
    if not is_number(value):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_count(name: str, value: Any, *, least: int, most: int | None = None, remedy: str) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``least`` and at most ``most``.

    Without ``most``, a number above ``LARGEST_COUNT`` becomes ``LARGEST_COUNT``: no data set has more objects.
    """
    if is_count(value) and least <= value and (most is None or value <= most):
        return min(int(value), LARGEST_COUNT)
    limit = "" if most is None else f" and at most {most}"
    raise ValueError(f"{name}={value!r} must be a whole number of at least {least}{limit}; {remedy}")


def as_numbers(name: str, value: Any) -> np.ndarray:
    """Return ``value`` as an array of float64."""
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={value!r} must be numbers: {error}") from error


def check_flag(name: str, value: Any) -> bool:
    """Return ``value`` if it is True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{name}={value!r} must be True or False")


def check_jobs(n_jobs: Any) -> int | None:
    """Return a number of workers as an int or None; refuse a number that joblib cannot use."""
    if n_jobs is None:
        return None
    if is_count(n_jobs) and 0 < abs(int(n_jobs)) <= LARGEST_JOBS:
        return int(n_jobs)
    raise ValueError(
        f"n_jobs={n_jobs!r} must be None, a number of workers up to {LARGEST_JOBS}, or a negative number; "
        "n_jobs=-1 uses all processors"
    )


def check_verbose(verbose: Any) -> int:
    """Return ``verbose`` as an int if it is a whole number of at least 0, or True or False."""
    if isinstance(verbose, (bool, np.bool_)):
        return int(verbose)
    return check_count("verbose", verbose, least=0, remedy="pass 0 for no progress, 1 for progress on stderr")


def check_path(name: str, value: Any) -> Path:
    """Return ``value`` as a path."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}={value!r} must be a path")
    path = Path(os.fsdecode(value))
    if "\0" in str(path):
        raise ValueError(f"{name}={value!r} has a null character; pass a path without it")
    return path


def check_callable(name: str, value: Any, *, takes: str = "") -> Any:
    """Return ``value`` if it is a function or None; ``takes`` describes its arguments in the error message."""
    if value is None or callable(value):
        return value
    raise TypeError(f"{name}={value!r} must be a function{takes}, or None")


def check_seed(random_state: Any) -> Any:
    """Return ``random_state`` if scikit-learn can use it; a whole number as an int."""
    try:
        check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            f"random_state={random_state!r} must be None, a whole number from 0 to {LARGEST_SEED}, or a RandomState"
        ) from error
    return int(random_state) if is_count(random_state) else random_state


def is_number(value: Any) -> bool:
    """Whether ``value`` is a real number; booleans are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def is_count(value: Any) -> bool:
    """Whether ``value`` is a whole number by type; booleans are not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))


def check_positions(name: str, value: Any, n_objects: int) -> np.ndarray:
    """Return the positions of objects that are given as positions, as a mask or as a slice."""
    if isinstance(value, slice):
        return np.arange(n_objects)[value]
    try:
        positions = np.asarray(value)
    except ValueError:
        positions = np.empty(())
    if positions.ndim == 1 and positions.dtype.kind == "b" and len(positions) == n_objects:
        return np.flatnonzero(positions)
    if positions.ndim != 1 or not (positions.dtype.kind in "iu" or len(positions) == 0):
        raise ValueError(
            f"{name}={reprlib.repr(value)} must be positions of objects, a mask of {n_objects} values, or a slice"
        )
    outside = positions[(positions < 0) | (positions >= n_objects)]
    if len(outside):
        raise ValueError(f"{name} has {outside[0]}; pass positions from 0 to {n_objects - 1}")
    return positions.astype(np.int64)


def refuse_ambiguous(X: Any) -> None:
    """Raise an error for a masked array, whose mask would be ignored, unsupported frames, and repeated names."""
    refuse_other_frames(X)
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError(
            "X is a masked array, whose mask would be ignored; remove the masked rows or fill in their values"
        )
    names = list(getattr(X, "columns", ()))
    if len(set(names)) < len(names):
        repeated = Counter(names).most_common(1)[0][0]
        raise ValueError(f"X has several columns with the name {repeated!r}; give each column a name of its own")


def check_number_rows(X: Any, **options: Any) -> np.ndarray:
    """Return ``X`` as scikit-learn's ``check_array`` does; ``options`` are arguments of ``check_array``."""
    refuse_ambiguous(X)
    try:
        return check_array(X, order="C", **options)
    except (TypeError, ValueError, OverflowError) as error:
        raise input_error(f"X cannot be used as rows of numbers: {error}", error) from error


def input_error(message: str, error: Exception) -> Exception:
    """Return the error for input that raised ``error``: a TypeError where that is one, else a ValueError."""
    return TypeError(message) if isinstance(error, TypeError) else ValueError(message)


LARGEST = 1e150
"""Largest number in X; squares of larger numbers overflow."""

SMALLEST = 1e-140
"""Least size of the largest number in X; squares of smaller numbers vanish."""


def check_vectors(X: Any, *, queries: bool = False) -> np.ndarray:
    """Return vectors as a finite array of float32 or float64, without a copy if X is one already.

    Training vectors must not be so small that their squared differences vanish; queries may be.
    """
    if not _are_vectors(X):
        X = check_number_rows(X, dtype=[np.float64, np.float32], ensure_all_finite=False)
    largest = max(abs(float(X.min())), abs(float(X.max())))
    if not np.isfinite(largest):
        bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
        raise ValueError(
            f"Input X contains NaN or infinity in {name_rows(bad)}; "
            "remove those rows, fill the values in, for example with sklearn.impute.SimpleImputer, or name a metric "
            "that takes missing values: metric='gower' or 'nan_euclidean'"
        )
    if largest > LARGEST:
        raise ValueError(
            f"X has values up to {largest:g}, whose squared distances overflow; scale X to values below {LARGEST:g}"
        )
    if 0 < largest < SMALLEST and not queries:
        raise ValueError(
            f"X has no value above {largest:g}, and squared distances of such small values underflow to 0; "
            f"scale X to values above {SMALLEST:g}"
        )
    return X


def _are_vectors(X: Any) -> bool:
    """Whether scikit-learn's checks would return ``X`` itself; they take most of the time of a single prediction."""
    plain = type(X) is np.ndarray and X.ndim == 2 and X.size > 0
    return plain and X.dtype.char in "df" and X.dtype.isnative and X.flags.c_contiguous


def check_width(n_features: int, expected: int | None, metric: str) -> None:
    """Raise an error for queries with another number of features than the training vectors."""
    if n_features != expected:
        raise ValueError(
            f"X has {n_features} features, but {metric} is expecting {expected} features as input; "
            "pass the same columns as in fit"
        )


def check_labels(y: Any, n_objects: int, *, fewest: int = 2, name: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes, at least two, and for each object the position of its class.

    ``name`` is the argument with the labels, "y" or "y_test".
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None; pass one label per object")
    y = column_or_1d(_unconverted(y), warn=True)
    if len(y) != n_objects:
        raise ValueError(
            f"{name} has {len(y)} labels for {n_objects} objects in {name.replace('y', 'X')} (inconsistent numbers of "
            "samples); "
            "pass one label per object"
        )
    _refuse_missing_labels(y)
    kinds = sorted({type(label).__name__ for label in y})
    if y.dtype.kind == "S":
        raise TypeError("y has labels of the type bytes; decode them to str")
    try:
        with warnings.catch_warnings():
            # Selectors warn of such labels themselves, once per fit.
            warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%", UserWarning)
            check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise TypeError(
            f"y mixes labels of the types {kinds}, which have no order; convert them to one type"
        ) from error
    except ValueError as error:
        fractions = y[y != np.floor(y)] if y.dtype.kind == "f" else []
        content = (
            f"continuous numbers such as {float(fractions[0])}" if len(fractions) else f"{' and '.join(kinds)} objects"
        )
        raise ValueError(
            f"Unknown label type: y has {content}, which are not class labels; "
            "bin numbers, or convert the labels to int or str if they are classes"
        ) from error
    if len(classes) < fewest:
        content = f"only 1 class, {classes.tolist()[0]!r}," if len(classes) else "no classes"
        raise ValueError(
            f"y has {content} in {n_objects} objects; prototype selection needs objects of at least 2 classes"
        )
    return classes, codes.reshape(-1)


def _unconverted(y: Any) -> Any:
    """Prevent conversions that change labels: 3 to "3" in a mixed list, large nullable integers to floats."""
    if isinstance(y, (list, tuple)) and 0 < sum(isinstance(label, str) for label in y) < len(y):
        return np.array(y, dtype=object)
    if getattr(getattr(y, "dtype", None), "kind", "") == "T":
        # Not astype(str), which NumPy 2.4 refuses, and which would make texts of missing labels.
        labels = y.astype(object)
        return np.array(labels.tolist(), str) if all(isinstance(label, str) for label in labels.flat) else labels
    is_nullable = hasattr(y, "to_numpy") and not isinstance(getattr(y, "dtype", None), np.dtype)
    return y.to_numpy() if is_nullable and getattr(y, "ndim", 0) == 1 else y


def _refuse_missing_labels(y: np.ndarray) -> None:
    if y.dtype.kind == "f":
        missing = ~np.isfinite(y)
    elif y.dtype.kind in "mM":
        missing = np.isnat(y)
    elif y.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in y], bool)
    else:
        return
    if missing.any():
        raise ValueError(
            f"Input y contains NaN, infinity or None at {name_rows(np.flatnonzero(missing))}; "
            "remove those objects or give them a label"
        )


def _is_missing(label: Any) -> bool:
    # pandas.NA is known by its name, as pandas may not be installed.
    return (
        label is None
        or type(label).__name__ in ("NAType", "NaTType")
        or (isinstance(label, (float, np.floating)) and math.isnan(label))
    )


NAMED_ROWS = 5
"""Rows that an error message names."""


def name_rows(rows: np.ndarray, *, one: str = "row", several: str = "rows") -> str:
    """Name a few rows for an error message: ``row 3`` or ``rows 3, 17, ... (12 in all)``."""
    shown = ", ".join(str(row) for row in rows[:NAMED_ROWS])
    if len(rows) == 1:
        return f"{one} {shown}"
    return f"{several} {shown}" if len(rows) <= NAMED_ROWS else f"{several} {shown}, ... ({len(rows)} in all)"
