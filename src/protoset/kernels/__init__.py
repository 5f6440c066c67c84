"""Compiled kernels: plain arrays in, plain arrays out.

A kernel module is imported when one of its functions is first used, as in ``kernels.coordinate.sweep(...)``, because
importing Numba takes longer than importing the rest of protoset. Compiled code is cached on disk if
a folder can be written to. Each kernel has a plain NumPy twin in the tests. Arrays that belong together are passed as a
named tuple, where that costs no time.
"""

import importlib
from types import ModuleType

__all__ = [
    "adapting",
    "adapting_series",
    "alignment",
    "associates",
    "classes",
    "coordinate",
    "differences",
    "dropping",
    "elastic",
    "elastic_lanes",
    "elastic_search",
    "euclidean",
    "graphs",
    "hill_climbing",
    "lists",
    "medoids",
    "memetic",
    "mixed",
    "moving",
    "nearest",
    "neighbor_pairs",
    "refining",
    "series",
    "series_columns",
    "series_pairs",
    "series_search",
    "single_precision",
    "sparse",
    "strings",
    "ties",
    "voting",
    "warping",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
