"""Distinct objects of a training set: identical objects of one class are one object with a count.

An object of weight w counts as w copies; an object of weight 0 does not take part. Where an object has several
copies, the distinct objects are put in the order of their contents, so that the order of the rows does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from protoset._validation import check_labels
from protoset.neighbors import NeighborLists, as_lists
from protoset.selectors._weights import ClassWeight, check_sample_weight, class_weights
from protoset.spaces import TrainingSpace

MASS_DECIMALS = 12
"""Class masses count as equal if they agree to this many decimals, after a scaling that makes the largest 1."""


@dataclass(frozen=True, eq=False)
class DistinctObjects:
    """Classes and counts of distinct objects.

    Attributes
    ----------
    classes : ndarray
        The labels, sorted.
    codes : ndarray of int
        Class of each object, as a position in ``classes``.
    counts : ndarray of float
        Number of training objects that each distinct object stands for, by weight.
    order : ndarray of int
        Positions in the order of the contents: among otherwise equal objects, the one with the lower position comes
        first.
    some_weightless : bool
        Whether there are training objects of weight 0, which are not among the distinct objects.
    """

    classes: np.ndarray
    codes: np.ndarray
    counts: np.ndarray
    order: np.ndarray
    some_weightless: bool = False

    @classmethod
    def once_each(cls, codes: np.ndarray, classes: np.ndarray | None = None) -> Self:
        """All objects as distinct objects with count 1, in row order."""
        classes = np.arange(int(codes.max()) + 1) if classes is None else classes
        return cls(classes, codes, np.ones(len(codes)), np.arange(len(codes)))

    def __len__(self) -> int:
        """Count the objects."""
        return len(self.codes)

    @property
    def are_single(self) -> bool:
        """Whether all objects have count 1."""
        return bool((self.counts == 1).all())

    @property
    def class_sizes(self) -> np.ndarray:
        """Number of distinct objects of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def class_counts(self) -> np.ndarray:
        """Number of training objects of each class, by weight."""
        return np.bincount(self.codes, self.counts, minlength=len(self.classes))

    def class_masses(self, class_weight: ClassWeight) -> np.ndarray:
        """Size of each class: the weights of its objects, multiplied by the weight of the class."""
        counts = self.class_counts
        if class_weight is None:
            return counts
        masses = counts * class_weights(class_weight, self.classes, counts)
        # Balanced classes are equal but for rounding errors; no class is without mass.
        return np.maximum(np.round(masses / masses.max(), MASS_DECIMALS), 10.0**-MASS_DECIMALS)

    def costs(self, class_weight: ClassWeight) -> np.ndarray:
        """Cost of an error on a copy of each object."""
        return class_weights(class_weight, self.classes, self.class_counts)[self.codes]

    def take(self, members: np.ndarray, counts: np.ndarray | None = None) -> DistinctObjects:
        """Some of the objects, with other counts if given; classes without objects are left out."""
        present, codes = np.unique(self.codes[members], return_inverse=True)
        counts = self.counts[members] if counts is None else counts
        return DistinctObjects(self.classes[present], codes, counts, self.order[members])


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """A training set, and its distinct objects.

    Attributes
    ----------
    codes : ndarray of int
        Class of each row; -1 if all objects of the class have weight 0.
    rows : ndarray of int
        Lowest row of each distinct object.
    position : ndarray of int
        The distinct object of each row; -1 for a row of weight 0.
    objects : DistinctObjects
    """

    codes: np.ndarray
    rows: np.ndarray
    position: np.ndarray
    objects: DistinctObjects

    @classmethod
    def of(cls, space: TrainingSpace, y: Any, sample_weight: Any = None) -> Self:
        """Find the distinct objects of a space with labels, weighted if weights are given."""
        n = space.shape[0]
        weights = check_sample_weight(sample_weight, n)
        if weights is not None and space.remote:
            raise ValueError(
                "sample_weight does not work with objects on a Dask cluster; gather them with X.compute(), or leave "
                "sample_weight out"
            )
        classes, codes = check_labels(y, n)
        present = np.arange(n) if weights is None else np.flatnonzero(weights)
        if len(present) < n:
            labels = classes[codes]
            try:
                classes, _ = check_labels(labels[present], len(present))
            except ValueError as error:
                raise ValueError(f"of the objects with a sample_weight above zero: {error}") from error
            codes = np.where(np.isin(labels, classes), np.searchsorted(classes, labels), -1)
        numbers = space.identical()
        numbers = np.arange(n) if numbers is None else numbers
        pairs = numbers[present] * len(classes) + codes[present]
        distinct, first, group = np.unique(pairs, return_index=True, return_inverse=True)
        if weights is None:
            counts = np.bincount(group).astype(np.float64)
        else:
            # Weights are added in one order, so that the order of the rows does not change the rounding.
            by_weight = np.argsort(weights[present], kind="stable")
            counts = np.bincount(group[by_weight], weights[present][by_weight]).astype(np.float64)
        order = np.arange(len(distinct))
        if (counts == 1).all():
            # In the order of the rows.
            order = np.argsort(first)
            first, group = first[order], np.argsort(order)[group]
        position = np.full(n, -1)
        position[present] = group
        rows = present[first]
        return cls(codes, rows, position, DistinctObjects(classes, codes[rows], counts, order, len(present) < n))

    def in_content_order(self) -> TrainingSet:
        """Return the same training set with its distinct objects in the order of their contents."""
        by_content = np.argsort(self.objects.order)
        position = np.where(self.position >= 0, np.argsort(by_content)[self.position], -1)
        objects = self.objects
        ordered = DistinctObjects(
            objects.classes, objects.codes[by_content], objects.counts[by_content], np.arange(len(by_content))
        )
        return TrainingSet(self.codes, self.rows[by_content], position, ordered)

    @property
    def is_plain(self) -> bool:
        """Whether the distinct objects are the rows."""
        return len(self.rows) == len(self.position) and bool((self.rows[:-1] < self.rows[1:]).all())

    def distinct_space(self, space: TrainingSpace) -> TrainingSpace:
        """Space of the distinct objects."""
        return space if self.is_plain else space.subset(self.rows)

    def distinct_lists(self, lists: Any) -> Any:
        """Neighbour lists of the distinct objects, from lists of all training objects or of the distinct objects."""
        if self.is_plain or (isinstance(lists, NeighborLists) and lists.n_objects == len(self.rows)):
            return lists
        return as_lists(lists, len(self.position)).merged(self.rows, self.position)

    def spread(self, values: np.ndarray, absent: float) -> np.ndarray:
        """Return a value for each row, from the values of the distinct objects; ``absent`` for rows of weight 0."""
        return np.where(self.position >= 0, values[self.position], absent)

    def spread_ranking(self, ranking: np.ndarray) -> np.ndarray:
        """Rank all rows from the ranked distinct objects: copies follow the first copy, rows of weight 0 come last."""
        rank = np.empty(len(ranking), np.int64)
        rank[ranking] = np.arange(len(ranking))
        return np.argsort(np.where(self.position >= 0, rank[self.position], len(ranking)), kind="stable")
