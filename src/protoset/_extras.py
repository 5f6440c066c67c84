"""Optional libraries: the sentence that says how to install them."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra of the package, for messages about a missing library.

    Parameters
    ----------
    extra : str
        Name of an extra in ``pyproject.toml``, such as "plots".
    """
    return f"run pip install 'protoset[{extra}]' (in a clone: pip install '.[{extra}]')"
