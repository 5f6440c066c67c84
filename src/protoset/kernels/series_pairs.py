"""Distances of given pairs of series within cut-offs (see ``protoset.spaces._approximate_series``).

A pair has its first series, its second series and a cut-off; consecutive pairs often have the same first series. The
distance is infinite where it exceeds the cut-off, else the same to the last bit as from ``series`` and ``elastic``.

Series of equal lengths are warped ``PAIR_LANES`` pairs at a time, so that the compiler can use vector instructions: the
last axis of the arrays has one lane for each pair.
"""

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels.elastic import edit_radius, edit_within
from protoset.kernels.series import CUTOFF_MARGIN, FINITE_MATH, band_radius, dtw_within, longest_length
from protoset.kernels.series_search import SLACK

PAIR_LANES = 32
"""Pairs of series that are warped together."""

CHECKED_ROWS = 8
"""Rows of cells between two comparisons with the cut-offs."""

KEOGH_POINTS = 128
"""Points of LB_Keogh between two comparisons with the cut-off."""


@part
def _squared(cutoff, root):
    """Squared distance beyond which a pair is too far, with a margin for the rounding of the root."""
    if not root:
        return cutoff
    return cutoff * cutoff * (1.0 + 1e-12) if cutoff >= 0.0 else -1.0


@part
def _write_envelope(points, radius, upper, lower):
    """Largest and smallest value within the band around each point of a series, for each channel."""
    n = points.shape[0]
    for t in range(n):
        upper[t] = points[t]
        lower[t] = points[t]
    for step in range(1, min(radius, n - 1) + 1):
        _widen(upper[step:], lower[step:], points[: n - step])
        _widen(upper[: n - step], lower[: n - step], points[step:])


@part(fastmath=FINITE_MATH)
def _widen(upper, lower, points):
    """Widen an envelope to hold some points."""
    for t in range(points.shape[0]):
        if points.ndim == 1:
            upper[t], lower[t] = max(upper[t], points[t]), min(lower[t], points[t])
        else:
            for channel in range(points.shape[1]):
                upper[t, channel] = max(upper[t, channel], points[t, channel])
                lower[t, channel] = min(lower[t, channel], points[t, channel])


@part(inline="never")
def _fill_lane(lanes, lane, points):
    """Write a series to a lane."""
    for t in range(points.shape[0]):
        if points.ndim == 1:
            lanes[t, 0, lane] = points[t]
        else:
            for channel in range(points.shape[1]):
                lanes[t, channel, lane] = points[t, channel]


@part(fastmath=FINITE_MATH)
def _warp_lanes(x, y, radius, cutoffs, costs, previous, current):
    """Squared dynamic time warping distances of the series in the lanes of x and y.

    Both are (points, channels, lanes). ``costs``, ``previous`` and ``current`` are work space; column j of the cells is
    at ``j - max(0, i - radius - 1)`` in row i. All distances are infinite as soon as each must exceed its cut-off.
    """
    n, n_channels, base = x.shape[0], x.shape[1], 0
    previous[:] = np.inf
    previous[0] = 0.0
    for i in range(1, n + 1):
        first, last, shift = max(1, i - radius), min(n, i + radius), max(0, i - radius - 1) - base
        base += shift
        current[first - 1 - base] = np.inf
        current[last + 1 - base] = np.inf
        for j in range(first, last + 1):
            cell, before = j - base, j - base + shift
            if n_channels == 1:
                for lane in range(PAIR_LANES):
                    difference = x[i - 1, 0, lane] - y[j - 1, 0, lane]
                    least = min(min(previous[before - 1, lane], previous[before, lane]), current[cell - 1, lane])
                    current[cell, lane] = least + difference * difference
                continue
            costs[:] = 0.0
            for channel in range(n_channels):
                for lane in range(PAIR_LANES):
                    difference = x[i - 1, channel, lane] - y[j - 1, channel, lane]
                    costs[lane] += difference * difference
            for lane in range(PAIR_LANES):
                least = min(min(previous[before - 1, lane], previous[before, lane]), current[cell - 1, lane])
                current[cell, lane] = least + costs[lane]
        previous, current = current, previous
        if i % CHECKED_ROWS == 0 and _all_exceed(previous, first - base, last - base, cutoffs, costs):
            previous[:] = np.inf
            break
    return previous[n - max(0, n - radius - 1)]


@part(fastmath=FINITE_MATH)
def _all_exceed(cells, first, last, cutoffs, lowest):
    """Whether all cells of a row exceed the cut-off of their lane; ``lowest`` is work space."""
    lowest[:] = np.inf
    for cell in range(first, last + 1):
        for lane in range(PAIR_LANES):
            lowest[lane] = min(lowest[lane], cells[cell, lane])
    return np.all(lowest > cutoffs * CUTOFF_MARGIN)


@part(fastmath={"nnan", "nsz", "reassoc", "contract"})
def _keogh_of_block(a, upper, lower):
    """LB_Keogh of some points. The loop starts at 0: indices known to be positive are what vector code needs."""
    total = 0.0
    for t in range(a.shape[0]):
        if a.ndim == 1:
            beyond = max(max(a[t] - upper[t], lower[t] - a[t]), 0.0)
            total += beyond * beyond
        else:
            for channel in range(a.shape[1]):
                beyond = max(max(a[t, channel] - upper[t, channel], lower[t, channel] - a[t, channel]), 0.0)
                total += beyond * beyond
    return total


@part(inline="never")
def _keogh(a, upper, lower, cutoff):
    """LB_Keogh in double precision; a partial sum as soon as that exceeds the cut-off."""
    total = 0.0
    for first in range(0, a.shape[0], KEOGH_POINTS):
        points = slice(first, first + KEOGH_POINTS)
        total += _keogh_of_block(a[points], upper[points], lower[points])
        if total > cutoff:
            return total
    return total


@compiled
def warped_pairs(series, radius, root, firsts, seconds, cutoffs, distances):
    """Write the warped distances of pairs of series of one length.

    LB_Keogh excludes pairs before they are warped. Returns the numbers of pairs excluded, abandoned and computed.
    """
    values, length = series.values, series.starts[1] - series.starts[0]
    n_channels = values.size // values.shape[0]
    cells = min(length, 2 * radius + 1) + 2
    upper, lower = np.empty_like(values[:length]), np.empty_like(values[:length])
    x, y = np.zeros((length, n_channels, PAIR_LANES)), np.zeros((length, n_channels, PAIR_LANES))
    pairs, limits, costs = np.empty(PAIR_LANES, np.int64), np.empty(PAIR_LANES), np.empty(PAIR_LANES)
    previous, current = np.empty((cells, PAIR_LANES)), np.empty((cells, PAIR_LANES))
    excluded, abandoned, computed, count, own = 0, 0, 0, 0, -1
    for pair in range(firsts.shape[0]):
        i, j = firsts[pair], seconds[pair]
        a, b = values[i * length : (i + 1) * length], values[j * length : (j + 1) * length]
        limit = _squared(cutoffs[pair], root)
        if limit < np.inf and i != own:
            own = i
            _write_envelope(a, radius, upper, lower)
        if limit < np.inf and _keogh(b, upper, lower, limit / SLACK) * SLACK > limit:
            distances[pair] = np.inf
            excluded += 1
        else:
            _fill_lane(x, count, a)
            _fill_lane(y, count, b)
            pairs[count], limits[count] = pair, limit
            count += 1
        if count == PAIR_LANES or (count > 0 and pair == firsts.shape[0] - 1):
            limits[count:] = -1.0  # empty lanes never hold up the end of a batch
            squared = _warp_lanes(x, y, radius, limits, costs, previous, current)
            for lane in range(count):
                distance = np.sqrt(squared[lane]) if root else squared[lane]
                distances[pairs[lane]] = distance
                abandoned += distance == np.inf
            computed += count
            count = 0
    return excluded, abandoned, computed - abandoned


@compiled
def ragged_pairs(series, warping, firsts, seconds, cutoffs, distances):
    """Write the warped distances of pairs of series of any lengths; returns as ``warped_pairs``."""
    values, starts = series.values, series.starts
    width = longest_length(starts) + 2
    previous, current, no_bounds, abandoned = np.empty(width), np.empty(width), np.empty(0), 0
    for pair in range(firsts.shape[0]):
        i, j = firsts[pair], seconds[pair]
        a, b = values[starts[i] : starts[i + 1]], values[starts[j] : starts[j + 1]]
        radius = band_radius(a.shape[0], b.shape[0], warping.radius, warping.fraction)
        limit = _squared(cutoffs[pair], warping.root)
        squared = dtw_within(a, b, radius, limit, no_bounds, previous, current) if limit >= 0.0 else np.inf
        distances[pair] = np.sqrt(squared) if warping.root else squared
        abandoned += squared == np.inf
    return 0, abandoned, firsts.shape[0] - abandoned


@compiled
def edited_pairs(series, edits, firsts, seconds, cutoffs, distances):
    """Write the edit distances of pairs of series of any lengths; returns as ``warped_pairs``."""
    values, starts, skips = series.values, series.starts, series.skips
    work, no_bounds, abandoned = np.empty((2, longest_length(starts) + 2)), np.empty(0), 0
    for pair in range(firsts.shape[0]):
        first = slice(starts[firsts[pair]], starts[firsts[pair] + 1])
        second = slice(starts[seconds[pair]], starts[seconds[pair] + 1])
        a, b = values[first], values[second]
        radius, cutoff = edit_radius(a.shape[0], b.shape[0], edits), cutoffs[pair]
        distances[pair] = np.inf
        if cutoff >= 0.0:
            distances[pair] = edit_within(a, b, skips[first], skips[second], radius, edits, cutoff, no_bounds, work)
        abandoned += distances[pair] == np.inf
    return 0, abandoned, firsts.shape[0] - abandoned
