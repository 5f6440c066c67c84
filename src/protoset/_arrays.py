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


def rank_rows(indptr: np.ndarray, values: np.ndarray, ties: int) -> np.ndarray:
    """Ranks from 1 within each sorted row; ``ties`` says how equal values rank: 0 min, 1 average, 2 ordinal."""
    entries, starts = np.arange(len(values)), np.repeat(indptr[:-1], np.diff(indptr))
    if ties == 2:
        return entries - starts + 1.0
    opens = np.append(True, values[1:] != values[:-1])[: len(values)] | (entries == starts)
    firsts = np.flatnonzero(opens)
    lengths = np.diff(np.append(firsts, len(values)))
    first = np.repeat(firsts, lengths)
    if ties == 0:
        return first - starts + 1.0
    return 0.5 * (2 * first + np.repeat(lengths, lengths) - 1 - 2 * starts) + 1


def smallest_at(indices: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """Smallest value of the entries with each index below ``n``, infinity where there is none."""
    smallest = np.full(n, np.inf)
    np.minimum.at(smallest, indices, values)
    return smallest
