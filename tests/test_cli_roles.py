"""Roles of columns on the command line: printed, chosen by options, kept by models."""

import json

import numpy as np
import pytest

from protoset.datasets import read

from cli_cases import run_many


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("roles")
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1], 20)
    lines = ["id;size;share;colour;when;note;kind"]
    for row, kind in enumerate(kinds):
        size = f"{rng.normal(3 * kind, 0.5):.2f}".replace(".", ",")
        colour, day = rng.choice(["red", "blue"]), rng.integers(1, 28)
        lines.append(f"{row:03};{size};{rng.integers(5, 90)} %;{colour};{day}.1.2020;note {row};{'uv'[kind]}")
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    (folder / "bars.csv").write_text("\n".join(lines).replace(";", "|") + "\n")
    return folder


def test_the_roles_are_printed(folder):
    words = ["table.csv", "--target", "kind", "--method", "fcnn"]
    commands = [
        ["select", *words[:3], "--method", "enn", "--output", "kept.csv", "--model", "m.protoset"],
        ["evaluate", *words],
        ["compare", *words[:3], "--methods", "nops,fcnn"],
        ["select", *words, "--json"],
        ["evaluate", *words, "--json"],
        ["compare", *words[:3], "--methods", "nops,fcnn", "--json"],
        ["predict", "m.protoset", "kept.csv", "--json"],
        ["evaluate", "kept.csv", "--model", "m.protoset"],
        ["evaluate", "kept.csv", "--model", "m.protoset", "--ignore", "size"],
        ["evaluate", "kept.csv", "--model", "m.protoset", "--json"],
        ["evaluate", "kept.csv", "--model", "m.protoset", "--target", "colour"],
        ["evaluate", "kept.csv", "--model", "m.protoset", "--target", "color"],
    ]
    answers = run_many(commands, folder)
    assert [code for code, _, _ in answers] == [0] * 8 + [2, 0, 0, 2], answers
    line = "used: 2 numeric (share in %), 1 categorical, 1 date (days); left out: id (unique), note (text)"
    assert all(line in out.splitlines() for _, out, _ in answers[:3])
    expected = {
        "used": {"numeric": ["size", "share"], "categorical": ["colour"], "dates": ["when"]},
        "left_out": {"id": "unique", "note": "text"},
        "id": "id",
    }
    documents = [json.loads(out) for _, out, _ in answers[3:7]]
    assert documents[0]["data"]["roles"] == documents[1]["roles"] == documents[2]["roles"] == expected
    # All columns of the source are in the output, whose rows are rows of the source but for the spelling of numbers.
    source, kept = read(folder / "table.csv", target="kind"), read(folder / "kept.csv", target="kind", id="id")
    rows = [source.ids.tolist().index(name) for name in kept.ids]
    assert kept.columns == source.columns
    assert kept.objects.tolist() == source.objects[rows].tolist()
    assert documents[3]["n_errors"] == 0
    assert "--model and --ignore exclude each other" in answers[8][2]
    # A model knows which columns it uses, not why others were left out.
    of_model = line.replace("id (unique), note (text)", "id (id), note (not used)")
    assert of_model in answers[7][1].splitlines()
    assert json.loads(answers[9][1])["roles"] == expected | {"left_out": {"id": "id", "note": "not used"}}
    assert answers[10][1].splitlines()[2].startswith("error 1.000")
    assert "has no labels to compare predictions with: there is no complete column 'color'; name" in answers[11][2]


OPTIONS = {
    (
        "--ignore",
        "size",
        "--ignore",
        "when",
    ): "used: 1 numeric (share in %), 1 categorical; left out: id (unique), size "
    "(ignored), when (ignored), note (text)",
    ("--use", "id"): "used: 3 numeric (share in %), 1 categorical, 1 date (days); left out: note (text)",
    ("--use", "*"): "used: 3 numeric (share in %), 2 categorical, 1 date (days)",
    ("--id", "note"): "used: 2 numeric (share in %), 1 categorical, 1 date (days); left out: id (unique), note (id)",
    ("--categorical", "share"): "used: 1 numeric, 2 categorical, 1 date (days); left out: id (unique), note (text)",
    ("--numeric", "id"): "used: 3 numeric (share in %), 1 categorical, 1 date (days); left out: note (text)",
    ("--text", "colour"): "used: colour (text); left out: id (unique), size (unused), share (unused), when (unused), "
    "note (text)",
    (
        "--decimal",
        ",",
        "--separator",
        ";",
        "--header",
    ): "used: 2 numeric (share in %), 1 categorical, 1 date (days); left out: id (unique), note (text)",
}


def test_every_option(folder):
    words = ["evaluate", "table.csv", "--target", "kind", "--method", "enn"]
    answers = run_many([[*words, *options] for options in OPTIONS], folder)
    for (code, out, error), (options, line) in zip(answers, OPTIONS.items(), strict=True):
        assert code == 0, error
        assert out.splitlines()[1] == line, options


def test_other_files_and_wrong_options(folder):
    words = ["--target", "kind", "--method", "enn"]
    text = (folder / "table.csv").read_text()
    (folder / "tabs.csv").write_text(text.replace(";", "\t"))
    (folder / "bare.csv").write_text(text.partition("\n")[2])
    commands = [
        ["select", "bars.csv", *words, "--separator", "|", "--model", "bars.protoset"],
        ["predict", "bars.protoset", "bars.csv"],
        ["evaluate", "tabs.csv", *words, "--separator", "tab", "--decimal", ","],
        ["evaluate", "bare.csv", "--target", "6", "--method", "enn", "--no-header"],
        ["evaluate", "table.csv", "--method", "enn"],
        ["evaluate", "table.csv", *words, "--ignore", "sise"],
        ["evaluate", "table.csv", *words, "--ignore", "size", "--use", "size"],
        ["evaluate", "table.csv", *words, "--decimal", "x"],
        ["evaluate", "table.csv", "--target", "note"],
    ]
    answers = run_many(commands, folder)
    assert [code for code, _, _ in answers] == [0, 0, 0, 0, 2, 2, 2, 2, 2], answers
    assert len(answers[1][1].splitlines()) == 41
    assert "left out: column 1 (unique), column 6 (text)" in answers[3][1]
    errors = [error for _, _, error in answers[4:]]
    assert "found 2 columns of categories (colour, kind); name it by --target=. There are id, size" in errors[0]
    assert "there is no column --ignore='sise' (did you mean 'size'?)" in errors[1]
    assert "the column 'size' is both --ignore= and --use=, which exclude each other" in errors[2]
    assert "--decimal='x' must be '.' or ','" in errors[3]
    assert "expected classes in 'note', found 40 different labels in 40 rows" in errors[4]
    assert all(error.count("\n") == 1 for error in errors)
