"""The exact neighbour search of the Levenshtein distance.

    strings ─▶ each string once ─▶ symbols as numbers, signatures ─▶ lists of the strings ─▶ lists of the objects

A bit of a signature says that the string has a certain symbol at least a certain number of times. The number of bits
that one string has and the other lacks is a lower bound on their distance. It takes a nanosecond and discards nearly
all pairs. The distances are in ``kernels/strings.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from joblib import delayed

from protoset import _blocks, kernels
from protoset._arrays import row_numbers, row_pointers
from protoset._progress import ProgressCallback
from protoset.spaces._lists import RawLists, SearchCounters

SIGNATURE_BITS = 64
"""Bits of a signature: one word."""

STRINGS_AT_ONCE = 512
"""Number of strings that a worker searches at once: each time it allocates a few megabytes of arrays."""

KERNEL_ENTRY_BYTES = 8
"""Memory of a neighbour and its distance, as the kernel writes them."""


def search_levenshtein(
    texts: Sequence[Any],
    n_neighbors: int,
    *,
    limit: int,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> RawLists:
    """Find neighbours, as ``Space.kneighbors``; texts are all str, all bytes, or all tuples of int.

    The counters count ordered pairs of distinct strings: equal objects are searched once.
    """
    n_neighbors = min(n_neighbors, len(texts) - 1)
    limit = min(max(limit, n_neighbors), len(texts) - 1)
    # Sorted by length, so that consecutive distances take equally many steps, then by content.
    distinct: list[Any] = sorted(set(texts), key=lambda text: (len(text), text))
    position = {text: number for number, text in enumerate(distinct)}
    string_of = np.array([position[text] for text in texts])
    starts = row_pointers(np.array([len(text) for text in distinct]))
    symbols, n_symbols = number_symbols(distinct)
    signatures = make_signatures(symbols, starts)
    members, member_starts = np.argsort(string_of, kind="stable"), row_pointers(np.bincount(string_of))

    def search(first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int, int]:
        shape = (last - first, limit + 1)
        indices, distances = np.empty(shape, np.int32), np.empty(shape, np.int32)
        counts, closed, abandoned, computed = kernels.strings.nearest_strings(
            first, last, symbols, starts, n_symbols, signatures, members, member_starts, n_neighbors, indices, distances
        )
        listed = np.arange(limit + 1) < counts[:, None]
        return counts, closed, indices[listed], distances[listed], abandoned, computed

    step = max(1, min(STRINGS_AT_ONCE, _blocks.BLOCK_BYTES // (KERNEL_ENTRY_BYTES * (limit + 1))))
    edges = [*range(0, len(distinct), step), len(distinct)]
    workers = _blocks.in_threads(n_jobs, return_as="generator")
    blocks = []
    for block, last in zip(workers(delayed(search)(*ends) for ends in pairwise(edges)), edges[1:], strict=True):
        blocks.append(block)
        if progress is not None:
            progress(last, len(distinct))
    counts, closed, indices, distances, abandoned, computed = zip(*blocks, strict=True)
    n_pairs = len(distinct) * (len(distinct) - 1)
    counters = SearchCounters(n_pairs, n_pairs - sum(abandoned) - sum(computed), sum(abandoned), sum(computed))
    joined = [np.concatenate(arrays) for arrays in (counts, indices, distances, closed)]
    return _spread(RawLists(joined[0], joined[1], joined[2], joined[3], counters), string_of)


def _spread(lists: RawLists, string_of: np.ndarray) -> RawLists:
    """Lists of the objects from the lists of their strings, where every object is its own neighbour."""
    counts = lists.counts[string_of] - 1
    starts = row_pointers(counts)
    indices, distances = np.empty(starts[-1], np.int32), np.empty(starts[-1])
    list_starts = row_pointers(lists.counts)
    kernels.strings.spread(string_of, list_starts, lists.indices, lists.distances, starts, indices, distances)
    return RawLists(counts, indices, distances, lists.closed[string_of], lists.counters)


def number_symbols(texts: list[Any]) -> tuple[np.ndarray, int]:
    """Number the symbols of all texts, one text after the other; return also the number of distinct symbols."""
    if isinstance(texts[0], str):
        flat = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    elif isinstance(texts[0], bytes):
        flat = np.frombuffer(b"".join(texts), np.uint8)
    else:
        flat = np.fromiter(chain.from_iterable(texts), np.int64)
    values, symbols = np.unique(flat, return_inverse=True)
    return symbols.astype(np.uint32), len(values)


def make_signatures(symbols: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Words whose bits say that the string has a certain symbol at least a certain number of times.

    The bits are for those symbols and numbers of times that split the strings most evenly.
    """
    n_strings, row = len(starts) - 1, row_numbers(starts)
    signatures = np.zeros(n_strings, np.uint64)
    if len(symbols) == 0:
        return signatures
    ordered = symbols[np.lexsort((symbols, row))].astype(np.int64)
    entry = np.arange(len(ordered))
    is_first = np.r_[True, (np.diff(ordered) != 0) | (np.diff(row) != 0)]
    times = entry - np.maximum.accumulate(np.where(is_first, entry, 0))
    _, kind, holders = np.unique(ordered * (times.max() + 1) + times, return_inverse=True, return_counts=True)
    chosen = np.argsort(-holders * (n_strings - holders), kind="stable")[:SIGNATURE_BITS]
    bit = np.full(len(holders), -1)
    bit[chosen] = np.arange(len(chosen))
    has_bit = bit[kind] >= 0
    np.bitwise_or.at(signatures, row[has_bit], np.uint64(1) << bit[kind][has_bit].astype(np.uint64))
    return signatures
