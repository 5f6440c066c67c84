"""The folds of a data set, each with its dissimilarities, which all methods on the fold share.

    data set --> training | test rows --> prepared objects --> train x train, test x train
                                          (scaling is learned from the training rows)

Objects are assigned to the folds in an order that depends on their content; see ``ordering.py``. The training and test
rows of a fold are in that order too, so that every method sees the same objects in the same order, however the rows of
the data set are sorted.

Up to ``LARGEST_MATRIX`` training objects all dissimilarities are computed once; beyond, the space computes them when a
method asks. Distances of series and strings learn nothing from the training part: up to ``LARGEST_MATRIX`` objects, one
matrix over the whole data set is computed, and each fold of a cross-validation is cut from it.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from protoset._validation import LARGEST_SEED, check_count, is_count, is_number
from protoset.datasets import Dataset
from protoset.experiments.ordering import content_order
from protoset.experiments.plan import Distance, Folds
from protoset.models import Preparation
from protoset.models.known_distances import KnownDistances
from protoset.models.preparation import check_dataset
from protoset.spaces import DISSIMILARITIES, Dissimilarities, Space, make_space
from protoset.spaces.precomputed import PrecomputedSpace

LARGEST_MATRIX = 6000
"""Largest number of training objects for which all dissimilarities are computed once (288 MB)."""


class MatrixSpace(KnownDistances):
    """The space of a training set with all its dissimilarities computed."""

    def __init__(self, space: Space):
        super().__init__(space.matrix(), space)
        self.metric = space.metric


class CutMatrix(KnownDistances):
    """The space of some objects, with dissimilarities cut from a matrix and numbers by the content of the objects.

    ``make_objects`` makes the space of the objects, which is needed only where they move.
    """

    def __init__(self, matrix: np.ndarray, numbers: np.ndarray, make_objects: Callable[[], Space]):
        everything = np.arange(len(matrix))
        PrecomputedSpace.__init__(self, matrix, everything, len(everything), everything)
        self._numbers, self._make_objects = numbers, make_objects

    @cached_property
    def objects(self) -> Space:
        """Space of the objects."""
        return self._make_objects()

    def identical(self) -> np.ndarray:
        """Numbers by the content of the objects, see ``TrainingSpace.identical``."""
        return self._numbers

    def central_member(self, members: np.ndarray) -> int | None:
        """None: objects whose distances are cut from a matrix have no coordinates."""
        return None


@dataclass(frozen=True, eq=False)
class Fold:
    """Training and test objects with their dissimilarities, which took ``seconds`` of CPU time.

    ``train`` and ``test`` are rows of the data set. ``labels`` and ``truth`` are the classes of the training and of the
    test objects, as positions in ``classes``, the sorted labels of the data set. ``queries`` compares test with
    training objects. ``test_objects`` returns the prepared test objects, for prototypes that moved.
    """

    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray
    truth: np.ndarray
    classes: np.ndarray
    space: Space
    queries: Dissimilarities
    seconds: float
    test_objects: Callable[[], Any]


class DatasetFolds:
    """The folds of a data set under one distance."""

    def __init__(self, dataset: Dataset, distance: Distance, folds: Folds):
        self._dataset, self._distance, self._folds = dataset, distance, folds
        self._classes, codes = np.unique(dataset.labels, return_inverse=True)
        self._codes = codes.reshape(-1)
        self._splits = splits(dataset, folds)
        self._whole: tuple[np.ndarray, np.ndarray | None, float] | None = None

    def fold(self, number: int) -> Fold:
        """Compute a fold, or cut it from a matrix over the whole data set."""
        train, test = self._splits[number]
        preparation = self._distance.prepare(self._dataset, train)
        matrix, numbers, seconds = self._whole_matrix(preparation)
        started = time.process_time()

        def test_objects() -> Any:
            return _rows(preparation(self._dataset.objects), test)

        if matrix is not None:
            block = matrix[np.ix_(train, train)]
            space = make_space(block, "precomputed")
            if numbers is not None:
                space = CutMatrix(block, numbers[train], lambda: self._objects(preparation, train))
            queries = space.cross(matrix[np.ix_(test, train)])
        else:
            space = self._objects(preparation, train)
            queries = space.cross(test_objects())
            if len(train) <= LARGEST_MATRIX:
                space = MatrixSpace(space)
                queries = space.cross(queries.block(slice(None), slice(None)))
        seconds += time.process_time() - started
        codes = self._codes
        return Fold(train, test, codes[train], codes[test], self._classes, space, queries, seconds, test_objects)

    def _objects(self, preparation: Preparation, train: np.ndarray) -> Space:
        """Space of the training objects."""
        return _training_space(preparation(self._dataset.objects), preparation, train, self._codes)

    def _whole_matrix(self, preparation: Preparation) -> tuple[np.ndarray | None, np.ndarray | None, float]:
        """Matrix over all objects, their numbers by content, and the seconds, where every fold can be cut from it."""
        if preparation.metric == "precomputed":
            return np.asarray(self._dataset.objects), None, 0.0
        # With the split that data come with, the test objects are never compared with each other.
        is_shared = DISSIMILARITIES[preparation.metric].kind in ("series", "strings") and self._folds.n is not None
        if not is_shared or self._dataset.n_objects > LARGEST_MATRIX:
            return None, None, 0.0
        if self._whole is None:
            started = time.process_time()
            objects = preparation(self._dataset.objects)
            space = make_space(objects, preparation.metric, preparation.metric_params)
            self._whole = space.matrix(), space.identical(), time.process_time() - started
        return self._whole


def choose_folds(dataset: Dataset, folds: int | None, holdout: float | None, random_state: int) -> Folds:
    """Return the folds that arguments ask for; by default the split that the data come with, or 5 folds."""
    check_dataset(dataset)
    if holdout is not None:
        if folds is not None:
            raise ValueError(f"folds={folds!r} and holdout={holdout!r} exclude each other; pass one of them")
        if not (is_number(holdout) and 0 < holdout < 1):
            raise ValueError(f"holdout={holdout!r} must be a share between 0 and 1, such as 0.3")
        return Folds(None, random_state, holdout=float(holdout))
    if folds is None and dataset.n_train is not None:
        return Folds(None)
    n = check_count("folds", 5 if folds is None else folds, least=2, remedy="pass the number of folds")
    if n > dataset.n_objects:
        way_out = "pass fewer" if dataset.n_objects > 1 else "pass more objects"
        raise ValueError(f"folds={n} is more than the {dataset.n_objects} objects of {dataset.name!r}; {way_out}")
    return Folds(n, random_state)


def check_fold_seed(random_state: Any) -> int:
    """Return a seed of folds and methods as an int."""
    if is_count(random_state) and 0 <= random_state <= LARGEST_SEED:
        return int(random_state)
    raise ValueError(f"random_state={random_state!r} must be a whole number from 0 to {LARGEST_SEED}")


def splits(dataset: Dataset, folds: Folds) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows for training and for testing of each fold."""
    if folds.n is None and folds.holdout is None:
        if dataset.n_train is None:
            raise ValueError(f"the data {dataset.name!r} come without a split; write folds = 5 in place of 'default'")
        rows = np.arange(dataset.n_objects)
        return [(rows[: dataset.n_train], rows[dataset.n_train :])]
    rows = content_order(dataset) if folds.order == "content" else np.arange(dataset.n_objects)
    return [(rows[train], rows[test]) for train, test in _deal(dataset.labels[rows], folds)]


def _deal(labels: np.ndarray, folds: Folds) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Positions for training and for testing of each fold."""
    rows = np.arange(len(labels))
    classes, codes = np.unique(labels, return_inverse=True)
    if folds.holdout is not None:
        n_test = round(folds.holdout * len(rows))
        # Stratification needs two members of each class, and at least as many objects as classes on both sides.
        stratified = np.bincount(codes).min() > 1 and len(classes) <= min(n_test, len(rows) - n_test)
        splitter = StratifiedShuffleSplit if stratified else ShuffleSplit
        return list(splitter(1, test_size=folds.holdout, random_state=folds.seed).split(rows, labels))
    kind = StratifiedKFold if folds.stratified else KFold
    with warnings.catch_warnings():
        # A class with fewer members than folds is spread over as many folds as it has members.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(kind(folds.n, shuffle=True, random_state=folds.seed).split(rows, codes))


def check_first_fold(dataset: Dataset, distance: Distance, folds: Folds) -> np.ndarray:
    """Refuse wrong arguments before any long work, by preparing the first fold; return its class sizes."""
    train, _ = splits(dataset, folds)[0]
    codes = np.unique(dataset.labels, return_inverse=True)[1].reshape(-1)
    preparation = distance.prepare(dataset, train)
    if preparation.metric != "precomputed":  # a matrix has no arguments
        _training_space(preparation(dataset.objects), preparation, train, codes)
    return np.bincount(codes[train])


def _training_space(objects: Any, preparation: Preparation, train: np.ndarray, codes: np.ndarray) -> Space:
    return make_space(_rows(objects, train), preparation.metric, preparation.metric_params, y=codes[train])


def digest(dataset: Dataset) -> str:
    """Return a digest of the content of a data set."""
    hashed = hashlib.sha256(f"{dataset.kind} {dataset.n_objects} {dataset.n_train}".encode())
    hashed.update("\0".join(str(label) for label in dataset.labels).encode())
    objects = dataset.objects
    for item in [objects] if isinstance(objects, np.ndarray) and objects.dtype.kind != "O" else objects:
        if isinstance(item, np.ndarray) and item.dtype.kind != "O":
            hashed.update(repr((item.shape, item.dtype.str)).encode() + np.ascontiguousarray(item).tobytes())
        else:
            hashed.update(repr(item if isinstance(item, str) else [_plain(value) for value in item]).encode())
    return hashed.hexdigest()[:32]


def _plain(value: Any) -> Any:
    # NaN from NumPy and from Python, 1.0 and numpy.float64(1.0) are the same.
    return value.item() if isinstance(value, np.generic) else value


def _rows(objects: Any, rows: np.ndarray) -> Any:
    return objects[rows] if isinstance(objects, np.ndarray) else [objects[row] for row in rows]
