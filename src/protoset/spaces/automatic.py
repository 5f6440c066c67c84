"""``metric="auto"``: a dissimilarity from what the objects look like."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from protoset._cluster import is_dask

NUMERIC = "fiub"


def choose_metric(X: Any) -> str:
    """Name the dissimilarity that suits the objects.

    Numbers in rows of one length are vectors ("euclidean"); a DataFrame with a column that is not
    numeric has mixed attributes ("gower"); str, bytes are strings ("levenshtein"); a 3-D array, or
    arrays of different lengths or of several channels, are series ("dtw").
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return "euclidean" if all(_is_numeric(dtype) for dtype in X.dtypes) else "gower"
    if sparse.issparse(X):
        return "euclidean"
    if hasattr(X, "__array__") and not hasattr(X, "__len__"):
        X = np.asarray(X)  # an array-like of another library, whose rows cannot be looked at
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return "euclidean"  # whose checks say what is wrong with texts or complex numbers
    if (isinstance(X, np.ndarray) or is_dask(X)) and getattr(X, "dtype", np.dtype(object)).kind in NUMERIC:
        return "dtw" if X.ndim == 3 else "euclidean"
    # Rows of a Dask collection would be computed one by one.
    objects = list(X) if not is_dask(X) and hasattr(X, "__len__") and not isinstance(X, (str, bytes, dict)) else []
    if objects and all(isinstance(one, (str, bytes)) for one in objects):
        return "levenshtein"
    shapes = {_shape_of_numbers(one) for one in objects}
    if objects and None not in shapes:
        return "euclidean" if len(shapes) == 1 and len(next(iter(shapes))) == 1 else "dtw"  # type: ignore[arg-type]
    raise ValueError(
        f"metric='auto' does not know what {type(X).__name__} of {_kinds(objects)} is; name a metric, or pass a "
        "function of two objects as metric"
    )


def _is_numeric(dtype: Any) -> bool:
    # A bool column is categorical; numeric extension types of pandas say so themselves.
    return getattr(dtype, "kind", "O") in "fiu"


def _shape_of_numbers(one: Any) -> tuple[int, ...] | None:
    """Shape of a 1-D or 2-D array of numbers; None for anything else."""
    if isinstance(one, (str, bytes, dict, set, frozenset)) or not hasattr(one, "__len__"):
        return None
    try:
        array = np.asarray(one)
    except ValueError:
        return None
    return array.shape if array.ndim in (1, 2) and array.dtype.kind in NUMERIC else None


def _kinds(objects: list[Any]) -> str:
    return " and ".join(sorted({type(one).__name__ for one in objects})[:3]) or "nothing"
