"""How good a method, or a model, is on a data set: by cross-validation, by holding out, on the data's own test part."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from protoset._cluster import RETRIES, as_done, resolve_client
from protoset._validation import check_count, is_number
from protoset.datasets import Dataset, take
from protoset.evaluation import ErrorEstimate, balanced_accuracy, estimate_error, macro_f1
from protoset.experiments.cluster import alone, send_object, unable
from protoset.experiments.distances import split
from protoset.experiments.plan import Folds
from protoset.models import REFINED, DataModel, fit_model


@dataclass(frozen=True, eq=False)
class Validation:
    """What predictions of held-out objects are worth.

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
    random_state: int = 0,
    progress: Callable[[int, int], Any] | None = None,
    client: Any = None,
    **options: Any,
) -> Validation:
    """Fit a method on parts of a data set, and predict the rest.

    Preparation, such as scaling, is learned from the training part alone.

    Parameters
    ----------
    dataset : Dataset
    method : str
        As in ``protoset.models.fit_model``.
    folds : int, optional
        Cross-validation, stratified. By default the split that the data come with, or 5 folds where there is none.
    holdout : float, optional
        In place of folds: the share of the objects that is held out, once.
    random_state : int
        Deals the objects, and seeds the method.
    progress : callable, optional
        Called as ``progress(folds_done, folds)``.
    client : distributed.Client, optional
        Computes on its Dask cluster, a task per fold, in one thread each; by default that of
        ``joblib.parallel_config("dask")``, if there is one.
    **options
        As in ``protoset.models.fit_model``. On a cluster ``n_jobs`` is of no account, and ``callback`` is not called.

    Returns
    -------
    Validation
    """
    parts = list(_parts(dataset, folds, holdout, random_state))
    options = {"random_state": random_state, **options}
    client = resolve_client(client)
    if client is None:
        found = _here(dataset, parts, method, options)
    else:
        found = _on_cluster(dataset, parts, method, options, client)
    answers: dict[int, tuple[np.ndarray, int]] = {}
    with closing(found):
        while len(answers) < len(parts):
            if progress is not None:
                progress(len(answers), len(parts))
            number, answer = next(found)
            answers[number] = answer
    if progress is not None:
        progress(len(parts), len(parts))
    predictions, sizes = zip(*(answers[number] for number in range(len(parts))), strict=True)
    truths = [dataset.labels[test] for _, test in parts]
    return _measured(truths, list(predictions), list(sizes), [len(train) for train, _ in parts])


Part = tuple[np.ndarray, np.ndarray]
"""Rows for training and for testing."""

Answer = tuple[np.ndarray, int]
"""Predictions of a test part, and the number of prototypes that they were made with."""


def _answer(dataset: Dataset, part: Part, method: str, options: dict[str, Any]) -> Answer:
    train, test = part
    model = fit_model(take(dataset, train), method, **options)
    return model.predict(_held_out(dataset, train, test)), len(model.sample_indices_)


def _here(
    dataset: Dataset, parts: list[Part], method: str, options: dict[str, Any]
) -> Generator[tuple[int, Answer], None, None]:
    for number, part in enumerate(parts):
        yield number, _answer(dataset, part, method, options)


def _on_cluster(
    dataset: Dataset, parts: list[Part], method: str, options: dict[str, Any], client: Any
) -> Generator[tuple[int, Answer], None, None]:
    """Have folds done as tasks; what they warn of and fail with is said here."""
    options = {name: value for name, value in options.items() if name not in ("n_jobs", "callback")}
    sent = send_object(client, dataset)

    def submit(number: int) -> Any:
        return client.submit(_attempt, sent, parts[number], method, options, pure=False, retries=RETRIES)

    with closing(as_done(client, range(len(parts)), submit, "validate again")) as outcomes:
        for number, outcome in outcomes:
            if isinstance(outcome, Exception):
                raise unable(outcome) from outcome
            answer, told = outcome
            for warning in told:
                warnings.warn(warning, stacklevel=3)
            if isinstance(answer, Exception):
                raise answer
            yield number, answer


def _attempt(
    dataset: Dataset, part: Part, method: str, options: dict[str, Any]
) -> tuple[Answer | Exception, list[Warning]]:
    with alone(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        answer: Answer | Exception
        try:
            answer = _answer(dataset, part, method, options)
        except Exception as error:  # of the data or of the options: not the cluster's
            answer = error
    return answer, [one.message for one in told if isinstance(one.message, Warning)]


def validate_model(model: DataModel, objects: Any, labels: np.ndarray) -> Validation:
    """Measure the predictions of a fitted model for objects whose labels are known.

    Labels are compared as texts, since a file of numbers alone does not say whether its labels are numbers.
    """
    n_prototypes = [len(model.sample_indices_)]
    return _measured([np.asarray(labels).astype(str)], [model.predict(objects).astype(str)], n_prototypes, [0])


def _parts(
    dataset: Dataset, folds: int | None, holdout: float | None, random_state: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if holdout is not None:
        if folds is not None:
            raise ValueError(f"folds={folds!r} and holdout={holdout!r} exclude each other; pass one of them")
        yield _hold_out(dataset, holdout, random_state)
        return
    if folds is None and dataset.n_train is not None:
        yield split(dataset, Folds(None), 0)
        return
    n = check_count("folds", 5 if folds is None else folds, least=2, remedy="pass the number of folds")
    if n > dataset.n_objects:
        raise ValueError(f"folds={n} is more than the {dataset.n_objects} objects of {dataset.name!r}; pass fewer")
    for number in range(n):
        yield split(dataset, Folds(n, random_state), number)


def _hold_out(dataset: Dataset, share: float, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    if not (is_number(share) and 0 < share < 1):
        raise ValueError(f"holdout={share!r} must be a share between 0 and 1, such as 0.3")
    counts = np.unique(dataset.labels, return_counts=True)[1]
    n_test = round(share * dataset.n_objects)
    # A class with a single member cannot be on both sides, nor can more classes than places.
    fits = counts.min() > 1 and len(counts) <= min(n_test, dataset.n_objects - n_test)
    kind = StratifiedShuffleSplit if fits else ShuffleSplit
    return next(kind(1, test_size=share, random_state=random_state).split(np.zeros(dataset.n_objects), dataset.labels))


def _held_out(dataset: Dataset, train: np.ndarray, test: np.ndarray) -> Any:
    if dataset.kind == "matrix":
        return np.asarray(dataset.objects)[np.ix_(test, train)]
    return take(dataset, test).objects


def _measured(
    truths: list[np.ndarray], answers: list[np.ndarray], n_prototypes: list[int], n_train: list[int]
) -> Validation:
    truth, answer = np.concatenate(truths), np.concatenate(answers)
    classes, codes = np.unique(np.concatenate([truth, answer]), return_inverse=True)
    confusion = np.zeros((len(classes), len(classes)), int)
    np.add.at(confusion, tuple(codes.reshape(2, -1)), 1)
    return Validation(
        estimate_error(int((truth != answer).sum()), len(truth)),
        macro_f1(truth, answer),
        balanced_accuracy(truth, answer),
        classes.astype(str),
        confusion,
        np.array([float(np.mean(a != b)) for a, b in zip(truths, answers, strict=True)]),
        np.array(n_prototypes),
        np.array(n_train),
    )
