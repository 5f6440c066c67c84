"""Lower bounds on warped distances, and the searches that use them (see ``protoset.spaces.series_search``).

Series are laid out, and costs measured, as in ``protoset.kernels.series``.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import ZERO, compiled, part, plain
from protoset.kernels._lanes import LANES
from protoset.kernels.lists import ascending
from protoset.kernels.nearest import kth_smallest_of, push
from protoset.kernels.series import band_radius, dtw, dtw_within, longest_length, point_cost, squared_cutoff
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
def _push_pair(i, j, squared, root, nearest):
    """Push the distance of a pair for both series."""
    distance = np.sqrt(squared) if root else squared
    push(i, j, distance, nearest)
    push(j, i, distance, nearest)


@plain
def count_seeds(n, n_neighbors):
    """Return the number of seeds of each of n series: whole batches, or all other series."""
    return min(n - 1, LANES * -(-SEEDS_PER_NEIGHBOR * n_neighbors // LANES))


class SeedWork(NamedTuple):
    """Work space of ``seed_thresholds``."""

    batch: Batch
    apart: np.ndarray
    distances: np.ndarray


@plain
def make_seed_work(values, n_seeds, shape):
    """Work space for series in single precision; Python makes it, because code for new arrays takes long to compile."""
    return SeedWork(make_batch(shape, values), np.empty(len(values)), np.empty(n_seeds + LANES))


@compiled
def seed_thresholds(values, means, first_row, step, n_neighbors, n_seeds, shape, rounding, work, thresholds):
    """Write an upper bound on the distance of the last neighbour of every ``step``-th series.

    The bound is the distance of the last neighbour among the seeds, plus its rounding error. The seeds are the series
    with the most similar ``means``.
    """
    batch, apart, distances = work
    n = values.shape[0]
    for i in range(first_row, n, step):
        for j in range(n):
            apart[j] = squared_difference(means, i, j)
        apart[i] = np.inf
        farthest, count, n_done = kth_smallest_of(apart, n, n_seeds), ZERO, 0
        for j in range(n):
            if apart[j] <= farthest and j != i:
                batch.columns[count] = j
                count += 1
            if count == LANES or (count > 0 and j == n - 1):
                batch.cutoffs[:] = np.inf
                warp_batch(i, values, values, shape, count, batch)
                for lane in range(count):
                    distances[n_done + lane] = largest_distance(batch.cells[-1, lane], rounding)
                n_done, count = n_done + count, ZERO
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


@part(inline="never")
def _push_waiting(i, n_waiting, doubles, shape, root, batch, waiting, nearest):
    """Compute the distances of series i to the waiting ones, and push them."""
    for lane in range(n_waiting):
        batch.columns[lane] = waiting[lane]
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


class SearchWork(NamedTuple):
    """Work space of ``bounded_search``."""

    single: Batch
    """Pairs of one series that are compared with the cut-offs in single precision."""
    double: Batch
    """Those of them whose distances are computed."""
    waiting: np.ndarray
    """Series within the cut-offs whose distances are still to compute."""
    left: Left
    limits: np.ndarray
    """Limit of each series."""
    order: np.ndarray
    """Order in which the series that are left to a row are compared."""
    bins: np.ndarray


@part
def _bound_rows(first_row, step, n_rows, single, limits, left):
    """List the later series whose LB_Keogh in both directions is within the limits, for ``n_rows`` rows.

    For each later series all rows are tried in turn, so its points and envelopes stay in the cache.
    """
    values, upper, lower = single
    counts, columns, bounds = left
    for row in range(n_rows):
        counts[row] = 0
    for j in range(first_row + 1, values.shape[0]):
        for row in range(min(n_rows, (j - 1 - first_row) // step + 1)):
            i = first_row + row * step
            limit = max(limits[i], limits[j])
            bound = keogh(values, i, upper, lower, j, limit)
            if bound > limit:
                continue
            bound = max(bound, keogh(values, j, upper, lower, i, limit))
            if bound <= limit:
                count = counts[row]
                columns[row, count], bounds[row, count] = j, bound
                counts[row] = count + 1


@part
def _roughly_ascending(values, count, order, starts):
    """Write the positions of the first values by ``N_BINS`` bins between 0 and the largest."""
    largest = np.float32(0.0)
    for position in range(count):
        largest = max(largest, values[position])
    scale = N_BINS / largest if largest > 0.0 else 0.0
    for bin in range(N_BINS + 1):
        starts[bin] = 0
    for position in range(count):
        starts[min(int(values[position] * scale), N_BINS - 1) + 1] += 1
    for bin in range(N_BINS):
        starts[bin + 1] += starts[bin]
    for position in range(count):
        bin = min(int(values[position] * scale), N_BINS - 1)
        order[starts[bin]] = position
        starts[bin] += 1


@plain
def make_search_work(single, doubles, shape):
    """Work space of ``bounded_search``."""
    n, of_block = len(doubles), (ROWS_PER_BLOCK, len(doubles))
    return SearchWork(
        single=make_batch(shape, single.values),
        double=make_batch(shape, doubles),
        waiting=np.empty(LANES, np.int64),
        left=Left(
            np.empty(ROWS_PER_BLOCK, np.int64),
            np.empty(of_block, np.int64),
            np.empty(of_block, np.float32),
        ),
        limits=np.empty(n, np.float32),
        order=np.empty(n, np.int64),
        bins=np.empty(N_BINS + 1, np.int64),
    )


@compiled
def bounded_search(single, doubles, first_row, step, shape, rounding, work, nearest):
    """Search the pairs of every ``step``-th row with later series; equal lengths only.

    Pairs are discarded by LB_Keogh in both directions. The remaining pairs are compared with the thresholds in single
    precision, in the order of their bounds; those that may be within a threshold are computed. Both steps take many
    pairs at a time. Returns the pairs bounded, abandoned and computed. ``work`` is of ``make_search_work``.
    """
    thresholds, n, limits, left = nearest.thresholds, doubles.shape[0], work.limits, work.left
    compared, computed, n_pairs = 0, 0, 0
    for block in range(first_row, n, step * ROWS_PER_BLOCK):
        n_rows = min(ROWS_PER_BLOCK, (n - 1 - block) // step + 1)
        for j in range(block, n):
            limits[j] = limit_of(thresholds[j], rounding)
        _bound_rows(block, step, n_rows, single, limits, left)
        for row in range(n_rows):
            i = block + row * step
            _roughly_ascending(left.bounds[row], left.counts[row], work.order, work.bins)
            counts = _search_row(i, row, single, doubles, shape, rounding, work, nearest)
            n_pairs, compared, computed = n_pairs + n - 1 - i, compared + counts[0], computed + counts[1]
    return n_pairs - compared, compared - computed, computed


@part
def _search_row(i, row, single, doubles, shape, rounding, work, nearest):
    """Compare series i with the series that the bounds left to it; return the pairs compared and computed."""
    batch, waiting, thresholds, values = work.single, work.waiting, nearest.thresholds, single.values
    columns, cutoffs, left = batch.columns, batch.cutoffs, work.left
    compared, computed, n_left, count, n_waiting = 0, 0, left.counts[row], ZERO, ZERO
    for position in range(n_left):
        entry = work.order[position]
        j, bound = left.columns[row, entry], left.bounds[row, entry]
        limit = limit_of(max(thresholds[i], thresholds[j]), rounding)
        if bound <= limit:
            columns[count], cutoffs[count] = j, limit
            count += 1
        if count < LANES and (count == 0 or position < n_left - 1):
            continue
        compared += count
        is_near = warp_batch(i, values, values, shape, count, batch)
        for lane in range(count if is_near else 0):
            if batch.cells[-1, lane] <= cutoffs[lane]:
                waiting[n_waiting] = columns[lane]
                n_waiting, computed = n_waiting + 1, computed + 1
                if n_waiting == LANES:
                    _push_waiting(i, n_waiting, doubles, shape, rounding.root, work.double, waiting, nearest)
                    n_waiting = ZERO
        count = ZERO
    if n_waiting > 0:
        _push_waiting(i, n_waiting, doubles, shape, rounding.root, work.double, waiting, nearest)
    return compared, computed


@compiled
def ragged_search(series, first_row, step, warping, nearest):
    """Search the pairs of every ``step``-th row with all later series, of any lengths, by LB_Kim and abandoning.

    Returns the pairs bounded, abandoned and computed.
    """
    values, starts = series
    thresholds, n, width = nearest.thresholds, starts.shape[0] - 1, longest_length(starts) + 2
    previous, current = np.empty(width), np.empty(width)
    bounded, abandoned, computed = 0, 0, 0
    for i in range(first_row, n, step):
        a = values[starts[i] : starts[i + 1]]
        for j in range(i + 1, n):
            b = values[starts[j] : starts[j + 1]]
            cutoff = squared_cutoff(max(thresholds[i], thresholds[j]), warping.root)
            if kim(a, b) * SLACK > cutoff:
                bounded += 1
                continue
            radius = band_radius(a.shape[0], b.shape[0], warping.radius, warping.fraction)
            squared = dtw_within(a, b, radius, cutoff, previous, current)
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
    previous, current = np.empty(width), np.empty(width)
    positions, nearest = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0])
    are_tied, bounds = np.zeros(rows.shape[0], np.bool_), np.empty(columns.shape[0])
    for r, i in enumerate(rows):
        x = a.values[a.starts[i] : a.starts[i + 1]]
        for c, j in enumerate(columns):
            bounds[c] = kim(x, b.values[b.starts[j] : b.starts[j + 1]])
        best, position = np.inf, -1
        for c in ascending(bounds):
            cutoff = squared_cutoff(best, warping.root)
            if bounds[c] * SLACK > cutoff:
                break
            y = b.values[b.starts[columns[c]] : b.starts[columns[c] + 1]]
            radius = band_radius(x.shape[0], y.shape[0], warping.radius, warping.fraction)
            squared = dtw_within(x, y, radius, cutoff, previous, current)
            distance = np.sqrt(squared) if warping.root else squared
            if distance < best:
                best, position, are_tied[r] = distance, c, False
            elif distance == best:
                position, are_tied[r] = min(c, position), True
        positions[r], nearest[r] = position, best
    return positions, nearest, are_tied


class NearestWork(NamedTuple):
    """Work space of ``nearest_series``, and its results."""

    batch: Batch
    positions: np.ndarray
    """Positions of the columns of the batch."""
    bounds: np.ndarray
    squared: np.ndarray
    previous: np.ndarray
    current: np.ndarray
    nearest_positions: np.ndarray
    nearest: np.ndarray
    are_tied: np.ndarray


@part(inline="never")
def _nearest_limit(i, a, b, columns, shape, rounding, limit, count, work):
    """Write the squared distances of series i of a to a batch of columns of b, in single precision.

    Distances beyond the limit are infinite. Returns the limit that the smallest of the distances gives.
    """
    positions, batch, squared = work.positions, work.batch, work.squared
    for lane in range(count):
        batch.columns[lane], batch.cutoffs[lane] = columns[positions[lane]], limit
        squared[positions[lane]] = np.inf
    if warp_batch(i, a, b, shape, count, batch):
        for lane in range(count):
            distance = batch.cells[-1, lane]
            if distance <= limit:
                squared[positions[lane]] = distance
        for lane in range(count):
            limit = min(limit, limit_of(largest_distance(squared[positions[lane]], rounding), rounding))
    return limit


@plain
def nearest_series(a, a_series, b, b_series, columns, shape, rounding):
    """Nearest of the series ``columns`` of b to each series of a; equal lengths only.

    Of ties it is the first column; the third result says which rows have ties. The columns with the smallest LB_Keogh
    are compared first, in single precision. The upper bound on the distance of the nearest of them is the limit for the
    other columns: by LB_Keogh in both directions, then in single precision. The distances of the columns that may be
    the nearest are computed.
    """
    work = NearestWork(
        batch=make_batch(shape, a.values),
        positions=np.empty(LANES, np.int64),
        bounds=np.empty(len(columns)),
        squared=np.empty(len(columns)),
        previous=np.empty(shape.points + 2),
        current=np.empty(shape.points + 2),
        nearest_positions=np.empty(len(a.values), np.int64),
        nearest=np.empty(len(a.values)),
        are_tied=np.zeros(len(a.values), np.bool_),
    )
    _nearest_series(a, a_series, b, b_series, columns, shape, rounding, work)
    return work.nearest_positions, work.nearest, work.are_tied


@compiled
def _nearest_series(a, a_series, b, b_series, columns, shape, rounding, work):
    """As ``nearest_series``; the results are in ``work``."""
    bounds, squared, positions, are_tied = work.bounds, work.squared, work.positions, work.are_tied
    n_columns, infinite = columns.shape[0], np.float32(np.inf)
    n_first = min(LANES, n_columns)
    for i in range(a.values.shape[0]):
        for c in range(n_columns):
            bounds[c] = keogh(a.values, i, b.upper, b.lower, columns[c], infinite)
            squared[c] = np.inf
        last_first, limit, count = kth_smallest_of(bounds, n_columns, n_first), infinite, ZERO
        for c in range(n_columns):
            if bounds[c] <= last_first and count < LANES:
                positions[count] = c
                bounds[c] = -1.0
                count += 1
        limit = _nearest_limit(i, a.values, b.values, columns, shape, rounding, limit, count, work)
        count = ZERO
        for c in range(n_columns):
            if 0.0 <= bounds[c] <= limit and keogh(b.values, columns[c], a.upper, a.lower, i, limit) <= limit:
                positions[count] = c
                count += 1
            if count == LANES or (count > 0 and c == n_columns - 1):
                limit = _nearest_limit(i, a.values, b.values, columns, shape, rounding, limit, count, work)
                count = ZERO
        best, position = np.inf, -1
        for c in range(n_columns):
            if squared[c] > limit:
                continue
            j = columns[c]
            y = b_series.values[b_series.starts[j] : b_series.starts[j + 1]]
            x = a_series.values[a_series.starts[i] : a_series.starts[i + 1]]
            distance = dtw(x, y, shape.radius, work.previous, work.current)
            distance = np.sqrt(distance) if rounding.root else distance
            if distance < best:
                best, position, are_tied[i] = distance, c, False
            elif distance == best:
                are_tied[i] = True
        work.nearest_positions[i], work.nearest[i] = position, best
