"""Numbers for objects by their content: equal numbers mean identical objects.

The numbers follow the order of the contents, value by value, not the order of the rows. Scaling all values of a column
by the same factor does not change this order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from protoset._arrays import row_numbers, row_pointers
from protoset._blocks import row_slices
from protoset.spaces import _hashes


def number_vectors(X: np.ndarray) -> np.ndarray:
    """Numbers for the rows of an array."""
    hashes = np.empty(len(X), np.uint64)
    for rows in row_slices(len(X), X.shape[1] * 8):
        block = np.ascontiguousarray(X[rows], np.float64)
        hashes[rows] = _hashes.hash_rows(np.arange(len(block) + 1) * X.shape[1], block.reshape(-1))

    def equal(some: np.ndarray, others: np.ndarray) -> bool:
        # NaN is equal to NaN here.
        pairs = row_slices(len(some), X.shape[1] * 32)
        return all(np.array_equal(X[some[part]], X[others[part]], equal_nan=X.dtype.kind == "f") for part in pairs)

    return _number(hashes, equal, lambda rows: (X[rows, column] for column in range(X.shape[1])))


def number_ragged(lengths: np.ndarray, *columns: np.ndarray) -> np.ndarray:
    """Numbers for rows of several lengths, each with the next ``lengths[i]`` entries of all ``columns``."""
    indptr, width = row_pointers(lengths), len(columns)
    entries = np.column_stack([np.asarray(column, np.float64) for column in columns])
    hashes = _hashes.hash_rows(indptr * width, entries.reshape(-1))

    def equal(some: np.ndarray, others: np.ndarray) -> bool:
        if not np.array_equal(lengths[some], lengths[others]):
            return False
        same = row_pointers(lengths[some])
        row, offset = row_numbers(same), np.arange(same[-1])
        left, right = (entries[indptr[side[row]] + offset - same[row]] for side in (some, others))
        return np.array_equal(left, right)

    def by_position(rows: np.ndarray) -> Iterator[np.ndarray]:
        yield lengths[rows]
        for position in range(int(lengths.max(initial=0))):
            # Rows that have ended are already ordered: the lengths come first.
            entry = np.minimum(indptr[rows] + position, len(entries) - 1)
            yield from entries[entry].T

    return _number(hashes, equal, by_position)


def number_texts(texts: list[Any]) -> np.ndarray:
    """Numbers for objects that Python can sort and hash."""
    numbers = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.array([numbers[text] for text in texts], np.int64)


def rank_values(values: Iterable[Any]) -> np.ndarray:
    """Ranks of different values of any types: numbers first, then by type and text."""

    def key(value: Any) -> tuple[str, float, str]:
        if isinstance(value, (bool, int, float, np.bool_, np.number)):
            # Not as float: an int may be too large.
            return "", value.item() if isinstance(value, np.generic) else value, ""
        return type(value).__name__, 0.0, value if isinstance(value, str) else repr(value)

    keys = [key(value) for value in values]
    ranks = np.empty(len(keys), np.int64)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return ranks


def number_distances(block: Callable[[Any, Any], np.ndarray], n_objects: int) -> np.ndarray:
    """Numbers for objects of which only the distances are known; ``block`` gives distances of rows to columns.

    Two objects are identical if their distances to and from all others are equal, and those between them 0. The order
    is that of a hash of the distances; the hash does not depend on the order of the distances.
    """
    of_rows, of_columns = np.zeros(n_objects, np.uint64), np.zeros(n_objects, np.uint64)
    has_zero = np.zeros(n_objects, bool)
    for rows in row_slices(n_objects, n_objects * 8):
        _hashes.add_hashes(block(rows, slice(None)), rows.start, of_rows, of_columns, has_zero)
    hashes = of_rows * np.uint64(3) + of_columns
    leaders = np.arange(n_objects)
    by_hash: dict[int, list[int]] = {}
    for own in np.flatnonzero(has_zero):
        same_hash = by_hash.setdefault(int(hashes[own]), [])
        if same_hash:
            known = np.array(same_hash)
            pair = np.array([own])
            near = known[(block(pair, known)[0] == 0) & (block(known, pair)[:, 0] == 0)]
            leaders[own] = next((other for other in near if _are_identical(block, int(own), int(other))), own)
        if leaders[own] == own:
            same_hash.append(int(own))
    order = np.lexsort((leaders, hashes))
    first = np.append(True, np.diff(leaders[order]) != 0)
    numbers = np.empty(n_objects, np.int64)
    numbers[order] = np.cumsum(first) - 1
    return numbers


def _are_identical(block: Callable[[Any, Any], np.ndarray], own: int, other: int) -> bool:
    pair = np.array([own, other])
    sides = block(pair, slice(None)), block(slice(None), pair).T
    return all(np.array_equal(*np.delete(side, pair, axis=1)) for side in sides)


def _number(
    hashes: np.ndarray,
    equal: Callable[[np.ndarray, np.ndarray], bool],
    columns_of: Callable[[np.ndarray], Iterable[np.ndarray]],
) -> np.ndarray:
    """Numbers for objects; equal objects have equal hashes, and ``columns_of`` gives the values of some objects."""
    rows = np.arange(len(hashes))
    in_order = np.sort(hashes)
    if (in_order[1:] != in_order[:-1]).all():
        return _competition_ranks(len(rows), columns_of(rows))
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    repeated = np.flatnonzero(first[group] != rows)
    if equal(first[group[repeated]], repeated):
        return _competition_ranks(len(first), columns_of(first))[group]
    # Different objects have the same hash.
    return np.unique(_competition_ranks(len(rows), columns_of(rows)), return_inverse=True)[1]


def _competition_ranks(n_objects: int, columns: Iterable[np.ndarray]) -> np.ndarray:
    """Ranks of objects by the first column, ties by the next ones; equal objects have the same rank."""
    ranks, tied = np.zeros(n_objects, np.int64), np.arange(n_objects)
    for column in columns:
        if len(tied) == 0:
            break
        values = column[tied]
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), np.inf, values)
        order = np.lexsort((values, ranks[tied])) if ranks.any() else np.argsort(values)
        tied, values = tied[order], values[order]
        before = ranks[tied]
        starts = np.append(True, (np.diff(before) != 0) | (values[1:] != values[:-1]))
        group_start = np.maximum.accumulate(np.where(np.append(True, np.diff(before) != 0), np.arange(len(tied)), 0))
        own_start = np.maximum.accumulate(np.where(starts, np.arange(len(tied)), 0))
        ranks[tied] = before + own_start - group_start
        alone = starts & np.append(starts[1:], True)
        tied = tied[~alone]
    return ranks
