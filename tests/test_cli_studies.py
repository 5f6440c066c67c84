"""``protoset evaluate``, ``compare``, ``experiment`` and ``paper``."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from protoset.datasets import Attribute, Dataset, read
from protoset.experiments import compare, validate

from cli_cases import run, run_many, write_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("files"))


def test_evaluate_is_the_library(folder):
    words = ["evaluate", "flowers.csv", "--target", "species", "--method", "fcnn"]
    commands = [
        [*words, "--folds", "4", "--seed", "2", "--json"],
        [*words, "--holdout", "0.3", "--json"],
        ["evaluate", "Bumps", "--json"],
        words,
    ]
    folded, held_out, own_split, shown = run_many(commands, folder)
    found = json.loads(folded[1])
    expected = validate(read(folder / "flowers.csv", target="species"), "FCNN", folds=4, random_state=2)
    assert found["error"] == expected.estimate.error
    assert found["fold_errors"] == expected.fold_errors.tolist()
    assert found["n_prototypes"] == expected.n_prototypes.tolist()
    assert json.loads(held_out[1])["n_test"] == 45
    assert json.loads(own_split[1])["n_test"] == 30
    assert "150 held-out objects in 5 folds" in shown[1]


def test_compare(folder):
    words = ["compare", "flowers.csv", "--target", "species", "--methods", "nops,FCNN,refined"]
    plotted, tested = run_many([[*words, "--plot", "front.svg", "--json"], [*words, "--folds", "7"]], folder)
    assert plotted[0] == tested[0] == 0, plotted[2] + tested[2]
    found = json.loads(plotted[1])
    dataset = read(folder / "flowers.csv", target="species")
    expected = compare(dataset, ["guess", "NoPS", "FCNN", "refined REPS"])
    assert [row["method"] for row in found["methods"]] == list(expected.methods)
    assert np.array_equal(found["errors"], expected.errors)
    assert [row["selection_rate"] for row in found["methods"][:2]] == [0, 1]
    # Five folds: three pairs could at best reach 3 * 2 / 2^5.
    assert found["tests"] is None
    assert "7 folds could" in found["note"]
    assert (folder / "front.svg").read_text().startswith("<?xml")
    assert "share training objects" in tested[1]
    assert "different at 0.05" in tested[1]


def test_a_name_means_one_method_everywhere(folder):
    """By select and by compare, on the same training part: as many prototypes, and the same error."""
    chosen = (["adapted"], ["reps"], ["refined", "--no-adapt"], ["refined REPS"])
    commands = [["select", "Bumps", "--method", *method, "--json"] for method in chosen]
    commands += [["select", "Bumps", "--json"], ["compare", "Bumps", "--methods", "Adapted,reps,Refined", "--json"]]
    answers = [json.loads(out) for code, out, error in run_many(commands, folder)]
    *selected, compared = answers
    assert [one["refined"] for one in selected] == [True, False, True, True, True]
    # The default method moves by default.
    assert selected[0]["rows"] == selected[3]["rows"] == selected[4]["rows"]
    assert [row["method"] for row in compared["methods"]] == ["guess", "adapted REPS", "REPS", "refined REPS"]
    for row, one in zip(compared["methods"][1:], selected, strict=False):
        assert row["selection_rate"] == one["selection_rate"]
        assert row["error"] == one["test"]["error"]


def test_comparison_says_what_failed(folder):
    dataset = read(folder / "names.txt")
    # A class with one member: one training part has a single class, which no method takes.
    found = compare(replace(dataset, labels=np.arange(20) == 7), ["NoPS", "KMedoids"])
    assert np.isnan(found.pareto_ranks[1])
    assert found.pareto_ranks[0] == 1
    assert "KMedoids" in found.failures
    assert np.isfinite(found.errors[:, 0]).all()


def test_scaling_is_learned_from_the_training_part_alone():
    """An attribute of which a held-out row has a huge value: scaling by it would make all training objects one."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = np.column_stack([y + rng.normal(scale=0.05, size=120), rng.normal(size=120)])
    X[-1, 0] = 1e9
    columns = (Attribute("telling", "real"), Attribute("noise", "real"))
    made = Dataset("made", "vectors", X, y, columns, n_train=60)
    error = validate(made, "fcnn").estimate.error
    assert error < 0.05
    assert compare(made, ["fcnn"]).errors[0, 0] == error
    # What would be found if the held-out row had a say: the noise alone decides.
    leaking = Dataset("made", "vectors", (X - X.mean(axis=0)) / X.std(axis=0), y, columns, n_train=60)
    assert validate(leaking, "fcnn", scaling="raw").estimate.error > 0.3


def test_validation_of_a_matrix(folder):
    matrix = read(folder / "distances.csv", labels=folder / "kinds.txt")
    assert validate(matrix, "fcnn", folds=5).estimate.error < 0.15


PLAN = """
name = "small"
data = [{path = "flowers.csv", target = "species"}, "iris"]
methods = ["NoPS", "FCNN", {method = "REPS", rates = [0.1]}]
folds = 3
"""


def test_experiment_from_plan_to_table(folder):
    (folder / "plan.toml").write_text(PLAN)
    (folder / "wrong.toml").write_text('data = [{path = "nowhere.csv"}]\nmethods = ["NoPS"]\nfolds = 2\n')
    result = run("experiment", "run", "plan.toml", "--quiet", cwd=folder)
    # Categories have no place in Euclidean distances by position, but the paper's way takes them.
    assert result.returncode == 0, result.stderr
    assert "18 of 18 cells done" in result.stdout
    commands = [
        ["experiment", "status", "plan.journal", "--json"],
        ["experiment", "resume", "plan.journal", "--json"],
        ["experiment", "export", "plan.journal", "table.csv"],
        ["experiment", "export", "plan.journal", "table.csv"],
        ["experiment", "merge", "all.journal", "plan.journal"],
        ["experiment", "status", "all.journal"],
        ["experiment", "run", "wrong.toml"],
    ]
    answers = run_many(commands, folder)
    assert [code for code, _, _ in answers] == [0, 0, 0, 2, 0, 0, 1]
    assert json.loads(answers[0][1])["done"] == json.loads(answers[1][1])["done"] == 18
    with open(folder / "table.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 18
    assert "18 of 18 done" in answers[5][1]
    assert "2 failed" in answers[6][1]
    assert "experiment status wrong.journal" in answers[6][2]


def test_wrong_studies_and_outputs(folder):
    """That a run and its report succeed is shown by the examples of docs/command.md."""
    commands = [["paper", "run", "--study", "vector"], ["paper", "report", "--output", "nowhere"], ["paper"]]
    study, output, nothing = run_many(commands, folder)
    assert study[0] == output[0] == nothing[0] == 2
    assert "--study='vector' is not known (did you mean 'vectors'?)" in study[2]
    assert "there is no folder 'nowhere'" in output[2]
