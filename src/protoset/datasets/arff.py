"""ARFF files of Weka: declarations, then rows of values, dense or sparse.

The format is described at https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from protoset._memory import unpacking_limit
from protoset.datasets._declarations import (
    build,
    choose_declared,
    declare_all,
    quote,
    read_header,
    read_rows,
    split_fields,
    table_text,
)
from protoset.datasets._errors import check_unpacked, error_at, shown
from protoset.datasets._parsing import split_lines
from protoset.datasets.base import Attribute, Dataset, Format, Kind, Layout
from protoset.datasets.roles import ColumnOptions, find_column

ARFF_QUOTED = re.compile(r"[\s,'\"{}%\\]|^$|^\?$|^@")
"""Values that Weka writes in quotes."""

ARFF_KEYWORDS = ("@relation", "@attribute", "@data")
"""Keywords of the header."""

SPARSE_ENTRY = re.compile(r"(\d+)\s+(.+)", re.DOTALL)
"""A position and a value of a sparse row."""

SPARSE_VALUE_BYTES = 24
"""Memory of a value that a sparse row leaves out, while the file is read: in the row, in its column, in the objects."""


def read_arff(
    text: str,
    *,
    file: str = "text",
    target: str | int | None = None,
    kind: Kind | None = None,
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 (frozen)
    limit: int | None = None,
) -> Dataset:
    """Read an ARFF file.

    A value that is not in a sparse row is 0, or the first declared value of a nominal attribute, as in Weka.
    Attributes of the types date and relational are refused. ``target`` is the attribute that holds the labels; by
    default the attribute called "class", or the last. ``kind="vectors"`` refuses nominal attributes; "mixed" returns an
    object array even if all attributes are numeric. ``limit`` is the number of bytes that sparse rows may take
    when they are filled, by default as in ``read``.
    """
    lines = split_lines(text)
    expected = "@relation, @attribute, @data or a comment"
    attributes, _, start = read_header(lines, ARFF_KEYWORDS, r"[\s{'\"]", expected, file)
    names = [attribute.name for attribute in attributes]
    classes = [at for at, name in enumerate(names) if name.casefold() == "class"]
    at = find_column(target, names, file) if target is not None else (classes or [len(names) - 1])[0]

    chosen, reasons = choose_declared(attributes, at, (), columns, file)
    n_sparse = sum(line.lstrip().startswith("{") for line in lines[start:])
    filled = SPARSE_VALUE_BYTES * n_sparse * len(attributes)
    check_unpacked(file, filled, unpacking_limit(len(text), None) if limit is None else limit)

    def split(line: str, number: int) -> list[str | None]:
        return _dense(line, attributes, file, number) if line.startswith("{") else split_fields(line, "?")

    rows, line_numbers = read_rows(lines, start, len(attributes), split, file)
    layout = Layout("arff", tuple(lines[:start]))
    return build(
        attributes, rows, line_numbers, target=at, chosen=chosen, reasons=reasons, layout=layout, kind=kind, file=file
    )


def _dense(line: str, attributes: Sequence[Attribute], file: str, line_number: int) -> list[str | None]:
    """Return all values of a sparse row."""
    if not line.endswith("}"):
        raise error_at(file, f"expected '}}' at the end of a sparse row, found {shown(line[-20:])}", line_number)
    row: list[str | None] = [attribute.values[0] if attribute.values else "0" for attribute in attributes]
    seen: set[int] = set()
    for entry in _entries(line[1:-1]):
        match = SPARSE_ENTRY.fullmatch(entry.strip())
        if match is None or not match[1].isascii():
            raise error_at(file, f"expected 'position value' in a sparse row, found {shown(entry)}", line_number)
        position = int(match[1][:9])
        if position >= len(attributes) or position in seen:
            raise error_at(
                file,
                f"expected each position from 0 to {len(attributes) - 1} at most once, found {match[1][:9]}",
                line_number,
            )
        seen.add(position)
        row[position] = split_fields(match[2], "?")[0]
    return row


def _entries(inside: str) -> list[str]:
    """Split the inside of a sparse row at the commas that are not in quotes."""
    entries = re.findall(r"""(?:[^,'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|['"])+""", inside)
    return [entry for entry in entries if entry.strip()]


def write_arff(dataset: Dataset) -> str:
    """Return a data set of vectors or mixed attributes as an ARFF file.

    Its header is that of the ARFF file that was read, or is made from the attributes. Rows are dense.
    """
    layout = dataset.layout
    if layout is None or layout.format != "arff":
        header = (f"@relation {quote(dataset.name, ARFF_QUOTED)}", *declare_all(dataset, ARFF_QUOTED)[0], "@data")
        layout = Layout("arff", header, target=len(dataset.attributes))
    return table_text(dataset, layout, ARFF_QUOTED, ",")


FORMATS = (
    Format(
        "arff", (".arff",), ("vectors", "mixed"), read_arff, write_arff, takes=("target", "kind", "columns", "limit")
    ),
)
