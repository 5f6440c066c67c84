"""``protoset demo``: the demonstration on embedded data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from protoset.cli._options import Debug, Quiet
from protoset.cli._output import say
from protoset.cli._work import working


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("demo-output"),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Select prototypes on embedded data and save the results."""
    with working("demonstrating", quiet):
        from protoset.demo import run_demo

        try:
            text = run_demo(output)
        except OSError as error:
            raise OSError(f"cannot write the results to {str(output)!r}: {error}") from error
    say(text)
