"""Kernels of series that move: warped distances of many pairs at once, and their gradients along the best paths.

``LANES`` pairs of series with the same band are warped together, see ``kernels.warping``.

Prototypes are the rows of an array (prototypes, points, channels); ``lengths`` has the number of points of each. The
coordinates of both are those of the metric: multiplied by the root of the scale of their channel. Pairs are given by
the positions of a series and of a prototype. Pairs with the same band should follow each other, else lanes stay empty.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part, plain
from protoset.kernels._lanes import LANES, STEP_BYTES_PER_CELL, lane_rows
from protoset.kernels.alignment import align
from protoset.kernels.series import SeriesArrays, Warping, band_radius
from protoset.kernels.warping import cell_of_steps, fill_lanes, warp_lanes

STEP_BYTES = 2**26
"""Memory for the steps of the paths of pairs that are warped together."""


class Pairs(NamedTuple):
    """Pairs of a series and a prototype, and how they are warped.

    ``shortest`` and ``longest`` are bounds on the numbers of points of the series.
    """

    series: SeriesArrays
    shortest: int
    longest: int
    rows: np.ndarray
    points: np.ndarray
    lengths: np.ndarray
    columns: np.ndarray
    warping: Warping


@plain
def squared_block(series, rows, values, starts, lengths, warping, squared):
    """Write the squared distances of the series ``rows`` to others, a row of ``squared`` for each of the others.

    Series k of the others is ``values[starts[k] : starts[k] + lengths[k]]``. The lengths of the series must ascend.
    """
    channels = values.shape[1]
    x, _, cells = _lanes(channels, int(np.diff(series.starts).max(initial=0)), 0, int(lengths.max(initial=0)) + 2)
    items, others = series.values.reshape(-1), values.reshape(-1)
    _squared_block(
        items, series.starts, rows, others, starts, lengths, channels, warping.radius, warping.fraction, squared,
        x, *np.empty((3, LANES), np.int64), cells,
    )  # fmt: skip


@compiled
def _squared_block(
    items, series_starts, rows, others, starts, lengths, channels, radius, fraction, squared,
    x, x_starts, x_lengths, y_lengths, cells,
):  # fmt: skip
    first, has_band = 0, radius >= 0 or fraction >= 0.0
    while first < rows.shape[0]:
        count = 0
        while count < LANES and first + count < rows.shape[0]:
            row = rows[first + count]
            n = series_starts[row + 1] - series_starts[row]
            if has_band and count > 0 and n != x_lengths[0]:
                break
            x_starts[count], x_lengths[count] = series_starts[row] * channels, n
            count += 1
        n = x_lengths[count - 1]
        fill_lanes(x, n * channels, items, x_starts, count)
        for other in range(starts.shape[0]):
            y_lengths[:] = lengths[other]
            band, y_at = band_radius(n, lengths[other], radius, fraction), starts[other] * channels
            ends = squared[other, first:]
            warp_lanes(x, x_lengths, others, y_at, y_lengths, count, band, cells, None, False, ends)
        first += count


@plain
def shared_bands(n, m, warping):
    """Radius of the band of series of n and m points as ``series.band_radius`` has it; 0 where there is no band."""
    if warping.radius < 0 and warping.fraction < 0.0:
        return np.zeros_like(n)
    longest = np.maximum(n, m)
    radius = (warping.fraction * longest + 1e-9).astype(np.int64) if warping.fraction >= 0.0 else warping.radius
    return np.maximum(np.minimum(radius, longest), np.abs(n - m))


@plain
def warp_pairs(pairs, first, pulls, distances, gradient, scale_gradient):
    """Compute the distances of pairs from position ``first`` on, or where ``pulls`` is not empty add their gradients.

    ``pulls`` has how the loss changes with each distance, divided by the distance. The gradients are those by the
    coordinates, and by the logarithms of the scales. Returns the position of the first pair that was left out, as its
    steps need much memory (``pull_along_alignment`` is for it), or the number of pairs.
    """
    series, shortest, longest, rows, points, lengths, columns, warping = pairs
    m_longest, channels = points.shape[1:]
    widest = band_radius.py_func(longest, m_longest, warping.radius, warping.fraction)
    widest = max(widest, longest - int(lengths.min()), m_longest - shortest)
    row_bytes = (2 * widest + 1) * STEP_BYTES_PER_CELL
    x, y, cells = _lanes(channels, longest, m_longest, m_longest + 2)
    return _warp_pairs(
        series.values.reshape(-1), series.starts, rows, points, points.reshape(-1), lengths, columns, first,
        warping.radius, warping.fraction, pulls, distances, gradient, scale_gradient,
        x, y, *np.empty((4, LANES), np.int64), cells, np.empty(LANES),
        np.empty(min(longest * row_bytes, STEP_BYTES) if len(pulls) else row_bytes, np.uint8),
    )  # fmt: skip


@plain
def _lanes(channels, n_points, m_points, n_cells):
    """Lanes for series of n and of m points, and cells, in one array: this is done for each batch of pairs."""
    ends = n_points * channels, (n_points + m_points) * channels
    lanes = lane_rows.py_func(ends[1] + n_cells, np.empty(0))
    x, y = lanes[: ends[0]], lanes[ends[0] : ends[1]]
    return x.reshape(n_points, channels, LANES), y.reshape(m_points, channels, LANES), lanes[ends[1] :]


@compiled
def _warp_pairs(
    items, starts, rows, points, point_items, lengths, columns, first,
    radius, fraction, pulls, distances, gradient, scale_gradient,
    x, y, x_starts, y_starts, x_lengths, y_lengths, cells, squared, steps,
):  # fmt: skip
    m_longest, channels, is_pulled = points.shape[1], points.shape[2], pulls.shape[0] > 0
    has_band = radius >= 0 or fraction >= 0.0
    while first < rows.shape[0]:
        count, n, m, band = 0, 0, 0, 0
        while count < LANES and first + count < rows.shape[0]:
            row, column = rows[first + count], columns[first + count]
            x_length, y_length = starts[row + 1] - starts[row], lengths[column]
            own_band = band_radius(x_length, y_length, radius, fraction)
            if count > 0 and (x_length < n or (has_band and own_band != band)):
                break
            # Without a band, the largest radius of all lanes does not limit any of them.
            band_of_all = own_band if has_band else max(band, own_band)
            if is_pulled and x_length * (2 * band_of_all + 1) * STEP_BYTES_PER_CELL > steps.shape[0]:
                if count == 0:
                    return first
                break
            n, m, band = x_length, max(m, y_length), band_of_all
            x_starts[count], y_starts[count] = starts[row] * channels, column * m_longest * channels
            x_lengths[count], y_lengths[count] = x_length, y_length
            count += 1
        fill_lanes(x, n * channels, items, x_starts, count)
        fill_lanes(y, m * channels, point_items, y_starts, count)
        warp_lanes(x, x_lengths, y, 0, y_lengths, count, band, cells, steps, is_pulled, squared)
        for lane in range(count):
            if is_pulled:
                column, pull, x_length, y_length = (
                    columns[first + lane],
                    pulls[first + lane],
                    x_lengths[lane],
                    y_lengths[lane],
                )
                pull_along_path(
                    items, x_starts[lane], points, column, x_length, y_length, band, steps, lane, pull,
                    gradient, scale_gradient,
                )  # fmt: skip
            else:
                distances[first + lane] = np.sqrt(squared[lane])
        first += count
    return first


@part
def pull_along_path(items, x_at, points, column, n, m, radius, steps, lane, pull, gradient, scale_gradient):
    """Add the gradients of one pair, from the last points of both series to the first.

    The series starts at the offset ``x_at`` of ``items``.
    """
    # Unsigned: no tests for positions from the end.
    one, bit, i, j = np.uintp(1), np.uintp(lane % 8), np.uintp(n), np.uintp(m)
    x, y, of_column, channels = items[x_at:], points[column], gradient[column], np.uintp(points.shape[2])
    row_bytes, cell_bytes = np.uintp(2 * radius * STEP_BYTES_PER_CELL), np.uintp(STEP_BYTES_PER_CELL)
    at = np.uintp(cell_of_steps(n, m, radius) * STEP_BYTES_PER_CELL + lane // 8)
    while i > 0 and j > 0:
        for channel in range(channels):
            difference = y[j - one, channel] - x[(i - one) * channels + channel]
            of_column[j - one, channel] += pull * difference
            scale_gradient[channel] += 0.5 * pull * difference * difference
        # No branches, which a processor would often guess wrongly.
        x_moves = one - ((np.uintp(steps[at + cell_bytes // np.uintp(2)]) >> bit) & one)
        y_moves = one - ((np.uintp(steps[at]) >> bit) & one)
        i, j = i - x_moves, j - y_moves
        at -= x_moves * row_bytes + y_moves * cell_bytes


@compiled
def pull_along_alignment(pairs, pair, pull, gradient, scale_gradient):
    """Add the gradients of one pair whose steps need much memory."""
    series, row, column, warping = pairs.series, pairs.rows[pair], pairs.columns[pair], pairs.warping
    n, m = series.starts[row + 1] - series.starts[row], pairs.lengths[column]
    radius = band_radius(n, m, warping.radius, warping.fraction)
    a, b = series.values[series.starts[row] : series.starts[row + 1]], pairs.points[column, :m]
    path, _ = align(a, b, radius)
    for k in range(path.shape[0]):
        i, j = path[k]
        for channel in range(a.shape[1]):
            difference = b[j, channel] - a[i, channel]
            gradient[column, j, channel] += pull * difference
            scale_gradient[channel] += 0.5 * pull * difference * difference
