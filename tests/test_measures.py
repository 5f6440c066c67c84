"""Measures and Pareto ranks: invariances, independent references, the paper's formula."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from protoset.evaluation import (
    balanced_accuracy,
    distances_per_query,
    error_rate,
    estimate_error,
    log_odds_ratio,
    macro_f1,
    pareto_ranks,
    selection_rate,
)

label_pairs = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=30)
shares = st.floats(0, 1)


@given(label_pairs)
def test_errors_agree_with_scikit_learn(pairs):
    true, predicted = (np.array(side) for side in zip(*pairs, strict=True))
    assert error_rate(true, predicted) == pytest.approx(1 - accuracy_score(true, predicted))
    assert macro_f1(true, predicted) == pytest.approx(f1_score(true, predicted, average="macro", zero_division=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert balanced_accuracy(true, predicted) == pytest.approx(balanced_accuracy_score(true, predicted))


@given(label_pairs, st.permutations("abcd"))
def test_errors_do_not_depend_on_the_names_of_the_classes(pairs, names):
    renamed = [(names["abcd".index(a)], names["abcd".index(b)]) for a, b in pairs]
    for measure in (error_rate, macro_f1, balanced_accuracy):
        before, after = (measure(*zip(*side, strict=True)) for side in (pairs, renamed))
        assert before == pytest.approx(after)


def test_an_error_is_the_count_divided_once():
    assert error_rate([0] * 10, [1] * 3 + [0] * 7) == 0.3


@pytest.mark.parametrize(
    ("true", "predicted", "kind", "message"),
    [
        ([1, 2], [1], ValueError, r"y_true has the shape \(2,\) and y_pred \(1,\); pass one label"),
        ([], [], ValueError, "at least one object"),
        ([[1, 2]], [[1, 2]], ValueError, "one label of each per object"),
        ([1, 2], ["1", "2"], TypeError, "y_true has labels of type int64 and y_pred of type <U1"),
    ],
)
def test_labels_that_do_not_fit_together(true, predicted, kind, message):
    with pytest.raises(kind, match=message):
        error_rate(true, predicted)


def test_sizes():
    assert selection_rate(3, 12) == 0.25
    assert selection_rate(0, 12) == 0
    assert distances_per_query(7) == 7
    assert distances_per_query([10, 20]) == 15
    assert distances_per_query([10, 20], [3, 1]) == 12.5
    with pytest.raises(ValueError, match="n_prototypes=13 is more than n_train=12; pass the size of the training set"):
        selection_rate(13, 12)
    with pytest.raises(ValueError, match="n_train=0 must be a whole number of at least 1"):
        selection_rate(0, 0)
    with pytest.raises(ValueError, match="one number of each per fold"):
        distances_per_query([1, 2], [1])
    with pytest.raises(ValueError, match="at least one query per fold"):
        distances_per_query([1, 2], [1, 0])


@given(st.integers(1, 500), st.data())
def test_wilsons_interval_by_its_equation(n_test, data):
    """The ends of the interval are the shares whose own normal interval just reaches the observed one."""
    n_errors = data.draw(st.integers(0, n_test))
    estimate = estimate_error(n_errors, n_test)
    assert 0 <= estimate.lower <= estimate.error <= estimate.upper <= 1
    for end in (estimate.lower, estimate.upper):
        if 1e-9 < end < 1 - 1e-9:
            deviation = math.sqrt(end * (1 - end) / n_test)
            assert abs(end - estimate.error) / deviation == pytest.approx(1.959963984540054, rel=1e-6)
    mirrored = estimate_error(n_test - n_errors, n_test)
    assert (1 - mirrored.upper, 1 - mirrored.lower) == pytest.approx((estimate.lower, estimate.upper), abs=1e-12)


def test_an_interval_in_literal_numbers():
    estimate = estimate_error(12, 100)
    assert estimate.standard_error == pytest.approx(0.032496153618543844)
    assert (estimate.lower, estimate.upper) == pytest.approx((0.06999, 0.19812), abs=2e-5)
    wider = estimate_error(12, 100, confidence=0.99)
    assert wider.lower < estimate.lower < estimate.upper < wider.upper


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_errors": 5, "n_test": 4}, "n_errors=5 is more than n_test=4"),
        ({"n_errors": -1, "n_test": 4}, "n_errors=-1 must be a whole number"),
        ({"n_errors": 0.5, "n_test": 4}, "n_errors=0.5 must be a whole number"),
        ({"n_errors": 0, "n_test": 0}, "n_test=0 must be"),
        ({"n_errors": 1, "n_test": 4, "confidence": 1.0}, "confidence=1.0 must be between 0 and 1"),
        ({"n_errors": 1, "n_test": 4, "confidence": 95}, "confidence=95 must be a probability"),
    ],
)
def test_estimates_that_make_no_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        estimate_error(**arguments)


@given(
    st.floats(0.01, 0.99),
    st.floats(0.05, 0.95),
    st.floats(0.01, 0.9),
)
def test_the_log_odds_ratio_is_the_papers_where_that_has_a_value(rate, error, share):
    everything = error * share
    difference = error - everything

    def odds(p):
        return p / (1 - p)

    expected = math.log(odds(rate) * odds(error) / odds(difference))
    measured = log_odds_ratio(rate, error, everything, n_train=1000, n_test=1000)
    assert measured == pytest.approx(expected, abs=1e-9)


@given(shares, shares, shares, st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_log_odds_ratio_always_has_a_value(rate, error, everything, n_train, n_test):
    assert math.isfinite(log_odds_ratio(rate, error, everything, n_train=n_train, n_test=n_test))


@given(st.lists(shares, min_size=2, max_size=2), shares, shares, st.integers(1, 1000))
def test_the_log_odds_ratio_rises_with_the_selection_rate(rates, error, everything, n):
    low, high = sorted(rates)
    values = [log_odds_ratio(rate, error, everything, n_train=n, n_test=n) for rate in (low, high)]
    assert values[0] <= values[1]


@given(shares, st.floats(0, 0.9), st.lists(st.floats(0, 0.5), min_size=2, max_size=2), st.integers(2, 1000))
def test_the_log_odds_ratio_falls_with_a_small_loss(rate, everything, shares_of_turn, n):
    """Up to the turn at (1 - ERR_NoPS) / 2 above the error of everything, as its docstring says."""
    losses = sorted(share * (1 - everything) for share in shares_of_turn)
    low, high = (log_odds_ratio(rate, everything + loss, everything, n_train=n, n_test=n) for loss in losses)
    if losses[0] >= 0.5 / n and everything >= 0.5 / n:
        assert low >= high - 1e-9


def test_no_gain_counts_as_half_an_object():
    at = {"n_train": 100, "n_test": 200}
    better, equal = log_odds_ratio(0.1, 0.2, 0.3, **at), log_odds_ratio(0.1, 0.2, 0.2, **at)
    assert better == equal
    assert equal == pytest.approx(math.log(0.1 / 0.9 * 0.25) - math.log(0.0025 / 0.9975))


@pytest.mark.parametrize("name", ["selection_rate", "error", "error_of_everything"])
def test_a_rate_in_percent_is_refused(name):
    arguments = {"selection_rate": 0.1, "error": 0.2, "error_of_everything": 0.1, name: 20}
    with pytest.raises(ValueError, match=f"{name}=20 must be a probability"):
        log_odds_ratio(**arguments, n_train=10, n_test=10)


tuples = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=14)


def slow_ranks(points):
    """Longest chain of rows that dominate each other, ending here: the same ranks by another definition."""

    def dominates(p, q):
        return p[0] <= q[0] and p[1] <= q[1] and p != q

    def rank(q):
        return 1 + max((rank(p) for p in points if dominates(p, q)), default=0)

    return [rank(point) for point in points]


@given(tuples)
def test_pareto_ranks_are_lengths_of_chains(points):
    assert pareto_ranks(points).tolist() == slow_ranks(points)


@given(tuples, st.randoms(use_true_random=False))
def test_pareto_ranks_know_only_the_order(points, random):
    ranks = pareto_ranks(points)
    values = np.array(points, float)
    assert np.array_equal(pareto_ranks(np.exp(values) - 7), ranks)
    assert np.array_equal(pareto_ranks(values[:, ::-1]), ranks)
    order = random.sample(range(len(points)), len(points))
    assert np.array_equal(pareto_ranks(values[order]), ranks[order])


@given(tuples, st.lists(st.booleans(), min_size=14, max_size=14))
def test_failed_runs_have_no_rank_and_change_none(points, failed):
    values = np.array(points, float)
    failed = np.array(failed[: len(points)])
    broken = np.concatenate([values, values])
    broken[: len(values)][failed] = np.nan
    broken[len(values) :, 1] = np.nan
    ranks = pareto_ranks(broken)
    assert np.isnan(ranks[len(values) :]).all()
    assert np.isnan(ranks[: len(values)][failed]).all()
    assert np.array_equal(ranks[: len(values)][~failed], pareto_ranks(values[~failed]))


def test_pareto_ranks_do_not_depend_on_the_order_of_folds():
    means = [np.mean([0.1, 0.2, 0.3]), np.mean([0.3, 0.2, 0.1])]
    assert means[0] != means[1]
    for pair in (means, means[::-1]):
        np.testing.assert_array_equal(pareto_ranks(np.column_stack([pair, [0.1, 0.5]])), [1, 2])


def test_pareto_ranks_of_nothing_and_of_the_wrong_shape():
    assert pareto_ranks(np.empty((0, 2))).shape == (0,)
    with pytest.raises(ValueError, match=r"points has the shape \(3,\); pass one row of measures per method"):
        pareto_ranks([1, 2, 3])
    with pytest.raises(ValueError, match="points=.* must be numbers"):
        pareto_ranks([["a", 1.0]])
