"""The selector or classifier of a fitted Pipeline, DataModel or search over parameters, and the steps before it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from protoset.classifier import PrototypeClassifier
from protoset.models.model import DataModel
from protoset.models.preparation import Preparation
from protoset.selectors import BaseSelector

Transform = Callable[[Any], Any]
"""Makes the objects that a metric compares from the objects that users have."""


class Steps:
    """The steps of a pipeline before its last one, as a transform with an inverse."""

    def __init__(self, pipeline: Pipeline):
        self.pipeline = pipeline
        self.name = ", ".join(type(step).__name__ for _, step in pipeline.steps if not isinstance(step, str))

    def __call__(self, objects: Any) -> Any:
        """Return objects as the last step takes them."""
        return self.pipeline.transform(objects)

    def inverse_transform(self, objects: Any) -> np.ndarray | None:
        """Return objects as they were before the steps; None where a step has no inverse."""
        try:
            return np.asarray(self.pipeline.inverse_transform(objects), float)
        except Exception:  # some steps have the method, and raise an error of any kind
            return None


def unpack_estimator(estimator: Any) -> tuple[PrototypeClassifier | BaseSelector, Steps | Preparation | None]:
    """Return the selector or classifier of an estimator, and the transform before it.

    Pipelines may hold pipelines, and searches such as GridSearchCV may be anywhere; a search is unpacked after its fit.
    """
    last, steps = estimator, []
    while True:
        if hasattr(last, "best_estimator_"):
            last = last.best_estimator_
        elif isinstance(last, Pipeline):
            *before, (_, last) = last.steps
            steps += [step for _, step in before]
        else:
            break
    if isinstance(last, DataModel) and not steps:
        return last.classifier, last.preparation
    if not isinstance(last, (PrototypeClassifier, BaseSelector)):
        raise TypeError(
            f"estimator has the type {type(estimator).__name__}; pass a fitted PrototypeClassifier, selector or "
            "DataModel, or a fitted Pipeline or parameter search that ends with one of these"
        )
    named = [(str(number), step) for number, step in enumerate(steps)]
    return last, Steps(Pipeline(named)) if named else None


def undo(transform: Transform, objects: Any) -> Any:
    """Return objects as they were before a transform; None where the transform has no inverse, or a wrong one."""
    # A bound method, such as scaler.transform, knows its estimator.
    owner = getattr(transform, "__self__", transform)
    inverse = owner.undone if isinstance(owner, Preparation) else getattr(owner, "inverse_transform", None)
    if inverse is None:
        return None
    with np.errstate(all="ignore"), warnings.catch_warnings():
        # The objects are an array, also where the transform knows the columns of a DataFrame.
        warnings.simplefilter("ignore")
        restored = inverse(objects)
        # The inverse may be wrong: a FunctionTransformer without inverse_func returns its input.
        if restored is None or not _are_close(transform(restored), objects):
            return None
    return restored


def _are_close(objects: Any, others: Any) -> bool:
    """Whether objects are the same up to rounding, as far as they are arrays of numbers."""
    if getattr(others, "dtype", None) is None or others.dtype.kind != "f":
        return True
    objects = np.asarray(objects, float)
    scale = float(np.nanmax(np.abs(others), initial=0.0))
    return objects.shape == others.shape and np.allclose(objects, others, atol=1e-5 * scale, equal_nan=True)
