"""Kernels of the methods that drop objects: nearest enemies, drops in order, reachable objects."""

import numpy as np

from protoset.kernels._compile import compiled
from protoset.kernels.associates import link_one, move_up, vote_without


@compiled
def first_enemies(indptr, indices, distances, rows, codes, member):
    """Nearest listed member of another class, and its distance, for each of ``rows``; -1 where none is listed."""
    enemies = np.full(rows.shape[0], -1, np.int64)
    nearest = np.full(rows.shape[0], np.inf)
    for position in range(rows.shape[0]):
        row = rows[position]
        for entry in range(indptr[row], indptr[row + 1]):
            other = indices[entry]
            if member[other] and codes[other] != codes[row]:
                enemies[position], nearest[position] = other, distances[entry]
                break
    return enemies, nearest


@compiled
def _next_kept(listed, cursor, kept):
    """Position of the first kept object from ``cursor`` on, or the end of the list."""
    while cursor < listed.shape[0] and listed[cursor] >= 0 and not kept[listed[cursor]]:
        cursor += 1
    return cursor


@compiled
def drop_in_order(order, start, codes, listed, complete, cursors, kept, neighbors, head, following):
    """Drop, in order, the objects without which at least as many of their associates are classified correctly.

    ``listed`` are candidates for neighbours of each object, nearest first, up to the first -1; ``cursors`` the position
    of the first candidate that is not yet a neighbour. ``neighbors``, ``head`` and ``following`` are explained in
    ``protoset.kernels.associates``. Returns the position where a list that is not ``complete`` ran out, or the end.
    """
    width = neighbors.shape[1]
    voters = np.empty(width - 1, neighbors.dtype)
    for position in range(start, order.shape[0]):
        candidate = order[position]
        gain = 0
        link = head[candidate]
        while link >= 0:
            associate = link // width
            gain += vote_without(neighbors[associate], candidate, voters, codes) == codes[associate]
            gain -= vote_without(neighbors[associate], -1, voters, codes) == codes[associate]
            link = following[link]
        if gain < 0:
            continue
        link = head[candidate]
        while link >= 0:
            associate = link // width
            cursor = _next_kept(listed[associate], cursors[associate], kept)
            cursors[associate] = cursor
            if not complete[associate] and (cursor == listed.shape[1] or listed[associate, cursor] < 0):
                return position
            link = following[link]
        kept[candidate] = False
        link = head[candidate]
        head[candidate] = -1
        while link >= 0:
            associate, after = link // width, following[link]
            move_up(neighbors[associate], candidate)
            cursor = cursors[associate]
            if cursor < listed.shape[1] and listed[associate, cursor] >= 0:
                neighbors[associate, width - 1] = listed[associate, cursor]
                cursors[associate] += 1
                link_one(link, listed[associate, cursor], head, following)
            link = after
    return order.shape[0]


@compiled
def running_out(rows, listed, complete, cursors, kept, reserve):
    """Whether each of ``rows`` has fewer than ``reserve`` kept candidates left in a list that is not complete."""
    out = np.zeros(rows.shape[0], np.bool_)
    for position in range(rows.shape[0]):
        row = rows[position]
        if complete[row]:
            continue
        left = 0
        for entry in range(cursors[row], listed.shape[1]):
            if listed[row, entry] < 0 or left == reserve:
                break
            left += kept[listed[row, entry]]
        out[position] = left < reserve
    return out


@compiled
def count_listed(indptr, indices, distances, rows, radii, member, reachable, coverage):
    """Count the listed members strictly within the radius of each row: for the row, and for the member."""
    for position in range(rows.shape[0]):
        row = rows[position]
        for entry in range(indptr[row], indptr[row + 1]):
            if distances[entry] >= radii[position]:
                break
            if member[indices[entry]]:
                reachable[row] += 1
                coverage[indices[entry]] += 1


@compiled
def count_within(block, rows, columns, radii, reachable, coverage):
    """Count the columns strictly within the radius of each row: for the row, and for the column."""
    for r in range(rows.shape[0]):
        for c in range(columns.shape[0]):
            if block[r, c] < radii[r] and rows[r] != columns[c]:
                reachable[rows[r]] += 1
                coverage[columns[c]] += 1
