"""Kernels of the search by swaps (see ``protoset.selectors.rmhc``).

The k + 1 nearest members of every object are known, so that k voters remain when a member is removed.
"""

import numpy as np

from protoset.kernels._compile import compiled
from protoset.kernels.voting import winner


@compiled
def swap_voters(own, distance, incoming, outgoing, neighbors, distances, priority, voters):
    """Fill ``voters`` with the k nearest members of object ``own`` after a swap, ended by -1 where there are fewer.

    ``neighbors`` and ``distances`` are its k + 1 nearest members before the swap, ``distance`` that to ``incoming``.
    Of equally near members the one with the lower ``priority`` comes first.
    """
    k = voters.shape[0]
    voters[:] = -1
    count, entered = 0, own == incoming
    for position in range(k + 1):
        other = neighbors[position]
        if other < 0 or count == k:
            break
        if other == outgoing:
            continue
        if not entered and (
            distance < distances[position] or (distance == distances[position] and priority[incoming] < priority[other])
        ):
            voters[count] = incoming
            count += 1
            entered = True
            if count == k:
                break
        voters[count] = other
        count += 1
    if count < k and not entered:
        voters[count] = incoming


@compiled
def swap_gain(column, incoming, outgoing, neighbors, distances, priority, codes, is_hit, voters):
    """Gain in objects that the members classify correctly if ``incoming`` replaces ``outgoing``.

    ``column`` has the distances of all objects to ``incoming``; ``voters`` is work space for k objects.
    """
    last = voters.shape[0] - 1
    gain = 0
    for own in range(column.shape[0]):
        is_affected = column[own] < distances[own, last] or (
            column[own] == distances[own, last] and priority[incoming] < priority[neighbors[own, last]]
        )
        for position in range(last + 1):
            is_affected = is_affected or neighbors[own, position] == outgoing
        if is_affected:
            swap_voters(own, column[own], incoming, outgoing, neighbors[own], distances[own], priority, voters)
            gain += np.int64(winner(voters, codes) == codes[own]) - np.int64(is_hit[own])
    return gain


@compiled
def first_gain(columns, slots, incoming, outgoing, neighbors, distances, priority, codes, is_hit):
    """Try swaps in turn until a swap gains hits; return its position and its gain.

    Swap t inserts ``incoming[t]``, whose distances are the row ``slots[t]`` of ``columns``. If no swap gains, the
    position is the number of swaps and the gain is 0.
    """
    voters = np.empty(neighbors.shape[1] - 1, np.int64)
    for swap in range(incoming.shape[0]):
        gain = swap_gain(
            columns[slots[swap]], incoming[swap], outgoing[swap], neighbors, distances, priority, codes, is_hit, voters
        )
        if gain > 0:
            return swap, gain
    return incoming.shape[0], 0
