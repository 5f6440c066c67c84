"""The command ``protoset``: thin; everything it does is a library call.

Nothing but typer is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from protoset._extras import how_to_install

NEEDED = ("typer", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, by default with the arguments of the process, and return its exit code."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(f"protoset: the command needs {' and '.join(missing)}; {how_to_install('cli')}\n")
        return 2
    from protoset.cli.app import run

    return run(list(sys.argv[1:] if arguments is None else arguments))
