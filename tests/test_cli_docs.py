"""The examples of docs/command.md run as they stand, in a real shell."""

import os
import re
import subprocess

import pytest

from cli_cases import quick_command
from conftest import ROOT

typer = pytest.importorskip("typer", reason="no typer: pip install 'protoset[cli]'")

PAGE = (ROOT / "docs" / "command.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def without_times(text):
    """Remove the CPU seconds at the end of the rows of a table."""
    return re.sub(r"  +\d+\.\d\d$", "", text, flags=re.MULTILINE)


@pytest.mark.slow
def test_the_examples_run_one_after_the_other(tmp_path):
    assert {language for language, _ in BLOCKS} == {"sh", "text"}
    work = tmp_path / "work"
    work.mkdir()
    result = subprocess.run(
        ["sh", "-eu", "-c", "\n".join(code for language, code in BLOCKS if language == "sh")],
        capture_output=True,
        text=True,
        cwd=work,
        env=os.environ | {"PATH": f"{quick_command().parent}{os.pathsep}{os.environ['PATH']}"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    printed = without_times(result.stdout)
    for language, block in BLOCKS:
        assert language == "sh" or without_times(block) in printed, block
    promised = ["prototypes.csv", "iris.protoset", "iris.html", "predictions.csv", "front.svg", "table.csv"]
    assert set(promised) <= {file.name for file in work.iterdir()}
    assert (work / "paper-output" / "report" / "report.md").read_text().startswith("# ")


def test_the_page_names_every_command():
    from protoset.cli.app import app

    commands = typer.main.get_command(app).commands
    for name, command in commands.items():
        assert re.search(rf"^## .*\b{name}\b", PAGE, re.MULTILINE), name
        for inner in getattr(command, "commands", {}):
            assert re.search(rf"{name} {inner}\b|`{inner}`", PAGE), f"{name} {inner}"
