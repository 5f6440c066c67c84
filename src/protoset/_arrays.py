"""Small helpers for compressed rows: row ``i`` has the entries ``indptr[i]`` to ``indptr[i + 1]``."""

import numpy as np


def row_pointers(counts: np.ndarray) -> np.ndarray:
    """Where each row starts, and where the last one ends, from the rows' lengths."""
    return np.concatenate([[0], np.cumsum(counts)])


def row_numbers(indptr: np.ndarray) -> np.ndarray:
    """Row of each entry."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))


def row_sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sum the entries of each row; not as differences of running sums, which would cancel."""
    sums = np.add.reduceat(np.append(values, 0.0), indptr[:-1])
    sums[np.diff(indptr) == 0] = 0.0
    return sums
