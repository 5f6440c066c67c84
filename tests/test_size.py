"""The automatic size: folds, the curve of errors, and the size that is chosen from it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from protoset import REPS, PrototypeClassifier, Refined
from protoset.neighbors import build_lists
from protoset.selectors import rank_prototypes, size
from protoset.selectors._distinct import DistinctObjects
from protoset.selectors.size import deal_copies, size_curve
from protoset.spaces import make_space

from conftest import overlapping

X, Y = overlapping(120, n_classes=3, seed=5)


def fold_of_each(objects, random_state):
    shares = deal_copies(objects, 3, random_state)
    assert (np.sort(shares, axis=0) == [[0], [0], [1]]).all()
    return shares.argmax(axis=0)


def test_pinned_folds():
    codes = np.array([1, 0, 0, 1, 0, 1, 1])
    objects = DistinctObjects.once_each(codes)
    assert fold_of_each(objects, None).tolist() == [0, 0, 1, 1, 2, 2, 0]
    assert fold_of_each(objects, np.random.RandomState(0)).tolist() == [2, 1, 0, 1, 2, 0, 0]
    backwards = replace(objects, order=np.arange(7)[::-1])
    assert fold_of_each(backwards, None).tolist() == [0, 2, 1, 2, 0, 1, 0]


def test_the_curve_is_the_mean_over_folds_with_its_standard_error():
    curve = REPS().fit(X, Y).size_curve_
    folds = np.empty(120, int)
    folds[np.lexsort((*X.T[::-1], Y))] = np.arange(120) % 5
    for position, rate in enumerate(curve.rates):
        errors = []
        for fold in range(5):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            kept = train[REPS(float(rate)).fit(X[train], Y[train]).sample_indices_]
            errors.append(np.mean(Y[kept[cdist(X[test], X[kept]).argmin(axis=1)]] != Y[test]))
        assert curve.errors[position] == pytest.approx(sum(errors) / 5)
        variance = sum((error - sum(errors) / 5) ** 2 for error in errors) / 4
        assert curve.standard_errors[position] == pytest.approx((variance / 5) ** 0.5)


@pytest.mark.parametrize("n_objects", [size.SAMPLE_OBJECTS, 70])
def test_threads_do_not_change_the_curve_of_refined_sets(n_objects, monkeypatch):
    monkeypatch.setattr(size, "SAMPLE_OBJECTS", n_objects)
    alone = Refined(REPS(), random_state=3).fit(X, Y)
    monkeypatch.setattr(size, "n_processors", lambda n_jobs: 3)
    together = Refined(REPS(), random_state=3, n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(alone.size_curve_.errors, together.size_curve_.errors)
    np.testing.assert_array_equal(alone.sample_indices_, together.sample_indices_)


@pytest.mark.parametrize("n_sampled", [size.SAMPLE_OBJECTS, 300])
def test_the_order_of_the_rows_does_not_change_the_size_of_moved_sets(n_sampled, monkeypatch):
    """Without swaps, which more than 512 objects do without."""
    monkeypatch.setattr(size, "SAMPLE_OBJECTS", n_sampled)
    many, labels = overlapping(600)
    order = np.random.default_rng(0).permutation(600)
    plain, shuffled = (PrototypeClassifier().fit(many[rows], labels[rows]) for rows in (np.arange(600), order))
    np.testing.assert_array_equal(plain.selector_.size_curve_.errors, shuffled.selector_.size_curve_.errors)
    assert plain.selector_.size_curve_.chosen == shuffled.selector_.size_curve_.chosen


@pytest.mark.parametrize(
    ("selector", "sizes", "n_wrong", "chosen"),
    [
        (REPS(), [3, 4, 6, 8, 12, 18, 24, 36, 48, 60, 84, 120], [32, 32, 33, 31, 31, 31, 29, 30, 31, 33, 32, 38], 3),
        (Refined(REPS()), [3, 6, 12, 24, 36], [33, 32, 36, 37, 36], 0),
        (Refined(REPS(size_rule="lowest_error")), [3, 6, 12, 24, 36], [33, 32, 36, 37, 36], 1),
    ],
    ids=["REPS", "Refined", "lowest error"],
)
def test_pinned_curves(selector, sizes, n_wrong, chosen):
    """Objects that 1-NN classifies wrongly at each size, of 120 in five folds."""
    curve = selector.fit(X, Y).size_curve_
    assert curve.sizes.tolist() == sizes
    np.testing.assert_array_equal(np.round(curve.rates * 120).clip(3), sizes)
    np.testing.assert_allclose(curve.errors * 120, n_wrong)
    assert curve.best == np.argmin(n_wrong)
    assert curve.chosen == chosen


def test_pinned_curves_of_the_other_allocation_and_of_a_sample(monkeypatch):
    few = np.where(np.arange(120) % 2, Y, 0)
    curve = REPS(allocation="equal").fit(X, few).size_curve_
    np.testing.assert_allclose(curve.errors * 120, [65, 65, 60, 54, 59, 63, 60, 56, 54, 56, 50, 42])
    monkeypatch.setattr(size, "SAMPLE_OBJECTS", 60)
    curve = Refined(REPS()).fit(X, Y).size_curve_
    assert curve.sizes.tolist() == [3, 6, 12, 24, 36]  # of all 120 objects
    np.testing.assert_allclose(curve.errors * 60, [16, 19, 15, 16, 18])


def test_the_search_for_a_prototype_beyond_the_lists():
    """Lists of two hold few prototypes: the others are found by distances, and the curve is the same."""

    def curve_with(n_neighbors):
        lists = build_lists(make_space(X), n_neighbors)
        return size_curve(
            make_space(X),
            lists,
            DistinctObjects.once_each(Y),
            lambda part, objects: np.arange(part.n_objects),
            allocation="equal",
            progress=lambda *done: folds_done.append(done),
        )

    folds_done = []
    short, long = curve_with(2), curve_with(119)
    np.testing.assert_array_equal(short.errors, long.errors)
    assert folds_done == [(fold, 5) for fold in (1, 2, 3, 4, 5)] * 2


def test_rankings_are_of_the_training_part():
    """The ranking of a fold sees neither the held-out objects nor their classes."""
    seen = []

    def rank(lists, objects):
        seen.append((lists.n_objects, len(objects), int(objects.codes.max())))
        return rank_prototypes(lists, objects.codes).ranking

    labels = np.where(np.arange(120) == 7, 3, Y)  # a class of one object
    objects = DistinctObjects.once_each(labels)
    size_curve(make_space(X), build_lists(make_space(X), 119), objects, rank, allocation="proportional")
    assert sorted(seen) == [(96, 96, 2)] + [(96, 96, 3)] * 4
