"""Hashes of the content of objects, so that identical objects are found without comparing all pairs.

Numbers are hashed by their bits. 0 and -0 have one hash, and so have all NaN.
"""

from __future__ import annotations

import numpy as np

EXPONENT = np.uint64(0x7FF0000000000000)
"""Bits of the exponent of a double; all are set in infinity and NaN."""

MAGNITUDE = np.uint64(0x7FFFFFFFFFFFFFFF)
"""All bits of a double but its sign."""

GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)
"""Step of SplitMix64: 2^64 divided by the golden ratio."""


def hash_rows(indptr: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Hash of the numbers ``indptr[i]`` to ``indptr[i + 1]`` of each row, in their order."""
    lengths, bits = np.diff(indptr), np.ascontiguousarray(values, np.float64).view(np.uint64)
    hashes = lengths.astype(np.uint64)
    for position in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > position) if lengths.min() <= position else slice(None)
        hashes[rows] = _mixed(hashes[rows] * GOLDEN_RATIO + _plain(bits[indptr[:-1][rows] + position]))
    return hashes


def add_hashes(
    block: np.ndarray, start: int, of_rows: np.ndarray, of_columns: np.ndarray, has_zero: np.ndarray
) -> None:
    """Add to the hashes of objects the distances of a block of rows, in any order and without the diagonal.

    Row r of the block is object ``start + r``. ``of_rows`` takes the distances from an object, ``of_columns`` those to
    it. ``has_zero`` notes which objects have a distance of 0 to another.
    """
    plain = _plain(np.ascontiguousarray(block, np.float64).view(np.uint64))
    values, is_zero = _mixed(plain + GOLDEN_RATIO), plain == 0
    rows = np.arange(len(block))
    values[rows, start + rows], is_zero[rows, start + rows] = 0, False
    of_rows[start : start + len(block)] += values.sum(axis=1, dtype=np.uint64)
    of_columns += values.sum(axis=0, dtype=np.uint64)
    has_zero[start : start + len(block)] |= is_zero.any(axis=1)


def _mixed(values: np.ndarray) -> np.ndarray:
    """64 bits that all depend on all bits of a value, for each value: the finaliser of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _plain(bits: np.ndarray) -> np.ndarray:
    """Bits of doubles; those of 0 for -0, and the same for every NaN."""
    magnitude = bits & MAGNITUDE
    return np.where(magnitude > EXPONENT, MAGNITUDE, np.where(magnitude == 0, np.uint64(0), bits))
