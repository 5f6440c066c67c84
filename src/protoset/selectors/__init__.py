"""Selectors: which training objects to keep."""

from protoset.selectors.base import BaseSelector
from protoset.selectors.ranking import RankedPrototypes, rank_prototypes
from protoset.selectors.reps import REPS
from protoset.selectors.size import SizeCurve

__all__ = ["REPS", "BaseSelector", "RankedPrototypes", "SizeCurve", "rank_prototypes"]
