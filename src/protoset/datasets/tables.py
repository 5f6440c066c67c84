"""Tables with a column of labels (.csv): commas, semicolons or tabs between fields, with or without a header."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from protoset.datasets._columns import assemble, find_column, read_column, read_target, text_rows
from protoset.datasets._text import error, is_number, shown, split_lines, to_numbers
from protoset.datasets.base import Attribute, Dataset, Format, Kind, Layout

DELIMITERS = "\t;,"
MISSING = frozenset(("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "<null>"))
TARGETS = ("class", "target", "label")

SNIFFED = 200
"""Rows that are looked at to find the delimiter and the header."""

MOSTLY = 0.95
"""Share of numbers from which on the rest of a column is taken as mistakes, not as categories."""


def read_csv(
    text: str,
    *,
    file: str = "text",
    target: str | int | Literal[False] | None = None,
    kind: Kind | None = None,
    expected: Sequence[str] = (),
) -> Dataset:
    """Read a table.

    The delimiter is the one of tab, semicolon and comma that splits all lines into the same, largest number of fields.
    The first line is a header if it has the name of the target or all expected names; otherwise if it has no number, no
    name twice, and nothing that its columns have again. No two columns of a header may have the same name. A column is
    numeric if all of its values are numbers; where semicolons are between the fields, also numbers with a decimal
    comma. Others are nominal. Missing are empty fields, ``?``, ``NA``, ``N/A``, ``NaN``, ``null`` and ``<null>``.

    Parameters
    ----------
    text : str
    file : str
        Its name, for errors.
    target : str, int or False, optional
        Name or position of the column of labels; otherwise the one called class, target or label, or the last. False if
        there is none: all columns are attributes then, and all labels empty texts.
    kind : {"vectors", "mixed"}, optional
        "mixed" for objects with texts and numbers even if all are numbers; it also takes a column with a few texts
        among numbers as categories, which otherwise is an error. "vectors" to refuse texts.
    expected : sequence of str
        Names of columns that the file ought to have.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
    """
    lines = split_lines(text)
    delimiter = find_delimiter(lines, file)
    first, _ = _split((line for line in lines if line.strip()), delimiter, file, SNIFFED)
    header = has_header(first, target, expected)
    if header:
        _check_names([name.strip() for name in first[0]], file)
    names = [
        name.strip() if header and name.strip() else f"column {position}" for position, name in enumerate(first[0], 1)
    ]
    if target is False:
        return _without_labels(text, lines, delimiter, header, names, kind, file)
    at = find_target(target, names, file)
    fast = None if '"' in text else _all_numbers(lines, delimiter, header, len(names))
    if fast is not None:
        values, label_texts, places = fast[0], [line.split(delimiter)[at].strip() for line in fast[1]], fast[2]
        columns = [(_numeric(name, values[:, position]), values[:, position]) for position, name in enumerate(names)]
        labels, spelling = read_target(Attribute(names[at], "real"), _known(label_texts), places, file)
        del columns[at]
    else:
        rows, places = _split(lines, delimiter, file)
        rows, places = (rows[1:], places[1:]) if header else (rows, places)
        texts = _transposed(rows, places, len(names), file)
        is_numeric = all(text is None or is_number(text) for text in texts[at])
        target_column = Attribute(names[at], "real" if is_numeric else "nominal")
        labels, spelling = read_target(target_column, texts[at], places, file)
        columns = [
            _column(names[position], texts[position], places, delimiter, kind, file)
            for position in range(len(names))
            if position != at
        ]
    attributes = tuple(attribute for attribute, _ in columns)
    objects = assemble(attributes, [values for _, values in columns], len(labels), kind, file)
    layout = Layout(
        "csv", tuple(names) if header else (), at, target_name=names[at], delimiter=delimiter, spelling=spelling
    )
    return Dataset(file, "mixed" if objects.dtype == object else "vectors", objects, labels, attributes, layout=layout)


def _without_labels(
    text: str, lines: Sequence[str], delimiter: str, header: bool, names: Sequence[str], kind: Kind | None, file: str
) -> Dataset:
    fast = None if '"' in text else _all_numbers(lines, delimiter, header, len(names))
    if fast is not None:
        columns = [(_numeric(name, fast[0][:, position]), fast[0][:, position]) for position, name in enumerate(names)]
        n = len(fast[0])
    else:
        rows, places = _split(lines, delimiter, file)
        rows, places = (rows[1:], places[1:]) if header else (rows, places)
        texts = _transposed(rows, places, len(names), file)
        columns = [_column(name, one, places, delimiter, kind, file) for name, one in zip(names, texts, strict=True)]
        n = len(rows)
    attributes = tuple(attribute for attribute, _ in columns)
    objects = assemble(attributes, [values for _, values in columns], n, kind, file)
    layout = Layout("csv", tuple(names) if header else (), len(names), target_name="", delimiter=delimiter)
    of_kind: Kind = "mixed" if objects.dtype == object else "vectors"
    return Dataset(file, of_kind, objects, np.full(n, ""), attributes, layout=layout)


def find_delimiter(lines: Sequence[str], file: str) -> str:
    """Return the delimiter that splits the first lines evenly into the most fields; else the first that splits."""
    some = [line for line in lines if line.strip()][:SNIFFED]
    if not some:
        raise error(file, "expected a table, found an empty file")
    even: dict[str, int] = {}
    for delimiter in DELIMITERS:
        try:
            rows = csv.reader(some, delimiter=delimiter, skipinitialspace=True, strict=True)
            widths = {len(row) for row in rows}
        except csv.Error:
            continue
        if len(widths) == 1 and widths != {1}:
            even[delimiter] = widths.pop()
    if even:
        return max(even, key=lambda delimiter: even[delimiter])
    uneven = next((delimiter for delimiter in DELIMITERS if delimiter in some[0]), None)
    if uneven is None:
        raise error(file, f"expected columns with commas, semicolons or tabs between them, found {shown(some[0])}", 1)
    return uneven


def _split(
    lines: Iterable[str], delimiter: str, file: str, most: int | None = None
) -> tuple[list[list[str]], list[int]]:
    """Return the fields of each row, and the line at which it ends; rows without anything are passed over."""
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter, skipinitialspace=True, strict=True)
    rows: list[list[str]] = []
    places = []
    try:
        for row in reader:
            if len(row) > 1 or any(field.strip() for field in row):
                rows.append(row)
                places.append(reader.line_num)
            if len(rows) == most:
                break
    except csv.Error as reason:
        raise error(
            file, f"expected fields, in quotes or not, found what is neither ({reason})", reader.line_num
        ) from reason
    return rows, places


def _check_names(names: Sequence[str], file: str) -> None:
    for position, name in enumerate(names):
        if name and name in names[:position]:
            both = f"the columns {names.index(name)} and {position}, counted from 0"
            raise error(file, f"expected a name of its own for each column, found {shown(name)} for {both}", 1)


def has_header(
    rows: Sequence[Sequence[str]], target: str | int | Literal[False] | None = None, expected: Sequence[str] = ()
) -> bool:
    """Whether the first row names the columns."""
    names = [field.strip() for field in rows[0]]
    if expected and set(expected) <= set(names):
        return True
    if isinstance(target, str) and target in names and not is_number(target):
        return True
    # The first name may be missing: that is how pandas writes an index.
    if any(is_number(name) or (name in MISSING and (name or position)) for position, name in enumerate(names)):
        return False
    if len(set(names)) < len(names):
        return False
    rest = [row for row in rows[1:SNIFFED] if len(row) == len(names)]
    return not any(name == row[position].strip() for row in rest for position, name in enumerate(names))


def find_target(target: str | int | None, names: Sequence[str], file: str) -> int:
    """Return the position of the column of labels."""
    if target is not None:
        return find_column(target, names, file)
    named = [position for position, name in enumerate(names) if name.casefold() in TARGETS]
    return named[0] if len(named) == 1 else len(names) - 1


def _all_numbers(
    lines: Sequence[str], delimiter: str, header: bool, width: int
) -> tuple[np.ndarray, list[str], list[int]] | None:
    """Return a table of numbers as NumPy reads it, its lines and their places; None if it is not so simple."""
    places = [place for place, line in enumerate(lines, 1) if line.strip()][1 if header else 0 :]
    rows = [lines[place - 1] for place in places]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.loadtxt(rows, delimiter=delimiter, comments=None, ndmin=2)
    except (ValueError, UserWarning):
        return None
    return (values, rows, places) if values.shape == (len(rows), width) and not np.isinf(values).any() else None


def _known(texts: Iterable[str]) -> list[str | None]:
    return [None if text in MISSING else text for text in texts]


def _transposed(rows: Sequence[Sequence[str]], places: Sequence[int], width: int, file: str) -> list[list[str | None]]:
    """Return the columns, with None where a value is missing."""
    if not rows:
        raise error(file, "expected rows after the header, found none")
    for row, place in zip(rows, places, strict=True):
        if len(row) != width:
            raise error(file, f"expected {width} values as in the first line, found {len(row)}", place)
    return [_known(field.strip() for field in column) for column in zip(*rows, strict=True)]


def _numeric(name: str, values: np.ndarray) -> Attribute:
    known = values[~np.isnan(values)]
    return Attribute(name, "integer" if len(known) and bool((known == np.floor(known)).all()) else "real")


def _column(
    name: str, texts: Sequence[str | None], places: Sequence[int], delimiter: str, kind: Kind | None, file: str
) -> tuple[Attribute, Any]:
    """Return the attribute that a column is, and its values."""
    values, bad = to_numbers(texts)
    if bad >= 0 and delimiter == ";":
        values, still_bad = to_numbers([text and text.replace(",", ".") for text in texts])
        bad = bad if still_bad >= 0 else -1
    if bad < 0:
        return _numeric(name, values), values
    present = [text for text in texts if text is not None]
    n_numbers = sum(map(is_number, present))
    if kind != "mixed" and n_numbers >= MOSTLY * len(present):
        raise error(
            file,
            f"expected a number in {shown(name)} as in {n_numbers} other rows, found {shown(texts[bad] or '')}; "
            "kind='mixed' takes the column as categories",
            places[bad],
        )
    return read_column(Attribute(name, "nominal"), texts, places, file)


def write_csv(dataset: Dataset) -> str:
    """Return a table with the delimiter, the header and the order of columns that it was read with.

    A CSV has no types: a column of texts of which numbers alone are left is read as numbers.
    """
    layout = dataset.layout
    if layout is None or layout.format != "csv":
        names = [attribute.name for attribute in dataset.attributes]
        names = names or [f"column {position}" for position in range(1, np.shape(dataset.objects)[1] + 1)]
        name = next(name for name in (*TARGETS, *(f"class {n}" for n in range(len(names)))) if name not in names)
        layout = Layout("csv", (*names, name), len(names), target_name=name)
    rows = [["" if value is None else value for value in row] for row in text_rows(dataset, layout)]
    header = list(layout.header)
    known = layout.target_name if layout is dataset.layout else None
    if (header and not has_header([header, *rows], known)) or (not header and has_header(rows)):
        # So few rows are left that the first one would be taken for names; or names that would be taken for a row.
        header = [f"column {position}" for position in range(1, len(rows[0]) + 1)]
    table = [header, *rows] if header else rows
    text = _joined(table, layout.delimiter, csv.QUOTE_MINIMAL)
    if find_delimiter(split_lines(text), "table") != layout.delimiter:
        # Another mark is in every row; in quotes it is no delimiter.
        text = _joined(table, layout.delimiter, csv.QUOTE_ALL)
    return text


def _joined(table: Sequence[Sequence[str]], delimiter: str, quoting: Literal[0, 1]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(table)
    return text.getvalue()


FORMATS = (
    Format("csv", (".csv", ".tsv", ".txt", ".data", ""), ("vectors", "mixed"), read_csv, write_csv, ("target", "kind")),
)
