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


class Absolute(NamedTuple):
    """How absolute differences are summed: weight of each object, and the largest difference of a coordinate."""

    weights: np.ndarray
    limit: float


class Coordinates(NamedTuple):
    """Objects as vectors, and how differences of coordinates make up a distance.

    One of ``gaps`` and ``absolute`` is None. Kernels take both as arguments, because Numba then leaves out the branches
    ``if ... is not None`` for the one that is None: they need not be compiled.

    Attributes
    ----------
    images : ndarray of float, shape (n_objects, n_coordinates)
    gaps : ndarray of float or None
        Squared difference of each coordinate where it is missing, if squared differences are summed.
    absolute : Absolute or None
        How absolute differences are summed, if they are.
    """

    images: np.ndarray
    gaps: np.ndarray | None
    absolute: Absolute | None


@part
def distances_to_all(images, gaps, absolute, row, transposed, factors, out):
    """Distances of one object to the columns of ``transposed`` (coordinates x points)."""
    for column in range(out.shape[0]):
        out[column] = 0.0
    if absolute is not None:
        weight, limit = absolute.weights[row], absolute.limit
        for j in range(images.shape[1]):
            value, factor, values = np.float64(images[row, j]), factors[j], transposed[j]
            if not np.isnan(value):
                for column in range(out.shape[0]):
                    difference = abs(value - values[column])
                    out[column] += factor * (difference if difference < limit else limit)
        for column in range(out.shape[0]):
            out[column] = out[column] * weight if weight > 0.0 else 1.0
    if gaps is not None:
        missing = 0.0
        for j in range(images.shape[1]):
            value, square, values = np.float64(images[row, j]), factors[j] * factors[j], transposed[j]
            if np.isnan(value):
                missing += square * gaps[j]
                continue
            for column in range(out.shape[0]):
                difference = value - values[column]
                out[column] += square * difference * difference
        for column in range(out.shape[0]):
            out[column] = np.sqrt(out[column] + missing)


@part(fastmath=REORDERED_SUMS)
def _squared_distance(images, gaps, row, points, column, factors):
    total = 0.0
    for j in range(points.shape[1]):
        difference = np.float64(images[row, j]) - points[column, j]
        total += factors[j] * factors[j] * (gaps[j] if np.isnan(difference) else difference * difference)
    return total


@part
def distance_to_one(images, gaps, absolute, row, points, column, factors):
    """Distance of one object to one prototype."""
    distance = 0.0
    if gaps is not None:
        distance = np.sqrt(_squared_distance(images, gaps, row, points, column, factors))
    if absolute is not None:
        weight, limit = absolute.weights[row], absolute.limit
        for j in range(points.shape[1]):
            difference = abs(np.float64(images[row, j]) - points[column, j])
            if not np.isnan(difference):
                distance += factors[j] * (difference if difference < limit else limit)
        distance = distance * weight if weight > 0.0 else 1.0
    return distance


@part
def pull(images, gaps, absolute, row, points, column, factors, distance, slope, gradient, scale_slopes):
    """Add the gradient of a distance, times its slope: by the point, and by the logarithms of the squared factors.

    The gradient by the logarithms is left out if ``scale_slopes`` is None; so it is in the functions below.
    """
    if slope == 0.0 or distance == 0.0:
        return
    if absolute is not None:
        strength, limit = slope * absolute.weights[row], absolute.limit
        for j in range(points.shape[1]):
            difference = points[column, j] - np.float64(images[row, j])
            if np.isnan(difference):
                continue
            if abs(difference) < limit:
                gradient[column, j] += strength * factors[j] * np.sign(difference)
            if scale_slopes is not None:
                scale_slopes[j] += 0.5 * strength * factors[j] * min(abs(difference), limit)
    if gaps is not None:
        strength, point, pulled = slope / distance, points[column], gradient[column]
        for j in range(point.shape[0]):
            difference, force = point[j] - np.float64(images[row, j]), strength * factors[j] * factors[j]
            # Choices between two values, not branches, so that vector instructions can be used.
            is_missing = np.isnan(difference)
            pulled[j] += 0.0 if is_missing else force * difference
            if scale_slopes is not None:
                scale_slopes[j] += 0.5 * force * (gaps[j] if is_missing else difference * difference)


@part(fastmath=REORDERED_SUMS)
def squares_to_all(images, gaps, absolute, row, transposed, factors, out):
    """Squared distances of one object to the columns of ``transposed``, for steps: sums in another order."""
    if absolute is not None:
        distances_to_all(images, gaps, absolute, row, transposed, factors, out)
        for column in range(out.shape[0]):
            out[column] *= out[column]
    if gaps is not None:
        _reordered_squares(images[row], gaps, transposed, factors, out)


@part
def _reordered_squares(x, gaps, transposed, factors, out):
    width, missing = x.shape[0], 0.0
    for j in range(width):
        missing += factors[j] * factors[j] * gaps[j] if np.isnan(x[j]) else 0.0
    for column in range(out.shape[0]):
        out[column] = missing
    # Four coordinates at a time, so that sums are read and written less often.
    for j in range(0, width - 3, 4):
        x0, x1, x2, x3 = np.float64(x[j]), np.float64(x[j + 1]), np.float64(x[j + 2]), np.float64(x[j + 3])
        p0, p1, p2, p3 = transposed[j], transposed[j + 1], transposed[j + 2], transposed[j + 3]
        # A factor of 0 leaves a missing coordinate out.
        s0 = 0.0 if np.isnan(x0) else factors[j] * factors[j]
        s1 = 0.0 if np.isnan(x1) else factors[j + 1] * factors[j + 1]
        s2 = 0.0 if np.isnan(x2) else factors[j + 2] * factors[j + 2]
        s3 = 0.0 if np.isnan(x3) else factors[j + 3] * factors[j + 3]
        x0, x1 = 0.0 if np.isnan(x0) else x0, 0.0 if np.isnan(x1) else x1
        x2, x3 = 0.0 if np.isnan(x2) else x2, 0.0 if np.isnan(x3) else x3
        for column in range(out.shape[0]):
            d0, d1, d2, d3 = p0[column] - x0, p1[column] - x1, p2[column] - x2, p3[column] - x3
            out[column] += s0 * d0 * d0 + s1 * d1 * d1 + s2 * d2 * d2 + s3 * d3 * d3
    for j in range(width - width % 4, width):
        value, values = np.float64(x[j]), transposed[j]
        square = 0.0 if np.isnan(value) else factors[j] * factors[j]
        value = 0.0 if np.isnan(value) else value
        for column in range(out.shape[0]):
            difference = values[column] - value
            out[column] += square * difference * difference


@part(fastmath=REORDERED_SUMS)
def squares_to_listed(images, gaps, absolute, row, points, lists, factors, known, forces, out):
    """Squared distances of one object to the prototypes in its row of ``lists``.

    Writes for ``pull_listed``: the object with 0 for missing coordinates to ``known``, and the squared factors with 0
    for these coordinates to ``forces``. Arrays are not sliced for each prototype, which would take longer than a sum.
    """
    if absolute is not None:
        for entry in range(out.shape[0]):
            out[entry] = distance_to_one(images, gaps, absolute, row, points, lists[row, entry], factors) ** 2
    if gaps is not None:
        missing = 0.0
        for j in range(known.shape[0]):
            value = np.float64(images[row, j])
            missing += factors[j] * factors[j] * gaps[j] if np.isnan(value) else 0.0
            known[j] = 0.0 if np.isnan(value) else value
            forces[j] = 0.0 if np.isnan(value) else factors[j] * factors[j]
        for entry in range(out.shape[0]):
            column, total = lists[row, entry], missing
            for j in range(known.shape[0]):
                difference = points[column, j] - known[j]
                total += forces[j] * difference * difference
            out[entry] = total


@part(fastmath=REORDERED_SUMS)
def pull_listed(
    images, gaps, absolute, row, points, lists, factors, known, forces, squares, slopes, gradient, scale_slopes
):
    """Do the same as ``pull`` for the prototypes in a row of ``lists``; ``slopes`` are by the squared distances."""
    if absolute is not None:
        for entry in range(slopes.shape[0]):
            column, distance = lists[row, entry], np.sqrt(squares[entry])
            # Prototypes that are infinitely far have the slope 0.
            slope = 2.0 * slopes[entry] * distance if slopes[entry] != 0.0 else 0.0
            pull(images, gaps, absolute, row, points, column, factors, distance, slope, gradient, scale_slopes)
    if gaps is not None:
        for entry in range(slopes.shape[0]):
            column, slope = lists[row, entry], slopes[entry]
            if slope == 0.0:
                continue
            for j in range(known.shape[0]):
                gradient[column, j] += 2.0 * slope * forces[j] * (points[column, j] - known[j])
            if scale_slopes is not None:
                for j in range(known.shape[0]):
                    difference = points[column, j] - known[j]
                    missing = factors[j] * factors[j] * gaps[j] if np.isnan(images[row, j]) else 0.0
                    scale_slopes[j] += slope * (forces[j] * difference * difference + missing)


@part
def pull_all_squared(images, gaps, rows, transposed, factors, slopes, gradient, scale_slopes):
    """Do the same as ``pull`` for all prototypes and four objects: columns of ``transposed`` and ``gradient``.

    ``slopes`` has a row for each object: slopes by the squared distances.
    """
    s0, s1, s2, s3 = slopes[0], slopes[1], slopes[2], slopes[3]
    r0, r1, r2, r3 = rows[0], rows[1], rows[2], rows[3]
    for j in range(gradient.shape[0]):
        v0, v1 = np.float64(images[r0, j]), np.float64(images[r1, j])
        v2, v3 = np.float64(images[r2, j]), np.float64(images[r3, j])
        values, pulled, square = transposed[j], gradient[j], 2.0 * factors[j] * factors[j]
        if not np.isnan(v0 + v1 + v2 + v3):
            for column in range(values.shape[0]):
                value = values[column]
                pulled[column] += square * (
                    s0[column] * (value - v0)
                    + s1[column] * (value - v1)
                    + s2[column] * (value - v2)
                    + s3[column] * (value - v3)
                )
            continue
        for number in range(4):
            value, of_object = np.float64(images[rows[number], j]), slopes[number]
            if not np.isnan(value):
                for column in range(values.shape[0]):
                    pulled[column] += square * of_object[column] * (values[column] - value)
    if scale_slopes is not None:
        for number in range(4):
            of_object = slopes[number]
            for j in range(gradient.shape[0]):
                value, values, total = np.float64(images[rows[number], j]), transposed[j], 0.0
                if np.isnan(value):
                    for column in range(values.shape[0]):
                        total += of_object[column] * gaps[j]
                else:
                    for column in range(values.shape[0]):
                        difference = values[column] - value
                        total += of_object[column] * difference * difference
                scale_slopes[j] += factors[j] * factors[j] * total


@part
def pull_all_absolute(images, absolute, row, transposed, factors, slopes, gradient, scale_slopes):
    """Do the same as ``pull`` for all prototypes and one object; ``slopes`` has the slopes by the distances."""
    weight, limit = absolute.weights[row], absolute.limit
    for j in range(images.shape[1]):
        value, values, pulled, total = np.float64(images[row, j]), transposed[j], gradient[j], 0.0
        if np.isnan(value):
            continue
        strength = weight * factors[j]
        for column in range(slopes.shape[0]):
            difference = values[column] - value
            if abs(difference) < limit:
                pulled[column] += strength * slopes[column] * np.sign(difference)
            if scale_slopes is not None:
                total += slopes[column] * min(abs(difference), limit)
        if scale_slopes is not None:
            scale_slopes[j] += 0.5 * strength * total


@compiled
def distance_block(images, gaps, absolute, transposed, factors, block):
    """Write the distances of all objects to the columns of ``transposed`` (coordinates x points)."""
    for row in range(block.shape[0]):
        distances_to_all(images, gaps, absolute, row, transposed, factors, block[row])


@compiled
def listed_distances(images, gaps, absolute, points, columns, factors, distances):
    """Write the distances of each object to the points that its row of ``columns`` lists."""
    for row in range(columns.shape[0]):
        for entry in range(columns.shape[1]):
            column = columns[row, entry]
            distances[row, entry] = distance_to_one(images, gaps, absolute, row, points, column, factors)


@compiled
def add_gradients(images, gaps, absolute, points, columns, factors, distances, slopes, gradient, scale_slopes):
    """Add the gradients of listed distances, times their slopes."""
    for row in range(columns.shape[0]):
        for entry in range(columns.shape[1]):
            distance, slope, column = distances[row, entry], slopes[row, entry], columns[row, entry]
            pull(images, gaps, absolute, row, points, column, factors, distance, slope, gradient, scale_slopes)
