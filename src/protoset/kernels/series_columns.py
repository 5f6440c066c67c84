"""Warped distances of all series to one, each up to a cut-off (see ``protoset.selectors._refinable_set``).

LB_Keogh in both directions excludes series; the others are compared with their cut-offs in single precision, many at a
time, in the order of their bounds. The distances that may be within a cut-off are computed, with the same numbers as
from other kernels. Equal lengths only.
"""

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels._lanes import LANES
from protoset.kernels.lists import ascending
from protoset.kernels.single_precision import keogh, limit_of, warp_batch


@part
def _bounded(i, single, limits, within, bounds):
    """Write the series whose bounds are within their limits, and the bounds as parts of the limits; return the number.

    Infinite limits give parts of 0.
    """
    values, upper, lower = single
    count = 0
    for j in range(values.shape[0]):
        limit = limits[j]
        bound = keogh(values, j, upper, lower, i, limit)
        if bound <= limit:
            bound = max(bound, keogh(values, i, upper, lower, j, limit))
        if bound <= limit:
            within[count], bounds[count] = j, bound / limit if limit > 0.0 else 0.0
            count += 1
    return count


@part
def _compared(i, single, shape, limits, within, order, batch, near):
    """Write those of the series ``within`` that may be within their limits in single precision; return the number."""
    n_near, values = 0, single.values
    for first in range(0, order.shape[0], LANES):
        count = min(LANES, order.shape[0] - first)
        for lane in range(count):
            j = within[order[first + lane]]
            batch.columns[lane], batch.cutoffs[lane] = j, limits[j]
        if warp_batch(i, values, values, shape, count, batch):
            for lane in range(count):
                near[n_near] = batch.columns[lane]
                n_near += batch.cells[-1, lane] <= batch.cutoffs[lane]
    return n_near


@compiled
def distances_within(i, single, doubles, cutoffs, shape, rounding, compared, batch, distances):
    """Write the distances of all series to series i; infinite where they exceed the cut-off of the series.

    ``compared`` and ``batch`` are work space in single and in double precision, see ``make_batch``. Returns the numbers
    of pairs bounded, abandoned and computed.
    """
    n = doubles.shape[0]
    limits, within, near = np.empty(n, np.float32), np.empty(n, np.int64), np.empty(n + 1, np.int64)
    bounds = np.empty(n)
    for j in range(n):
        limits[j], distances[j] = limit_of(cutoffs[j], rounding), np.inf
    n_within = _bounded(i, single, limits, within, bounds)
    order = ascending(bounds[:n_within])
    n_near = _compared(i, single, shape, limits, within, order, compared, near)
    for first in range(0, n_near, LANES):
        count = min(LANES, n_near - first)
        for lane in range(count):
            batch.columns[lane], batch.cutoffs[lane] = near[first + lane], np.inf
        warp_batch(i, doubles, doubles, shape, count, batch)
        for lane in range(count):
            squared = batch.cells[-1, lane]
            distance = np.sqrt(squared) if rounding.root else squared
            j = batch.columns[lane]
            distances[j] = distance if distance <= cutoffs[j] else np.inf
    return n - n_within, n_within - n_near, n_near
