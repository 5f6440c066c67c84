"""HMN-EI, iterated editing by hit miss networks (Marchiori 2008).

The network joins each object to its nearest neighbour in each class. The *hits* of an object are the objects of its own
class that have it as nearest neighbour; its *misses* are such objects of other classes. An object with a hit or a miss
is *linked*. A pass (HMN-E) marks objects for removal by rule R1, and the rules R2 to R4 take some marks back:

    R1   mark objects with  w misses + epsilon > (1 - w) hits,  where w is the share of their class
    R2   keep the linked objects of a class that has fewer than 4 unmarked objects
    R3   with more than 3 classes, keep linked objects with fewer misses than half the number of classes
    R4   keep objects with hits from at least a quarter of their class

Sizes and shares are taken from the set at the start of the pass. Each pass works on the network of the remaining
objects. The passes end when a pass removes nothing, or when the set makes more leave-one-out errors on the training set
than the set before it; the set before it is then the result. The first pass is always accepted. R2 keeps every class:
the nearest neighbour of an object of another class has a miss.
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

MIN_UNMARKED = 4
"""Rule R2 applies to classes with fewer unmarked objects."""


def hmnei(
    space: TrainingSpace,
    codes: np.ndarray,
    *,
    epsilon: float = 0.1,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[np.ndarray, int]:
    """Edit a training set until editing costs accuracy; ``codes`` are numbered without gaps.

    Returns the objects kept, ascending, at least one of each class, and the number of passes with the last one, which
    has no effect.
    """
    report(verbose, "searching the nearest of each class for %d objects", len(codes))
    graph = ClassNeighbors.search(space, codes, n_jobs)
    # The largest possible number of errors, so that the first pass is always accepted.
    n_errors, n_iter = len(codes), 0
    queue = NeighborQueue.of_nearest(graph.members, graph.nearest(), graph.distances.min(axis=1))
    while True:
        n_iter += 1
        stays = edit(graph.in_degrees(), codes[graph.members], epsilon)
        members = graph.members[stays]
        queue = queue.restrict(space, queue.rows, members)
        is_error = (queue.nearest < 0) | (codes[queue.nearest] != codes)
        n_errors_before, n_errors = n_errors, int(is_error.sum())
        report(verbose, "%d of %d objects remain, with %d errors", len(members), len(graph.members), n_errors)
        if stays.all() or n_errors > n_errors_before:
            return graph.members, n_iter
        graph = graph.restrict(space, members)


def edit(degrees: np.ndarray, codes: np.ndarray, epsilon: float) -> np.ndarray:
    """One pass (HMN-E): whether each object stays.

    ``degrees[i, c]`` is the number of objects of class c whose nearest neighbour in the class of i is i.
    """
    n, n_classes = degrees.shape
    sizes = np.bincount(codes, minlength=n_classes)
    hits = degrees[np.arange(n), codes]
    misses = degrees.sum(axis=1) - hits
    size = sizes[codes]
    # R1 is multiplied by n, so that only epsilon is rounded.
    stays = size * misses + n * epsilon <= (n - size) * hits
    linked = hits + misses > 0
    n_unmarked = np.bincount(codes[stays], minlength=n_classes)
    stays |= linked & (n_unmarked < MIN_UNMARKED)[codes]
    if n_classes > 3:
        stays |= linked & (2 * misses < n_classes)
    return stays | (4 * hits >= size)


class HMNEI(BaseSelector):
    """Iterated editing by hit miss networks: drops objects that are mostly the nearest neighbour of other classes.

    Each pass removes noise, border objects, and objects that are nearest neighbour of no object. The passes end when
    the remaining set makes more errors.

    Parameters
    ----------
    epsilon : float, default=0.1
        Margin by which hits must outweigh misses. It is above 0, so that objects without hits and misses are dropped.
    metric, metric_params, n_jobs, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    n_iter_ : int
        Passes, including the last one, which has no effect.
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

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
    88
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.1,
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.epsilon = epsilon

    def _check_parameters(self) -> dict[str, Any]:
        remedy = "pass a small number such as 0.1"
        return super()._check_parameters() | {"epsilon": check_real("epsilon", self.epsilon, above=0, remedy=remedy)}

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        kept, self.n_iter_ = hmnei(space, codes, epsilon=self.epsilon, n_jobs=self.n_jobs, verbose=self.verbose)
        return kept
