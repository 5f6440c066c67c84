"""ICF against a literal version on a full matrix, and what must hold of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protoset import kernels
from protoset.selectors import ENN, ICF, _voting
from protoset.selectors.icf import icf
from protoset.spaces import make_space

from conftest import labelled_vectors, overlapping, tied_vote

seeds = st.integers(0, 2**32 - 1)


def literal_icf(D, y, k):
    """As the publication has it, with the sets themselves."""
    kept = {x for x in range(len(y)) if tied_vote(D, x, range(len(y)), k, y) == y[x]}
    n_iter = 0
    while True:
        enemy = {x: min((D[x, e] for e in kept if y[e] != y[x]), default=np.inf) for x in kept}
        reachable = {x: {o for o in kept if o != x and D[x, o] < enemy[x]} for x in kept}
        coverage = {x: {o for o in kept if x in reachable[o]} for x in kept}
        dropped = {x for x in kept if len(reachable[x]) > len(coverage[x])}
        kept -= dropped
        n_iter += 1
        if not dropped:
            return sorted(kept), n_iter


def ours(D, y, k):
    space = make_space(D, "precomputed")
    codes = np.unique(y, return_inverse=True)[1]
    kept, n_iter = icf(space, _voting.search_lists(space, k, None, 0), codes, n_neighbors=k)
    return kept.tolist(), n_iter


@pytest.mark.parametrize("length", [1, 4, 50])
@pytest.mark.parametrize("tied", [False, True])
@given(data=st.data(), k=st.integers(1, 3))
def test_is_the_literal_method(length, tied, data, k):
    X, y = data.draw(labelled_vectors(tied=tied, max_objects=40))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_voting, "LIST_LENGTH", length)
        found = ours(cdist(X, X), y, min(k, len(y) - 1))
    assert found == literal_icf(cdist(X, X), y, min(k, len(y) - 1))


@given(seeds, st.integers(5, 40), st.integers(1, 3), st.integers(2, 6))
def test_is_the_literal_method_on_asymmetric_dissimilarities(seed, n, k, levels):
    """The distance of an object to a prototype counts, not that back."""
    rng = np.random.default_rng(seed)
    D = rng.integers(0, levels**2, (n, n)).astype(float)
    np.fill_diagonal(D, 0)
    y = rng.permutation(np.arange(n) % 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_voting, "LIST_LENGTH", 3)
        found = ours(D, y, k)
    assert found == literal_icf(D, y, k)


def test_short_lists_change_nothing(monkeypatch):
    X, y = overlapping(1200)
    expected = ICF().fit(X, y)
    assert 0 < len(expected.sample_indices_) < 400
    assert expected.n_iter_ > 1
    for length in (1, 7, 1200):
        monkeypatch.setattr(_voting, "LIST_LENGTH", length)
        got = ICF().fit(X, y)
        np.testing.assert_array_equal(got.sample_indices_, expected.sample_indices_)
        assert got.n_iter_ == expected.n_iter_


def test_keeps_part_of_the_edited_set():
    X, y = overlapping(400)
    selector = ICF().fit(X, y)
    assert set(selector.sample_indices_) < set(ENN().fit(X, y).sample_indices_)


def test_two_classes_on_a_line():
    """Worked by hand.

    Reachable: 8 and 9 from 0; 9 from 8; 8 from 9; 11 from 10.5; 10.5 from 11, but not 13, which is as far as
    the enemy at 9; 10.5 and 11 from 13. So 0 and 13 reach two and are reached from none, and go. The others
    reach one and are reached from two, then from one.
    """
    X, y = np.array([[0.0], [8.0], [9.0], [10.5], [11.0], [13.0]]), np.array([0, 0, 0, 1, 1, 1])
    selector = ICF(1).fit(X, y)
    np.testing.assert_array_equal(X[selector.sample_indices_, 0], [8, 9, 10.5, 11])
    assert selector.n_iter_ == 2


def test_one_class_after_editing_stays_whole():
    X, y = np.array([[0.0], [1.0], [2.1], [3.3], [2.6]]), np.array([0, 0, 0, 0, 1])
    selector = ICF(1).fit(X, y)
    edited = ENN(1).fit(X, y)
    np.testing.assert_array_equal(selector.sample_indices_, edited.sample_indices_)
    np.testing.assert_array_equal(selector.fallback_classes_, [1])
    assert selector.n_iter_ == 1


def test_nothing_left_after_editing():
    X, y = np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([0, 1, 0, 1])
    selector = ICF(1).fit(X, y)
    np.testing.assert_array_equal(selector.fallback_classes_, [0, 1])


@given(seeds, st.integers(1, 12), st.integers(1, 12))
def test_counts_within_radii(seed, n_rows, n_columns):
    rng = np.random.default_rng(seed)
    block = rng.integers(0, 4, (n_rows, n_columns)).astype(float)
    rows, columns = rng.permutation(15)[:n_rows], rng.permutation(15)[:n_columns]
    radii = rng.integers(0, 5, n_rows).astype(float)
    reachable, coverage = np.zeros(15, np.int64), np.zeros(15, np.int64)
    kernels.dropping.count_within(block, rows, columns, radii, reachable, coverage)
    within = (block < radii[:, None]) & (rows[:, None] != columns)
    np.testing.assert_array_equal(reachable[rows], within.sum(axis=1))
    np.testing.assert_array_equal(coverage[columns], within.sum(axis=0))
    assert reachable.sum() == coverage.sum() == within.sum()


@given(seeds, st.integers(2, 15))
def test_counts_in_lists(seed, n):
    rng = np.random.default_rng(seed)
    rows_of = [rng.permutation(np.delete(np.arange(n), i))[: rng.integers(0, n)] for i in range(n)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows_of])])
    indices = np.concatenate(rows_of).astype(np.int32)
    distances = np.concatenate([np.sort(rng.integers(0, 6, len(row))) for row in rows_of]).astype(float)
    rows, radii = rng.permutation(n)[: n // 2], rng.integers(0, 7, n // 2).astype(float)
    member = rng.random(n) < 0.6
    reachable, coverage = np.zeros(n, np.int64), np.zeros(n, np.int64)
    kernels.dropping.count_listed(indptr, indices, distances, rows, radii, member, reachable, coverage)
    pairs = [
        (row, other)
        for row, radius in zip(rows, radii, strict=True)
        for other, distance in zip(rows_of[row], distances[indptr[row] : indptr[row + 1]], strict=True)
        if distance < radius and member[other]
    ]
    np.testing.assert_array_equal(reachable, np.bincount([row for row, _ in pairs], minlength=n))
    np.testing.assert_array_equal(coverage, np.bincount([other for _, other in pairs], minlength=n))
