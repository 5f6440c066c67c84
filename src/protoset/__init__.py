"""protoset: prototype selection for nearest-neighbour classification on any dissimilarity."""

from protoset._version import __version__
from protoset.classifier import Explanation, PrototypeClassifier
from protoset.export import export
from protoset.neighbors import NeighborLists
from protoset.persistence import FileFormatError, load, save
from protoset.selectors import REPS, Refinement, refine

__all__ = [
    "REPS",
    "Explanation",
    "FileFormatError",
    "NeighborLists",
    "PrototypeClassifier",
    "Refinement",
    "__version__",
    "export",
    "load",
    "refine",
    "save",
]
