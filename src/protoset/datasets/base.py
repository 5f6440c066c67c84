"""Data sets, their attributes, and the formats that they are read from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

Kind = Literal["vectors", "mixed", "series", "strings", "matrix"]
KINDS: tuple[Kind, ...] = ("vectors", "mixed", "series", "strings", "matrix")
"""Kinds of objects; see :class:`Dataset`."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of a table.

    Attributes
    ----------
    name : str
    type : {"real", "integer", "nominal"}
    values : tuple of str
        The values of a nominal attribute, in the order in which the file declares or first shows them.
    """

    name: str
    type: Literal["real", "integer", "nominal"]
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """How a file is written, so that some of its rows can be written in the same way.

    ``header`` has the lines before the data. A ``condensed`` matrix is stored as the part above its diagonal. ``keys``
    are the names of the matrix and of the labels in a .npz or .mat file. ``spelling`` has the text of each label whose
    text in the file is not ``str(label)``.
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


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled objects of one kind.

    Attributes
    ----------
    name : str
    kind : {"vectors", "mixed", "series", "strings", "matrix"}
    objects : ndarray or list
        "vectors": float array of shape (n_objects, n_attributes); NaN is a missing value. "mixed": object array of the
        same shape with floats and texts; NaN or None is a missing value. "series": list of float arrays of shape
        (n_points,) or (n_points, n_channels). "strings": list of str. "matrix": float array of distances, of shape
        (n_objects, n_objects).
    labels : ndarray of shape (n_objects,)
        Whole numbers if all labels are whole numbers, else texts.
    attributes : tuple of Attribute
        The columns of "vectors" and "mixed"; empty for other kinds.
    n_train : int or None
        For data with a given split: the first ``n_train`` objects are for training, the rest for testing.
    path : Path or None
        The file or folder that was read.
    layout : Layout or None
        How that file is written.
    ids : ndarray of str or None
        The name of each object, where the data have one: a column of ids, or the names of a matrix.
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

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @property
    def categorical(self) -> list[int]:
        """Positions of the nominal attributes."""
        return [position for position, attribute in enumerate(self.attributes) if attribute.type == "nominal"]


@dataclass(frozen=True)
class Format:
    """A file format. A module registers its formats by listing them in ``FORMATS``.

    ``read`` is called as ``read(content, file=name, **options)``, with the options in ``takes``: "target", "labels",
    "kind" and "limit" (bytes that may be unpacked). It returns a Dataset, or raises a DataError that begins with
    ``name``. The content is bytes if ``binary``.
    """

    name: str
    extensions: tuple[str, ...]
    kinds: tuple[Kind, ...]
    read: Callable[..., Dataset]
    write: Callable[[Dataset], str] | Callable[[Dataset], bytes]
    takes: tuple[str, ...] = ()
    binary: bool = False
