"""Time series files of the UCR archive (.tsv, older .txt): a line per series, the label first, no header.

Series of different lengths are padded with NaN at the end, as in the archive of 2018
(https://www.cs.ucr.edu/~eamonn/time_series_data_2018/).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from protoset.datasets._columns import label_text
from protoset.datasets._errors import error_at, shown
from protoset.datasets._parsing import load_numbers, number_text, split_lines, to_labels, to_numbers
from protoset.datasets.base import Dataset, Format, Layout
from protoset.exceptions import DataError

UCR_MISSING = ("?",)
"""Texts of missing values besides NaN."""


def read_ucr(text: str, *, file: str = "text") -> Dataset:
    """Read series with the label first; values with tabs, commas, semicolons or spaces between them.

    NaN at the end of a line is padding. Elsewhere NaN and ``?`` are missing values and become NaN.
    """
    line_numbers, labels, rests = array("q"), [], []
    delimiter: str | None = None
    for number, line in enumerate(split_lines(text), 1):
        if not line.strip():
            continue
        if not line_numbers:
            delimiter = next((mark for mark in "\t,;" if mark in line), None)
        label, *rest = line.strip(" ").split(delimiter, 1)
        if not rest or not rest[0].strip():
            raise error_at(file, f"expected a label and then the values of a series, found {shown(line)}", number)
        if not label.strip():
            raise error_at(file, f"expected a label, found none before {shown(rest[0])}", number)
        line_numbers.append(number)
        labels.append(sys.intern(label.strip()))
        rests.append(rest[0])
    if not line_numbers:
        raise error_at(file, "expected series, a label and numbers in each line, found an empty file")
    rows = load_numbers(rests, delimiter)
    if rows is None:
        rows = _slow(rests, delimiter, line_numbers, file)
    del rests
    is_value = ~np.isnan(rows)
    lengths = rows.shape[1] - np.argmax(is_value[:, ::-1], axis=1)
    if not is_value.any(axis=1).all():
        empty = int(np.argmin(is_value.any(axis=1)))
        raise error_at(file, "expected a series with at least one value, found none", line_numbers[empty])
    whole, spelling = to_labels(labels, file)
    objects = [row[:length] for row, length in zip(rows, lengths, strict=True)]
    layout = Layout("ucr", delimiter=delimiter or " ", spelling=spelling)
    return Dataset(file, "series", objects, whole, layout=layout)


def _slow(rests: Sequence[str], delimiter: str | None, numbers: Sequence[int], file: str) -> np.ndarray:
    """Read number by number; the error names the line and the value."""
    rows: list[np.ndarray] = []
    for number, rest in zip(numbers, rests, strict=True):
        fields = [field.strip() for field in rest.split(delimiter)]
        if rows and len(fields) != len(rows[0]):
            raise error_at(
                file,
                f"expected {len(rows[0])} values after the label as in line {numbers[0]}, found {len(fields)}; "
                "pad shorter series with NaN",
                number,
            )
        values, bad = to_numbers(fields, UCR_MISSING)
        if bad >= 0:
            raise error_at(
                file, f"expected a number as value {bad + 1} of the series, found {shown(fields[bad])}", number
            )
        rows.append(values)
    return np.array(rows)


def one_channel(series: Any) -> np.ndarray:
    """Return the values of a series with one channel."""
    values = np.asarray(series, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or not len(values):
        raise DataError(f"a series of the shape {values.shape} cannot be a line of values; write a .ts file")
    return values


def write_ucr(dataset: Dataset) -> str:
    """Return series of one channel as lines with the label first, padded with NaN to one length."""
    layout = dataset.layout if dataset.layout and dataset.layout.format == "ucr" else Layout("ucr", delimiter="\t")
    series = [one_channel(item) for item in dataset.objects]
    longest = max(map(len, series))
    lines = []
    for label, values in zip(dataset.labels, series, strict=True):
        padded = [*map(number_text, values), *["NaN"] * (longest - len(values))]
        lines.append(layout.delimiter.join([label_text(label, layout), *padded]))
    return "\n".join([*lines, ""])


FORMATS = (Format("ucr", (".tsv", ".txt", ".csv", ""), ("series",), read_ucr, write_ucr),)
