"""Columns of texts as attributes, labels and objects; objects as rows of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from protoset._validation import did_you_mean
from protoset.datasets._errors import error_at, listed, shown
from protoset.datasets._parsing import is_number, number_text, to_labels, to_numbers, whole_number
from protoset.datasets.base import Attribute, Dataset, Kind, Layout


def find_column(target: str | int, names: Sequence[str], file: str) -> int:
    """Return the position of the column with the name or the position ``target``; negative ones count from the end."""
    if isinstance(target, str):
        for same in (lambda name: name == target, lambda name: name.casefold() == target.casefold()):
            matches = [position for position, name in enumerate(names) if same(name)]
            if len(matches) == 1:
                return matches[0]
        position = whole_number(target)
        if position is None:
            hint = did_you_mean(target, names)
            raise error_at(file, f"there is no column target={shown(target)}{hint}; there are {listed(names)}")
        target = position
    if not isinstance(target, (int, np.integer)) or isinstance(target, bool):
        raise error_at(
            file, f"target={target!r} must be the name or the position of a column; there are {listed(names)}"
        )
    if not -len(names) <= target < len(names):
        raise error_at(file, f"target={target} is not a position in {len(names)} columns, counted from 0")
    return int(target) % len(names)


def read_column(
    attribute: Attribute, texts: Sequence[str | None], lines: Sequence[int], file: str
) -> tuple[Attribute, Any]:
    """Return the attribute and its values: an array of numbers, or a list of texts with None for missing values.

    A nominal attribute without declared values gets the values of the column.
    """
    if attribute.type != "nominal":
        values, bad = to_numbers(texts)
        if bad >= 0:
            wrong = shown(texts[bad] or "")
            raise error_at(file, f"expected a number for {shown(attribute.name)}, found {wrong}", lines[bad])
        return attribute, values
    if not attribute.values:
        seen = dict.fromkeys(text for text in texts if text is not None)
        return Attribute(attribute.name, "nominal", tuple(seen)), list(texts)
    declared: dict[str | None, str | None] = {None: None, **{value: value for value in attribute.values}}
    by_number = {float(value): value for value in reversed(attribute.values) if is_number(value)}
    for line, text in zip(lines, texts, strict=True):
        if text not in declared:
            # The value may be declared as 1 and written as 1.0.
            same = by_number.get(float(text)) if text is not None and is_number(text) else None
            if same is None:
                raise error_at(
                    file,
                    f"expected one of the values of {shown(attribute.name)} ({listed(attribute.values)}), "
                    f"found {shown(text or '')}",
                    line,
                )
            declared[text] = same
    return attribute, [declared[text] for text in texts]


def read_target(
    attribute: Attribute, texts: Sequence[str | None], lines: Sequence[int], file: str
) -> tuple[np.ndarray, dict[int, str]]:
    """Return the labels, and their texts in the file (see ``Layout.spelling``)."""
    if None in texts:
        raise error_at(
            file, f"the label {shown(attribute.name)} is missing; remove the row", lines[list(texts).index(None)]
        )
    attribute, values = read_column(attribute, texts, lines, file)
    present = [text for text in (texts if attribute.type != "nominal" else values) if text is not None]
    if attribute.type != "nominal" or all(is_number(text) for text in dict.fromkeys(present)):
        for line, text in zip(lines, present, strict=True):
            if not float(text).is_integer():
                raise error_at(
                    file,
                    f"expected class labels in {shown(attribute.name)}, found the number {shown(text)}; "
                    "bin the numbers, or choose another column with target=",
                    line,
                )
    return to_labels(present, file, attribute.values)


def assemble(
    attributes: Sequence[Attribute], columns: Sequence[Any] | np.ndarray, n: int, kind: Kind | None, file: str
) -> Any:
    """Return the objects: a float array if all attributes are numeric and ``kind`` is not "mixed"."""
    nominal = [attribute.name for attribute in attributes if attribute.type == "nominal"]
    if not attributes:
        raise error_at(file, "there is no column beside the labels")
    if kind == "vectors" and nominal:
        raise error_at(file, f"kind='vectors' takes numbers, but {listed(nominal)} hold texts; pass kind='mixed'")
    if not nominal and kind != "mixed":
        return np.ascontiguousarray(np.array(columns, dtype=np.float64).reshape(len(attributes), n).T)
    if isinstance(columns, np.ndarray) and columns.dtype == object:
        return np.ascontiguousarray(columns.T)
    objects = np.empty((n, len(attributes)), dtype=object)
    for position, column in enumerate(columns):
        objects[:, position] = column.tolist() if isinstance(column, np.ndarray) else column
    return objects


def label_text(label: Any, layout: Layout) -> str:
    """Return the text of a label in the file."""
    label = label.item() if isinstance(label, np.generic) else label
    return layout.spelling.get(label, str(label))


def text_rows(dataset: Dataset, layout: Layout) -> Iterator[list[str | None]]:
    """Return the rows of a table as texts, with the label at ``layout.target`` and None for missing values."""
    types = [attribute.type for attribute in dataset.attributes] or ["real"] * np.shape(dataset.objects)[1]
    for values, label in zip(dataset.objects, dataset.labels, strict=True):
        row = [_text(value, of_type) for value, of_type in zip(values, types, strict=True)]
        row.insert(layout.target, label_text(label, layout))
        yield row


def _text(value: Any, of_type: str) -> str | None:
    if value is None or value != value:
        return None
    return str(value) if of_type == "nominal" else number_text(float(value), of_type == "integer")
