"""Kernels that improve approximate neighbour lists: neighbours of neighbours are likely to be neighbours.

Row ``i`` of ``indices`` and ``squared`` lists others of object i, nearest first; -1 and infinity where it lists
no more.
"""

import numpy as np
from numba import njit

# The sums may be reordered: what is found here is measured again, exactly.
_REORDER = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_REORDER)
def squared_distance(a, b):
    """Squared Euclidean distance in single precision."""
    total = np.float32(0.0)
    for feature in range(a.shape[0]):
        difference = a[feature] - b[feature]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def both_ways(indices, width):
    """Edges of each object: its first ``width`` listed, then up to as many that list it, the nearest of these first."""
    n, k = indices.shape
    width = min(width, k)
    edges = np.full((n, 2 * width), -1, np.int32)
    n_edges = np.zeros(n, np.int32)
    for own in range(n):
        for place in range(width):
            if indices[own, place] >= 0:
                edges[own, n_edges[own]] = indices[own, place]
                n_edges[own] += 1
    for place in range(k):
        for own in range(n):
            other = indices[own, place]
            if other >= 0 and n_edges[other] < 2 * width:
                edges[other, n_edges[other]] = own
                n_edges[other] += 1
    return edges


@njit(cache=True, nogil=True)
def fresh_edges(edges, before):
    """Whether each edge was not there before; ``before`` may have another number of edges."""
    fresh = np.zeros(edges.shape, np.bool_)
    last = np.full(edges.shape[0], -1, np.int32)
    for own in range(edges.shape[0]):
        for place in range(before.shape[1]):
            if before[own, place] >= 0:
                last[before[own, place]] = own
        for place in range(edges.shape[1]):
            fresh[own, place] = edges[own, place] >= 0 and last[edges[own, place]] != own
    return fresh


@njit(cache=True, nogil=True)
def expand(vectors, start, stop, indices, squared, edges, fresh, new_indices, new_squared):
    """Look for nearer others of the objects from ``start`` to ``stop`` at the ends of two edges, one of them fresh."""
    n, k = indices.shape
    seen_by = np.full(n, -1, np.int32)
    for own in range(start, stop):
        row, row_squared = new_indices[own], new_squared[own]
        seen_by[own] = own
        for place in range(k):
            row[place], row_squared[place] = indices[own, place], squared[own, place]
            if indices[own, place] >= 0:
                seen_by[indices[own, place]] = own
        for first in range(-1, edges.shape[1]):
            middle = own if first < 0 else edges[own, first]
            if middle < 0:
                break
            for second in range(edges.shape[1]):
                other = edges[middle, second]
                if other < 0:
                    break
                if seen_by[other] == own or not (fresh[middle, second] or (first >= 0 and fresh[own, first])):
                    continue
                seen_by[other] = own
                found = squared_distance(vectors[own], vectors[other])
                if found >= row_squared[k - 1]:
                    continue
                hole = k - 1
                while hole > 0 and row_squared[hole - 1] > found:
                    row[hole], row_squared[hole] = row[hole - 1], row_squared[hole - 1]
                    hole -= 1
                row[hole], row_squared[hole] = other, found
