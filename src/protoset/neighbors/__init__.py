"""Neighbour lists: the nearest neighbours of each object, with their distances and ranks.

REPS needs nothing else of the data. A rank-exponential feature beta^-rank vanishes below double precision after a few
dozen ranks, so a list of that length stands for a whole row of the n x n matrix.
"""

from protoset.neighbors.lists import NeighborLists, as_lists
from protoset.neighbors.search import NeighborSearch, build_lists

__all__ = ["NeighborLists", "NeighborSearch", "as_lists", "build_lists"]
