"""protoset: prototype selection for nearest-neighbour classification on any dissimilarity."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from protoset._version import __version__

if TYPE_CHECKING:
    from protoset._export import export
    from protoset.classifier import Explanation, PrototypeClassifier
    from protoset.exceptions import FileFormatError
    from protoset.models import DataModel
    from protoset.neighbors import NeighborLists, NeighborSearch
    from protoset.persistence import load, save
    from protoset.selectors import REPS, Refined, Refinement, refine

__all__ = [
    "REPS",
    "DataModel",
    "Explanation",
    "FileFormatError",
    "NeighborLists",
    "NeighborSearch",
    "PrototypeClassifier",
    "Refined",
    "Refinement",
    "__version__",
    "export",
    "load",
    "refine",
    "save",
]

# Where each name is from. They are imported when they are first used, so that the help of the command need not wait
# for scikit-learn.
_ROOMS = {
    "REPS": "selectors",
    "DataModel": "models",
    "Explanation": "classifier",
    "FileFormatError": "exceptions",
    "NeighborLists": "neighbors",
    "NeighborSearch": "neighbors",
    "PrototypeClassifier": "classifier",
    "Refined": "selectors",
    "Refinement": "selectors",
    "export": "_export",
    "load": "persistence",
    "refine": "selectors",
    "save": "persistence",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        thing = getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
        globals()[name] = thing
        return thing
    if not name.startswith("_") and name in {module.name for module in iter_modules(__path__)}:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
