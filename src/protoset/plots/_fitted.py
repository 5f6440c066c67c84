"""A fitted selector or classifier, alone or at the end of a pipeline, and the objects that it was fitted on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from protoset._frames import is_frame, is_polars, take_rows
from protoset._validation import check_labels
from protoset.classifier import PrototypeClassifier
from protoset.models.model import has_moved
from protoset.models.preparation import Preparation
from protoset.models.unpacking import Steps, undo, unpack_estimator
from protoset.selectors import BaseSelector
from protoset.spaces import DISSIMILARITIES, TrainingSpace, as_space
from protoset.spaces.vectors import ANGULAR


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted selector or PrototypeClassifier, and the steps before it.

    ``selector`` is that of the classifier, where there is one; None for a classifier from a file. ``steps`` prepare
    objects for it: the steps of a Pipeline, the preparation of a DataModel, or None.
    """

    selector: BaseSelector | None
    classifier: PrototypeClassifier | None
    steps: Steps | Preparation | None

    @classmethod
    def of(cls, estimator: Any) -> Fitted:
        """Take the selector or classifier out of a Pipeline, DataModel or search over parameters."""
        last, steps = unpack_estimator(estimator)
        if isinstance(last, PrototypeClassifier):
            check_is_fitted(last, "classes_")
            return cls(getattr(last, "selector_", None), last, steps)
        check_is_fitted(last, "sample_indices_")
        return cls(last, None, steps)

    @property
    def metric(self) -> str:
        """Name of the metric that was used."""
        return self.classifier._prototypes.metric if self.classifier is not None else self.selector.metric_  # type: ignore[union-attr]

    @property
    def kind(self) -> str:
        """Kind of the objects: "vectors", "mixed attributes", "series", "strings", "matrix" or "objects"."""
        record = DISSIMILARITIES.get(self.metric, DISSIMILARITIES["callable"])
        return record.kind

    @property
    def has_moved(self) -> bool:
        """Whether the prototypes moved away from training objects."""
        return self.classifier is not None and has_moved(self.classifier)

    @property
    def exemplars(self) -> np.ndarray:
        """A training object for each prototype: itself, or where it moved, the nearest object of its class."""
        return self.classifier.exemplars_ if self.classifier is not None else self.selector.sample_indices_  # type: ignore[union-attr]

    def prepare(self, X: Any) -> Any:
        """Objects as the selector or classifier takes them."""
        return X if self.steps is None else self.steps(X)

    def curves(self, X: Any) -> list[np.ndarray]:
        """Series as arrays of shape (n_points,) or (n_points, n_channels)."""
        series = X.to_numpy() if is_frame(X) else X
        # A data set has channels as columns, a space as rows.
        is_turned = not isinstance(self.steps, Preparation)
        return [np.asarray(curve, float).T if is_turned else np.asarray(curve, float) for curve in series]

    def restore(self, prototypes: Any) -> Any:
        """Moved prototypes in the form that objects have before all steps; None where there is no such form."""
        if prototypes is None or self.metric in ANGULAR:
            return None
        return prototypes if self.steps is None else undo(self.steps, prototypes)

    def space(self, prepared: Any, y: Any) -> TrainingSpace:
        """Space of prepared objects under the metric of the fit."""
        if isinstance(self.steps, Preparation):
            return as_space(prepared, self.steps.metric, self.steps.metric_params, y=y)
        selector: Any = self.selector if self.classifier is None else self.classifier._selector_or_default()
        metric: Any = selector.metric
        if isinstance(metric, str) and metric == "auto":
            metric = self.metric
        return as_space(prepared, metric, selector.metric_params, y=y)

    def training_rows(self, n_objects: int) -> np.ndarray:
        """The exemplars, if there are as many objects as they need."""
        rows = self.exemplars
        if rows.max() >= n_objects:
            raise ValueError(
                f"X has {n_objects} objects, but the estimator keeps the training object {rows.max()}; pass the "
                "objects that it was fitted on"
            )
        return rows

    def winners(self, prepared: Any, y: Any) -> np.ndarray:
        """Position of the nearest prototype of each object, among the prototypes."""
        if self.classifier is not None:
            return self.classifier._nearest(self.classifier._cross(prepared))[0]
        nearest = self.space(prepared, y).nearest(columns=self.exemplars)[0]
        nearest[self.exemplars] = np.arange(len(self.exemplars))
        return nearest


def count_of(X: Any) -> int:
    """Number of objects."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def labels_of(y: Any, n_objects: int) -> np.ndarray:
    """Labels of objects, one each; a single class is enough."""
    classes, codes = check_labels(y, n_objects, fewest=1)
    return classes[codes]


def some_of(X: Any, rows: np.ndarray) -> Any:
    """Some of the objects: rows of a frame, an array or a list."""
    return take_rows(X, rows) if is_polars(X) else _safe_indexing(X, rows)
