"""Tables with a column of labels (.csv): commas, semicolons or tabs between fields, with or without a header."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

import numpy as np

from protoset.datasets._columns import assemble, read_column, read_target, read_texts, text_objects, text_rows
from protoset.datasets._errors import error_at, shown
from protoset.datasets._forms import Decimal
from protoset.datasets._parsing import is_number, load_numbers, split_lines, to_numbers
from protoset.datasets.base import Attribute, Dataset, Format, Kind, Layout, LeftOut
from protoset.datasets.csv_sniffing import CSV_DELIMITERS, CSV_MISSING, CSV_SNIFFED_ROWS, find_delimiter, has_header
from protoset.datasets.roles import (
    TARGET_NAMES,
    ChosenColumns,
    ColumnOptions,
    as_ids,
    check_classes,
    choose_columns,
    named_target,
    only_categorical,
    refuse_no_attributes,
    why_no_category,
    why_no_number,
)

MOST_COLUMNS = 1_000_000
"""Number of columns that a table may have."""

COLUMNS_AT_A_TIME = 10_000
"""Number of columns that are copied at a time."""

SHARED_TEXTS = 100_000
"""Number of different texts up to which equal fields share one object."""


def read_csv(
    text: str,
    *,
    file: str = "text",
    target: str | int | Literal[False] | None = None,
    kind: Kind | None = None,
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 (frozen)
    expected: Sequence[str] = (),
) -> Dataset:
    """Read a table.

    The delimiter is the tab, semicolon or comma that splits all lines into the same, largest number of fields. The
    first line is a header if it holds the name of the target, all names in the options or all ``expected`` names, or if
    it holds no number, no name twice, and no value of its columns. A column is numeric if all its values are numbers,
    with a decimal point or, between semicolons, a decimal comma; with thousands ("3,750"), as percents ("18.7 %"); or
    dates, which become days since 1970-01-01. Other columns are nominal. Empty fields, ``?``, ``NA``, ``N/A``, ``NaN``,
    ``null`` and ``<null>`` are missing values. ``protoset.datasets.roles`` says which columns are left out.

    ``target`` is the name or position of the column of labels; by default the column called class, target, label or y,
    or the only nominal column. With False the table has no labels, and all labels are empty texts. ``kind="vectors"``
    refuses columns of texts. "mixed" returns an object array even if all columns are numeric, and reads a column of
    numbers with a few texts as categories, which is an error otherwise.
    """
    lines = split_lines(text)
    delimiter = find_delimiter(lines, file) if columns.separator is None else columns.separator
    first = [row for _, row in islice(_rows(filter(str.strip, lines), delimiter, file), CSV_SNIFFED_ROWS)]
    if not first:
        raise error_at(file, "expected a table, found an empty file")
    width = len(first[0])
    if width > MOST_COLUMNS:
        raise error_at(
            file, f"has {width:,} columns, more than {MOST_COLUMNS:,}; transpose it if its columns are objects"
        )
    header = columns.header
    if header is None:
        header = has_header(first, target, expected) or has_header(first, target, columns.names)
    given_names = [name.strip() for name in first[0]] if header else [None] * width
    names = [name or f"column {position}" for position, name in enumerate(given_names, 1)]
    _check_names(names, file)
    del first
    chosen = choose_columns(columns, target, names, file)
    at = named_target(names, chosen) if target is None else chosen.target
    numbers = None
    if '"' not in text and not chosen.categorical and chosen.text is None and columns.decimal != ",":
        numbers = _all_numbers(lines, delimiter, header, width)
    table: _NumberTable | _TextTable
    if numbers is not None:
        table = _NumberTable(*numbers, delimiter)
    else:
        fields, line_numbers, missing = _fields(_rows(lines, delimiter, file), width, header, file)
        table = _TextTable(fields, line_numbers, missing, width, delimiter, columns, kind, file)
    used, attributes, reasons = table.read(names, given_names, chosen, at)
    if target is None and at is None:
        nominal = [int(used[column]) for column, attribute in enumerate(attributes) if attribute.type == "nominal"]
        at = only_categorical(nominal, names, chosen, file)
        column = used.tolist().index(at)
        del attributes[column]
        used = np.delete(used, column)
    if chosen.text is not None:
        reasons |= {position: "unused" for position in used.tolist() if position != chosen.text}
        attributes = [Attribute(names[chosen.text], "nominal")]
    labels = np.full(table.n_rows, "")
    spelling: dict[int, str] = {}
    if at is not None:
        label_texts = table.texts(at)
        is_numeric = numbers is not None or all(text is None or is_number(text) for text in label_texts)
        target_column = Attribute(names[at], "real" if is_numeric else "nominal")
        labels, spelling = read_target(target_column, label_texts, table.line_numbers, file)
        if at not in chosen.categorical and not columns.raw:
            check_classes(names[at], labels, file)
    gone = [
        LeftOut(names[position], reason, position, np.array([*table.texts(position), None], object)[:-1])
        for position, reason in sorted(reasons.items())
    ]
    if not attributes:
        refuse_no_attributes(gone, file)
    ids, id_column = as_ids(chosen, gone, given_names, file)
    gone = [replace(left, values=table.with_missing(left.values, left.position)) for left in gone]
    objects: Any
    if chosen.text is None:
        objects = table.objects(used, attributes, kind)
        kind = "mixed" if objects.dtype == object else "vectors"
    else:
        objects, kind = text_objects(table.texts(chosen.text), table.line_numbers, names[chosen.text], file), "strings"
    layout = Layout(
        "csv",
        # pandas writes an index without a name.
        (given_names[0] or "", *names[1:]) if header else (),
        len(names) if at is None else at,
        target_name="" if at is None else names[at],
        delimiter=delimiter,
        spelling=spelling,
        missing=table.missing,
    )
    return Dataset(
        file,
        kind,
        objects,
        labels,
        tuple(attributes),
        layout=layout,
        ids=ids,
        left_out=tuple(gone),
        id_column=id_column,
    )


class _NumberTable:
    """A table of plain numbers, as NumPy reads it."""

    def __init__(self, values: np.ndarray, rows: Sequence[str], line_numbers: Sequence[int], delimiter: str):
        self._values, self._rows, self._delimiter = values, rows, delimiter
        self.line_numbers, self.n_rows = line_numbers, len(values)

    def texts(self, position: int) -> list[str | None]:
        """Return a column as it is written, None where a value is missing."""
        return _missing_as_none(line.split(self._delimiter)[position].strip() for line in self._rows)

    @property
    def missing(self) -> str:
        """The text of the first missing value."""
        rows, positions = np.nonzero(np.isnan(self._values))
        return self._rows[rows[0]].split(self._delimiter)[positions[0]].strip() if len(rows) else ""

    def with_missing(self, values: np.ndarray, position: int) -> np.ndarray:
        """Return the texts of a column with those of its missing values."""
        rows = np.flatnonzero([value is None for value in values])
        values[rows] = [self._rows[row].split(self._delimiter)[position].strip() for row in rows.tolist()]
        return values

    def read(
        self, names: Sequence[str], given_names: Sequence[str | None], chosen: ChosenColumns, target: int | None
    ) -> tuple[np.ndarray, list[Attribute], dict[int, str]]:
        """Return the positions of the attributes, the attributes, and the reasons of other columns by position."""
        free, reasons = _free_columns(chosen, len(names), target)
        attributes = [Attribute(names[position], "real") for position in free]
        everything = np.arange(len(free))
        _read_numbers(self._values, free, everything, free, attributes, given_names, chosen, reasons)
        return *_used(free, attributes, reasons), reasons

    def objects(self, used: np.ndarray, attributes: Sequence[Attribute], kind: Kind | None) -> np.ndarray:
        """Return the values of the attributes."""
        values = self._values if len(used) == self._values.shape[1] else self._values[:, used]
        return assemble(attributes, values.T, self.n_rows, kind, "")


class _TextTable:
    """A table of numbers and texts; ``fields`` are its fields row after row.

    ``missing`` has the positions in ``fields`` of the missing values, by their text.
    """

    def __init__(
        self,
        fields: list[str | None],
        line_numbers: Sequence[int],
        missing: Mapping[str, array[int]],
        width: int,
        delimiter: str,
        options: ColumnOptions,
        kind: Kind | None,
        file: str,
    ):
        self._fields, self._width, self._delimiter, self._options = fields, width, delimiter, options
        self._kind, self._file, self._missing = kind, file, missing
        self.line_numbers, self.n_rows = line_numbers, len(line_numbers)

    def texts(self, position: int) -> list[str | None]:
        """Return a column as it is written, None where a value is missing."""
        return self._fields[position :: self._width]

    @property
    def missing(self) -> str:
        """The most frequent text of missing values."""
        return max(self._missing, key=lambda text: len(self._missing[text]), default="")

    def with_missing(self, values: np.ndarray, position: int) -> np.ndarray:
        """Return the texts of a column with those of its missing values."""
        for text, places in self._missing.items():
            rows, columns = np.divmod(np.frombuffer(places, np.int64), self._width)
            values[rows[columns == position]] = text
        return values

    def read(
        self, names: Sequence[str], given_names: Sequence[str | None], chosen: ChosenColumns, target: int | None
    ) -> tuple[np.ndarray, list[Attribute], dict[int, str]]:
        """Return the positions of the attributes, the attributes, and the reasons of other columns by position."""
        free, reasons = _free_columns(chosen, len(names), target)
        self._free, self._values = free, np.empty((self.n_rows, len(free)), dtype=object)
        attributes: list[Attribute] = []
        for column in range(len(free)):
            position = int(free[column])
            texts = self.texts(position)
            attribute, values, ambiguous = self._column(names[position], texts, position, chosen)
            attributes.append(attribute)
            reason = None
            if attribute.type == "nominal" and not chosen.keeps(position):
                reason = "ambiguous dates" if ambiguous else why_no_category(given_names[position], texts)
            if reason is None:
                self._values[:, column] = values
            else:
                reasons[position] = reason
        of_numbers = np.flatnonzero([attribute.type != "nominal" for attribute in attributes])
        positions = free[of_numbers]
        _read_numbers(self._values, of_numbers, of_numbers, positions, attributes, given_names, chosen, reasons)
        return *_used(free, attributes, reasons), reasons

    def _column(
        self, name: str, texts: Sequence[str | None], position: int, chosen: ChosenColumns
    ) -> tuple[Attribute, Any, bool]:
        """Return a column as ``read_texts`` does."""
        decimal, is_raw = self._options.decimal, self._options.raw
        is_text = position in chosen.categorical or position == chosen.text
        if is_text or (is_raw and to_numbers(texts)[1] >= 0):
            return *read_column(Attribute(name, "nominal"), texts, self.line_numbers, self._file), False
        by_delimiter: tuple[Decimal, ...] = (",", ".") if self._delimiter == ";" else (".",)
        return read_texts(
            name,
            texts,
            self.line_numbers,
            self._file,
            decimals=by_delimiter if decimal is None else (decimal,),
            plain=decimal != ",",
            numeric=position in chosen.numeric,
            strict=self._kind != "mixed" and chosen.text is None,
        )

    def objects(self, used: np.ndarray, attributes: Sequence[Attribute], kind: Kind | None) -> np.ndarray:
        """Return the values of the attributes."""
        self._fields = []
        columns = np.searchsorted(self._free, used)
        start, stop = columns[0], columns[-1] + 1
        # Adjacent columns are not copied.
        values = self._values[:, start:stop] if stop - start == len(columns) else self._values[:, columns]
        return assemble(attributes, values.T, self.n_rows, kind, self._file)


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
        if first.setdefault(name, position) != position:
            both = f"the columns {first[name]} and {position}, counted from 0"
            raise error_at(
                file,
                f"expected a name of its own for each column, found {shown(name)} for {both}; rename one of them",
                1,
            )


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
) -> tuple[list[str | None], array[int], dict[str, array[int]]]:
    """Return the fields row after row, with None where a value is missing, and the line number of each row.

    Also the positions of the missing values, by their text: ``""``, ``"NA"``, ...

    One list for all fields, and one object for equal texts, take far less memory than a list per row or column.
    """
    fields: list[str | None] = []
    line_numbers = array("q")
    missing: dict[str, array[int]] = {}
    known: dict[str, str | None] = dict.fromkeys(CSV_MISSING)
    for line_number, row in islice(rows, int(header), None):
        if len(row) != width:
            raise error_at(file, f"expected {width} values as in the first line, found {len(row)}", line_number)
        find = known.setdefault if len(known) < SHARED_TEXTS else known.get
        values = [find(text, text) for text in map(str.strip, row)]
        if None in values:
            for position, value in enumerate(values):
                if value is None:
                    missing.setdefault(row[position].strip(), array("q")).append(len(fields) + position)
        fields += values
        line_numbers.append(line_number)
    if not line_numbers:
        raise error_at(file, "expected rows after the header, found none")
    return fields, line_numbers, missing


def _free_columns(chosen: ChosenColumns, width: int, target: int | None) -> tuple[np.ndarray, dict[int, str]]:
    """Return the positions of the columns whose content tells their role, and why the user leaves others out."""
    by_user = ((position, chosen.reason(position)) for position in range(width) if position != target)
    reasons = {position: reason for position, reason in by_user if reason is not None}
    is_free = np.ones(width, dtype=bool)
    is_free[[*reasons, *([] if target is None else [target])]] = False
    return np.flatnonzero(is_free), reasons


def _read_numbers(
    values: np.ndarray,
    columns: np.ndarray,
    indices: np.ndarray,
    positions: np.ndarray,
    attributes: list[Attribute],
    given_names: Sequence[str | None],
    chosen: ChosenColumns,
    reasons: dict[int, str],
) -> None:
    """Find the columns of whole numbers, and those that are left out, whose reasons are added to ``reasons``.

    The columns of numbers are ``columns`` in ``values``, ``indices`` in ``attributes``, ``positions`` in the file. An
    attribute becomes "integer" if all its known values are whole.
    """
    for start in range(0, len(columns), COLUMNS_AT_A_TIME):
        block = slice(start, start + COLUMNS_AT_A_TIME)
        numbers = values[:, columns[block]].astype(float)
        why = why_no_number([given_names[position] for position in positions[block]], numbers)
        missing = np.isnan(numbers)
        whole = ((np.floor(numbers) == numbers) | missing).all(axis=0) & ~missing.all(axis=0)
        for at, (index, position) in enumerate(zip(indices[block].tolist(), positions[block].tolist(), strict=True)):
            attribute = attributes[index]
            if attribute.type == "real" and whole[at]:
                attributes[index] = Attribute(attribute.name, "integer", form=attribute.form)
            # Days and percents may be unique whole numbers, and are no ids.
            is_measured = attribute.type == "date" or attribute.form.endswith("%")
            is_no_id = is_measured and why.get(at) == "unique"
            if at in why and not chosen.keeps(position) and not is_no_id:
                reasons[position] = why[at]


def _used(free: np.ndarray, attributes: list[Attribute], reasons: dict[int, str]) -> tuple[np.ndarray, list[Attribute]]:
    """Return the columns that are used: their positions, and their attributes."""
    kept = np.flatnonzero(~np.isin(free, list(reasons)))
    return (free, attributes) if len(kept) == len(free) else (free[kept], [attributes[index] for index in kept])


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
    rows = [
        [layout.missing if value is None else value for value in row] for row in text_rows(dataset, layout, forms=True)
    ]
    header = list(layout.header)
    target_name = layout.target_name if layout is dataset.layout else None
    if (header and not has_header([header, *rows], target_name)) or (not header and has_header(rows)):
        # With few rows left, a reader would take the first row for names, or the names for a row.
        header = [f"column {position}" for position in range(1, len(rows[0]) + 1)]
        named = [*header[: layout.target], layout.target_name, *header[layout.target + 1 :]]
        header = named if layout.target_name and has_header([named, *rows], layout.target_name) else header
    table = [header, *rows] if header else rows
    text = _joined(table, layout.delimiter, csv.QUOTE_MINIMAL)
    if layout.delimiter in CSV_DELIMITERS and find_delimiter(split_lines(text), "table") != layout.delimiter:
        # Another delimiter is in every row; in quotes it does not count.
        text = _joined(table, layout.delimiter, csv.QUOTE_ALL)
    return text


def _joined(table: Sequence[Sequence[str]], delimiter: str, quoting: Literal[0, 1]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(table)
    return text.getvalue()


FORMATS = (
    Format(
        "csv",
        (".csv", ".tsv", ".txt", ".data", ""),
        ("vectors", "mixed"),
        read_csv,
        write_csv,
        ("target", "kind", "columns"),
    ),
)
