"""Friedman's test, Nemenyi's test after it, and the groups of a critical-difference diagram."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from protoset._validation import check_flag, check_probability
from protoset.evaluation._tables import as_table, rank_rows


@dataclass(frozen=True, eq=False)
class FriedmanTest:
    """Result of Friedman's test.

    Attributes
    ----------
    names : tuple of str
    average_ranks : ndarray of shape (n_methods,)
        Averages over the data sets; 1 is best.
    statistic, p_value : float
        Friedman's chi-square, corrected for ties, with n_methods - 1 degrees of freedom.
    f_statistic, f_p_value : float
        Iman and Davenport's F, which is less conservative, with n_methods - 1 and
        (n_methods - 1) (n_datasets - 1) degrees of freedom.
    n_datasets : int
    """

    names: tuple[str, ...]
    average_ranks: np.ndarray
    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    n_datasets: int


@dataclass(frozen=True, eq=False)
class NemenyiTest:
    """Result of Nemenyi's test.

    Attributes
    ----------
    names : tuple of str
    average_ranks : ndarray of shape (n_methods,)
    critical_difference : float
        Methods whose average ranks differ by at least this much differ significantly.
    p_values : ndarray of shape (n_methods, n_methods)
        p-values of the pairs; 1 on the diagonal.
    alpha : float
    n_datasets : int
    """

    names: tuple[str, ...]
    average_ranks: np.ndarray
    critical_difference: float
    p_values: np.ndarray
    alpha: float
    n_datasets: int


@dataclass(frozen=True, eq=False)
class CriticalDifference(NemenyiTest):
    """Content of a critical-difference diagram: Nemenyi's test, and groups of methods that do not differ.

    Attributes
    ----------
    names, average_ranks, critical_difference, p_values, alpha, n_datasets
        As in :class:`NemenyiTest`.
    groups : tuple of tuple of int
        Groups of columns that do not differ significantly, best first. Methods are ordered by average rank. A group is
        a run of methods, as long as possible, whose first and last method differ by less than the critical difference.
        Groups of one method are left out.
    """

    groups: tuple[tuple[int, ...], ...]


def average_ranks(table: Any, *, lower_is_better: bool = True) -> np.ndarray:
    """Average rank of each method over the data sets; 1 is best.

    Tied values share the mean of their ranks. Values that differ by at most 1e-12 of the largest value of the row are
    tied: means over folds differ in their last digits.

    Parameters
    ----------
    table : array-like or DataFrame of shape (n_datasets, n_methods)
        Without missing cells.
    lower_is_better : bool
        True for errors.

    Returns
    -------
    ndarray of shape (n_methods,)
    """
    check_flag("lower_is_better", lower_is_better)
    return _average(rank_rows(as_table(table, least_columns=1).values, lower_is_better=lower_is_better))


def friedman(table: Any, *, names: Any = None, lower_is_better: bool = True) -> FriedmanTest:
    """Friedman's test of whether any methods differ.

    If all methods tie on all data sets, both p-values are 1. If all data sets rank the methods alike, the F of Iman and
    Davenport is infinite and its p-value 0, however few data sets there are; read ``p_value`` then. For two methods use
    :func:`wilcoxon`.

    Parameters
    ----------
    table : array-like or DataFrame of shape (n_datasets, n_methods)
        Without missing cells; at least three methods and two data sets.
    names, lower_is_better
        As in :func:`nemenyi`.

    Returns
    -------
    FriedmanTest
    """
    check_flag("lower_is_better", lower_is_better)
    results = as_table(table, names, least_columns=3, remedy="compare two methods by evaluation.wilcoxon")
    n, k = results.values.shape
    if n < 2:
        raise ValueError("table has 1 row (data set), but Friedman's test needs 2; pass the results of more")
    ranks = rank_rows(results.values, lower_is_better=lower_is_better)
    averages = _average(ranks)
    if (ranks == ranks[0, 0]).all():
        return FriedmanTest(results.columns, averages, 0.0, 1.0, 0.0, 1.0, n)
    test = stats.friedmanchisquare(*ranks.T)
    statistic, residual = float(test.statistic), n * (k - 1) - float(test.statistic)
    # Without a residual all rows have the same ranks.
    f = (n - 1) * statistic / residual if residual > 1e-9 * n * k else math.inf
    f_p = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    return FriedmanTest(results.columns, averages, statistic, float(test.pvalue), f, f_p, n)


def nemenyi(table: Any, alpha: float = 0.05, *, names: Any = None, lower_is_better: bool = True) -> NemenyiTest:
    """Nemenyi's test of all pairs of methods, by their average ranks.

    Parameters
    ----------
    table : array-like or DataFrame of shape (n_datasets, n_methods)
        Without missing cells.
    alpha : float
        Probability of at least one false difference among all pairs.
    names : sequence of str, optional
        Names of the methods; by default the columns of a DataFrame, or their positions.
    lower_is_better : bool
        True for errors.

    Returns
    -------
    NemenyiTest
    """
    check_flag("lower_is_better", lower_is_better)
    if not 0 < check_probability("alpha", alpha) < 1:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1; the usual choice is 0.05")
    results = as_table(table, names, least_columns=2)
    n, k = results.values.shape
    averages = _average(rank_rows(results.values, lower_is_better=lower_is_better))
    # The studentized range is of k standard normals; the square root is the standard error of a rank difference.
    unit = math.sqrt(k * (k + 1) / (6 * n)) / math.sqrt(2)
    critical = float(stats.studentized_range.ppf(1 - float(alpha), k, math.inf)) * unit
    p_values = np.ones((k, k))
    for i, j in zip(*np.triu_indices(k, 1), strict=True):
        difference = abs(averages[i] - averages[j]) / unit
        p_values[i, j] = p_values[j, i] = float(np.clip(stats.studentized_range.sf(difference, k, math.inf), 0, 1))
    return NemenyiTest(results.columns, averages, critical, p_values, float(alpha), n)


def critical_difference(
    table: Any, alpha: float = 0.05, *, names: Any = None, lower_is_better: bool = True
) -> CriticalDifference:
    """Average ranks, Nemenyi's critical difference, and groups of methods that do not differ (Demsar, 2006).

    Parameters
    ----------
    table, alpha, names, lower_is_better
        As in :func:`nemenyi`.

    Returns
    -------
    CriticalDifference

    Examples
    --------
    >>> from protoset.evaluation import critical_difference
    >>> table = [[0.1, 0.2, 0.4], [0.2, 0.1, 0.5], [0.1, 0.3, 0.6], [0.2, 0.1, 0.3], [0.1, 0.2, 0.3]]
    >>> result = critical_difference(table, names=["REPS", "SSMA", "CNN"])
    >>> result.average_ranks, round(result.critical_difference, 3), result.groups
    (array([1.4, 1.6, 3. ]), 1.482, ((0, 1), (1, 2)))
    """
    test = nemenyi(table, alpha, names=names, lower_is_better=lower_is_better)
    order = np.argsort(test.average_ranks, kind="stable")
    ranks = test.average_ranks[order]
    groups, reached = [], 0
    for start in range(len(order)):
        end = int(np.searchsorted(ranks - ranks[start], test.critical_difference, side="left"))
        if end - start > 1 and end > reached:
            groups.append(tuple(int(column) for column in order[start:end]))
            reached = end
    return CriticalDifference(**vars(test), groups=tuple(groups))


def _average(ranks: np.ndarray) -> np.ndarray:
    # Ranks are multiples of 1/2, so sums are exact and equal averages compare equal.
    return ranks.sum(axis=0) / len(ranks)
