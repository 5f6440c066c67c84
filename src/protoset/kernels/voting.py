"""Kernels for votes of the k nearest: (distance, index) decides who is nearer, the nearest of tied classes wins."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def winner(neighbors, codes):
    """Class that most of the neighbours have, that of the nearest among tied ones.

    They are listed nearest first and end at the first -1; without any the class is -1. For a few
    neighbours; ``majority`` counts many faster.
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


@njit(cache=True, nogil=True)
def majority(neighbors, codes):
    """Class that each row's neighbours vote for, as in ``winner``."""
    n = neighbors.shape[0]
    winners = np.empty(n, np.int64)
    counts, first = np.zeros(codes.max() + 1, np.int64), np.empty(codes.max() + 1, np.int64)
    for row in range(n):
        leader = -1
        for place in range(neighbors.shape[1]):
            if neighbors[row, place] < 0:
                break
            leader = _count_vote(codes[neighbors[row, place]], place, leader, counts, first)
        winners[row] = leader
        _forget_votes(neighbors[row], codes, counts)
    return winners


@njit(cache=True, nogil=True)
def wins_every_vote(neighbors, codes, own):
    """Whether the nearest one, the nearest two ... and all neighbours of each row vote for the class ``own``."""
    n = neighbors.shape[0]
    wins = np.ones(n, np.bool_)
    counts, first = np.zeros(codes.max() + 1, np.int64), np.empty(codes.max() + 1, np.int64)
    for row in range(n):
        leader = -1
        for place in range(neighbors.shape[1]):
            if neighbors[row, place] < 0:
                break
            leader = _count_vote(codes[neighbors[row, place]], place, leader, counts, first)
            if leader != own[row]:
                wins[row] = False
                break
        _forget_votes(neighbors[row], codes, counts)
    return wins


@njit(cache=True, nogil=True)
def _count_vote(code, place, leader, counts, first):
    """Count one more vote and return the class that leads, among tied ones that of the nearest."""
    if counts[code] == 0:
        first[code] = place
    counts[code] += 1
    if leader < 0 or counts[code] > counts[leader]:
        return code
    return code if counts[code] == counts[leader] and first[code] < first[leader] else leader


@njit(cache=True, nogil=True)
def _forget_votes(neighbors, codes, counts):
    for place in range(neighbors.shape[0]):
        if neighbors[place] < 0:
            break
        counts[codes[neighbors[place]]] = 0


@njit(cache=True, nogil=True)
def push_nearer(rows, block, columns, neighbors, distances):
    """Let new objects into the sorted lists of the k nearest, by (distance, index).

    ``block`` has the distances of ``rows`` to the objects ``columns``. Lists end with index -1 at an
    infinite distance. An object does not enter its own list.
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
            hole = k - 1
            while hole > 0 and (
                neighbors[row, hole - 1] < 0
                or distances[row, hole - 1] > distance
                or (distances[row, hole - 1] == distance and neighbors[row, hole - 1] > column)
            ):
                distances[row, hole] = distances[row, hole - 1]
                neighbors[row, hole] = neighbors[row, hole - 1]
                hole -= 1
            distances[row, hole] = distance
            neighbors[row, hole] = column
