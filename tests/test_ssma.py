"""SSMA: its steps as published, whatever is kept in memory, and ends as asked. Kernels: test_memetic_kernels.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from protoset.selectors import SSMA, _set_evaluation
from protoset.selectors._population import Population, Threshold
from protoset.selectors._set_evaluation import Individual, SetEvaluator, search_order
from protoset.selectors.ssma import ssma
from protoset.spaces import make_space

from conftest import distinct_vectors, labelled_vectors, overlapping, slow_hits


def individual(hits, size, n=100):
    return Individual(np.arange(n) < size, hits, size, np.zeros(n, np.int32), np.full(n, -1, np.int32))


@settings(max_examples=25)
@given(labelled_vectors(tied=True), st.integers(1, 3), st.integers(0, 1000))
def test_what_is_reported_of_the_best_set_is_true(data, k, seed):
    X, y = distinct_vectors(data)
    selector = SSMA(n_neighbors=k, max_evaluations=60, population_size=5, random_state=seed).fit(X, y)
    n, kept = len(y), selector.sample_indices_
    own = kept if not len(selector.fallback_classes_) else None
    if own is not None:
        hits = slow_hits(cdist(X, X), np.isin(np.arange(n), own), np.unique(y, return_inverse=True)[1], min(k, n - 1))
        assert selector.accuracy_ == hits / n
        assert selector.fitness_ == pytest.approx(50 * (hits + n - len(own)) / n)
    assert selector.n_evaluations_ >= 60
    assert selector.n_evaluations_ >= 2 * selector.n_iter_


def test_it_keeps_few_and_classifies_well():
    X, y = overlapping(300, seed=1)
    selector = SSMA(random_state=0, max_evaluations=3000).fit(X, y)
    everything = slow_hits(cdist(X, X), np.ones(300, bool), y, 1) / 300
    assert len(selector.sample_indices_) < 30
    assert selector.accuracy_ > everything


def test_a_longer_search_is_no_worse():
    X, y = overlapping(120)
    fitness = [SSMA(random_state=3, max_evaluations=m).fit(X, y).fitness_ for m in (1, 50, 500, 2000)]
    assert fitness == sorted(fitness)


@pytest.mark.parametrize("k", [1, 3])
def test_memory_and_workers_change_nothing(monkeypatch, k):
    X, y = overlapping(150)
    parameters = {"random_state": 1, "max_evaluations": 600, "n_neighbors": k}
    expected = SSMA(**parameters).fit(X, y)
    for length, room, turned, work in (
        (149, 0, 256, 10**6),
        (4, 0, 1, 3),
        (4, 10**6, 3, 10**6),
        (20, 20 * 600, 20, 50),
    ):
        monkeypatch.setattr(_set_evaluation, "list_length", lambda n, k, length=length: length)
        monkeypatch.setattr(_set_evaluation, "EXTENSION_BYTES", room)
        monkeypatch.setattr(_set_evaluation, "REVERSED_ENTRIES", turned)
        monkeypatch.setattr(_set_evaluation, "STEPS_PER_CHECK", work)
        got = SSMA(**parameters, n_jobs=2).fit(X, y)
        assert_array_equal(got.sample_indices_, expected.sample_indices_)
        assert (got.n_evaluations_, got.n_iter_) == (expected.n_evaluations_, expected.n_iter_)


def test_the_threshold_follows_the_best_set():
    threshold = Threshold()
    threshold.update(individual(50, 40), 0.0)
    for _ in range(9):
        threshold.update(individual(50, 40), 0.0)
        assert threshold.value == 0
    threshold.update(individual(50, 40), 0.0)
    assert threshold.value == 1  # both are due, the coin takes accuracy first
    threshold.update(individual(50, 40), 0.0)
    assert threshold.value == 0  # and reduction follows
    for size in range(39, 29, -1):
        threshold.update(individual(50, size), 0.9)
    assert threshold.value == 1  # it shrank all the time, but gained no accuracy
    for hits in range(51, 61):
        threshold.update(individual(hits, 30), 0.0)
    assert threshold.value == 0  # it gained all the time, but did not shrink


def test_the_coin_may_take_reduction_first():
    threshold = Threshold()
    for _ in range(11):
        threshold.update(individual(50, 40), 0.9)
    assert threshold.value == -1


def make_population(scores):
    X, y = overlapping(100)
    space = make_space(X, "euclidean", None)
    evaluator = SetEvaluator(space, search_order(space, 1, None), y, 1)
    population = Population(evaluator, 100, len(scores), np.array([0], np.uint64))
    population._sets = [individual(50 + score, 50) for score in sorted(scores, reverse=True)]
    return population


def scores_of(population):
    return [one.score for one in population._sets]


@given(st.lists(st.integers(0, 9), min_size=2, max_size=6), st.lists(st.integers(0, 9), min_size=2, max_size=2))
def test_children_take_the_places_of_the_worst_two(scores, children):
    population = make_population(scores)
    before = population._sets
    newborn = [individual(50 + score, 50) for score in children]
    population.admit(newborn)
    assert scores_of(population) == sorted(scores + children, reverse=True)[: len(scores)]
    assert sum(one in newborn for one in population._sets) == sum(
        child > other for child, other in zip(sorted(children, reverse=True), sorted(scores)[:2], strict=True)
    )
    assert before[0] in population._sets or population.best.score > before[0].score


def test_tournaments_draw_two_different_sets():
    population = make_population(range(5))
    random_state = np.random.RandomState(0)
    winners = [population.tournament(random_state).score for _ in range(3000)]
    shares = np.bincount(winners, minlength=5) / 3000
    np.testing.assert_allclose(shares, [0, 0.1, 0.2, 0.3, 0.4], atol=0.03)  # the better of two of five


def test_the_first_sets_are_halves():
    X, y = overlapping(400)
    seen = []
    with pytest.warns(ConvergenceWarning):
        SSMA(random_state=0, callback=lambda progress: seen.append(progress) or True).fit(X, y)
    assert 160 < seen[0].n_prototypes < 240
    assert seen[0].n_evaluations == 0


def test_the_function_needs_no_limits():
    X, y = overlapping(80)
    space = make_space(X, "euclidean", None)
    found = ssma(space, search_order(space, 1, None), y, max_evaluations=300, random_state=np.random.RandomState(4))
    selector = SSMA(max_evaluations=300, random_state=4).fit(X, y)
    assert_array_equal(np.flatnonzero(found.best.member), selector.sample_indices_)


def test_the_callback_ends_the_search():
    X, y = overlapping(80)
    with pytest.warns(ConvergenceWarning, match="by its callback after") as caught:
        selector = SSMA(random_state=0, callback=lambda progress: progress.n_evaluations >= 100).fit(X, y)
    assert caught[0].filename == __file__
    assert 100 <= selector.n_evaluations_ < 10_000
    with pytest.raises(ZeroDivisionError):
        SSMA(callback=lambda progress: 1 / 0).fit(X, y)


def test_the_callback_can_end_a_local_search(monkeypatch):
    monkeypatch.setattr(_set_evaluation, "STEPS_PER_CHECK", 1)
    X, y = overlapping(80)
    answers = iter([False] * 3)
    with pytest.warns(ConvergenceWarning):
        selector = SSMA(random_state=0, callback=lambda progress: next(answers, True)).fit(X, y)
    assert selector.n_iter_ <= 3


def test_the_time_limit_leaves_a_valid_fit():
    X, y = overlapping(80)
    with pytest.warns(ConvergenceWarning, match="at max_time=1e-09 seconds"):
        selector = SSMA(random_state=0, max_time=1e-9).fit(X, y)
    assert selector.n_iter_ == 0
    assert len(selector.sample_indices_) > 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mutation": "often"}, "mutation='often' must be a probability"),
        ({"crossover": np.nan}, "crossover=nan must be a probability"),
        ({"population_size": "many"}, "population_size='many' must be a whole number"),
        ({"max_evaluations": np.nan}, "max_evaluations=nan must be a whole number"),
    ],
)
def test_wrong_parameters(parameters, message):
    """What test_selectors.py does not try on every selector that takes the parameter."""
    X, y = overlapping(80)
    with pytest.raises(ValueError, match=message):
        SSMA(**parameters).fit(X, y)
