"""protoset: prototype selection for nearest-neighbour classification on any dissimilarity."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from protoset._version import __version__

if TYPE_CHECKING:
    from protoset._export import export
    from protoset._report import Report, report
    from protoset._suspects import Suspects, suspects
    from protoset._warmup import WarmUp, warmup
    from protoset.adaptation import Adaptation, adapt
    from protoset.classifier import Explanation, Predictions, PrototypeClassifier
    from protoset.exceptions import FileFormatError
    from protoset.models import DataModel
    from protoset.neighbors import NeighborLists, NeighborSearch
    from protoset.persistence import load, save
    from protoset.selectors import REPS, Refined, Refinement, refine

__all__ = [
    "REPS",
    "Adaptation",
    "DataModel",
    "Explanation",
    "FileFormatError",
    "NeighborLists",
    "NeighborSearch",
    "Predictions",
    "PrototypeClassifier",
    "Refined",
    "Refinement",
    "Report",
    "Suspects",
    "WarmUp",
    "__version__",
    "adapt",
    "export",
    "load",
    "refine",
    "report",
    "save",
    "suspects",
    "warmup",
]

# The names of each module. They are imported when they are first used, so that the help of the command need not wait
# for scikit-learn.
_NAMES = {
    "_export": ("export",),
    "_suspects": ("Suspects", "suspects"),
    "_warmup": ("WarmUp", "warmup"),
    "adaptation": ("Adaptation", "adapt"),
    "classifier": ("Explanation", "Predictions", "PrototypeClassifier"),
    "exceptions": ("FileFormatError",),
    "models": ("DataModel",),
    "neighbors": ("NeighborLists", "NeighborSearch"),
    "persistence": ("load", "save"),
    "_report": ("Report", "report"),
    "selectors": ("REPS", "Refined", "Refinement", "refine"),
}


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names:
            globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
            return globals()[name]
    if not name.startswith("_") and name in {room.name for room in iter_modules(__path__)}:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
