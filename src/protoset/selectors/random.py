"""Stratified random selection: the baseline that every method has to beat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset._validation import check_choice
from protoset.selectors.allocation import STRATIFIED, Allocation, check_size, cut, resolve_size
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace


class RandomSelector(BaseSelector):
    """Stratified random selection.

    Parameters
    ----------
    n_prototypes : int or float, default=0.1
        Number of objects to keep. An int is a count, at least the number of classes. A float in (0, 1] is
        a rate, which keeps at least one object per class.
    allocation : {"proportional", "equal"}, default="proportional"
        Prototypes per class: proportional to the class sizes, or as equal as the classes allow.
    metric : str or callable, default="auto"
        Dissimilarity for the classifier that uses the set; see :class:`REPS`. The selection does not use it.
    metric_params : dict, optional
        Arguments of the metric.
    n_jobs : int, optional
        Not used: this method does no parallel work.
    random_state : int or RandomState, optional
        Draws the objects.
    verbose : int, default=0
        Above 0, report progress on stderr.

    Attributes
    ----------
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import RandomSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> len(RandomSelector(0.1, random_state=0).fit(X, y).sample_indices_)
    15
    """

    _takes_graphs = True

    def __init__(
        self,
        n_prototypes: int | float = 0.1,
        *,
        allocation: Allocation = "proportional",
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.n_prototypes = n_prototypes
        self.allocation = allocation
        self.random_state = random_state

    def _check_parameters(self) -> dict[str, Any]:
        return {
            **super()._check_parameters(),
            "n_prototypes": check_size(self.n_prototypes),
            "allocation": check_choice("allocation", self.allocation, STRATIFIED),
        }

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        size = resolve_size(self.n_prototypes, np.bincount(codes), self.allocation)
        order = check_random_state(self.random_state).permutation(len(codes))
        return cut(order, codes, size, self.allocation)
