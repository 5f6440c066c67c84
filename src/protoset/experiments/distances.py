"""Dissimilarities of a fold, computed once and shared by all its methods.

    data set --> objects of the metric --> training part | test part --> train x train, test x train
                                           (scaling is learned here)

Up to ``LARGEST_MATRIX`` training objects methods get the matrix; beyond, the objects and the metric. Distances
of series and strings learn nothing from the training part, so that one matrix over the whole data set is cut for every
fold.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from protoset._blocks import row_slices
from protoset.datasets import Dataset
from protoset.experiments.plan import Distance, Folds
from protoset.models.preparation import Scaling, has_missing, is_missing, learn_scaling
from protoset.spaces import DISSIMILARITIES, Dissimilarities, Space, make_space

LARGEST_MATRIX = 6000
"""Training objects (288 MB) up to which there is a matrix."""

AUTOMATIC = {
    "vectors": "euclidean",
    "mixed": "euclidean",
    "series": "dtw",
    "strings": "levenshtein",
    "matrix": "precomputed",
}
"""What ``metric = "auto"`` is for each kind of data."""


@dataclass(frozen=True, eq=False)
class FoldDistances:
    """A fold with its dissimilarities.

    Attributes
    ----------
    train, test : ndarray of int
        Rows of the data set.
    labels, truth : ndarray of int
        Classes of the training and of the test objects.
    objects : any
        What selectors are fitted on, with ``metric`` and ``metric_params``.
    space : Space
        Of the training objects.
    queries : Space
        From the test objects to the training objects.
    seconds : float
        CPU time of the dissimilarities.
    """

    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray
    truth: np.ndarray
    objects: Any
    metric: str
    metric_params: dict[str, Any] | None
    space: Space
    queries: Dissimilarities
    seconds: float

    def predict(self, kept: np.ndarray) -> np.ndarray:
        """Class of the nearest prototype of each test object."""
        positions, _ = self.queries.nearest(columns=kept)
        return self.labels[kept[positions]]


class DataDistances:
    """The folds of a data set under one distance.

    Parameters
    ----------
    dataset : Dataset
    distance : Distance
    folds : Folds
    """

    def __init__(self, dataset: Dataset, distance: Distance, folds: Folds):
        self._dataset, self._distance, self._folds = dataset, distance, folds
        self._codes = np.unique(dataset.labels, return_inverse=True)[1].reshape(-1)
        self._whole: tuple[np.ndarray, float] | None = None

    def fold(self, number: int) -> FoldDistances:
        """Compute a fold, or cut it from what is known."""
        train, test = split(self._dataset, self._folds, number)
        objects, metric, parameters = comparable(self._dataset, self._distance, train)
        known, spent = (objects, 0.0) if metric == "precomputed" else self._whole_matrix(objects, metric, parameters)
        started = time.process_time()
        if known is not None:
            fitted, queries = known[np.ix_(train, train)], known[np.ix_(test, train)]
            metric, parameters = "precomputed", {}
        else:
            fitted, queries = _take(objects, train), _take(objects, test)
        space = make_space(fitted, metric, parameters, y=self._codes[train])
        if metric != "precomputed" and len(train) <= LARGEST_MATRIX:
            fitted, queries = square(space), space.cross(queries).block(slice(None), slice(None))
            metric, parameters = "precomputed", {}
            space = make_space(fitted, metric)
        crossed = space.cross(queries)
        seconds = spent + time.process_time() - started
        labels, truth = self._codes[train], self._codes[test]
        return FoldDistances(train, test, labels, truth, fitted, metric, parameters, space, crossed, seconds)

    def _whole_matrix(self, objects: Any, metric: str, parameters: dict[str, Any]) -> tuple[np.ndarray | None, float]:
        """Matrix over all objects and the seconds that it took, where all folds can be cut from one."""
        # Of the split that data come with, the test objects are never compared with each other.
        is_shared = DISSIMILARITIES[metric].kind in ("series", "strings") and self._folds.n is not None
        if not is_shared or self._dataset.n_objects > LARGEST_MATRIX:
            return None, 0.0
        if self._whole is None:
            started = time.process_time()
            matrix = square(make_space(objects, metric, parameters))
            self._whole = matrix, time.process_time() - started
        return self._whole


def split(dataset: Dataset, folds: Folds, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows for training and for testing of one fold."""
    rows = np.arange(dataset.n_objects)
    codes = np.unique(dataset.labels, return_inverse=True)[1].reshape(-1)
    if folds.n is None:
        if dataset.n_train is None:
            raise ValueError(f"the data {dataset.name!r} come without a split; write folds = 5 in place of 'default'")
        return rows[: dataset.n_train], rows[dataset.n_train :]
    kind = StratifiedKFold if folds.stratified else KFold
    with warnings.catch_warnings():
        # A class with fewer members than folds is spread over as many folds as it has members.
        warnings.filterwarnings("ignore", message="The least populated class")
        dealt = kind(folds.n, shuffle=True, random_state=folds.seed).split(rows, codes)
        return list(dealt)[number]


def comparable(dataset: Dataset, distance: Distance, train: np.ndarray) -> tuple[Any, str, dict[str, Any]]:
    """Return the objects as the metric takes them, the metric and its arguments; scaling is that of ``train``."""
    metric = AUTOMATIC[dataset.kind] if distance.metric == "auto" else distance.metric
    if dataset.kind == "matrix":
        return np.asarray(dataset.objects), "precomputed", {}
    if metric == "precomputed":
        raise ValueError(f"metric = 'precomputed' needs a matrix, and the data {dataset.name!r} are {dataset.kind}")
    if dataset.kind == "strings":
        return dataset.objects, metric, distance.parameters
    if dataset.kind == "series" and DISSIMILARITIES[metric].kind != "vectors":
        # A data set has channels as columns, a space as rows.
        return [one.T for one in dataset.objects], metric, distance.parameters
    if distance.nominal == "heom" and (dataset.categorical or has_missing(dataset.objects)):
        metric = "heom"
    if DISSIMILARITIES[metric].kind == "mixed attributes":
        return dataset.objects, metric, {"categorical": dataset.categorical}
    numbers = as_numbers(dataset)
    if distance.scaling is not None:
        numbers = scaled(numbers, numbers[train], distance.scaling)
    return numbers, metric, distance.parameters


def as_numbers(dataset: Dataset) -> np.ndarray:
    """Rows of numbers; a nominal value is its position in the declaration, a missing value NaN."""
    objects = dataset.objects
    if dataset.kind != "mixed":
        return np.asarray(objects, np.float64)
    numbers = np.empty(objects.shape)
    for position, attribute in enumerate(dataset.attributes):
        column = objects[:, position]
        if attribute.type == "nominal":
            places = {value: float(place) for place, value in enumerate(attribute.values)}
            numbers[:, position] = [np.nan if is_missing(value) else places[value] for value in column]
        else:
            numbers[:, position] = [np.nan if value is None else value for value in column]
    return numbers


def scaled(numbers: np.ndarray, training: np.ndarray, scaling: Scaling) -> np.ndarray:
    """Scale columns by what the training rows say; a column that is constant there is only moved."""
    if scaling == "raw":
        return numbers
    centre, width = learn_scaling(training, scaling)
    return (numbers - centre) / width


def square(space: Space) -> np.ndarray:
    """Return the whole matrix of a training set; each pair is computed once where both directions are equal."""
    n = space.shape[0]
    if not DISSIMILARITIES[space.metric].symmetric:
        return space.block(slice(None), slice(None))
    matrix = np.zeros((n, n))
    for part in row_slices(n, n * 8):
        matrix[part, part.start :] = space.upper_block(part)
    upper = np.triu(matrix, 1)
    return upper + upper.T


def digest(dataset: Dataset) -> str:
    """Name a data set by its content."""
    found = hashlib.sha256(f"{dataset.kind} {dataset.n_objects} {dataset.n_train}".encode())
    found.update("\0".join(str(label) for label in dataset.labels).encode())
    objects = dataset.objects
    for one in [objects] if isinstance(objects, np.ndarray) and objects.dtype.kind != "O" else objects:
        if isinstance(one, np.ndarray) and one.dtype.kind != "O":
            found.update(repr((one.shape, one.dtype.str)).encode() + np.ascontiguousarray(one).tobytes())
        else:
            found.update(repr(one if isinstance(one, str) else [_plain(value) for value in one]).encode())
    return found.hexdigest()[:32]


def _plain(value: Any) -> Any:
    # NaN from NumPy and from Python, 1.0 and numpy.float64(1.0) are the same.
    return value.item() if isinstance(value, np.generic) else value


def _take(objects: Any, rows: np.ndarray) -> Any:
    return objects[rows] if isinstance(objects, np.ndarray) else [objects[row] for row in rows]
