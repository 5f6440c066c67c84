"""Wrong usage and bad input: one clear line on the standard error, exit code 2, no traceback, nothing written."""

import os
import shutil
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
    "wrong scaling": (["select", "Bumps", "--scaling", "z"], "--scaling='z' works for vectors"),
    "wrong size": ([*TABLE, "--n-prototypes", "some"], "--n-prototypes='some' must be auto"),
    "size too small": ([*TABLE, "--n-prototypes", "2"], "at least 3"),
    "size that a method does not take": ([*TABLE, "--method", "fcnn", "--n-prototypes", "9"], "its size itself"),
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


GIVEN = {
    "--method": "fcnn",
    "--folds": "5",
    "--holdout": "0.3",
    "--kind": "mixed",
    "--scaling": "z",
    "--n-prototypes": "auto",
    "--param": "beta=2",
    "--metric": "auto",
    "--metric-param": "p=2",
}


def test_a_model_takes_no_options_of_methods(folder):
    """Not even those that say what is said by default; and it is refused before the model is looked for."""
    words = ["evaluate", "flowers.csv", "--model", "nowhere.protoset"]
    answers = run_many([[*words, option, value] for option, value in GIVEN.items()] + [words], folder)
    for (code, out, error), option in zip(answers, GIVEN, strict=False):
        assert (code, out) == (2, "")
        assert f"--model and {option} exclude each other" in error
    assert "there is no model 'nowhere.protoset'" in answers[-1][2]


SLOW = """
import sys
from protoset import models
def never(*_, **__):
    raise AssertionError("the work was begun")
models.fit_model = never
from protoset.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run_without_work(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-c", SLOW, *arguments], capture_output=True, text=True, cwd=cwd, check=False
    )


def test_outputs_are_refused_before_the_work(tmp_path):
    folder = write_files(tmp_path)
    wrong = run_without_work(*TABLE, "--output", "kept.arff", cwd=folder)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "kept.arff: the data were read as csv" in wrong.stderr
    (folder / "kept_labels.txt").write_text("mine\n")
    words = ["select", "distances.csv", "--labels", "kinds.txt", "--output", "kept.csv"]
    there = run_without_work(*words, cwd=folder)
    assert (there.returncode, there.stdout) == (2, "")
    assert "kept_labels.txt: exists" in there.stderr
    assert (folder / "kept_labels.txt").read_text() == "mine\n"
    assert "the work was begun" in run_without_work(*words, "--force", cwd=folder).stderr


WITHOUT_MATPLOTLIB = """
import sys
sys.modules["matplotlib"] = None
from protoset import experiments
if "--plot" in sys.argv:
    experiments.compare = None
from protoset.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_plot_without_matplotlib_is_refused_before_the_work(folder):
    """And a comparison without a plot does not need it."""
    words = ["compare", "names.txt", "--methods", "nops,fcnn", "--folds", "2"]
    run_without = [sys.executable, "-c", WITHOUT_MATPLOTLIB]
    refused, done = (
        subprocess.run([*run_without, *words, *more], capture_output=True, text=True, cwd=folder, check=False)
        for more in (["--plot", "p.svg"], [])
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "pip install 'protoset[plots]'" in refused.stderr
    assert not (folder / "p.svg").exists()
    assert done.returncode == 0, done.stderr
    assert "FCNN" in done.stdout


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


def test_a_full_disk_is_a_failed_run(folder, small_disk):
    """Not wrong usage: exit code 1, one line, and no half of a file stays."""
    (small_disk / "fill").write_bytes(bytes(shutil.disk_usage(small_disk).free))
    (folder / "small.toml").write_text('data = [{path = "flowers.csv", target = "species"}]\nmethods = ["FCNN"]\n')
    fcnn = [*TABLE, "--method", "fcnn"]
    commands = [
        [*fcnn, "--output", small_disk / "kept.csv"],
        [*fcnn, "--model", small_disk / "kept.protoset"],
        [*fcnn, "--report", small_disk / "kept.html"],
        ["compare", "names.txt", "--methods", "fcnn", "--folds", "2", "--plot", small_disk / "plot.png"],
        ["experiment", "run", "small.toml", "--journal", small_disk / "small.journal"],
        ["experiment", "run", "small.toml"],
        ["experiment", "merge", small_disk / "all.journal", "small.journal"],
        ["experiment", "export", "small.journal", small_disk / "small.csv"],
        ["demo", "--output", small_disk],
    ]
    answers = run_many(commands, folder)
    assert [code for code, _, _ in answers] == [1, 1, 1, 1, 1, 0, 1, 1, 1], answers
    for code, _, error in answers:
        assert error.count("\n") == code
        assert not code or "disk is full" in error or "No space left" in error
    assert [file.name for file in small_disk.rglob("*") if file.is_file() and file.stat().st_size] == ["fill"]


def test_an_error_that_ctrl_c_causes_is_an_interruption(folder):
    """Libraries may raise another error in place of KeyboardInterrupt."""
    code = f"""
import os, signal, sys
from protoset import persistence
from protoset.cli import main

def interrupted(*_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
    finally:
        raise ValueError("cannot close the archive")

persistence.save = interrupted
sys.exit(main({[*TABLE, "--method", "fcnn", "--model", "it.protoset"]!r}))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)
    assert result.returncode == 130, result.stderr
    assert result.stderr == "protoset: interrupted; files that were not finished are not there\n"


def test_ctrl_c_within_an_exec_of_text_keeps_the_exit_code(folder, tmp_path):
    """An import may exec text; Python remembers Ctrl-C in it, and ``python -m`` would end by the signal."""
    (tmp_path / "interrupted.py").write_text(
        f"""
import sys
from protoset import persistence
from protoset.cli import main

text = "import os, signal; os.kill(os.getpid(), signal.SIGINT); signal.pause()"
persistence.save = lambda *_: exec(text)
sys.exit(main({[*TABLE, "--method", "fcnn", "--model", "it.protoset"]!r}))
"""
    )
    result = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        check=False,
    )
    assert result.returncode == 130, result.stderr
    assert result.stderr == "protoset: interrupted; files that were not finished are not there\n"
