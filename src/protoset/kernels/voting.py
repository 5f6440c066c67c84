"""Kernels for votes of the k nearest neighbours.

Ties: of equally near objects the lower index is nearer; of classes with equal votes that of the nearest neighbour wins.
"""

import numpy as np

from protoset.kernels._compile import compiled


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
def push_nearer(rows, block, columns, neighbors, distances):
    """Insert new objects into the sorted lists of the k nearest, by (distance, index).

    ``block`` has the distances of ``rows`` to the objects ``columns``. Lists end with index -1 at an
    infinite distance. An object is not its own neighbour.
    """
    k = neighbors.shape[1]
    for r in range(rows.shape[0]):
        row = rows[r]
        for c in range(columns.shape[0]):
            distance, column = block[r, c], columns[c]
            last = neighbors[row, k - 1]
            if distance > distances[row, k - 1] or column == row:
                continue
            if distance == distances[row, k - 1] and last >= 0 and column > last:
                continue
            slot = k - 1
            while slot > 0 and (
                neighbors[row, slot - 1] < 0
                or distances[row, slot - 1] > distance
                or (distances[row, slot - 1] == distance and neighbors[row, slot - 1] > column)
            ):
                distances[row, slot] = distances[row, slot - 1]
                neighbors[row, slot] = neighbors[row, slot - 1]
                slot -= 1
            distances[row, slot] = distance
            neighbors[row, slot] = column
