"""``metric="auto"``: the dissimilarity for objects of an unnamed kind.

The same choice for a data set read from a file is ``protoset.models.prepare``, which knows the kind of its objects.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from protoset._cluster import is_dask
from protoset._frames import columns_of, is_frame, refuse_other_frames
from protoset.exceptions import DoubtfulDataWarning
from protoset.spaces.attributes import is_missing

NUMBER_KINDS = "fiub"
"""Kinds of NumPy data types that hold numbers."""

TEXT_KINDS = "OUST"
"""Kinds of NumPy data types that may hold texts."""

MOST_CATEGORIES = 1000
"""A column with this many categories is doubtful."""

LARGEST_SHARE_OF_CATEGORIES = 0.5
"""A column with more categories than this share of its values is doubtful: most values occur once."""

FEWEST_JUDGED_VALUES = 20
"""Number of values below which a column is not judged."""


FEWEST_MATRIX_ROWS = 4
"""Rows below which a symmetric matrix is not doubtful."""


def warn_of_columns(columns: Iterable[tuple[Any, Iterable[Any]]], stacklevel: int = 2) -> None:
    """Warn of categorical columns, given by name and values, that say nothing about the similarity of objects."""
    doubts = []
    for name, values in columns:
        known = [value for value in values if not is_missing(value) and isinstance(value, Hashable)]
        n_categories = len(set(known))
        is_unique = n_categories > LARGEST_SHARE_OF_CATEGORIES * len(known) and len(known) >= FEWEST_JUDGED_VALUES
        if is_unique or n_categories >= MOST_CATEGORIES:
            doubts.append(f"{name!r} ({n_categories:,} categories in {len(known):,} objects)")
    if doubts:
        what = "columns" if len(doubts) > 1 else "column"
        more = f" and {len(doubts) - 3} more" if len(doubts) > 3 else ""
        warnings.warn(
            f"metric='auto' takes the {what} {', '.join(doubts[:3])}{more} as categories; hardly any two objects share "
            "one, so that nearly all distances grow by the same amount and prototypes stand for themselves alone; "
            f"leave the {what} out, group the values, convert dates to a datetime type, or compare one column of texts "
            "alone by metric='levenshtein'",
            DoubtfulDataWarning,
            stacklevel=stacklevel + 1,
        )


def warn_of_frame(X: Any, stacklevel: int = 2) -> None:
    """Warn of the categorical columns of a DataFrame; see :func:`warn_of_columns`. Dates are numbers."""
    columns = columns_of(X) if is_frame(X) and not is_dask(X) else []
    categorical = ((name, list(values)) for name, values in columns if values.dtype.kind not in "fiuM")
    warn_of_columns(categorical, stacklevel + 1)


def warn_of_matrix(X: Any, stacklevel: int = 2) -> None:
    """Warn of rows of numbers that look like a matrix of distances."""
    shape: tuple[int, ...] = () if is_dask(X) or sparse.issparse(X) else getattr(X, "shape", ())
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < FEWEST_MATRIX_ROWS:
        return
    values = np.asarray(X)
    if not np.diagonal(values).any() and (values >= 0).all() and values.any() and (values == values.T).all():
        warnings.warn(
            f"X looks like a matrix of distances between {shape[0]} objects, and metric='auto' takes its rows as "
            "vectors; pass metric='precomputed' for distances, or metric='euclidean' for vectors",
            DoubtfulDataWarning,
            stacklevel=stacklevel + 1,
        )


def choose_metric(X: Any) -> str:
    """Choose the metric by the type of the objects.

    - Rows of numbers, all of the same length, are vectors: "euclidean".
    - A DataFrame of pandas or polars with a column that is not numeric has mixed attributes: "gower".
    - Texts and bytes are strings: "levenshtein".
    - A 3-D array, or a list of arrays of several lengths or channels, is a set of series: "dtw".

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix or list
        The training objects.

    Returns
    -------
    str
        Name of the metric.
    """
    refuse_other_frames(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return "euclidean" if all(_is_numeric(dtype) for dtype in X.dtypes) else "gower"
    if sparse.issparse(X):
        return "euclidean"
    # The rows of a Dask collection would be computed one by one; a collection other than an array is refused later.
    if is_dask(X) and getattr(X, "dtype", np.dtype(float)).kind in NUMBER_KINDS:
        return "dtw" if getattr(X, "ndim", 2) == 3 else "euclidean"
    X = np.asarray(X) if hasattr(X, "__array__") and not is_dask(X) else X
    if isinstance(X, np.ndarray) and (X.dtype.kind in NUMBER_KINDS or X.ndim == 2):
        if X.ndim == 2 and X.dtype.kind in TEXT_KINDS:
            _refuse_texts(X)
        return "dtw" if X.ndim == 3 else "euclidean"  # whose checks say what is wrong with other values
    has_items = hasattr(X, "__len__") and not is_dask(X) and not isinstance(X, (str, bytes, dict))
    objects = list(X) if has_items else []
    if objects and all(isinstance(item, (str, bytes)) for item in objects):
        return "levenshtein"
    shapes = {_shape_of_numbers(item) for item in objects}
    if objects and None not in shapes:
        return "euclidean" if len(shapes) == 1 and len(next(iter(shapes))) == 1 else "dtw"  # type: ignore[arg-type]
    raise ValueError(
        f"metric='auto' has no metric for {type(X).__name__} of {_kinds(objects)}; name a metric, such as "
        "'gower' for rows of attributes or 'levenshtein' for lists of tokens, or pass a function of two objects as "
        "metric"
    )


def _refuse_texts(X: np.ndarray) -> None:
    """Refuse an array of rows with texts that are no numbers: an array does not say which columns are categories."""
    columns = [position for position in range(X.shape[1]) if not _has_numbers(X[:, position])]
    if columns:
        example = next(text for text in X[:, columns[0]].tolist() if not _has_numbers(np.array([text], object)))
        what = f"columns {', '.join(map(str, columns[:3]))}" if len(columns) > 1 else f"column {columns[0]}"
        more = ", ..." if len(columns) > 3 else ""
        raise ValueError(
            f"metric='auto' found texts such as {example!r} in {what}{more} of the array X, which does not say whether "
            "they are categories; pass a DataFrame, or metric='gower' with "
            f"metric_params={{'categorical': {columns[:10]}}}"
        )


def _has_numbers(values: np.ndarray) -> bool:
    """Whether no value is a text that is no number."""
    try:
        values.astype(float)
    except (TypeError, OverflowError):
        pass  # no text, but another object that is no number, or too large a number
    except ValueError:
        return False
    return True


def _is_numeric(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):
        return dtype.is_numeric()  # of polars
    # A bool column is categorical. Numeric extension types of pandas have a numeric kind.
    return getattr(dtype, "kind", "O") in "fiu"


def _shape_of_numbers(item: Any) -> tuple[int, ...] | None:
    """Shape of a 1-D or 2-D array of numbers; None for anything else."""
    if isinstance(item, (str, bytes, dict, set, frozenset)) or not hasattr(item, "__len__"):
        return None
    try:
        array = np.asarray(item)
    except ValueError:
        return None
    return array.shape if array.ndim in (1, 2) and array.dtype.kind in NUMBER_KINDS else None


def _kinds(objects: list[Any]) -> str:
    return " and ".join(sorted({type(item).__name__ for item in objects})[:3]) or "nothing"
