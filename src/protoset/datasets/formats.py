"""The registry of formats; ``recognise`` tells the format of a file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from protoset._validation import did_you_mean
from protoset.datasets import arff, csv_tables, keel, matrices, parquet, phylip, strings, ts, ucr
from protoset.datasets._errors import error_at, shown
from protoset.datasets._parsing import decode, is_number, split_lines, whole_number
from protoset.datasets.base import Format, Kind
from protoset.datasets.named_matrices import is_named_square
from protoset.datasets.refused_formats import refuse_content, refuse_ending
from protoset.exceptions import DataError

FORMATS: dict[str, Format] = {
    record.name: record
    for module in (keel, ucr, ts, arff, csv_tables, parquet, matrices, phylip, strings)
    for record in module.FORMATS
}
"""Every format, by name."""

TEXT_FORMAT_OF_KIND = {"series": "ucr", "strings": "strings", "matrix": "matrix-csv", "vectors": "csv", "mixed": "csv"}
"""Format of a text file without header, if the user gives the kind."""

FORMAT_OF_ENDING = {
    extension: record
    for record in FORMATS.values()
    if record.name not in TEXT_FORMAT_OF_KIND.values()
    for extension in record.extensions
}
"""Formats that are known by the ending of the file name."""

ENDINGS_WITHOUT_LABELS = tuple(
    ending for name in ("matrix-csv", "npy", "phylip") for ending in FORMATS[name].extensions
)
"""Endings of matrices whose labels are in another file."""

SHORTEST_SERIES = 16
"""Least number of columns of a file of series; no series of the UCR archive is shorter."""

SNIFFED_LINES = 50
"""Number of lines by which the format of a text is found."""


def stem(path: Path) -> str:
    """Return the name of a file without its endings."""
    name = path.name
    name = name[:-3] if name.lower().endswith(".gz") else name
    return name.rpartition(".")[0] or name


def ending(path: Path) -> str:
    """Return the ending of a file name, in lower case and without ``.gz``."""
    name = path.name.lower()
    return os.path.splitext(name.removesuffix(".gz"))[1]


def find_format(name: str) -> Format:
    """Return a format by its name."""
    if not isinstance(name, str) or name not in FORMATS:
        raise DataError(f"format={name!r} is not known{did_you_mean(name, FORMATS)}; choose one of {list(FORMATS)}")
    return FORMATS[name]


def recognise(
    path: Path, content: bytes, *, labels: Any, kind: Kind | None, is_table: bool = False, format: str | None = None
) -> Format:
    """Return the format of a file: the one that is given, or by the name and the content of the file.

    ``is_table`` if the user says so by options for tables.
    """
    record = FORMAT_OF_ENDING.get(ending(path)) if format is None else find_format(format)
    if record is None or not record.binary:
        refuse_content(str(path), content)
    if format is not None and record is not None:
        return record
    if record is None:
        for mark, binary in ((b"PAR1", "parquet"), (b"\x93NUMPY", "npy"), (b"PK\x03\x04", "npz"), (b"MATLAB", "mat")):
            if content.startswith(mark):
                return FORMATS[binary]
        refuse_ending(str(path), ending(path))
        return FORMATS[_sniff(path, content, is_table, labels, kind)]
    if record.name == "keel" and not _header_lines(content, str(path)):
        # A byte order mark alone is an empty file.
        first = next((line for line in split_lines(decode(content, str(path))) if line.strip()), None)
        if kind is None and first is not None:
            raise error_at(
                str(path),
                f"expected a header such as '@relation name', found {shown(first)}; "
                "kind='vectors' or 'mixed' reads a table without header",
                1,
            )
        return FORMATS[TEXT_FORMAT_OF_KIND[kind]] if kind is not None else record
    return record


def _header_lines(content: bytes, file: str) -> list[str]:
    """Return the keywords of the header, such as "@relation"; empty if there is no header."""
    words = []
    for line in split_lines(decode(content, file)):
        line = line.strip()
        if line.startswith("@"):
            words.append(re.split(r"\s", line, maxsplit=1)[0].lower())
        elif line and not line.startswith(("%", "#")):
            break
    return words


def _sniff(path: Path, content: bytes, is_table: bool, labels: Any, kind: Kind | None) -> str:
    """Return the name of the format of a text, by its content."""
    words = _header_lines(content, str(path))
    if words:
        if {"@problemname", "@timestamps", "@univariate", "@classlabel", "@equallength"} & set(words):
            return "ts"
        return "keel" if any(word.startswith(("@input", "@output")) for word in words) else "arff"
    lines = [line for line in split_lines(decode(content, str(path))) if line.strip()]
    if kind in (None, "matrix") and not is_table and phylip.is_phylip(lines):
        return "phylip"
    if kind is not None:
        return TEXT_FORMAT_OF_KIND[kind]
    if labels is not None:
        return "matrix-csv"
    if is_table:
        return "csv"
    first_lines = lines[:SNIFFED_LINES]
    if not first_lines:
        raise error_at(str(path), "the file is empty")
    by_tab = [line.split("\t", 2) for line in first_lines]
    if all(len(fields) == 2 for fields in by_tab) and not all(is_number(fields[1].strip()) for fields in by_tab):
        return "strings"
    if is_named_square(lines, SNIFFED_LINES):
        return "matrix-csv"
    delimiter = next((mark for mark in "\t;," if mark in first_lines[0]), None)
    fields = [line.split(delimiter) for line in first_lines]
    if not all(is_number(field.strip()) or field.strip() == "?" for row in fields for field in row):
        return "csv"
    width = len(fields[0])
    diagonal = [row[position] for position, row in enumerate(fields) if position < len(row)]
    if width == len(lines) > 1 and all(float(value) == 0 for value in diagonal if value.strip() != "?"):
        return "matrix-csv"
    is_part = stem(path).upper().endswith(("_TRAIN", "_TEST"))
    is_long = width >= SHORTEST_SERIES and ending(path) != ".csv"
    whole = all(whole_number(row[0].strip()) is not None for row in fields)
    return "ucr" if whole and width > 1 and (is_part or is_long) else "csv"
