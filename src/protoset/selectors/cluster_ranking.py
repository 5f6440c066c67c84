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
from protoset._cluster import gather, send, submit
from protoset.features import constraints_of_rows, tail_of_rows, truncation_bound
from protoset.neighbors import ENTRY_BYTES, LISTS_BYTES, TIES, Ties, check_recall
from protoset.selectors.ranking import WEIGHT_TOL, RankedPrototypes, Score, judge
from protoset.solvers import Loss, dual_bound, solve
from protoset.solvers.blocks import BlockFeatures
from protoset.spaces import RawLists
from protoset.spaces.distributed_vectors import DistributedVectorSpace


@dataclass(frozen=True, eq=False)
class BlockSums:
    """What the lists of a block of rows add to the sums over all rows."""

    rho: np.ndarray
    cut: float
    friendly: np.ndarray
    support: np.ndarray
    best_ranks: np.ndarray


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
    sent = send(client, codes.astype(np.int32))
    starts = space.starts
    made = [
        submit(client, _constrain, part, sent, int(start), beta, ties)
        for part, start in zip(lists.blocks, starts[:-1], strict=True)
    ]
    blocks, sums = ([submit(client, _item, pair, place) for pair in made] for place in (0, 1))
    parts: list[BlockSums] = gather(client, sums)
    features: Any = BlockFeatures(client, blocks, starts)
    rho = np.concatenate([part.rho for part in parts])
    solution = solve(features, rho, C, loss=loss, solver="distributed", tol=tol, weight_tol=WEIGHT_TOL)
    friendly, support = sum(part.friendly for part in parts), sum(part.support for part in parts)
    best_ranks = np.minimum.reduce([part.best_ranks for part in parts])
    cut, largest = sum(part.cut for part in parts), float(np.max(friendly))
    bound = truncation_bound(dual_bound(C, loss, n), cut, largest, beta)
    ranked = judge(solution, best_ranks, np.asarray(support), bound, beta=beta, loss=loss, score=score, tol=tol)
    return ranked, lists.recall


def _constrain(
    raw: RawLists, codes: np.ndarray, start: int, beta: float, ties: Ties
) -> tuple[sparse.csr_matrix, BlockSums]:
    """Features of a block of rows, on a worker."""
    n, indptr = len(codes), row_pointers(raw.counts)
    ranks = kernels.lists.rank_rows(indptr, raw.distances, TIES.index(ties))
    own = codes[start : start + len(raw.counts)]
    values, rho = constraints_of_rows(indptr, raw.indices, ranks, own, codes, beta)
    features = sparse.csr_matrix((values, raw.indices, indptr), shape=(len(own), n))
    sums = BlockSums(
        rho,
        float(tail_of_rows(indptr, ranks, raw.closed, ties, n, beta).sum()),
        np.bincount(raw.indices, np.maximum(values, 0.0), minlength=n),
        np.bincount(raw.indices, values, minlength=n),
        kernels.lists.best_ranks(raw.indices, ranks, n),
    )
    return features, sums


def _item(pair: tuple[Any, Any], place: int) -> Any:
    return pair[place]
