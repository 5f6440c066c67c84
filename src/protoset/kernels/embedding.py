"""Kernel of a layout by neighbours: linked points attract each other, random pairs of points repel each other.

The forces are those of UMAP (McInnes et al., 2018) with a = b = 1, and all links are equally strong. Pairs are moved
one after the other, with steps that shrink to 0.
"""

import numpy as np

from protoset.kernels._compile import compiled

LARGEST_STEP = 4.0
"""Largest move of a coordinate by one force."""


@compiled
def pull_and_push(points, heads, tails, n_rounds, n_pushes, strength, seed):
    """Move points (n, 2) in place: each round pulls the ends of each link together, and pushes its head away.

    ``n_pushes`` random points, drawn by the positive ``seed``, push the head; ``strength`` multiplies the pushes.
    """
    n = points.shape[0]
    state = np.uint64(seed)
    for step in range(n_rounds):
        rate = 1.0 - step / n_rounds
        for link in range(heads.shape[0]):
            head, tail = heads[link], tails[link]
            x, y = points[head, 0] - points[tail, 0], points[head, 1] - points[tail, 1]
            force = -2.0 * rate / (1.0 + x * x + y * y)
            for axis, along in ((0, x), (1, y)):
                move = min(max(force * along, -LARGEST_STEP), LARGEST_STEP)
                points[head, axis] += move
                points[tail, axis] -= move
            for _ in range(n_pushes):
                # Marsaglia's xorshift with 64 bits.
                state ^= state << np.uint64(13)
                state ^= state >> np.uint64(7)
                state ^= state << np.uint64(17)
                other = np.int64(state % np.uint64(n))
                if other == head:
                    continue
                x, y = points[head, 0] - points[other, 0], points[head, 1] - points[other, 1]
                square = x * x + y * y
                force = 2.0 * strength * rate / ((0.001 + square) * (1.0 + square))
                for axis, along in ((0, x), (1, y)):
                    points[head, axis] += min(max(force * along, -LARGEST_STEP), LARGEST_STEP)
