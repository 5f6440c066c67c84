"""The report: what its model says agrees with the library and with direct computation; data stay data."""

import base64
import datetime
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import protoset
from protoset import REPS, PrototypeClassifier, Refined, load, save
from protoset._report.building import build_report
from protoset._report.inputs import split
from protoset._report.objects import DIGITS, describe_objects, encode_series
from protoset._report.render import SCRIPTS, as_safe_json
from protoset.adaptation import adapting
from protoset.datasets import Attribute, Dataset
from protoset.evaluation import estimate_error
from protoset.models import CrossValidation, ReferenceErrors, cross_validated_error, fit_model, reference_errors
from protoset.models.preparation import shares_text
from protoset.selectors import FCNN, KMedoids
from protoset.spaces import make_space

from conftest import ROOT, labelled_vectors, overlapping

X, Y = overlapping(120, d=2, seed=1)
X_TEST, Y_TEST = overlapping(60, d=2, seed=1)
X_TEST = X_TEST + np.random.default_rng(2).normal(scale=0.3, size=X_TEST.shape)
TRAIN, TEST = Dataset("blobs", "vectors", X, Y), Dataset("blobs", "vectors", X_TEST, Y_TEST)
DAY = datetime.date(2026, 1, 31)
HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!--",
    "{{script}}",
    "a\u2028b",
    "\ud800",
]


def others(matrix):
    """Dissimilarities in which no object is its own neighbour."""
    matrix = matrix.copy()
    np.fill_diagonal(matrix, np.inf)
    return matrix


def majority_winner(distances, kept, codes, counts):
    """The prototype that decides: of equally near ones the majority of the labels, then the more frequent class."""
    if not np.isfinite(distances[kept]).any():
        return -1
    tied = kept[distances[kept] == distances[kept].min()]
    votes, totals = np.bincount(codes[tied], counts[tied], minlength=codes.max() + 1), np.bincount(codes)
    leader = max(set(codes[tied].tolist()), key=lambda code: (votes[code], totals[code], -code))
    return int(max(tied[codes[tied] == leader], key=lambda row: (counts[row], -row)))


def counts_over(selector, n):
    counts = np.ones(n)
    counts[selector.sample_indices_] = getattr(selector, "sample_counts_", 1.0)
    return counts


def numbers_in(value):
    """All numbers of a JSON value."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers_in(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers_in(item)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


@settings(max_examples=15)
@given(labelled_vectors(tied=True), st.booleans())
def test_every_stop_agrees_with_direct_computation(labelled, refine):
    objects, labels = labelled
    selector = (Refined() if refine else REPS()).fit(objects, labels)
    curve, n = selector.size_curve_, len(labels)
    model = build_report(Dataset("ties", "vectors", objects, labels), selector, created=DAY).model
    # Distances of the space itself: those of SciPy may break ties in the last digit.
    matrix = others(((objects[:, None] - objects[None]) ** 2).sum(axis=2))
    codes = np.unique(labels, return_inverse=True)[1]
    assert [stop["size"] for stop in model["stops"]] == curve.sizes.tolist()
    assert [stop["error"] for stop in model["stops"]] == curve.errors.tolist()
    assert [stop["standard_error"] for stop in model["stops"]] == curve.standard_errors.tolist()
    assert [stop["chosen"] for stop in model["stops"]].index(True) == model["summary"]["chosen_stop"] == curve.chosen
    for number, stop in enumerate(model["stops"]):
        kept = np.array(stop["kept"])
        assert len(kept) == stop["n_kept"] <= stop["size"]
        if stop["chosen"]:
            assert np.array_equal(kept, selector.sample_indices_)
        elif not refine:
            assert np.array_equal(kept, selector.select(stop["size"]))
        if refine and not stop["chosen"]:
            continue  # its counts are those of another fit
        winners = [majority_winner(row, kept, codes, counts_over(selector, n)) for row in matrix]
        assert model["objects"]["winners"][number] == winners
        stands = np.where(np.isin(np.arange(n), kept), np.arange(n), winners)
        for row, members in zip(kept, stop["members"], strict=True):
            counts = np.bincount(codes[stands == row])
            assert sorted(members) == [[code, size] for code, size in enumerate(counts) if size]
        assert sum(size for members in stop["members"] for _, size in members) == n
    references = reference_errors(make_space(objects), codes)
    measured = model["summary"]["references"]
    assert measured["test"] is None
    assert measured["leave_one_out"]["nearest"] == references.nearest
    assert [measured["leave_one_out"][name] for name in ("guess", "knn", "k")] == [
        references.guess,
        references.knn,
        references.k,
    ]
    assert model["summary"]["error"] == {
        "measured_on": "cross-validation",
        "n_measured": n,
        "error": curve.errors[curve.chosen],
        "standard_error": curve.standard_errors[curve.chosen],
    }


@pytest.mark.parametrize("load_data", [load_iris, load_wine])
@pytest.mark.parametrize("selector", [REPS(), Refined(), REPS(12), Refined(REPS(12)), FCNN()], ids=str)
def test_no_error_on_objects_of_the_selection_is_in_the_model(load_data, selector):
    objects, labels = load_data(return_X_y=True)
    classifier = PrototypeClassifier(selector).fit(objects, labels)
    measured = cross_validated_error(classifier.selector_, make_space(objects), labels)
    dataset = Dataset("d", "vectors", objects, labels)
    model = build_report(dataset, classifier, created=DAY, cross_validation=measured, suspects=False).model
    curve = getattr(classifier.selector_, "size_curve_", None)
    expected = [measured.error, measured.standard_error]
    if curve is not None:
        expected += [*curve.errors.tolist(), *curve.standard_errors.tolist()]
    references = model["summary"]["references"]["leave_one_out"]
    expected += [model["summary"]["selection_rate"], *(references[name] for name in ("guess", "nearest", "knn"))]
    # All shares on the page are these. Its other numbers are counts, parameters, and values of objects.
    said = {
        name: value
        for name, value in model.items()
        if name not in ("objects", "moved", "unlike", "confusion", "layouts")
    }
    assert {number for number in numbers_in(said) if 0 < number < 1} <= set(expected)
    assert model["confusion"]["measured_on"] == "cross-validation"
    assert model["confusion"]["n_wrong"] == int((measured.predicted != labels[measured.rows]).sum())
    names = {"size", "chosen", "moved", "error", "standard_error", "n_kept", "kept", "members", "degradations"}
    assert set(model["stops"][0]) == names
    names = {name for part in model["facts"] for name, _ in part["rows"] if not name.startswith("held-out error")}
    assert not any("error" in name or "objective" in name for name in names)


def test_errors_that_are_known_are_not_measured_again():
    known = {"cross_validation": CrossValidation(0.25, 0.5, 40), "references": ReferenceErrors(0.5, 0.4, 0.3, 7, 1, 40)}
    summary = build_report(TRAIN, REPS(15).fit(X, Y), created=DAY, **known).model["summary"]
    assert (summary["error"]["error"], summary["error"]["standard_error"]) == (0.25, 0.5)
    assert [summary["references"]["leave_one_out"][name] for name in ("guess", "nearest", "knn", "k")] == [
        0.5,
        0.4,
        0.3,
        7,
    ]
    for name in known:
        with pytest.raises(TypeError, match=f"{name}=0.3 must be a protoset.models."):
            build_report(TRAIN, REPS(15).fit(X, Y), **{name: 0.3})


@pytest.mark.parametrize(
    "selector", [REPS(15), Refined(REPS(15)), REPS(0.1), FCNN(), KMedoids(9), Refined(FCNN())], ids=str
)
def test_a_set_without_a_curve_has_one_stop_with_its_cross_validated_error(selector):
    model = build_report(TRAIN, selector.fit(X, Y), created=DAY).model
    measured = cross_validated_error(selector, make_space(X), Y)
    (stop,) = model["stops"]
    assert stop["kept"] == selector.sample_indices_.tolist()
    assert (stop["error"], stop["standard_error"]) == (measured.error, measured.standard_error)
    assert model["summary"]["error"]["error"] == measured.error
    assert model["summary"]["error"]["measured_on"] == "cross-validation"
    inner = selector.selector_ if isinstance(selector, Refined) else selector
    assert (model["objects"]["weights"] is None) == (not isinstance(inner, REPS))


def test_errors_on_test_objects_agree_with_the_classifier():
    classifier = PrototypeClassifier(Refined(REPS(n_prototypes=15))).fit(X, Y)
    model = build_report(TRAIN, classifier, test=TEST, created=DAY).model
    n_errors = int((classifier.predict(X_TEST) != Y_TEST).sum())
    estimate = estimate_error(n_errors, len(Y_TEST))
    summary, said = model["summary"], model["summary"]["error"]
    assert (said["measured_on"], said["n_errors"], said["n_measured"]) == ("test", n_errors, len(Y_TEST))
    assert said["error"] == estimate.error
    assert [said["lower"], said["upper"]] == pytest.approx([estimate.lower, estimate.upper], rel=1e-5)
    references = summary["references"]["test"]
    matrix = cdist(X_TEST, X)
    assert references["nearest"] == np.mean(Y[matrix.argmin(axis=1)] != Y_TEST)
    votes = Y[np.argsort(matrix, axis=1)[:, : references["k"]]]
    totals = np.bincount(Y)
    knn = [max(range(3), key=lambda code: ((row == code).sum(), totals[code])) for row in votes]
    assert references["knn"] == np.mean(knn != Y_TEST)
    assert references["guess"] == np.mean(np.argmax(totals) != Y_TEST)
    assert summary["references"]["leave_one_out"]["n_measured"] == 120
    assert summary["selection_rate"] == 15 / 120
    assert summary["distances_saved"] == 105
    assert not summary["no_better_than_guessing"]
    # The size was given: one stop, whose error is the one on the test objects.
    assert [(stop["size"], stop["error"]) for stop in model["stops"]] == [(15, None)]


def test_guessing_is_named():
    objects, labels = np.random.default_rng(0).normal(size=(90, 2)), np.arange(90) % 3 // 2
    model = build_report(Dataset("noise", "vectors", objects, labels), FCNN().fit(objects, labels), created=DAY).model
    assert model["summary"]["no_better_than_guessing"]
    assert model["summary"]["references"]["leave_one_out"]["guess"] == pytest.approx(1 / 3)


def test_explanations_hold_at_every_stop():
    selector = REPS().fit(X, Y)
    model = build_report(TRAIN, selector, test=TEST, created=DAY).model
    matrix, queries = cdist(X_TEST, X), model["queries"]
    assert len(model["stops"]) > 5
    for number, stop in enumerate(model["stops"]):
        assert stop["error"] == selector.size_curve_.errors[number]
        kept, shown = np.array(stop["kept"]), set(stop["kept"])
        order = kept[np.argsort(matrix[:, kept], axis=1, kind="stable")[:, :5]]
        for query, listed in enumerate(queries["nearest"]):
            places = [at for at, place in enumerate(listed) if place in shown][:5]
            assert [listed[at] for at in places] == order[query].tolist()
            distances = [queries["distances"][query][at] for at in places]
            assert distances == pytest.approx(matrix[query, order[query]].tolist(), rel=1e-6)
        assert queries["winners"][number] == order[:, 0].tolist()
        assert set(queries["n_tied"][number]) == set(queries["ranks"][number]) == {1}
    decided = np.array(queries["winners"][model["summary"]["chosen_stop"]])
    assert model["summary"]["error"]["n_errors"] == int((Y[decided] != Y_TEST).sum())


def test_ties_are_decided_by_the_majority():
    rows = np.array([["a"], ["a"], ["b"], ["b"], ["c"]] * 8, object)
    labels = np.array(["x", "y", "x", "z", "z"] * 8)
    columns = (Attribute("colour", "nominal", ("a", "b", "c", "d")),)
    classifier = PrototypeClassifier(FCNN(metric="overlap", metric_params={"categorical": [0]})).fit(rows, labels)
    test = Dataset("t", "mixed", np.array([["d"], ["a"], ["b"]], object), np.array(["z", "y", "x"]), columns)
    model = build_report(Dataset("ties", "mixed", rows, labels, columns), classifier, test=test, created=DAY).model
    winners = np.array(model["queries"]["winners"][0])
    codes = np.array(model["objects"]["codes"])
    assert [model["classes"][code] for code in codes[winners]] == classifier.predict(test.objects).tolist()
    assert model["queries"]["n_tied"][0][0] == len(classifier.sample_indices_)
    # The prototype that decides is always listed, with its distance.
    for query, winner in enumerate(winners.tolist()):
        assert winner in model["queries"]["nearest"][query]


def test_the_adjusted_rule_decides_as_the_classifier_does():
    classifier = PrototypeClassifier(REPS(), rule="adjusted").fit(X, Y)
    model = build_report(TRAIN, classifier, test=TEST, created=DAY).model
    explained = classifier.explain(X_TEST, 1)
    # The curve of the automatic size is that of the rule "nearest".
    assert len(model["stops"]) == 1
    assert model["queries"]["winners"][0] == explained.indices[:, 0].tolist()
    assert model["queries"]["ranks"][0] == explained.ranks[:, 0].tolist()
    assert model["summary"]["error"]["n_errors"] == int((classifier.predict(X_TEST) != Y_TEST).sum())
    alone = build_report(TRAIN, classifier, created=DAY).model
    measured = cross_validated_error(classifier.selector_, make_space(X), Y, rule="adjusted")
    assert alone["stops"][0]["error"] == measured.error


def test_large_sets_that_the_fit_did_not_keep_are_not_computed(monkeypatch):
    monkeypatch.setattr("protoset._report.stops.MAX_SET_SIZE", 10)
    selector = REPS().fit(X, Y)
    model = build_report(TRAIN, selector, test=TEST, created=DAY).model
    for number, stop in enumerate(model["stops"]):
        has_set = stop["size"] <= 10 or stop["chosen"]
        assert (stop["kept"] is not None) == (stop["members"] is not None) == has_set
        assert stop["error"] == selector.size_curve_.errors[number]
        for group in ("objects", "queries"):
            assert (model[group]["winners"][number] is not None) == has_set
    assert sum(stop["kept"] is None for stop in model["stops"]) > 2
    monkeypatch.setattr("protoset._report.stops.SAMPLE_OBJECTS", 50)
    stops = build_report(TRAIN, Refined().fit(X, Y), created=DAY).model["stops"]
    assert [stop["kept"] is not None for stop in stops] == [stop["chosen"] for stop in stops]


def test_a_curve_of_another_measure_is_named_and_is_not_the_error():
    selector = REPS().fit(X, Y)
    object.__setattr__(selector.size_curve_, "scoring", "balanced_accuracy")
    model = build_report(TRAIN, selector, created=DAY).model
    measured = cross_validated_error(selector, make_space(X), Y)
    assert model["summary"]["measure"] == "balanced error"
    assert [stop["error"] for stop in model["stops"]] == selector.size_curve_.errors.tolist()
    assert model["summary"]["error"]["error"] == measured.error
    object.__setattr__(selector.size_curve_, "scoring", "my_score")
    model = build_report(TRAIN, selector, created=DAY).model
    assert model["summary"]["measure"] == "error"
    assert [stop["error"] for stop in model["stops"]] == [measured.error]


def test_refined_sets_of_other_sizes_are_refined():
    selector = Refined().fit(X, Y)
    stops = build_report(TRAIN, selector, created=DAY).model["stops"]
    matrix = others(cdist(X, X))
    better = 0
    for stop in stops:
        kept, cut = np.array(stop["kept"]), selector.selector_.select(stop["size"])
        wrong, before = ((Y[rows[matrix[:, rows].argmin(axis=1)]] != Y).mean() for rows in (kept, cut))
        better += wrong < before
    assert better >= len(stops) - 2


def test_ids_of_the_data_name_the_objects():
    ids = np.array([f"<b>{row}</b>" for row in range(120)])
    dataset = Dataset("named", "vectors", X, Y, n_train=80, ids=ids)
    model = build_report(dataset, REPS(9).fit(X[:80], Y[:80]), created=DAY).model
    assert model["objects"]["ids"] == ids[:80].tolist()
    assert model["objects"]["rows"] == list(range(80))
    assert model["queries"]["ids"] == ids[80:].tolist()
    given = build_report(dataset, REPS(9).fit(X[:80], Y[:80]), ids=range(80), created=DAY).model
    assert given["objects"]["ids"][:2] == ["0", "1"]
    plain = build_report(TRAIN, REPS(9).fit(X, Y), created=DAY).model
    assert plain["objects"]["rows"] is None
    assert "<b>" not in build_report(dataset, REPS(9).fit(X[:80], Y[:80]), created=DAY).html


def test_weights_and_facts_are_those_of_the_fit():
    selector = REPS(n_prototypes=15, beta=3.0, metric="minkowski", metric_params={"p": 3}).fit(X, Y)
    model = build_report(TRAIN, selector, created="today").model
    assert model["objects"]["weights"] == pytest.approx(selector.weights_.tolist(), rel=1e-3)
    finite = np.isfinite(selector.degradations_)
    assert [value is not None for value in model["objects"]["degradations"]] == finite.tolist()
    facts = {name: text for part in model["facts"] for name, text in part["rows"]}
    assert facts["beta"] == "3.0"
    assert facts["metric"] == "minkowski"
    assert facts["p"] == "3"
    named = replace(TRAIN, attributes=tuple(Attribute(f"x{at}", "real") for at in range(X.shape[1])))
    assert ["columns", f"used: {X.shape[1]} numeric"] in build_report(named, selector).model["facts"][0]["rows"]
    assert facts["method"] == "REPS"
    refined = build_report(TRAIN, Refined(REPS(9)).fit(X, Y)).model
    assert ["method", "refined REPS"] in refined["facts"][2]["rows"]
    manhattan = REPS(n_prototypes=9, metric=city_block).fit(X[:40], Y[:40])
    model = build_report(Dataset("c", "vectors", X[:40], Y[:40]), manhattan, created="today").model
    assert ["metric", "city_block"] in model["facts"][1]["rows"]
    assert facts["NumPy"] == np.__version__
    assert facts["made"] == "today"


def city_block(a, b):
    return float(np.abs(a - b).sum())


def series_data(n, length, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    time = np.linspace(0, 1, length)
    return [np.sin((3 + 2 * label) * time) + rng.normal(scale=0.2, size=length) for label in labels], labels


def decode(text, low, high):
    levels = [DIGITS.find(text[at]) * 64 + DIGITS.find(text[at + 1]) for at in range(0, len(text), 2)]
    return np.array([np.nan if level < 0 else low + level / 4095 * (high - low) for level in levels])


@given(st.lists(st.floats(-1e3, 1e3) | st.just(np.nan), min_size=1, max_size=30))
def test_series_are_written_within_half_a_level(values):
    values = np.array(values)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    read = decode(encode_series(values, low, high, 160), low, high)
    assert np.array_equal(np.isnan(read), np.isnan(values))
    assert np.nanmax(np.abs(read - values), initial=0) <= (high - low) / 4095 * 0.5001 + 1e-9


def test_two_thousand_series_stay_below_three_megabytes():
    objects, labels = series_data(2000, 150, 0)
    test_objects, test_labels = series_data(1000, 150, 1)
    selector = REPS(n_prototypes=0.05).fit(objects, labels)  # as vectors, which is faster
    train, test = Dataset("waves", "series", objects, labels), Dataset("waves", "series", test_objects, test_labels)
    report = build_report(train, selector, test=test, created=DAY)
    assert len(report.html.encode()) < 3 * 2**20
    assert len(report.model["objects"]["ids"]) == 2000
    assert len(report.model["queries"]["ids"]) == 1000


def test_the_space_of_the_fit_serves_the_report():
    space = make_space(X, "minkowski", {"p": 3})
    selector = REPS(9).fit(space, Y)
    named = REPS(9, metric="minkowski", metric_params={"p": 3}).fit(X, Y)
    model = build_report(TRAIN, selector, test=TEST, space=space, created=DAY).model
    expected = build_report(TRAIN, named, test=TEST, created=DAY).model
    for key in ("summary", "stops", "objects", "queries"):
        assert model[key] == expected[key]
    with pytest.raises(ValueError, match="fitted with the metric 'minkowski', and X gives 'euclidean'; pass space="):
        build_report(TRAIN, selector)
    with pytest.raises(ValueError, match="space has 60 objects and X 120"):
        build_report(TRAIN, selector, space=make_space(X_TEST, "minkowski", {"p": 3}))


def test_many_objects_are_sampled_and_the_page_says_so():
    objects, labels = overlapping(700, d=2, seed=3)
    selector = REPS(n_prototypes=30).fit(objects, labels)
    ids = [f"row {row}" for row in range(700)]
    model = build_report(
        Dataset("many", "vectors", objects, labels), selector, ids=ids, created=DAY, most_objects=100
    ).model
    assert len(model["objects"]["ids"]) == 100
    stop = model["stops"][model["summary"]["chosen_stop"]]
    assert [model["objects"]["ids"][place] for place in stop["kept"]] == [ids[row] for row in selector.sample_indices_]
    assert "The page holds 100 of 700 training objects" in model["notes"][0]
    matrix = others(cdist(objects, objects))
    nearest = selector.sample_indices_[matrix[:, selector.sample_indices_].argmin(axis=1)]
    for index, prototype in enumerate(model["objects"]["winners"][0]):
        row = ids.index(model["objects"]["ids"][index])
        assert model["objects"]["ids"][prototype] == ids[nearest[row]]
    # All training objects are counted, on the page or not.
    nearest[selector.sample_indices_] = selector.sample_indices_
    for row, members in zip(selector.sample_indices_, stop["members"], strict=True):
        assert sorted(members) == [
            [code, size] for code, size in enumerate(np.bincount(labels[nearest == row])) if size
        ]
    assert sum(size for members in stop["members"] for _, size in members) == 700


def test_mixed_rows_strings_and_matrices():
    rows = np.array([[1.5, "red"], [2.0, None], [np.nan, "blue"], [9.25, "blue"], [8.0, "red"], [1e-9, "red"]], object)
    labels = np.array(["a", "a", "a", "b", "b", "b"])
    columns = (Attribute("size", "real"), Attribute("colour", "nominal", ("red", "blue")))
    mixed = REPS(n_prototypes=2, metric="gower", metric_params={"categorical": [1]}).fit(rows, labels)
    values = build_report(Dataset("m", "mixed", rows, labels, columns), mixed, created=DAY).model["objects"]["values"]
    assert values["names"] == ["size", "colour"]
    assert values["values"][:3] == [[1.5, "red"], [2, None], [None, "blue"]]

    texts = ["aaa", "aab", "aba", "xyz", "xyy", "zzz"]
    strings = FCNN(metric="levenshtein").fit(texts, labels)
    model = build_report(Dataset("s", "strings", texts, labels), strings, created=DAY).model
    assert model["objects"]["values"]["values"][:2] == ["aaa", "aab"]
    assert model["notes"] == []

    matrix = cdist(X, X)
    whole = Dataset("d", "matrix", matrix, Y, n_train=80)
    train, test = split(whole)
    assert train.objects.shape == (80, 80)
    assert test.objects.shape == (40, 80)
    selector = REPS(n_prototypes=12, metric="precomputed").fit(train.objects, train.labels)
    model = build_report(whole, selector, created=DAY).model
    expected = PrototypeClassifier(REPS(n_prototypes=12), adapt=False).fit(X[:80], Y[:80]).predict(X[80:])
    assert model["summary"]["error"]["n_errors"] == int((expected != Y[80:]).sum())


def test_long_objects_are_cut_and_the_page_says_so():
    texts = Dataset("s", "strings", ["a", "b" * 800_000], np.array([0, 1]))
    values, notes = describe_objects(texts, np.arange(2))
    assert values["values"] == ["a", "b" * 749_999 + "…"]
    assert notes == ["Strings are shown up to 750,000 characters."]
    wide = Dataset("v", "vectors", np.arange(900_000.0).reshape(300, 3000), np.arange(300) % 2)
    values, notes = describe_objects(wide, np.arange(300), first=np.array([7, 290]))
    held = [row for row in values["values"] if row is not None]
    assert {len(row) for row in held} == {len(values["names"])} == {1800}
    assert len(held) == 250
    assert values["values"][7][:2] == [21_000, 21_000]
    assert values["values"][290] is not None
    assert notes == [
        "Of 3,000 attributes the first 1,800 are shown.",
        "The page holds the values of 250 of 300 objects: the prototypes first, then a random sample.",
    ]
    channels = Dataset("c", "series", [np.ones((500, 6)), np.zeros((3, 6))], np.array([0, 1]))
    values, notes = describe_objects(channels, np.arange(2))
    assert [[len(text) // 2 for text in one] for one in values["values"]] == [[40] * 4, [3] * 4]
    assert values["lengths"] == [500, 3]
    assert len(notes) == 2


def test_a_class_that_only_test_objects_have():
    labels = np.where(np.arange(len(Y_TEST)) == 0, 7, Y_TEST)
    model = build_report(TRAIN, REPS(9).fit(X, Y), test=Dataset("t", "vectors", X_TEST, labels), created=DAY).model
    assert model["classes"] == ["0", "1", "2", "7"]
    assert model["queries"]["codes"][0] == 3
    assert model["class_sizes"][3] == 0


def test_objects_are_shown_as_they_were_before_the_transform():
    def halve(objects):
        return objects / 2

    selector = REPS(9).fit(halve(X), Y)
    report = build_report(TRAIN, selector, test=TEST, transform=halve, created=DAY)
    assert report.model["objects"]["values"]["values"][0] == pytest.approx(X[0].tolist(), rel=1e-3)
    nearest = cdist(X_TEST[:1], X[selector.sample_indices_]).min()
    assert report.model["queries"]["distances"][0][0] == pytest.approx(nearest / 2)
    assert "halve" in json.dumps(report.model["facts"])


# Prototypes that moved


def bells(n, seed):
    """Three bell-shaped classes in six dimensions, whose centres are better prototypes than any objects."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return rng.normal(size=(n, 6)) + 1.6 * np.eye(6)[labels], labels


BELLS, BELL_LABELS = bells(150, 0)
BELL_TRAIN = Dataset("bells", "vectors", BELLS, BELL_LABELS)
BELL_TEST = Dataset("bells", "vectors", *bells(60, 1))


def moved_classifier(objects, labels, selector=None, **adapt):
    """Return a classifier whose prototypes have moved."""
    classifier = PrototypeClassifier(selector or Refined(REPS(n_prototypes=6)), adapt=adapt or True)
    with pytest.MonkeyPatch.context() as patch:
        # Whether moves help is not the matter here.
        patch.setattr(adapting, "should_move", lambda *_: True)
        classifier.fit(objects, labels)
    assert classifier.adaptation_.has_moved
    return classifier


@settings(max_examples=15)
@given(st.integers(12, 60), st.integers(0, 2**32 - 1), st.booleans())
def test_a_moved_set_decides_on_the_page_as_the_classifier_does(n, seed, relevances):
    objects, labels = bells(n, seed)
    classifier = PrototypeClassifier(REPS(n_prototypes=5), adapt={"relevances": relevances}).fit(objects, labels)
    assume(classifier.adaptation_.has_moved)
    dataset = Dataset("d", "vectors", objects, labels)
    test = replace(dataset, objects=objects + 0.1)
    model = build_report(dataset, classifier, test=test, created=DAY).model
    (stop,) = model["stops"]
    assert stop["moved"]
    assert stop["kept"] == [n + slot for slot in range(len(classifier.sample_indices_))]
    for group, queries in ((model["objects"], objects), (model["queries"], test.objects)):
        explained = classifier.explain(queries, 1)
        assert (
            classifier.sample_indices_[np.array(group["winners"][0]) - n].tolist() == explained.indices[:, 0].tolist()
        )
        for row, winner in enumerate(group["winners"][0]):
            assert winner in group["nearest"][row]
            listed = group["distances"][row][group["nearest"][row].index(winner)]
            assert listed == pytest.approx(explained.distances[row, 0], rel=1e-5)
    assert model["summary"]["error"]["n_errors"] == int((classifier.predict(test.objects) != labels).sum())
    # All training objects stand behind a prototype: no moved prototype is an object itself.
    codes = np.unique(labels, return_inverse=True)[1]
    winners = np.array(model["objects"]["winners"][0]) - n
    for slot, members in enumerate(stop["members"]):
        counts = np.bincount(codes[winners == slot], minlength=1)
        assert sorted(members) == [[code, size] for code, size in enumerate(counts) if size]
    # A person sees a real case of the same class.
    exemplars = np.array(model["moved"]["exemplars"])
    assert exemplars.tolist() == classifier.exemplars_.tolist()
    assert labels[exemplars].tolist() == classifier.prototype_labels_.tolist()
    assert model["moved"]["starts"] == classifier.sample_indices_.tolist()
    shown = np.array([[np.nan if v is None else v for v in row] for row in model["moved"]["values"]["values"]], float)
    assert np.allclose(shown, classifier.adaptation_.prototypes, rtol=1e-3, atol=1e-9)
    assert (model["relevances"] is None) == (not relevances)


def test_sets_of_other_sizes_are_those_before_the_moves():
    classifier = moved_classifier(BELLS, BELL_LABELS, Refined())
    model = build_report(BELL_TRAIN, classifier, test=BELL_TEST, created=DAY).model
    plain = build_report(BELL_TRAIN, classifier.selector_, test=BELL_TEST, created=DAY).model
    chosen = model["summary"]["chosen_stop"]
    assert [stop["moved"] for stop in model["stops"]] == [number == chosen for number in range(len(model["stops"]))]
    for number, (stop, before) in enumerate(zip(model["stops"], plain["stops"], strict=True)):
        if number != chosen:
            assert stop == before
            assert model["objects"]["winners"][number] == plain["objects"]["winners"][number]
            assert model["queries"]["winners"][number] == plain["queries"]["winners"][number]
    assert plain["moved"] is None
    assert plain["relevances"] is None


def test_the_error_of_a_moved_set_is_never_that_of_another_set():
    known = CrossValidation(0.25, 0.5, 40)
    # The automatic size of refined sets measures moved sets.
    refined = moved_classifier(BELLS, BELL_LABELS, Refined())
    curve = refined.selector_.size_curve_
    summary = build_report(BELL_TRAIN, refined, created=DAY, cross_validation=known).model["summary"]
    assert summary["moved_curve"]
    assert summary["error"]["error"] == curve.errors[curve.chosen]
    # That of REPS alone measures sets before any moves.
    ranked = moved_classifier(BELLS, BELL_LABELS, REPS())
    model = build_report(BELL_TRAIN, ranked, created=DAY, cross_validation=known).model
    assert not model["summary"]["moved_curve"]
    assert model["summary"]["error"]["error"] == 0.25
    assert [stop["error"] for stop in model["stops"]] == ranked.selector_.size_curve_.errors.tolist()
    # A set that stays where it is has no error of moved sets.
    refined.adaptation_ = replace(refined.adaptation_, n_passes=0, reason="moves do not lower the error")
    refined._prototypes = make_space(BELLS).prototypes(refined.sample_indices_)
    model = build_report(BELL_TRAIN, refined, created=DAY, cross_validation=known).model
    assert model["moved"] is None
    assert model["summary"]["error"]["error"] == 0.25
    assert not any(stop["moved"] for stop in model["stops"])


def facts_about_moves(*arguments):
    facts = build_report(*arguments, created=DAY, cross_validation=CrossValidation(0.1, 0.1, 9), suspects=False).model[
        "facts"
    ]
    return next((dict(part["rows"]) for part in facts if part["heading"] == "Moves"), None)


def test_the_page_says_whether_prototypes_moved_and_why():
    classifier = moved_classifier(BELLS, BELL_LABELS, relevances=True)
    adaptation = classifier.adaptation_
    assert facts_about_moves(BELL_TRAIN, classifier) == {
        "prototypes": "moved",
        "loss": adaptation.loss,
        "held-out error before the moves": f"{100 * adaptation.held_out_before:.1f} %",
        "held-out error after the moves": f"{100 * adaptation.held_out_after:.1f} %",
        "passes over the objects": str(adaptation.n_passes),
        "why they ended": "the steps fell to 0",
        "relevances": "learned",
    }
    rng = np.random.default_rng(0)
    noise = Dataset("noise", "vectors", rng.normal(size=(40, 2)), np.arange(40) % 2)
    for seed in range(20):
        stays = PrototypeClassifier(FCNN(), adapt={"random_state": seed}).fit(noise.objects, noise.labels)
        if not stays.adaptation_.has_moved:
            break
    said = facts_about_moves(noise, stays)
    assert (said["prototypes"], said["why"]) == ("not moved", stays.adaptation_.reason)
    assert "held-out error after the moves" not in said
    off = PrototypeClassifier(REPS(9), adapt=False).fit(X, Y)
    assert facts_about_moves(TRAIN, off) == {"prototypes": "not moved: adapt=False"}
    adjusted = PrototypeClassifier(REPS(9), rule="adjusted").fit(X, Y)
    assert "degradations belong to" in facts_about_moves(TRAIN, adjusted)["prototypes"]
    texts = ["aa", "ab", "xx", "xy"] * 3
    strings = PrototypeClassifier(FCNN(metric="levenshtein")).fit(texts, np.arange(12) % 4 // 2)
    said = facts_about_moves(Dataset("s", "strings", texts, np.arange(12) % 4 // 2), strings)
    assert said == {"prototypes": "not moved: objects of this kind cannot move"}
    assert facts_about_moves(TRAIN, REPS(9).fit(X, Y)) is None


def test_moved_values_are_shown_before_the_transform():
    scaler = StandardScaler().fit(BELLS)
    classifier = moved_classifier(scaler.transform(BELLS), BELL_LABELS)
    expected = scaler.inverse_transform(classifier.adaptation_.prototypes)
    known = {"cross_validation": CrossValidation(0.1, 0.1, 9), "created": DAY, "suspects": False}
    model = build_report(BELL_TRAIN, classifier, transform=scaler.transform, **known).model
    assert np.allclose(model["moved"]["values"]["values"], expected, rtol=1e-3, atol=1e-3)
    # Without an inverse, or with one that is none, the page says that it shows no values.
    doubling = FunctionTransformer(lambda objects: 2 * objects).fit(BELLS)
    for transform in (doubling.transform, lambda objects: 2 * objects):
        classifier = moved_classifier(transform(BELLS), BELL_LABELS)
        model = build_report(BELL_TRAIN, classifier, transform=transform, **known).model
        assert model["moved"]["values"] is None
        assert model["notes"] == [
            "The values of the moved prototypes are not shown: the transform of the objects has no inverse."
        ]
        assert model["moved"]["exemplars"] == classifier.exemplars_.tolist()
    directions = BELLS + 3
    cosine = PrototypeClassifier(REPS(6, metric="cosine"), adapt=True).fit(directions, BELL_LABELS)
    if cosine.adaptation_.has_moved:
        model = build_report(Dataset("d", "vectors", directions, BELL_LABELS), cosine, **known).model
        assert model["moved"]["values"] is None
        assert "the metric compares directions alone" in model["notes"][0]


@pytest.mark.parametrize("scaling", ["z", "minmax", "raw"])
def test_moved_values_of_a_model_are_in_the_units_of_the_data(scaling):
    model = fit_model(BELL_TRAIN, n_prototypes=5, scaling=scaling)
    assert model.classifier.adaptation_.has_moved
    page = build_report(
        BELL_TRAIN,
        model.classifier,
        transform=model.preparation,
        created=DAY,
        cross_validation=CrossValidation(0.1, 0.1, 9),
    ).model
    shown = np.array(page["moved"]["values"]["values"])
    assert np.allclose(model.preparation(shown), model.classifier.adaptation_.prototypes, rtol=1e-2, atol=1e-2)


def mixed_data(n, seed=0):
    rng = np.random.default_rng(seed)
    size, colour = rng.normal(5, 2, n), rng.choice(["red", "blue", "green"], n)
    labels = np.where((size - 5) * 0.6 + (colour != "blue") + rng.normal(scale=0.4, size=n) > 0.8, "yes", "no")
    rows = np.array(list(zip(size.tolist(), colour.tolist(), strict=True)), object)
    return Dataset("m", "mixed", rows, labels, (Attribute("size", "real"), Attribute("colour", "nominal")))


@pytest.mark.parametrize("metric", ["gower", "heom"])
def test_mixtures_of_categories_are_shares(metric):
    dataset = mixed_data(120)
    selector = REPS(n_prototypes=10, metric=metric, metric_params={"categorical": [1]})
    classifier = moved_classifier(dataset.objects, dataset.labels, selector, relevances=True)
    model = build_report(
        dataset, classifier, created=DAY, cross_validation=CrossValidation(0.1, 0.1, 9), suspects=False
    ).model
    mixtures = [row[1] for row in classifier.adaptation_.prototypes if isinstance(row[1], dict)]
    assert mixtures
    shown = [row[1].replace("\xa0", " ") for row in model["moved"]["values"]["values"]]
    for shares in mixtures:
        assert ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items()) in shown
    order = np.argsort(-classifier.relevances_)
    assert model["relevances"]["names"] == [("size", "colour")[position] for position in order]
    assert model["relevances"]["values"] == pytest.approx(classifier.relevances_[order].tolist(), rel=1e-3)


def test_texts_of_mixtures():
    assert shares_text({"red": 0.7, "blue": 0.296, "green": 0.004}) == "red 70 %, blue 30 %"
    assert shares_text("red") == "red"


def test_moved_series_are_drawn_beside_real_ones():
    objects, labels = series_data(60, 30, 0)
    model = fit_model(Dataset("waves", "series", objects, labels), n_prototypes=6, metric_params={"window": 3})
    classifier = model.classifier
    assert classifier.adaptation_.has_moved
    dataset = Dataset("waves", "series", objects, labels)
    known = {"cross_validation": CrossValidation(0.1, 0.1, 9), "created": DAY, "suspects": False}
    page = build_report(dataset, classifier, transform=model.preparation, **known).model
    values, ((low, high),) = page["moved"]["values"], page["moved"]["values"]["limits"]
    for texts, prototype in zip(values["values"], classifier.adaptation_.prototypes, strict=True):
        assert np.allclose(decode(texts[0], low, high), np.ravel(prototype), atol=(high - low) / 4000)
    assert page["objects"]["codes"] == np.unique(labels, return_inverse=True)[1].tolist()


def test_the_space_of_the_fit_serves_the_report_of_a_moved_set():
    scaler = StandardScaler().fit(10 * BELLS)
    dataset = replace(BELL_TRAIN, objects=10 * BELLS)
    space = make_space(scaler.transform(10 * BELLS))
    classifier = moved_classifier(space, BELL_LABELS)
    known = {"cross_validation": CrossValidation(0.1, 0.1, 9), "created": DAY, "suspects": False}
    pages = [
        build_report(dataset, classifier, transform=scaler.transform, space=given, **known).model
        for given in (space, None)
    ]
    assert pages[0] == pages[1]
    with pytest.raises(ValueError, match="X and space have different objects; pass transform="):
        build_report(dataset, classifier, space=space, **known)


def test_relevances_have_names():
    rng = np.random.default_rng(1)
    objects, labels = rng.normal(size=(150, 120)), np.arange(150) % 2
    objects[:, 7] += 4 * labels
    classifier = PrototypeClassifier(REPS(10), adapt={"relevances": True}).fit(objects, labels)
    known = {"cross_validation": CrossValidation(0.1, 0.1, 9), "created": DAY, "suspects": False}
    dataset = Dataset("wide", "vectors", objects, labels)
    relevances = build_report(dataset, classifier, **known).model["relevances"]
    assert relevances["n_all"] == 120
    assert len(relevances["names"]) == len(relevances["values"]) == 100
    assert relevances["values"] == sorted(relevances["values"], reverse=True)
    assert relevances["names"][0] == "attribute 7"
    named = replace(dataset, attributes=tuple(Attribute(f"x{at}", "real") for at in range(120)))
    assert build_report(named, classifier, **known).model["relevances"]["names"][0] == "x7"
    plain = PrototypeClassifier(REPS(10), adapt=True).fit(objects, labels)
    assert build_report(dataset, plain, **known).model["relevances"] is None
    rows = [np.stack([series, rng.normal(size=20)]) for series in objects[:60, :20]]
    channels = PrototypeClassifier(REPS(6, metric="dtw"), adapt={"relevances": True}).fit(rows, labels[:60])
    page = build_report(Dataset("two", "series", rows, labels[:60]), channels, **known).model
    assert page["relevances"]["what"] == "channel"
    assert sorted(page["relevances"]["names"]) == ["channel 0", "channel 1"]


def test_a_page_that_is_too_small_for_all_holds_the_real_cases():
    objects, labels = overlapping(400, d=2, seed=3)
    classifier = moved_classifier(objects, labels, REPS(n_prototypes=20))
    dataset, known = Dataset("many", "vectors", objects, labels), {"cross_validation": CrossValidation(0.1, 0.1, 9)}
    for most in (60, 25, 7, 1):
        model = build_report(dataset, classifier, test=dataset, created=DAY, most_objects=most, **known).model
        ids, moved, stop = model["objects"]["ids"], model["moved"], model["stops"][0]
        assert len(ids) == min(most, 400)
        assert stop["n_kept"] == 20
        assert stop["kept"] == [len(ids) + slot for slot in range(len(stop["kept"]))]
        assert len(moved["exemplars"]) == len(moved["starts"]) == len(moved["values"]["values"]) == len(stop["kept"])
        assert {int(ids[index]) for index in moved["exemplars"]} <= set(classifier.exemplars_.tolist())
        assert (len(stop["kept"]) == 20) == (most >= 25)
        assert max(model["queries"]["winners"][0]) < len(ids) + len(stop["kept"])
        if most == 60:
            assert sum(size for members in stop["members"] for _, size in members) == 400
            assert [int(ids[index]) for index in moved["starts"]] == classifier.sample_indices_.tolist()


class Blocks(HTMLParser):
    """Texts of the scripts and styles of a page, and its policy."""

    def __init__(self):
        super().__init__()
        self.texts, self.policy, self.tags, self._open = {"script": [], "style": []}, "", [], None

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attrs = dict(attrs)
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        if tag in self.texts:
            self._open = tag
            self.texts[tag].append([attrs.get("type"), ""])

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open:
            self.texts[self._open][-1][1] += data


def hostile_report():
    labels = np.array(HOSTILE[:2])[np.arange(len(Y)) % 2]
    ids = [f"{HOSTILE[row % len(HOSTILE)]} {row}" for row in range(len(Y))]
    columns = tuple(Attribute(name, "real") for name in HOSTILE[:2])
    dataset = Dataset(HOSTILE[0], "vectors", X, labels, columns, path=Path(HOSTILE[3]))
    return build_report(dataset, REPS(9).fit(X, labels), ids=ids, title=" ".join(HOSTILE), created=HOSTILE[1])


def test_data_never_become_markup():
    report = hostile_report()
    plain = build_report(TRAIN, REPS(9).fit(X, Y), created=DAY)
    blocks, expected = Blocks(), Blocks()
    blocks.feed(report.html)
    expected.feed(plain.html)
    assert blocks.tags == expected.tags
    (kind, data), (other, script) = blocks.texts["script"]
    assert (kind, other) == ("application/json", None)
    assert json.loads(data) == report.model
    assert not re.search("[<>&\u2028\u2029]", data)
    assert script == expected.texts["script"][1][1]


def test_the_policy_names_the_one_script_and_the_one_style():
    blocks = Blocks()
    blocks.feed(hostile_report().html)
    for directive, text in (("script-src", blocks.texts["script"][1][1]), ("style-src", blocks.texts["style"][0][1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in blocks.policy
    assert blocks.policy.startswith("default-src 'none';")
    assert "unsafe" not in blocks.policy
    assert blocks.policy.count("http") == 0


@settings(max_examples=30)
@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_safe_json_is_the_same_json(value):
    text = as_safe_json(value)
    assert json.loads(text) == value
    assert not re.search("[<>&\u2028\u2029\ud800-\udfff]", text)


def test_the_scripts_write_text_alone():
    folder = resources.files("protoset._report") / "page"
    assert {entry.name for entry in folder.iterdir()} == {"page.html", "style.css", *SCRIPTS}
    for name in SCRIPTS:
        text = (folder / name).read_text("utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|fetch\(|XMLHttp", text
        )
        assert not re.search(r"</script|<!--|https?://(?!www\.w3\.org/2000/svg)", text, re.IGNORECASE)
    assert not re.search(r"url\(|@import", (folder / "style.css").read_text("utf-8"))


def test_the_same_report_is_the_same_to_the_byte():
    pages = [build_report(TRAIN, REPS(9).fit(X, Y), test=TEST, created=DAY).html for _ in range(2)]
    assert pages[0] == pages[1]
    assert "2026-01-31" in pages[0]
    later = datetime.datetime(2026, 1, 31, 12, 30)
    assert build_report(TRAIN, REPS(9).fit(X, Y), created=later).model["created"] == "2026-01-31 12:30:00"


def test_nothing_is_overwritten_unasked(tmp_path):
    selector, path = REPS(9).fit(X, Y), tmp_path / "report.html"
    made = protoset.report(selector, TRAIN, path=path, created=DAY)
    assert path.read_text() == made.html
    first = path.read_bytes()
    with pytest.raises(FileExistsError, match="exists; choose another name or pass overwrite=True"):
        protoset.report(selector, TRAIN, path=path, X_test=TEST)
    assert path.read_bytes() == first
    protoset.report(selector, TRAIN, path=path, X_test=TEST, overwrite=True)
    assert path.read_bytes() != first
    data = tmp_path / "data.csv"
    data.write_text("1,2")
    with pytest.raises(ValueError, match="is a file of the data; choose another name"):
        protoset.report(selector, Dataset("d", "vectors", X, Y, path=data), path=data, overwrite=True)
    assert data.read_text() == "1,2"
    with pytest.raises(FileNotFoundError, match="in a folder that does not exist; create it first"):
        protoset.report(selector, TRAIN, path=tmp_path / "no" / "report.html")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["data.csv", "report.html"]


def test_wrong_arguments(tmp_path):
    selector = REPS(9).fit(X, Y)
    with pytest.raises(TypeError, match="estimator has the type str; pass a fitted PrototypeClassifier"):
        protoset.report("REPS", TRAIN)
    with pytest.raises(NotFittedError):
        build_report(TRAIN, REPS(9))
    with pytest.raises(ValueError, match="was not fitted on the 60 objects of X"):
        build_report(TEST, selector)
    with pytest.raises(ValueError, match="X_test holds strings and X vectors"):
        build_report(TRAIN, selector, test=Dataset("t", "strings", ["a"], np.array(["b"])))
    with pytest.raises(ValueError, match="ids has 1 entries for 120 objects"):
        build_report(TRAIN, selector, ids=["a"])
    with pytest.raises(ValueError, match="most_objects=0 must be"):
        build_report(TRAIN, selector, most_objects=0)
    save(PrototypeClassifier(REPS(9)).fit(X, Y), tmp_path / "c.protoset")
    with pytest.raises(ValueError, match="a classifier from a file"):
        build_report(TRAIN, load(tmp_path / "c.protoset"))


def test_a_notebook_shows_the_page_in_a_frame():
    objects, labels = load_iris(return_X_y=True)
    report = build_report(Dataset("iris", "vectors", objects, labels), REPS(9).fit(objects, labels), created=DAY)
    blocks = Blocks()
    blocks.feed(report._repr_html_())
    assert blocks.tags == ["iframe"]


def test_the_example_of_the_documentation_runs(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "report.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", "".join(blocks) + "import sys; assert 'matplotlib' not in sys.modules"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", "".join(blocks), re.MULTILINE)
    for name in ("wine.html", "checked.html"):
        assert (tmp_path / name).read_text().startswith("<!DOCTYPE html>")
