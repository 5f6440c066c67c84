"""Kernels that find approximate neighbour lists: in cells of similar vectors, then by NN-descent.

Row ``i`` of ``indices`` and ``squared`` is the neighbour list of object i, nearest first; -1 and infinity at its end.
"""

import numpy as np

from protoset.kernels._compile import compiled

FUSED_MATH = {"contract", "nsz"}
"""Compiler flags: a product and a sum may be one instruction, but sums keep their order, so that a distance is the same
wherever it is computed."""

LANES = 16
"""Objects that are compared are padded to a multiple of this number, for vector instructions."""

NEAR_OWNERS = 16384
"""Objects whose lists are reversed together, while they are in the cache of the processor."""


@compiled(fastmath=FUSED_MATH)
def squared_distances(vector, columns, start, stop, sums):
    """Squared Euclidean distances of a vector to some columns, in single precision; a column is a vector."""
    d, sums = columns.shape[0], sums[start:stop]
    sums[:] = 0.0
    for feature in range(0, d - 3, 4):
        value_1, value_2 = vector[feature], vector[feature + 1]
        value_3, value_4 = vector[feature + 2], vector[feature + 3]
        first, second = columns[feature, start:stop], columns[feature + 1, start:stop]
        third, fourth = columns[feature + 2, start:stop], columns[feature + 3, start:stop]
        for column in range(sums.shape[0]):
            difference_1, difference_2 = first[column] - value_1, second[column] - value_2
            difference_3, difference_4 = third[column] - value_3, fourth[column] - value_4
            two_squares = difference_1 * difference_1 + difference_2 * difference_2
            sums[column] += two_squares + difference_3 * difference_3 + difference_4 * difference_4
    for feature in range(d - d % 4, d):
        value_1, first = vector[feature], columns[feature, start:stop]
        for column in range(sums.shape[0]):
            difference_1 = first[column] - value_1
            sums[column] += difference_1 * difference_1


@compiled
def incident_edges(indices, width):
    """Edges of each object, each once: to its first ``width`` neighbours, then from objects that list it.

    Keep at most 2 * width edges per object; of the incoming edges, the nearest among ``NEAR_OWNERS`` objects first.
    """
    n, k = indices.shape
    width = min(width, k)
    edges = np.full((n, 2 * width), -1, np.int32)
    n_edges = np.zeros(n, np.int32)
    for own in range(n):
        for position in range(width):
            if indices[own, position] >= 0:
                edges[own, n_edges[own]] = indices[own, position]
                n_edges[own] += 1
    for start in range(0, n, NEAR_OWNERS):
        for position in range(k):
            for own in range(start, min(start + NEAR_OWNERS, n)):
                other = indices[own, position]
                if other >= 0 and n_edges[other] < 2 * width and not is_listed(own, indices[other, :width]):
                    edges[other, n_edges[other]] = own
                    n_edges[other] += 1
    return edges


@compiled
def new_edges(edges, before):
    """Whether each edge is new; ``before`` may have another number of edges per object."""
    is_new = np.zeros(edges.shape, np.bool_)
    last = np.full(edges.shape[0], -1, np.int32)
    for own in range(edges.shape[0]):
        for position in range(before.shape[1]):
            if before[own, position] >= 0:
                last[before[own, position]] = own
        for position in range(edges.shape[1]):
            is_new[own, position] = edges[own, position] >= 0 and last[edges[own, position]] != own
    return is_new


@compiled
def propose_pairs(vectors, start, stop, edges, is_new, indices, reach, owners, others, squared):
    """Compare the neighbours of each object with each other and with the object, where one of the two edges is new.

    Goes from object ``start`` to ``stop``, or until there may be no room for more proposals. Entry p of ``owners``,
    ``others`` and ``squared`` is a proposal: an object that is not in the list of the owner, and not farther than the
    ``reach`` of the owner. Returns the next object, and the number of proposals.
    """
    most = edges.shape[1] + 1
    room = -(-most // LANES) * LANES
    columns, sums = np.zeros((vectors.shape[1], room), np.float32), np.empty(room, np.float32)
    members, limits, near = np.empty(most, np.int32), np.empty(most, np.float32), np.empty(most + 1, np.int32)
    n_proposed = 0
    for middle in range(start, stop):
        if n_proposed + most * most > owners.shape[0]:
            return middle, n_proposed
        n_new, n_members = _gather_neighbors(middle, edges, is_new, members)
        for position in range(n_members if n_new else 0):
            member = members[position]
            limits[position] = reach[member]
            for feature in range(columns.shape[0]):
                columns[feature, position] = vectors[member, feature]
        end = -(-n_members // LANES) * LANES
        for first in range(n_new):
            own = members[first]
            squared_distances(vectors[own], columns, (first + 1) // LANES * LANES, end, sums)
            # Both loops gather near objects without a branch, which the processor could not predict.
            n_near = 0
            for position in range(first + 1, n_members):
                near[n_near] = position
                n_near += sums[position] <= limits[first]
            for position in near[:n_near]:
                if not is_listed(members[position], indices[own]):
                    owners[n_proposed], others[n_proposed], squared[n_proposed] = own, members[position], sums[position]
                    n_proposed += 1
            n_near = 0
            for position in range(first + 1, n_members):
                near[n_near] = position
                n_near += sums[position] <= limits[position]
            for position in near[:n_near]:
                if not is_listed(own, indices[members[position]]):
                    owners[n_proposed], others[n_proposed], squared[n_proposed] = members[position], own, sums[position]
                    n_proposed += 1
    return stop, n_proposed


@compiled
def _gather_neighbors(middle, edges, is_new, members):
    """Gather the ends of new edges, the object, then the other ends; return the numbers of new ends and of all."""
    n_new = 0
    for position in range(edges.shape[1]):
        if is_new[middle, position]:
            members[n_new] = edges[middle, position]
            n_new += 1
    members[n_new] = middle
    n_members = n_new + 1
    for position in range(edges.shape[1]):
        if edges[middle, position] >= 0 and not is_new[middle, position]:
            members[n_members] = edges[middle, position]
            n_members += 1
    return n_new, n_members


@compiled
def accept_proposals(owners, others, squared, start, stop, indices, listed, reach):
    """Merge the proposals to the objects from ``start`` to ``stop`` into their lists.

    Of equally far objects the one with the lowest index stays, so that the order of the proposals does not matter.
    """
    k = indices.shape[1]
    for proposal in range(owners.shape[0]):
        own, other, new_squared = owners[proposal], others[proposal], squared[proposal]
        if start <= own < stop:
            row, row_squared = indices[own], listed[own]
            is_nearer = new_squared < row_squared[k - 1] or (new_squared == row_squared[k - 1] and other < row[k - 1])
            if is_nearer and not is_listed(other, row):
                insert(other, new_squared, row, row_squared)
                reach[own] = min(reach[own], row_squared[k - 1])


@compiled
def is_listed(other, row):
    """Whether an object is in a list."""
    n_found = np.int32(0)
    for position in range(row.shape[0]):
        n_found += np.int32(row[position] == other)
    return n_found > 0


@compiled
def insert(other, new_squared, row, row_squared):
    """Insert an object into a list, by (distance, index); the last entry leaves."""
    slot = row.shape[0] - 1
    while slot > 0 and (
        row_squared[slot - 1] > new_squared or (row_squared[slot - 1] == new_squared and row[slot - 1] > other)
    ):
        row[slot], row_squared[slot] = row[slot - 1], row_squared[slot - 1]
        slot -= 1
    row[slot], row_squared[slot] = other, new_squared


@compiled
def queries_by_cell(cells, n_cells):
    """Queries of each cell, cell after cell, and where each cell starts; row i of ``cells`` are those of query i."""
    starts = np.zeros(n_cells + 1, np.int64)
    for cell in cells.flat:
        if cell >= 0:
            starts[cell + 1] += 1
    starts = np.cumsum(starts)
    by_cell, free = np.empty(starts[-1], np.int32), starts[:-1].copy()
    for query in range(cells.shape[0]):
        for cell in cells[query]:
            if cell >= 0:
                by_cell[free[cell]] = query
                free[cell] += 1
    return by_cell, starts


@compiled
def search_cells(queries, first_own, vectors, starts, cells, indices, squared):
    """Find the nearest vectors of each query in its cells.

    Cell c has the vectors ``starts[c]`` to ``starts[c + 1]``; row i of ``cells`` has the cells of query i, -1 for none.
    If the queries are vectors themselves, query i is vector ``first_own + i`` and is not its own neighbour; else
    ``first_own`` is -1. All queries of a cell are compared with it together, while it is in the cache.
    """
    d, k = vectors.shape[1], indices.shape[1]
    indices[:], squared[:] = -1, np.inf
    by_cell, cell_starts = queries_by_cell(cells, starts.shape[0] - 1)
    largest = np.max(np.diff(starts))
    columns, sums = np.empty((d, largest), np.float32), np.empty(largest, np.float32)
    for cell in range(starts.shape[0] - 1):
        start, size = starts[cell], starts[cell + 1] - starts[cell]
        if cell_starts[cell] == cell_starts[cell + 1]:
            continue
        for column in range(size):
            for feature in range(d):
                columns[feature, column] = vectors[start + column, feature]
        for query in by_cell[cell_starts[cell] : cell_starts[cell + 1]]:
            squared_distances(queries[query], columns, 0, size, sums)
            row, row_squared = indices[query], squared[query]
            own, last = first_own + query - start if first_own >= 0 else -1, row_squared[k - 1]
            for column in range(size):
                new_squared = sums[column]
                if new_squared < last and column != own:
                    insert(start + column, new_squared, row, row_squared)
                    last = row_squared[k - 1]
