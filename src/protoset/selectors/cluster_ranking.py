"""The method of REPS where the neighbour lists stay on the workers of a Dask client.

Each worker turns its lists into features; the solver asks for their products. What comes here is a few numbers per
object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._cluster import gather, reduce_pairs, send, submit
from protoset.features import constraints_of_rows, tail_of_rows, truncation_bound
from protoset.neighbors import ENTRY_BYTES, LISTS_BYTES, TIES, Ties, check_recall
from protoset.selectors.ranking import WEIGHT_TOL, RankedPrototypes, Score, judge
from protoset.solvers import Loss, dual_bound, solve
from protoset.solvers.blocks import BlockFeatures
from protoset.spaces import RawLists
from protoset.spaces.distributed_vectors import DistributedVectorSpace


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """What the lists of some rows say of every object: three numbers for each."""

    friendly: np.ndarray
    support: np.ndarray
    best_ranks: np.ndarray


@dataclass(frozen=True, eq=False)
class BlockConstraints:
    """What becomes of the lists of a block of rows.

    Attributes
    ----------
    features : csr_matrix
    own : (ndarray, float)
        What concerns the rows alone: their rho, and the sum of what the lists cut off.
    sums : ColumnSums
    """

    features: sparse.csr_matrix
    own: tuple[np.ndarray, float]
    sums: ColumnSums


def rank_on_cluster(
    space: DistributedVectorSpace,
    codes: np.ndarray,
    n_neighbors: int,
    *,
    search: Literal["exact", "approximate"] = "exact",
    ties: Ties = "min",
    beta: float = 2.0,
    C: float = 1e-3,
    loss: Loss = "mean",
    score: Score = "adjusted",
    tol: float = 1e-6,
) -> tuple[RankedPrototypes, float | None]:
    """Judge every object as a prototype, by the closed form or L-BFGS-B; parameters as for ``rank_prototypes``.

    Returns
    -------
    ranked : RankedPrototypes
    recall : float or None
        Part of the true neighbours that were found, on a sample; None where the search was exact.
    """
    client, n = space.client, space.shape[0]
    if search == "approximate":
        lists = space.approximate_on_workers(n_neighbors)
        check_recall(lists.recall)
    else:
        limit = max(n_neighbors, LISTS_BYTES // (ENTRY_BYTES * n))
        lists = space.kneighbors_on_workers(n_neighbors, limit=limit)
    blocks, own, reduced = _constrain_on_workers(space, lists.blocks, codes, beta, ties)
    parts: list[tuple[np.ndarray, float]] = gather(client, own)
    sums: ColumnSums = gather(client, [reduced])[0]
    features: Any = BlockFeatures(client, blocks, space.starts)
    rho, cut = np.concatenate([rho for rho, _ in parts]), sum(cut for _, cut in parts)
    solution = solve(features, rho, C, loss=loss, solver="distributed", tol=tol, weight_tol=WEIGHT_TOL)
    bound = truncation_bound(dual_bound(C, loss, n), cut, float(np.max(sums.friendly)), beta)
    ranked = judge(solution, sums.best_ranks, sums.support, bound, beta=beta, loss=loss, score=score, tol=tol)
    return ranked, lists.recall


def _constrain_on_workers(
    space: DistributedVectorSpace, lists: list[Any], codes: np.ndarray, beta: float, ties: Ties
) -> tuple[list[Any], list[Any], Any]:
    """Features of each block, what concerns its rows alone, and the sums of all blocks: as futures.

    The sums of a block are as long as those of everyone: they are joined as soon as there are two, before other blocks.
    """
    client = space.client
    sent = send(client, codes.astype(np.int32))
    made = [
        submit(client, _constrain, part, sent, int(start), beta, ties)
        for part, start in zip(lists, space.starts[:-1], strict=True)
    ]
    blocks, own, sums = (
        [submit(client, getattr, block, name, priority=1) for block in made] for name in ("features", "own", "sums")
    )
    return blocks, own, reduce_pairs(client, _join_sums, sums, priority=1)


def _constrain(raw: RawLists, codes: np.ndarray, start: int, beta: float, ties: Ties) -> BlockConstraints:
    """Features of a block of rows, on a worker."""
    n, indptr = len(codes), row_pointers(raw.counts)
    ranks = kernels.lists.rank_rows(indptr, raw.distances, TIES.index(ties))
    own = codes[start : start + len(raw.counts)]
    values, rho = constraints_of_rows(indptr, raw.indices, ranks, own, codes, beta)
    features = sparse.csr_matrix((values, raw.indices, indptr), shape=(len(own), n))
    sums = ColumnSums(
        np.bincount(raw.indices, np.maximum(values, 0.0), minlength=n),
        np.bincount(raw.indices, values, minlength=n),
        kernels.lists.best_ranks(raw.indices, ranks, n),
    )
    cut = float(tail_of_rows(indptr, ranks, raw.closed, ties, n, beta).sum())
    return BlockConstraints(features, (rho, cut), sums)


def _join_sums(a: ColumnSums, b: ColumnSums) -> ColumnSums:
    return ColumnSums(a.friendly + b.friendly, a.support + b.support, np.minimum(a.best_ranks, b.best_ranks))
