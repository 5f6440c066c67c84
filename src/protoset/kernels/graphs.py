"""Kernels that find approximate neighbour lists: in cells of like vectors, then among the neighbours of somebody.

Row ``i`` of ``indices`` and ``squared`` lists others of object i, nearest first; -1 and infinity where it lists
no more.
"""

import numpy as np
from numba import njit

# A product and a sum may be one instruction, but no sum is reordered: a distance is the same wherever it is computed.
_FUSE = {"contract", "nsz"}

LANES = 16
"""Those who are introduced to each other come in multiples, so that their distances are computed several at once."""

NEAR_OWNERS = 16384
"""Objects whose lists are turned around together, while they are in the processor's cache."""


@njit(cache=True, nogil=True, fastmath=_FUSE)
def squared_distances(vector, columns, start, stop, sums):
    """Squared Euclidean distances of a vector to some columns, in single precision; a column is a vector."""
    d, sums = columns.shape[0], sums[start:stop]
    sums[:] = 0.0
    for feature in range(0, d - 3, 4):
        one, two = vector[feature], vector[feature + 1]
        three, four = vector[feature + 2], vector[feature + 3]
        first, second = columns[feature, start:stop], columns[feature + 1, start:stop]
        third, fourth = columns[feature + 2, start:stop], columns[feature + 3, start:stop]
        for column in range(sums.shape[0]):
            difference_1, difference_2 = first[column] - one, second[column] - two
            difference_3, difference_4 = third[column] - three, fourth[column] - four
            two_squares = difference_1 * difference_1 + difference_2 * difference_2
            sums[column] += two_squares + difference_3 * difference_3 + difference_4 * difference_4
    for feature in range(d - d % 4, d):
        one, first = vector[feature], columns[feature, start:stop]
        for column in range(sums.shape[0]):
            difference_1 = first[column] - one
            sums[column] += difference_1 * difference_1


@njit(cache=True, nogil=True)
def both_ways(indices, width):
    """Edges of each object, none of them twice: its first ``width`` listed, then others that list it.

    Of those that list it there are as many as leave 2 ``width`` edges, the nearest of ``NEAR_OWNERS`` first.
    """
    n, k = indices.shape
    width = min(width, k)
    edges = np.full((n, 2 * width), -1, np.int32)
    n_edges = np.zeros(n, np.int32)
    for own in range(n):
        for place in range(width):
            if indices[own, place] >= 0:
                edges[own, n_edges[own]] = indices[own, place]
                n_edges[own] += 1
    for start in range(0, n, NEAR_OWNERS):
        for place in range(k):
            for own in range(start, min(start + NEAR_OWNERS, n)):
                other = indices[own, place]
                if other >= 0 and n_edges[other] < 2 * width and not is_listed(own, indices[other, :width]):
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
def introduce(vectors, start, stop, edges, fresh, indices, reach, owners, others, squared):
    """Propose to each other those that an object has edges to, and the object itself, where one of the edges is fresh.

    Goes from object ``start`` to ``stop``, or to where there may be no room for more proposals. Row p of ``owners``,
    ``others`` and ``squared`` is a proposal: somebody that is not on the owner's list, and no farther than the owner's
    ``reach``. Returns where it ended, and the number of proposals.
    """
    most = edges.shape[1] + 1
    room = -(-most // LANES) * LANES
    columns, sums = np.zeros((vectors.shape[1], room), np.float32), np.empty(room, np.float32)
    members, limits, near = np.empty(most, np.int32), np.empty(most, np.float32), np.empty(most + 1, np.int32)
    n_proposed = 0
    for middle in range(start, stop):
        if n_proposed + most * most > owners.shape[0]:
            return middle, n_proposed
        n_fresh, n_members = _assemble(middle, edges, fresh, members)
        for place in range(n_members if n_fresh else 0):
            member = members[place]
            limits[place] = reach[member]
            for feature in range(columns.shape[0]):
                columns[feature, place] = vectors[member, feature]
        end = -(-n_members // LANES) * LANES
        for first in range(n_fresh):
            own = members[first]
            squared_distances(vectors[own], columns, (first + 1) // LANES * LANES, end, sums)
            # Both searches gather who is near without a branch, since nobody could guess which way it goes.
            n_near = 0
            for place in range(first + 1, n_members):
                near[n_near] = place
                n_near += sums[place] <= limits[first]
            for place in near[:n_near]:
                if not is_listed(members[place], indices[own]):
                    owners[n_proposed], others[n_proposed], squared[n_proposed] = own, members[place], sums[place]
                    n_proposed += 1
            n_near = 0
            for place in range(first + 1, n_members):
                near[n_near] = place
                n_near += sums[place] <= limits[place]
            for place in near[:n_near]:
                if not is_listed(own, indices[members[place]]):
                    owners[n_proposed], others[n_proposed], squared[n_proposed] = members[place], own, sums[place]
                    n_proposed += 1
    return stop, n_proposed


@njit(cache=True, nogil=True)
def _assemble(middle, edges, fresh, members):
    """Gather the ends of fresh edges, then the object itself, then other ends; return how many are fresh, and all."""
    n_fresh = 0
    for place in range(edges.shape[1]):
        if fresh[middle, place]:
            members[n_fresh] = edges[middle, place]
            n_fresh += 1
    members[n_fresh] = middle
    n_members = n_fresh + 1
    for place in range(edges.shape[1]):
        if edges[middle, place] >= 0 and not fresh[middle, place]:
            members[n_members] = edges[middle, place]
            n_members += 1
    return n_fresh, n_members


@njit(cache=True, nogil=True)
def accept(owners, others, squared, start, stop, indices, listed, reach):
    """Put what is proposed to the objects from ``start`` to ``stop`` on their lists, in whatever order it comes.

    Of those as far away as each other the first in number stays, so that the order does not matter.
    """
    k = indices.shape[1]
    for proposal in range(owners.shape[0]):
        own, other, found = owners[proposal], others[proposal], squared[proposal]
        if start <= own < stop:
            row, row_squared = indices[own], listed[own]
            is_nearer = found < row_squared[k - 1] or (found == row_squared[k - 1] and other < row[k - 1])
            if is_nearer and not is_listed(other, row):
                insert(other, found, row, row_squared)
                reach[own] = min(reach[own], row_squared[k - 1])


@njit(cache=True, nogil=True)
def is_listed(other, row):
    """Whether a list has an object."""
    n_found = np.int32(0)
    for place in range(row.shape[0]):
        n_found += np.int32(row[place] == other)
    return n_found > 0


@njit(cache=True, nogil=True)
def insert(other, found, row, row_squared):
    """Put an object in its place in a list, by (distance, number); the last one leaves."""
    hole = row.shape[0] - 1
    while hole > 0 and (row_squared[hole - 1] > found or (row_squared[hole - 1] == found and row[hole - 1] > other)):
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


@njit(cache=True, nogil=True)
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
            squared_distances(queries[visitor], columns, 0, size, sums)
            row, row_squared = indices[visitor], squared[visitor]
            own, last = first_own + visitor - start if first_own >= 0 else -1, row_squared[k - 1]
            for column in range(size):
                found = sums[column]
                if found < last and column != own:
                    insert(start + column, found, row, row_squared)
                    last = row_squared[k - 1]
