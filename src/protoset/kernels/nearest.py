"""Kernels that keep the nearest neighbours of each object while pairs come in any order.

Each object has a row of candidates in no order. When the row reaches a given length, all candidates beyond the last
neighbour are dropped. The distance of the last neighbour is then the threshold for further candidates.

Ties at the last neighbour are all kept, up to the limit of a row. Beyond the limit those with the highest indices are
dropped.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels.lists import sort_pairs


class Nearest(NamedTuple):
    """The candidates of each object; arrays have a row or an entry per object."""

    distances: np.ndarray
    """Distances of the candidates; the first ``counts`` entries of a row are in use."""
    indices: np.ndarray
    """Objects at these distances."""
    counts: np.ndarray
    """Number of candidates."""
    triggers: np.ndarray
    """Number of candidates at which the row is compacted."""
    thresholds: np.ndarray
    """Distance beyond which an object is not a candidate."""
    cut_at: np.ndarray
    """Distance at which ties were dropped; NaN where no tie was dropped."""
    n_neighbors: int
    """Neighbours to find of each object."""
    limit: int
    """Neighbours to keep of each object, with ties."""


@part(inline="never")
def kth_smallest_of(values, count, k):
    """The k-th smallest of the first ``count`` values (k from 1), by quickselect on a copy."""
    work = values[:count].copy()
    low, high, wanted = 0, count - 1, k - 1
    while low < high:
        pivot = work[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while work[i] < pivot:
                i += 1
            while work[j] > pivot:
                j -= 1
            if i <= j:
                work[i], work[j] = work[j], work[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
    return work[wanted]


@part(inline="never")
def compact(row, nearest):
    """Drop all candidates of a row beyond its last neighbour, and ties beyond the limit."""
    distances, indices, counts, triggers, thresholds, cut_at, n_neighbors, limit = nearest
    count = counts[row]
    if count >= n_neighbors:
        thresholds[row] = min(thresholds[row], kth_smallest_of(distances[row], count, n_neighbors))
    threshold = thresholds[row]
    kept = 0
    n_below = 0
    for entry in range(count):
        if distances[row, entry] <= threshold:
            distances[row, kept], indices[row, kept] = distances[row, entry], indices[row, entry]
            n_below += distances[row, kept] < threshold
            kept += 1
    if kept > limit:
        # Too many ties: drop those with the highest indices.
        cut_at[row] = threshold
        # As floating-point numbers, so that one selection is compiled for distances and indices.
        tied = np.empty(kept - n_below)
        n_tied = 0
        for entry in range(kept):
            if distances[row, entry] == threshold:
                tied[n_tied] = indices[row, entry]
                n_tied += 1
        last = kth_smallest_of(tied, kept - n_below, limit - n_below)
        count, kept = kept, 0
        for entry in range(count):
            if distances[row, entry] < threshold or indices[row, entry] <= last:
                distances[row, kept], indices[row, kept] = distances[row, entry], indices[row, entry]
                kept += 1
    counts[row] = kept
    triggers[row] = min(distances.shape[1], kept + max(n_neighbors // 2, 16, kept // 4))


@part(inline="never")
def push(row, other, distance, nearest):
    """Add ``other`` to the candidates of ``row``, unless it is too far away."""
    if distance > nearest.thresholds[row]:
        return
    count = nearest.counts[row]
    nearest.distances[row, count], nearest.indices[row, count] = distance, other
    nearest.counts[row] = count + 1
    if count + 1 >= nearest.triggers[row]:
        compact(row, nearest)


@compiled
def push_strip(first, block, nearest):
    """Push every pair of a row ``first + r`` with a later object ``first + c``, for both objects."""
    for r in range(block.shape[0]):
        for c in range(r + 1, block.shape[1]):
            push(first + r, first + c, block[r, c], nearest)
            push(first + c, first + r, block[r, c], nearest)


@compiled
def push_lists(other, first, last, nearest):
    """Push the candidates of another search for the rows ``first`` to ``last - 1``, and take over its dropped ties."""
    for row in range(first, last):
        for entry in range(other.counts[row]):
            push(row, other.indices[row, entry], other.distances[row, entry], nearest)
        if not np.isnan(other.cut_at[row]) and not nearest.cut_at[row] <= other.cut_at[row]:
            nearest.cut_at[row] = other.cut_at[row]


@compiled
def settle(nearest):
    """Compact every row, so that its threshold is the distance of its last neighbour so far."""
    for row in range(nearest.counts.shape[0]):
        compact(row, nearest)


@compiled
def finish(nearest):
    """Compact every row, and sort it by (distance, index)."""
    distances, indices = nearest.distances, nearest.indices
    spare_distances, spare_indices = np.empty(distances.shape[1]), np.empty(distances.shape[1], np.int32)
    for row in range(nearest.counts.shape[0]):
        compact(row, nearest)
        count = nearest.counts[row]
        sort_pairs(distances[row, :count], indices[row, :count], spare_distances, spare_indices)
