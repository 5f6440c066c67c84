"""Rank-exponential features of neighbour lists that stay on the workers of a Dask client.

Each worker turns its lists into features; the solver asks for their products. Only a few numbers per object come to
this process.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from protoset._arrays import rank_rows, row_pointers, smallest_at
from protoset._cluster import gather, reduce_pairs, send, submit
from protoset.features import RankExponential, column_sums, constraints_of_rows, tail_of_rows
from protoset.neighbors.lists import TIES, Ties
from protoset.neighbors.on_workers import WorkerLists
from protoset.solvers.blocks import BlockFeatures
from protoset.spaces import RawLists


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Sums and minima over the rows of some lists, one number per object: friendly mass, support, best rank."""

    friendly: np.ndarray
    support: np.ndarray
    best_ranks: np.ndarray


@dataclass(frozen=True, eq=False)
class BlockConstraints:
    """Constraints of a block of rows, on a worker.

    ``row_values`` holds rho of the rows, and the sum of the mass that their lists cut off.
    """

    features: sparse.csr_matrix
    row_values: tuple[np.ndarray, float]
    sums: ColumnSums


def rank_exponential_on_workers(lists: WorkerLists, codes: np.ndarray, beta: float = 2.0) -> RankExponential:
    """Turn neighbour lists into the constraints of the max-margin problem; as ``features.rank_exponential``."""
    client = lists.client
    sent = send(client, codes.astype(np.int32))
    made = [
        submit(client, _constrain, block, sent, int(start), beta, lists.ties)
        for block, start in zip(lists.blocks, lists.starts[:-1], strict=True)
    ]
    blocks, row_values, sums = (
        [submit(client, getattr, block, name, priority=1) for block in made]
        for name in ("features", "row_values", "sums")
    )
    # The sums of a block have one number per object of the whole set. So they are added pair by pair, before further
    # blocks are computed.
    joined = reduce_pairs(client, _join_sums, sums, priority=1)
    of_blocks: list[tuple[np.ndarray, float]] = gather(client, row_values)
    rho, cut_off = np.concatenate([rho for rho, _ in of_blocks]), sum(cut for _, cut in of_blocks)
    features, columns = BlockFeatures(client, blocks, lists.starts), gather(client, [joined])[0]
    largest_friendly = float(np.max(columns.friendly))
    return RankExponential(features, rho, columns.support, columns.best_ranks, cut_off, largest_friendly, beta)


def _constrain(raw: RawLists, codes: np.ndarray, start: int, beta: float, ties: Ties) -> BlockConstraints:
    """Features of a block of rows, on a worker."""
    n, indptr = len(codes), row_pointers(raw.counts)
    ranks = rank_rows(indptr, raw.distances, TIES.index(ties))
    own = codes[start : start + len(raw.counts)]
    values, rho = constraints_of_rows(indptr, raw.indices, ranks, own, codes, beta)
    features = sparse.csr_matrix((values, raw.indices, indptr), shape=(len(own), n))
    sums = ColumnSums(*column_sums(raw.indices, values, n), smallest_at(raw.indices, ranks, n))
    cut = float(tail_of_rows(indptr, ranks, raw.closed, ties, n, beta).sum())
    return BlockConstraints(features, (rho, cut), sums)


def _join_sums(a: ColumnSums, b: ColumnSums) -> ColumnSums:
    return ColumnSums(a.friendly + b.friendly, a.support + b.support, np.minimum(a.best_ranks, b.best_ranks))
