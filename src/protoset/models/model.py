"""A classifier of objects as they are in a file.

A ``PrototypeClassifier`` compares objects as they are. The preparation learned from the training set, such as the
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

from protoset._display import Displayed, Table
from protoset._estimators import Reported, learned_facts
from protoset.classifier import Explanation, Predictions, PrototypeClassifier
from protoset.datasets import Attribute
from protoset.datasets.base import KINDS
from protoset.models.preparation import Preparation, Scaling
from protoset.spaces import DISSIMILARITIES, PairComparison


@dataclass(frozen=True, eq=False, repr=False)
class DataModel(Reported, Displayed):
    """A fitted classifier with the preparation of its objects.

    All methods accept objects in the form of the data set: vectors before scaling, series with channels as columns.

    Attributes
    ----------
    preparation : Preparation
    classifier : PrototypeClassifier
    prototype_ids_ : ndarray of str or None
        Ids of the prototypes; None if the training data have no ids. For moved prototypes: ids of their exemplars, the
        nearest training objects of the same class.
    prototype_values_ : ndarray or None
        Attribute values of the prototypes, in the units of the training data; None if the metric compares no
        attributes, or if the values are not known. A value of a moved prototype between several categories is a text
        of their shares.
    exemplar_values_ : ndarray or None
        Attribute values of the exemplars, as in the training data; None if the prototypes did not move.
    has_moved : bool
        Whether the prototypes moved away from the training objects from which they started.
    """

    preparation: Preparation
    classifier: PrototypeClassifier
    prototype_ids_: np.ndarray | None = None
    prototype_values_: np.ndarray | None = None
    exemplar_values_: np.ndarray | None = None
    has_moved: bool = False

    def _summary(self) -> str:
        n_kept, n_classes = len(self.sample_indices_), len(self.classes_)
        return f"{n_kept:,} prototypes of {n_classes:,} classes ({self.preparation.kind}, {self.preparation.metric})"

    def _table(self) -> Table:
        facts = learned_facts(self.classifier)
        return Table((), facts, len(facts), self.preparation.roles)

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        return self.classifier.classes_

    @property
    def sample_indices_(self) -> np.ndarray:
        """Positions of the prototypes in the training set, ascending; for moved prototypes, of their start objects."""
        return self.classifier.sample_indices_

    @property
    def exemplars_(self) -> np.ndarray:
        """Position of a training object for each prototype: itself or, if it moved, the nearest of its class."""
        return self.classifier.exemplars_

    @property
    def prototype_labels_(self) -> np.ndarray:
        """Labels of the prototypes."""
        return self.classifier.prototype_labels_

    def predict(self, objects: Any) -> np.ndarray:
        """Predict labels; see ``PrototypeClassifier``."""
        return self.classifier.predict(self.preparation(objects))

    def predict_proba(self, objects: Any) -> np.ndarray:
        """Predict the probability of each class; see ``PrototypeClassifier``."""
        return self.classifier.predict_proba(self.preparation(objects))

    def predict_set(self, objects: Any, coverage: float = 0.9, *, by_class: bool = False) -> np.ndarray:
        """Predict sets of labels that contain the true label with a given coverage; see ``PrototypeClassifier``."""
        return self.classifier.predict_set(self.preparation(objects), coverage, by_class=by_class)

    def novelty_scores(self, objects: Any) -> np.ndarray:
        """Measure how far objects are from all objects seen in the fit; see ``PrototypeClassifier``."""
        return self.classifier.novelty_scores(self.preparation(objects))

    def is_novel(self, objects: Any, refuse: float = 0.01) -> np.ndarray:
        """Return which objects are unlike all objects seen in the fit; see ``PrototypeClassifier``."""
        return self.classifier.is_novel(self.preparation(objects), refuse)

    def predict_details(self, objects: Any) -> Predictions:
        """Predict labels with their probabilities and the deciding prototypes; see ``PrototypeClassifier``."""
        return self.classifier.predict_details(self.preparation(objects))

    def explain(self, objects: Any, n_neighbors: int = 3) -> Explanation:
        """Return the prototypes behind each prediction; see ``PrototypeClassifier``."""
        return self.classifier.explain(self.preparation(objects), n_neighbors)

    def compare(self, objects: Any, prototypes: Any = None) -> list[PairComparison]:
        """Split the dissimilarity of each object to a prototype into contributions; see ``PrototypeClassifier``.

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
            known = self.prototype_values_[self._slots(prototypes)]
        return [
            replace(comparison, names=names, query=query, prototype=prototype)  # type: ignore[call-arg]
            for comparison, query, prototype in zip(comparisons, values, known, strict=True)
        ]

    def names_of(self, indices: np.ndarray) -> list[Any]:
        """Return the ids of prototypes, given as positions in the training set; the positions if there are no ids.

        A moved prototype has the id of its exemplar. An object without an id has a name such as "row 7".
        """
        slots = self._slots(indices)
        rows = self.exemplars_[slots].tolist()
        if self.prototype_ids_ is None:
            return rows
        return [name or f"row {row}" for name, row in zip(self.prototype_ids_[slots].tolist(), rows, strict=True)]

    def values_of_exemplars(self, indices: np.ndarray) -> np.ndarray | None:
        """Return the attribute values of the exemplars of moved prototypes, given as positions in the training set.

        None if the prototypes did not move, or if the values are not known.
        """
        return None if self.exemplar_values_ is None else self.exemplar_values_[self._slots(indices)]

    def _slots(self, indices: np.ndarray) -> np.ndarray:
        """Positions among the prototypes of prototypes that are given as positions in the training set."""
        return np.searchsorted(self.sample_indices_, indices)


def has_moved(classifier: PrototypeClassifier) -> bool:
    """Whether the prototypes of a fitted classifier moved, as far as it knows."""
    adaptation = getattr(classifier, "adaptation_", None)
    if adaptation is not None:
        return adaptation.has_moved
    # A classifier from a file does not have its adaptation.
    return bool((classifier.exemplars_ != classifier.sample_indices_).any())


def as_model(classifier: PrototypeClassifier) -> DataModel:
    """Return a classifier as a model without preparation, for objects from files.

    Parameters
    ----------
    classifier : PrototypeClassifier
        A classifier that was fitted on vectors, series, strings or a matrix.

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
            f"a classifier with metric={metric!r} does not have the format of its objects in a file; fit a model with "
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
    vectors = classifier._prototypes.vectors
    return DataModel(preparation, classifier, prototype_values_=vectors, has_moved=has_moved(classifier))
