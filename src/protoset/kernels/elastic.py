"""Edit distances of time series in one kernel: ERP, MSM and TWE (see ``protoset.spaces.elastic``).

A path takes a point of both series, of the first alone or of the second alone, and starts with the first points of
both:

    both      |a_i - b_j|                                           erp, msm
              |a_i - b_j| + |a_i-1 - b_j-1| + stiffness * |i - j|   twe
    alone     skips[i]                                              erp, twe
              c, and the distance of a_i from the range of its two neighbours: a_i-1 and b_j        msm

The kind is a value, not a type: all metrics share the compiled code. Under ERP a series begins with the gap value, so
that its first point may be skipped too. Series of several channels are rows; MSM adds up the channels, each on a path
of its own, as aeon does.

d(a, b) and d(b, a) are the same to the last bit: a minimum does not depend on the order of its arguments.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled
from protoset.kernels.series import CUTOFF_MARGIN, FINITE_MATH, ONE, band_radius, point_cost


class Edits(NamedTuple):
    """The metric. None is a type of its own, so that each metric is compiled without the terms of the others."""

    radius: int
    """Radius of the band in points; -1 where it is a fraction of the length, or where there is no band."""
    fraction: float
    """Radius as a fraction of the length of the longer series; -1 where it is in points."""
    padding: int
    """Points before each series that are not its own: 1 for ERP, else 0."""
    split: float | None
    """Least cost of a point that is taken alone under MSM; None for other metrics."""
    stiffness: float | None
    """Cost of matching points that are one step apart in time under TWE; None for other metrics."""


class EditSeries(NamedTuple):
    """Series one after the other; series i has the points ``starts[i]`` to ``starts[i + 1]``."""

    values: np.ndarray
    starts: np.ndarray
    skips: np.ndarray
    """Cost of each point where it is taken alone; under MSM the least cost. Infinity for the first point."""


@compiled(fastmath=FINITE_MATH)
def _apart(a, i, b, j):
    """Distance of two points."""
    if a.ndim == 1:
        return abs(a[i] - b[j])
    return np.sqrt(point_cost(a, i, b, j))


@compiled
def first_cost(a, b):
    """Cost of the first points of both series."""
    return _apart(a, 0, b, 0)


@compiled(fastmath=FINITE_MATH)
def both_cost(a, i, b, j, stiffness):
    """Cost of a point of both series; i is not 0. Where j is 0 any cost will do, as no path leads there."""
    cost = _apart(a, i, b, j)
    if stiffness is None:
        return cost
    apart_in_time = abs(np.float64(np.intp(i) - np.intp(j)))
    return cost + _apart(a, i - ONE, b, j - np.uintp(j > 0)) + stiffness * apart_in_time


@compiled(fastmath=FINITE_MATH)
def alone_cost(a, i, b, j, skips, split):
    """Cost of point i of a alone, after point j of b; i is not 0."""
    if a.ndim > 1:
        return skips[i]
    if split is None:
        return skips[i]
    before, other = a[i - np.uintp(i > 0)], b[j]
    beyond = max(a[i] - max(before, other), min(before, other) - a[i])
    return split + max(beyond, 0.0)


@compiled(fastmath=FINITE_MATH)
def edit_path(a, b, a_skips, b_skips, radius, edits, cutoff, remaining, previous, current):
    """Lowest cost of a path within the band, or infinity where it exceeds ``cutoff``.

    Cells that are on no path within the cut-off are not computed (Herrmann and Webb, 2021). ``remaining[i]`` is a lower
    bound on the cost of the points of ``a`` from ``i`` on; it may be empty. ``previous`` and ``current`` are work space
    with an entry for each point of ``b`` and two more; column j is at j + 1.

    row above    . . x x x x . .     x: from the first cell within the limit to the last one, before ``end``
    this row     . . . x x x x x     cells before ``end`` have a cell above; later ones continue to the right
    """
    n, m, allowed = a.shape[0], b.shape[0], cutoff * CUTOFF_MARGIN
    split, stiffness = edits.split, edits.stiffness
    bounds_rows, zero = remaining.shape[0] > 0, np.uintp(0)
    limit = allowed - (remaining[1] if bounds_rows else 0.0)
    left, last = _apart(a, 0, b, 0), np.uintp(min(m - 1, radius))
    if left > limit:
        return np.inf
    previous[0], previous[1] = np.inf, left
    # Columns are unsigned, as signed indices would be checked for negative ones in each cell.
    first, end = zero, ONE
    while end <= last:
        left += alone_cost(b, end, a, zero, b_skips, split)
        if left > limit:
            break
        end += ONE
        previous[end] = left
    for row in range(1, n):
        i = np.uintp(row)
        first, last = max(first, np.uintp(max(0, row - radius))), np.uintp(min(m - 1, row + radius))
        if first > end:
            return np.inf
        limit = allowed - (remaining[i + ONE] if bounds_rows else 0.0)
        j, new_end, stop = first, first, min(end, last + ONE)
        current[first] = np.inf
        left, diagonal = np.inf, previous[first]
        while j < stop:
            above = previous[j + ONE]
            left = min(diagonal + both_cost(a, i, b, j, stiffness), above + alone_cost(a, i, b, j, a_skips, split))
            diagonal = above
            j += ONE
            current[j] = left
            if left <= limit:
                new_end = j
                break
            first = j
        while j < stop:
            above = previous[j + ONE]
            best = min(diagonal + both_cost(a, i, b, j, stiffness), above + alone_cost(a, i, b, j, a_skips, split))
            left = min(best, left + alone_cost(b, j, a, i, b_skips, split))
            diagonal = above
            j += ONE
            current[j] = left
            if left <= limit:
                new_end = j
        if j <= last:
            # The first cell without a cell above; a pruned cell to the left is no way to it.
            best = diagonal + both_cost(a, i, b, j, stiffness)
            if j > first:
                best = min(best, left + alone_cost(b, j, a, i, b_skips, split))
            left = best
            j += ONE
            current[j] = left
            while left <= limit:
                new_end = j
                if j > last:
                    break
                left += alone_cost(b, j, a, i, b_skips, split)
                j += ONE
                current[j] = left
        if new_end <= first:
            return np.inf
        end = new_end
        previous, current = current, previous
    return previous[m] if end >= m else np.inf


@compiled(fastmath=FINITE_MATH)
def edit_within(a, b, a_skips, b_skips, radius, edits, cutoff, remaining, work):
    """Distance of two series, or infinity where it exceeds ``cutoff``; ``work`` are two rows of work space."""
    if a.ndim == 1:
        return edit_path(a, b, a_skips, b_skips, radius, edits, cutoff, remaining, work[0], work[1])
    return _within_channels(a, b, a_skips, b_skips, radius, edits, edits.split, cutoff, remaining, work)


@compiled(fastmath=FINITE_MATH)
def _within_channels(a, b, a_skips, b_skips, radius, edits, split, cutoff, remaining, work):
    """As ``edit_within``, for several channels."""
    if split is None:
        return edit_path(a, b, a_skips, b_skips, radius, edits, cutoff, remaining, work[0], work[1])
    total = 0.0
    for channel in range(a.shape[1]):
        x, y = a[:, channel].copy(), b[:, channel].copy()
        total += edit_path(x, y, a_skips, b_skips, radius, edits, cutoff - total, remaining[:0], work[0], work[1])
        if total == np.inf:
            break
    return total


@compiled
def edit_radius(n, m, edits):
    """Radius of the band for two series with their padding."""
    return band_radius(n - edits.padding, m - edits.padding, edits.radius, edits.fraction)


@compiled
def elastic_block(a, rows, b, columns, edits, upper):
    """Distances of the series ``rows`` of a to the series ``columns`` of b; with ``upper`` only to later series."""
    block = np.empty((rows.shape[0], columns.shape[0]))
    longest = 0
    for j in columns:
        longest = max(longest, b.starts[j + 1] - b.starts[j])
    work, no_bounds = np.empty((2, longest + 2)), np.empty(0)
    for r, i in enumerate(rows):
        points = slice(a.starts[i], a.starts[i + 1])
        x, x_skips = a.values[points], a.skips[points]
        for c, j in enumerate(columns):
            if upper and j <= i:
                continue
            others = slice(b.starts[j], b.starts[j + 1])
            y = b.values[others]
            radius = edit_radius(x.shape[0], y.shape[0], edits)
            block[r, c] = edit_within(x, y, x_skips, b.skips[others], radius, edits, np.inf, no_bounds, work)
    return block
