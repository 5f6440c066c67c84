"""Approximate neighbours of series: recall, exact distances, workers, ties, memory, interruptions."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoset import REPS, NeighborLists, NeighborSearch, kernels
from protoset._storage import Storage
from protoset.neighbors import build_lists
from protoset.neighbors.search import choose_search
from protoset.spaces import CountedSpace, _approximate_series, _pair_descent, make_space
from protoset.spaces._approximate_series import ComparedSeries, in_single_precision, segment_means, series_search_bytes
from protoset.spaces.series_data import Series


def bumps(n, length=32, seed=0, n_channels=1):
    """Series with a rise and a fall at random times, labelled by which comes first."""
    rng = np.random.default_rng(seed)
    t, y = np.arange(length), rng.integers(2, size=n)
    early, late = rng.uniform(0.15, 0.35, (n, 1)) * length, rng.uniform(0.6, 0.85, (n, 1)) * length
    sign = np.where(y[:, None] == 1, 1.0, -1.0)
    width = length / 12
    series = sign * (np.exp(-(((t - early) / width) ** 2)) - np.exp(-(((t - late) / width) ** 2)))
    series = series + 0.05 * rng.normal(size=(n, length)).cumsum(axis=1)
    if n_channels > 1:
        series = np.stack([series * (1 + channel) for channel in range(n_channels)], axis=1)
    return series, y


def ragged(n):
    """As ``bumps``, of lengths from 24 to 32."""
    series, y = bumps(n)
    return [points[: 24 + row % 9] for row, points in enumerate(series)], y


def approximate(space, k, **parameters):
    return build_lists(space, k, search="approximate", **parameters)


def true_recall(space, lists, k):
    exact = build_lists(space, k, search="exact")
    farthest = exact.distances[exact.indptr[1:] - 1]
    return np.mean(lists.distances.reshape(-1, k) <= farthest[:, None])


def check_exact_distances(space, lists, k):
    """Of a sample of the rows; and that the lists are sorted, without the objects themselves."""
    n = space.shape[0]
    indices, distances = lists.indices.reshape(n, k), lists.distances.reshape(n, k)
    for row in range(0, n, max(1, n // 20)):
        assert (distances[row] == space.block(np.array([row]), indices[row])[0]).all()
    assert (np.diff(distances, axis=1) >= 0).all()
    assert not (indices == np.arange(n)[:, None]).any()
    assert all(len(set(row)) == k for row in indices.tolist())


CASES = {
    "windowed": ("dtw", {"window": 3}, lambda: bumps(500)[0]),
    "wide": ("dtw", {"squared": True}, lambda: bumps(250)[0]),
    "channels": ("dtw", {"window": 0.1}, lambda: bumps(250, n_channels=2)[0]),
    "unequal lengths": ("dtw", {"window": 3}, lambda: ragged(300)[0]),
    "derivatives": ("ddtw", {"window": 3, "normalize": True}, lambda: bumps(250)[0]),
    "unwarped": ("series_euclidean", {}, lambda: bumps(400)[0]),
    "erp": ("erp", {"window": 3}, lambda: bumps(250)[0]),
    "msm": ("msm", {"window": 3}, lambda: bumps(250, n_channels=2)[0]),
    "twe": ("twe", {"window": 3}, lambda: ragged(250)[0]),
}


@pytest.mark.parametrize("case", CASES)
def test_most_neighbours_are_found_with_exact_distances(case):
    metric, parameters, make = CASES[case]
    space = make_space(make(), metric, parameters)
    lists = approximate(space, 8)
    check_exact_distances(space, lists, 8)
    assert true_recall(space, lists, 8) > 0.95
    assert lists.recall == pytest.approx(true_recall(space, lists, 8), abs=0.03)
    assert not lists.closed.any()


def hasty(monkeypatch, width=4):
    """Few candidates and few edges, so that several rounds follow; pairs in small portions."""
    for module, name, value in (
        (_approximate_series, "LEAST_LISTED", 8),
        (_approximate_series, "MEAN_SEGMENTS", (16,)),
        (_approximate_series, "WIDTHS", (width, 2 * width, 4 * width)),
        (_approximate_series, "CELLS_AT_ONCE", 10_000),
        (_pair_descent, "GATHERED_PAIRS", 500),
    ):
        monkeypatch.setattr(module, name, value)


def test_rounds_find_what_the_means_miss_whatever_the_workers(monkeypatch):
    hasty(monkeypatch)
    rounds, compare = [], _pair_descent.PairDescent.compare_neighbors
    monkeypatch.setattr(
        _pair_descent.PairDescent, "compare_neighbors", lambda self, width: rounds.append(width) or compare(self, width)
    )
    space = make_space(bumps(600)[0], "dtw", {"window": 4})
    one, two = (approximate(space, 8, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert (one.indices == two.indices).all()
    assert (one.distances == two.distances).all()
    assert one.recall == two.recall > 0.95
    assert len(rounds) >= 6, "rounds of both"
    monkeypatch.setattr(_approximate_series, "ROUNDS_PER_WIDTH", 0)
    with pytest.raises(ValueError, match=r"found \d+\.\d% of the true neighbours .* too few"):
        approximate(space, 8)


def test_more_edges_follow_where_few_do_not_reach_the_recall(monkeypatch):
    hasty(monkeypatch, width=2)
    widths, compare = [], _pair_descent.PairDescent.compare_neighbors
    monkeypatch.setattr(
        _pair_descent.PairDescent, "compare_neighbors", lambda self, width: widths.append(width) or compare(self, width)
    )
    approximate(make_space(bumps(600)[0], "dtw", {"window": 4}), 8)
    assert set(widths) >= {2, 4}
    assert widths == sorted(widths)


@pytest.mark.parametrize("n", [2, 3, 30, 91])
def test_few_series_are_all_compared(n):
    space = make_space(bumps(n)[0], "dtw", {"window": 3})
    lists, exact = approximate(space, 10), build_lists(space, 10, search="exact")
    assert (lists.indices == exact.indices).all()
    assert (lists.distances == exact.distances).all()
    assert lists.recall == 1.0


def test_few_series_need_no_vectors_to_be_searched(monkeypatch):
    monkeypatch.setattr(_approximate_series, "CellCandidates", None)
    approximate(make_space(bumps(40)[0], "dtw"), 10)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_duplicates_and_ties(monkeypatch, n_jobs):
    """Many equal series, each with 40 copies: all lists hold copies, and no round computes a distance."""
    gains, compare = [], _pair_descent.PairDescent.compare_neighbors

    def count(self, width):
        before = self.counters.copy()
        compare(self, width)
        gains.extend((self.counters - before)[1:].tolist())
        return 0.0

    monkeypatch.setattr(_pair_descent.PairDescent, "compare_neighbors", count)
    X = np.repeat(bumps(10)[0], 40, axis=0)
    lists = approximate(make_space(X, "dtw", {"window": 3}), 20, n_jobs=n_jobs)
    assert (lists.distances == 0).all()
    assert (lists.indices.reshape(400, 20) // 40 == np.arange(400)[:, None] // 40).all()
    assert lists.recall == 1.0
    assert sum(gains) == 0


def test_a_missed_neighbour_is_missed_where_others_tie():
    """Object 0 has one neighbour at 1 and all others at 2; its list has three of the latter."""

    def distances_of(firsts, seconds, cutoffs, distances):
        distances[:] = np.where((firsts == 0) & (seconds == 1), 1.0, 2.0)
        distances[distances > cutoffs] = np.inf
        return 0, 0, len(firsts)

    descent = _pair_descent.PairDescent(6, 3, distances_of, 100, 1, lambda n_done: None)
    descent.indices[0], descent.distances[0] = [2, 3, 4], 2.0
    assert _approximate_series._recall(descent, np.array([0]), 3, 1) == pytest.approx(2 / 3)
    descent.indices[0], descent.distances[0] = [1, 2, 5], [1.0, 2.0, 2.0]
    assert _approximate_series._recall(descent, np.array([0]), 3, 1) == 1.0


def test_series_that_are_all_equal():
    lists = approximate(make_space(np.ones((200, 12)), "dtw"), 5)
    assert (lists.distances == 0).all()
    assert lists.recall == 1.0


def test_constant_series_of_unequal_lengths():
    X = [np.full(3 + row % 5, float(row % 7)) for row in range(150)]
    space = make_space(X, "dtw")
    check_exact_distances(space, approximate(space, 6), 6)


def test_series_without_enough_candidates_are_searched_exactly(monkeypatch):
    X = bumps(200)[0]
    monkeypatch.setattr(_approximate_series, "_candidates", lambda *args: np.full((200, 3), -1, np.int32))
    space = make_space(X, "dtw", {"window": 3})
    assert (approximate(space, 8).indices == build_lists(space, 8, search="exact").indices).all()


@pytest.mark.parametrize(("metric", "make"), [("dtw", bumps), ("dtw", ragged), ("erp", ragged)])
def test_prototypes_from_approximate_lists(metric, make):
    X, y = make(300)
    y[::7] = 1 - y[::7]  # classes that overlap
    rough, exact = (
        REPS(0.1, metric=metric, metric_params={"window": 3}, search=search).fit(X, y)
        for search in ("approximate", "exact")
    )
    assert rough.neighbor_search_ == "approximate"
    assert rough.neighbor_recall_ > 0.95
    assert rough.prototype_overlap_ > 0.8
    assert np.isin(rough.sample_indices_, exact.sample_indices_).mean() > 0.8
    assert rough.memory_estimate_.stages["search"] > 0


def test_automatic_search_switches_at_the_stated_size(monkeypatch):
    assert _approximate_series.SERIES_APPROXIMATE_FROM == 20_000, "the documentation says so"
    space = make_space(bumps(50)[0], "dtw")
    assert choose_search(space, "auto") == "exact"
    monkeypatch.setattr(type(space), "approximate_from", 50)
    assert choose_search(space, "auto") == "approximate"
    assert choose_search(CountedSpace(space), "auto") == "approximate"
    assert choose_search(space.subset(np.arange(49)), "auto") == "exact"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None)
    assert choose_search(space, "auto") == "exact"
    with pytest.raises(ImportError, match="needs faiss or pynndescent"):
        choose_search(space, "approximate")


@pytest.mark.parametrize(
    ("metric", "objects"),
    [
        ("levenshtein", ["ab", "abc", "b"]),
        ("manhattan", np.eye(3)),
        ("gower", np.eye(3)),
        ("precomputed", 1 - np.eye(3)),
        (lambda a, b: abs(a - b), [1.0, 2.0, 3.0]),
    ],
)
def test_metrics_without_an_approximate_search_say_which_have_one(metric, objects):
    with pytest.raises(ValueError, match=r"needs time series, or dense vectors .*; use search='exact'"):
        choose_search(make_space(objects, metric), "approximate")


def test_progress_grows_to_its_end():
    seen = []
    space = make_space(bumps(300)[0], "dtw", {"window": 3})
    approximate(space, 8, progress=lambda done, total: seen.append((done, total)))
    done, totals = zip(*seen, strict=True)
    assert len(set(totals)) == 1
    assert list(done) == sorted(done)
    assert done[-1] == totals[-1]


def test_a_search_can_be_interrupted(monkeypatch):
    """Between two portions of pairs, which take a second at most."""
    hasty(monkeypatch)
    calls = []

    def stop(done, total):
        calls.append(done)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        approximate(make_space(bumps(300)[0], "dtw", {"window": 3}), 8, progress=stop)
    assert len(calls) == 3
    long = make_space(np.zeros((3, 2000)), "dtw")
    compared = ComparedSeries(long._columns, None, 2000)
    assert compared.pairs_at_once == 1
    monkeypatch.undo()
    assert 1 < compared.pairs_at_once < 100


def test_lists_on_disk(tmp_path):
    space = make_space(bumps(150)[0], "dtw", {"window": 3})
    lists = approximate(space, 8, storage=Storage.at(tmp_path))
    read = NeighborLists.from_folder(tmp_path)
    assert (read.indices == lists.indices).all()
    assert read.recall == lists.recall


def test_too_little_memory_is_refused_before_the_search():
    X, y = bumps(200)
    search = NeighborSearch("approximate", max_memory="1MB")
    with pytest.raises(MemoryError, match="needs about"):
        REPS(5, metric="dtw", search=search).fit(X, y)


def test_the_estimate_counts_the_arrays_of_a_round():
    n, k, length = 50_000, 30, 128
    estimate = series_search_bytes(k, length * 8, (16, 8, 4), 1, n, on_disk=False)
    lists, edges = k * 12, 2 * k * (3 * 4 + 2)
    assert estimate > n * (length * 8 + lists + edges)
    assert estimate < 3e9
    assert series_search_bytes(k, length * 8, (16, 8, 4), 1, n, on_disk=True) <= estimate


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(1, 20), st.integers(1, 2))
@settings(max_examples=30)
def test_means_of_segments(lengths, n_segments, n_channels):
    rng = np.random.default_rng(0)
    each = [rng.normal(size=(length, n_channels)) for length in lengths]
    values = np.concatenate(each)
    series = Series(values[:, 0] if n_channels == 1 else values, np.append(0, np.cumsum(lengths)))
    means = segment_means(series, n_segments)
    count = min(n_segments, max(lengths))
    assert means.shape == (len(lengths), count * n_channels)
    for points, row in zip(each, means.reshape(len(lengths), count, n_channels), strict=True):
        for segment, mean in enumerate(row):
            first = min(segment * len(points) // count, len(points) - 1)
            last = max((segment + 1) * len(points) // count, first + 1)
            assert mean == pytest.approx(points[first:last].mean(axis=0), abs=1e-9)


@given(st.integers(1, 12), st.integers(0, 12), st.integers(1, 3), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_distances_of_pairs_are_those_of_blocks(length, radius, n_channels, squared, seed):
    """All that are within their cut-offs, to the last bit; small integers give many ties."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(12, n_channels, length)).astype(float)
    space = make_space(X, "dtw", {"window": radius, "squared": squared})
    firsts, seconds = (side.ravel().astype(np.int32) for side in np.indices((12, 12)))
    expected = space.block(slice(0, 12), np.arange(12)).ravel()
    cutoffs = rng.choice(np.append(expected, [np.inf, -1.0]), size=len(expected))
    distances = np.empty(len(expected))
    counts = space._pair_distances()(firsts, seconds, cutoffs, distances)
    assert sum(counts) == len(expected)
    near = expected <= cutoffs
    assert (distances[near] == expected[near]).all()
    far = distances[~near]
    assert ((far == expected[~near]) | np.isinf(far)).all()


@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_pairs_of_neighbours_of_neighbours(n, width, seed):
    """Each pair once: those with an edge from the same object, one of the two new, unless one lists the other."""
    rng = np.random.default_rng(seed)
    edges, indices = (rng.integers(-1, n, size=(n, width)).astype(np.int32) for _ in range(2))
    is_new = rng.random((n, width)) < 0.5
    expected = set()
    for row in range(n):
        ends = [(int(end), bool(new)) for end, new in zip(edges[row], is_new[row], strict=True) if end >= 0]
        for end, new in ends:
            for other, other_new in ends:
                listed = end in indices[other] or other in indices[end]
                if end < other and (new or other_new) and not listed:
                    expected.add((end, other))
    middles = kernels.neighbor_pairs.invert_edges(edges, is_new)
    firsts, seconds, start, pairs = np.empty(n, np.int32), np.empty(n, np.int32), 0, []
    seen = np.full(n, -1, np.int32)
    while start < n:
        start, count = kernels.neighbor_pairs.neighbor_pairs(
            start, n, edges, is_new, middles, indices, seen, firsts, seconds
        )
        pairs += zip(firsts[:count].tolist(), seconds[:count].tolist(), strict=True)
    assert len(pairs) == len({frozenset(pair) for pair in pairs})
    assert {(min(pair), max(pair)) for pair in pairs} == expected


@given(st.integers(2, 30), st.integers(1, 8), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_pairs_of_candidates(n, width, seed):
    candidates = np.random.default_rng(seed).integers(-1, n, size=(n, width)).astype(np.int32)
    candidates = np.array([np.append(np.unique(row), [-1] * (width - len(np.unique(row)))) for row in candidates])
    candidates = candidates.astype(np.int32)
    expected = {
        frozenset((row, int(other))) for row in range(n) for other in candidates[row] if other >= 0 and other != row
    }
    firsts, seconds = np.empty(n * width, np.int32), np.empty(n * width, np.int32)
    stopped, count = kernels.neighbor_pairs.candidate_pairs(0, n, candidates, firsts, seconds)
    pairs = [frozenset(pair) for pair in zip(firsts[:count].tolist(), seconds[:count].tolist(), strict=True)]
    assert stopped == n
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected


@pytest.mark.parametrize("scale", [1e45, 1e149, 1e-60, 1e-139])
@pytest.mark.parametrize(("metric", "parameters"), [("dtw", {}), ("dtw", {"squared": True}), ("ddtw", {}), ("msm", {})])
def test_the_unit_of_the_values_does_not_matter(metric, parameters, scale):
    """All values that the exact search takes."""
    space = make_space(bumps(400)[0] * scale, metric, {"window": 3} | parameters)
    lists = approximate(space, 8)
    check_exact_distances(space, lists, 8)
    assert lists.recall > 0.95


@pytest.mark.parametrize("power", [40, 490, -460])
def test_a_power_of_2_changes_no_neighbour(power):
    X = bumps(400)[0]
    plain, scaled = (approximate(make_space(series, "dtw", {"window": 3}), 8) for series in (X, np.ldexp(X, power)))
    np.testing.assert_array_equal(scaled.indices, plain.indices)
    np.testing.assert_array_equal(scaled.distances, np.ldexp(plain.distances, power))


@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("largest", [1e12, 1e150])
def test_one_very_large_series_does_not_hide_the_others(largest, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 16)).cumsum(axis=1)[rng.integers(40, size=n)] + 0.5 * rng.normal(size=(n, 16))
    X[5] = largest
    assert approximate(make_space(X, "dtw", {"window": 2}), 10).recall > 0.95


def test_small_series_after_a_large_one_keep_their_means():
    values = np.array([1e150, -1e150, 1.0, 3.0, 5.0, 0.0])
    means = segment_means(Series(values, np.array([0, 2, 5, 6])), 2)
    assert means.tolist() == [[1e150, -1e150], [1.0, 4.0], [0.0, 0.0]]
    assert in_single_precision(means)[1].tolist() != [0.0, 0.0]
    assert (in_single_precision(np.zeros((3, 2))) == 0).all()
