"""Hill climbing by swaps of a member for an outsider.

    distances of all objects     k + 1 nearest members        a swap changes the objects that lose a
    to the entering object       of each object         --->  neighbour or get a nearer one: O(n)

A column of distances to an object is kept in up to ``COLUMN_CACHE_BYTES``, and computed again beyond.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from protoset import _blocks, kernels
from protoset.selectors._voting import NearestMembers, object_priority
from protoset.selectors.base import TieRule
from protoset.spaces import TrainingSpace

COLUMN_CACHE_BYTES = 256 * 2**20
"""Largest memory of the columns of distances that are kept."""

MAX_CHUNK = 32
"""Largest number of swaps between two checks of the search limits."""


class Climber:
    """A set of members, the nearest members of each object, and swaps that improve the set.

    Attributes
    ----------
    members, outsiders : ndarray of int
        In no order.
    is_hit : ndarray of bool
        Whether the nearest members of each object vote for its class.
    nearest : NearestMembers
        One member more than vote, so that the next voter is known.
    """

    def __init__(
        self,
        space: TrainingSpace,
        codes: np.ndarray,
        start: np.ndarray,
        n_neighbors: int,
        tie_rule: TieRule = "majority",
    ):
        self._space, self._codes = space, codes
        objects = np.arange(len(codes))
        self.members, self.outsiders = start.copy(), np.setdiff1d(objects, start)
        self.nearest = NearestMembers(space, n_neighbors + 1, object_priority(codes, tie_rule))
        self.nearest.add(np.sort(start), objects)
        self.is_hit = kernels.voting.majority(self.nearest.neighbors[:, :-1], codes) == codes
        self._columns = DistanceColumns(space)

    @property
    def n_hits(self) -> int:
        """Number of objects that are classified correctly."""
        return int(self.is_hit.sum())

    def improvements(self, leaving: np.ndarray, entering: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
        """Try swaps in order; after each kept swap, yield the members, ascending, and the number of hits.

        Swaps are given by positions in ``members`` and in ``outsiders``.
        """
        first = 0
        while first < len(leaving):
            first, gained = self.try_swaps(leaving, entering, first)
            if gained:
                yield np.sort(self.members), self.n_hits

    def try_swaps(self, leaving: np.ndarray, entering: np.ndarray, first: int) -> tuple[int, bool]:
        """Try swaps from number ``first`` on until one is kept; return the next number, and whether one was kept."""
        incoming, outgoing = self.outsiders[entering], self.members[leaving]
        slots = self._columns.slots(incoming[first:])
        swap, gain = kernels.hill_climbing.first_gain(
            self._columns.values,
            slots,
            incoming[first:],
            outgoing[first:],
            self.nearest.neighbors,
            self.nearest.distances,
            self.nearest.priority,
            self._codes,
            self.is_hit,
        )
        if gain:
            self._swap(leaving[first + swap], entering[first + swap], self._columns.values[slots[swap]])
        return first + swap + (gain > 0), gain > 0

    def _swap(self, leaving: int, entering: int, column: np.ndarray) -> None:
        incoming, outgoing = self.outsiders[entering], self.members[leaving]
        self.members[leaving], self.outsiders[entering] = incoming, outgoing
        lost = (self.nearest.neighbors == outgoing).any(axis=1)
        kept, refilled = np.flatnonzero(~lost), np.flatnonzero(lost)
        self.nearest.push(np.array([incoming]), kept, column[kept][:, None])
        self.nearest.refill(np.sort(self.members), refilled)
        self.is_hit = kernels.voting.majority(self.nearest.neighbors[:, :-1], self._codes) == self._codes


class DistanceColumns:
    """Distances of all objects to single objects, kept as far as memory allows.

    Attributes
    ----------
    values : ndarray of shape (n_slots, n_objects)
        A row per column of distances. The first rows are kept, the last rows are reused.
    """

    def __init__(self, space: TrainingSpace):
        n = space.shape[0]
        self._space = space
        self._n_kept, self._max_kept = 0, min(n, COLUMN_CACHE_BYTES // (8 * n))
        self._temporary: list[int] = []
        self._slot = np.full(n, -1, np.int64)
        self.values = np.empty((self._max_kept + min(2 * MAX_CHUNK, n), n))

    def slots(self, objects: np.ndarray) -> np.ndarray:
        """Rows of ``values`` with the distances to at most ``MAX_CHUNK`` objects; valid until the next call."""
        missing = np.unique(objects[self._slot[objects] < 0])
        free = len(self.values) - self._n_kept - len(self._temporary)
        if len(missing) > free:
            self._slot[self._temporary] = -1
            self._temporary.clear()
            missing = np.unique(objects[self._slot[objects] < 0])
        step = max(1, _blocks.BLOCK_BYTES // (8 * len(self._slot)))
        for start in range(0, len(missing), step):
            self._add(missing[start : start + step])
        return self._slot[objects]

    def _add(self, objects: np.ndarray) -> None:
        block = self._space.block(slice(None), objects)
        n_kept = min(len(objects), self._max_kept - self._n_kept)
        first_temporary = self._max_kept + len(self._temporary)
        # Consecutive slots at a time: transposing into scattered rows takes longer than the distances.
        for columns, first in ((slice(None, n_kept), self._n_kept), (slice(n_kept, None), first_temporary)):
            slots = first + np.arange(len(objects[columns]))
            self.values[first : first + len(slots)] = block[:, columns].T
            self._slot[objects[columns]] = slots
        self._n_kept += n_kept
        self._temporary.extend(objects[n_kept:].tolist())
