"""Small helpers for compressed rows: row ``i`` has the entries ``indptr[i]`` to ``indptr[i + 1]``."""

import numpy as np

from protoset._blocks import row_slices


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


def restrict_rows(
    indptr: np.ndarray, indices: np.ndarray, distances: np.ndarray, rows: np.ndarray, position: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists of ``rows`` with the objects that have a new ``position`` alone (-1: the object is left out)."""
    counts, new_counts = np.diff(indptr)[rows], np.zeros(len(rows), np.int64)
    new_indices, new_distances = [indices[:0]], [distances[:0]]
    for block in row_slices(len(rows), 32 * int(counts.max(initial=0))):
        lengths = counts[block]
        ends = np.cumsum(lengths)
        entries = np.repeat(indptr[rows[block]] - ends + lengths, lengths) + np.arange(ends[-1])
        positions = position[indices[entries]]
        kept = np.flatnonzero(positions >= 0)
        new_counts[block] = np.diff(np.searchsorted(kept, np.append(0, ends)))
        new_indices.append(positions[kept].astype(indices.dtype))
        new_distances.append(distances[entries[kept]])
    return row_pointers(new_counts), np.concatenate(new_indices), np.concatenate(new_distances)


def smallest_at(indices: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """Smallest value of the entries with each index below ``n``, infinity where there is none."""
    smallest = np.full(n, np.inf)
    np.minimum.at(smallest, indices, values)
    return smallest
