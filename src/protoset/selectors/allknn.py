"""AllKNN (Tomek 1976): drop what 1, 2 ... or k neighbours misclassify."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset import kernels
from protoset.neighbors import NeighborLists
from protoset.selectors._voting import nearest_listed, search_lists
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace


def all_knn(space: TrainingSpace, lists: NeighborLists, codes: np.ndarray, *, n_neighbors: int = 3) -> np.ndarray:
    """Edit a training set by the votes of the 1, 2 ... ``n_neighbors`` nearest.

    Parameters
    ----------
    space : TrainingSpace
    lists : NeighborLists
        Of the training objects.
    codes : ndarray of int
        Class of each object.
    n_neighbors : int
        The largest number of nearest others that vote.

    Returns
    -------
    ndarray of int
        The objects that win every vote, ascending.
    """
    everyone = np.arange(len(codes))
    nearest = nearest_listed(space, lists, everyone, everyone, n_neighbors)
    return np.flatnonzero(kernels.voting.wins_every_vote(nearest, codes, codes))


class AllKNN(BaseSelector):
    """All-k edited nearest neighbour rule: keeps what the 1, 2 ... and k nearest others vote for.

    All votes are taken in the whole training set; what loses one of them is dropped at the end.

    Parameters
    ----------
    n_neighbors : int, default=3
        The largest number of nearest others that vote; all of them where there are fewer. A tied vote
        goes to the class of the nearest.
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
        return all_knn(space, search_lists(space, k, self.n_jobs, self.verbose), codes, n_neighbors=k)
