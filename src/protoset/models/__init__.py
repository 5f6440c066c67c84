"""From a data set to a classifier that remembers how its objects were prepared."""

from protoset.models.fitting import fit_model, training_rows
from protoset.models.methods import MethodSpec, find_method
from protoset.models.model import DataModel, as_model
from protoset.models.preparation import Preparation, prepare

__all__ = [
    "DataModel",
    "MethodSpec",
    "Preparation",
    "as_model",
    "find_method",
    "fit_model",
    "prepare",
    "training_rows",
]
