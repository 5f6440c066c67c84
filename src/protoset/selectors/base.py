"""The base class of all selectors: checks, labels, the fallback for lost classes, resampling."""

from __future__ import annotations

import reprlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from scipy import sparse
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.validation import validate_data

from protoset._cluster import column_names_of, gathered_labels, is_dask
from protoset._estimators import CheckedEstimator
from protoset._frames import is_frame, is_polars, is_series, take_rows
from protoset._progress import report
from protoset._validation import check_choice, check_count, check_jobs, check_seed, check_verbose
from protoset.exceptions import DoubtfulDataWarning
from protoset.selectors._distinct import DistinctObjects, TrainingSet
from protoset.selectors._medoids import medoid
from protoset.spaces import DISSIMILARITIES, CountedSpace, TrainingSpace, as_space, make_space

SPARSE_METRICS = {"auto"} | {name for name, record in DISSIMILARITIES.items() if record.sparse}
"""Metrics that take sparse matrices."""

DOUBTFUL_CLASSES = 1000
"""Smallest number of classes for which a fit warns, however many objects the classes have."""

FEWEST_JUDGED_CLASSES = 11
"""Number of classes below which classes with one object are not doubtful."""

FEWEST_JUDGED_LABELS = 21
"""Number of objects below which classes with one object are not doubtful."""

TieRule = Literal["majority", "row_order"]
TIE_RULES: tuple[TieRule, ...] = ("majority", "row_order")
"""Values of the parameter ``tie_rule``. It is not called ``ties``: that of REPS is about ranks."""

Method = TypeVar("Method", bound=Callable[..., Any])


class BaseSelector(CheckedEstimator, ABC):
    """Base class of all selectors: learns which training objects to keep.

    A subclass implements ``_select``. It may have the parameters ``n_neighbors``, ``random_state`` and ``tie_rule``.

    Parameters
    ----------
    metric : str or callable, default="auto"
        Dissimilarity between objects; see :class:`REPS`.
    metric_params : dict, optional
        Arguments of the metric.
    n_jobs : int, optional
        Number of workers of the neighbour search. It does not change any result.
    verbose : int, default=0
        Above 0, print progress to stderr.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        Positions of the kept objects in the training set, ascending.
    classes_ : ndarray
        The labels, sorted.
    fallback_classes_ : ndarray
        Classes of which the method kept no object. For each of them, the medoid of the class was added.
    sample_counts_ : ndarray of float
        For each kept object, the number of training objects of its class that are identical to it, by weight,
        including itself. No two kept objects of a class are identical.
    class_counts_ : ndarray of float
        Number of training objects of each class, by weight.
    n_distances_ : int
        Number of dissimilarities that the method used. A search for the neighbours of all objects counts each pair
        once.
    metric_ : str
        Name of the metric that was used; with ``metric="auto"``, the chosen metric.
    n_features_in_ : int
        Number of features; with ``metric="precomputed"``, number of training objects. Missing if the objects have no
        features.
    """

    sample_indices_: np.ndarray

    _takes_graphs: ClassVar[bool] = False
    """Whether a sparse graph, which has the distances to some neighbours only, is enough."""

    _takes_lists: ClassVar[bool] = False
    """Whether ``fit`` accepts neighbour lists in place of a search."""

    _takes_weights: ClassVar[bool] = False
    """Whether the method works on distinct objects with counts. Other methods work on all objects, and copies are
    dropped from the selected set."""

    def __init__(
        self,
        *,
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Select prototypes.

        Parameters
        ----------
        X : array-like, sparse matrix or TrainingSpace
            The training objects, of the kind that ``metric`` compares, or their space.
        y : array-like of shape (n_objects,)
            Labels of the training objects, of at least two classes. A class may have a single object.

        Returns
        -------
        self
            The fitted selector.
        """
        self._fit(X, y)
        return self

    def _fit(
        self, X: Any, y: Any, *, sample_weight: Any = None, lists: Any = None, client: Any = None, **others: Any
    ) -> tuple[TrainingSpace, np.ndarray]:
        """Fit, and return the space of the training objects and their classes as positions in ``classes_``.

        ``lists`` are known neighbour lists, ``client`` is a Dask client, ``others`` are options of ``_select``.
        """
        with self._fitting() as plain:
            if lists is not None and not plain._takes_lists:
                raise ValueError(f"lists=... works with REPS only, but the selector is {plain!r}; leave lists out")
            options = others if lists is None else others | {"lists": lists}
            client = plain._resolve_client(client, X, options)
            y = gathered_labels(y, client)
            space = as_space(X, plain.metric, plain.metric_params, y=y, client=client)
            if space is X and space.remembers:
                # Distances that the fit remembers do not stay in the user's space.
                space = copy(space)
            if isinstance(plain.metric, str) and plain.metric == "auto":
                report(plain.verbose, "metric='auto' took %r for %d objects", space.metric, space.shape[0])
            if space.n_features is not None:
                note_features(plain, X, space.n_features)
            codes = plain._fit_space(space, y, sample_weight, warn=not isinstance(X, TrainingSpace), **options)
        return space, codes

    def _fit_space(
        self, space: TrainingSpace, y: Any, sample_weight: Any = None, *, warn: bool = False, **options: Any
    ) -> np.ndarray:
        """Fit to a space and ignore ``metric`` and ``metric_params``; return the classes as positions in ``classes_``.

        With ``warn``, warn of labels that can hardly be learned.
        """
        if space.partial and not self._takes_graphs:
            raise ValueError(
                f"{type(self).__name__} needs dissimilarities that a sparse graph does not have; "
                "pass X as a dense matrix"
            )
        if sample_weight is not None and not self._takes_weights:
            raise ValueError(
                f"sample_weight=... works with REPS and Refined only, but the selector is {self!r}; leave "
                "sample_weight out"
            )
        training = TrainingSet.of(space, y, sample_weight)
        objects, codes = training.objects, training.codes
        if warn:
            warn_of_classes(codes[training.position >= 0], stacklevel=4)
        if self._takes_weights:
            if "lists" in options:
                options["lists"] = training.distinct_lists(options["lists"])
            distinct = training.distinct_space(space)
            self._fit_distinct(distinct, objects, **options)
            if distinct is not space:
                space.remember_members(training.rows, distinct)
            self._spread(training)
        else:
            self._fit_distinct(space, DistinctObjects.once_each(codes, objects.classes))
            # With tie_rule="row_order", as in KEEL, copies are treated like any other object.
            if getattr(self, "tie_rule", "majority") != "row_order":
                _, first = np.unique(training.position[self.sample_indices_], return_index=True)
                self.sample_indices_ = self.sample_indices_[np.sort(first)]
        self._count(training)
        report(self.verbose, "kept %d of %d objects", len(self.sample_indices_), space.shape[0])
        return codes

    def _fit_distinct(self, space: TrainingSpace, objects: DistinctObjects, **options: Any) -> None:
        """Fit to a space of distinct objects; all learned arrays refer to distinct objects until ``_spread``."""
        codes, self.metric_, self.classes_ = objects.codes, space.metric, objects.classes
        counted = CountedSpace(space)
        if self._takes_weights:
            options["objects"] = objects
        kept = self._select(counted, codes, **options)
        missing = np.setdiff1d(codes, codes[kept]) if self._keeps_every_class() else np.empty(0, int)
        medoids = [medoid(counted, np.flatnonzero(codes == code)) for code in missing]
        self.sample_indices_ = np.sort(np.concatenate([kept, np.array(medoids, np.int64)]))
        self.fallback_classes_ = self.classes_[missing]
        self.n_distances_ = counted.n_distances

    def _spread(self, training: TrainingSet) -> None:
        """Convert the attributes of ``_fit_distinct`` from distinct objects to all training objects."""
        self.sample_indices_ = np.sort(training.rows[self.sample_indices_])

    def _count(self, training: TrainingSet) -> None:
        """Set the number of training objects of each kept object and of each class."""
        position = training.position[self.sample_indices_]
        # Copies that are kept share the count of their object.
        self.sample_counts_ = training.objects.counts[position] / np.bincount(position)[position]
        self.class_counts_ = training.objects.class_counts

    def _resolve_client(self, client: Any, X: Any, options: dict[str, Any]) -> Any:
        """Return the Dask client to use; most methods do not support one and raise an error."""
        if client is not None:
            raise ValueError(
                f"client={client!r} does not work with {type(self).__name__}; use REPS, or leave client out"
            )
        if is_dask(X):
            raise ValueError(
                f"X is a Dask collection, which {type(self).__name__} does not support; use REPS, or gather X with "
                "X.compute()"
            )
        return None

    def _check_parameters(self) -> dict[str, Any]:
        """Return the parameters as plain values, but not the metric, which is checked with the objects."""
        checked: dict[str, Any] = {"n_jobs": check_jobs(self.n_jobs), "verbose": check_verbose(self.verbose)}
        if hasattr(self, "n_neighbors"):
            remedy = "pass the number of neighbours that vote"
            checked["n_neighbors"] = check_count("n_neighbors", self.n_neighbors, least=1, remedy=remedy)
        if hasattr(self, "random_state"):
            checked["random_state"] = check_seed(self.random_state)
        if hasattr(self, "tie_rule"):
            checked["tie_rule"] = check_choice("tie_rule", self.tie_rule, TIE_RULES)
        return checked

    @abstractmethod
    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        """Return the positions of the objects to keep, and set the attributes that only this method has."""

    def _keeps_every_class(self) -> bool:
        return True

    def _rank_base(self) -> float:
        """Base of the rank-exponential features, which ``predict_proba`` uses."""
        return 2.0

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Select prototypes, and return them with their labels.

        Parameters
        ----------
        X, y
            Training objects and their labels, as for ``fit``.

        Returns
        -------
        X_resampled : same type as X
            The prototypes. A DataFrame of pandas (with its index) or polars stays a DataFrame. With
            ``metric="precomputed"``, the dissimilarities between the prototypes. If ``X`` is a space, the space of the
            prototypes.
        y_resampled : ndarray or Series
            Labels of the prototypes. A Series stays a Series.
        """
        self.fit(X, y)
        kept = self.sample_indices_
        y_kept = take_rows(y, kept) if is_series(y) or is_frame(y) else np.asarray(y)[kept]
        if isinstance(X, TrainingSpace):
            return X.subset(kept), y_kept
        if sparse.issparse(X):
            rows = X.tocsr()[kept]
            return rows[:, kept] if self.metric == "precomputed" else rows, y_kept
        if self.metric != "precomputed":
            return take_rows(X, kept) if is_polars(X) else _safe_indexing(X, kept), y_kept
        if is_frame(X):
            return take_rows(X, kept, kept), y_kept
        X = np.asarray(X)
        if X.ndim == 1:
            return squareform(make_space(X, "precomputed").block(kept, kept), checks=False), y_kept
        return X[np.ix_(kept, kept)], y_kept

    def __sklearn_tags__(self) -> Tags:
        """Describe the selector to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = isinstance(self.metric, str) and self.metric in SPARSE_METRICS
        if self.metric == "precomputed":
            tags.input_tags.sparse = self._takes_graphs
        tags.input_tags.positive_only = self.metric == "precomputed"
        return tags


def warn_of_classes(codes: np.ndarray, stacklevel: int = 2) -> None:
    """Warn of very many classes, and of many classes with very few objects; ``codes`` are the classes of objects."""
    counts = np.unique(codes, return_counts=True)[1]
    n_classes, n_single = len(counts), int((counts == 1).sum())
    are_judged = n_classes >= FEWEST_JUDGED_CLASSES and len(codes) >= FEWEST_JUDGED_LABELS
    if are_judged and (2 * n_single > n_classes or len(codes) < 2 * n_classes):
        message = (
            f"y has {n_classes:,} classes in {len(codes):,} objects, and {n_single:,} of the classes have one object. "
            "An object without a neighbour of its class is always kept, and no error can be measured for it. If the "
            "labels are ids or texts, choose another column; otherwise merge or remove the rare classes"
        )
    elif n_classes >= DOUBTFUL_CLASSES:
        message = (
            f"y has {n_classes:,} classes. At least one prototype of each class is kept, and so many classes are hard "
            "to distinguish. If the labels are ids or numbers, choose another column or bin them; otherwise merge "
            "classes"
        )
    else:
        return
    warnings.warn(message, DoubtfulDataWarning, stacklevel=stacklevel + 1)


def check_selector(selector: Any) -> BaseSelector:
    """Return a selector; raise an error for anything else."""
    if not isinstance(selector, BaseSelector):
        raise TypeError(f"selector={selector!r} is not a protoset selector; pass for example REPS(n_prototypes=0.1)")
    return selector


def note_features(estimator: BaseEstimator, X: Any, n_features: int) -> None:
    """Set ``n_features_in_``, and ``feature_names_in_`` where the columns of ``X`` have names."""
    names = column_names_of(X)
    if not isinstance(X, TrainingSpace) and not is_dask(names):
        validate_data(estimator, names, skip_check_array=True)
    estimator.n_features_in_ = n_features


def refuse_names(reason: str, /, **remedies: str) -> Callable[[Method], Method]:
    """Make a function raise an error for some keyword arguments; the error has the reason and the replacement."""

    def decorate(function: Method) -> Method:
        @wraps(function)
        def checked(*arguments: Any, **named: Any) -> Any:
            for name in named:
                if name in remedies:
                    raise TypeError(f"{name}={reprlib.repr(named[name])} {reason}; use {remedies[name]}")
            return function(*arguments, **named)

        return checked  # type: ignore[return-value]

    return decorate


refuse_old_names = partial(refuse_names, "is an old name")
"""``refuse_names`` for names of an older version; the remedies are the new names."""

refuse_names_of_selector = partial(refuse_names, "is a parameter of the selector")
"""``refuse_names`` for parameters of the selector inside; the remedies show where to write them."""
