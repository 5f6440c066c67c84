"""Doors for plans and for the command, which runs in this process."""

from __future__ import annotations

import contextlib
import io
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from campaigns.checks import require
from campaigns.data_files import TEXTS, data_file
from campaigns.model_files import saved, saved_data
from campaigns.outcomes import is_documented
from campaigns.values import scratch
from protoset.cli import app
from protoset.exceptions import PlanError
from protoset.experiments import read_plan

DATA_FILES = {
    "vectors": "vectors.csv",
    "mixed": "mixed.csv",
    "series": "series_TRAIN.tsv",
    "strings": "strings.txt",
    "matrix": "matrix.npz",
}
"""Files of the workspace, by kind."""

COMMAND_CODES = (0, 1, 2)
"""Exit codes of the command without an interruption."""


def plan(document: Any) -> None:
    """Read a plan; its cells are distinct."""
    try:
        made = read_plan(document)
    except PlanError as error:
        require("\n" not in str(error), "an error of a plan has several lines")
        raise
    ids = [cell.id for cell in made.cells]
    require(ids and len(set(ids)) == len(ids), "cells of a plan are not distinct")


def plan_text(text: str) -> None:
    """Read a plan from a TOML file."""
    path = scratch() / "plan.toml"
    path.write_text(text, encoding="utf-8")
    plan(path)


@cache
def _workspace_files() -> dict[str, bytes]:
    """Files of the workspace by name: data of each kind, models, plans, and broken files."""
    files = {"plain.model": saved("euclidean"), "broken.model": saved("euclidean")[:-30], "empty.csv": b""}
    for kind, name in DATA_FILES.items():
        files[name] = data_file(kind, Path(name).suffix)
        files[f"{kind}.model"] = saved_data(kind)
    files |= {f"small{ending}": text.encode() for ending, text in TEXTS.items()}
    files["plan.toml"] = b'data = [{path = "vectors.csv", target = "class"}]\nmethods = ["FCNN", "ENN"]\nfolds = 2\n'
    files["bad.toml"] = b"data = 3\n"
    return files


def workspace() -> Path:
    """A folder with the same files for every case, whatever the case before it has written."""
    folder = scratch() / "workspace"
    if _state(folder) != _workspace_made.get("state"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, content in _workspace_files().items():
            (folder / name).write_bytes(content)
        _workspace_made["state"] = _state(folder)
    return folder


_workspace_made: dict[str, Any] = {}
"""State of the workspace just after it was made."""


def _state(folder: Path) -> list[tuple[str, int, int]]:
    """Return path, size and time of every file."""
    entries = sorted(folder.rglob("*")) if folder.is_dir() else []
    return [(str(entry), entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries]


def command(*words: str) -> None:
    """Run the command in the workspace; check its exit code, and that it prints no traceback."""
    seen: list[BaseException] = []
    judge = app.judge

    def listening(error: BaseException) -> tuple[int, str]:
        seen.append(error)
        return judge(error)

    output, complaints = io.StringIO(), io.StringIO()
    app.judge = listening
    try:
        with contextlib.chdir(workspace()), contextlib.redirect_stdout(output), contextlib.redirect_stderr(complaints):
            code = app.run(list(words))
    finally:
        app.judge = judge
    require(code in COMMAND_CODES, f"exit code: {code}")
    require("Traceback" not in complaints.getvalue(), "a traceback on the standard error")
    if code == 0:
        return
    if seen:
        expected = 2 if is_documented(seen[0]) else 1
        if expected == 2:
            require(code == 2 or isinstance(seen[0], (MemoryError, RuntimeError, OSError)), f"exit code: {code}")
        raise seen[0]
    require("protoset" in complaints.getvalue() or code == 2, "a failed run says nothing")


COMMAND_DOORS = (plan, plan_text, command)
