"""Long lists of numbers as text: the bytes of a typed array in base64, which a browser reads quickly.

    [3, 1, 2, ...]          {"packed": "i2", "data": "AwABAAIA..."}
    [[1.5], [], [2.0, 3]]   {"packed": "f4", "data": "AADAP...", "lengths": {"packed": "i1", "data": "AQAC..."}}

Missing numbers become NaN, which ``page/unpack.js`` turns back into null. Single precision holds 7 digits, more than
the page shows.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

PACKED_LENGTH = 2000
"""Shorter lists stay lists, which people can read."""


def pack_objects(objects: dict[str, Any]) -> dict[str, Any]:
    """The objects of a model with packed numbers. Their values, which may be texts, stay as they are."""
    return pack({name: content for name, content in objects.items() if name != "values"}) | {
        "values": objects["values"]
    }


def pack(value: Any) -> Any:
    """Return JSON values with packed long lists of numbers; all other values stay as they are."""
    if isinstance(value, dict):
        return {name: pack(item) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) < PACKED_LENGTH:
        return [pack(item) for item in value]
    if all(type(item) is list for item in value):
        flat = list(chain.from_iterable(value))
        packed = _pack_numbers(flat)
        return value if packed is None else packed | {"lengths": _pack_numbers([len(item) for item in value])}
    return _pack_numbers(value) or value


def _pack_numbers(numbers: Sequence[Any]) -> dict[str, str] | None:
    """Packed numbers, in as few bytes as hold them; None for a list that holds other things than numbers."""
    kinds = set(map(type, numbers))
    if kinds <= {int}:
        low, high = min(numbers, default=0), max(numbers, default=0)
        for kind in ("i1", "i2", "i4"):
            limits = np.iinfo(kind)
            if limits.min <= low and high <= limits.max:
                return _packed(np.array(numbers, f"<{kind}"), kind)
    if not kinds <= {int, float, type(None)}:
        return None
    doubles = np.array(numbers, "<f8")
    with np.errstate(over="ignore", under="ignore"):
        singles = doubles.astype("<f4")
    # Numbers that are too large or too small for single precision would become infinite, or lose digits.
    is_lossy = not np.allclose(singles, doubles, rtol=1e-6, atol=0, equal_nan=True)
    return _packed(doubles, "f8") if is_lossy else _packed(singles, "f4")


def _packed(array: np.ndarray, kind: str) -> dict[str, str]:
    return {"packed": kind, "data": base64.b64encode(array.tobytes()).decode()}
