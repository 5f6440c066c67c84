"""Approximate neighbours of many vectors: neighbours of neighbours are likely to be neighbours.

    cells of like vectors -> lists from the nearest cells -> ends of two edges, again and again -> exact distances
          (faiss)                                                (our kernel)

The cells give lists that miss many; each round then looks at the neighbours of everyone's neighbours, along edges
in both directions of which one is new, and keeps who is nearer. Where faiss is not installed, pynndescent, which
works alike, does all of it. The distances of candidates are then computed directly, as in the exact search, so that a
list is right in all but who is missing from it. How many are missing is measured: a sample of rows is searched among
everyone, and rounds follow, on wider edges, until ``RECALL_TARGET`` of their neighbours are found. Another sample
measures what was reached.

Vectors of a cell lie side by side in memory, so that most of what a round reads is in the processor's cache. A round
reads the lists of the one before, so that nothing depends on the number of workers.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from protoset import kernels
from protoset._blocks import row_slices
from protoset._storage import Storage
from protoset.spaces._lists import RawLists

if TYPE_CHECKING:
    from protoset.spaces.base import Space

APPROXIMATE_FROM = 100_000
"""Objects from which on ``"auto"`` takes the approximate search where it can."""

RECALL_TARGET, RECALL_WARNING, LEAST_RECALL = 0.97, 0.95, 0.5
"""Part of the true neighbours that the search works for; below which a fit warns; below which it ends."""

TUNING_ROWS, RECALL_ROWS = 200, 500
"""Rows searched exactly, to tune the search and to measure it."""

MARGIN = 4
"""Candidates beyond the neighbours asked for."""

CELL, PROBED, TRAINING = 250, 8, 48
"""Vectors in a cell, cells that the first lists are from, and vectors that a cell's centre is learned from."""

FIRST_WIDTH, WIDER, MOST_WIDTH, LEAST_GAIN, MOST_ROUNDS = 18, 1.25, 64, 0.01, 12
"""Edges of each direction that a round follows, how that grows where a round gains little recall, and when it ends."""


class Candidates(Protocol):
    """Proposes neighbours, without a proof that they are all."""

    def improve(self) -> bool:
        """Spend another round; False where that is not possible."""

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Candidates of the given rows, as many for each; -1 where there are no more."""


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
    progress: Callable[[int, int], None] | None = None,
) -> RawLists:
    """Find most of everyone's nearest others; every list has the same length, and none is known to be closed.

    Parameters
    ----------
    space : Space
        The space of the vectors under the Euclidean distance, which is asked for exact neighbours of samples.
    vectors : ndarray of shape (n, d)
    n_neighbors : int
    storage : Storage
        Where the lists are kept.
    n_jobs : int, optional
    progress : callable, optional
    """
    n = len(vectors)
    k = min(n_neighbors, n - 1)
    kind = CellCandidates if approximate_library() == "faiss" else NNDescentCandidates
    candidates: Candidates = kind(vectors, min(k + MARGIN, n - 1), n_jobs)
    drawn = np.random.default_rng(0).permutation(n)[: TUNING_ROWS + RECALL_ROWS]
    tuning, measuring = np.sort(drawn[: len(drawn) // 3]), np.sort(drawn[len(drawn) // 3 :])
    farthest = _farthest_neighbors(space, tuning, k, n_jobs)
    while _recall(_rerank(candidates, vectors, tuning, k, space, n_jobs)[1], farthest) < RECALL_TARGET:
        if not candidates.improve():
            break
    indices = storage.empty("neighbor_indices", (n, k), np.int32)
    distances = storage.empty("neighbor_distances", (n, k), np.float64)
    for part in row_slices(n, (k + MARGIN) * 28):
        rows = np.arange(part.start, part.stop)
        indices[part], distances[part] = _rerank(candidates, vectors, rows, k, space, n_jobs)
        if progress is not None:
            progress(part.stop, n)
    recall = _recall(distances[measuring], _farthest_neighbors(space, measuring, k, n_jobs))
    counts = np.full(n, k, np.int64)
    return RawLists(counts, indices.reshape(-1), distances.reshape(-1), np.zeros(n, bool), recall=recall)


def _rerank(
    source: Candidates, vectors: np.ndarray, rows: np.ndarray, k: int, space: Space, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours of the rows among their candidates, by (distance, index)."""
    candidates = source.of(rows)
    others = (candidates >= 0) & (candidates != rows[:, None])
    short = np.flatnonzero(others.sum(axis=1) < k)
    candidates = np.where(candidates >= 0, candidates, rows[:, None])  # which the kernel passes over
    indices, distances = np.empty(candidates.shape, np.int32), np.empty(candidates.shape)
    kernels.euclidean.rerank_candidates(vectors, rows, candidates, np.full(len(rows), np.inf), k, indices, distances)
    if len(short):
        exact = space.kneighbors_by_block(rows[short], k, limit=k, n_jobs=n_jobs)
        indices[short, :k], distances[short, :k] = exact.indices.reshape(-1, k), exact.distances.reshape(-1, k)
    return indices[:, :k], distances[:, :k]


def _farthest_neighbors(space: Space, rows: np.ndarray, k: int, n_jobs: int | None) -> np.ndarray:
    """Distance of the last true neighbour of each row."""
    return space.kneighbors_by_block(rows, k, limit=k, n_jobs=n_jobs).distances.reshape(-1, k)[:, -1]


def _recall(distances: np.ndarray, farthest: np.ndarray) -> float:
    """Part of the listed that are as near as the true neighbours; of equally near ones any will do."""
    return float(np.mean(distances <= farthest[:, None]))


class CellCandidates:
    """Lists from cells of like vectors, improved along their edges.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
    length : int
        Candidates of each vector.
    n_jobs : int, optional
    """

    def __init__(self, vectors: np.ndarray, length: int, n_jobs: int | None):
        import faiss

        self._faiss: Any = faiss
        self._n_jobs, self._width, self._rounds, self._moved = n_jobs, float(FIRST_WIDTH), 0, 1.0
        n, d = vectors.shape
        # Centred and scaled, so that single precision loses little; block by block, as vectors may be many.
        centre = vectors.mean(axis=0, dtype=np.float64)
        unit = max(float(np.abs(side - centre).max()) for side in (vectors.min(axis=0), vectors.max(axis=0))) or 1.0

        def single(rows: slice | np.ndarray) -> np.ndarray:
            return np.ascontiguousarray((vectors[rows] - centre) / unit, np.float32)

        with self._threads(1):  # what is learned on several threads depends on their number
            cells, index = self._learn_cells(single(_spread_rows(n, TRAINING * max(1, n // CELL))), n)
            parts = list(row_slices(n, d * 24))
            cell_of = np.concatenate([index.quantizer.search(single(part), 1)[1][:, 0] for part in parts])
        # Row of each place, cell by cell.
        self._rows = np.argsort(cells[cell_of], kind="stable")
        self._place = np.empty(n, np.int64)
        self._place[self._rows] = np.arange(n)
        self._vectors = np.empty((n, d), np.float32)
        self._indices, self._squared = np.empty((n, length), np.int32), np.empty((n, length), np.float32)
        with self._threads(n_jobs):
            for part in parts:
                self._vectors[part] = single(self._rows[part])
            self._edges = np.empty((n, 0), np.int32)
            index.add(self._vectors)
            index.nprobe = PROBED
            for part in row_slices(n, length * 24):
                self._first_lists(index, part, length)

    def _learn_cells(self, sample: np.ndarray, n: int) -> tuple[np.ndarray, Any]:
        """Return the order of the cells, like ones side by side, and an index of them that is still empty."""
        n_cells, d = max(1, n // CELL), sample.shape[1]
        index = self._faiss.index_factory(d, f"IVF{n_cells},Flat")
        index.cp.niter, index.cp.min_points_per_centroid, index.cp.seed = 8, 1, 1
        index.train(sample)
        centres = index.quantizer.reconstruct_n(0, n_cells)
        groups = self._faiss.Kmeans(d, max(1, int(n_cells**0.5)), niter=8, seed=1, min_points_per_centroid=1)
        groups.train(centres)
        group = groups.index.search(centres, 1)[1][:, 0]
        order = np.empty(n_cells, np.int64)
        order[np.argsort(group, kind="stable")] = np.arange(n_cells)
        return order, index

    def _first_lists(self, index: Any, part: slice, length: int) -> None:
        squared, found = index.search(self._vectors[part], length + 1)
        places = np.arange(part.start, part.stop)[:, None]
        squared[(found < 0) | (found == places)] = np.inf
        found[found == places] = -1
        order = np.argsort(squared, axis=1, kind="stable")[:, :length]
        self._indices[part] = np.take_along_axis(found, order, axis=1)
        self._squared[part] = np.take_along_axis(squared, order, axis=1)

    def improve(self) -> bool:
        """Look at the ends of two edges."""
        if self._rounds >= MOST_ROUNDS or (self._moved < LEAST_GAIN and self._width >= MOST_WIDTH):
            return False
        self._rounds += 1
        n = len(self._indices)
        edges = kernels.graphs.both_ways(self._indices, int(self._width))
        fresh = kernels.graphs.fresh_edges(edges, self._edges)
        self._edges = edges
        indices, squared = np.empty_like(self._indices), np.empty_like(self._squared)
        # Few parts, because each holds an array of all objects.
        step = -(-n // (4 * effective_n_jobs(self._n_jobs)))
        Parallel(n_jobs=self._n_jobs, require="sharedmem")(
            delayed(kernels.graphs.expand)(
                self._vectors, start, min(start + step, n), self._indices, self._squared, edges, fresh, indices, squared
            )
            for start in range(0, n, step)
        )
        # Of what is listed now, the part that was not before.
        self._moved = float(np.mean(squared[:, -1] < self._squared[:, -1]))
        self._indices, self._squared = indices, squared
        self._width = min(MOST_WIDTH, self._width * WIDER)
        return True

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Candidates of the given rows."""
        places = self._indices[self._place[rows]]
        return np.where(places >= 0, self._rows[places], -1)

    @contextlib.contextmanager
    def _threads(self, n_jobs: int | None) -> Iterator[None]:
        """Hold faiss to so many threads; with None it uses its own default."""
        before = self._faiss.omp_get_max_threads()
        if n_jobs is not None:
            self._faiss.omp_set_num_threads(effective_n_jobs(n_jobs))
        try:
            yield
        finally:
            self._faiss.omp_set_num_threads(before)


class NNDescentCandidates:
    """The graph of pynndescent, which is built once."""

    def __init__(self, vectors: np.ndarray, length: int, n_jobs: int | None):
        from pynndescent import NNDescent

        centred = np.asarray(vectors - vectors.mean(axis=0, dtype=np.float64), np.float32)
        jobs = None if n_jobs is None else effective_n_jobs(n_jobs)
        found = NNDescent(centred, n_neighbors=length + 1, random_state=0, n_jobs=jobs).neighbor_graph
        self._indices = np.asarray(found[0], np.int64)

    def improve(self) -> bool:
        """It is built once."""
        return False

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Candidates of the given rows."""
        return self._indices[rows]


def _spread_rows(n: int, size: int) -> np.ndarray:
    """Different rows from everywhere, always the same."""
    return np.sort(np.random.default_rng(0).permutation(n)[:size])
