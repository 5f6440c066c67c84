"""Small helpers for compressed rows: row ``i`` has the entries ``indptr[i]`` to ``indptr[i + 1]``."""

import numpy as np


def row_pointers(counts: np.ndarray) -> np.ndarray:
    """Start of each row, and end of the last row, from the lengths of the rows."""
    return np.concatenate([[0], np.cumsum(counts)])


def row_numbers(indptr: np.ndarray) -> np.ndarray:
    """Row of each entry."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))


def row_sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sum the entries of each row. Differences of cumulative sums would lose digits."""
    sums = np.add.reduceat(np.append(values, 0.0), indptr[:-1])
    sums[np.diff(indptr) == 0] = 0.0
    return sums
