"""Each compiled kernel against a plain NumPy twin."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from protoset import kernels
from protoset._arrays import rank_rows, smallest_at
from protoset.neighbors.lists import restrict_rows
from protoset.spaces._lists import smallest_of

seeds = st.integers(0, 2**32 - 1)


def random_block(seed, n_rows, n_columns, tied):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n_rows, n_columns)).astype(float) if tied else rng.random((n_rows, n_columns))


@given(seeds, st.integers(1, 8), st.integers(2, 30), st.integers(1, 29), st.integers(1, 40), st.booleans())
def test_smallest_of_each_row(seed, n_rows, n_columns, k, limit, tied):
    k = min(k, n_columns - 1)
    limit = max(limit, k)
    block = random_block(seed, n_rows, n_columns, tied)
    own = np.random.default_rng(seed).integers(0, n_columns, n_rows)
    threshold, n_below, n_at = kernels.lists.kth_smallest(block, own, k)
    counts = np.minimum(n_below + n_at, limit)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices, distances = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    kernels.lists.gather_smallest(block, own, threshold, n_below, indptr, indices, distances)
    lists = smallest_of(block, own, k, limit)
    for got, expected in zip(
        (lists.counts, lists.indices, lists.distances, lists.closed),
        (counts, indices, distances, n_below + n_at <= limit),
        strict=True,
    ):
        np.testing.assert_array_equal(got, expected)
    for row in range(n_rows):
        others = np.delete(np.arange(n_columns), own[row])
        by_distance = others[np.lexsort((others, block[row, others]))]
        kth = block[row, by_distance[k - 1]]
        expected = by_distance[block[row, by_distance] <= kth][:limit]
        np.testing.assert_array_equal(indices[indptr[row] : indptr[row + 1]], expected)
        np.testing.assert_array_equal(distances[indptr[row] : indptr[row + 1]], block[row, expected])


@pytest.mark.parametrize(("code", "method"), [(0, "min"), (1, "average"), (2, "ordinal")])
@given(seed=seeds, lengths=st.lists(st.integers(0, 12), min_size=1, max_size=6))
def test_ranks(code, method, seed, lengths):
    rng = np.random.default_rng(seed)
    rows = [np.sort(rng.integers(0, 4, length).astype(float)) for length in lengths]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    ranks = rank_rows(indptr, np.concatenate(rows), code)
    np.testing.assert_array_equal(ranks, np.concatenate([rankdata(row, method) for row in rows]))


@given(seeds, st.lists(st.integers(0, 40), min_size=1, max_size=6))
def test_sorting_rows(seed, lengths):
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([rng.permutation(50)[:length] for length in lengths]).astype(np.int32)
    distances = rng.integers(0, 5, indptr[-1]).astype(float)
    expected = [np.lexsort((indices[a:b], distances[a:b])) + a for a, b in itertools.pairwise(indptr)]
    order = np.concatenate(expected).astype(int)
    expected_indices, expected_distances = indices[order], distances[order]
    kernels.lists.sort_rows(indptr, indices, distances)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_array_equal(distances, expected_distances)


@given(seeds, st.integers(1, 12), st.integers(1, 12), st.integers(1, 6))
def test_euclidean_block(seed, n_rows, n_columns, d):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(n_rows, d)), rng.normal(size=(n_columns, d))
    block = kernels.euclidean.distance_block(A, np.ascontiguousarray(B.T))
    np.testing.assert_allclose(block, cdist(A, B), rtol=1e-15, atol=1e-15)
    for column in range(n_columns):
        np.testing.assert_array_equal(kernels.euclidean.distances_to_one(A, B[column]), block[:, column])
        by_feature = kernels.euclidean.distances_by_feature(np.ascontiguousarray(A.T), B[column])
        np.testing.assert_array_equal(by_feature, block[:, column])


@given(seeds, st.integers(1, 10), st.integers(1, 20))
def test_nearest_with_a_coarse_screen(seed, n_rows, n_columns):
    """Whatever the screen's error within the slack, the true nearest wins, and the lowest index among ties."""
    rng = np.random.default_rng(seed)
    A, B = rng.integers(0, 3, (n_rows, 2)).astype(float), rng.integers(0, 3, (n_columns, 2)).astype(float)
    true = cdist(A, B, "sqeuclidean")
    screen = true + rng.uniform(-0.5, 0.5, true.shape)
    positions, distances, are_tied = kernels.euclidean.nearest_screened(A, B, screen, np.ones(n_rows))
    np.testing.assert_array_equal(positions, true.argmin(axis=1))
    np.testing.assert_allclose(distances, np.sqrt(true.min(axis=1)))
    is_nearest = true == true.min(axis=1, keepdims=True)
    np.testing.assert_array_equal(are_tied, is_nearest.sum(axis=1) > 1)
    block = kernels.euclidean.screened_block(A, B, screen, np.ones(n_rows))
    np.testing.assert_array_equal(block == block.min(axis=1, keepdims=True), is_nearest)
    np.testing.assert_allclose(block[np.isfinite(block)], np.sqrt(true)[np.isfinite(block)])


@given(seeds, st.integers(3, 20), st.integers(1, 5))
def test_candidates_are_reranked_by_true_distance(seed, n, k):
    k = min(k, n - 1)
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 2)).astype(float)
    candidates = np.array([rng.permutation(n) for _ in range(n)])
    indices, distances = np.empty((n, n), np.int32), np.empty((n, n))
    rows = np.arange(n)
    counts = kernels.euclidean.rerank_candidates(X, rows, candidates, np.full(n, np.inf), k, indices, distances)
    true = cdist(X, X)
    for row in rows:
        others = np.delete(rows, row)
        order = others[np.lexsort((others, true[row, others]))]
        np.testing.assert_array_equal(indices[row, : n - 1], order)
        assert counts[row] == (true[row, others] <= true[row, order[k - 1]]).sum()
    floor = np.zeros(n)
    assert (kernels.euclidean.rerank_candidates(X, rows, candidates, floor, k, indices, distances) == -1).all()


@given(seeds, st.integers(2, 15))
def test_lists_against_their_plain_twins(seed, n):
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(np.delete(np.arange(n), i))[: rng.integers(0, n)] for i in range(n)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = np.concatenate(rows).astype(np.int32)
    distances = rng.random(len(indices))
    ranks = np.concatenate([np.arange(len(row)) + 1.0 for row in rows])
    members = np.flatnonzero(rng.random(n) < 0.5)
    position = np.full(n, -1)
    position[members] = np.arange(len(members))
    got = restrict_rows(indptr, indices, distances, members, position)
    kept = [[position[j] for j in rows[i] if position[j] >= 0] for i in members]
    np.testing.assert_array_equal(np.diff(got[0]), [len(row) for row in kept])
    np.testing.assert_array_equal(got[1], [j for row in kept for j in row])
    np.testing.assert_array_equal(
        got[2],
        [
            d
            for i in members
            for d, j in zip(distances[indptr[i] : indptr[i + 1]], rows[i], strict=True)
            if position[j] >= 0
        ],
    )
    for k in (1, 3):
        first = kernels.lists.first_members(indptr, indices, members, position >= 0, k)
        listed = [[j for j in rows[i] if position[j] >= 0] + k * [-1] for i in members]
        np.testing.assert_array_equal(first, np.reshape([row[:k] for row in listed], (-1, k)))
    best = smallest_at(indices, ranks, n)
    np.testing.assert_array_equal(best, [min(ranks[indices == j], default=np.inf) for j in range(n)])


def test_restrict_and_first_members():
    indptr = np.array([0, 3, 5, 6, 6])
    indices = np.array([1, 2, 3, 0, 3, 1], np.int32)
    distances = np.array([1.0, 2, 3, 1, 4, 2])
    position = np.array([0, -1, 1, 2])
    new = restrict_rows(indptr, indices, distances, np.array([0, 2, 3]), position)
    np.testing.assert_array_equal(new[0], [0, 2, 2, 2])
    np.testing.assert_array_equal(new[1], [1, 2])
    np.testing.assert_array_equal(new[2], [2, 3])
    member = np.array([False, False, True, True])
    first = kernels.lists.first_members(indptr, indices, np.array([0, 1, 2]), member, 2)
    np.testing.assert_array_equal(first, [[2, 3], [3, -1], [-1, -1]])
    ranks = np.array([1.0, 2, 3, 1, 2, 1])
    np.testing.assert_array_equal(smallest_at(indices, ranks, 4), [1, 1, 2, 2])


@given(seeds, st.integers(2, 15))
def test_coordinate_sweep(seed, n):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.5)
    features = sparse.csr_matrix(dense)
    rho, bound = rng.random(n), 0.3
    curvature = np.maximum((dense**2).sum(axis=1), 1e-9)
    dual = rng.choice([0.0, bound, bound / 2], n)
    expected_dual, expected_v = dual.copy(), dense.T @ dual
    for i in range(n):
        gradient = rho[i] - dense[i] @ np.maximum(expected_v, 0)
        new = np.clip(expected_dual[i] + gradient / curvature[i], 0, bound)
        expected_v += (new - expected_dual[i]) * dense[i]
        expected_dual[i] = new
    v, order = dense.T @ dual, np.arange(n)
    arrays = (features.indptr.astype(np.uint64), features.indices.astype(np.uint32), features.data, rho)
    size, smallest, largest = kernels.coordinate.sweep(*arrays, curvature, bound, dual, v, order, n, -np.inf, np.inf)
    assert size == n
    assert smallest <= 0 <= largest
    np.testing.assert_allclose(dual, expected_dual, atol=1e-12)
    np.testing.assert_allclose(v, expected_v, atol=1e-12)


def test_a_sweep_sets_aside_what_stays_at_its_limit():
    """Objects at a limit with a gradient beyond the thresholds go behind the active part, unchanged."""
    features = sparse.csr_matrix(np.diag([1.0, 1.0, 1.0, 1.0]))
    rho = np.array([-5.0, 9.0, 0.5, -0.5])
    bound = 2.0
    dual = np.array([0.0, bound, 1.0, 0.0])  # gradients -5, 7, -0.5, -0.5
    v, order = features.T @ dual, np.arange(4)
    arrays = (features.indptr.astype(np.uint64), features.indices.astype(np.uint32), features.data, rho)
    size, smallest, largest = kernels.coordinate.sweep(*arrays, np.ones(4), bound, dual, v, order, 4, -1.0, 1.0)
    assert size == 2
    assert sorted(order[:2]) == [2, 3]
    assert dual.tolist() == [0, bound, 0.5, 0]
    assert (smallest, largest) == (-0.5, 0)


@given(seeds, st.integers(1, 50))
def test_shuffle_permutes_the_active_part_only(seed, n):
    order = np.arange(n)
    kernels.coordinate.shuffle(order, n // 2, seed)
    np.testing.assert_array_equal(order[n // 2 :], np.arange(n)[n // 2 :])
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    again = np.arange(n)
    kernels.coordinate.shuffle(again, n // 2, seed)
    np.testing.assert_array_equal(order, again)


def test_unknown_kernel_module():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = kernels.nonsense


def nearest_by_majority_twin(block, codes, counts, totals):
    positions = []
    for distances in block:
        tied = np.flatnonzero(distances == distances.min())
        votes = np.bincount(codes[tied], counts[tied], minlength=len(totals))
        leader = max(set(codes[tied].tolist()), key=lambda code: (votes[code], totals[code], -code))
        positions.append(max(tied[codes[tied] == leader], key=lambda column: (counts[column], -column)))
    return np.array(positions)


@pytest.mark.parametrize("seed", range(20))
def test_ties_go_to_the_majority_of_the_labels(seed):
    rng = np.random.default_rng(seed)
    block = rng.integers(0, 3, (30, 8)).astype(float)
    codes, counts = rng.integers(0, 3, 8), rng.integers(1, 4, 8).astype(float)
    totals = rng.integers(1, 4, 3).astype(float)
    positions = kernels.ties.nearest_by_majority(block, codes, counts, totals)
    np.testing.assert_array_equal(positions, nearest_by_majority_twin(block, codes, counts, totals))
    # The order of the columns decides nothing but the position among columns of one class and count.
    order = rng.permutation(8)
    again = kernels.ties.nearest_by_majority(block[:, order], codes[order], counts[order], totals)
    np.testing.assert_array_equal(codes[order][again], codes[positions])


@pytest.mark.parametrize(
    ("counts", "totals", "winner"),
    [
        ([0.1, 0.2, 0.3, 0.6], [5.0, 9.0], 3),  # 0.1 + 0.2 + 0.3 is above 0.6 by rounding alone
        ([0.3, 0.2, 0.1, 0.6], [9.0, 5.0], 0),
        ([0.0, 0.0, 0.0, 0.0], [5.0, 9.0], 3),
        ([0.0, 0.0, 0.0, 0.0], [5.0, 5.0], 0),
    ],
)
def test_votes_that_are_equal_but_for_rounding_and_votes_of_no_weight(counts, totals, winner):
    codes = np.array([0, 0, 0, 1])
    positions = kernels.ties.nearest_by_majority(np.zeros((1, 4)), codes, np.array(counts), np.array(totals))
    assert positions.tolist() == [winner]
