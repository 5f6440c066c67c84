"""Kernels for objects with numbers and categories (see ``protoset.spaces.mixed``).

``a`` and ``b`` are row and column objects: numbers, NaN where missing, and codes of categories, -1 where missing and -2
(in ``a`` alone) where the training set does not have the category. Every sum runs over the numbers, then over the
codes, so that a dissimilarity does not depend on its block, nor on the order of the two objects. The kernels write to
``block``, a row for each row object.
"""

import numpy as np

from protoset.kernels._compile import compiled, part

LARGEST_DIFFERENCE = 1e150
"""Largest difference in units of the training set; its square is finite."""


@part
def _scaled(difference, divisor):
    """Difference of two numbers in units of the training set; a divisor of 0 means that all its values are equal."""
    if divisor == 0.0:
        return 1.0 if difference > 0.0 else 0.0
    scaled = difference / divisor
    return scaled if scaled < LARGEST_DIFFERENCE else LARGEST_DIFFERENCE


@part
def _squared_numbers(a_numbers, i, b_numbers, j, divisors):
    """Sum of the squared differences of the numbers; 1 where a number is missing in either object."""
    total = 0.0
    for k in range(divisors.shape[0]):
        difference = abs(a_numbers[i, k] - b_numbers[j, k])
        scaled = 1.0 if np.isnan(difference) else _scaled(difference, divisors[k])
        total += scaled * scaled
    return total


@compiled
def gower_block(a_numbers, b_numbers, a_codes, b_codes, ranges, block):
    """Mean difference over the attributes known in both objects; 1 where there are none."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            total = 0.0
            known = 0
            for k in range(ranges.shape[0]):
                difference = abs(a_numbers[i, k] - b_numbers[j, k])
                if not np.isnan(difference):
                    scaled = _scaled(difference, ranges[k])
                    total += scaled if scaled < 1.0 else 1.0
                    known += 1
            for k in range(a_codes.shape[1]):
                if a_codes[i, k] != -1 and b_codes[j, k] != -1:
                    total += a_codes[i, k] != b_codes[j, k]
                    known += 1
            block[i, j] = total / known if known > 0 else 1.0


@compiled
def heom_block(a_numbers, b_numbers, a_codes, b_codes, ranges, block):
    """Euclidean length of the differences; 1 for an attribute that is missing in either object."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            total = _squared_numbers(a_numbers, i, b_numbers, j, ranges)
            for k in range(a_codes.shape[1]):
                total += a_codes[i, k] != b_codes[j, k] or a_codes[i, k] == -1
            block[i, j] = np.sqrt(total)


@compiled
def hvdm_block(a_numbers, b_numbers, a_codes, b_codes, divisors, shares, starts, block):
    """Euclidean length of the differences; categories are compared by their shares of the classes.

    Row ``starts[k] + 2 + code`` of ``shares`` belongs to the code of attribute k.
    """
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            total = _squared_numbers(a_numbers, i, b_numbers, j, divisors)
            for k in range(a_codes.shape[1]):
                if a_codes[i, k] != b_codes[j, k]:
                    a_row, b_row = starts[k] + 2 + a_codes[i, k], starts[k] + 2 + b_codes[j, k]
                    for c in range(shares.shape[1]):
                        difference = shares[a_row, c] - shares[b_row, c]
                        total += difference * difference
            block[i, j] = np.sqrt(total)


@compiled
def overlap_block(a_numbers, b_numbers, a_codes, b_codes, block):
    """Share of the attributes that differ; missing equals missing."""
    n_attributes = a_numbers.shape[1] + a_codes.shape[1]
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            differing = 0
            for k in range(a_numbers.shape[1]):
                x, y = a_numbers[i, k], b_numbers[j, k]
                differing += x != y and not (np.isnan(x) and np.isnan(y))
            for k in range(a_codes.shape[1]):
                differing += a_codes[i, k] != b_codes[j, k]
            block[i, j] = differing / n_attributes
