"""Dissimilarities of time series (see ``protoset.spaces.series``); bounds and searches are in ``series_search``.

Series lie one after the other: one number per point, or one row per point where there are several channels. The local
cost is the squared difference, summed over the channels. Everything is in squared units until ``root`` asks for the
square root.

d(a, b) and d(b, a) are the same to the last bit: a minimum does not depend on the order of its arguments, and a
difference is squared.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled

FINITE_MATH = {"nnan", "nsz"}
"""Compiler flags for numbers that are never NaN: series are finite."""


class SeriesArrays(NamedTuple):
    """Series one after the other; series i has the points ``starts[i]`` to ``starts[i + 1]``."""

    values: np.ndarray
    starts: np.ndarray


class Warping(NamedTuple):
    """How two series are warped."""

    radius: int
    """Radius of the band in points; -1 where it is a fraction of the length, or where there is no band."""
    fraction: float
    """Radius as a fraction of the length of the longer series; -1 where it is in points."""
    root: bool
    """Whether distances are square roots."""


@compiled(fastmath=FINITE_MATH)
def point_cost(a, i, b, j):
    """Squared difference of two points, summed over the channels."""
    if a.ndim == 1:
        difference = a[i] - b[j]
        return difference * difference
    total = 0.0
    for channel in range(a.shape[1]):
        difference = a[i, channel] - b[j, channel]
        total += difference * difference
    return total


@compiled
def band_radius(n, m, radius, fraction):
    """Radius of the band in points: at least the difference of the lengths, so that a path exists."""
    if fraction >= 0.0:
        radius = int(fraction * max(n, m) + 1e-9)
    elif radius < 0:
        radius = max(n, m)
    return max(min(radius, max(n, m)), abs(n - m))


@compiled(fastmath=FINITE_MATH)
def dtw(a, b, radius, previous, current):
    """Squared dynamic time warping distance within a band; ``previous`` and ``current`` are work space."""
    n, m = a.shape[0], b.shape[0]
    for j in range(min(m, radius + 1) + 1):
        previous[j] = np.inf
    previous[0] = 0.0
    for i in range(n):
        first, last = max(1, i + 1 - radius), min(m, i + 1 + radius)
        current[first - 1] = np.inf
        left, diagonal = np.inf, previous[first - 1]
        for j in range(first, last + 1):
            above = previous[j]
            left = min(min(diagonal, above), left) + point_cost(a, i, b, j - 1)
            diagonal = above
            current[j] = left
        previous, current = current, previous
        if last < m:
            previous[last + 1] = np.inf
    return previous[m]


@compiled(fastmath=FINITE_MATH)
def dtw_within(a, b, radius, cutoff, remaining, previous, current):
    """As ``dtw``, but give up and return infinity as soon as the distance must exceed ``cutoff``.

    ``remaining[i]`` is a lower bound on the cost of the points of ``a`` from ``i`` on; it may be empty.
    """
    n, m = a.shape[0], b.shape[0]
    bounded = remaining.shape[0] > 0
    for j in range(min(m, radius + 1) + 1):
        previous[j] = np.inf
    previous[0] = 0.0
    for i in range(n):
        first, last = max(1, i + 1 - radius), min(m, i + 1 + radius)
        current[first - 1] = np.inf
        left, diagonal, lowest = np.inf, previous[first - 1], np.inf
        for j in range(first, last + 1):
            above = previous[j]
            left = min(min(diagonal, above), left) + point_cost(a, i, b, j - 1)
            diagonal = above
            current[j] = left
            lowest = min(lowest, left)
        if lowest + (remaining[i + 1] if bounded else 0.0) > cutoff:
            return np.inf
        previous, current = current, previous
        if last < m:
            previous[last + 1] = np.inf
    return previous[m]


@compiled
def gap_cost(a, i, gap):
    """Distance of a point from the gap value."""
    if a.ndim == 1:
        return abs(a[i] - gap[0])
    total = 0.0
    for channel in range(a.shape[1]):
        total += (a[i, channel] - gap[channel]) ** 2
    return np.sqrt(total)


@compiled
def erp(a, b, radius, gap, previous, current):
    """Edit distance with real penalty: a point is matched, or skipped at its distance from ``gap``."""
    n, m = a.shape[0], b.shape[0]
    previous[: m + 1] = np.inf
    previous[0] = 0.0
    for j in range(1, min(m, radius) + 1):
        previous[j] = previous[j - 1] + gap_cost(b, j - 1, gap)
    for i in range(1, n + 1):
        first, last = max(0, i - radius), min(m, i + radius)
        current[: m + 1] = np.inf
        skipping = gap_cost(a, i - 1, gap)
        if first == 0:
            current[0] = previous[0] + skipping
        for j in range(max(first, 1), last + 1):
            matched = previous[j - 1] + np.sqrt(point_cost(a, i - 1, b, j - 1))
            current[j] = min(matched, min(previous[j] + skipping, current[j - 1] + gap_cost(b, j - 1, gap)))
        previous, current = current, previous
    return previous[m]


@compiled
def series_block(a, rows, b, columns, warping, gap, upper):
    """Distances of the series ``rows`` of a to the series ``columns`` of b; with ``upper`` only to later series.

    Edit distance with real penalty where ``gap`` is not empty, else dynamic time warping.
    """
    block = np.empty((rows.shape[0], columns.shape[0]))
    width = longest_length(b.starts) + 2
    previous, current = np.empty(width), np.empty(width)
    for r, i in enumerate(rows):
        x = a.values[a.starts[i] : a.starts[i + 1]]
        for c, j in enumerate(columns):
            if upper and j <= i:
                continue
            y = b.values[b.starts[j] : b.starts[j + 1]]
            radius = band_radius(x.shape[0], y.shape[0], warping.radius, warping.fraction)
            if gap.shape[0] > 0:
                block[r, c] = erp(x, y, radius, gap, previous, current)
            else:
                squared = dtw(x, y, radius, previous, current)
                block[r, c] = np.sqrt(squared) if warping.root else squared
    return block


@compiled
def longest_length(starts):
    """Number of points of the longest series."""
    longest = 0
    for i in range(starts.shape[0] - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest
