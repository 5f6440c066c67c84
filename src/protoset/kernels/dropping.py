"""Kernels of the methods that drop objects: nearest enemies, associates, reachable objects."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def link_associates(members, neighbors):
    """Chains of the objects that have a neighbour in common.

    Entry (row, place) of ``neighbors`` is link ``row * width + place``. The chain of an object begins
    with the link ``first[object]`` and goes on with ``following[link]``; -1 ends it.
    """
    n, width = neighbors.shape
    first = np.full(n, -1, np.int64)
    following = np.full(n * width, -1, np.int64)
    for row in members:
        for place in range(width):
            neighbor = neighbors[row, place]
            if neighbor < 0:
                break
            link = row * width + place
            following[link] = first[neighbor]
            first[neighbor] = link
    return first, following


@njit(cache=True, nogil=True)
def _vote(neighbors, left_out, k, codes):
    """Class that the first k of the neighbours vote for, one of them left out; -1 without any."""
    winner, most, seen = -1, 0, 0
    for i in range(neighbors.shape[0]):
        if neighbors[i] < 0 or seen == k:
            break
        if neighbors[i] == left_out:
            continue
        seen += 1
        votes, counted = 1, seen
        for j in range(i + 1, neighbors.shape[0]):
            if neighbors[j] < 0 or counted == k:
                break
            if neighbors[j] != left_out:
                counted += 1
                votes += codes[neighbors[j]] == codes[neighbors[i]]
        if votes > most:
            winner, most = codes[neighbors[i]], votes
    return winner


@njit(cache=True, nogil=True)
def _next_kept(listed, cursor, kept):
    """Place of the first kept object from ``cursor`` on, or where the list ends."""
    while cursor < listed.shape[0] and listed[cursor] >= 0 and not kept[listed[cursor]]:
        cursor += 1
    return cursor


@njit(cache=True, nogil=True)
def drop_in_order(order, start, codes, listed, complete, cursors, kept, neighbors, first, following):
    """Drop, in order, the objects without which as many of their associates are classified correctly.

    Parameters
    ----------
    order, start
        Objects to visit, and where in it to begin.
    listed, complete
        Candidates for neighbours of each object, nearest first, up to the first -1, and whether they are
        all that there are.
    cursors
        Where the candidates begin that are not yet neighbours; moved on.
    kept, neighbors
        Who is kept, and the k + 1 nearest kept neighbours of each object; changed.
    first, following
        Chains of associates, see ``link_associates``; changed.

    Returns
    -------
    Where to begin again once the lists that ran out are filled, the length of ``order`` at the end.
    """
    width = neighbors.shape[1]
    for position in range(start, order.shape[0]):
        candidate = order[position]
        gain = 0
        link = first[candidate]
        while link >= 0:
            associate = link // width
            gain += _vote(neighbors[associate], candidate, width - 1, codes) == codes[associate]
            gain -= _vote(neighbors[associate], -1, width - 1, codes) == codes[associate]
            link = following[link]
        if gain < 0:
            continue
        link = first[candidate]
        while link >= 0:
            associate = link // width
            cursor = _next_kept(listed[associate], cursors[associate], kept)
            cursors[associate] = cursor
            if not complete[associate] and (cursor == listed.shape[1] or listed[associate, cursor] < 0):
                return position
            link = following[link]
        kept[candidate] = False
        link = first[candidate]
        while link >= 0:
            associate, after = link // width, following[link]
            place = 0
            while neighbors[associate, place] != candidate:
                place += 1
            for later in range(place + 1, width):
                neighbors[associate, later - 1] = neighbors[associate, later]
            cursor = cursors[associate]
            new = -1
            if cursor < listed.shape[1] and listed[associate, cursor] >= 0:
                new = listed[associate, cursor]
                cursors[associate] += 1
                following[link] = first[new]
                first[new] = link
            neighbors[associate, width - 1] = new
            link = after
        first[candidate] = -1
    return order.shape[0]


@njit(cache=True, nogil=True)
def running_out(rows, listed, complete, cursors, kept, reserve):
    """Which of ``rows`` have fewer than ``reserve`` kept candidates left in lists that are not all there is."""
    out = np.zeros(rows.shape[0], np.bool_)
    for position in range(rows.shape[0]):
        row = rows[position]
        if complete[row]:
            continue
        left = 0
        for place in range(cursors[row], listed.shape[1]):
            if listed[row, place] < 0 or left == reserve:
                break
            left += kept[listed[row, place]]
        out[position] = left < reserve
    return out


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def count_within(block, rows, columns, radii, reachable, coverage):
    """Count the columns strictly within the radius of each row: for the row, and for the column."""
    for r in range(rows.shape[0]):
        for c in range(columns.shape[0]):
            if block[r, c] < radii[r] and rows[r] != columns[c]:
                reachable[rows[r]] += 1
                coverage[columns[c]] += 1
