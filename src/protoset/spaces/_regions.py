"""Approximate neighbours of vectors on a Dask cluster: near vectors are likely to be in one region.

    blocks of rows --> the nearest regions of each row --> rows of a region, from every block --> lists among them
                                                                                                        |
    lists of a block, the nearest kept <-- what each region found for the rows of the block <-----------+

The centres of the regions are learned in this process, from a sample. Each row is in the ``VISITED_REGIONS`` regions
with the nearest centres; two rows can be neighbours in the lists if they share a region. A region is searched as in one
process. The lists of a row from several regions are merged. Rounds with other regions follow until the share
``RECALL_TARGET`` of the neighbours of a sample, searched exactly, is found. Another sample measures the recall.

The distances that decide the regions and the lists are the same on all processors of a kind, and merging does not
depend on the order. So the result does not depend on the number of workers, or on tasks that were computed twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from protoset._cluster import gather, reduce_pairs, send, submit, submit_each
from protoset.spaces._approximate import RECALL_TARGET, approximate_library, sampled_rows
from protoset.spaces._region_tasks import (
    closest,
    count,
    count_listed,
    merge,
    nearest_distances,
    pick,
    search_region,
    share,
    visit,
)
from protoset.spaces.vectors import VectorSpace

if TYPE_CHECKING:
    from protoset.spaces.distributed_vectors import DistributedVectorSpace

REGION_ROWS = 50_000
"""Rows of a region, including rows that are also in other regions."""

MOST_REGIONS = 200
"""Number of regions at which the regions become larger instead: each region makes two tasks per block of rows."""

GROWN_ROWS = 500_000
"""Largest number of rows of a region: a worker must hold a region."""

VISITED_REGIONS = 4
"""Number of regions of a row; fewer if there are few regions."""

LARGEST_REGION = 3
"""A region that is this many times larger than usual is split: a worker must hold it."""

SAMPLED_PER_REGION = 200
"""Number of rows per region from which the centres are learned."""

SAMPLE_BYTES = 256 * 2**20
"""Largest memory of the rows from which the centres are learned."""

LLOYD_STEPS = 2
"""Steps of k-means. With more steps the regions of all rounds become similar."""

MERGED_REGIONS = 32
"""Number of regions whose lists are merged together: lists that wait for a merge take memory on the workers."""

REGION_ROUNDS = 6
"""Largest number of rounds."""

LEAST_REGION_GAIN = 0.005
"""Rounds end when a round gains less recall."""


@dataclass(frozen=True)
class Plan:
    """How rows are spread over regions, and how a region is searched."""

    n_regions: int
    n_visited: int  # regions that a row is in
    most_rows: int  # a region of more rows is split
    n_neighbors: int
    approximately: bool  # in large regions, where the workers have faiss


@dataclass(frozen=True, eq=False)
class ClusterLists:
    """Neighbour lists that stay on the workers: a future for each block of rows.

    ``recall`` is measured on a sample of rows, None for exact lists; ``recall_by_round`` on another sample.
    """

    blocks: list[Any]
    recall: float | None = None
    recall_by_round: tuple[float, ...] = ()


def lists_by_region(space: DistributedVectorSpace, n_neighbors: int) -> ClusterLists:
    """Find most nearest neighbours of each row, by the distances of the images; no list is marked as closed."""
    plan = make_plan(space, n_neighbors)
    tuning, measuring = sampled_rows(space.shape[0])
    farthest = _farthest_neighbors(space, np.concatenate([tuning, measuring]), plan.n_neighbors)
    lists: list[Any] = [None] * (len(space.starts) - 1)
    reached: list[float] = []
    while not reached or _is_worthwhile(reached, plan):
        lists = _search_round(space, lists, plan, seed=len(reached))
        reached.append(_recall(space, lists, tuning, farthest[: len(tuning)], plan.n_neighbors))
    recall = _recall(space, lists, measuring, farthest[len(tuning) :], plan.n_neighbors)
    return ClusterLists(lists, recall, tuple(reached))


def make_plan(space: DistributedVectorSpace, n_neighbors: int) -> Plan:
    """Choose the number of regions, and ask one worker whether it has faiss: all workers are assumed to be alike."""
    n = space.shape[0]
    n_regions = n_visited = 1
    if n > REGION_ROWS:
        # If there are few regions, two objects share one more often.
        n_visited = min(VISITED_REGIONS, 1 + math.ceil(math.log2(n / REGION_ROWS)))
        rows = n * n_visited
        n_regions = max(n_visited + 1, min(MOST_REGIONS, rows // REGION_ROWS), rows // max(GROWN_ROWS, REGION_ROWS))
    library = gather(space.client, [submit(space.client, approximate_library)])[0]
    most_rows = LARGEST_REGION * max(REGION_ROWS, -(-n * n_visited // n_regions))
    return Plan(n_regions, n_visited, most_rows, min(n_neighbors, n - 1), library == "faiss")


def _is_worthwhile(reached: list[float], plan: Plan) -> bool:
    """Whether another round may help."""
    if reached[-1] >= RECALL_TARGET or plan.n_regions == 1 or len(reached) >= REGION_ROUNDS:
        return False
    return len(reached) < 2 or reached[-1] - reached[-2] >= LEAST_REGION_GAIN


def _search_round(space: DistributedVectorSpace, lists: list[Any], plan: Plan, seed: int) -> list[Any]:
    """Merge the neighbours from one set of regions into the lists of each block.

    Regions are searched group by group, each as soon as its rows are gathered; the priorities of the tasks ensure this.
    """
    client, blocks, starts = space.client, space.blocks, space.starts
    centres = send(client, _learn_centres(space, plan.n_regions, seed))
    visits = [submit(client, visit, block, centres, plan.n_visited) for block in blocks]
    counts = np.stack(gather(client, [submit(client, count, part) for part in visits]))
    for group, first in enumerate(range(0, plan.n_regions, MERGED_REGIONS)):
        shares: list[list[Any]] = [[] for _ in blocks]
        for region in range(first, min(first + MERGED_REGIONS, plan.n_regions)):
            for b, region_lists in _search_one(space, visits, counts[:, region], region, plan, priority=-group):
                shares[b].append(region_lists)
        lists = [
            submit(client, merge, size, plan.n_neighbors, old, *region_lists, priority=3)
            for size, old, region_lists in zip(np.diff(starts).tolist(), lists, shares, strict=True)
        ]
    return lists


def _search_one(
    space: DistributedVectorSpace, visits: list[Any], counts: np.ndarray, region: int, plan: Plan, *, priority: int
) -> Iterator[tuple[int, Any]]:
    """Search a region; yield its lists block by block. A very large region is split; each row is in one part."""
    client, starts, owners = space.client, space.starts.tolist(), np.flatnonzero(counts).tolist()
    n_parts = -(-int(counts.sum()) // plan.most_rows)
    for part in range(n_parts):
        wanted = [(space.blocks[b], visits[b], starts[b], region, part, n_parts) for b in owners]
        picked = submit_each(client, pick, *zip(*wanted, strict=True), priority=priority)
        region_lists = submit(client, search_region, plan.n_neighbors, plan.approximately, *picked, priority=1)
        of_blocks = [(region_lists, starts[b], starts[b + 1]) for b in owners]
        yield from zip(owners, submit_each(client, share, *zip(*of_blocks, strict=True), priority=2), strict=True)


def _learn_centres(space: DistributedVectorSpace, n_regions: int, seed: int) -> np.ndarray:
    """Centres of regions of about equal size, from a sample of the rows."""
    n = space.shape[0]
    size = min(n, SAMPLED_PER_REGION * n_regions, max(n_regions, SAMPLE_BYTES // space.object_bytes))
    rng = np.random.default_rng([seed, 1])
    sample = space.fetch(np.sort(rng.choice(n, size, replace=False))).images
    centres = sample[np.sort(rng.choice(size, n_regions, replace=False))]
    for _ in range(LLOYD_STEPS):
        nearest, _ = VectorSpace("euclidean", sample, centres).nearest()
        counts = np.bincount(nearest, minlength=n_regions)
        sums = np.stack([np.bincount(nearest, feature, n_regions) for feature in sample.T], axis=1)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres).astype(sample.dtype)
    return centres


def _farthest_neighbors(space: DistributedVectorSpace, rows: np.ndarray, k: int) -> np.ndarray:
    """Distance of the last true neighbour of the given rows."""
    client = space.client
    sent = send(client, space.fetch(rows).images)
    nearest = [
        submit(client, nearest_distances, block, sent, rows - start, k)
        for block, start in zip(space.blocks, space.starts[:-1], strict=True)
    ]
    return gather(client, [reduce_pairs(client, partial(closest, k), nearest)])[0][:, -1]


def _recall(
    space: DistributedVectorSpace, lists: list[Any], rows: np.ndarray, farthest: np.ndarray, n_neighbors: int
) -> float:
    """Share of the true neighbours that are listed; ties count as found."""
    tasks = [submit(space.client, count_listed, lists[b], own, farthest[mask]) for b, mask, own in space.by_block(rows)]
    return sum(gather(space.client, tasks)) / (len(rows) * n_neighbors)
