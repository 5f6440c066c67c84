"""Encoding of objects made of plain values as JSON values and arrays of numbers, and decoding.

None, bool, int, float, str, list      as they are in JSON; a string of NumPy as a str
tuple, set, frozenset                  {"tuple": [...]}, ...
dict                                   {"dict": [[key, value], ...]}
array of NumPy                         {"array": [dtype, start, shape]}, its numbers in one array per dtype
number of NumPy                        {"array": [dtype, start, null]}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

JSON_SCALARS = (bool, float, int, str, type(None))
"""Types that JSON holds as they are."""

CONTAINERS: dict[str, type] = {"tuple": tuple, "set": set, "frozenset": frozenset}
"""Containers by their names in a file."""

NUMBER_KINDS = "fiub"
"""Kinds of NumPy dtypes that a file may hold."""


class Encoder:
    """Turns objects into JSON values; collects the numbers of arrays by dtype."""

    def __init__(self) -> None:
        self.numbers: dict[str, list[np.ndarray]] = {}
        self._lengths: dict[str, int] = {}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the numbers of all arrays, one array per dtype."""
        return {name: np.concatenate(arrays) for name, arrays in self.numbers.items()}

    def encode(self, obj: Any) -> Any:
        """Return an object as JSON values; raises ``TypeError`` where it is not made of plain values."""
        kind = type(obj)
        if kind in JSON_SCALARS:
            return obj
        if kind is np.str_:
            return str(obj)
        if kind is list:
            return [self.encode(item) for item in obj]
        if kind is tuple:
            return {"tuple": [self.encode(item) for item in obj]}
        if kind in (set, frozenset):
            # Sorted, so that equal objects make equal files.
            return {kind.__name__: [self.encode(item) for item in sorted(obj, key=repr)]}
        if kind is dict:
            return {"dict": [[self.encode(key), self.encode(value)] for key, value in obj.items()]}
        if (kind is np.ndarray or isinstance(obj, np.generic)) and obj.dtype.kind in NUMBER_KINDS:
            return {"array": self._put(obj)}
        raise TypeError(
            f"the type {kind.__name__} cannot be written without pickle; make the objects of numbers, strings, "
            "lists, tuples, sets, dicts and arrays of numbers, and let the metric convert them"
        )

    def _put(self, obj: Any) -> list[Any]:
        array = np.asarray(obj)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        name = array.dtype.str[1:]
        start = self._lengths.get(name, 0)
        self.numbers.setdefault(name, []).append(array.ravel())
        self._lengths[name] = start + array.size
        return [name, start, list(array.shape) if isinstance(obj, np.ndarray) else None]


def decode(value: Any, arrays: dict[str, np.ndarray], more: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """Inverse of ``Encoder.encode``; raises ``ValueError``, ``KeyError`` or ``TypeError`` where a value is invalid.

    ``more`` has a function for each further kind of value, which takes the decoded content.
    """
    if type(value) in JSON_SCALARS:
        return value
    if isinstance(value, list):
        return [decode(item, arrays, more) for item in value]
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("it holds an object of an unknown kind")
    [(kind, content)] = value.items()
    if kind == "array":
        name, start, shape = content
        return _take(arrays[name], name, start, shape)
    if kind == "dict":
        return {decode(key, arrays, more): decode(item, arrays, more) for key, item in content}
    if more is not None and kind in more:
        return more[kind](decode(content, arrays, more))
    return CONTAINERS[kind](decode(item, arrays, more) for item in content)


def _take(flat: np.ndarray, name: str, start: int, shape: list[int] | None) -> Any:
    lengths = [] if shape is None else shape
    if not all(type(number) is int and number >= 0 for number in (start, *lengths)):
        raise ValueError("it holds an array without a start or a shape")
    size = int(np.prod(lengths, dtype=object))
    if flat.ndim != 1 or flat.dtype.str[1:] != name or start + size > len(flat):
        raise ValueError("it holds an array that reaches beyond its numbers")
    if shape is None:
        return flat[start]
    # A view: a file could ask for any number of copies of the same numbers.
    return flat[start : start + size].reshape(lengths)
