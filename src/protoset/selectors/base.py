"""What every selector shares: validation, labels, resampling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.validation import validate_data

from protoset._progress import report
from protoset._validation import check_labels, unchanged_on_error
from protoset.spaces import DISSIMILARITIES, Space, make_space

SPARSE = {name for name, record in DISSIMILARITIES.items() if record.sparse}


class BaseSelector(BaseEstimator, ABC):
    """Base of all selectors: learns which training objects to keep.

    A subclass has the parameters ``metric`` and ``metric_params`` and writes ``_select``.
    """

    metric: str | Callable[..., float]
    metric_params: dict[str, Any] | None

    def fit(self, X: Any, y: Any) -> Self:
        """Select prototypes.

        Parameters
        ----------
        X : array-like or sparse matrix
            The training objects, of the kind that ``metric`` takes.
        y : array-like of shape (n_objects,)
            Their labels, of at least two classes. A class may have a single member.

        Returns
        -------
        self
        """
        self.fit_space(X, y)
        return self

    def fit_space(self, X: Any, y: Any, neighbors: Any = None) -> tuple[Space, np.ndarray]:
        """Fit, and return the space of the training objects and their classes as positions in ``classes_``."""
        self._check_parameters()
        with unchanged_on_error(self):
            space = make_space(X, self.metric, self.metric_params, y=y)
            self.metric_ = space.metric
            if isinstance(self.metric, str) and self.metric == "auto":
                report(
                    getattr(self, "verbose", 0), "metric='auto' took %r for %d objects", space.metric, space.shape[0]
                )
            if space.n_features is not None:
                validate_data(self, X, skip_check_array=True)
                self.n_features_in_ = space.n_features
            self.classes_, codes = check_labels(y, space.shape[0])
            self._select(space, codes, neighbors)
        return space, codes

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse wrong parameters before any work is done."""

    @abstractmethod
    def _select(self, space: Space, codes: np.ndarray, neighbors: Any) -> None:
        """Set ``sample_indices_`` and the other fitted attributes; ``neighbors`` are ready-made lists or None."""

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Select prototypes and return them with their labels.

        Rows of a DataFrame stay a DataFrame with their index, labels in a Series stay a Series.
        With ``metric="precomputed"`` the dissimilarities between the prototypes are returned.

        Returns
        -------
        X_resampled, y_resampled
        """
        self.fit(X, y)
        kept = self.sample_indices_
        y_kept = _safe_indexing(y if hasattr(y, "iloc") else np.asarray(y), kept)
        if self.metric != "precomputed":
            return _safe_indexing(X, kept), y_kept
        if sparse.issparse(X):
            return X.tocsr()[kept][:, kept], y_kept
        if hasattr(X, "iloc"):
            return X.iloc[kept, kept], y_kept
        X = np.asarray(X)
        if X.ndim == 1:
            return squareform(make_space(X, "precomputed").block(kept, kept), checks=False), y_kept
        return X[np.ix_(kept, kept)], y_kept

    def __sklearn_tags__(self) -> Tags:
        """Describe the selector to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = isinstance(self.metric, str) and self.metric in SPARSE
        tags.input_tags.positive_only = self.metric == "precomputed"
        return tags
