"""The order of the prototypes, from weights that are given."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from protoset.features import rank_exponential
from protoset.neighbors import build_lists
from protoset.selectors import ranking
from protoset.solvers import Solution, solve
from protoset.spaces import make_space

# The line of the worked example: best ranks 1, 1, 1, 1, 2; supports 2, -4, 4, 6, 3 sixteenths.
LISTS = build_lists(make_space(np.array([[0.0], [1.0], [3.0], [7.0], [12.0]])), 4)
CODES = np.array([0, 0, 1, 1, 1])


@pytest.fixture
def rank(monkeypatch):
    """Ranks the objects of the worked example by weights, proved up to a relative error."""

    def rank(weights, weight_error=0.0, **options):
        solution = Solution(np.array(weights, float), np.zeros(5), 1.0, 1.0, 0.0, weight_error, 1, "given")
        monkeypatch.setattr(ranking, "solve", lambda *args, **named: solution)
        return ranking.rank_prototypes(LISTS, CODES, **options)

    return rank


def test_weights_that_differ_less_than_they_are_proved_are_tied(rank):
    """A fit is solved to a relative error of 1e-6: below it the support decides, well above it the weights."""
    assert rank([1, 0.2, 0.1, 1 - 1e-7, 0.1]).ranking.tolist() == [3, 0, 1, 2, 4]
    assert rank([1, 0.2, 0.1, 1 - 1e-5, 0.1]).ranking.tolist() == [0, 3, 1, 2, 4]


def test_objects_tied_in_score_and_support_keep_their_order(rank, monkeypatch):
    lists = build_lists(make_space(np.array([[0.0], [1.0], [2.0], [3.0]])), 3, ties="average")
    solution = Solution(np.ones(4), np.zeros(4), 1.0, 1.0, 0.0, 0.0, 1, "given")
    monkeypatch.setattr(ranking, "solve", lambda *args, **named: solution)
    assert ranking.rank_prototypes(lists, np.zeros(4, int)).ranking.tolist() == [1, 2, 0, 3]


def test_the_defaults_are_those_of_the_worked_example():
    ranked = ranking.rank_prototypes(LISTS, CODES)
    np.testing.assert_allclose(ranked.weights, 1e-3 / 5 * np.array([1 / 8, 0, 1 / 4, 3 / 8, 3 / 16]), rtol=1e-14)
    np.testing.assert_allclose(ranked.degradations, [np.log2(3), np.inf, np.log2(1.5), 0, 1])


def test_parameters_reach_the_features_and_the_solver():
    options = {"loss": "sum", "solver": "lbfgs", "tol": 1e-4}
    constraints = rank_exponential(LISTS, CODES, 3.0)
    solution = solve(constraints.features, constraints.rho, 5.0, weight_tol=1e-6, **options)
    ranked = ranking.rank_prototypes(LISTS, CODES, beta=3.0, C=5.0, **options)
    np.testing.assert_array_equal(ranked.solution.weights, solution.weights)
    assert (ranked.solution.solver, ranked.solution.primal) == ("lbfgs", solution.primal)


@pytest.mark.parametrize("beta", [2.0, 10.0])
def test_degradations_are_logarithms_of_the_weights(rank, beta):
    ranked = rank([beta**-2, beta**-1, 1, 0, beta**-3], beta=beta)
    np.testing.assert_allclose(ranked.degradations, [2, 1, 0, np.inf, 3], atol=1e-12)
    np.testing.assert_allclose(ranked.scores, [3, 2, 1, np.inf, 5])
    assert ranked.ranking.tolist() == [2, 1, 0, 4, 3]


def test_weights_that_are_not_told_from_0_are_0(rank):
    """Up to the error of the weights in the 2-norm, but never more than a thousandth of the largest."""
    weights = [4.0, 3.0, 4e-5, 6e-5, 1e-2]
    assert rank(weights, weight_error=1e-5).weights.tolist() == [4.0, 3.0, 0.0, 6e-5, 1e-2]
    with pytest.warns(ConvergenceWarning, match="guarantees the weights only up to a relative error of 5.00e-01"):
        ranked = rank(weights, weight_error=0.5)
    assert ranked.weights.tolist() == [4.0, 3.0, 0.0, 0.0, 1e-2]


def test_weights_of_0_leave_the_order_to_ranks_and_support(rank):
    ranked = rank(np.zeros(5))
    assert ranked.degradations.tolist() == [0] * 5
    assert ranked.ranking.tolist() == [3, 2, 0, 1, 4]


def test_the_truncation_bound_is_in_the_units_of_the_loss(rank):
    lists = build_lists(make_space(np.arange(12.0)[:, None] ** 2), 3)
    codes = np.arange(12) % 2
    mean = ranking.rank_prototypes(lists, codes, C=0.12, loss="mean").truncation_bound
    total = ranking.rank_prototypes(lists, codes, C=0.02, loss="sum").truncation_bound
    assert total == pytest.approx(2 * mean) != 0  # 0.12 / 12 = 0.02 / 2
