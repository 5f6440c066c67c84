"""Vectors on a Dask cluster: neighbours as tasks on blocks of rows; no worker needs all of them at once.

    rows of block r  --  columns of block 0, 1, 2 ...        one chain of tasks for each r
                         each adds to the lists of r

That is the exact search; the approximate one is in ``_regions``. The distances of a pair are the same in every block,
and lists are merged in a way that does not depend on the parts: on processors of the same kind, an exact search gives
the result of one process, bit by bit, for any blocks and any number of workers, even if tasks were computed twice.

An array is sent inside the tasks, through the scheduler. The scheduler keeps the array as long as the space exists, to
repeat the tasks of lost workers. For large data, a Dask collection is better: the workers read or compute its blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse

from protoset._arrays import row_pointers
from protoset._blocks import row_slices
from protoset._cluster import RETRIES, TASK_BYTES, as_dask_rows, cut_rows, gather, is_dask, send, submit
from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset._validation import check_vectors
from protoset.spaces._cluster_sample import ClusterSample
from protoset.spaces._lists import RawLists, smallest_of
from protoset.spaces._merging import merge_lists
from protoset.spaces._regions import ClusterLists, lists_by_region
from protoset.spaces.automatic import choose_metric
from protoset.spaces.base import ApproximateSearch, Choice, PrototypeSpace, Rows, TrainingSpace
from protoset.spaces.movable import MovableObjects
from protoset.spaces.vectors import ANGULAR, VectorSpace

STATELESS = ("euclidean", "l2", "sqeuclidean", "cosine", "correlation")
"""Metrics that learn nothing from the training set."""

MOST_ROWS = int(np.iinfo(np.int32).max)
"""Largest number of rows: 32-bit indices number them."""

BLOCK_ROWS = 16_384
"""Rows of a block of an array in memory."""

MOST_BLOCKS = 200
"""Number of blocks at which the blocks become larger instead, because every pair of blocks makes a task."""


class DistributedVectorSpace(TrainingSpace):
    """Vectors in blocks of rows on the workers of a Dask client.

    ``blocks`` are futures of spaces; block b has the rows ``starts[b]`` to ``starts[b + 1]``.
    """

    remote = True

    def __init__(
        self, client: Any, metric: str, blocks: list[Any], sizes: list[int], n_features: int, object_bytes: int
    ):
        self.metric, self.client, self.blocks, self.starts = metric, client, blocks, row_pointers(np.array(sizes))
        self.n_features: int = n_features
        self.object_bytes = object_bytes
        self._approximable: bool | None = None if metric in ANGULAR else True

    @classmethod
    def from_objects(
        cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None, client: Any = None
    ) -> Self:
        """Make the space of an array, memory-mapped or not, of a Dask array or of a Dask DataFrame."""
        if metric not in STATELESS:
            raise ValueError(f"metric={metric!r} does not work on a Dask client yet; choose one of {list(STATELESS)}")
        if is_dask(X):
            rows = as_dask_rows(X, client)
            _check_rows(rows.shape[0])
            filled = np.flatnonzero(rows.chunks[0])  # a filter may leave nothing of a chunk
            # Blocks that a worker loses are computed again from the graph of the collection.
            parts = client.compute(list(rows.to_delayed().ravel()[filled]), retries=RETRIES)
            sizes, width = np.array(rows.chunks[0])[filled].tolist(), rows.shape[1]
            itemsize = 4 if rows.dtype == np.float32 else 8
            starts = row_pointers(np.array(sizes))[:-1].tolist()
            blocks = [
                submit(client, _make_block, metric, start, (size, width), part)
                for start, size, part in zip(starts, sizes, parts, strict=True)
            ]
        else:
            X = check_vectors(X)
            _check_rows(len(X))
            width, itemsize = X.shape[1], X.itemsize
            step = max(1, min(BLOCK_ROWS, TASK_BYTES // (width * itemsize)), -(-len(X) // MOST_BLOCKS))
            starts = list(range(0, len(X), step))
            sizes = [min(step, len(X) - start) for start in starts]
            blocks = [
                submit(client, _make_block, metric, start, (size, width), *_in_pieces(client, X[start : start + size]))
                for start, size in zip(starts, sizes, strict=True)
            ]
        return cls(client, metric, blocks, [int(size) for size in sizes], int(width), int(width) * itemsize)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of vectors, twice."""
        return int(self.starts[-1]), int(self.starts[-1])

    @property
    def cluster(self) -> Self:
        """The space itself: its neighbour lists may stay on the workers."""
        return self

    @property
    def approximate_search(self) -> ApproximateSearch | None:
        """Approximate search, if every block has one; the workers are asked once."""
        if self._approximable is None:
            answers = [submit(self.client, _is_approximable, block) for block in self.blocks]
            self._approximable = all(gather(self.client, answers))
        return self.approximate_kneighbors if self._approximable else None

    def _kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Exact neighbours; the lists are fetched to this process."""
        lists = self.kneighbors_on_workers(n_neighbors, limit=limit)
        return RawLists.concatenate(gather(self.client, lists.blocks))

    def approximate_kneighbors(
        self, n_neighbors: int, *, storage: Storage, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Most neighbours, by regions; the lists are fetched to this process, block by block."""
        lists = self.approximate_on_workers(n_neighbors)
        by_block = gather(self.client, [submit(self.client, getattr, block, "counts") for block in lists.blocks])
        counts = np.concatenate(by_block)
        ends = row_pointers(counts)[self.starts]
        indices = storage.empty("neighbor_indices", (int(ends[-1]),), np.int32)
        distances = storage.empty("neighbor_distances", (int(ends[-1]),), np.float64)
        for block, start, stop in zip(lists.blocks, ends[:-1], ends[1:], strict=True):
            part = gather(self.client, [block])[0]
            indices[start:stop], distances[start:stop] = part.indices, part.distances
        return RawLists(counts, indices, distances, np.zeros(len(counts), bool), recall=lists.recall)

    def approximate_on_workers(self, n_neighbors: int) -> ClusterLists:
        """Most neighbours of each block of rows: the lists stay on the workers, their recall is returned."""
        return lists_by_region(self, n_neighbors)

    def kneighbors_on_workers(self, n_neighbors: int, *, limit: int) -> ClusterLists:
        """Exact neighbours of each block of rows: the lists stay on the workers."""
        k = min(n_neighbors, self.shape[0] - 1)
        limit = max(limit, k)
        chains = []
        for number, block in enumerate(self.blocks):
            lists = None
            for other, columns in enumerate(self.blocks):
                own = other == number
                lists = submit(self.client, _extend, lists, block, columns, int(self.starts[other]), own, k, limit)
            chains.append(lists)
        return ClusterLists(chains)

    def nearest(
        self,
        rows: Rows = slice(None),
        columns: Rows = slice(None),
        *,
        choose: Choice | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest of the columns to each row; the columns are fetched and sent to every worker."""
        wanted = np.arange(self.shape[0])[rows]
        among = send(self.client, self.fetch(np.arange(self.shape[1])[columns]).images)
        owners = self.by_block(wanted)
        futures = [submit(self.client, _nearest, self.blocks[b], own, among, choose) for b, _, own in owners]
        positions, distances = np.empty(len(wanted), np.int64), np.empty(len(wanted))
        for (_, mask, _), (nearest, far) in zip(owners, gather(self.client, futures), strict=True):
            positions[mask], distances[mask] = nearest, far
        return positions, distances

    def by_block(self, rows: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Blocks of the given rows: the number of a block, a mask of its rows, and their positions in the block."""
        owner = np.searchsorted(self.starts, rows, side="right") - 1
        return [(b, owner == b, rows[owner == b] - self.starts[b]) for b in np.unique(owner)]

    def write_matrix(self, matrix: np.ndarray, *, n_jobs: int | None = None) -> None:
        """Write all distances; the vectors are fetched once."""
        self.fetch(np.arange(self.shape[0])).write_matrix(matrix, n_jobs=n_jobs)

    def fetch(self, members: np.ndarray) -> VectorSpace:
        """Space of some of the vectors, in this process."""
        owners = self.by_block(members)
        parts = gather(self.client, [submit(self.client, _rows_of, self.blocks[b], own) for b, _, own in owners])
        images = np.empty((len(members), parts[0].shape[1]), parts[0].dtype)
        for (_, mask, _), part in zip(owners, parts, strict=True):
            images[mask] = part
        return VectorSpace(self.metric, images, images)

    @property
    def movable(self) -> MovableObjects | None:
        """The images, which are fetched chunk by chunk; None if a vector has no direction."""
        if self.approximate_search is None:
            return None
        nothing = np.empty((0, self.n_features + (self.metric in ANGULAR)))
        return VectorSpace(self.metric, nothing, nothing).movable_rows(_FetchedRows(self))

    def _subset(self, members: np.ndarray) -> ClusterSample:
        """Space of some of the vectors in this process, for the refinement; the workers search their neighbours."""
        images = self.fetch(members).images
        return ClusterSample(self.metric, images, images, client=self.client)

    def prototypes(self, indices: np.ndarray) -> PrototypeSpace:
        """Space of the prototypes, in this process."""
        return self.fetch(indices).prototypes(np.arange(len(indices)))

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Dissimilarities of a few rows to a few columns; both are fetched to this process."""
        of_rows, of_columns = (np.arange(self.shape[0])[which] for which in (rows, columns))
        members, position = np.unique(np.concatenate([of_rows, of_columns]), return_inverse=True)
        return self.fetch(members).block(position[: len(of_rows)], position[len(of_rows) :])


class _FetchedRows:
    """Images of the vectors on the workers; requested images are fetched in one transfer."""

    def __init__(self, space: DistributedVectorSpace):
        self._space = space

    @property
    def shape(self) -> tuple[int, int]:
        """Number of vectors and of coordinates."""
        return self._space.shape[0], self._space.n_features

    def __len__(self) -> int:
        """Count the vectors."""
        return self._space.shape[0]

    def __getitem__(self, rows: Rows) -> np.ndarray:
        """Images of some of the vectors."""
        members = np.arange(self.shape[0])[rows]
        if len(members) == 0:
            return np.empty((0, self.shape[1]))
        return self._space.fetch(members).images[:, : self.shape[1]]


def is_distributable(X: Any, metric: Any) -> bool:
    """Whether workers can compare these objects: dense vectors under a metric that learns nothing."""
    if sparse.issparse(X):
        return False
    name = choose_metric(X) if isinstance(metric, str) and metric == "auto" else metric
    return isinstance(name, str) and name in STATELESS


def _check_rows(n_rows: int) -> None:
    """Refuse more rows than lists can number, and refuse an empty set."""
    if n_rows == 0:
        raise ValueError("X has no rows; pass at least two objects")
    if n_rows > MOST_ROWS:
        raise ValueError(
            f"X has {n_rows} rows, and neighbour lists number at most {MOST_ROWS}; select from parts of the rows and "
            "then again from their prototypes"
        )


def _in_pieces(client: Any, rows: np.ndarray) -> list[Any]:
    """Rows in the form that a task takes: one piece as it is, several pieces as results of separate tasks."""
    pieces = cut_rows(rows)
    return pieces if len(pieces) == 1 else [send(client, piece) for piece in pieces]


def _make_block(metric: str, start: int, shape: tuple[int, int], *pieces: Any) -> VectorSpace:
    """Check a block of rows and make its space, on a worker."""
    try:
        rows = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        if sparse.issparse(rows):
            raise TypeError("it is a sparse matrix, which does not work on a Dask client; pass dense blocks")
        if np.shape(rows) != shape:
            raise ValueError(
                f"it has the shape {np.shape(rows)}, but X declares {shape}; correct the function that computes the "
                "blocks of X, or their declared sizes"
            )
        return VectorSpace.from_objects(rows, metric, {})
    except (TypeError, ValueError) as error:
        raise type(error)(f"in the block of X from row {start} on: {error}") from error


def _extend(
    lists: RawLists | None, rows: VectorSpace, columns: VectorSpace, first: int, is_own: bool, k: int, limit: int
) -> RawLists:
    """Add the columns of a block, numbered from ``first`` on, to the lists of the rows of a block, on a worker."""
    pair = VectorSpace(rows.metric, rows.images, columns.images)
    n_rows, n_columns = pair.shape
    blocks = []
    for part in row_slices(n_rows, n_columns * 8):
        own = np.arange(n_rows)[part] if is_own else np.full(part.stop - part.start, -1)
        n_others = n_columns - is_own
        if n_others == 0:
            empty = np.zeros(part.stop - part.start, np.int64)
            blocks.append(RawLists(empty, np.empty(0, np.int32), np.empty(0), np.ones(len(empty), bool)))
        else:
            blocks.append(smallest_of(pair.block(part, slice(None)), own, min(k, n_others), limit))
    raw = RawLists.concatenate(blocks)
    raw = RawLists(raw.counts, raw.indices + np.int32(first), raw.distances, raw.closed)
    return raw if lists is None else merge_lists(lists, raw, k, limit)


def _nearest(
    rows: VectorSpace, wanted: np.ndarray, among: np.ndarray, choose: Choice | None
) -> tuple[np.ndarray, np.ndarray]:
    return VectorSpace(rows.metric, rows.images[wanted], among).nearest(choose=choose, n_jobs=1)


def _rows_of(rows: VectorSpace, wanted: np.ndarray) -> np.ndarray:
    return rows.images[wanted]


def _is_approximable(rows: VectorSpace) -> bool:
    return rows.approximate_search is not None
