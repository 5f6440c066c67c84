"""Kernels of the refinement: what a candidate would change in place of each prototype, in one pass.

Every object has its two nearest prototypes of its own class and its two nearest of other classes, in the
columns 0, 1 and 2, 3 of ``near`` (places in the set, -1 for none) and ``distances`` (infinite for none).
A prototype that leaves concerns the objects that it is the first of; a candidate that enters, those
that it is nearer to than their second.
"""

import numpy as np
from numba import njit

TABLE_SIZE = 4096
"""Steps in a table of losses."""

FAINT = 1e-3
"""Change of an object's loss that pricing a candidate may leave out; moves are judged without leaving anything out."""


@njit(cache=True, nogil=True)
def loss(same, other, steepness):
    """Logistic loss of the relative difference of two distances; 1/2 where neither is nearer."""
    if same == other:
        return 0.5
    if same == np.inf:
        return 1.0
    if other == np.inf:
        return 0.0
    return 1.0 / (1.0 + np.exp(-steepness * (same - other) / (same + other)))


@njit(cache=True, nogil=True)
def two_nearest(rows, block, places, members, codes, near, distances):
    """Find the two nearest members of either side anew, for the objects ``rows``.

    ``block`` has their distances to the members in the given places of the set. An object is not its own
    neighbour.
    """
    for r in range(rows.shape[0]):
        row = rows[r]
        for column in range(4):
            near[row, column], distances[row, column] = -1, np.inf
        for c in range(places.shape[0]):
            member = members[places[c]]
            if member != row:
                enter(row, places[c], block[r, c], codes[member] == codes[row], near, distances)


@njit(cache=True, nogil=True)
def touched(place, candidate, column, codes, near, distances):
    """Objects that lose the prototype in a place, and others that would take a candidate among their two nearest.

    ``column`` has the distances to the candidate; empty where nobody enters.
    """
    n = near.shape[0]
    lost, seen = np.empty(n, np.int64), np.empty(n, np.int64)
    n_lost = n_seen = 0
    for row in range(n):
        if near[row, 0] == place or near[row, 1] == place or near[row, 2] == place or near[row, 3] == place:
            lost[n_lost] = row
            n_lost += 1
        elif column.shape[0] == 0 or row == candidate:
            continue
        elif column[row] < distances[row, 1 if codes[row] == codes[candidate] else 3]:
            seen[n_seen] = row
            n_seen += 1
    return lost[:n_lost], seen[:n_seen]


@njit(cache=True, nogil=True)
def enter_all(rows, place, member, column, codes, near, distances):
    """Let a new member into the two nearest of the objects ``rows``."""
    for row in rows:
        enter(row, place, column[row], codes[row] == codes[member], near, distances)


@njit(cache=True, nogil=True)
def enter(row, place, distance, is_same, near, distances):
    """Let a member into an object's two nearest of its side, if it is nearer."""
    first = 0 if is_same else 2
    if distance < distances[row, first] or near[row, first] < 0:
        near[row, first + 1], distances[row, first + 1] = near[row, first], distances[row, first]
        near[row, first], distances[row, first] = place, distance
    elif distance < distances[row, first + 1] or near[row, first + 1] < 0:
        near[row, first + 1], distances[row, first + 1] = place, distance


@njit(cache=True, nogil=True)
def losses(rows, distances, steepness, losing, reach):
    """Judge the objects ``rows`` anew; return the change of the sum of their losses.

    Columns of ``losing``: the loss, the rise if the nearest of its class leaves, the rise if the nearest other leaves.
    Columns of ``reach``: how near a candidate of its class, and of another class, must come to change a loss by
    more than ``FAINT``.
    """
    sharpness = -np.log(FAINT) / steepness
    ratio = (1 + sharpness) / (1 - sharpness) if sharpness < 1 else np.inf
    change = 0.0
    for row in rows:
        same, other = distances[row, 0], distances[row, 2]
        now = loss(same, other, steepness)
        change += now - losing[row, 0]
        losing[row, 0] = now
        losing[row, 1] = loss(distances[row, 1], other, steepness) - now
        losing[row, 2] = loss(same, distances[row, 3], steepness) - now
        reach[row, 0] = distances[row, 1] if max(now, losing[row, 1]) > FAINT else 0.0
        # Also if the nearest of its class leaves and the second one is left.
        second = distances[row, 1]
        reach[row, 1] = min(distances[row, 3], second * ratio) if second > 0 else distances[row, 3]
    return change


@njit(cache=True, nogil=True)
def leaving_rises(near, losing, rises):
    """Rise of the objective if each of the prototypes leaves."""
    rises[:] = 0.0
    for row in range(near.shape[0]):
        if near[row, 0] >= 0:
            rises[near[row, 0]] += losing[row, 1]
        if near[row, 2] >= 0:
            rises[near[row, 2]] += losing[row, 2]


@njit(cache=True, nogil=True)
def loss_table(steepness):
    """Losses at evenly spaced relative differences from -1 to 1."""
    table = np.empty(TABLE_SIZE + 2)
    for entry in range(TABLE_SIZE + 2):
        table[entry] = 1.0 / (1.0 + np.exp(-steepness * (2.0 * entry / TABLE_SIZE - 1.0)))
    return table


@njit(cache=True, nogil=True)
def loss_from(table, same, other):
    """Loss, read from a table: good enough for prices, which then take a quarter less time."""
    if same == other:
        return 0.5
    if same == np.inf:
        return 1.0
    if other == np.inf:
        return 0.0
    place = ((same - other) / (same + other) + 1.0) * (0.5 * TABLE_SIZE)
    entry = int(place)
    return table[entry] + (place - entry) * (table[entry + 1] - table[entry])


@njit(cache=True, nogil=True)
def effect(row, distance, is_other, near, distances, losing, table, changes):
    """Return what a candidate's entry changes for one object; add to ``changes`` what it does if a first one leaves."""
    same_first, other_first = near[row, 0], near[row, 2]
    now = losing[row, 0]
    if is_other:
        new = loss_from(table, distances[row, 0], distance)
        if distance >= distances[row, 2]:
            if other_first >= 0:  # it would be the second, and the first if that leaves
                changes[other_first] += new - now - losing[row, 2]
            return 0.0
        if other_first >= 0:
            changes[other_first] -= losing[row, 2]
        if same_first >= 0:
            changes[same_first] += loss_from(table, distances[row, 1], distance) - new - losing[row, 1]
    else:
        new = loss_from(table, distance, distances[row, 2])
        if distance >= distances[row, 0]:
            if same_first >= 0:
                changes[same_first] += new - now - losing[row, 1]
            return 0.0
        if same_first >= 0:
            changes[same_first] -= losing[row, 1]
        if other_first >= 0:
            changes[other_first] += loss_from(table, distance, distances[row, 3]) - new - losing[row, 2]
    return new - now


@njit(cache=True, nogil=True)
def price_by_column(candidate, code, column, limits, codes, near, distances, losing, table, changes):
    """Effect of a candidate on all objects nearer to it than their limits."""
    entry = 0.0
    for row in range(column.shape[0]):
        if column[row] < limits[row] and row != candidate:
            entry += effect(row, column[row], codes[row] != code, near, distances, losing, table, changes)
    return entry


@njit(cache=True, nogil=True)
def price_by_list(code, rows, column, reach, codes, near, distances, losing, table, changes):
    """Effect of a candidate on the objects ``rows`` that see it, at the distances ``column``."""
    entry = 0.0
    for e in range(rows.shape[0]):
        row, is_other = rows[e], codes[rows[e]] != code
        if column[e] < reach[row, np.int64(is_other)]:
            entry += effect(row, column[e], is_other, near, distances, losing, table, changes)
    return entry


@njit(cache=True, nogil=True)
def limits_of_classes(n_classes, codes, reach):
    """How near a candidate of each class must come to each object to matter."""
    limits = np.empty((n_classes, codes.shape[0]))
    for code in range(n_classes):
        for row in range(codes.shape[0]):
            limits[code, row] = reach[row, np.int64(codes[row] != code)]
    return limits


@njit(cache=True, nogil=True)
def next_move(
    order, start, members, is_member, class_counts, free, columns, indptr, rows, column, codes, near, distances, losing,
    reach, rises, steepness, least, changes,
):  # fmt: skip
    """First move from candidate number ``start`` on that saves ``least`` of the objective: (candidate number, place).

    The candidate takes the place of the prototype there, or a free place; a candidate number of -1 stands for
    a prototype that had better leave. Where no move helps, the candidate number is that after the last.
    ``free`` is a free place, -1 if there is none. The last prototype of a class stays. ``columns`` has everyone's
    distances to each candidate; where it is empty, ``indptr``, ``rows`` and ``column`` list those who see it.
    """
    drop = -1
    for place in range(members.shape[0]):
        is_free = members[place] < 0 or class_counts[codes[members[place]]] <= 1
        # Well beyond what counts, so that the move is surely made.
        if not is_free and rises[place] < (-2 * least if drop < 0 else rises[drop]):
            drop = place
    if drop >= 0:
        return -1, drop
    table = loss_table(steepness)
    limits = limits_of_classes(class_counts.shape[0] if columns.shape[0] > 0 else 0, codes, reach)
    for number in range(start, order.shape[0]):
        candidate = order[number]
        if is_member[candidate]:
            continue
        code = codes[candidate]
        changes[:] = rises
        if columns.shape[0] > 0:
            entry = price_by_column(
                candidate, code, columns[candidate], limits[code], codes, near, distances, losing, table, changes
            )
        else:
            seen = slice(indptr[candidate], indptr[candidate + 1])
            entry = price_by_list(code, rows[seen], column[seen], reach, codes, near, distances, losing, table, changes)
        best, change = free, entry if free >= 0 else 0.0
        for place in range(members.shape[0]):
            member = members[place]
            if member < 0 or (codes[member] != code and class_counts[codes[member]] <= 1):
                continue
            if entry + changes[place] < change:
                best, change = place, entry + changes[place]
        if best >= 0 and change < -least:
            return number, best
    return order.shape[0], -1
