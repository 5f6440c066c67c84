"""The kernels of the memetic search, step by step, against plain recomputation from distances."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from protoset import kernels
from protoset.selectors import _set_evaluation
from protoset.selectors._set_evaluation import SetEvaluator
from protoset.spaces import make_space

from conftest import labelled_vectors, slow_hits, slow_near, vote

ks = st.integers(1, 3)
seeds = st.integers(0, 2**32 - 1)


def full_lists(D, length):
    n = len(D)
    return slow_near(D, np.ones(n, bool), n - 1)[:, :length].astype(np.int32)


class SplitMix:
    """A plain twin of the kernels' random numbers."""

    def __init__(self, seed):
        self.state = seed

    def __call__(self):
        mask = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        bits = self.state
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & mask
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & mask
        return ((bits ^ (bits >> 31)) >> 11) / 2**53


@given(st.integers(0, 2**64 - 1))
def test_random_numbers(seed):
    state, twin = np.array([seed], np.uint64), SplitMix(seed)
    for _ in range(5):
        number = kernels.memetic.uniform(state)
        assert number == twin()
        assert 0 <= number < 1
    assert int(state[0]) == twin.state


def test_random_numbers_are_even():
    state = np.array([0], np.uint64)
    numbers = np.array([kernels.memetic.uniform(state) for _ in range(20_000)])
    assert abs(numbers.mean() - 0.5) < 0.01
    assert np.histogram(numbers, 10, (0, 1))[0].min() > 1800


@given(seeds, st.integers(1, 20), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.0, 0.2, 1.0]))
def test_breeding(seed, n, crossover, mutation):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, n)) < 0.3
    child, state, twin = np.empty(n, bool), np.array([seed], np.uint64), SplitMix(seed)
    kernels.memetic.breed(first, second, crossover, mutation, state, child)
    expected = np.array(
        [(b if twin() < crossover else a) ^ (twin() < mutation) for a, b in zip(first, second, strict=True)]
    )
    if not expected.any():
        expected[int(twin() * n)] = True
    assert_array_equal(child, expected)


@given(seeds, st.integers(2, 12), st.integers(1, 11))
def test_lists_turned_around(seed, n, length):
    lists = full_lists(np.random.default_rng(seed).random((n, n)), min(length, n - 1))
    indptr, rows, places = kernels.lists.listed_by(lists)
    for own in range(n):
        part = slice(indptr[own], indptr[own + 1])
        expected = np.argwhere(lists == own)
        assert_array_equal(rows[part], expected[:, 0])
        assert_array_equal(places[part], expected[:, 1])


def make_evaluator(data, seed, k, length, room, asymmetric):
    """An evaluator on lists of any length with room for so many lists of all others."""
    X, codes = data
    n = len(codes)
    D = np.random.default_rng(seed).integers(0, 4, (n, n)).astype(float) if asymmetric else cdist(X, X)
    np.fill_diagonal(D, 0)
    old = _set_evaluation.EXTENSION_BYTES, _set_evaluation.REVERSED_ENTRIES
    _set_evaluation.EXTENSION_BYTES, _set_evaluation.REVERSED_ENTRIES = room * 4 * n, 2
    try:
        lists = full_lists(D, min(length, n - 1))
        evaluator = SetEvaluator(make_space(D, "precomputed", None), lists, codes, min(k, n - 1))
    finally:
        _set_evaluation.EXTENSION_BYTES, _set_evaluation.REVERSED_ENTRIES = old
    return evaluator, D, codes, min(k, n - 1), np.random.default_rng(seed)


evaluators = st.builds(
    make_evaluator,
    st.booleans().flatmap(lambda tied: labelled_vectors(max_objects=18, tied=tied)),
    seeds,
    ks,
    st.integers(1, 17),
    st.integers(0, 6),
    st.booleans(),
)


@given(evaluators, st.sampled_from([0.1, 0.5]))
def test_children_are_evaluated_as_if_from_scratch(made, rate):
    """Whatever the length of the lists and the room for longer ones, over several generations."""
    evaluator, D, codes, k, rng = made
    n = len(codes)
    state = np.array([1], np.uint64)
    sets = [evaluator.evaluate(rng.random(n) < rate) for _ in range(3)]
    for _ in range(6):
        first, second = rng.choice(len(sets), 2)
        child = evaluator.breed(sets[first], sets[second], 0.5, 0.1, state)
        assert child.hits == slow_hits(D, child.member, codes, k)
        assert child.size == child.member.sum() > 0
        assert child.score == child.hits - child.size
        assert_array_equal(evaluator.near[:, :k], slow_near(D, child.member, k))
        order = full_lists(D, n - 1)
        firsts = [next((p for p, other in enumerate(row) if child.member[other]), n) for row in order]
        assert (child.start_positions <= firsts).all()
        known = child.first_members >= 0
        assert_array_equal(child.start_positions[known], np.array(firsts)[known])
        assert_array_equal(child.first_members[known], order[known, child.start_positions[known]])
        sets.append(child)


@given(evaluators, st.integers(-2, 2), seeds)
def test_local_search_step_by_step(made, threshold, seed):
    """One attempt at a time: hits, neighbours, chains and costs after each are those of recomputation."""
    evaluator, D, codes, k, rng = made
    n = len(codes)
    member = rng.random(n) < 0.7
    member[rng.integers(n)] = True
    child = evaluator.evaluate(member)
    evaluator.begin(child)
    state, twin = np.array([seed], np.uint64), SplitMix(seed)
    visits, tried, losers, hits, member = list(np.flatnonzero(member)), 0, 0, child.hits, member.copy()
    check_state(evaluator, D, member, codes, k)
    done = False
    while not done:
        done = evaluator.step(threshold, state, 1)
        if tried < len(visits) > 1:
            chosen = tried + int(twin() * (len(visits) - tried))
            visits[tried], visits[chosen] = visits[chosen], visits[tried]
            visited = visits[tried]
            losers += int((slow_near(D, member, k) == visited).any(axis=1).sum())
            member[visited] = False
            without = slow_hits(D, member, codes, k)
            if without - hits >= threshold:
                visits[tried] = visits[-1]
                visits.pop()
                hits, tried = without, 0
            else:
                member[visited] = True
                tried += 1
        check_state(evaluator, D, member, codes, k)
        assert evaluator.tally[:4].tolist() == [member.sum(), tried, hits, losers]
    assert tried == len(visits) or len(visits) == 1
    again = evaluator.evaluate(child.member, child.start_positions, child.first_members)
    before = [array.copy() for array in (again.member, again.start_positions, again.first_members)]
    improved, spent = evaluator.improve(again, threshold, state, lambda: False)
    for array, copy in zip((again.member, again.start_positions, again.first_members), before, strict=True):
        assert_array_equal(array, copy)
    assert improved.hits == slow_hits(D, improved.member, codes, k)
    assert improved.size == improved.member.sum() >= 1
    assert spent >= 0


def check_state(evaluator, D, member, codes, k):
    near = slow_near(D, member, k + 1)
    assert_array_equal(evaluator.member, member)
    assert_array_equal(evaluator.near, near)
    assert_array_equal(evaluator.is_hit, [vote(row[:k], codes) == code for row, code in zip(near, codes, strict=True)])
    head, following = evaluator._chains
    for other in np.flatnonzero(member):
        link, associates = head[other], []
        while link >= 0:
            associates.append(link // (k + 1))
            link = following[link]
        assert sorted(associates) == np.flatnonzero((near == other).any(axis=1)).tolist()
