"""The nearest members of a set, and the class that they vote for.

Leave-one-out is by index: an object is never its own neighbour, but a duplicate of it may be. Equal
distances are ordered by index. A tied vote goes to the class of the nearest of the tied neighbours.

Which code finds the nearest members depends on how the set changes:

    a set that grows                      NearestMembers: distances to the new members
    a set that shrinks a few times        nearest_listed: neighbour lists, then distances
    a set that shrinks object by object   drop3.CandidateLists
    thousands of unrelated sets (SSMA)    _set_evaluation.SetEvaluator
    the members of each class apart       _class_neighbors: the search of the space
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset._progress import report, reporter
from protoset.neighbors import NeighborLists, build_lists
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace

LIST_LENGTH = 50
"""Shortest length of the neighbour lists. Longer lists than a vote needs cost hardly more."""


class NearestMembers:
    """The k nearest members of a growing set, for every object.

    They are nearest first. Where there are fewer members, ``neighbors`` is -1 and ``distances`` infinite.
    """

    def __init__(self, space: TrainingSpace, k: int):
        self._space = space
        n = space.shape[0]
        self.neighbors, self.distances = np.full((n, k), -1, np.int64), np.full((n, k), np.inf)

    def add(self, members: np.ndarray, rows: np.ndarray) -> None:
        """Add members to the set and update the neighbours of the objects ``rows``."""
        if len(members) == 0:
            return
        for block in row_slices(len(rows), len(members) * 8):
            self.push(members, rows[block], self._space.block(rows[block], members))

    def push(self, members: np.ndarray, rows: np.ndarray, distances: np.ndarray) -> None:
        """Add members whose distances from the objects ``rows`` are already known."""
        kernels.voting.push_nearer(rows, distances, members, self.neighbors, self.distances)

    def refill(self, members: np.ndarray, rows: np.ndarray) -> None:
        """Search the nearest of all members again, for the objects ``rows``."""
        self.neighbors[rows], self.distances[rows] = -1, np.inf
        self.add(members, rows)

    def votes(self, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Class that the nearest members of each row vote for; -1 without any neighbour."""
        return kernels.voting.majority(self.neighbors[rows], codes)


def nearest_listed(
    space: TrainingSpace, lists: NeighborLists, rows: np.ndarray, members: np.ndarray, k: int
) -> np.ndarray:
    """Find the k nearest members of each row in its list, and by distances where the list holds too few.

    ``members`` are ascending. The result is -1 where there are fewer members besides the row itself.
    """
    is_member = np.zeros(lists.n_objects, bool)
    is_member[members] = True
    neighbors = lists.first_members(rows, is_member, k)
    short = np.flatnonzero((neighbors[:, -1] < 0) & (np.diff(lists.indptr)[rows] < lists.n_objects - 1))
    if len(short):
        nearest = NearestMembers(space, k)
        nearest.add(members, rows[short])
        neighbors[short] = nearest.neighbors[rows[short]]
    return neighbors


def outvoted(space: TrainingSpace, lists: NeighborLists, codes: np.ndarray, members: np.ndarray, k: int) -> np.ndarray:
    """Whether the k nearest other members of each member vote for a class that is not its own."""
    votes = kernels.voting.majority(nearest_listed(space, lists, members, members, k), codes)
    return (votes >= 0) & (votes != codes[members])


def search_lists(space: TrainingSpace, n_neighbors: int, n_jobs: int | None, verbose: int) -> NeighborLists:
    """Search neighbour lists that are long enough for votes of ``n_neighbors``."""
    length = min(max(2 * n_neighbors, LIST_LENGTH), space.shape[0] - 1)
    report(verbose, "searching %d neighbours of %d objects", length, space.shape[0])
    return build_lists(space, length, n_jobs=n_jobs, progress=reporter(verbose, "pairs compared"))


class VotingSelector(BaseSelector):
    """A selector that edits the training set by the votes of ``n_neighbors`` neighbours."""

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.n_neighbors = n_neighbors

    def _search_lists(self, space: TrainingSpace) -> tuple[NeighborLists, int]:
        """Search neighbour lists; return them and the number of neighbours that vote."""
        k = min(self.n_neighbors, space.shape[0] - 1)
        return search_lists(space, k, self.n_jobs, self.verbose), k
