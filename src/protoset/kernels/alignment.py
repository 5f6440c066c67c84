"""The best alignment of two series (see ``protoset.spaces.series``).

The costs are those of ``series.dtw`` and ``series.erp``, so that the costs of the path add up to the distance. Each
cell keeps the step that led to it; among equal costs the diagonal step is kept.
"""

import numpy as np

from protoset.kernels._compile import compiled
from protoset.kernels.series import gap_cost, point_cost

BOTH = 0
"""Step that takes a point of both series."""

FIRST = 1
"""Step that takes a point of the first series alone."""

SECOND = 2
"""Step that takes a point of the second series alone."""


@compiled
def align(a, b, radius, gap):
    """Pairs of points on the best path, from the first to the last, and the cost of each.

    Edit distance with real penalty where ``gap`` is not empty, else dynamic time warping. A pair has -1 for a point
    that is not there.
    """
    n, m = a.shape[0], b.shape[0]
    skips = gap.shape[0] > 0
    steps = np.zeros((n + 1, m + 1), np.uint8)
    previous, current = np.full(m + 1, np.inf), np.full(m + 1, np.inf)
    previous[0] = 0.0
    if skips:
        for j in range(1, min(m, radius) + 1):
            previous[j] = previous[j - 1] + gap_cost(b, j - 1, gap)
            steps[0, j] = SECOND
    for i in range(1, n + 1):
        current[:] = np.inf
        if skips and i <= radius:
            current[0] = previous[0] + gap_cost(a, i - 1, gap)
            steps[i, 0] = FIRST
        for j in range(max(1, i - radius), min(m, i + radius) + 1):
            if skips:
                both = previous[j - 1] + np.sqrt(point_cost(a, i - 1, b, j - 1))
                first = previous[j] + gap_cost(a, i - 1, gap)
                second = current[j - 1] + gap_cost(b, j - 1, gap)
            else:
                cost = point_cost(a, i - 1, b, j - 1)
                both, first, second = previous[j - 1] + cost, previous[j] + cost, current[j - 1] + cost
            best = min(both, min(first, second))
            current[j] = best
            steps[i, j] = BOTH if best == both else (FIRST if best == first else SECOND)
        previous, current = current, previous
    pairs, costs = np.empty((n + m, 2), np.int64), np.empty(n + m)
    i, j, slot = n, m, n + m
    while i > 0 or j > 0:
        slot -= 1
        step = steps[i, j]
        pairs[slot, 0] = -1 if skips and step == SECOND else i - 1
        pairs[slot, 1] = -1 if skips and step == FIRST else j - 1
        if not skips:
            costs[slot] = point_cost(a, i - 1, b, j - 1)
            # The first pair of a warping path has no pair before it.
            if i == 1 and j == 1:
                break
        elif step == BOTH:
            costs[slot] = np.sqrt(point_cost(a, i - 1, b, j - 1))
        else:
            costs[slot] = gap_cost(a, i - 1, gap) if step == FIRST else gap_cost(b, j - 1, gap)
        i -= step != SECOND
        j -= step != FIRST
    return pairs[slot:], costs[slot:]
