"""Rank-exponential features and the bound on what the lists leave out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from protoset import REPS
from protoset.features import rank_exponential
from protoset.neighbors import NeighborLists, build_lists
from protoset.neighbors.lists import TIES
from protoset.neighbors.search import negligible_rank
from protoset.solvers import solve
from protoset.spaces import make_space

from conftest import labelled_vectors, overlapping


def dense_features(matrix, codes, beta, ties):
    n = len(matrix)
    E = np.zeros((n, n))
    for row in range(n):
        others = np.delete(np.arange(n), row)
        E[row, others] = beta ** -rankdata(matrix[row, others], ties)
    friend = codes[:, None] == codes[None, :]
    return np.where(friend, E, -E), (beta - 1) * np.where(friend, 0, E).sum(axis=1)


@pytest.mark.parametrize("ties", TIES)
@given(data=labelled_vectors(tied=True), beta=st.floats(1.1, 5))
def test_features_against_the_dense_definition(ties, data, beta):
    X, codes = data
    matrix = cdist(X, X)
    expected, rho = dense_features(matrix, codes, beta, ties)
    lists = build_lists(make_space(matrix, "precomputed"), len(X), ties=ties)
    got = rank_exponential(lists, codes, beta)
    np.testing.assert_allclose(got.features.toarray(), expected, rtol=1e-12)
    np.testing.assert_allclose(got.rho, rho, rtol=1e-12, atol=1e-300)
    assert got.truncation_bound(1.0) == 0


@pytest.mark.filterwarnings("ignore:the solver:sklearn.exceptions.ConvergenceWarning")  # the gap is allowed for
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("distances", ["distinct", "rounded", "capped"])
@given(
    ready_made=st.booleans(),
    seed=st.integers(0, 10_000),
    k=st.integers(1, 20),
    beta=st.floats(1.2, 4),
    bound=st.sampled_from([1e-5, 1e-2, 1.0]),
)
def test_the_truncation_bound_holds(ties, distances, ready_made, seed, k, beta, bound):
    """The optimum of the cut problem is as near to that of the whole one as the bound says."""
    X, codes = overlapping(30, d=2, seed=seed)
    matrix = cdist(X, X)
    if distances == "rounded":
        matrix = np.round(matrix)
    elif distances == "capped":  # the near ones differ, all the others tie
        matrix = np.minimum(matrix, np.quantile(matrix, 0.1))
    space = make_space(matrix, "precomputed")
    whole = rank_exponential(build_lists(space, 29, ties=ties), codes, beta)
    if ready_made:  # cut through ties, without knowing it
        indices = np.argsort(matrix + 1e9 * np.eye(30), axis=1, kind="stable")[:, :k]
        lists = NeighborLists.from_arrays(indices, np.take_along_axis(matrix, indices, axis=1), ties)
    else:
        lists = build_lists(space, k, ties=ties)
    part = rank_exponential(lists, codes, beta)
    C = bound * len(X)
    best = solve(whole.features, whole.rho, C, tol=1e-9)
    cut = solve(part.features, part.rho, C, tol=1e-9)
    solver_error = best.primal - best.dual + cut.primal - cut.dual
    assert abs(best.primal - cut.primal) <= part.truncation_bound(bound) + solver_error + 1e-12 * best.primal


@pytest.mark.parametrize("ties", ["min", "average"])
def test_the_truncation_bound_holds_for_open_lists(ties, monkeypatch):
    monkeypatch.setattr("protoset.neighbors.search.TIED_LISTS_BYTES", 0)
    space = make_space(np.zeros((20, 1)))
    codes = np.arange(20) % 2
    part = rank_exponential(build_lists(space, 3, ties=ties), codes)
    monkeypatch.undo()
    whole = rank_exponential(build_lists(space, 3, ties=ties), codes)
    best, cut = solve(whole.features, whole.rho, 1.0), solve(part.features, part.rho, 1.0)
    assert 0 < abs(best.primal - cut.primal) <= part.truncation_bound(1 / 20)


def test_the_bound_for_distinct_distances_is_that_of_the_method():
    X, codes = overlapping(200)
    bound, k = 1e-3 / 200, 20
    lists = build_lists(make_space(X), k, ties="ordinal")
    got = rank_exponential(lists, codes, 2.0).truncation_bound(bound)
    assert got == pytest.approx(200 * bound * 2.0**-k, rel=1e-3)
    assert got >= 200 * bound * 2.0**-k


def test_the_default_bound_is_below_double_precision():
    X, codes = overlapping(500)
    assert 0 < REPS(0.1).fit(X, codes).truncation_bound_ < 1e-3 * 500 * 2.0**-53


def test_negligible_rank():
    assert negligible_rank(2.0) == 53
    for beta in (1.05, 1.5, 3.0, 10.0):
        k = negligible_rank(beta)
        assert beta**-k <= 2.0**-53 < beta ** -(k - 1)


def test_an_object_without_neighbours_has_no_constraint():
    lists = build_lists(make_space(overlapping(10)[0]), 2).restrict(np.array([0]))
    got = rank_exponential(lists, np.array([0]))
    assert got.features.nnz == 0
    assert got.rho.tolist() == [0]
