"""Dynamic time warping (see ``protoset.spaces.series``); bounds and searches are in ``series_search``.

Series lie one after the other: one number per point, or one row per point where there are several channels. The local
cost is the squared difference, summed over the channels. Everything is in squared units until ``root`` asks for the
square root.

d(a, b) and d(b, a) are the same to the last bit: a minimum does not depend on the order of its arguments, and a
difference is squared.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled

CUTOFF_MARGIN = 1.0 + 1e-12
"""Factor for cut-offs, so that rounding prunes no distance equal to the cut-off."""

NARROW_BAND = 16
"""Radius up to which all cells of the band are computed: to look for cells to prune would cost more."""

ONE = np.uintp(1)

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


@compiled(inline="always")
def squared_cutoff(cutoff, root):
    """Squared distance beyond which a pair is too far, with a margin for the rounding of the root."""
    if not root:
        return cutoff
    return cutoff * cutoff * CUTOFF_MARGIN if cutoff >= 0.0 else -1.0


@compiled(fastmath=FINITE_MATH)
def dtw(a, b, radius, previous, current):
    """Squared dynamic time warping distance within a band; ``previous`` and ``current`` are work space."""
    return _dtw_abandoned(a, b, radius, np.inf, previous, current)


@compiled(fastmath=FINITE_MATH)
def dtw_within(a, b, radius, cutoff, previous, current):
    """As ``dtw``, but infinity where the distance exceeds ``cutoff``."""
    if radius <= NARROW_BAND:
        return _dtw_abandoned(a, b, radius, cutoff, previous, current)
    return _dtw_pruned(a, b, radius, cutoff, previous, current)


@compiled(fastmath=FINITE_MATH)
def _dtw_abandoned(a, b, radius, cutoff, previous, current):
    """All cells of the band, row by row, until the lowest cell of a row exceeds the cut-off."""
    n, m, allowed = a.shape[0], b.shape[0], cutoff * CUTOFF_MARGIN
    for j in range(min(m, radius + 1) + 1):
        previous[j] = np.inf
    previous[0] = 0.0
    for i in range(n):
        # Unsigned, as signed indices would be checked for negative ones in each cell.
        first, last = np.uintp(max(1, i + 1 - radius)), np.uintp(min(m, i + 1 + radius))
        current[first - ONE] = np.inf
        left, diagonal, lowest, j = np.inf, previous[first - ONE], np.inf, first
        while j <= last:
            above = previous[j]
            left = min(min(diagonal, above), left) + point_cost(a, i, b, j - ONE)
            diagonal = above
            current[j] = left
            lowest = min(lowest, left)
            j += ONE
        if lowest > allowed:
            return np.inf
        previous, current = current, previous
        if last < m:
            previous[last + ONE] = np.inf
    return previous[m] if previous[m] <= allowed else np.inf


@compiled(fastmath=FINITE_MATH)
def _dtw_pruned(a, b, radius, cutoff, previous, current):
    """Only the cells that may be on a path within the cut-off (Herrmann and Webb, 2021).

    row above    . . x x x x . .     x: from the first cell within the limit to the last one, before ``end``
    this row     . . . x x x x x     cells before ``end`` have a cell above; later ones continue to the right
    """
    n, m, allowed = a.shape[0], b.shape[0], cutoff * CUTOFF_MARGIN
    previous[0] = 0.0
    first, end = ONE, ONE
    for i in range(n):
        first, last = max(first, np.uintp(max(1, i + 1 - radius))), np.uintp(min(m, i + 1 + radius))
        if first > end:
            return np.inf
        j, new_end, stop = first, first, min(end, last + ONE)
        current[first - ONE] = np.inf
        left, diagonal = np.inf, previous[first - ONE]
        while j < stop:
            above = previous[j]
            left = min(diagonal, above) + point_cost(a, i, b, j - ONE)
            diagonal = above
            current[j] = left
            j += ONE
            if left <= allowed:
                new_end = j
                break
            first = j
        while j < stop:
            above = previous[j]
            left = min(min(diagonal, above), left) + point_cost(a, i, b, j - ONE)
            diagonal = above
            current[j] = left
            j += ONE
            if left <= allowed:
                new_end = j
        if j <= last:
            # The first cell without a cell above; a pruned cell to the left is no way to it.
            left = (diagonal if j == first else min(diagonal, left)) + point_cost(a, i, b, j - ONE)
            current[j] = left
            j += ONE
            while left <= allowed:
                new_end = j
                if j > last:
                    break
                left += point_cost(a, i, b, j - ONE)
                current[j] = left
                j += ONE
        if new_end <= first:
            return np.inf
        end = new_end
        previous, current = current, previous
    return previous[m] if end > m else np.inf


@compiled
def series_block(a, rows, b, columns, warping, upper):
    """Distances of the series ``rows`` of a to the series ``columns`` of b; with ``upper`` only to later series."""
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
