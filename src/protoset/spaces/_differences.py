"""Sums of differences over attributes of several coordinates, some of them missing, and prototypes that move by them.

euclidean          square root of the sum of the squared differences; a missing attribute counts 1
absolute           sum of the absolute differences
absolute, as mean  the same divided by the number of attributes known in the object; a difference counts at most 1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from protoset import kernels
from protoset.spaces.movable import MovableVectors, Moved

if TYPE_CHECKING:
    from protoset.spaces.base import PrototypeSpace


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

    def weights(self, images: np.ndarray) -> np.ndarray:
        """Weight of the sum for each object."""
        if not self.is_mean:
            return np.ones(len(images))
        known = (~np.isnan(images[:, self._first])).sum(axis=1)
        return np.where(known > 0, 1.0 / np.maximum(known, 1), 0.0)

    def block(self, images: np.ndarray, points: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Distances of all objects to all prototypes."""
        factors, columns = factors[self.attribute_of], np.ascontiguousarray(points.T)
        if self.is_absolute:
            return kernels.differences.absolute_block(images, columns, factors, self.limit, self.weights(images))
        return kernels.differences.euclidean_block(images, columns, factors, self.gaps)

    def listed(self, images: np.ndarray, points: np.ndarray, factors: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Distances of each object to the prototypes that its row of ``columns`` lists."""
        factors = factors[self.attribute_of]
        if self.is_absolute:
            weights = self.weights(images)
            return kernels.differences.listed_absolute(images, points, columns, factors, self.limit, weights)
        return kernels.differences.listed_euclidean(images, points, columns, factors, self.gaps)

    def terms(self, image: np.ndarray, point: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """What each attribute adds to the distance, or to its square."""
        differences, factors = np.abs(image - point), factors[self.attribute_of]
        if self.is_absolute:
            known = np.where(np.isnan(differences), 0.0, np.minimum(differences, self.limit))
            return np.bincount(self.attribute_of, self.weights(image[None])[0] * factors * known)
        squares = np.where(np.isnan(differences), self.gaps, differences**2)
        return np.bincount(self.attribute_of, factors**2 * squares)


class MovableDifferences(MovableVectors):
    """Vectors under sums of differences, with a scale for each attribute.

    Parameters
    ----------
    images : ndarray of shape (n_objects, n_coordinates)
        The coordinates from which distances are computed; NaN where missing.
    differences : Differences
    read, restore : callable
        See ``MovableVectors``.
    place : callable
        Makes the space of moved prototypes from their coordinates and from a factor for each attribute, None for 1.
    """

    def __init__(
        self,
        images: np.ndarray,
        differences: Differences,
        *,
        read: Callable[[Any], np.ndarray],
        restore: Callable[[np.ndarray], np.ndarray],
        place: Callable[[np.ndarray, np.ndarray | None], PrototypeSpace],
    ):
        super().__init__(images, read=read, restore=restore, place=place)
        self._differences = differences
        self.n_scales = differences.n_attributes

    def screen(self, rows: np.ndarray, prototypes: Moved) -> np.ndarray:
        """Return the distances: products of vectors do not tell missing values."""
        return self.distances(rows, prototypes)

    @cached_property
    def _means(self) -> np.ndarray:
        """Mean of each coordinate over the objects where it is known; 0 where there are none."""
        known = ~np.isnan(self._images)
        return np.where(known, self._images, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)

    def _filled(self, images: np.ndarray) -> np.ndarray:
        return np.where(np.isnan(images), self._means, images)

    def start(self, indices: np.ndarray) -> np.ndarray:
        """Rows of the images, with means for missing coordinates."""
        return self._filled(self._images[indices])

    def read(self, objects: Any) -> np.ndarray:
        """Images of new objects, with means for missing coordinates."""
        return self._filled(self._read(objects))

    def distances(self, rows: np.ndarray, prototypes: Moved, columns: np.ndarray | None = None) -> np.ndarray:
        """Distances by direct differences of coordinates."""
        images, factors = self._images[rows], np.sqrt(prototypes.scales)
        if columns is None:
            return self._differences.block(images, prototypes.points, factors)
        return self._differences.listed(images, prototypes.points, factors, columns)

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
        images, points, form = self._images[rows], prototypes.points, self._differences
        factors, turns = np.sqrt(prototypes.scales)[form.attribute_of], np.zeros(points.shape[1])
        if form.is_absolute:
            kernels.differences.pull_absolute(
                images, points, columns, slopes, factors, form.limit, form.weights(images), gradient.points, turns
            )
        else:
            kernels.differences.pull_euclidean(
                images, points, columns, distances, slopes, factors, form.gaps, gradient.points, turns
            )
        gradient.scales[:] += np.bincount(form.attribute_of, turns, minlength=self.n_scales)
