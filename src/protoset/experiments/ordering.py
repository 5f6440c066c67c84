"""An order of the objects that depends on their content alone, not on the order of their rows.

    objects, labels --> a hash of 64 bits per object --> rows in the order of the hashes

Objects are assigned to folds in this order, so that shuffling the rows of a file changes no fold. Objects with the same
content and label have the same hash: they are interchangeable, so their order does not matter. An object of a matrix is
known by its distances alone; its hash is that of its distances to the other objects, each with the hash of the other
object.

``protoset.spaces._contents`` answers another question: which objects are identical under a metric. Its numbers follow
the order of the values. Folds need an order that looks random, for a data set that has no metric yet.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from protoset._blocks import row_slices
from protoset._validation import is_number
from protoset.datasets import Dataset

MATRIX_ROUNDS = 3
"""Largest number of rounds that refine the hashes of a matrix."""

START = np.uint64(0x9E3779B97F4A7C15)
"""First value of a hash, and of the hash of missing values."""

# The finaliser of MurmurHash3, a bijection whose every output bit depends on every input bit.
FIRST_FACTOR = np.uint64(0xFF51AFD7ED558CCD)
"""First factor of MurmurHash3's finaliser."""

SECOND_FACTOR = np.uint64(0xC4CEB9FE1A85EC53)
"""Second factor of MurmurHash3's finaliser."""

SHIFT = np.uint64(33)
"""Shift of MurmurHash3's finaliser."""


def content_order(dataset: Dataset) -> np.ndarray:
    """Rows of a data set in an order that depends on objects and labels alone."""
    _, codes = np.unique(dataset.labels, return_inverse=True)
    hashes = _mixed(np.full(dataset.n_objects, START), codes.reshape(-1).astype(np.uint64))
    objects = dataset.objects
    if dataset.kind == "matrix" and isinstance(objects, np.ndarray) and objects.shape == (len(hashes),) * 2:
        hashes = _refine_by_distances(objects, hashes)
    elif isinstance(objects, np.ndarray) and objects.ndim == 2:
        for column in objects.T:
            hashes = _mixed(hashes, _hash_column(column))
    else:
        contents = [_hash_object(item) for item in objects]
        hashes = _mixed(hashes, np.array(contents, np.uint64)) if len(contents) == len(hashes) else hashes
    return np.argsort(hashes, kind="stable")


def _mixed(hashes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Hashes of pairs of a hash and a value; the order of the pair matters."""
    mixed = hashes * FIRST_FACTOR + values
    for factor in (FIRST_FACTOR, SECOND_FACTOR):
        mixed ^= mixed >> SHIFT
        mixed *= factor
    mixed ^= mixed >> SHIFT
    return mixed


def _hash_column(column: np.ndarray) -> np.ndarray:
    """Hash of each value: the bits of a number, the hash of a text."""
    if column.dtype.kind in "fiub":
        return _bits(column)
    values = column.tolist()
    is_text = [not (value is None or is_number(value)) for value in values]
    hashes = _bits([np.nan if text or value is None else value for value, text in zip(values, is_text, strict=True)])
    texts = [str(value) for value, text in zip(values, is_text, strict=True) if text]
    hash_of = {text: _hash_text(text.encode(errors="surrogatepass")) for text in set(texts)}
    hashes[is_text] = [hash_of[text] for text in texts]
    return hashes


def _bits(numbers: Any) -> np.ndarray:
    """Bits of numbers as float64; 0 and -0 are equal, and so are all missing values."""
    values = np.asarray(numbers, np.float64) + 0.0
    return np.where(np.isnan(values), START, values.view(np.uint64))


def _hash_object(item: Any) -> int:
    """Hash of a string, of a series, or of another sequence."""
    if isinstance(item, str):
        return _hash_text(item.encode(errors="surrogatepass"))
    if isinstance(item, np.ndarray) and item.dtype.kind in "fiub":
        return _hash_text(repr(item.shape).encode() + _bits(item).tobytes())
    return _hash_text(repr(item).encode(errors="surrogatepass"))


def _hash_text(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def _refine_by_distances(matrix: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """Add to the hash of each object its distances, each with the hash of the other object; repeat while that helps."""
    n_distinct = 0
    for _ in range(MATRIX_ROUNDS):
        sums = np.zeros_like(hashes)
        for rows in row_slices(len(hashes), len(hashes) * 8):
            distances = _bits(matrix[rows])
            # The diagonal is never used.
            distances[np.arange(len(distances)), np.arange(rows.start, rows.stop)] = 0
            # A sum does not depend on the order of the objects.
            sums[rows] += _mixed(hashes[None, :], distances).sum(axis=1, dtype=np.uint64)
            sums += _mixed(~hashes[rows, None], distances).sum(axis=0, dtype=np.uint64)
        hashes = _mixed(hashes, sums)
        before, n_distinct = n_distinct, len(np.unique(hashes))
        if n_distinct in (before, len(hashes)):
            break
    return hashes
