"""The command, through a real subprocess."""

import csv
import subprocess
import sys

import protoset


def run(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "protoset", *arguments], capture_output=True, text=True, cwd=cwd, check=False
    )


def test_version():
    result = run("--version")
    assert (result.returncode, result.stdout) == (0, f"protoset {protoset.__version__}\n")


def test_no_command_shows_the_help():
    result = run()
    assert result.returncode == 2
    assert "demo" in result.stdout


def test_demo(tmp_path):
    result = run("demo", "--output", "results", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert f"Results are in {tmp_path / 'results'}" in result.stdout
    for name in ("wine", "breast_cancer", "digits"):
        classifier = protoset.load(tmp_path / "results" / f"{name}.protoset")
        with open(tmp_path / "results" / f"{name}_prototypes.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [int(row["row"]) for row in rows] == classifier.sample_indices_.tolist()
        assert [row["label"] for row in rows] == [str(label) for label in classifier.prototype_labels_]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "results").write_text("a file is in the way")
    result = run("demo", "--output", "results", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith("protoset: cannot write the results to 'results'")
    assert "Traceback" not in result.stderr
