"""Classification with a prototype set; ``protoset.decisions`` has the rules and their calibration."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from protoset._blocks import map_blocks
from protoset._cluster import as_dask_rows, column_names_of, gathered_labels, is_dask, map_rows
from protoset._estimators import CheckedEstimator
from protoset._validation import check_choice, check_count, check_flag, check_jobs, check_real
from protoset.adaptation import Adaptation, AdaptSettings, adapt_selected, moved_before_predicting
from protoset.adaptation.selected import MovedSelection, class_weight_of, stays_unrefined
from protoset.adaptation.settings import check_adapt
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
from protoset.decisions import (
    RULES,
    AdjustedRule,
    Calibration,
    Explanation,
    NearestRule,
    Predictions,
    Rule,
    RuleName,
    ScoresRule,
    calibrate,
    choose_rule,
    hold_out,
    label_sets,
    probabilities_of,
)
from protoset.decisions.answers import order_of
from protoset.decisions.prequential import JudgedStream, remembered_rows
from protoset.decisions.refusal import OutlierLabel, check_refuse, outlier_label_for
from protoset.exceptions import HopelessClassWarning, NotMovableError
from protoset.selectors import REPS, BaseSelector, Refined
from protoset.selectors._distinct import TrainingSet
from protoset.selectors._weights import check_sample_weight
from protoset.selectors.base import check_selector, note_features
from protoset.selectors.ties import MajorityVote, vote_of
from protoset.spaces import (
    DISSIMILARITIES,
    Contributions,
    Dissimilarities,
    PairComparison,
    TrainingSpace,
    as_space,
)

FEW_JUDGED = 100
"""Objects of a stream up to which the calibration of a fit before it stays."""

LARGEST_COVERAGE = 0.9999
"""Largest coverage of sets of labels."""


class PrototypeClassifier(ClassifierMixin, CheckedEstimator):
    """Nearest-prototype classifier: selects prototypes, then classifies with them alone.

    Parameters
    ----------
    selector : selector, optional
        Chooses the prototypes and brings the metric; ``Refined(REPS())`` by default.
    rule : {"nearest", "adjusted", "scores", "auto"}, default="nearest"
        ``"nearest"`` answers with the class of the nearest prototype. ``"adjusted"`` adds a degradation to each
        prototype's rank; the smallest sum wins. For REPS the degradations are those of its ranking. For other sets
        they are learned for the set, and all are 0 where that makes fewer errors on the training objects. A class far
        from all others has hardly any weight, and the adjusted rule may never answer with it; ``fit`` warns where that
        is so. ``"scores"`` answers with the class of the largest score: every prototype says something about every
        class, the more the nearer it is. ``"auto"`` takes "nearest" or "scores", whichever makes fewer errors on
        held-out training objects; ``rule_`` says which.
    adapt : {"auto", True, False} or dict, default="auto"
        Whether the prototypes move after the selection, see :func:`protoset.adapt`. True and a dict refuse objects that
        cannot move; ``"auto"`` leaves these as they are. A dict has arguments of ``adapt``: ``loss``, ``relevances``,
        ``n_passes``, ``step``, ``max_time``, ``callback``, ``random_state``, ``verbose``. With ``rule="adjusted"``,
        ``"auto"`` leaves all prototypes as they are.
    calibrate : {"auto", True, False}, default="auto"
        Whether held-out training objects calibrate probabilities, refusals and sets of labels. ``"auto"`` leaves that
        out where distances are not known, as with a sparse graph; True refuses such objects. With False a fit of
        prototypes that do not move takes less time.
    refuse : float, optional
        Part of the known objects that may be refused, such as 0.01. ``predict`` answers ``outlier_label`` where the
        novelty of a query, see ``novelty_scores``, is above that of all but this part of held-out training objects. By
        default no query is refused.
    outlier_label : "auto", int or str, default="auto"
        Label of refused queries; by default -1 for numbers as labels and "unknown" for others. It must not be a label
        of the training set.
    n_jobs : int, optional
        Workers of predictions, which go through the queries block by block, and of the adaptation. Changes no result.

    Attributes
    ----------
    selector_ : selector
        The fitted selector; missing on a classifier that was loaded from a file.
    sample_indices_ : ndarray of int
        The prototypes as positions in the training set, ascending. Where they moved, the objects from which they
        started.
    adaptation_ : Adaptation or None
        Result of the adaptation, with the moved prototypes; None where there was none. Missing on a classifier that was
        loaded from a file.
    exemplars_ : ndarray of int
        A training object for each prototype: the prototype itself, or where it moved, the nearest object of its class.
    relevances_ : ndarray of float or None
        Scale of each attribute, of series of each channel, where they were learned; 1 on average.
    prototypes_ : array, list or None
        The prototypes as objects of the kind of the training objects: moved where they moved, else some of these. Under
        a metric of directions they have length 1; a category between several ones is a dict of shares. None where there
        are no objects, as with a matrix.
    prototype_labels_ : ndarray
        Labels of the prototypes.
    prototype_counts_ : ndarray of float
        How many training objects stand behind each prototype, by weight: its votes where prototypes are equally near.
    class_counts_ : ndarray of float
        Size of each class in the training set, by weight.
    degradations_ : ndarray or None
        Their degradations: those of the ranking of REPS, or of other sets with ``rule="adjusted"``; else None.
    rule_ : str
        The rule that decides: "nearest", "adjusted" or "scores".
    calibration_ : Calibration or None
        What held-out training objects say about the decisions: how they were held out, their number, the errors of the
        rules that were tried; None where nothing was calibrated.
    classes_ : ndarray
        The labels, sorted.
    n_features_in_ : int
        Number of features, or of training objects with ``metric="precomputed"``.
    n_seen_ : int
        Objects seen, by ``fit`` and by all calls of ``partial_fit``. After ``partial_fit`` the indices above are
        positions among all these objects, in the order in which they came; see Notes.
    prequential_error_ : float
        Share of wrong predictions, by weight, of the prototypes for the objects of each ``partial_fit`` before they
        moved; NaN before there are any.

    Notes
    -----
    After ``partial_fit`` the objects are gone. So an exemplar is the object of its class that came nearest to its
    prototype: it stays until an object comes nearer than the exemplar was, plus the length of the moves since.
    ``prototype_counts_`` has the objects that came nearest to each prototype among those of its class, in addition to
    those of ``fit``. ``degradations_`` is None then. ``adaptation_`` has the prototypes, no losses, and
    ``prequential_error_`` as ``held_out_after``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset import REPS, PrototypeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = PrototypeClassifier(REPS(n_prototypes=12)).fit(X[::2], y[::2])
    >>> bool(classifier.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    degradations_: np.ndarray | None
    relevances_: np.ndarray | None
    adaptation_: Adaptation | None
    _stream: Stream | None
    _learned: Rule
    _calibration: Calibration | None
    _judged: JudgedStream | None
    _counters: Counters

    def __init__(
        self,
        selector: BaseSelector | None = None,
        *,
        rule: RuleName = "nearest",
        adapt: Literal["auto"] | bool | dict[str, Any] = "auto",
        calibrate: Literal["auto"] | bool = "auto",
        refuse: float | None = None,
        outlier_label: OutlierLabel = "auto",
        n_jobs: int | None = None,
    ):
        self.selector = selector
        self.rule = rule
        self.adapt = adapt
        self.calibrate = calibrate
        self.refuse = refuse
        self.outlier_label = outlier_label
        self.n_jobs = n_jobs

    @property
    def metric(self) -> Any:
        """The selector's metric."""
        return getattr(self._selector_or_default(), "metric", None)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, lists: Any = None, client: Any = None) -> Self:
        """Select prototypes and keep them.

        Parameters
        ----------
        X : array-like, sparse matrix or TrainingSpace
            The training objects, of the kind that the selector's metric takes, or their space.
        y : array-like of shape (n_objects,)
            Their labels, of at least two classes.
        sample_weight : array-like of shape (n_objects,), optional
            How many objects each stands for, see :meth:`REPS.fit`.
        lists : (indices, distances), sparse graph or NeighborLists, optional
            Ready neighbour lists for :meth:`REPS.fit`.
        client : distributed.Client, optional
            Dask client to work on, as for :meth:`REPS.fit`.

        Returns
        -------
        self
        """
        with self._fitting() as plain:
            selector = clone(plain._selector_or_default())
            moves = AdaptSettings.of(plain.adapt, plain.rule)
            options: dict[str, Any] = {}
            if moves is not None and isinstance(selector, Refined):
                options["finishing"] = moved_before_predicting(moves, selector)
            space, codes = selector._fit(X, y, sample_weight=sample_weight, lists=lists, client=client, **options)
            if space.n_features is not None:
                note_features(plain, X, space.n_features)
            plain._keep(selector, codes)
            outlier_label_for(plain.outlier_label, plain.classes_, plain.refuse)
            training = lru_cache(partial(_training_set, space, y, sample_weight))
            moved = plain._place(space, training)
            if stays_unrefined(selector, moved):
                options |= {"is_swapped": True} | ({} if lists is None else {"lists": lists})
                labels = gathered_labels(y, getattr(space.cluster, "client", None))
                plain._keep(selector, selector._fit_space(space, labels, sample_weight, **options))
                moved = plain._place(space, training)
            plain._learn_rule(space, training, moved)
            if plain.refuse is not None:
                plain._is_novel(np.empty(0), plain.refuse)
            if plain.rule == "adjusted" and plain.degradations_ is not None:
                warn_of_hopeless_classes(plain.degradations_, plain._codes, plain.classes_)
        return self

    @where_movable
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Move the prototypes by gradient steps on new objects, which are not kept.

        The first call fits the selector on its objects, which must have at least two classes, unless prototypes come
        from ``fit`` or from a file. Unlike in ``fit``, an automatic size is chosen for prototypes that stay. A class
        that comes later gets prototypes among its first objects: as many as its share in the batch suggests, at least
        one.

        Parameters
        ----------
        X : array-like
            New objects, of a kind that can move. What the metric learns from a training set, such as ranges and
            categories, it learned from the first objects.
        y : array-like of shape (n_objects,)
            Their labels.
        classes : array-like, optional
            All labels of the stream. Required in the first call without ``fit``; later leave it out or pass the same.
        sample_weight : array-like of shape (n_objects,), optional
            How many objects each stands for.

        Returns
        -------
        self

        Notes
        -----
        ``adapt`` has the arguments: ``loss`` (the relative one unless it is "softmax"), ``relevances``, ``n_passes``
        over each batch (4 by default, fewer for less than 49 objects), ``step`` and ``random_state``; ``max_time``,
        ``callback`` and ``verbose`` have no effect. Steps fall with the objects seen so far, to a
        twentieth of the first ones. Nothing is held out, so moves are not tried first: ``prequential_error_`` says how
        well they do. A call that fails changes nothing.
        """
        settings = self._refuse_streams()
        if is_dask(X) or isinstance(X, Dissimilarities):
            raise TypeError(
                f"X is of the type {type(X).__name__}; partial_fit needs the objects of a batch themselves, pass them "
                "as in fit, and a Dask collection block by block"
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
        """Return the settings of the moves; refuse parameters under which prototypes do not move."""
        settings = AdaptSettings.of(self.adapt, self.rule)
        if self.rule != "nearest":
            raise NotMovableError(f"partial_fit works with rule='nearest', not with rule={self.rule!r}; use fit")
        if settings is None:
            raise NotMovableError(
                f"partial_fit moves the prototypes, and with adapt={self.adapt!r} they stay where they are; use "
                "rule='nearest' and adapt='auto' or True"
            )
        record = DISSIMILARITIES.get(self.metric) if isinstance(self.metric, str) else None
        if record is not None and not record.moves:
            raise NotMovableError(
                f"partial_fit moves the prototypes, and objects under metric={self.metric!r} cannot move; use fit"
            )
        return settings

    def _begin_stream(self, X: Any, y: Any, classes: np.ndarray, sample_weight: Any) -> np.ndarray:
        """Select prototypes among the first objects of a stream; return the prototype at each object, or -1."""
        selector = clone(self._selector_or_default())
        space = as_space(X, selector.metric, selector.metric_params, y=y)
        refuse_unmovable(space)
        codes = check_batch_labels(y, space.shape[0], classes)
        selector._fit(space, y, sample_weight=sample_weight)
        kept = selector.sample_indices_
        if space.n_features is not None:
            note_features(self, X, space.n_features)
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
        """Move the prototypes on the objects of a batch; ``own`` is given for those among which they were selected."""
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
        known_objects = None if self._calibration is None else len(self._calibration.radii)
        if len(judged.codes) >= FEW_JUDGED or known_objects != len(self._codes):
            self._calibration = None
        self._learned = NearestRule(self._vote, float(movable.measured(np.array(stream.typical))) or 1.0)
        self.adaptation_ = stream.describe(movable, settings, self.classes_)
        if settings.relevances:
            self.relevances_ = self.adaptation_.relevances

    @property
    def n_seen_(self) -> int:
        """Objects seen by ``fit`` and by ``partial_fit``."""
        check_is_fitted(self, "classes_")
        return self._counters.n_seen

    @property
    def prequential_error_(self) -> float:
        """Share of wrong predictions, by weight, over all batches of ``partial_fit``, each predicted before its update.

        NaN before the first prediction; the batch in which the prototypes were selected does not count.
        """
        check_is_fitted(self, "classes_")
        return self._counters.error

    def _keep(self, selector: BaseSelector, codes: np.ndarray) -> None:
        """Note the set that a fitted selector chose among objects of these classes."""
        self.selector_, self.classes_, self.sample_indices_ = selector, selector.classes_, selector.sample_indices_
        vote = vote_of(selector, codes)
        self._codes, self.prototype_counts_, self.class_counts_ = vote.codes, vote.counts, vote.class_totals
        self.prototype_labels_ = self.classes_[self._codes]
        self._beta = selector._rank_base()

    def _place(self, space: TrainingSpace, training: Callable[[], TrainingSet]) -> MovedSelection | None:
        """Put the prototypes where they are selected, or where the adaptation moves them."""
        settings, adapted = AdaptSettings.of(self.adapt, self.rule), None
        if settings is not None and not (self.adapt == "auto" and space.movable is None):
            adapted = adapt_selected(space, training(), self.selector_, settings, n_jobs=self.n_jobs)
        kept = self.sample_indices_
        self._prototypes = space.prototypes(kept) if adapted is None else adapted.prototypes
        self.exemplars_ = kept if adapted is None else adapted.exemplars
        self.adaptation_ = None if adapted is None else adapted.adaptation
        self.relevances_ = None if adapted is None else adapted.adaptation.relevances
        n_passes = 0 if adapted is None else adapted.adaptation.n_passes
        self._stream, self._counters = None, Counters(space.shape[0], n_passes * space.shape[0])
        return adapted

    def _learn_rule(
        self, space: TrainingSpace, training: Callable[[], TrainingSet], moved: MovedSelection | None
    ) -> None:
        """Learn the rule, and what held-out training objects say about its decisions."""
        has_moved = moved is not None and moved.adaptation.has_moved
        ranked = self.selector_.degradations_ if isinstance(self.selector_, REPS) and not has_moved else None
        self.degradations_ = None if ranked is None else ranked[self.sample_indices_]
        is_given = self.rule == "nearest" or (self.rule == "adjusted" and ranked is not None)
        held_out = None
        if self.calibrate is not False or not is_given:
            held_out = hold_out(space, training(), self.selector_, moved)
        if held_out is None and (self.calibrate is True or not is_given):
            wanted = "calibrate=True" if is_given else f"rule={self.rule!r}"
            raise ValueError(
                f"{wanted} needs the distances of all training objects to the prototypes, which a sparse graph does "
                "not hold; use rule='nearest' with calibrate='auto', or pass a dense matrix"
            )
        self._calibration, self._learned, self._judged = None, NearestRule(self._vote, 1.0), None
        if held_out is None:
            if self.rule == "adjusted" and self.degradations_ is not None:
                self._learned = AdjustedRule(self._vote, self.degradations_)
            return
        rule, judged = choose_rule(self.rule, held_out, self._beta)
        self._learned = rule.with_vote(self._vote)
        if isinstance(rule, AdjustedRule):
            self.degradations_ = rule.degradations
        if self.calibrate is not False:
            self._calibration = calibrate(rule, held_out, judged)

    @property
    def _rule(self) -> Rule:
        """The rule that decides; it may be changed after fit to one that was learned too."""
        name, learned = check_choice("rule", self.rule, RULES), self._learned
        if name in ("auto", learned.name):
            return learned
        if name == "nearest":
            return NearestRule(self._vote, 1.0)
        if name == "adjusted" and self.degradations_ is not None:
            return AdjustedRule(self._vote, self.degradations_)
        raise ValueError(f"rule={name!r} was not learned by fit, which had rule={learned.name!r}; fit again")

    @property
    def rule_(self) -> str:
        """The rule that decides."""
        check_is_fitted(self, "classes_")
        return self._rule.name

    @property
    def calibration_(self) -> Calibration | None:
        """What held-out training objects say about the decisions; None where nothing was calibrated."""
        check_is_fitted(self, "classes_")
        if self._calibration is None and self._judged is not None and isinstance(self._learned, NearestRule):
            self._calibration = self._judged.calibration(self._learned)
        return self._calibration

    def _calibrated(self) -> Calibration:
        """Return the calibration; refuse where there is none for the rule."""
        calibration = self.calibration_
        if calibration is None:
            raise ValueError(
                "this classifier is not calibrated, so it knows no probabilities, refusals or sets of labels: it was "
                "fitted with calibrate=False or on a sparse graph, has seen one batch of a stream only, or comes from "
                "a file of an older version; fit it again with calibrate=True, or pass another batch"
            )
        if self._rule.name != self._learned.name:
            raise ValueError(
                f"rule={self.rule!r} was set after fit, and rule={self._learned.name!r} is calibrated; fit again"
            )
        return calibration

    def _check_parameters(self) -> dict[str, Any]:
        return {
            "selector": check_selector(self._selector_or_default()),
            "rule": check_choice("rule", self.rule, RULES),
            "adapt": check_adapt(self.adapt, self.rule),
            "calibrate": self.calibrate
            if isinstance(self.calibrate, str) and self.calibrate == "auto"
            else check_flag("calibrate", self.calibrate),
            "refuse": check_refuse(self.refuse),
            "outlier_label": self.outlier_label,
            "n_jobs": check_jobs(self.n_jobs),
        }

    @property
    def prototypes_(self) -> Any:
        """The prototypes as objects of the kind of the training objects, where they are now; None where not known."""
        check_is_fitted(self, "classes_")
        return self._prototypes.objects

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects. With ``metric="precomputed"`` their dissimilarities to the training
            objects, or to the prototypes alone. For a Dask array or DataFrame the workers predict, and the
            result is a Dask array.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        if is_dask(X):
            return self._predict_blocks(X)
        queries, rule, rate = self._cross(X), self._rule, check_refuse(self.refuse)
        if rule.name == "nearest":
            winners, distances = self._nearest(queries)
            codes = self._codes[winners]
        else:
            codes = self._codes_by(rule, queries)
        labels = self.classes_[codes]
        if rate is None:
            return labels
        if rule.name != "nearest":
            winners, distances = self._nearest(queries)
        is_refused = self._is_novel(self._calibrated().novelty_of(winners, distances), rate)
        return np.where(is_refused, self._outlier(), labels)

    def _outlier(self) -> np.ndarray:
        """Label of refused queries, as an array of the kind of the labels."""
        label = outlier_label_for(self.outlier_label, self.classes_, self.refuse)
        return np.array(label, dtype=object if self.classes_.dtype == object else None)

    def _codes_by(self, rule: Rule, queries: Dissimilarities) -> np.ndarray:
        """Classes of the queries; by scores of squared distances in a quick way where there is one."""

        def label(rows: slice) -> np.ndarray:
            if isinstance(rule, ScoresRule) and rule.scores.power == 2:
                squares, everything = queries.quick_squares(rows), np.arange(queries.shape[0])[rows]
                if squares is not None:
                    return rule.scores.labels(squares, lambda some: queries.block(everything[some], slice(None)))
            return rule.labels(queries.block(rows, slice(None)))

        return np.concatenate(map_blocks(label, *queries.shape, check_jobs(self.n_jobs)))

    def _nearest(self, queries: Dissimilarities) -> tuple[np.ndarray, np.ndarray]:
        """Nearest prototype of each query, and its distance."""
        return queries.nearest(choose=self._vote, n_jobs=check_jobs(self.n_jobs))

    def novelty_scores(self, X: Any) -> np.ndarray:
        """Say how far queries are from everything that was seen.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.

        Returns
        -------
        ndarray of float
            Distance to the nearest prototype, divided by the mean distance of the training objects near this prototype.
        """
        queries = self._cross(X)
        calibration = self._calibrated()
        return calibration.novelty_of(*self._nearest(queries))

    def is_novel(self, X: Any, refuse: float = 0.01) -> np.ndarray:
        """Say which queries are unlike anything seen.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.
        refuse : float, default=0.01
            Part of the known objects that may be called novel for the sake of unknown ones.

        Returns
        -------
        ndarray of bool
        """
        rate = check_refuse(refuse)
        if rate is None:
            raise ValueError("refuse=None must be a rate in (0, 1), such as 0.01")
        return self._is_novel(self.novelty_scores(X), rate)

    def _is_novel(self, scores: np.ndarray, rate: float) -> np.ndarray:
        """Whether scores are among the largest of held-out objects."""
        novelty = self._calibrated().novelty
        if rate < novelty.smallest_tail:
            raise ValueError(
                f"refuse={rate:g} cannot be told from 0 by {novelty.total:g} held-out training objects; use at least "
                f"refuse={np.ceil(1000 * novelty.smallest_tail) / 1000:g}, or fit on more objects"
            )
        return scores > novelty.limit(rate)

    def _predict_blocks(self, X: Any) -> Any:
        """Predict the rows of a Dask collection where they are; its columns are checked here and now."""
        check_is_fitted(self, "classes_")
        rows, names = as_dask_rows(X), getattr(self, "feature_names_in_", None)
        if self._prototypes.metric != "precomputed":
            columns = column_names_of(X)
            validate_data(
                self, np.empty((0, rows.shape[1])) if is_dask(columns) else columns, reset=False, skip_check_array=True
            )
        predict = self.predict if names is None else partial(_predict_named, self, list(names))
        has_outliers = check_refuse(self.refuse) is not None
        dtype = np.result_type(self.classes_, self._outlier()) if has_outliers else self.classes_.dtype
        return map_rows(rows, predict, dtype)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each class.

        The probabilities are calibrated on held-out training objects, see ``calibration_``: their log loss is the
        smallest there, for evidence times a slope. The evidence is, by rule, how near the nearest prototype of the
        class is, its adjusted rank, or the score of the class. The class that ``predict`` answers has the largest
        probability. Classes whose prototypes are equally near divide their probabilities by votes; of these, classes
        with equally many votes divide theirs by their sizes in the training set.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            Rows sum to 1; columns are in the order of ``classes_``. What ``refuse`` says changes nothing here.
        """
        queries, rule, calibration = self._cross(X), self._rule, self._calibrated()
        return np.concatenate(
            self._map(queries, lambda block: probabilities_of(rule, calibration.probabilities, block))
        )

    def predict_set(self, X: Any, coverage: float = 0.9, *, by_class: bool = False) -> np.ndarray:
        """Predict sets of labels that have the true one as often as asked for.

        The sets are conformal: a label is left out if at most a part 1 - ``coverage`` of the held-out training objects
        have such a low probability of their own label. So the coverage holds, approximately and on average, over
        queries from where the training objects came from. Usually it is higher; by leave-one-out, see
        ``calibration_.how``, it may be lower.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.
        coverage : float, default=0.9
            How often the set shall have the true label.
        by_class : bool, default=False
            Whether the coverage shall hold for the objects of each class. Labels of classes with few training objects
            then remain in every set.

        Returns
        -------
        ndarray of bool, shape (n_queries, n_classes)
            Whether each label remains possible, in the order of ``classes_``; the predicted one always does.
        """
        coverage = check_real("coverage", coverage, above=0, most=LARGEST_COVERAGE, remedy="0.9 is usual")
        by_class = check_flag("by_class", by_class)
        probabilities = self.predict_proba(X)
        calibration, codes = self._calibrated(), probabilities.argmax(axis=1)
        return label_sets(calibration, probabilities, codes, coverage, by_class=by_class)

    def predict_details(self, X: Any) -> Predictions:
        """Predict labels with their probabilities and the prototypes that decided, in one pass over the queries.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``. None is refused.

        Returns
        -------
        Predictions
        """
        queries, rule = self._cross(X), self._rule
        calibration = self.calibration_ if rule.name == self._learned.name else None

        def show(block: np.ndarray) -> tuple[np.ndarray, ...]:
            rows, winners, codes = np.arange(len(block)), rule.winners(block), rule.labels(block)
            certainty = np.full(len(block), np.nan)
            if calibration is not None:
                certainty = probabilities_of(rule, calibration.probabilities, block)[rows, codes]
            return winners, codes, certainty, block[rows, winners]

        winners, codes, certainty, distances = map(np.concatenate, zip(*self._map(queries, show), strict=True))
        return Predictions(
            self.classes_[codes], certainty, self.sample_indices_[winners], distances, self.exemplars_[winners]
        )

    def explain(self, X: Any, n_neighbors: int = 3) -> Explanation:
        """Show which prototypes decided, and how closely.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.
        n_neighbors : int, default=3
            How many prototypes to show for each query, in the order of the rule.

        Returns
        -------
        Explanation
        """
        n_neighbors = check_count("n_neighbors", n_neighbors, least=1, remedy="pass how many prototypes to show")
        queries, rule = self._cross(X), self._rule
        own = np.zeros(len(self._codes)) if self.degradations_ is None else self.degradations_

        def show(block: np.ndarray) -> tuple[np.ndarray, ...]:
            shown, ranks, adjusted = order_of(rule, block, n_neighbors)
            return (
                self.sample_indices_[shown],
                self.prototype_labels_[shown],
                np.take_along_axis(block, shown, axis=1),
                ranks,
                own[shown],
                adjusted,
                self.exemplars_[shown],
            )

        parts = self._map(queries, show)
        return Explanation(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def compare(self, X: Any, prototypes: Any = None) -> list[PairComparison]:
        """Say what makes up the dissimilarity of each query to a prototype.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.
        prototypes : array-like of int, optional
            A prototype for each query, as a position in the training set; by default the one that decides.

        Returns
        -------
        list of PairComparison
            ``Contributions`` of the attributes for vectors and mixed attributes, an ``Alignment`` for series, an
            ``EditScript`` for strings. All are in ``protoset.spaces``.
        """
        if prototypes is None:
            prototypes = self.explain(X, 1).indices[:, 0]
        queries = self._cross(X)
        columns = self._columns_of(prototypes, queries.shape[0])
        comparisons = [queries.compare(row, column) for row, column in enumerate(columns.tolist())]
        names = tuple(getattr(self, "feature_names_in_", ()))
        return [
            replace(comparison, names=names) if isinstance(comparison, Contributions) else comparison
            for comparison in comparisons
        ]

    def _columns_of(self, prototypes: Any, n_queries: int) -> np.ndarray:
        """Return positions in the training set as positions among the prototypes."""
        wanted = np.asarray(prototypes)
        if wanted.shape != (n_queries,) or not np.isin(wanted, self.sample_indices_).all():
            raise ValueError(
                f"prototypes={wanted.tolist()!r:.60} must have, for each of the {n_queries} queries, one of the "
                "sample_indices_ of this classifier"
            )
        return np.searchsorted(self.sample_indices_, wanted)

    @property
    def _vote(self) -> MajorityVote:
        return MajorityVote(self._codes, self.prototype_counts_, self.class_counts_)

    def _selector_or_default(self) -> Any:
        return Refined() if self.selector is None else self.selector

    def _cross(self, X: Any) -> Dissimilarities:
        check_is_fitted(self, "classes_")
        check_choice("rule", self.rule, RULES)
        if isinstance(X, Dissimilarities):
            raise TypeError("X is a space; predictions need the objects themselves, pass them as in fit")
        queries = self._prototypes.cross(X)
        if self._prototypes.n_features is not None and self._prototypes.metric != "precomputed":
            validate_data(self, X, reset=False, skip_check_array=True)
        elif hasattr(X, "columns") and hasattr(self, "feature_names_in_"):
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
                f"{columns[position]!r} where {expected[position]!r} was expected; put the columns in the order of fit"
            )

    def _map(self, queries: Dissimilarities, function: Callable[[np.ndarray], Any]) -> list[Any]:
        """Apply a function to the distances of the queries to the prototypes, block by block."""
        return map_blocks(
            lambda rows: function(queries.block(rows, slice(None))), *queries.shape, check_jobs(self.n_jobs)
        )

    def __sklearn_tags__(self) -> Tags:
        """Describe the classifier to scikit-learn: it takes what its selector takes."""
        tags = super().__sklearn_tags__()
        if self.selector is None or isinstance(self.selector, BaseSelector):
            tags.input_tags = get_tags(self._selector_or_default()).input_tags
        return tags


def warn_of_hopeless_classes(degradations: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> None:
    """Warn of classes that the adjusted rule cannot answer with, whatever the query.

    At best a prototype of the class has rank 1; at worst the best prototype of another class has the last rank.
    """
    best = np.array([degradations[codes == code].min(initial=np.inf) for code in range(len(classes))])
    others = np.array([np.delete(best, code).min() for code in range(len(classes))])
    hopeless = classes[(1 + best > len(codes) + others) & np.isin(np.arange(len(classes)), codes)]
    if len(hopeless):
        warnings.warn(
            f"rule='adjusted' can never answer with the classes {hopeless.tolist()}: their prototypes "
            f"have too large degradations for ranks 1 to {len(codes)}, as is usual for classes far from all others; "
            "use rule='nearest'",
            HopelessClassWarning,
            stacklevel=3,
        )


def _training_set(space: TrainingSpace, y: Any, sample_weight: Any) -> TrainingSet:
    """Return the distinct objects of a training set; the labels come here if they are on workers."""
    return TrainingSet.of(space, gathered_labels(y, getattr(space.cluster, "client", None)), sample_weight)


def _predict_named(classifier: PrototypeClassifier, names: list[str], rows: np.ndarray) -> np.ndarray:
    """Predict rows whose columns are known to have the names of the fit, on a worker."""
    import pandas as pd

    return classifier.predict(pd.DataFrame(rows, columns=names))
