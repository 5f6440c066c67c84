"""Selectors: which training objects to keep.

One method per file. A file registers its method by being there, and exports it here.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from protoset.neighbors import NeighborSearch
from protoset.selectors._limits import SearchProgress
from protoset.selectors.allknn import AllKNN
from protoset.selectors.base import BaseSelector
from protoset.selectors.ccis import CCIS
from protoset.selectors.cnn import CNN
from protoset.selectors.drop3 import DROP3
from protoset.selectors.enn import ENN
from protoset.selectors.fcnn import FCNN
from protoset.selectors.hmnei import HMNEI
from protoset.selectors.icf import ICF
from protoset.selectors.kmedoids import KMedoids
from protoset.selectors.random import RandomSelector
from protoset.selectors.ranking import RankedPrototypes, rank_prototypes
from protoset.selectors.refined import Refined
from protoset.selectors.refinement import Refinement, refine
from protoset.selectors.renn import RENN
from protoset.selectors.reps import REPS
from protoset.selectors.rmhc import RMHC
from protoset.selectors.size import SizeCurve
from protoset.selectors.ssma import SSMA

__all__ = [
    "CCIS",
    "CNN",
    "DROP3",
    "ENN",
    "FCNN",
    "HMNEI",
    "ICF",
    "RENN",
    "REPS",
    "RMHC",
    "SSMA",
    "AllKNN",
    "BaseSelector",
    "KMedoids",
    "NeighborSearch",
    "RandomSelector",
    "RankedPrototypes",
    "Refined",
    "Refinement",
    "SearchProgress",
    "SizeCurve",
    "all_selectors",
    "rank_prototypes",
    "refine",
]


def all_selectors() -> list[tuple[str, type[BaseSelector]]]:
    """Return all selectors as pairs (name, class), sorted by name; without ``Refined``, which needs another selector.

    Returns
    -------
    list of (str, type)

    Examples
    --------
    >>> from protoset.selectors import all_selectors
    >>> "REPS" in dict(all_selectors())
    True
    """
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    selectors = {
        member
        for module in modules
        for member in vars(module).values()
        if isinstance(member, type) and issubclass(member, BaseSelector)
        if not inspect.isabstract(member) and member is not Refined
    }
    return sorted(((selector.__name__, selector) for selector in selectors), key=lambda pair: pair[0])
