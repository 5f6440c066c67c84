"""ICF, iterative case filtering (Brighton & Mellish 2002).

The set is edited first. Then rounds follow; each round drops all objects whose reachable set is larger
than their coverage set (see :class:`ICF`).
"""

from __future__ import annotations

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset.neighbors import NeighborLists
from protoset.selectors._enemies import nearest_enemies
from protoset.selectors._voting import VotingSelector
from protoset.selectors.base import TieRule
from protoset.selectors.enn import enn
from protoset.spaces import TrainingSpace


def icf(
    space: TrainingSpace,
    lists: NeighborLists,
    codes: np.ndarray,
    *,
    n_neighbors: int = 3,
    tie_rule: TieRule = "majority",
    n_jobs: int | None = None,
) -> tuple[np.ndarray, int]:
    """Filter a training set.

    Returns the objects kept, ascending, and the number of rounds with the last one, which drops nothing. A class may
    lose all its objects.
    """
    members = enn(space, lists, codes, n_neighbors=n_neighbors, tie_rule=tie_rule)
    enemies, radii = np.full(len(codes), -1), np.full(len(codes), np.inf)
    outdated, n_iter = members, 0
    while True:
        enemies[outdated], radii[outdated] = nearest_enemies(space, lists, codes, outdated, members, n_jobs=n_jobs)
        reachable, coverage = count_reachable(space, lists, codes, members, radii)
        dropped = members[reachable[members] > coverage[members]]
        n_iter += 1
        if not len(dropped):
            return members, n_iter
        members = np.setdiff1d(members, dropped, assume_unique=True)
        outdated = members[np.isin(enemies[members], dropped)]


def count_reachable(
    space: TrainingSpace, lists: NeighborLists, codes: np.ndarray, members: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Count the reachable set and the coverage set of each member; 0 for objects that are not members.

    ``radii`` holds the distance of each object to its nearest enemy among the members.
    """
    reachable, coverage = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    is_member = np.zeros(len(codes), bool)
    is_member[members] = True
    longest_listed = np.full(len(codes), -np.inf)
    has_list = np.diff(lists.indptr) > 0
    longest_listed[has_list] = lists.distances[lists.indptr[1:][has_list] - 1]
    is_listed = longest_listed[members] >= radii[members]
    listed, unlisted = members[is_listed], members[~is_listed]
    kernels.dropping.count_listed(
        lists.indptr, lists.indices, lists.distances, listed, radii[listed], is_member, reachable, coverage
    )
    for code in np.unique(codes[unlisted]):
        rows, columns = unlisted[codes[unlisted] == code], members[codes[members] == code]
        for block in row_slices(len(rows), len(columns) * 8):
            distances = space.block(rows[block], columns)
            kernels.dropping.count_within(distances, rows[block], columns, radii[rows[block]], reachable, coverage)
    return reachable, coverage


class ICF(VotingSelector):
    """Iterative case filtering: drops objects inside a class, which other objects represent.

    First, objects that their nearest neighbours misclassify are dropped, as in :class:`ENN`. Then rounds follow. In
    each round, among the objects that are still kept,

    - the reachable set of an object holds all objects that are strictly nearer to it than its nearest
      enemy, the nearest object of another class;
    - the coverage set of an object holds all objects that have it in their reachable sets;
    - all objects whose reachable set is larger than their coverage set are dropped at once.

    The rounds end when nothing is dropped. If a single class is left, there are no enemies: every object is reachable
    for every other, and nothing more is dropped.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of neighbours that vote in the editing. A tied vote goes to the class of the nearest neighbour.
    tie_rule : {"majority", "row_order"}, default="majority"
        Which neighbours vote if several are equally near. "majority": all objects at the distance of the last
        neighbour vote. "row_order": objects in earlier rows count as nearer.
    metric, metric_params, n_jobs, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    n_iter_ : int
        Rounds after the editing, including the last one, which drops nothing.
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

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

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        lists, k = self._search_lists(space)
        kept, self.n_iter_ = icf(space, lists, codes, n_neighbors=k, tie_rule=self.tie_rule, n_jobs=self.n_jobs)
        return kept
