"""Work in blocks of rows that need a bounded amount of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
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


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit the BLAS of NumPy and SciPy to one thread: results do not depend on threads, and ours do not wait for them.

    The libraries are looked up once: a look-up takes as long as moving prototypes among few objects.
    """
    return _loaded_libraries().limit(limits=1, user_api="blas")


@cache
def _loaded_libraries() -> ThreadpoolController:
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
