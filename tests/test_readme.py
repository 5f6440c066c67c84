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

README = (ROOT / "README.md").read_text()


def blocks_of(text):
    """Pairs of a language and a block of code."""
    return re.findall(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


PROGRAM_PAGES = ["adaptation", "baselines", "decisions", "notebooks", "refinement", "scaling"]
"""Pages whose Python blocks are programs of their own."""

PROGRAMS = {
    f"{path.stem}-{number}": program
    for path in [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in PROGRAM_PAGES)]
    for number, program in enumerate(code for language, code in blocks_of(path.read_text()) if language == "python")
}
SHELL = [
    code
    for text in (README, (ROOT / "docs" / "benchmarks.md").read_text())
    for language, code in blocks_of(text)
    if language == "sh"
]


def test_the_readme_is_short_and_has_an_example():
    assert len(README.splitlines()) <= 200
    assert {language for language, _ in blocks_of(README)} == {"python", "sh"}, "a language that no test runs"
    assert "README-0" in PROGRAMS


def test_every_page_of_programs_has_one():
    assert {name.split("-")[0] for name in PROGRAMS} == {"README", *PROGRAM_PAGES}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    """Each block in a fresh interpreter and folder; a comment after a print is what it prints."""
    program = PROGRAMS[name]
    command = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert result.returncode == 0, result.stderr
    promised = re.findall(r"^print\(.*\)  # (.*)$", program, re.MULTILINE)
    assert len(promised) == program.count("print(")
    assert result.stdout.splitlines() == promised


def test_measured_commands_are_benchmarks():
    commands = re.findall(r"\| `(\w+)(?: FOLDER)?` \|$", README, re.MULTILINE)
    assert len(commands) == 10
    for command in commands:
        assert (ROOT / "benchmarks" / f"{command}.py").exists(), command


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


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def anchors(page):
    """Names of the headings of a page, as GitHub and Sphinx make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        target, _, anchor = link.partition("#")
        if "://" not in target:
            other = page.parent / target if target else page
            assert other.exists(), link
            assert not anchor or anchor in anchors(other), link
