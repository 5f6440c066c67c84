"""What a set of prototypes is measured by: its errors, its size, what a query costs, and the paper's log odds ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.metrics import f1_score, recall_score

from protoset._validation import as_numbers, check_count, check_probability


def error_rate(y_true: Any, y_pred: Any) -> float:
    """Share of the objects whose predicted label is not theirs.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_objects,)

    Returns
    -------
    float

    Examples
    --------
    >>> from protoset.evaluation import error_rate
    >>> error_rate(["a", "b", "b", "c"], ["a", "b", "c", "c"])
    0.25
    """
    true, predicted = _paired_labels(y_true, y_pred)
    return int((true != predicted).sum()) / len(true)


def macro_f1(y_true: Any, y_pred: Any) -> float:
    """Mean over the classes of the harmonic mean of precision and recall.

    Classes are those in either argument: one that is predicted but not there counts with 0, as in scikit-learn.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_objects,)

    Returns
    -------
    float
    """
    true, predicted = _paired_labels(y_true, y_pred)
    return float(f1_score(true, predicted, average="macro", zero_division=0))


def balanced_accuracy(y_true: Any, y_pred: Any) -> float:
    """Mean over the classes of ``y_true`` of the share of their objects that are predicted right.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_objects,)

    Returns
    -------
    float
    """
    true, predicted = _paired_labels(y_true, y_pred)
    # Not scikit-learn's balanced_accuracy_score: it warns where a class is predicted that a small fold does not have.
    return float(recall_score(true, predicted, labels=np.unique(true), average="macro", zero_division=0))


def selection_rate(n_prototypes: int, n_train: int) -> float:
    """Share of the training objects that are kept.

    Parameters
    ----------
    n_prototypes, n_train : int

    Returns
    -------
    float
    """
    check_count("n_train", n_train, least=1, remedy="pass the number of training objects")
    check_count("n_prototypes", n_prototypes, least=0, remedy="pass the number of prototypes")
    if n_prototypes > n_train:
        raise ValueError(
            f"n_prototypes={n_prototypes!r} is more than n_train={n_train!r}; pass the size of the set that they "
            "were selected from"
        )
    return n_prototypes / n_train


def distances_per_query(n_prototypes: Any, n_queries: Any = None) -> float:
    """Dissimilarities that are computed to classify one query.

    A query is compared with every prototype once. Over several folds it is the mean over all their queries.

    Parameters
    ----------
    n_prototypes : int or array-like of int
        Size of the set, or of the set of each fold.
    n_queries : int or array-like of int, optional
        Queries of each fold; by default equally many.

    Returns
    -------
    float

    Examples
    --------
    >>> from protoset.evaluation import distances_per_query
    >>> distances_per_query([10, 20], n_queries=[30, 10])
    12.5
    """
    sizes = np.atleast_1d(as_numbers("n_prototypes", n_prototypes))
    queries = np.ones_like(sizes) if n_queries is None else np.atleast_1d(as_numbers("n_queries", n_queries))
    if sizes.ndim != 1 or sizes.shape != queries.shape or len(sizes) == 0:
        raise ValueError(
            f"n_prototypes has the shape {sizes.shape} and n_queries {queries.shape}; pass one number of each per fold"
        )
    if not (np.isfinite(sizes).all() and np.isfinite(queries).all() and sizes.min() >= 0 and queries.min() > 0):
        raise ValueError(
            f"n_prototypes={n_prototypes!r} and n_queries={n_queries!r} must be counts, with at least one query in "
            "every fold; leave out folds without queries"
        )
    return float(np.average(sizes, weights=queries))


@dataclass(frozen=True)
class ErrorEstimate:
    """An error rate and how well it is known.

    Attributes
    ----------
    error : float
    standard_error : float
        Of a binomial share: sqrt(error (1 - error) / n_test). It is 0 at the errors 0 and 1, where it says nothing:
        read the interval there.
    lower, upper : float
        Wilson's score interval.
    n_errors, n_test : int
    confidence : float
    """

    error: float
    standard_error: float
    lower: float
    upper: float
    n_errors: int
    n_test: int
    confidence: float


def estimate_error(n_errors: int, n_test: int, *, confidence: float = 0.95) -> ErrorEstimate:
    """Error rate with its standard error and Wilson's confidence interval.

    The interval takes the test objects as independent draws. Over cross-validation it leaves out that the training
    sets overlap, so it is a little too narrow there.

    Parameters
    ----------
    n_errors, n_test : int
    confidence : float

    Returns
    -------
    ErrorEstimate

    Examples
    --------
    >>> from protoset.evaluation import estimate_error
    >>> estimate = estimate_error(12, 100)
    >>> round(estimate.lower, 3), round(estimate.upper, 3)
    (0.07, 0.198)
    """
    check_count("n_test", n_test, least=1, remedy="pass the number of test objects")
    check_count("n_errors", n_errors, least=0, remedy="pass the number of test objects that were misclassified")
    if n_errors > n_test:
        raise ValueError(f"n_errors={n_errors!r} is more than n_test={n_test!r}; pass counts of the same test set")
    if not 0 < check_probability("confidence", confidence) < 1:
        raise ValueError(f"confidence={confidence!r} must be between 0 and 1; the usual choice is 0.95")
    n_errors, n_test = int(n_errors), int(n_test)
    interval = stats.binomtest(n_errors, n_test).proportion_ci(confidence, method="wilson")
    error = n_errors / n_test
    standard_error = math.sqrt(error * (1 - error) / n_test)
    return ErrorEstimate(
        error, standard_error, float(interval.low), float(interval.high), n_errors, n_test, float(confidence)
    )


def log_odds_ratio(
    selection_rate: float, error: float, error_of_everything: float, *, n_train: int, n_test: int
) -> float:
    """The paper's log odds ratio, LOR = log( O(SLR) O(ERR) / O(ERR - ERR_NoPS) ) with O(p) = p / (1 - p).

    The paper compares values of a parameter by it. It rises with the selection rate; at a given selection rate it
    falls as the error rises above that of 1-NN on everything, up to (1 - ERR_NoPS) / 2 above, where it turns. So
    among sets of one size larger is better, and sets of different sizes are not to be ranked by it: that is what
    Pareto ranks are for.

    As printed it has no value where an odds is 0 or infinite, and where the prototypes do no worse than everything.
    Here every share is first brought to where a count of half an object would put it: the selection rate into
    [1 / (2 n_train), 1 - 1 / (2 n_train)], the error and the difference into [1 / (2 n_test), 1 - 1 / (2 n_test)].
    No smaller step can be told with that many objects; other values stay as they are; and since limiting a number
    keeps its order, so does the ratio. All differences that are not positive count the same: a set that is better
    than everything and one that is as good have the same third term.

    Parameters
    ----------
    selection_rate : float
        Share of the training objects that are kept, SLR.
    error : float
        Error rate with the prototypes, ERR.
    error_of_everything : float
        Error rate of 1-NN on the whole training set, ERR_NoPS.
    n_train, n_test : int
        Objects that the rates are shares of. Over cross-validation: of a training part; in all folds together.

    Returns
    -------
    float

    Examples
    --------
    >>> from protoset.evaluation import log_odds_ratio
    >>> round(log_odds_ratio(0.1, 0.25, 0.2, n_train=100, n_test=100), 3)
    -0.351
    """
    check_count("n_train", n_train, least=1, remedy="pass the number of training objects")
    check_count("n_test", n_test, least=1, remedy="pass the number of test objects")
    rate, err = check_probability("selection_rate", selection_rate), check_probability("error", error)
    difference = err - check_probability("error_of_everything", error_of_everything)
    return _log_odds(rate, n_train) + _log_odds(err, n_test) - _log_odds(difference, n_test)


def _log_odds(share: float, n_objects: int) -> float:
    least = 0.5 / n_objects
    share = min(max(share, least), 1 - least)
    return math.log(share) - math.log1p(-share)


def _paired_labels(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != predicted.shape or len(true) == 0:
        raise ValueError(
            f"y_true has the shape {true.shape} and y_pred {predicted.shape}; pass one label of each per object, and "
            "at least one object"
        )
    if (true.dtype.kind in "biuf") != (predicted.dtype.kind in "biuf") and "O" not in (
        true.dtype.kind,
        predicted.dtype.kind,
    ):
        raise TypeError(
            f"y_true holds labels of the type {true.dtype} and y_pred of {predicted.dtype}, so that none are equal; "
            "convert them to one type"
        )
    return true, predicted
