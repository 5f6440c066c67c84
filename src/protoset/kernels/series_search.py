"""Bounds from below on warped distances, and the searches that use them (see ``protoset.spaces.series_search``).

Series are laid out, and costs measured, as in ``protoset.kernels.series``.
"""

import numpy as np
from numba import njit

from protoset.kernels.nearest import push
from protoset.kernels.series import _cost, _longest, band_radius, dtw_within

# Bounds are sums in another order than the distances they bound; this is far beyond their rounding errors.
SLACK = 1.0 - 1e-10

# Series are finite.
_FINITE = {"nnan", "nsz"}


@njit(cache=True, nogil=True)
def envelopes(values, starts, radius):
    """Largest and smallest value within the band around each point; all series are equally long."""
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
    return upper, lower


@njit(cache=True, nogil=True, fastmath=_FINITE)
def _outside(a, t, upper, lower):
    """Squared distance of a point from the envelope at its place: LB_Keogh's term."""
    if a.ndim == 1:
        beyond = max(max(a[t] - upper[t], lower[t] - a[t]), 0.0)
        return beyond * beyond
    total = 0.0
    for channel in range(a.shape[1]):
        beyond = max(max(a[t, channel] - upper[t, channel], lower[t, channel] - a[t, channel]), 0.0)
        total += beyond * beyond
    return total


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def keogh(a, upper, lower, cutoff):
    """LB_Keogh; what it has when it exceeds the cut-off."""
    total = 0.0
    n = a.shape[0]
    for first in range(0, n, 32):
        for t in range(first, min(first + 32, n)):
            total += _outside(a, t, upper, lower)
        if total > cutoff:
            return total
    return total


@njit(cache=True, nogil=True, fastmath=_FINITE)
def _merge(high, low, shift, places, new_high, new_low):
    """Extremes of two windows each, the second one ``shift`` further on."""
    for t in range(places):
        new_high[t] = max(high[t], high[t + shift])
    for t in range(places):
        new_low[t] = min(low[t], low[t + shift])


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def improved(a, b, b_upper, b_lower, radius, bound, high, low, other_high, other_low):
    """LB_Improved from LB_Keogh of a: what b adds to it, seen from a pressed into the envelope of b.

    The last four are work space of ``n + 2 * radius`` values. The extremes of windows of 1, 2, 4, ...
    values come from two windows of half the size; the last two overlap.
    """
    n, width = a.shape[0], 2 * radius + 1
    for t in range(n):
        high[radius + t] = min(max(a[t], b_lower[t]), b_upper[t])
    for t in range(radius):
        high[t], high[radius + n + t] = high[radius], high[radius + n - 1]
    for t in range(n + width - 1):
        low[t] = high[t]
    size, places, turned = 1, n + width - 1, False
    while size < width:
        shift = min(size, width - size)
        places -= shift
        if turned:
            _merge(other_high, other_low, shift, places, high, low)
        else:
            _merge(high, low, shift, places, other_high, other_low)
        turned = not turned
        size += shift
    if turned:
        return bound + keogh(b, other_high, other_low, np.inf)
    return bound + keogh(b, high, low, np.inf)


@njit(cache=True, nogil=True)
def kim(a, b):
    """LB_Kim: the ends of two series are always matched."""
    total = _cost(a, 0, b, 0)
    if a.shape[0] > 1 or b.shape[0] > 1:
        total += _cost(a, a.shape[0] - 1, b, b.shape[0] - 1)
    return total


@njit(cache=True, nogil=True)
def _fill_remaining(a, upper, lower, remaining):
    """What the points from each one on add at least."""
    n = a.shape[0]
    for t in range(n):
        remaining[t] = _outside(a, t, upper, lower) * SLACK
    remaining[n] = 0.0
    for t in range(n - 1, -1, -1):
        remaining[t] += remaining[t + 1]


@njit(cache=True, nogil=True)
def _squared(threshold, root):
    """Squared distance beyond which a pair is too far, with room for the rounding of the root."""
    return threshold * threshold * (1.0 + 1e-12) if root else threshold


@njit(cache=True, nogil=True)
def _rounded_down(bound):
    """A bound that stays one in single precision."""
    return min(bound * (1.0 - 1e-6), 3e38) if bound > 1e-30 else 0.0


@njit(cache=True, nogil=True)
def _place_of_pair(i, j, n):
    """Place of the pair i < j in a list of all pairs, row by row."""
    return i * (2 * n - i - 1) // 2 + j - i - 1


@njit(cache=True, nogil=True)
def nearest_bounds(
    values, starts, upper, lower, first_row, step, stored,
    distances, indices, counts, triggers, thresholds, cut_at, sizes,
):  # fmt: skip
    """Push the lower bounds of every ``step``-th row's pairs with later series in place of distances.

    All bounds are kept in ``stored``, row by row, rounded down, unless it is empty.
    """
    arrays = (distances, indices, counts, triggers, thresholds, cut_at, sizes)
    n = starts.shape[0] - 1
    for i in range(first_row, n, step):
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
                stored[_place_of_pair(i, j, n)] = _rounded_down(bound)
            # Looked at here too: most pairs end here, and a call costs more than the comparison.
            if bound <= thresholds[i]:
                push(i, j, bound, *arrays)
            if bound <= thresholds[j]:
                push(j, i, bound, *arrays)


@njit(cache=True, nogil=True)
def seed_search(
    values, starts, seeds_indptr, seeds, first_row, step, radius, fraction, root,
    distances, indices, counts, triggers, thresholds, cut_at, sizes,
):  # fmt: skip
    """Compute the pairs of each row with its seeds, later series that are likely to be near."""
    arrays = (distances, indices, counts, triggers, thresholds, cut_at, sizes)
    width = _longest(starts) + 2
    previous, current, nothing = np.empty(width), np.empty(width), np.empty(0)
    abandoned, computed = 0, 0
    for i in range(first_row, starts.shape[0] - 1, step):
        a = values[starts[i] : starts[i + 1]]
        for entry in range(seeds_indptr[i], seeds_indptr[i + 1]):
            j = seeds[entry]
            b = values[starts[j] : starts[j + 1]]
            cutoff = _squared(max(thresholds[i], thresholds[j]), root)
            band = band_radius(a.shape[0], b.shape[0], radius, fraction)
            squared = dtw_within(a, b, band, cutoff, nothing, previous, current)
            if squared == np.inf:
                abandoned += 1
                continue
            computed += 1
            distance = np.sqrt(squared) if root else squared
            push(i, j, distance, *arrays)
            push(j, i, distance, *arrays)
    return 0, abandoned, computed


@njit(cache=True, nogil=True)
def bounded_search(
    values, starts, upper, lower, stored, seeds_indptr, seeds, first_row, step, radius, root,
    distances, indices, counts, triggers, thresholds, cut_at, sizes,
):  # fmt: skip
    """Pairs of every ``step``-th row with the later series that are not its seeds; all are equally long.

    LB_Kim, then LB_Keogh both ways; what they leave is taken in the order of its bound, tried with
    LB_Improved (one channel), computed, and broken off where it exceeds what both series still look
    for. Returns the pairs bounded, abandoned and computed.
    """
    arrays = (distances, indices, counts, triggers, thresholds, cut_at, sizes)
    n, length = starts.shape[0] - 1, starts[1] - starts[0]
    previous, current, remaining = np.empty(length + 2), np.empty(length + 2), np.empty(length + 1)
    room = length + 2 * radius
    work = (np.empty(room), np.empty(room), np.empty(room), np.empty(room))
    is_seed = np.full(n, -1, np.int64)
    left, left_turned = np.empty(n, np.int64), np.empty(n, np.bool_)
    left_bounds, left_keogh = np.empty(n), np.empty(n)
    bounded, abandoned, computed = 0, 0, 0
    for i in range(first_row, n, step):
        a = values[starts[i] : starts[i + 1]]
        a_upper, a_lower = upper[starts[i] : starts[i + 1]], lower[starts[i] : starts[i + 1]]
        for entry in range(seeds_indptr[i], seeds_indptr[i + 1]):
            is_seed[seeds[entry]] = i
        n_left = 0
        for j in range(i + 1, n):
            if is_seed[j] == i:
                continue
            cutoff = _squared(max(thresholds[i], thresholds[j]), root) / SLACK
            if stored.shape[0] > 0 and stored[_place_of_pair(i, j, n)] > cutoff:
                bounded += 1
                continue
            b = values[starts[j] : starts[j + 1]]
            bound, turned, larger = kim(a, b), False, 0.0
            if bound <= cutoff:
                one_way = keogh(a, upper[starts[j] : starts[j + 1]], lower[starts[j] : starts[j + 1]], cutoff)
                bound = max(bound, one_way)
                if bound <= cutoff:
                    other_way = keogh(b, a_upper, a_lower, cutoff)
                    turned, larger = other_way > one_way, max(one_way, other_way)
                    bound = max(bound, other_way)
            if bound > cutoff:
                bounded += 1
                continue
            left[n_left], left_turned[n_left] = j, turned
            left_bounds[n_left], left_keogh[n_left] = bound, larger
            n_left += 1
        for place in np.argsort(left_bounds[:n_left]):
            j = left[place]
            cutoff = _squared(max(thresholds[i], thresholds[j]), root)
            if left_bounds[place] * SLACK > cutoff:
                bounded += 1
                continue
            b = values[starts[j] : starts[j + 1]]
            b_upper, b_lower = upper[starts[j] : starts[j + 1]], lower[starts[j] : starts[j + 1]]
            if values.ndim == 1:
                if left_turned[place]:
                    bound = improved(b, a, a_upper, a_lower, radius, left_keogh[place], *work)
                else:
                    bound = improved(a, b, b_upper, b_lower, radius, left_keogh[place], *work)
                if bound * SLACK > cutoff:
                    bounded += 1
                    continue
            if left_turned[place]:
                _fill_remaining(b, a_upper, a_lower, remaining)
                squared = dtw_within(b, a, radius, cutoff, remaining, previous, current)
            else:
                _fill_remaining(a, b_upper, b_lower, remaining)
                squared = dtw_within(a, b, radius, cutoff, remaining, previous, current)
            if squared == np.inf:
                abandoned += 1
                continue
            computed += 1
            distance = np.sqrt(squared) if root else squared
            push(i, j, distance, *arrays)
            push(j, i, distance, *arrays)
    return bounded, abandoned, computed


@njit(cache=True, nogil=True)
def ragged_search(
    values, starts, first_row, step, radius, fraction, root,
    distances, indices, counts, triggers, thresholds, cut_at, sizes,
):  # fmt: skip
    """Pairs of every ``step``-th row with all later series, of any lengths: LB_Kim, and breaking off."""
    arrays = (distances, indices, counts, triggers, thresholds, cut_at, sizes)
    n, width = starts.shape[0] - 1, _longest(starts) + 2
    previous, current, nothing = np.empty(width), np.empty(width), np.empty(0)
    bounded, abandoned, computed = 0, 0, 0
    for i in range(first_row, n, step):
        a = values[starts[i] : starts[i + 1]]
        for j in range(i + 1, n):
            b = values[starts[j] : starts[j + 1]]
            cutoff = _squared(max(thresholds[i], thresholds[j]), root)
            if kim(a, b) * SLACK > cutoff:
                bounded += 1
                continue
            band = band_radius(a.shape[0], b.shape[0], radius, fraction)
            squared = dtw_within(a, b, band, cutoff, nothing, previous, current)
            if squared == np.inf:
                abandoned += 1
                continue
            computed += 1
            distance = np.sqrt(squared) if root else squared
            push(i, j, distance, *arrays)
            push(j, i, distance, *arrays)
    return bounded, abandoned, computed


@njit(cache=True, nogil=True)
def nearest_series(a_values, a_starts, rows, b_values, b_starts, columns, upper, lower, radius, fraction, root):
    """Nearest of the given series of b to each of the given series of a; the first one among ties.

    With envelopes of b (else empty arrays) the candidates are tried in the order of their bounds.
    """
    width = _longest(b_starts) + 2
    previous, current, nothing = np.empty(width), np.empty(width), np.empty(0)
    positions, nearest = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0])
    bounds = np.empty(columns.shape[0])
    for r, i in enumerate(rows):
        a = a_values[a_starts[i] : a_starts[i + 1]]
        for c, j in enumerate(columns):
            b = b_values[b_starts[j] : b_starts[j + 1]]
            bounds[c] = kim(a, b)
            if upper.shape[0] > 0:
                envelope = slice(b_starts[j], b_starts[j + 1])
                bounds[c] = max(bounds[c], keogh(a, upper[envelope], lower[envelope], np.inf))
        best, position = np.inf, -1
        for c in np.argsort(bounds):
            cutoff = _squared(best, root)
            if bounds[c] * SLACK > cutoff:
                break
            b = b_values[b_starts[columns[c]] : b_starts[columns[c] + 1]]
            band = band_radius(a.shape[0], b.shape[0], radius, fraction)
            squared = dtw_within(a, b, band, cutoff, nothing, previous, current)
            distance = np.sqrt(squared) if root else squared
            if distance < best or (distance == best and c < position):
                best, position = distance, c
        positions[r], nearest[r] = position, best
    return positions, nearest
