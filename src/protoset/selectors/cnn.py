"""CNN, the condensed nearest neighbour rule (Hart 1968).

Objects are visited in a fixed order, round after round. An object that the current set misclassifies
joins the set. The rounds end when a round adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset.selectors._voting import NearestMembers
from protoset.selectors.base import BaseSelector, TieRule
from protoset.spaces import TrainingSpace


def cnn(space: TrainingSpace, codes: np.ndarray, order: np.ndarray, *, tie_rule: TieRule = "majority") -> np.ndarray:
    """Visit all objects in ``order``, whose first object starts the set; return the objects kept, ascending."""
    nearest = NearestMembers.of(space, codes, 1, tie_rule)
    is_member = np.zeros(len(codes), bool)
    added, position = order[0], 0
    while True:
        is_member[added] = True
        nearest.add(np.array([added]), np.flatnonzero(~is_member))
        wrong = (nearest.votes(order, codes) != codes[order]) & ~is_member[order]
        if not wrong.any():
            return np.flatnonzero(is_member)
        # The next misclassified object of this round; if there is none, the first of the next round.
        later = wrong[position + 1 :]
        position = position + 1 + int(later.argmax()) if later.any() else int(wrong.argmax())
        added = order[position]


class CNN(BaseSelector):
    """Condensed nearest neighbour rule: adds objects that the current set misclassifies.

    The set is consistent: the nearest prototype classifies every training object correctly, except where identical
    objects have different labels. The set depends on the order of visits; :class:`FCNN` gives a set that does not.

    Parameters
    ----------
    tie_rule : {"majority", "row_order"}, default="majority"
        Which neighbours vote if several are equally near. "majority": all objects at the distance of the last
        neighbour vote. "row_order": objects in earlier rows count as nearer.
    n_jobs : int, optional
        Not used: this method does no parallel work.
    random_state : int or RandomState, optional
        Shuffles the order of visits. With None objects are visited in the order of the rows.
    metric, metric_params, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

    References
    ----------
    P. E. Hart, "The condensed nearest neighbor rule", IEEE Transactions on Information Theory 14 (1968)
    515-516.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import CNN
    >>> X, y = load_iris(return_X_y=True)
    >>> len(CNN().fit(X, y).sample_indices_)
    24
    """

    def __init__(
        self,
        *,
        tie_rule: TieRule = "majority",
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.tie_rule = tie_rule
        self.random_state = random_state

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        order = np.arange(len(codes))
        if self.random_state is not None:
            order = check_random_state(self.random_state).permutation(order)
        return cnn(space, codes, order, tie_rule=self.tie_rule)
