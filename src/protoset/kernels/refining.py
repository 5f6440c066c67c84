"""Kernels of the refinement: what a candidate would change in place of each prototype, in one pass.

Every object has its two nearest prototypes of its own class and its two nearest of other classes, in the
columns 0, 1 and 2, 3 of ``near`` (places in the set, -1 for none) and ``distances`` (infinite for none).
A prototype that leaves concerns the objects that it is the first of; a candidate that enters, those
that it is nearer to than their second.

The ``SPARES`` next ones of either side are in ``spare`` and ``spare_distances``, and move up when one leaves. All
members nearer than the ``bound`` of their side are among these.
"""

import numpy as np
from numba import njit

TABLE_SIZE = 2048
"""Steps in a table of losses: half of a processor's nearest cache."""

OTHER_FAR, SAME_FAR = TABLE_SIZE + 2.0, TABLE_SIZE + 4.0
"""Where the table has the losses if one side is infinitely far."""

FEW_CLASSES = 32
"""Up to so many classes there is a table of how near a candidate of each class must come to everyone."""

SPARES = 4
"""Prototypes of either side that are known beyond the two nearest, so that these need not be searched anew so often."""

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
def two_nearest(
    rows, columns, column_of, row_of, places, members, codes, near, distances, spare, spare_distances, bound
):  # fmt: skip
    """Find the nearest members of either side anew, for the objects ``rows``.

    ``columns[column_of[p], row_of[r]]`` is the distance of object ``rows[r]`` to the member in ``places[p]`` of the
    set. An object is not its own neighbour.
    """
    for row in rows:
        near[row, :], distances[row, :] = -1, np.inf
        spare[row, :], spare_distances[row, :], bound[row, :] = -1, np.inf, np.inf
    for p in range(places.shape[0]):
        place, member, column = places[p], members[places[p]], columns[column_of[p]]
        for r in range(rows.shape[0]):
            row, distance = rows[r], column[row_of[r]]
            side = np.int64(codes[member] != codes[row])
            if member != row and distance < bound[row, side]:
                enter(row, place, distance, side, near, distances, spare, spare_distances, bound)


@njit(cache=True, nogil=True)
def change_of(place, candidate, column, codes, near, distances, losing, steepness):
    """Change of the objective if a candidate takes a prototype's place; nobody enters where ``column`` is empty."""
    n, enters = near.shape[0], column.shape[0] > 0
    # First those whom it concerns, without a branch that no processor foresees.
    concerned, n_concerned = np.empty(n, np.int32), 0
    for row in range(n):
        concerned[n_concerned] = row
        first = distances[row, 0] if enters and codes[row] == codes[candidate] else distances[row, 2]
        loses = (near[row, 0] == place) | (near[row, 2] == place)
        n_concerned += loses | (enters and column[row] < first)
    change = 0.0
    for row in concerned[:n_concerned]:
        same = distances[row, 0] if near[row, 0] != place else distances[row, 1]
        other = distances[row, 2] if near[row, 2] != place else distances[row, 3]
        if enters and row != candidate:
            if codes[row] == codes[candidate]:
                same = min(same, column[row])
            else:
                other = min(other, column[row])
        if same != distances[row, 0] or other != distances[row, 2]:
            change += loss(same, other, steepness) - losing[row, 0]
    return change


@njit(cache=True, nogil=True)
def touched(place, candidate, column, codes, near, spare, bound):
    """Objects that know the prototype in a place, and others that would know a candidate.

    ``column`` has the distances to the candidate; empty where nobody enters.
    """
    n = near.shape[0]
    lost, seen = np.empty(n, np.int64), np.empty(n, np.int64)
    n_lost = n_seen = 0
    for row in range(n):
        knows = False
        for side in range(near.shape[1]):
            knows |= near[row, side] == place
        for side in range(spare.shape[1]):
            knows |= spare[row, side] == place
        if knows:
            lost[n_lost] = row
            n_lost += 1
        elif column.shape[0] == 0 or row == candidate:
            continue
        elif column[row] < bound[row, np.int64(codes[row] != codes[candidate])]:
            seen[n_seen] = row
            n_seen += 1
    return lost[:n_lost], seen[:n_seen]


@njit(cache=True, nogil=True)
def leave_all(rows, place, near, distances, spare, spare_distances):
    """Let the member in a place out of what the objects ``rows`` know; the next nearest take its place."""
    for row in rows:
        for side in range(2):
            hole, first, last = -1, 2 * side, SPARES * (side + 1)
            if near[row, first] == place:
                near[row, first], distances[row, first] = near[row, first + 1], distances[row, first + 1]
                hole = SPARES * side
            elif near[row, first + 1] == place:
                hole = SPARES * side
            if hole >= 0:
                near[row, first + 1], distances[row, first + 1] = spare[row, hole], spare_distances[row, hole]
            for number in range(SPARES * side, last):
                hole = number if spare[row, number] == place else hole
            if hole >= 0:
                for number in range(hole, last - 1):
                    spare[row, number], spare_distances[row, number] = (
                        spare[row, number + 1],
                        spare_distances[row, number + 1],
                    )
                spare[row, last - 1], spare_distances[row, last - 1] = -1, np.inf


@njit(cache=True, nogil=True)
def enter_all(rows, place, member, column, codes, near, distances, spare, spare_distances, bound):
    """Let a new member into what the objects ``rows`` know, where it is near enough."""
    for row in rows:
        side = np.int64(codes[row] != codes[member])
        if row != member and column[row] < bound[row, side]:
            enter(row, place, column[row], side, near, distances, spare, spare_distances, bound)


@njit(cache=True, nogil=True)
def enter(row, place, distance, side, near, distances, spare, spare_distances, bound):
    """Let a member, nearer than the bound, into an object's nearest of a side (0: its class, 1: others)."""
    first, second = 2 * side, 2 * side + 1
    # Who is displaced goes on to the spares.
    if distance < distances[row, first] or near[row, first] < 0:
        near[row, first], place = place, near[row, first]
        distances[row, first], distance = distance, distances[row, first]
    if place >= 0 and (distance < distances[row, second] or near[row, second] < 0):
        near[row, second], place = place, near[row, second]
        distances[row, second], distance = distance, distances[row, second]
    if place < 0:
        return
    hole, first = SPARES * (side + 1) - 1, SPARES * side
    bound[row, side] = min(bound[row, side], max(distance, spare_distances[row, hole]))
    if distance >= spare_distances[row, hole]:
        return
    while hole > first and spare_distances[row, hole - 1] > distance:
        spare[row, hole], spare_distances[row, hole] = spare[row, hole - 1], spare_distances[row, hole - 1]
        hole -= 1
    spare[row, hole], spare_distances[row, hole] = place, distance


@njit(cache=True, nogil=True)
def incomplete(rows, near, bound):
    """Those of the objects ``rows`` that do not know their second nearest any more."""
    found = np.empty(rows.shape[0], np.int64)
    n_found = 0
    for row in rows:
        if (near[row, 1] < 0 and bound[row, 0] < np.inf) or (near[row, 3] < 0 and bound[row, 1] < np.inf):
            found[n_found] = row
            n_found += 1
    return found[:n_found]


@njit(cache=True, nogil=True)
def losses(rows, distances, steepness, losing, reach):
    """Judge the objects ``rows`` anew.

    Columns of ``losing``: the loss, the rise if the nearest of its class leaves, the rise if the nearest other leaves.
    Columns of ``reach``: how near a candidate of its class, and of another class, must come to change a loss by
    more than ``FAINT``.
    """
    sharpness = -np.log(FAINT) / steepness
    ratio = (1 + sharpness) / (1 - sharpness) if sharpness < 1 else np.inf
    for row in rows:
        same, other = distances[row, 0], distances[row, 2]
        now = loss(same, other, steepness)
        losing[row, 0] = now
        losing[row, 1] = loss(distances[row, 1], other, steepness) - now
        losing[row, 2] = loss(same, distances[row, 3], steepness) - now
        reach[row, 0] = distances[row, 1] if max(now, losing[row, 1]) > FAINT else 0.0
        # Also if the nearest of its class leaves and the second one is left.
        second = distances[row, 1]
        reach[row, 1] = min(distances[row, 3], second * ratio) if second > 0 else distances[row, 3]


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
    """Losses at evenly spaced relative differences from -1 to 1, then those where a side is infinitely far."""
    table = np.empty(TABLE_SIZE + 6)
    for entry in range(TABLE_SIZE + 2):
        table[entry] = 1.0 / (1.0 + np.exp(-steepness * (2.0 * entry / TABLE_SIZE - 1.0)))
    table[int(OTHER_FAR) : int(SAME_FAR)], table[int(SAME_FAR) :] = 0.0, 1.0
    return table


@njit(cache=True, nogil=True, error_model="numpy")
def loss_from(table, same, other):
    """Loss, read from a table: good enough for prices."""
    place = TABLE_SIZE - TABLE_SIZE * other / (same + other)
    place = place if other < np.inf else OTHER_FAR
    place = place if same < np.inf else SAME_FAR
    place = place if same != other else 0.5 * TABLE_SIZE
    entry = int(place)
    return table[entry] + (place - entry) * (table[entry + 1] - table[entry])


@njit(cache=True, nogil=True, error_model="numpy")
def price(candidate, code, rows, column, codes, near, distances, losing, table, changes):
    """Return what a candidate changes for the objects ``rows``, at the distances ``column``, if nobody leaves.

    What it changes beyond that if the prototype in a place leaves is added to ``changes``, whose last entry is for
    places that are none. Written without branches, because no processor foresees them: an object may be of the
    candidate's class or not, and have the candidate as its new first on that side or as its second.
    """
    entry = 0.0
    for e in range(rows.shape[0]):
        row, distance = rows[e], column[e]
        is_other = codes[row] != code
        own, opposite = (2, 0) if is_other else (0, 2)
        now, rise, opposite_rise = losing[row, 0], losing[row, 1 + own // 2], losing[row, 1 + opposite // 2]
        first, opposite_first = distances[row, own], distances[row, opposite]
        opposite_second = distances[row, opposite + 1]
        new = loss_from(table, opposite_first if is_other else distance, distance if is_other else opposite_first)
        without = loss_from(table, opposite_second if is_other else distance, distance if is_other else opposite_second)
        enters = distance < first
        counts = 0.0 if row == candidate else 1.0
        entry += counts * (new - now) if enters else 0.0
        changes[near[row, own]] -= counts * (rise if enters else rise + now - new)
        changes[near[row, opposite]] += counts * (without - new - opposite_rise) if enters else 0.0
    return entry


@njit(cache=True, nogil=True)
def seen_of(column, limits, rows, distances):
    """Write the objects nearer to a candidate than their limits, and their distances; return how many."""
    n_seen = 0
    for row in range(column.shape[0]):
        rows[n_seen], distances[n_seen] = row, column[row]
        n_seen += column[row] < limits[row]
    return n_seen


@njit(cache=True, nogil=True)
def seen_in(code, rows, column, reach, codes, seen, seen_at):
    """Write those of the objects ``rows`` that a candidate of a class is near enough to, and their distances."""
    n_seen = 0
    for e in range(rows.shape[0]):
        seen[n_seen], seen_at[n_seen] = rows[e], column[e]
        n_seen += column[e] < reach[rows[e], np.int64(codes[rows[e]] != code)]
    return n_seen


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
    order, start, members, is_member, class_counts, free, columns, indptr, rows, listed_at, codes, near, distances,
    losing, reach, rises, table, least, changes,
):  # fmt: skip
    """First move from candidate number ``start`` on that saves ``least`` of the objective: (candidate number, place).

    The candidate takes the place of the prototype there, or a free place; a candidate number of -1 stands for
    a prototype that had better leave. Where no move helps, the candidate number is that after the last.
    ``free`` is a free place, -1 if there is none. The last prototype of a class stays. ``columns`` has everyone's
    distances to each candidate; where it is empty, ``indptr``, ``rows`` and ``listed_at`` list those who see it.
    ``table`` is that of the losses.
    """
    drop = -1
    for place in range(members.shape[0]):
        stays = members[place] < 0 or class_counts[codes[members[place]]] <= 1
        # Well beyond what counts, so that the move is surely made.
        if not stays and rises[place] < (-2 * least if drop < 0 else rises[drop]):
            drop = place
    if drop >= 0:
        return -1, drop
    seen, seen_at = np.empty(codes.shape[0], np.int32), np.empty(codes.shape[0])
    everyone, n_classes = np.arange(codes.shape[0]).astype(np.int32), class_counts.shape[0]
    # A table of limits is quicker to read, but takes long to make for many classes.
    limits = limits_of_classes(n_classes if columns.shape[0] > 0 and n_classes <= FEW_CLASSES else 0, codes, reach)
    for number in range(start, order.shape[0]):
        candidate = order[number]
        if is_member[candidate]:
            continue
        code = codes[candidate]
        if limits.shape[0] > 0:
            n_seen = seen_of(columns[candidate], limits[code], seen, seen_at)
        elif columns.shape[0] > 0:
            n_seen = seen_in(code, everyone, columns[candidate], reach, codes, seen, seen_at)
        else:
            listed = slice(indptr[candidate], indptr[candidate + 1])
            n_seen = seen_in(code, rows[listed], listed_at[listed], reach, codes, seen, seen_at)
        changes[:-1] = rises
        entry = price(candidate, code, seen[:n_seen], seen_at[:n_seen], codes, near, distances, losing, table, changes)
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
