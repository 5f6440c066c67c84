"""The command ``protoset``: thin; everything it does is a library call.

Nothing but typer is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

NEEDED = ("typer", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.

    Returns
    -------
    int
        Exit code: 0 for success, 1 for a failed run, 2 for wrong usage or bad input, 130 if interrupted.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        what = " and ".join(missing)
        sys.stderr.write(f"protoset: the command needs {what}; run: pip install 'protoset[cli]'\n")
        return 2
    from protoset.cli.app import run

    return run(list(sys.argv[1:] if arguments is None else arguments))
