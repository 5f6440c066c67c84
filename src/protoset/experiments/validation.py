"""Error of a method or a model on a data set: by cross-validation, on a held-out part, or on the given test part."""

from __future__ import annotations

import builtins
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from protoset import exceptions
from protoset._cluster import resolve_client
from protoset._display import Brief
from protoset._validation import check_callable, check_choice, check_flag, check_jobs
from protoset.datasets import Dataset
from protoset.decisions import RANK_RULES, RankRule
from protoset.evaluation import ErrorEstimate, balanced_accuracy, estimate_error, macro_f1, no_better_than
from protoset.experiments.cells import CellResult
from protoset.experiments.engine import RunProgress, compute_dataset
from protoset.experiments.folds import DatasetFolds, check_fold_seed, choose_folds, splits
from protoset.experiments.plan import EVERYTHING, GUESS, NEIGHBORS, REFERENCES, Distance, Folds, PlannedMethod
from protoset.models import DataModel, Preparation, find_method, prepare, reference_errors, vote_of_neighbors
from protoset.models.methods import ADAPTED_PARAMETERS, REFINED, Adapt, with_moves
from protoset.models.preparation import Scaling, check_dataset
from protoset.models.references import sample_queries
from protoset.selectors.base import warn_of_classes

MOST_FOR_REFERENCES = 50_000
"""Largest number of objects for which :func:`validate` measures 1-NN and k-NN on everything for all held-out objects.

The time grows as the square of the number of objects. With more objects, a sample of the first fold is predicted.
"""


@dataclass(frozen=True)
class ReferenceEstimates:
    """Errors of methods without prototypes, on the same held-out objects.

    Attributes
    ----------
    guess : ErrorEstimate
        Error of always predicting the most frequent class of the training part.
    nearest : ErrorEstimate or None
        Error of 1-NN on all training objects; None if only a model is known. For more than 50,000 objects it is
        measured on a stratified sample of ``nearest.n_test`` held-out objects of the first fold.
    knn : ErrorEstimate or None
        Error of k-NN on all training objects, with k chosen by leave-one-out on the training part. Measured on the same
        objects as ``nearest``.
    answer : str
        The most frequent class; with several folds, the most frequent of these.
    k : tuple of int
        The chosen k of each measured fold.
    guessed_from : {"training", "file"}
        Objects in which the most frequent class was counted: the training part, or the predicted objects.
    """

    guess: ErrorEstimate
    nearest: ErrorEstimate | None
    knn: ErrorEstimate | None
    answer: str
    k: tuple[int, ...] = ()
    guessed_from: Literal["training", "file"] = "training"


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Brief):
    """Measures of predictions for held-out objects.

    Attributes
    ----------
    estimate : ErrorEstimate
        Over all held-out objects together.
    macro_f1, balanced_accuracy : float
        Over all held-out objects together.
    classes : ndarray of str
    confusion : ndarray of int, shape (n_classes, n_classes)
        True classes in rows, predicted ones in columns.
    fold_errors : ndarray
    n_prototypes, n_train : ndarray of int
        Of each fold.
    moved : ndarray of bool or None
        For each fold, whether the prototypes moved; None if the method does not move prototypes.
    references : ReferenceEstimates or None
        Errors of guessing, 1-NN and k-NN on all training objects; None if they were not measured.
    """

    estimate: ErrorEstimate
    macro_f1: float
    balanced_accuracy: float
    classes: np.ndarray
    confusion: np.ndarray
    fold_errors: np.ndarray
    n_prototypes: np.ndarray
    n_train: np.ndarray
    references: ReferenceEstimates | None = None
    moved: np.ndarray | None = None

    @property
    def no_better_than_guessing(self) -> bool | None:
        """Whether the error is not clearly below that of guessing, by ``protoset.evaluation.no_better_than``.

        None where guessing was not measured.
        """
        if self.references is None:
            return None
        return no_better_than(self.estimate.error, self.estimate.standard_error, self.references.guess.error)


def validate(
    dataset: Dataset,
    method: str = REFINED,
    *,
    folds: int | None = None,
    holdout: float | None = None,
    metric: str = "auto",
    metric_params: Mapping[str, Any] | None = None,
    scaling: Scaling | None = None,
    n_prototypes: int | float | str = "auto",
    parameters: Mapping[str, Any] | None = None,
    rule: RankRule = "nearest",
    adapt: Adapt = "auto",
    references: bool = True,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    client: Any = None,
) -> Validation:
    """Fit a method on the training part of each fold, and predict the test part.

    The errors are the same as those of :func:`compare`, and of a plan with the same folds; if prototypes move, they are
    those of "adapted". Scaling is learned from the training part alone.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    method : str
        As in ``protoset.models.fit_model``, or "guess", "NoPS" or "kNN" as in :func:`compare`.
    folds, random_state, client
        As in :func:`compare`.
    holdout : float, optional
        Share of the objects that is held out once, in place of folds.
    metric, metric_params, scaling, n_prototypes, parameters, rule
        As in ``protoset.models.fit_model``.
    adapt : {"auto", True, False} or dict, default="auto"
        As in ``protoset.models.fit_model``: "auto" moves the prototypes of the default method if the objects can move.
        A dict may have ``loss``, ``relevances``, ``n_passes`` and ``step``.
    references : bool
        Whether to measure guessing, 1-NN and k-NN on all training objects on the same folds. For more than 50,000
        objects, 1-NN and k-NN predict only a stratified sample of the first fold: as many objects as need 2 * 10^8
        dissimilarities, at least 1,000.
    n_jobs : int, optional
        Processes, each with one thread. Ignored with a client.
    progress : callable, optional
        Called as ``progress(folds_done, folds)``.

    Returns
    -------
    Validation
    """
    n_jobs = check_jobs(n_jobs)
    random_state = check_fold_seed(random_state)
    check_callable("progress", progress)
    check_choice("rule", rule, RANK_RULES)
    planned = _planned(method, n_prototypes, parameters, rule, random_state)
    preparation = prepare(dataset, metric=metric, metric_params=metric_params, scaling=scaling)
    planned = _with_moves(planned, adapt, preparation, dataset)
    methods = [planned]
    if check_flag("references", references):
        names = REFERENCES if check_dataset(dataset).n_objects <= MOST_FOR_REFERENCES else (GUESS,)
        others = (PlannedMethod.reference(name) for name in names if name != planned.label)
        methods += [other for other in others if other is not None]
    division = choose_folds(dataset, folds, holdout, random_state)
    warn_of_classes(np.unique(dataset.labels, return_inverse=True)[1])
    client = resolve_client(client)
    if progress is not None:
        progress(0, division.count)
    results = compute_dataset(
        dataset,
        methods,
        preparation,
        division,
        n_jobs=n_jobs,
        client=client,
        callback=None if progress is None else _in_folds(progress, len(methods)),
    )
    classes = np.unique(dataset.labels)
    by_method = {each.label: [result for result in results if result.method == each.label] for each in methods}
    for result in results:
        if result.state == "failed":
            # The class of the error may be lost on the way from another process.
            raise _class_named(f"{result.failure_type}", Exception, RuntimeError)(result.failure_message)
        for text in json.loads(result.warnings):
            category, _, message = text.partition(": ")
            kind = _class_named(category, Warning, UserWarning)
            warnings.warn(message, kind, stacklevel=2)
    truths = [dataset.labels[test] for _, test in splits(dataset, division)]
    predictions = {name: [classes[result.predictions] for result in own] for name, own in by_method.items()}
    beside = None
    if references:
        beside = _reference_estimates(truths, predictions, by_method.get(NEIGHBORS, []))
        if beside.nearest is None or beside.knn is None:
            beside = _with_sampled_neighbors(beside, dataset, preparation, division, n_jobs)
    return _measured(
        truths,
        predictions[planned.label],
        [result.n_prototypes for result in by_method[planned.label]],  # type: ignore[misc]
        [result.n_train for result in by_method[planned.label]],  # type: ignore[misc]
        beside,
        _moved(by_method[planned.label]) if planned.spec.adapted else None,
    )


def _with_moves(planned: PlannedMethod, adapt: Adapt, preparation: Preparation, dataset: Dataset) -> PlannedMethod:
    """Return a method with the moves that the argument ``adapt`` of :func:`validate` asks for."""
    if planned.spec.selector in REFERENCES:
        if not (isinstance(adapt, str) and adapt == "auto") and adapt is not False:
            raise ValueError(f"adapt={adapt!r}, but {planned.label} has no prototypes to move; leave adapt out")
        return planned
    taken = list(ADAPTED_PARAMETERS.values())
    for name in adapt if isinstance(adapt, Mapping) else ():
        if name not in taken:
            raise ValueError(f"adapt has {name!r}, which does not work with folds; choose from {taken}")
    spec = with_moves(planned.spec, adapt, preparation, dataset.objects, rule=planned.rule).check()
    if spec.adapted and planned.rule != "nearest":
        raise ValueError(
            f"rule={planned.rule!r} needs prototypes that do not move, but adapt={adapt!r} or "
            f"method={spec.name!r} moves them; use rule='nearest', or adapt=False"
        )
    return replace(planned, label=spec.name, spec=spec)


def _moved(results: list[CellResult]) -> np.ndarray:
    """Whether the prototypes of each fold moved."""
    return np.array([json.loads(result.counters)["n_passes_of_moves"] > 0 for result in results])


def _planned(
    name: str, n_prototypes: int | float | str, parameters: Mapping[str, Any] | None, rule: RankRule, random_state: int
) -> PlannedMethod:
    reference = PlannedMethod.reference(name)
    if reference is None:
        spec = find_method(name, n_prototypes=n_prototypes, parameters=parameters, others=REFERENCES)
        return PlannedMethod(spec.name, spec, seeds=(random_state,) if spec.randomised else None, rule=rule)
    if n_prototypes != "auto" or parameters:
        raise ValueError(
            f"n_prototypes={n_prototypes!r} and parameters={parameters!r}, but {reference.label} has no size and no "
            "parameters; leave them out, or use another method"
        )
    return replace(reference, rule=rule)


def _in_folds(progress: Callable[[int, int], Any], n_methods: int) -> Callable[[RunProgress], None]:
    """Return a callback that calls ``progress`` with the number of folds that are done."""

    def tell(state: RunProgress) -> None:
        n_folds, n_more = divmod(state.done + state.failed, n_methods)
        if not n_more:
            progress(n_folds, state.total // n_methods)

    return tell


def _reference_estimates(
    truths: list[np.ndarray], predictions: Mapping[str, list[np.ndarray]], neighbors: list[CellResult]
) -> ReferenceEstimates:
    estimates = {name: _estimate(truths, predicted) for name, predicted in predictions.items()}
    answers, counts = np.unique([answers[0] for answers in predictions[GUESS]], return_counts=True)
    ks = tuple(int(json.loads(result.counters)["k"]) for result in neighbors)
    answer = str(answers[counts.argmax()])
    return ReferenceEstimates(estimates[GUESS], estimates.get(EVERYTHING), estimates.get(NEIGHBORS), answer, ks)


def _with_sampled_neighbors(
    references: ReferenceEstimates, dataset: Dataset, preparation: Preparation, division: Folds, n_jobs: int | None
) -> ReferenceEstimates:
    """Measure 1-NN and k-NN, where they are not known, on a sample of the first fold's held-out objects."""
    distance = Distance(preparation.metric, preparation.metric, preparation.metric_params, scaling=preparation.scaling)
    fold = DatasetFolds(dataset, distance, division).fold(0)
    rows = sample_queries(fold.truth, len(fold.train))
    k = references.k or (reference_errors(fold.space, fold.labels, n_jobs=n_jobs).k,)

    def measure(n_neighbors: int) -> ErrorEstimate:
        votes = vote_of_neighbors(fold.queries, fold.labels, n_neighbors, rows=rows, n_jobs=n_jobs)
        return estimate_error(int((votes != fold.truth[rows]).sum()), len(rows))

    return replace(references, nearest=references.nearest or measure(1), knn=references.knn or measure(k[0]), k=k)


def _estimate(truths: list[np.ndarray], predictions: list[np.ndarray]) -> ErrorEstimate:
    truth = np.concatenate(truths)
    return estimate_error(int((truth != np.concatenate(predictions)).sum()), len(truth))


def _class_named(name: str, base: type[Any], default: type[Any]) -> type[Any]:
    """Return the class of an error or warning by its name."""
    kind = getattr(exceptions, name, None) or getattr(builtins, name, None)
    return kind if isinstance(kind, type) and issubclass(kind, base) else default


def validate_model(model: DataModel, objects: Any, labels: np.ndarray) -> Validation:
    """Measure the predictions of a fitted model for objects whose labels are known.

    Parameters
    ----------
    model : DataModel
        The fitted model.
    objects : array-like or list
        Objects in the form of the data set that the model was fitted on.
    labels : ndarray
        Labels of the objects.

    Returns
    -------
    Validation
        Error and other measures, with the error of guessing as a reference.

    Notes
    -----
    Labels are compared as texts, because a file does not tell whether its labels are numbers or names. A model does not
    have the training objects, so the references have no 1-NN and k-NN. Guessing predicts the most frequent class of the
    training set if the model knows it, else the most frequent label of the given objects.
    """
    truth = np.asarray(labels).astype(str)
    names, counts = model.classes_.astype(str), getattr(model.classifier, "class_counts_", None)
    guessed_from: Literal["training", "file"] = "file" if counts is None else "training"
    if counts is None:
        names, counts = np.unique(truth, return_counts=True)
    answer = str(names[np.argmax(counts)])
    guess = estimate_error(int((truth != answer).sum()), len(truth))
    references = ReferenceEstimates(guess, None, None, answer, guessed_from=guessed_from)
    return _measured([truth], [model.predict(objects).astype(str)], [len(model.sample_indices_)], [0], references)


def _measured(
    truths: list[np.ndarray],
    predictions: list[np.ndarray],
    n_prototypes: list[int],
    n_train: list[int],
    references: ReferenceEstimates | None,
    moved: np.ndarray | None = None,
) -> Validation:
    truth, predicted = np.concatenate(truths), np.concatenate(predictions)
    classes, codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
    confusion = np.zeros((len(classes), len(classes)), int)
    np.add.at(confusion, tuple(codes.reshape(2, -1)), 1)
    return Validation(
        _estimate(truths, predictions),
        macro_f1(truth, predicted),
        balanced_accuracy(truth, predicted),
        classes.astype(str),
        confusion,
        np.array([float(np.mean(a != b)) for a, b in zip(truths, predictions, strict=True)]),
        np.array(n_prototypes),
        np.array(n_train),
        references,
        moved,
    )
