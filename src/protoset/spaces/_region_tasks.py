"""Tasks of the workers in the search by regions (see ``_regions``): functions without state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._blocks import row_slices
from protoset._storage import Storage
from protoset.spaces._approximate import approximate_library
from protoset.spaces._lists import RawLists, join_lists, smallest_of
from protoset.spaces.vectors import VectorSpace

APPROXIMATE_ROWS = 20_000
"""Smallest number of rows of a region that is searched approximately."""

APPROXIMATE_FEATURES = 5
"""Smallest number of features for which a region is searched approximately."""


@dataclass(frozen=True, eq=False)
class Visits:
    """Rows of a block by region: positions in the block, ascending in each region."""

    indptr: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class Members:
    """Vectors that are in a region, and their indices among all rows, ascending."""

    rows: np.ndarray
    space: VectorSpace


@dataclass(frozen=True, eq=False)
class PartialLists:
    """Lists of some rows, ascending, from one region; the neighbours are indices among all rows."""

    rows: np.ndarray
    lists: RawLists


def visit(block: VectorSpace, centres: np.ndarray, n_visited: int) -> Visits:
    """Find the regions of each row of a block: those with the nearest centres."""
    n, n_regions = block.shape[0], len(centres)
    pair = VectorSpace("euclidean", block.images, centres)
    regions = np.empty((n, n_visited), np.int32)
    for part in row_slices(n, n_regions * 8):
        distances = pair.block(part, slice(None))
        nearest = smallest_of(distances, np.full(len(distances), -1), n_visited, n_visited)
        regions[part] = nearest.indices.reshape(-1, n_visited)
    order = np.argsort(regions.reshape(-1), kind="stable")
    counts = np.bincount(regions.reshape(-1), minlength=n_regions)
    return Visits(row_pointers(counts), (order // n_visited).astype(np.int32))


def count(visits: Visits) -> np.ndarray:
    """Count the rows of a block in each region."""
    return np.diff(visits.indptr)


def pick(block: VectorSpace, visits: Visits, start: int, region: int, part: int, n_parts: int) -> Members:
    """Take the rows of a block that are in a part of a region; ``start`` is the index of the first row of the block."""
    rows = visits.rows[visits.indptr[region] : visits.indptr[region + 1]].astype(np.int64)
    rows = rows[(start + rows) % n_parts == part]
    return Members(start + rows, block._subset(rows))


def search_region(n_neighbors: int, approximately: bool, *members: Members) -> PartialLists:
    """Find the nearest neighbours among the members of a region, which come from consecutive blocks."""
    rows = np.concatenate([part.rows for part in members])
    images = np.concatenate([part.space.images for part in members])
    k = min(n_neighbors, len(rows) - 1)
    if k < 1:
        counts = np.zeros(len(rows), np.int64)
        return PartialLists(rows, RawLists(counts, np.empty(0, np.int32), np.empty(0), counts > 0))
    space = VectorSpace(members[0].space.metric, images, images)
    if approximately and len(rows) >= APPROXIMATE_ROWS and images.shape[1] >= APPROXIMATE_FEATURES:
        if approximate_library() != "faiss":
            raise RuntimeError(
                "faiss is missing on a worker, but installed on another; install it on all workers or on none"
            )
        raw = space.approximate_kneighbors(k, storage=Storage(), n_jobs=1)
    else:
        raw = space.kneighbors(k, limit=k, n_jobs=1)
    return PartialLists(rows, RawLists(raw.counts, rows.astype(np.int32)[raw.indices], raw.distances, raw.closed))


def share(region_lists: PartialLists, start: int, stop: int) -> PartialLists:
    """Take the lists of the rows of a block, which has the rows ``start`` to ``stop``; as positions in the block."""
    first, last = np.searchsorted(region_lists.rows, [start, stop])
    lists, indptr = region_lists.lists, row_pointers(region_lists.lists.counts)
    rows, entries = slice(first, last), slice(indptr[first], indptr[last])
    views = (lists.counts[rows], lists.indices[entries], lists.distances[entries], lists.closed[rows])
    # Copies, so that the lists of the region can be freed.
    counts, indices, distances, closed = (view.copy() for view in views)
    return PartialLists(region_lists.rows[rows] - start, RawLists(counts, indices, distances, closed))


def merge(n_rows: int, n_neighbors: int, lists: RawLists | None, *shares: PartialLists) -> RawLists:
    """Merge the lists of a block with those from regions: the nearest distinct neighbours."""
    parts: list[Any] = [] if lists is None else [(slice(None), lists)]
    joined = join_lists(n_rows, parts + [(part.rows, part.lists) for part in shares])
    indptr, indices, distances = kernels.lists.nearest_distinct(*joined, n_neighbors)
    return RawLists(np.diff(indptr), indices, distances, np.zeros(n_rows, bool))


def nearest_distances(block: VectorSpace, images: np.ndarray, own: np.ndarray, k: int) -> np.ndarray:
    """Distances of some vectors to the k nearest vectors of a block; infinite where it has no more.

    ``own`` are the positions of the vectors themselves, which are left out; outside the block for other vectors.
    """
    pair = VectorSpace(block.metric, images, block.images)
    nearest = np.full((len(images), k), np.inf)
    for part in row_slices(len(images), block.shape[0] * 8):
        distances = pair.block(part, slice(None))
        inside = np.flatnonzero((own[part] >= 0) & (own[part] < block.shape[0]))
        distances[inside, own[part][inside]] = np.inf
        few = min(k, distances.shape[1])
        nearest[part, :few] = np.sort(np.partition(distances, few - 1, axis=1)[:, :few], axis=1)
    return nearest


def closest(k: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Take the k smallest of two rows of distances."""
    return np.sort(np.hstack([a, b]), axis=1)[:, :k]


def count_listed(lists: RawLists, rows: np.ndarray, farthest: np.ndarray) -> int:
    """Count the listed neighbours of some rows at a distance of at most ``farthest``."""
    indptr = row_pointers(lists.counts)
    return sum(
        int(np.count_nonzero(lists.distances[indptr[row] : indptr[row + 1]] <= last))
        for row, last in zip(rows, farthest, strict=True)
    )
