"""Kernels that hash the content of objects, so that identical ones are found without comparing all pairs.

Numbers are hashed by their bits. 0 and -0 have one hash, and so have all NaN.
"""

import numpy as np

from protoset.kernels._compile import compiled, part

EXPONENT = np.uint64(0x7FF0000000000000)
"""Bits of the exponent of a double; all are set in infinity and NaN."""

MAGNITUDE = np.uint64(0x7FFFFFFFFFFFFFFF)
"""All bits of a double but its sign."""


@part
def _mixed(value):
    """Return 64 bits that all depend on all bits of ``value``: the finaliser of SplitMix64."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@part
def _plain(bits):
    """Bits of a double; those of 0 for -0, and the same for every NaN."""
    magnitude = bits & MAGNITUDE
    if magnitude > EXPONENT:
        return MAGNITUDE
    return np.uint64(0) if magnitude == 0 else bits


@compiled
def hash_rows(indptr, bits):
    """Hash of the numbers ``indptr[i]`` to ``indptr[i + 1]`` of each row, in their order."""
    hashes = np.empty(indptr.shape[0] - 1, np.uint64)
    for row in range(hashes.shape[0]):
        value = np.uint64(indptr[row + 1] - indptr[row])
        for entry in range(indptr[row], indptr[row + 1]):
            value = _mixed(value * np.uint64(0x9E3779B97F4A7C15) + _plain(bits[entry]))
        hashes[row] = value
    return hashes


@compiled
def add_hashes(bits, start, of_rows, of_columns, has_zero):
    """Add to the hashes of objects the distances of a block of rows, in any order and without the diagonal.

    Row r of the block is object ``start + r``. ``of_rows`` takes the distances from an object, ``of_columns`` those to
    it. ``has_zero`` notes which objects have a distance of 0 to another.
    """
    for r in range(bits.shape[0]):
        row = start + r
        for column in range(bits.shape[1]):
            if column != row:
                plain = _plain(bits[r, column])
                value = _mixed(plain + np.uint64(0x9E3779B97F4A7C15))
                of_rows[row] += value
                of_columns[column] += value
                has_zero[row] |= plain == 0
