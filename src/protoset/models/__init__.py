"""From a data set to a classifier that remembers how its objects were prepared."""

from protoset.models.fitting import REFINED, Method, find_method, fit_model, make_selector, training_rows
from protoset.models.model import DataModel, as_model
from protoset.models.preparation import SCALINGS, Preparation, Scaling, prepare

__all__ = [
    "REFINED",
    "SCALINGS",
    "DataModel",
    "Method",
    "Preparation",
    "Scaling",
    "as_model",
    "find_method",
    "fit_model",
    "make_selector",
    "prepare",
    "training_rows",
]
