"""Kernels for votes of the k nearest neighbours.

By row order, as in ``winner`` and ``majority``: of equally near objects the lower index is nearer; of classes with
equal votes that of the nearest neighbour wins.

By majority, as in ``outvoted_listed`` and ``majority_of_tied``: all objects at the distance of the k-th neighbour vote.
Of classes with equal votes that of the nearest neighbour wins, of equally near ones the class with the larger total in
the training set, then the lower code. So the order of the objects decides nothing.
"""

import numpy as np

from protoset.kernels._compile import compiled
from protoset.kernels.ties import is_ahead


@compiled
def winner(neighbors, codes):
    """Class of most of the neighbours; of tied classes that of the nearest neighbour.

    Neighbours are listed nearest first and end at the first -1; without neighbours the class is -1. For a few
    neighbours; ``majority`` is faster for many.
    """
    most, winning = 0, np.int64(-1)
    for first in range(neighbors.shape[0]):
        if neighbors[first] < 0:
            break
        code = np.int64(codes[neighbors[first]])
        votes = 0
        for other in range(first, neighbors.shape[0]):
            if neighbors[other] < 0:
                break
            votes += codes[neighbors[other]] == code
        if votes > most:
            most = votes
            winning = code
    return winning


@compiled
def majority(neighbors, codes):
    """Class that wins the vote of the neighbours of each row, as in ``winner``."""
    n = neighbors.shape[0]
    winners = np.empty(n, np.int64)
    counts, first = np.zeros(codes.max() + 1, np.int64), np.empty(codes.max() + 1, np.int64)
    for row in range(n):
        leader = -1
        for position in range(neighbors.shape[1]):
            if neighbors[row, position] < 0:
                break
            leader = _count_vote(codes[neighbors[row, position]], position, leader, counts, first)
        winners[row] = leader
        _reset_votes(neighbors[row], codes, counts)
    return winners


@compiled
def wins_every_vote(neighbors, codes, own):
    """Whether the class ``own`` wins the vote of the nearest, the two nearest, ... and all neighbours of each row."""
    n = neighbors.shape[0]
    wins = np.ones(n, np.bool_)
    counts, first = np.zeros(codes.max() + 1, np.int64), np.empty(codes.max() + 1, np.int64)
    for row in range(n):
        leader = -1
        for position in range(neighbors.shape[1]):
            if neighbors[row, position] < 0:
                break
            leader = _count_vote(codes[neighbors[row, position]], position, leader, counts, first)
            if leader != own[row]:
                wins[row] = False
                break
        _reset_votes(neighbors[row], codes, counts)
    return wins


@compiled
def _count_vote(code, position, leader, counts, first):
    """Count a vote and return the leading class; of tied classes that of the nearest neighbour."""
    if counts[code] == 0:
        first[code] = position
    counts[code] += 1
    if leader < 0 or counts[code] > counts[leader]:
        return code
    return code if counts[code] == counts[leader] and first[code] < first[leader] else leader


@compiled
def _reset_votes(neighbors, codes, counts):
    for position in range(neighbors.shape[0]):
        if neighbors[position] < 0:
            break
        counts[codes[neighbors[position]]] = 0


@compiled
def push_nearer(rows, block, columns, priority, neighbors, distances):
    """Insert new objects into the sorted lists of the k nearest, by (distance, ``priority`` of the object).

    ``block`` has the distances of ``rows`` to the objects ``columns``. Lists end with index -1 at an
    infinite distance. An object is not its own neighbour.
    """
    for r in range(rows.shape[0]):
        near, near_distances = neighbors[rows[r]], distances[rows[r]]
        for c in range(columns.shape[0]):
            if block[r, c] <= near_distances[-1] and columns[c] != rows[r]:
                _insert(columns[c], block[r, c], priority, near, near_distances)


@compiled
def push_tied(rows, block, columns, priority, codes, neighbors, distances, tied_votes, has_tied):
    """As ``push_nearer``, and count the objects that tie with the last one of a list.

    ``tied_votes`` counts, by class, the objects at the distance of the last neighbour that are not in the list;
    ``has_tied`` says which rows have such objects.
    """
    for r in range(rows.shape[0]):
        row = rows[r]
        near, near_distances = neighbors[row], distances[row]
        for c in range(columns.shape[0]):
            farthest = near_distances[-1]
            if block[r, c] > farthest or columns[c] == row:
                continue
            left_over = _insert(columns[c], block[r, c], priority, near, near_distances)
            if left_over >= 0 and near_distances[-1] == farthest:
                tied_votes[row, codes[left_over]] += 1
                has_tied[row] = True
            elif has_tied[row]:
                tied_votes[row, :] = 0
                has_tied[row] = False


@compiled
def _insert(new, distance, priority, near, near_distances):
    """Insert an object that is no farther than the last one of a sorted list; return the object that has no room.

    This is the last one, -1 where the list had room, or the new one if it is as far and its ``priority`` is higher.
    """
    slot = near.shape[0] - 1
    last = near[slot]
    if distance == near_distances[slot] and last >= 0 and priority[new] > priority[last]:
        return new
    while slot > 0 and (
        near[slot - 1] < 0
        or near_distances[slot - 1] > distance
        or (near_distances[slot - 1] == distance and priority[near[slot - 1]] > priority[new])
    ):
        near_distances[slot], near[slot] = near_distances[slot - 1], near[slot - 1]
        slot -= 1
    near_distances[slot], near[slot] = distance, new
    return last


@compiled
def majority_of_tied(rows, codes, class_totals, neighbors, distances, tied_votes, has_tied):
    """Class that wins the vote of the neighbours of each row and of the objects that tie with the last one."""
    n_classes, k = class_totals.shape[0], neighbors.shape[1]
    winners = np.empty(rows.shape[0], np.int64)
    votes, nearest = np.zeros(n_classes, np.int64), np.empty(n_classes)
    for r in range(rows.shape[0]):
        row = rows[r]
        leader = np.int64(-1)
        if k == 1 and not has_tied[row]:
            winners[r] = -1 if neighbors[row, 0] < 0 else codes[neighbors[row, 0]]
            continue
        for position in range(k):
            if neighbors[row, position] < 0:
                break
            code = codes[neighbors[row, position]]
            if votes[code] == 0:
                nearest[code] = distances[row, position]
            votes[code] += 1
        if has_tied[row]:
            for code in range(n_classes):
                if votes[code] == 0:
                    nearest[code] = distances[row, k - 1]
                votes[code] += tied_votes[row, code]
        for code in range(n_classes):
            if votes[code] > 0 and (leader < 0 or _is_ahead(code, leader, votes, nearest, class_totals)):
                leader = code
        votes[:] = 0
        winners[r] = leader
    return winners


@compiled
def outvoted_listed(
    indptr, indices, distances, closed, rows, is_member, own, k, codes, class_totals, n_others, every
):  # fmt: skip
    """Whether the k nearest listed members of each row vote for another class than ``own``: 0 for no, 1 for yes.

    With ``every`` the votes of the nearest, the two nearest, ... and the k nearest are all taken. 2 where the list is
    too short: lists end with all objects at the distance of the last entry if they are ``closed``, and with all objects
    if they have ``n_others`` entries.
    """
    outcome = np.zeros(rows.shape[0], np.int8)
    n_classes = class_totals.shape[0]
    votes, nearest, present = np.zeros(n_classes, np.int64), np.empty(n_classes), np.empty(n_classes, np.int64)
    for r in range(rows.shape[0]):
        row = rows[r]
        entry, end = indptr[row], indptr[row + 1]
        count, n_present = 0, 0
        while entry < end and count < k:
            distance = distances[entry]
            before = count
            while entry < end and distances[entry] == distance:
                other = indices[entry]
                if is_member[other]:
                    code = codes[other]
                    if votes[code] == 0:
                        nearest[code], present[n_present] = distance, code
                        n_present += 1
                    votes[code] += 1
                    count += 1
                entry += 1
            if entry == end and not closed[row] and end - indptr[row] < n_others:
                outcome[r] = 2
                break
            if count > before and (every or count >= k):
                leader = _leader(present[:n_present], votes, nearest, class_totals)
                if leader != own[r]:
                    outcome[r] = 1
                    break
        if outcome[r] == 0 and count < k:
            if end - indptr[row] < n_others:
                outcome[r] = 2
            elif n_present > 0 and _leader(present[:n_present], votes, nearest, class_totals) != own[r]:
                outcome[r] = 1
        for position in range(n_present):
            votes[present[position]] = 0
    return outcome


@compiled
def order_ties(indptr, indices, distances, codes, priority):
    """Order equally near entries of each list by the ``priority`` of their class, lowest first; changes ``indices``.

    Entries of one class stay in their order.
    """
    for entry in range(1, indices.shape[0]):
        if distances[entry] != distances[entry - 1]:
            continue
        row_start = indptr[np.searchsorted(indptr, entry, side="right") - 1]
        moved, hole = indices[entry], entry
        while (
            hole > row_start
            and distances[hole - 1] == distances[entry]
            and priority[codes[indices[hole - 1]]] > priority[codes[moved]]
        ):
            indices[hole] = indices[hole - 1]
            hole -= 1
        indices[hole] = moved


@compiled
def _leader(present, votes, nearest, class_totals):
    leader = present[0]
    for position in range(1, present.shape[0]):
        if _is_ahead(present[position], leader, votes, nearest, class_totals):
            leader = present[position]
    return leader


@compiled
def _is_ahead(code, leader, votes, nearest, class_totals):
    """As ``ties.is_ahead``; of classes with equal votes that of the nearest neighbour is ahead."""
    if votes[code] == votes[leader] and nearest[code] != nearest[leader]:
        return nearest[code] < nearest[leader]
    return is_ahead(code, leader, votes, class_totals)
