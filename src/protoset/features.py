"""Rank-exponential features: the max-margin problem's view of neighbour lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from protoset._arrays import row_sums
from protoset._blocks import row_slices
from protoset.neighbors.lists import NeighborLists, Ties
from protoset.neighbors.search import ENTRY_BYTES


class Constraints(Protocol):
    """The constraints w . r_i >= rho_i, wherever the rows r_i are; see :class:`RankExponential`."""

    @property
    def features(self) -> Any:
        """Matrix of the rows r_i, in memory or on workers."""

    @property
    def rho(self) -> np.ndarray:
        """Threshold of each constraint."""

    @property
    def support(self) -> np.ndarray:
        """Sum of each column of the features."""

    @property
    def best_ranks(self) -> np.ndarray:
        """Smallest rank at which each object is listed by another one."""

    def truncation_bound(self, bound: float) -> float:
        """Bound on the change of the smallest objective by the neighbours that the lists leave out."""


@dataclass(frozen=True)
class RankExponential:
    """The rows r_i and thresholds rho_i of the constraints w . r_i >= rho_i.

    Attributes
    ----------
    features : csr_matrix of shape (n, n)
        beta^-rank of each neighbour, negative if its class is another one.
    rho : ndarray of shape (n,)
        (beta - 1) times the sum of beta^-rank over the neighbours of other classes.
    tail : ndarray of shape (n,)
        Bound on the sum of beta^-rank over the objects that are not in the list.
    best_ranks : ndarray of shape (n,)
        Smallest rank at which each object is listed by another one; infinite where none lists it.
    """

    features: sparse.csr_matrix
    rho: np.ndarray
    tail: np.ndarray
    best_ranks: np.ndarray
    beta: float

    @property
    def support(self) -> np.ndarray:
        """Sum of each column of the features."""
        return np.bincount(self.features.indices, self.features.data, minlength=self.features.shape[1])

    def truncation_bound(self, bound: float) -> float:
        """Bound on the change of the smallest objective by the neighbours that the lists leave out.

        ``bound`` limits each dual variable. Cutting an enemy at beta^-rank = e moves a hinge by (beta - 1 + w_j) e,
        cutting a friend by w_j e. At the optimum w_j is at most ``bound`` times the column's friendly mass. Where ranks
        follow one after the other and weights are small this is n * bound * beta^-K.
        """
        friendly = np.bincount(
            self.features.indices, np.maximum(self.features.data, 0.0), minlength=self.features.shape[1]
        )
        return truncation_bound(bound, float(self.tail.sum()), float(friendly.max()), self.beta)


def truncation_bound(bound: float, cut: float, largest_friendly: float, beta: float) -> float:
    """Bound of :meth:`RankExponential.truncation_bound`, from the mass cut off and the largest friendly mass."""
    return bound * cut * (beta - 1 + bound * (largest_friendly + cut))


def rank_exponential(lists: NeighborLists, codes: np.ndarray, beta: float = 2.0) -> RankExponential:
    """Turn neighbour lists into the constraints of the max-margin problem."""
    n = lists.n_objects
    codes = codes.astype(np.int32, copy=False)
    values, rho = np.empty(len(lists.indices)), np.empty(n)
    # Block by block, so that long lists need no copies.
    for rows in row_slices(n, max(1, len(values) // n) * ENTRY_BYTES):
        entries = slice(int(lists.indptr[rows.start]), int(lists.indptr[rows.stop]))
        indptr = lists.indptr[rows.start : rows.stop + 1] - lists.indptr[rows.start]
        values[entries], rho[rows] = constraints_of_rows(
            indptr, lists.indices[entries], lists.ranks[entries], codes[rows], codes, beta
        )
    features = sparse.csr_matrix((values, lists.indices, lists.indptr), shape=(n, n), copy=False)
    tail = tail_of_rows(lists.indptr, lists.ranks, lists.closed, lists.ties, n, beta)
    return RankExponential(features, rho, tail, lists.best_ranks(), beta)


def constraints_of_rows(
    indptr: np.ndarray, indices: np.ndarray, ranks: np.ndarray, own: np.ndarray, codes: np.ndarray, beta: float
) -> tuple[np.ndarray, np.ndarray]:
    """Signed features of the entries of some rows, whose classes are ``own``, and the rows' rho."""
    values = np.power(beta, -ranks)
    enemy = codes[indices] != np.repeat(own, np.diff(indptr))
    rho = (beta - 1) * row_sums(np.where(enemy, values, 0.0), indptr)
    return np.negative(values, out=values, where=enemy), rho


def tail_of_rows(
    indptr: np.ndarray, ranks: np.ndarray, closed: np.ndarray, ties: Ties, n_objects: int, beta: float
) -> np.ndarray:
    """Bound on the mass of beta^-rank that each list leaves out.

    Past a list of m come ranks from m + 1. One after the other they sum to at most beta^-m / (beta - 1), and mean ranks
    to no more. Ranked "min", all that is left out may share rank m + 1. Where a list is not known to be closed, what is
    left out may share the rank of the last listed, and the mean rank of the group that was cut is too small.
    """
    listed = np.diff(indptr)
    left_out = n_objects - 1 - listed
    if ties == "min":
        tail = left_out * np.power(beta, -(listed + 1.0))
    else:
        tail = np.where(left_out > 0, np.power(beta, -listed.astype(float)) / (beta - 1), 0.0)
    open_rows = np.flatnonzero(~closed & (listed > 0))
    if ties != "ordinal" and len(open_rows):
        tail[open_rows] = (n_objects - 1) * np.power(beta, -ranks[indptr[open_rows + 1] - 1])
    return tail
