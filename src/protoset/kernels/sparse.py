"""Kernels for rows of compressed sparse matrices (see ``protoset.spaces.sparse_vectors``)."""

import numpy as np

from protoset.kernels._compile import compiled


@compiled
def difference_block(a_indptr, a_indices, a_data, b_indptr, b_indices, b_data, absolute):
    """Sum of the squared (or absolute) differences of every row of a to every row of b; entries are sorted."""
    n, m = a_indptr.shape[0] - 1, b_indptr.shape[0] - 1
    block = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            x, x_end = a_indptr[i], a_indptr[i + 1]
            y, y_end = b_indptr[j], b_indptr[j + 1]
            total = 0.0
            while x < x_end or y < y_end:
                if y >= y_end or (x < x_end and a_indices[x] < b_indices[y]):
                    difference = a_data[x]
                    x += 1
                elif x >= x_end or b_indices[y] < a_indices[x]:
                    difference = b_data[y]
                    y += 1
                else:
                    difference = a_data[x] - b_data[y]
                    x += 1
                    y += 1
                total += abs(difference) if absolute else difference * difference
            block[i, j] = total
    return block
