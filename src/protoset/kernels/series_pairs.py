"""Distances of given pairs of series within cut-offs (see ``protoset.spaces._approximate_series``).

A pair has its first series, its second series and a cut-off; consecutive pairs often have the same first series. The
distance is infinite where it exceeds the cut-off, else the same to the last bit as from ``series`` and ``elastic``.

Series of equal lengths are warped ``LANES`` pairs at a time, see ``kernels.warping``.
"""

import numpy as np

from protoset.kernels._compile import compiled, part, plain
from protoset.kernels._lanes import LANES, lane_rows
from protoset.kernels.elastic import edit_radius, edit_within
from protoset.kernels.series import FINITE_MATH, band_radius, dtw_within, longest_length, squared_cutoff
from protoset.kernels.series_search import SLACK
from protoset.kernels.warping import fill_lanes, used_lanes, warp_within

KEOGH_POINTS = 128
"""Points of LB_Keogh between two comparisons with the cut-off."""


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


@plain
def warped_pairs(series, radius, root, firsts, seconds, cutoffs, distances):
    """Write the warped distances of pairs of series of one length.

    LB_Keogh excludes pairs before they are warped. Returns the numbers of pairs excluded, abandoned and computed.
    """
    values, length = series.values, int(series.starts[1])
    points = length, values.size // len(values), LANES
    rows = lane_rows.py_func(2 * length * points[1] + length + 1, np.empty(0))
    x, y, cells = np.split(rows, [length * points[1], 2 * length * points[1]])
    return _warped_pairs(
        values, values.reshape(-1), length, radius, root, firsts, seconds, cutoffs, distances,
        *np.empty((2, *values[:length].shape)), x.reshape(points), y.reshape(points), cells,
        *np.empty((3, LANES), np.int64), np.empty(LANES),
    )  # fmt: skip


@compiled
def _warped_pairs(
    values, items, length, radius, root, firsts, seconds, cutoffs, distances,
    upper, lower, x, y, cells, pairs, x_starts, y_starts, limits,
):  # fmt: skip
    n_channels, excluded, abandoned, computed, count, own = x.shape[1], 0, 0, 0, 0, -1
    for pair in range(firsts.shape[0]):
        i, j = firsts[pair], seconds[pair]
        limit = squared_cutoff(cutoffs[pair], root)
        if limit < np.inf and i != own:
            own = i
            _write_envelope(values[i * length : (i + 1) * length], radius, upper, lower)
        other = values[j * length : (j + 1) * length]
        if limit < np.inf and _keogh(other, upper, lower, limit / SLACK) * SLACK > limit:
            distances[pair] = np.inf
            excluded += 1
        else:
            x_starts[count], y_starts[count] = i * length * n_channels, j * length * n_channels
            pairs[count], limits[count] = pair, limit
            count += 1
        if count == LANES or (count > 0 and pair == firsts.shape[0] - 1):
            limits[count:] = -1.0  # empty lanes never hold up the end of a batch
            fill_lanes(x, length * n_channels, items, x_starts, count)
            fill_lanes(y, length * n_channels, items, y_starts, count)
            is_near = warp_within(x, y, 0, length, n_channels, radius, limits, cells, used_lanes(count, x))
            for lane in range(count):
                squared = cells[length, lane]
                is_within = is_near and squared <= limits[lane]
                distances[pairs[lane]] = (np.sqrt(squared) if root else squared) if is_within else np.inf
                abandoned += not is_within
            computed += count
            count = 0
    return excluded, abandoned, computed - abandoned


@compiled
def ragged_pairs(series, warping, firsts, seconds, cutoffs, distances):
    """Write the warped distances of pairs of series of any lengths; returns as ``warped_pairs``."""
    values, starts = series.values, series.starts
    width = longest_length(starts) + 2
    previous, current, abandoned = np.empty(width), np.empty(width), 0
    for pair in range(firsts.shape[0]):
        i, j = firsts[pair], seconds[pair]
        a, b = values[starts[i] : starts[i + 1]], values[starts[j] : starts[j + 1]]
        radius = band_radius(a.shape[0], b.shape[0], warping.radius, warping.fraction)
        limit = squared_cutoff(cutoffs[pair], warping.root)
        squared = dtw_within(a, b, radius, limit, previous, current) if limit >= 0.0 else np.inf
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
