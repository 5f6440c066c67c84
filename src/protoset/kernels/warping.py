"""Warped distances of many pairs at once.

``LANES`` pairs of series with the same band are warped together, see ``kernels._lanes``. Costs and their order are
those of ``series.dtw``, so that distances in double precision are the same to the last bit.
"""

import numpy as np

from protoset.kernels._compile import part
from protoset.kernels._lanes import (
    LANES,
    N_VECTORS,
    STEP_BYTES_PER_CELL,
    fill_rows,
    is_within,
    vector_lanes,
    warp_row,
    warp_row_channels,
)
from protoset.kernels.series import NARROW_BAND

ROWS_PER_CHECK = 8
"""Rows of cells between two comparisons with the cut-offs, where the band is narrow."""

COLUMNS_PER_CHECK = 8
"""Cells computed at a time to the right of the last cell of the row above that is within the cut-offs."""


@part
def band_base(i, radius):
    """Column of the cell before the band in row i; rows and columns count from 1."""
    return max(0, i - radius - 1)


@part
def band_cells(m, radius):
    """Cells of a row of the band, with one before it and one after it."""
    return min(m, 2 * radius + 1) + 2


@part
def cell_of_steps(i, j, radius):
    """Position of a cell among those of the steps: rows have a cell for each distance of j from i within the radius."""
    return (i - 1) * (2 * radius + 1) + j - i + radius


@part
def start_band(previous, m, radius):
    """Write the row of cells before the first points, where every path begins."""
    for column in range(band_cells(m, radius)):
        fill_cell(previous, column, np.inf if column > 0 else 0.0)


@part
def fill_cell(cells, column, value):
    """Write a value to all lanes of a cell."""
    for lane in range(LANES):
        cells[column, lane] = value


@part(inline="always")
def _cells_of_row(
    x, i, y, y_at, channels, first, last, above, above_first, cells, cells_first, n_lanes, steps, steps_first
):
    """Compute the cells of row i from column ``first`` to ``last``; series y starts at the offset ``y_at``."""
    count, x_at, y_at = last - first + 1, (i - 1) * channels * LANES, y_at + (first - 1) * channels
    above_at, cells_at, has_lanes = above_first * LANES, cells_first * LANES, y.ndim == 3
    for lane in range(0, n_lanes, vector_lanes(x)):
        at = (x_at + lane, y_at * LANES + lane if has_lanes else y_at, above_at + lane, cells_at + lane)
        steps_at = steps_first * STEP_BYTES_PER_CELL + lane // 8
        if channels == 1:
            warp_row(x, at[0], y, at[1], above, at[2], cells, at[3], count, steps, steps_at)
        else:
            warp_row_channels(x, at[0], y, at[1], above, at[2], cells, at[3], count, steps, steps_at, channels)


@part
def warp_lanes(x, x_lengths, y, y_at, y_lengths, count, radius, cells, steps, keeps_steps, squared):
    """Warp ``count`` series in the lanes of x to one series, or to those of y; write their squared distances.

    x is (points, channels, lanes), with as many points of each lane as ``x_lengths`` says, which must ascend. y is as
    x, or has the points of the one series from the offset ``y_at`` on. ``cells`` is work space for one row of the band:
    a cell is overwritten after it was read, as the band never moves to the left. ``steps`` is None, or gets the steps
    to all cells, see ``STEP_BYTES_PER_CELL``: those of all rows or, with room for one row, if they are not kept.

    All lanes are computed as far as the longest series reach. Points after the end of a series change only cells that
    no path to its last point leads through.
    """
    n, m, done, n_lanes = x_lengths[count - 1], 0, 0, used_lanes(count, x)
    for lane in range(count):
        m = max(m, y_lengths[lane])
    start_band(cells, m, radius)
    for i in range(1, n + 1):
        first, last, base = max(1, i - radius), min(m, i + radius), band_base(i, radius)
        at, shift = first - base, base - band_base(i - 1, radius)
        steps_first = cell_of_steps(i, first, radius) if keeps_steps else 0
        _cells_of_row(x, i, y, y_at, x.shape[1], first, last, cells, at + shift, cells, at, n_lanes, steps, steps_first)
        if i == 1:
            fill_cell(cells, 0, np.inf)
        fill_cell(cells, last + 1 - base, np.inf)
        while done < count and x_lengths[done] == i:
            squared[done] = cells[y_lengths[done] - base, done]
            done += 1


@part
def used_lanes(count, lanes):
    """Lanes to compute for so many pairs."""
    return -(-count // vector_lanes(lanes)) * vector_lanes(lanes)


@part(inline="never")
def _any_within(cells, column, cutoffs, n_lanes):
    """Whether a cell of a column is within the cut-off of any lane."""
    for lane in range(0, n_lanes, vector_lanes(cells)):
        if is_within(cells, column * LANES + lane, cutoffs, lane):
            return True
    return False


@part
def warp_within(x, y, y_at, n, channels, radius, cutoffs, cells, n_lanes):
    """Whether a squared distance of the series in the lanes to y may be within the cut-off of its lane.

    All series have n points. x has a row of lanes for each channel of each point. y is one series from the offset
    ``y_at`` on, or has lanes too. ``cells`` has a row of lanes for each point and one more. If the result is True, the
    last row has the squared distances; a number above the cut-off says only that the distance is above it. Cells that
    no path within the cut-offs leads to are not computed (Herrmann and Webb, 2021):

    row above    . . x x x x . .     x: from the first cell within the cut-off of any lane to the last one, ``end``
    this row     . . . x x x x x     cells after ``end`` + 1 are computed as long as the cell to their left is within it
    """
    period = ROWS_PER_CHECK if radius <= NARROW_BAND else 1
    cells[:] = np.inf
    cells[0] = 0.0
    first, end = 1, 0
    for i in range(1, n + 1):
        first, last = max(first, i - radius), min(n, i + radius)
        start, stop = first, min(last, max(end, first) + 1)
        while True:
            _cells_of_row(x, i, y, y_at, channels, start, stop, cells, start, cells, start, n_lanes, None, 0)
            if stop >= last or not _any_within(cells, stop, cutoffs, n_lanes):
                break
            start, stop = stop + 1, min(last, stop + COLUMNS_PER_CHECK)
        end = stop
        if i == 1:
            cells[0] = np.inf
        if i % period == 0:
            while first <= end and not _any_within(cells, first, cutoffs, n_lanes):
                first += 1
            if first > end:
                return False
            while not _any_within(cells, end, cutoffs, n_lanes):
                end -= 1
    return end == n


@part
def fill_lanes(lanes, size, values, starts, count):
    """Copy ``size`` items of each series to its lane; fewer where ``values`` ends.

    Series k starts at ``starts[k]``, for k below ``count``. Whole vectors of lanes are written: the lanes after the
    last series may get the first one again.
    """
    width = vector_lanes(lanes) // N_VECTORS
    for lane in range(count, LANES):
        starts[lane] = starts[0]
    for first in range(0, count, width):
        last_start = starts[first]
        for lane in range(first + 1, first + width):
            last_start = max(last_start, starts[lane])
        if size >= width and last_start + size <= values.shape[0]:
            for at in range(0, size, width):
                fill_rows(values, starts, first, min(at, size - width), lanes)
        else:
            for lane in range(first, min(first + width, count)):
                for at in range(min(size, values.shape[0] - starts[lane])):
                    lanes[at // lanes.shape[1], at % lanes.shape[1], lane] = values[starts[lane] + at]
