"""Neighbour lists as a value."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import rankdata
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from protoset.neighbors import NeighborLists, as_lists, build_lists
from protoset.neighbors.lists import TIES
from protoset.neighbors.search import ENTRY_BYTES
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
    monkeypatch.setattr("protoset.neighbors.search.TIED_LISTS_BYTES", 40 * 10 * ENTRY_BYTES)
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
        (lambda: two([1, 0], [1.0, 1.0]), ValueError, r"indices must have the shape \(n_objects, k\), got \(2,\)"),
        (lambda: two([[1], [0]], [[1.0, 2], [1, 2]]), ValueError, r"the same shape, got \(2, 1\) and \(2, 2\)"),
        (lambda: two([[1], [0]], [[1j], [1]]), ValueError, "distances must be real numbers, got the dtype complex128"),
        (lambda: two([[1], [0]], [["1"], ["2"]]), ValueError, "distances must be real numbers, got the dtype <U1"),
        (lambda: two(np.empty((2, 0), int), np.empty((2, 0))), ValueError, r"shape \(n_objects, k\), got \(2, 0\)"),
        (lambda: two([[2**32 + 1], [0]], [[1.0], [1.0]]), ValueError, "between 0 and 1; row 0"),
        (lambda: as_lists(([[1, 2], [0], [0]], [[1.0, 2], [1], [1]]), 3), ValueError, "rows differ in length"),
        (lambda: as_lists(([[1], [0]], [[1.0], [1.0]]), 3), ValueError, "lists are of 2 objects, but X has 3"),
        (lambda: as_lists("graph", 3), TypeError, "lists=str is not understood"),
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
        ({"indptr": [0, 4, 3, 6]}, "indptr must rise from 0 to the number of entries, 6"),
        ({"indptr": [0, 2, 4, 5]}, "indptr must rise"),
        ({"indices": [1, 2, 0, 1, 0, 1]}, "never its own neighbour, but row 1 list"),
        ({"indices": [1, 2, 0, 2, 1, 1]}, "row 2 list the same neighbour twice"),
        ({"indices": [1, 2, 0, 3, 0, 1]}, "between 0 and 2; row 1 list others"),
        ({"indices": [1, 2, 0, 2 + 2**32, 0, 1]}, "between 0 and 2; row 1 list others"),
        ({"indices": [1, 2, 0, 2, 0, 1.0]}, "whole numbers, got the dtype float64"),
        ({"distances": [1.0, 2, 3]}, r"as many distances.*got the shapes \(3,\) and \(3,\)"),
        ({"distances": [1, 2, 3, np.nan, 5, 6]}, "finite and not negative; row 1 hold"),
        ({"distances": [1, 2, 4, 3, 5, 6]}, "must not fall along a list; they do in row 1"),
        ({"closed": [True]}, r"got the shapes \(6,\) and \(1,\)"),
        ({"ties": "max"}, "ties='max' is not known"),
    ],
)
def test_inconsistent_values_are_refused(change, message):
    fields = {
        "indptr": [0, 2, 4, 6],
        "indices": [1, 2, 0, 2, 0, 1],
        "distances": [1.0, 2, 3, 4, 5, 5],
        "closed": [True] * 3,
    }
    assert NeighborLists(**fields).ranks.tolist() == [1, 2, 1, 2, 1, 1]
    with pytest.raises(ValueError, match=message):
        NeighborLists(**(fields | change))


def test_lists_cannot_be_changed():
    indices = np.array([1, 2, 0, 2, 0, 1], np.int32)
    lists = NeighborLists([0, 2, 4, 6], indices, [1.0, 2, 3, 4, 5, 6], [True] * 3)
    for name in ("indptr", "indices", "distances", "closed", "ranks"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(lists, name)[0] = 7
    with pytest.raises(ValueError, match="read-only"):
        indices[0] = 2  # taken over
    with pytest.raises(dataclasses.FrozenInstanceError):
        lists.ties = "average"


def test_ready_made_lists_are_ranked_as_asked():
    X = np.array([[0.0], [1], [2], [3]])
    lists = build_lists(make_space(X), 3, ties="min")
    assert as_lists(lists, 4, "min") is lists
    np.testing.assert_array_equal(
        as_lists(lists, 4, "average").ranks, build_lists(make_space(X), 3, ties="average").ranks
    )


def test_what_is_known_about_the_end_of_a_list():
    """Ready-made lists may be cut through a tie; built ones are not, and stay so when restricted."""
    X = np.round(overlapping(50, d=2)[0], 1)
    built = build_lists(make_space(X), 5)
    assert built.closed.all()
    assert built.restrict(np.arange(25)).closed.all()
    distances, indices = NearestNeighbors(n_neighbors=5).fit(X).kneighbors()
    ready = NeighborLists.from_arrays(indices, distances)
    assert not ready.closed.any()
    assert not ready.restrict(np.arange(25)).closed.any()
    graph = kneighbors_graph(X, 5, mode="distance")
    assert not NeighborLists.from_graph(graph).closed.any()
    everything = NearestNeighbors(n_neighbors=49).fit(X).kneighbors()[::-1]
    assert NeighborLists.from_arrays(*everything).closed.all()
