"""The command as a whole: help, version, demo, completion, interruption, missing libraries."""

import csv
import json
import os
import pty
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import protoset

from cli_cases import run, run_alone, run_many

HEAVY = ("numpy", "scipy", "sklearn", "numba", "joblib", "pandas", "matplotlib", "rich")


def test_version():
    result = run_alone("--version")
    assert (result.returncode, result.stdout) == (0, f"protoset {protoset.__version__}\n")


def test_no_command_shows_the_help():
    result = run_alone()
    assert result.returncode == 2
    assert "demo" in result.stdout


def test_help_imports_nothing_heavy_and_says_the_exit_codes():
    commands = [["--help"], ["select", "--help"], ["experiment", "run", "--help"], ["paper", "report", "--help"]]
    program = (
        "import sys, io, contextlib\nfrom protoset.cli import main\n"
        f"for command in {commands!r}:\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "        assert main(command) == 0\n"
        "    assert 'Usage: protoset' in out.getvalue()\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
    text = " ".join(run("select", "--help").stdout.split())
    assert "0 success, 1 failed run, 2 wrong usage or bad input, 130 interrupted" in text


def test_names_of_the_package_are_imported_when_they_are_used():
    program = (
        "import sys, protoset; before = 'sklearn' in sys.modules; protoset.REPS; "
        "print(before, protoset.spaces.__name__)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "protoset.spaces"]
    assert set(protoset.__all__) <= set(dir(protoset))
    with pytest.raises(AttributeError, match="no attribute 'selectprototypes'"):
        _ = protoset.selectprototypes


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_its_libraries_it_says_what_to_install(missing):
    program = f"import sys; sys.modules[{missing!r}] = None; from protoset.cli import main; sys.exit(main(['demo']))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    way_out = "run pip install 'protoset[cli]' (in a clone: pip install '.[cli]')"
    assert result.stderr == f"protoset: the command needs {missing}; {way_out}\n"


def test_shell_completion(tmp_path):
    def complete(words):
        return run_alone(
            env={"_PROTOSET_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        ).stdout.split()

    assert complete("protoset ex") == ["explain", "experiment"]
    assert complete("protoset select x --method fc") == ["fcnn"]


def test_version_and_datasets(tmp_path):
    commands = [
        ["version", "--json"],
        ["version"],
        ["datasets", "list", "--json"],
        ["datasets"],
        ["datasets", "show", "Iris", "--json"],
        ["datasets", "show", "irsi"],
        ["datasets", "save", "iris", "iris.csv"],
        ["datasets", "save", "iris", "iris.csv"],
    ]
    answers = run_many(commands, tmp_path)
    assert [code for code, _, _ in answers] == [0, 0, 0, 0, 0, 2, 0, 2]
    assert json.loads(answers[0][1])["protoset"] == protoset.__version__
    assert f"protoset {protoset.__version__}" in answers[1][1]
    assert len(json.loads(answers[2][1])["datasets"]) == 61
    assert len(answers[3][1].splitlines()) == 62
    assert json.loads(answers[4][1])["objects_found"] == 150
    assert "did you mean 'iris'" in answers[5][2]
    assert "--force" in answers[7][2]
    assert len((tmp_path / "iris.csv").read_text().splitlines()) == 151


def test_demo(tmp_path):
    result = run_alone("demo", "--output", "results", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert f"Results are in {tmp_path / 'results'}" in result.stdout
    lines = result.stdout.splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 100
    first = lines.index("") + 2
    for line, name in zip(lines[first:], ("wine", "breast_cancer", "digits", "bumps", "wine_l1"), strict=False):
        assert str(tmp_path / "results" / f"{name}.html") in result.stdout
        assert "<script" in (tmp_path / "results" / f"{name}.html").read_text()
        model = protoset.load(tmp_path / "results" / f"{name}.protoset")
        assert model.has_moved == (name != "wine_l1")
        with open(tmp_path / "results" / f"{name}_prototypes.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [int(row["nearest_row"]) for row in rows] == model.exemplars_.tolist()
        assert [row["label"] for row in rows] == model.prototype_labels_.tolist()
        numbers = line[21:].replace("(", " ").split()
        assert [int(numbers[0]), int(numbers[1])] == [model.classifier.class_counts_.sum(), len(rows)], line
        error, guess = (float(number) for number in numbers[4:6])
        assert error < guess, line


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "results").write_text("a file is in the way")
    result = run("demo", "--output", "results", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith("protoset: cannot write the results to 'results'")
    assert "Traceback" not in result.stderr


def test_ctrl_c_in_a_long_selection_leaves_no_file(tmp_path):
    """On a terminal, where it shows its progress; the search itself would end with the best set so far."""
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(2000, 5)), rng.integers(0, 2, 2000)])
    np.savetxt(tmp_path / "noise.csv", table, delimiter=",")
    ours, theirs = pty.openpty()
    words = "select noise.csv --target 5 --method ssma --param max_evaluations=1000000000"
    words += " --output kept.csv --model m.protoset"
    process = subprocess.Popen(
        [sys.executable, "-m", "protoset", *words.split()],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"COLUMNS": "100", "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    while b"evaluations" not in shown and process.poll() is None:
        shown += os.read(ours, 4096)
    assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # nobody writes any more
            break
        if not part:
            break
        shown += part
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 130, shown
    assert out == b""
    last = shown.decode().splitlines()[-1]
    assert last.endswith("protoset: interrupted; files that were not finished are not there")
    assert b"Traceback" not in shown
    assert [file.name for file in tmp_path.iterdir()] == ["noise.csv"]
