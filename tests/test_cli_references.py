"""The command prints every error beside guessing, 1-NN and k-NN on everything."""

import csv
import json

import numpy as np
import pytest

from protoset.datasets import read
from protoset.experiments import validate
from protoset.models import cross_validated_error, fit_model
from protoset.models.cross_validation import moves_of
from protoset.spaces import make_space

from cli_cases import run, run_json, run_many


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Noise with labels that have nothing to do with it, points of two clear classes, and very few objects."""
    folder = tmp_path_factory.mktemp("references")
    rng = np.random.default_rng(0)
    noise = [[*row, "no" if position % 3 else "yes"] for position, row in enumerate(rng.normal(size=(60, 2)).tolist())]
    clear = [[*row, "low"] for row in rng.normal(size=(30, 2)).tolist()]
    clear += [[*row, "high"] for row in (rng.normal(size=(20, 2)) + 4).tolist()]
    few = [[0.0, 0.0, "a"], [0.1, 0.0, "a"], [0.2, 0.1, "a"], [5.0, 5.0, "b"]]
    for name, rows in (("noise", noise), ("clear", clear), ("few", few)):
        with open(folder / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([["x", "y", "class"], *rows])
    return folder


def test_select_prints_the_error_at_a_size(folder):
    arguments = ("clear.csv", "--target", "class", "--n-prototypes", "3")
    printed = run("select", *arguments, cwd=folder).stdout
    document = run_json("select", *arguments, cwd=folder)
    model = fit_model(read(folder / "clear.csv", target="class"), n_prototypes=3)
    objects, labels = read(folder / "clear.csv", target="class").objects, read(folder / "clear.csv").labels
    expected = cross_validated_error(model.classifier.selector_, make_space(model.preparation(objects)), labels)
    assert document["cross_validation"] == {
        "error": expected.error,
        "standard_error": expected.standard_error,
        "how": "5 folds",
        "at_this_size": True,
    }
    assert f"error in cross-validation at this size: {expected.error:.3f} ± {expected.standard_error:.3f}" in printed
    assert "for comparison (leave-one-out):\n  0.400 always answering 'low'\n" in printed
    assert f"  {document['references']['nearest']:.3f} 1-NN on everything\n" in printed
    assert f" k-NN on everything, k = {document['references']['k'][0]}\n" in printed
    assert document["references"]["guess"] == pytest.approx(0.4)
    assert document["no_better_than_guessing"] is False
    assert "no better" not in printed


def test_no_better_than_guessing_is_said(folder):
    file = ["noise.csv", "--target", "class"]
    commands = [
        ["select", *file],
        ["select", *file, "--method", "fcnn"],
        ["evaluate", *file, "--method", "fcnn"],
        ["compare", *file, "--methods", "guess,nops,fcnn"],
        ["select", *file, "--no-error"],
    ]
    answers = run_many([*commands, *([*command, "--json"] for command in commands)], folder)
    assert [code for code, _, _ in answers] == [0] * 10, answers
    texts, documents = [out for _, out, _ in answers[:5]], [json.loads(out) for _, out, _ in answers[5:]]
    for text in texts[:3]:
        assert "no better than always answering 'no' (0.333)\n" in text
    assert "error in cross-validation: " in texts[1]
    assert "no better than guessing: NoPS, FCNN\n" in texts[3]
    assert "comparison" not in texts[4]
    assert "error" not in texts[4].replace("raised the error on", "")
    assert [document["no_better_than_guessing"] for document in documents[:3]] == [True] * 3
    assert [row["no_better_than_guessing"] for row in documents[3]["methods"]] == [False, True, True]
    assert [documents[4][name] for name in ("references", "no_better_than_guessing", "cross_validation")] == [None] * 3
    assert documents[2]["references"]["how"] == "the same objects"
    assert len(documents[2]["references"]["k"]) == 5


def test_another_scoring_of_the_size_is_no_error(folder):
    """Clear classes have a small error whatever chose the size; the score has a line of its own."""
    arguments = ("clear.csv", "--target", "class", "--param", "scoring=balanced_accuracy")
    document = run_json("select", *arguments, cwd=folder)
    data = read(folder / "clear.csv", target="class")
    model = fit_model(data, parameters={"scoring": "balanced_accuracy"})
    curve = model.classifier.selector_.size_curve_
    expected = cross_validated_error(
        model.classifier.selector_,
        make_space(model.preparation(data.objects)),
        data.labels,
        moves=moves_of(model.classifier),
    )
    assert document["cross_validation"]["error"] == expected.error
    assert document["cross_validation"]["at_this_size"] is True
    score = {"error": curve.errors[curve.chosen], "standard_error": curve.standard_errors[curve.chosen]}
    assert document["size_choice"] == {"scoring": "balanced_accuracy"} | score
    printed = run("select", *arguments, cwd=folder).stdout
    assert f"size chosen by balanced accuracy: {1 - score['error']:.3f} ± " in printed
    assert "always answering one class has 0.500" in printed
    assert f"error in cross-validation at this size: {expected.error:.3f} ± " in printed


def test_a_selection_stays_where_folds_are_too_small(folder):
    """With one object of a class, a training part may have one class only."""
    arguments = ("few.csv", "--target", "class", "--n-prototypes", "2")
    result = run("select", *arguments, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "error in cross-validation at this size: 0.250 ± 0.250" in result.stdout
    assert "kept 2 of 4" in result.stdout
    assert "no better than always answering 'a' (0.250)" in result.stdout


def test_a_model_on_a_file(folder, tmp_path):
    model = tmp_path / "model"
    assert run("select", "clear.csv", "--target", "class", "--model", model, cwd=folder).returncode == 0
    printed = run("evaluate", "clear.csv", "--model", model, cwd=folder).stdout
    assert "for comparison (the same objects):\n  0.400 always answering 'low'" in printed
    assert "1-NN and k-NN on everything: not measured, a model does not hold its training objects" in printed


def test_data_with_a_split(tmp_path):
    """The references are measured on the same test objects."""
    rng = np.random.default_rng(3)
    for part, n_objects in (("TRAIN", 20), ("TEST", 30)):
        labels = np.arange(n_objects) % 2
        rows = rng.normal(size=(n_objects, 12)) + 2 * labels[:, None]
        np.savetxt(tmp_path / f"Waves_{part}.tsv", np.column_stack([labels + 1, rows]), delimiter="\t", fmt="%.6g")
    document = run_json("select", tmp_path, "--n-prototypes", "2")
    beside = validate(read(tmp_path), "NoPS").references
    assert document["references"]["how"] == "the same test objects"
    assert document["references"]["nearest"] == beside.nearest.error
    assert document["references"]["knn"] == beside.knn.error
    assert document["cross_validation"] is None
    assert document["test"]["n_objects"] == 30
