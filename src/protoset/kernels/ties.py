"""Kernels for the rule of ties: among equally near columns the majority of the labels decides.

The votes of a class are the counts of its tied columns, added up. Of classes with equal votes the one with the larger
total in the training set wins, then the lower code. Of the columns of that class the one with the largest count is
returned, then the first. So the class that wins does not depend on the order of rows or columns.
"""

import numpy as np

from protoset.kernels._compile import compiled, part

EQUAL_VOTES = 1.0 + 1e-9
"""Ratio of votes, or of totals, up to which they are equal: sums of weights depend on their order by rounding."""


@compiled
def nearest_by_majority(block, codes, counts, class_totals):
    """Position of the nearest column of each row of distances; ties go by the majority of the labels.

    ``codes`` and ``counts`` have the class and the count of each column, ``class_totals`` the size of each class in the
    training set.
    """
    n_rows, n_columns = block.shape
    positions = np.empty(n_rows, np.int64)
    votes = np.zeros(class_totals.shape[0])
    for row in range(n_rows):
        nearest, first, is_tied = block[row, 0], 0, False
        for column in range(1, n_columns):
            if block[row, column] < nearest:
                nearest, first, is_tied = block[row, column], column, False
            elif block[row, column] == nearest:
                is_tied = True
        positions[row] = first
        if is_tied:
            positions[row] = _winner(block[row], nearest, codes, counts, class_totals, votes)
    return positions


@part
def _winner(distances, nearest, codes, counts, class_totals, votes):
    """Column that wins the vote of the columns at the distance ``nearest``; leaves ``votes`` at 0."""
    for column in range(distances.shape[0]):
        if distances[column] == nearest:
            votes[codes[column]] += counts[column]
    leader = np.int64(-1)  # a type that is not that of a constant, so that ``is_ahead`` is compiled once
    for column in range(distances.shape[0]):
        if distances[column] == nearest and (leader < 0 or is_ahead(codes[column], leader, votes, class_totals)):
            leader = codes[column]
    winner = -1
    for column in range(distances.shape[0]):
        if distances[column] == nearest:
            votes[codes[column]] = 0.0
            if codes[column] == leader and (winner < 0 or counts[column] > counts[winner]):
                winner = column
    return winner


@part
def is_ahead(code, leader, votes, class_totals):
    """Whether a class goes before another one by votes, then by its total, then by its code."""
    if votes[code] > votes[leader] * EQUAL_VOTES or votes[leader] > votes[code] * EQUAL_VOTES:
        return votes[code] > votes[leader]
    total, other = class_totals[code], class_totals[leader]
    if total > other * EQUAL_VOTES or other > total * EQUAL_VOTES:
        return total > other
    return code < leader
