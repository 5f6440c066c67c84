"""The cross-validated error of a set: the error of the method at this size, on objects that it did not see.

    sample of the objects --> 5 folds --> the method on four of them --> errors on the fifth

The size is that of the set, so the error can be compared with the errors of ``n_prototypes="auto"`` at other sizes. If
the prototypes of the set moved, the prototypes of a fold move too, among the objects of the other folds, before they
predict.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from protoset._validation import check_choice
from protoset.adaptation import AdaptSettings
from protoset.adaptation.checks import check_movable
from protoset.adaptation.selected import move_selected
from protoset.classifier import PrototypeClassifier
from protoset.decisions import RULES, RuleName
from protoset.decisions.held_out import LEAVE_ONE_OUT, PART
from protoset.models.known_distances import KnownDistances
from protoset.neighbors import NeighborSearch
from protoset.selectors import BaseSelector, Refined
from protoset.selectors._distinct import TrainingSet
from protoset.selectors._improving import HASTY
from protoset.selectors.allocation import cut
from protoset.selectors.size import N_SIZE_FOLDS, SAMPLE_OBJECTS
from protoset.selectors.ties import vote_of
from protoset.spaces import DISSIMILARITIES, TrainingSpace, make_space

FOLD_SEED = 0
"""Seed of the sample, of the folds, and of methods that have no seed of their own."""

SHORT_REFINEMENT: dict[str, Any] = {"steepness": HASTY.steepness, "n_starts": 1}
"""Parameters of ``Refined`` that make a refinement short."""


@dataclass(frozen=True)
class CrossValidation:
    """Error on held-out objects.

    Attributes
    ----------
    error, standard_error : float
        Mean error over the folds, and its standard error.
    n_objects : int
        Objects in all folds together.
    how : {"cross-validation", "held-out objects", "seen objects"}
        How the error was measured: by :func:`cross_validated_error`, or on the objects that calibrated a classifier
        (see :func:`error_of`). With "seen objects", the selection used these objects, and the error is too small.
    rows : ndarray of int or None
        Positions of the held-out objects in the training set; None if single predictions are not known.
    predicted : ndarray of int or None
        Predicted class of each held-out object, as a position in the sorted labels; -1 without a prediction.
    """

    error: float
    standard_error: float
    n_objects: int
    how: str = "cross-validation"
    rows: np.ndarray | None = field(default=None, repr=False, compare=False)
    predicted: np.ndarray | None = field(default=None, repr=False, compare=False)


def cross_validated_error(
    selector: BaseSelector,
    space: TrainingSpace,
    labels: np.ndarray,
    *,
    rule: RuleName = "nearest",
    moves: AdaptSettings | None = None,
) -> CrossValidation:
    """Measure the error of a method, at the size of its fitted set, on held-out training objects.

    Parameters
    ----------
    selector : selector
        A selector that was fitted on the space. Clones of it are fitted on the folds, with the same number of
        prototypes if the selector has a size.
    space : TrainingSpace
        Space of the training objects.
    labels : ndarray
        Their labels.
    rule : {"nearest", "adjusted", "scores", "auto"}, default="nearest"
        Rule of the classifier.
    moves : AdaptSettings, optional
        How the prototypes of each fold move before they predict; see :func:`moves_of`. By default they do not move.

    Returns
    -------
    CrossValidation

    Notes
    -----
    There are five stratified folds, drawn with a fixed seed. For more than 2,000 objects, a stratified sample of 2,000
    is used. A fold keeps as many prototypes as the fitted set, but at most a quarter of its training objects, or the
    share of the fitted set if that is larger. Refinements are short. Moves are made without trials, with the loss of
    ``moves``. With ``n_prototypes="auto"``, ``size_curve_`` already has the error; this function is not needed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset import REPS
    >>> from protoset.models import cross_validated_error
    >>> from protoset.spaces import make_space
    >>> iris = load_iris()
    >>> space = make_space(iris.data)
    >>> measured = cross_validated_error(REPS(n_prototypes=12).fit(space, iris.target), space, iris.target)
    >>> bool(measured.error < 0.2)
    True
    """
    check_choice("rule", rule, RULES)
    if moves is not None:
        if rule != "nearest":
            raise ValueError(
                f"rule={rule!r} does not work with moves=; the error is in calibration_.errors of a classifier that "
                "was fitted with adapt"
            )
        moves = moves.checked()
        check_movable(space)
        if isinstance(selector, Refined) and selector.refinement_ is None:
            # The fitted set moved without swaps.
            selector = selector.selector_
    labels = np.asarray(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    drawn, rows = draw_by_content(space, codes), np.arange(len(codes))
    if len(drawn) > (n_sampled := max(SAMPLE_OBJECTS, len(classes))):
        sample = cut(drawn, codes, n_sampled, "proportional")
        drawn = np.searchsorted(sample, drawn[np.isin(drawn, sample)])
        rows, codes = sample, codes[sample]
    known = _sample_space(space, rows, moves is not None)
    n_folds = min(N_SIZE_FOLDS, len(codes))
    folds = stratified_folds(codes, drawn, n_folds)
    errors, predicted = [], np.empty(len(codes), int)
    for fold in range(n_folds):
        train, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        size = _fold_size(len(selector.sample_indices_), len(labels), codes[train])
        predicted[held_out] = _predict_fold(selector, size, rule, known, codes, train, held_out, moves)
        errors.append(float(np.mean(predicted[held_out] != codes[held_out])))
    deviation = float(np.std(errors, ddof=1)) / np.sqrt(n_folds)
    return CrossValidation(float(np.mean(errors)), float(deviation), len(codes), rows=rows, predicted=predicted)


def error_of(classifier: PrototypeClassifier, space: TrainingSpace, labels: np.ndarray) -> CrossValidation:
    """Measure the error of a fitted classifier on held-out training objects.

    The error comes from :func:`cross_validated_error`. If the prototypes moved, it is the error that their calibration
    measured, if the rule is not "nearest" or :func:`is_measured_among_many`.
    """
    moves = moves_of(classifier)
    if moves is None:
        return cross_validated_error(classifier.selector_, space, labels, rule=classifier.rule)
    if classifier.rule_ == "nearest" and not is_measured_among_many(classifier, len(labels)):
        return cross_validated_error(classifier.selector_, space, labels, moves=moves)
    calibration = classifier.calibration_
    if calibration is None or classifier.rule_ not in calibration.errors:
        raise ValueError(
            f"the error of rule={classifier.rule_!r} with moved prototypes comes from the calibration, but this "
            "classifier is not calibrated; fit it with calibrate=True, or measure the error on test objects"
        )
    error, n = calibration.errors[classifier.rule_], calibration.n_objects
    is_seen = calibration.how == LEAVE_ONE_OUT
    deviation = float(np.sqrt(error * (1.0 - error) / n))
    return CrossValidation(error, deviation, n, "seen objects" if is_seen else "held-out objects")


def is_measured_among_many(classifier: PrototypeClassifier, n_objects: int) -> bool:
    """Whether the calibration measured moved prototypes among more objects than a cross-validation uses.

    Prototypes that move among 2,000 objects can have several times the error of those that move among all.
    """
    if n_objects <= SAMPLE_OBJECTS or moves_of(classifier) is None:
        return False
    calibration = classifier.calibration_
    return calibration is not None and calibration.how == PART and classifier.rule_ in calibration.errors


def moves_of(classifier: PrototypeClassifier) -> AdaptSettings | None:
    """Return how the prototypes of a fitted classifier moved, with the loss that was chosen; None where they stayed."""
    adaptation = classifier.adaptation_
    if adaptation is None or not adaptation.has_moved:
        return None
    given = classifier.adapt if isinstance(classifier.adapt, Mapping) else {}
    names = ("relevances", "n_passes", "step")
    return AdaptSettings(loss=adaptation.loss, **{name: given[name] for name in names if name in given})  # type: ignore[arg-type]


def draw_by_content(space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
    """Draw all objects in a random order that depends on their contents and classes, not on the order of the rows."""
    numbers = space.identical()
    order = np.arange(len(codes)) if numbers is None else np.lexsort((codes, numbers))
    return order[np.random.RandomState(FOLD_SEED).permutation(len(order))]


def stratified_folds(codes: np.ndarray, drawn: np.ndarray, n_folds: int) -> np.ndarray:
    """Fold of each object: the members of a class go to the folds in turn, as they are drawn."""
    by_class = drawn[np.argsort(codes[drawn], kind="stable")]
    folds = np.empty(len(codes), int)
    folds[by_class] = np.arange(len(codes)) % n_folds
    return folds


def at_size(selector: BaseSelector, size: int) -> BaseSelector:
    """Return a new selector of the same method, to be fitted on a space, that keeps ``size`` prototypes.

    A rate stays a rate. Refinements are short unless their parameters say otherwise, as for the automatic size.
    """
    own = selector.get_params(deep=False)
    changes: dict[str, Any] = {"metric": "auto", "metric_params": None, "callback": None, "verbose": 0}
    if own.get("random_state") is None:
        changes["random_state"] = FOLD_SEED
    changes |= {name: value for name, value in SHORT_REFINEMENT.items() if own.get(name) is None}
    if "n_prototypes" in own and not isinstance(own["n_prototypes"], float):
        changes["n_prototypes"] = size
    # Lists in a folder belong to the fit, and a cluster may be gone.
    if isinstance(own.get("search"), NeighborSearch):
        changes["search"] = clone(own["search"]).set_params(folder=None)
    if own.get("solver") == "distributed":
        changes["solver"] = "auto"
    if isinstance(selector, Refined):
        changes["selector"] = at_size(selector.selector_, size)
    return clone(selector).set_params(**{name: value for name, value in changes.items() if name in own})


def _sample_space(space: TrainingSpace, sample: np.ndarray, moving: bool) -> TrainingSpace:
    """Space of the sample; dissimilarities that take long are computed once for all folds."""
    if space.partial or DISSIMILARITIES[space.metric].kind == "vectors":
        return space.subset(sample)
    block = space.block(sample, sample)
    return KnownDistances(block, space.subset(sample)) if moving else make_space(block, "precomputed")


def _fold_size(n_kept: int, n_objects: int, train_codes: np.ndarray) -> int:
    """Prototypes of a fold: as many as the set has, but not a much larger share of the objects."""
    n_train = len(train_codes)
    largest = max(round(n_kept * n_train / n_objects), n_train // 4, len(np.unique(train_codes)))
    return min(n_kept, largest)


def _predict_fold(
    selector: BaseSelector,
    size: int,
    rule: RuleName,
    space: TrainingSpace,
    codes: np.ndarray,
    train: np.ndarray,
    held_out: np.ndarray,
    moves: AdaptSettings | None,
) -> np.ndarray:
    """Predict the classes of the held-out objects; -1 where no dissimilarity to a prototype is known."""
    present = np.unique(codes[train])
    if len(present) == 1:
        return np.full(len(held_out), present[0])
    classifier = PrototypeClassifier(at_size(selector, size), rule=rule, adapt=False, calibrate=False)
    with warnings.catch_warnings():
        # The fit of the set has warned already.
        warnings.simplefilter("ignore")
        classifier.fit(space.subset(train), codes[train])
    kept = train[classifier.sample_indices_]
    block = space.block(held_out, kept)
    if moves is not None:
        block = _moved_distances(classifier.selector_, space, codes, train, held_out, moves)
    vote = vote_of(classifier.selector_, np.searchsorted(present, codes[train]))
    predicted = codes[kept[vote(block)]] if rule == "nearest" else present[classifier._rule.labels(block)]
    return np.where(np.isfinite(block.min(axis=1)), predicted, -1)


def _moved_distances(
    selector: BaseSelector,
    space: TrainingSpace,
    codes: np.ndarray,
    train: np.ndarray,
    held_out: np.ndarray,
    moves: AdaptSettings,
) -> np.ndarray:
    """Distances of the held-out objects to the prototypes of a selector, after these moved among the others."""
    movable, training = check_movable(space), TrainingSet.of(space.subset(train), codes[train])
    return movable.distances(held_out, move_selected(movable, train, training, selector, moves))
