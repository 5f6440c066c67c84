"""``protoset version``: versions of what results depend on."""

from __future__ import annotations

from protoset._version import __version__
from protoset.cli._options import Debug, Json
from protoset.cli._output import say, say_json

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
OPTIONAL = ("typer", "rich", "matplotlib", "pyarrow", "pandas", "rapidfuzz", "faiss-cpu")


def version(json: Json = False, debug: Debug = False) -> None:
    """Show the versions of protoset and of the libraries that it uses."""
    import platform
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    found: dict[str, str | None] = {"protoset": __version__, "python": platform.python_version()}
    for name in (*PACKAGES, *OPTIONAL):
        try:
            found[name] = version_of(name)
        except PackageNotFoundError:
            found[name] = None
    if json:
        say_json(found)
        return
    for name, number in found.items():
        say(f"{name} {number or '(not installed)'}")
