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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from protoset.kernels.differences import Coordinates
    from protoset.spaces.base import PrototypeSpace

LEAST_FACTOR = 1e-100
"""Smallest factor of an attribute of prototypes that continue to move: a smaller factor would have no logarithm."""


class Moved(NamedTuple):
    """Coordinates and scales of prototypes that may have moved, or the gradient of a loss by these numbers.

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
    surface: int = 0
    """Where prototypes can be, see ``kernels.moving``; anywhere by default."""
    attribute_word: str = "column"
    """What users call an attribute."""
    mixes_attributes: bool = False
    """Whether a scale belongs to several attributes at once, so that it says nothing about one of them."""
    step: float = 0.1
    """Default length of the first step for these objects, in units of the typical distance."""
    steepness: tuple[float, float] = (10.0, 40.0)
    """Default first and last steepness of the relative loss for few of these objects."""
    n_passes: int = 40
    """Default number of passes over the objects."""
    trial_share: float = 1.0
    """Passes of a trial, as a share of the passes of the moves."""
    is_costly: bool = False
    """Whether a distance is so expensive that only one course is tried, on one held-out part."""
    n_listed: int | None = None
    """Number of near prototypes that the loss of an object uses, if there are more; None if only many prototypes need
    lists."""

    def all_distances(self, n_jobs: int | None = None) -> np.ndarray | None:
        """Dissimilarities of all training objects, kept for later; None where they cost little, or are too many."""
        return None

    def constant_attributes(self) -> np.ndarray:
        """Attributes (of series, channels) that are the same in all objects, as positions; none by default."""
        return np.empty(0, np.int64)

    @property
    def attribute_of(self) -> np.ndarray:
        """The attribute of each coordinate, for objects with ``coordinates``."""
        return np.empty(0, np.int64)

    @property
    def coordinates(self) -> Coordinates | None:
        """The objects as the compiled pass of ``kernels.moving`` takes them; None where it cannot take them."""
        return None

    def take(self, rows: np.ndarray) -> MovableObjects | None:
        """Some of the objects, in memory, as rows from 0 on; None if the objects are used as they are."""
        return None

    @abstractmethod
    def start(self, indices: np.ndarray) -> np.ndarray:
        """Coordinates of prototypes that stand where training objects are; an array that may be changed."""

    @abstractmethod
    def read(self, objects: Any) -> np.ndarray:
        """Coordinates of prototypes that stand at the given objects, of the kind of the training objects."""

    @abstractmethod
    def objects(self, prototypes: Moved) -> Any:
        """Return the moved prototypes as objects of the kind that users pass, if there are such objects."""

    @abstractmethod
    def distances(self, rows: np.ndarray, prototypes: Moved, columns: np.ndarray | None = None) -> np.ndarray:
        """Distances of some training objects to all prototypes, or to the prototypes in their rows of ``columns``."""

    def measured(self, distances: np.ndarray) -> np.ndarray:
        """Return distances as the metric defines them: some metrics are squares."""
        return distances

    @abstractmethod
    def lengths_of_moves(self, before: np.ndarray, prototypes: Moved) -> np.ndarray:
        """Distance of each prototype from its coordinates ``before``."""

    def screen(self, rows: np.ndarray, prototypes: Moved) -> np.ndarray:
        """Quickly computed numbers that order pairs of objects and prototypes approximately as the distances do."""
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
        """Add the gradient of a loss by the coordinates and by the logarithms of the scales.

        ``columns`` lists some prototypes for each object, ``distances`` has their distances, and ``slopes`` has the
        derivative of the loss by each distance.
        """

    @abstractmethod
    def place(self, prototypes: Moved) -> PrototypeSpace:
        """Space without rows, whose columns are the moved prototypes."""
