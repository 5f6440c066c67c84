"""A classifier of objects as they are in a file.

A ``PrototypeClassifier`` compares objects as they come. The preparation learned from the training set, such as the
scaling of attributes, is needed again for every query. So both are kept together, and ``protoset.save`` writes both to
one file. Three other ways were rejected: a scikit-learn pipeline, which does not know the columns of a file, nor series
and strings; a second file beside the classifier's, which gets lost; and unscaled prototypes with a metric that divides
by the deviations, which exists for Euclidean distances alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from protoset.classifier import Explanation, Predictions, PrototypeClassifier
from protoset.datasets import Attribute
from protoset.datasets.base import KINDS
from protoset.models.preparation import Preparation, Scaling
from protoset.spaces import DISSIMILARITIES, PairComparison


@dataclass(frozen=True, eq=False)
class DataModel:
    """A fitted classifier with the preparation of its objects.

    All methods take objects as a data set has them: vectors before scaling, series with channels as columns.

    Attributes
    ----------
    preparation : Preparation
    classifier : PrototypeClassifier
    prototype_ids_ : ndarray of str or None
        Ids of the prototypes, where the training data have ids.
    prototype_values_ : ndarray or None
        Values of the prototypes' attributes as the training data have them; None where the metric compares no
        attributes, or where the values are not known.
    """

    preparation: Preparation
    classifier: PrototypeClassifier
    prototype_ids_: np.ndarray | None = None
    prototype_values_: np.ndarray | None = None

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        return self.classifier.classes_

    @property
    def sample_indices_(self) -> np.ndarray:
        """The prototypes as positions in the training set, ascending."""
        return self.classifier.sample_indices_

    @property
    def prototype_labels_(self) -> np.ndarray:
        """Labels of the prototypes."""
        return self.classifier.prototype_labels_

    def predict(self, objects: Any) -> np.ndarray:
        """Predict labels."""
        return self.classifier.predict(self.preparation(objects))

    def predict_proba(self, objects: Any) -> np.ndarray:
        """Predict how clearly each class wins; see ``PrototypeClassifier``."""
        return self.classifier.predict_proba(self.preparation(objects))

    def predict_details(self, objects: Any) -> Predictions:
        """Predict labels with their probabilities and the prototypes that decided; see ``PrototypeClassifier``."""
        return self.classifier.predict_details(self.preparation(objects))

    def explain(self, objects: Any, n_neighbors: int = 3) -> Explanation:
        """Show which prototypes decided; see ``PrototypeClassifier``."""
        return self.classifier.explain(self.preparation(objects), n_neighbors)

    def compare(self, objects: Any, prototypes: Any = None) -> list[PairComparison]:
        """Say what makes up the dissimilarity of each object to a prototype; see ``PrototypeClassifier``.

        ``Contributions`` have the names of the attributes, and the values of both objects before any scaling.
        """
        if prototypes is None:
            prototypes = self.explain(objects, 1).indices[:, 0]
        comparisons = self.classifier.compare(self.preparation(objects), prototypes)
        values = self.preparation.attribute_values(objects)
        if values is None:
            return comparisons
        names = self.preparation.attribute_names(values.shape[1])
        known: Any = [None] * len(values)
        if self.prototype_values_ is not None:
            known = self.prototype_values_[np.searchsorted(self.sample_indices_, prototypes)]
        return [
            replace(comparison, names=names, query=query, prototype=prototype)  # type: ignore[call-arg]
            for comparison, query, prototype in zip(comparisons, values, known, strict=True)
        ]

    def names_of(self, indices: np.ndarray) -> list[Any]:
        """Return prototypes, given as positions in the training set, by their ids; as positions without ids.

        A prototype whose own id is missing is "row 7".
        """
        if self.prototype_ids_ is None:
            return indices.tolist()
        ids = self.prototype_ids_[np.searchsorted(self.sample_indices_, indices)].tolist()
        return [name or f"row {row}" for name, row in zip(ids, indices.tolist(), strict=True)]


def as_model(classifier: PrototypeClassifier) -> DataModel:
    """Return a classifier as a model that prepares nothing, for objects from files.

    Parameters
    ----------
    classifier : PrototypeClassifier
        Fitted, on vectors, series, strings or a matrix.

    Returns
    -------
    DataModel
    """
    if not isinstance(classifier, PrototypeClassifier):
        raise TypeError(f"classifier={classifier!r} must be a fitted PrototypeClassifier")
    check_is_fitted(classifier, "classes_")
    metric = classifier._prototypes.metric
    kind: Any = DISSIMILARITIES[metric].kind
    # A classifier of mixed attributes does not know their names and categories.
    if kind not in KINDS:
        raise ValueError(
            f"a classifier with metric={metric!r} does not say how its objects are read from a file; fit it with "
            "protoset.models.fit_model"
        )
    attributes: tuple[Attribute, ...] = ()
    if kind == "vectors":
        names = getattr(classifier, "feature_names_in_", None)
        if names is None:
            names = [f"column {position}" for position in range(1, classifier.n_features_in_ + 1)]
        attributes = tuple(Attribute(str(name), "real") for name in names)
    scaling: Scaling | None = "raw" if kind == "vectors" else None
    preparation = Preparation(kind, metric, {}, scaling, attributes=attributes, target_position=len(attributes))
    return DataModel(preparation, classifier, prototype_values_=classifier._prototypes.vectors)
