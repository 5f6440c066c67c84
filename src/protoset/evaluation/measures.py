"""Measures of a set of prototypes: errors, size, cost of a query, and the paper's log odds ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from protoset._validation import as_numbers, check_count, check_probability


def error_rate(y_true: Any, y_pred: Any) -> float:
    """Share of the objects whose predicted label is wrong.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_objects,)
        True and predicted labels.

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
    """Mean over the classes of the F1 score, the harmonic mean of precision and recall.

    The classes are those of both arguments. A class that is only predicted counts with 0, as in scikit-learn.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_objects,)
        True and predicted labels.

    Returns
    -------
    float
    """
    n_true, n_predicted, n_right = _class_counts(y_true, y_pred)
    return float(np.mean(2 * n_right / (n_true + n_predicted)))


def balanced_accuracy(y_true: Any, y_pred: Any) -> float:
    """Mean recall over the classes of ``y_true``.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_objects,)
        True and predicted labels.

    Returns
    -------
    float
    """
    n_true, _, n_right = _class_counts(y_true, y_pred)
    return float(np.mean(n_right[n_true > 0] / n_true[n_true > 0]))


def selection_rate(n_prototypes: int, n_train: int) -> float:
    """Share of the training objects that are kept.

    Parameters
    ----------
    n_prototypes, n_train : int
        Number of prototypes, and of training objects.

    Returns
    -------
    float
    """
    check_count("n_train", n_train, least=1, remedy="pass the number of training objects")
    check_count("n_prototypes", n_prototypes, least=0, remedy="pass the number of prototypes")
    if n_prototypes > n_train:
        raise ValueError(
            f"n_prototypes={n_prototypes!r} is more than n_train={n_train!r}; pass the size of the training set that "
            "the prototypes were selected from"
        )
    return n_prototypes / n_train


def distances_per_query(n_prototypes: Any, n_queries: Any = None) -> float:
    """Number of dissimilarities that are computed to classify one query.

    A query is compared with every prototype once. For several folds the result is the mean over all queries.

    Parameters
    ----------
    n_prototypes : int or array-like of int
        Number of prototypes, or the number in each fold.
    n_queries : int or array-like of int, optional
        Number of queries in each fold. By default all folds have the same number.

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
            f"n_prototypes={n_prototypes!r} and n_queries={n_queries!r} must be counts, with at least one query per "
            "fold; leave out folds without queries"
        )
    return float(np.average(sizes, weights=queries))


@dataclass(frozen=True)
class ErrorEstimate:
    """An error rate with its uncertainty.

    Attributes
    ----------
    error : float
    standard_error : float
        Binomial standard error, sqrt(error (1 - error) / n_test). It is 0 for the errors 0 and 1; use the interval
        there.
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

    The interval assumes independent test objects. For cross-validation it ignores that the training sets overlap, and
    is a little too narrow.

    Parameters
    ----------
    n_errors, n_test : int
        Number of misclassified test objects, and of all test objects.
    confidence : float
        Confidence level of the interval.

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


def no_better_than(error: float, standard_error: float, reference: float) -> bool:
    """Whether an error is not clearly below the error of a reference, that is, by at most one standard error.

    Parameters
    ----------
    error, standard_error : float
        An error and its standard error.
    reference : float
        Error of the reference, such as a classifier that always predicts the most frequent class.

    Returns
    -------
    bool

    Examples
    --------
    >>> from protoset.evaluation import no_better_than
    >>> no_better_than(0.37, 0.02, 0.38), no_better_than(0.20, 0.02, 0.38)
    (True, False)
    """
    return bool(error >= check_probability("reference", reference) - standard_error)


def log_odds_ratio(
    selection_rate: float, error: float, error_of_everything: float, *, n_train: int, n_test: int
) -> float:
    """The paper's log odds ratio, LOR = log( O(SLR) O(ERR) / O(ERR - ERR_NoPS) ) with O(p) = p / (1 - p).

    The paper uses it to compare values of a parameter. Compare only sets of the same size by it; larger is better.
    For sets of different sizes use :func:`pareto_ranks`.

    Parameters
    ----------
    selection_rate : float
        Share of the training objects that are kept, SLR.
    error : float
        Error rate with the prototypes, ERR.
    error_of_everything : float
        Error rate of 1-NN on the whole training set, ERR_NoPS.
    n_train, n_test : int
        Numbers of training and test objects. For cross-validation: objects of one training part, and test objects of
        all folds together.

    Returns
    -------
    float

    Notes
    -----
    The ratio rises with the selection rate. At a fixed selection rate it falls as the error rises above ERR_NoPS, up
    to a difference of (1 - ERR_NoPS) / 2; beyond that, it rises again.

    The printed formula has no value if one of the odds is 0 or infinite, or if the prototypes are not worse than the
    whole training set. Each share is therefore first clipped by half an object: the selection rate to
    [1 / (2 n_train), 1 - 1 / (2 n_train)], the error and the difference to [1 / (2 n_test), 1 - 1 / (2 n_test)].
    Values inside these limits do not change. All differences that are zero or negative give the same result.

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


def _class_counts(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Objects of each class, predictions of each class, and correct predictions of each class."""
    # By counting: scikit-learn's functions take longer than most methods on small data.
    true, predicted = _paired_labels(y_true, y_pred)
    classes, codes = np.unique(np.concatenate([true, predicted]), return_inverse=True)
    true, predicted = codes.reshape(2, -1)
    right = true[true == predicted]
    n_true, n_predicted, n_right = (np.bincount(values, minlength=len(classes)) for values in (true, predicted, right))
    return n_true, n_predicted, n_right


def _paired_labels(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != predicted.shape or len(true) == 0:
        raise ValueError(
            f"y_true has the shape {true.shape} and y_pred {predicted.shape}; pass one label of each per object, and "
            "at least one object"
        )
    kinds = true.dtype.kind, predicted.dtype.kind
    if (kinds[0] in "biuf") != (kinds[1] in "biuf") and "O" not in kinds:
        raise TypeError(
            f"y_true has labels of type {true.dtype} and y_pred of type {predicted.dtype}, so that no labels are "
            "equal; convert both to one type"
        )
    return true, predicted
