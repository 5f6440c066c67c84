"""Tables with a column of labels (.csv): commas, semicolons or tabs between fields, with or without a header."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np

from protoset.datasets._columns import assemble, find_column, read_column, read_target, text_rows
from protoset.datasets._errors import error_at, shown
from protoset.datasets._parsing import is_number, load_numbers, split_lines, to_numbers
from protoset.datasets.base import Attribute, Dataset, Format, Kind, Layout

CSV_DELIMITERS = "\t;,"
"""Delimiters that a table may have."""

CSV_MISSING = frozenset(("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "<null>"))
"""Fields that stand for a missing value."""

TARGET_NAMES = ("class", "target", "label")
"""Names by which the column of labels is found."""

CSV_SNIFFED_ROWS = 200
"""Number of rows by which the delimiter and the header are found."""

MOST_COLUMNS = 1_000_000
"""Number of columns that a table may have."""

COLUMNS_AT_A_TIME = 10_000
"""Number of columns that are copied at a time."""

SHARED_TEXTS = 100_000
"""Number of different texts up to which equal fields share one object."""

LEAST_NUMERIC_SHARE = 0.95
"""In a column with at least this share of numbers, a text is a mistake and not a category."""


def read_csv(
    text: str,
    *,
    file: str = "text",
    target: str | int | Literal[False] | None = None,
    kind: Kind | None = None,
    expected: Sequence[str] = (),
) -> Dataset:
    """Read a table.

    The delimiter is the tab, semicolon or comma that splits all lines into the same, largest number of fields. The
    first line is a header if it holds the name of the target or all ``expected`` names, or if it holds no number, no
    name twice, and no value of its columns. A column is numeric if all its values are numbers, with a decimal point or,
    between semicolons, a decimal comma. Other columns are nominal. Empty fields, ``?``, ``NA``, ``N/A``, ``NaN``,
    ``null`` and ``<null>`` are missing values.

    ``target`` is the name or position of the column of labels; by default the column called class, target or label, or
    the last. With False all columns are attributes, and all labels are empty texts. ``kind="vectors"`` refuses columns
    of texts. "mixed" returns an object array even if all columns are numeric, and reads a column of numbers with a few
    texts as categories, which is an error otherwise.
    """
    lines = split_lines(text)
    delimiter = find_delimiter(lines, file)
    first = [row for _, row in islice(_rows(filter(str.strip, lines), delimiter, file), CSV_SNIFFED_ROWS)]
    width = len(first[0])
    if width > MOST_COLUMNS:
        raise error_at(
            file, f"has {width:,} columns, more than {MOST_COLUMNS:,}; transpose it if its columns are objects"
        )
    header = has_header(first, target, expected)
    if header:
        _check_names([name.strip() for name in first[0]], file)
    names = [
        name.strip() if header and name.strip() else f"column {position}" for position, name in enumerate(first[0], 1)
    ]
    del first
    at = None if target is False else find_target(target, names, file)
    label_texts: Sequence[str | None] = ()
    line_numbers: Sequence[int]
    numbers = None if '"' in text else _all_numbers(lines, delimiter, header, width)
    if numbers is not None:
        values, row_lines, line_numbers = numbers
        if at is not None:
            label_texts = _missing_as_none(line.split(delimiter)[at].strip() for line in row_lines)
    else:
        fields, line_numbers = _fields(_rows(lines, delimiter, file), width, header, file)
        label_texts = () if at is None else fields[at::width]
    labels = np.full(len(line_numbers), "")
    spelling: dict[int, str] = {}
    if at is not None:
        is_numeric = numbers is not None or all(text is None or is_number(text) for text in label_texts)
        target_column = Attribute(names[at], "real" if is_numeric else "nominal")
        labels, spelling = read_target(target_column, label_texts, line_numbers, file)
    kept = np.array([position for position in range(width) if position != at], int)
    if numbers is not None:
        values = values[:, kept]
        attributes = list(_numeric((names[position] for position in kept), values))
    else:
        values = np.empty((len(labels), len(kept)), dtype=object)
        attributes = []
        for column, position in enumerate(kept):
            texts = fields[position::width]
            attribute, values[:, column] = _column(names[position], texts, line_numbers, delimiter, kind, file)
            attributes.append(attribute)
        del fields
        of_numbers = np.flatnonzero([attribute.type != "nominal" for attribute in attributes])
        for some in np.array_split(of_numbers, 1 + len(of_numbers) // COLUMNS_AT_A_TIME):
            numeric = _numeric((attributes[column].name for column in some), values[:, some].astype(float))
            for column, attribute in zip(some.tolist(), numeric, strict=True):
                attributes[column] = attribute
    objects = assemble(attributes, values.T, len(labels), kind, file)
    layout = Layout(
        "csv",
        tuple(names) if header else (),
        len(names) if at is None else at,
        target_name="" if at is None else names[at],
        delimiter=delimiter,
        spelling=spelling,
    )
    of_kind: Kind = "mixed" if objects.dtype == object else "vectors"
    return Dataset(file, of_kind, objects, labels, tuple(attributes), layout=layout)


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


def _rows(lines: Iterable[str], delimiter: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty: the number of the line at which it ends, and its fields."""
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if len(row) > 1 or any(field.strip() for field in row):
                yield reader.line_num, row
    except csv.Error as reason:
        raise error_at(
            file,
            f"expected fields with or without quotes, found a field that cannot be read ({reason})",
            reader.line_num,
        ) from reason


def _check_names(names: Sequence[str], file: str) -> None:
    first: dict[str, int] = {}
    for position, name in enumerate(names):
        if name and first.setdefault(name, position) != position:
            both = f"the columns {first[name]} and {position}, counted from 0"
            raise error_at(file, f"expected a name of its own for each column, found {shown(name)} for {both}", 1)


def has_header(
    rows: Sequence[Sequence[str]], target: str | int | Literal[False] | None = None, expected: Sequence[str] = ()
) -> bool:
    """Whether the first row names the columns."""
    names = [field.strip() for field in rows[0]]
    if expected and set(expected) <= set(names):
        return True
    if isinstance(target, str) and target in names and not is_number(target):
        return True
    # The first name may be empty: pandas writes an index so.
    if any(is_number(name) or (name in CSV_MISSING and (name or position)) for position, name in enumerate(names)):
        return False
    if len(set(names)) < len(names):
        return False
    rest = [row for row in rows[1:CSV_SNIFFED_ROWS] if len(row) == len(names)]
    return not any(name == row[position].strip() for row in rest for position, name in enumerate(names))


def find_target(target: str | int | None, names: Sequence[str], file: str) -> int:
    """Return the position of the column of labels."""
    if target is not None:
        return find_column(target, names, file)
    named = [position for position, name in enumerate(names) if name.casefold() in TARGET_NAMES]
    return named[0] if len(named) == 1 else len(names) - 1


def _all_numbers(
    lines: Sequence[str], delimiter: str, header: bool, width: int
) -> tuple[np.ndarray, list[str], list[int]] | None:
    """Return a table of numbers as NumPy reads it, its lines and line numbers; None if NumPy cannot read it."""
    line_numbers = [line_number for line_number, line in enumerate(lines, 1) if line.strip()][1 if header else 0 :]
    rows = [lines[line_number - 1] for line_number in line_numbers]
    values = load_numbers(rows, delimiter)
    return None if values is None or values.shape[1] != width else (values, rows, line_numbers)


def _missing_as_none(texts: Iterable[str]) -> list[str | None]:
    return [None if text in CSV_MISSING else text for text in texts]


def _fields(
    rows: Iterable[tuple[int, list[str]]], width: int, header: bool, file: str
) -> tuple[list[str | None], array[int]]:
    """Return the fields row after row, with None where a value is missing, and the line number of each row.

    One list for all fields, and one object for equal texts, take far less memory than a list per row or column.
    """
    fields: list[str | None] = []
    line_numbers = array("q")
    known: dict[str, str | None] = dict.fromkeys(CSV_MISSING)
    for line_number, row in islice(rows, int(header), None):
        if len(row) != width:
            raise error_at(file, f"expected {width} values as in the first line, found {len(row)}", line_number)
        find = known.setdefault if len(known) < SHARED_TEXTS else known.get
        fields += [find(text, text) for text in map(str.strip, row)]
        line_numbers.append(line_number)
    if not line_numbers:
        raise error_at(file, "expected rows after the header, found none")
    return fields, line_numbers


def _numeric(names: Iterable[str], values: np.ndarray) -> Iterator[Attribute]:
    """Yield the columns of a matrix as attributes; a column is "integer" if all its known values are whole."""
    missing = np.isnan(values)
    whole = ((np.floor(values) == values) | missing).all(axis=0) & ~missing.all(axis=0)
    for name, of_whole in zip(names, whole, strict=True):
        yield Attribute(name, "integer" if of_whole else "real")


def _column(
    name: str, texts: Sequence[str | None], line_numbers: Sequence[int], delimiter: str, kind: Kind | None, file: str
) -> tuple[Attribute, Any]:
    """Return a column as an attribute and its values; all columns of numbers as "real"."""
    values, bad = to_numbers(texts)
    if bad >= 0 and delimiter == ";":
        values, still_bad = to_numbers([text and text.replace(",", ".") for text in texts])
        bad = bad if still_bad >= 0 else -1
    if bad < 0:
        return Attribute(name, "real"), values
    present = [text for text in texts if text is not None]
    n_numbers = sum(map(is_number, present))
    if kind != "mixed" and n_numbers >= LEAST_NUMERIC_SHARE * len(present):
        raise error_at(
            file,
            f"expected a number in {shown(name)} as in {n_numbers} other rows, found {shown(texts[bad] or '')}; "
            "kind='mixed' takes the column as categories",
            line_numbers[bad],
        )
    return read_column(Attribute(name, "nominal"), texts, line_numbers, file)


def write_csv(dataset: Dataset) -> str:
    """Return a table with the delimiter, the header and the order of columns that it was read with.

    A CSV file has no types: if all remaining texts of a column are numbers, it is read as numbers again.
    """
    layout = dataset.layout
    if layout is None or layout.format != "csv":
        names = [attribute.name for attribute in dataset.attributes]
        names = names or [f"column {position}" for position in range(1, np.shape(dataset.objects)[1] + 1)]
        name = next(name for name in (*TARGET_NAMES, *(f"class {n}" for n in range(len(names)))) if name not in names)
        layout = Layout("csv", (*names, name), len(names), target_name=name)
    rows = [["" if value is None else value for value in row] for row in text_rows(dataset, layout)]
    header = list(layout.header)
    target_name = layout.target_name if layout is dataset.layout else None
    if (header and not has_header([header, *rows], target_name)) or (not header and has_header(rows)):
        # With few rows left, a reader would take the first row for names, or the names for a row.
        header = [f"column {position}" for position in range(1, len(rows[0]) + 1)]
    table = [header, *rows] if header else rows
    text = _joined(table, layout.delimiter, csv.QUOTE_MINIMAL)
    if find_delimiter(split_lines(text), "table") != layout.delimiter:
        # Another delimiter is in every row; in quotes it does not count.
        text = _joined(table, layout.delimiter, csv.QUOTE_ALL)
    return text


def _joined(table: Sequence[Sequence[str]], delimiter: str, quoting: Literal[0, 1]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(table)
    return text.getvalue()


FORMATS = (
    Format("csv", (".csv", ".tsv", ".txt", ".data", ""), ("vectors", "mixed"), read_csv, write_csv, ("target", "kind")),
)
