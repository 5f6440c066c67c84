"""How good a method, or a model, is on a data set: by cross-validation, by holding out, on the data's own test part."""

from __future__ import annotations

import builtins
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset import exceptions
from protoset._cluster import resolve_client
from protoset._validation import check_callable, check_choice, check_jobs
from protoset.classifier import RULES, Rule
from protoset.datasets import Dataset
from protoset.evaluation import ErrorEstimate, balanced_accuracy, estimate_error, macro_f1
from protoset.experiments.engine import compute_dataset
from protoset.experiments.folds import check_fold_seed, choose_folds, split
from protoset.experiments.plan import PlannedMethod
from protoset.models import DataModel, find_method, prepare
from protoset.models.methods import REFINED
from protoset.models.preparation import Scaling


@dataclass(frozen=True, eq=False)
class Validation:
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
    """

    estimate: ErrorEstimate
    macro_f1: float
    balanced_accuracy: float
    classes: np.ndarray
    confusion: np.ndarray
    fold_errors: np.ndarray
    n_prototypes: np.ndarray
    n_train: np.ndarray


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
    rule: Rule = "nearest",
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    client: Any = None,
) -> Validation:
    """Fit a method on the training part of each fold, and predict the test part.

    The errors are those of :func:`compare` and of a plan with the same folds. Scaling is learned from the training part
    alone.

    Parameters
    ----------
    dataset : Dataset
    method : str
        As in ``protoset.models.fit_model``.
    folds, random_state, client
        As in :func:`compare`.
    holdout : float, optional
        In place of folds: the share of the objects that is held out, once.
    metric, metric_params, scaling, n_prototypes, parameters, rule
        As in ``protoset.models.fit_model``.
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
    check_choice("rule", rule, RULES)
    spec = find_method(method, n_prototypes=n_prototypes, parameters=parameters)
    planned = PlannedMethod(spec.name, spec, seeds=(random_state,) if spec.randomised else None, rule=rule)
    division = choose_folds(dataset, folds, holdout, random_state)
    preparation = prepare(dataset, metric=metric, metric_params=metric_params, scaling=scaling)
    client = resolve_client(client)
    if progress is not None:
        progress(0, division.count)
    results = compute_dataset(
        dataset,
        [planned],
        preparation,
        division,
        n_jobs=n_jobs,
        client=client,
        callback=None if progress is None else lambda state: progress(state.done + state.failed, state.total) and None,
    )
    classes = np.unique(dataset.labels)
    for result in results:
        if result.state == "failed":
            # The class of the error may be lost on the way from another process.
            raise _class_named(f"{result.failure_type}", Exception, RuntimeError)(result.failure_message)
        for text in json.loads(result.warnings):
            category, _, message = text.partition(": ")
            kind = _class_named(category, Warning, UserWarning)
            warnings.warn(message, kind, stacklevel=2)
    return _measured(
        [dataset.labels[split(dataset, division, result.fold)[1]] for result in results],
        [classes[result.predictions] for result in results],
        [result.n_prototypes for result in results],  # type: ignore[misc]
        [result.n_train for result in results],  # type: ignore[misc]
    )


def _class_named(name: str, base: type[Any], default: type[Any]) -> type[Any]:
    """Return the class of an error or warning by its name."""
    kind = getattr(exceptions, name, None) or getattr(builtins, name, None)
    return kind if isinstance(kind, type) and issubclass(kind, base) else default


def validate_model(model: DataModel, objects: Any, labels: np.ndarray) -> Validation:
    """Measure the predictions of a fitted model for objects whose labels are known.

    Labels are compared as texts, since a file of numbers alone does not say whether its labels are numbers.
    """
    n_prototypes = [len(model.sample_indices_)]
    return _measured([np.asarray(labels).astype(str)], [model.predict(objects).astype(str)], n_prototypes, [0])


def _measured(
    truths: list[np.ndarray], predictions: list[np.ndarray], n_prototypes: list[int], n_train: list[int]
) -> Validation:
    truth, predicted = np.concatenate(truths), np.concatenate(predictions)
    classes, codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
    confusion = np.zeros((len(classes), len(classes)), int)
    np.add.at(confusion, tuple(codes.reshape(2, -1)), 1)
    return Validation(
        estimate_error(int((truth != predicted).sum()), len(truth)),
        macro_f1(truth, predicted),
        balanced_accuracy(truth, predicted),
        classes.astype(str),
        confusion,
        np.array([float(np.mean(a != b)) for a, b in zip(truths, predictions, strict=True)]),
        np.array(n_prototypes),
        np.array(n_train),
    )
