"""Kernels that improve approximate neighbour lists: neighbours of neighbours are likely to be neighbours.

Row ``i`` of ``indices`` and ``squared`` lists others of object i, nearest first; -1 and infinity where it lists
no more.
"""

import numpy as np
from numba import njit

# The sums may be reordered: what is found here is measured again, exactly.
_REORDER = {"reassoc", "contract", "nsz"}

SLOTS = 4096
"""Objects that a search of the ends of edges remembers having met."""


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
    k, n_edges = indices.shape[1], edges.shape[1]
    # Whom one met last in each slot: small enough for the processor's nearest cache, so some are met twice.
    met = np.empty(SLOTS, np.int32)
    reached = np.empty((n_edges + 1) * n_edges, np.int32)
    for own in range(start, stop):
        row, row_squared = new_indices[own], new_squared[own]
        row[:], row_squared[:], met[:] = indices[own], squared[own], -1
        for place in range(k):
            if row[place] >= 0:
                met[row[place] % SLOTS] = row[place]
        n_reached = 0
        for first in range(-1, n_edges):
            middle = own if first < 0 else edges[own, first]
            if middle < 0:
                break
            is_fresh = first >= 0 and fresh[own, first]
            for second in range(n_edges):
                other = edges[middle, second]
                if other < 0:
                    break
                if is_fresh or fresh[middle, second]:
                    reached[n_reached] = other
                    n_reached += met[other % SLOTS] != other and other != own
                    met[other % SLOTS] = other
        for other in reached[:n_reached]:
            found = squared_distance(vectors[own], vectors[other])
            if found < row_squared[k - 1] and not is_listed(other, row):
                insert(other, found, row, row_squared)


@njit(cache=True, nogil=True)
def is_listed(other, row):
    """Whether a list has an object."""
    listed = False
    for place in range(row.shape[0]):
        listed |= row[place] == other
    return listed


@njit(cache=True, nogil=True)
def insert(other, found, row, row_squared):
    """Put an object in its place in a list; the last one leaves."""
    hole = row.shape[0] - 1
    while hole > 0 and row_squared[hole - 1] > found:
        row[hole], row_squared[hole] = row[hole - 1], row_squared[hole - 1]
        hole -= 1
    row[hole], row_squared[hole] = other, found


@njit(cache=True, nogil=True)
def visits(cells, n_cells):
    """Visitors of each cell, one cell after the other, and where each starts; ``cells`` has those of each visitor."""
    starts = np.zeros(n_cells + 1, np.int64)
    for cell in cells.flat:
        if cell >= 0:
            starts[cell + 1] += 1
    starts = np.cumsum(starts)
    visitors, free = np.empty(starts[-1], np.int32), starts[:-1].copy()
    for visitor in range(cells.shape[0]):
        for cell in cells[visitor]:
            if cell >= 0:
                visitors[free[cell]] = visitor
                free[cell] += 1
    return visitors, starts


@njit(cache=True, nogil=True, fastmath=_REORDER)
def search_cells(queries, first_own, vectors, starts, cells, indices, squared):
    """List the nearest of the vectors in some cells, for each query.

    The vectors of cell c are those from ``starts[c]`` to ``starts[c + 1]``; row i of ``cells`` has the cells for
    query i, -1 for none. Where the queries are vectors themselves, they are those from ``first_own`` on, and do not
    list themselves; else ``first_own`` is -1. All queries visit a cell together, while it is in the processor's
    nearest cache.
    """
    d, k = vectors.shape[1], indices.shape[1]
    indices[:], squared[:] = -1, np.inf
    visitors, visits_from = visits(cells, starts.shape[0] - 1)
    largest = np.max(np.diff(starts))
    columns, sums = np.empty((d, largest), np.float32), np.empty(largest, np.float32)
    for cell in range(starts.shape[0] - 1):
        start, size = starts[cell], starts[cell + 1] - starts[cell]
        if visits_from[cell] == visits_from[cell + 1]:
            continue
        for column in range(size):
            for feature in range(d):
                columns[feature, column] = vectors[start + column, feature]
        for visitor in visitors[visits_from[cell] : visits_from[cell + 1]]:
            sums[:size] = 0.0
            for feature in range(d):
                value, others = queries[visitor, feature], columns[feature]
                for column in range(size):
                    difference = others[column] - value
                    sums[column] += difference * difference
            row, row_squared = indices[visitor], squared[visitor]
            own, last = first_own + visitor - start if first_own >= 0 else -1, row_squared[k - 1]
            for column in range(size):
                found = sums[column]
                if found < last and column != own:
                    insert(start + column, found, row, row_squared)
                    last = row_squared[k - 1]
