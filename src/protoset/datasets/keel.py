"""KEEL files (.dat): a header of declarations, then rows of values with commas between them.

The format is described at https://sci2s.ugr.es/keel/dataFiles.php. Files in circulation differ from it: types without a
space before them, ``@output`` for ``@outputs``, declared classes without an object, labels such as ``1.0``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from protoset._validation import did_you_mean
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
from protoset.datasets._errors import error_at, listed, shown
from protoset.datasets._parsing import split_lines
from protoset.datasets.base import Attribute, Dataset, Format, Kind, Layout
from protoset.datasets.roles import ColumnOptions, find_column

KEEL_MISSING = ("?", "<null>")
"""Texts of missing values."""

KEEL_QUOTED = re.compile(r"[,\n\r]|^\s|\s$|^$|^['\"@%{]|^\?$|^<null>$|\}$")
"""Values that are written in quotes: only those that must be, as other programs know no quotes in these files."""

KEEL_KEYWORDS = ("@relation", "@attribute", "@inputs", "@input", "@outputs", "@output", "@data")
"""Keywords of the header."""


def read_keel(
    text: str,
    *,
    file: str = "text",
    target: str | int | None = None,
    kind: Kind | None = None,
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 (frozen)
) -> Dataset:
    """Read a KEEL file.

    ``target`` is the attribute that holds the labels; then all other attributes describe the objects. By default the
    attribute in ``@outputs``, or the last, holds the labels, and those in ``@inputs``, or all, describe the objects.
    ``kind="vectors"`` refuses nominal attributes; "mixed" returns an object array even if all attributes are numeric.
    """
    lines = split_lines(text)
    expected = "@relation, @attribute, @inputs, @outputs or @data"
    attributes, roles, start = read_header(lines, KEEL_KEYWORDS, r"[\s{]", expected, file)
    at, other = _choose(attributes, roles, target, file)
    chosen, reasons = choose_declared(attributes, at, other, columns, file)
    rows, line_numbers = read_rows(
        lines, start, len(attributes), lambda line, _: split_fields(line, KEEL_MISSING), file
    )
    header = tuple(lines[:start])
    if target is not None or columns.given:
        inputs = [attribute for position, attribute in enumerate(attributes) if position not in (at, *reasons)]
        header = _with_roles(header, inputs, attributes[at].name)
    layout = Layout("keel", header)
    return build(
        attributes, rows, line_numbers, target=at, chosen=chosen, reasons=reasons, layout=layout, kind=kind, file=file
    )


def _choose(
    attributes: Sequence[Attribute], roles: Mapping[str, tuple[str, int]], target: str | int | None, file: str
) -> tuple[int, set[int]]:
    """Return the position of the label, and the positions of attributes that are neither input nor output."""
    names = [attribute.name for attribute in attributes]
    if target is not None:
        return find_column(target, names, file), set()
    exact, folded = ({key(name): at for at, name in reversed(list(enumerate(names)))} for key in (str, str.casefold))
    positions: dict[str, list[int]] = {}
    for keyword, (listed_names, line) in roles.items():
        for name in filter(None, split_fields(listed_names)):
            at = exact.get(name, folded.get(name.casefold()))
            if at is None:
                raise error_at(
                    file, f"expected names of attributes, found {shown(name)}{did_you_mean(name, names)}", line
                )
            positions.setdefault(keyword, []).append(at)
    outputs = positions.get("@output", [len(names) - 1])
    if len(outputs) > 1:
        chosen = listed(names[at] for at in outputs)
        raise error_at(file, f"expected one output, found {chosen}; choose the one with the labels by target=")
    inputs = positions.get("@input", range(len(names)))
    return outputs[0], set(range(len(names))) - set(inputs) - set(outputs)


def _with_roles(lines: Sequence[str], inputs: Sequence[Attribute], target: str) -> tuple[str, ...]:
    """Return the lines of the header with other inputs and another output."""
    kept = [line for line in lines if not re.match(r"\s*@(in|out)put|\s*@data", line, re.IGNORECASE)]
    return (*kept, *_roles(inputs, target))


def _roles(inputs: Sequence[Attribute], target: str) -> list[str]:
    names = ", ".join(quote(attribute.name, KEEL_QUOTED) for attribute in inputs)
    return [f"@inputs {names}", f"@outputs {quote(target, KEEL_QUOTED)}", "@data"]


def write_keel(dataset: Dataset) -> str:
    """Return a data set of vectors or mixed attributes as a KEEL file.

    Its header is that of the KEEL file that was read, or is made from the attributes.
    """
    layout = dataset.layout
    if layout is None or layout.format != "keel":
        declarations, name = declare_all(dataset, KEEL_QUOTED)
        relation = f"@relation {quote(dataset.name, re.compile('[^A-Za-z0-9_-]|^$'))}"
        header = (relation, *declarations, *_roles(dataset.attributes, name))
        layout = Layout("keel", header, target=len(dataset.attributes))
    return table_text(dataset, layout, KEEL_QUOTED, ", ")


FORMATS = (Format("keel", (".dat",), ("vectors", "mixed"), read_keel, write_keel, takes=("target", "kind", "columns")),)
