"""Print the lowest versions that pyproject.toml declares, one requirement per line, for `make test-minimum`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

OF_THEIR_TIME = ("pyparsing<3.3",)
"""Libraries of libraries. Lowest versions call names that newer ones deprecate: matplotlib 3.8 those of pyparsing."""

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def minimum_versions(project: dict) -> list[str]:
    """Return the requirements of a project and of its extra ``dev``, each pinned to its lowest version.

    Parameters
    ----------
    project : dict
        The table ``project`` of a ``pyproject.toml``. Each requirement has one bound: "name>=version".

    Returns
    -------
    list of str
        Such as "numpy==1.26", sorted, each once; then ``OF_THEIR_TIME``.
    """
    pins = set()
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        parts = re.fullmatch(r"([\w.-]+(?:\[[\w,-]+\])?)>=([\w.]+)", requirement)
        if parts is None:
            raise ValueError(f"pyproject.toml has the requirement {requirement!r}; write it as name>=version")
        pins.add("==".join(parts.groups()))
    return [*sorted(pins), *OF_THEIR_TIME]


if __name__ == "__main__":
    print("\n".join(minimum_versions(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"])))
