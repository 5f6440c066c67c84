"""Matrices in texts whose rows and columns have names, as pandas' to_csv and R's write.table write them.

    ,Alpha,Beta          the first row has the names of the columns, the first column those of the rows;
    Alpha,0.0,0.5        the corner is empty or has any text; R leaves it out
    Beta,0.5,0.0

The names of rows or those of columns may be missing.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._validation import did_you_mean
from protoset.datasets._errors import error_at, listed, shown
from protoset.datasets._parsing import is_number, number_text, split_lines, to_numbers
from protoset.datasets.csv_sniffing import CSV_SNIFFED_ROWS, find_delimiter
from protoset.exceptions import DataError

FIELD_DELIMITERS = ("\t", ";", ",")
"""Characters, in addition to spaces, that may separate names, distances and labels."""


@dataclass(frozen=True, eq=False)
class NamedRows:
    """Rows of numbers; the names of columns (``across``) and of rows (``down``), None where there are none."""

    values: np.ndarray
    across: tuple[str, ...] | None
    down: tuple[str, ...] | None
    delimiter: str
    corner: str = ""


def has_names(text: str) -> bool:
    """Whether the first line of a matrix has a name: an empty field, or one that is not a number."""
    first = next((line for line in split_lines(text) if line.strip()), "")
    delimiter = next((mark for mark in ",;\t" if mark in first), None)
    return not all(is_number(field.strip()) for field in first.strip(" ").split(delimiter))


def is_named_square(lines: Sequence[str], n_sniffed: int) -> bool:
    """Whether lines are a matrix with the same names across and down; only the first lines are looked at."""
    try:
        delimiter = find_delimiter(lines, "")
        rows = csv.reader(lines[:n_sniffed], delimiter=delimiter, skipinitialspace=True, strict=True)
        across = [field.strip() for field in next(rows)[1:]]
        # A name of the corner may be the name of a column of labels, which a table has and a matrix has not.
        if not len(lines) - 1 == len(across) == len(set(across)) > 1:
            return False
        rest = list(rows)
    except (DataError, csv.Error):
        return False
    down = [row[0].strip() for row in rest]
    if len(set(down)) < len(down):
        return False
    return set(down) <= set(across) and all(is_number(field.strip()) for row in rest for field in row[1:])


def read_named_rows(text: str, file: str) -> NamedRows:
    """Read rows of numbers with names across, down or both."""
    delimiter, rows, line_numbers = _fields(text, file)
    first, rest = rows[0], rows[1:]
    width = len(rest[0]) if rest else len(first)
    corner, across, has_row_names = "", tuple(first), True
    if len(first) == width - 1:
        # R leaves the corner out.
        pass
    elif first[0] and not is_number(first[0]) and len(rows) != width and all(map(is_number, first[1:])):
        # No names across.
        rest, line_numbers, width = rows, [0, *line_numbers], len(first)
        across = ()
    else:
        of_names = any(not is_number(row[0]) for row in rest if row)
        has_row_names = not first[0] or of_names or len(rest) == width - 1
        corner, across = (first[0], tuple(first[1:])) if has_row_names else ("", tuple(first))
    if not rest:
        raise error_at(file, "expected rows of distances after the names, found none")
    n_columns = width - int(has_row_names)
    if across and len(across) != n_columns:
        raise error_at(
            file,
            f"expected a name for each of the {n_columns} columns of distances, found {len(across)}; names with spaces "
            "stand in quotes, or have commas, semicolons or tabs between them",
        )
    values = np.empty((len(rest), n_columns))
    for position, (row, line) in enumerate(zip(rest, line_numbers[1:], strict=True)):
        fields = row[1:] if has_row_names else row
        if len(fields) != n_columns:
            raise error_at(file, f"expected {n_columns} distances as in the first row, found {len(fields)}", line)
        numbers, bad = to_numbers(fields)
        if bad >= 0 and delimiter == ";":
            numbers, bad = to_numbers([field.replace(",", ".") for field in fields])
        if bad >= 0:
            column = bad + 1 + int(has_row_names)
            raise error_at(file, f"expected a distance in column {column}, found {shown(fields[bad])}", line)
        values[position] = numbers
    down = tuple(row[0] for row in rest) if has_row_names else None
    for names, where in ((across or None, "columns"), (down, "rows")):
        if names is not None:
            check_names(names, file, where)
    return NamedRows(values, across or None, down, delimiter, corner)


def _fields(text: str, file: str) -> tuple[str, list[list[str]], list[int]]:
    """Return the delimiter, the fields of each row that is not empty, and the number of its line."""
    lines = split_lines(text)
    delimiter = _delimiter([line for line in lines if line.strip()][:CSV_SNIFFED_ROWS])
    if delimiter == " ":
        lines = [" ".join(line.split()) for line in lines]
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, skipinitialspace=True, strict=True)
    rows, line_numbers = [], []
    try:
        for row in reader:
            fields = [field.strip() for field in row]
            if any(fields):
                rows.append(fields)
                line_numbers.append(reader.line_num)
    except csv.Error as reason:
        raise error_at(file, f"expected names and distances, found a field that cannot be read ({reason})") from reason
    if not rows:
        raise error_at(file, "expected a matrix of distances, found an empty file")
    return delimiter, rows, line_numbers


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits all rows into the same, largest number of fields; the first row may lack one."""
    width_of: dict[str, int] = {}
    for delimiter in (*FIELD_DELIMITERS, " "):
        of_fields = [" ".join(line.split()) for line in lines] if delimiter == " " else lines
        try:
            first, *rest = map(len, csv.reader(of_fields, delimiter=delimiter, skipinitialspace=True, strict=True))
        except (csv.Error, ValueError):
            continue
        if rest and len(set(rest)) == 1 and rest[0] > 1 and first in (rest[0], rest[0] - 1):
            width_of[delimiter] = rest[0]
    if width_of:
        return max(width_of, key=lambda delimiter: width_of[delimiter])
    return next((mark for mark in FIELD_DELIMITERS if lines and mark in lines[-1]), " ")


def check_names(names: Iterable[str], file: str, where: str) -> None:
    """Refuse empty names, and names that are there twice."""
    counts = Counter(names)
    if "" in counts:
        raise error_at(file, f"expected a name for each of the {where}, found an empty one")
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise error_at(file, f"expected a name of its own for each of the {where}, found {listed(twice)} twice")


def square_by_name(rows: NamedRows, file: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the square matrix of named rows, its columns in the order of its rows, and the names."""
    n_rows, n_columns = rows.values.shape
    if n_rows != n_columns:
        raise error_at(file, f"expected as many rows as columns, found {n_rows} rows and {n_columns} columns")
    if rows.across is None or rows.down is None:
        return rows.values, rows.across or rows.down or ()
    if rows.across == rows.down:
        return rows.values, rows.down
    for names, others, where in ((rows.down, rows.across, "columns"), (rows.across, rows.down, "rows")):
        missing = sorted(set(names) - set(others))
        if missing:
            hint = did_you_mean(missing[0], others)
            raise error_at(
                file, f"expected the same names for rows and columns; {listed(missing)} is not among the {where}{hint}"
            )
    return columns_by_name(rows, rows.down, file), rows.down


def columns_by_name(rows: NamedRows, names: Sequence[str], file: str) -> np.ndarray:
    """Return the columns with the given names, in their order; other columns are left out."""
    position_of = {name: position for position, name in enumerate(rows.across or ())}
    missing = [name for name in names if name not in position_of]
    if missing:
        hint = did_you_mean(missing[0], position_of)
        raise error_at(
            file,
            f"expected a column of distances for each prototype; there is none for {listed(missing)}{hint}",
        )
    return np.ascontiguousarray(rows.values[:, [position_of[name] for name in names]])


def match_labels(labels: Any, names: Sequence[str] | None, file: str) -> list[Any]:
    """Return a label per object; labels that come with names, in a dict or in lines of two fields, go by name."""
    if isinstance(labels, Mapping):
        if names is None:
            raise error_at(file, "labels= are by name, but the matrix has no names; pass a label per object")
        pairs = list(labels.items())
    else:
        pairs = _named_labels(labels, set(names)) if names is not None else []
        if names is None or not pairs:
            return list(labels)
    counts = Counter(name for name, _ in pairs)
    twice = [name for name in names if counts[name] > 1]
    if twice:
        raise error_at(file, f"expected one label for each name, found several for {listed(twice)}")
    missing = [name for name in names if not counts[name]]
    if missing:
        hint = did_you_mean(missing[0], counts)
        raise error_at(file, f"expected a label for each name, found none for {listed(missing)}{hint}")
    label_of = dict(pairs)
    return [label_of[name] for name in names]


def _named_labels(lines: Sequence[Any], names: set[str]) -> list[tuple[str, str]]:
    """Return pairs of name and label; empty if the lines are labels alone.

    Names and labels have a tab, semicolon or comma between them and at least one name is known; or spaces, and all
    names are known.
    """
    if not all(isinstance(line, str) for line in lines):
        return []
    for delimiter in FIELD_DELIMITERS:
        try:
            rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True))
        except csv.Error:
            continue
        if all(len(row) == 2 for row in rows) and names & {row[0].strip() for row in rows}:
            return [(row[0].strip(), row[1].strip()) for row in rows]
    words = [line.split() for line in lines]
    if all(len(row) == 2 for row in words) and names <= {row[0] for row in words}:
        return [(row[0], row[1]) for row in words]
    return []


def write_named_rows(values: np.ndarray, names: Sequence[str], delimiter: str, corner: str) -> str:
    """Return a square matrix with its names across and down."""
    table = [[corner, *names]]
    table += [[name, *map(number_text, row)] for name, row in zip(names, values, strict=True)]
    text = _joined(table, delimiter, csv.QUOTE_MINIMAL)
    if _delimiter(split_lines(text)[:-1][:CSV_SNIFFED_ROWS]) != delimiter:
        # Another delimiter is in every row; in quotes it does not count.
        text = _joined(table, delimiter, csv.QUOTE_ALL)
    return text


def _joined(table: Sequence[Sequence[str]], delimiter: str, quoting: Any) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(table)
    return text.getvalue()
