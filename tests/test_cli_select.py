"""``protoset select``, on a file of each kind, and what may be done with its model."""

import csv
import json

import numpy as np
import pytest

import protoset
from protoset.datasets import read, read_queries

from cli_cases import SPECIES, run, run_json, run_many, write_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("files"))


CASES = {
    "table": (["flowers.csv", "--target", "species"], "table_kept.csv", {"target": "species"}),
    "series": (["Bumps", "--metric-param", "window=5"], "series_kept.tsv", {"kind": "series"}),
    "matrix": (["distances.csv", "--labels", "kinds.txt", "--n-prototypes", "9"], "matrix_kept.csv", {}),
    "strings": (["names.txt", "--method", "fcnn"], "strings_kept.txt", {}),
}
SOURCES = {"table": {"target": "species"}, "series": {}, "matrix": {"labels": "kinds.txt"}, "strings": {}}
METRICS = {"table": "gower", "series": "dtw", "matrix": "precomputed", "strings": "levenshtein"}


@pytest.fixture(scope="module")
def selected(folder):
    """The document of each case, whose outputs are in the folder."""
    commands = {
        name: ["select", *words, "--output", output, "--model", f"{name}.protoset", "--json"]
        for name, (words, output, _) in CASES.items()
    }
    documents = {"table": run_json(*commands.pop("table")[:-1], cwd=folder)}
    for name, (code, out, error) in zip(commands, run_many(commands.values(), folder), strict=True):
        assert (code, error) == (0, ""), error
        documents[name] = json.loads(out)
    return documents


@pytest.mark.parametrize("name", CASES)
def test_the_output_has_the_rows_that_it_names(folder, selected, name):
    words, output, options = CASES[name]
    found, document = read(folder / output, **options), selected[name]
    source = {key: folder / value if key == "labels" else value for key, value in SOURCES[name].items()}
    dataset = read(folder / words[0], **source)
    assert document["n_prototypes"] == len(document["rows"]) == len(document["labels"])
    assert dataset.labels[document["rows"]].tolist() == document["labels"]
    # Two prototypes that moved may have the same exemplar.
    rows = np.unique(document["rows"])
    assert document["metric"] == METRICS[name]
    assert found.labels.tolist() == dataset.labels[rows].tolist()
    if name == "matrix":
        assert np.array_equal(found.objects, dataset.objects[np.ix_(rows, rows)])
    else:
        for one, row in zip(found.objects, rows, strict=True):
            assert np.array_equal(one, dataset.objects[row])
    assert {one["label"] for one in document["classes"]} == set(dataset.labels.tolist())
    assert sum(one["prototypes"] for one in document["classes"]) == document["n_prototypes"]


@pytest.mark.parametrize("name", CASES)
def test_the_library_opens_the_model(folder, selected, name):
    model = protoset.load(folder / f"{name}.protoset")
    assert isinstance(model, protoset.DataModel)
    assert model.exemplars_.tolist() == selected[name]["rows"]
    assert model.sample_indices_.tolist() == selected[name]["started_from"]
    adaptation = selected[name]["adaptation"]
    assert model.has_moved == (adaptation is not None and adaptation["moved"])
    options = {"matrix": {"labels": folder / "kinds.txt"}, "table": {"target": "species"}}
    dataset = read(folder / CASES[name][0][0], **options.get(name, {}))
    answers = model.predict(dataset.objects)
    kept = model.sample_indices_
    assert answers[kept].tolist() == dataset.labels[kept].tolist()


def test_series_are_selected_in_the_training_part_and_measured_on_the_test_part(selected):
    document = selected["series"]
    assert document["data"]["n_train"] == 20
    assert max(document["rows"]) < 20
    assert document["test"]["n_objects"] == 30
    assert document["test"]["lower"] <= document["test"]["error"] <= document["test"]["upper"]


def test_predictions_by_the_names_of_columns(folder, selected):
    """Unlabelled, in another order, with a category that the training set does not have."""
    result = run("predict", "table.protoset", "unlabelled.csv", "--output", "predictions.csv", cwd=folder)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert "15 predictions" in result.stderr
    with open(folder / "predictions.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["row"]) for row in rows] == list(range(15))
    right = [row["prediction"] == SPECIES[int(row["row"]) // 5] for row in rows]
    assert np.mean(right) > 0.8


def test_other_uses_of_models(folder, selected):
    commands = [
        ["predict", "matrix.protoset", "rows.csv", "--json"],
        ["predict", "strings.protoset", "strangers.txt"],
        ["predict", "series.protoset", "Bumps/Bumps_TEST.tsv", "--json"],
        ["evaluate", "Bumps/Bumps_TEST.tsv", "--model", "series.protoset", "--json"],
        ["evaluate", "flowers.csv", "--model", "table.protoset"],
        ["evaluate", "unlabelled.csv", "--model", "table.protoset"],
        ["explain", "table.protoset", "unlabelled.csv", "--row", "14", "--json"],
        ["explain", "table.protoset", "flowers.csv", "--row", "0"],
        ["explain", "table.protoset", "flowers.csv", "--row", "150"],
        ["predict", "table.protoset", "names.txt"],
        ["predict", "names.txt", "names.txt"],
        ["predict", "nowhere.protoset", "names.txt"],
        ["predict", "table.protoset", "unlabelled.csv", "--output", "table.protoset", "--force"],
    ]
    answers = run_many(commands, folder)
    assert [code for code, _, _ in answers] == [0, 0, 0, 0, 0, 2, 0, 0, 2, 2, 2, 2, 2]
    matrix, series = json.loads(answers[0][1]), json.loads(answers[2][1])
    assert len(matrix["predictions"]) == 22
    first = matrix["predictions"][0]
    assert list(first) == ["row", "prediction", "probability", "prototype", "distance"]
    assert (first["row"], first["prediction"]) == (0, "setosa")
    strangers = protoset.load(folder / "strings.protoset").predict_details(["Yamada", "Rizzo"])
    written = list(csv.DictReader(answers[1][1].splitlines()))
    assert [row["prediction"] for row in written] == strangers.labels.tolist()
    assert [int(row["prototype"]) for row in written] == strangers.indices.tolist()
    assert [float(row["distance"]) for row in written] == strangers.distances.tolist()
    evaluated = json.loads(answers[3][1])
    assert evaluated["n_errors"] == series["n_errors"] == round(selected["series"]["test"]["error"] * 30)
    assert np.sum(evaluated["confusion"]) == evaluated["n_test"] == 30
    assert "150 objects" in answers[4][1]
    assert "has no labels" in answers[5][2]
    explained = json.loads(answers[6][1])
    assert explained["prototypes"][0]["label"] == explained["prediction"] == "virginica"
    assert explained["prototypes"][0]["row"] in selected["table"]["rows"]
    assert "its label: setosa" in answers[7][1]
    assert "0 to 149" in answers[8][2]
    for code, _, error in answers:
        assert code == 0 or (error.startswith("protoset: ") and error.count("\n") == 1)


def test_a_model_remembers_its_scaling(folder):
    """Lengths in nanometres and in metres are the same objects after z-scoring: raw rows, raw predictions."""
    dataset = read(folder / "flowers.csv", target="species")
    numbers = dataset.objects[:, :4].astype(float) * [1e9, 1, 1, 1e-3]
    np.savetxt(folder / "scaled.csv", np.column_stack([numbers, np.repeat([0, 1, 2], 50)]), delimiter=",")
    run_json(
        *("select", "scaled.csv", "--target", "4", "--model", "scaled.protoset", "--n-prototypes", "10%"), cwd=folder
    )
    model = protoset.load(folder / "scaled.protoset")
    assert (model.preparation.scaling, len(model.sample_indices_)) == ("z", 15)
    prepared = model.preparation
    position = prepared.target_position
    queries = read_queries(
        folder / "scaled.csv", kind="vectors", attributes=prepared.attributes, target_position=position
    )
    scaled = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    assert (model.predict(numbers) == model.classifier.predict(scaled)).all()
    assert np.mean(model.predict(numbers) != np.repeat([0, 1, 2], 50)) < 0.1
    assert np.allclose(queries.objects, numbers, rtol=1e-12)


def test_methods_options_and_a_report(folder):
    words = ["select", "flowers.csv", "--target", "species", "--quiet"]
    commands = [
        [*words, "--report", "page.html", "--method", "reps", "--n-prototypes", "6"],
        [*words, "--method", "drop3", "--metric", "heom", "--param", "n_neighbors=3", "--json"],
        [*words, "--method", "kmedoids", "--n-prototypes", "0.04", "--seed", "1", "--json"],
        [*words, "--json", "--seed", "3", "--n-jobs", "2"],
        [*words, "--json", "--seed", "3"],
    ]
    (code, told, error), *answers = run_many(commands, folder)
    assert (code, error) == (0, "")
    assert "kept 6 of 150 (4.0 %)" in told
    assert told.splitlines()[1] == "labels: column species"
    assert told.splitlines()[2] == "used: 4 numeric, 1 categorical"
    assert told.splitlines()[3].startswith("REPS; ")
    assert (folder / "page.html").read_text().lower().startswith("<!doctype html>")
    documents = [json.loads(out) for _, out, _ in answers]
    assert [document["method"] for document in documents] == ["DROP3", "KMedoids", "REPS", "REPS"]
    assert [document["refined"] for document in documents] == [False, False, True, True]
    assert documents[0]["metric"] == "heom"
    assert documents[1]["n_prototypes"] == 6
    assert documents[2]["rows"] == documents[3]["rows"]


def test_texts_that_spreadsheets_take_for_formulas(tmp_path):
    """They are written exactly as they are, or with an apostrophe before them; numbers never change."""
    marks = ["=cmd|' /C calc'!A1", "-2+3", "@SUM(A1)", "+", "-3.5", "plain"]
    labels = ["=1+1", "@b"]
    rows = [[f"{-0.5 - i}", marks[i % 6], labels[i % 2]] for i in range(24)]
    with open(tmp_path / "cells.csv", "w", newline="") as file:
        csv.writer(file).writerows([["size", "=note", "kind"], *rows])
    (tmp_path / "words.txt").write_text(
        "".join(f"{labels[i % 2]}\t{marks[i % 6]}{'ab'[i % 2] * i}\n" for i in range(24))
    )
    select = ["select", "cells.csv", "--target", "kind", "--method", "enn"]
    words = ["select", "words.txt", "--method", "enn"]
    answers = run_many(
        [
            [*select, "--output", "exact.csv", "--model", "m.protoset"],
            [*select, "--output", "safe.csv", "--spreadsheet-safe"],
            [*words, "--output", "safe.txt", "--spreadsheet-safe"],
            ["predict", "m.protoset", "cells.csv", "--output", "exact_answers.csv"],
            ["predict", "m.protoset", "cells.csv", "--output", "answers.csv", "--spreadsheet-safe"],
            ["predict", "m.protoset", "cells.csv", "--spreadsheet-safe", "--quiet"],
            [*select, "--spreadsheet-safe"],
            ["predict", "--help"],
            ["select", "--help"],
        ],
        tmp_path,
    )
    assert [code for code, _, _ in answers] == [0, 0, 0, 0, 0, 0, 2, 0, 0], answers
    tables = {}
    for name in ("exact.csv", "safe.csv", "exact_answers.csv", "answers.csv"):
        with open(tmp_path / name, newline="") as file:
            tables[name] = list(csv.reader(file))
    assert all(row in rows for row in tables["exact.csv"][1:])
    for exact, safe in (("exact.csv", "safe.csv"), ("exact_answers.csv", "answers.csv")):
        assert {cell for row in tables[exact] for cell in row} & set(marks + labels)
        assert tables[safe] == [
            [f"'{cell}" if cell in ("=note", *marks[:4], *labels) else cell for cell in row] for row in tables[exact]
        ]
    assert answers[5][1] == (tmp_path / "answers.csv").read_text()
    for line in (tmp_path / "safe.txt").read_text().splitlines():
        assert not any(cell.startswith(("=", "+", "@")) for cell in line.split("\t"))
    assert "add --output" in answers[6][2]
    assert all(
        "do not open a file with texts from unknown sources" in " ".join(out.split()) for _, out, _ in answers[7:]
    )


def test_formulas_are_no_matter_in_formats_that_spreadsheets_do_not_open(folder):
    command = ["select", "Bumps", "--output", "safe_kept.tsv", "--spreadsheet-safe"]
    ((code, _, error),) = run_many([command], folder)
    assert code == 2
    assert "--spreadsheet-safe works with CSV files and strings" in error


def test_the_shape_of_images(tmp_path):
    rows = np.random.default_rng(0).integers(0, 9, (40, 4))
    lines = [",".join(map(str, [*row, "ab"[number % 2]])) for number, row in enumerate(rows)]
    (tmp_path / "pixels.csv").write_text("\n".join(["p1,p2,p3,p4,class", *lines]) + "\n")
    words = ["select", "pixels.csv", "--no-error", "--quiet", "--n-prototypes", "4"]
    answers = run_many(
        [
            [*words, "--report", "page.html", "--image-shape", "2x2"],
            [*words, "--report", "none.html", "--image-shape", "none"],
            [*words, "--image-shape", "2x2"],
            [*words, "--report", "wrong.html", "--image-shape", "3x2"],
            [*words, "--report", "wrong.html", "--image-shape", "2"],
        ],
        tmp_path,
    )
    assert [code for code, _, _ in answers[:2]] == [0, 0]
    assert (tmp_path / "page.html").exists()
    assert (tmp_path / "none.html").exists()
    expected = ["--image-shape needs --report", "has 6 values, but the objects have 4", "must be HEIGHTxWIDTH"]
    for (code, out, error), message in zip(answers[2:], expected, strict=True):
        assert (code, out) == (2, "")
        assert message in error
    assert not (tmp_path / "wrong.html").exists()
