"""Classification with a prototype set; ``protoset.decisions`` has the rules."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from protoset._blocks import map_blocks
from protoset._cluster import as_dask_rows, column_names_of, gathered_labels, is_dask, map_rows
from protoset._estimators import CheckedEstimator
from protoset._validation import check_choice, check_count, check_jobs
from protoset.adaptation import Adaptation, AdaptSettings, adapt_selected, moved_before_predicting
from protoset.adaptation.selected import class_weight_of
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
from protoset.decisions import Decision, class_shares, decide
from protoset.exceptions import HopelessClassWarning, NotMovableError
from protoset.selectors import BaseSelector, Refined
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

Rule = Literal["nearest", "adjusted"]
RULES: tuple[Rule, ...] = ("nearest", "adjusted")


@dataclass(frozen=True)
class Explanation:
    """The prototypes behind the decisions, one row per query, the deciding one first.

    Attributes
    ----------
    indices : ndarray of int, shape (n_queries, n_shown)
        The prototypes as positions in the training set; where they moved, the objects from which they started.
    labels : ndarray
        Their labels; the first one is the prediction.
    distances : ndarray
        Their dissimilarities from the query.
    ranks : ndarray
        Their ranks among the prototypes, 1 for the nearest; equal distances share the best rank.
    degradations : ndarray
        Their degradations, 0 where the selector learns none.
    adjusted_ranks : ndarray
        What the rule orders by: rank + degradation for "adjusted", the rank for "nearest".
    exemplars : ndarray of int
        A real training object for each: the prototype itself, or where it moved, the nearest object of its class.
    """

    indices: np.ndarray
    labels: np.ndarray
    distances: np.ndarray
    ranks: np.ndarray
    degradations: np.ndarray
    adjusted_ranks: np.ndarray
    exemplars: np.ndarray


@dataclass(frozen=True)
class Predictions:
    """Predicted labels with what is behind them, one entry per query.

    Attributes
    ----------
    labels : ndarray
    probabilities : ndarray
        Share of the predicted class, as in ``predict_proba``.
    indices : ndarray of int
        The prototype that decided, as a position in the training set.
    distances : ndarray
        Its dissimilarity from the query.
    exemplars : ndarray of int
        A real training object for it: the prototype itself, or where it moved, the nearest object of its class.
    """

    labels: np.ndarray
    probabilities: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    exemplars: np.ndarray


class PrototypeClassifier(ClassifierMixin, CheckedEstimator):
    """Nearest-prototype classifier: selects prototypes, then classifies with them alone.

    Parameters
    ----------
    selector : selector, optional
        Chooses the prototypes and brings the metric; ``Refined(REPS())`` by default.
    rule : {"nearest", "adjusted"}, default="nearest"
        ``"nearest"`` answers with the class of the nearest prototype. ``"adjusted"`` adds to each
        prototype's rank the degradation that the selector learned; the smallest sum wins. With
        equal degradations both agree. A class far from all others has hardly any weight, and the
        adjusted rule may never answer with it; ``fit`` warns where that is so.
    adapt : {"auto", True, False} or dict, default="auto"
        Whether the prototypes move after the selection, see :func:`protoset.adapt`. True and a dict refuse objects that
        cannot move; ``"auto"`` leaves these as they are. A dict has arguments of ``adapt``: ``loss``, ``relevances``,
        ``n_passes``, ``step``, ``max_time``, ``callback``, ``random_state``, ``verbose``.
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
        Their degradations, if the selector learns any.
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
    _counters: Counters

    def __init__(
        self,
        selector: BaseSelector | None = None,
        *,
        rule: Rule = "nearest",
        adapt: Literal["auto"] | bool | dict[str, Any] = "auto",
        n_jobs: int | None = None,
    ):
        self.selector = selector
        self.rule = rule
        self.adapt = adapt
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
            kept = selector.sample_indices_
            learned = getattr(selector, "degradations_", None)
            if plain.rule == "adjusted" and learned is None:
                raise ValueError(
                    f"rule='adjusted' needs degradations, which {type(selector).__name__} does not learn; "
                    "use rule='nearest' or a REPS selector"
                )
            if space.n_features is not None:
                note_features(plain, X, space.n_features)
            plain.selector_ = selector
            plain.classes_, plain.sample_indices_ = selector.classes_, kept
            plain.degradations_ = None if learned is None else learned[kept]
            vote = vote_of(selector, codes)
            plain._codes, plain.prototype_counts_, plain.class_counts_ = vote.codes, vote.counts, vote.class_totals
            plain.prototype_labels_ = plain.classes_[plain._codes]
            plain._beta = selector._rank_base()
            plain._place(space, y, sample_weight)
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
        if settings is None:
            given = f"rule={self.rule!r}" if self.rule != "nearest" else f"adapt={self.adapt!r}"
            raise NotMovableError(
                f"partial_fit moves the prototypes, and with {given} they stay where they are; use rule='nearest' and "
                "adapt='auto' or True"
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
        if own is None:
            winners, _ = queries.nearest(choose=self._vote, n_jobs=self.n_jobs)
            own, predicted = np.full(len(codes), -1), self._codes[winners]
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

    def _place(self, space: TrainingSpace, y: Any, sample_weight: Any) -> None:
        """Put the prototypes where they are selected, or where the adaptation moves them."""
        settings, adapted = AdaptSettings.of(self.adapt, self.rule), None
        if settings is not None and not (self.adapt == "auto" and space.movable is None):
            y = gathered_labels(y, getattr(space.cluster, "client", None))
            training = TrainingSet.of(space, y, sample_weight)
            adapted = adapt_selected(space, training, self.selector_, settings, n_jobs=self.n_jobs)
        kept = self.sample_indices_
        self._prototypes = space.prototypes(kept) if adapted is None else adapted.prototypes
        self.exemplars_ = kept if adapted is None else adapted.exemplars
        self.adaptation_ = None if adapted is None else adapted.adaptation
        self.relevances_ = None if adapted is None else adapted.adaptation.relevances
        n_passes = 0 if adapted is None else adapted.adaptation.n_passes
        self._stream, self._counters = None, Counters(space.shape[0], n_passes * space.shape[0])

    def _check_parameters(self) -> dict[str, Any]:
        return {
            "selector": check_selector(self._selector_or_default()),
            "rule": check_choice("rule", self.rule, RULES),
            "adapt": check_adapt(self.adapt, self.rule),
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
        queries = self._cross(X)
        if self.rule == "nearest":
            winners, _ = queries.nearest(choose=self._vote, n_jobs=check_jobs(self.n_jobs))
        else:
            winners = np.concatenate(self._map(queries, attrgetter("winners")))
        return self.classes_[self._codes[winners]]

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
        return map_rows(rows, predict, self.classes_.dtype)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict how clearly each class wins.

        A class is represented by its best prototype. Its share is beta to the minus adjusted rank of that prototype,
        divided by the sum over the classes (beta is the selector's, 2 if it has none). With beta = 2 a class whose best
        prototype is one rank behind has half the share. It is the margin of the decision in ranks, not a calibrated
        frequency.

        Classes whose best prototypes are equally near divide their shares by votes; of these, classes with equally many
        votes divide theirs by their sizes in the training set. So the class that ``predict`` answers has the largest
        share. With ``rule="adjusted"`` a class that is as good but farther may have the same share.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
        """
        queries = self._cross(X)
        return np.concatenate(self._map(queries, lambda decision: class_shares(decision, self._vote, self._beta)))

    def predict_details(self, X: Any) -> Predictions:
        """Predict labels with their probabilities and the prototypes that decided, in one pass over the queries.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects, as for ``predict``.

        Returns
        -------
        Predictions
        """
        queries = self._cross(X)

        def show(decision: Decision) -> tuple[np.ndarray, ...]:
            shares = class_shares(decision, self._vote, self._beta)
            probabilities = shares[np.arange(len(shares)), self._codes[decision.winners]]
            return decision.winners, probabilities, decision.distances[decision.order == decision.winners[:, None]]

        winners, probabilities, distances = map(np.concatenate, zip(*self._map(queries, show), strict=True))
        return Predictions(
            self.prototype_labels_[winners],
            probabilities,
            self.sample_indices_[winners],
            distances,
            self.exemplars_[winners],
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
        queries = self._cross(X)
        own = np.zeros(len(self._codes)) if self.degradations_ is None else self.degradations_

        def show(decision: Decision) -> tuple[np.ndarray, ...]:
            is_winner = decision.order == decision.winners[:, None]
            first = np.lexsort((~is_winner, decision.adjusted_ranks), axis=1)[:, :n_neighbors]
            shown = np.take_along_axis(decision.order, first, axis=1)
            return (
                self.sample_indices_[shown],
                self.prototype_labels_[shown],
                np.take_along_axis(decision.distances, first, axis=1),
                np.take_along_axis(decision.ranks, first, axis=1),
                own[shown],
                np.take_along_axis(decision.adjusted_ranks, first, axis=1),
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
        adaptation = getattr(self, "adaptation_", None)
        if self.rule == "adjusted" and adaptation is not None and adaptation.has_moved:
            raise ValueError(
                "rule='adjusted' needs degradations of prototypes that stay where they are, and this classifier was "
                "fitted without them; use rule='nearest', or fit again"
            )
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

    def _map(self, queries: Dissimilarities, function: Any) -> list[Any]:
        """Apply a function to the decisions of the queries, block by block."""
        degradations = self.degradations_ if self.rule == "adjusted" else None
        return map_blocks(
            lambda rows: function(decide(queries.block(rows, slice(None)), degradations, self._vote)),
            *queries.shape,
            check_jobs(self.n_jobs),
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


def _predict_named(classifier: PrototypeClassifier, names: list[str], rows: np.ndarray) -> np.ndarray:
    """Predict rows whose columns are known to have the names of the fit, on a worker."""
    import pandas as pd

    return classifier.predict(pd.DataFrame(rows, columns=names))
