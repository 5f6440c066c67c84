"""Kernels of the adaptation: the losses of distances, and the steps of the optimiser.

A row of ``distances`` belongs to an object and has its distances to some prototypes, or to all; ``labels`` has their
classes. The losses return the sum over the objects, by weight. They write how the sum changes with each distance to
``slopes``: 0 where a distance does not matter. An infinite distance is that of a prototype that does not count.
"""

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels.differences import REORDERED_SUMS

FAINT = 1e-6
"""A prototype whose share in its class differs from its share in all prototypes by less gets no gradient."""

NO_SHARE = 40.0
"""A prototype whose exponent is this far below that of the nearest prototype has the share 0."""

FAR_BEHIND = 20.0
"""Where the nearest prototype of the object's class is this far behind, its class is normalised separately."""

VECTOR_MINIMA = {"nnan", "nsz"}
"""Minima in an order that suits vector instructions; no value is NaN."""

LOG2_E = float(np.log2(np.e))
"""Logarithm of e to the base 2."""

LN_2 = float(np.log(2.0))
"""Natural logarithm of 2."""

SQRT_2 = float(np.sqrt(2.0))
"""Square root of 2."""

TAYLOR_3 = 1.0 / 6.0
"""Coefficient of x^3 in the series of exp(x); the names below have the power too."""

TAYLOR_4 = 1.0 / 24.0
"""Coefficient of x^4."""

TAYLOR_5 = 1.0 / 120.0
"""Coefficient of x^5."""

TAYLOR_6 = 1.0 / 720.0
"""Coefficient of x^6."""

TAYLOR_7 = 1.0 / 5040.0
"""Coefficient of x^7."""

TAYLOR_8 = 1.0 / 40320.0
"""Coefficient of x^8."""

EXPONENT_OFFSET = 2.0**52 + 1023.0
"""Added to a whole number k, leaves the bits of the exponent of 2^k in the last bits of the sum."""


@part(fastmath=VECTOR_MINIMA)
def smallest_two(values, labels, code):
    """Smallest value of the object's class, and smallest one of the other classes; infinite where there is none."""
    same, other = np.inf, np.inf
    for column in range(values.shape[0]):
        of_same = values[column] if labels[column] == code else np.inf
        of_other = np.inf if labels[column] == code else values[column]
        same = of_same if of_same < same else same
        other = of_other if of_other < other else other
    return same, other


@part
def relative_slopes(same, other, weight, steepness):
    """Relative loss of one object: logistic function of (same - other) / (same + other), see ``kernels.refining.loss``.

    ``same`` is the distance to the nearest prototype of the object's class, ``other`` to the nearest of another class.
    Returns the loss, and how it changes with each of the two.
    """
    both = same + other
    if both == 0.0 or both == np.inf:
        return weight * (0.5 if same == other else np.float64(same > other)), 0.0, 0.0
    value = 1.0 / (1.0 + np.exp(-steepness * (same - other) / both))
    slope = weight * steepness * value * (1.0 - value) * 2.0 / (both * both)
    return weight * value, slope * other, -slope * same


@part
def position_of(value, values, labels, code, is_same):
    """First position of a value in the object's class, or in the other classes."""
    for column in range(values.shape[0]):
        if values[column] == value and (labels[column] == code) == is_same:
            return column
    return -1


@part
def write_shares(squares, nearest, sharpness, bits, powers, shares):
    """Write exp(-sharpness * (square - nearest)) to ``shares``; 0 beyond ``NO_SHARE``.

    Powers of 2 are made from their bits, and the rest by a polynomial with an error of 1e-9, both in vector code.
    ``bits`` and ``powers`` are the same memory, as integers and as numbers.
    """
    for column in range(squares.shape[0]):
        behind = sharpness * (squares[column] - nearest)
        behind = behind if behind < NO_SHARE else NO_SHARE
        whole = np.floor(-LOG2_E * behind)
        shares[column] = LN_2 * (-LOG2_E * behind - whole - 0.5)
        powers[column] = whole + EXPONENT_OFFSET
    for column in range(squares.shape[0]):
        bits[column] <<= 52
    for column in range(squares.shape[0]):
        x = shares[column]
        rest = TAYLOR_5 + x * (TAYLOR_6 + x * (TAYLOR_7 + x * TAYLOR_8))
        rest = 1.0 + x * (1.0 + x * (0.5 + x * (TAYLOR_3 + x * (TAYLOR_4 + x * rest))))
        is_near = sharpness * (squares[column] - nearest) < NO_SHARE
        shares[column] = SQRT_2 * rest * powers[column] if is_near else 0.0


@part
def softmax_row(squares, labels, code, weight, sharpness, bits, powers, slopes):
    """Softmax loss of one object: - log of the share of the prototypes of its class.

    A prototype's share falls with exp(-sharpness * square), the square of its distance. Returns the loss and how it
    changes with the logarithm of the sharpness; ``slopes`` says how it changes with the squares. ``bits`` and
    ``powers`` are memory to work in, see ``write_shares``.
    """
    same, other = smallest_two(squares, labels, code)
    if same == np.inf:
        for column in range(slopes.shape[0]):
            slopes[column] = 0.0
        return 0.0, 0.0
    nearest = same if same < other else other
    write_shares(squares, nearest, sharpness, bits, powers, slopes)
    all_shares, own_shares = 0.0, 0.0
    for column in range(squares.shape[0]):
        all_shares += slopes[column]
        own_shares += slopes[column] if labels[column] == code else 0.0
    lag = sharpness * (same - nearest)
    if lag > FAR_BEHIND:
        own_shares = 0.0
        for column in range(squares.shape[0]):
            if labels[column] == code:
                own_shares += np.exp(-sharpness * (squares[column] - same))
    total = np.log(all_shares) - np.log(own_shares) + (lag if lag > FAR_BEHIND else 0.0)
    if lag > FAR_BEHIND:
        for column in range(squares.shape[0]):
            own = np.exp(-sharpness * (squares[column] - same)) / own_shares if labels[column] == code else 0.0
            slopes[column] = own - slopes[column] / all_shares
    else:
        of_all, of_own = -1.0 / all_shares, 1.0 / own_shares - 1.0 / all_shares
        for column in range(squares.shape[0]):
            slopes[column] *= of_own if labels[column] == code else of_all
    sharpness_slope, strength = 0.0, weight * sharpness
    for column in range(squares.shape[0]):
        matters = abs(slopes[column]) >= FAINT and squares[column] < np.inf
        slope = strength * slopes[column] if matters else 0.0
        sharpness_slope += slope * squares[column] if matters else 0.0
        slopes[column] = slope
    return weight * total, sharpness_slope


@compiled
def relative_loss(distances, labels, codes, weights, steepness, slopes):
    """Sum of the relative losses of several objects."""
    total, slopes[:] = 0.0, 0.0
    for row in range(distances.shape[0]):
        of_row, code = distances[row], codes[row]
        same, other = smallest_two(of_row, labels[row], code)
        loss, same_slope, other_slope = relative_slopes(same, other, weights[row], steepness)
        total += loss
        if same_slope != 0.0 or other_slope != 0.0:
            for is_other in range(2):
                distance, slope = (other, other_slope) if is_other else (same, same_slope)
                slopes[row, position_of(distance, of_row, labels[row], code, not is_other)] = slope
    return total


@compiled(fastmath=REORDERED_SUMS)
def softmax_loss(distances, labels, codes, weights, sharpness, slopes):
    """Sum of the softmax losses of several objects, and how it changes with the logarithm of the sharpness."""
    total, sharpness_slope = 0.0, 0.0
    squares, bits = np.empty(distances.shape[1]), np.empty(distances.shape[1], np.int64)
    powers = bits.view(np.float64)
    for row in range(distances.shape[0]):
        for column in range(distances.shape[1]):
            squares[column] = distances[row, column] ** 2
        of_row, code, weight = slopes[row], codes[row], weights[row]
        loss, change = softmax_row(squares, labels[row], code, weight, sharpness, bits, powers, of_row)
        for column in range(distances.shape[1]):
            of_row[column] *= 2.0 * distances[row, column] if of_row[column] != 0.0 else 0.0
        total += loss
        sharpness_slope += change
    return total, sharpness_slope


@compiled(fastmath=REORDERED_SUMS)
def adam_step(values, gradient, mean, square, step, number, floor):
    """Change the values by one step of Adam (Kingma and Ba, 2015); ``number`` counts the steps from 1.

    ``floor`` is the size of a gradient below which steps become shorter.
    """
    first, second = 0.9, 0.999
    unbias_mean, unbias_square = 1.0 / (1.0 - first**number), 1.0 / (1.0 - second**number)
    for i in range(values.shape[0]):
        mean[i] = first * mean[i] + (1.0 - first) * gradient[i]
        square[i] = second * square[i] + (1.0 - second) * gradient[i] * gradient[i]
        size = np.sqrt(square[i] * unbias_square) + floor
        values[i] -= step * unbias_mean * mean[i] / size if size > 0.0 else 0.0


@compiled
def list_nearest(screen, labels, codes, bounds, lists):
    """Write the columns of the smallest entries of each row to ``lists``, nearest first.

    Only entries below the bound of the row are listed. Each row must have at least as many such entries as a list.
    The smallest entry of the object's class and that of the other classes are always listed, if need be as the last.
    """
    length = lists.shape[1]
    values = np.empty(length, screen.dtype)
    for row in range(screen.shape[0]):
        values[:] = np.inf
        largest, n_same = bounds[row], 0
        for column in range(screen.shape[1]):
            value = screen[row, column]
            if value < largest:
                slot = length - 1
                while slot > 0 and values[slot - 1] > value:
                    values[slot], lists[row, slot] = values[slot - 1], lists[row, slot - 1]
                    slot -= 1
                values[slot], lists[row, slot] = value, column
                largest = min(largest, values[length - 1])
        for entry in range(length):
            n_same += labels[lists[row, entry]] == codes[row]
        if n_same == 0 or n_same == length:
            wanted = _smallest(screen[row], labels, codes[row], n_same == 0)
            if wanted >= 0:
                lists[row, length - 1] = wanted


@part
def _smallest(values, labels, code, same):
    """Position of the smallest value of the class, or of the other classes; -1 where there is none."""
    smallest = -1
    for column in range(values.shape[0]):
        if (labels[column] == code) == same and (smallest < 0 or values[column] < values[smallest]):
            smallest = column
    return smallest
