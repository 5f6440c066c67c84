"""Any objects under any function d(a, b).

The function is called on one pair at a time, in ``n_jobs`` workers. The dissimilarities of a training set are kept in
memory while it is in use, and in files if the user gives a folder.
"""

from __future__ import annotations

import copy
import inspect
import os
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse

from protoset._progress import ProgressCallback
from protoset._validation import refuse_ambiguous
from protoset.spaces._lists import RawLists
from protoset.spaces._pair_evaluation import PairEvaluator
from protoset.spaces._plain_objects import Encoder, decode
from protoset.spaces.base import Choice, Dissimilarity, Rows, Space

KNOWN_BYTES = 256 * 2**20
"""Largest memory of the matrix of dissimilarities of a training set."""

STEP_PAIRS = 2**20
"""Pairs whose indices are listed at a time."""


class CallableSpace(Space):
    """Dissimilarities ``function(object, prototype, **arguments)`` between any objects: finite, at least 0.

    In the space of a training set, the dissimilarity of an object to itself is 0 by definition. ``memory`` is a folder
    of files that keep the computed values.
    """

    is_thread_safe = False
    """A function of the user need not be ready for threads."""

    def __init__(
        self,
        function: Callable[..., Any],
        rows: list[Any],
        columns: list[Any],
        arguments: Mapping[str, Any],
        *,
        symmetric: bool = False,
        memory: str | os.PathLike[str] | None = None,
    ):
        super().__init__("callable", rows, columns)
        self._function, self._arguments = function, dict(arguments)
        self.symmetric, self._memory = symmetric, memory
        self._evaluator = PairEvaluator(function, arguments)
        self._report: Callable[[int], None] | None = None
        # Shared with the copies of the space that searches use.
        self._memories: dict[str, Any] = {}

    @classmethod
    def from_objects(cls, X: Any, metric: Any, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of a sequence of objects; ``metric`` is the function."""
        if not callable(metric):
            raise ValueError(f"metric={metric!r} is not a function; pass the function itself, metric=function")
        arguments = dict(parameters)
        symmetric, memory = arguments.pop("symmetric", False), arguments.pop("memory", None)
        if not isinstance(symmetric, (bool, np.bool_)):
            raise TypeError(f"metric_params: symmetric={symmetric!r} must be True or False")
        _check_memory(memory)
        _check_arguments(metric, arguments)
        objects = _check_objects(X)
        return cls(metric, objects, objects, arguments, symmetric=bool(symmetric), memory=memory)

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Call the function on each pair; in a training set never on an object and itself."""
        return self._block(np.arange(len(self._rows))[rows], np.arange(len(self._columns))[columns])

    def upper_block(self, rows: slice) -> np.ndarray:
        """Call the function on the pairs of consecutive rows with later objects; other entries are 0."""
        indices = np.arange(len(self._rows))
        return self._block(indices[rows], indices[rows.start :], upper=True)

    def _block(self, rows: np.ndarray, columns: np.ndarray, upper: bool = False) -> np.ndarray:
        block = np.zeros((len(rows), len(columns)))
        step = max(1, STEP_PAIRS // max(1, len(columns)))
        for start in range(0, len(rows), step):
            some_rows = rows[start : start + step]
            wanted = self._wanted(some_rows[:, None], columns, upper)
            i, j = np.nonzero(wanted)
            block[start : start + step][wanted] = self._values(some_rows[i], columns[j])
        return block

    def _wanted(self, rows: np.ndarray, columns: np.ndarray, upper: bool) -> np.ndarray:
        if upper:
            return rows < columns
        return rows != columns if self._is_training else np.ones((len(rows), len(columns)), bool)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Dissimilarities of pairs; each distinct pair is computed once."""
        if not (self.symmetric and self._is_training):
            return self._distinct_values(left, right)
        codes, where = np.unique(
            np.minimum(left, right) * len(self._rows) + np.maximum(left, right), return_inverse=True
        )
        return self._distinct_values(codes // len(self._rows), codes % len(self._rows))[where]

    def _distinct_values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        known, disk = self._known(), self._disk()
        values = np.full(len(left), np.nan) if known is None else known[left, right]
        if disk is not None:
            unknown = np.flatnonzero(np.isnan(values))
            values[unknown] = disk.lookup(left[unknown], right[unknown])
        unknown = np.flatnonzero(np.isnan(values))
        self._report_pairs(len(values) - len(unknown))
        pairs = left[unknown], right[unknown]
        naming = ("objects", "") if self._is_training else ("query", "prototype ")
        for block, computed in self._evaluator.evaluate(self._rows, self._columns, *pairs, naming):
            values[unknown[block]] = computed
            if disk is not None:
                disk.store(pairs[0][block], pairs[1][block], computed)
            self._report_pairs(len(computed))
        if known is not None:
            known[left, right] = values
            if self.symmetric:
                known[right, left] = values
        return values

    def _report_pairs(self, n_pairs: int) -> None:
        if self._report is not None:
            self._report(n_pairs)

    def _known(self) -> np.ndarray | None:
        """Matrix of the dissimilarities that were computed before, NaN elsewhere; None where it would be too large."""
        if not self._is_training or 8 * len(self._rows) ** 2 > KNOWN_BYTES:
            return None
        if "known" not in self._memories:
            self._memories["known"] = np.full((len(self._rows), len(self._rows)), np.nan)
        return self._memories["known"]

    def _disk(self) -> Any:
        if self._memory is None:
            return None
        if "disk" not in self._memories:
            # Imported here: not every Python has SQLite.
            from protoset.spaces._pair_memory import DiskMemory, PairFile

            file = PairFile(self._memory, self._function, self._arguments, self.symmetric)
            self._memories["disk"] = DiskMemory(file, self._rows, self._columns)
        return self._memories["disk"]

    def cross(self, queries: Any) -> Self:
        """Space from new objects to the columns of this space."""
        return self._like(_check_objects(queries), self._columns)

    @property
    def objects(self) -> list[Any]:
        """The objects as they were given."""
        return list(self._columns)

    def prototypes(self, indices: np.ndarray) -> Self:
        """Space without rows, whose columns are the given objects."""
        # A row of an array is a view that would keep the whole array alive.
        kept = (self._columns[index] for index in np.asarray(indices).tolist())
        return self._like([], [obj.copy() if isinstance(obj, np.ndarray) else obj for obj in kept])

    def _like(self, rows: list[Any], columns: list[Any]) -> Self:
        options: dict[str, Any] = {"symmetric": self.symmetric, "memory": self._memory}
        return type(self)(self._function, rows, columns, self._arguments, **options)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the column objects, and the name and the arguments of the function; the function is not stored."""
        encoder = Encoder()
        values = {
            "function": name_of(self._function),
            "symmetric": self.symmetric,
            "arguments": _encode(encoder, self._arguments, "metric_params"),
            "objects": [_encode(encoder, obj, f"prototype {index}") for index, obj in enumerate(self._columns)],
        }
        return values, encoder.arrays()

    @classmethod
    def from_state(cls, metric: Any, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, whose columns are the stored objects; ``metric`` is the function."""
        arguments, objects = decode(values["arguments"], arrays), decode(values["objects"], arrays)
        if not isinstance(arguments, dict) or not all(isinstance(name, str) for name in arguments):
            raise ValueError("the arguments of its function have no names")
        if not isinstance(objects, list) or not objects:
            raise ValueError("it holds no objects")
        if not callable(metric) or type(values["symmetric"]) is not bool:
            raise ValueError("its function is missing, or not known to be symmetric or not")
        return cls(metric, [], objects, arguments, symmetric=values["symmetric"])

    def write_matrix(self, matrix: np.ndarray, *, n_jobs: int | None = None) -> None:
        """Write the dissimilarities of all rows to all columns; where they are symmetric, compute each pair once."""
        super(CallableSpace, self._at_work(n_jobs)).write_matrix(matrix, n_jobs=1)

    def nearest(
        self,
        rows: Rows = slice(None),
        columns: Rows = slice(None),
        *,
        choose: Choice | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row."""
        return super(CallableSpace, self._at_work(n_jobs)).nearest(rows, columns, choose=choose, n_jobs=1)

    def _kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Find neighbours; every pair is computed once, for both objects if the function is symmetric."""
        n = len(self._rows)
        at_work = self._at_work(n_jobs, progress, n * (n - 1) // 2 if self.symmetric else n * (n - 1))
        return super(CallableSpace, at_work)._kneighbors(n_neighbors, limit=limit, n_jobs=1)

    def _at_work(self, n_jobs: int | None, progress: ProgressCallback | None = None, n_pairs: int = 0) -> Self:
        """Copy of the space that computes one block at a time, each by all workers."""
        space = copy.copy(self)
        space._evaluator = PairEvaluator(self._function, self._arguments, n_jobs)
        done = 0

        def report(n_more: int) -> None:
            nonlocal done
            done += n_more
            if progress is not None and n_more:
                progress(done, n_pairs)

        space._report = report
        return space


def _encode(encoder: Encoder, obj: Any, name: str) -> Any:
    try:
        return encoder.encode(obj)
    except RecursionError as error:
        raise TypeError(f"{name} holds itself, or is too deep, and cannot be written without pickle") from error
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from error


def name_of(function: Callable[..., Any]) -> str:
    """Return the module and name of a function, for people to read."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def _check_objects(X: Any) -> list[Any]:
    refuse_ambiguous(X)
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        raise TypeError(
            "X is a DataFrame, and a function as metric compares single objects; "
            "pass X.to_numpy() to compare its rows, or a list of objects"
        )
    if sparse.issparse(X):
        raise TypeError("X is a sparse matrix, and a function as metric compares single objects; pass list(X.tocsr())")
    # A set or dict has no order for the labels, and the characters of a string are hardly meant.
    is_sequence = hasattr(X, "__len__") and hasattr(X, "__getitem__") and getattr(X, "ndim", 1) > 0
    if isinstance(X, (str, bytes, Mapping)) or not is_sequence:
        raise TypeError(f"X={reprlib.repr(X)} is not a sequence of objects; pass a list")
    objects = list(X)
    if not objects:
        raise ValueError("Found 0 sample(s) in X while a minimum of 1 is required; pass at least one object.")
    return objects


def _check_memory(memory: Any) -> None:
    if memory is None:
        return
    if not isinstance(memory, (str, os.PathLike)):
        raise TypeError(f"metric_params: memory={memory!r} must be the path of a folder, or None")
    if os.path.lexists(memory) and not os.path.isdir(memory):
        raise NotADirectoryError(
            f"metric_params: memory={os.fspath(memory)!r} exists and is not a folder; pass another path"
        )


def _check_arguments(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None, None, **arguments)
    except TypeError as error:
        raise ValueError(
            f"metric_params={arguments!r}: {name_of(function)} cannot be called with two objects and these arguments "
            f"({error}); 'symmetric' and 'memory' are for the search, all others are passed on to the function"
        ) from error


METRICS = (Dissimilarity("callable", CallableSpace, "objects", ("symmetric", "memory"), symmetric=False, ragged=True),)
