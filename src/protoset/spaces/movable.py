"""Objects that can move: training objects as numbers that gradient steps change.

    training objects  -> coordinates                 (start; read for other objects)
    coordinates       -> distances and gradients     (distances, add_gradients)
    moved coordinates -> prototypes of a classifier  (place)

A space whose objects can move has a ``MovableObjects`` as its property ``movable``; for all others it is None. The
coordinates of all prototypes are one array with a row for each; series that are shorter than the longest end with NaN,
which steps of gradient 0 leave as it is. Every attribute (of series, every channel) has a scale, which multiplies its
squared differences.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from protoset import kernels

if TYPE_CHECKING:
    from protoset.spaces.base import PrototypeSpace


class Moved(NamedTuple):
    """Prototypes that may have moved, or how a loss changes with each of these numbers.

    Attributes
    ----------
    points : ndarray of float
        Coordinates of all prototypes.
    scales : ndarray of float
        Scale of each attribute.
    """

    points: np.ndarray
    scales: np.ndarray


class MovableObjects(ABC):
    """Training objects, and prototypes that move among them.

    Attributes
    ----------
    n_scales : int
        Number of attributes, or of channels.
    n_coordinates : float
        Coordinates of an object, on average.
    """

    n_scales: int
    n_coordinates: float
    mixes_attributes: bool = False
    """Whether a scale belongs to several attributes at once, so that it says nothing about one of them."""
    step: float = 0.1
    """Length of the first step that suits these objects, in units of the typical distance."""
    n_passes: int = 40
    """Passes over the objects that suit these objects."""
    is_costly: bool = False
    """Whether a distance costs so much that one course alone is tried, on one held-out part."""
    n_listed: int | None = None
    """Prototypes near an object that it looks at, if there are more; None where only many prototypes need lists."""

    def all_distances(self) -> np.ndarray | None:
        """Dissimilarities of all training objects, kept for later; None where they cost little, or are too many."""
        return None

    @abstractmethod
    def start(self, indices: np.ndarray) -> np.ndarray:
        """Coordinates of prototypes that stand where training objects are; an array that may be changed."""

    @abstractmethod
    def read(self, objects: Any) -> np.ndarray:
        """Coordinates of prototypes that stand at the given objects, of the kind of the training objects."""

    @abstractmethod
    def objects(self, prototypes: Moved) -> Any:
        """Return the moved prototypes as objects of the kind that users give, as far as there are such objects."""

    @abstractmethod
    def distances(self, rows: np.ndarray, prototypes: Moved, columns: np.ndarray | None = None) -> np.ndarray:
        """Distances of some training objects to all prototypes, or to those that ``columns`` lists for each object."""

    def screen(self, rows: np.ndarray, prototypes: Moved) -> np.ndarray:
        """Numbers that order the prototypes about as the distances do, for some objects; computed quickly."""
        return self.distances(rows, prototypes)

    @abstractmethod
    def add_gradients(
        self,
        rows: np.ndarray,
        prototypes: Moved,
        columns: np.ndarray,
        distances: np.ndarray,
        slopes: np.ndarray,
        gradient: Moved,
    ) -> None:
        """Add how a loss of the distances changes with the coordinates, and with the logarithms of the scales.

        ``columns`` lists some prototypes for each object, ``distances`` has their distances, and ``slopes`` says how
        the loss changes with each of these.
        """

    @abstractmethod
    def place(self, prototypes: Moved) -> PrototypeSpace:
        """Space without rows, whose columns are the moved prototypes."""

    def project(self, points: np.ndarray) -> None:  # noqa: B027 (most prototypes can be anywhere)
        """Put the prototypes back to where objects can be; nothing where they can be anywhere."""


class MovableVectors(MovableObjects):
    """Vectors under the Euclidean distance, with a scale for each coordinate.

    Parameters
    ----------
    images : ndarray of shape (n_objects, n_coordinates)
        The coordinates from which distances are computed.
    read : callable
        Coordinates of new objects.
    restore : callable
        Objects with the given coordinates, as users give them.
    place : callable
        Makes the space of moved prototypes from their coordinates and from a factor for each coordinate, None for 1.
    project : callable, optional
        Puts coordinates back to where objects can be, in place.
    mixes_attributes : bool
        Whether a coordinate belongs to several attributes.
    """

    def __init__(
        self,
        images: np.ndarray,
        *,
        read: Callable[[Any], np.ndarray],
        restore: Callable[[np.ndarray], np.ndarray],
        place: Callable[[np.ndarray, np.ndarray | None], PrototypeSpace],
        project: Callable[[np.ndarray], None] | None = None,
        mixes_attributes: bool = False,
    ):
        self._images = images
        self.mixes_attributes = mixes_attributes
        self._read, self._restore, self._place, self._project = read, restore, place, project
        self.n_scales = images.shape[1]
        self.n_coordinates = images.shape[1]

    def start(self, indices: np.ndarray) -> np.ndarray:
        """Rows of the images, in double precision."""
        return self._images[indices].astype(np.float64)

    def read(self, objects: Any) -> np.ndarray:
        """Images of new vectors."""
        return self._read(objects)

    def objects(self, prototypes: Moved) -> np.ndarray:
        """Vectors whose images are the points."""
        return self._restore(prototypes.points)

    def distances(self, rows: np.ndarray, prototypes: Moved, columns: np.ndarray | None = None) -> np.ndarray:
        """Distances by direct differences of scaled coordinates."""
        factors = np.sqrt(prototypes.scales)
        objects, points = self._images[rows] * factors, prototypes.points * factors
        if columns is None:
            return kernels.euclidean.distance_block(objects, np.ascontiguousarray(points.T))
        return kernels.adapting.listed_distances(objects, points, columns)

    def add_gradients(
        self,
        rows: np.ndarray,
        prototypes: Moved,
        columns: np.ndarray,
        distances: np.ndarray,
        slopes: np.ndarray,
        gradient: Moved,
    ) -> None:
        """Pull prototypes along the differences to the objects."""
        factors = np.sqrt(prototypes.scales)
        pulls = np.zeros_like(prototypes.points)
        kernels.adapting.pull_vectors(
            self._images[rows] * factors,
            prototypes.points * factors,
            columns,
            distances,
            slopes,
            pulls,
            gradient.scales,
        )
        pulls *= factors
        gradient.points[:] += pulls

    def screen(self, rows: np.ndarray, prototypes: Moved) -> np.ndarray:
        """Squared distances in single precision, less the squared length of the object."""
        factors = np.sqrt(prototypes.scales)
        points = (prototypes.points * factors).astype(np.float32)
        block = (self._images[rows] * factors).astype(np.float32) @ points.T
        block *= -2
        block += np.einsum("ij,ij->i", points, points)
        return block

    def project(self, points: np.ndarray) -> None:
        """Put the vectors back to where objects can be."""
        if self._project is not None:
            self._project(points)

    def place(self, prototypes: Moved) -> PrototypeSpace:
        """Space of the moved vectors."""
        has_scales = (prototypes.scales != 1).any()
        return self._place(prototypes.points, np.sqrt(prototypes.scales) if has_scales else None)
