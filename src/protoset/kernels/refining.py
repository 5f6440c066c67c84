"""Kernels of the refinement: the loss, and how every swap of a prototype for a candidate changes it.

The set of prototypes has slots. A slot holds a prototype or is free. Every object has two sides: side 0 are the
prototypes of its own class, side 1 those of the other classes. An object is not its own neighbour. Arrays per object:

    slots, distances    the ``KEPT`` nearest of side 0, nearest first, then those of side 1, from column ``KEPT`` on
    bounds              per side; every prototype nearer than the bound is in the columns above
    first_slots, first_distances    copies of the two nearest of side 0, then of side 1: most work reads these alone

Where there is no prototype the slot is -1 and the distance infinite. If the nearest prototype leaves, the second
takes over; so the two nearest of each side give the loss after any swap. The others move up when a prototype leaves,
so that objects rarely need a new search.

An object of which there are several copies has two rows: its own, which is not its own neighbour and stands for one
copy, and one for the further copies, which are at distance 0 from it. Only the own rows are candidates; they come
first.

Of equally good slots the first is taken, of equally near prototypes the one that came first. Equal distances do not
change the loss.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part, plain

TABLE_SIZE = 2048
"""Steps in a table of losses. The table takes half of the first-level cache of a processor."""

OTHER_FAR = TABLE_SIZE + 2.0
"""Position in the table of the loss where side 1 is infinitely far."""

SAME_FAR = TABLE_SIZE + 4.0
"""Position in the table of the loss where side 0 is infinitely far."""

FEW_CLASSES = 32
"""Up to this number of classes, ``next_move`` makes a table of the reach of each object for each class."""

KEPT = 6
"""Nearest prototypes that are kept per side: the two that give the loss, and four that move up."""

FAINT = 1e-3
"""Change of an object's loss that the estimate of a swap may leave out. A move is decided by exact changes."""


class Prototypes(NamedTuple):
    """The set that is refined."""

    members: np.ndarray
    """Prototype in each slot; -1 for a free slot."""
    is_member: np.ndarray
    """Whether each object is a prototype."""
    class_counts: np.ndarray
    """Number of prototypes of each class."""


class NearestPrototypes(NamedTuple):
    """Nearest prototypes of every object; the head of this file explains the columns."""

    slots: np.ndarray
    distances: np.ndarray
    bounds: np.ndarray
    first_slots: np.ndarray
    first_distances: np.ndarray


class Losses(NamedTuple):
    """Loss of every object, and how it changes."""

    per_object: np.ndarray
    """Columns: the loss, its rise if the nearest prototype of side 0 leaves, its rise if that of side 1 leaves, and the
    weight of the object in the objective. The weight stands here because it is read with the others."""
    reach: np.ndarray
    """Distance below which a candidate of the object's class (column 0), or of another class (column 1), changes the
    loss by more than ``FAINT``."""
    removal: np.ndarray
    """Rise of the objective if the prototype of each slot leaves."""
    table: np.ndarray
    """Table of losses, see ``protoset.selectors._refinable_set.loss_table``."""


class CandidateArrays(NamedTuple):
    """Distances to the candidates: of all objects, or of the objects that list a candidate as a neighbour."""

    columns: np.ndarray
    """Row c has the distances of all objects to candidate c; empty where the objects of each candidate are listed."""
    indptr: np.ndarray
    """Entries ``indptr[c]`` to ``indptr[c + 1]`` of ``rows`` and ``distances`` are those of candidate c."""
    rows: np.ndarray
    distances: np.ndarray


@compiled
def loss(same, other, steepness):
    """Loss of the refinement: logistic function of the relative difference of the distances to the two sides.

    ``same`` is the distance to the nearest prototype of the object's class, ``other`` that to the nearest prototype of
    another class. The loss is 1/2 where they are equal.
    """
    if same == other:
        return 0.5
    if same == np.inf:
        return 1.0
    if other == np.inf:
        return 0.0
    return 1.0 / (1.0 + np.exp(-steepness * (same - other) / (same + other)))


@compiled
def find_nearest(rows, columns, column_of, row_of, filled, members, codes, nearest):
    """Search the nearest prototypes of the objects ``rows`` from scratch.

    ``columns[column_of[p], row_of[r]]`` is the distance of object ``rows[r]`` to the prototype in slot ``filled[p]``.
    """
    slots, distances, bounds = nearest.slots, nearest.distances, nearest.bounds
    for r in range(rows.shape[0]):
        row = rows[r]
        bounds[row, 0], bounds[row, 1] = np.inf, np.inf
        for position in range(2 * KEPT):
            slots[row, position], distances[row, position] = -1, np.inf
    for p in range(filled.shape[0]):
        slot, member, column = filled[p], members[filled[p]], columns[column_of[p]]
        for r in range(rows.shape[0]):
            row, distance = rows[r], column[row_of[r]]
            side = np.int64(codes[member] != codes[row])
            if member != row and distance < bounds[row, side]:
                _insert(row, slot, distance, side, slots, distances, bounds)


@compiled
def objective_change(slot, candidate, column, codes, slots, distances, per_object, steepness, affected):
    """Exact change of the objective if a candidate takes a slot; if ``column`` is empty, the slot becomes free.

    ``column`` has the distances of all objects to the candidate. ``slots`` and ``distances`` are the first ones of the
    nearest prototypes. ``affected`` is work space for an index per object.
    """
    n, enters = slots.shape[0], column.shape[0] > 0
    # First collect the objects whose loss may change; without branches, which the processor could not predict.
    n_affected = 0
    for row in range(n):
        affected[n_affected] = row
        first = distances[row, 0] if enters and codes[row] == codes[candidate] else distances[row, 2]
        loses = (slots[row, 0] == slot) | (slots[row, 2] == slot)
        n_affected += loses | (enters and column[row] < first)
    change = 0.0
    for position in range(n_affected):
        row = affected[position]
        same = distances[row, 0] if slots[row, 0] != slot else distances[row, 1]
        other = distances[row, 2] if slots[row, 2] != slot else distances[row, 3]
        if enters and row != candidate:
            distance = column[row]
            if codes[row] == codes[candidate]:
                same = distance if distance < same else same
            else:
                other = distance if distance < other else other
        if same != distances[row, 0] or other != distances[row, 2]:
            change += per_object[row, 3] * (loss(same, other, steepness) - per_object[row, 0])
    return change


@compiled
def replace_prototype(slot, candidate, column, codes, nearest, affected, incomplete):
    """Replace the prototype of a slot by a candidate in ``nearest``; if ``column`` is empty, the slot becomes free.

    ``column`` has the distances of all objects to the candidate. Writes the objects whose nearest prototypes changed to
    ``affected``, and those of them that need ``find_nearest`` to ``incomplete``; returns the numbers of both.
    """
    slots, distances, bounds = nearest.slots, nearest.distances, nearest.bounds
    n, enters = slots.shape[0], column.shape[0] > 0
    n_affected = n_incomplete = 0
    for row in range(n):
        hole = -1
        for position in range(2 * KEPT):
            hole = position if slots[row, position] == slot else hole
        if hole >= 0:
            _remove(row, hole, slots, distances)
        gains, side = False, 0
        if enters and row != candidate:
            side = np.int64(codes[row] != codes[candidate])
            gains = column[row] < bounds[row, side]
        if gains:
            _insert(row, slot, column[row], side, slots, distances, bounds)
        if hole >= 0 or gains:
            affected[n_affected] = row
            n_affected += 1
        if hole >= 0 and (
            (slots[row, 1] < 0 and bounds[row, 0] < np.inf) or (slots[row, KEPT + 1] < 0 and bounds[row, 1] < np.inf)
        ):
            incomplete[n_incomplete] = row
            n_incomplete += 1
    return n_affected, n_incomplete


@part
def _remove(row, hole, slots, distances):
    """Remove the prototype in a column from the nearest of an object; the next nearest of its side move up."""
    last = KEPT - 1 if hole < KEPT else 2 * KEPT - 1
    for position in range(hole, last):
        slots[row, position], distances[row, position] = slots[row, position + 1], distances[row, position + 1]
    slots[row, last], distances[row, last] = -1, np.inf


@part
def _insert(row, slot, distance, side, slots, distances, bounds):
    """Insert a prototype, nearer than the bound, among the nearest of one side of an object."""
    first, hole = KEPT * side, KEPT * side + KEPT - 1
    # The prototype that is no longer kept, or not kept at all, limits what is known.
    last = distances[row, hole]
    limit = last if last > distance else distance
    bounds[row, side] = limit if limit < bounds[row, side] else bounds[row, side]
    if distance >= last:
        return
    while hole > first and distances[row, hole - 1] > distance:
        slots[row, hole], distances[row, hole] = slots[row, hole - 1], distances[row, hole - 1]
        hole -= 1
    slots[row, hole], distances[row, hole] = slot, distance


@compiled
def update_losses(rows, nearest, steepness, losses):
    """Compute the losses, the reach and the copies of the objects ``rows``, and the removal of all slots, anew."""
    slots, distances = nearest.first_slots, nearest.first_distances
    all_slots, all_distances = nearest.slots, nearest.distances
    per_object, reach, removal = losses.per_object, losses.reach, losses.removal
    sharpness = -np.log(FAINT) / steepness
    ratio = (1 + sharpness) / (1 - sharpness) if sharpness < 1 else np.inf
    for r in range(rows.shape[0]):
        row = rows[r]
        for position in range(4):
            column = position if position < 2 else KEPT - 2 + position
            slots[row, position], distances[row, position] = all_slots[row, column], all_distances[row, column]
        same, other = distances[row, 0], distances[row, 2]
        now = loss(same, other, steepness)
        per_object[row, 0] = now
        second, other_second = distances[row, 1], distances[row, 3]
        per_object[row, 1] = loss(second, other, steepness) - now
        per_object[row, 2] = loss(same, other_second, steepness) - now
        largest = now if now > per_object[row, 1] else per_object[row, 1]
        reach[row, 0] = second if largest * per_object[row, 3] > FAINT else 0.0
        # Holds also if the nearest of side 0 leaves, so that the second is the nearest.
        reach[row, 1] = second * ratio if 0.0 < second * ratio < other_second else other_second
    for slot in range(removal.shape[0]):
        removal[slot] = 0.0
    for row in range(slots.shape[0]):
        for side in range(2):
            if slots[row, 2 * side] >= 0:
                removal[slots[row, 2 * side]] += per_object[row, 3] * per_object[row, 1 + side]


@compiled(error_model="numpy")
def interpolated_loss(table, same, other):
    """Loss from a table, by linear interpolation: exact enough to choose candidates."""
    position = TABLE_SIZE - TABLE_SIZE * other / (same + other)
    position = position if other < np.inf else OTHER_FAR
    position = position if same < np.inf else SAME_FAR
    position = position if same != other else 0.5 * TABLE_SIZE
    entry = np.int64(position)
    return table[entry] + (position - entry) * (table[entry + 1] - table[entry])


@compiled(error_model="numpy", inline="always")
def estimate_swaps(candidate, code, count, rows, column, codes, slots, distances, per_object, table, changes):
    """Estimate how a candidate changes the objective: alone, and together with the removal of each prototype.

    Returns the change if the candidate enters and no prototype leaves, over the first ``count`` of the objects
    ``rows``, at the distances ``column``. Adds to ``changes`` the further change if the prototype of each slot leaves;
    the last entry takes the changes of slot -1 and means nothing. Written without branches, which the processor could
    not predict: an object may be of the class of the candidate or not, and the candidate may become its nearest of that
    side or its second.
    """
    entry = 0.0
    for e in range(count):
        row, distance = rows[e], column[e]
        is_other = codes[row] != code
        own, opposite = (2, 0) if is_other else (0, 2)
        rise, opposite_rise = per_object[row, 2 if is_other else 1], per_object[row, 1 if is_other else 2]
        now = per_object[row, 0]
        first, opposite_first = distances[row, own], distances[row, opposite]
        opposite_second = distances[row, opposite + 1]
        new = interpolated_loss(
            table, opposite_first if is_other else distance, distance if is_other else opposite_first
        )
        without = interpolated_loss(
            table, opposite_second if is_other else distance, distance if is_other else opposite_second
        )
        enters = distance < first
        weight = 0.0 if row == candidate else per_object[row, 3]
        entry += weight * (new - now) if enters else 0.0
        changes[slots[row, own]] -= weight * (rise if enters else rise + now - new)
        changes[slots[row, opposite]] += weight * (without - new - opposite_rise) if enters else 0.0
    return entry


@compiled(inline="always")
def objects_within(column, limits, rows, distances):
    """Write the objects nearer to a candidate than their limits, and their distances; return their number."""
    count = 0
    for row in range(column.shape[0]):
        rows[count], distances[count] = row, column[row]
        count += column[row] < limits[row]
    return count


@compiled
def objects_in_reach(code, rows, column, reach, codes, reached, distances):
    """Write those of the objects ``rows`` that a candidate of a class is in reach of, and their distances."""
    count = 0
    for e in range(rows.shape[0]):
        reached[count], distances[count] = rows[e], column[e]
        count += column[e] < reach[rows[e], np.int64(codes[rows[e]] != code)]
    return count


@compiled(inline="always")
def reach_by_class(codes, reach, limits):
    """Write the reach of every object for a candidate of each class to ``limits``, shape (n_classes, n_objects)."""
    for code in range(limits.shape[0]):
        for row in range(codes.shape[0]):
            limits[code, row] = reach[row, np.int64(codes[row] != code)]


@plain
def next_move(order, start, prototypes, candidates, codes, nearest, losses, least):
    """First move that saves ``least`` of the objective, from position ``start`` of ``order`` on: (position, slot).

    The candidate ``order[position]`` replaces the prototype of the slot, or fills a free slot. Position -1 means that
    the prototype of the slot should leave, without a candidate. If no move helps, the position is the length of
    ``order``. The last prototype of a class stays.
    """
    n, n_classes, budget = len(codes), len(prototypes.class_counts), len(prototypes.members)
    reached, reached_at, changes = np.empty(n, np.int32), np.empty(n), np.empty(budget + 1)
    # What is None is not compiled: either columns with limits, columns with the rows of all objects, or lists.
    columns = limits = all_rows = listed = None
    if len(candidates.columns) == 0:
        listed = candidates
    else:
        columns = candidates.columns
        # Reading the table of limits is faster, but making it for many classes is slow.
        if n_classes <= FEW_CLASSES:
            limits = np.empty((n_classes, n))
        else:
            all_rows = np.arange(n, dtype=np.int32)
    return _next_move(
        order, start, *prototypes, columns, limits, all_rows, listed, codes,
        nearest.first_slots, nearest.first_distances, *losses, least, reached, reached_at, changes,
    )  # fmt: skip


@compiled(error_model="numpy")
def _next_move(
    order, start, members, is_member, class_counts, columns, limits, all_rows, listed, codes, slots, distances,
    per_object, reach, removal, table, least, reached, reached_at, changes,
):  # fmt: skip
    """As ``next_move``; one of ``limits``, ``all_rows`` and ``listed`` is given, and the others are None.

    ``reached`` and ``reached_at`` are work space for the objects in reach of a candidate and their distances,
    ``changes`` for the changes of all slots.
    """
    drop = free = -1
    for slot in range(members.shape[0]):
        if members[slot] < 0:
            free = slot if free < 0 else free
            continue
        # Twice the least saving, so that rounding cannot undo the decision.
        is_last = class_counts[codes[members[slot]]] <= 1
        if not is_last and removal[slot] < (-2 * least if drop < 0 else removal[drop]):
            drop = slot
    if drop >= 0:
        return -1, drop
    if limits is not None:
        reach_by_class(codes, reach, limits)
    for position in range(start, order.shape[0]):
        candidate, count = order[position], 0
        if is_member[candidate]:
            continue
        code = codes[candidate]
        if limits is not None:
            count = objects_within(columns[candidate], limits[code], reached, reached_at)
        if all_rows is not None:
            column = columns[candidate]
            count = objects_in_reach(code, all_rows, column, reach, codes, reached, reached_at)
        if listed is not None:
            entries = slice(listed.indptr[candidate], listed.indptr[candidate + 1])
            rows, column = listed.rows[entries], listed.distances[entries]
            count = objects_in_reach(code, rows, column, reach, codes, reached, reached_at)
        for slot in range(members.shape[0]):
            changes[slot] = removal[slot]
        entry = estimate_swaps(
            candidate, code, count, reached, reached_at, codes, slots, distances, per_object, table, changes
        )
        best, change = free, entry if free >= 0 else 0.0
        for slot in range(members.shape[0]):
            member = members[slot]
            if member < 0 or (codes[member] != code and class_counts[codes[member]] <= 1):
                continue
            if entry + changes[slot] < change:
                best, change = slot, entry + changes[slot]
        if best >= 0 and change < -least:
            return position, best
    return order.shape[0], -1
