"""Every format, and which one a file is in."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from protoset.datasets import arff, keel, matrices, parquet, strings, tables, ts, ucr
from protoset.datasets._text import decode, error, is_number, shown, split_lines, whole_number
from protoset.datasets.base import Format, Kind

FORMATS: dict[str, Format] = {
    record.name: record
    for module in (keel, ucr, ts, arff, tables, parquet, matrices, strings)
    for record in module.FORMATS
}
"""Every format, by name."""

BY_KIND = {"series": "ucr", "strings": "strings", "matrix": "matrix-csv", "vectors": "csv", "mixed": "csv"}
"""How a plain text file is read if the kind is given."""

BY_ENDING = {
    extension: record
    for record in FORMATS.values()
    if record.name not in BY_KIND.values()
    for extension in record.extensions
}
"""Formats that have endings of their own."""

WITHOUT_LABELS = (*FORMATS["matrix-csv"].extensions, *FORMATS["npy"].extensions)
"""Endings of matrices whose labels are in a file beside them."""

SHORTEST = 16
"""Values in a line from which on numbers after a whole number are a series: no series of the archive is shorter."""

SNIFFED = 50


def stem(place: Path) -> str:
    """Return the name of a file without its endings."""
    name = place.name
    name = name[:-3] if name.lower().endswith(".gz") else name
    return name.rpartition(".")[0] or name


def ending(place: Path) -> str:
    """Return how the name of a file ends, in lower case and without ``.gz``."""
    name = place.name.lower()
    return os.path.splitext(name.removesuffix(".gz"))[1]


def recognise(place: Path, content: bytes, *, target: Any, labels: Any, kind: Kind | None) -> Format:
    """Return the format of a file."""
    record = BY_ENDING.get(ending(place))
    if record is None:
        for mark, binary in ((b"PAR1", "parquet"), (b"\x93NUMPY", "npy"), (b"PK\x03\x04", "npz"), (b"MATLAB", "mat")):
            if content.startswith(mark):
                return FORMATS[binary]
        return FORMATS[_sniff(place, content, target, labels, kind)]
    if record.name == "keel" and not _header_lines(content, str(place)):
        if kind is None and content.strip():
            first = next(line for line in split_lines(decode(content, str(place))) if line.strip())
            raise error(
                str(place),
                f"expected a header such as '@relation name', found {shown(first)}; "
                "kind='vectors' or 'mixed' reads a table without header",
                1,
            )
        return FORMATS[BY_KIND[kind]] if kind is not None else record
    return record


def _header_lines(content: bytes, file: str) -> list[str]:
    """Return the words after ``@`` at the beginning of a text."""
    words = []
    for line in split_lines(decode(content, file)):
        line = line.strip()
        if line.startswith("@"):
            words.append(re.split(r"\s", line, maxsplit=1)[0].lower())
        elif line and not line.startswith(("%", "#")):
            break
    return words


def _sniff(place: Path, content: bytes, target: Any, labels: Any, kind: Kind | None) -> str:
    """Return the name of the format of a text by what is in it."""
    words = _header_lines(content, str(place))
    if words:
        if {"@problemname", "@timestamps", "@univariate", "@classlabel", "@equallength"} & set(words):
            return "ts"
        return "keel" if any(word.startswith(("@input", "@output")) for word in words) else "arff"
    if kind is not None:
        return BY_KIND[kind]
    if labels is not None:
        return "matrix-csv"
    if target is not None:
        return "csv"
    lines = [line for line in split_lines(decode(content, str(place))) if line.strip()]
    some = lines[:SNIFFED]
    if not some:
        raise error(str(place), "the file is empty")
    by_tab = [line.split("\t", 2) for line in some]
    if all(len(fields) == 2 for fields in by_tab) and not all(is_number(fields[1].strip()) for fields in by_tab):
        return "strings"
    delimiter = next((mark for mark in "\t;," if mark in some[0]), None)
    fields = [line.split(delimiter) for line in some]
    if not all(is_number(field.strip()) or field.strip() == "?" for row in fields for field in row):
        return "csv"
    width = len(fields[0])
    diagonal = [row[position] for position, row in enumerate(fields) if position < len(row)]
    if width == len(lines) > 1 and all(float(value) == 0 for value in diagonal if value.strip() != "?"):
        return "matrix-csv"
    is_part = stem(place).upper().endswith(("_TRAIN", "_TEST"))
    is_long = width >= SHORTEST and ending(place) != ".csv"
    whole = all(whole_number(row[0].strip()) is not None for row in fields)
    return "ucr" if whole and width > 1 and (is_part or is_long) else "csv"
