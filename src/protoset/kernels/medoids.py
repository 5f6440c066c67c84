"""Kernels for k-medoids: the two nearest medoids of each object, and swaps that lower the sum of distances."""

import numpy as np

from protoset.kernels._compile import compiled

NEGLIGIBLE_SAVING = 1e-12
"""Share of the loss that a swap must save, so that rounding cannot make swaps cycle."""


@compiled
def two_smallest(block):
    """Columns and values of the two smallest entries of each row; of ties the lower column first."""
    n, m = block.shape
    columns = np.full((n, 2), -1, np.int64)
    values = np.full((n, 2), np.inf)
    for row in range(n):
        for column in range(m):
            value = block[row, column]
            if columns[row, 0] < 0 or value < values[row, 0]:
                columns[row, 1], values[row, 1] = columns[row, 0], values[row, 0]
                columns[row, 0], values[row, 0] = column, value
            elif columns[row, 1] < 0 or value < values[row, 1]:
                columns[row, 1], values[row, 1] = column, value
    return columns, values


@compiled
def improving_swap(block, start, is_medoid, nearest, distances, n_medoids):
    """First candidate from ``start`` on that lowers the loss in place of a medoid, and that medoid; (-1, -1) if none.

    ``block`` has the distances of all objects to the candidates, a candidate per column. ``nearest``
    has the positions of the two nearest medoids of each object, ``distances`` their distances.
    """
    n = block.shape[0]
    loss = 0.0
    removal = np.zeros(n_medoids)
    for i in range(n):
        loss += distances[i, 0]
        removal[nearest[i, 0]] += distances[i, 1] - distances[i, 0]
    change = np.empty(n_medoids)
    for candidate in range(start, block.shape[1]):
        if is_medoid[candidate]:
            continue
        change[:] = removal
        shared = 0.0
        for i in range(n):
            distance = block[i, candidate]
            if distance < distances[i, 0]:
                shared += distance - distances[i, 0]
                change[nearest[i, 0]] += distances[i, 0] - distances[i, 1]
            elif distance < distances[i, 1]:
                change[nearest[i, 0]] += distance - distances[i, 1]
        leaving = 0
        for medoid in range(1, n_medoids):
            if change[medoid] < change[leaving]:
                leaving = medoid
        if change[leaving] + shared < -NEGLIGIBLE_SAVING * loss:
            return candidate, leaving
    return -1, -1


@compiled
def take_in(position, column, nearest, distances):
    """Insert a new medoid among the two nearest of each object that it is near enough to."""
    for i in range(column.shape[0]):
        if column[i] < distances[i, 0]:
            nearest[i, 1], distances[i, 1] = nearest[i, 0], distances[i, 0]
            nearest[i, 0], distances[i, 0] = position, column[i]
        elif column[i] < distances[i, 1]:
            nearest[i, 1], distances[i, 1] = position, column[i]
