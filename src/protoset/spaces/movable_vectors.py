"""Vectors that can move: prototypes follow the gradients of sums of differences over attributes.

euclidean          square root of the sum of the squared differences; a missing attribute counts 1
absolute           sum of the absolute differences
absolute, as mean  the same divided by the number of attributes known in the object; a difference counts at most 1
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset.spaces.movable import MovableObjects, Moved

if TYPE_CHECKING:
    from protoset.kernels.differences import Coordinates
    from protoset.spaces.base import PrototypeSpace

SMALLEST_SINGLE, LARGEST_SINGLE = 1e-12, 1e15
"""Coordinates between which products in single precision neither vanish nor overflow."""


class ImageRows(Protocol):
    """Images of objects wherever they are: in memory, in a mapped file, on workers."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of objects and of coordinates."""

    def __len__(self) -> int:
        """Count the objects."""

    def __getitem__(self, rows: Any, /) -> np.ndarray:
        """Images of some objects, given by positions or by a slice, in memory."""


class ChosenRows:
    """Some rows of other rows, in the given order; they are read only when they are requested."""

    def __init__(self, images: ImageRows, members: np.ndarray):
        self._images, self._members = images, members

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of chosen rows and of coordinates."""
        return len(self._members), self._images.shape[1]

    def __len__(self) -> int:
        """Count the chosen rows."""
        return len(self._members)

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Images of some of the chosen rows."""
        return self._images[self._members[rows]]


@dataclass(frozen=True, eq=False)
class Differences:
    """How differences of coordinates make up a distance from an object to a prototype, which has no missing values.

    ``factors``, one per attribute, multiply the differences of its coordinates.

    Attributes
    ----------
    attribute_of : ndarray of int
        The attribute of each coordinate; each has one at least. A missing attribute is NaN in all its coordinates.
    is_absolute : bool
        Whether absolute differences are summed, else squared ones.
    is_mean : bool
        Whether the sum of absolute differences is divided by the number of attributes known in the object.
    """

    attribute_of: np.ndarray
    is_absolute: bool
    is_mean: bool = False

    @cached_property
    def n_attributes(self) -> int:
        """Number of attributes."""
        return int(self.attribute_of.max()) + 1

    @cached_property
    def gaps(self) -> np.ndarray:
        """Squared difference of each coordinate where it is missing: 1 over all coordinates of an attribute."""
        return 1.0 / np.bincount(self.attribute_of)[self.attribute_of]

    @cached_property
    def _first(self) -> np.ndarray:
        """First coordinate of each attribute."""
        return np.unique(self.attribute_of, return_index=True)[1]

    @property
    def limit(self) -> float:
        """Largest absolute difference of a coordinate."""
        return 1.0 if self.is_mean else np.inf

    def coordinates(self, images: np.ndarray) -> Coordinates:
        """Objects as the kernels take them."""
        if not self.is_absolute:
            return kernels.differences.Coordinates(images, self.gaps, None)
        absolute = kernels.differences.Absolute(self._weights(images), self.limit)
        return kernels.differences.Coordinates(images, None, absolute)

    def _weights(self, images: np.ndarray) -> np.ndarray:
        """Weight of each object where absolute differences are summed."""
        if not self.is_mean:
            return np.ones(len(images))
        known = (~np.isnan(images[:, self._first])).sum(axis=1)
        return np.where(known > 0, 1.0 / np.maximum(known, 1), 0.0)

    def block(self, images: np.ndarray, points: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Distances of all objects to all prototypes."""
        transposed = np.ascontiguousarray(points.T)
        block = np.empty((len(images), len(points)))
        kernels.differences.distance_block(*self.coordinates(images), transposed, factors[self.attribute_of], block)
        return block

    def terms(self, image: np.ndarray, point: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Term of each attribute in the distance, or in its square."""
        differences, factors = np.abs(image - point), factors[self.attribute_of]
        if self.is_absolute:
            known = np.where(np.isnan(differences), 0.0, np.minimum(differences, self.limit))
            return np.bincount(self.attribute_of, self._weights(image[None])[0] * factors * known)
        squares = np.where(np.isnan(differences), self.gaps, differences**2)
        return np.bincount(self.attribute_of, factors**2 * squares)


class MovableVectors(MovableObjects):
    """Vectors under sums of differences, with a scale for each attribute.

    Parameters
    ----------
    images : ImageRows of shape (n_objects, n_coordinates)
        The coordinates from which distances are computed; NaN where missing. An array, or rows that are fetched.
    differences : Differences
    read : callable
        Coordinates of new objects.
    restore : callable
        Objects with the given coordinates, as users give them.
    place : callable
        Makes the space of moved prototypes from their coordinates and from a factor for each attribute, None for 1.
    measure : callable, optional
        Converts distances to those of the metric, where it squares them.
    surface : int
        Where prototypes can be, see ``kernels.moving``; anywhere by default.
    mixes_attributes : bool
        Whether a coordinate belongs to several attributes.
    is_complete : bool
        Whether no coordinate is missing, where that is known.
    """

    def __init__(
        self,
        images: ImageRows,
        differences: Differences,
        *,
        read: Callable[[Any], np.ndarray],
        restore: Callable[[np.ndarray], np.ndarray],
        place: Callable[[np.ndarray, np.ndarray | None], PrototypeSpace],
        measure: Callable[[np.ndarray], np.ndarray] | None = None,
        surface: int = 0,
        mixes_attributes: bool = False,
        is_complete: bool = False,
    ):
        self._images, self._differences, self._is_complete = images, differences, is_complete
        self._read, self._restore, self._place, self._measure = read, restore, place, measure
        self.surface, self.mixes_attributes = surface, mixes_attributes
        self.n_scales, self.n_coordinates = differences.n_attributes, images.shape[1]

    @cached_property
    def coordinates(self) -> Coordinates:
        """The images."""
        return self._differences.coordinates(self._images[:])

    @property
    def attribute_of(self) -> np.ndarray:
        """The attribute of each coordinate."""
        return self._differences.attribute_of

    def take(self, rows: np.ndarray) -> MovableVectors:
        """Images of some of the objects, in memory."""
        taken = copy(self)
        taken.__dict__.pop("coordinates", None)
        taken._images = np.ascontiguousarray(self._images[rows])
        return taken

    def measured(self, distances: np.ndarray) -> np.ndarray:
        """Distances as the metric has them."""
        return distances if self._measure is None else self._measure(distances)

    def constant_attributes(self) -> np.ndarray:
        """Attributes that have one value in all objects, and attributes without any value."""
        first, varies = self._images[:1], np.zeros(self._images.shape[1], bool)
        for part in row_slices(len(self._images), self._images.shape[1] * 8):
            images = self._images[part]
            varies |= ((images != first) & ~(np.isnan(images) & np.isnan(first))).any(axis=0)
        return np.flatnonzero(np.bincount(self.attribute_of, varies) == 0)

    @cached_property
    def _means(self) -> np.ndarray | None:
        """Mean of each coordinate over the objects where it is known, 0 where there are none; None if all are known."""
        n_objects, width = self._images.shape
        totals, counts, has_gaps = np.zeros(width), np.zeros(width), False
        for part in row_slices(0 if self._is_complete else n_objects, width * 24):
            images = self._images[part]
            known = ~np.isnan(images)
            totals += np.where(known, images, 0.0).sum(axis=0, dtype=np.float64)
            counts += known.sum(axis=0)
            has_gaps |= not known.all()
        return totals / np.maximum(counts, 1) if has_gaps else None

    def filled(self, images: np.ndarray) -> np.ndarray:
        """Images in double precision, with means for missing coordinates."""
        images = np.array(images, np.float64, order="C")
        if not np.isnan(images).any():
            return images
        return np.where(np.isnan(images), 0.0 if self._means is None else self._means, images)

    def start(self, indices: np.ndarray) -> np.ndarray:
        """Rows of the images, with means for missing coordinates."""
        return self.filled(self._images[indices])

    def read(self, objects: Any) -> np.ndarray:
        """Images of new objects, with means for missing coordinates."""
        return self.filled(self._read(objects))

    def objects(self, prototypes: Moved) -> np.ndarray:
        """Objects whose images are the points."""
        return self._restore(prototypes.points)

    def distances(self, rows: np.ndarray, prototypes: Moved, columns: np.ndarray | None = None) -> np.ndarray:
        """Distances by direct differences of coordinates."""
        images, factors = self._images[rows], np.sqrt(prototypes.scales)
        if columns is None:
            return self._differences.block(images, prototypes.points, factors)
        factors, distances = factors[self.attribute_of], np.empty(columns.shape)
        kernels.differences.listed_distances(
            *self._differences.coordinates(images), prototypes.points, columns, factors, distances
        )
        return distances

    def lengths_of_moves(self, before: np.ndarray, prototypes: Moved) -> np.ndarray:
        """Distance of each prototype from its coordinates ``before``."""
        factors, own = np.sqrt(prototypes.scales)[self.attribute_of], np.arange(len(before))[:, None]
        lengths = np.empty(own.shape)
        kernels.differences.listed_distances(
            *self._differences.coordinates(before), prototypes.points, own, factors, lengths
        )
        return lengths[:, 0]

    def screen(self, rows: np.ndarray, prototypes: Moved) -> np.ndarray:
        """Squared distances in single precision, by products of vectors.

        Products cannot express missing values and absolute differences; then the distances themselves are returned.
        """
        if self._differences.is_absolute or self._means is not None:
            return self.distances(rows, prototypes)
        factors, centre = np.sqrt(prototypes.scales)[self.attribute_of], prototypes.points.mean(axis=0)
        # (x, |x|^2, 1) times (-2 p, 1, |p|^2) is |x - p|^2.
        images, points = ((values - centre) * factors for values in (self._images[rows], prototypes.points))
        largest = max(np.abs(values).max(initial=0.0) for values in (images, points))
        if largest > 0.0 and not SMALLEST_SINGLE < largest < LARGEST_SINGLE:
            # The order of the distances is the same in other units.
            images, points = images / largest, points / largest
        left, right = (np.empty((len(values), values.shape[1] + 2), np.float32) for values in (images, points))
        left[:, :-2], left[:, -2], left[:, -1] = images, np.einsum("ij,ij->i", images, images), 1.0
        right[:, :-2], right[:, -2], right[:, -1] = -2 * points, 1.0, np.einsum("ij,ij->i", points, points)
        return left @ right.T

    def add_gradients(
        self,
        rows: np.ndarray,
        prototypes: Moved,
        columns: np.ndarray,
        distances: np.ndarray,
        slopes: np.ndarray,
        gradient: Moved,
    ) -> None:
        """Pull prototypes along the differences to the objects, or along their signs."""
        factors, turns = np.sqrt(prototypes.scales)[self.attribute_of], np.zeros(prototypes.points.shape[1])
        kernels.differences.add_gradients(
            *self._differences.coordinates(self._images[rows]),
            prototypes.points,
            columns,
            factors,
            distances,
            slopes,
            gradient.points,
            turns,
        )
        gradient.scales[:] += np.bincount(self.attribute_of, turns, minlength=self.n_scales)

    def place(self, prototypes: Moved) -> PrototypeSpace:
        """Space of the moved vectors."""
        has_scales = (prototypes.scales != 1).any()
        return self._place(prototypes.points, np.sqrt(prototypes.scales) if has_scales else None)
