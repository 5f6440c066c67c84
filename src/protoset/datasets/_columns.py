"""Columns of texts as attributes, labels and objects; objects as rows of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from protoset.datasets._errors import error_at, listed, shown
from protoset.datasets._forms import (
    DATE_PATTERN,
    Decimal,
    date_form,
    date_in_form,
    is_date,
    is_too_large,
    number_in_form,
    number_test,
    read_date,
    read_numbers,
)
from protoset.datasets._parsing import is_number, to_labels, to_numbers
from protoset.datasets.base import Attribute, Dataset, Kind, Layout

LEAST_SHARE_OF_A_TYPE = 0.95
"""In a column with at least this share of numbers, or of dates, another text is a mistake and not a category."""


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


def read_texts(
    name: str,
    texts: Sequence[str | None],
    lines: Sequence[int],
    file: str,
    *,
    decimals: Sequence[Decimal] = (".",),
    plain: bool = True,
    numeric: bool = False,
    strict: bool = True,
) -> tuple[Attribute, Any, bool]:
    """Find out what is in a column of texts: numbers, dates or categories.

    Parameters
    ----------
    decimals : sequence of {".", ","}
        The decimal marks that are tried.
    plain : bool
        Whether texts may be plain numbers, with a decimal point.
    numeric : bool
        Whether to refuse anything but numbers.
    strict : bool
        Whether a few texts among numbers, or among dates, are an error.

    Returns
    -------
    attribute : Attribute
        All numbers are "real".
    values : ndarray or list
        As in :func:`read_column`.
    ambiguous : bool
        Whether they are dates whose day and month cannot be told apart; then they are categories.
    """
    if plain:
        values, bad = to_numbers(texts)
        if bad < 0:
            return Attribute(name, "real"), values, False
    for decimal in decimals:
        numbers = read_numbers(texts, decimal)
        if numbers is not None and (plain or numbers[1]):
            return Attribute(name, "real", form=numbers[1]), numbers[0], False
    present = [text for text in texts if text is not None]
    is_like_numbers = number_test(present, decimals[0])
    if numeric:
        remedy = "leave the column out of numeric="
        _refuse_few(name, texts, lines, file, "a number", is_like_numbers, remedy, least_share=0)
    form = date_form(texts)
    if form:
        days = [np.nan if text is None else read_date(text, form) for text in texts]
        if None not in days:
            return Attribute(name, "date", form=form), np.array(days, dtype=float), False
    if strict and form != "":
        remedy = "categorical= takes the column as categories"
        _refuse_few(name, texts, lines, file, "a number", is_like_numbers, remedy)
        if form or any(map(DATE_PATTERN.fullmatch, present)):
            _refuse_few(name, texts, lines, file, "a date", lambda text: is_date(text, form), remedy)
    return *read_column(Attribute(name, "nominal"), texts, lines, file), form == ""


def _refuse_few(
    name: str,
    texts: Sequence[str | None],
    lines: Sequence[int],
    file: str,
    expected: str,
    fits: Callable[[str], bool],
    remedy: str,
    least_share: float = LEAST_SHARE_OF_A_TYPE,
) -> None:
    """Raise an error for the first text that does not fit, if few do not."""
    present = [text for text in texts if text is not None]
    n_fitting = sum(map(fits, present))
    if least_share * len(present) <= n_fitting < len(present):
        row, wrong = next((row, text) for row, text in enumerate(texts) if text is not None and not fits(text))
        others = f" as in {n_fitting} other rows" if n_fitting else ""
        found = shown(wrong) + (", which is too large" if is_too_large(wrong) else "")
        raise error_at(file, f"expected {expected} in {shown(name)}{others}, found {found}; {remedy}", lines[row])


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


def text_objects(texts: Sequence[str | None], lines: Sequence[int], name: str, file: str) -> list[str]:
    """Return a column of texts as objects."""
    if None in texts:
        raise error_at(file, f"the text {shown(name)} is missing; remove the row", lines[list(texts).index(None)])
    return [text for text in texts if text is not None]


def label_text(label: Any, layout: Layout) -> str:
    """Return the text of a label in the file."""
    label = label.item() if isinstance(label, np.generic) else label
    return layout.spelling.get(label, str(label))


def text_rows(dataset: Dataset, layout: Layout, forms: bool = False) -> Iterator[list[str | None]]:
    """Return the rows of a table as texts, with the labels and the left-out columns in their positions.

    None is a missing value. Numbers and dates are written as plain numbers, or in their ``forms``.
    """
    attributes = dataset.attributes or [Attribute("", "real")] * np.shape(dataset.objects)[1]
    if not forms:
        attributes = [
            replace(item, type="real" if item.type == "date" else item.type, form="")
            if item.form or item.type == "date"
            else item
            for item in attributes
        ]
    left_out = dataset.left_out if layout is dataset.layout else ()
    others: list[tuple[int, Iterable[Any]]] = [(left.position, left.values) for left in left_out]
    if layout.target_name or layout.format not in ("csv", "parquet"):
        others.append((layout.target, (label_text(label, layout) for label in dataset.labels)))
    others.sort(key=lambda column: column[0])
    columns = [(position, iter(values)) for position, values in others]
    rows = ([string] for string in dataset.objects) if dataset.kind == "strings" else dataset.objects
    for values in rows:
        row = [value_text(value, attribute) for value, attribute in zip(values, attributes, strict=True)]
        for position, texts in columns:
            row.insert(position, next(texts))
        yield row


def value_text(value: Any, attribute: Attribute) -> str | None:
    """Return a value as the file writes it; None where it is missing."""
    if value is None or value != value:
        return None
    if attribute.type == "nominal":
        return str(value)
    if attribute.type == "date":
        return date_in_form(float(value), attribute.form)
    return number_in_form(float(value), attribute.type == "integer", attribute.form)
