"""Parameters and learned values of scikit-learn's steps as JSON values and arrays, beyond those of plain objects.

slice                                  {"slice": [start, stop, step]}
array of texts                         {"text": {"array": ...}}, its characters as numbers
array of objects, one-dimensional      {"objects": [...]}
type of numbers, dtype                 {"type": name}, {"dtype": name}
pandas.NA                              {"missing": "pandas.NA"}
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from protoset.spaces._plain_objects import NUMBER_KINDS, Encoder, decode

NUMBER_TYPES: dict[str, type] = {
    "bool": bool,
    "int": int,
    "float": float,
    "numpy.bool": np.bool_,
    **{f"numpy.float{n_bits}": np.dtype(f"float{n_bits}").type for n_bits in (16, 32, 64)},
    **{
        f"numpy.{sign}int{n_bits}": np.dtype(f"{sign}int{n_bits}").type
        for sign in ("", "u")
        for n_bits in (8, 16, 32, 64)
    },
}
"""Types of numbers by their names in a file."""


class StepEncoder(Encoder):
    """Turns the parameters and learned values of steps into JSON values."""

    def encode(self, obj: Any) -> Any:
        """Return a value as JSON values; raises ``TypeError`` where it cannot be written without pickle."""
        kind = type(obj)
        if kind is slice:
            return {"slice": [self.encode(item) for item in (obj.start, obj.stop, obj.step)]}
        if kind is np.ndarray and obj.ndim == 1 and obj.dtype.kind == "U":
            characters = np.ascontiguousarray(obj).astype(obj.dtype.newbyteorder("=")).view(np.uint32)
            return {"text": super().encode(characters.reshape(len(obj), obj.dtype.itemsize // 4))}
        if kind is np.ndarray and obj.ndim == 1 and obj.dtype.kind == "O":
            return {"objects": [self.encode(item) for item in obj]}
        if kind is np.str_:
            return str(obj)
        if isinstance(obj, np.dtype) and obj.kind in NUMBER_KINDS:
            return {"dtype": obj.str}
        for name, number_type in NUMBER_TYPES.items():
            if obj is number_type:
                return {"type": name}
        if kind.__name__ == "NAType":
            return {"missing": "pandas.NA"}
        # Columns are often an Index of pandas.
        if kind.__module__.partition(".")[0] in ("pandas", "polars") and hasattr(obj, "to_numpy"):
            return self.encode(list(obj.to_numpy()))
        return super().encode(obj)


def decode_value(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Inverse of ``StepEncoder.encode``; raises an error where a value is invalid."""
    return decode(value, arrays, FURTHER_KINDS)


def count_numbers(value: Any) -> int:
    """Return how many numbers a JSON value takes from the arrays."""
    if isinstance(value, list):
        return sum(map(count_numbers, value))
    if not isinstance(value, dict):
        return 0
    if value.keys() == {"array"}:
        shape = value["array"][2] or []
        if not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError("it holds an array without a shape")
        return int(np.prod(shape, dtype=object))
    return sum(map(count_numbers, value.values()))


def as_objects(items: list[Any]) -> np.ndarray:
    """Return a one-dimensional array of objects of any type."""
    array = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        array[index] = item
    return array


def as_number_dtype(name: Any) -> np.dtype:
    """Return a dtype of numbers by its name; refuse other dtypes."""
    if not isinstance(name, str) or np.dtype(name).kind not in NUMBER_KINDS:
        raise ValueError(f"unknown dtype {name!r}")
    return np.dtype(name)


def _as_text(characters: Any) -> np.ndarray:
    if not isinstance(characters, np.ndarray) or characters.dtype != np.uint32 or characters.ndim != 2:
        raise ValueError("it holds an array of texts without characters")
    if not characters.shape[1] or (characters > sys.maxunicode).any():
        raise ValueError("it holds a text with an unknown character")
    return characters.view(f"U{characters.shape[1]}")[:, 0]


def _pandas_missing(name: Any) -> Any:
    if name != "pandas.NA":
        raise ValueError(f"unknown missing value {name!r}")
    import pandas as pd

    return pd.NA


FURTHER_KINDS: dict[str, Callable[..., Any]] = {
    "slice": lambda items: slice(*items),
    "text": _as_text,
    "objects": as_objects,
    "type": NUMBER_TYPES.__getitem__,
    "dtype": as_number_dtype,
    "missing": _pandas_missing,
}
"""Functions that decode the kinds of values that plain objects do not have."""
