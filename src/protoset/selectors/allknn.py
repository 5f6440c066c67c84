"""AllKNN (Tomek 1976): drop every object that its 1, 2, ... or k nearest neighbours misclassify."""

from __future__ import annotations

import numpy as np

from protoset import kernels
from protoset.neighbors import NeighborLists
from protoset.selectors._voting import VotingSelector, nearest_listed
from protoset.spaces import TrainingSpace


def all_knn(space: TrainingSpace, lists: NeighborLists, codes: np.ndarray, *, n_neighbors: int = 3) -> np.ndarray:
    """Return the objects whose class wins the votes of 1, 2, ... and ``n_neighbors`` nearest neighbours, ascending."""
    objects = np.arange(len(codes))
    nearest = nearest_listed(space, lists, objects, objects, n_neighbors)
    return np.flatnonzero(kernels.voting.wins_every_vote(nearest, codes, codes))


class AllKNN(VotingSelector):
    """All-k edited nearest neighbour rule: drops objects that their 1, 2, ... or k nearest neighbours misclassify.

    All votes are taken in the whole training set. Nothing is dropped before the last vote.

    Parameters
    ----------
    n_neighbors : int, default=3
        Largest number of neighbours that vote. A tied vote goes to the class of the nearest neighbour.
    metric, metric_params, n_jobs, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

    References
    ----------
    I. Tomek, "An experiment with the edited nearest-neighbor rule", IEEE Transactions on Systems, Man
    and Cybernetics 6 (1976) 448-452.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import AllKNN
    >>> X, y = load_iris(return_X_y=True)
    >>> len(AllKNN().fit(X, y).sample_indices_)
    144
    """

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        lists, k = self._search_lists(space)
        return all_knn(space, lists, codes, n_neighbors=k)
