"""A space that counts the dissimilarities that are requested, to compare the costs of methods without a clock."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset.spaces._lists import RawLists
from protoset.spaces.base import ApproximateSearch, Choice, PrototypeSpace, Rows, TrainingSpace
from protoset.spaces.movable import MovableObjects


class CountedSpace(TrainingSpace):
    """The space of a training set, with a count of the dissimilarities that were used.

    Parameters
    ----------
    space : TrainingSpace

    Attributes
    ----------
    space : TrainingSpace
    n_distances : int
        Number of dissimilarities used so far. A search for the neighbours of all objects counts each pair once, even
        if the space skips some pairs or computes them twice. A graph counts 0.
    """

    def __init__(self, space: TrainingSpace):
        self.space = space
        self.metric, self.partial, self.remote = space.metric, space.partial, space.remote
        self.n_features, self.object_bytes = space.n_features, space.object_bytes
        self.approximate_from, self.symmetric = space.approximate_from, space.symmetric
        self.remembers, self.is_thread_safe = space.remembers, space.is_thread_safe
        self.n_distances = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Number of row objects and of column objects."""
        return self.space.shape

    @property
    def approximate_search(self) -> ApproximateSearch | None:
        """Approximate search for the neighbours, which counts the neighbours listed; None where there is none."""
        search = self.space.approximate_search
        if search is None:
            return None

        def counted(
            n_neighbors: int, *, storage: Storage, n_jobs: int | None = None, progress: ProgressCallback | None = None
        ) -> RawLists:
            lists = search(n_neighbors, storage=storage, n_jobs=n_jobs, progress=progress)
            self._add(len(lists.indices))
            return lists

        return counted

    def approximate_bytes(self, n_neighbors: int, *, on_disk: bool) -> int:
        """Peak memory of the approximate search; ``on_disk`` says where its lists are."""
        return self.space.approximate_bytes(n_neighbors, on_disk=on_disk)

    @property
    def movable(self) -> MovableObjects | None:
        """The objects as numbers that can move; distances to moved prototypes are not counted."""
        return self.space.movable

    @property
    def cluster(self) -> Any:
        """The same objects as a space whose neighbour lists may stay on workers, without a count."""
        return self.space.cluster

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities of the given rows to the given columns."""
        self._add(self._count(rows, columns))
        return self.space.block(rows, columns)

    def distances_to(self, column: int) -> np.ndarray:
        """Dissimilarities of all rows to one column."""
        self._add(self.shape[0])
        return self.space.distances_to(column)

    def distances_within(self, column: int, cutoffs: np.ndarray) -> np.ndarray:
        """Dissimilarities of all rows to one column up to cut-offs; all count, even if the space skips some."""
        self._add(self.shape[0])
        return self.space.distances_within(column, cutoffs)

    def write_matrix(self, matrix: np.ndarray, *, n_jobs: int | None = None) -> None:
        """Write all dissimilarities; both of a pair count, even if the space computes one."""
        self._add(self.shape[0] * self.shape[1])
        self.space.write_matrix(matrix, n_jobs=n_jobs)

    def remember_matrix(self, *, n_jobs: int | None = None) -> None:
        """Keep all dissimilarities; they count when they are used."""
        self.space.remember_matrix(n_jobs=n_jobs)

    def nearest(
        self,
        rows: Rows = slice(None),
        columns: Rows = slice(None),
        *,
        choose: Choice | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row, as positions and distances."""
        self._add(self._count(rows, columns))
        return self.space.nearest(rows, columns, choose=choose, n_jobs=n_jobs)

    def _kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Exact nearest neighbours of every training object."""
        n = self.shape[0]
        self._add(0 if self.partial else n * (n - 1) // 2)
        return self.space.kneighbors(n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)

    def _subset(self, members: np.ndarray) -> CountedSpace:
        """Space of some of the training objects, with a count of its own."""
        return CountedSpace(self.space.subset(members))

    def prototypes(self, indices: np.ndarray) -> PrototypeSpace:
        """Space without rows whose columns are the given objects."""
        return self.space.prototypes(indices)

    def identical(self) -> np.ndarray | None:
        """Numbers of the objects by content, without a count, see ``TrainingSpace.identical``."""
        return self.space.identical()

    def central_member(self, members: np.ndarray) -> int | None:
        """Return the member nearest to the mean of the members; None where objects have no coordinates."""
        centre = self.space.central_member(members)
        self._add(0 if centre is None else len(members))
        return centre

    def _add(self, count: int) -> None:
        # A plain addition without a call: no other thread runs between its read and its write.
        self.n_distances += count

    def _count(self, rows: Any, columns: Any) -> int:
        n_rows, n_columns = self.shape
        return len(range(n_rows)[rows] if isinstance(rows, slice) else rows) * len(
            range(n_columns)[columns] if isinstance(columns, slice) else columns
        )
