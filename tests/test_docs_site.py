"""The site: its settings, its reference, the links of its pages."""

import importlib
import re

import pytest

from protoset.spaces import DISSIMILARITIES

from conftest import ROOT
from test_public_api import public_names

DOCS = ROOT / "docs"


def named_in_reference():
    """Pairs of a module and a name, as the reference lists them."""
    names = []
    for page in sorted((DOCS / "reference").glob("*.rst")):
        for part in page.read_text().split(".. currentmodule:: ")[1:]:
            module = part.split()[0]
            names += [(module, name) for name in re.findall(r"^   (\w+)$", part, re.MULTILINE)]
    return names


def test_every_public_name_has_one_page():
    listed = named_in_reference()
    assert len(listed) == len(set(listed))
    things = [getattr(importlib.import_module(module), name) for module, name in listed]
    assert len({id(thing) for thing in things}) == len(things), "a thing is listed under two names"
    for room, name, thing in public_names():
        if name != "__version__":
            assert any(thing is other for other in things), f"{room}.{name} is on no page of docs/reference"


def test_the_reference_lists_public_names_only():
    public = {(room, name) for room, name, _ in public_names()}
    assert set(named_in_reference()) <= public


def test_the_page_about_metrics_names_every_metric():
    page = (DOCS / "reference" / "metrics.md").read_text()
    missing = [name for name in DISSIMILARITIES if name != "callable" and f"`{name}`" not in page]
    assert not missing, f"not in docs/reference/metrics.md: {missing}"


def test_every_page_is_in_a_menu():
    """Sphinx warns too; this needs no build."""
    pages = {path.relative_to(DOCS) for path in DOCS.rglob("*.md") if "_build" not in path.parts}
    pages = {path for path in pages if path.parts[0] not in ("gallery", "_build")}
    listed = set()
    for path in [*pages, *(path.relative_to(DOCS) for path in DOCS.rglob("*.rst") if "_build" not in path.parts)]:
        text = (DOCS / path).read_text()
        for menu in re.findall(r"^(?:```|:::)\{toctree\}\n(.*?)^(?:```|:::)", text, re.DOTALL | re.MULTILINE):
            entries = [line for line in menu.splitlines() if line and not line.startswith(":")]
            targets = [re.sub(r".*<(.*)>", r"\1", entry) for entry in entries]
            listed |= {(DOCS / path.parent / target).with_suffix("").resolve() for target in targets}
        for menu in re.findall(r"^\.\. toctree::\n((?:   .*\n|\n)*)", text, re.MULTILINE):
            entries = [line.strip() for line in menu.splitlines() if line.strip() and ":" not in line]
            listed |= {(DOCS / path.parent / entry).resolve() for entry in entries}
    missing = {str(path) for path in pages if (DOCS / path).with_suffix("").resolve() not in listed} - {"index.md"}
    assert not missing, f"no menu has {sorted(missing)}"


@pytest.mark.parametrize("fault", ["", '<a href="gone.html">', '<a href="#gone">', '<img src="https://a.b/c.png">'])
def test_the_check_of_links(tmp_path, monkeypatch, fault):
    monkeypatch.syspath_prepend(str(DOCS))
    check = importlib.import_module("check_links").check
    (tmp_path / "index.html").write_text(f'<p id="here"><a href="index.html#here">x</a> {fault}')
    assert len(check(tmp_path)) == bool(fault)
