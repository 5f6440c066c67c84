"""Kernels for sums of differences: Euclidean distances with missing coordinates, and sums of absolute differences.

A row of ``X`` is an object, NaN where a coordinate is missing; a row of ``points`` is a prototype, which has all of
them. ``factors`` multiply the differences of the coordinates. The squared difference of a missing coordinate is
``gaps``, before the factor. A missing absolute difference is left out; a known one is at most ``limit``, before the
factor, and the sum is multiplied by the object's weight. An object of weight 0 has the distance 1 from all.
"""

import numpy as np

from protoset.kernels._compile import compiled


@compiled
def euclidean_block(X, point_columns, factors, gaps):
    """Euclidean distances of the rows of X to the columns of ``point_columns`` (coordinates x points)."""
    block = np.zeros((X.shape[0], point_columns.shape[1]))
    for row in range(X.shape[0]):
        out, missing = block[row], 0.0
        for j in range(X.shape[1]):
            value, weight, values = X[row, j], factors[j] * factors[j], point_columns[j]
            if np.isnan(value):
                missing += weight * gaps[j]
                continue
            for column in range(out.shape[0]):
                difference = value - values[column]
                out[column] += weight * difference * difference
        for column in range(out.shape[0]):
            out[column] = np.sqrt(out[column] + missing)
    return block


@compiled
def absolute_block(X, point_columns, factors, limit, weights):
    """Sums of absolute differences of the rows of X to the columns of ``point_columns`` (coordinates x points)."""
    block = np.zeros((X.shape[0], point_columns.shape[1]))
    for row in range(X.shape[0]):
        out = block[row]
        for j in range(X.shape[1]):
            value, factor, values = X[row, j], factors[j], point_columns[j]
            if np.isnan(value):
                continue
            for column in range(out.shape[0]):
                out[column] += factor * min(abs(value - values[column]), limit)
        for column in range(out.shape[0]):
            out[column] = out[column] * weights[row] if weights[row] > 0.0 else 1.0
    return block


@compiled
def listed_euclidean(X, points, columns, factors, gaps):
    """As ``euclidean_block``, of each row of X to the points that its row of ``columns`` lists."""
    distances = np.empty(columns.shape)
    for row in range(X.shape[0]):
        for entry in range(columns.shape[1]):
            column, total = columns[row, entry], 0.0
            for j in range(X.shape[1]):
                difference = X[row, j] - points[column, j]
                squared = gaps[j] if np.isnan(difference) else difference * difference
                total += factors[j] * factors[j] * squared
            distances[row, entry] = np.sqrt(total)
    return distances


@compiled
def listed_absolute(X, points, columns, factors, limit, weights):
    """As ``absolute_block``, of each row of X to the points that its row of ``columns`` lists."""
    distances = np.empty(columns.shape)
    for row in range(X.shape[0]):
        for entry in range(columns.shape[1]):
            column, total = columns[row, entry], 0.0
            for j in range(X.shape[1]):
                difference = abs(X[row, j] - points[column, j])
                if not np.isnan(difference):
                    total += factors[j] * min(difference, limit)
            distances[row, entry] = total * weights[row] if weights[row] > 0.0 else 1.0
    return distances


@compiled
def pull_euclidean(X, points, columns, distances, slopes, factors, gaps, gradient, scale_gradient):
    """Add the gradients of ``listed_euclidean``, times their slopes.

    ``scale_gradient`` is by the logarithms of the squared factors, coordinate by coordinate.
    """
    weights = factors * factors
    for row in range(X.shape[0]):
        all_pulls = 0.0
        for entry in range(slopes.shape[1]):
            slope, distance = slopes[row, entry], distances[row, entry]
            if slope == 0.0 or distance == 0.0:
                continue
            column, pull = columns[row, entry], slope / distance
            all_pulls += pull
            for j in range(points.shape[1]):
                difference = points[column, j] - X[row, j]
                difference = 0.0 if np.isnan(difference) else difference
                term = pull * weights[j] * difference
                gradient[column, j] += term
                scale_gradient[j] += 0.5 * term * difference
        for j in range(points.shape[1]):
            if np.isnan(X[row, j]):
                scale_gradient[j] += 0.5 * all_pulls * weights[j] * gaps[j]


@compiled
def pull_absolute(X, points, columns, slopes, factors, limit, weights, gradient, scale_gradient):
    """Add the gradients of ``listed_absolute``, times their slopes, by signs.

    ``scale_gradient`` is by the logarithms of the squared factors, coordinate by coordinate.
    """
    for row in range(X.shape[0]):
        for entry in range(slopes.shape[1]):
            column, pull = columns[row, entry], slopes[row, entry] * weights[row]
            if pull == 0.0:
                continue
            for j in range(points.shape[1]):
                difference = points[column, j] - X[row, j]
                if np.isnan(difference):
                    continue
                if abs(difference) < limit:
                    gradient[column, j] += pull * factors[j] * np.sign(difference)
                scale_gradient[j] += 0.5 * pull * factors[j] * min(abs(difference), limit)
