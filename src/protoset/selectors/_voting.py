"""The nearest members of a set, and the class that they vote for.

Leave-one-out is by index: an object is never its own neighbour, but a duplicate of it may be. By default, all objects
at the distance of the last neighbour vote (``tie_rule="majority"``). With ``tie_rule="row_order"`` equal distances are
ordered by index. A tied vote goes to the class of the nearest of the tied neighbours, then to the more frequent class.

Which code finds the nearest members depends on how the set changes:

    a set that grows                      NearestMembers: distances to the new members
    a set that shrinks a few times        nearest_listed: neighbour lists, then distances
    a set that shrinks object by object   drop3.CandidateLists
    thousands of unrelated sets (SSMA)    _set_evaluation.SetEvaluator
    the members of each class apart       _class_neighbors: the search of the space
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._blocks import row_slices
from protoset._progress import report, reporter
from protoset.neighbors import NeighborLists, build_lists
from protoset.selectors.base import BaseSelector, TieRule
from protoset.spaces import TrainingSpace
from protoset.spaces._lists import smallest_of

LIST_LENGTH = 50
"""Shortest length of the neighbour lists. Longer lists than a vote needs cost hardly more."""


class NearestMembers:
    """The k nearest members of a growing set, for every object.

    The nearest comes first. If there are fewer members, ``neighbors`` is -1 and ``distances`` infinite. Among equally
    near members, the one with the lower ``priority`` comes first; by default the one in the earlier row.
    """

    def __init__(self, space: TrainingSpace, k: int, priority: np.ndarray | None = None):
        self._space = space
        n = space.shape[0]
        self.priority = np.arange(n) if priority is None else priority
        self.neighbors, self.distances = np.full((n, k), -1, np.int64), np.full((n, k), np.inf)

    @classmethod
    def of(cls, space: TrainingSpace, codes: np.ndarray, k: int, tie_rule: TieRule) -> NearestMembers:
        """Nearest members of a set that only grows, whose votes follow a rule of ties."""
        return cls(space, k) if tie_rule == "row_order" else TiedMembers(space, codes, k)

    def add(self, members: np.ndarray, rows: np.ndarray) -> None:
        """Add members to the set and update the neighbours of the objects ``rows``."""
        if len(members) == 0:
            return
        for block in row_slices(len(rows), len(members) * 8):
            self.push(members, rows[block], self._space.block(rows[block], members))

    def push(self, members: np.ndarray, rows: np.ndarray, distances: np.ndarray) -> None:
        """Add members whose distances from the objects ``rows`` are already known."""
        kernels.voting.push_nearer(rows, distances, members, self.priority, self.neighbors, self.distances)

    def snapshot(self) -> list[np.ndarray]:
        """Copy the present state, for ``restore``."""
        return [array.copy() for array in self._state]

    def restore(self, snapshot: list[np.ndarray]) -> None:
        """Return to a state that ``snapshot`` copied."""
        for array, before in zip(self._state, snapshot, strict=True):
            array[:] = before

    @property
    def _state(self) -> tuple[np.ndarray, ...]:
        return self.neighbors, self.distances

    def refill(self, members: np.ndarray, rows: np.ndarray) -> None:
        """Search the nearest of all members again, for the objects ``rows``."""
        self.neighbors[rows], self.distances[rows] = -1, np.inf
        self.add(members, rows)

    def votes(self, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Class that the nearest members of each row vote for; -1 without any neighbour."""
        return kernels.voting.majority(self.neighbors[rows], codes)


class TiedMembers(NearestMembers):
    """Like ``NearestMembers``, but all members at the distance of the k-th member vote."""

    def __init__(self, space: TrainingSpace, codes: np.ndarray, k: int):
        super().__init__(space, k)
        self._codes, self._class_totals = codes, np.bincount(codes)
        self._tied_votes = np.zeros((len(codes), len(self._class_totals)), np.int32)
        self._has_tied = np.zeros(len(codes), bool)

    @property
    def _state(self) -> tuple[np.ndarray, ...]:
        return self.neighbors, self.distances, self._tied_votes, self._has_tied

    def push(self, members: np.ndarray, rows: np.ndarray, distances: np.ndarray) -> None:
        """Add members whose distances from the objects ``rows`` are already known."""
        kernels.voting.push_tied(rows, distances, members, self.priority, self._codes, *self._state)

    def refill(self, members: np.ndarray, rows: np.ndarray) -> None:
        """Search the nearest of all members again, for the objects ``rows``."""
        self._tied_votes[rows], self._has_tied[rows] = 0, False
        super().refill(members, rows)

    def votes(self, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Class that the nearest members of each row vote for; -1 without any neighbour."""
        return kernels.voting.majority_of_tied(rows, codes, self._class_totals, *self._state)


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


def outvoted(
    space: TrainingSpace,
    lists: NeighborLists,
    codes: np.ndarray,
    members: np.ndarray,
    k: int,
    tie_rule: TieRule = "majority",
    *,
    every: bool = False,
) -> np.ndarray:
    """Whether the k nearest other members of each member (ascending) vote for a class that is not its own.

    With ``every``: whether the 1, 2, ... or k nearest other members vote for such a class.
    """
    own = codes[members]
    if tie_rule == "row_order":
        neighbors = nearest_listed(space, lists, members, members, k)
        if every:
            return ~kernels.voting.wins_every_vote(neighbors, codes, own)
        votes = kernels.voting.majority(neighbors, codes)
        return (votes >= 0) & (votes != own)
    is_member, totals = np.zeros(lists.n_objects, bool), np.bincount(codes)
    is_member[members] = True
    entries = lists.indptr, lists.indices, lists.distances, lists.closed
    outcome = kernels.voting.outvoted_listed(
        *entries, members, is_member, own, k, codes, totals, lists.n_objects - 1, every
    )
    short = np.flatnonzero(outcome == 2)
    n_others = len(members) - 1
    for block in row_slices(len(short), len(members) * 8):
        rows = short[block]
        if n_others == 0:
            outcome[rows] = 0
            continue
        nearest = smallest_of(space.block(members[rows], members), rows, min(k, n_others), n_others)
        nearest_lists = row_pointers(nearest.counts), nearest.indices, nearest.distances, np.ones(len(rows), bool)
        everything = np.arange(len(rows)), np.ones(len(members), bool), own[rows]
        outcome[rows] = kernels.voting.outvoted_listed(*nearest_lists, *everything, k, own, totals, n_others, every)
    return outcome == 1


def with_ordered_ties(lists: NeighborLists, codes: np.ndarray, tie_rule: TieRule) -> NeighborLists:
    """Order equally near neighbours by the size of their class, the most frequent class first."""
    if tie_rule == "row_order":
        return lists
    indices = lists.indices.copy()
    kernels.voting.order_ties(lists.indptr, indices, lists.distances, codes, class_priority(codes))
    return replace(lists, indices=indices)


def object_priority(codes: np.ndarray, tie_rule: TieRule) -> np.ndarray:
    """Position of each object among equally near ones: by the size of its class, then by row; or by row alone."""
    by_class = np.zeros(len(codes), int) if tie_rule == "row_order" else class_priority(codes)[codes]
    return np.argsort(np.argsort(by_class, kind="stable"))


def class_priority(codes: np.ndarray) -> np.ndarray:
    """Position of each class if the most frequent class comes first, and the lower code first among equals."""
    return np.argsort(np.argsort(-np.bincount(codes), kind="stable"))


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
        tie_rule: TieRule = "majority",
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.n_neighbors = n_neighbors
        self.tie_rule = tie_rule

    def _search_lists(self, space: TrainingSpace) -> tuple[NeighborLists, int]:
        """Search neighbour lists; return them and the number of neighbours that vote."""
        k = min(self.n_neighbors, space.shape[0] - 1)
        return search_lists(space, k, self.n_jobs, self.verbose), k
