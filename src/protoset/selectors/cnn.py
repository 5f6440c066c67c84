"""CNN, the condensed nearest neighbour rule (Hart 1968).

Objects are visited in turn, round after round; one that the set so far misclassifies joins it. A round
that adds nothing is the last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset.selectors._voting import NearestMembers
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace


def cnn(space: TrainingSpace, codes: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Condense a training set.

    Parameters
    ----------
    space : TrainingSpace
    codes : ndarray of int
        Class of each object.
    order : ndarray of int
        All objects in the order in which they are visited; the set starts with the first one.

    Returns
    -------
    ndarray of int
        The objects kept, ascending.
    """
    nearest = NearestMembers(space, 1)
    is_member = np.zeros(len(codes), bool)
    added, place = order[0], 0
    while True:
        is_member[added] = True
        nearest.add(np.array([added]), np.flatnonzero(~is_member))
        wrong = (codes[nearest.neighbors[order, 0]] != codes[order]) & ~is_member[order]
        if not wrong.any():
            return np.flatnonzero(is_member)
        # The next one in this round; if there is none, the first one of the next round.
        later = wrong[place + 1 :]
        place = place + 1 + int(later.argmax()) if later.any() else int(wrong.argmax())
        added = order[place]


class CNN(BaseSelector):
    """Condensed nearest neighbour rule: adds objects that the set so far misclassifies.

    The set is consistent: the nearest prototype classifies every training object correctly, except
    where identical objects have different labels. It depends on the order in which objects are
    visited; see :class:`FCNN` for a set that does not.

    Parameters
    ----------
    metric : str or callable, default="euclidean"
        Dissimilarity between objects, as in :class:`REPS`.
    metric_params : dict, optional
        Arguments of the metric.
    n_jobs : int, optional
        Workers of searches; this method makes none.
    random_state : int or RandomState, optional
        Shuffles the order in which objects are visited; with None it is the order of the rows.
    verbose : int, default=0
        Above 0, print the stages to stderr.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The objects kept, ascending.
    classes_ : ndarray
        The labels, sorted.
    fallback_classes_ : ndarray
        Labels of which the method kept nothing; always empty.
    n_distances_ : int
        Dissimilarities asked for; a search for everyone's neighbours asks for each pair once.

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
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        order = np.arange(len(codes))
        if self.random_state is not None:
            order = check_random_state(self.random_state).permutation(order)
        return cnn(space, codes, order)
