"""Computing cells: from a fold and a method to a result, or to a failure with its message."""

from __future__ import annotations

import json
import platform
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
import scipy
import sklearn

from protoset._version import __version__
from protoset.datasets import Dataset
from protoset.evaluation import balanced_accuracy, error_rate, macro_f1
from protoset.exceptions import ReferenceFailedError, SearchInterruptedWarning
from protoset.experiments.folds import DatasetFolds, Fold, digest
from protoset.experiments.plan import Cell, Distance, Folds, PlannedMethod, Source, as_json
from protoset.experiments.selection import FoldSelector, Selection

State = Literal["done", "failed"]


@dataclass(frozen=True)
class CellResult:
    """Result or failure of a cell; one row of a journal.

    Attributes
    ----------
    id, data, distance, fold, seed, method
        As in :class:`Cell`.
    state : {"done", "failed"}
        Whether the cell has a result. All measures of a failed cell are None.
    error, macro_f1, balanced_accuracy : float or None
        Measures of the predictions for the test objects.
    selection_rate : float or None
        Number of prototypes divided by the number of training objects.
    n_prototypes, n_train, n_test : int or None
    cpu_seconds, wall_seconds : float or None
        Time of the selection, without the time of dissimilarities that a shared matrix has. If several sizes come from
        one fit, the time of each includes the fit.
    distance_seconds : float or None
        CPU time of the dissimilarities that all methods of the fold share.
    n_distances : int or None
        Number of dissimilarities that the method used.
    counters, parameters, versions : str
        As JSON: other counts of the method, all its parameters, versions of libraries.
    warnings : str
        JSON list of the warnings of the method.
    kept : bytes or None
        The prototypes, compressed; see ``kept_indices``.
    data_digest : str or None
        Digest of the data set.
    failure_type, failure_message, failure_traceback : str or None
    finished : str
        Time in UTC.
    predictions : ndarray of int or None
        Predicted classes of the test objects; not written to journals.
    """

    id: str
    data: str
    distance: str
    fold: int
    seed: int | None
    method: str
    state: State
    error: float | None = None
    selection_rate: float | None = None
    n_prototypes: int | None = None
    macro_f1: float | None = None
    balanced_accuracy: float | None = None
    n_train: int | None = None
    n_test: int | None = None
    cpu_seconds: float | None = None
    wall_seconds: float | None = None
    distance_seconds: float | None = None
    n_distances: int | None = None
    counters: str = "{}"
    parameters: str = "{}"
    versions: str = "{}"
    warnings: str = "[]"
    kept: bytes | None = field(default=None, repr=False)
    data_digest: str | None = None
    failure_type: str | None = None
    failure_message: str | None = None
    failure_traceback: str | None = field(default=None, repr=False)
    finished: str = ""
    predictions: np.ndarray | None = field(default=None, repr=False, compare=False)

    @property
    def kept_indices(self) -> np.ndarray | None:
        """Rows of the data set that were kept, ascending; None for a failed cell."""
        if self.kept is None:
            return None
        return np.cumsum(np.frombuffer(zlib.decompress(self.kept), "<u4").astype(np.int64))


@dataclass(frozen=True, eq=False)
class Group:
    """Cells of one data set and distance, computed one after the other so that they share dissimilarities.

    Cells come fold by fold; a cell that takes its size from another cell comes after it. ``sizes`` has the numbers of
    prototypes of cells that were computed before, by identifier; None where a cell failed.
    """

    source: Source
    distance: Distance
    folds: Folds
    cells: tuple[tuple[Cell, PlannedMethod], ...]
    sizes: Mapping[str, int | None]


class CellComputer:
    """Computes groups of cells; keeps the data and the dissimilarities of the last group for the next."""

    def __init__(self, load: Callable[[Source], Dataset]):
        self._load = load
        self._data: tuple[Source, Dataset, str] | None = None
        self._folds: tuple[Any, DatasetFolds] | None = None

    def compute(self, group: Group) -> Iterator[CellResult]:
        """Compute a group cell by cell."""
        sizes, number = dict(group.sizes), -1
        for cell, method in group.cells:
            if cell.fold != number:
                number, selector = cell.fold, self._fold_selector(group, cell.fold)
            result = self._compute(cell, method, selector, sizes)
            sizes[cell.id] = result.n_prototypes
            yield result

    def _fold_selector(self, group: Group, number: int) -> FoldSelector | Exception:
        try:
            if self._data is None or self._data[0] != group.source:
                self._data = self._folds = None  # free the memory before the next data set is loaded
                dataset = self._load(group.source)
                self._data = group.source, dataset, digest(dataset)
            key = (group.source, group.distance, group.folds)
            if self._folds is None or self._folds[0] != key:
                self._folds = key, DatasetFolds(self._data[1], group.distance, group.folds)
            return FoldSelector(self._folds[1].fold(number))
        except Exception as error:  # an error of the data is the failure of every cell of the fold
            return error

    def _compute(
        self, cell: Cell, method: PlannedMethod, selector: FoldSelector | Exception, sizes: Mapping[str, int | None]
    ) -> CellResult:
        if isinstance(selector, Exception):
            return failed(cell, selector)
        try:
            size: int | float | None = method.rate_on(cell.data)
            if cell.reference is not None:
                size = sizes.get(cell.reference)
                if size is None:
                    raise ReferenceFailedError(f"cannot use the size of {method.at}: {method.at} failed on this fold")
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                # A method without seeds may be repeated with the seeds of the method whose size it takes.
                selection = selector.select(method.spec, None if method.seeds is None else cell.seed, size)
                predictions = selection.predict(selector.fold, method.rule)
            if any(issubclass(warning.category, SearchInterruptedWarning) for warning in caught):
                raise KeyboardInterrupt  # the best set so far is no result of the method
            texts = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
            assert self._data is not None
            return _done(cell, selector.fold, self._data[2], selection, predictions, texts)
        except Exception as error:
            return failed(cell, error)


def failed(cell: Cell, error: Exception) -> CellResult:
    """Record a failure."""
    return CellResult(
        **_names(cell),
        state="failed",
        versions=versions(),
        failure_type=type(error).__name__,
        failure_message=str(error) or type(error).__name__,
        failure_traceback="".join(traceback.format_exception(error)),
        finished=_now(),
    )


def _done(
    cell: Cell, fold: Fold, data_digest: str, selection: Selection, predictions: np.ndarray, texts: list[str]
) -> CellResult:
    """Record a selection and the measures of its predictions."""
    kept = selection.kept
    return CellResult(
        **_names(cell),
        state="done",
        error=error_rate(fold.truth, predictions),
        selection_rate=len(kept) / len(fold.train),
        n_prototypes=len(kept),
        macro_f1=macro_f1(fold.truth, predictions),
        balanced_accuracy=balanced_accuracy(fold.truth, predictions),
        n_train=len(fold.train),
        n_test=len(fold.test),
        cpu_seconds=selection.cpu_seconds,
        wall_seconds=selection.wall_seconds,
        distance_seconds=fold.seconds,
        n_distances=selection.n_distances,
        counters=json.dumps(selection.counters, sort_keys=True),
        parameters=as_json(selection.parameters),
        versions=versions(),
        warnings=json.dumps(texts),
        kept=zlib.compress(np.diff(np.sort(fold.train[kept]), prepend=0).astype("<u4").tobytes()),
        data_digest=data_digest,
        finished=_now(),
        predictions=predictions,
    )


@cache
def versions() -> str:
    """Versions of everything that results may depend on, as JSON."""
    numbers = {
        "protoset": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": version("numba"),
        "python": platform.python_version(),
    }
    return json.dumps(numbers)


def _names(cell: Cell) -> dict[str, Any]:
    return {name: getattr(cell, name) for name in ("id", "data", "distance", "fold", "seed", "method")}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
