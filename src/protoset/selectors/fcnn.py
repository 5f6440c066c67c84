"""FCNN, the fast condensed nearest neighbour rule (Angiulli 2007).

The set starts with one object per class. In each round, every member of the set adds the nearest misclassified object
that has this member among its neighbours. The rounds end when no object outside the set is misclassified.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from protoset._validation import check_choice
from protoset.selectors._medoids import medoid
from protoset.selectors._voting import NearestMembers
from protoset.selectors.base import BaseSelector, TieRule
from protoset.spaces import TrainingSpace

Start = Literal["auto", "centroid", "medoid"]
STARTS: tuple[Start, ...] = ("auto", "centroid", "medoid")
"""Values of the parameter ``start``."""


def fcnn(
    space: TrainingSpace,
    codes: np.ndarray,
    *,
    n_neighbors: int = 1,
    start: Start = "auto",
    tie_rule: TieRule = "majority",
) -> tuple[np.ndarray, int]:
    """Condense a training set.

    Returns the objects kept, ascending, and the number of rounds with the last one, which adds nothing.
    """
    nearest, n_iter = NearestMembers.of(space, codes, n_neighbors, tie_rule), 0
    is_member = np.zeros(len(codes), bool)
    added = class_centres(space, codes, start)
    while len(added):
        is_member[added] = True
        outside = np.flatnonzero(~is_member)
        nearest.add(added, outside)
        wrong = outside[nearest.votes(outside, codes) != codes[outside]]
        added, n_iter = _nearest_misled(nearest, wrong), n_iter + 1
    return np.flatnonzero(is_member), n_iter


def class_centres(space: TrainingSpace, codes: np.ndarray, start: Start) -> np.ndarray:
    """One object per class, ascending: the object nearest to the class mean, or the medoid of the class."""
    centres = []
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        centre = None if start == "medoid" else space.central_member(members)
        if centre is None and start == "centroid":
            raise ValueError("start='centroid' needs objects with coordinates, but X has none; pass start='medoid'")
        centres.append(medoid(space, members) if centre is None else centre)
    return np.sort(centres)


def _nearest_misled(nearest: NearestMembers, wrong: np.ndarray) -> np.ndarray:
    """For every member, the nearest misclassified object that has the member among its neighbours."""
    members, distances = nearest.neighbors[wrong].ravel(), nearest.distances[wrong].ravel()
    misled = np.repeat(wrong, nearest.neighbors.shape[1])
    order = np.lexsort((misled, distances, members))
    order = order[members[order] >= 0]
    _, first = np.unique(members[order], return_index=True)
    return np.unique(misled[order][first])


class FCNN(BaseSelector):
    """Fast condensed nearest neighbour rule: grows a set until it classifies the training set.

    With one neighbour the set is consistent: the nearest prototype classifies every training object
    correctly, except where identical objects have different labels.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of nearest prototypes that vote.
    start : {"auto", "centroid", "medoid"}, default="auto"
        First prototype of each class: the object nearest to the class mean ("centroid") or the medoid of
        the class. "auto" is "centroid" for objects with coordinates and "medoid" for all others.
    tie_rule : {"majority", "row_order"}, default="majority"
        Which neighbours vote if several are equally near. "majority": all objects at the distance of the last
        neighbour vote. "row_order": objects in earlier rows count as nearer.
    n_jobs : int, optional
        Not used: this method does no parallel work.
    metric, metric_params, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    n_iter_ : int
        Rounds, including the last one, which adds nothing.
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

    References
    ----------
    F. Angiulli, "Fast nearest neighbor condensation for large data sets classification", IEEE
    Transactions on Knowledge and Data Engineering 19 (2007) 1450-1464.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import FCNN
    >>> X, y = load_iris(return_X_y=True)
    >>> len(FCNN().fit(X, y).sample_indices_)
    17
    """

    def __init__(
        self,
        n_neighbors: int = 1,
        *,
        start: Start = "auto",
        tie_rule: TieRule = "majority",
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.n_neighbors = n_neighbors
        self.start = start
        self.tie_rule = tie_rule

    def _check_parameters(self) -> dict[str, Any]:
        return super()._check_parameters() | {"start": check_choice("start", self.start, STARTS)}

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        k = min(self.n_neighbors, len(codes) - 1)
        kept, self.n_iter_ = fcnn(space, codes, n_neighbors=k, start=self.start, tie_rule=self.tie_rule)
        return kept
