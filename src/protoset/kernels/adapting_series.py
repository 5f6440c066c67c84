"""Kernels of series that move: warped distances of many pairs at once, and their gradients along the best paths.

``LANES`` pairs of series of the same two lengths are warped together, see ``kernels.warping``.

Prototypes are the rows of an array (prototypes, points, channels); ``lengths`` has the number of points of each. The
coordinates of both are those of the metric: multiplied by the root of the scale of their channel. Pairs are given by
the positions of a series and of a prototype. Pairs of equal lengths should follow each other, else lanes stay empty.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels._lanes import LANES, STEP_BYTES_PER_CELL, lane_rows, vector_lanes
from protoset.kernels.alignment import align
from protoset.kernels.series import SeriesArrays, Warping, band_radius, longest_length
from protoset.kernels.warping import band_cells, cell_of_steps, fill_lanes, warp_lanes

STEP_BYTES = 2**26
"""Memory for the steps of the paths of pairs that are warped together."""


class Pairs(NamedTuple):
    """Pairs of a series and a prototype, and how they are warped."""

    series: SeriesArrays
    rows: np.ndarray
    points: np.ndarray
    lengths: np.ndarray
    columns: np.ndarray
    warping: Warping


@compiled
def squared_block(series, rows, values, starts, lengths, warping, squared):
    """Write the squared distances of the series ``rows`` to others, a row of ``squared`` for each of the others.

    The others are ``lengths`` rows of ``values`` from ``starts`` on. Series of equal lengths should follow each other.
    """
    x = lanes_of(longest_length(series.starts), values.shape[1])
    x_starts = np.empty(LANES, np.int64)
    first, row_of_cells = 0, lane_rows(0, x)
    while first < rows.shape[0]:
        n, count = series.starts[rows[first] + 1] - series.starts[rows[first]], 0
        while count < LANES and first + count < rows.shape[0]:
            row = rows[first + count]
            if series.starts[row + 1] - series.starts[row] != n:
                break
            x_starts[count] = series.starts[row] * values.shape[1]
            count += 1
        fill_lanes(x, n * values.shape[1], series.values, x_starts, count)
        n_lanes = used_lanes(count, x)
        for other in range(starts.shape[0]):
            m = lengths[other]
            radius = band_radius(n, m, warping.radius, warping.fraction)
            cells = band_cells(m, radius)
            if cells > row_of_cells.shape[0]:
                row_of_cells = lane_rows(cells, x)
            y = values[starts[other] : starts[other] + m]
            warped = warp_lanes(x, n, y, m, radius, row_of_cells, n_lanes, None, False)
            for lane in range(count):
                squared[other, first + lane] = warped[lane]
        first += count


@compiled
def warp_pairs(pairs, first, pulls, distances, gradient, scale_gradient):
    """Compute the distances of pairs from position ``first`` on, or where ``pulls`` is not empty add their gradients.

    ``pulls`` has how the loss changes with each distance, divided by the distance. The gradients are those by the
    coordinates, and by the logarithms of the scales. Returns the position of the first pair that was left out, as its
    steps need much memory (``pull_along_alignment`` is for it), or the number of pairs.
    """
    series, rows, points, lengths, columns, warping = pairs
    starts, (m_longest, channels), is_pulled = series.starts, points.shape[1:], pulls.shape[0] > 0
    x, y = lanes_of(longest_length(starts), channels), lanes_of(m_longest, channels)
    x_starts, y_starts = np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    cells, steps = lane_rows(0, x), np.empty(0, np.uint8)
    while first < rows.shape[0]:
        n, m, count = starts[rows[first] + 1] - starts[rows[first]], lengths[columns[first]], 0
        radius = band_radius(n, m, warping.radius, warping.fraction)
        n_bytes = (n if is_pulled else 1) * (2 * radius + 1) * STEP_BYTES_PER_CELL
        if is_pulled and n_bytes > STEP_BYTES:
            return first
        while count < LANES and first + count < rows.shape[0]:
            row, column = rows[first + count], columns[first + count]
            if starts[row + 1] - starts[row] != n or lengths[column] != m:
                break
            x_starts[count], y_starts[count] = starts[row] * channels, column * m_longest * channels
            count += 1
        fill_lanes(x, n * channels, series.values, x_starts, count)
        fill_lanes(y, m * channels, points, y_starts, count)
        if band_cells(m, radius) > cells.shape[0]:
            cells = lane_rows(band_cells(m, radius), x)
        if n_bytes > steps.shape[0]:
            steps = np.empty(n_bytes, np.uint8)
        squared = warp_lanes(x, n, y, m, radius, cells, used_lanes(count, x), steps, is_pulled)
        for lane in range(count):
            if is_pulled:
                pull_along_path(pairs, first + lane, n, m, radius, steps, lane, pulls, gradient, scale_gradient)
            else:
                distances[first + lane] = np.sqrt(squared[lane])
        first += count
    return first


@part
def lanes_of(n_points, n_channels):
    """Lanes for series of so many points."""
    return lane_rows(n_points * n_channels, np.empty(0)).reshape(n_points, n_channels, LANES)


@part
def used_lanes(count, lanes):
    """Lanes to compute for so many pairs."""
    return -(-count // vector_lanes(lanes)) * vector_lanes(lanes)


@part
def pull_along_path(pairs, pair, n, m, radius, steps, lane, pulls, gradient, scale_gradient):
    """Add the gradients of one pair, from the last points of both series to the first."""
    series, column, pull = pairs.series, pairs.columns[pair], pulls[pair]
    x, y, of_column = series.values[series.starts[pairs.rows[pair]] :], pairs.points[column], gradient[column]
    # Unsigned: no tests for positions from the end.
    one, bit, i, j = np.uintp(1), np.uintp(lane % 8), np.uintp(n), np.uintp(m)
    row_bytes, cell_bytes = np.uintp(2 * radius * STEP_BYTES_PER_CELL), np.uintp(STEP_BYTES_PER_CELL)
    at = np.uintp(cell_of_steps(n, m, radius) * STEP_BYTES_PER_CELL + lane // 8)
    while i > 0 and j > 0:
        for channel in range(y.shape[1]):
            difference = y[j - one, channel] - x[i - one, channel]
            of_column[j - one, channel] += pull * difference
            scale_gradient[channel] += 0.5 * pull * difference * difference
        # No branches, which a processor would often guess wrongly.
        x_moves = one - ((np.uintp(steps[at + cell_bytes // np.uintp(2)]) >> bit) & one)
        y_moves = one - ((np.uintp(steps[at]) >> bit) & one)
        i, j = i - x_moves, j - y_moves
        at -= x_moves * row_bytes + y_moves * cell_bytes


@compiled
def pull_along_alignment(pairs, pair, pull, gradient, scale_gradient):
    """Add the gradients of one pair whose steps need much memory."""
    series, row, column, warping = pairs.series, pairs.rows[pair], pairs.columns[pair], pairs.warping
    n, m = series.starts[row + 1] - series.starts[row], pairs.lengths[column]
    radius = band_radius(n, m, warping.radius, warping.fraction)
    a, b = series.values[series.starts[row] : series.starts[row + 1]], pairs.points[column, :m]
    path, _ = align(a, b, radius)
    for k in range(path.shape[0]):
        i, j = path[k]
        for channel in range(a.shape[1]):
            difference = b[j, channel] - a[i, channel]
            gradient[column, j, channel] += pull * difference
            scale_gradient[channel] += 0.5 * pull * difference * difference
