"""A classifier of objects as they are in a file.

A ``PrototypeClassifier`` compares objects as they come. What was learned from the training set before, such as the
scaling of attributes, is needed again for every query, so both are kept together, and ``protoset.save`` writes both to
one file. Three other ways were passed over: a scikit-learn pipeline, which only pickle could keep; a file of its own
beside the classifier's, which gets lost; and prototypes that are stored as they were, with a metric that divides by
the deviations, which exists for Euclidean distances alone. A classifier without preparation is saved as before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset.classifier import Explanation, PrototypeClassifier
from protoset.models.preparation import Preparation


@dataclass(frozen=True, eq=False)
class DataModel:
    """A fitted classifier with the preparation of its objects.

    All its methods take objects as a data set has them: vectors before scaling, series with channels as columns.

    Attributes
    ----------
    preparation : Preparation
    classifier : PrototypeClassifier
    """

    preparation: Preparation
    classifier: PrototypeClassifier

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
        """Their labels."""
        return self.classifier.prototype_labels_

    def predict(self, objects: Any) -> np.ndarray:
        """Predict labels."""
        return self.classifier.predict(self.preparation(objects))

    def predict_proba(self, objects: Any) -> np.ndarray:
        """Predict how clearly each class wins; see ``PrototypeClassifier``."""
        return self.classifier.predict_proba(self.preparation(objects))

    def explain(self, objects: Any, n_neighbors: int = 3) -> Explanation:
        """Show which prototypes decided; see ``PrototypeClassifier``."""
        return self.classifier.explain(self.preparation(objects), n_neighbors)
