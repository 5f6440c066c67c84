"""Distances in single precision that prove which pairs are too far apart (see ``protoset.spaces.series_search``).

Series are scaled, so that no value is larger than 1, and rounded. Along a path of L pairs of points with c channels
differences are wrong by at most u = 2^-24 for each of the two values, so that the root of the squared distance is wrong
by at most 2u sqrt(L c). Sums of numbers that are not negative are wrong by a factor of at most (1 + u)^(L c + 2).
``Rounding`` has both with a margin. A distance in single precision is therefore a lower bound and an upper bound.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part, plain
from protoset.kernels._lanes import LANES, N_VECTORS, fill_rows, lane_rows, sum_outside, vector_lanes
from protoset.kernels.warping import warp_within

UNIT_ROUNDOFF = 2.0**-24
"""Largest relative error of a number that is rounded to single precision."""

PADDED_SIZE = 64
"""Numbers of a row are a multiple of it, as vectors are loaded."""

KEOGH_BLOCK = 128
"""Numbers of LB_Keogh between two comparisons with the cut-off: a multiple of ``PADDED_SIZE``."""


class Rounding(NamedTuple):
    """How far a distance in single precision may be from the distance of the series."""

    scale: float
    """Factor of the values in single precision."""
    absolute: float
    """Largest absolute error of the root of a squared distance, in addition to the relative error."""
    relative: float
    """Largest factor between two squared distances."""
    root: bool
    """Whether distances are square roots."""


class SingleSeries(NamedTuple):
    """Series of equal length in single precision, scaled, and their envelopes.

    A row has the channels of all points, one point after the other, and zeros up to a multiple of ``PADDED_SIZE``.
    """

    values: np.ndarray
    upper: np.ndarray
    lower: np.ndarray


class Shape(NamedTuple):
    """Size of series of equal length, and how they are warped."""

    points: int
    channels: int
    radius: int


class Batch(NamedTuple):
    """Work space for pairs that are compared together: the pairs of one series with the series ``columns``."""

    x: np.ndarray
    cells: np.ndarray
    columns: np.ndarray
    starts: np.ndarray
    cutoffs: np.ndarray


@plain
def make_batch(shape, like):
    """Work space for series of this shape, which are the rows of ``like``; in plain Python, as it is made once."""
    x, cells, cutoffs = (lane_rows.py_func(n, like) for n in (like.shape[1], shape.points + 1, 1))
    x[:] = 0.0
    return Batch(x, cells, np.empty(LANES, np.int64), np.zeros(LANES, np.int64), cutoffs[0])


@compiled
def limit_of(threshold, rounding):
    """Squared distance in single precision beyond which a distance exceeds the threshold."""
    distance = threshold if rounding.root else np.sqrt(threshold)
    scaled = distance * rounding.scale + rounding.absolute
    return np.float32(scaled * scaled * rounding.relative)


@compiled
def largest_distance(squared, rounding):
    """Largest distance of a pair whose squared distance in single precision is given."""
    distance = (np.sqrt(np.float64(squared) * rounding.relative) + rounding.absolute) / rounding.scale
    return distance if rounding.root else distance * distance


@compiled(forceinline=True)
def keogh(values, i, upper, lower, j, cutoff):
    """LB_Keogh of row i to the envelopes of row j; a partial sum as soon as that exceeds the cut-off."""
    size = values.shape[1]
    total, vectors = values.dtype.type(0.0), vector_lanes(values)
    for first in range(0, size, KEOGH_BLOCK):
        count = min(KEOGH_BLOCK, size - first) // vectors
        total += sum_outside(values, i * size + first, upper, lower, j * size + first, count)
        if total > cutoff:
            break
    return total


@part
def fill_batch(batch, values, count):
    """Write the first ``count`` series of a batch, which are rows of ``values``, to the lanes."""
    size = values.shape[1]
    for lane in range(count):
        batch.starts[lane] = batch.columns[lane] * size
    width = vector_lanes(values) // N_VECTORS
    for at in range(0, size, width):
        for first in range(0, LANES, width):
            fill_rows(values, batch.starts, first, at, batch.x)
    for lane in range(count, LANES):
        # Empty lanes never hold up the end of a batch.
        batch.cutoffs[lane] = -1.0


@part(inline="never")
def warp_batch(i, rows, values, shape, count, batch):
    """Whether row i may be within the cut-off of any of the ``count`` series of a batch, which are rows of ``values``.

    If so, the squared distances are in the last row of ``batch.cells``.
    """
    fill_batch(batch, values, count)
    points, channels, radius = shape
    start = i * rows.shape[1]
    return warp_within(batch.x, rows, start, points, channels, radius, batch.cutoffs, batch.cells, count)
