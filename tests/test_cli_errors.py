"""Wrong usage and bad input: one clear line on the standard error, exit code 2, no traceback, nothing written."""

import subprocess
import sys

import pytest

from protoset.cli._output import plain

from cli_cases import run, run_many, write_files

TABLE = ["select", "flowers.csv", "--target", "species"]
CASES = {
    "wrong column": (["select", "flowers.csv", "--target", "specie"], "did you mean 'species'"),
    "no such file": (["select", "flower.csv"], "did you mean 'flowers.csv'"),
    "not text": (["select", "binary.csv"], "is it a binary file"),
    "empty file": (["select", "empty.csv"], "the file is empty"),
    "unknown metric": ([*TABLE, "--metric", "gowr"], "--metric='gowr' is not known (did you mean 'gower'"),
    "metric of other objects": ([*TABLE, "--metric", "euclidean"], "categories in colour"),
    "unknown method": ([*TABLE, "--method", "fcn"], "did you mean 'FCNN'"),
    "unknown parameter": ([*TABLE, "--param", "betta=2"], "did you mean 'beta'"),
    "parameter without value": ([*TABLE, "--param", "beta"], "such as window=5"),
    "wrong parameter": ([*TABLE, "--param", "beta=0.5"], "beta=0.5"),
    "wrong scaling": (["select", "Bumps", "--scaling", "z"], "--scaling='z' is for vectors"),
    "wrong size": ([*TABLE, "--n-prototypes", "some"], "--n-prototypes='some' must be auto"),
    "size too small": ([*TABLE, "--n-prototypes", "2"], "at least 3"),
    "size that a method does not take": ([*TABLE, "--method", "fcnn", "--n-prototypes", "9"], "its size itself"),
    "refinement that a method has not": ([*TABLE, "--method", "fcnn", "--refine"], "is for REPS"),
    "matrix without labels": (["select", "distances.csv"], "--labels="),
    "output is there": ([*TABLE, "--output", "names.txt"], "pass --force"),
    "output is the input": ([*TABLE, "--output", "./flowers.csv", "--force"], "never written to"),
    "output is in the input": (["select", "Bumps", "--output", "Bumps/kept.tsv"], "never written to"),
    "output of another format": ([*TABLE, "--output", "kept.arff"], "ends with"),
    "no folder for the output": ([*TABLE, "--model", "nowhere/m.protoset"], "there is no folder 'nowhere'"),
    "two outputs of one name": ([*TABLE, "--model", "a.csv", "--output", "a.csv"], "both"),
    "unknown option": ([*TABLE, "--bogus"], "see protoset select --help"),
    "unknown command": (["selct", "flowers.csv"], "select"),
    "no file": (["select"], "see protoset select --help"),
    "folds of one": (["evaluate", "names.txt", "--folds", "1"], "--folds=1"),
    "folds and holding out": (["evaluate", "names.txt", "--folds", "5", "--holdout", "0.3"], "exclude each other"),
    "unknown method to compare": (["compare", "names.txt", "--methods", "nops,rpes"], "did you mean 'REPS"),
    "plot of no format": (["compare", "names.txt", "--plot", "plot.gif"], ".png, .svg"),
    "no plan": (["experiment", "run", "plan.toml"], "plan.toml"),
    "no journal": (["experiment", "status", "names.txt"], "names.txt"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def answers(folder):
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    found = dict(zip(CASES, run_many([command for command, _ in CASES.values()], folder), strict=True))
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    return found


@pytest.mark.parametrize("name", CASES)
def test_one_clear_line(answers, name):
    code, out, error = answers[name]
    assert (code, out) == (2, ""), error
    assert error.startswith("protoset: ")
    assert error.endswith("\n")
    assert error.count("\n") == 1
    assert CASES[name][1] in error


def test_the_same_in_a_process_of_its_own(folder):
    result = run("select", "flowers.csv", "--target", "specie", cwd=folder)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    debugged = run("select", "flowers.csv", "--target", "specie", "--debug", cwd=folder)
    assert debugged.returncode == 2
    assert "Traceback" in debugged.stderr
    assert debugged.stderr.endswith(result.stderr)


def test_hostile_labels_stay_text_on_a_terminal(tmp_path):
    """Neither escape sequences nor rich's markup from data reach the terminal."""
    lines = [f"{label}\t{word}" for label in ("[bold]b[/bold]", "[link=x]") for word in ("one", "two", "three")]
    (tmp_path / "names.txt").write_text("\n".join(lines) + "\n")
    result = run("select", "names.txt", "--method", "fcnn", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "[bold]b[/bold]" in result.stdout
    assert "[link=x]" in result.stdout
    assert plain("\x1b[31mred\n") == "\\x1b[31mred\\n"


def test_a_reader_that_has_enough(folder):
    """``protoset datasets | head -1`` ends without a traceback."""
    process = subprocess.Popen(
        [sys.executable, "-m", "protoset", "datasets"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
    )
    process.stdout.close()
    said, code = process.stderr.read(), process.wait(60)
    process.stderr.close()
    assert (code, said) == (1, b"")
