"""Some of the objects of a space, as a space of their own."""

from __future__ import annotations

import numpy as np

from protoset.spaces.base import Choice, PrototypeSpace, Rows, TrainingSpace


class SubsetSpace(TrainingSpace):
    """The members of a subset; their dissimilarities come from the space of all objects."""

    def __init__(self, space: TrainingSpace, members: np.ndarray):
        self._space, self._members = space, members
        self.metric, self.partial = space.metric, space.partial
        self.n_features, self.object_bytes = space.n_features, space.object_bytes
        self.symmetric = space.symmetric

    @property
    def shape(self) -> tuple[int, int]:
        """Number of members, twice."""
        return len(self._members), len(self._members)

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities of the given rows to the given columns."""
        return self._space.block(self._members[rows], self._members[columns])

    def nearest(
        self,
        rows: Rows = slice(None),
        columns: Rows = slice(None),
        *,
        choose: Choice | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row, as positions and distances."""
        return self._space.nearest(self._members[rows], self._members[columns], choose=choose, n_jobs=n_jobs)

    def prototypes(self, indices: np.ndarray) -> PrototypeSpace:
        """Space without rows whose columns are the given members."""
        return self._space.prototypes(self._members[indices])

    def _subset(self, members: np.ndarray) -> SubsetSpace:
        """Space of some of the members."""
        return SubsetSpace(self._space, self._members[members])

    def identical(self) -> np.ndarray | None:
        """Numbers of the members by content, see ``TrainingSpace.identical``."""
        numbers = self._space.identical()
        return None if numbers is None else numbers[self._members]

    def central_member(self, members: np.ndarray) -> int | None:
        """Return the member nearest to the mean of the members; None where objects have no coordinates."""
        centre = self._space.central_member(self._members[members])
        return None if centre is None else int(np.flatnonzero(self._members == centre)[0])
