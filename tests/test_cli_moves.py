"""Prototypes that move, by the command: what it says, what it writes, what it refuses."""

import csv
import datetime
import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_digits

import protoset
from protoset.datasets import Attribute, Dataset, read, write_rows
from protoset.models import fit_model

from cli_cases import run, run_alone, run_json, run_many


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Digits, whose prototypes are better after they moved; noise, whose are not; strings."""
    folder = tmp_path_factory.mktemp("moves")
    X, y = load_digits(return_X_y=True)
    X, y = X[:400, X[:400].std(axis=0) > 0], y[:400]
    columns = tuple(Attribute(f"pixel {position}", "real") for position in range(X.shape[1]))
    labels = np.array([f"d{label}" for label in y])
    write_rows(Dataset("digits", "vectors", X, labels, columns), np.arange(400), folder / "digits.csv")
    names = np.array([f"picture-{row}" for row in range(400)])
    with open(folder / "named.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *(column.name for column in columns), "class"])
        writer.writerows([name, *row.tolist(), label] for name, row, label in zip(names, X, labels, strict=True))
    words = ["ana", "anne", "bob", "rob", "hana", "bo"]
    (folder / "words.txt").write_text(
        "".join(f"{label}\t{word}\n" for label, word in zip("aabbab", words, strict=True))
    )
    return folder


DIGITS = ["digits.csv", "--target", "class", "--n-prototypes", "20"]


@pytest.mark.slow
def test_what_select_says_and_writes(folder):
    text = run("select", *DIGITS, "--output", "kept.csv", "--model", "m.protoset", "--force", cwd=folder).stdout
    document = run_json("select", *DIGITS, cwd=folder)
    model = fit_model(read(folder / "digits.csv", target="class"), n_prototypes=20)
    moves, adaptation = document["adaptation"], model.classifier.adaptation_
    assert moves == {
        "moved": True,
        "reason": adaptation.reason,
        "loss": adaptation.loss,
        "passes": adaptation.n_passes,
        "held_out_before": adaptation.held_out_before,
        "held_out_after": adaptation.held_out_after,
        "relevances": None,
    }
    before, after = adaptation.held_out_before, adaptation.held_out_after
    assert (
        f"kept 20 of 400 (5.0 %), then moved: error on held-out training objects {before:.3f} before, {after:.3f} after"
        in text
    )
    assert document["rows"] == model.exemplars_.tolist()
    assert document["started_from"] == model.sample_indices_.tolist()
    rows = np.unique(model.exemplars_)
    assert f"output: kept.csv, {len(rows)} real objects near the moved prototypes" in text
    dataset, written = (read(folder / name, target="class", use=["*"]) for name in ("digits.csv", "kept.csv"))
    np.testing.assert_array_equal(written.objects, dataset.objects[rows])
    assert protoset.load(folder / "m.protoset").has_moved
    plain = run("select", *DIGITS, cwd=folder).stdout
    assert "real objects near the moved prototypes, as rows: " + " ".join(map(str, rows)) in plain
    piped = run_alone("select", *DIGITS, "--output", "-", "--quiet", "--no-error", cwd=folder).stdout
    assert piped == (folder / "kept.csv").read_text()


def test_the_error_is_that_of_the_moved_set(folder):
    moved, stays = run_json("select", *DIGITS, cwd=folder), run_json("select", *DIGITS, "--no-adapt", cwd=folder)
    assert stays["adaptation"] is None
    assert stays["rows"] == stays["started_from"]
    assert moved["cross_validation"]["error"] < stays["cross_validation"]["error"] - 0.02


def test_relevances_by_attribute(folder):
    document = run_json("select", *DIGITS, "--relevances", cwd=folder)
    names = [attribute.name for attribute in read(folder / "digits.csv", target="class").attributes]
    scales = document["adaptation"]["relevances"]
    assert list(scales) == names
    assert np.mean(list(scales.values())) == pytest.approx(1)
    largest = max(scales, key=scales.get)
    text = run("select", *DIGITS, "--relevances", cwd=folder).stdout
    assert f"relevances (1 on average): {largest} {scales[largest]:.2f}, " in text
    assert f"and {len(names) - 10} more" in text


def test_sets_of_other_methods_stay_unless_they_are_told_to_move(folder):
    commands = [["select", *DIGITS[:3], "--method", "fcnn"], ["select", *DIGITS[:3], "--method", "fcnn", "--adapt"]]
    stays, told = run_json(*commands[0], cwd=folder), run_json(*commands[1], cwd=folder)
    assert stays["adaptation"] is None
    assert told["adaptation"]["reason"]
    assert stays["started_from"] == told["started_from"]
    text = run(*commands[1], cwd=folder).stdout
    assert ("then moved" if told["adaptation"]["moved"] else "; not moved: ") in text


def test_objects_that_cannot_move(folder):
    pytest.importorskip("rapidfuzz")
    words = ["words.txt", "--n-prototypes", "3"]
    document = run_json("select", *words, cwd=folder)
    assert document["adaptation"]["moved"] is False
    assert (
        "kept 3 of 6 (50.0 %); not moved: objects under the metric levenshtein cannot move"
        in run("select", *words, cwd=folder).stdout
    )
    for told in (["--adapt"], ["--method", "adapted"], ["--relevances"], ["--method", "fcnn", "--adapt"]):
        size = words if "fcnn" not in told else words[:1]
        for command in ("select", "evaluate"):
            result = run(command, *size, *told, *(["--folds", "2"] if command == "evaluate" else []), cwd=folder)
            assert result.returncode == 2, result
            assert "metric='levenshtein' cannot move; those under" in result.stderr


def test_prediction_and_explanation_name_real_objects(folder):
    options = ["--target", "class", "--id", "name", "--n-prototypes", "20", "--model", "named.protoset", "--force"]
    assert run("select", "named.csv", *options, cwd=folder).returncode == 0
    model = protoset.load(folder / "named.protoset")
    queries = read(folder / "named.csv", target="class", id="name")
    out = run("predict", "named.protoset", "named.csv", cwd=folder).stdout
    rows = list(csv.DictReader(out.splitlines()))
    details = model.predict_details(queries.objects)
    assert [row["prototype"] for row in rows] == [f"picture-{row}" for row in details.exemplars]
    document = run_json("explain", "named.protoset", "named.csv", "--row", "7", cwd=folder)
    shown = model.explain(queries.objects[7:8])
    assert document["moved"] is True
    assert [each["id"] for each in document["prototypes"]] == [f"picture-{row}" for row in shown.exemplars[0]]
    values = {each["name"]: each for each in document["comparison"]["attributes"]}
    exemplar = queries.objects[shown.exemplars[0, 0]]
    assert [values[attribute.name]["exemplar"] for attribute in queries.attributes] == exemplar.tolist()
    assert any(each["prototype"] != each["exemplar"] for each in values.values())
    text = run("explain", "named.protoset", "named.csv", "--row", "7", cwd=folder).stdout
    assert "by these moved prototypes, named by the nearest training objects of their class:" in text
    header = next(line for line in text.splitlines() if line.startswith("attribute"))
    assert header.split() == ["attribute", "query", "prototype", "exemplar", "share"]


def test_evaluation(folder):
    words = ["digits.csv", "--target", "class", "--folds", "3", "--n-prototypes", "20"]
    answers = run_many(
        [["evaluate", *words, *more, "--json"] for more in ([], ["--no-adapt"], ["--method", "adapted"])],
        folder,
    )
    default, stays, adapted = (json.loads(out) for _, out, _ in answers)
    assert default["fold_errors"] == adapted["fold_errors"]
    assert default["moved"] == [True] * 3
    assert stays["moved"] is None
    assert default["error"] < stays["error"]
    assert "prototypes: 20, 20, 20 (7.5 %), then moved\n" in run("evaluate", *words, cwd=folder).stdout


def test_a_comparison_has_both(folder):
    words = ["digits.csv", "--target", "class", "--folds", "3", "--n-prototypes", "20"]
    document = run_json("compare", *words, "--methods", "refined,adapted", cwd=folder)
    assert [row["method"] for row in document["methods"]] == ["guess", "refined REPS", "adapted REPS"]
    assert document["methods"][2]["error"] < document["methods"][1]["error"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["select", *DIGITS, "--relevances", "--no-adapt"], "--no-adapt forbids moves; leave one of them out"),
        (["evaluate", *DIGITS, "--relevances", "--no-adapt"], "--no-adapt forbids moves; leave one of them out"),
        (
            ["select", *DIGITS, "--method", "adapted", "--no-adapt"],
            "--no-adapt and --method='adapted REPS' exclude each other; use",
        ),
        (["evaluate", *DIGITS[:3], "--method", "knn", "--adapt"], "kNN has no prototypes to move"),
        (["select", *DIGITS, "--method", "adapted", "--param", "step=-1"], "step=-1"),
        (["select", *DIGITS, "--param", "relevances=true"], "method='adapted' moves the prototypes of REPS"),
        (["evaluate", "digits.csv", "--model", "x.protoset", "--adapt"], "--model and --adapt exclude each other"),
        (["evaluate", "digits.csv", "--model", "x.protoset", "--relevances"], "--model and --relevances exclude"),
        (["select", *DIGITS, "--relevances", "--metric", "mahalanobis"], "--relevances learns a scale for each"),
    ],
)
def test_options_that_cannot_be(folder, words, message):
    result = run(*words, cwd=folder)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_values_of_moved_prototypes_are_rounded(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for row in range(60):
        day = datetime.date(2020, 1, 1) + datetime.timedelta(int(rng.integers(40)) + 60 * (row % 2))
        height, share = rng.integers(12000, 14000) + 5000 * (row % 2), rng.random() + row % 2
        lines.append(f"{day},{height},{share:.2f},{'wet' if row % 2 else 'dry'}")
    (tmp_path / "days.csv").write_text("\n".join(["day,height,share,class", *lines]) + "\n")
    options = ["--n-prototypes", "4", "--adapt", "--no-error", "--model", "days.protoset"]
    assert run("select", "days.csv", *options, cwd=tmp_path).returncode == 0
    words = ["explain", "days.protoset", "days.csv", "--row", "3"]
    values = {each["name"]: each for each in run_json(*words, cwd=tmp_path)["comparison"]["attributes"]}
    assert values["height"]["prototype"] % 1 > 0, "JSON has all digits of numbers"
    cells = [line.split() for line in run(*words, cwd=tmp_path).stdout.splitlines()]
    shown = {line[0]: line[2] for line in cells if line and line[0] in values}
    assert re.fullmatch(r"2020-\d\d-\d\d", shown["day"])
    assert shown["day"] == values["day"]["prototype"]
    assert shown["height"] == f"{values['height']['prototype']:.0f}"
    assert len(shown["share"].replace(".", "").lstrip("0")) <= 4
