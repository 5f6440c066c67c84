"""Warped distances of many pairs at once.

``LANES`` pairs of series of the same two lengths are warped together, so that the compiler can use vector
instructions: the last axis of the arrays has one lane for each pair. Costs and their order are those of ``series.dtw``,
so that distances are the same to the last bit.
"""

import numpy as np

from protoset.kernels._compile import part
from protoset.kernels.series import CUTOFF_MARGIN, FINITE_MATH

LANES = 64
"""Pairs of series that are warped together: fewer are not worth vector instructions."""

ROWS_PER_CHECK = 8
"""Rows of cells between two comparisons with the cut-offs."""


@part
def band_base(i, radius):
    """Column of the cell before the band in row i; rows and columns count from 1."""
    return max(0, i - radius - 1)


@part
def band_cells(m, radius):
    """Cells of a row of the band, with one before it and one after it."""
    return min(m, 2 * radius + 1) + 2


@part
def start_band(previous, m, radius):
    """Write the row of cells before the first points, where every path begins."""
    previous[: band_cells(m, radius)] = np.inf
    previous[0] = 0.0


@part(fastmath=FINITE_MATH)
def warp_to_one(x, n, y, m, radius, cutoffs, costs, previous, current):
    """Squared dynamic time warping distances of the series in the lanes to one series.

    x is (points, channels, lanes) and y is (points, channels), of which the first n and m points count. ``costs``,
    ``previous`` and ``current`` are work space. All distances are infinite as soon as each must exceed its cut-off;
    ``cutoffs`` may be empty.
    """
    channels = x.shape[1]
    start_band(previous, m, radius)
    costs[:] = 0.0
    for i in range(1, n + 1):
        first, last, base = max(1, i - radius), min(m, i + radius), band_base(i, radius)
        shift = base - band_base(i - 1, radius)
        current[first - 1 - base] = np.inf
        current[last + 1 - base] = np.inf
        for j in range(first, last + 1):
            cell, before = j - base, j - base + shift
            if channels > 1:
                costs[:] = 0.0
                for channel in range(channels - 1):
                    other = y[j - 1, channel]
                    for lane in range(LANES):
                        difference = x[i - 1, channel, lane] - other
                        costs[lane] += difference * difference
            other = y[j - 1, channels - 1]
            for lane in range(LANES):
                difference = x[i - 1, channels - 1, lane] - other
                cost = costs[lane] + difference * difference
                least = min(min(previous[before - 1, lane], previous[before, lane]), current[cell - 1, lane])
                current[cell, lane] = least + cost
        previous, current = current, previous
        if cutoffs.shape[0] > 0 and i % ROWS_PER_CHECK == 0:
            if _all_exceed(previous, first - base, last - base, cutoffs, costs):
                previous[:] = np.inf
                break
            costs[:] = 0.0
    return previous[m - band_base(n, radius)]


@part(fastmath=FINITE_MATH)
def _all_exceed(cells, first, last, cutoffs, lowest):
    """Whether all cells of a row exceed the cut-off of their lane; ``lowest`` is work space."""
    lowest[:] = np.inf
    for cell in range(first, last + 1):
        for lane in range(LANES):
            lowest[lane] = min(lowest[lane], cells[cell, lane])
    return np.all(lowest > cutoffs * CUTOFF_MARGIN)


@part
def fill_lanes(lanes, length, values, starts, count, factors):
    """Write ``count`` series to the lanes; ``starts`` has the first point of each."""
    for lane in range(count):
        points = values[starts[lane] : starts[lane] + length]
        for t in range(length):
            for channel in range(values.shape[1]):
                lanes[t, channel, lane] = points[t, channel] * factors[channel]
