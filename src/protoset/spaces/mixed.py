"""Objects with mixed attributes: numbers and categories, some of them missing.

    gower      mean difference over the attributes known in both objects
    heom       root of the sum of squared differences
    hvdm       as heom, with differences of categories by the classes of their objects
    overlap    share of the attributes that differ

Ranges, deviations, categories and shares of classes come from the training set alone. docs/reference/metrics.md
defines the metrics, with missing values and unseen categories. ``protoset.spaces.attributes`` reads tables and decides
which columns are categorical.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._validation import LARGEST, check_labels
from protoset.spaces._contents import number_vectors
from protoset.spaces.attributes import MISSING, Attributes, Table
from protoset.spaces.base import Dissimilarity, Rows, Space
from protoset.spaces.comparison import Contributions, contributions
from protoset.spaces.movable import MovableObjects, Moved
from protoset.spaces.moved_mixed import INDICATORS, MixedCoordinates, MovedMixedSpace, movable_by, movable_mixed

Learned = dict[str, np.ndarray]
"""Arrays learned from the training set: "divisors" of the numbers, "shares" of the classes in each category."""


class MixedSpace(Space):
    """Dissimilarities between objects with numbers and categories."""

    symmetric = True

    def __init__(self, metric: str, rows: Table, columns: Table, attributes: Attributes, learned: Learned):
        super().__init__(metric, rows, columns, attributes, learned)
        self._attributes = attributes
        self._learned = learned
        self.n_features = len(attributes.categories)

    @classmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of the rows of a DataFrame, an array or a list; "hvdm" learns from their labels."""
        attributes, table = Attributes.learn(X, parameters.get("categorical"), metric)
        learned: Learned = {}
        if metric in ("gower", "heom"):
            learned = {"divisors": _ranges(table.numbers)}
        elif metric == "hvdm":
            classes, labels = _labels(y, len(table))
            learned = {
                "divisors": 4 * _deviations(table.numbers),
                "shares": _class_shares(table.codes, attributes.sizes(), labels, len(classes)),
            }
        return cls(metric, table, table, attributes, learned)

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities pair by pair."""
        return self._block(self._rows[rows], self._columns[columns], slice(None), slice(None))

    def _block(self, a: Table, b: Table, numbers: slice, codes: slice) -> np.ndarray:
        """Dissimilarities by some of the numeric and some of the categorical attributes."""
        objects = (a.numbers[:, numbers], b.numbers[:, numbers], a.codes[:, codes], b.codes[:, codes])
        block = np.empty((len(a), len(b)))
        if self.metric == "overlap":
            kernels.mixed.overlap_block(*objects, block)
            return block
        divisors = self._learned["divisors"][numbers]
        if self.metric == "gower":
            kernels.mixed.gower_block(*objects, divisors, block)
        elif self.metric == "heom":
            kernels.mixed.heom_block(*objects, divisors, block)
        else:
            starts = _starts(self._attributes.sizes())[codes]
            kernels.mixed.hvdm_block(*objects, divisors, self._learned["shares"], starts, block)
        return block

    def compare(self, row: int, column: int) -> Contributions:
        """Compare by each attribute alone: the dissimilarity is a sum, a mean or a Euclidean length of these."""
        a, b, none = self._rows[[row]], self._columns[[column]], slice(0, 0)
        is_number = np.array([categories is None for categories in self._attributes.categories])
        single = np.empty(len(is_number))
        single[is_number] = [self._block(a, b, slice(k, k + 1), none)[0, 0] for k in range(a.numbers.shape[1])]
        single[~is_number] = [self._block(a, b, none, slice(k, k + 1))[0, 0] for k in range(a.codes.shape[1])]
        distance = self._distance(row, column)
        if self.metric == "overlap":
            return contributions(distance, single / len(single))
        if self.metric != "gower":
            return contributions(distance, single**2, 2)
        known = np.empty(len(is_number), bool)
        known[is_number] = ~np.isnan(a.numbers[0] - b.numbers[0])
        known[~is_number] = (a.codes[0] != MISSING) & (b.codes[0] != MISSING)
        return contributions(distance, np.where(known, single, 0.0) / max(known.sum(), 1))

    def identical(self) -> np.ndarray:
        """Numbers by numbers and categories; missing values are equal to each other."""
        return number_vectors(np.hstack([self._columns.numbers, self._columns.codes]))

    def _subset(self, members: np.ndarray) -> MixedSpace:
        """Space of some of the objects, with the values that were learned from all of them."""
        chosen = self._columns[members]
        return self._like(chosen, chosen)

    def cross(self, queries: Any) -> Self:
        """Space from new objects to the columns of this space."""
        return self._like(self._attributes.read(queries, self.metric), self._columns)

    @property
    def objects(self) -> np.ndarray:
        """Attributes of the columns: numbers, and categories, None where missing."""
        return self._attributes.values(self._columns)

    @property
    def movable(self) -> MovableObjects | None:
        """The objects as vectors under "heom" and "gower", see ``protoset.spaces.moved_mixed``; None for the others."""
        if self.metric not in INDICATORS:
            return None
        return movable_mixed(self.metric, self._columns, self._attributes, self._learned["divisors"])

    def moving_among(self, objects: Any) -> tuple[MovableObjects, Moved] | None:
        """New objects and the columns as vectors under "heom" and "gower"; None under the others."""
        if self.metric not in INDICATORS:
            return None
        smallest, ranges = np.fmin.reduce(self._columns.numbers, axis=0), self._learned["divisors"]
        # An attribute that is missing in all columns may be known in the training set.
        smallest = np.where(np.isnan(smallest) & (ranges > 0), 0.0, smallest)
        coordinates = MixedCoordinates(self.metric, self._attributes, smallest, ranges)
        movable = movable_by(coordinates, self._attributes.read(objects, self.metric))
        return movable, Moved(movable.filled(coordinates.images(self._columns)), np.ones(movable.n_scales))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the column objects, the categories and the learned arrays; categories are str, int, float or bool."""
        arrays = {"numbers": self._columns.numbers, "codes": self._columns.codes}
        return {"categories": self._attributes.state()}, arrays | self._learned

    @classmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, whose columns are the stored objects, or prototypes that have moved."""
        if values.get("moved"):
            return MovedMixedSpace.from_state(metric, values, arrays)  # type: ignore[return-value]
        attributes = Attributes.from_state(values["categories"])
        columns = Table(arrays["numbers"], arrays["codes"])
        learned = {name: arrays[name] for name in LEARNED_ARRAYS[metric]}
        _check_stored(columns, attributes)
        _check_learned(learned, columns, attributes)
        return cls(metric, columns[:0], columns, attributes, learned)


def _labels(y: Any, n_objects: int) -> tuple[np.ndarray, np.ndarray]:
    if y is None:
        raise ValueError(
            "metric='hvdm' learns from the labels and requires y to be passed, but y is None; "
            "pass one label per object, or use metric='heom'"
        )
    return check_labels(y, n_objects)


def _ranges(numbers: np.ndarray) -> np.ndarray:
    """Range of each attribute over the known values; 0 where there are none."""
    ranges = np.fmax.reduce(numbers, axis=0) - np.fmin.reduce(numbers, axis=0)
    return np.where(np.isnan(ranges), 0.0, ranges)


def _deviations(numbers: np.ndarray) -> np.ndarray:
    """Standard deviation of each attribute over the known values; 0 where there are none."""
    ranges = _ranges(numbers)
    # In units of the range, so that no square over- or underflows.
    units = (numbers - np.fmin.reduce(numbers, axis=0)) / np.where(ranges > 0, ranges, 1.0)
    counts = np.maximum((~np.isnan(units)).sum(axis=0), 1)
    means = np.nansum(units, axis=0) / counts
    return ranges * np.sqrt(np.nansum(np.square(units - means), axis=0) / counts)


def _starts(sizes: list[int]) -> np.ndarray:
    """First row of each attribute in the shares: the unseen category, the missing category, then the categories."""
    return row_pointers(np.array(sizes, np.int64) + 2)[:-1].astype(np.int64)


def _class_shares(codes: np.ndarray, sizes: list[int], labels: np.ndarray, n_classes: int) -> np.ndarray:
    """P(class | category), one row per category of each attribute (see ``_starts``); 0 without objects."""
    counts = np.zeros((sum(sizes) + 2 * len(sizes), n_classes))
    for attribute, start in enumerate(_starts(sizes)):
        np.add.at(counts, (start + 2 + codes[:, attribute], labels), 1.0)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)


def _check_stored(table: Table, attributes: Attributes) -> None:
    """Raise an error for stored objects that the kernels cannot read."""
    sizes = np.array(attributes.sizes(), np.int64)
    numbers, codes = table.numbers, table.codes
    n_numeric = len(attributes.categories) - len(sizes)
    if numbers.dtype != np.float64 or numbers.ndim != 2 or numbers.shape[1] != n_numeric or len(numbers) == 0:
        raise ValueError("its numbers do not fit its attributes")
    if codes.dtype != np.int32 or codes.shape != (len(numbers), len(sizes)):
        raise ValueError("its codes do not fit its attributes")
    if (np.abs(numbers) > LARGEST).any():
        raise ValueError("its numbers are infinite or too large")
    if (codes < MISSING).any() or (codes >= sizes).any():
        raise ValueError("its codes are not codes of its categories")


def _check_learned(learned: Learned, table: Table, attributes: Attributes) -> None:
    """Raise an error for stored arrays that the metric cannot have learned."""
    for name, array in learned.items():
        if array.dtype != np.float64 or not np.isfinite(array).all() or (array < 0).any():
            raise ValueError(f"its {name} are not finite numbers of at least 0")
    if "divisors" in learned and learned["divisors"].shape != (table.numbers.shape[1],):
        raise ValueError("its divisors do not fit its attributes")
    if "shares" in learned:
        shares, sizes = learned["shares"], attributes.sizes()
        if shares.ndim != 2 or not shares.shape[1] or len(shares) != sum(sizes) + 2 * len(sizes) or (shares > 1).any():
            raise ValueError("its shares of classes do not fit its attributes")


LEARNED_ARRAYS = {"gower": ("divisors",), "heom": ("divisors",), "hvdm": ("divisors", "shares"), "overlap": ()}
"""Names of the arrays that each metric learns."""

METRICS = tuple(
    Dissimilarity(
        name,
        MixedSpace,
        "mixed attributes",
        ("categorical",),
        needs_fitting=bool(learned),
        moves=name in INDICATORS,
    )
    for name, learned in LEARNED_ARRAYS.items()
)
