"""Spaces: every search agrees with plain distances, whatever the form of the input."""

import os
import subprocess
import sys
import threading
import tracemalloc
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import cpu_count
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.neighbors import kneighbors_graph

from protoset import _blocks, kernels
from protoset.spaces import CountedSpace, _candidates, make_space, vectors
from protoset.spaces._nearest_so_far import NearestSoFar
from protoset.spaces.precomputed import PrecomputedSpace
from protoset.spaces.vectors import VectorSpace

from conftest import labelled_vectors, overlapping


def brute_lists(matrix, k):
    """Return neighbours up to the k-th distance, by (distance, index), object by object."""
    n = len(matrix)
    lists = []
    for row in range(n):
        others = np.delete(np.arange(n), row)
        order = others[np.lexsort((others, matrix[row, others]))]
        kth = matrix[row, order[min(k, n - 1) - 1]]
        lists.append(order[matrix[row, order] <= kth])
    return lists


def assert_lists_equal(raw, matrix, k):
    expected = brute_lists(matrix, k)
    np.testing.assert_array_equal(raw.counts, [len(row) for row in expected])
    np.testing.assert_array_equal(raw.indices, np.concatenate(expected))
    rows = np.repeat(np.arange(len(matrix)), raw.counts)
    np.testing.assert_array_equal(raw.distances, matrix[rows, raw.indices])
    assert raw.closed.all()


@given(labelled_vectors(), st.integers(1, 30))
def test_vector_neighbours(data, k):
    X, _ = data
    space = make_space(X)
    matrix = space.block(slice(None), slice(None))
    np.testing.assert_allclose(matrix, cdist(X, X), rtol=1e-15)
    assert_lists_equal(space.kneighbors(k, limit=len(X)), matrix, k)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "correlation", "seuclidean", "manhattan"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_to_one_are_those_of_blocks(metric, dtype):
    """Bit by bit; rows without a direction included."""
    X = np.random.default_rng(0).normal(size=(1500, 7)).astype(dtype)
    if metric in ("cosine", "correlation"):
        X[[3, 900]] = 0
    space = make_space(X, metric)
    for part in (
        space,
        CountedSpace(space),
        space.subset(np.arange(0, 1500, 2)),
        CountedSpace(space.subset(np.arange(9))),
    ):
        for column in (3, 7):
            expected = part.block(slice(None), np.array([column]))[:, 0]
            np.testing.assert_array_equal(part.distances_to(column), expected)


WORKING_THREADS = """
import os, numpy as np
from sklearn.neighbors import NearestNeighbors
from protoset.spaces import _candidates

def ticks():
    stats = {task: open(f"/proc/self/task/{task}/stat").read() for task in os.listdir("/proc/self/task")}
    return {task: int(stat.rpartition(")")[2].split()[11]) for task, stat in stats.items()}

_candidates.import_faiss()
X = np.random.default_rng(0).normal(size=(16_000, 20))
before = ticks()
NearestNeighbors(algorithm="brute").fit(X).kneighbors(X, 5)
print(sum(after - before.get(task, 0) >= 5 for task, after in ticks().items()))
"""


@pytest.mark.skipif(sys.platform != "linux" or cpu_count() < 2, reason="counts threads as Linux does, of two")
def test_faiss_leaves_scikit_learn_its_threads():
    """Where it is imported after scikit-learn listed the libraries that it holds to one thread."""
    pytest.importorskip("faiss")
    command, two = [sys.executable, "-c", WORKING_THREADS], os.environ | {"OMP_NUM_THREADS": "2"}
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=two)
    assert int(ran.stdout) == 2


@given(labelled_vectors(tied=True), st.integers(1, 30))
def test_vector_neighbours_with_ties_and_duplicates(data, k):
    X, _ = data
    space = make_space(X)
    assert_lists_equal(space.kneighbors(k, limit=len(X)), space.block(slice(None), slice(None)), k)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_vector_neighbours_where_inner_products_lose_digits(d, offset):
    """Far from the origin, with clusters of near-duplicates: the search must not trust its candidates."""
    rng = np.random.default_rng(0)
    clusters = rng.normal(size=(20, d)) * 100
    X = offset + np.repeat(clusters, 15, axis=0) + rng.normal(size=(300, d)) * 1e-5
    space = make_space(X)
    assert_lists_equal(space.kneighbors(10, limit=300), space.block(slice(None), slice(None)), 10)
    positions, distances = space.nearest(np.arange(50), np.arange(50, 300))
    block = space.block(np.arange(50), np.arange(50, 300))
    np.testing.assert_array_equal(positions, block.argmin(axis=1))
    np.testing.assert_array_equal(distances, block.min(axis=1))


def test_rows_that_need_each_kind_of_search_are_put_together(monkeypatch):
    """A third of the rows is proved at once, a third after a wider search, a third against all."""
    monkeypatch.setattr(vectors, "WIDER", 2)
    rng = np.random.default_rng(1)
    X = np.concatenate(
        [rng.normal(size=(30, 2)), np.repeat([[50.0, 0]], 12, axis=0), np.repeat([[0, 50.0]], 40, axis=0)]
    )
    X = X[rng.permutation(len(X))]
    space = make_space(X)
    assert_lists_equal(space.kneighbors(5, limit=len(X)), space.block(slice(None), slice(None)), 5)


@pytest.mark.parametrize("kind", ["euclidean", "precomputed", "graph"])
def test_ties_beyond_the_limit_leave_the_list_open(kind):
    X = np.ones((30, 2))
    if kind == "graph":
        graph = sparse.coo_matrix((np.zeros(900), np.unravel_index(np.arange(900), (30, 30))), shape=(30, 30))
        space = make_space(graph, "precomputed")
    else:
        space = make_space(X if kind == "euclidean" else cdist(X, X), kind)
    raw = space.kneighbors(3, limit=8)
    assert (raw.counts == 8).all()
    assert not raw.closed.any()
    np.testing.assert_array_equal(raw.indices[:8], np.arange(1, 9))


@given(labelled_vectors(tied=True))
def test_nearest_takes_the_lowest_index_among_ties(data):
    X, _ = data
    columns = np.arange(len(X))[::2]
    for space in (make_space(X), make_space(cdist(X, X), "precomputed")):
        positions, distances = space.nearest(slice(None), columns)
        block = space.block(slice(None), columns)
        np.testing.assert_array_equal(positions, block.argmin(axis=1))
        np.testing.assert_array_equal(distances, block.min(axis=1))


def test_float32_vectors_are_not_converted_and_agree_with_float64():
    X, _ = overlapping(200)
    single = X.astype(np.float32)
    space = make_space(single)
    assert space._columns is single
    double = make_space(single.astype(np.float64))
    a, b = space.kneighbors(9, limit=200), double.kneighbors(9, limit=200)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.distances, b.distances)


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_n_jobs_and_block_size_change_nothing(n_jobs, monkeypatch):
    X, _ = overlapping(150, d=4)
    X[::3] = np.round(X[::3])
    for space in (make_space(X), make_space(cdist(X, X), "precomputed")):
        expected = space.kneighbors(7, limit=150)
        with monkeypatch.context() as patched:
            patched.setattr(_blocks, "BLOCK_BYTES", 5000)
            got = space.kneighbors(7, limit=150, n_jobs=n_jobs)
            nearest = space.nearest(slice(None), np.arange(20), n_jobs=n_jobs)
        np.testing.assert_array_equal(got.indices, expected.indices)
        np.testing.assert_array_equal(got.distances, expected.distances)
        np.testing.assert_array_equal(nearest[0], space.nearest(slice(None), np.arange(20))[0])


@pytest.mark.parametrize("kind", ["euclidean", "precomputed"])
def test_n_jobs_puts_several_threads_to_work(kind, monkeypatch):
    X, _ = overlapping(200)
    threads = set()
    start = threading.Barrier(2, timeout=30)

    class Watched(VectorSpace if kind == "euclidean" else PrecomputedSpace):
        def block(self, rows, columns):
            if threading.get_ident() not in threads:
                threads.add(threading.get_ident())
                start.wait()  # two workers are here at the same time, or this fails
            return super().block(rows, columns)

    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 16_000)
    space = Watched("euclidean", X, X) if kind == "euclidean" else Watched.of(cdist(X, X))
    space.kneighbors_by_block(np.arange(200), 5, limit=200, n_jobs=2)
    assert len(threads) == 2


@pytest.mark.parametrize(("n", "n_jobs", "expected"), [(50, None, 1), (50, 2, 1), (60, None, None), (60, 2, 2)])
def test_a_search_among_few_vectors_takes_one_thread(n, n_jobs, expected, monkeypatch):
    limits = []
    monkeypatch.setattr(_candidates, "FEW_PAIRS", 50**2)
    monkeypatch.setattr(_candidates, "openmp_threads", lambda limit: limits.append(limit) or nullcontext())
    X, _ = overlapping(n)
    make_space(X).kneighbors(3, limit=n, n_jobs=n_jobs)
    assert set(limits) == {expected}


def peak_of(function):
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("form", ["float32", "memory map", "condensed", "integers"])
def test_a_search_takes_little_more_than_its_blocks(form, monkeypatch, tmp_path):
    """Above all no float64 copy: the matrix is 9 MB in float64, a block 0.2 MB."""
    n = 1100
    matrix = np.random.default_rng(0).integers(1, 1000, (n, n))
    matrix += matrix.T
    np.fill_diagonal(matrix, 0)
    if form == "memory map":
        np.save(tmp_path / "matrix.npy", matrix.astype(np.float32))
        given_matrix = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    elif form == "condensed":
        given_matrix = squareform(matrix).astype(np.float32)
    else:
        given_matrix = matrix.astype(np.float32 if form == "float32" else np.int32)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 200_000)
    make_space(given_matrix[:10, :10] if form != "condensed" else given_matrix[:45], "precomputed").kneighbors(
        5, limit=5
    )
    lists_bytes = n * 60 * 12
    peak = peak_of(lambda: make_space(given_matrix, "precomputed").kneighbors(5, limit=50))
    assert peak < 4 * 200_000 + 2 * lists_bytes


def test_blocks_respect_the_memory_bound(monkeypatch):
    seen = []

    class Watched(PrecomputedSpace):
        def block(self, rows, columns):
            block = super().block(rows, columns)
            seen.append(block.nbytes)
            return block

    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 10_000)
    X, _ = overlapping(100)
    Watched.of(cdist(X, X)).kneighbors(5, limit=100)
    assert len(seen) > 1
    assert max(seen) <= 10_000


def test_precomputed_forms_agree(tmp_path):
    X, _ = overlapping(60)
    matrix = cdist(X, X)
    expected = make_space(matrix, "precomputed").kneighbors(5, limit=60)
    np.save(tmp_path / "matrix.npy", matrix)
    forms = {
        "condensed": squareform(matrix, checks=False),
        "memory map": np.load(tmp_path / "matrix.npy", mmap_mode="r"),
        "fortran": np.asfortranarray(matrix),
        "frame": pd.DataFrame(matrix),
        "list": matrix.tolist(),
        "graph": kneighbors_graph(X, 20, mode="distance"),
    }
    for name, form in forms.items():
        raw = make_space(form, "precomputed").kneighbors(5, limit=60)
        np.testing.assert_array_equal(raw.indices, expected.indices, err_msg=name)
        np.testing.assert_allclose(raw.distances, expected.distances, rtol=1e-12, err_msg=name)


def test_matrices_are_not_copied(tmp_path):
    matrix = cdist(*[overlapping(40)[0]] * 2).astype(np.float32)
    space = make_space(matrix, "precomputed")
    assert space._matrix is matrix
    assert space.block(slice(0, 2), slice(None)).dtype == np.float64
    np.save(tmp_path / "matrix.npy", matrix)
    mapped = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    assert make_space(mapped, "precomputed")._matrix is mapped


@given(st.integers(2, 12), st.integers(0, 99))
def test_condensed_blocks(n, seed):
    vector = pdist(np.random.default_rng(seed).normal(size=(n, 2)))
    rows, columns = np.arange(n)[::-1], np.arange(n)[::2]
    block = make_space(vector, "precomputed").block(rows, columns)
    np.testing.assert_array_equal(block, squareform(vector)[np.ix_(rows, columns)])


def test_a_graph_keeps_zero_distances_and_ignores_the_diagonal():
    graph = sparse.csr_matrix(
        (np.array([0.0, 5.0, 0.0, 2.0, 1.0]), np.array([0, 1, 0, 2, 0]), np.array([0, 2, 4, 5])), shape=(3, 3)
    )
    raw = make_space(graph, "precomputed").kneighbors(3, limit=3)
    np.testing.assert_array_equal(raw.counts, [1, 2, 1])
    np.testing.assert_array_equal(raw.indices, [1, 0, 2, 0])
    np.testing.assert_array_equal(raw.distances, [5, 0, 2, 1])


def test_an_asymmetric_matrix_is_read_from_object_to_prototype():
    matrix = np.array([[0.0, 1.0, 9.0], [5.0, 0.0, 2.0], [1.0, 3.0, 0.0]])
    raw = make_space(matrix, "precomputed").kneighbors(1, limit=3)
    np.testing.assert_array_equal(raw.indices, [1, 2, 0])


def test_crossing_to_prototypes():
    X, _ = overlapping(30)
    queries, _ = overlapping(7, seed=1)
    kept = np.array([3, 8, 20])
    expected = cdist(queries, X[kept])
    vectors_space = make_space(X).prototypes(kept).cross(queries)
    np.testing.assert_allclose(vectors_space.block(slice(None), slice(None)), expected)
    prototypes = make_space(cdist(X, X), "precomputed").prototypes(kept)
    for matrix in (cdist(queries, X), cdist(queries, X[kept]), sparse.csr_matrix(cdist(queries, X))):
        np.testing.assert_allclose(prototypes.cross(matrix).block(slice(None), slice(None)), expected)
    twice = make_space(cdist(X, X), "precomputed").prototypes(np.arange(0, 30, 2)).prototypes(np.array([1, 4, 10]))
    np.testing.assert_allclose(
        twice.cross(cdist(queries, X)).block(slice(None), slice(None)), cdist(queries, X[[2, 8, 20]])
    )


@pytest.mark.parametrize("kind", [VectorSpace, PrecomputedSpace])
def test_state_round_trip(kind):
    X, _ = overlapping(20)
    queries, _ = overlapping(5, seed=1)
    vector = kind is VectorSpace
    space = make_space(X if vector else cdist(X, X), "euclidean" if vector else "precomputed").prototypes(
        np.array([2, 5, 11])
    )
    again = kind.from_state(space.metric, *space.state())
    given_queries = queries if vector else cdist(queries, X)
    np.testing.assert_array_equal(
        again.cross(given_queries).block(slice(None), slice(None)),
        space.cross(given_queries).block(slice(None), slice(None)),
    )


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_candidates_from_products_give_the_same_neighbours(offset, n_jobs, monkeypatch):
    """Single precision proposes, double precision decides; what it cannot prove is searched again."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)).round(1)
    X[::50] = X[0]  # duplicates
    X[5] *= 1e-30
    X[7] *= 1e4
    X += offset
    expected = make_space(X).kneighbors(9, limit=300)
    monkeypatch.setattr(_candidates, "PRODUCT_OBJECTS", 300)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 2**18)  # several blocks
    assert isinstance(_candidates.make_candidates(X, n_jobs), _candidates.ProductCandidates)
    got = make_space(X).kneighbors(9, limit=300, n_jobs=n_jobs)
    for name in ("counts", "indices", "distances", "closed"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))


@given(
    seed=st.integers(0, 2**16),
    n_columns=st.integers(3, 40) | st.integers(500, 2000),
    width=st.sampled_from([1, 3, 60]),
    n_values=st.sampled_from([3, 10**6]),
    shift=st.sampled_from([0.0, -2e6, 2e6]),
)
def test_smallest_columns_are_sorted(seed, n_columns, width, n_values, shift):
    """Also if the columns of the sample have smaller entries than all others, or larger ones."""
    block = np.random.default_rng(seed).integers(0, n_values, (4, n_columns)).astype(np.float32)
    block[:, :: max(1, n_columns // kernels.euclidean.SAMPLED_COLUMNS)] += np.float32(shift)
    width = min(width, n_columns)
    indices, values = np.empty((4, width), np.int32), np.empty((4, width), np.float32)
    kernels.euclidean.smallest_columns(block, indices, values)
    np.testing.assert_array_equal(indices, np.argsort(block, axis=1, kind="stable")[:, :width])
    np.testing.assert_array_equal(values, np.take_along_axis(block, indices, axis=1))


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_candidates_from_faiss_give_the_same_neighbours(offset, monkeypatch):
    """Single precision proposes, double precision decides; what it cannot prove is searched again."""
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 40))
    X[::50] = X[0]  # duplicates
    X[5] *= 1e-30
    X[7] *= 1e4
    X += offset
    with_faiss = make_space(X).kneighbors(9, limit=2100)
    assert isinstance(_candidates.make_candidates(X, None), _candidates.FaissCandidates)
    monkeypatch.setattr(_candidates, "FAISS_OBJECTS", 10**9)
    without = make_space(X).kneighbors(9, limit=2100)
    np.testing.assert_array_equal(with_faiss.indices, without.indices)
    np.testing.assert_array_equal(with_faiss.distances, without.distances)
    expected = make_space(X).kneighbors_by_block(np.arange(2100), 9, limit=2100)
    np.testing.assert_array_equal(with_faiss.indices, expected.indices)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 25),
    k=st.integers(1, 24),
    limit=st.integers(1, 24),
    tied=st.booleans(),
)
def test_the_nearest_so_far_in_any_order(seed, n, k, limit, tied):
    """Pairs pushed in strips, in two searches that are merged: what whole rows hold, ties and limits included."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 4, (n, n)).astype(float) if tied else rng.random((n, n))
    matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
    k = min(k, n - 1)
    expected = make_space(matrix, "precomputed").kneighbors_by_block(np.arange(n), k, limit=limit)
    whole, first, second = (NearestSoFar(n, k, limit) for _ in range(3))
    cut = rng.integers(0, n)
    whole.push_strip(0, matrix)
    first.push_strip(0, matrix[:cut])
    second.push_strip(cut, matrix[cut:, cut:])
    first.settle()
    second.push_all([first])
    by_pair = make_space(matrix, "precomputed").kneighbors_by_pair(k, limit=limit)
    for found in (whole.lists(), second.lists(), by_pair):
        np.testing.assert_array_equal(found.counts, expected.counts)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)
        np.testing.assert_array_equal(found.closed, expected.closed)


DENSE_MEANS = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "canberra", "braycurtis")
SPARSE_MEANS = ("euclidean", "sqeuclidean", "cityblock")


@pytest.mark.parametrize(
    ("metric", "make"),
    [(metric, np.asarray) for metric in DENSE_MEANS] + [(metric, sparse.csr_matrix) for metric in SPARSE_MEANS],
)
def test_the_central_member_is_nearest_to_the_mean(metric, make):
    X = np.abs(np.random.default_rng(0).normal(size=(30, 3)))
    members = np.arange(3, 30, 2)
    expected = members[cdist(X[members].mean(axis=0, keepdims=True), X[members], metric).argmin()]
    assert make_space(make(X), metric).central_member(members) == expected


@pytest.mark.parametrize("metric", ["hamming", "haversine", "nan_euclidean", "jaccard"])
def test_no_mean_no_central_member(metric):
    X = np.random.default_rng(0).integers(0, 2, (10, 2)).astype(float)
    assert make_space(X, metric).central_member(np.arange(5)) is None


def test_what_is_asked_is_counted():
    X = np.random.default_rng(0).normal(size=(12, 2))
    counted = CountedSpace(make_space(X))
    np.testing.assert_array_equal(
        counted.block(np.arange(3), slice(2, 7)), counted.space.block(np.arange(3), slice(2, 7))
    )
    assert counted.n_distances == 15
    counted.nearest(slice(None), np.arange(4))
    assert counted.n_distances == 15 + 48
    counted.kneighbors(3, limit=3)
    assert counted.n_distances == 15 + 48 + 66
    counted.central_member(np.arange(5))
    assert counted.n_distances == 15 + 48 + 66 + 5
    counted.distances_to(3)
    assert counted.n_distances == 15 + 48 + 66 + 5 + 12
    words = CountedSpace(make_space(["a", "ab", "abc", "xyz"], "levenshtein"))
    words.kneighbors(1, limit=1)  # passes over some pairs, which were asked for all the same
    assert words.n_distances == 6
    graph = CountedSpace(make_space(sparse.csr_matrix(cdist(X, X)), "precomputed"))
    graph.kneighbors(3, limit=3)
    assert graph.n_distances == 0
