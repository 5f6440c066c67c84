"""Kernels for nearest neighbours within a class."""

import numpy as np

from protoset.kernels._compile import compiled


@compiled
def nearest_other(block, own):
    """Column and value of the smallest entry of each row outside its column ``own``; of ties the lowest column.

    A row without another column has the column -1 and an infinite value.
    """
    n_rows, n_columns = block.shape
    columns = np.full(n_rows, -1, np.int64)
    values = np.full(n_rows, np.inf)
    for row in range(n_rows):
        for column in range(n_columns):
            if column != own[row] and (block[row, column] < values[row] or columns[row] < 0):
                columns[row] = column
                values[row] = block[row, column]
    return columns, values


@compiled
def move_on(queues, cursors, is_member):
    """Move each cursor to the next member in its queue; return the rows whose queue has none left.

    A queue may end with -1. A queue that begins with -1 is empty; its row is not returned.
    """
    n, length = queues.shape
    lost = np.empty(n, np.int64)
    n_lost = 0
    for row in range(n):
        cursor = cursors[row]
        if queues[row, cursor] < 0:
            continue
        while cursor < length and queues[row, cursor] >= 0 and not is_member[queues[row, cursor]]:
            cursor += 1
        if cursor < length and queues[row, cursor] >= 0:
            cursors[row] = cursor
        else:
            lost[n_lost] = row
            n_lost += 1
    return lost[:n_lost]
