"""Kernels for sums of differences: Euclidean distances with missing coordinates, and sums of absolute differences.

A row of ``images`` is an object, NaN where a coordinate is missing; a row of ``points`` is a prototype, which has all
coordinates. ``factors`` multiply the differences of the coordinates. The squared difference of a missing coordinate is
``gaps``, before the factor. A missing absolute difference is left out; a known one is at most ``limit``, before the
factor, and the sum is multiplied by the object's weight. An object of weight 0 has the distance 1 from all.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part

REORDERED_SUMS = {"reassoc", "contract", "nsz"}
"""Sums in an order that suits vector instructions; NaN stays NaN."""


class Coordinates(NamedTuple):
    """Objects as vectors, and how differences of coordinates make up a distance.

    Attributes
    ----------
    images : ndarray of float, shape (n_objects, n_coordinates)
    gaps : ndarray of float
        Squared difference of each coordinate where it is missing.
    weights : ndarray of float
        Weight of each object, where absolute differences are summed; else empty.
    limit : float
        Largest absolute difference of a coordinate.
    is_absolute : bool
        Whether absolute differences are summed, else squared ones.
    """

    images: np.ndarray
    gaps: np.ndarray
    weights: np.ndarray
    limit: float
    is_absolute: bool


@part
def distances_to_all(coordinates, row, transposed, factors, out):
    """Distances of one object to the columns of ``transposed`` (coordinates x points)."""
    x, gaps, out[:] = coordinates.images[row], coordinates.gaps, 0.0
    if coordinates.is_absolute:
        weight, limit = coordinates.weights[row], coordinates.limit
        for j in range(x.shape[0]):
            value, factor, values = np.float64(x[j]), factors[j], transposed[j]
            if not np.isnan(value):
                for column in range(out.shape[0]):
                    out[column] += factor * min(abs(value - values[column]), limit)
        for column in range(out.shape[0]):
            out[column] = out[column] * weight if weight > 0.0 else 1.0
        return
    missing = 0.0
    for j in range(x.shape[0]):
        value, square, values = np.float64(x[j]), factors[j] * factors[j], transposed[j]
        if np.isnan(value):
            missing += square * gaps[j]
            continue
        for column in range(out.shape[0]):
            difference = value - values[column]
            out[column] += square * difference * difference
    for column in range(out.shape[0]):
        out[column] = np.sqrt(out[column] + missing)


@part(fastmath=REORDERED_SUMS)
def _squared_distance(x, point, factors, gaps):
    total = 0.0
    for j in range(point.shape[0]):
        difference = np.float64(x[j]) - point[j]
        total += factors[j] * factors[j] * (gaps[j] if np.isnan(difference) else difference * difference)
    return total


@part
def distance_to_one(coordinates, row, point, factors):
    """Distance of one object to one prototype."""
    x = coordinates.images[row]
    if not coordinates.is_absolute:
        return np.sqrt(_squared_distance(x, point, factors, coordinates.gaps))
    weight, total = coordinates.weights[row], 0.0
    for j in range(point.shape[0]):
        difference = abs(np.float64(x[j]) - point[j])
        if not np.isnan(difference):
            total += factors[j] * min(difference, coordinates.limit)
    return total * weight if weight > 0.0 else 1.0


@part
def pull(coordinates, row, point, factors, distance, slope, gradient, scale_slopes):
    """Add the gradient of a distance, times its slope: by the point, and by the logarithms of the squared factors."""
    if slope == 0.0 or distance == 0.0:
        return
    x, gaps = coordinates.images[row], coordinates.gaps
    if coordinates.is_absolute:
        strength, limit = slope * coordinates.weights[row], coordinates.limit
        for j in range(point.shape[0]):
            difference = point[j] - np.float64(x[j])
            if np.isnan(difference):
                continue
            if abs(difference) < limit:
                gradient[j] += strength * factors[j] * np.sign(difference)
            scale_slopes[j] += 0.5 * strength * factors[j] * min(abs(difference), limit)
        return
    strength = slope / distance
    for j in range(point.shape[0]):
        difference, force = point[j] - np.float64(x[j]), strength * factors[j] * factors[j]
        # Choices between two values, not branches, so that vector instructions can be used.
        is_missing = np.isnan(difference)
        gradient[j] += 0.0 if is_missing else force * difference
        scale_slopes[j] += 0.5 * force * (gaps[j] if is_missing else difference * difference)


@part(fastmath=REORDERED_SUMS)
def pull_all(coordinates, row, transposed, factors, distances, slopes, gradient, scale_slopes):
    """Do the same as ``pull`` for all prototypes: columns of ``transposed`` and ``gradient``. Overwrites ``slopes``."""
    x, gaps, all_slopes = coordinates.images[row], coordinates.gaps, 0.0
    for column in range(slopes.shape[0]):
        counts = 0.0 < distances[column] < np.inf
        if coordinates.is_absolute:
            slopes[column] *= coordinates.weights[row] if counts else 0.0
        else:
            slopes[column] = slopes[column] / distances[column] if counts else 0.0
        all_slopes += slopes[column]
    for j in range(x.shape[0]):
        value, factor, values, pulled, total = np.float64(x[j]), factors[j], transposed[j], gradient[j], 0.0
        if coordinates.is_absolute:
            if np.isnan(value):
                continue
            for column in range(slopes.shape[0]):
                difference = values[column] - value
                if abs(difference) < coordinates.limit:
                    pulled[column] += slopes[column] * factor * np.sign(difference)
                total += slopes[column] * min(abs(difference), coordinates.limit)
            scale_slopes[j] += 0.5 * factor * total
            continue
        if np.isnan(value):
            scale_slopes[j] += 0.5 * factor * factor * gaps[j] * all_slopes
            continue
        for column in range(slopes.shape[0]):
            difference = values[column] - value
            force = slopes[column] * difference
            pulled[column] += factor * factor * force
            total += force * difference
        scale_slopes[j] += 0.5 * factor * factor * total


@compiled
def distance_block(coordinates, transposed, factors):
    """Distances of all objects to the columns of ``transposed`` (coordinates x points)."""
    block = np.empty((coordinates.images.shape[0], transposed.shape[1]))
    for row in range(block.shape[0]):
        distances_to_all(coordinates, row, transposed, factors, block[row])
    return block


@compiled
def listed_distances(coordinates, points, columns, factors):
    """Distances of each object to the points that its row of ``columns`` lists."""
    distances = np.empty(columns.shape)
    for row in range(columns.shape[0]):
        for entry in range(columns.shape[1]):
            distances[row, entry] = distance_to_one(coordinates, row, points[columns[row, entry]], factors)
    return distances


@compiled
def add_gradients(coordinates, points, columns, factors, distances, slopes, gradient, scale_slopes):
    """Add the gradients of listed distances, times their slopes."""
    for row in range(columns.shape[0]):
        for entry in range(columns.shape[1]):
            column = columns[row, entry]
            pull(
                coordinates,
                row,
                points[column],
                factors,
                distances[row, entry],
                slopes[row, entry],
                gradient[column],
                scale_slopes,
            )
