"""The page as one file: template, style and scripts from ``page/``, and the model as JSON.

Data never become markup. The JSON is in a block that browsers do not run, and has no characters that could end the
block. The scripts write data as text. The policy in the head allows only the script and the style whose hashes it
names, and no loading.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib import resources
from typing import Any

from protoset._report.packing import pack_objects

SCRIPTS = (
    "text.js",
    "unpack.js",
    "state.js",
    "markers.js",
    "images.js",
    "series.js",
    "values.js",
    "alignment.js",
    "drawing.js",
    "budget.js",
    "map.js",
    "mapview.js",
    "stacks.js",
    "details.js",
    "gallery.js",
    "find.js",
    "prototypes.js",
    "query.js",
    "suspects.js",
    "relevances.js",
    "tables.js",
    "confusion.js",
    "hardest.js",
    "unlike.js",
    "csv.js",
    "copies.js",
    "link.js",
    "sections.js",
    "start.js",
)
"""The scripts of ``page/``, in the order in which they are joined."""

UNSAFE = re.compile("[<>&\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that JSON in a page must not contain."""


def render(model: dict[str, Any]) -> str:
    """Return the HTML of the page from the result of ``page_model``."""
    style = _read("style.css")
    script = '(() => {\n"use strict";\n' + "\n".join(_read(name) for name in SCRIPTS) + "\n})();"
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": html.escape(policy, quote=False),
        "title": html.escape(UNSAFE.sub(_visible, model["title"])),
        "style": style,
        "model": as_safe_json(model | {"objects": pack_objects(model["objects"])}),
        "script": script,
    }
    # In one pass: a value that looks like a placeholder stays as it is.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match.group(1)], _read("page.html"))


def as_safe_json(value: Any) -> str:
    """Return JSON that cannot end the script block around it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _visible(match: re.Match[str]) -> str:
    return match.group() if match.group() in "<>&" else "\N{REPLACEMENT CHARACTER}"


def _read(name: str) -> str:
    return (resources.files("protoset._report") / "page" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
