"""The rule of ``protoset select``; probabilities, refusals and possible labels of ``protoset predict``."""

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

import protoset
from protoset import REPS, PrototypeClassifier
from protoset.datasets import Attribute, Dataset, read, write_rows
from protoset.models import fit_model
from protoset.models.cross_validation import cross_validated_error, error_of
from protoset.spaces import make_space

pytest.importorskip("typer", reason="no typer: pip install 'protoset[cli]'")

from protoset.cli import main

X, CODES = load_wine(return_X_y=True)
X, CODES = X[:, [0, 6, 9]], CODES
KINDS = np.array(["red, dry", "=white", "rosé | sweet"])
COLUMNS = tuple(Attribute(name, "real") for name in ("alcohol", "flavanoids", "colour"))
WINE = Dataset("wine", "vectors", X, KINDS[CODES], COLUMNS)
STRANGE = np.array([[99.0, 99.0, 99.0], [-50.0, 0.0, 20.0]])


def answer(capsys, *words):
    """Run the command in this process; (code, out, err)."""
    code = main([str(word) for word in words])
    return code, *capsys.readouterr()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Training data; queries, of which two are unlike anything seen; models, of which one is not calibrated."""
    folder = tmp_path_factory.mktemp("decisions")
    write_rows(WINE, np.arange(len(X)), folder / "wine.csv")
    with open(folder / "queries.csv", "w", newline="") as file:
        csv.writer(file).writerows([[column.name for column in COLUMNS], *X[::9].tolist(), *STRANGE.tolist()])
    dataset = read(folder / "wine.csv", target="class")
    protoset.save(fit_model(dataset, n_prototypes=9, rule="scores", adapt=False), folder / "wine.protoset")
    numbers = PrototypeClassifier(REPS(9), adapt=False).fit(X, CODES)
    protoset.save(numbers, folder / "numbers.protoset")
    numbers.set_params(refuse=0.02)
    protoset.save(numbers, folder / "refusing.protoset")
    protoset.save(PrototypeClassifier(REPS(9), calibrate=False).fit(X, CODES), folder / "plain.protoset")
    return folder


@pytest.fixture
def folder(files, monkeypatch):
    monkeypatch.chdir(files)
    return files


QUERIES = np.concatenate([X[::9], STRANGE])


def test_the_new_columns_agree_with_the_library(folder, capsys):
    words = ["predict", "wine.protoset", "queries.csv", "--proba", "--refuse", "0.02", "--coverage", "0.97"]
    code, out, err = answer(capsys, *words)
    assert (code, err) == (0, f"2 of {len(QUERIES)} are refused as unlike anything seen\n")
    rows, model = list(csv.DictReader(out.splitlines())), protoset.load("wine.protoset")
    names = [f"probability of {label}" for label in model.classes_]
    standard = ["row", "prediction", "probability", "prototype", "distance"]
    assert list(rows[0]) == [*standard, *names, "novelty", "possible"]
    shares, is_novel = model.predict_proba(QUERIES), model.is_novel(QUERIES, 0.02)
    assert np.flatnonzero(is_novel).tolist() == [len(QUERIES) - 2, len(QUERIES) - 1]
    np.testing.assert_allclose([[float(row[name]) for name in names] for row in rows], shares, atol=5e-5)
    np.testing.assert_allclose([float(row["novelty"]) for row in rows], model.novelty_scores(QUERIES), rtol=1e-5)
    expected = np.where(is_novel, "unknown", model.classes_[shares.argmax(axis=1)])
    assert [row["prediction"] for row in rows] == expected.tolist()
    assert [row["probability"] == "" for row in rows] == is_novel.tolist()
    sets = model.predict_set(QUERIES, 0.97)
    assert max(sets.sum(axis=1)) > 1
    assert [row["possible"] for row in rows] == [" | ".join(model.classes_[labels]) for labels in sets]
    document = json.loads(answer(capsys, *words, "--json")[1])
    assert document["n_refused"] == 2
    for entry, row, labels in zip(document["predictions"], rows, sets, strict=True):
        assert list(entry) == [*standard, "probabilities", "novelty", "possible"]
        assert entry["possible"] == model.classes_[labels].tolist()
        assert {f"probability of {label}": str(share) for label, share in entry["probabilities"].items()} == {
            name: row[name] for name in names
        }
        assert entry["probability"] == (float(row["probability"]) if row["probability"] else None)


def test_columns_by_name(folder, capsys):
    code, out, _ = answer(capsys, "predict", "wine.protoset", "queries.csv", "--columns", "possible,row,probabilities")
    header, *rows = csv.reader(out.splitlines())
    assert code == 0
    assert header == ["possible", "row", *(f"probability of {label}" for label in sorted(KINDS))]
    model = protoset.load("wine.protoset")
    assert [row[0] for row in rows] == [" | ".join(model.classes_[labels]) for labels in model.predict_set(QUERIES)]
    code, out, _ = answer(
        capsys, "predict", "wine.protoset", "queries.csv", "--columns", "row,prediction", "--refuse", "0.02"
    )
    assert code == 0
    assert out.splitlines()[-1] == f"{len(QUERIES) - 1},unknown"
    code, out, _ = answer(capsys, "predict", "wine.protoset", "queries.csv", "--proba", "--spreadsheet-safe")
    assert "probability of =white" in out.splitlines()[0]
    safe = answer(capsys, "predict", "wine.protoset", "queries.csv", "--columns", "possible", "--spreadsheet-safe")[1]
    assert any(line.startswith("'=white") for line in safe.splitlines())


def test_refused_objects_of_a_model_that_refuses_by_itself(folder, capsys):
    expected = protoset.load("refusing.protoset").predict(QUERIES).tolist()
    assert expected[-2:] == [-1, -1]
    for columns in ("prediction", "prediction,probability"):
        _, out, err = answer(capsys, "predict", "refusing.protoset", "queries.csv", "--columns", columns)
        assert [int(line.split(",")[0]) for line in out.splitlines()[1:]] == expected
        assert "2 of" in err
    words = ["predict", "numbers.protoset", "queries.csv", "--refuse", "0.02", "--columns", "prediction"]
    _, out, _ = answer(capsys, *words, "--outlier-label", "-7")
    assert [int(line) for line in out.splitlines()[1:]] == [-7 if label == -1 else label for label in expected]


def test_errors_count_what_was_answered(folder, capsys):
    words = ["predict", "wine.protoset", "wine.csv", "--columns", "prediction,row", "--json"]
    plain = json.loads(answer(capsys, *words)[1])
    refusing = json.loads(answer(capsys, *words, "--refuse", "0.3")[1])
    refused = [entry["prediction"] == "unknown" for entry in refusing["predictions"]]
    assert refusing["n_refused"] == sum(refused) > 10
    wrong = [entry["prediction"] != label for entry, label in zip(plain["predictions"], WINE.labels, strict=True)]
    assert plain["n_errors"] == sum(wrong)
    assert refusing["n_errors"] == sum(np.array(wrong) & ~np.array(refused))


ERRORS = {
    "refuse too large": (["wine.protoset", "--refuse", "1"], "--refuse 1 must be above 0 and below 1"),
    "refuse nothing": (["wine.protoset", "--refuse", "0"], "--refuse 0 must be above 0 and below 1"),
    "refuse no number": (["wine.protoset", "--refuse", "nan"], "--refuse nan must be above 0 and below 1"),
    "refuse too little": (["wine.protoset", "--refuse", "0.0001"], "use at least --refuse=0.006"),
    "coverage too large": (["wine.protoset", "--coverage", "1.5"], "--coverage 1.5 must be above 0 and below 1"),
    "coverage of nothing": (["wine.protoset", "--coverage", "0"], "--coverage 0 must be above 0 and below 1"),
    "nearly everything": (["wine.protoset", "--coverage", "0.99999"], "--coverage=0.99999 must be"),
    "probabilities that are not asked for": (["wine.protoset", "--proba", "--columns", "row"], "--proba adds"),
    "labels that are not asked for": (["wine.protoset", "--coverage", "0.9", "--columns", "row"], "--coverage adds"),
    "a label of the model": (["wine.protoset", "--refuse", "0.1", "--outlier-label", "red, dry"], "is a label of"),
    "no number as a label": (["numbers.protoset", "--refuse", "0.1", "--outlier-label", "none"], "a whole number"),
    "label without refusals": (["wine.protoset", "--outlier-label", "x"], "add --refuse 0.01"),
    "probabilities": (["plain.protoset", "--proba"], "--proba needs a calibrated model, and 'plain.protoset' is not"),
    "refusals": (["plain.protoset", "--refuse", "0.1"], "--refuse needs a calibrated model"),
    "refusals alone": (["plain.protoset", "--refuse", "0.1", "--columns", "prediction"], "leave --refuse out"),
    "labels": (["plain.protoset", "--coverage", "0.9"], "--coverage needs a calibrated model"),
    "novelty": (["plain.protoset", "--columns", "novelty"], "--refuse needs a calibrated model"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_one_clear_error(folder, capsys, name):
    (model, *words), message = ERRORS[name]
    code, out, err = answer(capsys, "predict", model, "queries.csv", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_without_calibration_probabilities_are_empty(folder, capsys):
    code, out, err = answer(capsys, "predict", "plain.protoset", "queries.csv")
    assert (code, err) == (0, "")
    assert {row["probability"] for row in csv.DictReader(out.splitlines())} == {""}
    document = json.loads(answer(capsys, "predict", "plain.protoset", "queries.csv", "--json")[1])
    assert {entry["probability"] for entry in document["predictions"]} == {None}


@pytest.mark.parametrize("rule", protoset.decisions.RULES)
def test_select_says_which_rule_decides(folder, capsys, rule):
    words = ["select", "wine.csv", "--target", "class", "--n-prototypes", "9", "--rule", rule, "--no-adapt"]
    code, out, err = answer(capsys, *words, "--model", f"{rule}.protoset", "--force")
    assert code == 0, err
    model = protoset.load(f"{rule}.protoset").classifier
    calibration = model.calibration_
    assert model.rule_ == rule or rule == "auto"
    line = f"rule: {model.rule_}, calibrated by {calibration.n_objects} held-out training objects (folds)"
    errors = ", ".join(f"{name} {error:.3f}" for name, error in calibration.errors.items())
    assert line + (f"; errors on them: {errors}\n" if rule == "auto" else "\n") in out
    document = json.loads(answer(capsys, *words, "--json")[1])
    assert document["rule"] == model.rule_
    assert document["calibration"] == {
        "how": "folds",
        "n_objects": calibration.n_objects,
        "errors": calibration.errors,
    }
    assert set(calibration.errors) == ({"nearest", "scores"} if rule == "auto" else {rule})


def test_unknown_rule(folder, capsys):
    code, out, err = answer(capsys, "select", "wine.csv", "--target", "class", "--rule", "score")
    assert (code, out) == (2, "")
    assert "--rule='score' is not known (did you mean 'scores'" in err


@pytest.mark.slow
def test_the_error_of_moved_prototypes_is_that_of_their_rule(folder, capsys):
    words = ["select", "wine.csv", "--target", "class", "--n-prototypes", "6", "--rule", "scores", "--json"]
    document = json.loads(answer(capsys, *words)[1])
    model = fit_model(WINE, n_prototypes=6, rule="scores")
    assert model.has_moved
    assert document["adaptation"]["moved"]
    error, n = model.classifier.calibration_.errors["scores"], model.classifier.calibration_.n_objects
    assert document["cross_validation"] == {
        "error": error,
        "standard_error": np.sqrt(error * (1 - error) / n),
        "how": f"{n} held-out training objects",
        "at_this_size": True,
    }
    space = make_space(model.preparation(X))
    assert error_of(model.classifier, space, WINE.labels).error == error
    stayed = PrototypeClassifier(REPS(6), rule="scores", adapt=False).fit(space, WINE.labels)
    expected = cross_validated_error(stayed.selector_, space, WINE.labels, rule="scores")
    assert error_of(stayed, space, WINE.labels) == expected
    uncalibrated = PrototypeClassifier(REPS(6), rule="scores", adapt=True, calibrate=False)
    uncalibrated.fit(model.preparation(X), WINE.labels)
    with pytest.raises(
        ValueError, match="this classifier is not calibrated; fit it with calibrate=True, or measure the error"
    ):
        error_of(uncalibrated, space, WINE.labels)


@pytest.mark.slow
def test_a_rule_that_the_curve_does_not_know_is_measured(folder, capsys):
    words = ["select", "wine.csv", "--target", "class", "--method", "reps", "--json"]
    nearest = json.loads(answer(capsys, *words)[1])
    scores = json.loads(answer(capsys, *words, "--rule", "scores")[1])
    assert nearest["rows"] == scores["rows"]
    space = make_space(fit_model(WINE, "reps").preparation(X))
    classifier = PrototypeClassifier(REPS(), rule="scores", adapt=False).fit(space, WINE.labels)
    assert scores["cross_validation"]["error"] == pytest.approx(error_of(classifier, space, WINE.labels).error)
    assert nearest["cross_validation"]["error"] != scores["cross_validation"]["error"]


def test_a_model_prepares_objects_for_all_methods(folder):
    model = protoset.load("wine.protoset")
    prepared, classifier = model.preparation(QUERIES), model.classifier
    assert np.array_equal(model.novelty_scores(QUERIES), classifier.novelty_scores(prepared))
    assert np.array_equal(model.is_novel(QUERIES, 0.1), classifier.is_novel(prepared, 0.1))
    for options in ({}, {"coverage": 0.99}, {"by_class": True}):
        assert np.array_equal(model.predict_set(QUERIES, **options), classifier.predict_set(prepared, **options))


def test_explanations_by_scores(folder, capsys):
    code, out, _ = answer(capsys, "explain", "wine.protoset", "queries.csv", "--row", "3")
    assert code == 0
    assert "rank by score" in out
    document = json.loads(answer(capsys, "explain", "wine.protoset", "queries.csv", "--row", "3", "--json")[1])
    assert document["prediction"] == protoset.load("wine.protoset").predict(QUERIES)[3]
    assert document["prototypes"][0]["rank by score"] == 1
