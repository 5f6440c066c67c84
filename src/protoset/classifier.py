"""Classification with a prototype set; ``protoset.decisions`` has the rules and their calibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from protoset._blocks import map_blocks
from protoset._cluster import as_dask_rows, column_names_of, gathered_labels, is_dask, map_rows
from protoset._streamed_classifier import StreamedClassifier
from protoset._validation import check_choice, check_count, check_flag, check_jobs, check_real
from protoset.adaptation import AdaptSettings, adapt_selected, moved_before_predicting
from protoset.adaptation.selected import FitLists, MovedSelection, class_weight_of, selects_again
from protoset.adaptation.settings import check_adapt
from protoset.adaptation.streaming import (
    Counters,
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
from protoset.decisions.degradations import warn_of_hopeless_classes
from protoset.decisions.refusal import OutlierLabel, check_refuse, outlier_label_for
from protoset.selectors import REPS, BaseSelector, Refined
from protoset.selectors._distinct import TrainingSet
from protoset.selectors._weights import class_weights
from protoset.selectors.base import check_selector, note_features, refuse_names_of_selector
from protoset.selectors.ties import vote_of
from protoset.spaces import (
    Contributions,
    Dissimilarities,
    PairComparison,
    TrainingSpace,
)

LARGEST_COVERAGE = 0.9999
"""Largest value of ``coverage`` in ``predict_set``."""


class PrototypeClassifier(ClassifierMixin, StreamedClassifier):
    """Nearest-prototype classifier: selects prototypes, then classifies with the prototypes alone.

    Parameters
    ----------
    selector : selector, optional
        Chooses the prototypes and sets the metric. The default is ``Refined(REPS())``.
    rule : {"nearest", "adjusted", "scores", "auto"}, default="nearest"
        How the prototypes predict a class.

        - ``"nearest"``: the class of the nearest prototype.
        - ``"adjusted"``: the rule of the paper. The prototypes are ranked by distance, a degradation is added to each
          rank, and the class of the smallest sum is predicted; see Notes.
        - ``"scores"``: the class with the largest score. Every prototype adds to the score of every class; near
          prototypes add more.
        - ``"auto"``: "nearest" or "scores", whichever makes fewer errors on held-out training objects, counted with the
          class weights of the selector. ``rule_`` has the choice.
    adapt : {"auto", True, False} or dict, default="auto"
        Whether the prototypes move after the selection; see :func:`protoset.adapt`. ``"auto"`` moves prototypes that
        can move; with ``rule="adjusted"`` it moves none. True and a dict raise an error if the objects cannot move. A
        dict has arguments of ``adapt``: ``loss``, ``relevances``, ``n_passes``, ``step``, ``max_time``, ``callback``,
        ``random_state``, ``verbose``.
    calibrate : {"auto", True, False}, default="auto"
        Whether held-out training objects calibrate the probabilities, refusals and sets of labels. ``"auto"``
        calibrates unless distances are unknown, as in a sparse graph; True then raises an error. False saves time if
        the prototypes do not move.
    refuse : float, optional
        Share of the known objects that ``predict`` may refuse, such as 0.01. A query is refused if its novelty score
        (see ``novelty_scores``) is above the scores of all but this share of the held-out training objects;
        ``predict`` then returns ``outlier_label``. By default no query is refused.
    outlier_label : "auto", int or str, default="auto"
        Label of refused queries. It must not be a label of the training set. ``"auto"`` is -1 if the labels are
        numbers, else "unknown".
    n_jobs : int, optional
        Number of workers for predictions, the adaptation and the calibration. It does not change any result.

    Attributes
    ----------
    selector_ : selector
        The fitted selector. A classifier that was loaded from a file does not have it.
    sample_indices_ : ndarray of int
        Positions of the prototypes in the training set, ascending. For moved prototypes: positions of the objects from
        which they started.
    adaptation_ : Adaptation or None
        Result of the adaptation, with the moved prototypes; None if there was no adaptation. A classifier that was
        loaded from a file does not have it.
    exemplars_ : ndarray of int
        Position of a training object for each prototype: the prototype itself or, if it moved, the nearest training
        object of its class.
    relevances_ : ndarray of float or None
        Learned scale of each attribute, or of each channel of series; the mean is 1. None if no scales were learned.
    prototypes_ : array, list or None
        The prototypes, as objects of the same kind as the training objects. None if there are no objects, as with a
        matrix of dissimilarities.
    prototype_labels_ : ndarray
        Labels of the prototypes.
    prototype_counts_ : ndarray of float
        Number of identical training objects, by weight, at the object from which each prototype started; 1 without
        copies and weights. These are its votes if prototypes are equally near.
    class_counts_ : ndarray of float
        Size of each class in the training set, by weight.
    degradations_ : ndarray or None
        Degradation of each prototype, if it is known: from the ranking of REPS, or learned by ``rule="adjusted"``.
    rule_ : str
        The rule that predicts: "nearest", "adjusted" or "scores".
    calibration_ : Calibration or None
        Result of the calibration: how objects were held out, how many, and the errors of the rules on them. None if
        nothing was calibrated.
    classes_ : ndarray
        The labels, sorted.
    n_features_in_ : int
        Number of features; with ``metric="precomputed"``, number of training objects.
    n_seen_ : int
        Number of objects seen by ``fit`` and by all calls of ``partial_fit``. After ``partial_fit``, positions of
        objects count all these objects in the order in which they came; see Notes.
    prequential_error_ : float
        Share of wrong predictions, by weight, over the batches of ``partial_fit``. Each batch is predicted before the
        prototypes move on it. NaN before the first prediction.

    Notes
    -----
    With ``rule="adjusted"``, the degradations of REPS are those of its ranking. For other selectors they are learned
    for the selected set; all are 0 if zeros make fewer errors on the training objects. A class that is far from all
    others has hardly any weight, and the rule may never predict it; ``fit`` then gives a ``HopelessClassWarning``.

    Prototypes have length 1 if the metric compares directions. A moved prototype may lie between several categories;
    ``prototypes_`` then has a dict of their shares.

    ``partial_fit`` does not keep the objects. After it,

    - an exemplar is the object of its class that came nearest to its prototype. It is replaced by an object that comes
      nearer than the distance of the exemplar, plus the length of all moves since then;
    - ``prototype_counts_`` also counts the new objects, each for the nearest prototype of its class;
    - ``degradations_`` is None;
    - ``adaptation_`` has the prototypes but no losses, and ``held_out_after`` is ``prequential_error_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset import REPS, PrototypeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = PrototypeClassifier(REPS(n_prototypes=12)).fit(X[::2], y[::2])
    >>> bool(classifier.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    @refuse_names_of_selector(
        n_prototypes="PrototypeClassifier(Refined(REPS(n_prototypes=...)))",
        metric="PrototypeClassifier(Refined(REPS(metric=...)))",
        metric_params="PrototypeClassifier(Refined(REPS(metric=..., metric_params=...)))",
        class_weight="PrototypeClassifier(Refined(REPS(class_weight=...)))",
    )
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, lists: Any = None, client: Any = None) -> Self:
        """Select prototypes, move them if ``adapt`` asks for it, and learn the rule.

        Parameters
        ----------
        X : array-like, sparse matrix or TrainingSpace
            The training objects, of the kind that the selector's metric compares, or their space.
        y : array-like of shape (n_objects,)
            Labels of the training objects, of at least two classes.
        sample_weight : array-like of shape (n_objects,), optional
            Weight of each object; see :meth:`REPS.fit`.
        lists : (indices, distances), sparse graph or NeighborLists, optional
            Neighbour lists that are already known; see :meth:`REPS.fit`.
        client : distributed.Client, optional
            Dask client; see :meth:`REPS.fit`.

        Returns
        -------
        self
            The fitted classifier.
        """
        with self._fitting() as plain:
            selector = clone(plain._selector_or_default())
            moves = AdaptSettings.of(plain.adapt, plain.rule)
            options: dict[str, Any] = {}
            fit_lists = FitLists()
            if lists is None and selects_again(selector):
                options["note_lists"] = fit_lists.note
            if moves is not None and isinstance(selector, Refined):
                options["finishing"] = moved_before_predicting(moves, selector)
            space, codes = selector._fit(X, y, sample_weight=sample_weight, lists=lists, client=client, **options)
            if space.n_features is not None:
                note_features(plain, X, space.n_features)
            plain.selector_, plain.classes_ = selector, selector.classes_
            outlier_label_for(plain.outlier_label, plain.classes_, plain.refuse)
            training = lru_cache(partial(_training_set, space, y, sample_weight))
            moved = plain._place(space, training, fit_lists)
            vote = vote_of(selector, codes)
            plain._codes, plain.prototype_counts_, plain.class_counts_ = vote.codes, vote.counts, vote.class_totals
            plain.prototype_labels_ = plain.classes_[plain._codes]
            plain._beta = selector._rank_base()
            plain._learn_rule(space, training, moved, fit_lists)
            if plain.refuse is not None:
                plain._is_novel(np.empty(0), plain.refuse)
            if plain.rule == "adjusted" and plain.degradations_ is not None:
                warn_of_hopeless_classes(plain.degradations_, plain._codes, plain.classes_)
        return self

    def _place(
        self, space: TrainingSpace, training: Callable[[], TrainingSet], fit_lists: FitLists
    ) -> MovedSelection | None:
        """Set the prototypes: the selected objects, or the prototypes that the adaptation moved."""
        settings, adapted = AdaptSettings.of(self.adapt, self.rule), None
        if settings is not None and not (self.adapt == "auto" and space.movable is None):
            adapted = adapt_selected(
                space, training(), self.selector_, settings, n_jobs=self.n_jobs, fit_lists=fit_lists
            )
        self.sample_indices_ = kept = self.selector_.sample_indices_
        self._prototypes = space.prototypes(kept) if adapted is None else adapted.prototypes
        self.exemplars_ = kept if adapted is None else adapted.exemplars
        self.adaptation_ = None if adapted is None else adapted.adaptation
        self.relevances_ = None if adapted is None else adapted.adaptation.relevances
        n_passes = 0 if adapted is None else adapted.adaptation.n_passes
        self._stream, self._counters = None, Counters(space.shape[0], n_passes * space.shape[0])
        return adapted

    def _learn_rule(
        self,
        space: TrainingSpace,
        training: Callable[[], TrainingSet],
        moved: MovedSelection | None,
        fit_lists: FitLists,
    ) -> None:
        """Learn the rule, and calibrate it on held-out training objects."""
        has_moved = moved is not None and moved.adaptation.has_moved
        ranked = self.selector_.degradations_ if isinstance(self.selector_, REPS) and not has_moved else None
        self.degradations_ = None if ranked is None else ranked[self.sample_indices_]
        is_given = self.rule == "nearest" or (self.rule == "adjusted" and ranked is not None)
        held_out = None
        if self.calibrate is not False or not is_given:
            held_out = hold_out(space, training(), self.selector_, moved, fit_lists, n_jobs=self.n_jobs)
        if held_out is None and (self.calibrate is True or not is_given):
            wanted = "calibrate=True" if is_given else f"rule={self.rule!r}"
            raise ValueError(
                f"{wanted} needs the distances of all training objects to the prototypes, but X is a sparse graph, "
                "which does not have them; use rule='nearest' with calibrate='auto', or pass a dense matrix"
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
        """The rule that predicts. After fit, ``rule`` may be changed to another rule that fit has learned."""
        name, learned = check_choice("rule", self.rule, RULES), self._learned
        if name in ("auto", learned.name):
            return learned
        if name == "nearest":
            return NearestRule(self._vote, 1.0)
        if name == "adjusted" and self.degradations_ is not None:
            return AdjustedRule(self._vote, self.degradations_)
        raise ValueError(
            f"rule={name!r} was not learned: the classifier was fitted with rule={learned.name!r}; fit it again"
        )

    @property
    def rule_(self) -> str:
        """The rule that predicts: "nearest", "adjusted" or "scores"."""
        check_is_fitted(self, "classes_")
        return self._rule.name

    @property
    def calibration_(self) -> Calibration | None:
        """Result of the calibration on held-out training objects; None if nothing was calibrated."""
        check_is_fitted(self, "classes_")
        if self._calibration is None and self._judged is not None and isinstance(self._learned, NearestRule):
            class_weight = class_weight_of(self._selector_or_default())
            weights = class_weights(class_weight, self.classes_, np.maximum(self.class_counts_, 1e-300))
            self._calibration = self._judged.calibration(self._learned, weights)
        return self._calibration

    def _calibrated(self) -> Calibration:
        """Return the calibration; raise an error if there is none for the rule."""
        calibration = self.calibration_
        if calibration is None:
            raise ValueError(
                "this classifier is not calibrated, so it has no probabilities, refusals or sets of labels: it was "
                "fitted with calibrate=False or on a sparse graph, has seen only one batch of partial_fit, or comes "
                "from a file of an older version; fit it again with calibrate=True, or pass another batch"
            )
        if self._rule.name != self._learned.name:
            raise ValueError(
                f"rule={self.rule!r} was set after fit, but only rule={self._learned.name!r} is calibrated; fit again"
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
        """The prototypes, moved or not, as objects of the same kind as the training objects; None if not known."""
        check_is_fitted(self, "classes_")
        return self._prototypes.objects

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects. With ``metric="precomputed"``, pass their dissimilarities to all training objects, or to the
            prototypes alone. For a Dask array or DataFrame, the workers of the cluster predict.

        Returns
        -------
        ndarray of shape (n_queries,)
            Predicted labels; ``outlier_label`` for refused queries. A Dask array if ``X`` is a Dask collection.
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
        """Measure how far queries are from all objects seen in the fit.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.

        Returns
        -------
        ndarray of float
            Distance to the nearest prototype, divided by the mean distance of training objects near that prototype.
        """
        queries = self._cross(X)
        calibration = self._calibrated()
        return calibration.novelty_of(*self._nearest(queries))

    def is_novel(self, X: Any, refuse: float = 0.01) -> np.ndarray:
        """Return which queries are unlike all objects seen in the fit.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.
        refuse : float, default=0.01
            Share of known objects that may be called novel by mistake. A larger share detects more unknown objects.

        Returns
        -------
        ndarray of bool
            True for each novel query.
        """
        rate = check_refuse(refuse)
        if rate is None:
            raise ValueError("refuse=None must be a number between 0 and 1; pass for example 0.01")
        return self._is_novel(self.novelty_scores(X), rate)

    def _is_novel(self, scores: np.ndarray, rate: float) -> np.ndarray:
        """Whether scores are among the largest of held-out objects."""
        novelty = self._calibrated().novelty
        if rate < novelty.smallest_tail:
            raise ValueError(
                f"refuse={rate:g} is too small for a calibration on {novelty.total:g} held-out training objects; use "
                f"at least refuse={np.ceil(1000 * novelty.smallest_tail) / 1000:g}, or fit on more objects"
            )
        return scores > novelty.limit(rate)

    def _predict_blocks(self, X: Any) -> Any:
        """Predict the rows of a Dask collection on its workers; its columns are checked in this process."""
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

        The class that ``predict`` returns for a query that is not refused has the largest probability. The
        probabilities are calibrated on held-out training objects; see ``calibration_``. With class weights, they are
        those of a population in which each class is as frequent as its weight makes it; see Notes.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            Rows sum to 1; columns are in the order of ``classes_``. ``refuse`` has no effect.

        Notes
        -----
        The probabilities are a softmax of the evidence for each class times a slope, mixed with a small equal share
        for all classes. Slope and share minimise the log loss on the held-out training objects; with few objects the
        slope stays near a usual value. The evidence for a class depends on the rule: the nearness of its nearest
        prototype ("nearest"), the adjusted rank of its best prototype ("adjusted"), or its score ("scores").

        With ``class_weight``, an object counts in the log loss as often as its class weighs, as in scikit-learn: with
        "balanced" all classes count as equally frequent. For the frequencies of the training set, divide each column
        by the weight of its class and make the rows sum to 1 again.

        Classes whose prototypes are equally near share their probability in proportion to their votes, and classes
        with equal votes in proportion to their sizes in the training set.
        """
        queries, rule, calibration = self._cross(X), self._rule, self._calibrated()
        return np.concatenate(
            self._map(queries, lambda block: probabilities_of(rule, calibration.probabilities, block))
        )

    def predict_set(self, X: Any, coverage: float = 0.9, *, by_class: bool = False) -> np.ndarray:
        """Predict a set of labels for each query; a share ``coverage`` of the sets contain the true label.

        The sets are conformal: a label is left out if at most a share 1 - ``coverage`` of the held-out training
        objects give such a low probability to their own label.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.
        coverage : float, default=0.9
            Share of the sets that contain the true label. Larger values give larger sets.
        by_class : bool, default=False
            Whether the coverage holds for the objects of each class, not only for all objects together. Labels of
            classes with few training objects are then in every set.

        Returns
        -------
        ndarray of bool, shape (n_queries, n_classes)
            Whether the set of each query has each label, in the order of ``classes_``. The predicted label is always
            in the set.

        Notes
        -----
        The coverage holds approximately, on average over queries from the distribution of the training objects.
        Usually it is higher. If the calibration is by leave-one-out (see ``calibration_.how``), it may be lower.
        """
        coverage = check_real("coverage", coverage, above=0, most=LARGEST_COVERAGE, remedy="0.9 is usual")
        by_class = check_flag("by_class", by_class)
        probabilities = self.predict_proba(X)
        calibration, codes = self._calibrated(), probabilities.argmax(axis=1)
        return label_sets(calibration, probabilities, codes, coverage, by_class=by_class)

    def predict_details(self, X: Any) -> Predictions:
        """Predict labels with their probabilities and the deciding prototypes, in one pass over the queries.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``. No query is refused.

        Returns
        -------
        Predictions
            Label, probability and deciding prototype of each query.
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
        """Return the prototypes behind each prediction, with their distances and ranks.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.
        n_neighbors : int, default=3
            Number of prototypes for each query, in the order of the rule.

        Returns
        -------
        Explanation
            One row per query, the deciding prototype first.
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
        """Split the dissimilarity of each query to a prototype into contributions.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.
        prototypes : array-like of int, optional
            A prototype for each query, from ``sample_indices_``. By default the deciding prototype.

        Returns
        -------
        list of PairComparison
            One per query: ``Contributions`` of the attributes for vectors and mixed attributes, an ``Alignment`` for
            series, an ``EditScript`` for strings. These classes are in ``protoset.spaces``.
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
                f"prototypes={wanted.tolist()!r:.60} must have one entry per query ({n_queries} in all), each from "
                "sample_indices_ of this classifier; leave it out for the deciding prototypes"
            )
        return np.searchsorted(self.sample_indices_, wanted)

    def _map(self, queries: Dissimilarities, function: Callable[[np.ndarray], Any]) -> list[Any]:
        """Apply a function to the distances of the queries to the prototypes, block by block."""
        return map_blocks(
            lambda rows: function(queries.block(rows, slice(None))), *queries.shape, check_jobs(self.n_jobs)
        )

    def __sklearn_tags__(self) -> Tags:
        """Describe the classifier to scikit-learn: it accepts the same input as its selector."""
        tags = super().__sklearn_tags__()
        if self.selector is None or isinstance(self.selector, BaseSelector):
            tags.input_tags = get_tags(self._selector_or_default()).input_tags
        return tags


def _training_set(space: TrainingSpace, y: Any, sample_weight: Any) -> TrainingSet:
    """Return the distinct objects of a training set; labels on Dask workers are gathered to this process."""
    return TrainingSet.of(space, gathered_labels(y, getattr(space.cluster, "client", None)), sample_weight)


def _predict_named(classifier: PrototypeClassifier, names: list[str], rows: np.ndarray) -> np.ndarray:
    """Predict rows on a Dask worker; their columns are known to have the names of the fit."""
    import pandas as pd

    return classifier.predict(pd.DataFrame(rows, columns=names))
