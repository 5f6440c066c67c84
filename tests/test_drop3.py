"""DROP3 against a literal version on a full matrix, and what must hold of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protoset import kernels
from protoset.neighbors import build_lists
from protoset.selectors import DROP3, ENN, _enemies, _voting
from protoset.selectors import drop3 as module
from protoset.selectors.base import TIE_RULES
from protoset.selectors.drop3 import drop3
from protoset.spaces import make_space

from conftest import labelled_vectors, overlapping, tied_vote, vote

seeds = st.integers(0, 2**32 - 1)


def literal_drop3(D, y, k, tie_rule):
    """As the publication has it: every list and every vote computed anew."""
    everyone, sizes = range(len(y)), np.bincount(y)

    def nearest_of(D, x, members):
        """Members besides x, nearest first; ties by index, or those of the more frequent class first."""

        def order(m):
            return (D[x, m], m) if tie_rule == "row_order" else (D[x, m], -sizes[y[m]], y[m], m)

        return sorted((m for m in members if m != x), key=order)

    def edited_vote(x):
        return vote(nearest_of(D, x, everyone)[:k], y) if tie_rule == "row_order" else tied_vote(D, x, everyone, k, y)

    edited = [x for x in everyone if edited_vote(x) == y[x]]
    enemy = {x: min((D[x, e] for e in edited if y[e] != y[x]), default=np.inf) for x in edited}
    kept = set(edited)
    for x in sorted(edited, key=lambda x: (-enemy[x], x)):
        associates = [a for a in edited if x in nearest_of(D, a, kept)[: k + 1]]
        correct_with = sum(vote(nearest_of(D, a, kept)[:k], y) == y[a] for a in associates)
        correct_without = sum(vote(nearest_of(D, a, kept - {x})[:k], y) == y[a] for a in associates)
        if correct_without >= correct_with:
            kept.remove(x)
    return sorted(kept)


def run(D, y, k, tie_rule):
    space = make_space(D, "precomputed")
    lists = _voting.search_lists(space, k + 1, None, 0)
    return drop3(space, lists, np.unique(y, return_inverse=True)[1], n_neighbors=k, tie_rule=tie_rule)


@pytest.fixture
def _short_lists(monkeypatch):
    monkeypatch.setattr(_voting, "LIST_LENGTH", 1)


@pytest.mark.parametrize("tie_rule", TIE_RULES)
@pytest.mark.parametrize("tied", [False, True])
@given(data=st.data(), k=st.integers(1, 3))
def test_is_the_literal_method(tied, tie_rule, data, k):
    X, y = data.draw(labelled_vectors(tied=tied))
    k = min(k, len(y) - 1)
    D = cdist(X, X)
    np.testing.assert_array_equal(run(D, y, k, tie_rule), literal_drop3(D, y, k, tie_rule))


@pytest.mark.usefixtures("_short_lists")
@pytest.mark.parametrize("tie_rule", TIE_RULES)
@pytest.mark.parametrize("tied", [False, True])
@given(data=st.data(), k=st.integers(1, 3))
def test_is_the_literal_method_where_lists_run_out(tied, tie_rule, data, k):
    X, y = data.draw(labelled_vectors(tied=tied, max_objects=50))
    k = min(k, len(y) - 1)
    D = cdist(X, X)
    np.testing.assert_array_equal(run(D, y, k, tie_rule), literal_drop3(D, y, k, tie_rule))


@pytest.mark.usefixtures("_short_lists")
@pytest.mark.parametrize("tie_rule", TIE_RULES)
@given(seed=seeds, n=st.integers(5, 40), k=st.integers(1, 3), levels=st.integers(2, 6))
def test_is_the_literal_method_on_asymmetric_dissimilarities(tie_rule, seed, n, k, levels):
    """The distance of an object to a prototype counts, not that back."""
    rng = np.random.default_rng(seed)
    D = rng.integers(0, levels**2, (n, n)).astype(float)
    np.fill_diagonal(D, 0)
    y = rng.permutation(np.arange(n) % 2)
    np.testing.assert_array_equal(run(D, y, k, tie_rule), literal_drop3(D, y, k, tie_rule))


@pytest.mark.parametrize("k", [1, 3])
def test_refills_change_nothing(k, monkeypatch):
    X, y = overlapping(1200)
    expected = DROP3(k).fit(X, y).sample_indices_
    assert 0 < len(expected) < 400
    for length in (1, 7, 1200):
        monkeypatch.setattr(_voting, "LIST_LENGTH", length)
        np.testing.assert_array_equal(DROP3(k).fit(X, y).sample_indices_, expected)


def test_lists_that_grow_change_nothing(monkeypatch):
    """On a line the dropped objects look for the same neighbours, and their lists run out together."""
    X = np.random.default_rng(0).random((600, 1))
    y = (X[:, 0] > 0.5).astype(int)
    expected = DROP3().fit(X, y)
    monkeypatch.setattr(_voting, "LIST_LENGTH", 5)
    grown = DROP3().fit(X, y)
    monkeypatch.setattr(module, "CANDIDATE_BYTES", 0)
    fixed = DROP3().fit(X, y)
    np.testing.assert_array_equal(grown.sample_indices_, expected.sample_indices_)
    np.testing.assert_array_equal(fixed.sample_indices_, expected.sample_indices_)
    assert grown.n_distances_ < fixed.n_distances_ / 2


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock"])
def test_distances_from_lists_and_from_searches_tie_alike(metric, monkeypatch):
    """Mirrored objects have equal distances to their enemies, wherever these are found."""
    X = np.random.default_rng(1).normal(size=(60, 3))
    X = np.vstack([X * sign for sign in ([1, 1, 1], [-1, 1, 1], [1, -1, 1])])
    y = (X[:, 2] > 0).astype(int)
    expected = DROP3(metric=metric).fit(X, y).sample_indices_
    for length in (1, 4, 10):
        monkeypatch.setattr(_voting, "LIST_LENGTH", length)
        np.testing.assert_array_equal(DROP3(metric=metric).fit(X, y).sample_indices_, expected)


def test_keeps_part_of_the_edited_set():
    X, y = overlapping(400)
    selector = DROP3(3).fit(X, y)
    assert set(selector.sample_indices_) < set(ENN(3).fit(X, y).sample_indices_)
    assert len(selector.fallback_classes_) == 0


def test_one_class_after_editing():
    """Objects without an enemy are visited by index; two that vote for each other stay."""
    X, y = np.array([[0.0], [1.0], [2.1], [3.3], [2.6]]), np.array([0, 0, 0, 0, 1])
    selector = DROP3(1).fit(X, y)
    np.testing.assert_array_equal(literal_drop3(cdist(X, X), y, 1, "majority"), run(cdist(X, X), y, 1, "majority"))
    np.testing.assert_array_equal(selector.fallback_classes_, [1])
    assert 4 in selector.sample_indices_


def test_nothing_left_after_editing():
    X, y = np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([0, 1, 0, 1])
    selector = DROP3(1).fit(X, y)
    np.testing.assert_array_equal(selector.fallback_classes_, [0, 1])
    assert len(selector.sample_indices_) == 2


@given(seeds, st.integers(3, 30), st.integers(1, 8), st.booleans())
def test_nearest_enemies(seed, n, length, tied):
    rng = np.random.default_rng(seed)
    D = rng.integers(0, 5, (n, n)).astype(float) if tied else rng.random((n, n))
    np.fill_diagonal(D, 0)
    codes = rng.integers(0, 3, n)
    members = np.flatnonzero(rng.random(n) < 0.7)
    rows = rng.permutation(n)[: n // 2]
    space = make_space(D, "precomputed")
    enemies, distances = _enemies.nearest_enemies(space, build_lists(space, length), codes, rows, members)
    for row, enemy, distance in zip(rows, enemies, distances, strict=True):
        nearest = sorted((m for m in members if codes[m] != codes[row]), key=lambda m: (D[row, m], m))
        assert enemy == (nearest[0] if nearest else -1)
        assert distance == (D[row, nearest[0]] if nearest else np.inf)


@given(seeds, st.integers(1, 12), st.integers(1, 6), st.integers(1, 4))
def test_lists_that_run_out(seed, n, length, reserve):
    rng = np.random.default_rng(seed)
    listed = rng.integers(0, n, (n, length))
    for row in listed:
        row[rng.integers(0, length + 1) :] = -1
    complete, kept, cursors = rng.random(n) < 0.3, rng.random(n) < 0.5, rng.integers(0, length + 1, n)
    rows = np.flatnonzero(rng.random(n) < 0.7)
    got = kernels.dropping.running_out(rows, listed, complete, cursors, kept, reserve)
    left = [sum(bool(kept[x]) for x in listed[row, cursors[row] :] if x >= 0) for row in rows]
    assert got.tolist() == [not complete[row] and count < reserve for row, count in zip(rows, left, strict=True)]
    place = kernels.dropping._next_kept(listed[0], cursors[0], kept)
    left = [i for i in range(cursors[0], length) if listed[0, i] < 0 or kept[listed[0, i]]]
    assert place == (left[0] if left else length)
