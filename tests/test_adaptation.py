"""Prototypes that move: lower errors, a guard, and results that depend on nothing but the data and the seed."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neighbors import kneighbors_graph

import protoset
from protoset import REPS, PrototypeClassifier, Refined, adapt, kernels
from protoset.adaptation import AdaptSettings, adapting, descent, validation
from protoset.adaptation.adapting import ordered_for_moves, starting_set
from protoset.adaptation.descent import Course, WeightedObjects
from protoset.adaptation.selected import FitLists, select_without
from protoset.adaptation.validation import (
    Errors,
    Trial,
    best_of,
    measure,
    n_trial_passes,
    relative_losses,
    try_courses,
)
from protoset.exceptions import HopelessClassWarning, SearchInterruptedWarning, SearchStoppedWarning
from protoset.neighbors import NeighborLists, NeighborSearch
from protoset.selectors import refined, size
from protoset.selectors._distinct import DistinctObjects, TrainingSet
from protoset.spaces import make_space
from protoset.spaces.movable import Moved


@pytest.fixture(scope="module")
def blobs():
    """Overlapping classes: training objects, their labels, and as many queries."""
    X, y = make_blobs(800, n_features=5, centers=8, cluster_std=2.5, center_box=(-5, 5), random_state=3)
    return X[:400], y[:400], X[400:], y[400:]


def first_of_each(y, n=1):
    return np.concatenate([np.flatnonzero(y == label)[:n] for label in np.unique(y)])


def nearest_labels(prototypes, labels, X):
    return labels[np.linalg.norm(X[:, None] - np.asarray(prototypes)[None], axis=2).argmin(axis=1)]


@pytest.mark.parametrize("loss", ["relative", "softmax"])
def test_moved_prototypes_answer_better(blobs, loss):
    X, y, queries, truth = blobs
    start = first_of_each(y)
    moved = adapt(X, y, X[start], y[start], loss=loss)
    before = np.mean(y[start][np.linalg.norm(queries[:, None] - X[start][None], axis=2).argmin(axis=1)] != truth)
    after = np.mean(nearest_labels(moved.prototypes, moved.labels, queries) != truth)
    assert moved.has_moved
    assert after < before - 0.05
    assert moved.loss == loss
    assert moved.held_out_after < moved.held_out_before
    assert moved.objective_after < moved.objective_before
    assert moved.reason == "the steps fell to 0"


@settings(max_examples=15)
@given(st.integers(0, 2**31), st.integers(2, 4), st.integers(12, 40))
def test_a_set_is_never_returned_that_is_worse_on_held_out_objects(seed, n_values, n):
    """Labels by chance on few values: moves learn nothing that lasts."""
    rng = np.random.default_rng(seed)
    X = rng.integers(n_values, size=(n, 3)).astype(float)
    y = np.arange(n) % 2
    start = first_of_each(y, 2)
    moved = adapt(X, y, X[start], y[start], random_state=0)
    assert moved.held_out_after <= moved.held_out_before
    if not moved.has_moved:
        np.testing.assert_array_equal(moved.prototypes, X[start])
        assert "held-out" in moved.reason or "training" in moved.reason


def test_moves_without_a_unit_of_length_say_so():
    """Most series are at a prototype, so that no typical distance gives the length of the steps."""
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(10, 12)), 2, axis=0), np.repeat(np.arange(10) % 2, 2)
    adapted = adapt(X, y, X[::2], y[::2], metric="dtw")
    assert not adapted.has_moved
    assert adapted.reason == "most training objects are at distance 0 from a prototype"


def test_interrupted_trials_have_no_held_out_errors(blobs):
    X, y, *_ = blobs
    start = first_of_each(y)

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.warns(SearchInterruptedWarning, match="the prototypes so far are kept"):
        adapted = adapt(X, y, X[start], y[start], callback=interrupt)
    assert not adapted.has_moved
    assert np.isnan([adapted.held_out_before, adapted.held_out_after]).all()


def test_a_fixed_point_stays():
    """Every object is where a prototype of its class is: no gradient, no move."""
    X, y = np.repeat([[0.0, 0.0], [4.0, 4.0]], 20, axis=0), np.repeat([0, 1], 20)
    moved = adapt(X, y, X[[0, 20]], y[[0, 20]])
    np.testing.assert_array_equal(moved.prototypes, X[[0, 20]])


@pytest.mark.parametrize("weight", [3.0, 10.0])
def test_weights_of_very_many_objects_hold_out_no_more_of_them(weight):
    """Objects are held out with all their copies, so that the prototypes move among all others."""
    rng, y = np.random.default_rng(0), np.arange(21_000) % 2
    X = rng.normal(size=(len(y), 2)) + 2 * y[:, None]
    options = {"loss": "relative", "n_passes": 1}
    plain = adapt(X, y, [[-3, 0], [5, 0]], [0, 1], **options)
    weighted = adapt(X, y, [[-3, 0], [5, 0]], [0, 1], sample_weight=np.full(len(y), weight), **options)
    assert plain.has_moved
    np.testing.assert_array_equal(weighted.prototypes, plain.prototypes)
    assert weighted.held_out_after == plain.held_out_after


def test_copies_count_as_weights(blobs):
    X, y, *_ = blobs
    start = first_of_each(y)
    doubled = adapt(np.vstack([X, X]), np.concatenate([y, y]), X[start], y[start])
    weighted = adapt(X, y, X[start], y[start], sample_weight=np.full(len(y), 2))
    np.testing.assert_array_equal(doubled.prototypes, weighted.prototypes)


@pytest.mark.parametrize("loss", ["relative", "softmax"])
def test_scaling_the_objects_scales_the_prototypes(blobs, loss):
    X, y, *_ = blobs
    start = first_of_each(y)
    moved, scaled = (adapt(factor * X, y, factor * X[start], y[start], loss=loss, n_passes=5) for factor in (1.0, 8.0))
    np.testing.assert_allclose(scaled.prototypes, 8.0 * np.asarray(moved.prototypes), rtol=1e-9)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_workers_change_nothing(blobs, n_jobs):
    X, y, *_ = blobs
    start = first_of_each(y)
    one, several = (adapt(X, y, X[start], y[start], n_jobs=jobs, relevances=True) for jobs in (None, n_jobs))
    np.testing.assert_array_equal(one.prototypes, several.prototypes)
    np.testing.assert_array_equal(one.relevances, several.relevances)


def test_the_seed_decides(blobs):
    X, y, *_ = blobs
    start = first_of_each(y)
    runs = [adapt(X, y, X[start], y[start], random_state=seed).prototypes for seed in (0, 0, 1)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()


def test_relevances_find_the_attributes_that_matter():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = np.column_stack([y + 0.3 * rng.normal(size=300), rng.normal(size=(300, 4))])
    start = first_of_each(y, 3)
    moved = adapt(X, y, X[start], y[start], relevances=True)
    assert moved.relevances.argmax() == 0
    assert moved.relevances.mean() == pytest.approx(1.0)
    assert (moved.relevances >= 0).all()


def test_the_time_limit_and_the_callback_end_the_moves(blobs):
    X, y, *_ = blobs
    start = first_of_each(y)
    seen = []
    with pytest.warns(SearchStoppedWarning, match="passes of the adaptation"):
        moved = adapt(X, y, X[start], y[start], callback=lambda progress: seen.append(progress) or len(seen) >= 3)
    assert len(seen) == 3
    assert not moved.has_moved
    assert moved.reason.startswith("stopped")
    with pytest.warns(SearchStoppedWarning, match="max_time"):
        adapt(X, y, X[start], y[start], max_time=1e-9)


BAD_ARGUMENTS = [
    ({"step": -0.1}, "step"),
    ({"step": 0}, "step"),
    ({"n_passes": 0}, "n_passes"),
    ({"loss": "hinge"}, "loss"),
    ({"relevances": 2}, "relevances"),
    ({"max_time": -1}, "max_time"),
    ({"class_weight": {9: 2}}, "class_weight"),
    ({"random_state": "x"}, "random_state"),
]


@pytest.mark.parametrize(("arguments", "name"), BAD_ARGUMENTS)
def test_bad_arguments_are_named(arguments, name):
    X, y = load_iris(return_X_y=True)
    with pytest.raises((ValueError, TypeError), match=name):
        adapt(X, y, X[::50], y[::50], **arguments)


def test_relevances_need_attributes_that_are_not_mixed():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="relevances=True"):
        adapt(X, y, X[::50], y[::50], metric="mahalanobis", relevances=True)


def test_labels_of_prototypes_are_checked():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="labels has 7, which is not in y"):
        adapt(X, y, X[::50], [0, 1, 7])
    with pytest.raises(ValueError, match="no prototype of the classes"):
        adapt(X, y, X[::50], [0, 1, 1])
    with pytest.raises(ValueError, match="pass one each"):
        adapt(X, y, X[::50], [0, 1])
    with pytest.raises(ValueError, match="prototypes cannot be read as objects of the kind of X: .*features"):
        adapt(X, y, X[::50, :2], [0, 1, 2])


@pytest.mark.parametrize("metric", ["euclidean", "gower", "dtw"])
def test_no_prototypes_are_refused(metric):
    X, y = load_iris(return_X_y=True)
    message = "^prototypes=None, but the moves need prototypes to start from; pass objects of the same kind as X"
    with pytest.raises(ValueError, match=message):
        adapt(X, y, prototypes=None, labels=[0, 1, 2], metric=metric)


@pytest.mark.parametrize("names", [[0, 1, 2], ["a", "b", "c"]])
def test_prototypes_of_a_class_without_weight_are_refused(names):
    X, y = load_iris(return_X_y=True)
    weights, labels = (y != 2).astype(float), np.array(names)[y]
    message = (
        f"^labels has {names[2]!r}, but all objects of class {names[2]!r} have sample_weight 0; give some of them a "
        "weight above 0, or remove the prototypes of this class"
    )
    with pytest.raises(ValueError, match=message):
        adapt(X, labels.tolist(), X[::50], labels[::50], sample_weight=weights)
    with pytest.raises(ValueError, match="labels has 'other', which is not in y"):
        adapt(X, labels, X[::50], ["other", *names[1:]], sample_weight=weights)
    adapted = adapt(X, labels, X[:100:50], labels[:100:50], sample_weight=weights)
    assert adapted.labels.tolist() == names[:2]


@pytest.mark.parametrize("metric", ["levenshtein", "precomputed", "hamming"])
def test_objects_that_cannot_move_are_refused(metric):
    objects = {
        "levenshtein": ["ab", "abc", "x", "xy"],
        "precomputed": np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))),
        "hamming": np.eye(4),
    }[metric]
    y = [0, 0, 1, 1]
    with pytest.raises(ValueError, match=f"metric='{metric}' cannot move"):
        PrototypeClassifier(REPS(2, metric=metric), adapt=True).fit(objects, y)
    stays = PrototypeClassifier(REPS(2, metric=metric), adapt="auto").fit(objects, y)
    assert stays.adaptation_ is None
    np.testing.assert_array_equal(stays.exemplars_, stays.sample_indices_)


def test_the_classifier_moves_its_prototypes(blobs):
    X, y, queries, truth = blobs
    plain = PrototypeClassifier(Refined(REPS(16)), adapt=False).fit(X, y)
    moving = PrototypeClassifier(Refined(REPS(16)), adapt=True).fit(X, y)
    assert moving.score(queries, truth) > plain.score(queries, truth)
    np.testing.assert_array_equal(moving.sample_indices_, plain.sample_indices_)
    np.testing.assert_array_equal(
        moving.predict(queries), nearest_labels(moving.adaptation_.prototypes, moving.prototype_labels_, queries)
    )


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "heom", "gower"])
def test_weights_leave_objects_out(blobs, metric):
    """An object without weight moves nothing, and those with weights can move under every metric."""
    X, y, *_ = blobs
    weights = np.where(np.arange(len(y)) % 4 == 0, 0, 2)
    seen = weights > 0
    weighted = PrototypeClassifier(Refined(REPS(16, metric=metric)), adapt=True).fit(X, y, sample_weight=weights)
    assert weighted.adaptation_.has_moved
    assert seen[weighted.sample_indices_].all()
    assert seen[weighted.exemplars_].all()


def test_exemplars_are_the_nearest_objects_of_the_class(blobs):
    X, y, queries, _ = blobs
    moving = PrototypeClassifier(Refined(REPS(16)), adapt=True).fit(X, y)
    for prototype, label, exemplar in zip(
        moving.adaptation_.prototypes, moving.prototype_labels_, moving.exemplars_, strict=True
    ):
        members = np.flatnonzero(y == label)
        assert exemplar == members[np.linalg.norm(X[members] - prototype, axis=1).argmin()]
    explanation = moving.explain(queries, 2)
    positions = np.searchsorted(moving.sample_indices_, explanation.indices)
    np.testing.assert_array_equal(explanation.exemplars, moving.exemplars_[positions])
    np.testing.assert_array_equal(explanation.labels, y[explanation.exemplars])
    details = moving.predict_details(queries)
    np.testing.assert_array_equal(details.exemplars, explanation.exemplars[:, 0])


@pytest.mark.parametrize("relevances", [False, True])
def test_files_and_exported_programs_answer_alike(blobs, tmp_path, relevances):
    X, y, queries, _ = blobs
    moving = PrototypeClassifier(Refined(REPS(16)), adapt={"relevances": relevances}).fit(X, y)
    protoset.save(moving, tmp_path / "moved.zip")
    loaded = protoset.load(tmp_path / "moved.zip")
    np.testing.assert_array_equal(loaded.predict(queries), moving.predict(queries))
    np.testing.assert_array_equal(loaded.exemplars_, moving.exemplars_)
    assert loaded.adapt == {"relevances": relevances}
    protoset.export(moving, tmp_path / "moved.py")
    program = {}
    exec((tmp_path / "moved.py").read_text(), program)
    np.testing.assert_array_equal(program["predict"](queries), moving.predict(queries))


@pytest.mark.parametrize("value", ["yes", 1, None, {"steps": 3}, {"step": -1}, {"n_passes": "many"}])
def test_wrong_values_of_adapt_are_refused(value):
    X, y = load_iris(return_X_y=True)
    classifier = PrototypeClassifier(REPS(6), adapt=value)
    with pytest.raises((ValueError, TypeError), match="adapt|step|n_passes"):
        classifier.fit(X, y)
    assert not hasattr(classifier, "classes_")


def test_the_adjusted_rule_moves_prototypes_only_where_it_is_told_to():
    X, y = load_iris(return_X_y=True)
    moves = PrototypeClassifier(REPS(6), rule="adjusted", adapt=True).fit(X[::2], y[::2])
    assert moves.adaptation_ is not None
    assert moves.score(X[1::2], y[1::2]) > 0.9
    with pytest.warns(HopelessClassWarning):
        stays = PrototypeClassifier(REPS(6), rule="adjusted", adapt="auto").fit(X, y)
    assert stays.adaptation_ is None
    assert (stays.degradations_ == stays.selector_.degradations_[stays.sample_indices_]).all()


@pytest.mark.parametrize("n_classes", [2, 30])
def test_lists_hold_the_nearest_prototypes_and_both_sides(n_classes):
    rng = np.random.default_rng(0)
    screen, labels = rng.normal(size=(50, 200)).astype(np.float32), rng.integers(n_classes, size=200)
    codes, lists = rng.integers(n_classes, size=50), np.empty((50, 8), np.int32)
    kernels.adapting.list_nearest(screen, labels, codes, np.full(50, np.inf, np.float32), lists)
    for row in range(50):
        order = np.argsort(screen[row], kind="stable")
        np.testing.assert_array_equal(lists[row, :7], order[:7])
        for is_side in (labels == codes[row], labels != codes[row]):
            nearest = np.flatnonzero(is_side)[screen[row, is_side].argmin()]
            assert nearest in lists[row]


def test_losses_of_held_out_objects_are_those_of_the_steps():
    values, labels, one = [0.0, 0.1, 1.0, 2.5, np.inf], np.array([[0, 1]]), np.ones(1)
    distances = np.array([[same, other] for same in values for other in values])
    expected = [
        kernels.adapting.relative_loss(row[None], labels, np.zeros(1, int), one, 40.0, np.empty((1, 2)))
        for row in distances
    ]
    np.testing.assert_allclose(relative_losses(*distances.T, 40.0), expected, rtol=1e-12)


def test_former_lists_change_no_list(blobs):
    X, y, _, _ = blobs
    movable, objects = make_space(X).movable, DistinctObjects.once_each(y)
    weighted, rows = WeightedObjects(movable, objects.codes, np.ones(len(y))), np.arange(len(y))
    prototypes = starting_set(movable, objects, rows[::3])
    former = descent.nearby_prototypes(weighted, prototypes, rows, 8)
    prototypes.moved.points[:] += np.random.default_rng(0).normal(scale=0.3, size=prototypes.moved.points.shape)
    alone = descent.nearby_prototypes(weighted, prototypes, rows, 8)
    assert (alone != former).any()
    np.testing.assert_array_equal(descent.nearby_prototypes(weighted, prototypes, rows, 8, former=former), alone)


def test_errors_of_many_prototypes_are_measured_by_lists_as_without(monkeypatch, blobs):
    X, y, _, _ = blobs
    movable, objects, rows = make_space(X).movable, DistinctObjects.once_each(y), np.arange(len(y))
    weighted = WeightedObjects(movable, objects.codes, np.ones(len(y)))
    prototypes = starting_set(movable, objects, rows[::3])
    expected, lists = measure(weighted, prototypes, rows), []
    for name, value in (("MANY_PROTOTYPES", 100), ("LISTED_PROTOTYPES", 4)):
        monkeypatch.setattr(descent, name, value)
    nearby = validation.nearby_prototypes
    monkeypatch.setattr(
        validation, "nearby_prototypes", lambda *arguments: lists.append(nearby(*arguments)) or lists[-1]
    )
    measured = measure(weighted, prototypes, rows)
    assert lists[0].shape[1] == 4
    np.testing.assert_array_equal(measured.wrong, expected.wrong)
    assert measured.loss == pytest.approx(expected.loss, rel=1e-5)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "gower", "dtw"])
def test_prototypes_at_training_objects_of_their_class_know_them(metric):
    X = np.random.default_rng(0).integers(-2, 3, (60, 3)).astype(float)
    X[0] = [0.0, 1.5, 2.5]
    X = np.unique(X, axis=0)
    y = np.arange(len(X)) % 2
    prototypes, labels = np.vstack([X[5:25], X[5:25] + 0.25]), np.append(y[5:25], y[5:25])
    prototypes[prototypes == 0] = -0.0
    labels[:4] = 1 - labels[:4]
    given, queries = (pd.DataFrame(rows) if metric == "gower" else rows for rows in (X, prototypes))
    movable = make_space(given, metric).movable
    moved = Moved(movable.read(queries), np.ones(movable.n_scales))
    homes = adapting._homes(movable, DistinctObjects.once_each(y), moved, labels)
    np.testing.assert_array_equal(homes, np.r_[np.full(4, -1), np.arange(9, 25), np.full(20, -1)])


def test_many_prototypes_move_by_lists_as_without(monkeypatch):
    """With long lists the moves are the same; with short ones the error is about the same."""
    X, y = make_blobs(3000, n_features=4, centers=20, cluster_std=1.5, random_state=1)
    start = np.arange(600)
    without = adapt(X, y, X[start], y[start], n_passes=4, loss="relative").prototypes
    monkeypatch.setattr(descent, "MANY_PROTOTYPES", 300)
    monkeypatch.setattr(descent, "LISTED_PROTOTYPES", 600)
    whole = adapt(X, y, X[start], y[start], n_passes=4, loss="relative").prototypes
    assert np.mean(np.abs(whole - without)) < 0.02
    monkeypatch.setattr(descent, "LISTED_PROTOTYPES", 32)
    listed = adapt(X, y, X[start], y[start], n_passes=4, loss="relative")
    assert np.mean(np.abs(listed.prototypes - without)) < 0.05
    assert np.mean(nearest_labels(listed.prototypes, y[start], X) != y) <= 0.02 + np.mean(
        nearest_labels(without, y[start], X) != y
    )


def test_the_softmax_looks_at_near_prototypes_from_fewer_on(monkeypatch):
    """With long lists the moves are the same; with short ones the error is about the same."""
    X, y = make_blobs(1200, n_features=4, centers=20, cluster_std=1.5, random_state=1)
    start = np.arange(200)
    results = []
    for many, length in ((200, 24), (192, 200), (192, 24)):
        monkeypatch.setattr(descent, "MANY_IN_SOFTMAX", many)
        monkeypatch.setattr(descent, "LISTED_IN_SOFTMAX", length)
        results.append(adapt(X, y, X[start], y[start], n_passes=4, loss="softmax").prototypes)
    without, whole, listed = results
    np.testing.assert_allclose(whole, without, atol=1e-3)
    assert (listed != without).any()
    error_without, error_listed = (np.mean(nearest_labels(each, y[start], X) != y) for each in (without, listed))
    assert error_listed <= 0.02 + error_without


def test_the_automatic_size_is_that_of_moved_sets(blobs):
    X, y, queries, truth = blobs
    stays, moves = (PrototypeClassifier(Refined(REPS()), adapt=adapt).fit(X, y) for adapt in (False, True))
    curve = moves.selector_.size_curve_
    assert curve.rates[0] < stays.selector_.size_curve_.rates[0]
    assert len(moves.sample_indices_) <= len(stays.sample_indices_)
    assert curve.errors.min() <= stays.selector_.size_curve_.errors.min()
    assert moves.score(queries, truth) >= stays.score(queries, truth)


def test_the_automatic_number_of_moved_prototypes_grows_with_the_root_of_the_number_of_objects(monkeypatch, blobs):
    X, y, *_ = blobs
    monkeypatch.setattr(size, "SAMPLE_OBJECTS", 100)
    curve = PrototypeClassifier(Refined(REPS())).fit(X, y).selector_.size_curve_
    np.testing.assert_allclose(curve.rates[-3:], np.array(size.ADAPTED_RATES[-3:]) / 2)
    assert curve.sizes[-1] == 40  # a fifth of 100 objects is 20
    stays = PrototypeClassifier(Refined(REPS()), adapt=False).fit(X, y).selector_.size_curve_
    np.testing.assert_allclose(stays.rates[-3:], size.REFINED_RATES[-3:])


# courses


def test_few_objects_have_more_courses_to_choose_among():
    movable = make_space(np.zeros((4, 2))).movable
    few, many = (AdaptSettings().courses(movable, n, 20) for n in (500, 5_000))
    assert [course.loss for course in few] == ["relative", "softmax", "relative", "relative", "relative"]
    assert [course.from_means for course in few] == [False, False, False, True, False]
    assert [course.noise > 0 for course in few] == [False, True, True, False, False]
    assert [course.spread < 1 for course in few] == [False, False, False, False, True]
    assert all(course.trial_course.n_passes < course.n_passes for course in many)
    assert [course.loss for course in many] == ["relative", "softmax"]
    assert {course.loss for course in AdaptSettings().courses(movable, 500, 2)} == {"relative"}
    assert min(course.n_passes for course in few) < max(course.n_passes for course in few)
    assert {course.loss for course in AdaptSettings(loss="softmax").courses(movable, 500, 2)} == {"softmax"}
    given = AdaptSettings(n_passes=7, step=0.3).courses(movable, 500, 20)
    assert {(course.n_passes, course.step) for course in given} == {(7, 0.3)}
    assert {course.trial_course.n_passes for course in AdaptSettings(n_passes=30).courses(movable, 5_000, 2)} == {30}


def test_means_are_those_of_lloyds_algorithm_within_each_class(blobs):
    X, y, _, _ = blobs
    movable, objects = make_space(X).movable, DistinctObjects.once_each(y)
    kept = np.concatenate([np.flatnonzero(y == code)[:4] for code in np.unique(y)])
    start = starting_set(movable, objects, kept)
    weighted = WeightedObjects(movable, objects.codes, np.ones(len(y)))
    moved = start.copy()
    descent.move_to_means(weighted, moved, np.arange(len(y)))
    for code in np.unique(y):
        lloyd = KMeans(4, init=X[kept][y[kept] == code], n_init=1, max_iter=descent.MEAN_ROUNDS, tol=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            centres = lloyd.fit(X[y == code]).cluster_centers_
        np.testing.assert_allclose(moved.moved.points[y[kept] == code], centres)


@pytest.mark.parametrize("metric", ["heom", "cosine", "gower"])
def test_means_are_where_objects_can_be(metric):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 3)), np.arange(40) % 2
    if metric != "cosine":
        X[generator.random(X.shape) < 0.2] = np.nan
    movable, objects = make_space(X, metric, y=y).movable, DistinctObjects.once_each(y)
    start = starting_set(movable, objects, np.arange(6))
    moved = start.copy()
    descent.move_to_means(WeightedObjects(movable, y, np.ones(40)), moved, np.arange(40))
    assert np.isfinite(moved.moved.points).all()
    assert not np.allclose(moved.moved.points, start.moved.points)
    if metric == "cosine":
        np.testing.assert_allclose(np.linalg.norm(moved.moved.points, axis=1), 1)


@pytest.mark.parametrize("metric", ["heom", "cosine", "gower"])
def test_gathered_prototypes_are_where_objects_can_be(metric):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 3)), np.arange(40) % 2
    if metric != "cosine":
        X[generator.random(X.shape) < 0.2] = np.nan
        X[y == 0, 1] = np.nan  # a class without any value of an attribute
    movable, objects = make_space(X, metric, y=y).movable, DistinctObjects.once_each(y)
    start = starting_set(movable, objects, np.arange(6))
    moved = start.copy()
    descent.gather_at_means(WeightedObjects(movable, y, np.ones(40)), moved, np.arange(40), 0.3)
    assert np.isfinite(moved.moved.points).all()
    assert not np.allclose(moved.moved.points, start.moved.points)
    if metric == "cosine":
        np.testing.assert_allclose(np.linalg.norm(moved.moved.points, axis=1), 1)


def test_gathered_prototypes_keep_a_share_of_their_distance_to_the_mean_of_their_class(blobs):
    X, y, _, _ = blobs
    movable, objects = make_space(X).movable, DistinctObjects.once_each(y)
    kept = np.concatenate([np.flatnonzero(y == code)[:3] for code in np.unique(y)])
    start, rows = starting_set(movable, objects, kept), np.arange(len(y))
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    means = np.stack([np.average(X[y == code], axis=0, weights=weights[y == code]) for code in y[kept]])
    for spread in (0.0, 0.3, 1.0):
        moved = start.copy()
        descent.gather_at_means(WeightedObjects(movable, objects.codes, weights), moved, rows, spread)
        np.testing.assert_allclose(moved.moved.points - means, spread * (X[kept] - means), atol=1e-12)
    # A weight of 2 equals the object twice.
    copies, twice = start.copy(), np.repeat(rows, weights.astype(int))
    descent.gather_at_means(WeightedObjects(movable, objects.codes, np.ones(len(y))), copies, twice, 0.3)
    moved = start.copy()
    descent.gather_at_means(WeightedObjects(movable, objects.codes, weights), moved, rows, 0.3)
    np.testing.assert_allclose(copies.moved.points, moved.moved.points)


def test_starting_points_of_a_trial_do_not_depend_on_held_out_objects(blobs):
    X, y, _, _ = blobs
    seen = np.arange(len(y)) % 5 > 0
    objects, results = DistinctObjects.once_each(y), []
    for values, labels in ((X, y), (np.where(seen[:, None], X, -X), np.where(seen, y, 0))):
        movable = make_space(values).movable
        moved = starting_set(movable, objects, np.flatnonzero(seen)[:12])
        weighted = WeightedObjects(movable, labels, np.ones(len(y)))
        descent.gather_at_means(weighted, moved, np.flatnonzero(seen), 0.3)
        results.append(moved.moved.points)
    np.testing.assert_array_equal(*results)


def test_the_best_course_of_some_folds_goes_on_to_the_others(blobs):
    X, y, _, _ = blobs
    movable, objects = make_space(X).movable, DistinctObjects.once_each(y)
    weighted = WeightedObjects(movable, objects.codes, np.ones(len(y)))
    trials = [
        Trial(starting_set(movable, objects, np.flatnonzero(np.arange(len(y)) % 5 != fold)[:12]), *parts)
        for fold in range(5)
        for parts in [(np.flatnonzero(np.arange(len(y)) % 5 != fold), np.flatnonzero(np.arange(len(y)) % 5 == fold))]
    ]
    courses = [Course(n_passes=4, step=1e-9), Course(n_passes=4)]
    passes = []
    best, before, after = try_courses(
        weighted, trials, courses, np.random.RandomState(0), watch=lambda _, share: passes.append(share)
    )
    assert best == courses[1]
    assert len(before.sets) == len(after.sets) == 5
    assert after.errors.weight == len(y)
    assert len(passes) == n_trial_passes(courses, 5) == 4 * (2 * 3 + 2)
    for attempt, trial in zip(after.sets, trials, strict=True):
        np.testing.assert_array_equal(attempt.trial.held_out, trial.held_out)


def test_a_course_with_an_advantage_loses_only_to_a_clearly_lower_cost():
    plain, preferred = Course(), Course(advantage=0.03)
    errors = {cost: Errors(np.array([cost]), 0.0, 1.0) for cost in (0.28, 0.26, 0.30)}
    assert best_of([errors[0.28], errors[0.30]], [plain, preferred], 500) == 1
    assert best_of([errors[0.26], errors[0.30]], [plain, preferred], 500) == 0
    assert best_of([errors[0.28], errors[0.30]], [plain, preferred], 5_000) == 0


def test_the_softmax_takes_longer_among_many_objects():
    movable = make_space(np.zeros((4, 2))).movable
    relative, softmax = AdaptSettings().courses(movable, 5_000, 2)
    assert softmax.n_passes > relative.n_passes
    assert softmax.trial_course.n_passes == relative.trial_course.n_passes < relative.n_passes
    assert {course.n_passes for course in AdaptSettings(n_passes=7).courses(movable, 5_000, 2)} == {7}


def test_objects_pass_in_chunks_from_everywhere(monkeypatch, blobs):
    """Sorted by class and cut into chunks, the objects still move the prototypes to lower errors."""
    X, y, queries, truth = blobs
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    monkeypatch.setattr(descent, "CHUNK_OBJECTS", 96)
    monkeypatch.setattr(descent, "CHUNK_BLOCKS", 8)
    chunks = list(descent._chunks(len(X), 96, np.random.RandomState(0)))
    np.testing.assert_array_equal(np.sort(np.concatenate(chunks)), np.arange(len(X)))
    assert all(len(np.unique(y[chunk])) > 2 for chunk in chunks)
    start = first_of_each(y)
    moved = adapt(X, y, X[start], y[start])
    before = np.mean(nearest_labels(X[start], y[start], queries) != truth)
    assert np.mean(nearest_labels(moved.prototypes, moved.labels, queries) != truth) < before


def test_sets_of_many_objects_are_not_refined_before_they_move(monkeypatch, blobs):
    X, y, queries, truth = blobs
    assert PrototypeClassifier(Refined(REPS(16))).fit(X, y).selector_.refinement_ is not None
    monkeypatch.setattr(refined, "SWAPPED_OBJECTS", 300)
    moving = PrototypeClassifier(Refined(REPS(16))).fit(X, y)
    assert moving.selector_.refinement_ is None
    np.testing.assert_array_equal(moving.sample_indices_, REPS(16).fit(X, y).sample_indices_)
    assert moving.adaptation_.has_moved
    swapped = [
        PrototypeClassifier(Refined(REPS(16)), adapt=False),
        PrototypeClassifier(Refined(REPS(16), n_starts=1)),
        PrototypeClassifier(Refined(REPS(16, metric="chebyshev"))),
    ]
    for classifier in swapped:
        assert classifier.fit(X, y).selector_.refinement_.n_swaps > 0
    assert moving.score(queries, truth) > swapped[0].score(queries, truth)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_set_that_does_not_move_is_refined_after_all(monkeypatch, blobs, weighted):
    X, y, *_ = blobs
    weights = np.arange(len(y)) % 3 if weighted else None
    monkeypatch.setattr(adapting, "should_move", lambda *_: False)
    results = {}
    for limit in (100, 1000):
        monkeypatch.setattr(refined, "SWAPPED_OBJECTS", limit)
        results[limit] = PrototypeClassifier(Refined(REPS(16), random_state=3)).fit(X, y, weights)
    late, early = results.values()
    assert not late.adaptation_.has_moved
    assert late.selector_.n_features_in_ == X.shape[1]
    for name in ("sample_indices_", "prototypes_", "prototype_labels_", "prototype_counts_", "exemplars_"):
        np.testing.assert_array_equal(getattr(late, name), getattr(early, name))
    for name in ("sample_indices_", "sample_counts_"):
        np.testing.assert_array_equal(getattr(late.selector_, name), getattr(early.selector_, name))
    assert late.selector_.refinement_.n_swaps == early.selector_.refinement_.n_swaps
    assert late.selector_.n_distances_ == early.selector_.n_distances_
    assert late.adaptation_.held_out_after == early.adaptation_.held_out_after
    np.testing.assert_array_equal(late.predict_proba(X), early.predict_proba(X))
    monkeypatch.setattr(refined, "SWAPPED_OBJECTS", 100)
    monkeypatch.setattr(refined, "SWAPPED_COSTLY_OBJECTS", 200)
    assert PrototypeClassifier(Refined(REPS(16))).fit(X, y, weights).selector_.refinement_ is None


@pytest.mark.parametrize("limits", [{"max_time": 1e-9}, {"callback": lambda progress: True}])
def test_trials_that_are_stopped_start_no_more_work(monkeypatch, blobs, limits):
    X, y, *_ = blobs
    monkeypatch.setattr(refined, "SWAPPED_OBJECTS", 100)
    with pytest.warns(SearchStoppedWarning) as caught:
        classifier = PrototypeClassifier(Refined(REPS(16)), adapt=limits).fit(X, y)
    assert len(caught) == 1
    assert classifier.selector_.refinement_ is None
    assert classifier.adaptation_.reason.startswith("stopped")


def test_series_have_swaps_up_to_another_limit(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = np.sin(np.linspace(0, 6, 20) * (1 + y[:, None])) + rng.normal(0, 0.8, (40, 20))
    monkeypatch.setattr(refined, "SWAPPED_OBJECTS", 10)
    classifier = PrototypeClassifier(Refined(REPS(4, metric="dtw")))
    assert classifier.fit(X, y).selector_.refinement_ is not None
    monkeypatch.setattr(refined, "SWAPPED_COSTLY_OBJECTS", 10)
    assert classifier.fit(X, y).selector_.refinement_ is None


def test_the_automatic_size_leaves_out_the_swaps_that_the_fit_leaves_out(monkeypatch, blobs):
    X, y, *_ = blobs
    refinements = []
    improve = size.improve_among
    monkeypatch.setattr(size, "improve_among", lambda *a, **b: refinements.append(a) or improve(*a, **b))
    assert PrototypeClassifier(Refined(REPS())).fit(X, y).selector_.refinement_ is not None
    assert refinements
    refinements.clear()
    monkeypatch.setattr(refined, "SWAPPED_OBJECTS", 300)
    assert PrototypeClassifier(Refined(REPS())).fit(X, y).selector_.refinement_ is None
    assert not refinements
    PrototypeClassifier(Refined(REPS()), adapt=False).fit(X, y)
    assert refinements


# selections again


@pytest.mark.parametrize("weighted", [False, True])
def test_neighbours_of_the_fit_select_as_neighbours_that_are_searched_again(blobs, weighted):
    X, y, *_ = blobs
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, len(y)) if weighted else None
    selector, fit_lists = REPS(30), FitLists()
    space, _ = selector._fit(X, y, sample_weight=weights, note_lists=fit_lists.note)
    training = ordered_for_moves(TrainingSet.of(space, y, weights))
    members = np.sort(rng.permutation(len(training.objects))[: len(training.objects) * 4 // 5])
    counts = training.objects.counts[members]
    kept, degradations = select_without(selector, space, training, None)(members, counts)
    again, same = select_without(selector, space, training, None, fit_lists)(members, counts)
    np.testing.assert_array_equal(again, kept)
    np.testing.assert_allclose(same, degradations, rtol=1e-6)


@pytest.mark.parametrize(("lists", "n_searches"), [(False, 1), (True, 5)])
def test_a_fit_searches_neighbours_once(monkeypatch, blobs, lists, n_searches):
    """Lists that were given may be too short for the trials."""
    X, y, *_ = blobs
    given = NeighborLists.from_graph(kneighbors_graph(X, 5, mode="distance")) if lists else None
    searched = []
    find = NeighborSearch.find
    monkeypatch.setattr(NeighborSearch, "find", lambda *a, **b: searched.append(a) or find(*a, **b))
    PrototypeClassifier(REPS(30)).fit(X, y, lists=given)
    assert len(searched) == n_searches


# relevances of attributes that say nothing


def test_relevances_of_constant_attributes_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 2
    X[:, 2] = 5.0
    for metric in ("euclidean", "cityblock", "gower"):
        with pytest.raises(ValueError, match="column 2 of X has one value in all training objects; drop it"):
            adapt(X, y, X[:2], y[:2], metric=metric, relevances=True)
    series = rng.normal(size=(20, 2, 15))
    series[:, 0] = 1.0
    with pytest.raises(ValueError, match="channel 0 of X has one value"):
        adapt(series, y[:20], series[:2], y[:2], metric="dtw", relevances=True)
    classifier = PrototypeClassifier(Refined(REPS(4)), adapt={"relevances": True})
    with pytest.raises(ValueError, match="relevances=True"):
        classifier.fit(X, y)
    assert not hasattr(classifier, "classes_")


def test_an_attribute_that_some_objects_lack_is_not_constant():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[:, 1] = 1.0
    X[y == 1, 1] = np.nan
    assert adapt(X, y, X[:4], y[:4], metric="heom", relevances=True).relevances.shape == (3,)


# prototypes_


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "seuclidean", "mahalanobis", "cosine", "cityblock"])
@pytest.mark.parametrize("relevances", [False, True])
def test_prototypes_are_objects_also_after_loading(metric, relevances, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) + y[:, None] * [1.0, 0.0, 2.0, 0.0] + 1.0
    settings = {"relevances": relevances and metric != "mahalanobis"}
    classifier = PrototypeClassifier(REPS(6, metric=metric), adapt=settings).fit(X, y)
    assert classifier.adaptation_.has_moved
    np.testing.assert_allclose(classifier.prototypes_, classifier.adaptation_.prototypes, rtol=1e-9)
    assert len(classifier.prototypes_) == len(classifier.prototype_labels_)
    np.testing.assert_array_equal(classifier.predict(classifier.prototypes_), classifier.prototype_labels_)
    protoset.save(classifier, tmp_path / "moved.protoset")
    np.testing.assert_allclose(protoset.load(tmp_path / "moved.protoset").prototypes_, classifier.prototypes_)


def test_prototypes_that_stay_are_the_objects_that_were_given():
    X, y = load_iris(return_X_y=True)
    classifier = PrototypeClassifier(REPS(6), adapt=False).fit(X, y)
    np.testing.assert_array_equal(classifier.prototypes_, X[classifier.sample_indices_])
    words, labels = ["aa", "ab", "ba", "yy", "yz", "zz"], [0, 0, 0, 1, 1, 1]
    strings = PrototypeClassifier(REPS(2, metric="levenshtein")).fit(words, labels)
    assert strings.prototypes_ == [words[row] for row in strings.sample_indices_]
    matrix = np.abs(X[:, :1] - X[:, :1].T)
    assert PrototypeClassifier(REPS(6, metric="precomputed")).fit(matrix, y).prototypes_ is None
    with pytest.raises(NotFittedError):
        _ = PrototypeClassifier().prototypes_


# the order of rows


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "gower"])
@settings(max_examples=8)
@given(seed=st.integers(0, 2**16))
def test_the_order_of_rows_decides_nothing(metric, seed):
    """Small whole numbers, so that many distances are equal. REPS does not depend on the order; swaps may."""
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(1, 6, size=(90, 3)), axis=0).astype(float)
    y = np.concatenate([np.arange(3), rng.integers(3, size=len(X) - 3)])
    order, queries = rng.permutation(len(X)), rng.integers(1, 6, size=(40, 3)).astype(float)
    plain = PrototypeClassifier(REPS(6, metric=metric)).fit(X, y)
    shuffled = PrototypeClassifier(REPS(6, metric=metric)).fit(X[order], y[order])
    assert plain.adaptation_.loss == shuffled.adaptation_.loss
    assert plain.adaptation_.has_moved == shuffled.adaptation_.has_moved
    if metric == "cosine":
        np.testing.assert_array_equal(shuffled.predict(queries), plain.predict(queries))
        return  # objects of one direction are copies, of which the first row is named
    np.testing.assert_array_equal(np.sort(order[shuffled.sample_indices_]), plain.sample_indices_)
    by_start = np.argsort(order[shuffled.sample_indices_])
    np.testing.assert_allclose(
        np.asarray(shuffled.adaptation_.prototypes, float)[by_start], np.asarray(plain.adaptation_.prototypes, float)
    )
    np.testing.assert_array_equal(order[shuffled.exemplars_][by_start], plain.exemplars_)
    np.testing.assert_array_equal(shuffled.predict(queries), plain.predict(queries))


def mixed_rows(n, seed, missing):
    """Numbers and categories of unequal frequencies, some values missing; the classes depend on both."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.normal(size=n) for name in "abc"})
    X["d"], X["e"] = rng.choice(list("wxyz"), n, p=[0.1, 0.4, 0.2, 0.3]), rng.choice([3.0, 1.0, 2.0], n)
    y = (X["a"] + 0.3 * rng.normal(size=n) > 0).to_numpy().astype(int) + (X["d"] == "x").to_numpy()
    return X.mask(rng.random(X.shape) < missing), y


def check_same_objects(objects, expected):
    """Same numbers, and same categories and shares, up to rounding."""
    for values, others in zip(np.asarray(objects, object).ravel(), np.asarray(expected, object).ravel(), strict=True):
        assert values == (pytest.approx(others) if isinstance(others, (float, dict)) else others)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("metric", ["heom", "gower"])
@pytest.mark.parametrize("loss", ["softmax", "auto"])
def test_the_order_of_mixed_rows_decides_nothing(metric, loss, missing):
    """The noise of the softmax loss falls on the same categories, whichever comes first."""
    X, y = mixed_rows(90, 2, missing)
    start, params = first_of_each(y, 3), {"categorical": ["e"]}
    orders = (np.arange(90), np.arange(90)[::-1], np.random.default_rng(9).permutation(90))
    plain, *others = (
        adapt(X.iloc[order], y[order], X.iloc[start], y[start], metric=metric, metric_params=params, loss=loss)
        for order in orders
    )
    for other in others:
        assert (other.held_out_after, other.n_passes) == (plain.held_out_after, plain.n_passes)
        check_same_objects(other.prototypes, plain.prototypes)


@pytest.mark.parametrize("metric", ["heom", "gower"])
def test_moved_prototypes_of_mixed_tables_can_move_again(metric):
    X, y = mixed_rows(90, 2, 0.0)
    start = first_of_each(y, 3)
    once = adapt(X, y, X.iloc[start], y[start], metric=metric)
    assert any(isinstance(value, dict) for value in once.prototypes.ravel())
    again = adapt(X, y, once.prototypes, once.labels, metric=metric)
    assert again.objective_before == pytest.approx(once.objective_after, abs=0.02)  # small shares are not named
    wrong = once.prototypes.copy()
    for value in ({"w": 0.5, "unseen": 0.5}, {"w": -1.0, "x": 2.0}, {"w": "half"}, {}):
        wrong[0, 3] = value
        with pytest.raises(ValueError, match=r"prototypes cannot be read .* column 3 holds \{.* dict of shares"):
            adapt(X, y, wrong, once.labels, metric=metric)


@pytest.mark.parametrize("metric", ["heom", "gower"])
def test_a_classifier_of_shuffled_mixed_rows_gives_the_same_answers(metric):
    X, y = mixed_rows(120, 4, 0.1)
    queries, _ = mixed_rows(40, 5, 0.1)
    selector = REPS(9, metric=metric, metric_params={"categorical": ["e"]})
    plain = PrototypeClassifier(selector).fit(X, y)
    assert plain.adaptation_.has_moved
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(120)
        shuffled = PrototypeClassifier(selector).fit(X.iloc[order], y[order])
        place, plain_place = np.argsort(order[shuffled.sample_indices_]), np.argsort(plain.sample_indices_)
        check_same_objects(
            np.asarray(shuffled.adaptation_.prototypes, object)[place],
            np.asarray(plain.adaptation_.prototypes, object)[plain_place],
        )
        np.testing.assert_array_equal(shuffled.predict(queries), plain.predict(queries))
        np.testing.assert_allclose(shuffled.predict_proba(queries), plain.predict_proba(queries))


# objects with copies


def test_copies_are_held_out_one_by_one():
    """Labels that differ within a cell: what is held out has the labels of what is seen."""
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.concatenate([np.zeros(40), np.ones(10), np.ones(40), np.zeros(10)]).astype(int)
    assert PrototypeClassifier(adapt=True).fit(X, y).adaptation_.held_out_before == pytest.approx(0.2)
    assert adapt(X, y, [[0.0], [1.0]], [0, 1]).held_out_before == pytest.approx(0.2)


@pytest.mark.parametrize("seed", range(4))
def test_sets_of_few_values_do_not_become_worse(seed):
    rng = np.random.default_rng(seed)
    chances = rng.random(4)

    def draw(n):
        cells = rng.integers(4, size=n)
        return np.column_stack([cells % 2, cells // 2]).astype(float), (rng.random(n) < chances[cells]).astype(int)

    (X, y), (queries, truth) = draw(400), draw(2000)
    stays, moves = (PrototypeClassifier(adapt=adapt).fit(X, y).score(queries, truth) for adapt in (False, "auto"))
    assert moves > stays - 0.03


# what is not to be


def test_prototypes_that_stay_keep_their_missing_values():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    X[rng.random(X.shape) < 0.2] = np.nan
    stayed = adapt(X, y, X[:6], y[:6], metric="gower", step=1e-300)
    assert not stayed.has_moved
    np.testing.assert_array_equal(stayed.prototypes, X[:6])
    classifier = PrototypeClassifier(REPS(6, metric="gower"), adapt={"step": 1e-300}).fit(X, y)
    np.testing.assert_array_equal(np.asarray(classifier.adaptation_.prototypes, float), X[classifier.sample_indices_])


def test_columns_of_prototypes_are_those_of_the_objects():
    frame, y = load_iris(return_X_y=True, as_frame=True)
    start = [0, 60, 120]
    assert len(adapt(frame, y, frame.iloc[start], y[start]).labels) == 3
    with pytest.raises(ValueError, match="prototypes has the columns .*; pass the columns of X in their order"):
        adapt(frame, y, frame.iloc[start][frame.columns[::-1]], y[start])


@pytest.mark.parametrize("labels", [[[0], [1, 2], [2]], [{0: 1}] * 3])
def test_labels_that_are_none_are_named(labels):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="^labels=.*must have one label of y for each prototype"):
        adapt(X, y, X[[0, 60, 120]], labels)


def test_the_adjusted_rule_is_refused_after_moves(blobs):
    X, y, *_ = blobs
    moved = PrototypeClassifier(REPS(16)).fit(X, y).set_params(rule="adjusted")
    with pytest.raises(
        ValueError, match="rule='adjusted' was not learned: the classifier was fitted with rule='nearest'; fit it again"
    ):
        moved.predict(X)


def test_a_column_without_values_has_no_relevance():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.normal(size=(40, 2)), np.full(40, np.nan)]), np.arange(40) % 2
    with pytest.raises(ValueError, match="column 2 of X"):
        adapt(X, y, X[:2], y[:2], metric="gower", relevances=True)
