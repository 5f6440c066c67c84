"""Every code block of the README runs as printed."""

import doctest
import re
import subprocess
import sys

import pytest

import protoset
from protoset import classifier, selectors
from protoset.experiments import parsing

from conftest import ROOT

BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
PYTHON = [code for language, code in BLOCKS if language == "python"]
SHELL = [code for language, code in BLOCKS if language in ("sh", "bash", "console")]


def test_the_readme_has_examples():
    assert len(PYTHON) >= 3
    assert len(BLOCKS) == len(PYTHON) + len(SHELL), "a block in a language that no test runs"


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_python_block(number, tmp_path):
    """Each block in a fresh interpreter and folder; a comment after a print is what it prints."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", PYTHON[number]],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    promised = re.findall(r"^print\(.*\)  # (.*)$", PYTHON[number], re.MULTILINE)
    assert len(promised) == PYTHON[number].count("print(")
    assert result.stdout.splitlines() == promised


def test_shell_blocks_name_only_commands_that_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in "\n".join(SHELL).splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "make":
            assert words[1] in targets, line
        elif words[0] == "protoset":
            # Its examples are run by tests/test_cli_docs.py.
            assert line in (ROOT / "docs" / "command.md").read_text().splitlines(), line
        elif words[:3] == ["python", "-m", "protoset"]:
            result = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
            assert result.returncode == 0, line
        elif words[:2] == ["python", "-m"]:
            assert (ROOT / (words[2].replace(".", "/") + ".py")).exists(), line
        else:
            assert words[:2] == ["pip", "install"], line


PAGE = (ROOT / "docs" / "experiments.md").read_text()


def test_the_page_about_experiments(tmp_path):
    """Its blocks are one program, in one folder, with the plan as a file."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert [language for language, _ in blocks] == ["toml", *["python"] * 6]
    (tmp_path / "plan.toml").write_text(blocks[0][1])
    program = "".join(code for language, code in blocks if language == "python")
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert result.returncode == 0, result.stderr
    promised = re.findall(r"^print\(.*\)  # (.*)$", program, re.MULTILINE)
    assert len(promised) == program.count("print(")
    assert result.stdout.splitlines() == promised


@pytest.mark.parametrize("block", [0, 1])
@pytest.mark.parametrize("name", ["adaptation", "decisions"])
def test_the_pages_about_adaptation_and_decisions(tmp_path, name, block):
    """Their blocks print what they promise."""
    page = (ROOT / "docs" / f"{name}.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(programs) == 2
    program = programs[block]
    command = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", program, re.MULTILINE)


EXAMPLES = [
    classifier,
    selectors,
    parsing,
    *{sys.modules[selector.__module__] for _, selector in selectors.all_selectors()},
]


@pytest.mark.parametrize("module", sorted(EXAMPLES, key=lambda module: module.__name__))
def test_docstring_examples(module):
    examples = doctest.testmod(module)
    assert examples.failed == 0
    assert examples.attempted > 0


def test_the_version_is_in_the_changelog():
    assert f"## {protoset.__version__}" in (ROOT / "CHANGELOG.md").read_text()


PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target
