"""Training objects with all their dissimilarities computed, which can move as before."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset.spaces import TrainingSpace
from protoset.spaces._subset import SubsetSpace
from protoset.spaces.movable import MovableObjects
from protoset.spaces.precomputed import PrecomputedSpace


class KnownDistances(PrecomputedSpace):
    """The space of a training set with all its dissimilarities computed.

    Unlike a space made from a matrix alone, it still knows the objects: which of them are identical, which is nearest
    to the mean of others, and how they move. So a method selects the same objects as on the space of the objects.

    Parameters
    ----------
    matrix : ndarray of shape (n_objects, n_objects)
    objects : TrainingSpace
        Space of the objects.
    """

    def __init__(self, matrix: np.ndarray, objects: TrainingSpace):
        everything = np.arange(len(matrix))
        super().__init__(matrix, everything, len(everything), everything)
        self._objects = objects

    @property
    def objects(self) -> TrainingSpace:
        """Space of the objects."""
        return self._objects

    def identical(self) -> np.ndarray | None:
        """Numbers by the content of the objects, see ``TrainingSpace.identical``."""
        return self.objects.identical()

    def central_member(self, members: np.ndarray) -> int | None:
        """Return the member nearest to the mean of the members; None where objects have no coordinates."""
        return self.objects.central_member(members)

    @property
    def movable(self) -> MovableObjects | None:
        """The objects as numbers that gradient steps change; None where these objects cannot move."""
        return self.objects.movable

    def _subset(self, members: np.ndarray) -> KnownSubset:
        """Space of some of the objects."""
        return KnownSubset(self, members)


class KnownSubset(SubsetSpace):
    """Some of the objects of a training set with all its dissimilarities computed."""

    _space: Any

    @property
    def movable(self) -> MovableObjects | None:
        """The members as numbers that gradient steps change; None where these objects cannot move."""
        return self._space.objects.subset(self._members).movable

    def _subset(self, members: np.ndarray) -> KnownSubset:
        """Space of some of the members."""
        return KnownSubset(self._space, self._members[members])
