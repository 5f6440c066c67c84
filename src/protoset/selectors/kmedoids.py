"""K-medoids of each class, by swaps that lower the sum of distances, found as in FasterPAM.

Every member of a class knows its nearest and second nearest medoid. One pass over the distances to a
candidate then gives the change in the sum for each medoid that the candidate may replace. The first
swap that lowers the sum is made at once.
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

CANDIDATES_PER_BLOCK = 64
"""Number of candidates whose distances are computed at a time."""


@dataclass(frozen=True, eq=False)
class Medoids:
    """Medoids of a group, ascending, and the sum of the distances of the members to their nearest medoid (``loss``).

    ``n_iter`` counts passes over the candidates. Unless the limit is reached, the last pass makes no swap.
    """

    indices: np.ndarray
    loss: float
    n_iter: int
    n_swaps: int


def k_medoids(space: TrainingSpace, members: np.ndarray, medoids: np.ndarray, *, max_iter: int = 100) -> Medoids:
    """Improve the medoids of a group until no swap of one of them for another member lowers the loss.

    ``members`` are ascending. ``max_iter`` limits the passes over the candidates.
    """
    if len(medoids) == 1:
        best = np.array([medoid(space, members)])
        return Medoids(best, float(space.block(members, best).sum()), 1, int(best[0] != medoids[0]))
    search = _SwapSearch(space, members, medoids)
    n_iter, since_swap = 0, 0
    while since_swap < len(members) and n_iter < max_iter:
        n_iter += 1
        for start in range(0, len(members), CANDIDATES_PER_BLOCK):
            since_swap = search.try_candidates(members[start : start + CANDIDATES_PER_BLOCK], since_swap)
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
        """Swap in the candidates that lower the loss; return how many were tried since the last swap."""
        block = np.asfortranarray(self.space.block(self.members, candidates))
        first = 0
        while True:
            is_medoid = np.isin(candidates, self.medoids)
            entering, leaving = kernels.medoids.improving_swap(
                block, first, is_medoid, self.nearest, self.distances, len(self.medoids)
            )
            if entering < 0:
                return since_swap + len(candidates) - first
            since_swap, first = 0, entering + 1
            self._swap(leaving, candidates[entering], block[:, entering])

    def _swap(self, leaving: int, entering: int, distances: np.ndarray) -> None:
        self.medoids[leaving] = entering
        self.n_swaps += 1
        orphaned = np.flatnonzero((self.nearest == leaving).any(axis=1))
        kernels.medoids.take_in(leaving, distances, self.nearest, self.distances)
        self._find_two_nearest(orphaned)

    def _find_two_nearest(self, rows: np.ndarray) -> None:
        """Find the two nearest medoids of the members at positions ``rows``, as positions among the medoids."""
        for block in row_slices(len(rows), len(self.medoids) * 8):
            distances = self.space.block(self.members[rows[block]], self.medoids)
            self.nearest[rows[block]], self.distances[rows[block]] = kernels.medoids.two_smallest(distances)


class KMedoids(BaseSelector):
    """K-medoids of each class: the objects with the smallest sum of distances to their class.

    The medoids are typical of their class. The other classes have no influence on the choice.

    Parameters
    ----------
    n_prototypes : int or float, default=0.1
        Number of objects to keep. An int is a count, at least the number of classes. A float in (0, 1] is
        a rate, which keeps at least one object per class.
    allocation : {"proportional", "equal"}, default="proportional"
        Prototypes per class: proportional to the class sizes, or as equal as the classes allow.
    max_iter : int, default=100
        Largest number of passes over the candidates of a class. A few are usually enough.
    n_jobs : int, optional
        Not used: this method does no parallel work.
    random_state : int or RandomState, optional
        Draws the first medoids.
    metric, metric_params, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    loss_ : float
        Sum of the distances of all objects to the nearest prototype of their class.
    n_iter_ : int
        Largest number of passes over the candidates of a class.
    n_swaps_ : int
        Number of swaps, over all classes.
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

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
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.n_prototypes = n_prototypes
        self.allocation = allocation
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> dict[str, Any]:
        return {
            **super()._check_parameters(),
            "n_prototypes": check_size(self.n_prototypes),
            "allocation": check_choice("allocation", self.allocation, STRATIFIED),
            "max_iter": check_count("max_iter", self.max_iter, least=1, remedy="the default is max_iter=100"),
        }

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        class_sizes = np.bincount(codes)
        size = resolve_size(self.n_prototypes, class_sizes, self.allocation)
        random_state = check_random_state(self.random_state)
        by_class = []
        for code, n_medoids in enumerate(allocate(size, class_sizes, self.allocation)):
            members = np.flatnonzero(codes == code)
            report(self.verbose, "searching %d medoids of %d objects", n_medoids, len(members))
            start = random_state.permutation(members)[:n_medoids]
            by_class.append(k_medoids(space, members, start, max_iter=self.max_iter))
        self.loss_ = sum(medoids.loss for medoids in by_class)
        self.n_iter_ = max(medoids.n_iter for medoids in by_class)
        self.n_swaps_ = sum(medoids.n_swaps for medoids in by_class)
        return np.concatenate([medoids.indices for medoids in by_class])
