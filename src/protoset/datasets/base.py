"""What a data set is, and the one error of everything that reads one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

Kind = Literal["vectors", "mixed", "series", "strings", "matrix"]
KINDS: tuple[Kind, ...] = ("vectors", "mixed", "series", "strings", "matrix")


class DataError(ValueError):
    """Data that cannot be read or found; says where, what was expected, and the way out."""


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
    """

    name: str
    kind: Kind
    objects: Any
    labels: np.ndarray
    attributes: tuple[Attribute, ...] = ()
    n_train: int | None = None
    path: Path | None = None

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @property
    def categorical(self) -> list[int]:
        """Positions of the nominal attributes."""
        return [position for position, attribute in enumerate(self.attributes) if attribute.type == "nominal"]
