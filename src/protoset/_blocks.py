"""Work in blocks of rows that need a bounded amount of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController

BLOCK_BYTES = 64 * 2**20
"""Memory of a block of dissimilarities; each worker holds one block."""

THREADS_PER_PROCESSOR = 4
"""Largest number of threads per processor; more threads do not make a computation faster."""

T = TypeVar("T")


def in_threads(n_jobs: int | None, **options: Any) -> Parallel:
    """Return ``n_jobs`` workers of joblib that are threads, at most ``THREADS_PER_PROCESSOR`` for each processor."""
    if n_jobs is not None and n_jobs > 0:
        n_jobs = min(n_jobs, THREADS_PER_PROCESSOR * cpu_count())
    return Parallel(n_jobs=n_jobs, require="sharedmem", **options)


def n_processors(n_jobs: int | None) -> int:
    """Return how many processors ``n_jobs`` asks for, and at most as many as there are.

    This is the number of threads for libraries that do not work well with more threads than processors.
    """
    return min(effective_n_jobs(n_jobs), cpu_count())


class _OneBlasThread:
    """Limits BLAS while any thread is inside: the first one to enter sets the limit, the last one to leave lifts it."""

    def __init__(self) -> None:
        self._lock, self._n_inside = Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limit = _loaded_libraries().limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._n_inside += 1

    def __exit__(self, *raised: Any) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limit.__exit__(*raised)


_INSIDE = _OneBlasThread()
"""The limit of this process, as its libraries have one number of threads for all callers."""


def one_blas_thread() -> AbstractContextManager[None]:
    """Let BLAS use one thread: results then do not depend on their number, and workers do not compete with them.

    A function that starts threads enters before they do: threadpoolctl lets only the thread that set a limit lift it.
    """
    return _INSIDE


@cache
def _loaded_libraries() -> ThreadpoolController:
    """Return the libraries, looked up once: a look-up takes as long as moving prototypes among few objects."""
    return ThreadpoolController()


def row_slices(n_rows: int, row_bytes: int) -> Iterator[slice]:
    """Cut rows into consecutive slices of at most ``BLOCK_BYTES`` (one row if a row is larger)."""
    step = max(1, BLOCK_BYTES // max(1, row_bytes))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def map_blocks(function: Callable[[slice], T], n_rows: int, row_length: int, n_jobs: int | None = None) -> list[T]:
    """Apply a function to consecutive slices of rows, in threads; to an empty slice if there are no rows."""
    blocks = list(row_slices(n_rows, row_length * 8)) or [slice(0, 0)]
    if len(blocks) == 1:
        return [function(blocks[0])]
    return in_threads(n_jobs)(delayed(function)(block) for block in blocks)
