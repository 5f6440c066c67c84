"""Prototypes that moved: distances to them, and how the page shows them beside real objects.

    columns of the dissimilarities    0 ... n - 1          training objects
                                      n ... n + m - 1      moved prototypes

A moved prototype is no training object, so it has a column, and a position, after these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from protoset._image_shapes import ImageShape
from protoset._report.objects import describe_objects, significant
from protoset.classifier import PrototypeClassifier
from protoset.datasets import Dataset
from protoset.models.unpacking import Transform, undo
from protoset.spaces import Dissimilarities, PairComparison, PrototypeSpace
from protoset.spaces.base import Choice, Rows
from protoset.spaces.vectors import ANGULAR


@dataclass(frozen=True, eq=False)
class MovedSet:
    """The prototypes of a classifier after their moves, in the order of its ``sample_indices_``.

    ``starts`` and ``exemplars`` are rows of the training set: the objects from which the prototypes started, and the
    nearest objects of their classes now. ``objects`` are the prototypes in the form in which the page shows objects;
    None where there is none: a transform cannot be inverted, or only directions are compared.
    """

    prototypes: PrototypeSpace
    starts: np.ndarray
    exemplars: np.ndarray
    objects: Any

    def __len__(self) -> int:
        return len(self.starts)

    def extend(self, space: Dissimilarities, objects: Any) -> Dissimilarities:
        """Dissimilarities of objects to the training objects, with columns for the moved prototypes."""
        return WithMoved(space, self.prototypes.cross(objects))


class WithMoved(Dissimilarities):
    """Dissimilarities to training objects and, in the columns after these, to moved prototypes."""

    def __init__(self, space: Dissimilarities, moved: Dissimilarities):
        self._space, self._moved = space, moved
        self.metric, self.n_features = space.metric, space.n_features

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row objects, and of training objects and prototypes."""
        return self._space.shape[0], self._space.shape[1] + self._moved.shape[1]

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities from both spaces."""
        numbers, n = np.arange(self.shape[1])[columns], self._space.shape[1]
        is_moved = numbers >= n
        if not is_moved.any():
            return self._space.block(rows, numbers)
        block = np.empty((len(np.arange(self.shape[0])[rows]), len(numbers)))
        block[:, is_moved] = self._moved.block(rows, numbers[is_moved] - n)
        if not is_moved.all():
            block[:, ~is_moved] = self._space.block(rows, numbers[~is_moved])
        return block

    def nearest(
        self,
        rows: Rows = slice(None),
        columns: Rows = slice(None),
        *,
        choose: Choice | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns; by the search of the space where all columns are of one space."""
        numbers, n = np.arange(self.shape[1])[columns], self._space.shape[1]
        if (numbers < n).all():
            return self._space.nearest(rows, numbers, choose=choose, n_jobs=n_jobs)
        if (numbers >= n).all():
            return self._moved.nearest(rows, numbers - n, choose=choose, n_jobs=n_jobs)
        return super().nearest(rows, columns, choose=choose, n_jobs=n_jobs)

    def compare(self, row: int, column: int) -> PairComparison:
        """Say what makes up the dissimilarity, as the space of the column does."""
        n = self._space.shape[1]
        return self._space.compare(row, column) if column < n else self._moved.compare(row, column - n)


def find_moved(classifier: Any, dataset: Dataset, transform: Transform | None) -> MovedSet | None:
    """Return the moved prototypes of a classifier; None where they stand at training objects."""
    adaptation = getattr(classifier, "adaptation_", None)
    if not isinstance(classifier, PrototypeClassifier) or adaptation is None or not adaptation.has_moved:
        return None
    objects = None
    if classifier._prototypes.metric not in ANGULAR:
        objects = _before_transform(adaptation.prototypes, dataset, transform)
    return MovedSet(classifier._prototypes, classifier.sample_indices_, classifier.exemplars_, objects)


def _before_transform(prototypes: Any, dataset: Dataset, transform: Transform | None) -> Any:
    """Return moved prototypes in the form that objects have before the transform; None where there is none."""
    restored = prototypes if transform is None else undo(transform, prototypes)
    if restored is None:
        return None
    if dataset.kind in ("vectors", "mixed") and np.shape(restored)[1] != np.shape(dataset.objects)[1]:
        return None
    return restored


def describe_moved(
    moved: MovedSet,
    dataset: Dataset,
    rows: Dissimilarities,
    shown: np.ndarray,
    slots: np.ndarray,
    n_columns: int,
    image_shape: ImageShape | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Return some moved prototypes as JSON values, and notes about them.

    ``rows`` are the dissimilarities of the training objects, ``shown`` the training objects on the page, ``slots`` the
    prototypes on it, ``n_columns`` the attributes that it shows of tables, and ``image_shape`` the shape of images.
    """
    n, exemplars = dataset.n_objects, moved.exemplars[slots]
    starts = np.searchsorted(shown, moved.starts[slots]).clip(max=len(shown) - 1)
    described: dict[str, Any] = {
        "exemplars": np.searchsorted(shown, exemplars).tolist(),
        "starts": np.where(shown[starts] == moved.starts[slots], starts, -1).tolist(),
        "distances": [
            significant(float(rows.block(np.array([row]), np.array([n + slot]))[0, 0]), 7)
            for row, slot in zip(exemplars.tolist(), slots.tolist(), strict=True)
        ],
        "values": None,
    }
    if moved.objects is None:
        is_direction = moved.prototypes.metric in ANGULAR
        why = "the metric compares directions alone" if is_direction else "the transform of the objects has no inverse"
        return described, [f"The values of the moved prototypes are not shown: {why}."]
    values, _ = describe_objects(replace(dataset, objects=moved.objects), slots, image_shape=image_shape)
    if values["kind"] == "rows":
        values["names"] = values["names"][:n_columns]
        values["values"] = [None if row is None else row[:n_columns] for row in values["values"]]
    return described | {"values": values}, []
