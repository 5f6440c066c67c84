"""A file of dissimilarities that were computed before.

    function, its arguments          -> the name of a file
    content of two objects           -> a key of 16 bytes in it

A file is an SQLite database in WAL mode, written in whole batches: a process may be killed at any moment, and several
processes may use a file at once.
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
import re
import sqlite3
import sys
import time
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import joblib
import numpy as np

PAIR_FILE_LAYOUT = 1
"""Version of the layout; part of the name of a file."""

BUSY_SECONDS = 60.0
"""Time to wait for another process that writes to the same file."""

KEYS_PER_QUERY = 500
"""Keys in a query of the database."""

HASHED_SCALARS = (bool, bytes, float, int, str, type(None))


class PairFile:
    """Values of a function by key, in a file of a folder. If ``symmetric``, a pair stands for both its orders."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        symmetric: bool,
    ):
        self.symmetric = symmetric
        name = re.sub(r"\W+", "-", getattr(function, "__qualname__", type(function).__qualname__)).strip("-")
        key = function_digest(function, arguments, symmetric)
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(os.fspath(folder), f"{name[:60]}-{key}.sqlite3")

    def read(self, keys: list[bytes]) -> dict[bytes, float]:
        """Values of those keys that are in the file."""
        values: dict[bytes, float] = {}
        with self._connection() as connection:
            for start in range(0, len(keys), KEYS_PER_QUERY):
                batch = keys[start : start + KEYS_PER_QUERY]
                marks = ",".join("?" * len(batch))
                values.update(connection.execute(f"SELECT pair, value FROM pairs WHERE pair IN ({marks})", batch))
        if not all(type(value) is float and 0 <= value < math.inf for value in values.values()):
            raise self._damaged("it holds other values than dissimilarities")
        return values

    def write(self, keys: list[bytes], values: np.ndarray) -> None:
        """Store the values of keys, all of them or none."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            pairs = zip(keys, values.tolist(), strict=True)
            connection.executemany("INSERT OR IGNORE INTO pairs VALUES (?, ?)", pairs)
            connection.execute("COMMIT")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        # Opened for each use: connections survive neither threads nor forks.
        try:
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            try:
                _prepare(connection)
                yield connection
            finally:
                connection.close()
        except sqlite3.OperationalError as error:
            raise OSError(
                f"metric_params: memory: {self.path!r} cannot be used ({error}); "
                "make sure that its folder can be written to and has space left, or pass another folder"
            ) from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, why: str) -> ValueError:
        return ValueError(
            f"metric_params: memory: {self.path!r} is damaged ({why}); delete it, "
            "with the files beside it that end in -wal and -shm; its values are then computed again"
        )


def _prepare(connection: sqlite3.Connection) -> None:
    # If two processes create the file at the same moment, one fails at once, without the timeout of other statements.
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS pairs (pair BLOB PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID"
            )
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.02)


class DiskMemory:
    """Dissimilarities between row and column objects that are in a file."""

    def __init__(self, file: PairFile, rows: list[Any], columns: list[Any]):
        self.file = file
        self._rows, self._columns = rows, columns

    @functools.cached_property
    def _row_digests(self) -> list[bytes]:
        return [_object_digest(index, obj) for index, obj in enumerate(self._rows)]

    @functools.cached_property
    def _column_digests(self) -> list[bytes]:
        if self._columns is self._rows:
            return self._row_digests
        return [_object_digest(index, obj) for index, obj in enumerate(self._columns)]

    def lookup(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Values of pairs, NaN where unknown."""
        keys = self._keys(left, right)
        known = self.file.read(keys) if keys else {}
        return np.array([known.get(key, math.nan) for key in keys], np.float64)

    def store(self, left: np.ndarray, right: np.ndarray, values: np.ndarray) -> None:
        """Store the values of pairs."""
        if len(values):
            self.file.write(self._keys(left, right), values)

    def _keys(self, left: np.ndarray, right: np.ndarray) -> list[bytes]:
        pairs = (
            (self._row_digests[i], self._column_digests[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True)
        )
        if self.file.symmetric:
            pairs = ((min(pair), max(pair)) for pair in pairs)
        return [hashlib.blake2b(a + b, digest_size=16).digest() for a, b in pairs]


def _object_digest(index: int, obj: Any) -> bytes:
    try:
        return bytes.fromhex(joblib.hash(canonical(obj)))
    # Objects that cannot be pickled raise almost anything.
    except Exception as error:
        raise TypeError(
            f"metric_params: memory recognises objects by their content, but object {index} of the type "
            f"{type(obj).__name__} cannot be hashed ({error}); pass objects that can be pickled, or leave memory out"
        ) from error


def canonical(obj: Any) -> Any:
    """Return plain containers in a form that depends on their content alone, other objects unchanged.

    The order of a set differs between processes, and a list with one object twice is pickled differently from a list
    with two equal objects.
    """
    kind = type(obj)
    if kind in HASHED_SCALARS:
        return obj
    if kind in (list, tuple):
        return kind.__name__, [canonical(part) for part in obj]
    if kind in (set, frozenset):
        return kind.__name__, sorted((canonical(part) for part in obj), key=_sort_key)
    if kind is dict:
        items = [(canonical(key), canonical(value)) for key, value in obj.items()]
        return "dict", sorted(items, key=lambda item: _sort_key(item[0]))
    if kind is np.ndarray and not obj.dtype.hasobject:
        return obj.copy(order="C")
    return obj


def _sort_key(part: Any) -> tuple[str, str]:
    if type(part) in HASHED_SCALARS:
        return type(part).__name__, repr(part)
    return "", joblib.hash(part)


def function_digest(function: Callable[..., Any], arguments: Mapping[str, Any], symmetric: bool) -> str:
    """Digest of a function with its arguments: names, bytecode, defaults, closure.

    Functions that it calls and global variables that it reads are not part of the digest.
    """
    try:
        described = _describe(function, ()), {name: _describe(value, ()) for name, value in arguments.items()}
        return joblib.hash(canonical((PAIR_FILE_LAYOUT, sys.implementation.cache_tag, symmetric, *described)))
    except Exception as error:
        raise TypeError(
            f"metric_params: memory recognises a function by its code, arguments and closure, but {function!r} "
            f"holds something that cannot be hashed ({error}); pass a plain function, or leave memory out"
        ) from error


def _describe(obj: Any, inside: tuple[int, ...]) -> Any:
    """Describe functions by their code, other objects by themselves; ``inside`` are ids of the enclosing objects."""
    if id(obj) in inside:
        return "again", inside.index(id(obj))
    inside = (*inside, id(obj))
    if isinstance(obj, types.FunctionType):
        cells = [_cell_contents(cell) for cell in obj.__closure__ or ()]
        parts = (*(obj.__defaults__ or ()), *(obj.__kwdefaults__ or {}).items(), *cells)
        names = obj.__module__, obj.__qualname__
        return "function", *names, _describe_code(obj.__code__), [_describe(part, inside) for part in parts]
    if isinstance(obj, functools.partial):
        return "partial", [_describe(part, inside) for part in (obj.func, *obj.args, *obj.keywords.items())]
    if isinstance(obj, types.MethodType):
        return "method", _describe(obj.__func__, inside), obj.__self__
    if isinstance(obj, types.ModuleType):
        return "module", obj.__name__
    if isinstance(obj, tuple):
        return tuple(_describe(part, inside) for part in obj)
    return _describe_instance(obj, inside) if callable(obj) else obj


def _describe_instance(obj: Any, inside: tuple[int, ...]) -> Any:
    # Functions that Numba compiled or a cache wraps, then objects of a class with a __call__ of its own.
    inner = getattr(obj, "py_func", getattr(obj, "__wrapped__", None))
    if inner is not None:
        return "wrapped", _describe(inner, inside)
    method = type(obj).__call__
    if isinstance(method, types.FunctionType):
        return "instance", _describe(method, inside), obj
    return obj


def _cell_contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "empty cell"


def _describe_code(code: types.CodeType) -> Any:
    constants = [_describe_code(part) if isinstance(part, types.CodeType) else part for part in code.co_consts]
    names = [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
    counts = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
    return code.co_code, code.co_exceptiontable, names, counts, constants
