"""Kernels of series that move: warped distances of many pairs at once, and their gradients along the best paths.

``LANES`` pairs of series of the same two lengths are warped together, so that the compiler can use vector
instructions: the last axis of the arrays has one lane for each pair. Costs and their order are those of ``series.dtw``,
so that distances are the same to the last bit.

Prototypes are the rows of an array (prototypes, points, channels); ``lengths`` has the number of points of each. All
coordinates are multiplied by ``factors``, one for each channel. Pairs are given by the positions of a series and of a
prototype. Pairs of equal lengths should follow each other, else lanes stay empty.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled
from protoset.kernels.alignment import BOTH, FIRST, SECOND
from protoset.kernels.series import FINITE_MATH, SeriesArrays, Warping, band_radius, longest_length

LANES = 32
"""Pairs of series that are warped together: fewer are not worth vector instructions."""

STEP_BYTES = 2**26
"""Memory for the steps of the paths; where they need more, fewer pairs are warped together."""


class Pairs(NamedTuple):
    """Pairs of a series and a prototype, and how they are warped."""

    series: SeriesArrays
    rows: np.ndarray
    points: np.ndarray
    lengths: np.ndarray
    columns: np.ndarray
    factors: np.ndarray
    warping: Warping


@compiled
def band_base(i, radius):
    """Column of the cell before the band in row i; rows and columns count from 1."""
    return max(0, i - radius - 1)


@compiled
def band_cells(m, radius):
    """Cells of a row of the band, with one before it and one after it."""
    return min(m, 2 * radius + 1) + 2


@compiled(fastmath=FINITE_MATH)
def other_costs(point, y, costs):
    """Squared differences of a point and several points, summed over all channels but the last."""
    for j in range(y.shape[0]):
        for lane in range(costs.shape[1]):
            costs[j, lane] = 0.0
        for channel in range(y.shape[1] - 1):
            for lane in range(costs.shape[1]):
                difference = point[channel, lane] - y[j, channel, lane]
                costs[j, lane] += difference * difference


@compiled(fastmath=FINITE_MATH)
def warp(x, n, y, m, radius, costs, band, steps):
    """Squared dynamic time warping distances of the pairs in the lanes, in the first row of ``costs``.

    x and y are (points, channels, lanes), of which the first n and m points count. ``band`` has two rows of cells: by
    turns the row before and the current one. ``steps`` keeps the step that led to each cell, if it is not empty.
    """
    channels, lanes = x.shape[1:]
    keep = steps.shape[0] > 0
    costs[: band_cells(m, radius) - 2] = 0.0
    band[0, : band_cells(m, radius)] = np.inf
    band[0, 0] = 0.0
    for i in range(1, n + 1):
        first, last, base = max(1, i - radius), min(m, i + radius), band_base(i, radius)
        shift = base - band_base(i - 1, radius)
        previous, current, point = band[(i - 1) % 2], band[i % 2], x[i - 1, channels - 1]
        for lane in range(lanes):
            current[first - 1 - base, lane] = np.inf
            current[last + 1 - base, lane] = np.inf
        if channels > 1:
            other_costs(x[i - 1], y[first - 1 : last], costs)
        for j in range(first, last + 1):
            other, others, cell = y[j - 1, channels - 1], costs[j - first], j - base
            both, one, two, here = previous[cell + shift - 1], previous[cell + shift], current[cell - 1], current[cell]
            for lane in range(lanes):
                difference = point[lane] - other[lane]
                cost = others[lane] + difference * difference
                here[lane] = min(min(both[lane], one[lane]), two[lane]) + cost
            if keep:
                for lane in range(lanes):
                    alone = FIRST if one[lane] <= two[lane] else SECOND
                    steps[i - 1, cell, lane] = BOTH if both[lane] <= min(one[lane], two[lane]) else alone
    costs[0] = band[n % 2, m - band_base(n, radius)]


@compiled
def fill_lanes(lanes, length, values, starts, count, factors):
    """Write ``count`` series to the lanes; ``starts`` has the first point of each."""
    for t in range(length):
        for channel in range(values.shape[1]):
            lane_values, factor = lanes[t, channel], factors[channel]
            for lane in range(count):
                lane_values[lane] = values[starts[lane] + t, channel] * factor


@compiled
def warp_pairs(pairs, pulls, distances, gradient, scale_gradient):
    """Compute the distances of pairs, or where ``pulls`` is not empty add their gradients.

    ``pulls`` has how the loss changes with each distance, divided by the distance. The gradients are those by the
    coordinates multiplied by the factors, and by the logarithms of the scales.
    """
    series, rows, points, lengths, columns, factors, warping = pairs
    n_longest, (m_longest, channels) = longest_length(series.starts), points.shape[1:]
    pulled, lanes = pulls.shape[0] > 0, LANES
    if pulled:
        radius = band_radius(n_longest, m_longest, warping.radius, warping.fraction)
        lanes = max(1, min(LANES, STEP_BYTES // (n_longest * band_cells(m_longest, radius))))
    x, y = np.zeros((n_longest, channels, lanes)), np.zeros((m_longest, channels, lanes))
    costs, band, steps = np.empty((0, lanes)), np.empty((2, 0, lanes)), np.empty((0, 0, lanes), np.uint8)
    flat, x_starts, y_starts = points.reshape(-1, channels), np.empty(lanes, np.int64), np.empty(lanes, np.int64)
    first = 0
    while first < rows.shape[0]:
        n, m, count = series.starts[rows[first] + 1] - series.starts[rows[first]], lengths[columns[first]], 0
        while count < lanes and first + count < rows.shape[0]:
            row, column = rows[first + count], columns[first + count]
            if series.starts[row + 1] - series.starts[row] != n or lengths[column] != m:
                break
            x_starts[count], y_starts[count] = series.starts[row], column * m_longest
            count += 1
        fill_lanes(x, n, series.values, x_starts, count, factors)
        fill_lanes(y, m, flat, y_starts, count, factors)
        radius = band_radius(n, m, warping.radius, warping.fraction)
        cells = band_cells(m, radius)
        if cells > band.shape[1]:
            costs, band = np.empty((cells, lanes)), np.empty((2, cells, lanes))
        if pulled and (n > steps.shape[0] or cells > steps.shape[1]):
            steps = np.empty((n, cells, lanes), np.uint8)
        warp(x, n, y, m, radius, costs, band, steps)
        for lane in range(count):
            if pulled:
                row, column, pull = rows[first + lane], columns[first + lane], pulls[first + lane]
                a, b = series.values[series.starts[row] : series.starts[row + 1]], points[column, :m]
                pull_along_path(a, b, factors, radius, steps, lane, pull, gradient[column], scale_gradient)
            else:
                distances[first + lane] = np.sqrt(costs[0, lane])
        first += count


@compiled
def pull_along_path(a, b, factors, radius, steps, lane, pull, gradient, scale_gradient):
    """Add the gradients of one pair, from the last points of both series to the first."""
    i, j = a.shape[0], b.shape[0]
    while i > 0 and j > 0:
        for channel in range(a.shape[1]):
            difference = (b[j - 1, channel] - a[i - 1, channel]) * factors[channel]
            gradient[j - 1, channel] += pull * difference
            scale_gradient[channel] += 0.5 * pull * difference * difference
        step = steps[i - 1, j - band_base(i, radius), lane]
        i -= step != SECOND
        j -= step != FIRST
