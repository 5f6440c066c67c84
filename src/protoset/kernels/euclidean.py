"""Kernels for Euclidean distances.

Every kernel sums the features in their order, in double precision, and takes the square root. So equal pairs have
equal distances, ties are exact, and nothing depends on the blocks of the computation.
"""

import numpy as np

from protoset.kernels._compile import compiled, part, plain

NEAR_SUMS = 1024
"""Sums that are computed together: few enough for the first-level cache of the processor."""

SAMPLED_COLUMNS = 256
"""Columns of a block, at least, whose entries give the limit in ``smallest_columns``."""


@compiled
def _distance(a, b):
    total = 0.0
    for feature in range(a.shape[0]):
        difference = np.float64(a[feature]) - np.float64(b[feature])
        total += difference * difference
    return np.sqrt(total)


@compiled
def _distances(x, X, others, distances):
    """Distances of x to the given rows of X, four at a time: four independent sums are faster than one."""
    n = others.shape[0]
    first = 0
    while first + 4 <= n:
        a, b = X[others[first]], X[others[first + 1]]
        c, d = X[others[first + 2]], X[others[first + 3]]
        total_a = total_b = total_c = total_d = 0.0
        for feature in range(x.shape[0]):
            value = np.float64(x[feature])
            difference_a, difference_b = value - np.float64(a[feature]), value - np.float64(b[feature])
            difference_c, difference_d = value - np.float64(c[feature]), value - np.float64(d[feature])
            total_a += difference_a * difference_a
            total_b += difference_b * difference_b
            total_c += difference_c * difference_c
            total_d += difference_d * difference_d
        distances[first], distances[first + 1] = np.sqrt(total_a), np.sqrt(total_b)
        distances[first + 2], distances[first + 3] = np.sqrt(total_c), np.sqrt(total_d)
        first += 4
    for position in range(first, n):
        distances[position] = _distance(x, X[others[position]])


@compiled
def distances_to_one(A, b):
    """Distances of the rows of A to one object."""
    distances = np.empty(A.shape[0])
    _distances(b, A, np.arange(A.shape[0]), distances)
    return distances


@compiled
def distances_by_feature(features, b):
    """Distances of the columns of ``features`` (features x objects) to one object."""
    n_features, n = features.shape
    distances = np.zeros(n)
    for start in range(0, n, NEAR_SUMS):
        near, sums = slice(start, start + NEAR_SUMS), distances[start : start + NEAR_SUMS]
        for feature in range(0, n_features - 3, 4):
            value_1, value_2 = np.float64(b[feature]), np.float64(b[feature + 1])
            value_3, value_4 = np.float64(b[feature + 2]), np.float64(b[feature + 3])
            first, second = features[feature, near], features[feature + 1, near]
            third, fourth = features[feature + 2, near], features[feature + 3, near]
            for position in range(sums.shape[0]):
                difference_1, difference_2 = (
                    value_1 - np.float64(first[position]),
                    value_2 - np.float64(second[position]),
                )
                difference_3, difference_4 = (
                    value_3 - np.float64(third[position]),
                    value_4 - np.float64(fourth[position]),
                )
                # In the order of the features, as in the other kernels.
                total = sums[position] + difference_1 * difference_1
                total += difference_2 * difference_2
                total += difference_3 * difference_3
                sums[position] = total + difference_4 * difference_4
        for feature in range(n_features - n_features % 4, n_features):
            value_1, first = np.float64(b[feature]), features[feature, near]
            for position in range(sums.shape[0]):
                difference_1 = value_1 - np.float64(first[position])
                sums[position] += difference_1 * difference_1
        for position in range(sums.shape[0]):
            sums[position] = np.sqrt(sums[position])
    return distances


@compiled
def distance_block(A, B_columns):
    """Distances of the rows of A to the columns of B_columns (features x objects)."""
    n_rows, n_features = A.shape
    n_columns = B_columns.shape[1]
    block = np.zeros((n_rows, n_columns))
    for row in range(n_rows):
        out = block[row]
        for feature in range(n_features):
            value = np.float64(A[row, feature])
            column_values = B_columns[feature]
            for column in range(n_columns):
                difference = value - np.float64(column_values[column])
                out[column] += difference * difference
        for column in range(n_columns):
            out[column] = np.sqrt(out[column])
    return block


@plain
def smallest_columns(block, indices, values):
    """Write the columns of the smallest entries of each row to ``indices``, and the entries to ``values``, both sorted.

    The entries are not NaN, and there are no fewer columns than are written.
    """
    n_columns, width = block.shape[1], indices.shape[1]
    columns = np.arange(n_columns)
    stride = max(1, n_columns // SAMPLED_COLUMNS)
    sampled = columns[::stride].copy()
    n_sampled = min(width, len(sampled), 3 + 3 * width // (2 * stride))
    _smallest_columns(block, indices, values, columns, sampled, n_sampled, np.empty_like(columns))


@compiled
def _smallest_columns(block, indices, values, columns, sampled, n_sampled, near):
    """As ``smallest_columns``: of each row, only entries that do not exceed a limit are sorted.

    The limit is the largest of the ``n_sampled`` smallest entries of a sample. About one and a half times as many
    entries as are written do not exceed it; if there are too few, all are sorted. ``near`` is work space.
    """
    for row in range(block.shape[0]):
        entries, own_indices, own_values = block[row], indices[row], values[row]
        _sort_smallest(entries, sampled, own_indices[:n_sampled], own_values[:n_sampled])
        limit, n_near = own_values[n_sampled - 1], 0
        for column in range(entries.shape[0]):
            near[n_near] = column
            n_near += entries[column] <= limit
        candidates = near[:n_near] if n_near >= own_indices.shape[0] else columns
        _sort_smallest(entries, candidates, own_indices, own_values)


@part(inline="never")
def _sort_smallest(entries, columns, indices, values):
    """Write those of the columns that have the smallest entries, and the entries, both sorted."""
    width, size = indices.shape[0], 0
    for position in range(columns.shape[0]):
        column = columns[position]
        value = entries[column]
        if size == width and value >= values[width - 1]:
            continue
        hole = min(size, width - 1)
        while hole > 0 and values[hole - 1] > value:
            values[hole], indices[hole] = values[hole - 1], indices[hole - 1]
            hole -= 1
        values[hole], indices[hole] = value, column
        size = min(size + 1, width)


@compiled
def rerank_candidates(X, rows, candidates, floor, k, out_indices, out_distances):
    """Sort the candidates of each row by (distance, index) and count those up to the k-th distance.

    ``floor`` is a lower bound on the distances of each row to objects that are not candidates.
    Returns the counts; -1 where a neighbour may be missing from the candidates.
    """
    counts = np.empty(rows.shape[0], np.int64)
    width = candidates.shape[1]
    candidate_distances = np.empty(width)
    for r in range(rows.shape[0]):
        own = rows[r]
        _distances(X[own], X, candidates[r], candidate_distances)
        size = 0
        for position in range(width):
            j = candidates[r, position]
            if j == own:
                continue
            distance = candidate_distances[position]
            # The candidates are almost sorted, so that insertion is cheap.
            hole = size
            while hole > 0 and (
                out_distances[r, hole - 1] > distance
                or (out_distances[r, hole - 1] == distance and out_indices[r, hole - 1] > j)
            ):
                out_distances[r, hole] = out_distances[r, hole - 1]
                out_indices[r, hole] = out_indices[r, hole - 1]
                hole -= 1
            out_distances[r, hole] = distance
            out_indices[r, hole] = j
            size += 1
        kth = out_distances[r, min(k, size) - 1]
        count = min(k, size)
        while count < size and out_distances[r, count] == kth:
            count += 1
        counts[r] = count if kth < floor[r] else -1
    return counts


@compiled
def nearest_screened(A, B, screen, slack):
    """Position in B and distance of the nearest to each row of A; of ties the lowest position.

    The third result says which rows have ties. ``screen`` orders the candidates of a row approximately: an entry above
    the smallest by more than ``slack`` cannot be the nearest. The remaining candidates are compared by their exact
    distances.
    """
    n_rows, n_columns = screen.shape
    positions = np.empty(n_rows, np.int64)
    distances = np.empty(n_rows)
    are_tied = np.zeros(n_rows, np.bool_)
    for row in range(n_rows):
        best = np.inf
        position = 0
        is_tied = False
        bound = screen[row].min() + slack[row]
        for column in range(n_columns):
            if screen[row, column] <= bound:
                distance = _distance(A[row], B[column])
                if distance < best:
                    best = distance
                    position = column
                    is_tied = False
                elif distance == best:
                    is_tied = True
        positions[row] = position
        distances[row] = best
        are_tied[row] = is_tied
    return positions, distances, are_tied


@compiled
def screened_block(A, B, screen, slack):
    """Distances of the rows of A to those of B that ``nearest_screened`` compares; infinite for all others."""
    block = np.full(screen.shape, np.inf)
    for row in range(screen.shape[0]):
        bound = screen[row].min() + slack[row]
        for column in range(screen.shape[1]):
            if screen[row, column] <= bound:
                block[row, column] = _distance(A[row], B[column])
    return block


@compiled
def nan_distance_block(a, b):
    """Distances over the features known in both, scaled to all features; the largest float where none is shared."""
    n, m, d = a.shape[0], b.shape[0], a.shape[1]
    block = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            total, known = 0.0, 0
            for f in range(d):
                difference = a[i, f] - b[j, f]
                if not np.isnan(difference):
                    total += difference * difference
                    known += 1
            block[i, j] = np.sqrt(total * d / known) if known > 0 else np.finfo(np.float64).max
    return block


@compiled
def transform(X, matrix):
    """Multiply each row of X with a matrix."""
    n, d, m = X.shape[0], X.shape[1], matrix.shape[1]
    images = np.zeros((n, m))
    for i in range(n):
        for f in range(d):
            for g in range(m):
                images[i, g] += X[i, f] * matrix[f, g]
    return images
