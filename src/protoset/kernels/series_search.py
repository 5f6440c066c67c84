"""Lower bounds on warped distances, and the searches that use them (see ``protoset.spaces.series_search``).

Series are laid out, and costs measured, as in ``protoset.kernels.series``.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels._lanes import LANES
from protoset.kernels.lists import ascending
from protoset.kernels.nearest import kth_smallest_of, push
from protoset.kernels.series import band_radius, dtw, dtw_within, longest_length, point_cost
from protoset.kernels.single_precision import Batch, keogh, largest_distance, limit_of, make_batch, warp_batch

SLACK = 1.0 - 1e-10
"""Factor for lower bounds before they are compared: bounds and distances are summed in different orders."""


SEEDS_PER_NEIGHBOR = 4
"""Seeds of each series, as a multiple of the neighbours to find."""

ROWS_PER_BLOCK = 8
"""Rows whose pairs are bounded in turns."""

N_BINS = 64
"""Bins of bounds: the pairs of a row are compared bin by bin."""


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


@compiled
def seed_thresholds(values, means, first_row, step, n_neighbors, shape, rounding, thresholds):
    """Write an upper bound on the distance of the last neighbour of every ``step``-th series.

    It is the largest distance of the last neighbour among the seeds: the series with the most similar ``means``.
    """
    n = values.shape[0]
    n_seeds = min(n - 1, LANES * ((SEEDS_PER_NEIGHBOR * n_neighbors + LANES - 1) // LANES))
    batch = make_batch(shape, values)
    apart, distances = np.empty(n), np.empty(n_seeds + LANES)
    for i in range(first_row, n, step):
        for j in range(n):
            apart[j] = squared_difference(means, i, j)
        apart[i] = np.inf
        farthest, count, n_done = kth_smallest_of(apart, n, n_seeds), 0, 0
        for j in range(n):
            if apart[j] <= farthest and j != i:
                batch.columns[count] = j
                count += 1
            if count == LANES or (count > 0 and j == n - 1):
                batch.cutoffs[:] = np.inf
                warp_batch(i, values, values, shape, count, batch)
                for lane in range(count):
                    distances[n_done + lane] = largest_distance(batch.cells[-1, lane], rounding)
                n_done, count = n_done + count, 0
                if n_done >= n_seeds:
                    break
        thresholds[i] = min(thresholds[i], kth_smallest_of(distances, n_done, n_neighbors))


@part(fastmath={"nnan", "nsz", "reassoc", "contract"})
def squared_difference(rows, i, j):
    """Squared Euclidean distance of two rows."""
    total = np.float32(0.0)
    for t in range(rows.shape[1]):
        difference = rows[i, t] - rows[j, t]
        total += difference * difference
    return total


class Batches(NamedTuple):
    """Work space for the pairs of one series: to compare with the cut-offs in single precision, then to compute."""

    single: Batch
    double: Batch
    waiting: np.ndarray
    """Series within the cut-offs whose distances are still to compute."""


@part
def _push_waiting(i, n_waiting, doubles, shape, root, batches, nearest):
    """Compute the distances of series i to the waiting ones, and push them."""
    batch = batches.double
    for lane in range(n_waiting):
        batch.columns[lane] = batches.waiting[lane]
    batch.cutoffs[:] = np.inf
    warp_batch(i, doubles, doubles, shape, n_waiting, batch)
    for lane in range(n_waiting):
        _push_pair(i, batch.columns[lane], batch.cells[-1, lane], root, nearest)


class Left(NamedTuple):
    """Later series that the bounds leave to each series of a block of rows."""

    counts: np.ndarray
    columns: np.ndarray
    bounds: np.ndarray
    """Larger LB_Keogh of both directions."""


@part
def _bound_rows(first_row, step, stop, single, limits, left):
    """List the later series whose LB_Keogh in both directions is within the limits, for the rows before ``stop``.

    The rows take turns, as the points and envelopes of a series are then in the cache.
    """
    values, upper, lower = single
    left.counts[:] = 0
    for j in range(first_row + 1, values.shape[0]):
        for row, i in enumerate(range(first_row, min(stop, j), step)):
            limit = max(limits[i], limits[j])
            bound = keogh(values, i, upper, lower, j, limit)
            if bound > limit:
                continue
            bound = max(bound, keogh(values, j, upper, lower, i, limit))
            if bound <= limit:
                count = left.counts[row]
                left.columns[row, count], left.bounds[row, count] = j, bound
                left.counts[row] = count + 1


@part
def _roughly_ascending(values, largest, order):
    """Write the positions of the values by ``N_BINS`` bins between 0 and ``largest``."""
    starts = np.zeros(N_BINS + 1, np.int64)
    scale = N_BINS / largest if largest > 0.0 else 0.0
    for value in values:
        starts[min(int(value * scale), N_BINS - 1) + 1] += 1
    for bin in range(N_BINS):
        starts[bin + 1] += starts[bin]
    for position, value in enumerate(values):
        bin = min(int(value * scale), N_BINS - 1)
        order[starts[bin]] = position
        starts[bin] += 1


@compiled
def bounded_search(single, doubles, first_row, step, shape, rounding, nearest):
    """Search the pairs of every ``step``-th row with later series; equal lengths only.

    Pairs are discarded by LB_Keogh in both directions. The remaining pairs are compared with the thresholds in single
    precision, in the order of their bounds; those that may be within a threshold are computed. Both many at a time.
    Returns the pairs bounded, abandoned and computed.
    """
    thresholds, n = nearest.thresholds, doubles.shape[0]
    batches = Batches(make_batch(shape, single.values), make_batch(shape, doubles), np.empty(LANES, np.int64))
    limits, order = np.empty(n, np.float32), np.empty(n, np.int64)
    left = Left(
        np.empty(ROWS_PER_BLOCK, np.int64),
        np.empty((ROWS_PER_BLOCK, n), np.int64),
        np.empty((ROWS_PER_BLOCK, n), np.float32),
    )
    compared, computed, n_pairs = 0, 0, 0
    for block in range(first_row, n, step * ROWS_PER_BLOCK):
        stop = min(n, block + step * ROWS_PER_BLOCK)
        for j in range(block, n):
            limits[j] = limit_of(thresholds[j], rounding)
        _bound_rows(block, step, stop, single, limits, left)
        for row, i in enumerate(range(block, stop, step)):
            bounds = left.bounds[row, : left.counts[row]]
            largest = np.float32(0.0)
            for bound in bounds:
                largest = max(largest, bound)
            _roughly_ascending(bounds, largest, order)
            counts = _search_row(i, row, left, order, single, doubles, shape, rounding, batches, nearest)
            n_pairs, compared, computed = n_pairs + n - 1 - i, compared + counts[0], computed + counts[1]
    return n_pairs - compared, compared - computed, computed


@part
def _search_row(i, row, left, order, single, doubles, shape, rounding, batches, nearest):
    """Compare series i with the series that the bounds left to it; return the pairs compared and computed."""
    batch, waiting, thresholds, values = batches.single, batches.waiting, nearest.thresholds, single.values
    compared, computed, count, n_waiting, n_left = 0, 0, 0, 0, left.counts[row]
    for position in range(n_left):
        entry = order[position]
        j, bound = left.columns[row, entry], left.bounds[row, entry]
        limit = limit_of(max(thresholds[i], thresholds[j]), rounding)
        if bound <= limit:
            batch.columns[count], batch.cutoffs[count] = j, limit
            count += 1
        if count < LANES and (count == 0 or position < n_left - 1):
            continue
        compared += count
        is_near = warp_batch(i, values, values, shape, count, batch)
        for lane in range(count if is_near else 0):
            if batch.cells[-1, lane] <= batch.cutoffs[lane]:
                waiting[n_waiting] = batch.columns[lane]
                n_waiting, computed = n_waiting + 1, computed + 1
                if n_waiting == LANES:
                    _push_waiting(i, n_waiting, doubles, shape, rounding.root, batches, nearest)
                    n_waiting = 0
        count = 0
    if n_waiting > 0:
        _push_waiting(i, n_waiting, doubles, shape, rounding.root, batches, nearest)
    return compared, computed


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
def nearest_ragged(a, rows, b, columns, warping):
    """Nearest of the series ``columns`` of b to each of the series ``rows`` of a; of ties the first column.

    The third result says which rows have ties. The candidates are visited in the order of LB_Kim.
    """
    width = longest_length(b.starts) + 2
    previous, current, no_bounds = np.empty(width), np.empty(width), np.empty(0)
    positions, nearest = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0])
    are_tied, bounds = np.zeros(rows.shape[0], np.bool_), np.empty(columns.shape[0])
    for r, i in enumerate(rows):
        x = a.values[a.starts[i] : a.starts[i + 1]]
        for c, j in enumerate(columns):
            bounds[c] = kim(x, b.values[b.starts[j] : b.starts[j + 1]])
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


@part
def _nearest_limit(i, a, b, columns, shape, rounding, limit, count, batch, squared):
    """Write the squared distances of series i of a to a batch of columns of b, in single precision.

    Distances beyond the limit are infinite. Returns the limit that the smallest of the distances gives.
    """
    positions = batch.positions
    for lane in range(count):
        batch.lanes.columns[lane], batch.lanes.cutoffs[lane] = columns[positions[lane]], limit
        squared[positions[lane]] = np.inf
    if warp_batch(i, a.values, b.values, shape, count, batch.lanes):
        for lane in range(count):
            distance = batch.lanes.cells[-1, lane]
            if distance <= limit:
                squared[positions[lane]] = distance
        for lane in range(count):
            limit = min(limit, limit_of(largest_distance(squared[positions[lane]], rounding), rounding))
    return limit


class Candidates(NamedTuple):
    """Work space for a batch of columns."""

    lanes: Batch
    positions: np.ndarray
    """Positions of the columns of the batch."""


@compiled
def nearest_series(a, a_series, rows, b, b_series, columns, shape, rounding):
    """Nearest of the series ``columns`` of b to each of the series ``rows`` of a; equal lengths only.

    Of ties it is the first column; the third result says which rows have ties. The columns with the smallest LB_Keogh
    are compared first, in single precision. The largest distance of the nearest of them is a limit for the other
    columns: by LB_Keogh in both directions, then in single precision. The distances of the columns that may be the
    nearest are computed.
    """
    n_columns, batch = columns.shape[0], Candidates(make_batch(shape, a.values), np.empty(LANES, np.int64))
    previous, current, infinite = np.empty(shape.points + 2), np.empty(shape.points + 2), np.float32(np.inf)
    positions, nearest = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0])
    are_tied, bounds = np.zeros(rows.shape[0], np.bool_), np.empty(n_columns)
    squared, n_first = np.empty(n_columns), min(LANES, n_columns)
    for r, i in enumerate(rows):
        for c in range(n_columns):
            bounds[c] = keogh(a.values, i, b.upper, b.lower, columns[c], infinite)
        last_first, limit, count = kth_smallest_of(bounds, n_columns, n_first), infinite, 0
        for c in range(n_columns):
            squared[c] = np.inf
            if bounds[c] <= last_first and count < LANES:
                batch.positions[count] = c
                bounds[c] = -1.0
                count += 1
        limit = _nearest_limit(i, a, b, columns, shape, rounding, limit, count, batch, squared)
        count = 0
        for c in range(n_columns):
            if 0.0 <= bounds[c] <= limit and keogh(b.values, columns[c], a.upper, a.lower, i, limit) <= limit:
                batch.positions[count] = c
                count += 1
            if count == LANES or (count > 0 and c == n_columns - 1):
                limit = _nearest_limit(i, a, b, columns, shape, rounding, limit, count, batch, squared)
                count = 0
        best, position = np.inf, -1
        for c in range(n_columns):
            if squared[c] > limit:
                continue
            j = columns[c]
            y = b_series.values[b_series.starts[j] : b_series.starts[j + 1]]
            x = a_series.values[a_series.starts[i] : a_series.starts[i + 1]]
            distance = dtw(x, y, shape.radius, previous, current)
            distance = np.sqrt(distance) if rounding.root else distance
            if distance < best:
                best, position, are_tied[r] = distance, c, False
            elif distance == best:
                are_tied[r] = True
        positions[r], nearest[r] = position, best
    return positions, nearest, are_tied
