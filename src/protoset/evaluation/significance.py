"""Signed-rank tests of two methods and of all pairs of methods. SciPy computes the statistics."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy import stats

from protoset._display import Displayed, Table
from protoset._validation import as_numbers, check_choice, name_rows
from protoset.evaluation._tables import ROUNDING_NOISE, as_table, merge_close

Alternative = Literal["two-sided", "less", "greater"]
ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "less", "greater")
"""Values of the parameter ``alternative``."""

Zeros = Literal["wilcox", "pratt", "zsplit"]
ZEROS: tuple[Zeros, ...] = ("wilcox", "pratt", "zsplit")
"""Values of the parameter ``zeros``."""

MAX_EXACT_PAIRS = 50
"""Largest number of differences without ties for which the exact distribution is used."""

MAX_EXACT_TIES = 13
"""The same with ties, as in SciPy: for more differences the normal approximation is close."""

LEVEL = 0.05
"""Level of significance at which the display of all pairs calls two methods different."""


@dataclass(frozen=True)
class SignedRankTest:
    """Result of Wilcoxon's signed-rank test.

    Attributes
    ----------
    statistic : float
        Rank sum of the positive differences. In a two-sided test: the smaller of the rank sums of the positive and the
        negative differences.
    p_value : float
    n : int
        Number of pairs whose ranks count: pairs that differ; with "zsplit" all pairs.
    n_zeros : int
        Number of pairs without a difference.
    n_ties : int
        Number of nonzero differences that have the same size as another one.
    method : {"exact", "normal", "none"}
        Exact distribution, or normal approximation corrected for ties. "none" if no pair differs; p is then 1.
    alternative : {"two-sided", "less", "greater"}
    zeros : {"wilcox", "pratt", "zsplit"}
    """

    statistic: float
    p_value: float
    n: int
    n_zeros: int
    n_ties: int
    method: Literal["exact", "normal", "none"]
    alternative: Alternative
    zeros: Zeros


def wilcoxon(a: Any, b: Any, *, alternative: Alternative = "two-sided", zeros: Zeros = "wilcox") -> SignedRankTest:
    """Wilcoxon's signed-rank test of paired results, such as the errors of two methods on many data sets.

    Parameters
    ----------
    a, b : array-like of shape (n_pairs,)
        Results of two methods; entries at the same position belong together.
    alternative : {"two-sided", "less", "greater"}
        Alternative hypothesis: ``a`` and ``b`` differ, ``a`` is smaller, or ``a`` is larger.
    zeros : {"wilcox", "pratt", "zsplit"}
        Treatment of pairs without a difference: "wilcox" leaves them out, "pratt" ranks them and then leaves them out
        (more conservative), "zsplit" ranks them and splits their ranks between both sides (Demsar, 2006, recommends
        it).

    Returns
    -------
    SignedRankTest

    Notes
    -----
    Ties share the mean of their ranks. The exact distribution, of all signs that the differences could have, is used
    for at most 50 differences, with ties for at most 13; with "pratt" and "zsplit" only without zeros. Otherwise the
    normal approximation is used, corrected for ties, without continuity correction. Numbers that differ by at most
    1e-12 of the largest value are equal: means over folds differ in their last digits.

    Examples
    --------
    >>> from protoset.evaluation import wilcoxon
    >>> test = wilcoxon([0.1, 0.2, 0.3, 0.2], [0.2, 0.4, 0.3, 0.6], alternative="less")
    >>> test.p_value, test.n, test.n_zeros, test.method
    (0.125, 3, 1, 'exact')
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("zeros", zeros, ZEROS)
    first, second = as_numbers("a", a), as_numbers("b", b)
    if first.ndim != 1 or first.shape != second.shape or len(first) == 0:
        raise ValueError(
            f"a has the shape {first.shape} and b {second.shape}; pass one value of each per pair, at least one pair"
        )
    for name, values in (("a", first), ("b", second)):
        missing = np.flatnonzero(~np.isfinite(values))
        if len(missing):
            positions = name_rows(missing, one="position", several="positions")
            raise ValueError(f"{name} is missing or infinite at {positions}; leave these pairs out of a and b")
    differences = _merged_differences(first, second)
    is_zero = differences == 0
    _, counts = np.unique(np.abs(differences[~is_zero]), return_counts=True)
    n_zeros, n_ties = int(is_zero.sum()), int(counts[counts > 1].sum())
    if n_zeros == len(differences):
        return SignedRankTest(0.0, 1.0, 0, n_zeros, 0, "none", alternative, zeros)
    # Zeros are left out here because older versions of SciPy are not exact with zeros.
    tested = differences[~is_zero] if zeros == "wilcox" else differences
    most = MAX_EXACT_TIES if n_ties else MAX_EXACT_PAIRS
    exact = len(tested) <= most and (zeros == "wilcox" or n_zeros == 0)
    if exact:
        statistic, p_value = _exact_test(tested, alternative)
    else:
        result = stats.wilcoxon(tested, zero_method=zeros, alternative=alternative, method="approx", correction=False)
        statistic, p_value = float(result.statistic), float(result.pvalue)
    return SignedRankTest(
        statistic,
        p_value,
        len(differences) - (0 if zeros == "zsplit" else n_zeros),
        n_zeros,
        n_ties,
        "exact" if exact else "normal",
        alternative,
        zeros,
    )


def _exact_test(differences: np.ndarray, alternative: Alternative) -> tuple[float, float]:
    """Statistic and p-value of differences other than 0, by the distribution over all signs."""
    ranks = stats.rankdata(np.abs(differences))
    # Ranks of ties are multiples of 1/2: their doubles are whole numbers.
    doubled = np.rint(2 * ranks).astype(int)
    positive = int(doubled[differences > 0].sum())
    chances = np.ones(1)
    for rank in doubled:
        chances = (np.append(chances, np.zeros(rank)) + np.append(np.zeros(rank), chances)) / 2
    at_most, at_least = float(chances[: positive + 1].sum()), float(chances[positive:].sum())
    if alternative == "two-sided":
        return min(positive, int(doubled.sum()) - positive) / 2, min(1.0, 2 * min(at_most, at_least))
    return positive / 2, min(1.0, at_most if alternative == "less" else at_least)


def holm(p_values: Any) -> np.ndarray:
    """Holm's step-down correction of several p-values.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        One p-value per test.

    Returns
    -------
    ndarray of shape (n_tests,)
        Corrected p-values, at most 1, in the same order.

    Examples
    --------
    >>> from protoset.evaluation import holm
    >>> holm([0.01, 0.04, 0.03]).round(3)
    array([0.03, 0.06, 0.06])
    """
    values = as_numbers("p_values", p_values)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"p_values={p_values!r} must be a list of numbers from 0 to 1")
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(stepped, 1)
    return corrected


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseTests(Displayed):
    """Signed-rank tests of all pairs of methods. A notebook shows a row per pair, the smallest p-value first.

    Attributes
    ----------
    names : tuple of str
    p_values : ndarray of shape (n_methods, n_methods)
        p-values without correction; 1 on the diagonal.
    corrected : ndarray of shape (n_methods, n_methods)
        p-values with Holm's correction over all pairs.
    tests : dict of (int, int) to SignedRankTest
        Tests by the two columns, the lower column first.
    """

    names: tuple[str, ...]
    p_values: np.ndarray
    corrected: np.ndarray
    tests: dict[tuple[int, int], SignedRankTest]

    def _summary(self) -> str:
        n_different = sum(bool(self.corrected[pair] < LEVEL) for pair in self.tests)
        pairs = "1 pair" if len(self.tests) == 1 else f"{len(self.tests)} pairs"
        return f"{pairs} of {len(self.names)} methods, {n_different} different (corrected p < {LEVEL})"

    def _table(self) -> Table:
        pairs = sorted(self.tests, key=lambda pair: self.p_values[pair])
        rows = (
            (
                self.names[pair[0]],
                self.names[pair[1]],
                self.tests[pair].n,
                self.p_values[pair],
                self.corrected[pair],
                "different" if self.corrected[pair] < LEVEL else "no difference shown",
            )
            for pair in pairs
        )
        headings = ("method", "other method", "results compared", "p", "corrected p (Holm)", f"at {LEVEL}")
        return Table(headings, rows, len(pairs), note="Wilcoxon's signed-rank tests, two-sided")


def pairwise_wilcoxon(table: Any, *, names: Any = None, zeros: Zeros = "wilcox") -> PairwiseTests:
    """Two-sided signed-rank tests of all pairs of methods, with Holm's correction.

    Parameters
    ----------
    table : array-like or DataFrame of shape (n_datasets, n_methods)
        Without missing cells.
    names : sequence of str, optional
        Names of the methods; by default the columns of a DataFrame, or their positions.
    zeros : {"wilcox", "pratt", "zsplit"}
        See :func:`wilcoxon`.

    Returns
    -------
    PairwiseTests

    Examples
    --------
    >>> from protoset.evaluation import pairwise_wilcoxon
    >>> errors = [[0.1, 0.2], [0.2, 0.4], [0.3, 0.35], [0.2, 0.6], [0.1, 0.4], [0.3, 0.31]]
    >>> pairwise_wilcoxon(errors, names=["refined", "random"])
    <PairwiseTests: 1 pair of 2 methods, 1 different (corrected p < 0.05)>
    """
    results = as_table(table, names, least_columns=2)
    pairs = list(combinations(range(len(results.columns)), 2))
    tests = {(i, j): wilcoxon(results.values[:, i], results.values[:, j], zeros=zeros) for i, j in pairs}
    p_values, corrected = np.ones((2, len(results.columns), len(results.columns)))
    rows, columns = np.transpose(pairs)
    p_values[rows, columns] = p_values[columns, rows] = [test.p_value for test in tests.values()]
    corrected[rows, columns] = corrected[columns, rows] = holm(p_values[rows, columns])
    return PairwiseTests(results.columns, p_values, corrected, tests)


def _merged_differences(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    differences = a - b
    tolerance = ROUNDING_NOISE * max(np.abs(a).max(), np.abs(b).max())
    sizes = merge_close(np.abs(differences), tolerance)
    return np.where(np.abs(differences) <= tolerance, 0.0, np.sign(differences) * sizes)
