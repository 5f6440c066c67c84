"""What a data set is, and the one error of everything that reads one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

Kind = Literal["vectors", "mixed", "series", "strings", "matrix"]
KINDS: tuple[Kind, ...] = ("vectors", "mixed", "series", "strings", "matrix")


@dataclass(frozen=True)
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
    """How a file says what it says, so that rows can be written as it does.

    Attributes
    ----------
    format : str
        Name of the format.
    header : tuple of str
        The lines before the data, where the format has them.
    target : int
        Position of the label among the values of a row.
    target_name : str
    delimiter : str
    condensed : bool
        Whether a matrix is stored as the part above its diagonal.
    keys : tuple of str
        Names of the matrix and of the labels in a file that has names for them.
    spelling : mapping
        How the file spells a label, where that is not ``str(label)``.
    files : tuple of Path
        All files that were read.
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
        Vectors: float array of shape (n_objects, n_attributes), NaN where a value is missing. Mixed attributes: object
        array of that shape, floats and texts, NaN or None where a value is missing. Series: list of float arrays
        (n_points,) or (n_points, n_channels). Strings: list of str. Matrix: float array of shape (n_objects,
        n_objects).
    labels : ndarray of shape (n_objects,)
        Texts, or numbers where all labels are whole numbers.
    attributes : tuple of Attribute
        The columns of vectors and mixed attributes, else empty.
    n_train : int or None
        Where the data come with a split: the first ``n_train`` objects are for training, the others for testing.
    path : Path or None
        The file or folder that was read.
    layout : Layout or None
        How that file says it.
    """

    name: str
    kind: Kind
    objects: Any
    labels: np.ndarray
    attributes: tuple[Attribute, ...] = ()
    n_train: int | None = None
    path: Path | None = None
    layout: Layout | None = None

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
    """A file format; a module registers its own by listing them in ``FORMATS``.

    Attributes
    ----------
    name : str
    extensions : tuple of str
        How names of such files end, without ``.gz``.
    kinds : tuple of str
        Kinds of objects that such a file can hold.
    read : callable
        Takes the content and the options in ``takes``; returns a Dataset.
    write : callable
        Takes a Dataset; returns the content.
    takes : tuple of str
        Which of "target", "labels" and "kind" mean something to ``read``.
    binary : bool
        Whether the content is bytes, not text.
    """

    name: str
    extensions: tuple[str, ...]
    kinds: tuple[Kind, ...]
    read: Callable[..., Dataset]
    write: Callable[[Dataset], str] | Callable[[Dataset], bytes]
    takes: tuple[str, ...] = ()
    binary: bool = False
