"""One data set through every door: the same metric, and the same errors on the same folds."""

import json

import numpy as np
import pytest

from protoset import REPS, PrototypeClassifier, Refined
from protoset.datasets import Attribute, Dataset, read, take, write_rows
from protoset.experiments import compare, results, run, validate
from protoset.experiments.folds import splits
from protoset.experiments.plan import Folds
from protoset.models import fit_model, prepare
from protoset.selectors import FCNN

from cli_cases import run_many
from conftest import overlapping

METHODS = {"adapted": Refined(REPS(0.2)), "refined": Refined(REPS(0.2)), "REPS": REPS(0.2), "FCNN": FCNN()}
SIZES = {"adapted": 0.2, "refined": 0.2, "REPS": 0.2, "FCNN": "auto"}
ENTRIES = [
    {"method": "adapted", "n_prototypes": 0.2, "label": "adapted"},
    {"method": "REPS", "refine": True, "n_prototypes": 0.2, "label": "refined"},
    {"method": "REPS", "n_prototypes": 0.2, "label": "REPS"},
    {"method": "FCNN"},
]
METRICS = {"numbers": "euclidean", "mixed": "gower", "strings": "levenshtein", "series": "dtw"}


def make(kind):
    rng = np.random.default_rng(7)
    X, y = overlapping(48)
    labels = np.array(["no", "yes"])[y % 2]
    if kind == "numbers":
        columns = tuple(Attribute(name, "real") for name in "abc")
        return Dataset("numbers", "vectors", X * [1, 50, 0.1], labels, columns)
    if kind == "mixed":
        objects = np.empty((48, 3), object)
        objects[:, 0], objects[:, 1] = X[:, 0].tolist(), (10 * X[:, 1]).tolist()
        objects[:, 2] = np.where(rng.random(48) < 0.3, "red", np.where(labels == "no", "blue", "green")).tolist()
        columns = (
            Attribute("a", "real"),
            Attribute("b", "real"),
            Attribute("c", "nominal", ("red", "green", "blue")),
        )
        return Dataset("mixed", "mixed", objects, labels, columns)
    if kind == "strings":
        letters = {"no": "aabc", "yes": "abcc"}
        words = ["".join(rng.choice(list(letters[label]), rng.integers(3, 8))) for label in labels]
        return Dataset("strings", "strings", words, labels)
    waves = [np.sin(np.arange(16) / (2 + (label == "yes")) + rng.normal()) + rng.normal(size=16) for label in labels]
    return Dataset("series", "series", [np.round(wave, 6) for wave in waves], y % 2 + 1)


@pytest.fixture(scope="module", params=METRICS)
def case(request, tmp_path_factory):
    """A data set as it comes back from a file, the file, and the errors of the Python API on three folds."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "strings":
        pytest.importorskip("rapidfuzz")
    ending = {"strings": "txt", "series": "tsv"}.get(request.param, "csv")
    path = folder / f"data.{ending}"
    write_rows(make(request.param), np.arange(48), path)
    words = ["--target", "class"] if ending == "csv" else []
    dataset = read(path, target="class") if ending == "csv" else read(path)
    errors = {name: [] for name in METHODS if (name, request.param) != ("adapted", "strings")}
    for train, test in splits(dataset, Folds(3)):
        part = take(dataset, train)
        prepared = prepare(part)
        queries = prepared(take(dataset, test).objects)
        for name in errors:
            selector = METHODS[name].set_params(**_metric(name, prepared))
            classifier = PrototypeClassifier(selector, adapt=name == "adapted")
            classifier.fit(prepared(part.objects), part.labels)
            model = fit_model(part, name, n_prototypes=SIZES[name], adapt=name == "adapted")
            assert model.sample_indices_.tolist() == classifier.sample_indices_.tolist()
            np.testing.assert_array_equal(model.exemplars_, classifier.exemplars_)
            errors[name].append(np.mean(classifier.predict(queries) != dataset.labels[test]))
    return dataset, path, words, METRICS[request.param], errors


def _metric(name, prepared):
    prefix = "selector__" if name in ("adapted", "refined") else ""
    return {f"{prefix}metric": prepared.metric, f"{prefix}metric_params": prepared.metric_params or None}


def test_errors_of_functions(case):
    dataset, _, _, metric, errors = case
    for name, expected in errors.items():
        found = validate(dataset, name, folds=3, n_prototypes=SIZES[name], adapt=name == "adapted")
        np.testing.assert_allclose(found.fold_errors, expected, err_msg=name)
    compared = compare(dataset, list(errors), folds=3, n_prototypes=0.2)
    assert compared.metric == metric
    np.testing.assert_allclose(compared.errors.T, list(errors.values()))


def test_the_default_method_moves_where_objects_can(case):
    dataset, _, _, _, errors = case
    expected = errors.get("adapted", errors["refined"])
    np.testing.assert_allclose(validate(dataset, folds=3, n_prototypes=0.2).fold_errors, expected)
    # A name of another method means the set of that method.
    np.testing.assert_allclose(validate(dataset, "FCNN", folds=3).fold_errors, errors["FCNN"])


def test_errors_of_a_plan(case, tmp_path):
    dataset, _, _, _, errors = case
    entries = [entry for entry in ENTRIES if entry.get("label", entry["method"]) in errors]
    plan = {"data": ["it"], "methods": entries, "folds": 3}
    for distance in ({}, {"scaling": "z"}, {"metric": "auto"}):
        run(plan | {"distances": [distance]}, tmp_path / f"{distance}", data={"it": dataset})
        for row in results(tmp_path / f"{distance}"):
            assert row.error == pytest.approx(errors[row.method][row.fold]), row.method


def test_errors_of_the_command(case):
    dataset, path, words, metric, errors = case
    commands = [["compare", path.name, *words, "--methods", ",".join(errors).lower(), "--n-prototypes", "0.2"]]
    for name in errors:
        own = [path.name, *words, "--method", name.lower(), "--n-prototypes", SIZES[name]]
        own += ["--no-adapt"] if name == "refined" else []
        commands += [["evaluate", *own], ["select", *own]]
    commands = [[*command, "--json", *(() if "select" in command else ("--folds", "3"))] for command in commands]
    answers = run_many(commands, path.parent)
    assert [code for code, _, _ in answers] == [0] * (1 + 2 * len(errors)), answers
    compared, *others = (json.loads(out) for _, out, _ in answers)
    assert compared["metric"] == metric
    np.testing.assert_allclose(np.transpose(compared["errors"])[1:], list(errors.values()))
    for name, evaluated, selected in zip(errors, others[::2], others[1::2], strict=True):
        np.testing.assert_allclose(evaluated["fold_errors"], errors[name], err_msg=name)
        assert selected["metric"] == metric
        model = fit_model(dataset, name, n_prototypes=SIZES[name], adapt=name == "adapted")
        assert selected["rows"] == model.exemplars_.tolist()
        assert selected["started_from"] == model.sample_indices_.tolist()


def test_comparison_keeps_categories_that_are_named():
    """As validation does: numbers in a table may be categories."""
    dataset = make("numbers")
    dataset.objects[:, 2] = np.arange(48) % 3
    options = {"metric": "gower", "metric_params": {"categorical": [2]}, "folds": 3}
    found = compare(dataset, ["FCNN"], **options)
    assert not found.failures
    np.testing.assert_array_equal(found.errors[:, 0], validate(dataset, "FCNN", **options).fold_errors)


def test_the_adjusted_rule_is_that_of_the_classifier():
    dataset = make("numbers")
    found = validate(dataset, "REPS", folds=3, n_prototypes=9, rule="adjusted", random_state=1)
    expected = []
    for train, test in splits(dataset, Folds(3, seed=1)):
        model = fit_model(take(dataset, train), "REPS", n_prototypes=9, rule="adjusted")
        expected.append(np.mean(model.predict(dataset.objects[test]) != dataset.labels[test]))
    np.testing.assert_allclose(found.fold_errors, expected)
    # Degradations of other sets are learned for them.
    nearest, adjusted = (validate(dataset, "FCNN", rule=rule).estimate.error for rule in ("nearest", "adjusted"))
    assert adjusted < nearest + 0.15
