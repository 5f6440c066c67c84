"""Rank-exponential features: the max-margin problem's view of neighbour lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from protoset import kernels
from protoset._arrays import row_sums, smallest_at
from protoset._blocks import row_slices
from protoset.neighbors.lists import TIES, NeighborLists, Ties
from protoset.neighbors.search import ENTRY_BYTES


@dataclass(frozen=True)
class RankExponential:
    """The constraints w . r_i >= rho_i of the max-margin problem, with the rows r_i in memory or on workers.

    Attributes
    ----------
    features : csr_matrix or BlockFeatures of shape (n, n)
        beta^-rank of each neighbour, negative if its class is another one.
    rho : ndarray of shape (n,)
        (beta - 1) times the sum of beta^-rank over the neighbours of other classes.
    support : ndarray of shape (n,)
        Sum of each column of the features.
    best_ranks : ndarray of shape (n,)
        Smallest rank at which each object is listed by another one; infinite where none lists it.
    cut_off : float
        Bound on the sum of beta^-rank over all objects that are not in a list.
    largest_friendly : float
        Largest sum of the positive features of a column.
    """

    features: Any
    rho: np.ndarray
    support: np.ndarray
    best_ranks: np.ndarray
    cut_off: float
    largest_friendly: float
    beta: float

    def truncation_bound(self, bound: float) -> float:
        """Bound on the change of the smallest objective by the neighbours that the lists leave out.

        ``bound`` limits each dual variable. Cutting an enemy at beta^-rank = e moves a hinge by (beta - 1 + w_j) e,
        cutting a friend by w_j e. At the optimum w_j is at most ``bound`` times the column's friendly mass. Where ranks
        follow one after the other and weights are small this is n * bound * beta^-K.
        """
        return bound * self.cut_off * (self.beta - 1 + bound * (self.largest_friendly + self.cut_off))


def rank_exponential(
    lists: NeighborLists,
    codes: np.ndarray,
    beta: float = 2.0,
    *,
    counts: np.ndarray | None = None,
    costs: np.ndarray | None = None,
) -> RankExponential:
    """Turn neighbour lists into the constraints of the max-margin problem.

    With ``counts`` (copies of each object) or ``costs`` (of an error on a copy), the problem is that of all copies, in
    which copies of an object have the same weight w. The features and rho of an object are multiplied by its count and
    its cost, and the column of an object stands for the variable sqrt(count) * w; so the objective has its usual form.
    """
    if counts is not None or costs is not None:
        ones = np.ones(lists.n_objects)
        return _of_copies(lists, codes, beta, ones if counts is None else counts, ones if costs is None else costs)
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
    friendly, support = column_sums(lists.indices, values, n)
    return RankExponential(features, rho, support, lists.best_ranks(), float(tail.sum()), float(friendly.max()), beta)


def _of_copies(
    lists: NeighborLists, codes: np.ndarray, beta: float, counts: np.ndarray, costs: np.ndarray
) -> RankExponential:
    """Constraints of objects that stand for several copies each."""
    n, total = lists.n_objects, float(counts.sum())
    indptr, indices, own_copies = lists.indptr, lists.indices, np.maximum(counts - 1, 0.0)
    ranks, own_ranks = kernels.lists.rank_copies(indptr, indices, lists.distances, counts, TIES.index(lists.ties))
    best_ranks = smallest_at(indices, ranks, n)
    best_ranks = np.where(counts >= 2, np.minimum(best_ranks, own_ranks), best_ranks)
    listed = own_copies + row_sums(counts[indices], indptr)
    left_out = np.maximum(total - counts - (listed - own_copies), 0.0)
    tail = left_out * np.power(beta, -(listed + 1.0))
    open_rows = np.flatnonzero(~lists.closed & (np.diff(indptr) > 0))
    if lists.ties != "ordinal" and len(open_rows):
        tail[open_rows] = (total - counts[open_rows]) * np.power(beta, -ranks[indptr[open_rows + 1] - 1])
    values, _ = constraints_of_rows(indptr, indices, ranks, codes, codes, beta)
    rho = (beta - 1) * row_sums(np.maximum(-values, 0.0) * counts[indices], indptr)
    row_weights, roots, own = counts * costs, np.sqrt(counts), costs * own_copies * np.power(beta, -own_ranks)
    values *= np.repeat(row_weights, np.diff(indptr))
    friendly, support = (sums + own for sums in column_sums(indices, values, n))
    values *= roots[indices]
    features = sparse.csr_matrix((values, indices, indptr), shape=(n, n), copy=False)
    features = sparse.csr_matrix(features + sparse.diags_array(own * roots, format="csr"))
    cut_off = float((row_weights * tail).sum())
    return RankExponential(features, row_weights * rho, support, best_ranks, cut_off, float(friendly.max()), beta)


def column_sums(indices: np.ndarray, values: np.ndarray, n_objects: int) -> tuple[np.ndarray, np.ndarray]:
    """Sum of the positive features of each column, and of all its features."""
    friendly = np.bincount(indices, np.maximum(values, 0.0), minlength=n_objects)
    return friendly, np.bincount(indices, values, minlength=n_objects)


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
