"""The parts of the report to act on: what the model says about them agrees with direct computation."""

import datetime
import re
from importlib import resources

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import confusion_matrix

from protoset import REPS, PrototypeClassifier, suspects
from protoset._report.building import build_report
from protoset._report.model import choose_queries
from protoset._report.render import SCRIPTS
from protoset._report.suspects import MOST_JUDGED
from protoset.datasets import Dataset
from protoset.evaluation import estimate_error
from protoset.models import CrossValidation, cross_validated_error
from protoset.selectors import FCNN
from protoset.spaces import make_space

from conftest import overlapping

DAY = datetime.date(2026, 1, 31)
X, Y = overlapping(160, d=3, seed=1)
X_TEST, Y_TEST = overlapping(80, d=3, seed=1)
X_TEST = X_TEST + np.random.default_rng(2).normal(scale=0.4, size=X_TEST.shape)
X_TEST[-2:] = [[60.0], [-50.0]]
NAMES = np.array(["ash", "birch", "cedar"])
TRAIN, TEST = Dataset("trees", "vectors", X, NAMES[Y]), Dataset("trees", "vectors", X_TEST, NAMES[Y_TEST])


def matrix_of(model):
    n = len(model["classes"])
    matrix = np.zeros((n, n), int)
    for actual, predicted, size in model["confusion"]["cells"]:
        matrix[actual, predicted] = size
    return matrix


@pytest.mark.parametrize(
    "options", [{"adapt": False}, {"adapt": True}, {"rule": "scores"}, {"rule": "adjusted"}], ids=str
)
def test_counts_on_test_objects_are_those_of_the_predictions(options):
    classifier = PrototypeClassifier(REPS(9), **options).fit(X, NAMES[Y])
    model = build_report(TRAIN, classifier, test=TEST, created=DAY, suspects=False).model
    predicted = classifier.predict(X_TEST)
    assert np.array_equal(matrix_of(model), confusion_matrix(NAMES[Y_TEST], predicted, labels=model["classes"]))
    confusion = model["confusion"]
    assert (confusion["measured_on"], confusion["n_measured"]) == ("test", 80)
    assert confusion["n_wrong"] == model["summary"]["error"]["n_errors"] == int((predicted != NAMES[Y_TEST]).sum())
    assert [model["classes"][code] for code in confusion["queries"]] == predicted.tolist()
    assert confusion["objects"] is None


def test_classes_have_their_errors():
    classifier = PrototypeClassifier(REPS(9), adapt=False).fit(X, NAMES[Y])
    model = build_report(TRAIN, classifier, test=TEST, created=DAY, suspects=False).model
    counts = confusion_matrix(Y_TEST, np.searchsorted(NAMES, classifier.predict(X_TEST)))
    for code, said in enumerate(model["confusion"]["classes"]):
        wrong = np.where(np.arange(3) == code, 0, counts[code])
        expected = estimate_error(int(wrong.sum()), int(counts[code].sum()))
        assert (said["n_wrong"], said["n_measured"]) == (expected.n_errors, expected.n_test)
        assert said["error"] == pytest.approx(expected.error, rel=1e-5)
        assert (said["lower"], said["upper"]) == pytest.approx((expected.lower, expected.upper), rel=1e-5, abs=1e-12)
        assert said["n_objects"] == int((code == Y).sum())
        assert said["n_prototypes"] == int((Y[classifier.sample_indices_] == code).sum())
        assert said["confused_with"] == ([int(wrong.argmax()), int(wrong.max())] if wrong.any() else None)


def test_classes_of_test_objects_only_are_counted():
    labels = np.append(NAMES[Y_TEST][:-1], "oak")
    selector = REPS(9).fit(X, NAMES[Y])
    model = build_report(TRAIN, selector, test=Dataset("t", "vectors", X_TEST, labels), created=DAY).model
    oak = model["confusion"]["classes"][3]
    assert (oak["n_objects"], oak["n_measured"], oak["n_wrong"], oak["error"]) == (0, 1, 1, 1)


def test_without_test_objects_the_folds_of_the_checked_labels_predict():
    classifier = PrototypeClassifier(REPS(9), adapt=False).fit(X, NAMES[Y])
    model = build_report(TRAIN, classifier, created=DAY).model
    judged = suspects(X, NAMES[Y], classifier)
    answers = judged.all_probabilities.argmax(axis=1)
    assert model["confusion"]["measured_on"] == "folds"
    assert model["confusion"]["objects"] == answers.tolist()
    assert np.array_equal(matrix_of(model), confusion_matrix(Y, answers))
    assert [one["object"][0] for one in model["suspects"]] == judged.indices.tolist()
    assert [one["suggested"][1] for one in model["suspects"]] == judged.suggested.tolist()
    assert [[index for index, _ in one["evidence"]] for one in model["suspects"]] == judged.evidence.tolist()


@pytest.mark.parametrize("selector", [REPS(9), REPS(), FCNN()], ids=str)
def test_a_selector_alone_is_cross_validated(selector):
    selector.fit(X, NAMES[Y])
    model = build_report(TRAIN, selector, created=DAY).model
    measured = cross_validated_error(selector, make_space(X), NAMES[Y])
    assert model["suspects"] is None
    assert model["confusion"]["measured_on"] == "cross-validation"
    assert np.array_equal(matrix_of(model), confusion_matrix(Y[measured.rows], measured.predicted))
    wrong = float(np.mean(measured.predicted != Y[measured.rows]))
    assert wrong == pytest.approx(measured.error, abs=0.02)


def test_a_sample_that_is_cross_validated_keeps_its_rows():
    objects, labels = overlapping(2100, d=2, seed=0)
    measured = cross_validated_error(REPS(9).fit(objects, labels), make_space(objects), labels)
    assert len(measured.rows) == len(measured.predicted) == measured.n_objects == 2000
    assert np.mean(measured.predicted != labels[measured.rows]) == pytest.approx(measured.error, abs=1e-3)


def test_objects_that_the_selection_has_seen_have_no_error():
    known = CrossValidation(0.1, 0.1, 9)
    model = build_report(TRAIN, REPS(9).fit(X, NAMES[Y]), created=DAY, cross_validation=known).model
    confusion = model["confusion"]
    assert confusion["measured_on"] == "seen objects"
    assert all(one["error"] is one["lower"] is one["upper"] is None for one in confusion["classes"])
    winners = np.array(model["objects"]["winners"][0])
    assert confusion["objects"] == Y[winners].tolist()


def test_labels_are_checked_by_default_up_to_a_number_of_objects(monkeypatch):
    classifier = PrototypeClassifier(REPS(9), adapt=False).fit(X, NAMES[Y])
    assert build_report(TRAIN, classifier, created=DAY, suspects=False).model["suspects"] is None
    assert not any("Labels" in note for note in build_report(TRAIN, classifier, created=DAY).model["notes"])
    monkeypatch.setitem(MOST_JUDGED, "vectors", 159)
    model = build_report(TRAIN, classifier, created=DAY).model
    assert model["suspects"] is None
    assert model["notes"][-1] == (
        "Labels are not checked by default beyond 159 objects of this kind; pass "
        "suspects=protoset.suspects(X, y, classifier) to the report."
    )


def test_a_check_of_the_labels_that_fails_leaves_a_note():
    few, labels = X[:12], np.repeat([0, 1, 2, 3], 3)
    classifier = PrototypeClassifier(REPS(12), adapt=False).fit(few, labels)
    model = build_report(Dataset("few", "vectors", few, labels), classifier, created=DAY).model
    assert model["suspects"] is None
    assert model["notes"][-1].startswith("Labels are not checked: n_prototypes=12")


def test_objects_unlike_anything_are_those_of_the_classifier():
    classifier = PrototypeClassifier(REPS(9), adapt=False).fit(X, NAMES[Y])
    unlike = build_report(TRAIN, classifier, test=TEST, created=DAY, suspects=False).model["unlike"]
    novel, scores = classifier.is_novel(X_TEST, 0.01), classifier.novelty_scores(X_TEST)
    listed = [one for one in unlike["objects"] if one["test"]]
    assert unlike["n_novel"] == int(novel.sum()) == len(listed) >= 2
    assert [one["object"][0] for one in listed] == sorted(np.flatnonzero(novel), key=lambda row: -scores[row])
    assert [one["times"] for one in listed] == pytest.approx(sorted(scores[novel], reverse=True), rel=1e-3)
    others = np.setdiff1d(np.arange(160), classifier.sample_indices_)
    known = classifier.novelty_scores(X[others])
    training = [one for one in unlike["objects"] if not one["test"]]
    assert [one["object"][0] for one in training] == others[np.argsort(-known, kind="stable")][:5].tolist()
    for one in training:
        assert one["times"] == pytest.approx(one["distance"] / one["usual"], rel=2e-3)


@pytest.mark.parametrize("adapt", [True, False])
def test_objects_far_from_a_set_without_calibration(adapt):
    objects, labels = load_wine(return_X_y=True)
    objects = (objects - objects.mean(axis=0)) / objects.std(axis=0)
    objects[50] = 30.0
    classifier = PrototypeClassifier(REPS(6), calibrate=False, adapt=adapt).fit(objects, labels)
    unlike = build_report(Dataset("wine", "vectors", objects, labels), classifier, created=DAY).model["unlike"]
    assert unlike["n_novel"] is None
    if 50 not in classifier.sample_indices_:
        assert unlike["objects"][0]["object"] == [50, "50"]
    assert len(unlike["objects"]) == 5


def test_a_page_of_many_test_objects_has_the_misclassified_ones():
    is_wrong = np.arange(1000) % 10 == 3
    rows = choose_queries(is_wrong, 300, np.array([4, 998]))
    assert len(rows) == len(set(rows.tolist())) == 300
    assert set(np.flatnonzero(is_wrong)) | {4, 998} <= set(rows.tolist())
    assert np.array_equal(rows, np.sort(rows))
    # At most half of the page is for them.
    assert is_wrong[choose_queries(is_wrong, 60, np.empty(0, int))].sum() < 45
    assert np.array_equal(choose_queries(is_wrong[:50], 60, np.empty(0, int)), np.arange(50))


def test_no_name_is_declared_twice_in_the_scripts():
    # All scripts share one scope, where a second function of a name silently replaces the first.
    names = [
        name
        for script in SCRIPTS
        for name in re.findall(
            r"^(?:async )?(?:function|const|let) (\w+)",
            (resources.files("protoset._report") / "page" / script).read_text("utf-8"),
            re.MULTILINE,
        )
    ]
    assert len(names) == len(set(names)) > 100
