"""Base class of the classifier: its prototypes, and ``partial_fit``, which moves them on the batches of a stream."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from protoset._cluster import is_dask
from protoset._estimators import CheckedEstimator
from protoset._frames import is_frame
from protoset._validation import check_choice, refuse_ambiguous
from protoset.adaptation import Adaptation, AdaptSettings
from protoset.adaptation.selected import class_weight_of
from protoset.adaptation.streaming import (
    Batch,
    Counters,
    Stream,
    StreamedSet,
    check_batch_labels,
    check_classes,
    continue_moving,
    refuse_unmovable,
    where_movable,
)
from protoset.decisions import RULES, Calibration, NearestRule, Rule, RuleName
from protoset.decisions.prequential import JudgedStream, remembered_rows
from protoset.exceptions import NotMovableError
from protoset.selectors import Refined
from protoset.selectors._weights import check_sample_weight
from protoset.selectors.base import note_features
from protoset.selectors.ties import MajorityVote
from protoset.spaces import DISSIMILARITIES, Dissimilarities, PrototypeSpace, as_space

FEW_JUDGED = 100
"""Number of predicted objects of a stream from which on they replace the calibration of an earlier fit."""


class StreamedClassifier(CheckedEstimator):
    """Base of the classifier: its prototypes, the distances of queries to them, and ``partial_fit``."""

    selector: Any
    rule: RuleName
    adapt: Any
    calibrate: Any
    n_jobs: int | None
    classes_: np.ndarray
    sample_indices_: np.ndarray
    exemplars_: np.ndarray
    prototype_labels_: np.ndarray
    prototype_counts_: np.ndarray
    class_counts_: np.ndarray
    degradations_: np.ndarray | None
    relevances_: np.ndarray | None
    adaptation_: Adaptation | None
    _prototypes: PrototypeSpace
    _codes: np.ndarray
    _beta: float
    _stream: Stream | None
    _learned: Rule
    _calibration: Calibration | None
    _judged: JudgedStream | None
    _counters: Counters

    @property
    def metric(self) -> Any:
        """The selector's metric."""
        return getattr(self._selector_or_default(), "metric", None)

    @property
    def _vote(self) -> MajorityVote:
        return MajorityVote(self._codes, self.prototype_counts_, self.class_counts_)

    def _selector_or_default(self) -> Any:
        return Refined() if self.selector is None else self.selector

    def _cross(self, X: Any) -> Dissimilarities:
        check_is_fitted(self, "classes_")
        check_choice("rule", self.rule, RULES)
        if isinstance(X, Dissimilarities):
            raise TypeError("X is a space, but predictions need the objects themselves; pass them as in fit")
        refuse_ambiguous(X)
        has_features = self._prototypes.n_features is not None and self._prototypes.metric != "precomputed"
        if has_features and is_frame(X):
            # Before the space reads the frame, because the error of scikit-learn names the missing columns.
            validate_data(self, X, reset=False, skip_check_array=True)
        queries = self._prototypes.cross(X)
        if has_features and not is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        elif not has_features and hasattr(X, "columns") and hasattr(self, "feature_names_in_"):
            self._check_column_names(list(X.columns))
        return queries

    def _check_column_names(self, columns: list[Any]) -> None:
        """Check that a frame of dissimilarities has the training objects, or the prototypes, in their order."""
        names = self.feature_names_in_
        expected = (names if len(columns) == len(names) else names[self.sample_indices_]).tolist()
        if columns != expected:
            pairs = enumerate(zip(columns, expected, strict=True))
            position = next(position for position, pair in pairs if len(set(pair)) == 2)
            raise ValueError(
                f"The feature names should match those that were passed during fit: column {position} of X is "
                f"{columns[position]!r}, but {expected[position]!r} was expected; put the columns in the order of fit"
            )

    @where_movable
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Move the prototypes by gradient steps on a batch of new objects. The objects are not kept.

        The first call selects the prototypes, unless the classifier was fitted or loaded from a file before.

        Parameters
        ----------
        X : array-like
            New objects, of a kind that can move: vectors, mixed attributes or series.
        y : array-like of shape (n_objects,)
            Labels of the objects. The first call without ``fit`` needs at least two classes.
        classes : array-like, optional
            All labels of the stream. Required in the first call without ``fit``; later, leave it out or pass the same
            labels.
        sample_weight : array-like of shape (n_objects,), optional
            Weight of each object: a weight of 2 is the object twice.

        Returns
        -------
        self
            The updated classifier. A call that fails changes nothing.

        Notes
        -----
        The first batch fixes everything that the metric learns from a training set, such as ranges and categories. An
        automatic size is chosen for prototypes that do not move. A class that first appears in a later batch gets
        prototypes from its objects in that batch: in proportion to its share of the batch, at least one.

        ``adapt`` sets the moves: ``loss`` (relative, unless it is "softmax"), ``relevances``, ``n_passes`` over each
        batch (by default 4, and fewer for batches of less than 49 objects), ``step`` and ``random_state``.
        ``max_time``, ``callback`` and ``verbose`` have no effect. The step length falls with the number of objects
        seen, to a twentieth of the first step. No objects are held out, so the moves are always made;
        ``prequential_error_`` measures the result.
        """
        settings = self._refuse_streams()
        if is_dask(X) or isinstance(X, Dissimilarities):
            raise TypeError(
                f"X has the type {type(X).__name__}, but partial_fit needs the objects of a batch; pass them as in "
                "fit, and a Dask collection block by block"
            )
        if not hasattr(self, "classes_"):
            with self._fitting() as plain:
                own = plain._begin_stream(X, y, check_classes(classes, None), sample_weight)
                plain._take_batch(X, y, sample_weight, settings, own)
            return self
        check_classes(classes, self.classes_)
        plain = copy(self)
        plain.__dict__.update(self._check_parameters())
        plain._take_batch(X, y, sample_weight, settings)
        parameters = self.get_params(deep=False)
        self.__dict__.update({name: value for name, value in vars(plain).items() if name not in parameters})
        return self

    def _refuse_streams(self) -> AdaptSettings:
        """Return the settings of the moves; raise an error if the parameters do not let prototypes move."""
        settings = AdaptSettings.of(self.adapt, self.rule)
        if self.rule != "nearest":
            raise NotMovableError(
                f"partial_fit needs rule='nearest', got rule={self.rule!r}; use fit, or change the rule"
            )
        if settings is None:
            raise NotMovableError(
                f"partial_fit moves the prototypes, but adapt={self.adapt!r} keeps them fixed; use rule='nearest' and "
                "adapt='auto' or True"
            )
        record = DISSIMILARITIES.get(self.metric) if isinstance(self.metric, str) else None
        if record is not None and not record.moves:
            raise NotMovableError(
                f"partial_fit moves the prototypes, but objects under metric={self.metric!r} cannot move; use fit"
            )
        return settings

    def _begin_stream(self, X: Any, y: Any, classes: np.ndarray, sample_weight: Any) -> np.ndarray:
        """Select prototypes among the first objects of a stream; return the prototype of each object, or -1."""
        selector = clone(self._selector_or_default())
        space = as_space(X, selector.metric, selector.metric_params, y=y)
        refuse_unmovable(space)
        codes = check_batch_labels(y, space.shape[0], classes)
        with selector._fitting() as fitting:
            fitting._fit_space(space, y, sample_weight)
            if space.n_features is not None:
                for estimator in (fitting, self):
                    note_features(estimator, X, space.n_features)
        kept = selector.sample_indices_
        self.selector_, self.classes_, self.sample_indices_, self.exemplars_ = selector, classes, kept, kept
        self._codes, self._beta = codes[kept], selector._rank_base()
        # The objects of the batch are counted when their prototypes have moved.
        self.prototype_counts_, self.class_counts_ = np.zeros(len(kept)), np.zeros(len(classes))
        self._prototypes = space.prototypes(kept)
        self._stream, self._counters, self.relevances_ = None, Counters(0), None
        self._judged, self._calibration = JudgedStream.begin(len(classes)), None
        own, is_single = np.full(space.shape[0], -1), selector.sample_counts_ <= 1
        own[kept[is_single]] = np.flatnonzero(is_single)
        return own

    def _take_batch(
        self, X: Any, y: Any, sample_weight: Any, settings: AdaptSettings, own: np.ndarray | None = None
    ) -> None:
        """Move the prototypes on a batch; ``own`` is given for the batch that the prototypes were selected from."""
        queries, predicted = self._cross(X), None
        codes = check_batch_labels(y, queries.shape[0], self.classes_)
        weights = check_sample_weight(sample_weight, len(codes))
        weights = np.ones(len(codes)) if weights is None else weights
        judged = JudgedStream.begin(len(self.classes_)) if self._judged is None else self._judged
        if own is None:
            winners, _ = queries.nearest(choose=self._vote, n_jobs=self.n_jobs)
            own, predicted = np.full(len(codes), -1), self._codes[winners]
            rows = remembered_rows(len(codes))
            judged = judged.after(queries.block(rows, slice(None)), self._codes, codes[rows], weights[rows])
        movable, moved = continue_moving(self._prototypes, X)
        stream = self._stream
        if stream is None:
            reaches = np.where(self.exemplars_ == self.sample_indices_, 0.0, np.nan)
            known = StreamedSet(
                self.sample_indices_, self.prototype_counts_, self.exemplars_, reaches, self.class_counts_
            )
            stream = Stream.begin(movable, moved, self._codes, known, self._counters, settings.random_state)
        batch = Batch(movable, codes, weights, predicted, own)
        class_weight = class_weight_of(self._selector_or_default())
        stream = stream.take(batch, settings, class_weight, self.classes_, self.n_jobs)
        known = stream.known
        self._stream, self._counters = stream, stream.counters
        self._prototypes, self._codes = movable.place(stream.moved), stream.moving.labels
        self.sample_indices_, self.exemplars_, self.degradations_ = known.starts, known.exemplars, None
        self.prototype_counts_, self.class_counts_ = known.counts, known.class_counts
        self.prototype_labels_ = self.classes_[self._codes]
        self._judged = None if self.calibrate is False else judged
        n_calibrated = None if self._calibration is None else len(self._calibration.radii)
        if len(judged.codes) >= FEW_JUDGED or n_calibrated != len(self._codes):
            self._calibration = None
        self._learned = NearestRule(self._vote, float(movable.measured(np.array(stream.typical))) or 1.0)
        self.adaptation_ = stream.describe(movable, settings, self.classes_)
        if settings.relevances:
            self.relevances_ = self.adaptation_.relevances

    @property
    def n_seen_(self) -> int:
        """Number of objects seen by ``fit`` and by ``partial_fit``."""
        check_is_fitted(self, "classes_")
        return self._counters.n_seen

    @property
    def prequential_error_(self) -> float:
        """Share of wrong predictions, by weight, over all batches of ``partial_fit``.

        Each batch is predicted before the prototypes move on it. The batch that the prototypes were selected from does
        not count. NaN before the first prediction.
        """
        check_is_fitted(self, "classes_")
        return self._counters.error
