"""RENN, the repeated edited nearest neighbour rule (Tomek 1976): edit until nothing is misclassified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset.neighbors import NeighborLists
from protoset.selectors._voting import outvoted, search_lists
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace


def renn(
    space: TrainingSpace, lists: NeighborLists, codes: np.ndarray, *, n_neighbors: int = 3
) -> tuple[np.ndarray, int]:
    """Edit a training set until its own votes confirm all of it.

    Parameters
    ----------
    space : TrainingSpace
    lists : NeighborLists
        Of the training objects.
    codes : ndarray of int
        Class of each object.
    n_neighbors : int
        How many nearest others vote, among those that are left.

    Returns
    -------
    kept : ndarray of int
        The objects kept, ascending.
    n_iter : int
        Rounds, the last one of which dropped nothing.
    """
    kept, n_iter = np.arange(len(codes)), 0
    while True:
        dropped = outvoted(space, lists, codes, kept, n_neighbors)
        kept, n_iter = kept[~dropped], n_iter + 1
        if not dropped.any():
            return kept, n_iter


class RENN(BaseSelector):
    """Repeated edited nearest neighbour rule: ENN again and again, until it drops nothing.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many nearest of the others that are left vote; all of them where there are fewer. A tied
        vote goes to the class of the nearest.
    metric : str or callable, default="euclidean"
        Dissimilarity between objects, as in :class:`REPS`.
    metric_params : dict, optional
        Arguments of the metric.
    n_jobs : int, optional
        Workers of the neighbour search. Changes no result.
    verbose : int, default=0
        Above 0, print the stages to stderr.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The objects kept, ascending.
    classes_ : ndarray
        The labels, sorted.
    fallback_classes_ : ndarray
        The labels of which the method kept nothing, so that the medoid of the class was added.
    n_distances_ : int
        Dissimilarities asked for; a search for everyone's neighbours asks for each pair once.
    n_iter_ : int
        Rounds of editing, the last one of which dropped nothing.

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
    144
    """

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        k = min(self.n_neighbors, len(codes) - 1)
        lists = search_lists(space, k, self.n_jobs, self.verbose)
        kept, self.n_iter_ = renn(space, lists, codes, n_neighbors=k)
        return kept
