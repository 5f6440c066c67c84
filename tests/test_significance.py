"""Tests of significance against SciPy, scikit-posthocs, enumeration and Demsar's tables."""

import csv
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from protoset.evaluation import (
    average_ranks,
    critical_difference,
    friedman,
    holm,
    nemenyi,
    pairwise_wilcoxon,
    pareto_ranks,
    wilcoxon,
)

# Half of them with few values, so with ties and zeros.
coarse = st.integers(0, 4).map(lambda value: value / 4)
fine = st.integers(0, 2**20).map(lambda value: value / 2**20)  # well above what counts as rounding


def tables(least_columns=3, least_rows=2):
    shape = st.tuples(st.integers(least_rows, 12), st.integers(least_columns, 6))
    return shape.flatmap(
        lambda shape: st.sampled_from([coarse, fine]).flatmap(
            lambda values: st.lists(
                st.lists(values, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
            ).map(np.array)
        )
    )


def enumerated(differences, alternative):
    """p-value by all assignments of signs to the ranks of differences that are not zero."""
    differences = differences[differences != 0]
    ranks = stats.rankdata(np.abs(differences))
    observed = ranks[differences > 0].sum()
    sums = np.array([ranks @ signs for signs in itertools.product((0, 1), repeat=len(ranks))])
    less, greater = (sums <= observed).mean(), (sums >= observed).mean()
    return {"less": less, "greater": greater, "two-sided": min(1, 2 * min(less, greater))}[alternative]


@given(
    st.lists(st.tuples(st.integers(1, 40) | st.integers(1, 3), st.booleans()), min_size=1, max_size=10),
    st.integers(0, 3),
    st.sampled_from(["two-sided", "less", "greater"]),
)
def test_the_p_value_of_few_pairs_is_exact_with_ties_too(signed, n_zeros, alternative):
    differences = np.array([size if up else -size for size, up in signed] + [0] * n_zeros, float)
    a = differences / 64 + 0.5
    test = wilcoxon(a, np.full(len(a), 0.5), alternative=alternative)
    assert test.method == "exact"
    assert (test.n, test.n_zeros) == (len(signed), n_zeros)
    assert test.p_value == pytest.approx(enumerated(differences, alternative))


@given(
    st.lists(st.tuples(coarse, coarse), min_size=1, max_size=60).filter(lambda pairs: any(a != b for a, b in pairs)),
    st.sampled_from(["two-sided", "less", "greater"]),
    st.sampled_from(["wilcox", "pratt", "zsplit"]),
)
def test_signed_ranks_agree_with_scipy(pairs, alternative, zeros):
    a, b = np.array(pairs).T
    test = wilcoxon(a, b, alternative=alternative, zeros=zeros)
    is_tied = test.n_ties > 0
    method = {"exact": "exact", "normal": "approx"}[test.method]
    differences = a - b if zeros != "wilcox" else (a - b)[a != b]
    if test.method == "normal" or not is_tied:  # SciPy's exact distribution is one without ties
        expected = stats.wilcoxon(differences, zero_method=zeros, alternative=alternative, method=method)
        assert (test.statistic, test.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    sizes = np.abs((a - b)[a != b]).tolist()
    assert test.n_zeros == (a == b).sum()
    assert test.n_ties == sum(sizes.count(size) > 1 for size in sizes)
    assert test.n == (len(a) if zeros == "zsplit" else len(sizes))
    assert (test.method == "exact") == (
        len(differences) <= (13 if is_tied else 50) and (zeros == "wilcox" or test.n_zeros == 0)
    )


@given(st.lists(st.tuples(fine, fine), min_size=1, max_size=20))
def test_signed_ranks_turn_around_and_do_not_know_the_scale(pairs):
    a, b = np.array(pairs).T
    less, greater = wilcoxon(a, b, alternative="less"), wilcoxon(b, a, alternative="greater")
    assert less.p_value == pytest.approx(greater.p_value)
    assert wilcoxon(a, b) == wilcoxon(b, a)
    assert wilcoxon(a * 1024, b * 1024) == wilcoxon(a, b)


def test_rounding_errors_are_neither_differences_nor_ranks():
    a, b = np.array([0.1 + 0.2, 0.5, 0.7, 0.8]), np.array([0.3, 0.4, 0.6, 0.7])
    assert len(set(np.abs(a - b))) == 3
    test = wilcoxon(a, b)
    assert (test.n_zeros, test.n_ties, test.n) == (1, 3, 3)


def test_nothing_differs():
    test = wilcoxon([0.1, 0.2], [0.1, 0.2], alternative="less")
    assert (test.p_value, test.statistic, test.n, test.n_zeros, test.method) == (1, 0, 0, 2, "none")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"a": [1, 2], "b": [1]}, r"a has the shape \(2,\) and b \(1,\)"),
        ({"a": [], "b": []}, "at least one pair"),
        ({"a": [1, np.nan, np.inf], "b": [1, 2, 3]}, "a is missing or infinite at positions 1, 2; leave these pairs"),
        ({"a": [1], "b": [None]}, "b is missing or infinite at position 0"),
        ({"a": [1], "b": ["x"]}, r"b=\['x'\] must be numbers"),
        ({"a": [1], "b": [2], "alternative": "lesser"}, "alternative='lesser' is not known.*did you mean 'less'"),
        ({"a": [1], "b": [2], "zeros": "drop"}, "zeros='drop' is not known"),
    ],
)
def test_pairs_that_cannot_be_tested(arguments, message):
    with pytest.raises(ValueError, match=message):
        wilcoxon(**arguments)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values):
    corrected = holm(p_values)
    for alpha in (0.01, 0.05, 0.3):
        rejected = set()
        for step, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
            if p_values[place] * (len(p_values) - step) > alpha:
                break
            rejected.add(place)
        assert set(np.flatnonzero(corrected <= alpha)) == rejected


def test_p_values_are_probabilities():
    with pytest.raises(ValueError, match="p_values=.* must be a list of numbers from 0 to 1"):
        holm([0.1, 1.2])
    assert len(holm([])) == 0


@pytest.mark.parametrize("seed", range(3))
def test_pairs_agree_with_scikit_posthocs(seed):
    scikit_posthocs = pytest.importorskip("scikit_posthocs")
    table = np.random.default_rng(seed).random((15, 4)) + np.arange(4) / 5
    tests = pairwise_wilcoxon(table)
    for ours, correction in ((tests.p_values, None), (tests.corrected, "holm")):
        theirs = scikit_posthocs.posthoc_wilcoxon(list(table.T), p_adjust=correction).to_numpy()
        assert np.allclose(ours, theirs)
    assert tests.tests[1, 3] == wilcoxon(table[:, 1], table[:, 3])


@given(tables())
def test_friedman_agrees_with_scipy(table):
    test = friedman(table)
    if all(len(set(row)) == 1 for row in table.tolist()):
        assert (test.statistic, test.p_value, test.f_p_value) == (0, 1, 1)
        return
    expected = stats.friedmanchisquare(*table.T)
    assert (test.statistic, test.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert np.allclose(test.average_ranks, stats.rankdata(table, axis=1).mean(axis=0))


def test_iman_and_davenport_as_in_demsars_example():
    """Table 6 of Demsar (2006), whose text has chi-square 9.28 and F = 3.69."""
    table = 1 - np.array(
        [
            [0.763, 0.768, 0.771, 0.798],
            [0.599, 0.591, 0.590, 0.569],
            [0.954, 0.971, 0.968, 0.967],
            [0.628, 0.661, 0.654, 0.657],
            [0.882, 0.888, 0.886, 0.898],
            [0.936, 0.931, 0.916, 0.931],
            [0.661, 0.668, 0.609, 0.685],
            [0.583, 0.583, 0.563, 0.625],
            [0.775, 0.838, 0.866, 0.875],
            [1.000, 1.000, 1.000, 1.000],
            [0.940, 0.962, 0.965, 0.962],
            [0.619, 0.666, 0.614, 0.669],
            [0.972, 0.981, 0.975, 0.9749],  # printed as 0.975, and as the third
            [0.957, 0.978, 0.946, 0.970],
        ]
    )
    test = friedman(table)
    assert test.average_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    # The text computes without the correction for ties, here of three pairs and of all four at once.
    plain = 12 * 14 / (4 * 5) * ((test.average_ranks**2).sum() - 4 * 25 / 4)
    assert plain == pytest.approx(9.28, abs=0.01)
    assert test.statistic == pytest.approx(plain / (1 - (3 * 6 + 60) / (14 * 60)))
    assert test.f_statistic == pytest.approx(13 * test.statistic / (14 * 3 - test.statistic))
    result = critical_difference(table, names=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"])
    assert result.critical_difference == pytest.approx(1.25, abs=0.01)
    assert result.groups == ((3, 1, 2, 0),)
    assert critical_difference(table, 0.1).critical_difference == pytest.approx(1.12, abs=0.01)


def test_all_rows_agree():
    test = friedman([[1, 2, 3]] * 5)
    assert test.f_statistic == math.inf
    assert test.f_p_value == 0


@pytest.mark.parametrize(
    ("alpha", "values"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_values_as_in_demsars_table(alpha, values):
    for k, value in enumerate(values, start=2):
        test = nemenyi(np.random.default_rng(k).random((9, k)), alpha)
        assert test.critical_difference / math.sqrt(k * (k + 1) / (6 * 9)) == pytest.approx(value, abs=1.1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_nemenyi_agrees_with_scikit_posthocs(seed):
    scikit_posthocs = pytest.importorskip("scikit_posthocs")
    table = np.random.default_rng(seed).integers(0, 6, (12, 5)) + np.arange(5)
    theirs = scikit_posthocs.posthoc_nemenyi_friedman(table).to_numpy()
    assert np.allclose(nemenyi(table).p_values, theirs, atol=1e-6)


@given(tables(least_columns=2), st.sampled_from([0.01, 0.05, 0.1, 0.5]))
def test_bars_agree_with_numbers(table, alpha):
    """A pair shares a bar exactly where Nemenyi's p-value does not reject it, and no bar is part of another."""
    result, test = critical_difference(table, alpha), nemenyi(table, alpha)
    k = table.shape[1]
    for i, j in itertools.combinations(range(k), 2):
        together = any({i, j} <= set(group) for group in result.groups)
        between = abs(result.average_ranks[i] - result.average_ranks[j])
        assert together == (between < result.critical_difference)
        if abs(between - result.critical_difference) > 1e-6:
            assert together == (test.p_values[i, j] > alpha)
    for group, other in itertools.permutations(result.groups, 2):
        assert not set(group) <= set(other)
    for group in result.groups:
        assert len(group) > 1
        assert np.all(np.diff(result.average_ranks[list(group)]) >= 0)


@given(tables(), st.randoms(use_true_random=False))
def test_ranks_know_only_the_order_and_follow_the_columns(table, random):
    ranks = average_ranks(table)
    assert ranks.sum() == pytest.approx(table.shape[1] * (table.shape[1] + 1) / 2)
    assert np.array_equal(average_ranks(-table, lower_is_better=False), ranks)
    assert np.array_equal(average_ranks(table * 8), ranks)
    order = random.sample(range(table.shape[1]), table.shape[1])
    assert np.allclose(average_ranks(table[:, order]), ranks[order])


def test_rounding_errors_are_no_ranks():
    assert average_ranks([[0.1 + 0.2, 0.3, 0.4]]).tolist() == [1.5, 1.5, 3]


def test_names_come_from_a_data_frame():
    frame = pd.DataFrame(np.random.default_rng(0).random((5, 3)), columns=["REPS", "SSMA", "CNN"])
    for test in (friedman(frame), nemenyi(frame), critical_difference(frame), pairwise_wilcoxon(frame)):
        assert test.names == ("REPS", "SSMA", "CNN")
    assert friedman(frame.to_numpy(), names=["a", "b", "c"]).names == ("a", "b", "c")


@pytest.mark.parametrize("test", [friedman, nemenyi, critical_difference, pairwise_wilcoxon])
def test_tables_that_cannot_be_tested(test):
    frame = pd.DataFrame(np.ones((3, 3)), index=["iris", "wine", "glass"], columns=["REPS", "SSMA", "CNN"])
    frame.loc["wine", "CNN"] = np.nan
    with pytest.raises(ValueError, match="table has nan at row 'wine', column 'CNN'; .*leave out the row or the col"):
        test(frame)
    with pytest.raises(ValueError, match="table has nan at row 0, column '1' and 2 more cells"):
        test([[1, np.nan, np.inf], [None, 2, 3]])
    with pytest.raises(ValueError, match=r"table has the shape \(3,\); pass one row per data set"):
        test([1, 2, 3])
    with pytest.raises(ValueError, match="table has no rows"):
        test(np.empty((0, 3)))
    with pytest.raises(ValueError, match=r"table has 1 columns \(methods\), but this test needs [23]"):
        test([[1], [2]])
    with pytest.raises(ValueError, match="names has 2 names for 3 columns"):
        test([[1, 2, 3]], names=["a", "b"])


def test_friedman_needs_three_methods_and_two_data_sets():
    with pytest.raises(ValueError, match="this test needs 3; compare two methods by evaluation.wilcoxon"):
        friedman([[1, 2], [2, 3]])
    with pytest.raises(ValueError, match="table has 1 row"):
        friedman([[1, 2, 3]])


def test_levels_are_probabilities():
    for alpha in (0, 1, 5, "0.05"):
        with pytest.raises(ValueError, match=f"alpha={alpha!r} must be"):
            nemenyi([[1, 2], [2, 3]], alpha)


def test_the_papers_tests_from_its_printed_tables(data_folder):
    """Pareto ranks and tests from the printed rates are near the printed p-values; RMHC's is off by a factor of 2."""
    folder = data_folder.parent / "paper"
    if not folder.is_dir():
        pytest.skip(f"no tables of the paper: {folder} is not there")

    def read(name):
        with (folder / name).open() as file:
            return list(csv.DictReader(file))

    rates, fixed = read("table_vector_err_slr.csv"), read("table_fsr.csv")
    baselines = ["CCIS", "FCNN", "SSMA", "DROP3", "RMHC"]
    printed = {row["comparison"]: row for row in read("table_signed_rank.csv")}
    ranks = np.array(
        [
            pareto_ranks([(row[f"{method}_err"], row[f"{method}_slr"]) for method in [*baselines, "REPS"]])
            for row in rates
        ]
    )
    for column, baseline in enumerate(baselines):
        by_rank = wilcoxon(ranks[:, -1], ranks[:, column], alternative="less")
        ours = [float(row["reps_fsr_err"]) for row in fixed if row["baseline"] == baseline]
        theirs = [float(row["baseline_err"]) for row in fixed if row["baseline"] == baseline]
        by_error = wilcoxon(ours, theirs, alternative="less")
        tolerance = 0.6 if baseline == "RMHC" else 0.15
        assert by_rank.p_value == pytest.approx(float(printed["pareto_rank"][baseline]), rel=tolerance)
        assert by_error.p_value == pytest.approx(float(printed["fsr_err"][baseline]), rel=0.15)
