"""Kernels of the exact neighbour search under the Levenshtein distance.

Strings are symbol numbers in compressed rows: string ``i`` is ``symbols[starts[i]:starts[i + 1]]``. Strings are
distinct; ``members[member_starts[i]:member_starts[i + 1]]`` are the objects equal to string ``i``. For each string:

    signatures ─▶ lower bounds to all ─▶ distances, smallest bounds first ─▶ sorted list
                                         until the bounds pass the last neighbour

A distance runs along the columns of the dynamic programme, 64 rows at a time as the bits of a word
(Myers 1999, in the form of Hyyrö 2003).
"""

import numpy as np

from protoset.kernels._compile import compiled, part, plain
from protoset.kernels.lists import sort_pairs

WORD = 64
"""Bits of a word."""

LARGEST_BOUND = 255
"""Largest lower bound that is told from larger ones; bounds are bytes."""

ONE = np.uint64(1)
"""Word of 1: the lowest bit."""

TOP = np.uint64(63)
"""Position of the highest bit."""

NONE = np.uint64(0)
"""Word without bits."""

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
"""Word of all bits."""


@part
def _count_bits(word):
    """Count the bits that are set, in pairs, fours and bytes; LLVM makes one instruction of it."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def lower_bounds(signature, length, signatures, lengths, bounds):
    """Write a lower bound on the distance to every string.

    An edit removes at most one symbol that the other string lacks, and adds at most one symbol that this string lacks.
    A signature holds some of the symbols, so that the bound misses some differences and invents none.
    """
    for other in range(signatures.shape[0]):
        lacking = _count_bits(signature & ~signatures[other])
        added = _count_bits(signatures[other] & ~signature)
        longer = length - lengths[other]
        bound = lacking if lacking > added else added
        bound = added + longer if added + longer > bound else bound
        bound = lacking - longer if lacking - longer > bound else bound
        bounds[other] = bound if bound < LARGEST_BOUND else LARGEST_BOUND


@compiled
def write_masks(pattern, slots, masks):
    """Write the positions of each symbol of the pattern, as bits of the row of the symbol in ``masks``.

    ``slots`` has the row of each symbol; row 0 is for symbols that are not in the pattern.
    """
    n_slots = 0
    for position in range(pattern.shape[0]):
        symbol = pattern[position]
        if slots[symbol] == 0:
            n_slots += 1
            slots[symbol] = n_slots
            for word in range(masks.shape[1]):
                masks[n_slots, word] = NONE
        masks[slots[symbol], position // WORD] |= ONE << np.uint64(position % WORD)


@compiled
def _distances_in_one_word(length, symbols, starts, others, slots, masks, distances):
    pattern = ALL >> np.uint64(WORD - length)
    for entry in range(others.shape[0]):
        start, end = starts[others[entry]], starts[others[entry] + 1]
        up, down = ALL, NONE
        for position in range(start, end):
            equal = masks[slots[symbols[position]], 0]
            diagonal = (((equal & up) + up) ^ up) | equal | down
            rise = ((down | ~(diagonal | up)) << ONE) | ONE
            up = ((diagonal & up) << ONE) | ~(diagonal | rise)
            down = rise & diagonal
        distances[entry] = end - start + _count_bits(up & pattern) - _count_bits(down & pattern)


@compiled
def _distance_in_words(length, symbols, start, end, slots, masks, up, down, cutoff):
    n_words = (length + WORD - 1) // WORD
    for word in range(n_words):
        up[word], down[word] = ALL, NONE
    last = np.uint64((length - 1) % WORD)
    distance = length
    for position in range(start, end):
        slot = slots[symbols[position]]
        rise_below, fall_below = ONE, NONE
        for word in range(n_words):
            equal = masks[slot, word] | fall_below
            diagonal = (((equal & up[word]) + up[word]) ^ up[word]) | equal | down[word]
            rise = down[word] | ~(diagonal | up[word])
            fall = diagonal & up[word]
            shifted = (rise << ONE) | rise_below
            up[word] = (fall << ONE) | fall_below | ~(diagonal | shifted)
            down[word] = shifted & diagonal
            top = last if word == n_words - 1 else TOP
            rise_below, fall_below = (rise >> top) & ONE, (fall >> top) & ONE
        distance += np.int64(rise_below) - np.int64(fall_below)
        if distance - (end - position - 1) > cutoff:
            return -1
    return distance


@compiled
def distances_to(length, symbols, starts, others, slots, masks, cutoff, distances, up, down):
    """Write the distances of other strings to the pattern in ``masks``; -1 where it was abandoned.

    For a pattern of more than 64 symbols, a distance is abandoned as soon as it must exceed ``cutoff``. ``up`` and
    ``down`` are work space, with a word for each word of a mask.
    """
    if length == 0:
        for entry in range(others.shape[0]):
            distances[entry] = starts[others[entry] + 1] - starts[others[entry]]
    elif length <= WORD:
        _distances_in_one_word(length, symbols, starts, others, slots, masks, distances)
    else:
        for entry in range(others.shape[0]):
            start, end = starts[others[entry]], starts[others[entry] + 1]
            distances[entry] = _distance_in_words(length, symbols, start, end, slots, masks, up, down, cutoff)


@compiled
def collect(bounds, lowest, highest, work, near, ends):
    """Write the strings with a bound from ``lowest`` to ``highest`` by (bound, index), and where each bound ends."""
    n_near = 0
    base, width = np.uint8(lowest), np.uint8((highest if highest < LARGEST_BOUND else LARGEST_BOUND) - lowest)
    for other in range(bounds.shape[0]):
        # Written first and counted after, without a branch that is hard to predict. Bounds below the base wrap around.
        work[n_near] = other
        n_near += np.int64(np.uint8(bounds[other] - base) <= width)
    for bound in range(ends.shape[0]):
        ends[bound] = 0
    for entry in range(n_near):
        ends[bounds[work[entry]] + 1] += 1
    for bound in range(LARGEST_BOUND):
        ends[bound + 1] += ends[bound]
    for entry in range(n_near):
        bound = bounds[work[entry]]
        near[ends[bound]] = work[entry]
        ends[bound] += 1


@part
def _sort_members(
    candidates, candidate_distances, n_candidates, threshold, members, member_starts, indices, distances,
    all_indices, all_distances, spare_indices, spare_distances,
):  # fmt: skip
    """Write the objects of the strings up to the threshold, by (distance, index); return their number.

    The last four arrays are work space for all objects.
    """
    count = 0
    for entry in range(n_candidates):
        if candidate_distances[entry] <= threshold:
            for position in range(member_starts[candidates[entry]], member_starts[candidates[entry] + 1]):
                all_indices[count], all_distances[count] = members[position], candidate_distances[entry]
                count += 1
    sort_pairs(all_distances[:count], all_indices[:count], spare_distances, spare_indices)
    kept = count if count < indices.shape[0] else indices.shape[0]
    for entry in range(kept):
        indices[entry], distances[entry] = all_indices[entry], all_distances[entry]
    return kept


@plain
def nearest_strings(
    first, last, symbols, starts, n_symbols, signatures, members, member_starts, n_neighbors, indices, distances
):
    """Find the nearest objects of the strings ``first`` to ``last - 1``.

    Row ``r`` of ``indices`` and ``distances`` takes the objects nearest to string ``first + r`` by (distance, index):
    its own members first, then the others up to the distance of the neighbour number ``n_neighbors`` of a member, as
    far as they fit. Returns the number of objects in each row, whether no tie was left out of it, and the numbers of
    distances that were abandoned, and computed to the end.
    """
    n_strings, n_objects, lengths = len(signatures), len(members), np.diff(starts)
    longest = int(lengths.max())
    n_words = max(1, (longest + WORD - 1) // WORD)
    kept, closed = np.empty(last - first, np.int64), np.empty(last - first, np.bool_)
    abandoned, visited = _nearest_strings(
        first, last, symbols, starts, signatures, members, member_starts, n_neighbors, indices, distances,
        lengths, np.diff(member_starts), longest, kept, closed,
        np.zeros(n_symbols, np.uint32),  # unsigned, so that Numba need not check for negative indices
        np.zeros((longest + 1, n_words), np.uint64), *np.empty((2, n_words), np.uint64),
        np.empty(n_strings, np.uint8), np.empty(LARGEST_BOUND + 2, np.int64),
        np.empty(n_strings + 1, np.int32), np.empty(n_strings, np.int32),
        np.empty(longest + 1, np.int64), *np.empty((3, n_strings), np.int64), *np.empty((4, n_objects), np.int64),
    )  # fmt: skip
    return kept, closed, abandoned, visited - abandoned - (last - first)  # each string visits itself


@compiled
def _nearest_strings(
    first, last, symbols, starts, signatures, members, member_starts, n_neighbors, indices, distances,
    lengths, weights, longest, kept, closed,
    slots, masks, up, down, bounds, ends, work, near,
    counts, near_distances, candidates, candidate_distances,
    all_indices, all_distances, spare_indices, spare_distances,
):  # fmt: skip
    abandoned = visited = threshold = 0
    for row in range(first, last):
        pattern = symbols[starts[row] : starts[row + 1]]
        write_masks(pattern, slots, masks)
        lower_bounds(signatures[row], lengths[row], signatures, lengths, bounds)
        for distance in range(counts.shape[0]):
            counts[distance] = 0
        n_candidates = within = 0
        # The threshold of the string before is a good guess.
        bound, collected = 0, -1
        guess, threshold = threshold, longest
        while bound <= threshold and bound <= LARGEST_BOUND:
            if bound > collected:
                collected = guess if collected < 0 else threshold
                collect(bounds, bound, collected, work, near, ends)
                n_near = 0
            others = near[n_near : ends[bound]]
            n_near = ends[bound]
            distances_to(lengths[row], symbols, starts, others, slots, masks, threshold, near_distances, up, down)
            for entry in range(others.shape[0]):
                distance = near_distances[entry]
                abandoned += distance < 0
                if 0 <= distance <= threshold:
                    candidates[n_candidates], candidate_distances[n_candidates] = others[entry], distance
                    n_candidates += 1
                    counts[distance] += weights[others[entry]]
                    within += weights[others[entry]]
                    # One more than the neighbours: the object itself is among the members of its string.
                    while within - counts[threshold] > n_neighbors:
                        within -= counts[threshold]
                        threshold -= 1
            visited += others.shape[0]
            bound += 1
        kept[row - first] = _sort_members(
            candidates, candidate_distances, n_candidates, threshold, members, member_starts,
            indices[row - first], distances[row - first], all_indices, all_distances, spare_indices, spare_distances,
        )  # fmt: skip
        closed[row - first] = kept[row - first] == within
        for position in range(pattern.shape[0]):
            slots[pattern[position]] = 0
    return abandoned, visited


@compiled
def spread(string_of, list_starts, list_indices, list_distances, starts, indices, distances):
    """Give each object the list of its string without itself, or without the last entry if it is not listed."""
    for row in range(string_of.shape[0]):
        target, end = starts[row], starts[row + 1]
        for entry in range(list_starts[string_of[row]], list_starts[string_of[row] + 1]):
            if list_indices[entry] != row and target < end:
                indices[target], distances[target] = list_indices[entry], list_distances[entry]
                target += 1
