"""The report about decisions: rules, probabilities, possible labels, objects unlike anything seen, labels to check."""

import datetime

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from protoset import REPS, PrototypeClassifier, Refined
from protoset._report.building import build_report
from protoset.datasets import Dataset
from protoset.models import CrossValidation
from protoset.models.cross_validation import error_of
from protoset.selectors import FCNN, KMedoids
from protoset.spaces import make_space

from conftest import overlapping

X, Y = overlapping(160, d=2, seed=1)
X_TEST, Y_TEST = overlapping(60, d=2, seed=2)
X_TEST = np.concatenate([X_TEST, [[50.0, 50.0], [-40.0, 3.0]]])
Y_TEST = np.append(Y_TEST, [0, 1])
TRAIN, TEST = Dataset("blobs", "vectors", X, Y), Dataset("blobs", "vectors", X_TEST, Y_TEST)
DAY = datetime.date(2026, 1, 31)

CLASSIFIERS = {
    "nearest": {"adapt": False},
    "nearest, moved": {"adapt": True},
    "scores": {"rule": "scores", "adapt": False},
    "scores, moved": {"rule": "scores", "adapt": True},
    "adjusted": {"rule": "adjusted"},
    "automatic": {"rule": "auto"},
}


@pytest.fixture(scope="module", params=CLASSIFIERS)
def fitted(request):
    return PrototypeClassifier(Refined(REPS(12)), **CLASSIFIERS[request.param]).fit(X, Y)


def facts_of(model, heading):
    return next((dict(part["rows"]) for part in model["facts"] if part["heading"] == heading), None)


def test_decisions_agree_with_the_classifier(fitted):
    model = build_report(TRAIN, fitted, test=TEST, created=DAY, suspects=False).model
    queries, certainty = model["queries"], model["queries"]["certainty"]
    chosen = model["summary"]["chosen_stop"]
    assert model["rule"] == fitted.rule_
    shares, details = fitted.predict_proba(X_TEST), fitted.predict_details(X_TEST)
    np.testing.assert_allclose(certainty["probabilities"], shares.max(axis=1), atol=5e-5)
    possible = fitted.predict_set(X_TEST, 0.9)
    assert certainty["possible"] == [np.flatnonzero(row).tolist() for row in possible]
    assert certainty["novel"] == fitted.is_novel(X_TEST, 0.01).tolist()
    assert certainty["novel"][-2:] == [True, True]
    slots = np.searchsorted(fitted.sample_indices_, details.indices)
    winners = np.array(queries["winners"][chosen])
    has_moved = model["moved"] is not None
    assert np.array_equal(winners, len(X) + slots if has_moved else details.indices)
    assert queries["ranks"][chosen] == fitted.explain(X_TEST, 1).ranks[:, 0].tolist()
    assert model["summary"]["error"]["n_errors"] == int((details.labels != Y_TEST).sum())
    assert queries["predicted"] == (details.labels.tolist() if fitted.rule_ == "scores" else None)
    degradations = model["stops"][chosen]["degradations"]
    if fitted.rule_ == "adjusted":
        # They are learned for the set: those of the ranking do not decide.
        assert degradations == pytest.approx(fitted.degradations_.tolist(), rel=1e-3)
        assert model["objects"]["degradations"] is None
    else:
        assert degradations is None


def test_the_page_says_how_it_was_calibrated(fitted):
    known = {"cross_validation": CrossValidation(0.1, 0.1, 9), "created": DAY, "suspects": False}
    model = build_report(TRAIN, fitted, **known).model
    rule = facts_of(model, "Method")["rule"]
    assert rule == (f"{fitted.rule_}, chosen automatically" if fitted.rule == "auto" else fitted.rule_)
    said, calibration = facts_of(model, "Calibration"), fitted.calibration_
    assert said["calibrated by"] == f"{calibration.n_objects} training objects, held out in folds"
    errors = {f"held-out error of {name}": f"{100 * error:.1f} %" for name, error in calibration.errors.items()}
    assert {name: text for name, text in said.items() if "error" in name} == (errors if fitted.rule == "auto" else {})
    assert said["unlike anything seen"] == "farther than 99 % of them"


def test_without_calibration_the_page_has_no_such_parts():
    plain = PrototypeClassifier(REPS(12), calibrate=False).fit(X, Y)
    changed = PrototypeClassifier(REPS(12), rule="adjusted").fit(X, Y).set_params(rule="nearest")
    for selector in (plain, changed, REPS(12).fit(X, Y)):
        model = build_report(TRAIN, selector, test=TEST, created=DAY).model
        assert model["queries"]["certainty"] is None
        assert facts_of(model, "Calibration") is None
        assert model["suspects"] is None


def test_few_held_out_objects_do_not_tell_what_is_unlike_them():
    classifier = PrototypeClassifier(REPS(6), adapt=False).fit(X[:60], Y[:60])
    model = build_report(Dataset("few", "vectors", X[:60], Y[:60]), classifier, test=TEST, created=DAY).model
    assert model["queries"]["certainty"]["novel"] is None
    assert len(model["queries"]["certainty"]["probabilities"]) == len(X_TEST)
    assert facts_of(model, "Calibration")["unlike anything seen"] == "not told: too few held-out objects"


def test_decisions_about_a_matrix_and_strings():
    matrix, rows = cdist(X, X), cdist(X_TEST, X)
    classifier = PrototypeClassifier(REPS(9, metric="precomputed"), rule="scores").fit(matrix, Y)
    train, test = Dataset("m", "matrix", matrix, Y), Dataset("m", "matrix", rows, Y_TEST)
    certainty = build_report(train, classifier, test=test, created=DAY).model["queries"]["certainty"]
    np.testing.assert_allclose(certainty["probabilities"], classifier.predict_proba(rows).max(axis=1), atol=5e-5)
    texts = [f"{'ab' if label else 'xy'}{row % 7}{'cd'[row % 2]}" for row, label in enumerate(np.arange(60) % 2)]
    labels = np.arange(60) % 2
    classifier = PrototypeClassifier(FCNN(metric="levenshtein")).fit(texts[:40], labels[:40])
    dataset = Dataset("s", "strings", texts, labels, n_train=40)
    certainty = build_report(dataset, classifier, created=DAY).model["queries"]["certainty"]
    expected = classifier.predict_set(texts[40:])
    assert certainty["possible"] == [np.flatnonzero(row).tolist() for row in expected]


def test_the_error_of_moved_prototypes_with_scores():
    classifier = PrototypeClassifier(REPS(12), rule="scores", adapt=True).fit(X, Y)
    assert classifier.adaptation_.has_moved
    measured = error_of(classifier, make_space(X), Y)
    summary = build_report(TRAIN, classifier, created=DAY).model["summary"]
    assert summary["error"] == {
        "measured_on": "held-out objects",
        "n_measured": measured.n_objects,
        "error": classifier.calibration_.errors["scores"],
        "standard_error": measured.standard_error,
    }


def test_an_error_on_objects_that_the_selection_has_seen_is_called_so():
    fits = (PrototypeClassifier(KMedoids(size), rule="scores", adapt=True).fit(X, Y) for size in range(4, 30))
    classifier = next(fit for fit in fits if fit.adaptation_.has_moved)
    assert error_of(classifier, make_space(X), Y).how == "seen objects"
    assert build_report(TRAIN, classifier, created=DAY).model["summary"]["error"]["measured_on"] == "seen objects"


def test_the_curve_of_an_automatic_size_is_that_of_the_nearest_prototypes():
    curve = PrototypeClassifier(REPS(), adapt=False).fit(X, Y).selector_.size_curve_
    model = build_report(TRAIN, PrototypeClassifier(REPS(), rule="scores", adapt=False).fit(X, Y), created=DAY).model
    assert len(model["stops"]) == 1
    assert len(curve.sizes) > 1


SUSPECTS = [
    {"row": 7, "given": 0, "suggested": 1, "probability": 0.93, "evidence": [3, 150]},
    {"row": np.int64(159), "given": 1, "suggested": "another"},
]


def test_labels_to_check():
    selector = REPS(6).fit(X, Y)
    names = [f"<b>{row}</b>" for row in range(160)]
    options = {"created": DAY, "ids": names, "suspects": SUSPECTS}
    report = build_report(TRAIN, selector, **options)
    assert report.model["suspects"] == [
        {
            "object": [7, "<b>7</b>"],
            "given": [0, "0"],
            "suggested": [1, "1"],
            "probability": 0.93,
            "evidence": [[3, "<b>3</b>"], [150, "<b>150</b>"]],
        },
        {
            "object": [159, "<b>159</b>"],
            "given": [1, "1"],
            "suggested": [-1, "another"],
            "probability": None,
            "evidence": [],
        },
    ]
    assert "<b>7" not in report.html
    # A page of a sample has these objects before all others, as far as they fit.
    few = build_report(TRAIN, selector, most_objects=5, **options).model
    assert [name for _, name in [few["suspects"][0]["object"], *few["suspects"][0]["evidence"]]] == [
        names[row] for row in (7, 3, 150)
    ]
    assert few["suspects"][0]["object"][0] == few["objects"]["ids"].index(names[7])
    fewer = build_report(TRAIN, selector, most_objects=2, **options).model
    assert fewer["suspects"][1]["object"] == [-1, names[159]]
    assert build_report(TRAIN, selector, created=DAY, suspects=[]).model["suspects"] == []


@pytest.mark.parametrize(
    ("suspects", "message"),
    [
        ({"row": 1}, "suspects has the type dict; pass the result of protoset.suspects"),
        ("rows", "suspects has the type str"),
        ([3], r"suspects\[0\] has no 'row'; pass a dict with \['row', 'given', 'suggested'\]"),
        ([SUSPECTS[0], {"row": 3, "given": 1}], r"suspects\[1\] has no 'suggested'"),
        ([SUSPECTS[0] | {"row": 160}], r"suspects\[0\] names the row 160; pass rows from 0 to 159"),
        ([SUSPECTS[0] | {"evidence": ["a"]}], r"suspects\[0\] names the row 'a'"),
        ([SUSPECTS[0] | {"probability": 2}], r"suspects\[0\]\['probability'\]=2 must be a probability"),
    ],
)
def test_wrong_labels_to_check(suspects, message):
    with pytest.raises((TypeError, ValueError), match=message):
        build_report(TRAIN, REPS(6).fit(X, Y), created=DAY, suspects=suspects)
