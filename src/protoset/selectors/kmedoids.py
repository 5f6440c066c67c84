"""K-medoids of each class, by swaps that each lower the sum of distances (as FasterPAM finds them).

Every member of a class has its nearest and its second nearest medoid. So the change that a candidate
would bring, in place of each of the medoids at once, is one pass over the distances to the candidate;
a candidate that improves is swapped in at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset import kernels
from protoset._blocks import row_slices
from protoset._progress import report
from protoset._validation import check_choice, check_count
from protoset.selectors._medoids import medoid
from protoset.selectors.allocation import STRATIFIED, Allocation, allocate, check_size, resolve_size
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace

CANDIDATES = 64
"""Candidates whose distances are computed at a time."""


@dataclass(frozen=True, eq=False)
class Medoids:
    """Medoids of a group.

    Attributes
    ----------
    indices : ndarray of int
        Ascending.
    loss : float
        Sum of the members' distances to their nearest medoid.
    n_iter, n_swaps : int
        Passes over the candidates, the last one without a swap unless it was the last allowed, and swaps made.
    """

    indices: np.ndarray
    loss: float
    n_iter: int
    n_swaps: int


def k_medoids(space: TrainingSpace, members: np.ndarray, medoids: np.ndarray, *, max_iter: int = 100) -> Medoids:
    """Improve the medoids of a group until no swap of one of them for another member lowers the loss.

    Parameters
    ----------
    space : TrainingSpace
    members : ndarray of int
        The group, ascending.
    medoids : ndarray of int
        The members to start from.
    max_iter : int
        Passes over the candidates.

    Returns
    -------
    Medoids
    """
    if len(medoids) == 1:
        best = np.array([medoid(space, members)])
        return Medoids(best, float(space.block(members, best).sum()), 1, int(best[0] != medoids[0]))
    search = _SwapSearch(space, members, medoids)
    n_iter, since_swap = 0, 0
    while since_swap < len(members) and n_iter < max_iter:
        n_iter += 1
        for start in range(0, len(members), CANDIDATES):
            since_swap = search.try_candidates(members[start : start + CANDIDATES], since_swap)
            if since_swap >= len(members):
                break
    return Medoids(np.sort(search.medoids), search.loss, n_iter, search.n_swaps)


class _SwapSearch:
    """The medoids of a group, and the two nearest medoids of each member."""

    def __init__(self, space: TrainingSpace, members: np.ndarray, medoids: np.ndarray):
        self.space, self.members, self.medoids = space, members, np.array(medoids)
        self.n_swaps = 0
        self.nearest = np.empty((len(members), 2), np.int64)
        self.distances = np.empty((len(members), 2))
        self._find_two_nearest(np.arange(len(members)))

    @property
    def loss(self) -> float:
        return float(self.distances[:, 0].sum())

    def try_candidates(self, candidates: np.ndarray, since_swap: int) -> int:
        """Swap in the candidates that improve; return how many were tried since the last swap."""
        block = np.asfortranarray(self.space.block(self.members, candidates))
        place = 0
        while True:
            is_medoid = np.isin(candidates, self.medoids)
            found, leaving = kernels.medoids.improving_swap(
                block, place, is_medoid, self.nearest, self.distances, len(self.medoids)
            )
            if found < 0:
                return since_swap + len(candidates) - place
            since_swap, place = 0, found + 1
            self._swap(leaving, candidates[found], block[:, found])

    def _swap(self, leaving: int, entering: int, distances: np.ndarray) -> None:
        self.medoids[leaving] = entering
        self.n_swaps += 1
        orphaned = np.flatnonzero((self.nearest == leaving).any(axis=1))
        kernels.medoids.take_in(leaving, distances, self.nearest, self.distances)
        self._find_two_nearest(orphaned)

    def _find_two_nearest(self, rows: np.ndarray) -> None:
        """Find the two nearest medoids of the members at the given positions, as positions among the medoids."""
        for part in row_slices(len(rows), len(self.medoids) * 8):
            block = self.space.block(self.members[rows[part]], self.medoids)
            self.nearest[rows[part]], self.distances[rows[part]] = kernels.medoids.two_smallest(block)


class KMedoids(BaseSelector):
    """K-medoids of each class: the members that are nearest to all others.

    Typical objects, chosen without regard to the other classes.

    Parameters
    ----------
    n_prototypes : int or float, default=0.1
        How many objects to keep: a count of at least the number of classes, or a rate in (0, 1],
        which always keeps at least one object per class.
    allocation : {"proportional", "equal"}, default="proportional"
        Places per class: proportional to its size, or as equal as the classes allow.
    max_iter : int, default=100
        Passes over the candidates of a class; a few are usually enough.
    metric : str or callable, default="euclidean"
        Dissimilarity between objects, as in :class:`REPS`.
    metric_params : dict, optional
        Arguments of the metric.
    n_jobs : int, optional
        Workers of searches; this method makes none.
    random_state : int or RandomState, optional
        Draws the medoids to start from.
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
    loss_ : float
        Sum of the distances of all objects to the nearest prototype of their class.
    n_iter_ : int
        Passes over the candidates, the most that a class took.
    n_swaps_ : int
        Medoids swapped, over all classes.

    References
    ----------
    E. Schubert and P. J. Rousseeuw, "Fast and eager k-medoids clustering", Information Systems 101 (2021)
    101804.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import KMedoids
    >>> X, y = load_iris(return_X_y=True)
    >>> len(KMedoids(9, random_state=0).fit(X, y).sample_indices_)
    9
    """

    def __init__(
        self,
        n_prototypes: int | float = 0.1,
        *,
        allocation: Allocation = "proportional",
        max_iter: int = 100,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.n_prototypes = n_prototypes
        self.allocation = allocation
        self.max_iter = max_iter
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_size(self.n_prototypes)
        check_choice("allocation", self.allocation, STRATIFIED)
        check_count("max_iter", self.max_iter, least=1, remedy="the default is max_iter=100")

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        class_sizes = np.bincount(codes)
        size = resolve_size(self.n_prototypes, class_sizes, self.allocation)
        random_state = check_random_state(self.random_state)
        found = []
        for code, places in enumerate(allocate(size, class_sizes, self.allocation)):
            members = np.flatnonzero(codes == code)
            report(self.verbose, "looking for %d medoids of %d objects", places, len(members))
            start = random_state.permutation(members)[:places]
            found.append(k_medoids(space, members, start, max_iter=self.max_iter))
        self.loss_ = sum(medoids.loss for medoids in found)
        self.n_iter_ = max(medoids.n_iter for medoids in found)
        self.n_swaps_ = sum(medoids.n_swaps for medoids in found)
        return np.concatenate([medoids.indices for medoids in found])
