"""Five objects on a line, every intermediate value worked out by hand.

object      0    1    2    3    4
position    0    1    3    7   12
class       A    A    B    B    B
"""

import numpy as np
import pytest

from protoset import REPS, PrototypeClassifier
from protoset.decisions import probabilities_of
from protoset.decisions.probabilities import ProbabilityMap
from protoset.features import rank_exponential
from protoset.neighbors import build_lists
from protoset.spaces import make_space

X = np.array([[0.0], [1.0], [3.0], [7.0], [12.0]])
Y = np.array(["A", "A", "B", "B", "B"])
CODES = np.array([0, 0, 1, 1, 1])

NEIGHBORS = [[1, 2, 3, 4], [0, 2, 3, 4], [1, 0, 3, 4], [2, 4, 1, 0], [3, 2, 1, 0]]
DISTANCES = [[1, 3, 7, 12], [1, 2, 6, 11], [2, 3, 4, 9], [4, 5, 6, 7], [5, 9, 11, 12]]
FEATURES = (
    np.array(
        [
            [0, 8, -4, -2, -1],
            [8, 0, -4, -2, -1],
            [-4, -8, 0, 2, 1],
            [-1, -2, 8, 0, 4],
            [-1, -2, 4, 8, 0],
        ]
    )
    / 16
)
RHO = np.array([7, 7, 12, 3, 3]) / 16
C = 1e-3
c = C / 5
WEIGHTS = c * np.array([1 / 8, 0, 1 / 4, 3 / 8, 3 / 16])  # the sums of the columns, where positive
DEGRADATIONS = [np.log2(3), np.inf, np.log2(1.5), 0, 1]
SCORES = [np.log2(3) + 1, np.inf, np.log2(1.5) + 1, 1, 1 + 2]  # object 4 is never nearest: best rank 2
RANKING = [3, 2, 0, 4, 1]


def test_neighbour_lists():
    lists = build_lists(make_space(X), 4)
    np.testing.assert_array_equal(lists.indices.reshape(5, 4), NEIGHBORS)
    np.testing.assert_array_equal(lists.distances.reshape(5, 4), DISTANCES)
    np.testing.assert_array_equal(lists.ranks.reshape(5, 4), [[1, 2, 3, 4]] * 5)
    np.testing.assert_array_equal(lists.best_ranks(), [1, 1, 1, 1, 2])


def test_features_and_rho():
    constraints = rank_exponential(build_lists(make_space(X), 53), CODES)
    np.testing.assert_array_equal(constraints.features.toarray(), FEATURES)
    np.testing.assert_array_equal(constraints.rho, RHO)
    assert constraints.truncation_bound(c) == 0


def test_truncation_bound():
    """Lists of two: each row leaves out 1/8 + 1/16 and less than 1/4; friends give object 2 the most, 1/2 + 1/4."""
    constraints = rank_exponential(build_lists(make_space(X), 2, ties="ordinal"), CODES)
    assert constraints.cut_off == 5 / 4
    assert constraints.truncation_bound(1 / 5) == pytest.approx(1 / 5 * 5 / 4 * (1 + 1 / 5 * (3 / 4 + 5 / 4)))


def test_fit():
    selector = REPS(n_prototypes=3).fit(X, Y)
    np.testing.assert_allclose(selector.weights_, WEIGHTS, rtol=1e-14)
    np.testing.assert_allclose(selector.degradations_, DEGRADATIONS, rtol=1e-14)
    np.testing.assert_allclose(selector.scores_, SCORES, rtol=1e-14)
    np.testing.assert_array_equal(selector.ranking_, RANKING)
    assert (selector.solver_, selector.n_iter_, selector.truncation_bound_) == ("closed_form", 0, 0)
    assert selector.duality_gap_ < 1e-15
    np.testing.assert_array_equal(selector.sample_indices_, [0, 2, 3])  # quotas 1.2 and 1.8: one A, two B
    np.testing.assert_array_equal(selector.select(2), [0, 3])
    np.testing.assert_array_equal(selector.select(4, allocation="equal"), [0, 1, 2, 3])
    np.testing.assert_array_equal(selector.select(2, allocation="global"), [2, 3])


def test_objective():
    from protoset.solvers import solve

    constraints = rank_exponential(build_lists(make_space(X), 53), CODES)
    solution = solve(constraints.features, constraints.rho, C)
    expected = 2 * c - 65 / 512 * c**2  # rho sums to 2, |w|^2 is 65/256 c^2, and w . (sum of r) = |w|^2 / c
    assert solution.primal == pytest.approx(expected, rel=1e-14)
    assert solution.dual == pytest.approx(expected, rel=1e-14)
    np.testing.assert_allclose(solution.dual_variables, c)


def test_literal_score_is_the_printed_formula():
    selector = REPS(n_prototypes=3, reading="literal").fit(X, Y)
    with np.errstate(divide="ignore"):
        printed = np.log2(WEIGHTS) + np.array([1, 1, 1, 1, 2])
    np.testing.assert_allclose(selector.scores_, -printed)
    # Objects 3 and 4 tie at log2(3c/4); 3 has the larger support.
    np.testing.assert_array_equal(selector.ranking_, [3, 4, 2, 0, 1])


def test_predictions_by_both_rules():
    """Prototypes 0 (A, degradation log2 3) and 3 (B, 0): B wins wherever A is less than 1.58 ranks ahead."""
    queries = [[1.4], [3.6], [-5.0]]
    nearest = PrototypeClassifier(REPS(n_prototypes=2)).fit(X, Y)
    np.testing.assert_array_equal(nearest.predict(queries), ["A", "B", "A"])
    with pytest.warns(UserWarning, match=r"can never predict the classes \['A'\]"):  # as seen below
        adjusted = PrototypeClassifier(REPS(n_prototypes=2), rule="adjusted").fit(X, Y)
    np.testing.assert_array_equal(adjusted.predict(queries), ["B", "B", "B"])
    explanation = adjusted.explain(queries[:1])
    np.testing.assert_array_equal(explanation.indices, [[3, 0]])
    np.testing.assert_array_equal(explanation.labels, [["B", "A"]])
    np.testing.assert_allclose(explanation.distances, [[5.6, 1.4]])
    np.testing.assert_array_equal(explanation.ranks, [[2, 1]])
    np.testing.assert_allclose(explanation.degradations, [[0, np.log2(3)]])
    np.testing.assert_allclose(explanation.adjusted_ranks, [[2, 1 + np.log2(3)]])
    # By powers of 2: 2^-(1 + log2 3) = 1/6 and 2^-2 = 1/4.
    by_ranks = ProbabilityMap(np.array([np.log(2)]), 0.0)
    np.testing.assert_allclose(probabilities_of(adjusted._rule, by_ranks, np.array([[1.4, 5.6]])), [[0.4, 0.6]])
