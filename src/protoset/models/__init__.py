"""From a data set to a classifier that remembers how its objects were prepared."""

from protoset.models.cross_validation import CrossValidation, cross_validated_error
from protoset.models.fitting import fit_model, training_rows
from protoset.models.methods import MethodSpec, find_method
from protoset.models.model import DataModel, as_model
from protoset.models.preparation import Preparation, prepare
from protoset.models.references import ReferenceErrors, reference_errors, vote_of_neighbors

__all__ = [
    "CrossValidation",
    "DataModel",
    "MethodSpec",
    "Preparation",
    "ReferenceErrors",
    "as_model",
    "cross_validated_error",
    "find_method",
    "fit_model",
    "prepare",
    "reference_errors",
    "training_rows",
    "vote_of_neighbors",
]
