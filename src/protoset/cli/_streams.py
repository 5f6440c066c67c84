"""``-`` in the place of a file: the standard input and the standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

DASH = "-"
"""Stands for the standard input among inputs, and for the standard output among outputs."""

STREAMED_OUTPUTS = ("--output",)
"""Outputs that may go to the standard output."""


def is_dash(path: str | os.PathLike[str] | None) -> bool:
    """Whether a path stands for the standard input or output."""
    return path is not None and os.fspath(path) == DASH


def opened(path: Any) -> Any:
    """Return the standard input for ``-``, and any other path as it is."""
    if not is_dash(path):
        return path
    if sys.stdin is None:
        raise ValueError("- is the standard input, but there is none; name a file")
    return sys.stdin.buffer


def standard_output() -> IO[bytes]:
    """Return the standard output for bytes."""
    if sys.stdout is None:
        raise ValueError("--output - is the standard output, but there is none; name a file")
    sys.stdout.flush()
    return sys.stdout.buffer


def check_dashes(
    inputs: Mapping[str, str | os.PathLike[str] | None],
    outputs: Mapping[str, Path | None] | None = None,
    *,
    json: bool = False,
) -> None:
    """Refuse, before any work is done, ``-`` where it cannot be read or written, or for two inputs at once.

    Inputs and outputs are paths by the option or argument that names them.
    """
    dashes = [option for option, path in inputs.items() if is_dash(path)]
    if "MODEL" in dashes or "--model" in dashes:
        raise ValueError("a model cannot be read from the standard input, only data; pass the file of the model")
    if len(dashes) > 1:
        raise ValueError(f"{' and '.join(dashes)} are both -, the standard input; name a file for one of them")
    for option, path in (outputs or {}).items():
        if not is_dash(path):
            continue
        if option not in STREAMED_OUTPUTS:
            raise ValueError(f"{option} - does not work: the standard output is for --output alone; name a file")
        if json:
            raise ValueError("--json and --output - both write to the standard output; leave out one of them")
