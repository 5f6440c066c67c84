"""Edit distances of many pairs of series at once, and their search (see ``protoset.spaces.elastic_search``).

Series have one channel and one length. Pairs are compared with the thresholds in single precision; distances of those
that may be within a threshold are computed in double precision, the same to the last bit as in ``kernels.elastic``.

A path has at most L = 2 n steps. In single precision the cost of a step is wrong by at most 4u, u = 2^-24, as no value
is larger than 1, and by a factor; four roundings of each step make a factor of at most (1 + u)^4L.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels._lanes import (
    LANES,
    N_VECTORS,
    edit_row,
    fill_rows,
    is_within,
    lane_rows,
    sum_floors,
    vector_lanes,
)
from protoset.kernels.nearest import kth_smallest_of, push
from protoset.kernels.series import NARROW_BAND
from protoset.kernels.series_search import squared_difference
from protoset.kernels.warping import COLUMNS_PER_CHECK, ROWS_PER_CHECK

PAIRS_OF_TRIAL = 500
"""Pairs after which it is known whether floors discard enough pairs to be worth their time."""

LEAST_BOUNDED = 0.15
"""Share of the pairs that bounds must discard, else floors are not used."""


class EditRounding(NamedTuple):
    """How far an edit distance in single precision may be from the distance of the series."""

    scale: float
    """Factor of the values in single precision."""
    absolute: float
    """Largest absolute error, beside the relative error."""
    relative: float
    """Largest factor between both."""


class EditLanes(NamedTuple):
    """Series of equal length and their metric, in one precision.

    A row has a zero, the points of a series, and zeros up to the size that the kernels need.
    """

    values: np.ndarray
    skips: np.ndarray
    """Cost of each point where it is taken alone."""
    split: float | None
    stiffness: float | None
    """As in ``kernels.elastic.Edits``."""


class EditShape(NamedTuple):
    """Number of points, with the padding, and radius of the band."""

    points: int
    radius: int


class EditBatch(NamedTuple):
    """Work space for pairs that are compared together: the pairs of one series with the series ``columns``."""

    x: np.ndarray
    skips: np.ndarray
    cells: np.ndarray
    columns: np.ndarray
    starts: np.ndarray
    cutoffs: np.ndarray


@part
def make_edit_batch(shape, series):
    """Work space for series of this shape."""
    values, size = series.values, series.values.shape[1]
    lanes, cutoffs = np.empty(LANES, np.int64), lane_rows(1, values)[0]
    cells = lane_rows(shape.points + 1, values)
    return EditBatch(lane_rows(size, values), lane_rows(size, values), cells, lanes, np.zeros(LANES, np.int64), cutoffs)


@compiled
def edit_limit(threshold, rounding):
    """Distance in single precision beyond which a distance exceeds the threshold."""
    return np.float32((threshold * rounding.scale + rounding.absolute) * rounding.relative)


@part
def _largest_edit_distance(distance, rounding):
    """Largest distance of a pair whose distance in single precision is given."""
    return (np.float64(distance) * rounding.relative + rounding.absolute) / rounding.scale


@part(inline="always")
def _edit_cells(batch, i, series, y_at, first, last, is_first, n_lanes):
    """Compute the cells of row i from column ``first`` to ``last``; both count from 1, as the points do."""
    values, skips, split, stiffness = series
    for lane in range(0, n_lanes, vector_lanes(values)):
        at, count = first * LANES + lane, last - first + 1
        x_at, other_at = i * LANES + lane, y_at + first
        edit_row(
            batch.x,
            batch.skips,
            x_at,
            values,
            skips,
            other_at,
            batch.cells,
            at,
            i,
            first,
            count,
            is_first,
            split,
            stiffness,
        )


@part(inline="always")
def _any_within(batch, column, n_lanes):
    """Whether a cell of a column is within the cut-off of any lane."""
    for lane in range(0, n_lanes, vector_lanes(batch.cells)):
        if is_within(batch.cells, column * LANES + lane, batch.cutoffs, lane):
            return True
    return False


@part
def edit_batch(i, series, shape, n_lanes, batch):
    """Whether series i may be within the cut-off of any of the first ``n_lanes`` series of a batch.

    If so, the distances are in the last row of ``batch.cells``; those beyond the cut-offs are any numbers beyond them.
    Cells are left out as in ``warping.warp_within``.
    """
    _fill_edit_batch(batch, series, n_lanes)
    (n, radius), cells, y_at = shape, batch.cells, i * series.values.shape[1]
    period = ROWS_PER_CHECK if radius <= NARROW_BAND else 1
    cells[:] = np.inf
    cells[0] = 0.0
    first, end = 1, 0
    for row in range(1, n + 1):
        first, last = max(first, row - radius), min(n, row + radius)
        start, stop = first, min(last, max(end, first) + 1)
        while True:
            _edit_cells(batch, row, series, y_at, start, stop, start == first, n_lanes)
            if stop >= last or not _any_within(batch, stop, n_lanes):
                break
            start, stop = stop + 1, min(last, stop + COLUMNS_PER_CHECK)
        end = stop
        if row == 1:
            cells[0] = np.inf
        if row % period == 0:
            while first <= end and not _any_within(batch, first, n_lanes):
                first += 1
            if first > end:
                return False
            while not _any_within(batch, end, n_lanes):
                end -= 1
    return end == n


@part
def _fill_edit_batch(batch, series, n_lanes):
    """Write the series of a batch and their skips to the lanes."""
    size = series.values.shape[1]
    for lane in range(n_lanes):
        batch.starts[lane] = batch.columns[lane] * size
    width = vector_lanes(series.values) // N_VECTORS
    for at in range(0, size, width):
        for first in range(0, LANES, width):
            fill_rows(series.values, batch.starts, first, at, batch.x)
            fill_rows(series.skips, batch.starts, first, at, batch.skips)
    for lane in range(n_lanes, LANES):
        # Empty lanes never hold up the end of a batch.
        batch.cutoffs[lane] = -1.0


@compiled
def edit_matrix(series, shape, first_row, step, matrix):
    """Write the distances of every ``step``-th series to all later series to its row of the matrix."""
    n, batch = series.values.shape[0], make_edit_batch(shape, series)
    for i in range(first_row, n, step):
        for first in range(i + 1, n, LANES):
            count = min(LANES, n - first)
            for lane in range(count):
                batch.columns[lane], batch.cutoffs[lane] = first + lane, np.inf
            edit_batch(i, series, shape, count, batch)
            for lane in range(count):
                matrix[i, first + lane] = batch.cells[-1, lane]


@compiled
def edit_block(series, shape, rows, columns, block):
    """Write the distances of the series ``rows`` to the series ``columns``."""
    batch = make_edit_batch(shape, series)
    for r in range(rows.shape[0]):
        for first in range(0, columns.shape[0], LANES):
            count = min(LANES, columns.shape[0] - first)
            for lane in range(count):
                batch.columns[lane], batch.cutoffs[lane] = columns[first + lane], np.inf
            edit_batch(rows[r], series, shape, count, batch)
            for lane in range(count):
                block[r, first + lane] = batch.cells[-1, lane]


@compiled
def edit_thresholds(series, means, first_row, step, n_neighbors, n_seeds, shape, rounding, thresholds):
    """Write an upper bound on the distance of the last neighbour of every ``step``-th series.

    The bound is the distance of the last neighbour among the seeds, plus its rounding error. The seeds are the series
    with the most similar ``means``.
    """
    n = series.values.shape[0]
    batch = make_edit_batch(shape, series)
    apart, distances = np.empty(n), np.empty(n_seeds + LANES)
    for i in range(first_row, n, step):
        for j in range(n):
            apart[j] = squared_difference(means, i, j)
        apart[i] = np.inf
        farthest, count, n_done = kth_smallest_of(apart, n, n_seeds), 0, 0
        for j in range(n):
            if apart[j] <= farthest and j != i:
                batch.columns[count], batch.cutoffs[count] = j, np.inf
                count += 1
            if count == LANES or (count > 0 and j == n - 1):
                edit_batch(i, series, shape, count, batch)
                for lane in range(count):
                    distances[n_done + lane] = _largest_edit_distance(batch.cells[-1, lane], rounding)
                n_done, count = n_done + count, 0
                if n_done >= n_seeds:
                    break
        thresholds[i] = min(thresholds[i], kth_smallest_of(distances, n_done, n_neighbors))


class EditRanges(NamedTuple):
    """Extremes of the values within the band around each point, in rows as in ``EditLanes``, and sums of series."""

    upper: np.ndarray
    lower: np.ndarray
    sums: np.ndarray
    """Sums of the differences from the gap value; empty where there is no gap value."""


@part(inline="always")
def _floors(series, i, ranges, j):
    """Sum of the floors of series i among the values of series j (see ``kernels.elastic_search``)."""
    size = series.values.shape[1]
    count = size // vector_lanes(series.values)
    return sum_floors(series.values, series.skips, i * size, ranges.upper, ranges.lower, j * size, count)


@part
def _push_edits(i, n_waiting, doubles, shape, batch, nearest):
    """Compute the distances of series i to the first series of a batch, and push them for both."""
    batch.cutoffs[:] = np.inf
    edit_batch(i, doubles, shape, n_waiting, batch)
    for lane in range(n_waiting):
        distance = batch.cells[-1, lane]
        push(i, batch.columns[lane], distance, nearest)
        push(batch.columns[lane], i, distance, nearest)


@compiled
def edit_search(series, ranges, doubles, first_row, step, shape, rounding, nearest):
    """Search the pairs of every ``step``-th row with later series; return the pairs bounded, abandoned and computed.

    Pairs are discarded by the difference of their sums (Chen and Ng, 2004), by the sums of their floors in both
    directions unless these discard few pairs, then in single precision. The distances of the remaining pairs are
    computed.
    """
    thresholds, n = nearest.thresholds, series.values.shape[0]
    batch, exact = make_edit_batch(shape, series), make_edit_batch(shape, doubles)
    limits = np.empty(n, np.float32)
    bounded, abandoned, computed, has_sums = 0, 0, 0, ranges.sums.shape[0] > 0
    for i in range(first_row, n, step):
        n_pairs = bounded + abandoned + computed
        use_floors = n_pairs < PAIRS_OF_TRIAL or bounded > LEAST_BOUNDED * n_pairs
        for j in range(i, n):
            limits[j] = edit_limit(thresholds[j], rounding)
        count, n_waiting = 0, 0
        for j in range(i + 1, n):
            limit = max(limits[i], limits[j])
            is_far = has_sums and abs(ranges.sums[i] - ranges.sums[j]) > limit
            if use_floors and not is_far:
                is_far = _floors(series, i, ranges, j) > limit or _floors(series, j, ranges, i) > limit
            if is_far:
                bounded += 1
            else:
                batch.columns[count], batch.cutoffs[count] = j, limit
                count += 1
            if count < LANES and (count == 0 or j < n - 1):
                continue
            is_near = edit_batch(i, series, shape, count, batch)
            for lane in range(count):
                if not is_near or batch.cells[-1, lane] > batch.cutoffs[lane]:
                    abandoned += 1
                    continue
                exact.columns[n_waiting] = batch.columns[lane]
                n_waiting, computed = n_waiting + 1, computed + 1
                if n_waiting == LANES:
                    _push_edits(i, n_waiting, doubles, shape, exact, nearest)
                    n_waiting = 0
            count, limits[i] = 0, edit_limit(thresholds[i], rounding)
        if n_waiting > 0:
            _push_edits(i, n_waiting, doubles, shape, exact, nearest)
    return bounded, abandoned, computed
