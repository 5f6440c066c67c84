"""Objects and labels of every kind, and containers that they come in: what the lines of cases are made of."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.spatial.distance import squareform

TYPICAL_OBJECTS = 24
"""Objects of the training sets of fitted models."""


def labels(n: int, n_classes: int = 2) -> np.ndarray:
    """Classes in turn, so that every class has a member."""
    return np.arange(n) % max(n_classes, 1)


def vectors(n: int, d: int = 3, seed: int = 0) -> np.ndarray:
    """Gaussian classes that overlap."""
    return np.random.default_rng(seed).normal(size=(n, d)) + 1.5 * labels(n)[:, None]


def grid(n: int, d: int = 2, seed: int = 0) -> np.ndarray:
    """Vectors of small whole numbers, with ties and duplicates."""
    return np.random.default_rng(seed).integers(0, 3, (n, d)).astype(float)


def series(n: int, length: int = 8, seed: int = 0) -> np.ndarray:
    """Random walks."""
    steps = np.random.default_rng(seed).normal(size=(n, length)).cumsum(axis=1)
    return steps + 3 * labels(n)[:, None] * np.sin(np.arange(length))


def unequal(n: int, length: int = 8, seed: int = 0) -> list[np.ndarray]:
    """Random walks of unequal length."""
    return [row[: max(1, length - position % 4)] for position, row in enumerate(series(n, length, seed))]


def channels(n: int, length: int = 5, seed: int = 0) -> np.ndarray:
    """Random walks of two channels."""
    return np.stack([series(n, length, seed), series(n, length, seed + 1)], axis=2)


def words(n: int, seed: int = 0) -> list[str]:
    """Strings of a few letters."""
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abcd" if label else "cdef"), rng.integers(1, 7))) for label in labels(n)]


def tokens(n: int, seed: int = 0) -> list[list[str]]:
    """Lists of tokens."""
    return [list(word) for word in words(n, seed)]


def table(n: int, seed: int = 0) -> pd.DataFrame:
    """Numbers, categories, flags and texts, with missing values."""
    rng = np.random.default_rng(seed)
    own = labels(n)
    return pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + own),
            "colour": pd.Categorical(np.where(rng.random(n) < 0.3, "red", np.where(own, "blue", "green"))),
            "flag": rng.random(n) < 0.2 + 0.6 * own,
            "word": np.where(rng.random(n) < 0.4, "x", np.where(own, "y", "z")),
        }
    )


def cells(n: int, seed: int = 0) -> list[list[Any]]:
    """Rows of a table as plain lists."""
    rows: list[list[Any]] = table(n, seed).astype(object).to_numpy().tolist()
    return rows


def matrix(n: int, seed: int = 0) -> np.ndarray:
    """Distances between vectors."""
    X = vectors(n, seed=seed)
    distances: np.ndarray = np.abs(X[:, None] - X[None]).sum(axis=2)
    return distances


def condensed(n: int, seed: int = 0) -> np.ndarray:
    """The upper half of a matrix of distances."""
    return np.asarray(squareform(matrix(n, seed), checks=False))


def graph(n: int, k: int = 3, seed: int = 0) -> sparse.csr_array:
    """Distances to the k nearest neighbours."""
    D = matrix(n, seed)
    near = np.argsort(D, axis=1, kind="stable")[:, : k + 1]
    rows = np.repeat(np.arange(n), near.shape[1])
    return sparse.csr_array((D[rows, near.ravel()], (rows, near.ravel())), shape=(n, n))


def sets(n: int, seed: int = 0) -> list[frozenset[str]]:
    """Sets of letters, for functions."""
    return [frozenset(word) for word in words(n, seed)]


def jaccard(a: Any, b: Any) -> float:
    """A function of two sets."""
    return 1 - len(a & b) / len(a | b)


def absolute(a: Any, b: Any) -> float:
    """A function of two vectors."""
    return float(np.abs(np.asarray(a, float) - np.asarray(b, float)).sum())


def failing(a: Any, b: Any) -> float:
    """A function that fails."""
    raise KeyError("the function failed")


def returning(value: Any) -> Callable[[Any, Any], Any]:
    """A function that always returns the same."""
    return lambda a, b: value


def spoiled(X: Any, value: Any, row: int = 0, column: int = 0) -> Any:
    """The same objects with another value in one place."""
    if isinstance(X, pd.DataFrame):
        X = X.astype(object)
        X.iloc[row % len(X), column % X.shape[1]] = value
        return X
    if isinstance(X, list):
        return [*X[: row % len(X)], value, *X[row % len(X) + 1 :]]
    X = X.copy() if isinstance(value, float) and X.dtype.kind == "f" else X.astype(object)
    X[(row % len(X), column % X.shape[1]) if X.ndim > 1 else row % len(X)] = value
    return X


def readonly(X: np.ndarray) -> np.ndarray:
    """An array that cannot be written."""
    X = np.array(X)
    X.setflags(write=False)
    return X


def strided(X: np.ndarray) -> np.ndarray:
    """A view of every other column, backwards."""
    return np.repeat(X, 2, axis=-1)[..., ::-2]


def memmap(X: np.ndarray) -> np.ndarray:
    """An array in a file."""
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=X.dtype, mode="w+", shape=X.shape)
        mapped[...] = X
        return mapped


def structured(X: np.ndarray) -> np.ndarray:
    """A structured array, a field per column."""
    if X.shape[-1] == 0:
        return X
    return np.rec.fromarrays(list(np.asarray(X, float).T)).view(np.ndarray)


def nullable(X: np.ndarray, missing: bool = False) -> pd.DataFrame:
    """A DataFrame of pandas' own numbers, which can be missing."""
    frame = pd.DataFrame(X).rename(columns=str).astype("Float64")
    if missing and len(frame):
        frame.iloc[0, 0] = pd.NA
    return frame


def text_array(values: Any) -> np.ndarray:
    """Values as NumPy's StringDType."""
    dtype: Any = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else str
    return np.array([str(value) for value in np.asarray(values).tolist()], dtype=dtype)


def names(y: np.ndarray) -> np.ndarray:
    """Labels as texts."""
    return np.array(["ab", "c", "deé", ""])[np.asarray(y) % 4]


@cache
def scratch() -> Path:
    """Folder of this process for the files of cases; it is removed when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="protoset-fuzz-", ignore_cleanup_errors=True)
    _kept.append(folder)
    return Path(folder.name)


_kept: list[Any] = []
"""Temporary folders; they are removed when they are garbage."""

VALUES: dict[str, Any] = {
    name: value
    for name, value in globals().items()
    if callable(value) and getattr(value, "__module__", "") == __name__ and not name.startswith("_")
} | {"np": np, "pd": pd, "sparse": sparse, "Fraction": Fraction, "nan": np.nan, "inf": np.inf}
"""Names that the lines of cases use."""
