"""Detection, from the first rows of a table, of the delimiter between fields and of a header."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Literal

from protoset.datasets._errors import error_at, shown
from protoset.datasets._parsing import is_number
from protoset.datasets.roles import TARGET_NAMES

CSV_DELIMITERS = "\t;,"
"""Delimiters that a table may have."""

CSV_MISSING = frozenset(("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "<null>"))
"""Fields that stand for a missing value."""

CSV_SNIFFED_ROWS = 200
"""Number of rows by which the delimiter and the header are found."""


def find_delimiter(lines: Sequence[str], file: str) -> str:
    """Return the delimiter that splits the first lines into the same, largest number of fields.

    Where there is none, return the first delimiter that is in the first line.
    """
    first_lines = [line for line in lines if line.strip()][:CSV_SNIFFED_ROWS]
    if not first_lines:
        raise error_at(file, "expected a table, found an empty file")
    even: dict[str, int] = {}
    for delimiter in CSV_DELIMITERS:
        try:
            rows = csv.reader(first_lines, delimiter=delimiter, skipinitialspace=True, strict=True)
            widths = {len(row) for row in rows}
        except csv.Error:
            continue
        if len(widths) == 1 and widths != {1}:
            even[delimiter] = widths.pop()
    if even:
        return max(even, key=lambda delimiter: even[delimiter])
    uneven = next((delimiter for delimiter in CSV_DELIMITERS if delimiter in first_lines[0]), None)
    if uneven is None:
        raise error_at(
            file, f"expected columns with commas, semicolons or tabs between them, found {shown(first_lines[0])}", 1
        )
    return uneven


def has_header(
    rows: Sequence[Sequence[str]], target: str | int | Literal[False] | None = None, expected: Sequence[str] = ()
) -> bool:
    """Whether the first row names the columns. A name that is there twice is an error of the file, and a name."""
    names = [field.strip() for field in rows[0]]
    if expected and set(expected) <= set(names):
        return True
    if isinstance(target, str) and target in names and not is_number(target):
        return True
    rest = [row for row in rows[1:CSV_SNIFFED_ROWS] if len(row) == len(names)]
    # Other names may be numbers, such as years. One letter may be a label.
    called = [position for position, name in enumerate(names) if len(name) > 1 and name.casefold() in TARGET_NAMES]
    if rest and any(names[position] not in [row[position].strip() for row in rest] for position in called):
        return True
    # The first name may be empty: pandas writes an index so.
    if any(is_number(name) or (name in CSV_MISSING and (name or position)) for position, name in enumerate(names)):
        return False
    over_numbers = (all(is_number(row[at].strip()) for row in rest) for at in range(len(names)))
    if len(set(names)) < len(names) and not (rest and any(over_numbers)):
        return False
    return not any(name == row[position].strip() for row in rest for position, name in enumerate(names))
