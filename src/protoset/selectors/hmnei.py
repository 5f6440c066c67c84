"""HMN-EI, iterated editing by hit miss networks (Marchiori 2008).

The network joins each object to its nearest neighbour in each class. An object's *hits* are the
objects of its own class that have it as nearest, its *misses* those of other classes. A pass, HMN-E,
marks objects for removal and takes some marks back:

    R1   marked are those with  w misses + epsilon > (1 - w) hits,  w being the share of their class
    R2   a class that has fewer than 4 unmarked: those of it with a hit or a miss stay
    R3   more than 3 classes: those with fewer misses than half the number of classes stay, if they
         have a hit or a miss
    R4   those with hits from at least a quarter of their class stay

Sizes and shares are those of the set that the pass starts from. Passes follow each other, each on the
network of the objects left, until a pass removes nothing or the set makes more errors on the training
set, leave-one-out, than the set before it, which is then the result. The first pass is always made.
R2 leaves something of every class: the nearest of an object of another class has a miss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset._progress import report
from protoset._validation import check_real
from protoset.selectors._class_neighbors import ClassNeighbors, NeighborQueue
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace

FEW = 4
"""R2 looks after classes with fewer unmarked objects."""


def hmnei(
    space: TrainingSpace,
    codes: np.ndarray,
    *,
    epsilon: float = 0.1,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[np.ndarray, int]:
    """Edit a training set until that costs accuracy.

    Parameters
    ----------
    space : TrainingSpace
    codes : ndarray of int
        Class of each object, from 0 on without gaps.
    epsilon, n_jobs, verbose
        As in :class:`HMNEI`.

    Returns
    -------
    kept : ndarray of int
        The objects kept, ascending, at least one of each class.
    n_iter : int
        Passes, the last one of which was without effect.
    """
    report(verbose, "searching the nearest of each class for %d objects", len(codes))
    graph = ClassNeighbors.search(space, codes, n_jobs)
    # As many errors as there can be, so that the first pass is always made.
    n_errors, n_iter = len(codes), 0
    everyone = NeighborQueue.of_nearest(graph.members, graph.nearest(), graph.distances.min(axis=1))
    while True:
        n_iter += 1
        stays = edit(graph.in_degrees(), codes[graph.members], epsilon)
        members = graph.members[stays]
        everyone = everyone.restrict(space, everyone.rows, members)
        is_error = (everyone.nearest < 0) | (codes[everyone.nearest] != codes)
        n_errors_before, n_errors = n_errors, int(is_error.sum())
        report(verbose, "%d of %d objects stay, with %d errors", len(members), len(graph.members), n_errors)
        if stays.all() or n_errors > n_errors_before:
            return graph.members, n_iter
        graph = graph.restrict(space, members)


def edit(degrees: np.ndarray, codes: np.ndarray, epsilon: float) -> np.ndarray:
    """One pass, HMN-E.

    Parameters
    ----------
    degrees : ndarray of shape (n_objects, n_classes)
        How many objects of each class have each object as their nearest in its class.
    codes : ndarray of int
        Class of each object.
    epsilon : float

    Returns
    -------
    ndarray of bool
        Whether each object stays.
    """
    n, n_classes = degrees.shape
    sizes = np.bincount(codes, minlength=n_classes)
    hits = degrees[np.arange(n), codes]
    misses = degrees.sum(axis=1) - hits
    size = sizes[codes]
    # R1 times n, so that only epsilon is rounded.
    stays = size * misses + n * epsilon <= (n - size) * hits
    linked = hits + misses > 0
    unmarked = np.bincount(codes[stays], minlength=n_classes)
    stays |= linked & (unmarked < FEW)[codes]
    if n_classes > 3:
        stays |= linked & (2 * misses < n_classes)
    return stays | (4 * hits >= size)


class HMNEI(BaseSelector):
    """Iterated editing by hit miss networks: drops what is nearest to other classes, and what is nearest to none.

    It removes noise, border objects and objects that nobody has as nearest neighbour, pass after pass,
    until the set left makes more errors.

    Parameters
    ----------
    epsilon : float, default=0.1
        How far hits must outweigh misses; above 0, so that objects that nobody has as nearest are dropped.
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
        Labels of which the method kept nothing; always empty.
    n_distances_ : int
        Dissimilarities asked for; a search for everyone's neighbours asks for each pair once.
    n_iter_ : int
        Passes, the last one of which was without effect.

    References
    ----------
    E. Marchiori, "Hit miss networks with applications to instance selection", Journal of Machine
    Learning Research 9 (2008) 997-1017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import HMNEI
    >>> X, y = load_iris(return_X_y=True)
    >>> len(HMNEI().fit(X, y).sample_indices_)
    89
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.1,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.epsilon = epsilon
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("epsilon", self.epsilon, above=0, remedy="pass a small number such as 0.1")

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        kept, self.n_iter_ = hmnei(space, codes, epsilon=self.epsilon, n_jobs=self.n_jobs, verbose=self.verbose)
        return kept
