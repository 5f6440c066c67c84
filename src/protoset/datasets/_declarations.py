"""Declarations of attributes in KEEL and ARFF files, and rows of values that may be in quotes."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np

from protoset._validation import did_you_mean
from protoset.datasets._columns import assemble, read_column, read_target, text_objects, text_rows
from protoset.datasets._errors import error_at, shown
from protoset.datasets.base import Attribute, Dataset, Kind, Layout, LeftOut
from protoset.datasets.roles import ChosenColumns, ColumnOptions, as_ids, choose_columns, refuse_no_attributes

FIELD_PATTERN = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(?:,|$)|([^,]*)(?:,|$)""")
"""A value up to the next comma: in single quotes, in double quotes, or without quotes."""

NAME_PATTERN = re.compile(r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))\s*(.*)""", re.DOTALL)
"""The name of an attribute, as above, and the rest of its declaration."""

TYPE_PATTERN = re.compile(r"(real|numeric|integer|string|date|relational)\b\s*(.*)", re.IGNORECASE)
"""The type of an attribute, and the rest of its declaration."""

CHARACTER_OF_ESCAPE = {"n": "\n", "r": "\r", "t": "\t"}
"""Characters that are written with a backslash."""

ESCAPE_OF_CHARACTER = {"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
"""Text of each character that quotes need to escape."""


def split_fields(text: str, missing: Collection[str] = ()) -> list[str | None]:
    """Return the values between commas; a value in ``missing`` becomes None, unless it is in quotes."""
    if "'" not in text and '"' not in text:
        return [None if (value := field.strip()) in missing else value for field in text.split(",")]
    fields: list[str | None] = []
    position = 0
    while position <= len(text):
        match = FIELD_PATTERN.match(text, position)
        assert match is not None  # the last alternative matches anything
        inside = match[1] if match[1] is not None else match[2]
        if inside is not None:
            fields.append(_unescape(inside))
        else:
            value = match[3].strip()
            fields.append(None if value in missing else value)
        position = match.end() if match.end() > position and text[match.end() - 1] == "," else len(text) + 1
    return fields


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: CHARACTER_OF_ESCAPE.get(match[1], match[1]), text, flags=re.DOTALL)


def quote(text: str, strange: re.Pattern[str]) -> str:
    """Return a text, in quotes if it matches ``strange``."""
    return (
        "'" + "".join(ESCAPE_OF_CHARACTER.get(letter, letter) for letter in text) + "'"
        if strange.search(text)
        else text
    )


def read_header(
    lines: Sequence[str], keywords: Sequence[str], keyword_end: str, expected: str, file: str
) -> tuple[list[Attribute], dict[str, tuple[str, int]], int]:
    """Return the attributes, the roles of attributes, and the line of ``@data``.

    A keyword ends at the pattern ``keyword_end``. The roles "@input" and "@output" are a list of names as text, and the
    number of its line.
    """
    attributes: list[Attribute] = []
    declared_at: list[int] = []
    roles: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        keyword = re.split(keyword_end, line, maxsplit=1)[0].lower()
        if keyword not in keywords:
            hint = did_you_mean(keyword, keywords) if keyword.startswith("@") else ""
            raise error_at(file, f"expected {expected}, found {shown(line)}{hint}", number)
        if keyword == "@data":
            _check_names(attributes, declared_at, file)
            return attributes, roles, number
        if keyword == "@attribute":
            attributes.append(parse_attribute(line[len(keyword) :], file, number))
            declared_at.append(number)
        elif keyword != "@relation":
            roles[keyword.rstrip("s")] = (line[len(keyword) :], number)
    raise error_at(file, "expected '@data' after the header, found the end of the file", len(lines))


def read_rows(
    lines: Sequence[str], start: int, width: int, split: Callable[[str, int], list[str | None]], file: str
) -> tuple[list[tuple[str | None, ...]], Sequence[int]]:
    """Return the rows after the first ``start`` lines and their line numbers; ``split`` takes a line and its number."""
    rows, line_numbers = [], array("q")
    for number, line in enumerate(islice(lines, start, None), start + 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        row = split(line, number)
        if len(row) != width:
            raise error_at(file, f"expected {width} values, found {len(row)}: {shown(line)}", number)
        rows.append(tuple(row))
        line_numbers.append(number)
    return rows, line_numbers


def table_text(dataset: Dataset, layout: Layout, strange: re.Pattern[str], separator: str) -> str:
    """Return the header and the rows of a data set; values that match ``strange`` are in quotes."""
    rows = (
        separator.join("?" if value is None else quote(value, strange) for value in row)
        for row in text_rows(dataset, layout)
    )
    return "\n".join([*layout.header, *rows, ""])


def parse_attribute(declaration: str, file: str, line: int) -> Attribute:
    """Return the attribute that a text after ``@attribute`` declares: a name, perhaps in quotes, and a type."""
    match = NAME_PATTERN.fullmatch(declaration.strip())
    if match is None:
        raise error_at(file, "expected '@attribute name type', found no name", line)
    inside = match[1] if match[1] is not None else match[2]
    name, declared = match[3] if inside is None else _unescape(inside), match[4].strip()
    if declared.startswith("{"):
        if not declared.endswith("}"):
            raise error_at(
                file, f"expected '}}' after the values of {shown(name)}, found {shown(declared[-20:])}", line
            )
        values = tuple(dict.fromkeys(value or "" for value in split_fields(declared[1:-1])))
        if values == ("",):
            raise error_at(file, f"expected the values of {shown(name)} between {{ and }}, found none", line)
        return Attribute(name, "nominal", values)
    type_match = TYPE_PATTERN.fullmatch(declared)
    if type_match is None:
        what = f"found {shown(declared)}" if declared else "found nothing"
        raise error_at(
            file, f"expected a type for {shown(name)}: real, integer, or values between {{ and }}; {what}", line
        )
    word = type_match[1].lower()
    if word in ("date", "relational"):
        raise error_at(file, f"attribute {shown(name)} is of the type {word}, which is not supported; remove it", line)
    if type_match[2] and not type_match[2].startswith("["):
        raise error_at(
            file, f"expected the end of the line or a range after {word}, found {shown(type_match[2])}", line
        )
    types: dict[str, Literal["integer", "nominal"]] = {"integer": "integer", "string": "nominal"}
    return Attribute(name, types.get(word, "real"))


def declare(attribute: Attribute, strange: re.Pattern[str]) -> str:
    """Return the line that declares an attribute."""
    name = quote(attribute.name, re.compile(f"{strange.pattern}|[\\s{{]"))
    values = ", ".join(quote(value, strange) for value in attribute.values)
    if attribute.type != "nominal":
        return f"@attribute {name} {'real' if attribute.type == 'date' else attribute.type}"
    return f"@attribute {name} " + (f"{{{values}}}" if values else "string")


def declare_all(dataset: Dataset, strange: re.Pattern[str]) -> tuple[list[str], str]:
    """Return lines that declare the attributes and the labels of a data set, and the name of the labels."""
    name = "class"
    while any(attribute.name.casefold() == name for attribute in dataset.attributes):
        name += "_"
    target = Attribute(name, "nominal", tuple(dict.fromkeys(str(label) for label in dataset.labels)))
    return [declare(attribute, strange) for attribute in (*dataset.attributes, target)], name


def _check_names(attributes: Sequence[Attribute], lines: Sequence[int], file: str) -> None:
    """Refuse a file without attributes, or with two attributes of the same name."""
    if not attributes:
        raise error_at(file, "expected '@attribute name type' before the data, found none")
    seen: set[str] = set()
    for attribute, line in zip(attributes, lines, strict=True):
        if attribute.name in seen:
            raise error_at(file, f"expected a new name, but attribute {shown(attribute.name)} is declared above", line)
        seen.add(attribute.name)


def choose_declared(
    attributes: Sequence[Attribute], target: int, other: Collection[int], columns: ColumnOptions, file: str
) -> tuple[ChosenColumns, dict[int, str]]:
    """Return the columns that the user names, and the reasons of the attributes that are left out, by position.

    ``other`` are positions of attributes that the file declares as neither input nor output.
    """
    for option in ("categorical", "numeric", "header", "separator", "decimal"):
        if option in columns.given:
            raise error_at(file, f"{option}= is for CSV and Parquet, and this file declares its columns; leave it out")
    chosen = choose_columns(columns, target, [attribute.name for attribute in attributes], file)
    reasons = {position: chosen.reason(position) for position in range(len(attributes)) if position != target}
    if chosen.text is not None:
        reasons |= {position: "unused" for position in reasons if position != chosen.text and not reasons[position]}
    reasons |= {
        position: "no input" for position in other if not chosen.keeps(position) and reasons.get(position) is None
    }
    return chosen, {position: reason for position, reason in sorted(reasons.items()) if reason is not None}


def build(
    attributes: Sequence[Attribute],
    rows: Sequence[Sequence[str | None]],
    lines: Sequence[int],
    *,
    target: int,
    chosen: ChosenColumns,
    reasons: Mapping[int, str],
    layout: Layout,
    kind: Kind | None,
    file: str,
) -> Dataset:
    """Return the data set of rows of texts; ``chosen`` and ``reasons`` as of ``choose_declared``."""
    if not rows:
        raise error_at(file, "expected rows after '@data', found none")
    labels, spelling = read_target(attributes[target], [row[target] for row in rows], lines, file)
    kept = [position for position in range(len(attributes)) if position != target and position not in reasons]
    names = [attribute.name for attribute in attributes]
    left_out = tuple(
        LeftOut(names[position], reason, position, np.array([*(row[position] for row in rows), None], object)[:-1])
        for position, reason in reasons.items()
    )
    if not kept:
        refuse_no_attributes(left_out, file)
    objects: Any
    if chosen.text is None:
        read = [read_column(attributes[at], [row[at] for row in rows], lines, file) for at in kept]
        kept_attributes = tuple(attribute for attribute, _ in read)
        objects = assemble(kept_attributes, [values for _, values in read], len(rows), kind, file)
        kind = "vectors" if objects.dtype != object else "mixed"
    else:
        kept_attributes = (attributes[chosen.text],)
        objects, kind = text_objects([row[chosen.text] for row in rows], lines, names[chosen.text], file), "strings"
    layout = Layout(layout.format, layout.header, target=target, target_name=names[target], spelling=spelling)
    ids, id_column = as_ids(chosen, left_out, names, file)
    return Dataset(
        file, kind, objects, labels, kept_attributes, layout=layout, ids=ids, left_out=left_out, id_column=id_column
    )
