"""DROP3, the third decremental reduction procedure (Wilson & Martinez 2000).

The set is edited first. Then its objects are visited, those far from other classes first, and one is
dropped where those that have it as a neighbour are classified as well without it.

The neighbours of an object are read from a list of candidates that is longer than a vote needs. When
one is dropped, the next candidate takes its place; where a list has run out, it is filled with the
nearest of the objects that are left, together with all lists that are about to run out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset.neighbors import NeighborLists
from protoset.selectors import _voting
from protoset.selectors._enemies import nearest_enemies
from protoset.selectors.base import BaseSelector
from protoset.selectors.enn import enn
from protoset.spaces import TrainingSpace, smallest_of

RESERVE = 4
"""Lists with fewer candidates left are filled whenever one has run out."""

CANDIDATE_BYTES = 256 * 2**20
"""Memory that the lists of candidates may grow to."""


def drop3(
    space: TrainingSpace, lists: NeighborLists, codes: np.ndarray, *, n_neighbors: int = 1, n_jobs: int | None = None
) -> np.ndarray:
    """Reduce a training set.

    Parameters
    ----------
    space : TrainingSpace
    lists : NeighborLists
        Of the training objects.
    codes : ndarray of int
        Class of each object.
    n_neighbors : int
        How many nearest others vote.
    n_jobs : int, optional
        Workers.

    Returns
    -------
    ndarray of int
        The objects kept, ascending; perhaps none of a class, or none at all.
    """
    edited = enn(space, lists, codes, n_neighbors=n_neighbors)
    _, distances = nearest_enemies(space, lists, codes, edited, edited, n_jobs=n_jobs)
    order = edited[np.argsort(-distances, kind="stable")]
    candidates = CandidateLists(space, lists, edited, n_neighbors + 1)
    neighbors = candidates.listed[:, : n_neighbors + 1].astype(np.int64)
    head, following = np.empty(len(neighbors), np.int64), np.empty(neighbors.size, np.int64)
    kernels.associates.link_associates(edited, neighbors, head, following)
    position = 0
    while True:
        lists_of_candidates = candidates.listed, candidates.complete, candidates.cursors
        position = kernels.dropping.drop_in_order(
            order, position, codes, *lists_of_candidates, candidates.kept, neighbors, head, following
        )
        if position == len(order):
            return np.flatnonzero(candidates.kept)
        candidates.fill(RESERVE)


class CandidateLists:
    """Who may become a neighbour of each object of an edited set, nearest first.

    Parameters
    ----------
    space : TrainingSpace
    lists : NeighborLists
        Of all training objects.
    edited : ndarray of int
        The objects of the edited set, ascending.
    n_neighbors : int
        Neighbours that each object has.

    Attributes
    ----------
    kept : ndarray of bool
        Which training objects are kept.
    listed : ndarray of int32, shape (n_objects, length)
        The nearest objects that were kept when the list was filled, up to the first -1.
    complete : ndarray of bool
        Whether the list holds all of them.
    cursors : ndarray of int64
        Where in its list each object finds its next neighbour.
    """

    def __init__(self, space: TrainingSpace, lists: NeighborLists, edited: np.ndarray, n_neighbors: int):
        n = space.shape[0]
        self._space, self._edited, self._n_neighbors = space, edited, n_neighbors
        self._n_distances = 0
        length = max(2 * n_neighbors, _voting.LIST_LENGTH)
        self.kept = np.zeros(n, bool)
        self.kept[edited] = True
        self.listed = np.full((n, length), -1, np.int32)
        self.listed[edited] = lists.first_members(edited, self.kept, length)
        self.complete = (self.listed[:, -1] < 0) & (np.diff(lists.indptr) == n - 1)
        self.cursors = np.zeros(n, np.int64)
        self.fill(n_neighbors)
        self.cursors[:] = n_neighbors

    def fill(self, reserve: int) -> None:
        """Fill the lists that have fewer than ``reserve`` candidates left."""
        short = kernels.dropping.running_out(self._edited, self.listed, self.complete, self.cursors, self.kept, reserve)
        rows, members = self._edited[short], np.flatnonzero(self.kept)
        self._lengthen(len(rows) * len(members))
        for part in row_slices(len(rows), len(members) * 8):
            self._fill(rows[part], members)

    def _lengthen(self, n_distances: int) -> None:
        """Double the lists each time that filling them has cost half a search for everyone's neighbours.

        It costs as much where classes are swept from one side, as on a line: the dropped objects then have
        the same candidates, and all their lists run out at once, again and again.
        """
        n, length = self.listed.shape
        self._n_distances += n_distances
        half_a_search = n * n // 4  # as a search takes each pair once
        if self._n_distances > half_a_search and 2 * length * n * self.listed.itemsize <= CANDIDATE_BYTES:
            self._n_distances = 0
            self.listed = np.hstack([self.listed, np.full((n, length), -1, np.int32)])

    def _fill(self, rows: np.ndarray, members: np.ndarray) -> None:
        """List the nearest of the kept objects, which are ``members``, for each of ``rows``."""
        length = self.listed.shape[1]
        own = np.where(self.kept[rows], np.searchsorted(members, rows), -1)
        nearest = smallest_of(self._space.block(rows, members), own, min(length, len(members)), length)
        filled = np.full((len(rows), length), -1, np.int32)
        filled[np.arange(length) < nearest.counts[:, None]] = members[nearest.indices]
        self.listed[rows] = filled
        self.complete[rows] = nearest.counts == len(members) - self.kept[rows]
        # A filled list begins with the present neighbours, the nearest of the kept; the next one comes after them.
        self.cursors[rows] = self._n_neighbors


class DROP3(BaseSelector):
    """Decremental reduction: drops the objects without which the others are classified as well.

    First, objects that their nearest others misclassify are dropped as noise, as in :class:`ENN`. Each
    object of the edited set then has its ``n_neighbors + 1`` nearest kept others as neighbours, and
    those that have it as a neighbour are its associates. Objects are visited once, by their distance to
    the nearest object of another class in the edited set, farthest first, equal distances by index. One
    is dropped if at least as many of its associates are classified correctly by their ``n_neighbors``
    nearest kept others without it as with it; its associates then get the next nearest kept object as a
    neighbour. Dropped objects stay associates, but are no neighbours; the noise is neither.

    Without another class in the edited set all distances to it are infinite, so that objects are
    visited by index. An object without any neighbour is not classified correctly.

    Parameters
    ----------
    n_neighbors : int, default=1
        How many nearest others vote; all of them where there are fewer. A tied vote goes to the class
        of the nearest. The publication uses 3.
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
    D. R. Wilson and T. R. Martinez, "Reduction techniques for instance-based learning algorithms",
    Machine Learning 38 (2000) 257-286.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import DROP3
    >>> X, y = load_iris(return_X_y=True)
    >>> len(DROP3().fit(X, y).sample_indices_)
    9
    """

    def __init__(
        self,
        n_neighbors: int = 1,
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
        lists = _voting.search_lists(space, k + 1, self.n_jobs, self.verbose)
        return drop3(space, lists, codes, n_neighbors=k, n_jobs=self.n_jobs)
