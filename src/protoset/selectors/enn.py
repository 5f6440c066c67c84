"""ENN, the edited nearest neighbour rule (Wilson 1972): drop what its neighbours misclassify."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset.neighbors import NeighborLists
from protoset.selectors._voting import outvoted, search_lists
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace


def enn(space: TrainingSpace, lists: NeighborLists, codes: np.ndarray, *, n_neighbors: int = 3) -> np.ndarray:
    """Edit a training set.

    Parameters
    ----------
    space : TrainingSpace
    lists : NeighborLists
        Of the training objects.
    codes : ndarray of int
        Class of each object.
    n_neighbors : int
        How many nearest others vote.

    Returns
    -------
    ndarray of int
        The objects kept, ascending; none of a class, or none at all, if all of them are outvoted.
    """
    return np.flatnonzero(~outvoted(space, lists, codes, np.arange(len(codes)), n_neighbors))


class ENN(BaseSelector):
    """Edited nearest neighbour rule: drops the objects whose nearest others vote for another class.

    It removes noise and smooths the borders between classes, and keeps most objects.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many nearest others vote; all of them where there are fewer. A tied vote goes to the class
        of the nearest. A class with a single member is always outvoted.
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
        return enn(space, search_lists(space, k, self.n_jobs, self.verbose), codes, n_neighbors=k)
