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
def squares_to_all(coordinates, row, transposed, factors, out):
    """Squared distances of one object to the columns of ``transposed``, for steps: sums in another order."""
    if coordinates.is_absolute:
        distances_to_all(coordinates, row, transposed, factors, out)
        for column in range(out.shape[0]):
            out[column] *= out[column]
        return
    x, gaps, width, missing = coordinates.images[row], coordinates.gaps, coordinates.images.shape[1], 0.0
    for j in range(width):
        missing += factors[j] * factors[j] * gaps[j] if np.isnan(x[j]) else 0.0
    out[:] = missing
    # Four coordinates at a time, so that sums are read and written less often.
    for j in range(0, width - 3, 4):
        x0, x1, x2, x3 = np.float64(x[j]), np.float64(x[j + 1]), np.float64(x[j + 2]), np.float64(x[j + 3])
        p0, p1, p2, p3 = transposed[j], transposed[j + 1], transposed[j + 2], transposed[j + 3]
        # A factor of 0 leaves a missing coordinate out.
        s0, s1 = _square_or_none(x0, factors[j]), _square_or_none(x1, factors[j + 1])
        s2, s3 = _square_or_none(x2, factors[j + 2]), _square_or_none(x3, factors[j + 3])
        x0, x1, x2, x3 = _known(x0), _known(x1), _known(x2), _known(x3)
        for column in range(out.shape[0]):
            d0, d1, d2, d3 = p0[column] - x0, p1[column] - x1, p2[column] - x2, p3[column] - x3
            out[column] += s0 * d0 * d0 + s1 * d1 * d1 + s2 * d2 * d2 + s3 * d3 * d3
    for j in range(width - width % 4, width):
        value, values = np.float64(x[j]), transposed[j]
        square, value = _square_or_none(value, factors[j]), _known(value)
        for column in range(out.shape[0]):
            difference = values[column] - value
            out[column] += square * difference * difference


@part
def _square_or_none(value, factor):
    return 0.0 if np.isnan(value) else factor * factor


@part
def _known(value):
    return 0.0 if np.isnan(value) else value


@part(fastmath=REORDERED_SUMS)
def squares_to_listed(coordinates, row, points, lists, factors, known, forces, out):
    """Squared distances of one object to the prototypes in its row of ``lists``.

    Writes for ``pull_listed``: the object with 0 for missing coordinates to ``known``, and the squared factors with 0
    for these coordinates to ``forces``. Arrays are not sliced for each prototype, which would take longer than a sum.
    """
    if coordinates.is_absolute:
        for entry in range(out.shape[0]):
            out[entry] = distance_to_one(coordinates, row, points[lists[row, entry]], factors) ** 2
        return
    missing = 0.0
    for j in range(known.shape[0]):
        value = np.float64(coordinates.images[row, j])
        missing += factors[j] * factors[j] * coordinates.gaps[j] if np.isnan(value) else 0.0
        known[j], forces[j] = _known(value), _square_or_none(value, factors[j])
    for entry in range(out.shape[0]):
        column, total = lists[row, entry], missing
        for j in range(known.shape[0]):
            difference = points[column, j] - known[j]
            total += forces[j] * difference * difference
        out[entry] = total


@part(fastmath=REORDERED_SUMS)
def pull_listed(
    coordinates, row, points, lists, factors, known, forces, squares, slopes, gradient, scale_slopes, has_scales
):
    """Do the same as ``pull`` for the prototypes in a row of ``lists``; ``slopes`` are those by the squared distances.

    The gradient by the logarithms of the squared factors may be left out without ``has_scales``.
    """
    if coordinates.is_absolute:
        for entry in range(slopes.shape[0]):
            column, distance = lists[row, entry], np.sqrt(squares[entry])
            slope = 2.0 * slopes[entry] * distance if slopes[entry] != 0.0 else 0.0
            pull(coordinates, row, points[column], factors, distance, slope, gradient[column], scale_slopes)
        return
    for entry in range(slopes.shape[0]):
        column, slope = lists[row, entry], 2.0 * slopes[entry]
        if slope != 0.0:
            for j in range(known.shape[0]):
                gradient[column, j] += slope * forces[j] * (points[column, j] - known[j])
    if not has_scales:
        return
    for entry in range(slopes.shape[0]):
        column, slope = lists[row, entry], slopes[entry]
        if slope != 0.0:
            for j in range(known.shape[0]):
                difference = points[column, j] - known[j]
                is_missing = np.isnan(coordinates.images[row, j])
                missing = factors[j] * factors[j] * coordinates.gaps[j] if is_missing else 0.0
                scale_slopes[j] += slope * (forces[j] * difference * difference + missing)


@part(fastmath=REORDERED_SUMS)
def pull_all(coordinates, rows, transposed, factors, slopes, gradient, scale_slopes):
    """Do the same as ``pull`` for all prototypes and four objects: columns of ``transposed`` and ``gradient``.

    ``slopes`` has a row for each object: slopes by the squared distances, or by absolute distances. The gradient by the
    logarithms of the squared factors is left out if ``scale_slopes`` is empty.
    """
    if coordinates.is_absolute:
        for number in range(4):
            _pull_all_absolute(coordinates, rows[number], transposed, factors, slopes[number], gradient, scale_slopes)
        return
    s0, s1, s2, s3 = slopes[0], slopes[1], slopes[2], slopes[3]
    x0, x1, x2, x3 = (
        coordinates.images[rows[0]],
        coordinates.images[rows[1]],
        coordinates.images[rows[2]],
        coordinates.images[rows[3]],
    )
    for j in range(gradient.shape[0]):
        v0, v1, v2, v3 = np.float64(x0[j]), np.float64(x1[j]), np.float64(x2[j]), np.float64(x3[j])
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
            value, of_object = np.float64(coordinates.images[rows[number], j]), slopes[number]
            if not np.isnan(value):
                for column in range(values.shape[0]):
                    pulled[column] += square * of_object[column] * (values[column] - value)
    if scale_slopes.shape[0] == 0:
        return
    for number in range(4):
        x, of_object = coordinates.images[rows[number]], slopes[number]
        for j in range(gradient.shape[0]):
            value, values, total = np.float64(x[j]), transposed[j], 0.0
            if np.isnan(value):
                for column in range(values.shape[0]):
                    total += of_object[column] * coordinates.gaps[j]
            else:
                for column in range(values.shape[0]):
                    difference = values[column] - value
                    total += of_object[column] * difference * difference
            scale_slopes[j] += factors[j] * factors[j] * total


@part
def _pull_all_absolute(coordinates, row, transposed, factors, slopes, gradient, scale_slopes):
    x, weight, limit = coordinates.images[row], coordinates.weights[row], coordinates.limit
    for j in range(x.shape[0]):
        value, values, pulled, total = np.float64(x[j]), transposed[j], gradient[j], 0.0
        if np.isnan(value):
            continue
        strength = weight * factors[j]
        for column in range(slopes.shape[0]):
            difference = values[column] - value
            if abs(difference) < limit:
                pulled[column] += strength * slopes[column] * np.sign(difference)
            total += slopes[column] * min(abs(difference), limit)
        if scale_slopes.shape[0] > 0:
            scale_slopes[j] += 0.5 * strength * total


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
