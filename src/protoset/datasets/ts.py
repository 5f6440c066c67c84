"""Time series files of sktime and aeon (.ts): a header, then a line per series, colons between channels, label last.

The format is described at https://www.aeon-toolkit.org/en/stable/api_reference/data_format.html.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence

import numpy as np

from protoset.datasets._columns import label_text, read_target
from protoset.datasets._errors import error_at, shown
from protoset.datasets._parsing import each_line, number_text, to_numbers
from protoset.datasets.base import Attribute, Dataset, Format, Layout
from protoset.exceptions import DataError

TS_MISSING = ("?",)
"""Texts of missing values."""

TS_COMMENTS = ("#", "%")
"""Beginnings of lines that are comments."""


def read_ts(text: str, *, file: str = "text") -> Dataset:
    """Read series of one or several channels; their lengths may differ.

    ``?`` and NaN are missing values and become NaN. Files with time stamps, without labels, or with numbers to predict
    are refused.
    """
    header: dict[str, str] = {}
    header_lines = []
    lines = enumerate(each_line(text), 1)
    for number, line in lines:
        header_lines.append(line)
        line = line.strip()
        if not line or line.startswith(TS_COMMENTS):
            continue
        if not line.startswith("@"):
            raise error_at(
                file, f"expected '@data' or another line with '@' before the series, found {shown(line)}", number
            )
        keyword, _, value = line[1:].partition(" ")
        if keyword.lower() == "data":
            break
        header[keyword.lower()] = value.strip()
    else:
        raise error_at(file, "expected '@data' after the header, found the end of the file", len(header_lines) or 1)
    classes = _classes(header, file)
    objects: list[np.ndarray] = []
    labels: list[str | None] = []
    line_numbers = array("q")
    for line_number, line in lines:
        line = line.strip()
        if line and not line.startswith(TS_COMMENTS):
            *channels, label = line.split(":")
            objects.append(_series(channels, file, line_number))
            labels.append(sys.intern(label.strip()) or None)
            line_numbers.append(line_number)
    if not objects:
        raise error_at(file, "expected series after '@data', found none")
    _check_shapes(objects, line_numbers, header, file)
    target = Attribute("class label", "nominal", classes)
    label_array, spelling = read_target(target, labels, line_numbers, file)
    layout = Layout("ts", tuple(header_lines), spelling=spelling)
    return Dataset(file, "series", objects, label_array, layout=layout)


def _classes(header: dict[str, str], file: str) -> tuple[str, ...]:
    """Return the class labels that the header declares, perhaps none."""
    if header.get("timestamps", "false").lower() == "true":
        raise error_at(file, "the series have time stamps, which are not supported; write the values without them")
    if header.get("targetlabel", "false").lower().startswith("true"):
        raise error_at(file, "the file has numbers to predict (@targetlabel), not class labels; bin them")
    words = header.get("classlabel", "true").split()
    if not words or words[0].lower() != "true":
        raise error_at(file, "expected '@classLabel true' and the labels, found no labels in the file")
    return tuple(dict.fromkeys(words[1:]))


def _series(channels: list[str], file: str, line_number: int) -> np.ndarray:
    """Return a series of shape (n_points,), or (n_points, n_channels) if there are several channels."""
    if not channels:
        raise error_at(file, "expected values, a colon and a label, found no colon", line_number)
    n_points = channels[0].count(",") + 1
    for at, channel in enumerate(channels, 1):
        if channel.count(",") + 1 != n_points:
            raise error_at(
                file,
                f"expected {n_points} values in channel {at} as in the first, found {channel.count(',') + 1}",
                line_number,
            )
    # One array for all channels, as a line may have very many of them.
    fields = [field.strip() for channel in channels for field in channel.split(",")]
    values, bad = to_numbers(fields, TS_MISSING)
    if bad >= 0:
        at, point = divmod(bad, n_points)
        raise error_at(
            file, f"expected a number as value {point + 1} of channel {at + 1}, found {shown(fields[bad])}", line_number
        )
    return values if len(channels) == 1 else np.ascontiguousarray(values.reshape(len(channels), n_points).T)


def _check_shapes(objects: list[np.ndarray], line_numbers: Sequence[int], header: dict[str, str], file: str) -> None:
    """Refuse series that contradict the header or differ in their number of channels."""
    n_channels = 1 if objects[0].ndim == 1 else objects[0].shape[1]
    declared = header.get("dimensions", header.get("dimension", ""))
    if declared.isdecimal() and int(declared[:9]) != n_channels:
        raise error_at(file, f"expected {declared[:9]} channels as declared, found {n_channels}", line_numbers[0])
    if header.get("univariate", "").lower() == "true" and n_channels != 1:
        raise error_at(file, f"expected one channel (@univariate true), found {n_channels}", line_numbers[0])
    equal = header.get("equallength", "").lower() == "true"
    length = header.get("serieslength", "")
    expected = int(length[:9]) if equal and length.isdecimal() and int(length[:9]) else len(objects[0])
    for series, line_number in zip(objects, line_numbers, strict=True):
        if series.ndim != objects[0].ndim or series.shape[1:] != objects[0].shape[1:]:
            channels = 1 if series.ndim == 1 else series.shape[1]
            raise error_at(
                file, f"expected {n_channels} channels as in line {line_numbers[0]}, found {channels}", line_number
            )
        if equal and len(series) != expected:
            raise error_at(file, f"expected {expected} values (@equalLength true), found {len(series)}", line_number)


def write_ts(dataset: Dataset) -> str:
    """Return series as a .ts file, with the header of the .ts file that was read or with a new one."""
    layout = dataset.layout
    series = [np.asarray(item, dtype=np.float64) for item in dataset.objects]
    if layout is None or layout.format != "ts":
        layout = Layout("ts", _header(dataset, series))
    lines = []
    for label, values in zip(dataset.labels, series, strict=True):
        channels = [values] if values.ndim == 1 else list(values.T)
        parts = [",".join("?" if value != value else number_text(value) for value in channel) for channel in channels]
        lines.append(":".join([*parts, label_text(label, layout)]))
    return "\n".join([*layout.header, *lines, ""])


def _header(dataset: Dataset, series: list[np.ndarray]) -> tuple[str, ...]:
    labels = list(dict.fromkeys(str(label) for label in dataset.labels))
    for label in labels:
        if ":" in label or label.split() != [label]:
            raise DataError(f"the label {shown(label)} cannot be in a .ts file; replace its spaces and colons")
    n_channels = 1 if series[0].ndim == 1 else series[0].shape[1]
    equal = len({len(values) for values in series}) == 1
    name = "_".join(dataset.name.split()) or "data"
    return (
        f"@problemName {name}",
        "@timeStamps false",
        f"@missing {str(any(np.isnan(values).any() for values in series)).lower()}",
        f"@univariate {str(n_channels == 1).lower()}",
        *([f"@dimensions {n_channels}"] if n_channels > 1 else []),
        f"@equalLength {str(equal).lower()}",
        *([f"@seriesLength {len(series[0])}"] if equal else []),
        f"@classLabel true {' '.join(labels)}",
        "@data",
    )


FORMATS = (Format("ts", (".ts",), ("series",), read_ts, write_ts),)
