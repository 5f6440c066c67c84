"""Merging of neighbour lists of the same rows from different columns."""

from __future__ import annotations

import numpy as np

from protoset import kernels
from protoset._arrays import row_numbers, row_pointers
from protoset.spaces._lists import RawLists, join_lists


def merge_lists(a: RawLists, b: RawLists, k: int, limit: int) -> RawLists:
    """Merge the lists from two sets of columns: the k nearest and all ties of the last, up to ``limit``.

    The result does not depend on how the columns are split, or on the order of merging.
    """
    counts, every_row = a.counts + b.counts, slice(None)
    indptr, indices, distances = join_lists(len(counts), [(every_row, a), (every_row, b)])
    kernels.lists.sort_rows(indptr, indices, distances)
    row = row_numbers(indptr)
    position = np.arange(indptr[-1]) - indptr[row]
    last = np.full(len(counts), np.inf)
    full = counts >= k
    last[full] = distances[indptr[:-1][full] + k - 1]
    near = distances <= last[row]
    kept = near & (position < limit)
    n_near, n_kept = (np.bincount(row[chosen], minlength=len(counts)) for chosen in (near, kept))
    closed = n_near == n_kept
    for lists in (a, b):
        # Lists that left out ties are complete only where the last neighbour is nearer than the ties.
        ends = np.full(len(counts), np.inf)
        listed = lists.counts > 0
        ends[listed] = lists.distances[row_pointers(lists.counts)[1:][listed] - 1]
        closed &= lists.closed | (ends > last)
    return RawLists(n_kept, indices[kept], distances[kept], closed)
