"""Kernels of the adaptation: the losses of distances, and the steps of the optimiser.

A row of ``distances`` belongs to an object and has its distances to some prototypes, or to all; ``labels`` has their
classes. The losses return the sum over the objects, by weight. They write how the sum changes with each distance to
``slopes``: 0 where a distance does not matter. An infinite distance is that of a prototype that does not count.
"""

import numpy as np

from protoset.kernels._compile import compiled

FAINT = 1e-6
"""Share of an object's softmax below which a prototype gets no gradient."""


@compiled
def relative_loss(distances, labels, codes, weights, steepness, slopes):
    """Loss of the refinement: logistic function of (same - other) / (same + other), see ``kernels.refining.loss``."""
    total = 0.0
    for row in range(distances.shape[0]):
        same, other, nearest_same, nearest_other = np.inf, np.inf, -1, -1
        for column in range(distances.shape[1]):
            distance = distances[row, column]
            if labels[row, column] == codes[row]:
                if distance < same:
                    same, nearest_same = distance, column
            elif distance < other:
                other, nearest_other = distance, column
        slopes[row, :] = 0.0
        both = same + other
        if same == other or nearest_same < 0 or nearest_other < 0:
            value = 0.5 if same == other else np.float64(same > other)
            if both == 0.0 or both == np.inf:
                total += weights[row] * value
                continue
        value = 1.0 / (1.0 + np.exp(-steepness * (same - other) / both))
        total += weights[row] * value
        slope = weights[row] * steepness * value * (1.0 - value) * 2.0 / (both * both)
        slopes[row, nearest_same] = slope * other
        slopes[row, nearest_other] = -slope * same
    return total


@compiled
def softmax_loss(distances, labels, codes, weights, sharpness, slopes):
    """Loss of a softmax over all prototypes: - log of the share of the prototypes of the object's class.

    A prototype's share falls with exp(-sharpness * distance^2). Returns the sum and how it changes with the logarithm
    of the sharpness.
    """
    total, turn = 0.0, 0.0
    for row in range(distances.shape[0]):
        nearest, same = np.inf, np.inf
        for column in range(distances.shape[1]):
            distance = distances[row, column]
            nearest = min(nearest, distance)
            if labels[row, column] == codes[row]:
                same = min(same, distance)
        slopes[row, :] = 0.0
        if same == np.inf:
            continue
        all_shares, own_shares = 0.0, 0.0
        for column in range(distances.shape[1]):
            squared = distances[row, column] ** 2
            all_shares += np.exp(-sharpness * (squared - nearest**2))
            if labels[row, column] == codes[row]:
                own_shares += np.exp(-sharpness * (squared - same**2))
        total += weights[row] * (np.log(all_shares) - np.log(own_shares) + sharpness * (same**2 - nearest**2))
        for column in range(distances.shape[1]):
            squared = distances[row, column] ** 2
            if squared == np.inf:
                continue
            slope = -np.exp(-sharpness * (squared - nearest**2)) / all_shares
            if labels[row, column] == codes[row]:
                slope += np.exp(-sharpness * (squared - same**2)) / own_shares
            if abs(slope) < FAINT:
                continue
            slope *= weights[row] * sharpness
            turn += slope * squared
            slopes[row, column] = 2.0 * slope * distances[row, column]
    return total, turn


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
def listed_distances(X, points, columns):
    """Euclidean distances of each row of X to the points that its row of ``columns`` lists."""
    distances = np.empty(columns.shape)
    for row in range(X.shape[0]):
        for entry in range(columns.shape[1]):
            point, total = points[columns[row, entry]], 0.0
            for j in range(X.shape[1]):
                difference = X[row, j] - point[j]
                total += difference * difference
            distances[row, entry] = np.sqrt(total)
    return distances


@compiled
def pull_vectors(X, points, columns, distances, slopes, gradient, scale_gradient):
    """Add the gradients of Euclidean distances, times their slopes: by the points, and by the logarithms of the scales.

    All coordinates are multiplied by the roots of their scales already.
    """
    for row in range(X.shape[0]):
        for entry in range(slopes.shape[1]):
            slope, distance = slopes[row, entry], distances[row, entry]
            if slope == 0.0 or distance == 0.0:
                continue
            column, pull = columns[row, entry], slope / distance
            for j in range(points.shape[1]):
                difference = points[column, j] - X[row, j]
                gradient[column, j] += pull * difference
                scale_gradient[j] += 0.5 * pull * difference * difference


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
                place = length - 1
                while place > 0 and values[place - 1] > value:
                    values[place], lists[row, place] = values[place - 1], lists[row, place - 1]
                    place -= 1
                values[place], lists[row, place] = value, column
                largest = values[length - 1]
        for entry in range(length):
            n_same += labels[lists[row, entry]] == codes[row]
        if n_same == 0 or n_same == length:
            wanted = _smallest(screen[row], labels, codes[row], n_same == 0)
            if wanted >= 0:
                lists[row, length - 1] = wanted


@compiled
def _smallest(values, labels, code, same):
    """Position of the smallest value of the class, or of the other classes; -1 where there is none."""
    smallest = -1
    for column in range(values.shape[0]):
        if (labels[column] == code) == same and (smallest < 0 or values[column] < values[smallest]):
            smallest = column
    return smallest
