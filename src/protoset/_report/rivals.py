"""The nearest rival of a prototype: the nearest prototype of another class."""

from __future__ import annotations

import numpy as np

from protoset._report.inputs import ReportInputs

ROWS_AT_ONCE = 250
"""Prototypes whose dissimilarities to all others are computed at once."""


def find_rivals(inputs: ReportInputs, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest rivals of prototypes, given as columns of the dissimilarities, and the distances to them.

    The distance of a moved prototype is that of its nearest real case. A rival is -1 where there is none, or none at a
    finite distance.
    """
    n, codes = inputs.train.n_objects, inputs.column_codes[kept]
    rows = kept.copy()
    if inputs.moved is not None:
        is_moved = kept >= n
        rows[is_moved] = inputs.moved.exemplars[kept[is_moved] - n]
    rivals, distances = np.full(len(kept), -1), np.full(len(kept), np.inf)
    for start in range(0, len(kept), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        block = np.array(inputs.distances.block(rows[some], kept), float)
        block[codes[some, None] == codes[None, :]] = np.inf
        nearest = block.argmin(axis=1)
        distances[some] = block[np.arange(len(block)), nearest]
        rivals[some] = np.where(np.isfinite(distances[some]), kept[nearest], -1)
    return rivals, distances
