"""Data sets, their attributes, and the formats that they are read from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from protoset._display import Displayed, Table, cut_text
from protoset._frames import columns_of, is_frame

SHOWN_ROWS = 5
"""Objects of a data set that a notebook shows."""

SHOWN_COLUMNS = 8
"""Attributes of a data set that a notebook shows."""

Kind = Literal["vectors", "mixed", "series", "strings", "matrix"]
KINDS: tuple[Kind, ...] = ("vectors", "mixed", "series", "strings", "matrix")
"""Kinds of objects; see :class:`Dataset`."""


AttributeType = Literal["real", "integer", "nominal", "date"]
ATTRIBUTE_TYPES: tuple[AttributeType, ...] = ("real", "integer", "nominal", "date")
"""Types of attributes; see :class:`Attribute`."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of a table.

    Attributes
    ----------
    name : str
    type : {"real", "integer", "nominal", "date"}
        A date is a number: days since 1970-01-01 (UTC), with a fraction for the time of the day.
    values : tuple of str
        The values of a nominal attribute, in the order in which the file declares or first shows them.
    form : str
        Notation of the numbers in the file, empty for plain numbers: "1,234.5" (thousands), "1234,5" (decimal comma),
        "1.234,5" (both), each followed by " %" or "%" for percents; or the notation of dates, such as "YYYY-MM-DD" or
        "DD.MM.YYYY hh:mm". Queries are read, and rows are written, in this notation. It is ignored when attributes are
        compared for equality.
    """

    name: str
    type: AttributeType
    values: tuple[str, ...] = ()
    form: str = field(default="", compare=False)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A column of a table that is not used as an attribute.

    Attributes
    ----------
    name : str
    reason : str
        Why the column is left out: "unique" for row numbers and ids, "constant", "empty", "text", "ambiguous dates";
        "id" or "ignored" if an option says so; "unused" if the objects are the texts of another column.
    position : int
        Position of the column among all columns of the file.
    values : ndarray of object
        Values of the column as in the file, so that rows can be written unchanged. A missing value is None; in a CSV
        file, the text that marks it, such as "NA" or an empty text.
    """

    name: str
    reason: str
    position: int
    values: np.ndarray


@dataclass(frozen=True)
class Layout:
    """How a file is written, so that some of its rows can be written in the same way.

    ``header`` has the lines before the data. ``target`` is the position of the labels among all columns. A
    ``condensed`` matrix is stored as the part above its diagonal. ``keys`` are the names of the matrix and of the
    labels in a .npz or .mat file. ``spelling`` has the text of each label whose text in the file is not ``str(label)``.
    ``missing`` is the text of missing values in a CSV file; of several texts, the most frequent one.
    """

    format: str
    header: tuple[str, ...] = ()
    target: int = 0
    target_name: str = "class"
    delimiter: str = ","
    condensed: bool = False
    keys: tuple[str, ...] = ()
    spelling: Mapping[Any, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    missing: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Displayed):
    """Labelled objects of one kind.

    Attributes
    ----------
    name : str
    kind : {"vectors", "mixed", "series", "strings", "matrix"}
    objects : ndarray or list
        "vectors": float array of shape (n_objects, n_attributes); NaN is a missing value. "mixed": object array of the
        same shape with floats and texts; NaN or None is a missing value. A DataFrame of either kind is converted.
        "series": list of float arrays of shape (n_points,) or (n_points, n_channels). "strings": list of str. "matrix":
        float array of distances, of shape (n_objects, n_objects).
    labels : ndarray of shape (n_objects,)
        Whole numbers if all labels are whole numbers, else texts.
    attributes : tuple of Attribute
        The columns of "vectors" and "mixed"; the column of "strings" from a table; empty for other kinds.
    n_train : int or None
        For data with a given split: the first ``n_train`` objects are for training, the rest for testing.
    path : Path or None
        The file or folder that was read.
    layout : Layout or None
        Layout of that file, which :func:`write_rows` uses again.
    ids : ndarray of str or None
        Name of each object, from a column of ids or from the names of a matrix; None if the data have no names.
    left_out : tuple of LeftOut
        The columns of a table that are neither attributes nor labels, in the order of the file.
    id_column : str or None
        Name of the column of ids. It is also in ``left_out``.
    """

    name: str
    kind: Kind
    objects: Any
    labels: np.ndarray
    attributes: tuple[Attribute, ...] = ()
    n_train: int | None = None
    path: Path | None = None
    layout: Layout | None = None
    ids: np.ndarray | None = None
    left_out: tuple[LeftOut, ...] = ()
    id_column: str | None = None

    def __post_init__(self) -> None:
        """Convert labels to an array, and a DataFrame to an array with the names of its columns."""
        object.__setattr__(self, "labels", np.asarray(self.labels))
        if is_frame(self.objects) and self.kind in ("vectors", "mixed"):
            objects, attributes = _from_frame(self.objects, self.kind)
            object.__setattr__(self, "objects", objects)
            object.__setattr__(self, "attributes", self.attributes or attributes)

    def _title(self) -> str:
        return f"Dataset {cut_text(self.name)!r}"

    def _summary(self) -> str:
        n_classes = len(np.unique(self.labels))
        split = "" if self.n_train is None else f", {self.n_train:,} for training"
        return f"{self.n_objects:,} objects ({self.kind}){split}, {n_classes:,} classes"

    def __repr__(self) -> str:
        """Name, kind, number of objects and of classes, and roles of the columns."""
        return f"<{self._title()}: {self._summary()}{f'; {self.roles}' if self.roles else ''}>"

    def _table(self) -> Table:
        headings, cells = self._shown_columns()
        rows = [
            [row if self.ids is None else self.ids[row], label, *values]
            for row, (label, values) in enumerate(zip(self.labels[:SHOWN_ROWS].tolist(), cells, strict=False))
        ]
        return Table(["row" if self.ids is None else "id", "label", *headings], rows, len(rows), self.roles)

    def _shown_columns(self) -> tuple[list[str], list[list[Any]]]:
        """Headings and cells of the first objects, without their labels."""
        if self.kind == "matrix":
            return [], [[] for _ in self.labels[:SHOWN_ROWS]]
        objects = self.objects[:SHOWN_ROWS]
        if self.kind == "strings":
            return ["text"], [[item] for item in objects]
        if self.kind == "series":
            return ["series"], [[f"{len(item):,} points"] for item in objects]
        n_columns = np.shape(self.objects)[1]
        headings = [attribute.name for attribute in self.attributes] or [f"attribute {i}" for i in range(n_columns)]
        more = ["..."] if n_columns > SHOWN_COLUMNS else []
        return headings[:SHOWN_COLUMNS] + more, [[*row[:SHOWN_COLUMNS], *more] for row in np.asarray(objects).tolist()]

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @property
    def categorical(self) -> list[int]:
        """Positions of the nominal attributes."""
        return [position for position, attribute in enumerate(self.attributes) if attribute.type == "nominal"]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns of the file, in file order; empty if the objects are not rows of a table."""
        if not self.attributes or self.layout is None:
            return ()
        names = [attribute.name for attribute in self.attributes]
        others = [(left.position, left.name) for left in self.left_out]
        if self.layout.target_name:
            others.append((self.layout.target, self.layout.target_name))
        for position, name in sorted(others):
            names.insert(position, name)
        return tuple(names)

    @property
    def roles(self) -> str:
        """Use of each column of a table, in one line; empty if the objects are not rows of a table.

        For example "used: 5 numeric, 2 categorical, 1 date (days); left out: id (unique), note (text)".
        """
        from protoset.datasets.roles import describe_roles

        return describe_roles(self.kind, self.attributes, self.left_out, self.id_column)


def _from_frame(frame: Any, kind: Kind) -> tuple[np.ndarray, tuple[Attribute, ...]]:
    """Objects and attributes of a DataFrame; dates are days since 1970-01-01."""
    rows = np.empty((len(frame), len(frame.columns)), object)
    attributes = []
    for position, (name, values) in enumerate(columns_of(frame)):
        type_, rows[:, position] = _typed(values, "iufb" if kind == "vectors" else "iuf")
        categories = [value for value in rows[:, position] if value is not None] if type_ == "nominal" else []
        attributes.append(Attribute(str(name), type_, tuple(dict.fromkeys(categories))))
    texts = [attribute.name for attribute in attributes if attribute.type == "nominal"]
    if kind == "vectors" and texts:
        raise ValueError(f"kind='vectors', but the columns {texts} of the DataFrame are not numeric; pass kind='mixed'")
    return rows.astype(float) if kind == "vectors" else rows, tuple(attributes)


def _typed(values: Any, number_kinds: str) -> tuple[AttributeType, list[Any]]:
    """Type and values of a column of a DataFrame: floats with NaN, or texts with None for a missing value."""
    dtype_kind = getattr(values.dtype, "kind", "O")
    if dtype_kind == "M":
        seconds = np.asarray(values, "datetime64[s]")
        return "date", np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64) / 86_400).tolist()
    # pandas.NA is recognised by its name: pandas need not be installed.
    known = [None if type(value).__name__ == "NAType" or value != value else value for value in values]
    if dtype_kind in number_kinds:
        return "real", [math.nan if value is None else float(value) for value in known]
    return "nominal", [None if value is None else str(value) for value in known]


@dataclass(frozen=True)
class Format:
    """A file format. A module registers its formats by listing them in ``FORMATS``.

    ``read`` is called as ``read(content, file=name, **options)``, with the options in ``takes``: "target", "labels",
    "kind", "limit" (bytes that may be unpacked) and "columns" (``protoset.datasets.roles.ColumnOptions``). It returns a
    Dataset, or raises a DataError that begins with ``name``. The content is bytes if ``binary``.
    """

    name: str
    extensions: tuple[str, ...]
    kinds: tuple[Kind, ...]
    read: Callable[..., Dataset]
    write: Callable[[Dataset], str] | Callable[[Dataset], bytes]
    takes: tuple[str, ...] = ()
    binary: bool = False
