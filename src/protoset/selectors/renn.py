"""RENN, the repeated edited nearest neighbour rule (Tomek 1976): edit until no object is misclassified."""

from __future__ import annotations

import numpy as np

from protoset.neighbors import NeighborLists
from protoset.selectors._voting import VotingSelector, outvoted
from protoset.selectors.base import TieRule
from protoset.spaces import TrainingSpace


def renn(
    space: TrainingSpace,
    lists: NeighborLists,
    codes: np.ndarray,
    *,
    n_neighbors: int = 3,
    tie_rule: TieRule = "majority",
) -> tuple[np.ndarray, int]:
    """Edit until the votes of the remaining objects drop no object.

    Returns the objects kept, ascending, and the number of rounds with the last one, which drops nothing.
    """
    kept, n_iter = np.arange(len(codes)), 0
    while True:
        dropped = outvoted(space, lists, codes, kept, n_neighbors, tie_rule)
        kept, n_iter = kept[~dropped], n_iter + 1
        if not dropped.any():
            return kept, n_iter


class RENN(VotingSelector):
    """Repeated edited nearest neighbour rule: repeats :class:`ENN` until no object is dropped.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of remaining neighbours that vote. A tied vote goes to the class of the nearest neighbour.
    tie_rule : {"majority", "row_order"}, default="majority"
        Which neighbours vote if several are equally near. "majority": all objects at the distance of the last
        neighbour vote. "row_order": objects in earlier rows count as nearer.
    metric, metric_params, n_jobs, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    n_iter_ : int
        Rounds of editing, including the last one, which drops nothing.
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

    References
    ----------
    I. Tomek, "An experiment with the edited nearest-neighbor rule", IEEE Transactions on Systems, Man
    and Cybernetics 6 (1976) 448-452.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import RENN
    >>> X, y = load_iris(return_X_y=True)
    >>> len(RENN().fit(X, y).sample_indices_)
    143
    """

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        lists, k = self._search_lists(space)
        kept, self.n_iter_ = renn(space, lists, codes, n_neighbors=k, tie_rule=self.tie_rule)
        return kept
