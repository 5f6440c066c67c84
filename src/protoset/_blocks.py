"""Work in blocks of rows that need a bounded amount of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from joblib import Parallel, delayed

BLOCK_BYTES = 64 * 2**20
"""Memory of a block of dissimilarities; each worker holds one block."""

T = TypeVar("T")


def row_slices(n_rows: int, row_bytes: int) -> Iterator[slice]:
    """Cut rows into consecutive slices of at most ``BLOCK_BYTES`` (one row if a row is larger)."""
    step = max(1, BLOCK_BYTES // max(1, row_bytes))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def map_blocks(function: Callable[[slice], T], n_rows: int, row_length: int, n_jobs: int | None = None) -> list[T]:
    """Apply a function to consecutive slices of rows, in threads; to an empty slice if there are no rows."""
    blocks = list(row_slices(n_rows, row_length * 8)) or [slice(0, 0)]
    return Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(function)(block) for block in blocks)
