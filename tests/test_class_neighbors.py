"""Each object's nearest in each class: exact, leave-one-out, the lowest index among ties."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protoset import kernels
from protoset.selectors import _class_neighbors
from protoset.selectors._class_neighbors import ClassNeighbors, nearest_among
from protoset.spaces import CountedSpace, make_space

from conftest import labelled_vectors, overlapping

either = labelled_vectors(max_objects=30) | labelled_vectors(max_objects=30, tied=True)


def nearest_literally(D, row, members):
    """Nearest other member of a row; -1 if there is none."""
    others = [member for member in members if member != row]
    return min(others, key=lambda member: (D[row, member], member), default=-1)


def graph_literally(D, codes, members):
    """Nearest other member of each class, one row per member."""
    return [
        [nearest_literally(D, row, [m for m in members if codes[m] == code]) for code in range(codes.max() + 1)]
        for row in members
    ]


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_nearest_other_column(seed, n_rows, n_columns, tied):
    rng = np.random.default_rng(seed)
    block = rng.integers(0, 3, (n_rows, n_columns)).astype(float) if tied else rng.random((n_rows, n_columns))
    own = rng.integers(0, n_columns, n_rows)
    columns, values = kernels.classes.nearest_other(block, own)
    for row in range(n_rows):
        others = np.delete(np.arange(n_columns), own[row])
        assert columns[row] == (others[block[row, others].argmin()] if len(others) else -1)
        assert values[row] == (block[row, others].min() if len(others) else np.inf)


@pytest.mark.parametrize("leaf", [1, 3, 256])
@given(data=either, seed=st.integers(0, 2**32 - 1))
def test_nearest_among_members(data, seed, leaf):
    """Whether rows are members or not, and however groups are halved."""
    X, _ = data
    rng = np.random.default_rng(seed)
    rows, members = (np.flatnonzero(rng.random(len(X)) < 0.6) for _ in range(2))
    space = make_space(X, "euclidean")
    D = space.block(slice(None), slice(None))
    with mock.patch.object(_class_neighbors, "LEAF_MEMBERS", leaf):
        indices, distances = nearest_among(space, rows, members)
    assert indices.tolist() == [nearest_literally(D, row, members) for row in rows]
    np.testing.assert_array_equal(
        distances, [D[r, i] if i >= 0 else np.inf for r, i in zip(rows, indices, strict=True)]
    )


@given(data=either, seed=st.integers(0, 2**32 - 1))
def test_graph_and_its_restrictions(data, seed):
    """Subsets of subsets have the neighbours that a search within them finds, classes may die out."""
    X, codes = data
    space = make_space(X, "euclidean")
    D = space.block(slice(None), slice(None))
    rng = np.random.default_rng(seed)
    graph = ClassNeighbors.search(space, codes)
    while True:
        members = graph.members
        assert graph.indices.tolist() == graph_literally(D, codes, members)
        assert graph.nearest().tolist() == [nearest_literally(D, row, members) for row in members]
        degrees = np.zeros((len(members), codes.max() + 1), int)
        for row, neighbors in zip(members, graph.indices, strict=True):
            for neighbor in neighbors[neighbors >= 0]:
                degrees[members.tolist().index(neighbor), codes[row]] += 1
        np.testing.assert_array_equal(graph.in_degrees(), degrees)
        if len(members) == 1:
            break
        graph = graph.restrict(space, np.sort(rng.choice(members, len(members) * 2 // 3, replace=False)))


def test_direction_of_asymmetric_dissimilarities():
    """Neighbours are those with the least d(object, neighbour)."""
    rng = np.random.default_rng(0)
    D = rng.random((12, 12))
    np.fill_diagonal(D, 0)
    codes = np.arange(12) % 2
    graph = ClassNeighbors.search(make_space(D, "precomputed"), codes)
    assert graph.indices.tolist() == graph_literally(D, codes, range(12))


def test_workers_change_nothing():
    X, codes = overlapping(700, n_classes=2)
    space = make_space(X, "euclidean")
    one, two = ClassNeighbors.search(space, codes), ClassNeighbors.search(space, codes, 2)
    np.testing.assert_array_equal(one.indices, two.indices)
    for queue, other in zip(one.queues, two.queues, strict=True):
        np.testing.assert_array_equal(queue.nearest_distances, other.nearest_distances)


@given(st.integers(0, 2**32 - 1))
def test_cursors_move_on_to_members(seed):
    rng = np.random.default_rng(seed)
    queues = np.array([rng.permutation(12)[:5] for _ in range(6)], np.int32)
    for row, length in enumerate(rng.integers(0, 6, 6)):
        queues[row, length:] = -1
    is_member = rng.random(12) < 0.4
    cursors = np.array([rng.integers(0, max(1, (row >= 0).sum())) for row in queues])
    moved, lost = cursors.copy(), []
    for row, queue in enumerate(queues):
        if queue[cursors[row]] >= 0:
            left = [place for place in range(cursors[row], 5) if queue[place] >= 0 and is_member[queue[place]]]
            if left:
                moved[row] = left[0]
            else:
                lost.append(row)
    assert kernels.classes.move_on(queues, cursors, is_member).tolist() == lost
    assert cursors.tolist() == moved.tolist()


def test_a_set_that_shrinks_from_its_border_is_searched_again_only_now_and_then():
    X, codes = np.arange(400.0)[:, None], np.arange(400) // 200
    counted = CountedSpace(make_space(X))
    graph, members = ClassNeighbors.search(counted, codes), np.arange(400)
    while len(members) > 100:
        members = members[np.abs(members - 199.5) > np.abs(members - 199.5).min()]
        graph = graph.restrict(counted, members)
        assert graph.indices[:, 1][members < 200].tolist() == [members[members >= 200][0]] * (members < 200).sum()
    assert counted.n_distances < 10 * 400 * 399 / 2
