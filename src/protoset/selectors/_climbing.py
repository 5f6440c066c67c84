"""Swaps of members for outsiders, as the hill climbing search tries them.

    columns of distances     everyone's k + 1              a swap touches who loses a voter
    to the incoming objects  nearest members  ---------->  or gets a nearer one: O(n) for all

The columns are kept as far as ``CACHE_BYTES`` allow, and computed again beyond.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from protoset import _blocks, kernels
from protoset.selectors._voting import NearestMembers
from protoset.spaces import TrainingSpace

CACHE_BYTES = 256 * 2**20
"""Memory for columns of distances that are kept; those that do not fit are computed at each use."""

CHUNK = 32
"""Mutations between two looks at the limits."""


class Climber:
    """A set of members, everyone's nearest of them, and swaps that improve it.

    Parameters
    ----------
    space : TrainingSpace
    codes : ndarray of int
    start : ndarray of int
    n_neighbors : int

    Attributes
    ----------
    members, outsiders : ndarray of int
        In no order.
    is_hit : ndarray of bool
        Whether each object's nearest members vote for its class.
    nearest : NearestMembers
        One more than vote.
    """

    def __init__(self, space: TrainingSpace, codes: np.ndarray, start: np.ndarray, n_neighbors: int):
        self._space, self._codes, self._everyone = space, codes, np.arange(len(codes))
        self.members, self.outsiders = start.copy(), np.setdiff1d(self._everyone, start)
        self.nearest = NearestMembers(space, n_neighbors + 1)
        self.nearest.add(np.sort(start), self._everyone)
        self.is_hit = kernels.voting.majority(self.nearest.neighbors[:, :-1], codes) == codes
        self._columns = Columns(space)

    @property
    def n_hits(self) -> int:
        """Objects that are classified correctly."""
        return int(self.is_hit.sum())

    def improvements(self, places: np.ndarray, outside_places: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
        """Try swaps in turn; after each that stays, yield the members, ascending, and the number of hits."""
        first = 0
        while first < len(places):
            first, gained = self.try_swaps(places, outside_places, first)
            if gained:
                yield np.sort(self.members), self.n_hits

    def try_swaps(self, places: np.ndarray, outside_places: np.ndarray, first: int) -> tuple[int, bool]:
        """Try swaps from number ``first`` on until one stays; return the number of the next, and whether one did."""
        incoming, outgoing = self.outsiders[outside_places], self.members[places]
        slots = self._columns.slots(incoming[first:])
        swap, gain = kernels.hill_climbing.first_gain(
            self._columns.values,
            slots,
            incoming[first:],
            outgoing[first:],
            self.nearest.neighbors,
            self.nearest.distances,
            self._codes,
            self.is_hit,
        )
        if gain:
            self._swap(places[first + swap], outside_places[first + swap], self._columns.values[slots[swap]])
        return first + swap + (gain > 0), gain > 0

    def _swap(self, place: int, outside_place: int, column: np.ndarray) -> None:
        incoming, outgoing = self.outsiders[outside_place], self.members[place]
        self.members[place], self.outsiders[outside_place] = incoming, outgoing
        lost = (self.nearest.neighbors == outgoing).any(axis=1)
        kept, refilled = np.flatnonzero(~lost), np.flatnonzero(lost)
        self.nearest.push(np.array([incoming]), kept, column[kept][:, None])
        self.nearest.refill(np.sort(self.members), refilled)
        self.is_hit = kernels.voting.majority(self.nearest.neighbors[:, :-1], self._codes) == self._codes


class Columns:
    """Everyone's distances to single objects, kept as far as memory allows.

    Parameters
    ----------
    space : TrainingSpace

    Attributes
    ----------
    values : ndarray of shape (n_slots, n_objects)
        A row per column of distances; ``slots`` says which.
    """

    def __init__(self, space: TrainingSpace):
        n = space.shape[0]
        self._space = space
        self._n_kept, self._room = 0, min(n, CACHE_BYTES // (8 * n))
        self._passing: list[int] = []
        self._slot = np.full(n, -1, np.int64)
        self.values = np.empty((self._room + min(2 * CHUNK, n), n))

    def slots(self, objects: np.ndarray) -> np.ndarray:
        """Row of ``values`` with the distances to each of at most ``CHUNK`` objects, valid until the next call."""
        missing = np.unique(objects[self._slot[objects] < 0])
        free = len(self.values) - self._n_kept - len(self._passing)
        if len(missing) > free:
            self._slot[self._passing] = -1
            self._passing.clear()
            missing = np.unique(objects[self._slot[objects] < 0])
        step = max(1, _blocks.BLOCK_BYTES // (8 * len(self._slot)))
        for start in range(0, len(missing), step):
            self._add(missing[start : start + step])
        return self._slot[objects]

    def _add(self, objects: np.ndarray) -> None:
        block = self._space.block(slice(None), objects)
        n_kept = min(len(objects), self._room - self._n_kept)
        passed = self._room + len(self._passing)
        # Consecutive rows at a time: transposing into scattered ones takes longer than the distances.
        for part, first in ((slice(None, n_kept), self._n_kept), (slice(n_kept, None), passed)):
            slots = first + np.arange(len(objects[part]))
            self.values[first : first + len(slots)] = block[:, part].T
            self._slot[objects[part]] = slots
        self._n_kept += n_kept
        self._passing.extend(objects[n_kept:].tolist())
