"""Lower bounds on warped distances, and the searches that use them (see ``protoset.spaces.series_search``).

Series are laid out, and costs measured, as in ``protoset.kernels.series``.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels.lists import ascending
from protoset.kernels.nearest import push
from protoset.kernels.series import FINITE_MATH, band_radius, dtw_within, longest_length, point_cost
from protoset.kernels.warping import LANES, band_cells, fill_lanes, warp_to_one

SLACK = 1.0 - 1e-10
"""Factor for lower bounds before they are compared: bounds and distances are summed in different orders."""


KEOGH_BLOCK = 128
"""Points of LB_Keogh between two comparisons with the cut-off."""


IMPROVED_BAND = 8
"""Radius up to which LB_Improved is not used: to compute the distance costs little more."""


class Envelopes(NamedTuple):
    """Largest and smallest value within the band around each point."""

    upper: np.ndarray
    lower: np.ndarray


class Lanes(NamedTuple):
    """Work space for batches of pairs, see ``kernels.warping``; the pairs are those with the series ``columns``."""

    x: np.ndarray
    columns: np.ndarray
    cutoffs: np.ndarray
    costs: np.ndarray
    previous: np.ndarray
    current: np.ndarray
    factors: np.ndarray


class Seeds(NamedTuple):
    """Later series that are likely to be near each series: a sparse matrix in CSR format."""

    indptr: np.ndarray
    indices: np.ndarray


@compiled
def envelopes(values, starts, radius):
    """Compute the envelopes of series of equal length."""
    upper, lower = np.empty_like(values), np.empty_like(values)
    length = starts[1] - starts[0]
    for point in range(values.shape[0]):
        t = point % length
        first, last = point - min(t, radius), point + min(length - 1 - t, radius)
        if values.ndim == 1:
            upper[point], lower[point] = values[first], values[first]
            for other in range(first + 1, last + 1):
                upper[point], lower[point] = max(upper[point], values[other]), min(lower[point], values[other])
        else:
            for channel in range(values.shape[1]):
                upper[point, channel], lower[point, channel] = values[first, channel], values[first, channel]
                for other in range(first + 1, last + 1):
                    upper[point, channel] = max(upper[point, channel], values[other, channel])
                    lower[point, channel] = min(lower[point, channel], values[other, channel])
    return Envelopes(upper, lower)


@part(fastmath=FINITE_MATH)
def _outside(a, t, upper, lower):
    """Squared distance of point t from the envelope at t: a term of LB_Keogh."""
    if a.ndim == 1:
        beyond = max(max(a[t] - upper[t], lower[t] - a[t]), 0.0)
        return beyond * beyond
    total = 0.0
    for channel in range(a.shape[1]):
        beyond = max(max(a[t, channel] - upper[t, channel], lower[t, channel] - a[t, channel]), 0.0)
        total += beyond * beyond
    return total


@part(fastmath={"nnan", "nsz", "reassoc", "contract"})
def _keogh_of_block(a, upper, lower):
    """LB_Keogh of some points. The loop starts at 0: indices known to be positive are what vector code needs."""
    total = 0.0
    for t in range(a.shape[0]):
        total += _outside(a, t, upper, lower)
    return total


@compiled
def keogh(a, upper, lower, cutoff):
    """LB_Keogh; a partial sum as soon as that exceeds the cut-off."""
    total = 0.0
    for first in range(0, a.shape[0], KEOGH_BLOCK):
        block = slice(first, first + KEOGH_BLOCK)
        total += _keogh_of_block(a[block], upper[block], lower[block])
        if total > cutoff:
            return total
    return total


@part(fastmath=FINITE_MATH)
def _merge(high, low, shift, n_windows, new_high, new_low):
    """Extremes of the union of each window with the window ``shift`` points later."""
    later_high, later_low = high[shift:], low[shift:]
    for t in range(n_windows):
        new_high[t] = max(high[t], later_high[t])
    for t in range(n_windows):
        new_low[t] = min(low[t], later_low[t])


@compiled(fastmath={"nnan", "nsz", "reassoc", "contract"})
def improved(a, b, b_upper, b_lower, radius, bound, high, low, other_high, other_low):
    """LB_Improved: ``bound``, the LB_Keogh of a, plus LB_Keogh of b to the projection of a onto the envelope of b.

    The last four arguments are work space of ``n + 2 * radius`` values. The extremes of a window of 1, 2, 4, ... values
    come from two windows of half the size; the last two windows overlap. For several channels it is just ``bound``.
    """
    if a.ndim > 1:
        return bound
    n, width = a.shape[0], 2 * radius + 1
    middle = high[radius:]
    for t in range(n):
        middle[t] = min(max(a[t], b_lower[t]), b_upper[t])
    for t in range(radius):
        high[t], high[radius + n + t] = high[radius], high[radius + n - 1]
    for t in range(n + width - 1):
        low[t] = high[t]
    size, n_windows, swapped = 1, n + width - 1, False
    while size < width:
        shift = min(size, width - size)
        n_windows -= shift
        if swapped:
            _merge(other_high, other_low, shift, n_windows, high, low)
        else:
            _merge(high, low, shift, n_windows, other_high, other_low)
        swapped = not swapped
        size += shift
    if swapped:
        return bound + keogh(b, other_high, other_low, np.inf)
    return bound + keogh(b, high, low, np.inf)


@compiled
def kim(a, b):
    """LB_Kim: the cost of the first points and of the last points, which are always matched."""
    total = point_cost(a, 0, b, 0)
    if a.shape[0] > 1 or b.shape[0] > 1:
        total += point_cost(a, a.shape[0] - 1, b, b.shape[0] - 1)
    return total


@part
def _squared(threshold, root):
    """Squared distance beyond which a pair is too far, with a margin for the rounding of the root."""
    return threshold * threshold * (1.0 + 1e-12) if root else threshold


@part
def _push_pair(i, j, squared, root, nearest):
    """Push the distance of a pair for both series."""
    distance = np.sqrt(squared) if root else squared
    push(i, j, distance, nearest)
    push(j, i, distance, nearest)


@part
def make_lanes(length, n_channels, radius):
    """Work space for batches of pairs of series of this length."""
    cells = band_cells(length, radius)
    return Lanes(
        np.zeros((length, n_channels, LANES)),
        np.empty(LANES, np.int64),
        np.empty(LANES),
        np.empty(LANES),
        np.empty((cells, LANES)),
        np.empty((cells, LANES)),
        np.ones(n_channels),
    )


@part
def _push_batch(i, count, flat, starts, radius, root, lanes, nearest):
    """Compute the distances of series i to the ``count`` series in ``lanes.columns``, and push them.

    Returns the pairs abandoned and computed: a batch is abandoned when all its distances exceed the thresholds.
    """
    x, columns, cutoffs, costs, previous, current, factors = lanes
    length = starts[1] - starts[0]
    for lane in range(LANES):
        # Empty lanes never hold up the end of a batch.
        cutoffs[lane] = -1.0
    for lane in range(count):
        cutoffs[lane] = _squared(max(nearest.thresholds[i], nearest.thresholds[columns[lane]]), root)
    fill_lanes(x, length, flat, columns * length, count, factors)
    y = flat[starts[i] : starts[i + 1]]
    squared = warp_to_one(x, length, y, length, radius, cutoffs, costs, previous, current)
    if squared[0] == np.inf:
        return count, 0
    for lane in range(count):
        _push_pair(i, columns[lane], squared[lane], root, nearest)
    return 0, count


@compiled
def seed_search(flat, starts, seeds, first_row, step, radius, root, nearest):
    """Compute the pairs of every ``step``-th row with its seeds; return the pairs bounded, abandoned and computed.

    ``flat`` has a row for each point of the series, which are of equal lengths.
    """
    lanes = make_lanes(starts[1] - starts[0], flat.shape[1], radius)
    abandoned, computed = 0, 0
    for i in range(first_row, starts.shape[0] - 1, step):
        others = seeds.indices[seeds.indptr[i] : seeds.indptr[i + 1]]
        for first in range(0, others.shape[0], LANES):
            count = min(LANES, others.shape[0] - first)
            for lane in range(count):
                lanes.columns[lane] = others[first + lane]
            counts = _push_batch(i, count, flat, starts, radius, root, lanes, nearest)
            abandoned, computed = abandoned + counts[0], computed + counts[1]
    return 0, abandoned, computed


@compiled
def bounded_search(series, flat, envelopes, seeds, first_row, step, radius, root, nearest):
    """Search the pairs of every ``step``-th row with later series that are not its seeds; equal lengths only.

    Pairs are discarded by LB_Kim, then by LB_Keogh in both directions. The remaining pairs are visited in the order of
    their bounds, discarded by LB_Improved where the band is wide, and computed in batches. Returns the pairs bounded,
    abandoned and computed.
    """
    values, starts = series
    upper, lower = envelopes
    thresholds, n, length = nearest.thresholds, starts.shape[0] - 1, starts[1] - starts[0]
    room = length + 2 * radius
    work = (np.empty(room), np.empty(room), np.empty(room), np.empty(room))
    lanes = make_lanes(length, flat.shape[1], radius)
    is_seed = np.full(n, -1, np.int64)
    left, left_swapped = np.empty(n, np.int64), np.empty(n, np.bool_)
    left_bounds, left_keogh = np.empty(n), np.empty(n)
    bounded, abandoned, computed = 0, 0, 0
    for i in range(first_row, n, step):
        a = values[starts[i] : starts[i + 1]]
        a_upper, a_lower = upper[starts[i] : starts[i + 1]], lower[starts[i] : starts[i + 1]]
        for seed in seeds.indices[seeds.indptr[i] : seeds.indptr[i + 1]]:
            is_seed[seed] = i
        n_left = 0
        for j in range(i + 1, n):
            if is_seed[j] == i:
                continue
            cutoff = _squared(max(thresholds[i], thresholds[j]), root) / SLACK
            b = values[starts[j] : starts[j + 1]]
            bound, swapped, larger = kim(a, b), False, 0.0
            if bound <= cutoff:
                keogh_a = keogh(a, upper[starts[j] : starts[j + 1]], lower[starts[j] : starts[j + 1]], cutoff)
                bound = max(bound, keogh_a)
                if bound <= cutoff:
                    keogh_b = keogh(b, a_upper, a_lower, cutoff)
                    swapped, larger = keogh_b > keogh_a, max(keogh_a, keogh_b)
                    bound = max(bound, keogh_b)
            if bound > cutoff:
                bounded += 1
                continue
            left[n_left], left_swapped[n_left] = j, swapped
            left_bounds[n_left], left_keogh[n_left] = bound, larger
            n_left += 1
        count, n_pairs, order = 0, 0, ascending(left_bounds[:n_left])
        for position in range(n_left):
            entry = order[position]
            j = left[entry]
            cutoff = _squared(max(thresholds[i], thresholds[j]), root)
            bound = left_bounds[entry]
            if bound * SLACK <= cutoff and radius > IMPROVED_BAND:
                b_points = slice(starts[j], starts[j + 1])
                b, b_upper, b_lower = values[b_points], upper[b_points], lower[b_points]
                if left_swapped[entry]:
                    bound = improved(b, a, a_upper, a_lower, radius, left_keogh[entry], *work)
                else:
                    bound = improved(a, b, b_upper, b_lower, radius, left_keogh[entry], *work)
            if bound * SLACK <= cutoff:
                lanes.columns[count] = j
                count += 1
                n_pairs += 1
            if count == LANES or (count > 0 and position == n_left - 1):
                counts = _push_batch(i, count, flat, starts, radius, root, lanes, nearest)
                abandoned, computed, count = abandoned + counts[0], computed + counts[1], 0
        bounded += n_left - n_pairs
    return bounded, abandoned, computed


@compiled
def ragged_search(series, first_row, step, warping, nearest):
    """Search the pairs of every ``step``-th row with all later series, of any lengths, by LB_Kim and abandoning.

    Returns the pairs bounded, abandoned and computed.
    """
    values, starts = series
    thresholds, n, width = nearest.thresholds, starts.shape[0] - 1, longest_length(starts) + 2
    previous, current, no_bounds = np.empty(width), np.empty(width), np.empty(0)
    bounded, abandoned, computed = 0, 0, 0
    for i in range(first_row, n, step):
        a = values[starts[i] : starts[i + 1]]
        for j in range(i + 1, n):
            b = values[starts[j] : starts[j + 1]]
            cutoff = _squared(max(thresholds[i], thresholds[j]), warping.root)
            if kim(a, b) * SLACK > cutoff:
                bounded += 1
                continue
            radius = band_radius(a.shape[0], b.shape[0], warping.radius, warping.fraction)
            squared = dtw_within(a, b, radius, cutoff, no_bounds, previous, current)
            if squared == np.inf:
                abandoned += 1
                continue
            computed += 1
            _push_pair(i, j, squared, warping.root, nearest)
    return bounded, abandoned, computed


@compiled
def nearest_series(a, rows, b, columns, envelopes, warping):
    """Nearest of the series ``columns`` of b to each of the series ``rows`` of a; of ties the first column.

    The third result says which rows have ties. The candidates are visited in the order of their bounds: LB_Kim, and
    LB_Keogh where there are envelopes of b (else empty arrays).
    """
    width = longest_length(b.starts) + 2
    previous, current, no_bounds = np.empty(width), np.empty(width), np.empty(0)
    positions, nearest = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0])
    are_tied, bounds = np.zeros(rows.shape[0], np.bool_), np.empty(columns.shape[0])
    for r, i in enumerate(rows):
        x = a.values[a.starts[i] : a.starts[i + 1]]
        for c, j in enumerate(columns):
            points = slice(b.starts[j], b.starts[j + 1])
            bounds[c] = kim(x, b.values[points])
            if envelopes.upper.shape[0] > 0:
                bounds[c] = max(bounds[c], keogh(x, envelopes.upper[points], envelopes.lower[points], np.inf))
        best, position = np.inf, -1
        for c in ascending(bounds):
            cutoff = _squared(best, warping.root)
            if bounds[c] * SLACK > cutoff:
                break
            y = b.values[b.starts[columns[c]] : b.starts[columns[c] + 1]]
            radius = band_radius(x.shape[0], y.shape[0], warping.radius, warping.fraction)
            squared = dtw_within(x, y, radius, cutoff, no_bounds, previous, current)
            distance = np.sqrt(squared) if warping.root else squared
            if distance < best:
                best, position, are_tied[r] = distance, c, False
            elif distance == best:
                position, are_tied[r] = min(c, position), True
        positions[r], nearest[r] = position, best
    return positions, nearest, are_tied
