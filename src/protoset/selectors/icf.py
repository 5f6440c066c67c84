"""ICF, iterative case filtering (Brighton & Mellish 2002).

The set is edited first. Then, again and again, all objects are dropped at once that have more objects
around them, nearer than any of another class, than they are such an object of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset.neighbors import NeighborLists
from protoset.selectors._enemies import nearest_enemies
from protoset.selectors._voting import search_lists
from protoset.selectors.base import BaseSelector
from protoset.selectors.enn import enn
from protoset.spaces import TrainingSpace


def icf(
    space: TrainingSpace, lists: NeighborLists, codes: np.ndarray, *, n_neighbors: int = 3, n_jobs: int | None = None
) -> tuple[np.ndarray, int]:
    """Filter a training set.

    Parameters
    ----------
    space : TrainingSpace
    lists : NeighborLists
        Of the training objects.
    codes : ndarray of int
        Class of each object.
    n_neighbors : int
        How many nearest others vote in the editing.
    n_jobs : int, optional
        Workers.

    Returns
    -------
    kept : ndarray of int
        The objects kept, ascending; perhaps none of a class, or none at all.
    n_iter : int
        Rounds, the last one of which dropped nothing.
    """
    members = enn(space, lists, codes, n_neighbors=n_neighbors)
    enemies, radii = np.full(len(codes), -1), np.full(len(codes), np.inf)
    open_rows, n_iter = members, 0
    while True:
        enemies[open_rows], radii[open_rows] = nearest_enemies(space, lists, codes, open_rows, members, n_jobs=n_jobs)
        reachable, coverage = count_reachable(space, lists, codes, members, radii)
        dropped = members[reachable[members] > coverage[members]]
        n_iter += 1
        if not len(dropped):
            return members, n_iter
        members = np.setdiff1d(members, dropped, assume_unique=True)
        open_rows = members[np.isin(enemies[members], dropped)]


def count_reachable(
    space: TrainingSpace, lists: NeighborLists, codes: np.ndarray, members: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Count the members nearer to each member than its radius, and the members that it is so near to.

    Parameters
    ----------
    space : TrainingSpace
    lists : NeighborLists
        Of all training objects.
    codes : ndarray of int
        Class of each object.
    members : ndarray of int
        Ascending.
    radii : ndarray
        Distance of each object to the nearest member of another class, so that only members of its own
        are nearer.

    Returns
    -------
    reachable, coverage : ndarray of int64, shape (n_objects,)
        0 for all but members.
    """
    reachable, coverage = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    member = np.zeros(len(codes), bool)
    member[members] = True
    reach = np.full(len(codes), -np.inf)
    listed = np.diff(lists.indptr) > 0
    reach[listed] = lists.distances[lists.indptr[1:][listed] - 1]
    near = reach[members] >= radii[members]
    kernels.dropping.count_listed(
        lists.indptr, lists.indices, lists.distances, members[near], radii[members[near]], member, reachable, coverage
    )
    far = members[~near]
    for code in np.unique(codes[far]):
        rows, columns = far[codes[far] == code], members[codes[members] == code]
        for part in row_slices(len(rows), len(columns) * 8):
            block = space.block(rows[part], columns)
            kernels.dropping.count_within(block, rows[part], columns, radii[rows[part]], reachable, coverage)
    return reachable, coverage


class ICF(BaseSelector):
    """Iterative case filtering: drops the objects that others stand for more than they stand for others.

    First, objects that their nearest others misclassify are dropped, as in :class:`ENN`. Then rounds
    follow. In each round, and among the objects that are still kept in it,

    - the reachable set of an object holds all others that are strictly nearer to it than its nearest
      enemy, the nearest object of another class;
    - the coverage set of an object holds all others that have it in their reachable sets;
    - all objects whose reachable set is larger than their coverage set are dropped at once.

    The rounds end when nothing is dropped. Without any enemy, where a single class is left, all others
    are reachable for each object, so that nothing more is dropped.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many nearest others vote in the editing; all of them where there are fewer. A tied vote
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
    n_iter_ : int
        Rounds after the editing, the last one of which dropped nothing.
    n_distances_ : int
        Dissimilarities asked for; a search for everyone's neighbours asks for each pair once.

    References
    ----------
    H. Brighton and C. Mellish, "Advances in instance selection for instance-based learning
    algorithms", Data Mining and Knowledge Discovery 6 (2002) 153-172.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import ICF
    >>> X, y = load_iris(return_X_y=True)
    >>> len(ICF().fit(X, y).sample_indices_)
    58
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
        kept, self.n_iter_ = icf(space, lists, codes, n_neighbors=k, n_jobs=self.n_jobs)
        return kept
