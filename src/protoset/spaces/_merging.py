"""Neighbour lists that come in parts: of the same rows, from different columns."""

from __future__ import annotations

import numpy as np

from protoset import kernels
from protoset._arrays import row_numbers, row_pointers
from protoset.spaces._lists import RawLists


def merge_lists(a: RawLists, b: RawLists, k: int, limit: int) -> RawLists:
    """Nearest of two sets of columns, from the lists of each.

    The k nearest and all that tie with the last, up to ``limit``. In whatever parts the columns come, and in whatever
    order, the result is that of all columns at once.
    """
    counts = a.counts + b.counts
    indptr = row_pointers(counts)
    indices, distances = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    for part, offset in ((a, np.zeros_like(a.counts)), (b, a.counts)):
        own = row_pointers(part.counts)
        targets = np.repeat(indptr[:-1] + offset - own[:-1], part.counts) + np.arange(own[-1])
        indices[targets], distances[targets] = part.indices, part.distances
    kernels.lists.sort_rows(indptr, indices, distances)
    row = row_numbers(indptr)
    place = np.arange(indptr[-1]) - indptr[row]
    last = np.full(len(counts), np.inf)
    full = counts >= k
    last[full] = distances[indptr[:-1][full] + k - 1]
    near = distances <= last[row]
    kept = near & (place < limit)
    n_near, n_kept = (np.bincount(row[chosen], minlength=len(counts)) for chosen in (near, kept))
    closed = n_near == n_kept
    for part in (a, b):
        # A part that had to leave out ties is complete only where the last neighbour is nearer than these.
        ends = np.full(len(counts), np.inf)
        listed = part.counts > 0
        ends[listed] = part.distances[row_pointers(part.counts)[1:][listed] - 1]
        closed &= part.closed | (ends > last)
    return RawLists(n_kept, indices[kept], distances[kept], closed)
