"""Kernels for nearest neighbours within a class."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def nearest_other(block, own):
    """Column and value of the smallest entry of each row outside its column ``own``; the lowest among ties.

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
