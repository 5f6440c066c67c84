"""Output of commands: tables for people, JSON for machines, and checks of output files."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from protoset._files import is_part_of
from protoset.cli._streams import is_dash

FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of texts that spreadsheets take for formulas."""

SPREADSHEET_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""Texts that spreadsheets take for numbers."""


def plain(value: Any) -> str:
    """Return a text from data with its control characters escaped, for a terminal."""
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in str(value))


def spreadsheet_safe(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet takes for a formula; return other values unchanged."""
    is_formula = isinstance(value, str) and value.startswith(FORMULA_MARKS) and not SPREADSHEET_NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value


def say(text: str) -> None:
    """Print a line of the result."""
    sys.stdout.write(f"{text}\n")


def note(text: str, quiet: bool = False) -> None:
    """Print a line that is not the result."""
    if not quiet:
        sys.stderr.write(f"{text}\n")


def say_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document; NaN and infinity become null."""
    say(json.dumps(_jsonable(document), ensure_ascii=False, allow_nan=False))


def say_table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; columns of numbers are aligned to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[_cell(value) for value in row] for row in rows]
    table = Table(box=None, pad_edge=False, show_edge=False)
    for position, header in enumerate(headers):
        values = [row[position] for row in cells]
        numeric = bool(values) and all(text[:1].isdigit() or text[:1] in "-–" or text == "inf" for text in values)
        table.add_column(Text(header), justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(text) for text in row))
    # A pipe has no width: do not break lines there.
    width = None if sys.stdout.isatty() else 10_000
    Console(file=sys.stdout, width=width, highlight=False).print(table)


def check_outputs(
    outputs: Mapping[str, Path | None], inputs: Iterable[str | os.PathLike[str] | None], force: bool
) -> None:
    """Raise an error, before any work, for outputs that are inputs, cannot be written, or exist without ``force``.

    The outputs are paths by the option that names them; ``-`` is not a file.
    """
    given = {option: path for option, path in outputs.items() if path is not None and not is_dash(path)}
    sources = [source for source in inputs if source is not None and not is_dash(source)]
    seen: dict[str, str] = {}
    for option, path in given.items():
        for source in sources:
            if is_part_of(path, source):
                raise ValueError(
                    f"{option} {str(path)!r} is the input {os.fspath(source)!r}, which is never written to; "
                    "choose another name"
                )
        if os.path.lexists(path) and not force:
            raise ValueError(f"{option} {str(path)!r} exists; choose another name, or pass --force")
        if path.is_dir():
            raise ValueError(f"{option} {str(path)!r} is a folder; name a file")
        if not Path(os.path.realpath(path)).parent.is_dir():
            raise ValueError(f"{option} {str(path)!r}: there is no folder {str(path.parent)!r}; make it first")
        other = seen.setdefault(os.path.realpath(path), option)
        if other != option:
            raise ValueError(f"{other} and {option} are both {str(path)!r}; choose two names")


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.1f} %"


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else plain(value)


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return _jsonable(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, os.PathLike) else value
