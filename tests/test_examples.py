"""The gallery: every example runs in silence, without a network, in less than half a minute."""

import ast
import os
import subprocess
import sys

import pytest

from conftest import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONGEST_SECONDS = 30
"""CPU seconds of an example; what is compiled for the first time comes to that, so it is not counted."""


def test_there_are_at_least_fifteen():
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_it_begins_with_a_title(example):
    title, line, *_ = ast.get_docstring(ast.parse(example.read_text())).splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_it_runs(example, tmp_path):
    pytest.importorskip("matplotlib")
    if example.stem == "dask_cluster":
        pytest.importorskip("distributed")
    # A proxy that is not there: a download would fail.
    proxies = {"http_proxy": "http://localhost:9", "https_proxy": "http://localhost:9"}
    environment = os.environ | {"MPLBACKEND": "Agg"} | proxies
    started = os.times()
    result = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    ended = os.times()
    assert result.returncode == 0, result.stderr
    assert not list(tmp_path.iterdir()), "an example leaves files where it runs"
    assert ended.children_user - started.children_user < LONGEST_SECONDS
