"""Refinement: prices are what moves cost, the objective never rises, budget and classes are kept."""

import itertools
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from protoset import REPS, Refined, kernels, refine
from protoset.selectors import _improving, _refinable_set, all_selectors, refinement
from protoset.selectors._refinable_set import CandidateDistances, RefinableSet, loss_table
from protoset.spaces import CountedSpace, _cells, make_space
from protoset.spaces.vectors import VectorSpace

from conftest import labelled_vectors, overlapping

PRICE_ERROR = 0.003
"""Error that the price of a move may have, per object."""


def slow_losses(matrix, codes, members, steepness):
    """Loss of each object, from scratch."""
    losses = []
    for i in range(len(codes)):
        sides = [
            min((matrix[i, j] for j in members if j != i and (codes[j] == codes[i]) == same), default=np.inf)
            for same in (True, False)
        ]
        if sides[0] == sides[1]:
            losses.append(0.5)
        elif np.isinf(sides).any():
            losses.append(float(sides[0] > sides[1]))
        else:
            losses.append(1 / (1 + np.exp(-steepness * (sides[0] - sides[1]) / (sides[0] + sides[1]))))
    return np.array(losses)


@st.composite
def problems(draw):
    X, codes = draw(labelled_vectors(max_objects=18, tied=draw(st.booleans())))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    _, first = np.unique(codes, return_index=True)
    others = rng.permutation(np.setdiff1d(np.arange(len(codes)), first))
    start = np.concatenate([first, others[: draw(st.integers(0, len(others)))]])
    matrix = cdist(X, X, "cityblock")
    if draw(st.booleans()):
        matrix = matrix * rng.uniform(0.9, 1.1, matrix.shape)  # not symmetric
        np.fill_diagonal(matrix, 0)
    return matrix, codes, start, rng


@contextmanager
def without_matrix(reach=None):
    """Objects see what their lists hold: everyone, or ``reach`` times the number of objects per prototype."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_refinable_set, "MATRIX_BYTES", 0)
        patch.setattr(_refinable_set, "LIST_ENTRY_BYTES", 0)
        patch.setattr(_improving, "LIST_REACH", 10**6 if reach is None else reach)
        yield


def a_set(matrix, codes, start, budget, steepness, lists=False):
    with without_matrix() if lists else nullcontext():
        candidates = CandidateDistances(
            CountedSpace(make_space(matrix, "precomputed")), n_neighbors=len(codes), n_jobs=None
        )
    assert (len(candidates.arrays.columns) == 0) == lists
    return RefinableSet(candidates, codes, start, budget, steepness, tolerance=1e-4)


@given(problems(), st.sampled_from([1.0, 10.0, 40.0]), st.booleans(), st.integers(0, 2))
def test_every_move_is_judged_as_from_scratch(problem, steepness, lists, room):
    matrix, codes, start, rng = problem
    budget = min(len(start) + room, len(codes))
    prototypes = a_set(matrix, codes, start, budget, steepness, lists)
    for _ in range(12):
        members = prototypes.members[prototypes.members >= 0]
        before = slow_losses(matrix, codes, members, steepness).sum()
        assert prototypes.objective == pytest.approx(before, abs=1e-9)
        place = rng.integers(budget)
        outside = np.setdiff1d(np.arange(len(codes)), members)
        candidate = int(rng.choice(outside)) if len(outside) and rng.random() < 0.8 else -1
        leaving = prototypes.members[place]
        if leaving < 0 and candidate < 0:
            continue
        after_members = [m for m in members if m != leaving] + ([candidate] if candidate >= 0 else [])
        if set(codes[after_members]) != set(codes):
            continue
        after = slow_losses(matrix, codes, after_members, steepness).sum()
        made = prototypes.move(candidate, int(place))
        assert made == (after - before < -prototypes.least)
        np.testing.assert_array_equal(prototypes.indices, np.sort(after_members if made else members))


@given(problems(), st.sampled_from([1.0, 10.0, 40.0]), st.booleans())
def test_prices_are_what_moves_cost(problem, steepness, lists):
    """All candidates in place of all prototypes, up to a small error per object."""
    matrix, codes, start, _ = problem
    prototypes = a_set(matrix, codes, start, len(start), steepness, lists)
    now = slow_losses(matrix, codes, start, steepness).sum()
    limits = np.empty((int(codes.max()) + 1, len(codes)))
    kernels.refining.reach_by_class(codes, prototypes._losses.reach, limits)
    nearest, losses = prototypes._nearest, prototypes._losses
    state = (codes, nearest.first_slots, nearest.first_distances, losses.per_object, losses.table)
    allowed = PRICE_ERROR * len(codes)
    for candidate in np.setdiff1d(np.arange(len(codes)), start):
        changes, code = np.append(prototypes._losses.removal, 0.0), codes[candidate]
        seen, seen_at = np.empty(len(codes), np.int32), np.empty(len(codes))
        n_seen = kernels.refining.objects_within(
            np.ascontiguousarray(matrix[:, candidate]), limits[code], seen, seen_at
        )
        entry = kernels.refining.estimate_swaps(candidate, code, n_seen, seen, seen_at, *state, changes)
        with_it = slow_losses(matrix, codes, [*start, candidate], steepness).sum()
        assert entry == pytest.approx(with_it - now, abs=allowed)
        for place in range(len(start)):
            swapped = [*np.delete(start, place), candidate]
            cost = slow_losses(matrix, codes, swapped, steepness).sum() - now
            assert entry + changes[place] == pytest.approx(cost, abs=allowed)


SIDES = st.one_of(st.floats(0, 10), st.just(np.inf))


@given(SIDES, SIDES, st.sampled_from([1.0, 40.0]))
def test_the_table_of_losses(same, other, steepness):
    exact = kernels.refining.loss(same, other, steepness)
    assert kernels.refining.interpolated_loss(loss_table(steepness), same, other) == pytest.approx(exact, abs=1e-4)


@settings(max_examples=40)
@given(problems(), st.sampled_from([1.0, 10.0, 40.0]), st.booleans(), st.integers(0, 1))
def test_the_next_move_is_the_first_that_helps_and_in_the_best_place(problem, steepness, lists, room):
    """Against all moves from scratch, up to the error of the prices."""
    matrix, codes, start, rng = problem
    budget = min(len(start) + room, len(codes))
    prototypes = a_set(matrix, codes, start, budget, steepness, lists)
    now = slow_losses(matrix, codes, start, steepness).sum()
    allowed = PRICE_ERROR * len(codes)
    order = rng.permutation(len(codes))

    def cost(place, candidate):
        leaving = prototypes.members[place]
        after = [m for m in start if m != leaving] + ([candidate] if candidate >= 0 else [])
        if set(codes[after]) != set(codes) or (leaving < 0 and candidate < 0):
            return np.inf
        return slow_losses(matrix, codes, after, steepness).sum() - now

    number, place = prototypes.next_move(order, 0)
    drops = [cost(place, -1) for place in range(budget)]
    if number < 0:
        assert drops[place] == pytest.approx(min(drops), abs=1e-9)
        assert drops[place] < -prototypes.least
        return
    assert min(drops) >= -2 * prototypes.least - 1e-9
    for passed_over in order[:number]:
        if passed_over not in start:
            assert min(cost(p, passed_over) for p in range(budget)) > -prototypes.least - allowed
    if number < len(codes):
        prices = [cost(p, order[number]) for p in range(budget)]
        assert prices[place] <= min(prices) + 2 * allowed
        assert prices[place] < -prototypes.least + allowed


@pytest.mark.parametrize("few", [refinement.FEW_OBJECTS, 0], ids=["patient", "hasty"])
@pytest.mark.parametrize("reach", [None, 1], ids=["matrix", "lists"])
@given(problems(), st.integers(0, 3))
def test_refined_sets_are_better_within_budget_and_keep_all_classes(reach, few, problem, room):
    matrix, codes, start, _ = problem
    budget = min(len(start) + room, len(codes))
    with pytest.MonkeyPatch.context() as patch, nullcontext() if reach is None else without_matrix(reach):
        patch.setattr(refinement, "FEW_OBJECTS", few)
        result = refine(make_space(matrix, "precomputed"), codes, start, n_prototypes=budget, random_state=0)
    assert len(result.indices) <= budget
    assert set(codes[result.indices]) == set(codes)
    assert (np.diff(result.indices) > 0).all()
    n, last = len(codes), 40.0
    pairs = np.column_stack([make_space(matrix, "precomputed").identical(), codes])[start]
    distinct = start[np.unique(pairs, axis=0, return_index=True)[1]]  # one of identical prototypes of a class
    assert result.objective_before == pytest.approx(slow_losses(matrix, codes, distinct, last).mean(), abs=1e-9)
    assert result.objective_after == pytest.approx(slow_losses(matrix, codes, result.indices, last).sum() / n, abs=1e-9)
    assert result.objective_after <= result.objective_before


@settings(max_examples=20)
@given(problems())
def test_a_patient_search_ends_where_no_move_helps(problem):
    matrix, codes, start, _ = problem
    kept = refine(make_space(matrix, "precomputed"), codes, start, steepness=40, n_starts=1).indices
    now = slow_losses(matrix, codes, kept, 40.0).sum()
    allowed = max(1e-9, 2e-4 * now) + PRICE_ERROR * len(codes)
    contents = make_space(matrix, "precomputed").identical() * 10 + codes  # copies are never prototypes together
    for leaving in [-1, *kept]:
        for candidate in [-1, *np.setdiff1d(np.arange(len(codes)), kept)]:
            after = [m for m in kept if m != leaving] + ([candidate] if candidate >= 0 else [])
            no_copies = len(set(contents[after])) == len(after)
            if no_copies and len(after) <= len(start) and set(codes[after]) == set(codes):
                assert slow_losses(matrix, codes, after, 40.0).sum() >= now - allowed


def quick_objective(matrix, codes, members, steepness):
    """Sum of the losses, for a set with two classes or more."""
    distances = np.where(np.eye(len(codes), dtype=bool), np.inf, matrix)[:, members]
    own = codes[:, None] == codes[members]
    same, other = np.where(own, distances, np.inf).min(axis=1), np.where(own, np.inf, distances).min(axis=1)
    with np.errstate(invalid="ignore"):
        losses = 1 / (1 + np.exp(-steepness * (same - other) / (same + other)))
    return np.where(np.isinf(same), 1.0, losses).sum()


@pytest.mark.parametrize(
    ("n_classes", "spread", "seed", "steepness", "size"),
    [(4, 1.0, 12, 10.0, 12), (4, 1.0, 14, 10.0, 12), (2, 3.0, 2, 5.0, 6), (2, 3.0, 14, 5.0, 6)],
)
def test_where_the_search_ends_no_swap_saves_a_thousandth(n_classes, spread, seed, steepness, size):
    """Classes that overlap take many passes; of classes far apart, many small losses add up."""
    rng = np.random.default_rng(seed)
    centres, codes = spread * rng.normal(size=(n_classes, 3)), rng.integers(0, n_classes, 150)
    X = centres[codes] + rng.normal(size=(150, 3))
    start = np.union1d(np.unique(codes, return_index=True)[1], np.arange(size))
    kept = refine(make_space(X), codes, start, steepness=steepness, n_starts=1).indices
    matrix = cdist(X, X)
    least = (1 - 1e-3) * quick_objective(matrix, codes, kept, steepness)
    for slot, candidate in itertools.product(range(len(kept)), np.setdiff1d(np.arange(150), kept)):
        swapped = np.append(np.delete(kept, slot), candidate)
        if len(np.unique(codes[swapped])) == n_classes:
            assert quick_objective(matrix, codes, swapped, steepness) > least


def test_lists_of_everyone_see_what_the_matrix_holds():
    X, y = overlapping(300, seed=9)
    for n_prototypes in (None, 25):
        results = []
        for context in (nullcontext(), without_matrix()):
            with context:
                results.append(refine(make_space(X), y, np.arange(20), n_prototypes=n_prototypes, n_starts=2))
        np.testing.assert_array_equal(results[0].indices, results[1].indices)
        assert results[0].n_swaps == results[1].n_swaps > 0
        assert results[0].objective_after == pytest.approx(results[1].objective_after, abs=1e-12)


@pytest.mark.parametrize("metric", ["dtw", "erp"])
def test_series_in_lists_see_what_the_matrix_holds(metric):
    """Distances to candidates end at cut-offs; copies of series and classes of one series included."""
    rng = np.random.default_rng(4)
    y = np.r_[np.arange(199) % 3, 3]
    X = rng.normal(size=(200, 24)).cumsum(axis=1) + 2 * y[:, None] * np.sin(np.arange(24))
    weights = np.where(rng.random(200) < 0.2, 3, 1)
    results = []
    for context in (nullcontext(), without_matrix()):
        with context:
            space = make_space(X, metric, {"window": 3})
            results.append(refine(space, y, [*range(30), 199], sample_weight=weights, n_starts=2))
    np.testing.assert_array_equal(results[0].indices, results[1].indices)
    assert results[0].n_swaps == results[1].n_swaps > 0
    assert results[0].objective_after == pytest.approx(results[1].objective_after, abs=1e-12)


@given(problems(), st.sampled_from([10.0, 40.0]))
def test_who_sees_a_candidate_with_and_without_a_table_of_limits(problem, steepness):
    matrix, codes, start, _ = problem
    prototypes = a_set(matrix, codes, start, len(start), steepness)
    reach, everyone = prototypes._losses.reach, np.arange(len(codes), dtype=np.int32)
    limits = np.empty((int(codes.max()) + 1, len(codes)))
    kernels.refining.reach_by_class(codes, reach, limits)
    for candidate, code in enumerate(codes):
        column = np.ascontiguousarray(matrix[:, candidate])
        seen, seen_at = np.empty((2, len(codes)), np.int32), np.empty((2, len(codes)))
        counts = [
            kernels.refining.objects_within(column, limits[code], seen[0], seen_at[0]),
            kernels.refining.objects_in_reach(code, everyone, column, reach, codes, seen[1], seen_at[1]),
        ]
        near = np.flatnonzero(column < np.where(codes == code, reach[:, 0], reach[:, 1]))
        assert counts == [len(near), len(near)]
        for row in range(2):
            np.testing.assert_array_equal(seen[row, : len(near)], near)
            np.testing.assert_array_equal(seen_at[row, : len(near)], column[near])


def test_harmful_prototypes_leave_and_free_places_are_taken():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [0.15]])
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    left = refine(make_space(X), y, [1, 2, 4, 5, 6], steepness=40, n_starts=1)
    assert left.indices.tolist() == [1, 2, 4, 5]  # without the stranger among the others
    X, y = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]), np.array([0, 0, 1, 1, 0, 0])
    taken = refine(make_space(X), y, [0, 2], n_prototypes=3, steepness=40, n_starts=1)
    assert len(taken.indices) == 3
    assert taken.objective_after < taken.objective_before


def test_more_starts_find_better_sets_and_every_step_counts():
    X, y = overlapping(250, n_classes=5, seed=6)
    start = np.unique(y, return_index=True)[1]
    objectives = [refine(make_space(X), y, start, n_prototypes=15, n_starts=s).objective_after for s in (1, 8)]
    assert objectives[1] < objectives[0]
    steps = refine(make_space(X), y, start, n_starts=1, steepness=(10, 40))
    last = refine(make_space(X), y, start, n_starts=1, steepness=(40,))
    assert steps.n_passes > last.n_passes
    assert steps.objective_before == last.objective_before  # both at 40
    flat = refine(make_space(X), y, start, n_starts=1, steepness=(40, 1))
    exact = slow_losses(cdist(X, X), y, flat.indices, 1.0).mean()
    assert flat.objective_after == pytest.approx(exact, abs=1e-9)


def test_the_default_search_is_better_than_a_single_start_or_a_single_step():
    X, y = overlapping(120, n_classes=4, seed=1)
    start = [*range(10), 14]
    default = refine(make_space(X), y, start)
    assert default.objective_after < refine(make_space(X), y, start, n_starts=1).objective_after
    assert default.objective_after < refine(make_space(X), y, start, steepness=40).objective_after


@pytest.mark.parametrize(
    ("few", "indices", "objective", "n_swaps", "n_passes"),
    [
        (refinement.FEW_OBJECTS, [26, 29, 45, 56, 64, 80, 97, 98, 101, 116, 118], 0.393588541788541, 260, 51),
        (0, [3, 26, 29, 45, 56, 64, 97, 101, 108, 109, 116], 0.394899577127684, 43, 4),
    ],
    ids=["patient", "hasty"],
)
def test_pinned_results(few, indices, objective, n_swaps, n_passes, monkeypatch):
    """The searches of the default settings, as they were found once; another number of starts or steps shows here."""
    X, y = overlapping(120, n_classes=4, seed=1)
    monkeypatch.setattr(refinement, "FEW_OBJECTS", few)
    result = refine(make_space(X), y, [*range(10), 14])
    assert result.indices.tolist() == indices
    assert result.objective_before == pytest.approx(0.653833060263268, abs=1e-12)
    assert result.objective_after == pytest.approx(objective, abs=1e-12)
    assert (result.n_swaps, result.n_passes) == (n_swaps, n_passes)


def test_a_hasty_search_makes_fewer_passes(monkeypatch):
    X, y = overlapping(500, n_classes=4, seed=6)
    patient = refine(make_space(X), y, np.arange(60), steepness=(10, 40), n_starts=1)
    monkeypatch.setattr(refinement, "FEW_OBJECTS", 0)
    hasty = refine(make_space(X), y, np.arange(60))
    assert hasty.n_passes < patient.n_passes
    assert hasty.n_swaps < patient.n_swaps


SHORT = {"RMHC": {"max_iter": 100}, "SSMA": {"max_evaluations": 200}, "REPS": {"n_prototypes": 0.1}}


def test_every_selector_gains():
    X, y = overlapping(300, seed=4)
    space = make_space(X)
    for name, selector in all_selectors():
        fitted = selector(**SHORT.get(name, {})).fit(X, y)
        result = refine(space, y, fitted.sample_indices_, n_starts=1)
        assert result.objective_after <= result.objective_before
        assert len(result.indices) <= len(fitted.sample_indices_)


def test_a_sample_holds_the_start_and_random_others():
    codes, start = np.zeros(50, int), np.array([40, 3, 7])
    sample = refinement.sample_with(start, codes, 10, np.random.RandomState(0))
    assert len(sample) == 10
    assert (np.diff(sample) > 0).all()
    assert set(start) < set(sample)
    assert sample.tolist() != refinement.sample_with(start, codes, 10, np.random.RandomState(1)).tolist()
    assert refinement.sample_with(start, codes, 50, np.random.RandomState(0)).tolist() == list(range(50))


def test_a_refinement_of_a_sample_judges_by_the_sample():
    X, y = overlapping(150, seed=2)
    result = refine(make_space(X), y, np.arange(12), max_objects=90, random_state=0)
    sample = refinement.sample_with(np.arange(12), y, 90, np.random.RandomState(0))
    assert result.n_objects == 90
    assert np.isin(result.indices, sample).all()
    matrix, members = cdist(X[sample], X[sample]), np.searchsorted(sample, result.indices)
    exact = slow_losses(matrix, y[sample], members, 40.0).mean()
    assert result.objective_after == pytest.approx(exact, abs=1e-9)
    assert result.objective_after < result.objective_before


def test_it_helps_on_new_objects():
    X, y = overlapping(1200, d=4, seed=7)
    errors = []
    for prototypes in (np.arange(30), refine(make_space(X[:400]), y[:400], np.arange(30), random_state=0).indices):
        nearest = cdist(X[400:], X[prototypes]).argmin(axis=1)
        errors.append(np.mean(y[prototypes[nearest]] != y[400:]))
    assert errors[1] < errors[0] - 0.02


def test_same_seed_same_set_and_no_seed_too():
    X, y = overlapping(200, seed=2)
    sets = [
        refine(make_space(X), y, np.arange(12), n_starts=1, random_state=seed, n_jobs=n_jobs).indices.tolist()
        for seed, n_jobs in ((None, None), (None, 2), (5, None), (5, 2))
    ]
    assert sets[0] == sets[1] != sets[2] == sets[3]


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0], [1.0], [2.0]], [0, 0, 1]),
        ([[0.0], [1.0]], [0, 1]),
        (overlapping(50)[0], [0] * 7 + [1] + [0] * 42),
    ],
)
def test_folds_may_lose_a_class(X, y):
    """The automatic size deals a class of one member to a single fold."""
    kept = Refined(REPS()).fit(X, y).sample_indices_
    assert set(np.asarray(y)[kept]) == {0, 1}


def test_an_interruption_between_two_starts_loses_nothing(monkeypatch):
    X, y = overlapping(300, seed=3)
    whole, calls = RefinableSet.set_steepness, []

    def interrupted(self, steepness):
        calls.append(steepness)
        if len(calls) == 3:  # the given set, its only step, and now it is to be judged
            raise KeyboardInterrupt
        whole(self, steepness)

    monkeypatch.setattr(RefinableSet, "set_steepness", interrupted)
    with pytest.warns(ConvergenceWarning, match="after 1 of 1 steps of the refinement"):
        result = refine(make_space(X), y, np.arange(20), steepness=(40,), n_starts=1)
    assert result.n_swaps > 0
    assert result.objective_after < result.objective_before


def test_strings():
    pytest.importorskip("rapidfuzz", reason="no rapidfuzz: pip install 'protoset[strings]'")
    words = ["abc", "abd", "abb", "xyz", "xyy", "xzz", "aba", "xxz"]
    labels = [0, 0, 0, 1, 1, 1, 0, 1]
    assert len(refine(make_space(words, "levenshtein"), labels, [0, 3]).indices) == 2


def test_series():
    series = [np.cumsum(np.r_[row, row[:1]]) for row in overlapping(30)[0]]
    assert len(refine(make_space(series, "dtw"), np.arange(30) % 2, [0, 1, 2, 3]).indices) <= 4


def test_work_is_counted():
    X, y = overlapping(60)
    result = refine(make_space(X), y, np.arange(9), random_state=0)
    assert result.n_distances == 60 * 60  # the matrix, once
    assert result.n_swaps > 0
    assert result.n_passes > 0


def test_an_interruption_in_the_middle_of_a_move_leaves_what_the_moves_before_it_reached(monkeypatch):
    X, y = overlapping(300, seed=3)
    whole, made = RefinableSet.move, []

    def interrupted(self, candidate, place):
        if len(made) == 8:
            self.members[place] = candidate  # half a move
            raise KeyboardInterrupt
        made.append(whole(self, candidate, place))
        return made[-1]

    monkeypatch.setattr(RefinableSet, "move", interrupted)
    with pytest.warns(ConvergenceWarning, match="by an interruption"):
        result = refine(make_space(X), y, np.arange(20), steepness=(40,), n_starts=1)
    assert sum(made) == 8
    assert result.objective_after < result.objective_before
    exact = slow_losses(cdist(X, X), y, result.indices, 40.0).mean()
    assert result.objective_after == pytest.approx(exact, abs=1e-9)


def test_limits():
    X, y = overlapping(400, seed=3)
    seen = []
    with pytest.warns(ConvergenceWarning, match="by its callback") as caught:
        stopped = refine(
            make_space(X), y, np.arange(20), callback=lambda progress: seen.append(progress) or len(seen) == 5
        )
    assert caught[0].filename == __file__
    assert len(seen) == 5
    assert stopped.objective_after <= stopped.objective_before
    with pytest.warns(ConvergenceWarning, match="at max_time=1e-09"):
        refine(make_space(X), y, np.arange(20), max_time=1e-9)


@pytest.fixture
def three_threads(monkeypatch):
    """With ``n_jobs=2`` the starts run in three threads, whatever the machine has."""
    monkeypatch.setattr(_improving, "n_processors", lambda n_jobs: 3 if n_jobs == 2 else 1)


@pytest.mark.parametrize("reach", [None, 2], ids=["matrix", "lists"])
def test_starts_side_by_side_find_what_they_find_one_after_the_other(reach, three_threads):
    X, y = overlapping(300, n_classes=4, seed=6)
    for seed, n_starts in ((0, 2), (1, 3), (2, 7)):
        one, two = np.random.RandomState(seed), np.random.RandomState(seed)
        with nullcontext() if reach is None else without_matrix(reach):
            alone = refine(make_space(X), y, np.arange(20), n_starts=n_starts, random_state=one)
            together = refine(make_space(X), y, np.arange(20), n_starts=n_starts, random_state=two, n_jobs=2)
        np.testing.assert_array_equal(alone.indices, together.indices)
        assert {**vars(alone), "indices": None} == {**vars(together), "indices": None}
        assert one.randint(2**31) == two.randint(2**31)


def test_of_equally_good_sets_that_of_the_first_start_is_kept(three_threads, monkeypatch):
    """Also where later starts end before it."""
    X, y = overlapping(60, seed=2)
    whole, later = _improving._Search._refine, threading.Event()
    # The given set holds object 2; all sets without it are equally good.
    objective = property(lambda self: 1.0 + (2 in self.members), lambda *_: None)
    monkeypatch.setattr(RefinableSet, "objective", objective, raising=False)
    monkeypatch.setattr(_improving._Search, "_settle", lambda *_: True)

    def last_start_first(self, start):
        assert start.number != 1 or n_jobs == 1 or later.wait(60)
        whole(self, start)
        if start.number == 4:
            later.set()

    monkeypatch.setattr(_improving._Search, "_refine", last_start_first)
    sets = []
    for n_jobs in (1, 2):
        result = refine(make_space(X), y, np.arange(8), n_starts=5, steepness=40, n_jobs=n_jobs)
        sets.append(result.indices.tolist())
    assert sets[0] == sets[1] != list(range(8))


def test_a_callback_is_called_by_one_thread_at_a_time_and_in_order(three_threads):
    X, y = overlapping(200, seed=3)
    seen, inside, threads = [], [], set()

    def watch(progress):
        inside.append(progress)
        threads.add(threading.get_ident())
        time.sleep(1e-4)
        seen.append(progress.n_evaluations)
        assert len(inside) == 1
        inside.clear()

    refine(make_space(X), y, np.arange(20), n_starts=6, n_jobs=2, callback=watch)
    assert seen == sorted(seen)
    assert seen[-1] <= 18
    assert len(threads) > 1


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_in_one_thread_ends_all(error, three_threads):
    X, y = overlapping(200, seed=3)
    calls = []

    def fail(progress):
        calls.append(progress)
        if len(calls) == 9:
            raise error

    expected = pytest.raises(error) if error is ZeroDivisionError else pytest.warns(ConvergenceWarning, match="interr")
    with expected:
        result = refine(make_space(X), y, np.arange(20), n_starts=10**6, n_jobs=2, callback=fail)
        assert result.objective_after <= result.objective_before
    n_calls = len(calls)
    time.sleep(0.2)
    assert len(calls) == n_calls == 9


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_more_starts_than_can_ever_be_refined(n_jobs, three_threads):
    X, y = overlapping(200, seed=3)
    with pytest.warns(ConvergenceWarning, match="at max_time=0.3 seconds"):
        result = refine(make_space(X), y, np.arange(20), n_starts=2**70, max_time=0.3, n_jobs=n_jobs)
    exact = slow_losses(cdist(X, X), y, result.indices, 40.0).mean()
    assert result.objective_after == pytest.approx(exact, abs=1e-9)
    assert result.objective_after < result.objective_before


PROGRAM = """
import numpy as np, sys
from protoset import refine
from protoset.spaces import make_space
rng = np.random.default_rng(0)
X, y = rng.normal(size=(1500, 5)), rng.integers(0, 3, 1500)
calls = 0
def tell(progress):
    global calls
    calls += 1
    if calls == 30:
        print("going", flush=True)
options = {"steepness": (40,), "n_starts": 1000, "n_jobs": int(sys.argv[1]), "callback": tell}
result = refine(make_space(X), y, np.arange(150), **options)
print("kept", len(result.indices), result.objective_after < result.objective_before, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interruption_leaves_the_best_so_far(n_jobs):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(n_jobs)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    kept = [line for line in out.splitlines() if line.startswith("kept")]
    assert kept, err
    assert kept[0].split()[2] == "True"
    assert "by an interruption" in err


X, Y = overlapping(30, n_classes=3, seed=1)
START = [int(np.flatnonzero(code == Y)[0]) for code in range(3)]
BAD = [
    ({"indices": [0.5]}, ValueError, "must be a list of positions of training objects"),
    ({"indices": []}, ValueError, "must be a list of positions of training objects"),
    ({"indices": [*START, 30]}, ValueError, "indices has 30; pass positions from 0 to 29"),
    ({"indices": [*START, START[0]]}, ValueError, f"has row {START[0]} more than once"),
    ({"indices": np.ones(30, bool)}, ValueError, "np.flatnonzero"),
    ({"metric": "cityblock"}, ValueError, "metric='cityblock', but X is a space with metric='euclidean'; pass metric"),
    ({"steepness": "40"}, ValueError, "steepness='40' must be a finite number"),
    ({"n_jobs": 0}, ValueError, "n_jobs=0 must be"),
    ({"indices": START[:2]}, ValueError, r"no object of the classes \[2\]; add at least one object of each"),
    ({"n_prototypes": 2}, ValueError, "n_prototypes=2 must be a count between 3, the number of indices, and 30"),
    ({"n_prototypes": 0.5}, ValueError, "n_prototypes=0.5 must be a count"),
    ({"steepness": ()}, ValueError, "at least one number"),
    ({"steepness": (0,)}, ValueError, "steepness=0 must be a finite number above 0"),
    ({"n_starts": 0}, ValueError, "n_starts=0 must be a whole number"),
    ({"max_objects": 0}, ValueError, "max_objects=0 must be .*pass how many objects"),
    ({"max_objects": 1}, ValueError, "max_objects=1 leaves no objects other than the 3 prototypes"),
    ({"max_time": 0}, ValueError, "max_time=0 must be"),
    ({"callback": 3}, TypeError, "callback=3 must be a function"),
    ({"random_state": "x"}, ValueError, "random_state='x' must be"),
    ({"y": Y[:-1]}, ValueError, "29 labels for 30 objects"),
    ({"X": make_space(sparse.csr_matrix(cdist(X, X)), "precomputed")}, ValueError, "a sparse graph does not have"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_arguments(arguments, error, message):
    good = {"X": make_space(X), "y": Y, "indices": START}
    with pytest.raises(error, match=message):
        refine(**(good | arguments))


@pytest.mark.slow
def test_approximate_lists_are_as_good_as_exact_ones(monkeypatch):
    """From 30,000 objects on, here from 1,000; with cells so small that some are missed."""
    pytest.importorskip("faiss", reason="no faiss: pip install 'protoset[faiss]'")
    X, y = overlapping(2000, d=8)
    start = np.sort(np.random.default_rng(0).permutation(2000)[:60])
    with without_matrix(reach=2):
        exact = refine(make_space(X), y, start)
        searched = []
        approximate_kneighbors = VectorSpace.approximate_kneighbors
        monkeypatch.setattr(
            VectorSpace,
            "approximate_kneighbors",
            lambda *args, **named: searched.append(approximate_kneighbors(*args, **named)) or searched[-1],
        )
        monkeypatch.setattr(_refinable_set, "APPROXIMATE_LISTS_FROM", 1000)
        monkeypatch.setattr(_cells, "CELL_SIZE", 40)
        monkeypatch.setattr(_cells, "DESCENT_ROUNDS", 1)
        rough = refine(make_space(X), y, start)
    (lists,) = searched
    assert lists.recall < 1
    assert rough.objective_after == pytest.approx(exact.objective_after, rel=0.05)
    assert rough.objective_after < 0.9 * rough.objective_before
