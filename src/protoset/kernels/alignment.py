"""The best alignment of two series (see ``protoset.spaces.series``).

The costs are those of ``series.dtw`` and ``elastic.edit_path``, so that the costs of the path add up to the distance.
Each cell keeps the step that led to it; among equal costs the diagonal step is kept.
"""

import numpy as np

from protoset.kernels._compile import compiled
from protoset.kernels.elastic import alone_cost, both_cost, first_cost
from protoset.kernels.series import point_cost

BOTH = 0
"""Step that takes a point of both series."""

FIRST = 1
"""Step that takes a point of the first series alone."""

SECOND = 2
"""Step that takes a point of the second series alone."""


@compiled
def align(a, b, radius):
    """Pairs of points on the best warping path, from the first to the last, and the cost of each."""
    n, m = a.shape[0], b.shape[0]
    steps = np.zeros((n + 1, m + 1), np.uint8)
    previous, current = np.full(m + 1, np.inf), np.full(m + 1, np.inf)
    previous[0] = 0.0
    for i in range(1, n + 1):
        current[:] = np.inf
        for j in range(max(1, i - radius), min(m, i + radius) + 1):
            cost = point_cost(a, i - 1, b, j - 1)
            both, first, second = previous[j - 1] + cost, previous[j] + cost, current[j - 1] + cost
            best = min(both, min(first, second))
            current[j] = best
            steps[i, j] = BOTH if best == both else (FIRST if best == first else SECOND)
        previous, current = current, previous
    pairs, costs = np.empty((n + m, 2), np.int64), np.empty(n + m)
    i, j, slot = n, m, n + m
    while i > 0 and j > 0:
        slot -= 1
        step = steps[i, j]
        pairs[slot, 0], pairs[slot, 1] = i - 1, j - 1
        costs[slot] = point_cost(a, i - 1, b, j - 1)
        i -= step != SECOND
        j -= step != FIRST
    return pairs[slot:], costs[slot:]


@compiled
def align_edits(a, b, a_skips, b_skips, radius, edits):
    """As ``align``, for edit distances; a pair has -1 for no point where a point is taken alone."""
    n, m, split, stiffness = a.shape[0], b.shape[0], edits.split, edits.stiffness
    steps, table = np.zeros((n, m), np.uint8), np.full((n, m), np.inf)
    for i in range(n):
        for j in range(max(0, i - radius), min(m - 1, i + radius) + 1):
            x, y = np.uintp(i), np.uintp(j)
            both = first = second = np.inf
            if i == 0 and j == 0:
                both = first_cost(a, b)
            if i > 0 and j > 0:
                both = table[i - 1, j - 1] + both_cost(a, x, b, y, stiffness)
            if i > 0:
                first = table[i - 1, j] + alone_cost(a, x, b, y, a_skips, split)
            if j > 0:
                second = table[i, j - 1] + alone_cost(b, y, a, x, b_skips, split)
            best = min(both, min(first, second))
            table[i, j] = best
            steps[i, j] = BOTH if best == both else (FIRST if best == first else SECOND)
    pairs, costs = np.empty((n + m, 2), np.int64), np.empty(n + m)
    i, j, slot = n - 1, m - 1, n + m
    while i >= 0 and j >= 0:
        slot -= 1
        x, y, step = np.uintp(i), np.uintp(j), steps[i, j]
        pairs[slot, 0] = -1 if step == SECOND else i
        pairs[slot, 1] = -1 if step == FIRST else j
        if step == FIRST:
            costs[slot] = alone_cost(a, x, b, y, a_skips, split)
        elif step == SECOND:
            costs[slot] = alone_cost(b, y, a, x, b_skips, split)
        else:
            costs[slot] = both_cost(a, x, b, y, stiffness) if i > 0 else first_cost(a, b)
        i -= step != SECOND
        j -= step != FIRST
    return pairs[slot:], costs[slot:]
