"""Small operations on arrays that several rooms need."""

import numpy as np


def row_sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sum the entries of each compressed row; not as differences of running sums, which would cancel."""
    sums = np.add.reduceat(np.append(values, 0.0), indptr[:-1])
    sums[np.diff(indptr) == 0] = 0.0
    return sums
