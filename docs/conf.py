"""Settings of the site; `make docs` builds it without a network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx_gallery.sorting import FileNameSortKey

import protoset

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

project = "protoset"
copyright = "the authors of protoset"
version = release = protoset.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.md5"]
templates_path = ["_templates"]

autosummary_generate = True
# File names that differ in case alone are one file on macOS and Windows.
autosummary_filename_map = {name: f"{name}-function" for name in ("protoset.report", "protoset.suspects")}
autodoc_typehints = "none"
# The value of a registry is a page of records.
autodoc_default_options = {"no-value": True}
# Attributes are described in the docstring of their class; autodoc would describe them a second time.
numpydoc_show_class_members = False
doctest_global_setup = "import numpy as np"

myst_enable_extensions = ["attrs_inline", "colon_fence", "html_image"]
myst_heading_anchors = 4

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": FileNameSortKey,
    "image_scrapers": ("matplotlib", "display_scraper"),
    "capture_repr": ("_repr_html_", "__repr__"),
    # The pictures of Displays are taken by display_scraper.
    "ignore_repr_types": r"Display|matplotlib",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    # Its page of times would load scripts from the network.
    "write_computation_times": False,
}
# The gallery keeps its settings in a cache that cannot hold classes; that is no fault of the pages.
suppress_warnings = ["config.cache"]

html_theme = "pydata_sphinx_theme"
html_title = "protoset"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_search_scorer = str(DOCS / "search_order.js")
html_theme_options = {
    "logo": {"text": "protoset"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "pygments_light_style": "tango",
}
html_sidebars = {"index": [], "choosing": []}


def skip_member(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what classes inherit from other packages, and plain attributes."""
    if name.startswith("_"):
        return True
    member = getattr(member, "fget", None) or getattr(member, "__func__", member)
    module = getattr(member, "__module__", None) or ""
    return None if module.startswith("protoset") and callable(member) else True


def describe_data(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Describe data that a package imports from one of its modules as that module does."""
    package, _, short = name.rpartition(".")
    for module_name, module in list(sys.modules.items()):
        if what == "data" and module_name.startswith(f"{package}.") and short in vars(module):
            lines[:] = ModuleAnalyzer.for_module(module_name).find_attr_docs().get(("", short), lines)


def mend_links(app: Sphinx, name: str, source: list[str]) -> None:
    """Lead links of pages to files outside of the site to the pages of the site that include them."""
    source[0] = source[0].replace("](../CONTRIBUTING.md)", "](contributing/index.md)")


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", describe_data)
    app.connect("source-read", mend_links)
