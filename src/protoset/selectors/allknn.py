"""AllKNN (Tomek 1976): drop every object that its 1, 2, ... or k nearest neighbours misclassify."""

from __future__ import annotations

import numpy as np

from protoset.neighbors import NeighborLists
from protoset.selectors._voting import VotingSelector, outvoted
from protoset.selectors.base import TieRule
from protoset.spaces import TrainingSpace


def all_knn(
    space: TrainingSpace,
    lists: NeighborLists,
    codes: np.ndarray,
    *,
    n_neighbors: int = 3,
    tie_rule: TieRule = "majority",
) -> np.ndarray:
    """Return the objects whose class wins the votes of 1, 2, ... and ``n_neighbors`` nearest neighbours, ascending."""
    return np.flatnonzero(~outvoted(space, lists, codes, np.arange(len(codes)), n_neighbors, tie_rule, every=True))


class AllKNN(VotingSelector):
    """All-k edited nearest neighbour rule: repeats the vote of :class:`ENN` with 1 to k neighbours.

    An object is dropped if its 1, 2, ... or ``n_neighbors`` nearest neighbours vote for another class. All votes use
    the whole training set: objects are dropped only after the last vote.

    Parameters
    ----------
    n_neighbors : int, default=3
        Largest number of neighbours that vote. A tied vote goes to the class of the nearest neighbour.
    tie_rule : {"majority", "row_order"}, default="majority"
        Which neighbours vote if several are equally near. "majority": all objects at the distance of the last
        neighbour vote. "row_order": objects in earlier rows count as nearer.
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
    143
    """

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        lists, k = self._search_lists(space)
        return all_knn(space, lists, codes, n_neighbors=k, tie_rule=self.tie_rule)
