"""Objects as the page stores them: numbers rounded, long objects shortened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from protoset._display import NO_NAME, cut_text
from protoset._image_shapes import ImageShape
from protoset._report.images import MAX_BYTES, describe_images
from protoset._report.shown import FEWEST_HELD, choose_held, held_note
from protoset.datasets import Attribute, Dataset
from protoset.datasets._forms import SECONDS_OF_DAY, date_in_form
from protoset.models.preparation import shares_text

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
"""Digits of the points of series; two digits make one of 4,096 levels."""

MISSING_POINT = "~~"
"""Text of a missing point of a series."""

N_LEVELS = len(DIGITS) ** 2
"""Levels between the lowest and the highest value of a channel, in all series."""

MAX_POINTS = 160
"""Points of a series that a page stores at most, over all channels."""

MAX_CHANNELS = 4
"""Channels of a series that a page stores at most."""

MAX_CELLS = 450_000
"""Values of tables that a page stores at most."""

MAX_CHARACTERS = 1_500_000
"""Characters of strings that a page stores at most."""

MAX_SERIES_POINTS = 1_500_000
"""Points of series that a page stores at most, at two characters each."""

MAX_CELL_LENGTH = 60
"""Characters of a text in a table that a page stores at most."""

MAX_NAME_LENGTH = 120
"""Characters of the name of a class, an object or an attribute that a page stores at most."""


def describe_objects(
    dataset: Dataset,
    rows: np.ndarray,
    *,
    share: float = 1.0,
    first: np.ndarray | None = None,
    image_shape: ImageShape | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Return some objects as JSON values, in their share of the limits of a page, and notes about shortened objects.

    Where not all fit, the page holds those at the positions ``first`` in ``rows``, then a random sample. The values of
    the others are None.
    """
    first = np.empty(0, int) if first is None else first
    if image_shape is not None:
        return describe_images(np.asarray(dataset.objects)[rows], image_shape, int(share * MAX_BYTES), first)
    if dataset.kind == "series":
        series = [np.asarray(dataset.objects[row], float) for row in rows]
        return _series(series, int(share * MAX_SERIES_POINTS), first)
    if dataset.kind == "strings":
        return _strings([dataset.objects[row] for row in rows], int(share * MAX_CHARACTERS))
    if dataset.kind == "matrix":
        return {"kind": "matrix"}, []
    return _rows(dataset, rows, int(share * MAX_CELLS), first)


def shown_name(name: Any) -> str:
    """Return the name of a class, an object or an attribute as the page shows it: cut if it is long."""
    text = str(name)
    return cut_text(text, MAX_NAME_LENGTH) if text.strip() else NO_NAME


def significant(value: float, digits: int = 4) -> float | int | None:
    """Round a number to significant digits; None for numbers that are not finite."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _rows(dataset: Dataset, rows: np.ndarray, max_cells: int, first: np.ndarray) -> tuple[dict[str, Any], list[str]]:
    table = np.asarray(dataset.objects)
    n, n_columns = len(rows), table.shape[1]
    shown = min(n_columns, max(8, max_cells // max(min(n, FEWEST_HELD), len(first), 1)))
    names = [shown_name(attribute.name) for attribute in dataset.attributes] or [
        f"attribute {column}" for column in range(n_columns)
    ]
    notes = [f"Of {n_columns:,} attributes the first {shown:,} are shown."] if shown < n_columns else []
    held = choose_held(n, first, max(1, max_cells // shown))
    attributes = dataset.attributes[:shown] or (None,) * shown
    values: list[list[Any] | None] = [None] * n
    for position in np.flatnonzero(held).tolist():
        cells = zip(table[rows[position], :shown].tolist(), attributes, strict=True)
        values[position] = [_cell(value, attribute) for value, attribute in cells]
    return {"kind": "rows", "names": names[:shown], "values": values}, notes + held_note(held)


def _cell(value: Any, attribute: Attribute | None) -> str | float | int | None:
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, (int, float, np.number)):
        if attribute is not None and math.isfinite(value):
            return _named_number(float(value), attribute)
        return significant(float(value))
    if isinstance(value, dict):
        return cut_text(shares_text(value, space="\N{NO-BREAK SPACE}"), MAX_CELL_LENGTH)
    return None if value is None else cut_text(str(value), MAX_CELL_LENGTH)


def _named_number(value: float, attribute: Attribute) -> str | float | int | None:
    """Return a date as its text, the position of a category as its name, any other number as it is."""
    if attribute.type == "date":
        return _date(value, attribute.form or "YYYY-MM-DD")
    if attribute.type == "nominal" and value.is_integer() and 0 <= value < len(attribute.values):
        return cut_text(attribute.values[int(value)], MAX_CELL_LENGTH)
    return significant(value)


def _date(days: float, form: str) -> str:
    """Return days since 1970-01-01 as text.

    A moved prototype has dates between those of objects: they are rounded, to days if the form has no time.
    """
    seconds = days * SECONDS_OF_DAY
    if abs(seconds - round(seconds)) > 1e-3:
        days = round(seconds) / SECONDS_OF_DAY if len(form) > len("YYYY-MM-DD") else round(days)
    return date_in_form(days, form)


def _strings(texts: Sequence[Any], max_characters: int) -> tuple[dict[str, Any], list[str]]:
    longest = max(60, max_characters // max(len(texts), 1))
    plain = [text if isinstance(text, str) else " ".join(map(str, text)) for text in texts]
    is_cut = any(len(text) > longest for text in plain)
    notes = [f"Strings are shown up to {longest:,} characters."] if is_cut else []
    return {"kind": "strings", "values": [cut_text(text, longest) for text in plain]}, notes


def _series(series: list[np.ndarray], max_total: int, first: np.ndarray) -> tuple[dict[str, Any], list[str]]:
    arrays = [values[:, None] if values.ndim == 1 else values for values in series]
    n_channels = max((values.shape[1] for values in arrays), default=1)
    shown = min(n_channels, MAX_CHANNELS)
    max_points = MAX_POINTS // shown
    longest = max(map(len, arrays), default=0)
    notes = []
    if longest > max_points:
        notes.append(f"Series are drawn with at most {max_points} of their points.")
    if shown < n_channels:
        notes.append(f"Of {n_channels} channels the first {shown} are drawn.")
    held = choose_held(len(arrays), first, max_total // max(shown * min(longest, max_points), 1))
    limits = [_limits([values[:, channel] for values in arrays]) for channel in range(shown)]
    texts = [
        [encode_series(values[:, i], *limits[i], max_points) for i in range(shown)] if is_held else None
        for values, is_held in zip(arrays, held.tolist(), strict=True)
    ]
    rounded = [[significant(edge, 6) for edge in edges] for edges in limits]
    described = {"kind": "series", "limits": rounded, "lengths": list(map(len, arrays)), "values": texts}
    return described, notes + held_note(held)


def _limits(parts: list[np.ndarray]) -> tuple[float, float]:
    """The lowest and the highest finite value."""
    finite = [values[np.isfinite(values)] for values in parts]
    low = min((float(values.min()) for values in finite if values.size), default=0.0)
    return low, max((float(values.max()) for values in finite if values.size), default=1.0)


def encode_series(values: np.ndarray, low: float, high: float, max_points: int) -> str:
    """Write two characters per point: level 0 for the lowest value of the channel, 4,095 for the highest."""
    if len(values) > max_points:
        values = values[np.linspace(0, len(values) - 1, max_points).round().astype(int)]
    spread = high - low if high > low else 1.0
    scaled = (values - low) / spread * (N_LEVELS - 1)
    return "".join(
        DIGITS[level // len(DIGITS)] + DIGITS[level % len(DIGITS)] if level >= 0 else MISSING_POINT
        for level in np.where(np.isfinite(scaled), np.round(scaled), -1).astype(int).tolist()
    )
