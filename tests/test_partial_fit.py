"""Streams: prototypes that go on moving on batches, of which nothing is kept."""

import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from protoset import REPS, PrototypeClassifier, Refined, export, load, save
from protoset.adaptation.descent import MovingSet, WeightedObjects
from protoset.adaptation.streaming import Counters
from protoset.adaptation.validation import measure
from protoset.selectors import RandomSelector
from protoset.spaces import as_space

from conftest import overlapping

CLASSES = [0, 1, 2]
EXPORTED = ("euclidean", "cosine", "correlation", "sqeuclidean", "seuclidean", "mahalanobis")


def stream_of(n=1200, n_classes=3, seed=0):
    """Objects of overlapping classes in the order in which they come, and others to test."""
    X, y = overlapping(n + 600, 4, n_classes, seed)
    return X[:n], y[:n], X[n:], y[n:]


def batches(X, y, size):
    return [(X[first : first + size], y[first : first + size]) for first in range(0, len(y), size)]


def streamed(X, y, size=100, classes=CLASSES, selector=None, **parameters):
    classifier = PrototypeClassifier(REPS(12) if selector is None else selector, **parameters)
    for objects, labels in batches(X, y, size):
        classifier.partial_fit(objects, labels, classes=classes)
    return classifier


def attributes_of(classifier):
    names = ("sample_indices_", "exemplars_", "prototype_counts_", "class_counts_", "prototype_labels_")
    return {name: getattr(classifier, name) for name in names} | {
        "prototypes": classifier.adaptation_.prototypes,
        "n_seen": classifier.n_seen_,
        "error": classifier.prequential_error_,
    }


def assert_same(first, second):
    first, second = attributes_of(first), attributes_of(second)
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)


def loss_on(classifier, X, y):
    """Mean relative loss of the prototypes as they are."""
    space = as_space(X, "euclidean")
    objects = WeightedObjects(space.movable, y, np.ones(len(y)))
    start = MovingSet(classifier._stream.moved, classifier._codes, np.full(len(y), -1))
    return measure(objects, start, np.arange(len(y))).mean_loss


def test_loss_and_error_fall_over_the_batches():
    X, y, queries, truth = stream_of(4000)
    classifier, losses, errors = PrototypeClassifier(RandomSelector(12, random_state=0)), [], []
    for objects, labels in batches(X, y, 100):
        classifier.partial_fit(objects, labels, classes=CLASSES)
        losses.append(loss_on(classifier, queries, truth))
        errors.append(1 - classifier.score(queries, truth))
    selected = PrototypeClassifier(RandomSelector(12, random_state=0), adapt=False).fit(X[:100], y[:100])
    assert losses[-1] < losses[4] < losses[0]
    assert errors[-1] < 1 - selected.score(queries, truth)
    assert errors[-1] <= errors[0]


def test_prequential_error_is_that_of_predictions_before_each_update():
    X, y, _, _ = stream_of()
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    classifier, wrong, judged = PrototypeClassifier(REPS(12)), 0.0, 0.0
    for first in range(0, len(y), 150):
        rows = slice(first, first + 150)
        if first:
            wrong += weights[rows][classifier.predict(X[rows]) != y[rows]].sum()
            judged += weights[rows].sum()
        classifier.partial_fit(X[rows], y[rows], CLASSES, weights[rows])
        assert classifier.n_seen_ == min(first + 150, len(y))
        if first:
            assert classifier.prequential_error_ == pytest.approx(wrong / judged)
        else:
            assert np.isnan(classifier.prequential_error_)
    np.testing.assert_allclose(classifier.class_counts_, np.bincount(y, weights))
    assert classifier.prototype_counts_.sum() == pytest.approx(weights.sum())


def test_a_stream_is_repeatable_whatever_n_jobs():
    X, y, _, _ = stream_of()
    first = streamed(X, y, adapt={"random_state": 3})
    assert_same(first, streamed(X, y, adapt={"random_state": 3}, n_jobs=2))
    other = streamed(X, y, adapt={"random_state": 4})
    assert (other.adaptation_.prototypes != first.adaptation_.prototypes).any()


def test_many_prototypes_look_at_those_near_an_object_whatever_n_jobs():
    X, y, queries, truth = stream_of(2400)
    first = streamed(X, y, size=1200, selector=RandomSelector(600, random_state=0))
    assert_same(first, streamed(X, y, size=1200, selector=RandomSelector(600, random_state=0), n_jobs=2))
    selected = PrototypeClassifier(RandomSelector(600, random_state=0), adapt=False).fit(X[:1200], y[:1200])
    assert first.score(queries, truth) > selected.score(queries, truth)


def test_after_fit_the_prototypes_of_the_fit_go_on():
    X, y, queries, truth = stream_of()
    classifier = PrototypeClassifier(Refined(REPS(12))).fit(X[:600], y[:600])
    before, starts = classifier.score(queries, truth), classifier.sample_indices_
    assert classifier.n_seen_ == 600
    assert np.isnan(classifier.prequential_error_)
    expected = np.mean(classifier.predict(X[600:900]) != y[600:900])
    classifier.partial_fit(X[600:900], y[600:900])
    assert classifier.prequential_error_ == pytest.approx(expected)
    classifier.partial_fit(X[900:], y[900:], classes=CLASSES)
    assert classifier.n_seen_ == 1200
    np.testing.assert_array_equal(classifier.sample_indices_, starts)
    assert classifier.score(queries, truth) > before - 0.05
    assert classifier.fit(X, y).n_seen_ == 1200
    assert np.isnan(classifier.prequential_error_)


def test_classes_that_come_later_get_prototypes_by_their_share():
    X, y, queries, truth = stream_of(1200)
    order = np.argsort(y == 2, kind="stable")
    classifier = PrototypeClassifier(REPS(10))
    first, second = order[:200], np.concatenate([order[200:300], np.flatnonzero(y == 2)[:100]])
    classifier.partial_fit(X[first], y[first], classes=[0, 1, 2])
    assert set(classifier.prototype_labels_) == {0, 1}
    assert classifier.class_counts_[2] == 0
    with pytest.raises(ValueError, match="not calibrated"):
        classifier.predict_proba(queries)
    classifier.partial_fit(X[second], y[second])
    assert classifier.calibration_.how == "prequential"
    probabilities = classifier.predict_proba(queries)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(classifier.classes_[probabilities.argmax(axis=1)], classifier.predict(queries))
    added = classifier.prototype_labels_ == 2
    assert added.sum() == 5  # half of the batch, so half of the budget of 10
    assert (y[second][classifier.sample_indices_[added] - 200] == 2).all()
    assert (np.diff(classifier.sample_indices_) > 0).all()
    assert 2 in classifier.predict(queries[truth == 2])
    third = np.flatnonzero(y == 2)[100:]
    classifier.partial_fit(X[third], y[third])
    assert len(classifier.prototype_labels_) == 15


def test_exemplars_are_objects_of_the_class_near_the_prototype():
    X, y, _, _ = stream_of()
    classifier = streamed(X, y)
    prototypes = classifier.adaptation_.prototypes
    np.testing.assert_array_equal(y[classifier.exemplars_], classifier.prototype_labels_)
    distances = np.linalg.norm(X[classifier.exemplars_] - prototypes, axis=1)
    assert (distances <= classifier._stream.known.reaches + 1e-9).all()
    of_class = classifier.prototype_labels_[:, None] == y
    anywhere = np.linalg.norm(prototypes[:, None] - X, axis=2)[of_class]
    assert np.median(distances) < np.median(anywhere) / 2


def test_no_object_is_kept():
    """Memory of a stream stays where it is, as the size of the pickled classifier does, once distances are known."""
    rng = np.random.default_rng(0)
    classifier, sizes, memory = PrototypeClassifier(REPS(12)), [], []

    def come(n_batches):
        for _ in range(n_batches):
            X, y = rng.normal(size=(500, 30)), rng.integers(3, size=500)
            classifier.partial_fit(X + y[:, None], y, classes=CLASSES)
        sizes.append(len(pickle.dumps(classifier)))

    come(20)
    tracemalloc.start()
    try:
        for _ in range(3):
            come(10)
            memory.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert max(sizes) - min(sizes) < 1000
    assert memory[-1] - memory[0] < 100_000  # one batch has 120,000 bytes


def mixed_stream(n=400):
    X, y, _, _ = stream_of(n)
    letters = np.array(list("abc"))
    rng = np.random.default_rng(0)
    colour = letters[np.where(rng.random(n) < 0.7, y, rng.integers(3, size=n))]
    frame = pd.DataFrame({"width": X[:, 0], "colour": colour, "height": X[:, 1]})
    frame.loc[::17, "width"] = np.nan
    return frame, y


def series_stream(n=90):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    series = [np.sin(np.linspace(0, 2 + 2 * label, rng.integers(14, 22))) + 0.2 * rng.normal() for label in y]
    return series, y


@pytest.mark.parametrize("metric", ["heom", "gower"])
@pytest.mark.parametrize("relevances", [False, True])
def test_mixed_attributes(metric, relevances, tmp_path):
    X, y = mixed_stream()
    classifier = PrototypeClassifier(REPS(9, metric=metric), adapt={"relevances": relevances})
    for first in range(0, 400, 100):
        classifier.partial_fit(X[first : first + 100], y[first : first + 100], classes=CLASSES)
    assert classifier.prequential_error_ < 0.5
    assert (classifier.relevances_ is not None) == relevances
    check_that_all_agrees(classifier, X[:50], y[:50], tmp_path)


@pytest.mark.parametrize("metric", ["dtw", "ddtw"])
def test_series_of_unequal_lengths(metric, tmp_path):
    X, y = series_stream()
    classifier = PrototypeClassifier(REPS(6, metric=metric))
    later = [row for row in range(90) if y[row] == 2 or row > 30]
    first = [row for row in range(90) if row not in later]
    classifier.partial_fit([X[row] for row in first], y[first], classes=CLASSES)
    classifier.partial_fit([X[row] for row in later], y[later])
    assert set(classifier.prototype_labels_) == {0, 1, 2}
    assert classifier.score(X, y) > 0.6
    check_that_all_agrees(classifier, X[:20], y[:20], tmp_path)


@pytest.mark.parametrize("metric", ["cosine", "correlation", "sqeuclidean", "seuclidean", "mahalanobis", "cityblock"])
@pytest.mark.parametrize("relevances", [False, True])
def test_metrics_of_vectors(metric, relevances, tmp_path):
    if metric == "mahalanobis" and relevances:
        pytest.skip("mixes the attributes")
    X, y, queries, truth = stream_of()
    X, queries = X + 1.0, queries + 1.0
    classifier = PrototypeClassifier(REPS(12, metric=metric), adapt={"relevances": relevances})
    for objects, labels in batches(X, y, 200):
        classifier.partial_fit(objects, labels, classes=CLASSES)
    assert classifier.score(queries, truth) > 0.5
    check_that_all_agrees(classifier, queries, truth, tmp_path)


def objects_with_arguments():
    """Objects with labels, and a metric with arguments that compares them."""
    X, y, _, _ = stream_of(240)
    frame, colours = mixed_stream(240)
    series, kinds = series_stream()
    return {
        "none given": (X, y, "euclidean", {}),
        "auto": (X, y, "auto", {}),
        "seuclidean": (X, y, "seuclidean", {"V": [1.0, 4.0, 1.0, 9.0]}),
        "mahalanobis": (X, y, "mahalanobis", {"VI": np.diag([1.0, 4.0, 1.0, 9.0]).tolist()}),
        "gower": (frame, colours, "gower", {"categorical": ["colour"]}),
        "dtw": (series, kinds, "dtw", {"window": 2}),
    }


@pytest.mark.parametrize("name", objects_with_arguments())
@pytest.mark.parametrize("is_refined", [False, True])
def test_metrics_with_arguments(name, is_refined, tmp_path):
    X, y, metric, arguments = objects_with_arguments()[name]
    selector = REPS(9, metric=metric, metric_params=arguments)
    selector = Refined(selector) if is_refined else selector
    first, second = X[: len(y) // 2], X[len(y) // 2 :]
    classifier = PrototypeClassifier(selector).partial_fit(first, y[: len(first)], classes=CLASSES)
    fitted = clone(selector).fit(first, y[: len(first)])
    np.testing.assert_array_equal(classifier.selector_.sample_indices_, fitted.sample_indices_)
    for attribute in ("n_features_in_", "feature_names_in_"):
        expected = getattr(fitted, attribute, None)
        np.testing.assert_array_equal(getattr(classifier.selector_, attribute, None), expected)
    classifier.partial_fit(second, y[len(first) :])
    assert classifier.n_seen_ == len(y)
    check_that_all_agrees(classifier, X[:20], y[:20], tmp_path)


def test_a_window_changes_the_distances_of_a_stream():
    X, y = series_stream()
    narrow, wide = (
        PrototypeClassifier(REPS(6, metric="dtw", metric_params={"window": window})).partial_fit(X, y, classes=CLASSES)
        for window in (0.1, None)
    )
    assert (narrow.predict_details(X).distances != wide.predict_details(X).distances).any()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"windw": 2}, ValueError, r"does not know \['windw'\]; it takes"),
        ({"window": -1}, ValueError, "metric_params: window=-1"),
        (2, TypeError, "metric_params=2 must be a dict"),
    ],
)
def test_wrong_arguments_of_a_metric_leave_all_as_it_was(arguments, error, message):
    X, y = series_stream()
    classifier = PrototypeClassifier(REPS(6, metric="dtw", metric_params=arguments))
    before = pickle.dumps(classifier)
    with pytest.raises(error, match=message):
        classifier.partial_fit(X, y, classes=CLASSES)
    assert pickle.dumps(classifier) == before


def test_a_first_batch_of_a_selector_without_weights_takes_no_weights():
    classifier = PrototypeClassifier(RandomSelector(9, metric_params={}, random_state=0))
    before = pickle.dumps(classifier)
    with pytest.raises(ValueError, match="sample_weight=... works with REPS and Refined only"):
        classifier.partial_fit(X_IRIS, Y_IRIS, CLASSES, np.ones(150))
    assert pickle.dumps(classifier) == before


def check_that_all_agrees(classifier, X, y, tmp_path):
    """Predictions, explanations and files say the same; a loaded classifier goes on."""
    labels = classifier.predict(X)
    explanation, details = classifier.explain(X, 2), classifier.predict_details(X)
    np.testing.assert_array_equal(explanation.labels[:, 0], labels)
    np.testing.assert_array_equal(details.labels, labels)
    assert np.isin(details.exemplars, classifier.exemplars_).all()
    assert len(classifier.compare(X)) == len(labels)
    save(classifier, tmp_path / "stream.protoset")
    loaded = load(tmp_path / "stream.protoset")
    np.testing.assert_array_equal(loaded.predict(X), labels)
    assert loaded.n_seen_ == classifier.n_seen_
    assert loaded.prequential_error_ == classifier.prequential_error_
    assert vars(loaded._counters) == vars(classifier._counters)
    if classifier._prototypes.metric in EXPORTED:
        export(classifier, tmp_path / "model.py")
        names = {"__name__": "exported"}
        exec(compile((tmp_path / "model.py").read_text(), "model.py", "exec"), names)
        np.testing.assert_array_equal(names["predict"](X), labels)
    for one in (loaded, pickle.loads(pickle.dumps(classifier))):
        n_seen = one.n_seen_
        one.partial_fit(X, y)
        assert one.n_seen_ == n_seen + len(y)
        assert one.predict(X).shape == labels.shape
    np.testing.assert_array_equal(classifier.predict(X), labels)


def test_softmax_and_steps_are_those_of_adapt():
    X, y, _, _ = stream_of(600)
    plain = streamed(X, y)
    assert plain.adaptation_.loss == "relative"
    for adapt in ({"loss": "softmax"}, {"n_passes": 1}, {"step": 0.01}):
        other = streamed(X, y, adapt=adapt)
        assert (other.adaptation_.prototypes != plain.adaptation_.prototypes).any()
    assert streamed(X, y, adapt={"loss": "softmax"}).adaptation_.loss == "softmax"


def test_a_weight_of_0_is_no_object_but_counts_as_seen():
    X, y, _, _ = stream_of(400)
    weights = np.concatenate([np.ones(200), np.zeros(200)])
    classifier = PrototypeClassifier(REPS(12)).partial_fit(X[:100], y[:100], CLASSES)
    without = clone(classifier).partial_fit(X[:100], y[:100], CLASSES)
    without.partial_fit(X[:200], y[:200])
    classifier.partial_fit(X, y, None, weights)
    assert classifier.n_seen_ == 500
    np.testing.assert_array_equal(classifier.adaptation_.prototypes, without.adaptation_.prototypes)


def test_equal_objects_do_not_move_prototypes():
    X, y = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0), np.repeat([0, 1], 20)
    classifier = PrototypeClassifier(REPS(2)).partial_fit(X, y, classes=[0, 1]).partial_fit(X, y)
    np.testing.assert_array_equal(classifier.adaptation_.prototypes, [[0, 0], [1, 1]])
    assert classifier.prequential_error_ == 0.0
    classifier.partial_fit(X + 0.4, y)
    assert (classifier.adaptation_.prototypes != [[0, 0], [1, 1]]).any()


def test_labels_are_texts_and_batches_have_one_class_or_one_object():
    X, y, queries, truth = stream_of(600)
    names = np.array(["low", "middle", "high"])
    classifier = PrototypeClassifier(REPS(12)).partial_fit(X[:200], names[y[:200]], classes=list(names))
    for row in range(200, 260):
        classifier.partial_fit(X[row : row + 1], names[y[row : row + 1]].tolist())
    rows = np.flatnonzero(y == 1)
    classifier.partial_fit(X[rows], names[y[rows]])
    assert classifier.classes_.tolist() == ["high", "low", "middle"]
    assert classifier.score(queries, names[truth]) > 0.6


FITTED = "fitted"
X_IRIS, Y_IRIS = load_iris(return_X_y=True)
WRONG = [
    ("classes", {}, ValueError, "classes=None: the first call of partial_fit needs the classes; pass a list"),
    ("classes", {"classes": [0, 1]}, ValueError, r"y has the label 2, which is not among the classes \[0, 1\]; pass"),
    (
        "classes",
        {"classes": [0]},
        ValueError,
        r"^classes=\[0\] has 1 class, and a stream needs at least 2; pass a list",
    ),
    ("classes", {"classes": [0, 0]}, ValueError, r"^classes=\[0, 0\] has 1 class, and a stream needs at least 2"),
    (
        "classes",
        {"classes": []},
        ValueError,
        r"^classes=\[\] has no classes, and a stream needs at least 2; pass a list",
    ),
    ("classes", {"classes": 3}, TypeError, "^classes=3 is not a list of labels; pass a list of all labels"),
    ("classes", {"classes": np.array(3)}, TypeError, r"^classes=array\(3\) is not a list of labels; pass a list"),
    ("classes", {"classes": "ab"}, TypeError, "^classes='ab' is not a list of labels; pass a list"),
    ("classes", {"classes": {0, 1}}, TypeError, r"^classes={0, 1} is not a list of labels; pass a list"),
    ("classes", {"classes": [0, None]}, ValueError, r"^classes=\[0, None\] are no labels: "),
    (FITTED, {"classes": [0]}, ValueError, r"^classes=\[0\] differ from the classes \[0, 1, 2\]"),
    (FITTED, {"classes": 3}, TypeError, "^classes=3 is not a list of labels; pass a list"),
    ("first", {"y": np.zeros(150, int), "classes": CLASSES}, ValueError, "y has only 1 class, 0"),
    (FITTED, {"classes": [0, 1, 2, 3]}, ValueError, r"classes=\[0, 1, 2, 3\] differ from the classes \[0, 1, 2\]"),
    (FITTED, {"y": np.full(150, 7)}, ValueError, r"y has the label 7, which is not among the classes \[0, 1, 2\]"),
    (FITTED, {"y": ["a"] * 150}, ValueError, "y has the label 'a', which is not among the classes"),
    (FITTED, {"y": Y_IRIS[:5]}, ValueError, "y has 5 labels for 150 objects"),
    (FITTED, {"X": X_IRIS[:, :3]}, ValueError, "X has 3 features, but euclidean is expecting 4"),
    (FITTED, {"X": np.where(X_IRIS > 7, np.nan, X_IRIS)}, ValueError, "Input X contains NaN or infinity in rows"),
    (FITTED, {"X": X_IRIS[:0], "y": Y_IRIS[:0]}, ValueError, "0 sample"),
    (FITTED, {"sample_weight": np.ones(3)}, ValueError, r"sample_weight=.* has the shape \(3,\) for 150 objects"),
    (FITTED, {"sample_weight": np.zeros(150)}, ValueError, "sample_weight is zero for all objects"),
    (
        FITTED,
        {"X": as_space(X_IRIS)},
        TypeError,
        "X has the type VectorSpace, but partial_fit needs the objects",
    ),
]


@pytest.mark.parametrize(("state", "arguments", "kind", "message"), WRONG)
def test_bad_input_leaves_all_as_it_was(state, arguments, kind, message):
    classifier = PrototypeClassifier(REPS(9))
    if state == FITTED:
        classifier.partial_fit(X_IRIS[::2], Y_IRIS[::2], classes=CLASSES)
        classifier.partial_fit(X_IRIS[1::2], Y_IRIS[1::2])
    before = pickle.dumps(classifier)
    with pytest.raises(kind, match=message):
        classifier.partial_fit(**({"X": X_IRIS, "y": Y_IRIS} | arguments))
    assert pickle.dumps(classifier) == before


def test_other_column_names_are_refused():
    frame = pd.DataFrame(X_IRIS, columns=list("abcd"))
    classifier = PrototypeClassifier(REPS(9)).partial_fit(frame, Y_IRIS, classes=CLASSES)
    assert classifier.feature_names_in_.tolist() == list("abcd")
    before = pickle.dumps(classifier)
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.partial_fit(frame.rename(columns={"a": "e"}), Y_IRIS)
    assert pickle.dumps(classifier) == before
    classifier.partial_fit(frame, Y_IRIS)
    assert classifier.feature_names_in_.tolist() == list("abcd")


def test_a_dask_array_is_refused():
    array = pytest.importorskip("dask.array")
    with pytest.raises(
        TypeError, match="X has the type Array, but partial_fit needs.*a Dask collection block by block"
    ):
        PrototypeClassifier().partial_fit(array.from_array(X_IRIS), Y_IRIS, classes=CLASSES)


def test_prototypes_that_cannot_move_are_refused(tmp_path):
    for classifier, message in (
        (
            PrototypeClassifier(REPS(), rule="adjusted"),
            "needs rule='nearest', got rule='adjusted'",
        ),
        (PrototypeClassifier(adapt=False), "but adapt=False keeps them fixed"),
        (PrototypeClassifier(REPS(metric="levenshtein")), "objects under metric='levenshtein' cannot move; use fit"),
    ):
        assert not hasattr(classifier, "partial_fit")
        with pytest.raises(ValueError, match=message):
            classifier.partial_fit(X_IRIS, Y_IRIS, classes=CLASSES)
    words = ["aa", "ab", "ba", "bb"] * 5
    with pytest.raises(ValueError, match="objects under metric='levenshtein' cannot move; those under.*use fit"):
        PrototypeClassifier().partial_fit(words, [0, 1] * 10, classes=[0, 1])
    fitted = PrototypeClassifier(REPS(4)).fit(words, [0, 1] * 10)
    save(fitted, tmp_path / "words.protoset")
    for classifier in (fitted, load(tmp_path / "words.protoset")):
        with pytest.raises(ValueError, match="objects under metric='levenshtein' cannot move.*use fit"):
            classifier.partial_fit(words, [0, 1] * 10)
    classifier = PrototypeClassifier(REPS(9, metric="cosine")).fit(X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match="metric='cosine' gives zero vectors no direction, and rows? 3"):
        classifier.partial_fit(np.where(np.arange(150)[:, None] == 3, 0.0, X_IRIS), Y_IRIS)
    with pytest.raises(ValueError, match="relevances=True learns a scale for each attribute"):
        PrototypeClassifier(REPS(9, metric="mahalanobis"), adapt={"relevances": True}).partial_fit(
            X_IRIS, Y_IRIS, classes=CLASSES
        )


def test_wrong_parameters_are_refused_by_the_call_alone():
    classifier = PrototypeClassifier(REPS(9), adapt="yes")
    assert hasattr(classifier, "partial_fit")
    with pytest.raises(ValueError, match="adapt='yes' must be 'auto', True, False"):
        classifier.partial_fit(X_IRIS, Y_IRIS, classes=CLASSES)


def test_wrong_counters_are_neither_saved_nor_loaded(tmp_path):
    classifier = PrototypeClassifier(REPS(9)).partial_fit(X_IRIS, Y_IRIS, classes=CLASSES)
    for changes in ({"n_seen": 3}, {"n_taken": -1}, {"judged": 1.0, "wrong": 2.0}, {"judged": float("inf")}):
        classifier._counters = replace(Counters(150), **changes)
        with pytest.raises(ValueError, match="would not work after load"):
            save(classifier, tmp_path / "stream.protoset")


def test_clones_begin_anew():
    X, y, _, _ = stream_of(300)
    classifier = streamed(X, y)
    again = streamed(X, y)
    assert_same(classifier, again)
    assert not hasattr(clone(classifier), "n_seen_")
