"""Some of the objects of a space, as a space of their own."""

from __future__ import annotations

import numpy as np

from protoset._blocks import map_blocks
from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset.spaces._lists import RawLists, smallest_of
from protoset.spaces.base import Rows, TrainingSpace


class SubsetSpace:
    """The members of a subset, asked for through the space of all objects.

    Parameters
    ----------
    space : TrainingSpace
    members : ndarray of int
    """

    approximable = False
    remote = False

    def __init__(self, space: TrainingSpace, members: np.ndarray):
        self._space, self._members = space, members

    @property
    def shape(self) -> tuple[int, int]:
        """Number of members, twice."""
        return len(self._members), len(self._members)

    @property
    def partial(self) -> bool:
        """Whether only the dissimilarities to some neighbours are known."""
        return self._space.partial

    @property
    def object_bytes(self) -> int:
        """Memory of one object, as far as it is known."""
        return self._space.object_bytes

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities of the given rows to the given columns."""
        return self._space.block(self._members[rows], self._members[columns])

    def distances_to(self, column: int) -> np.ndarray:
        """Everyone's dissimilarities to one column."""
        return self.block(slice(None), np.array([column]))[:, 0]

    def nearest(
        self, rows: Rows = slice(None), columns: Rows = slice(None), *, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row, as positions and distances."""
        return self._space.nearest(self._members[rows], self._members[columns], n_jobs=n_jobs)

    def kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Nearest others of every member, from whole rows of dissimilarities."""
        n = len(self._members)
        k = min(n_neighbors, n - 1)

        def search(part: slice) -> RawLists:
            return smallest_of(self.block(part, slice(None)), np.arange(n)[part], k, max(limit, k))

        return RawLists.concatenate(map_blocks(search, n, n, n_jobs))

    def approximate_kneighbors(
        self, n_neighbors: int, *, storage: Storage, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """There is none."""
        raise NotImplementedError("there is no approximate search for a subset of these objects")

    def subset(self, members: np.ndarray) -> SubsetSpace:
        """Space of some of the members."""
        return SubsetSpace(self._space, self._members[members])

    def central_member(self, members: np.ndarray) -> int | None:
        """Member nearest to the mean of the members; None where objects have no coordinates."""
        found = self._space.central_member(self._members[members])
        return None if found is None else int(np.flatnonzero(self._members == found)[0])
