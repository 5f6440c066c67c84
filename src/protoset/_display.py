"""Display of results: a line of text in a terminal, a small table in a notebook.

All texts are escaped, and every cell has its own direction of writing, so that labels from data stay labels. The tables
have no colours of their own: they are readable on any background.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

MOST_ROWS = 10
"""Rows of a table that a notebook shows at most."""

MOST_CHARACTERS = 60
"""Characters of a cell that a notebook shows at most."""

MOST_PRINTED = 6
"""Values of an array, a list or a dict that are printed; of more, their number."""

NO_NAME = "(empty)"
"""Text for a name without visible characters, so that it can be read and clicked."""

UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, line ends, lone surrogates, and marks that change the direction of writing."""

STYLE = (
    ".protoset-table.protoset-table{overflow-x:auto;max-width:100%;color:inherit;line-height:1.4}"
    ".protoset-table.protoset-table table{border-collapse:collapse;margin:.2em 0;color:inherit;background:none}"
    ".protoset-table.protoset-table table :is(th,td){padding:.15em 1em .15em 0;text-align:start;vertical-align:top;"
    "color:inherit;background:none;border:0;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent);"
    "max-width:32em;white-space:normal;overflow-wrap:break-word}"
    ".protoset-table.protoset-table table .number{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".protoset-table.protoset-table p{margin:.2em 0;opacity:.8}"
    ".protoset-table.protoset-table p.title{font-weight:600;opacity:1}"
)
"""Style of the tables. Colours are those of the text around them."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table for a notebook; ``n_rows`` counts all rows, ``rows`` need not have more than ``MOST_ROWS``."""

    headings: Sequence[str]
    rows: Iterable[Sequence[Any]]
    n_rows: int
    note: str = ""


class Named(NamedTuple):
    """A cell with a name from data, such as a label, and a text about it."""

    name: Any
    about: str


class Displayed:
    """A result with a line of text as ``repr``, and a small table in a notebook."""

    def _title(self) -> str:
        """Return the kind of the result, with its name if it has one."""
        return type(self).__name__

    def _summary(self) -> str:
        """Return a summary of the result in one line."""
        raise NotImplementedError

    def _table(self) -> Table:
        """Return the first rows of the result."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self._title()}: {self._summary()}>"

    def _repr_html_(self) -> str:
        return table_html(f"{self._title()}: {self._summary()}", self._table())


class Brief:
    """A result whose ``repr`` shows the shape of arrays and the length of long lists, not their content."""

    def __repr__(self) -> str:
        values = ", ".join(f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return f"{type(self).__name__}({values})"


def _brief(value: Any) -> str:
    """Return the ``repr`` of a value if it is short, else its type and size."""
    if isinstance(value, np.ndarray) and value.size > MOST_PRINTED:
        return f"<array {value.shape}>"
    if isinstance(value, (list, tuple, dict)) and len(value) > MOST_PRINTED:
        return f"<{type(value).__name__} of {len(value)}>"
    text = repr(value)
    return text if len(text) <= 2 * MOST_CHARACTERS and "\n" not in text else f"<{type(value).__name__}>"


def table_html(title: str, table: Table) -> str:
    """Return a table as HTML, with its first rows."""
    rows = list(islice(table.rows, MOST_ROWS))
    first = rows[0] if rows else [""] * len(table.headings)
    head = "".join(
        f"<th{_form(cell)}>{cell_text(name)}</th>" for name, cell in zip(table.headings, first, strict=False)
    )
    body = "".join(f"<tr>{''.join(f'<td{_form(cell)}>{_content(cell)}</td>' for cell in row)}</tr>" for row in rows)
    more = f"and {table.n_rows - MOST_ROWS:,} more" if table.n_rows > MOST_ROWS else ""
    notes = "".join(f'<p dir="auto">{cell_text(text, 300)}</p>' for text in (more, table.note) if text)
    return (
        f'<div class="protoset-table"><style>{STYLE}</style><p class="title" dir="auto">{cell_text(title, 300)}</p>'
        f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>{notes}</div>"
    )


def _content(cell: Any) -> str:
    if isinstance(cell, Named):
        return f"<bdi>{cell_text(cell.name)}</bdi> {cell_text(cell.about)}"
    return cell_text(cell)


def cell_text(value: Any, most_characters: int = MOST_CHARACTERS) -> str:
    """Return a value as escaped text: numbers with four digits, long texts cut."""
    if isinstance(value, (float, np.floating)):
        text = "" if np.isnan(value) else f"{value:.4g}"
    else:
        text = UNSHOWABLE.sub("\N{REPLACEMENT CHARACTER}", "" if value is None else str(value))
    return html.escape(cut_text(text, most_characters))


def cut_text(text: str, most_characters: int = MOST_CHARACTERS) -> str:
    """Return a text, cut with an ellipsis if it is long."""
    return text if len(text) <= most_characters else text[: most_characters - 1] + "…"


def percent(share: float) -> str:
    """Return a share as percents; empty where it is not known."""
    return "" if np.isnan(share) else f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def _form(value: Any) -> str:
    """Return the attributes of a cell: numbers stand below each other, texts have their own direction."""
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if is_number:
        return ' class="number"'
    return "" if isinstance(value, Named) else ' dir="auto"'
