"""A space that counts what is asked of it, so that the costs of methods compare without a clock."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset.spaces._lists import RawLists
from protoset.spaces.base import Rows, TrainingSpace


class CountedSpace:
    """The space of a training set, with a count of the dissimilarities asked of it.

    Parameters
    ----------
    space : TrainingSpace

    Attributes
    ----------
    n_distances : int
        Dissimilarities asked for so far. A search for everyone's neighbours asks for each pair of objects
        once, whatever the space saves or has to compute twice; of a graph nothing is computed.
    """

    def __init__(self, space: TrainingSpace):
        self.space = space
        self.n_distances = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row objects and of column objects."""
        return self.space.shape

    @property
    def partial(self) -> bool:
        """Whether only the dissimilarities to some neighbours are known."""
        return self.space.partial

    @property
    def remote(self) -> bool:
        """Whether the objects are on other machines."""
        return self.space.remote

    @property
    def approximable(self) -> bool:
        """Whether there is an approximate search for these objects."""
        return self.space.approximable

    @property
    def object_bytes(self) -> int:
        """Memory of one object, as far as it is known."""
        return self.space.object_bytes

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities of the given rows to the given columns."""
        self.n_distances += self._count(rows, columns)
        return self.space.block(rows, columns)

    def distances_to(self, column: int) -> np.ndarray:
        """Everyone's dissimilarities to one column."""
        self.n_distances += self.shape[0]
        return self.space.distances_to(column)

    def nearest(
        self, rows: Rows = slice(None), columns: Rows = slice(None), *, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row, as positions and distances."""
        self.n_distances += self._count(rows, columns)
        return self.space.nearest(rows, columns, n_jobs=n_jobs)

    def kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Nearest others of every training object."""
        n = self.shape[0]
        self.n_distances += 0 if self.partial else n * (n - 1) // 2
        return self.space.kneighbors(n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)

    def approximate_kneighbors(
        self, n_neighbors: int, *, storage: Storage, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Most of the nearest others of every training object; counted are those that are listed."""
        raw = self.space.approximate_kneighbors(n_neighbors, storage=storage, n_jobs=n_jobs, progress=progress)
        self.n_distances += len(raw.indices)
        return raw

    def subset(self, members: np.ndarray) -> CountedSpace:
        """Space of some of the training objects, with a count of its own."""
        return CountedSpace(self.space.subset(members))

    def central_member(self, members: np.ndarray) -> int | None:
        """Member nearest to the mean of the members; None where objects have no coordinates."""
        found = self.space.central_member(members)
        self.n_distances += 0 if found is None else len(members)
        return found

    def _count(self, rows: Any, columns: Any) -> int:
        n_rows, n_columns = self.shape
        return len(range(n_rows)[rows] if isinstance(rows, slice) else rows) * len(
            range(n_columns)[columns] if isinstance(columns, slice) else columns
        )
