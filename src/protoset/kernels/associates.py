"""Chains of associates: the objects that have a member among their nearest members, in sets that only shrink.

``neighbors`` has the k + 1 nearest members of each object, nearest first and ended by -1. The first k vote; the last
replaces a member that is dropped. Entry (row, column) is link ``row * (k + 1) + column``. The chain of a member begins
with the link ``head[member]`` and continues with ``following[link]``; -1 ends it. A link stands for its row: links do
not change when the neighbours of a row move up. An object loses a member only when the member is dropped, so that
single links are never removed.
"""

from protoset.kernels._compile import compiled
from protoset.kernels.voting import winner


@compiled
def link_one(link, neighbor, head, following):
    """Put a link at the beginning of the chain of a member."""
    following[link] = head[neighbor]
    head[neighbor] = link


@compiled
def link_associates(rows, neighbors, head, following):
    """Build the chain of each member from the objects ``rows`` that have it in ``neighbors``."""
    width = neighbors.shape[1]
    head[:] = -1
    for row in rows:
        for column in range(width):
            if neighbors[row, column] < 0:
                break
            link_one(row * width + column, neighbors[row, column], head, following)


@compiled
def vote_without(neighbors, left_out, voters, codes):
    """Class that wins the vote of the nearest neighbours without ``left_out``, as in ``voting.winner``.

    ``voters`` is work space, one entry per voter.
    """
    count = 0
    for column in range(neighbors.shape[0]):
        if count == voters.shape[0] or neighbors[column] < 0:
            break
        if neighbors[column] != left_out:
            voters[count] = neighbors[column]
            count += 1
    for missing in range(count, voters.shape[0]):
        voters[missing] = -1
    return winner(voters, codes)


@compiled
def move_up(neighbors, dropped):
    """Remove a dropped member from the neighbours of one object, whose last entry becomes -1; return its column."""
    column = 0
    while neighbors[column] != dropped:
        column += 1
    for later in range(column + 1, neighbors.shape[0]):
        neighbors[later - 1] = neighbors[later]
    neighbors[neighbors.shape[0] - 1] = -1
    return column
