"""What every selector shares: validation, labels, resampling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.validation import validate_data

from protoset._cluster import column_names_of, gathered_labels, is_dask
from protoset._progress import report
from protoset._validation import check_count, check_jobs, check_labels, check_seed, unchanged_on_error
from protoset.selectors._medoids import medoid
from protoset.spaces import DISSIMILARITIES, CountedSpace, Space, TrainingSpace, make_space

SPARSE = {name for name, record in DISSIMILARITIES.items() if record.sparse}


class BaseSelector(BaseEstimator, ABC):
    """Base of all selectors: learns which training objects to keep.

    A subclass has the parameters ``metric``, ``metric_params``, ``n_jobs`` and ``verbose``, where it
    needs them also ``n_neighbors`` and ``random_state``, and writes ``_select``.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The objects kept, ascending.
    classes_ : ndarray
        The labels, sorted.
    fallback_classes_ : ndarray
        The labels of which the method kept nothing, so that the medoid of the class was added.
    n_distances_ : int
        Dissimilarities asked for; a search for everyone's neighbours asks for each pair once.
    metric_ : str
        The metric that was used: what ``metric="auto"`` chose, else its name.
    n_features_in_ : int
        Number of features, or of training objects with ``metric="precomputed"``; not there where objects
        have none.
    """

    metric: str | Callable[..., float]
    metric_params: dict[str, Any] | None
    n_jobs: int | None
    verbose: int

    _takes_graphs: ClassVar[bool] = False
    """Whether the distances to some neighbours are enough, as a sparse graph holds them."""

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

    def fit_space(self, X: Any, y: Any) -> tuple[Space, np.ndarray]:
        """Fit, and return the space of the training objects and their classes as positions in ``classes_``."""
        return self._fit_with(self._select, X, y)

    def _fit_with(
        self, select: Callable[[TrainingSpace, np.ndarray], np.ndarray], X: Any, y: Any, client: Any = None
    ) -> tuple[Space, np.ndarray]:
        self._check_parameters()
        if is_dask(X) and client is None:
            raise ValueError(
                f"X is a Dask collection, which {type(self).__name__} does not work on; use REPS, or gather it with "
                "X.compute()"
            )
        with unchanged_on_error(self):
            y = gathered_labels(y, client)
            space = make_space(X, self.metric, self.metric_params, y=y, client=client)
            self.metric_ = space.metric
            if isinstance(self.metric, str) and self.metric == "auto":
                report(self.verbose, "metric='auto' took %r for %d objects", space.metric, space.shape[0])
            if space.n_features is not None:
                if not is_dask(column_names_of(X)):
                    validate_data(self, column_names_of(X), skip_check_array=True)
                self.n_features_in_ = space.n_features
            self.classes_, codes = check_labels(y, space.shape[0])
            if space.partial and not self._takes_graphs:
                raise ValueError(
                    f"{type(self).__name__} asks for dissimilarities that a sparse graph does not hold; "
                    "pass X as a dense matrix"
                )
            counted = CountedSpace(space)
            kept = select(counted, codes)
            missing = np.setdiff1d(codes, codes[kept]) if self._keeps_every_class() else np.empty(0, int)
            medoids = [medoid(counted, np.flatnonzero(codes == code)) for code in missing]
            self.sample_indices_ = np.sort(np.concatenate([kept, np.array(medoids, np.int64)]))
            self.fallback_classes_ = self.classes_[missing]
            self.n_distances_ = counted.n_distances
            report(self.verbose, "kept %d of %d objects", len(self.sample_indices_), space.shape[0])
        return space, codes

    def _check_parameters(self) -> None:
        """Refuse wrong parameters before any work is done."""
        check_jobs(self.n_jobs)
        if hasattr(self, "n_neighbors"):
            check_count("n_neighbors", self.n_neighbors, least=1, remedy="pass the number of neighbours that vote")
        if hasattr(self, "random_state"):
            check_seed(self.random_state)

    @abstractmethod
    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        """Return the objects to keep, and set the attributes that only this method has."""

    def _keeps_every_class(self) -> bool:
        return True

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
        if sparse.issparse(X):
            rows = X.tocsr()[kept]
            return rows[:, kept] if self.metric == "precomputed" else rows, y_kept
        if self.metric != "precomputed":
            return _safe_indexing(X, kept), y_kept
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
        if self.metric == "precomputed":
            tags.input_tags.sparse = self._takes_graphs
        tags.input_tags.positive_only = self.metric == "precomputed"
        return tags
