"""ENN, RENN and AllKNN against literal versions, and the votes that they count."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protoset import kernels
from protoset.neighbors import build_lists
from protoset.selectors import ENN, RENN, AllKNN, _voting
from protoset.selectors._voting import NearestMembers, TiedMembers, nearest_listed
from protoset.selectors.base import TIE_RULES
from protoset.spaces import make_space

from conftest import labelled_vectors, tied_vote, vote, without_copies


def literal_nearest(matrix, i, members, k):
    return sorted((j for j in members if j != i), key=lambda j: (matrix[i, j], j))[:k]


def literal_enn(matrix, codes, k, members, tie_rule):
    kept = []
    for i in members:
        nearest = literal_nearest(matrix, i, members, k)
        winner = vote(nearest, codes) if tie_rule == "row_order" else tied_vote(matrix, i, members, k, codes)
        if not nearest or winner == codes[i]:
            kept.append(i)
    return kept


def without_fallback(selector, y):
    """What the method itself kept: one object of each fallback class was added."""
    kept = selector.sample_indices_
    return kept[~np.isin(y[kept], selector.fallback_classes_)].tolist()


@pytest.fixture(params=[50, 2], ids=["long lists", "short lists"])
def list_length(request, monkeypatch):
    """Short lists run out, so that distances have to be computed."""
    monkeypatch.setattr(_voting, "LIST_LENGTH", request.param)


@pytest.mark.usefixtures("list_length")
@pytest.mark.parametrize("tie_rule", TIE_RULES)
class TestLiteral:
    @given(data=labelled_vectors(tied=True), k=st.integers(1, 4))
    def test_enn(self, tie_rule, data, k):
        X, y = data
        matrix = cdist(X, X, "cityblock")
        selector = ENN(k, metric="cityblock", tie_rule=tie_rule).fit(X, y)
        expected = literal_enn(matrix, y, k, range(len(y)), tie_rule)
        present = [i for i in expected if y[i] not in selector.fallback_classes_]
        assert without_fallback(selector, y) == without_copies(present, X, y, tie_rule)
        assert set(selector.fallback_classes_) == set(y) - set(y[expected])

    @given(data=labelled_vectors(tied=True), k=st.integers(1, 4))
    def test_renn(self, tie_rule, data, k):
        X, y = data
        matrix = cdist(X, X, "cityblock")
        selector = RENN(k, metric="cityblock", tie_rule=tie_rule).fit(X, y)
        kept, rounds = list(range(len(y))), 0
        while True:
            left, rounds = literal_enn(matrix, y, k, kept, tie_rule), rounds + 1
            if left == kept:
                break
            kept = left
        assert without_fallback(selector, y) == without_copies(kept, X, y, tie_rule)
        assert selector.n_iter_ == rounds

    @given(data=labelled_vectors(tied=True), k=st.integers(1, 4))
    def test_all_knn(self, tie_rule, data, k):
        X, y = data
        matrix = cdist(X, X, "cityblock")
        selector = AllKNN(k, metric="cityblock", tie_rule=tie_rule).fit(X, y)
        kept = set(range(len(y)))
        for smaller in range(1, k + 1):
            kept &= set(literal_enn(matrix, y, smaller, range(len(y)), tie_rule))
        assert without_fallback(selector, y) == without_copies(sorted(kept), X, y, tie_rule)


@given(labelled_vectors(tied=True), st.integers(1, 4), st.integers(1, 6), st.integers(0, 99))
def test_nearest_members_by_list_and_by_distance(data, k, length, seed):
    X, _ = data
    space = make_space(X, "cityblock")
    matrix = cdist(X, X, "cityblock")
    members = np.flatnonzero(np.random.default_rng(seed).random(len(X)) < 0.5)
    if not len(members):
        return
    found = nearest_listed(space, build_lists(space, length), np.arange(len(X)), members, k)
    for i, row in enumerate(found):
        assert [j for j in row if j >= 0] == literal_nearest(matrix, i, members, k)


@given(labelled_vectors(tied=True), st.integers(1, 4), st.integers(0, 99))
def test_members_may_come_in_any_order(data, k, seed):
    X, y = data
    order = np.random.default_rng(seed).permutation(len(X))
    nearest = NearestMembers(make_space(X, "cityblock"), k)
    everyone = np.arange(len(X))
    for part in np.array_split(order, 3):
        if len(part):
            nearest.add(part, everyone)
    matrix = cdist(X, X, "cityblock")
    votes = nearest.votes(everyone, y)
    for i in everyone:
        expected = literal_nearest(matrix, i, everyone, k)
        assert [j for j in nearest.neighbors[i] if j >= 0] == expected
        np.testing.assert_array_equal(nearest.distances[i, : len(expected)], matrix[i, expected])
        assert votes[i] == vote(expected, y)


@given(labelled_vectors(tied=True), st.integers(1, 4), st.integers(0, 99))
def test_tied_members_vote_in_any_order(data, k, seed):
    X, y = data
    order = np.random.default_rng(seed).permutation(len(X))
    everyone, matrix = np.arange(len(X)), cdist(X, X, "cityblock")
    nearest = TiedMembers(make_space(X, "cityblock"), y, k)
    members = np.empty(0, int)
    for part in np.array_split(order, 3):
        members = np.concatenate([members, part])
        before = nearest.snapshot()
        nearest.add(part, everyone)
        expected = [tied_vote(matrix, i, members, k, y) for i in everyone]
        assert nearest.votes(everyone, y).tolist() == expected
        nearest.restore(before)
        nearest.refill(members, everyone)
        assert nearest.votes(everyone, y).tolist() == expected


@given(st.lists(st.lists(st.integers(0, 3), min_size=0, max_size=6), min_size=1, max_size=5))
def test_majority(rows):
    codes = np.arange(4)
    neighbors = np.full((len(rows), 6), -1)
    for i, row in enumerate(rows):
        neighbors[i, : len(row)] = row
    assert kernels.voting.majority(neighbors, codes).tolist() == [vote(row, codes) for row in rows]
    assert [kernels.voting.winner(row, codes) for row in neighbors] == [vote(row, codes) for row in rows]
    own = np.array([row[0] if row else 0 for row in rows])
    wins = [
        all(vote(row[:k], codes) == one for k in range(1, len(row) + 1)) for row, one in zip(rows, own, strict=True)
    ]
    assert kernels.voting.wins_every_vote(neighbors, codes, own).tolist() == wins


@given(st.lists(st.lists(st.integers(0, 2), min_size=0, max_size=8), min_size=1, max_size=4), st.permutations(range(3)))
def test_order_of_ties(rows, priority):
    """Entries of a row are ordered by (distance, priority of the class, former position)."""
    distances = [np.sort(row).astype(float) for row in rows]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices, codes, priority = np.arange(indptr[-1]), np.arange(indptr[-1]) % 3, np.array(priority)
    flat = np.concatenate(distances)
    expected = [
        entry
        for start, end in pairwise(indptr)
        for entry in sorted(range(start, end), key=lambda entry: (flat[entry], priority[codes[entry]], entry))
    ]
    kernels.voting.order_ties(indptr, indices, flat, codes, priority)
    assert indices.tolist() == expected


@pytest.mark.parametrize("selector", [ENN, RENN, AllKNN])
@given(data=labelled_vectors(tied=True, max_objects=40), k=st.integers(1, 4), seed=st.integers(0, 99))
def test_the_order_of_rows_edits_nothing(selector, data, k, seed):
    X, y = data
    order = np.random.default_rng(seed).permutation(len(y))
    kept = without_fallback(selector(k, metric="cityblock").fit(X, y), y)
    shuffled = without_fallback(selector(k, metric="cityblock").fit(X[order], y[order]), y[order])
    rows = np.column_stack([X, y]).tolist()
    # Of identical objects another one may be kept.
    assert sorted(rows[row] for row in order[shuffled]) == sorted(rows[row] for row in kept)
