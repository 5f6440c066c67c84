"""``protoset version``: versions of everything that results depend on."""

from __future__ import annotations

from protoset._version import __version__
from protoset.cli._options import Debug, Json
from protoset.cli._output import say, say_json

REQUIRED_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
OPTIONAL_PACKAGES = ("typer", "rich", "matplotlib", "pyarrow", "pandas", "polars", "rapidfuzz", "faiss-cpu")


def version(json: Json = False, debug: Debug = False) -> None:
    """Show the versions of protoset and of the libraries that it uses."""
    import platform
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    versions: dict[str, str | None] = {"protoset": __version__, "python": platform.python_version()}
    for name in (*REQUIRED_PACKAGES, *OPTIONAL_PACKAGES):
        try:
            versions[name] = version_of(name)
        except PackageNotFoundError:
            versions[name] = None
    if json:
        say_json(versions)
        return
    for name, number in versions.items():
        say(f"{name} {number or '(not installed)'}")
