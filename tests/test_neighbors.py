"""Neighbour lists as a value."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import rankdata
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from protoset import neighbors
from protoset.neighbors import TIES, NeighborLists, as_lists, build_lists
from protoset.spaces import make_space

from conftest import labelled_vectors, overlapping


@pytest.mark.parametrize("ties", TIES)
@given(data=labelled_vectors(tied=True), k=st.integers(1, 30))
def test_ranks_are_those_of_the_whole_row(ties, data, k):
    X, _ = data
    matrix = cdist(X, X)
    lists = build_lists(make_space(matrix, "precomputed"), k, ties=ties)
    for row in range(len(X)):
        others = np.delete(np.arange(len(X)), row)
        whole = dict(zip(others, rankdata(matrix[row, others], ties), strict=True))
        entries = slice(lists.indptr[row], lists.indptr[row + 1])
        assert [whole[j] for j in lists.indices[entries]] == lists.ranks[entries].tolist()


def test_lists_cannot_be_changed():
    lists = build_lists(make_space(overlapping(20)[0]), 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        lists.ranks = lists.distances
    with pytest.raises(ValueError, match="read-only"):
        lists.ranks[0] = 7


def test_the_users_arrays_are_copied():
    X, _ = overlapping(20)
    distances, indices = NearestNeighbors(n_neighbors=4).fit(X).kneighbors()
    lists = NeighborLists.from_arrays(indices, distances)
    distances[:] = 0
    assert lists.distances.min() > 0


def test_ready_made_forms_agree():
    X, _ = overlapping(50)
    expected = build_lists(make_space(X), 6)
    distances, indices = NearestNeighbors(n_neighbors=6).fit(X).kneighbors()
    shuffled = np.random.default_rng(0).permutation(6)
    for form in (
        (indices, distances),
        (indices[:, shuffled].tolist(), distances[:, shuffled].tolist()),
        kneighbors_graph(X, 6, mode="distance"),
        expected,
    ):
        lists = as_lists(form, 50)
        np.testing.assert_array_equal(lists.indices, expected.indices)
        np.testing.assert_allclose(lists.distances, expected.distances)
        np.testing.assert_array_equal(lists.ranks, expected.ranks)


@given(labelled_vectors(tied=True), st.integers(0, 99))
def test_restricting_is_searching_among_the_members(data, seed):
    X, _ = data
    members = np.flatnonzero(np.random.default_rng(seed).random(len(X)) < 0.7)
    if len(members) < 2:
        return
    whole = build_lists(make_space(X), len(X))
    part = build_lists(make_space(X[members]), len(X))
    restricted = whole.restrict(members)
    for name in ("indptr", "indices", "distances", "ranks"):
        np.testing.assert_array_equal(getattr(restricted, name), getattr(part, name))


@given(labelled_vectors(tied=True))
def test_ties_are_noticed(data):
    X, _ = data
    lists = build_lists(make_space(X), 5)
    pairs = zip(lists.indptr, lists.indptr[1:], strict=False)
    assert lists.has_ties == any(len(set(lists.distances[a:b])) < b - a for a, b in pairs)


def test_lists_may_hold_the_objects_themselves():
    X, _ = overlapping(60)
    X[7] = X[3]  # which of two equal objects an index lists first is not known
    search = NearestNeighbors(n_neighbors=10).fit(X)
    distances, indices = search.kneighbors(X)
    with_self = NeighborLists.from_arrays(indices, distances)
    distances, indices = search.kneighbors(n_neighbors=9)
    without = NeighborLists.from_arrays(indices, distances)
    np.testing.assert_array_equal(with_self.indptr, without.indptr)
    np.testing.assert_array_equal(with_self.indices, without.indices)
    np.testing.assert_array_equal(with_self.ranks, without.ranks)


def test_memory_bound_of_the_lists(monkeypatch):
    monkeypatch.setattr(neighbors, "LISTS_BYTES", 40 * 10 * neighbors.ENTRY_BYTES)
    lists = build_lists(make_space(np.zeros((40, 1))), 3)
    assert (np.diff(lists.indptr) == 10).all()
    assert not lists.closed.any()


def two(indices, distances):
    return NeighborLists.from_arrays(np.array(indices), np.array(distances))


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: two([[1], [2]], [[1.0], [1.0]]), ValueError, "between 0 and 1; row 1"),
        (lambda: two([[1], [0]], [[1.0], [np.nan]]), ValueError, "finite and not negative; row 1"),
        (lambda: two([[1], [0]], [[-1.0], [1.0]]), ValueError, "finite and not negative; row 0"),
        (
            lambda: two([[1, 1], [0, 0]], [[1.0, 1], [1, 1]]),
            ValueError,
            "rows 0, 1 list the same neighbour twice",
        ),
        (lambda: two([[1.0], [0.0]], [[1.0], [1.0]]), ValueError, "whole numbers, got the dtype float64"),
        (lambda: two([1, 0], [1.0, 1.0]), ValueError, r"shape \(n_objects, k\), got \(2,\)"),
        (lambda: as_lists(([[1], [0]], [[1.0], [1.0]]), 3), ValueError, "lists 2 objects, but X has 3"),
        (lambda: as_lists("graph", 3), TypeError, "neighbors=str is not understood"),
        (lambda: build_lists(make_space(np.eye(3)), 0), ValueError, "n_neighbors=0 must be"),
        (lambda: build_lists(make_space(np.eye(3)), 2, ties="max"), ValueError, "ties='max' is not known"),
    ],
)
def test_wrong_lists_are_refused(build, error, message):
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indptr": np.array([0, 2, 1])}, "indptr must rise"),
        ({"indices": np.array([1, 1])}, "never its own neighbour, but row 1 list"),
        ({"ranks": np.ones(1)}, "as many distances and ranks, got 2 and 1"),
        (
            {"indptr": np.array([0, 2, 2]), "distances": np.array([2.0, 1.0])},
            "must not fall along a list; they do in row 0",
        ),
    ],
)
def test_inconsistent_values_are_refused(change, message):
    arrays = {
        "indptr": np.array([0, 1, 2]),
        "indices": np.array([1, 0]),
        "distances": np.ones(2),
        "ranks": np.ones(2),
        "closed": np.ones(2, bool),
    } | change
    if len(arrays["indptr"]) == 3 and arrays["indptr"][1] == 2:
        arrays["indices"] = np.array([1, 1])
    with pytest.raises(ValueError, match=message):
        NeighborLists(**arrays)
