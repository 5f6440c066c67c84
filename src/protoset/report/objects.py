"""Objects as the page stores them: numbers rounded, long objects shortened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from protoset.datasets import Dataset
from protoset.models.preparation import shares_text

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
"""Digits of the points of series; two digits make one of 4,096 levels."""

MISSING_POINT = "~~"
"""Text of a missing point of a series."""

N_LEVELS = len(DIGITS) ** 2
"""Levels between the lowest and the highest value of all series."""

MAX_POINTS = 160
"""Points of a series that a page stores at most, over all channels."""

MAX_CHANNELS = 4
"""Channels of a series that a page stores at most."""

MAX_CELLS = 120_000
"""Values of tables that a page stores at most."""

MAX_CHARACTERS = 600_000
"""Characters of strings that a page stores at most."""

MAX_CELL_LENGTH = 60
"""Characters of a text in a table that a page stores at most."""


def describe_objects(dataset: Dataset, rows: np.ndarray, *, share: float = 1.0) -> tuple[dict[str, Any], list[str]]:
    """Return some objects as JSON values, in their share of the limits of a page, and notes about shortened objects."""
    if dataset.kind == "series":
        return _series([np.asarray(dataset.objects[row], float) for row in rows])
    if dataset.kind == "strings":
        return _strings([dataset.objects[row] for row in rows], int(share * MAX_CHARACTERS))
    if dataset.kind == "matrix":
        return {"kind": "matrix"}, []
    return _rows(dataset, rows, int(share * MAX_CELLS))


def significant(value: float, digits: int = 4) -> float | int | None:
    """Round a number to significant digits; None for numbers that are not finite."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _rows(dataset: Dataset, rows: np.ndarray, max_cells: int) -> tuple[dict[str, Any], list[str]]:
    table = np.asarray(dataset.objects)
    n_columns = table.shape[1]
    shown = min(n_columns, max(8, max_cells // max(len(rows), 1)))
    names = [str(attribute.name) for attribute in dataset.attributes] or [
        f"attribute {column}" for column in range(n_columns)
    ]
    notes = [f"Of {n_columns:,} attributes the first {shown:,} are shown."] if shown < n_columns else []
    values = [[_cell(value) for value in row] for row in table[rows, :shown].tolist()]
    return {"kind": "rows", "names": names[:shown], "values": values}, notes


def _cell(value: Any) -> str | float | int | None:
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, (int, float, np.number)):
        return significant(float(value))
    if isinstance(value, dict):
        return shorten(shares_text(value, space="\N{NO-BREAK SPACE}"), MAX_CELL_LENGTH)
    return None if value is None else shorten(str(value), MAX_CELL_LENGTH)


def _strings(texts: Sequence[Any], max_characters: int) -> tuple[dict[str, Any], list[str]]:
    longest = max(60, max_characters // max(len(texts), 1))
    plain = [text if isinstance(text, str) else " ".join(map(str, text)) for text in texts]
    is_cut = any(len(text) > longest for text in plain)
    notes = [f"Strings are shown up to {longest:,} characters."] if is_cut else []
    return {"kind": "strings", "values": [shorten(text, longest) for text in plain]}, notes


def shorten(text: str, max_length: int) -> str:
    """Cut a long text, with an ellipsis at its end."""
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def _series(series: list[np.ndarray]) -> tuple[dict[str, Any], list[str]]:
    arrays = [values[:, None] if values.ndim == 1 else values for values in series]
    finite = [values[np.isfinite(values)] for values in arrays]
    low = min((float(values.min()) for values in finite if values.size), default=0.0)
    high = max((float(values.max()) for values in finite if values.size), default=1.0)
    n_channels = max((values.shape[1] for values in arrays), default=1)
    shown = min(n_channels, MAX_CHANNELS)
    max_points = MAX_POINTS // shown
    notes = []
    if max(map(len, arrays), default=0) > max_points:
        notes.append(f"Series are drawn with at most {max_points} of their points.")
    if shown < n_channels:
        notes.append(f"Of {n_channels} channels the first {shown} are drawn.")
    texts = [[encode_series(values[:, i], low, high, max_points) for i in range(shown)] for values in arrays]
    limits = [significant(low, 6), significant(high, 6)]
    return {"kind": "series", "limits": limits, "lengths": list(map(len, arrays)), "values": texts}, notes


def encode_series(values: np.ndarray, low: float, high: float, max_points: int) -> str:
    """Write two characters per point: level 0 for the lowest value of all series, 4,095 for the highest."""
    if len(values) > max_points:
        values = values[np.linspace(0, len(values) - 1, max_points).round().astype(int)]
    spread = high - low if high > low else 1.0
    scaled = (values - low) / spread * (N_LEVELS - 1)
    return "".join(
        DIGITS[level // len(DIGITS)] + DIGITS[level % len(DIGITS)] if level >= 0 else MISSING_POINT
        for level in np.where(np.isfinite(scaled), np.round(scaled), -1).astype(int).tolist()
    )
