"""Kernels of series that move: warped distances of many pairs at once, and their gradients along the best paths.

``LANES`` pairs of series of the same two lengths are warped together, see ``kernels.warping``.

Prototypes are the rows of an array (prototypes, points, channels); ``lengths`` has the number of points of each. All
coordinates are multiplied by ``factors``, one for each channel. Pairs are given by the positions of a series and of a
prototype. Pairs of equal lengths should follow each other, else lanes stay empty.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels._lanes import LANES, lane_rows
from protoset.kernels.alignment import BOTH, FIRST, SECOND, align
from protoset.kernels.series import FINITE_MATH, SeriesArrays, Warping, band_radius, longest_length
from protoset.kernels.warping import band_base, band_cells, fill_lanes, start_band, warp_to_one

STEP_BYTES = 2**26
"""Memory for the steps of the paths of pairs that are warped together."""


class Pairs(NamedTuple):
    """Pairs of a series and a prototype, and how they are warped."""

    series: SeriesArrays
    rows: np.ndarray
    points: np.ndarray
    lengths: np.ndarray
    columns: np.ndarray
    factors: np.ndarray
    warping: Warping


@part(fastmath=FINITE_MATH)
def warp(x, n, y, m, radius, costs, previous, current, steps):
    """Squared dynamic time warping distances of the pairs in the lanes.

    x and y are (points, channels, lanes), of which the first n and m points count. ``costs``, ``previous`` and
    ``current`` are work space. ``steps`` keeps the step that led to each cell, if it is not empty.
    """
    channels, keep = x.shape[1], steps.shape[0] > 0
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
                    for lane in range(LANES):
                        difference = x[i - 1, channel, lane] - y[j - 1, channel, lane]
                        costs[lane] += difference * difference
            for lane in range(LANES):
                difference = x[i - 1, channels - 1, lane] - y[j - 1, channels - 1, lane]
                cost = costs[lane] + difference * difference
                least = min(min(previous[before - 1, lane], previous[before, lane]), current[cell - 1, lane])
                current[cell, lane] = least + cost
            if keep:
                for lane in range(LANES):
                    both, one, two = previous[before - 1, lane], previous[before, lane], current[cell - 1, lane]
                    alone = np.uint8(FIRST) if one <= two else np.uint8(SECOND)
                    steps[i - 1, cell, lane] = np.uint8(BOTH) if both <= min(one, two) else alone
        previous, current = current, previous
    return previous[m - band_base(n, radius)]


@compiled
def squared_block(series, rows, factors, values, starts, lengths, warping, squared):
    """Write the squared distances of the series ``rows`` to others, a row of ``squared`` for each of the others.

    The series are multiplied by the factors; the others are ``lengths`` rows of ``values`` from ``starts`` on.
    Series of equal lengths should follow each other.
    """
    x = np.zeros((longest_length(series.starts), values.shape[1], LANES))
    x_starts = np.empty(LANES, np.int64)
    first, row_of_cells = 0, lane_rows(0, x)
    while first < rows.shape[0]:
        n, count = series.starts[rows[first] + 1] - series.starts[rows[first]], 0
        while count < LANES and first + count < rows.shape[0]:
            row = rows[first + count]
            if series.starts[row + 1] - series.starts[row] != n:
                break
            x_starts[count] = series.starts[row]
            count += 1
        fill_lanes(x, n, series.values, x_starts, count, factors)
        for other in range(starts.shape[0]):
            m = lengths[other]
            radius = band_radius(n, m, warping.radius, warping.fraction)
            cells = band_cells(m, radius)
            if cells > row_of_cells.shape[0]:
                row_of_cells = lane_rows(cells, x)
            y = values[starts[other] : starts[other] + m]
            warped = warp_to_one(x, n, y, m, radius, row_of_cells)
            for lane in range(count):
                squared[other, first + lane] = warped[lane]
        first += count


@compiled
def warp_pairs(pairs, first, pulls, distances, gradient, scale_gradient):
    """Compute the distances of pairs from position ``first`` on, or where ``pulls`` is not empty add their gradients.

    ``pulls`` has how the loss changes with each distance, divided by the distance. The gradients are those by the
    coordinates multiplied by the factors, and by the logarithms of the scales. Returns the position of the first pair
    that was left out, as its steps need much memory (``pull_along_alignment`` is for it), or the number of pairs.
    """
    series, rows, points, lengths, columns, factors, warping = pairs
    n_longest, (m_longest, channels) = longest_length(series.starts), points.shape[1:]
    is_pulled = pulls.shape[0] > 0
    x, y = np.zeros((n_longest, channels, LANES)), np.zeros((m_longest, channels, LANES))
    costs, previous, current = np.empty(LANES), np.empty((0, LANES)), np.empty((0, LANES))
    steps, no_steps = np.empty((0, 0, LANES), np.uint8), np.empty((0, 0, LANES), np.uint8)
    flat, x_starts, y_starts = points.reshape(-1, channels), np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    while first < rows.shape[0]:
        n, m, count = series.starts[rows[first] + 1] - series.starts[rows[first]], lengths[columns[first]], 0
        radius = band_radius(n, m, warping.radius, warping.fraction)
        cells = band_cells(m, radius)
        if is_pulled and n * cells * LANES > STEP_BYTES:
            return first
        while count < LANES and first + count < rows.shape[0]:
            row, column = rows[first + count], columns[first + count]
            if series.starts[row + 1] - series.starts[row] != n or lengths[column] != m:
                break
            x_starts[count], y_starts[count] = series.starts[row], column * m_longest
            count += 1
        fill_lanes(x, n, series.values, x_starts, count, factors)
        fill_lanes(y, m, flat, y_starts, count, factors)
        if cells > previous.shape[0]:
            previous, current = np.empty((cells, LANES)), np.empty((cells, LANES))
        if is_pulled and (n > steps.shape[0] or cells > steps.shape[1]):
            steps = np.empty((n, cells, LANES), np.uint8)
        squared = warp(x, n, y, m, radius, costs, previous, current, steps if is_pulled else no_steps)
        if is_pulled:
            for lane in range(count):
                pull, of_column = pulls[first + lane], gradient[columns[first + lane]]
                pull_along_path(x, n, y, m, radius, steps, lane, pull, of_column, scale_gradient)
        else:
            for lane in range(count):
                distances[first + lane] = np.sqrt(squared[lane])
        first += count
    return first


@part
def pull_along_path(x, n, y, m, radius, steps, lane, pull, gradient, scale_gradient):
    """Add the gradients of one pair, from the last points of both series to the first."""
    i, j = n, m
    while i > 0 and j > 0:
        for channel in range(x.shape[1]):
            difference = y[j - 1, channel, lane] - x[i - 1, channel, lane]
            gradient[j - 1, channel] += pull * difference
            scale_gradient[channel] += 0.5 * pull * difference * difference
        step = np.int64(steps[i - 1, j - band_base(i, radius), lane])
        # FIRST is the lower bit and SECOND the upper one: no branches, which a processor would often guess wrongly.
        i -= 1 - (step >> 1)
        j -= 1 - (step & 1)


@compiled
def pull_along_alignment(pairs, pair, pull, gradient, scale_gradient):
    """Add the gradients of one pair whose steps need much memory."""
    series, row, column, warping = pairs.series, pairs.rows[pair], pairs.columns[pair], pairs.warping
    n, m = series.starts[row + 1] - series.starts[row], pairs.lengths[column]
    radius = band_radius(n, m, warping.radius, warping.fraction)
    a = series.values[series.starts[row] : series.starts[row + 1]] * pairs.factors
    b = pairs.points[column, : pairs.lengths[column]] * pairs.factors
    path, _ = align(a, b, radius)
    for k in range(path.shape[0]):
        i, j = path[k]
        for channel in range(a.shape[1]):
            difference = b[j, channel] - a[i, channel]
            gradient[column, j, channel] += pull * difference
            scale_gradient[channel] += 0.5 * pull * difference * difference
