"""The files of a release: metadata, citation, templates, the workflow, lowest versions, distributions."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import protoset
from protoset._extras import how_to_install

from conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text()


def tool(name):
    """Import a script of the folder tools."""
    specification = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def project_files():
    """All text files that belong to the project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this folder is no clone")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


# Metadata


def test_no_other_file_repeats_the_placeholders():
    placeholders = [author["email"].encode() for author in PROJECT["authors"]]
    placeholders += [url.encode() for url in PROJECT["urls"].values()]
    assert len(placeholders) > 1
    for path in project_files():
        if path.name != "pyproject.toml":
            content = path.read_bytes()
            assert not any(placeholder in content for placeholder in placeholders), path


def test_the_declared_pythons_are_those_of_the_workflow():
    declared = set(re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"])))
    assert declared == set(re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", WORKFLOW)[1]))
    assert PROJECT["requires-python"] == f">={min(declared, key=lambda version: int(version[2:]))}"


def test_one_lower_bound_for_each_library():
    """And no upper bound without a named reason."""
    bounds = {}
    for requirement in [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]:
        name, bound = re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?(>=[\w.]+)", requirement).groups()
        assert bounds.setdefault(name, bound) == bound, requirement


def test_developers_have_every_library_of_the_users():
    for extra in ("approximate", "cli", "dask", "faiss", "parquet", "plots", "strings"):
        assert set(EXTRAS[extra]) <= set(EXTRAS["dev"]), extra


def test_lowest_versions():
    project = {
        "dependencies": ["numpy>=1.26", "a-b>=2"],
        "optional-dependencies": {"dev": ["dask[array,x]>=2024.5", "a-b>=2"]},
    }
    minimum_versions = tool("minimum_versions").minimum_versions
    assert minimum_versions(project) == ["a-b==2", "dask[array,x]==2024.5", "numpy==1.26", "pyparsing<3.3"]
    with pytest.raises(ValueError, match=r"requirement 'numpy<2'; write it as name>=version"):
        minimum_versions({**project, "dependencies": ["numpy<2"]})
    assert len(minimum_versions(PROJECT)) > 20


def test_the_tests_with_lowest_versions_exist():
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", "")
    names = re.search(r"MINIMUM_TESTS := \$\(addprefix tests/test_,([^)]*)\)", makefile)[1].split()
    assert len(names) > 10
    for name in names:
        assert (ROOT / "tests" / f"test_{name}").exists(), name


# How to install


def test_one_place_says_how_to_install():
    for path in Path(protoset.__file__).parent.rglob("*.py"):
        code = re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL)
        assert path.name == "_extras.py" or "pip install" not in code, path


def test_extras_in_messages_exist():
    calls = [
        extra
        for path in Path(protoset.__file__).parent.rglob("*.py")
        for extra in re.findall(r"how_to_install\(['\"](\w+)['\"]\)", path.read_text())
    ]
    assert len(calls) >= 7
    assert set(calls) <= set(EXTRAS)
    assert how_to_install("plots") == "run pip install 'protoset[plots]' (in a clone: pip install '.[plots]')"


@pytest.mark.parametrize("page", [ROOT / "README.md", *(ROOT / "docs").glob("*.md")], ids=lambda page: page.name)
def test_pages_say_how_to_install_from_a_clone(page):
    text = page.read_text()
    extras = set(re.findall(r"'protoset\[([\w,]+)\]'", text))
    assert {name for extra in extras for name in extra.split(",")} <= set(EXTRAS)
    if extras:
        assert re.search(r"clone\b.{0,20}pip install '\.\[", text, re.DOTALL) or "or '.[" in text


# Citation, templates, workflow


def test_the_citation_has_the_version():
    assert f"version: {protoset.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_paper_cites_what_it_lists():
    text = (ROOT / "paper" / "paper.md").read_text()
    keys = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(), re.MULTILINE)
    assert set(re.findall(r"\[@(\w+)\]", text)) == set(keys)
    assert len(keys) == len(set(keys))
    assert 300 < len(text.split("---", 2)[2].split()) < 700, "a page"


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", ".github/workflows/*.yml"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/[!c]*.yml"),
        ("github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("citation-file-format", "CITATION.cff"),
    ],
)
def test_files_follow_their_schemas(schema, files):
    pytest.importorskip("check_jsonschema", reason="no check-jsonschema: pip install 'protoset[dev]'")
    paths = sorted(map(str, ROOT.glob(files)))
    assert paths
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *paths]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_the_workflow_passes_the_linter():
    linter = shutil.which("zizmor", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("no zizmor: pip install 'protoset[dev]'")
    command = [linter, "--offline", "--no-progress", str(ROOT / ".github" / "workflows")]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stdout


def test_the_workflow_calls_targets_of_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = {word for line in re.findall(r"run: make (.*)", WORKFLOW) for word in line.split() if "=" not in word}
    assert {"lint", "test-minimum", "docs", "dist"} <= called
    assert called <= targets


# Distributions

NAMES = [
    "protoset/__init__.py",
    "protoset/py.typed",
    "protoset/_report/page/page.html",
    "protoset/_report/page/map.js",
    "protoset/paper/plans/series.toml",
    "protoset/paper/tables/series.csv",
]
LICENCE = "protoset-0.1.0.dist-info/licenses/LICENSE"


def test_faults_of_wheels_are_found():
    check = tool("check_dist").check_wheel
    assert check([*NAMES, LICENCE], set(NAMES)) == []
    assert check([*NAMES, LICENCE, "tests/a.py"], set(NAMES)) == [
        "the wheel has tests/a.py, which is no file of the package"
    ]
    for name in NAMES[1:]:
        rest = [other for other in NAMES if other != name]
        assert len(check([*rest, LICENCE], set(NAMES))) == 2
        assert len(check([*rest, LICENCE], set(rest))) == 1, "a file that the package lacks too"
    assert len(check(NAMES, set(NAMES))) == 1


def test_faults_of_source_distributions_are_found():
    dist = tool("check_dist")
    names = [f"protoset-0.1.0/{name}" for name in [*dist.NEEDED_IN_SOURCES[:-1], "docs/method.md"]]
    assert dist.check_sources(names) == []
    assert dist.check_sources(names[1:]) == ["the source distribution lacks pyproject.toml"]
    assert len(dist.check_sources([*names, "protoset-0.1.0/.venv/x", "protoset-0.1.0/src/__pycache__/x"])) == 2


def test_the_first_example_promises_something():
    program, promised = tool("check_dist").first_example((ROOT / "README.md").read_text())
    assert "PrototypeClassifier" in program
    assert len(promised) == 3


@pytest.mark.slow
def test_the_wheel_works_in_a_fresh_environment(tmp_path):
    """The whole of `make dist`, in a copy, so that nothing is left in this folder."""
    for path in project_files():
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    command = ["make", "dist", f"PYTHON={Path(sys.base_prefix) / 'bin' / 'python3'}"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"protoset {protoset.__version__} works from the wheel" in result.stdout
