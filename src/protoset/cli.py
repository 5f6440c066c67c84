"""The command ``protoset``: thin; everything it does is a library call."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from protoset._version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 for success, 1 for a failed run, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="protoset", description="Prototype selection on any dissimilarity.")
    parser.add_argument("--version", action="version", version=f"protoset {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command")
    demo = commands.add_parser("demo", help="select prototypes on embedded data and save the results")
    demo.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for the results")
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 2
    try:
        print(_run_demo(options.output))
    except OSError as error:
        print(f"protoset: cannot write the results to {str(options.output)!r}: {error}", file=sys.stderr)
        return 1
    return 0


def _run_demo(output: Path) -> str:
    # Imported here so that --version and --help need not wait for it.
    from protoset.demo import run_demo

    return run_demo(output)
