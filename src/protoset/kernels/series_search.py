"""Lower bounds on warped distances, and the searches that use them (see ``protoset.spaces.series_search``).

Series are laid out, and costs measured, as in ``protoset.kernels.series``.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled
from protoset.kernels.nearest import push
from protoset.kernels.series import FINITE_MATH, band_radius, dtw_within, longest_length, point_cost

SLACK = 1.0 - 1e-10
"""Factor for lower bounds before they are compared: bounds and distances are summed in different orders."""


class Envelopes(NamedTuple):
    """Largest and smallest value within the band around each point."""

    upper: np.ndarray
    lower: np.ndarray


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


@compiled(fastmath=FINITE_MATH)
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


@compiled(fastmath={"nnan", "nsz", "reassoc", "contract"})
def keogh(a, upper, lower, cutoff):
    """LB_Keogh; a partial sum as soon as that exceeds the cut-off."""
    total = 0.0
    n = a.shape[0]
    for first in range(0, n, 32):
        for t in range(first, min(first + 32, n)):
            total += _outside(a, t, upper, lower)
        if total > cutoff:
            return total
    return total


@compiled(fastmath=FINITE_MATH)
def _merge(high, low, shift, n_windows, new_high, new_low):
    """Extremes of the union of each window with the window ``shift`` points later."""
    for t in range(n_windows):
        new_high[t] = max(high[t], high[t + shift])
    for t in range(n_windows):
        new_low[t] = min(low[t], low[t + shift])


@compiled(fastmath={"nnan", "nsz", "reassoc", "contract"})
def improved(a, b, b_upper, b_lower, radius, bound, high, low, other_high, other_low):
    """LB_Improved: ``bound``, the LB_Keogh of a, plus LB_Keogh of b to the projection of a onto the envelope of b.

    The last four arguments are work space of ``n + 2 * radius`` values. The extremes of a window of 1, 2, 4, ... values
    come from two windows of half the size; the last two windows overlap. For several channels it is just ``bound``.
    """
    if a.ndim > 1:
        return bound
    n, width = a.shape[0], 2 * radius + 1
    for t in range(n):
        high[radius + t] = min(max(a[t], b_lower[t]), b_upper[t])
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


@compiled
def _fill_remaining(a, upper, lower, remaining):
    """Lower bound on the cost of the remaining points, from each point on."""
    n = a.shape[0]
    for t in range(n):
        remaining[t] = _outside(a, t, upper, lower) * SLACK
    remaining[n] = 0.0
    for t in range(n - 1, -1, -1):
        remaining[t] += remaining[t + 1]


@compiled
def _squared(threshold, root):
    """Squared distance beyond which a pair is too far, with a margin for the rounding of the root."""
    return threshold * threshold * (1.0 + 1e-12) if root else threshold


@compiled
def _rounded_down(bound):
    """A lower bound that stays a lower bound in single precision."""
    return min(bound * (1.0 - 1e-6), 3e38) if bound > 1e-30 else 0.0


@compiled
def _pair_position(i, j, n):
    """Position of the pair i < j in the list of all pairs, row by row."""
    return i * (2 * n - i - 1) // 2 + j - i - 1


@compiled
def nearest_bounds(series, envelopes, stored, nearest):
    """Push the lower bounds of all pairs in place of distances.

    All bounds are kept in ``stored``, row by row, rounded down, unless it is empty.
    """
    values, starts = series
    upper, lower = envelopes
    thresholds, n = nearest.thresholds, starts.shape[0] - 1
    for i in range(n):
        a = values[starts[i] : starts[i + 1]]
        a_upper, a_lower = upper[starts[i] : starts[i + 1]], lower[starts[i] : starts[i + 1]]
        for j in range(i + 1, n):
            cutoff = max(thresholds[i], thresholds[j])
            b = values[starts[j] : starts[j + 1]]
            bound = kim(a, b)
            if bound <= cutoff:
                bound = max(bound, keogh(a, upper[starts[j] : starts[j + 1]], lower[starts[j] : starts[j + 1]], cutoff))
            if bound <= cutoff:
                bound = max(bound, keogh(b, a_upper, a_lower, cutoff))
            if stored.shape[0] > 0:
                stored[_pair_position(i, j, n)] = _rounded_down(bound)
            # Compared here too: most pairs end here, and a call costs more than the comparison.
            if bound <= thresholds[i]:
                push(i, j, bound, nearest)
            if bound <= thresholds[j]:
                push(j, i, bound, nearest)


@compiled
def _push_pair(i, j, squared, root, nearest):
    """Push the distance of a pair for both series."""
    distance = np.sqrt(squared) if root else squared
    push(i, j, distance, nearest)
    push(j, i, distance, nearest)


@compiled
def seed_search(series, seeds, first_row, step, warping, nearest):
    """Compute the pairs of every ``step``-th row with its seeds; return the pairs bounded, abandoned and computed."""
    values, starts = series
    thresholds, width = nearest.thresholds, longest_length(starts) + 2
    previous, current, no_bounds = np.empty(width), np.empty(width), np.empty(0)
    abandoned, computed = 0, 0
    for i in range(first_row, starts.shape[0] - 1, step):
        a = values[starts[i] : starts[i + 1]]
        for j in seeds.indices[seeds.indptr[i] : seeds.indptr[i + 1]]:
            b = values[starts[j] : starts[j + 1]]
            cutoff = _squared(max(thresholds[i], thresholds[j]), warping.root)
            radius = band_radius(a.shape[0], b.shape[0], warping.radius, warping.fraction)
            squared = dtw_within(a, b, radius, cutoff, no_bounds, previous, current)
            if squared == np.inf:
                abandoned += 1
                continue
            computed += 1
            _push_pair(i, j, squared, warping.root, nearest)
    return 0, abandoned, computed


@compiled
def bounded_search(series, envelopes, stored, seeds, first_row, step, radius, root, nearest):
    """Search the pairs of every ``step``-th row with later series that are not its seeds; equal lengths only.

    Pairs are discarded by LB_Kim, then by LB_Keogh in both directions. The remaining pairs are visited in the order of
    their bounds, discarded by LB_Improved (one channel), or computed, and abandoned as soon as the distance exceeds the
    thresholds of both series. Returns the pairs bounded, abandoned and computed.
    """
    values, starts = series
    upper, lower = envelopes
    thresholds, n, length = nearest.thresholds, starts.shape[0] - 1, starts[1] - starts[0]
    previous, current, remaining = np.empty(length + 2), np.empty(length + 2), np.empty(length + 1)
    room = length + 2 * radius
    work = (np.empty(room), np.empty(room), np.empty(room), np.empty(room))
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
            if stored.shape[0] > 0 and stored[_pair_position(i, j, n)] > cutoff:
                bounded += 1
                continue
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
        for entry in np.argsort(left_bounds[:n_left]):
            j = left[entry]
            cutoff = _squared(max(thresholds[i], thresholds[j]), root)
            if left_bounds[entry] * SLACK > cutoff:
                bounded += 1
                continue
            b = values[starts[j] : starts[j + 1]]
            b_upper, b_lower = upper[starts[j] : starts[j + 1]], lower[starts[j] : starts[j + 1]]
            if left_swapped[entry]:
                bound = improved(b, a, a_upper, a_lower, radius, left_keogh[entry], *work)
            else:
                bound = improved(a, b, b_upper, b_lower, radius, left_keogh[entry], *work)
            if bound * SLACK > cutoff:
                bounded += 1
                continue
            if left_swapped[entry]:
                _fill_remaining(b, a_upper, a_lower, remaining)
                squared = dtw_within(b, a, radius, cutoff, remaining, previous, current)
            else:
                _fill_remaining(a, b_upper, b_lower, remaining)
                squared = dtw_within(a, b, radius, cutoff, remaining, previous, current)
            if squared == np.inf:
                abandoned += 1
                continue
            computed += 1
            _push_pair(i, j, squared, root, nearest)
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
        for c in np.argsort(bounds):
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
