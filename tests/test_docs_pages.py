"""The pages of the site: every program on them runs and prints what it promises."""

import importlib.util
import re
import subprocess
import sys

import pytest

from conftest import ROOT

DOCS = ROOT / "docs"
FOLDERS = ("start", "guide", "contributing", "reference")
PAGES = sorted([*(page for folder in FOLDERS for page in (DOCS / folder).glob("*.md")), *DOCS.glob("[cfi]*.md")])
PAGES = [page for page in PAGES if page.name not in ("command.md",)]
"""Pages that other tests do not run."""

PROGRAMS = {page: re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE) for page in PAGES}
PEERS = ("aeon", "imblearn", "tslearn")
"""Libraries that readers come from; they are not needed to develop protoset."""


def run(program, folder):
    """Run a program; each of its prints is followed by a comment with what it prints."""
    command = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert result.returncode == 0, result.stderr
    promised = re.findall(r"^ *print\(.*\)  # (.*)$", program, re.MULTILINE)
    assert len(promised) == program.count("print(")
    assert result.stdout.splitlines() == promised


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if PROGRAMS[page]], ids=lambda page: page.stem)
def test_the_blocks_of_a_page_are_one_program(page, tmp_path):
    if page.name == "coming_from.md":
        pytest.skip("its blocks are programs of their own; see below")
    run("".join(PROGRAMS[page]), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PROGRAMS.get(DOCS / "coming_from.md", []))))
def test_before_and_after(number, tmp_path):
    program = PROGRAMS[DOCS / "coming_from.md"][number]
    for peer in PEERS:
        if f"from {peer}" in program and importlib.util.find_spec(peer) is None:
            pytest.skip(f"no {peer}")
    run(program, tmp_path)


def test_the_pages_have_programs():
    with_programs = [page for page in PAGES if PROGRAMS[page]]
    assert len(with_programs) >= 15


def test_no_page_has_a_language_that_no_test_runs():
    for page in PAGES:
        text = page.read_text()
        languages = set(re.findall(r"^```(\w+)$", text, re.MULTILINE))
        assert languages <= {"python", "sh", "text"}, f"{page.name}: {languages}"
