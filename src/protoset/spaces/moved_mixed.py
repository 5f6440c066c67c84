"""Mixed attributes as vectors, so that prototypes can move and lie between categories.

              number                    category
    heom      (x - smallest) / range    a column per category: 1 / sqrt(2) for its own, 0 for the others
    gower     (x - smallest) / range    a column per category: 1 / 2 for its own, 0 for the others

The Euclidean distances of these vectors (for "gower" the means of absolute differences) are the dissimilarities of the
metric (see ``protoset.spaces.mixed``): two categories differ by 1. A missing value is NaN in all its columns: it counts
1 in "heom" and is left out in "gower". A prototype has no missing values. A category that is not in the training set is
a vector of equal numbers, which differs by 1 from every category.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from protoset._arrays import row_pointers
from protoset._validation import LARGEST, is_number
from protoset.spaces.attributes import MISSING, UNSEEN, Attributes, Table
from protoset.spaces.base import PrototypeSpace, Rows
from protoset.spaces.comparison import Contributions, contributions
from protoset.spaces.movable import LEAST_FACTOR, Moved
from protoset.spaces.movable_vectors import Differences, MovableVectors

FAINT_SHARE = 0.005
"""Share of a category in a prototype below which it is not named."""

INDICATORS = {"heom": 1 / np.sqrt(2), "gower": 0.5}
"""Coordinate of a category in its own column, for each metric whose objects move."""


@dataclass(frozen=True, eq=False)
class MixedCoordinates:
    """How mixed attributes become coordinates: the numbers first, then the categories.

    Attributes
    ----------
    metric : str
        "heom" or "gower".
    attributes : Attributes
    smallest : ndarray
        Smallest known value of each numeric attribute; NaN where there is none.
    ranges : ndarray
        Range of each numeric attribute.
    """

    metric: str
    attributes: Attributes
    smallest: np.ndarray
    ranges: np.ndarray

    @cached_property
    def differences(self) -> Differences:
        """How differences of the coordinates make up the dissimilarity."""
        is_number = np.array([categories is None for categories in self.attributes.categories])
        attribute_of = np.concatenate([np.flatnonzero(is_number), np.repeat(np.flatnonzero(~is_number), self._widths)])
        is_gower = self.metric == "gower"
        return Differences(attribute_of, is_absolute=is_gower, is_mean=is_gower)

    @cached_property
    def _widths(self) -> np.ndarray:
        """Number of columns of each categorical attribute; one column of missing values if it has no categories."""
        return np.maximum(np.array(self.attributes.sizes(), np.int64), 1)

    @cached_property
    def _columns(self) -> list[slice]:
        """Columns of each categorical attribute."""
        ends = len(self.ranges) + row_pointers(self._widths)
        return [slice(int(start), int(stop)) for start, stop in pairwise(ends)]

    def images(self, table: Table) -> np.ndarray:
        """Coordinates of objects; NaN where missing."""
        # All training values of an attribute without a range are equal: another value differs by 1.
        differences = table.numbers - self.smallest
        numbers = np.where(self.ranges > 0, differences, np.where(np.isnan(differences), np.nan, differences != 0))
        with np.errstate(over="ignore"):
            numbers /= np.where(self.ranges > 0, self.ranges, 1.0)
        images = [np.clip(numbers, -LARGEST, LARGEST)]
        for codes, size in zip(table.codes.T, self.attributes.sizes(), strict=True):
            images.append(self._indicators(size)[codes - UNSEEN])
        return np.ascontiguousarray(np.hstack(images))

    def _indicators(self, size: int) -> np.ndarray:
        """Coordinates of an unseen category, of a missing one and of each category."""
        if size == 0:
            return np.full((2, 1), np.nan)
        indicator = INDICATORS[self.metric]
        # The point with equal coordinates, outside of all mixtures, that differs by 1 from each category.
        unseen = -0.5 / size if self.metric == "gower" else (1 - np.sqrt(1 + size)) / (np.sqrt(2) * size)
        return np.vstack([np.full(size, unseen), np.full(size, np.nan), indicator * np.eye(size)])

    def prototype_images(self, objects: Any) -> np.ndarray:
        """Coordinates of new objects that become prototypes: an unseen category counts as missing.

        Moved prototypes can move again: a category may be a dict of the shares of several categories.
        """
        plain, mixtures = self._without_mixtures(objects)
        table = self.attributes.read(plain, self.metric)
        images = self.images(Table(table.numbers, np.where(table.codes == UNSEEN, MISSING, table.codes)))
        columns = dict(zip(self._categorical, self._columns, strict=True))
        for (row, attribute), shares in mixtures.items():
            images[row, columns[attribute]] = INDICATORS[self.metric] * shares
        return images

    @cached_property
    def _categorical(self) -> list[int]:
        """Positions of the categorical attributes."""
        return [position for position, categories in enumerate(self.attributes.categories) if categories is not None]

    def _without_mixtures(self, objects: Any) -> tuple[Any, dict[tuple[int, int], np.ndarray]]:
        """Return objects without shares of categories, and these shares by row and attribute."""
        mixtures: dict[tuple[int, int], np.ndarray] = {}
        if not isinstance(objects, np.ndarray) or objects.dtype != object or objects.ndim != 2:
            return objects, mixtures
        plain = objects.copy()
        for attribute in [position for position in self._categorical if position < objects.shape[1]]:
            categories = self.attributes.categories[attribute]
            for row, value in enumerate(objects[:, attribute]):
                if isinstance(value, dict):
                    mixtures[row, attribute] = _shares_of(value, list(categories or ()), row, attribute)
                    plain[row, attribute] = None
        return plain, mixtures

    def objects(self, points: np.ndarray) -> np.ndarray:
        """Attributes of prototypes: numbers, categories, and for a mixture of categories a dict of their shares.

        The largest share comes first; shares below 0.5 % are left out. An attribute without known values is NaN, or
        None for categories.
        """
        numbers = self.smallest + points[:, : len(self.ranges)] * self.ranges
        columns = iter(self._columns)
        values, position = np.empty((len(points), len(self.attributes.categories)), object), 0
        for attribute, categories in enumerate(self.attributes.categories):
            if categories is None:
                values[:, attribute] = numbers[:, position]
                position += 1
            else:
                shares = _shares(points[:, next(columns)] / INDICATORS[self.metric])
                for row in range(len(points)):
                    values[row, attribute] = _describe(list(categories), shares[row])
        return values


def _shares_of(mixture: dict[Any, Any], categories: list[Any], row: int, attribute: int) -> np.ndarray:
    """Share of each category in a mixture, with the sum 1."""
    numbers = [value for value in mixture.values() if is_number(value) and 0 <= value < np.inf]
    if len(numbers) < len(mixture) or not sum(numbers) > 0 or not set(mixture) <= set(categories):
        raise ValueError(
            f"column {attribute} holds {reprlib.repr(mixture)} in row {row}; expected a category, or a dict of shares "
            f"of some of the categories {reprlib.repr(categories)}"
        )
    shares = np.array([float(mixture.get(category, 0.0)) for category in categories])
    return shares / shares.sum()


def _shares(coordinates: np.ndarray) -> np.ndarray:
    """Shares of the mixture of categories that is nearest to each point: not negative, with the sum 1."""
    falling = -np.sort(-coordinates, axis=1)
    excess = (np.cumsum(falling, axis=1) - 1) / np.arange(1, falling.shape[1] + 1)
    n_positive = np.maximum((falling > excess).sum(axis=1), 1)
    return np.maximum(coordinates - excess[np.arange(len(excess)), n_positive - 1][:, None], 0.0)


def _describe(categories: list[Any], shares: np.ndarray) -> Any:
    """Return the category of a prototype, or a dict of the shares of several; None where there are no categories."""
    named = [int(code) for code in np.argsort(-shares, kind="stable") if shares[code] >= FAINT_SHARE]
    if not categories:
        return None
    if len(named) == 1:
        return categories[named[0]]
    return {categories[code]: float(shares[code]) for code in named}


class MovedMixedSpace(PrototypeSpace):
    """Dissimilarities from objects with mixed attributes to prototypes that have moved.

    Parameters
    ----------
    coordinates : MixedCoordinates
    rows : ndarray
        Images of the row objects.
    points : ndarray
        Coordinates of the prototypes.
    factors : ndarray
        Factor of each attribute.
    """

    def __init__(self, coordinates: MixedCoordinates, rows: np.ndarray, points: np.ndarray, factors: np.ndarray):
        self.metric = coordinates.metric
        self.n_features = len(coordinates.attributes.categories)
        self._coordinates, self._rows, self._points, self._factors = coordinates, rows, points, factors

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row objects and of prototypes."""
        return len(self._rows), len(self._points)

    @property
    def objects(self) -> np.ndarray:
        """Attributes of the prototypes: numbers, categories, shares of categories."""
        return self._coordinates.objects(self._points)

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities by differences of the coordinates."""
        return self._coordinates.differences.block(self._rows[rows], self._points[columns], self._factors)

    def compare(self, row: int, column: int) -> Contributions:
        """Return the term of each attribute in the dissimilarity, or in its square."""
        differences = self._coordinates.differences
        terms = differences.terms(self._rows[row], self._points[column], self._factors)
        return contributions(self._distance(row, column), terms, 1 if differences.is_absolute else 2)

    def cross(self, queries: Any) -> MovedMixedSpace:
        """Space from new objects to the prototypes."""
        rows = self._coordinates.images(self._coordinates.attributes.read(queries, self.metric))
        return MovedMixedSpace(self._coordinates, rows, self._points, self._factors)

    def moving_among(self, objects: Any) -> tuple[MovableVectors, Moved]:
        """New objects as vectors, and the prototypes."""
        movable = movable_by(self._coordinates, self._coordinates.attributes.read(objects, self.metric))
        return movable, Moved(self._points.copy(), np.square(np.maximum(self._factors, LEAST_FACTOR)))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the prototypes, the factors and how objects become coordinates."""
        coordinates = self._coordinates
        arrays = {"points": self._points, "factors": self._factors}
        arrays |= {"smallest": coordinates.smallest, "ranges": coordinates.ranges}
        return {"moved": True, "categories": coordinates.attributes.state()}, arrays

    @classmethod
    def from_state(cls, metric: str, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        """Space without rows, whose columns are the stored prototypes."""
        if metric not in INDICATORS:
            raise ValueError(f"the file has moved prototypes, but prototypes of metric={metric!r} cannot move")
        attributes = Attributes.from_state(values["categories"])
        points, factors, smallest, ranges = (arrays[name] for name in ("points", "factors", "smallest", "ranges"))
        n_numeric = len(attributes.categories) - len(attributes.sizes())
        for name, shape in {
            "smallest": (n_numeric,),
            "ranges": (n_numeric,),
            "factors": (len(attributes.categories),),
        }.items():
            if arrays[name].dtype != np.float64 or arrays[name].shape != shape:
                raise ValueError(f"its {name} do not fit its attributes")
            if (np.abs(arrays[name]) > LARGEST).any() or (name != "smallest" and not (arrays[name] >= 0).all()):
                raise ValueError(f"its {name} are infinite, too large or negative")
        coordinates = MixedCoordinates(metric, attributes, smallest, ranges)
        width = len(coordinates.differences.attribute_of)
        if points.dtype != np.float64 or points.ndim != 2 or points.shape[1] != width or len(points) == 0:
            raise ValueError("its points do not fit its attributes")
        if not (np.abs(points) <= LARGEST).all():
            raise ValueError("its points are infinite or too large")
        return cls(coordinates, points[:0], points, factors)


def movable_mixed(metric: str, table: Table, attributes: Attributes, ranges: np.ndarray) -> MovableVectors:
    """Training objects with mixed attributes, and prototypes that move among them."""
    return movable_by(MixedCoordinates(metric, attributes, np.fmin.reduce(table.numbers, axis=0), ranges), table)


def movable_by(coordinates: MixedCoordinates, table: Table) -> MovableVectors:
    """Objects that become coordinates in a given way, and prototypes that move among them."""

    def place(points: np.ndarray, factors: np.ndarray | None) -> MovedMixedSpace:
        factors = np.ones(len(coordinates.attributes.categories)) if factors is None else factors
        return MovedMixedSpace(coordinates, points[:0], points.copy(), factors)

    return MovableVectors(
        coordinates.images(table),
        coordinates.differences,
        read=coordinates.prototype_images,
        restore=coordinates.objects,
        place=place,
    )
