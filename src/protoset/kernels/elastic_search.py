"""Lower bounds on edit distances, and the searches that use them (see ``protoset.spaces.elastic_search``).

Each point of a series is matched with a point within the band, at no less than its distance from the range of these
points, or taken alone, at no less than ``skips``. The smaller cost of both is the floor of the point (after Tan,
Petitjean and Webb, 2020). The sum of the floors is a bound on the distance; the sum from a point on is a bound on the
rest of a path.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels.elastic import edit_radius, edit_within
from protoset.kernels.nearest import push
from protoset.kernels.series_search import SLACK

SUM_SLACK = 1e-10
"""Rounding of a difference of two sums, as a share of the sums."""


class EditBounds(NamedTuple):
    """What is known of each series before it is compared."""

    upper: np.ndarray
    """Largest value within the band around each position; a row per series, as long as the longest one."""
    lower: np.ndarray
    """Smallest value within the band."""
    sizes: np.ndarray
    """Distance of each series from the empty series; empty where there is none."""
    sums: np.ndarray
    """Sum of each channel, as differences from the gap value; empty where there is no gap value."""
    least: float
    """Least cost of a point that is taken alone."""


class Seeds(NamedTuple):
    """Later series that are likely to be near each series: a sparse matrix in CSR format."""

    indptr: np.ndarray
    indices: np.ndarray


@part
def _rounded_down(bound):
    """A lower bound that stays a lower bound in single precision."""
    return min(bound * (1.0 - 1e-6), 3e38) if bound > 1e-30 else 0.0


@part
def _pair_position(i, j, n):
    """Position of the pair i < j in the list of all pairs, row by row."""
    return i * (2 * n - i - 1) // 2 + j - i - 1


@compiled(fastmath={"nnan", "nsz", "reassoc", "contract"})
def floors(a, skips, upper, lower, split, stiffness, outside, into):
    """Lower bound on the cost of each point of a; return their sum. ``outside`` is work space."""
    n, total = a.shape[0], 0.0
    if a.ndim == 1:
        for t in range(n):
            outside[t] = max(max(a[t] - upper[t], lower[t] - a[t]), 0.0)
    else:
        for t in range(n):
            outside[t] = _outside_channels(a, t, upper, lower, skips[t], split)
    if stiffness is not None:
        # The points before two matched points count too.
        before, after, last, later_skips = outside[: n - 1], outside[1:n], into[1:n], skips[1:]
        into[0] = outside[0]
        total += into[0]
        for t in range(n - 1):
            last[t] = min(before[t] + after[t], later_skips[t])
            total += last[t]
        return total
    for t in range(n):
        into[t] = min(outside[t], skips[t]) if a.ndim == 1 or split is None else outside[t]
        total += into[t]
    return total


@compiled(fastmath={"nnan", "nsz"})
def _outside_channels(a, t, upper, lower, skip, split):
    """Distance of a point from its range; under MSM the sum of the floors of the channels."""
    total = 0.0
    for channel in range(a.shape[1]):
        beyond = max(max(a[t, channel] - upper[t, channel], lower[t, channel] - a[t, channel]), 0.0)
        if split is None:
            total += beyond * beyond
        else:
            total += min(beyond, skip)
    return np.sqrt(total) if split is None else total


@compiled
def _size_bound(i, j, a_bounds, b_bounds):
    """Bound by the distances from the empty series, and by the sums of the channels (Chen and Ng, 2004)."""
    if a_bounds.sizes.shape[0] == 0:
        return 0.0
    total = a_bounds.sizes[i] + b_bounds.sizes[j]
    squared = 0.0
    for channel in range(a_bounds.sums.shape[1]):
        squared += (a_bounds.sums[i, channel] - b_bounds.sums[j, channel]) ** 2
    return max(np.sqrt(squared), abs(a_bounds.sizes[i] - b_bounds.sizes[j])) - SUM_SLACK * total


@compiled(fastmath={"nnan", "nsz", "reassoc", "contract"})
def _sum_of_floors(a, skips, upper, lower, split, stiffness):
    """Sum of the floors of one channel; nothing is stored, so that the loops become vector code."""
    total, n = 0.0, a.shape[0]
    if stiffness is None:
        for t in range(n):
            total += min(max(max(a[t] - upper[t], lower[t] - a[t]), 0.0), skips[t])
        return total
    later, later_upper, later_lower, later_skips = a[1:], upper[1:], lower[1:], skips[1:]
    for t in range(n - 1):
        before = max(max(a[t] - upper[t], lower[t] - a[t]), 0.0)
        after = max(max(later[t] - later_upper[t], later_lower[t] - later[t]), 0.0)
        total += min(before + after, later_skips[t])
    return total + max(max(a[0] - upper[0], lower[0] - a[0]), 0.0)


@compiled
def _quick_bound(a, i, b, j, bounds, edits, work):
    """As ``_floors_bound``, without the floors themselves."""
    points, n_others = slice(a.starts[i], a.starts[i + 1]), b.starts[j + 1] - b.starts[j]
    return _bound_of_floors(a.values[points], a.skips[points], bounds, j, edits, n_others, work)


@compiled
def _bound_of_floors(x, skips, bounds, j, edits, n_others, work):
    """Sum of the floors of a series among the values of series j, and the cost of points that j has more."""
    upper, lower = bounds.upper[j, : x.shape[0]], bounds.lower[j, : x.shape[0]]
    if x.ndim == 1:
        total = _sum_of_floors(x, skips, upper, lower, edits.split, edits.stiffness)
    else:
        total = floors(x, skips, upper, lower, edits.split, edits.stiffness, work[0], work[1])
    return total + max(0, n_others - x.shape[0]) * bounds.least


@compiled
def _floors_bound(a, i, b, j, bounds, edits, outside, into):
    """Write the floors of series i of a among the values of series j of b; return the bound."""
    points, n_others = slice(a.starts[i], a.starts[i + 1]), b.starts[j + 1] - b.starts[j]
    x = a.values[points]
    upper, lower = bounds.upper[j, : x.shape[0]], bounds.lower[j, : x.shape[0]]
    total = floors(x, a.skips[points], upper, lower, edits.split, edits.stiffness, outside, into)
    return total + max(0, n_others - x.shape[0]) * bounds.least


@compiled
def pair_bound(a, i, a_bounds, b, j, b_bounds, edits, cutoff, work):
    """Lower bound on the distance of two series; the first one that exceeds the cut-off, else the largest."""
    bound = _size_bound(i, j, a_bounds, b_bounds)
    if bound <= cutoff:
        bound = max(bound, _quick_bound(a, i, b, j, b_bounds, edits, work))
    if bound <= cutoff:
        bound = max(bound, _quick_bound(b, j, a, i, a_bounds, edits, work))
    return bound


@compiled
def distance_within(a, i, a_bounds, b, j, b_bounds, edits, cutoff, work):
    """Distance of two series, or infinity where it exceeds the cut-off. ``work`` is of ``work_space``."""
    x, y = slice(a.starts[i], a.starts[i + 1]), slice(b.starts[j], b.starts[j + 1])
    n, m = x.stop - x.start, y.stop - y.start
    radius = edit_radius(n, m, edits)
    forth = _floors_bound(a, i, b, j, b_bounds, edits, work[0], work[1])
    back = _floors_bound(b, j, a, i, a_bounds, edits, work[0], work[2])
    if forth >= back:
        remaining = _sum_from_end(work[1], n)
        return edit_within(a.values[x], b.values[y], a.skips[x], b.skips[y], radius, edits, cutoff, remaining, work[3:])
    remaining = _sum_from_end(work[2], m)
    return edit_within(b.values[y], a.values[x], b.skips[y], a.skips[x], radius, edits, cutoff, remaining, work[3:])


@compiled
def _sum_from_end(terms, n):
    """Turn the first n terms into lower bounds on the sums from each of them on."""
    terms[n] = 0.0
    for t in range(n - 1, -1, -1):
        terms[t] = terms[t + 1] + terms[t] * SLACK
    return terms[: n + 1]


@compiled
def work_space(a, b):
    """Rows for floors and for cells."""
    longest = 0
    for starts in (a.starts, b.starts):
        for i in range(starts.shape[0] - 1):
            longest = max(longest, starts[i + 1] - starts[i])
    return np.empty((5, longest + 2))


@compiled
def nearest_bounds(series, bounds, edits, stored, nearest):
    """Push the lower bounds of all pairs in place of distances.

    All bounds are kept in ``stored``, row by row, rounded down, unless it is empty.
    """
    thresholds, n, work = nearest.thresholds, series.starts.shape[0] - 1, work_space(series, series)
    for i in range(n):
        for j in range(i + 1, n):
            cutoff = max(thresholds[i], thresholds[j])
            bound = pair_bound(series, i, bounds, series, j, bounds, edits, cutoff, work)
            if stored.shape[0] > 0:
                stored[_pair_position(i, j, n)] = _rounded_down(bound)
            # Compared here too: most pairs end here, and a call costs more than the comparison.
            if bound <= thresholds[i]:
                push(i, j, bound, nearest)
            if bound <= thresholds[j]:
                push(j, i, bound, nearest)


@compiled
def _search_pair(i, j, series, bounds, edits, work, nearest):
    """Compute a pair and push it for both series; return whether it was abandoned."""
    cutoff = max(nearest.thresholds[i], nearest.thresholds[j])
    distance = distance_within(series, i, bounds, series, j, bounds, edits, cutoff, work)
    if distance == np.inf:
        return 1
    push(i, j, distance, nearest)
    push(j, i, distance, nearest)
    return 0


@compiled
def seed_search(series, bounds, edits, seeds, first_row, step, nearest):
    """Compute the pairs of every ``step``-th row with its seeds; return the pairs bounded, abandoned and computed."""
    work, abandoned, n_pairs = work_space(series, series), 0, 0
    for i in range(first_row, series.starts.shape[0] - 1, step):
        for j in seeds.indices[seeds.indptr[i] : seeds.indptr[i + 1]]:
            abandoned += _search_pair(i, np.int64(j), series, bounds, edits, work, nearest)
            n_pairs += 1
    return 0, abandoned, n_pairs - abandoned


@compiled
def bounded_search(series, bounds, edits, stored, seeds, first_row, step, nearest):
    """Search the pairs of every ``step``-th row with later series that are not its seeds.

    The pairs that no bound discards are computed in the order of their bounds. Returns the pairs bounded, abandoned and
    computed.
    """
    thresholds, n, work = nearest.thresholds, series.starts.shape[0] - 1, work_space(series, series)
    is_seed, left, left_bounds = np.full(n, -1, np.int64), np.empty(n, np.int64), np.empty(n)
    bounded, abandoned, computed = 0, 0, 0
    for i in range(first_row, n, step):
        for seed in seeds.indices[seeds.indptr[i] : seeds.indptr[i + 1]]:
            is_seed[seed] = i
        n_left = 0
        for j in range(i + 1, n):
            if is_seed[j] == i:
                continue
            cutoff = max(thresholds[i], thresholds[j]) / SLACK
            if stored.shape[0] > 0:
                bound = np.float64(stored[_pair_position(i, j, n)])
            else:
                bound = pair_bound(series, i, bounds, series, j, bounds, edits, cutoff, work)
            if bound > cutoff:
                bounded += 1
                continue
            left[n_left], left_bounds[n_left] = j, bound
            n_left += 1
        for entry in np.argsort(left_bounds[:n_left]):
            j = left[entry]
            if left_bounds[entry] * SLACK > max(thresholds[i], thresholds[j]):
                bounded += 1
                continue
            was_abandoned = _search_pair(i, j, series, bounds, edits, work, nearest)
            abandoned += was_abandoned
            computed += 1 - was_abandoned
    return bounded, abandoned, computed


@compiled
def nearest_elastic(a, rows, a_bounds, b, columns, b_bounds, edits):
    """Nearest of the series ``columns`` of b to each of the series ``rows`` of a; of ties the first column.

    The third result says which rows have ties. The candidates are visited in the order of their bounds.
    """
    work, lower_bounds = work_space(a, b), np.empty(columns.shape[0])
    positions, nearest = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0])
    are_tied = np.zeros(rows.shape[0], np.bool_)
    for r, i in enumerate(rows):
        for c, j in enumerate(columns):
            lower_bounds[c] = pair_bound(a, i, a_bounds, b, j, b_bounds, edits, np.inf, work)
        best, position = np.inf, -1
        for c in np.argsort(lower_bounds):
            if lower_bounds[c] * SLACK > best:
                break
            distance = distance_within(a, i, a_bounds, b, columns[c], b_bounds, edits, best, work)
            if distance < best:
                best, position, are_tied[r] = distance, c, False
            elif distance == best:
                position, are_tied[r] = min(c, position), True
        positions[r], nearest[r] = position, best
    return positions, nearest, are_tied
