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
from protoset.exceptions import ReferenceFailedError, SearchInterruptedWarning
from protoset.experiments.distances import DataDistances, FoldDistances, digest
from protoset.experiments.plan import Cell, Distance, Folds, Method, Source
from protoset.experiments.scores import score
from protoset.experiments.selection import FoldMethods, Selection

State = Literal["done", "failed"]


@dataclass(frozen=True)
class CellResult:
    """What became of a cell; one row of a journal.

    Attributes
    ----------
    id, data, distance, fold, seed, method
        Those of the cell.
    state : {"done", "failed"}
        All measures of a failed cell are None.
    error, macro_f1, balanced_accuracy : float or None
        Of the nearest prototype's class, on the test objects.
    selection_rate : float or None
        Prototypes by training objects.
    n_prototypes, n_train, n_test : int or None
    cpu_seconds, wall_seconds : float or None
        Of the selection, without the dissimilarities where there is a matrix of them. Where several sizes come from
        one fit, each counts it.
    distance_seconds : float or None
        CPU time of the dissimilarities that all methods of the fold share.
    n_distances : int or None
        Dissimilarities that the method asked for.
    counters, parameters, versions : str
        JSON: what else the method counted, all its parameters, versions of libraries.
    warnings : str
        JSON list of the warnings that the method gave.
    kept : bytes or None
        The prototypes; see ``kept_indices``.
    data_digest : str or None
        Says which content of the data was used.
    failure_type, failure_message, failure_traceback : str or None
    finished : str
        Time in UTC.
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

    @property
    def kept_indices(self) -> np.ndarray | None:
        """Rows of the data set that were kept, ascending; None for a failed cell."""
        if self.kept is None:
            return None
        return np.cumsum(np.frombuffer(zlib.decompress(self.kept), "<u4").astype(np.int64))


@dataclass(frozen=True, eq=False)
class Group:
    """Cells of one data set and distance, computed one after the other so that they share dissimilarities.

    Attributes
    ----------
    source, distance, folds
        Of all cells.
    cells : tuple of (Cell, Method)
        Fold by fold; those that take another one's size after it.
    sizes : dict
        Numbers of prototypes of cells that were computed before, by identifier; None where one failed.
    """

    source: Source
    distance: Distance
    folds: Folds
    cells: tuple[tuple[Cell, Method], ...]
    sizes: Mapping[str, int | None]


class Workshop:
    """Computes groups; keeps the data and dissimilarities at hand for the next one.

    Parameters
    ----------
    load : callable
        Takes a source and returns its data set.
    """

    def __init__(self, load: Callable[[Source], Dataset]):
        self._load = load
        self._data: tuple[Source, Dataset, str] | None = None
        self._distances: tuple[Any, DataDistances] | None = None

    def work(self, group: Group) -> Iterator[CellResult]:
        """Compute a group cell by cell."""
        sizes, number = dict(group.sizes), -1
        for cell, method in group.cells:
            if cell.fold != number:
                number, methods = cell.fold, self._prepare(group, cell.fold)
            result = self._compute(cell, method, methods, sizes)
            sizes[cell.id] = result.n_prototypes
            yield result

    def _prepare(self, group: Group, number: int) -> FoldMethods | Exception:
        try:
            if self._data is None or self._data[0] != group.source:
                self._data = self._distances = None  # before the next one is in memory
                dataset = self._load(group.source)
                self._data = group.source, dataset, digest(dataset)
            key = (group.source, group.distance, group.folds)
            if self._distances is None or self._distances[0] != key:
                self._distances = key, DataDistances(self._data[1], group.distance, group.folds)
            return FoldMethods(self._distances[1].fold(number))
        except Exception as error:  # whatever is wrong with the data is what became of the cells
            return error

    def _compute(
        self, cell: Cell, method: Method, methods: FoldMethods | Exception, sizes: Mapping[str, int | None]
    ) -> CellResult:
        if isinstance(methods, Exception):
            return failed(cell, methods)
        try:
            size = method.rate_on(cell.data)
            if cell.reference is not None:
                size = sizes.get(cell.reference)
                if size is None:
                    raise ReferenceFailedError(f"{method.at} failed, at whose size this was to be")
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                selection = methods.select(method, cell.seed, size)
            if any(issubclass(one.category, SearchInterruptedWarning) for one in told):
                raise KeyboardInterrupt  # the best set so far is no result of the method
            said = [f"{one.category.__name__}: {one.message}" for one in told]
            assert self._data is not None
            return _done(cell, methods.fold, self._data[2], selection, said)
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


def _done(cell: Cell, fold: FoldDistances, data_digest: str, selection: Selection, told: list[str]) -> CellResult:
    """Record what a method chose, and what its choice is worth."""
    kept = selection.kept
    scores = score(fold.truth, fold.predict(kept))
    return CellResult(
        **_names(cell),
        state="done",
        error=scores.error,
        selection_rate=len(kept) / len(fold.train),
        n_prototypes=len(kept),
        macro_f1=scores.macro_f1,
        balanced_accuracy=scores.balanced_accuracy,
        n_train=len(fold.train),
        n_test=len(fold.test),
        cpu_seconds=selection.cpu_seconds,
        wall_seconds=selection.wall_seconds,
        distance_seconds=fold.seconds,
        n_distances=selection.n_distances,
        counters=json.dumps(selection.counters, sort_keys=True),
        parameters=json.dumps(selection.parameters, sort_keys=True),
        versions=versions(),
        warnings=json.dumps(told),
        kept=zlib.compress(np.diff(fold.train[kept], prepend=0).astype("<u4").tobytes()),
        data_digest=data_digest,
        finished=_now(),
    )


@cache
def versions() -> str:
    """Versions of what results may depend on, as JSON."""
    found = {
        "protoset": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": version("numba"),
        "python": platform.python_version(),
    }
    return json.dumps(found)


def _names(cell: Cell) -> dict[str, Any]:
    return {name: getattr(cell, name) for name in ("id", "data", "distance", "fold", "seed", "method")}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
