"""Dissimilarities of time series (see ``protoset.spaces.series``); bounds and searches are in ``series_search``.

Series lie one after the other in ``values``: one number per point, or one row per point where
there are several channels. Series ``i`` has the points ``starts[i]`` to ``starts[i + 1]``. Local
costs are squared differences summed over the channels; everything is in squared units until
``root`` asks for the square root.

d(a, b) and d(b, a) are the same to the last bit: the minimum does not care about the order of its
arguments, and a difference is squared.
"""

import numpy as np
from numba import njit

# Series are finite.
_FINITE = {"nnan", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FINITE)
def _cost(a, i, b, j):
    if a.ndim == 1:
        difference = a[i] - b[j]
        return difference * difference
    total = 0.0
    for channel in range(a.shape[1]):
        difference = a[i, channel] - b[j, channel]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def band_radius(n, m, radius, fraction):
    """Radius of the band in points: at least the difference of the lengths, so that there is a path."""
    if fraction >= 0.0:
        radius = int(fraction * max(n, m) + 1e-9)
    elif radius < 0:
        radius = max(n, m)
    return max(min(radius, max(n, m)), abs(n - m))


@njit(cache=True, nogil=True, fastmath=_FINITE)
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
            left = min(min(diagonal, above), left) + _cost(a, i, b, j - 1)
            diagonal = above
            current[j] = left
        previous, current = current, previous
        if last < m:
            previous[last + 1] = np.inf
    return previous[m]


@njit(cache=True, nogil=True, fastmath=_FINITE)
def dtw_within(a, b, radius, cutoff, remaining, previous, current):
    """The same, or infinity where it exceeds ``cutoff``, as soon as that is clear.

    ``remaining[i]`` bounds what the points of ``a`` from ``i`` on add; it may be empty.
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
            left = min(min(diagonal, above), left) + _cost(a, i, b, j - 1)
            diagonal = above
            current[j] = left
            lowest = min(lowest, left)
        if lowest + (remaining[i + 1] if bounded else 0.0) > cutoff:
            return np.inf
        previous, current = current, previous
        if last < m:
            previous[last + 1] = np.inf
    return previous[m]


@njit(cache=True, nogil=True)
def _from_gap(a, i, gap):
    """Distance of a point from the gap."""
    if a.ndim == 1:
        return abs(a[i] - gap[0])
    total = 0.0
    for channel in range(a.shape[1]):
        total += (a[i, channel] - gap[channel]) ** 2
    return np.sqrt(total)


@njit(cache=True, nogil=True)
def erp(a, b, radius, gap, previous, current):
    """Edit distance with real penalty: points are matched, or left out at their distance from ``gap``."""
    n, m = a.shape[0], b.shape[0]
    previous[: m + 1] = np.inf
    previous[0] = 0.0
    for j in range(1, min(m, radius) + 1):
        previous[j] = previous[j - 1] + _from_gap(b, j - 1, gap)
    for i in range(1, n + 1):
        first, last = max(0, i - radius), min(m, i + radius)
        current[: m + 1] = np.inf
        left_out = _from_gap(a, i - 1, gap)
        if first == 0:
            current[0] = previous[0] + left_out
        for j in range(max(first, 1), last + 1):
            matched = previous[j - 1] + np.sqrt(_cost(a, i - 1, b, j - 1))
            current[j] = min(matched, min(previous[j] + left_out, current[j - 1] + _from_gap(b, j - 1, gap)))
        previous, current = current, previous
    return previous[m]


@njit(cache=True, nogil=True)
def series_block(a_values, a_starts, rows, b_values, b_starts, columns, radius, fraction, root, gap, upper):
    """Distances of the given series of a to the given series of b; with ``upper`` only to later ones.

    Edit distances with real penalty where there is a ``gap``, else warped ones.
    """
    block = np.empty((rows.shape[0], columns.shape[0]))
    width = _longest(b_starts) + 2
    previous, current = np.empty(width), np.empty(width)
    for r, i in enumerate(rows):
        a = a_values[a_starts[i] : a_starts[i + 1]]
        for c, j in enumerate(columns):
            if upper and j <= i:
                continue
            b = b_values[b_starts[j] : b_starts[j + 1]]
            band = band_radius(a.shape[0], b.shape[0], radius, fraction)
            if gap.shape[0] > 0:
                block[r, c] = erp(a, b, band, gap, previous, current)
            else:
                squared = dtw(a, b, band, previous, current)
                block[r, c] = np.sqrt(squared) if root else squared
    return block


@njit(cache=True, nogil=True)
def _longest(starts):
    longest = 0
    for i in range(starts.shape[0] - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest
