"""Kernels of the dual coordinate method (see ``protoset.solvers.coordinate``)."""

import numpy as np

from protoset.kernels._compile import compiled, part

REORDERED_MATH = {"reassoc", "contract", "nsz"}
"""Compiler flags: sums may be reordered, because the result is certified by its duality gap, not by its last bit."""


@part(fastmath=REORDERED_MATH)
def _positive_product(indices, data, v, start, stop):
    total = 0.0
    for entry in range(start, stop):
        total += data[entry] * max(v[indices[entry]], 0.0)
    return total


@part(fastmath=REORDERED_MATH)
def _add_scaled(indices, data, v, start, stop, step):
    for entry in range(start, stop):
        v[indices[entry]] += step * data[entry]


@compiled
def shuffle(order, size, seed):
    """Permute ``order[:size]`` in place (Fisher-Yates on a linear congruential sequence)."""
    state = np.uint64(seed) * np.uint64(2862933555777941757) + np.uint64(3037000493)
    for last in range(size - 1, 0, -1):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        other = np.int64((state >> np.uint64(33)) % np.uint64(last + 1))
        order[last], order[other] = order[other], order[last]


@compiled
def sweep(indptr, indices, data, rho, curvature, bound, dual, v, order, size, low, high):
    """One pass of coordinate steps over ``order[:size]``, the active objects; updates dual, v and order.

    An object whose dual variable is at a bound, with a gradient beyond ``low`` or ``high``, is moved behind the active
    objects. Returns the new number of active objects and the range of the projected gradients.
    """
    smallest, largest = 0.0, 0.0
    position = 0
    while position < size:
        i = order[position]
        start, stop = indptr[i], indptr[i + 1]
        gradient = rho[i] - _positive_product(indices, data, v, start, stop)
        old = dual[i]
        if (old <= 0.0 and gradient < low) or (old >= bound and gradient > high):
            size -= 1
            order[position], order[size] = order[size], i
            continue
        position += 1
        if (old <= 0.0 and gradient <= 0.0) or (old >= bound and gradient >= 0.0):
            continue
        smallest = min(smallest, gradient)
        largest = max(largest, gradient)
        new = min(max(old + gradient / curvature[i], 0.0), bound)
        if new != old:
            dual[i] = new
            _add_scaled(indices, data, v, start, stop, new - old)
    return size, smallest, largest
