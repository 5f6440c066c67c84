"""Pairs of objects worth comparing: likely neighbours, and neighbours of neighbours (NN-descent).

Unlike ``graphs``, these kernels compute no distances: each pair comes once, grouped by its first object, so that
expensive distances are computed for many pairs at a time (see ``protoset.spaces._pair_descent``).
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels.graphs import is_listed


class Middles(NamedTuple):
    """Objects that have an edge to each object, as compressed rows; the inverse of the edges."""

    indptr: np.ndarray
    indices: np.ndarray
    is_new: np.ndarray


@part
def _is_first(own, other):
    """Whether a pair is grouped by ``own``: each object is the first one of about half of its pairs."""
    return (other > own) == ((own + other) % 2 == 1)


@compiled
def candidate_pairs(start, stop, candidates, firsts, seconds):
    """Write the pairs of objects with their candidates, -1 for none, each pair once.

    Goes from object ``start`` to ``stop``, or until there may be no room for more pairs. Returns the next object, and
    the number of pairs.
    """
    count = 0
    for own in range(start, stop):
        if count + candidates.shape[1] > firsts.shape[0]:
            return own, count
        for other in candidates[own]:
            if other >= 0 and other != own and (_is_first(own, other) or not is_listed(own, candidates[other])):
                firsts[count], seconds[count] = own, other
                count += 1
    return stop, count


@compiled
def invert_edges(edges, is_new):
    """Middles of each object; ``edges`` has a row for each object, -1 for none."""
    n = edges.shape[0]
    indptr = np.zeros(n + 1, np.int64)
    for other in edges.flat:
        if other >= 0:
            indptr[other + 1] += 1
    indptr = np.cumsum(indptr)
    indices, new = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.bool_)
    free = indptr[:-1].copy()
    for middle in range(n):
        for position in range(edges.shape[1]):
            other = edges[middle, position]
            if other >= 0:
                indices[free[other]], new[free[other]] = middle, is_new[middle, position]
                free[other] += 1
    return Middles(indptr, indices, new)


@compiled
def neighbor_pairs(start, stop, edges, is_new, middles, indices, seen, firsts, seconds):
    """Write the pairs of objects that have edges from the same object, at least one of the two new, each pair once.

    Pairs of which one object lists the other in ``indices`` are left out. ``seen`` is work space with an entry for each
    object, below 0 at first. Goes on, and returns, as ``candidate_pairs``.
    """
    count, n = 0, edges.shape[0]
    for own in range(start, stop):
        first, last = middles.indptr[own], middles.indptr[own + 1]
        if count + min(n, (last - first) * edges.shape[1]) > firsts.shape[0]:
            return own, count
        seen[own] = own
        for other in indices[own]:
            if other >= 0:
                seen[other] = own
        for position in range(first, last):
            middle, all_count = middles.indices[position], middles.is_new[position]
            for end in range(edges.shape[1]):
                other = edges[middle, end]
                if other < 0 or seen[other] == own or not (all_count or is_new[middle, end]):
                    continue
                seen[other] = own
                if _is_first(own, other) and not is_listed(own, indices[other]):
                    firsts[count], seconds[count] = own, other
                    count += 1
    return stop, count
