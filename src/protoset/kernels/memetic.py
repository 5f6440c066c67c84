"""Kernels of the memetic search (see ``protoset.selectors.ssma``).

A set of members is a mask. ``lists`` has each object's nearest others, nearest first, and ``extended`` all
others of those objects that have a ``slot`` in it. A list may be too short to hold enough members; such
rows are handed back. ``near`` has each object's k + 1 nearest members, the ``neighbors`` of
``protoset.kernels.associates``, where the chains ``head`` and ``following`` are explained. ``place`` says where
in the list to look on; rows that were filled in from distances stand at the end of their list.

``start_places`` and ``first_members`` say where in each list the first member is, and who that is (-1: not
known).

Random numbers come from a state of one unsigned integer that is passed in and moved on.

``tally`` counts in a local search, at the places that the constants below name:

    SIZE     members
    NEXT     place of the next visit; those before it were tried in vain
    HITS     objects that the members classify correctly
    LOSERS   objects that lost a voter, summed over all attempts
    SHORT    rows that must be filled in before the search goes on
    WORK     work left before the search gives control back
"""

import numpy as np
from numba import njit

from protoset.kernels.associates import link_one, move_up, vote_without
from protoset.kernels.voting import winner

SIZE, NEXT, HITS, LOSERS, SHORT, WORK = range(6)


@njit(cache=True, nogil=True)
def uniform(state):
    """A number in [0, 1): splitmix64, whose state is a count."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = bits ^ (bits >> np.uint64(31))
    return np.float64(bits >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def breed(first, second, crossover, mutation, state, child):
    """Fill a child's mask with the bits of the first parent or, with probability ``crossover``, the second.

    Then each bit flips with probability ``mutation``. A child without members gets a random one.
    """
    n = child.shape[0]
    n_members = 0
    for own in range(n):
        bit = second[own] if uniform(state) < crossover else first[own]
        child[own] = bit != (uniform(state) < mutation)
        n_members += child[own]
    if n_members == 0:
        child[np.int64(uniform(state) * n)] = True


@njit(cache=True, nogil=True)
def inherit_starts(
    parent_places, parent_members, first, second, child, most, indptr, rows, places, start_places, first_members
):
    """Where to begin to look for a child's members in each list, and whom its parents have there.

    ``parent_places`` and ``parent_members`` are the two parents' first members in each list, by place and by
    index, ``first`` and ``second`` their masks. No member of the child comes before theirs but one that neither
    has; such are looked up in ``listed_by`` of the first ``most`` entries, so that no list is begun later than
    that.
    """
    n = child.shape[0]
    for own in range(n):
        parent = 0 if parent_places[0][own] <= parent_places[1][own] else 1
        start_places[own], first_members[own] = parent_places[parent][own], parent_members[parent][own]
        if start_places[own] > most:
            start_places[own], first_members[own] = most, -1
    for added in range(n):
        if child[added] and not (first[added] or second[added]):
            for position in range(indptr[added], indptr[added + 1]):
                own = rows[position]
                if places[position] < start_places[own]:
                    start_places[own], first_members[own] = places[position], added


@njit(cache=True, nogil=True)
def find_voters(lists, extended, slot, member, near, place, start_places, first_members, short):
    """Find each object's k nearest members; return how many lists hold too few, named in ``short``.

    No list has a member before its start place. Places and first members are moved on to the first member in
    the list. To know it saves reading the list, which is rarely in fast memory.
    """
    n, length = lists.shape
    k = near.shape[1] - 1
    n_short = 0
    for own in range(n):
        end = length if slot[own] < 0 else n - 1
        count, entry = 0, start_places[own]
        if first_members[own] >= 0 and member[first_members[own]]:
            near[own, 0] = first_members[own]
            count, entry = 1, entry + 1
        else:
            start_places[own], first_members[own] = end, -1
        while count < k and entry < end:
            other = lists[own, entry] if entry < length else extended[slot[own], entry]
            if member[other]:
                if count == 0:
                    start_places[own], first_members[own] = entry, other
                near[own, count] = other
                count += 1
            entry += 1
        place[own] = entry
        for missing in range(count, k + 1):
            near[own, missing] = -1
        if count < k and end < n - 1:
            short[n_short] = own
            n_short += 1
    return n_short


@njit(cache=True, nogil=True)
def find_near(rows, extended, slot, member, near, place):
    """Find the k + 1 nearest members of objects all of whose others are listed."""
    width = near.shape[1]
    for own in rows:
        order = extended[slot[own]]
        count, entry = 0, 0
        near[own, :] = -1
        while count < width and entry < order.shape[0]:
            if member[order[entry]]:
                near[own, count] = order[entry]
                count += 1
            entry += 1
        place[own] = entry


@njit(cache=True, nogil=True)
def find_successors(lists, extended, slot, member, near, place, short):
    """Find the member after the k nearest of each object where it is not known; return as ``find_voters``."""
    n = lists.shape[0]
    last = near.shape[1] - 1
    n_short = 0
    for own in range(n):
        if near[own, last] < 0 and not _look_on(lists, extended, slot, member, near, place, own):
            short[n_short] = own
            n_short += 1
    return n_short


@njit(cache=True, nogil=True)
def _look_on(lists, extended, slot, member, near, place, own):
    """Put the next member of the list in the last place of ``near``; False if distances must decide."""
    n, length = lists.shape
    last = near.shape[1] - 1
    near[own, last] = -1
    end = length if slot[own] < 0 else n - 1
    for entry in range(place[own], end):
        other = lists[own, entry] if entry < length else extended[slot[own], entry]
        if member[other]:
            near[own, last] = other
            place[own] = entry + 1
            return True
    place[own] = max(place[own], end)
    return end == n - 1


@njit(cache=True, nogil=True)
def count_hits(near, codes, is_hit):
    """Mark whom the first k of its nearest members classify correctly, and count them."""
    k = near.shape[1] - 1
    voters = np.empty(k, near.dtype)  # a view of each row would take longer than the vote
    hits = 0
    for own in range(near.shape[0]):
        for place in range(k):
            voters[place] = near[own, place]
        is_hit[own] = winner(voters, codes) == codes[own]
        hits += is_hit[own]
    return hits


@njit(cache=True, nogil=True)
def drop_gain(dropped, near, head, following, codes, is_hit, voters):
    """How many more hits there are without a member, and how many objects lose a voter."""
    width = near.shape[1]
    gain, n_losers = 0, 0
    link = head[dropped]
    while link >= 0:
        own = link // width
        link = following[link]
        if near[own, width - 1] == dropped:
            continue
        n_losers += 1
        gain += np.int64(vote_without(near[own], dropped, voters, codes) == codes[own]) - np.int64(is_hit[own])
    return gain, n_losers


@njit(cache=True, nogil=True)
def drop(dropped, lists, extended, slot, member, near, place, head, following, codes, is_hit, short, spare):
    """Drop a member; return how many objects' next member is not in their list, named in ``short``.

    Their links wait in ``spare`` for ``link_last``.
    """
    width = near.shape[1]
    member[dropped] = False
    n_short = 0
    link = head[dropped]
    head[dropped] = -1
    while link >= 0:
        own, after = link // width, following[link]
        if move_up(near[own], dropped) < width - 1:
            is_hit[own] = winner(near[own, :-1], codes) == codes[own]
        if _look_on(lists, extended, slot, member, near, place, own):
            if near[own, width - 1] >= 0:
                link_one(link, near[own, width - 1], head, following)
        else:
            short[n_short] = own
            spare[n_short] = link
            n_short += 1
        link = after
    return n_short


@njit(cache=True, nogil=True)
def link_last(rows, links, near, head, following):
    """Chain up the objects whose last nearest member was filled in."""
    last = near.shape[1] - 1
    for position in range(rows.shape[0]):
        if near[rows[position], last] >= 0:
            link_one(links[position], near[rows[position], last], head, following)


@njit(cache=True, nogil=True)
def local_search(
    lists,
    extended,
    slot,
    member,
    near,
    place,
    head,
    following,
    codes,
    is_hit,
    short,
    spare,
    visits,
    tally,
    threshold,
    state,
):
    """Drop members whose dropping gains at least ``threshold`` hits, in random order, from the start after each.

    ``visits`` are the members, ``tally[SIZE]`` of them. Stops when all were tried in vain, when rows must be
    filled in, or when no work is left: an attempt is worth one, and one more for each loser. The last member
    stays. Returns whether all is done.
    """
    voters = np.empty(near.shape[1] - 1, near.dtype)
    tally[SHORT] = 0
    while tally[NEXT] < tally[SIZE] and tally[SIZE] > 1:
        if tally[WORK] <= 0:
            return False
        place_of_visit = tally[NEXT]
        chosen = place_of_visit + np.int64(uniform(state) * (tally[SIZE] - place_of_visit))
        visits[place_of_visit], visits[chosen] = visits[chosen], visits[place_of_visit]
        visited = visits[place_of_visit]
        gain, n_losers = drop_gain(visited, near, head, following, codes, is_hit, voters)
        tally[LOSERS] += n_losers
        tally[WORK] -= n_losers + 1
        if gain < threshold:
            tally[NEXT] += 1
            continue
        tally[SHORT] = drop(
            visited, lists, extended, slot, member, near, place, head, following, codes, is_hit, short, spare
        )
        tally[HITS] += gain
        tally[SIZE] -= 1
        visits[place_of_visit] = visits[tally[SIZE]]
        tally[NEXT] = 0
        if tally[SHORT] > 0:
            return False
    return True
