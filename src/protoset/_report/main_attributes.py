"""The attributes that cards of prototypes show: those that tell the classes apart best, each by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset._report.objects import significant
from protoset.datasets import Dataset

MAX_MAIN = 4
"""Attributes on a card at most."""

N_ROWS = 5_000
"""Training objects from which they are chosen at most."""

EDGES = (1, 99)
"""Percentiles between which the values of an attribute are drawn, so that few outliers do not squeeze the others."""


def main_attributes(dataset: Dataset, codes: np.ndarray, n_columns: int) -> dict[str, Any]:
    """Return the main attributes among the first ``n_columns``, with the range of each; None for categories."""
    rows = np.linspace(0, dataset.n_objects - 1, min(N_ROWS, dataset.n_objects)).astype(int)
    table, labels = np.asarray(dataset.objects)[rows, :n_columns], codes[rows]
    numbers = [_as_numbers(table[:, column]) for column in range(n_columns)]
    shares = [
        explained_share(_indicators(table[:, column]) if values is None else values[:, None], labels)
        for column, values in enumerate(numbers)
    ]
    chosen = np.argsort(-np.array(shares), kind="stable")[:MAX_MAIN].tolist()
    return {"columns": chosen, "ranges": [_range(numbers[column]) for column in chosen]}


def explained_share(values: np.ndarray, codes: np.ndarray) -> float:
    """Share of the variance that the classes explain: of all columns in sum, without missing values.

    Of a number this is eta squared, of the indicators of categories the tau of Goodman and Kruskal.
    """
    known = np.isfinite(values)
    counts = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, values - np.where(known, values, 0.0).sum(axis=0) / counts, 0.0)
    total = np.square(centred).sum()
    if total == 0:
        return 0.0
    members = (codes == np.arange(codes.max() + 1)[:, None]).astype(float)
    sums, sizes = members @ centred, np.maximum(members @ known, 1)
    return float((sums**2 / sizes).sum() / total)


def _as_numbers(column: np.ndarray) -> np.ndarray | None:
    """The column as floats; None where it has categories."""
    if column.dtype.kind in "iuf":
        return column.astype(float)
    if any(isinstance(value, (str, bytes, bool, np.bool_)) for value in column):
        return None
    return np.array([np.nan if value is None else float(value) for value in column])


def _indicators(column: np.ndarray) -> np.ndarray:
    """A column of 0 and 1 for each category."""
    texts = np.array([str(value) for value in column])
    return (texts[:, None] == np.unique(texts)).astype(float)


def _range(values: np.ndarray | None) -> list[float | int | None] | None:
    known = np.empty(0) if values is None else values[np.isfinite(values)]
    return [significant(float(edge)) for edge in np.percentile(known, EDGES)] if len(known) else None
