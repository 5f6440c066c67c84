"""Chains of associates: who has an object among its nearest members, in sets that only shrink.

``neighbors`` has each object's k + 1 nearest members, nearest first and ended by -1: the first k vote, and the
one after them steps in when one is dropped. Entry (row, place) is link ``row * (k + 1) + place``. The chain of a
member begins with the link ``head[member]`` and goes on with ``following[link]``; -1 ends it. A link stands for
its row: when a row moves up its neighbours, links keep their places. While members are only dropped nobody loses
one but by its dropping, so that links are never taken out singly.
"""

from numba import njit

from protoset.kernels.voting import winner


@njit(cache=True, nogil=True)
def link_one(link, neighbor, head, following):
    """Put a link at the beginning of the chain of a member."""
    following[link] = head[neighbor]
    head[neighbor] = link


@njit(cache=True, nogil=True)
def link_associates(rows, neighbors, head, following):
    """Chain up, for each member, those of ``rows`` that have it in ``neighbors``."""
    width = neighbors.shape[1]
    head[:] = -1
    for row in rows:
        for place in range(width):
            if neighbors[row, place] < 0:
                break
            link_one(row * width + place, neighbors[row, place], head, following)


@njit(cache=True, nogil=True)
def vote_without(neighbors, left_out, voters, codes):
    """Class that the nearest of the neighbours but ``left_out`` vote for, as in ``voting.winner``.

    ``voters`` is working memory for as many as vote.
    """
    count = 0
    for place in range(neighbors.shape[0]):
        if count == voters.shape[0] or neighbors[place] < 0:
            break
        if neighbors[place] != left_out:
            voters[count] = neighbors[place]
            count += 1
    for missing in range(count, voters.shape[0]):
        voters[missing] = -1
    return winner(voters, codes)


@njit(cache=True, nogil=True)
def move_up(neighbors, dropped):
    """Take a dropped member out of one object's neighbours, whose last is -1 then; return where it was."""
    place = 0
    while neighbors[place] != dropped:
        place += 1
    for later in range(place + 1, neighbors.shape[0]):
        neighbors[later - 1] = neighbors[later]
    neighbors[neighbors.shape[0] - 1] = -1
    return place
