"""Kernels of the memetic search (see ``protoset.selectors.ssma``).

A set is a mask of its members. Neighbour lists may be too short to hold enough members of an object; such objects are
returned to the caller, which fills them in. Random numbers come from a state of one unsigned integer, updated in place.

``tally`` has the counts of a local search, at the positions named by the constants below.

Kernels that Python calls take the fields of the named tuples one by one: they run for some 50 microseconds, and
passing tuples to them made the search 10 % slower.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled
from protoset.kernels.associates import link_one, move_up, vote_without
from protoset.kernels.voting import winner

SIZE = 0
"""Entry of ``tally``: number of members."""

NEXT = 1
"""Entry of ``tally``: position of the next visit; the visits before it failed."""

HITS = 2
"""Entry of ``tally``: objects that the members classify correctly."""

LOSERS = 3
"""Entry of ``tally``: objects that lost a voter, summed over all attempts."""

SHORT = 4
"""Entry of ``tally``: objects that must be filled in before the search continues."""

WORK = 5
"""Entry of ``tally``: work left before the search returns to the caller."""


class NeighborOrder(NamedTuple):
    """Neighbours of each object, nearest first."""

    lists: np.ndarray
    """The first neighbours of each object."""
    extended: np.ndarray
    """All neighbours of those objects that have a slot here."""
    slot: np.ndarray
    """Row of each object in ``extended``; -1 for none."""


class Members(NamedTuple):
    """The current set, and the nearest members of each object."""

    member: np.ndarray
    """Whether each object is a member."""
    near: np.ndarray
    """The k + 1 nearest members of each object, as ``neighbors`` in ``protoset.kernels.associates``."""
    position: np.ndarray
    """Where to continue in the list of each object; the end of the list for objects filled in from distances."""


class Chains(NamedTuple):
    """Chains of associates, see ``protoset.kernels.associates``."""

    head: np.ndarray
    following: np.ndarray


class Pending(NamedTuple):
    """Objects that must be filled in; ``tally[SHORT]`` entries are in use."""

    rows: np.ndarray
    links: np.ndarray
    """Links of these objects, to be chained by ``link_last``."""


@compiled
def uniform(state):
    """Random number in [0, 1), by splitmix64: the state is a counter."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = bits ^ (bits >> np.uint64(31))
    return np.float64(bits >> np.uint64(11)) / 9007199254740992.0


@compiled
def breed(first, second, crossover, mutation, state, child):
    """Fill the mask of a child with the bits of the first parent or, with probability ``crossover``, the second.

    Then each bit flips with probability ``mutation``. A child without members gets a random member.
    """
    n = child.shape[0]
    n_members = 0
    for row in range(n):
        bit = second[row] if uniform(state) < crossover else first[row]
        child[row] = bit != (uniform(state) < mutation)
        n_members += child[row]
    if n_members == 0:
        child[np.int64(uniform(state) * n)] = True


@compiled
def inherit_starts(
    first, first_positions, first_members, second, second_positions, second_members,
    child, n_reversed, indptr, rows, list_positions, positions, members,
):  # fmt: skip
    """Fill the starts of a child, ``positions`` and ``members``, from those of its parents.

    ``first``, ``second`` and ``child`` are masks; ``indptr``, ``rows`` and ``list_positions`` are the result of
    ``lists.listed_by``, the reverse of the first ``n_reversed`` entries of the lists. A member of the child that
    comes before the first members of both parents is a member of neither parent. Such members are looked up in the
    reverse of the lists, so that no start is later than ``n_reversed``.
    """
    for row in range(child.shape[0]):
        if first_positions[row] <= second_positions[row]:
            positions[row], members[row] = first_positions[row], first_members[row]
        else:
            positions[row], members[row] = second_positions[row], second_members[row]
        if positions[row] > n_reversed:
            positions[row], members[row] = n_reversed, -1
    for added in range(child.shape[0]):
        if child[added] and not (first[added] or second[added]):
            for entry in range(indptr[added], indptr[added + 1]):
                row = rows[entry]
                if list_positions[entry] < positions[row]:
                    positions[row], members[row] = list_positions[entry], added


@compiled
def find_voters(lists, extended, slot, member, near, position, start_positions, first_members, short):
    """Find the k nearest members of each object; return the number of lists with too few, written to ``short``.

    ``start_positions`` and ``first_members`` are updated to the first member in each list. A known first member saves
    reading the list, which is rarely in the cache.
    """
    n, length = lists.shape
    k = near.shape[1] - 1
    n_short = 0
    for row in range(n):
        end = length if slot[row] < 0 else n - 1
        count, entry = 0, start_positions[row]
        if first_members[row] >= 0 and member[first_members[row]]:
            near[row, 0] = first_members[row]
            count, entry = 1, entry + 1
        else:
            start_positions[row], first_members[row] = end, -1
        while count < k and entry < end:
            other = lists[row, entry] if entry < length else extended[slot[row], entry]
            if member[other]:
                if count == 0:
                    start_positions[row], first_members[row] = entry, other
                near[row, count] = other
                count += 1
            entry += 1
        position[row] = entry
        for missing in range(count, k + 1):
            near[row, missing] = -1
        if count < k and end < n - 1:
            short[n_short] = row
            n_short += 1
    return n_short


@compiled
def find_near(rows, extended, slot, member, near, position):
    """Find the k + 1 nearest members of objects that have a slot in ``extended``."""
    for row in rows:
        neighbors = extended[slot[row]]
        count, entry = 0, 0
        near[row, :] = -1
        while count < near.shape[1] and entry < neighbors.shape[0]:
            if member[neighbors[entry]]:
                near[row, count] = neighbors[entry]
                count += 1
            entry += 1
        position[row] = entry


@compiled
def find_successors(lists, extended, slot, member, near, position, short):
    """Find the member after the k nearest of each object where it is unknown; return as ``find_voters``."""
    order, members = NeighborOrder(lists, extended, slot), Members(member, near, position)
    n_short = 0
    for row in range(near.shape[0]):
        if near[row, near.shape[1] - 1] < 0 and not _find_next(order, members, row):
            short[n_short] = row
            n_short += 1
    return n_short


@compiled
def _find_next(order, members, row):
    """Put the next member of the list in the last column of ``near``; False if distances must decide."""
    lists, extended, slot = order
    member, near, position = members
    n, length = lists.shape
    last = near.shape[1] - 1
    near[row, last] = -1
    end = length if slot[row] < 0 else n - 1
    for entry in range(position[row], end):
        other = lists[row, entry] if entry < length else extended[slot[row], entry]
        if member[other]:
            near[row, last] = other
            position[row] = entry + 1
            return True
    position[row] = max(position[row], end)
    return end == n - 1


@compiled
def count_hits(near, codes, is_hit):
    """Mark the objects that their k nearest members classify correctly, and count them."""
    k = near.shape[1] - 1
    voters = np.empty(k, near.dtype)  # a view of each row would take longer than the vote
    hits = 0
    for row in range(near.shape[0]):
        for column in range(k):
            voters[column] = near[row, column]
        is_hit[row] = winner(voters, codes) == codes[row]
        hits += is_hit[row]
    return hits


@compiled
def drop_gain(dropped, near, chains, codes, is_hit, voters):
    """Gain in hits without a member, and number of objects that lose a voter."""
    head, following = chains
    width = near.shape[1]
    gain, n_losers = 0, 0
    link = head[dropped]
    while link >= 0:
        row = link // width
        link = following[link]
        if near[row, width - 1] == dropped:
            continue
        n_losers += 1
        gain += np.int64(vote_without(near[row], dropped, voters, codes) == codes[row]) - np.int64(is_hit[row])
    return gain, n_losers


@compiled
def drop(dropped, order, members, chains, codes, is_hit, pending):
    """Drop a member; return the number of objects whose next member is not in their list, written to ``pending``."""
    head, following = chains
    near, width = members.near, members.near.shape[1]
    members.member[dropped] = False
    n_short = 0
    link = head[dropped]
    head[dropped] = -1
    while link >= 0:
        row, after = link // width, following[link]
        if move_up(near[row], dropped) < width - 1:
            is_hit[row] = winner(near[row, :-1], codes) == codes[row]
        if _find_next(order, members, row):
            if near[row, width - 1] >= 0:
                link_one(link, near[row, width - 1], head, following)
        else:
            pending.rows[n_short], pending.links[n_short] = row, link
            n_short += 1
        link = after
    return n_short


@compiled
def link_last(rows, links, near, head, following):
    """Chain the objects whose last nearest member was filled in."""
    last = near.shape[1] - 1
    for entry in range(rows.shape[0]):
        if near[rows[entry], last] >= 0:
            link_one(links[entry], near[rows[entry], last], head, following)


@compiled
def local_search(
    lists, extended, slot, member, near, position, head, following, codes, is_hit, short, links,
    visits, tally, threshold, state,
):  # fmt: skip
    """Drop members whose dropping gains at least ``threshold`` hits, in random order; restart after each drop.

    ``visits`` are the members, ``tally[SIZE]`` of them. The search stops when all attempts failed, when objects must be
    filled in, or when no work is left: an attempt costs one, and one more for each loser. The last member stays.
    Returns whether the search has ended.
    """
    order, members = NeighborOrder(lists, extended, slot), Members(member, near, position)
    chains, pending = Chains(head, following), Pending(short, links)
    voters = np.empty(near.shape[1] - 1, near.dtype)
    tally[SHORT] = 0
    while tally[NEXT] < tally[SIZE] and tally[SIZE] > 1:
        if tally[WORK] <= 0:
            return False
        visit = tally[NEXT]
        chosen = visit + np.int64(uniform(state) * (tally[SIZE] - visit))
        visits[visit], visits[chosen] = visits[chosen], visits[visit]
        visited = visits[visit]
        gain, n_losers = drop_gain(visited, near, chains, codes, is_hit, voters)
        tally[LOSERS] += n_losers
        tally[WORK] -= n_losers + 1
        if gain < threshold:
            tally[NEXT] += 1
            continue
        tally[SHORT] = drop(visited, order, members, chains, codes, is_hit, pending)
        tally[HITS] += gain
        tally[SIZE] -= 1
        visits[visit] = visits[tally[SIZE]]
        tally[NEXT] = 0
        if tally[SHORT] > 0:
            return False
    return True
