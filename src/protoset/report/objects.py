"""Objects as the page holds them: rounded, and cut where they are too long to be looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from protoset.datasets import Dataset

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
"""Digits of the numbers that series are written in; two of them make 4,096 levels."""

MISSING = "~~"
LEVELS = len(DIGITS) ** 2

MOST_POINTS, MOST_CHANNELS = 160, 4
MOST_CELLS, MOST_CHARACTERS = 120_000, 600_000
"""Values of tables, and characters of strings, that a page holds at most."""


def describe_objects(dataset: Dataset, rows: np.ndarray, *, share: float = 1.0) -> tuple[dict[str, Any], list[str]]:
    """Objects in types that JSON has, and notes of what was left out.

    Parameters
    ----------
    dataset : Dataset
    rows : ndarray of int
        Which objects.
    share : float
        Of what a page holds, how much these objects may take.
    """
    if dataset.kind == "series":
        return _series([np.asarray(dataset.objects[row], float) for row in rows])
    if dataset.kind == "strings":
        return _strings([dataset.objects[row] for row in rows], int(share * MOST_CHARACTERS))
    if dataset.kind == "matrix":
        return {"kind": "matrix"}, []
    return _rows(dataset, rows, int(share * MOST_CELLS))


def significant(value: float, digits: int = 4) -> float | int | None:
    """A number with so many significant digits; None for what is not finite."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _rows(dataset: Dataset, rows: np.ndarray, most: int) -> tuple[dict[str, Any], list[str]]:
    table = np.asarray(dataset.objects)
    n_columns = table.shape[1]
    shown = min(n_columns, max(8, most // max(len(rows), 1)))
    names = [str(attribute.name) for attribute in dataset.attributes] or [
        f"attribute {place}" for place in range(n_columns)
    ]
    notes = [f"Of {n_columns:,} attributes the first {shown:,} are shown."] if shown < n_columns else []
    values = [[_cell(value) for value in row] for row in table[rows, :shown].tolist()]
    return {"kind": "rows", "names": names[:shown], "values": values}, notes


def _cell(value: Any) -> str | float | int | None:
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, (int, float, np.number)):
        return significant(float(value))
    return None if value is None else _short(str(value), 60)


def _strings(texts: Sequence[Any], most: int) -> tuple[dict[str, Any], list[str]]:
    longest = max(60, most // max(len(texts), 1))
    plain = [text if isinstance(text, str) else " ".join(map(str, text)) for text in texts]
    is_cut = any(len(text) > longest for text in plain)
    notes = [f"Strings are shown up to {longest:,} characters."] if is_cut else []
    return {"kind": "strings", "values": [_short(text, longest) for text in plain]}, notes


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _series(series: list[np.ndarray]) -> tuple[dict[str, Any], list[str]]:
    columns = [one[:, None] if one.ndim == 1 else one for one in series]
    finite = [one[np.isfinite(one)] for one in columns]
    low = min((float(one.min()) for one in finite if one.size), default=0.0)
    high = max((float(one.max()) for one in finite if one.size), default=1.0)
    n_channels = max((one.shape[1] for one in columns), default=1)
    shown = min(n_channels, MOST_CHANNELS)
    most = MOST_POINTS // shown
    notes = []
    if max((len(one) for one in columns), default=0) > most:
        notes.append(f"Series are drawn with at most {most} of their points.")
    if shown < n_channels:
        notes.append(f"Of {n_channels} channels the first {shown} are drawn.")
    values = [[encode_series(one[:, place], low, high, most) for place in range(shown)] for one in columns]
    lengths = [len(one) for one in columns]
    limits = [significant(low, 6), significant(high, 6)]
    return {"kind": "series", "limits": limits, "lengths": lengths, "values": values}, notes


def encode_series(values: np.ndarray, low: float, high: float, most: int) -> str:
    """Two characters per point: 0 for the lowest value of all series, 4,095 for the highest."""
    if len(values) > most:
        values = values[np.linspace(0, len(values) - 1, most).round().astype(int)]
    spread = high - low if high > low else 1.0
    scaled = (values - low) / spread * (LEVELS - 1)
    return "".join(
        DIGITS[level // len(DIGITS)] + DIGITS[level % len(DIGITS)] if level >= 0 else MISSING
        for level in np.where(np.isfinite(scaled), np.round(scaled), -1).astype(int).tolist()
    )
