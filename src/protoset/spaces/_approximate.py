"""Approximate neighbours of many vectors.

Candidates come from ``_cells``, or from pynndescent where faiss is not installed. Their distances are computed as in
the exact search, so that the only error of a list is a missing neighbour. The recall is measured: a sample of rows is
searched exactly, and rounds follow until the share ``RECALL_TARGET`` of their neighbours is found. Another sample
measures the recall of the result.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed

from protoset import kernels
from protoset._blocks import in_threads, n_processors, row_slices
from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset.spaces._cells import MOST_WIDTH, CellCandidates
from protoset.spaces._lists import RawLists

if TYPE_CHECKING:
    from protoset.spaces.base import Space

APPROXIMATE_FROM = 100_000
"""Smallest number of objects for which ``"auto"`` chooses the approximate search, if there is one."""

RECALL_TARGET = 0.97
"""Share of the true neighbours at which the rounds end."""

RECALL_WARNING = 0.95
"""Recall below which a fit warns."""

LEAST_RECALL = 0.5
"""Recall below which a fit raises an error."""

TUNING_ROWS = 200
"""Rows searched exactly to decide whether another round follows."""

RECALL_ROWS = 500
"""Rows searched exactly to measure the recall."""

MEASURED_COLUMNS = 4096
"""Vectors that the sampled rows are compared with at a time: few enough for the cache of the processor."""

MARGIN = 10
"""Number of candidates beyond ``n_neighbors``."""


def approximate_search_bytes(n_neighbors: int, object_bytes: int, n_objects: int, *, on_disk: bool) -> int:
    """Peak memory of an approximate search: in a round, or when the lists are written."""
    n_candidates = min(n_neighbors + MARGIN, n_objects - 1)
    n_edges = 2 * min(MOST_WIDTH, n_candidates)
    index, number = 4, 8
    # Per object, in a round: candidates with their distances, two radii, edges of this round and of the one before,
    # and which of them are new. At the end: candidates, edges, and the lists, unless they are on disk.
    in_a_round = 2 * index * n_candidates + 2 * index + n_edges * (2 * index + 1)
    at_the_end = 2 * index * n_candidates + n_edges * index + (0 if on_disk else n_neighbors * (index + number))
    # A copy of the vectors, ordered by cell, with the row and the cell of each.
    return n_objects * (object_bytes + 2 * number + max(in_a_round, at_the_end))


def approximate_library() -> str | None:
    """Name of the library that is installed: "faiss", else "pynndescent", else None."""
    return next((name for name in ("faiss", "pynndescent") if importlib.util.find_spec(name) is not None), None)


def approximate_lists(
    space: Space,
    vectors: np.ndarray,
    n_neighbors: int,
    *,
    storage: Storage,
    n_jobs: int | None,
    progress: ProgressCallback | None = None,
) -> RawLists:
    """Find most nearest neighbours of each vector; ``space`` compares the vectors by the Euclidean distance.

    All lists have the same length; none is marked as closed.
    """
    n = len(vectors)
    k = min(n_neighbors, n - 1)
    kind = CellCandidates if approximate_library() == "faiss" else NNDescentCandidates
    candidates = kind(vectors, min(k + MARGIN, n - 1), n_jobs)
    tuning, measuring = sampled_rows(n)
    farthest = _farthest_neighbors(space, tuning, k, n_jobs)
    while _recall(_rerank(candidates, vectors, tuning, k, space, n_jobs)[1], farthest) < RECALL_TARGET:
        if not candidates.improve():
            break
    indices = storage.empty("neighbor_indices", (n, k), np.int32)
    distances = storage.empty("neighbor_distances", (n, k), np.float64)
    for block in row_slices(n, (k + MARGIN) * 28):
        rows = np.arange(block.start, block.stop)
        indices[block], distances[block] = _rerank(candidates, vectors, rows, k, space, n_jobs)
        if progress is not None:
            progress(block.stop, n)
    recall = _recall(distances[measuring], _farthest_neighbors(space, measuring, k, n_jobs))
    counts = np.full(n, k, np.int64)
    return RawLists(counts, indices.reshape(-1), distances.reshape(-1), np.zeros(n, bool), recall=recall)


def sampled_rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that tune a search, and rows that measure it; they overlap if there are very few rows."""
    drawn = np.random.default_rng(0).permutation(n)[: TUNING_ROWS + RECALL_ROWS]
    n_tuning = min(TUNING_ROWS, max(1, len(drawn) // 3))
    return np.sort(drawn[:n_tuning]), np.sort(drawn[min(n_tuning, len(drawn) - 1) :])


def _rerank(
    source: CellCandidates | NNDescentCandidates,
    vectors: np.ndarray,
    rows: np.ndarray,
    k: int,
    space: Space,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours of the rows among their candidates, by (distance, index)."""
    candidates = source.of(rows)
    others = (candidates >= 0) & (candidates != rows[:, None])
    short = np.flatnonzero(others.sum(axis=1) < k)
    candidates = np.where(candidates >= 0, candidates, rows[:, None])  # the kernel skips the object itself
    indices, distances = np.empty(candidates.shape, np.int32), np.empty(candidates.shape)
    kernels.euclidean.rerank_candidates(vectors, rows, candidates, np.full(len(rows), np.inf), k, indices, distances)
    if len(short):
        exact = space.kneighbors_by_block(rows[short], k, limit=k, n_jobs=n_jobs)
        indices[short, :k], distances[short, :k] = exact.indices.reshape(-1, k), exact.distances.reshape(-1, k)
    return indices[:, :k], distances[:, :k]


def _farthest_neighbors(space: Space, rows: np.ndarray, k: int, n_jobs: int | None) -> np.ndarray:
    """Distance of the last true neighbour of each row, in blocks of columns: there are few rows."""

    def search(sample: np.ndarray) -> np.ndarray:
        nearest = np.full((len(sample), k), np.inf)
        for start in range(0, space.shape[1], MEASURED_COLUMNS):
            block = space.block(sample, slice(start, min(start + MEASURED_COLUMNS, space.shape[1])))
            kernels.lists.keep_smallest(block, sample - start, nearest)
        return nearest[:, -1]

    samples = np.array_split(rows, min(len(rows), 4 * n_processors(n_jobs)))
    return np.concatenate(in_threads(n_jobs)(delayed(search)(sample) for sample in samples))


def _recall(distances: np.ndarray, farthest: np.ndarray) -> float:
    """Share of the listed objects that are as near as the true neighbours; ties count as found."""
    return float(np.mean(distances <= farthest[:, None]))


class NNDescentCandidates:
    """Candidates from the graph of pynndescent."""

    def __init__(self, vectors: np.ndarray, length: int, n_jobs: int | None):
        from pynndescent import NNDescent

        centred = np.asarray(vectors - vectors.mean(axis=0, dtype=np.float64), np.float32)
        graph = NNDescent(centred, n_neighbors=length + 1, random_state=0, n_jobs=n_processors(n_jobs))
        self._indices = np.asarray(graph.neighbor_graph[0], np.int64)

    def improve(self) -> bool:
        """Return False: the graph is built once."""
        return False

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Candidates of the given rows."""
        return self._indices[rows]
