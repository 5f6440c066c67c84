"""RMHC: the hits are right after every swap, whatever is kept in memory, and the search ends as asked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from protoset import kernels
from protoset.selectors import RMHC, _hill_climbing
from protoset.selectors import rmhc as module
from protoset.selectors._hill_climbing import Climber
from protoset.selectors.base import TIE_RULES
from protoset.spaces import make_space

from conftest import labelled_vectors, overlapping, slow_hits, slow_near

ks = st.integers(1, 3)
seeds = st.integers(0, 2**32 - 1)


def by_class_size(codes):
    """Position of each object when the most frequent class comes first, then the lower code, then the earlier row."""
    sizes = np.bincount(codes)
    order = sorted(range(len(codes)), key=lambda i: (-sizes[codes[i]], codes[i], i))
    return np.argsort(order)


def check_climber(climber, D, codes, k):
    priority = climber.nearest.priority
    member = np.zeros(len(codes), bool)
    member[climber.members] = True
    assert_array_equal(np.sort(np.concatenate([climber.members, climber.outsiders])), np.arange(len(codes)))
    assert_array_equal(climber.nearest.neighbors, slow_near(D, member, k + 1, priority))
    assert climber.n_hits == slow_hits(D, member, codes, k, priority)


@pytest.mark.parametrize("tie_rule", TIE_RULES)
@given(data=labelled_vectors(tied=True), k=ks, seed=seeds, asymmetric=st.booleans())
def test_gain_and_state_after_every_swap(tie_rule, data, k, seed, asymmetric):
    X, codes = data
    rng = np.random.default_rng(seed)
    n = len(codes)
    k = min(k, n - 1)
    D = rng.integers(0, 4, (n, n)).astype(float) if asymmetric else cdist(X, X)
    np.fill_diagonal(D, 0)
    space = make_space(D if asymmetric else X, "precomputed" if asymmetric else "euclidean", None)
    climber = Climber(space, codes, rng.permutation(n)[: rng.integers(1, n)], k, tie_rule)
    priority = by_class_size(codes) if tie_rule == "majority" else np.arange(n)
    assert_array_equal(climber.nearest.priority, priority)
    check_climber(climber, D, codes, k)
    for _ in range(8):
        place, outside = rng.integers(len(climber.members)), rng.integers(len(climber.outsiders))
        incoming, outgoing = climber.outsiders[outside], climber.members[place]
        member = np.zeros(n, bool)
        member[climber.members] = True
        member[[incoming, outgoing]] = True, False
        hits, expected = climber.n_hits, slow_hits(D, member, codes, k, priority)
        arrays = (climber.nearest.neighbors, climber.nearest.distances, priority, codes, climber.is_hit)
        column = np.ascontiguousarray(D[:, incoming])
        gain = kernels.hill_climbing.swap_gain(column, incoming, outgoing, *arrays, np.empty(k, np.int64))
        assert gain == expected - hits
        following, swapped = climber.try_swaps(np.array([place]), np.array([outside]), 0)
        assert following == 1
        assert swapped == (gain > 0)
        assert climber.n_hits == max(hits, expected)
        check_climber(climber, D, codes, k)


@given(labelled_vectors(tied=True), ks, seeds)
def test_voters_after_a_swap(data, k, seed):
    X, codes = data
    n, rng = len(codes), np.random.default_rng(seed)
    D, order = cdist(X, X), rng.permutation(n)
    members, incoming = order[: rng.integers(1, n)], order[-1]
    member = np.isin(np.arange(n), members)
    near = slow_near(D, member, k + 1)
    swapped = member.copy()
    swapped[[incoming, members[0]]] = True, False
    expected = slow_near(D, swapped, k)
    for own in range(n):
        distances = np.where(near[own] >= 0, D[own, near[own]], np.inf)
        voters = np.empty(k, np.int64)
        before = near[own], distances, np.arange(n)
        kernels.hill_climbing.swap_voters(own, D[own, incoming], incoming, members[0], *before, voters)
        assert_array_equal(voters, expected[own])


def literal_rmhc(D, codes, size, k, max_iter, seed, priority):
    """Recompute everything at each mutation, with the random numbers of the library."""
    rng, n = np.random.RandomState(seed), len(codes)
    order = rng.permutation(n)
    members, outsiders = order[:size], np.sort(order[size:])
    places, outside_places = rng.randint(size, size=4096)[:max_iter], rng.randint(n - size, size=4096)[:max_iter]
    best = slow_hits(D, np.isin(np.arange(n), members), codes, k, priority)
    for place, outside in zip(places, outside_places, strict=True):
        members[place], outsiders[outside] = outsiders[outside], members[place]
        hits = slow_hits(D, np.isin(np.arange(n), members), codes, k, priority)
        if hits > best:
            best = hits
        else:
            members[place], outsiders[outside] = outsiders[outside], members[place]
    return np.sort(members), best


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("tie_rule", TIE_RULES)
def test_against_a_literal_search(k, tied, tie_rule):
    X, y = overlapping(60, seed=3)
    X = X.round() if tied else X
    selector = RMHC(12, n_neighbors=k, max_iter=150, tie_rule=tie_rule, random_state=5).fit(X, y)
    members, hits = literal_rmhc(cdist(X, X), y, 12, k, 150, 5, by_class_size(y) if tie_rule == "majority" else None)
    assert_array_equal(selector.sample_indices_, members)
    assert selector.accuracy_ == hits / 60
    assert selector.n_evaluations_ == selector.n_iter_ == 150


def test_memory_and_chunks_change_nothing(monkeypatch):
    X, y = overlapping(150)
    expected = RMHC(random_state=1, max_iter=1000).fit(X, y)
    for cache, chunk in ((0, 32), (150 * 8 * 20, 32), (0, 1), (2**20, 7)):
        monkeypatch.setattr(_hill_climbing, "COLUMN_CACHE_BYTES", cache)
        monkeypatch.setattr(_hill_climbing, "MAX_CHUNK", chunk)
        got = RMHC(random_state=1, max_iter=1000, n_jobs=2).fit(X, y)
        assert_array_equal(got.sample_indices_, expected.sample_indices_)
        assert got.n_swaps_ == expected.n_swaps_


def test_distances_are_computed_once_where_they_fit():
    X, y = overlapping(100)
    assert RMHC(random_state=0).fit(X, y).n_distances_ < 20_000


@pytest.mark.parametrize("n_mutations", [10, 60, 100])
def test_a_short_search_is_the_beginning_of_a_longer_one(n_mutations, monkeypatch):
    """Also one that ends within a chunk, or draws more than once."""
    X, y = overlapping(80)
    monkeypatch.setattr(module, "MUTATIONS_PER_DRAW", 64)
    short = RMHC(random_state=0, max_iter=n_mutations).fit(X, y)
    monkeypatch.setattr(_hill_climbing, "MAX_CHUNK", 1)
    with pytest.warns(ConvergenceWarning):
        longer = RMHC(random_state=0, callback=lambda progress: progress.n_evaluations == n_mutations).fit(X, y)
    assert short.n_evaluations_ == longer.n_evaluations_ == n_mutations
    assert short.n_swaps_ == longer.n_swaps_ > 0
    assert short.accuracy_ == longer.accuracy_
    assert_array_equal(short.sample_indices_, longer.sample_indices_)


def test_only_the_answer_true_ends_the_search():
    X, y = overlapping(80)
    for answer in (1, "written", [0], np.float64(1), None, False):
        selector = RMHC(random_state=0, max_iter=100, callback=lambda progress, answer=answer: answer).fit(X, y)
        assert selector.n_evaluations_ == 100


def test_the_function_needs_no_limits():
    X, y = overlapping(80)
    start, random_state = np.arange(8), np.random.RandomState(4)
    found = module.rmhc(make_space(X, "euclidean", None), y, start, max_iter=200, random_state=random_state)
    member = np.isin(np.arange(80), found.members)
    assert found.n_evaluations == 200
    assert found.hits == slow_hits(cdist(X, X), member, y, 1)


def test_a_set_of_all_has_no_mutations():
    X, y = overlapping(20)
    selector = RMHC(1.0, random_state=0).fit(X, y)
    assert_array_equal(selector.sample_indices_, np.arange(20))
    assert selector.n_evaluations_ == 0


def test_the_callback_sees_progress_and_ends_the_search():
    X, y = overlapping(80)
    seen = []

    def stop(progress):
        seen.append(progress)
        return np.bool_(progress.n_evaluations >= 320)

    with pytest.warns(ConvergenceWarning, match="by its callback after .* of 10,000") as caught:
        selector = RMHC(random_state=0, callback=stop).fit(X, y)
    assert caught[0].filename == __file__
    done = [progress.n_evaluations for progress in seen]
    assert done[0] == 0
    assert 0 < min(np.diff(done)) <= max(np.diff(done)) <= 32  # as many at a time as are quickly tried
    assert selector.n_evaluations_ == done[-1] >= 320 > done[-2]
    assert seen[-1].accuracy == selector.accuracy_
    whole = RMHC(random_state=0, max_iter=done[-1]).fit(X, y)
    assert_array_equal(selector.sample_indices_, whole.sample_indices_)


def test_the_time_limit_leaves_a_valid_fit():
    X, y = overlapping(80)
    with pytest.warns(ConvergenceWarning, match="at max_time=1e-09 seconds"):
        selector = RMHC(8, random_state=0, max_time=1e-9).fit(X, y)
    assert selector.n_evaluations_ == 0
    assert len(selector.sample_indices_) >= 8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_prototypes": np.nan}, "n_prototypes=nan is neither"),
        ({"max_iter": "many"}, "max_iter='many' must be a whole number"),
        ({"max_time": "soon"}, "max_time='soon' must be a finite number above 0"),
        ({"max_time": np.nan}, "max_time=nan must be a finite number above 0"),
    ],
)
def test_wrong_parameters(parameters, message):
    """What test_selectors.py does not try on every selector that takes the parameter."""
    X, y = overlapping(80)
    with pytest.raises(ValueError, match=message):
        RMHC(**parameters).fit(X, y)


def test_a_callback_is_a_function():
    X, y = overlapping(80)
    with pytest.raises(TypeError, match="callback=3 must be a function"):
        RMHC(callback=3).fit(X, y)
