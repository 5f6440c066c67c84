"""Kernels that keep each object's nearest neighbours while pairs come in any order.

Row ``i`` of ``distances`` and ``indices`` holds ``counts[i]`` candidates in no order. When their
number reaches ``triggers[i]``, all beyond the last neighbour are dropped; its distance is the
threshold for those that follow. ``sizes`` are the number of neighbours and the limit of a row.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _kth_smallest(values, count, k):
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


@njit(cache=True, nogil=True)
def compact(row, distances, indices, counts, triggers, thresholds, cut_at, sizes):
    """Drop all candidates of a row beyond its last neighbour, and ties beyond the limit."""
    n_neighbors, limit = sizes
    count = counts[row]
    if count >= n_neighbors:
        thresholds[row] = min(thresholds[row], _kth_smallest(distances[row], count, n_neighbors))
    threshold = thresholds[row]
    kept = 0
    n_below = 0
    for entry in range(count):
        if distances[row, entry] <= threshold:
            distances[row, kept], indices[row, kept] = distances[row, entry], indices[row, entry]
            n_below += distances[row, kept] < threshold
            kept += 1
    if kept > limit:
        # Too many ties: those with the highest indices go.
        cut_at[row] = threshold
        tied = np.empty(kept - n_below, np.int32)
        n_tied = 0
        for entry in range(kept):
            if distances[row, entry] == threshold:
                tied[n_tied] = indices[row, entry]
                n_tied += 1
        tied.sort()
        last = tied[limit - n_below - 1]
        count, kept = kept, 0
        for entry in range(count):
            if distances[row, entry] < threshold or indices[row, entry] <= last:
                distances[row, kept], indices[row, kept] = distances[row, entry], indices[row, entry]
                kept += 1
    counts[row] = kept
    triggers[row] = min(distances.shape[1], kept + max(n_neighbors // 2, 16, kept // 4))


@njit(cache=True, nogil=True)
def push(row, other, distance, distances, indices, counts, triggers, thresholds, cut_at, sizes):
    """Take ``other`` as a candidate for ``row``, unless it is too far away."""
    if distance > thresholds[row]:
        return
    count = counts[row]
    distances[row, count], indices[row, count] = distance, other
    counts[row] = count + 1
    if count + 1 >= triggers[row]:
        compact(row, distances, indices, counts, triggers, thresholds, cut_at, sizes)


@njit(cache=True, nogil=True)
def push_strip(first, block, distances, indices, counts, triggers, thresholds, cut_at, sizes):
    """Take every pair of a row ``first + r`` with a later object ``first + c``, for both of them."""
    arrays = (distances, indices, counts, triggers, thresholds, cut_at, sizes)
    for r in range(block.shape[0]):
        for c in range(r + 1, block.shape[1]):
            push(first + r, first + c, block[r, c], *arrays)
            push(first + c, first + r, block[r, c], *arrays)


@njit(cache=True, nogil=True)
def push_lists(
    other_distances, other_indices, other_counts, other_cut_at,
    distances, indices, counts, triggers, thresholds, cut_at, sizes,
):  # fmt: skip
    """Take the candidates of another search, and where it dropped ties."""
    for row in range(other_counts.shape[0]):
        for entry in range(other_counts[row]):
            push(
                row, other_indices[row, entry], other_distances[row, entry],
                distances, indices, counts, triggers, thresholds, cut_at, sizes,
            )  # fmt: skip
        if not np.isnan(other_cut_at[row]) and not cut_at[row] <= other_cut_at[row]:
            cut_at[row] = other_cut_at[row]


@njit(cache=True, nogil=True)
def settle(distances, indices, counts, triggers, thresholds, cut_at, sizes):
    """Bring every row's threshold to the distance of its last neighbour so far."""
    for row in range(counts.shape[0]):
        compact(row, distances, indices, counts, triggers, thresholds, cut_at, sizes)


@njit(cache=True, nogil=True)
def finish(distances, indices, counts, triggers, thresholds, cut_at, sizes):
    """Bring every row to its neighbours, by (distance, index)."""
    for row in range(counts.shape[0]):
        compact(row, distances, indices, counts, triggers, thresholds, cut_at, sizes)
        count = counts[row]
        order = np.argsort(indices[row, :count])
        row_distances, row_indices = distances[row, :count][order], indices[row, :count][order]
        order = np.argsort(row_distances, kind="mergesort")
        distances[row, :count], indices[row, :count] = row_distances[order], row_indices[order]
