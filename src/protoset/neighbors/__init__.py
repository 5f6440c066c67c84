"""Neighbour lists: each object's nearest others with their distances and ranks.

REPS needs nothing else of the data. A rank-exponential feature beta^-rank vanishes below double
precision after a few dozen ranks, so a list of that length stands for the whole row of an n x n
matrix.
"""

from protoset.neighbors.lists import TIES, NeighborLists, Ties, as_lists
from protoset.neighbors.search import (
    ENTRY_BYTES,
    LISTS_BYTES,
    SEARCHES,
    Search,
    build_lists,
    check_recall,
    choose_search,
)

__all__ = [
    "ENTRY_BYTES",
    "LISTS_BYTES",
    "SEARCHES",
    "TIES",
    "NeighborLists",
    "Search",
    "Ties",
    "as_lists",
    "build_lists",
    "check_recall",
    "choose_search",
]
