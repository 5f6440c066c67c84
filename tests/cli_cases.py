"""Files for the tests of the command, and how it is run."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

pytest.importorskip("typer", reason="no typer: pip install 'protoset[cli]'")

SPECIES = np.array(["setosa", "versicolor", "virginica"])
COLUMNS = ["length", "width", "petal length", "petal width", "colour", "species"]

DRIVER = """
import contextlib, io, json, sys
from protoset.cli import main
answers = []
for arguments in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    answers.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(answers))
"""


def run(*arguments, cwd=None, env=None):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "protoset", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=None if env is None else os.environ | env,
        check=False,
    )


def run_json(*arguments, cwd=None):
    """Run the command with --json and return its document; nothing else may be on the standard output."""
    result = run(*arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def run_many(commands, cwd):
    """Run several commands in one process, which need not import everything anew; (code, out, err) of each."""
    commands = [[str(word) for word in command] for command in commands]
    result = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def write_files(folder):
    """Write a table with categories and labels that are texts, a UCR folder, a matrix with labels, strings."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    colours = np.where(y == 0, "red", rng.choice(["blue", "white"], len(y)))
    with open(folder / "flowers.csv", "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *zip(*X.T.tolist(), colours.tolist(), SPECIES[y].tolist(), strict=True)])
    # Other order, no labels, a colour that nobody has seen.
    with open(folder / "unlabelled.csv", "w", newline="") as file:
        rows = zip(["green"] * 15, *X[::10].T.tolist(), strict=True)
        csv.writer(file).writerows([["colour", *COLUMNS[:4]], *rows])
    np.savetxt(folder / "distances.csv", cdist(X, X), delimiter=",")
    (folder / "kinds.txt").write_text("\n".join(SPECIES[y]) + "\n")
    np.savetxt(folder / "rows.csv", cdist(X[::7], X), delimiter=",")
    (folder / "Bumps").mkdir()
    for part, n in (("TRAIN", 20), ("TEST", 30)):
        kind, t = np.arange(n) % 2, np.linspace(0, 1, 40)
        width = np.where(kind == 0, 0.05, 0.1)[:, None]
        series = np.exp(-(((t - rng.uniform(0.3, 0.7, (n, 1))) / width) ** 2))
        np.savetxt(folder / "Bumps" / f"Bumps_{part}.tsv", np.column_stack([kind + 1, series]), delimiter="\t")
    japanese = ["Sato", "Suzuki", "Takahashi", "Tanaka", "Watanabe", "Ito", "Yamamoto", "Nakamura", "Kobayashi", "Kato"]
    italian = ["Rossi", "Russo", "Ferrari", "Esposito", "Bianchi", "Romano", "Colombo", "Ricci", "Marino", "Greco"]
    lines = [f"Japan\t{name}" for name in japanese] + [f"Italy\t{name}" for name in italian]
    (folder / "names.txt").write_text("\n".join(lines) + "\n")
    (folder / "strangers.txt").write_text("Yamada\nRizzo\n")
    (folder / "empty.csv").write_text("")
    (folder / "binary.csv").write_bytes(bytes(range(256)))
    return folder
