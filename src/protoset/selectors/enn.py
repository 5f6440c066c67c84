"""ENN, the edited nearest neighbour rule (Wilson 1972): drop every object that its neighbours misclassify."""

from __future__ import annotations

import numpy as np

from protoset.neighbors import NeighborLists
from protoset.selectors._voting import VotingSelector, outvoted
from protoset.selectors.base import TieRule
from protoset.spaces import TrainingSpace


def enn(
    space: TrainingSpace,
    lists: NeighborLists,
    codes: np.ndarray,
    *,
    n_neighbors: int = 3,
    tie_rule: TieRule = "majority",
) -> np.ndarray:
    """Return the objects that their neighbours do not outvote, ascending. A class may lose all its objects."""
    return np.flatnonzero(~outvoted(space, lists, codes, np.arange(len(codes)), n_neighbors, tie_rule))


class ENN(VotingSelector):
    """Edited nearest neighbour rule: drops objects whose nearest neighbours vote for another class.

    It removes noise, smooths the borders between classes, and keeps most objects. The only object of a class is always
    dropped by the vote, and then added again as the medoid of its class.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of neighbours that vote. A tied vote goes to the class of the nearest neighbour.
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
    D. L. Wilson, "Asymptotic properties of nearest neighbor rules using edited data", IEEE
    Transactions on Systems, Man and Cybernetics 2 (1972) 408-421.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import ENN
    >>> X, y = load_iris(return_X_y=True)
    >>> len(ENN().fit(X, y).sample_indices_)
    143
    """

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        lists, k = self._search_lists(space)
        return enn(space, lists, codes, n_neighbors=k, tie_rule=self.tie_rule)
