"""Identical objects: which ones a space finds, in which order, and that no class keeps two of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist, squareform

from protoset.experiments.folds import MatrixSpace
from protoset.spaces import CountedSpace, _hashes, make_space

RNG = np.random.default_rng(0)


def rows_of(values):
    """Objects as they can be compared: tuples of plain values, None for NaN."""
    return [tuple(None if value != value else value for value in row) for row in values]


def check_numbers(numbers, objects):
    """Equal numbers exactly for equal objects."""
    assert len(numbers) == len(objects)
    assert len(set(numbers.tolist())) == len(set(objects)) == len(set(zip(numbers.tolist(), objects, strict=True)))


def check_order(make, X, take):
    """The order of the numbers is that of the contents: a shuffled set has the same numbers."""
    numbers = make(X).identical()
    order = np.random.default_rng(1).permutation(len(numbers))
    np.testing.assert_array_equal(make(take(X, order)).identical(), numbers[order])
    space = make(X)
    np.testing.assert_array_equal(CountedSpace(space).identical(), numbers)
    some = np.flatnonzero(order % 3)
    np.testing.assert_array_equal(space.subset(some).shape, [len(some)] * 2)
    assert len(np.unique(space.subset(some).identical())) == len(np.unique(numbers[some]))
    np.testing.assert_array_equal(space.subset(some).block(slice(None), slice(None)), space.block(some, some))


def take_rows(X, rows):
    return X[rows]


def take_items(X, rows):
    return [X[row] for row in rows]


@given(
    st.integers(1, 40),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
    st.sampled_from([np.float64, np.float32]),
    st.data(),
)
def test_vectors(n, d, seed, dtype, data):
    X = np.random.default_rng(seed).integers(-1, 2, (n, d)).astype(dtype) / 3
    X[X == 0] = data.draw(st.sampled_from([0.0, -0.0]))
    X[0] = abs(X[0]) + 1
    for metric in ("euclidean", "cityblock"):
        check_numbers(make_space(X, metric).identical(), rows_of(X.tolist()))
        check_order(lambda rows, metric=metric: make_space(rows, metric), X, take_rows)


def test_vectors_are_numbered_in_the_order_of_their_values_whatever_their_scale():
    X = RNG.integers(0, 4, (200, 3)).astype(float)
    numbers = make_space(X).identical()
    assert numbers[np.lexsort(X.T[::-1])].tolist() == sorted(numbers)
    np.testing.assert_array_equal(make_space((X - X.mean(axis=0)) / X.std(axis=0)).identical(), numbers)


def test_gaps_and_truth_values():
    X = np.where(RNG.random((60, 2)) < 0.3, np.nan, RNG.integers(0, 2, (60, 2)))
    X = X[~np.isnan(X).all(axis=1)]
    check_numbers(make_space(X, "nan_euclidean").identical(), rows_of(X.tolist()))
    X = RNG.integers(0, 2, (40, 3))
    check_numbers(make_space(X, "jaccard").identical(), rows_of(X.tolist()))


def test_a_collision_of_hashes_is_no_identity(monkeypatch):
    X = RNG.integers(0, 3, (30, 2)).astype(float)
    expected = make_space(X).identical()
    monkeypatch.setattr(_hashes, "hash_rows", lambda indptr, values: np.zeros(len(indptr) - 1, np.uint64))
    np.testing.assert_array_equal(make_space(X).identical(), expected)
    texts = [np.ones(length) for length in (1, 2, 1, 3)]
    assert make_space(texts, "dtw").identical().tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("metric", ["gower", "heom", "hvdm", "overlap"])
def test_mixed_attributes(metric):
    n = 80
    X = pd.DataFrame(
        {
            "number": np.where(RNG.random(n) < 0.2, np.nan, RNG.integers(0, 2, n)),
            "text": RNG.choice(["b", "a", "c"], n),
            "mixed": pd.Series(RNG.choice(np.array([2, "2", None, 1.5, True], object), n), dtype=object),
        }
    )
    y = RNG.integers(0, 2, n)
    make = lambda rows: make_space(rows, metric, y=y)  # noqa: E731
    check_numbers(make(X).identical(), rows_of(X.astype(object).where(X.notna(), None).to_numpy()))
    check_order(make, X, lambda rows, order: rows.iloc[order].reset_index(drop=True))


@pytest.mark.parametrize(
    ("metric", "X"),
    [
        ("dtw", [RNG.integers(0, 2, length).astype(float) for length in RNG.integers(1, 4, 50)]),
        ("erp", [RNG.integers(0, 2, (2, length)).astype(float) for length in RNG.integers(1, 3, 50)]),
        ("series_euclidean", list(RNG.integers(0, 2, (40, 4)).astype(float))),
    ],
)
def test_series(metric, X):
    check_numbers(make_space(X, metric).identical(), [(series.shape, *series.ravel().tolist()) for series in X])
    check_order(lambda some: make_space(some, metric), X, take_items)


@pytest.mark.parametrize(
    "X",
    [
        ["".join(RNG.choice(["a", "b"], length)) for length in RNG.integers(0, 4, 50)],
        [bytes(RNG.integers(0, 2, length).tolist()) for length in RNG.integers(0, 4, 50)],
        [RNG.choice(np.array(["b", "a", 3, 2.5], object), length).tolist() for length in RNG.integers(0, 3, 50)],
    ],
    ids=["text", "bytes", "tokens"],
)
def test_strings(X):
    check_numbers(make_space(X, "levenshtein").identical(), [tuple(item) for item in X])
    check_order(lambda some: make_space(some, "levenshtein"), X, take_items)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_sparse_vectors(metric):
    X = RNG.integers(0, 2, (60, 4)) * RNG.integers(1, 3, (60, 4))
    check_numbers(make_space(sparse.csr_matrix(X), metric).identical(), rows_of(X.tolist()))
    check_order(lambda rows: make_space(rows, metric), sparse.csr_matrix(X), take_rows)


@settings(max_examples=40)
@given(st.integers(2, 30), st.integers(0, 2**32 - 1), st.booleans())
def test_distances(n, seed, symmetric):
    """Copies of objects under any matrix, and no other objects; the diagonal does not matter."""
    rng = np.random.default_rng(seed)
    source = rng.integers(0, max(2, n // 2), n)
    distances = rng.integers(0, 4, (n, n)).astype(float)
    distances = distances + distances.T if symmetric else distances
    matrix = distances[np.ix_(source, source)]
    matrix[source[:, None] == source] = 0
    numbers = make_space(matrix, "precomputed").identical()
    expected = [
        [
            i == j
            or (
                matrix[i, j] == matrix[j, i] == 0
                and all(
                    matrix[i, k] == matrix[j, k] and matrix[k, i] == matrix[k, j] for k in range(n) if k not in (i, j)
                )
            )
            for j in range(n)
        ]
        for i in range(n)
    ]
    np.testing.assert_array_equal(numbers[:, None] == numbers, expected)
    noisy = matrix + np.diag(rng.uniform(0, 5, n))
    np.testing.assert_array_equal(make_space(noisy, "precomputed").identical(), numbers)
    if symmetric:
        np.testing.assert_array_equal(make_space(squareform(matrix), "precomputed").identical(), numbers)


def test_the_order_of_distances_does_not_follow_the_rows():
    X = RNG.normal(size=(30, 2))[RNG.integers(0, 15, 50)]
    check_order(lambda rows: make_space(cdist(rows, rows), "precomputed"), X, take_rows)


def test_objects_at_equal_distances_are_different():
    assert len(set(make_space(np.ones((40, 40)), "precomputed").identical())) == 40


def test_what_cannot_be_told():
    graph = sparse.csr_matrix(np.ones((4, 4)))
    with pytest.warns(UserWarning, match="connections"):
        assert make_space(graph, "precomputed").identical() is None
    space = make_space(["a", "a"], lambda a, b: float(a != b))
    assert space.identical() is None
    assert space.subset([0, 1]).identical() is None


def test_a_matrix_of_a_fold_knows_the_objects_it_was_made_from():
    X = RNG.integers(0, 3, (40, 2)).astype(float)
    space = make_space(X)
    np.testing.assert_array_equal(MatrixSpace(space).identical(), space.identical())


def hash_of(values):
    """Hash of one row of numbers, in Python's integers."""
    mask, state = 2**64 - 1, len(values)
    for value in values:
        bits = int(np.float64(value).view(np.uint64))
        bits = 0 if value == 0 else 2**63 - 1 if np.isnan(value) else bits
        state = (state * 0x9E3779B97F4A7C15 + bits) & mask
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
        state ^= state >> 31
    return state


def test_hashes_of_rows():
    rows = [[], [0.0], [-0.0, 1.5], [np.nan, -np.inf, 2.0], [-np.nan, -np.inf, 2.0], [1.5], [7.0] * 5]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    hashes = _hashes.hash_rows(indptr, np.array([value for row in rows for value in row]))
    assert hashes.tolist() == [hash_of(row) for row in rows]
    assert hashes[3] == hashes[4]
    assert len(_hashes.hash_rows(np.array([0]), np.empty(0))) == 0


def test_hashes_of_distances_do_not_depend_on_blocks():
    distances = RNG.integers(0, 3, (12, 12)).astype(float)
    results = []
    for step in (12, 5):
        of_rows, of_columns, has_zero = np.zeros(12, np.uint64), np.zeros(12, np.uint64), np.zeros(12, bool)
        for start in range(0, 12, step):
            _hashes.add_hashes(distances[start : start + step], start, of_rows, of_columns, has_zero)
        results.append((of_rows, of_columns, has_zero))
    np.testing.assert_array_equal(results[0], results[1])
    off_diagonal = distances + np.eye(12)
    np.testing.assert_array_equal(results[0][2], (off_diagonal == 0).any(axis=1))
