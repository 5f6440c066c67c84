"""Kernels of the adaptation: the losses of distances, and the steps of the optimiser.

A row of ``distances`` belongs to an object and has its distances to some prototypes, or to all; ``labels`` has their
classes. The losses return the sum over the objects, by weight. They write how the sum changes with each distance to
``slopes``: 0 where a distance does not matter. An infinite distance is that of a prototype that does not count.
"""

import numpy as np

from protoset.kernels._compile import compiled, part

FAINT = 1e-6
"""A prototype whose share in its class differs from its share in all prototypes by less gets no gradient."""

NO_SHARE = 40.0
"""A prototype whose exponent is this far below that of the nearest prototype has the share 0."""

FAR_BEHIND = 20.0
"""Where the nearest prototype of the object's class is this far behind, its class is normalised separately."""


@part
def relative_row(distances, labels, code, weight, steepness, slopes):
    """Relative loss of one object: logistic function of (same - other) / (same + other), see ``kernels.refining.loss``.

    ``same`` is the distance to the nearest prototype of the object's class, ``other`` to the nearest of another class.
    """
    same, other, nearest_same, nearest_other = np.inf, np.inf, -1, -1
    for column in range(distances.shape[0]):
        slopes[column] = 0.0
        distance = distances[column]
        if labels[column] == code:
            if distance < same:
                same, nearest_same = distance, column
        elif distance < other:
            other, nearest_other = distance, column
    both = same + other
    if both == 0.0 or both == np.inf:
        return weight * (0.5 if same == other else np.float64(same > other))
    value = 1.0 / (1.0 + np.exp(-steepness * (same - other) / both))
    slope = weight * steepness * value * (1.0 - value) * 2.0 / (both * both)
    slopes[nearest_same] = slope * other
    slopes[nearest_other] = -slope * same
    return weight * value


@part
def softmax_row(distances, labels, code, weight, sharpness, slopes):
    """Softmax loss of one object: - log of the share of the prototypes of its class.

    A prototype's share falls with exp(-sharpness * distance^2). Returns the loss and how it changes with the logarithm
    of the sharpness.
    """
    nearest, same = np.inf, np.inf
    for column in range(distances.shape[0]):
        nearest = min(nearest, distances[column])
        if labels[column] == code:
            same = min(same, distances[column])
    if same == np.inf:
        slopes[:] = 0.0
        return 0.0, 0.0
    all_shares, own_shares = 0.0, 0.0
    for column in range(distances.shape[0]):
        behind = sharpness * (distances[column] ** 2 - nearest**2)
        share = np.exp(-behind) if behind < NO_SHARE else 0.0
        slopes[column] = share
        all_shares += share
        if labels[column] == code:
            own_shares += share
    lag = sharpness * (same**2 - nearest**2)
    if lag > FAR_BEHIND:
        own_shares = 0.0
        for column in range(distances.shape[0]):
            if labels[column] == code:
                own_shares += np.exp(-sharpness * (distances[column] ** 2 - same**2))
    total = np.log(all_shares) - np.log(own_shares) + (lag if lag > FAR_BEHIND else 0.0)
    sharpness_slope = 0.0
    for column in range(distances.shape[0]):
        squared, share = distances[column] ** 2, slopes[column]
        slopes[column] = 0.0
        if squared == np.inf:
            continue
        slope = -share / all_shares
        if labels[column] == code:
            if lag > FAR_BEHIND:
                share = np.exp(-sharpness * (squared - same**2))
            slope += share / own_shares
        if abs(slope) >= FAINT:
            slope *= weight * sharpness
            sharpness_slope += slope * squared
            slopes[column] = 2.0 * slope * distances[column]
    return weight * total, sharpness_slope


@compiled
def relative_loss(distances, labels, codes, weights, steepness, slopes):
    """Sum of the relative losses of several objects."""
    total = 0.0
    for row in range(distances.shape[0]):
        total += relative_row(distances[row], labels[row], codes[row], weights[row], steepness, slopes[row])
    return total


@compiled
def softmax_loss(distances, labels, codes, weights, sharpness, slopes):
    """Sum of the softmax losses of several objects, and how it changes with the logarithm of the sharpness."""
    total, sharpness_slope = 0.0, 0.0
    for row in range(distances.shape[0]):
        loss, change = softmax_row(distances[row], labels[row], codes[row], weights[row], sharpness, slopes[row])
        total += loss
        sharpness_slope += change
    return total, sharpness_slope


@compiled
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
        if size > 0.0:
            values[i] -= step * mean[i] * unbias_mean / size


@compiled
def list_nearest(screen, labels, codes, lists):
    """Write the columns of the smallest entries of each row to ``lists``, nearest first.

    The smallest entry of the object's class and that of the other classes are always listed, if need be as the last.
    """
    length = lists.shape[1]
    values = np.empty(length, screen.dtype)
    for row in range(screen.shape[0]):
        values[:] = np.inf
        largest, n_same = values[length - 1], 0
        for column in range(screen.shape[1]):
            value = screen[row, column]
            if value < largest:
                slot = length - 1
                while slot > 0 and values[slot - 1] > value:
                    values[slot], lists[row, slot] = values[slot - 1], lists[row, slot - 1]
                    slot -= 1
                values[slot], lists[row, slot] = value, column
                largest = values[length - 1]
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
