"""Kernels for k-NN on everything: the class that the k nearest neighbours vote for, ties included.

Neighbours are counted by their weights, so that an object of weight 2 acts as two objects. All objects at the distance
of the k-th neighbour vote. Of classes with equal votes the one with the larger total in the training set wins, then the
lower code. So the class that wins does not depend on the order of rows or columns.
"""

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels.ties import is_ahead


@compiled
def vote_of_nearest(indptr, indices, distances, codes, weights, class_totals, own_codes, own_weights, ks):
    """Class that wins the vote of the k nearest neighbours of each row, for each of the ascending ``ks``.

    The neighbours of a row are listed nearest first. ``own_weights`` has the weight of further objects that equal the
    row, of the class ``own_codes``. Where all neighbours together weigh less than k, all vote. Without any neighbour
    the class with the largest total wins.
    """
    n_rows = indptr.shape[0] - 1
    winners = np.empty((n_rows, ks.shape[0]), np.int64)
    votes = np.zeros(class_totals.shape[0])
    for row in range(n_rows):
        votes[:] = 0.0
        weight, farthest = 0.0, -1.0
        if own_weights[row] > 0:
            weight, farthest = own_weights[row], 0.0
            votes[own_codes[row]] = weight
        entry = indptr[row]
        for position in range(ks.shape[0]):
            while entry < indptr[row + 1] and (weight <= ks[position] - 1 or distances[entry] == farthest):
                farthest = distances[entry]
                weight += weights[indices[entry]]
                votes[codes[indices[entry]]] += weights[indices[entry]]
                entry += 1
            winners[row, position] = _leader(votes, class_totals)
    return winners


@part
def _leader(votes, class_totals):
    leader = np.int64(0)
    for code in range(1, votes.shape[0]):
        if is_ahead(code, leader, votes, class_totals):
            leader = code
    return leader
