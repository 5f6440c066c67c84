"""Kernels of the exact neighbour search under the Levenshtein distance.

Strings are numbers of symbols in compressed rows: string ``i`` is ``symbols[starts[i]:starts[i + 1]]``.
No string is there twice; ``members[member_starts[i]:member_starts[i + 1]]`` are the objects that are
string ``i``. For one string after the other:

    signatures ─▶ lower bounds to all ─▶ distances, smallest bounds first ─▶ sorted list
                                         until the bounds pass the last neighbour

A distance runs along the columns of the dynamic programme, 64 rows at a time as the bits of a word
(Myers 1999, in the form of Hyyrö 2003).
"""

import numpy as np
from numba import njit

WORD = 64
LARGEST_BOUND = 255
ONE, TOP = np.uint64(1), np.uint64(63)
NONE, ALL = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
PAIRS, FOURS, EIGHTS, BYTES = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
    np.uint64(0x0101010101010101),
)
TWO, FOUR, LAST_BYTE = np.uint64(2), np.uint64(4), np.uint64(56)


@njit(cache=True, nogil=True)
def _count_bits(word):
    """Count the bits that are set; LLVM makes one instruction of it."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> TWO) & FOURS)
    word = (word + (word >> FOUR)) & EIGHTS
    return np.int64((word * BYTES) >> LAST_BYTE)


@njit(cache=True, nogil=True)
def lower_bounds(signature, length, signatures, lengths, bounds):
    """Write a lower bound on the distance to every string.

    An edit takes away at most one symbol that the other string lacks, and adds at most one that this
    one lacks. A signature holds some of the symbols, so that it misses some differences and invents none.
    """
    for other in range(signatures.shape[0]):
        lacking = _count_bits(signature & ~signatures[other])
        added = _count_bits(signatures[other] & ~signature)
        longer = length - lengths[other]
        bound = max(max(lacking, added + longer), max(added, lacking - longer))
        bounds[other] = min(bound, LARGEST_BOUND)


@njit(cache=True, nogil=True)
def write_masks(pattern, slots, masks):
    """Write where each symbol of the pattern stands in it: bit ``p`` of the symbol's row of ``masks``.

    ``slots`` gives the row of a symbol; row 0 is for all that are not in the pattern.
    """
    n_slots = 0
    for position in range(pattern.shape[0]):
        symbol = pattern[position]
        if slots[symbol] == 0:
            n_slots += 1
            slots[symbol] = n_slots
            masks[n_slots, :] = NONE
        masks[slots[symbol], position // WORD] |= ONE << np.uint64(position % WORD)


@njit(cache=True, nogil=True)
def _distances_in_one_word(length, symbols, starts, others, slots, masks, distances):
    pattern = ALL >> np.uint64(WORD - length)
    for entry in range(others.shape[0]):
        start, end = starts[others[entry]], starts[others[entry] + 1]
        up, down = ALL, NONE
        for place in range(start, end):
            equal = masks[slots[symbols[place]], 0]
            diagonal = (((equal & up) + up) ^ up) | equal | down
            rise = ((down | ~(diagonal | up)) << ONE) | ONE
            up = ((diagonal & up) << ONE) | ~(diagonal | rise)
            down = rise & diagonal
        distances[entry] = end - start + _count_bits(up & pattern) - _count_bits(down & pattern)


@njit(cache=True, nogil=True)
def _distance_in_words(length, symbols, start, end, slots, masks, up, down, cutoff):
    up[:], down[:] = ALL, NONE
    n_words = (length + WORD - 1) // WORD
    last = np.uint64((length - 1) % WORD)
    distance = length
    for place in range(start, end):
        slot = slots[symbols[place]]
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
        if distance - (end - place - 1) > cutoff:
            return -1
    return distance


@njit(cache=True, nogil=True)
def distances_to(length, symbols, starts, others, slots, masks, cutoff, distances):
    """Write the distances of other strings to the pattern in ``masks``; -1 where one was broken off.

    Only that of a pattern of more than 64 symbols is, once it must exceed ``cutoff``.
    """
    if length == 0:
        for entry in range(others.shape[0]):
            distances[entry] = starts[others[entry] + 1] - starts[others[entry]]
    elif length <= WORD:
        _distances_in_one_word(length, symbols, starts, others, slots, masks, distances)
    else:
        up, down = np.empty(masks.shape[1], np.uint64), np.empty(masks.shape[1], np.uint64)
        for entry in range(others.shape[0]):
            start, end = starts[others[entry]], starts[others[entry] + 1]
            distances[entry] = _distance_in_words(length, symbols, start, end, slots, masks, up, down, cutoff)


@njit(cache=True, nogil=True)
def collect(bounds, lowest, highest, work, near, ends):
    """Write the strings with a bound from ``lowest`` to ``highest`` by (bound, index), and where each bound ends."""
    n_near = 0
    base, width = np.uint8(lowest), np.uint8(min(highest, LARGEST_BOUND) - lowest)
    for other in range(bounds.shape[0]):
        # Written first and counted after, with one comparison: no branch to guess wrong. Below the base wraps around.
        work[n_near] = other
        n_near += np.int64(np.uint8(bounds[other] - base) <= width)
    ends[:] = 0
    for entry in range(n_near):
        ends[bounds[work[entry]] + 1] += 1
    for bound in range(LARGEST_BOUND):
        ends[bound + 1] += ends[bound]
    for entry in range(n_near):
        bound = bounds[work[entry]]
        near[ends[bound]] = work[entry]
        ends[bound] += 1


@njit(cache=True, nogil=True)
def _sort_members(found, found_distances, n_found, threshold, within, members, member_starts, indices, distances):
    """Write the objects of the strings found up to the threshold, by (distance, index); return how many."""
    n_objects = members.shape[0]
    keys = np.empty(within, np.int64)
    n_keys = 0
    for entry in range(n_found):
        if found_distances[entry] <= threshold:
            for place in range(member_starts[found[entry]], member_starts[found[entry] + 1]):
                keys[n_keys] = found_distances[entry] * n_objects + members[place]
                n_keys += 1
    keys.sort()
    kept = min(n_keys, indices.shape[0])
    for entry in range(kept):
        indices[entry], distances[entry] = keys[entry] % n_objects, keys[entry] // n_objects
    return kept


@njit(cache=True, nogil=True)
def nearest_strings(
    first, last, symbols, starts, n_symbols, signatures, members, member_starts, n_neighbors, indices, distances
):  # fmt: skip
    """Find the nearest objects of the strings ``first`` to ``last - 1``.

    Row ``r`` of ``indices`` and ``distances`` takes the objects nearest to string ``first + r`` by
    (distance, index): its own members first, then the others up to the distance of the neighbour
    number ``n_neighbors`` of a member, as far as they fit.

    Returns
    -------
    kept, closed : ndarray
        How many each row holds, and whether those are all.
    abandoned, computed : int
        Distances that were broken off, and computed to the end.
    """
    n_strings = signatures.shape[0]
    lengths, weights = np.diff(starts), np.diff(member_starts)
    longest = lengths.max()
    slots = np.zeros(n_symbols, np.uint32)  # unsigned: an index that Numba need not check for below 0
    masks = np.zeros((longest + 1, max(1, (longest + WORD - 1) // WORD)), np.uint64)
    bounds, ends = np.empty(n_strings, np.uint8), np.empty(LARGEST_BOUND + 2, np.int64)
    work, near = np.empty(n_strings + 1, np.int32), np.empty(n_strings, np.int32)
    near_distances = np.empty(n_strings, np.int64)
    counts = np.empty(longest + 1, np.int64)
    found, found_distances = np.empty(n_strings, np.int64), np.empty(n_strings, np.int64)
    kept, closed = np.empty(last - first, np.int64), np.empty(last - first, np.bool_)
    abandoned = visited = threshold = 0
    for row in range(first, last):
        pattern = symbols[starts[row] : starts[row + 1]]
        write_masks(pattern, slots, masks)
        lower_bounds(signatures[row], lengths[row], signatures, lengths, bounds)
        counts[:] = 0
        n_found = within = 0
        # What the string before needed is a good guess of how far to look.
        bound, collected = 0, -1
        guess, threshold = threshold, longest
        while bound <= min(threshold, LARGEST_BOUND):
            if bound > collected:
                collected = guess if collected < 0 else threshold
                collect(bounds, bound, collected, work, near, ends)
                n_near = 0
            others = near[n_near : ends[bound]]
            n_near = ends[bound]
            distances_to(lengths[row], symbols, starts, others, slots, masks, threshold, near_distances)
            for entry in range(others.shape[0]):
                distance = near_distances[entry]
                abandoned += distance < 0
                if 0 <= distance <= threshold:
                    found[n_found], found_distances[n_found] = others[entry], distance
                    n_found += 1
                    counts[distance] += weights[others[entry]]
                    within += weights[others[entry]]
                    # One more than the neighbours: the string's own member is among them.
                    while within - counts[threshold] > n_neighbors:
                        within -= counts[threshold]
                        threshold -= 1
            visited += others.shape[0]
            bound += 1
        kept[row - first] = _sort_members(
            found, found_distances, n_found, threshold, within, members, member_starts,
            indices[row - first], distances[row - first],
        )  # fmt: skip
        closed[row - first] = kept[row - first] == within
        slots[pattern] = 0
    return kept, closed, abandoned, visited - abandoned - (last - first)  # each string visits itself


@njit(cache=True, nogil=True)
def spread(string_of, list_starts, list_indices, list_distances, starts, indices, distances):
    """Give each object the list of its string without itself; without the last where it is not in it."""
    for row in range(string_of.shape[0]):
        place, end = starts[row], starts[row + 1]
        for entry in range(list_starts[string_of[row]], list_starts[string_of[row] + 1]):
            if list_indices[entry] != row and place < end:
                indices[place], distances[place] = list_indices[entry], list_distances[entry]
                place += 1
