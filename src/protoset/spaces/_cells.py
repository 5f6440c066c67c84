"""Neighbours of many vectors from cells of like ones, improved along the edges of the lists.

    groups of cells -> cells of vectors -> lists from the nearest cells -> ends of two edges, again and again
           (means, by faiss)                                 (our kernels)

The cells give lists that miss some; each round then looks at the neighbours of everyone's neighbours, along edges in
both directions of which one is new, and keeps who is nearer. Vectors of a cell lie side by side in memory, and like
cells too, so that most of what is read is in the processor's cache. A round reads the lists of the one before, so that
nothing depends on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._blocks import row_slices

CELL, LARGEST, TRAINING, MEANS_ROUNDS = 500, 4, 48, 8
"""Vectors in a cell, how many times as many it may have before it is cut in parts, vectors that its centre is learned
from, and in how many rounds."""

NEAR_GROUPS, PROBED, PROBED_GROWTH = 8, 16, 0.38
"""Groups whose cells are looked at, and cells that the first lists of 100,000 vectors are from, more of them for more
vectors, as their neighbours are in more cells."""

FIRST_WIDTH, WIDER, MOST_WIDTH, LEAST_GAIN, MOST_ROUNDS = 18, 1.55, 64, 0.01, 12
"""Edges of each direction that a round follows, how that grows from round to round, and when it ends."""

VISITORS = 16_384
"""Vectors that look into cells together."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Centres of cells, those of a group side by side.

    Attributes
    ----------
    centres : ndarray of float32, shape (n_cells, d)
    groups : ndarray of float32, shape (n_groups, d)
        Centres of the groups.
    starts : ndarray of int
        First cell of each group, and the number of cells.
    """

    centres: np.ndarray
    groups: np.ndarray
    starts: np.ndarray

    @classmethod
    def learn(cls, sample: np.ndarray, n_cells: int) -> Cells:
        """Learn so many cells from a sample of the vectors."""
        centres = _means(sample, n_cells)
        groups = _means(centres, max(1, round(n_cells**0.5)))
        group = _nearest(centres, groups, row_pointers(np.array([len(groups)])), np.zeros((n_cells, 1), np.int32), 1)
        order = np.argsort(group[:, 0], kind="stable")
        return cls(centres[order], groups, row_pointers(np.bincount(group[:, 0], minlength=len(groups))))

    def nearest(self, vectors: np.ndarray, n_nearest: int) -> np.ndarray:
        """Nearest cells of each vector among those of its nearest groups; -1 where these have no more."""
        everywhere = np.zeros((len(vectors), 1), np.int32)
        near = min(NEAR_GROUPS, len(self.groups))
        groups = _nearest(vectors, self.groups, row_pointers(np.array([len(self.groups)])), everywhere, near)
        return _nearest(vectors, self.centres, self.starts, groups, min(n_nearest, len(self.centres)))


@dataclass(frozen=True, eq=False)
class Crowds:
    """Cells cut in parts where too many vectors are alike, so that not all of them visit each other.

    Attributes
    ----------
    starts : ndarray of int
        First vector of each cell, and the number of vectors.
    first_part : ndarray of int
        First part of each cell, and the number of parts.
    part_starts : ndarray of int
        First vector of each part, and the number of vectors.
    """

    starts: np.ndarray
    first_part: np.ndarray
    part_starts: np.ndarray

    @classmethod
    def of(cls, starts: np.ndarray, largest: int) -> Crowds:
        """Cut cells into parts of about the same size, of at most ``largest`` vectors."""
        sizes = np.diff(starts)
        n_parts = np.maximum(1, -(-sizes // largest))
        first_part = row_pointers(n_parts)
        cell = np.repeat(np.arange(len(sizes)), n_parts)
        number = np.arange(first_part[-1]) - first_part[cell]
        part_starts = starts[cell] + sizes[cell] * number // n_parts[cell]
        return cls(starts, first_part, np.append(part_starts, starts[-1]))

    def choose(self, places: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Return a part of each cell that the vectors at some places visit: their own, or one of the others in turn."""
        n_parts = np.diff(self.first_part)[cells]
        own_part = np.searchsorted(self.part_starts, places, side="right")[:, None] - 1
        own_cell = np.searchsorted(self.first_part, own_part, side="right") - 1
        parts = np.where(cells == own_cell, own_part, self.first_part[cells] + places[:, None] % n_parts)
        return np.where(cells >= 0, parts, -1).astype(np.int32)


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
        self._n_jobs, self._width, self._rounds, self._moved = n_jobs, float(FIRST_WIDTH), 0, 1.0
        n, d = vectors.shape
        single, n_cells = _in_single_precision(vectors), max(1, n // CELL)
        cells = Cells.learn(single(_spread_rows(n, TRAINING * n_cells)), n_cells)
        parts = list(row_slices(n, d * 24))
        cell_of = np.concatenate([self._nearest_cells(cells, single(part), 1)[:, 0] for part in parts])
        # Row of each place, cell by cell.
        self._rows = np.argsort(cell_of, kind="stable")
        self._place = np.empty(n, np.int64)
        self._place[self._rows] = np.arange(n)
        self._vectors = np.empty((n, d), np.float32)
        for part in parts:
            self._vectors[part] = single(self._rows[part])
        self._indices, self._squared = np.empty((n, length), np.int32), np.empty((n, length), np.float32)
        self._edges = np.empty((n, 0), np.int32)
        self._look_into_cells(cells, row_pointers(np.bincount(cell_of, minlength=n_cells)))

    def _nearest_cells(self, cells: Cells, vectors: np.ndarray, n_nearest: int) -> np.ndarray:
        parts = [vectors[start : start + VISITORS] for start in range(0, len(vectors), VISITORS)]
        found = Parallel(n_jobs=self._n_jobs, require="sharedmem")(
            delayed(cells.nearest)(part, n_nearest) for part in parts
        )
        return np.concatenate(found)

    def _look_into_cells(self, cells: Cells, starts: np.ndarray) -> None:
        n = len(self._vectors)
        n_probed = max(1, round(PROBED * (n / 100_000) ** PROBED_GROWTH))
        crowds = Crowds.of(starts, LARGEST * CELL)

        def look(first: int) -> None:
            part = slice(first, min(first + VISITORS, n))
            visited = crowds.choose(np.arange(first, part.stop), cells.nearest(self._vectors[part], n_probed))
            kernels.graphs.search_cells(
                self._vectors[part],
                first,
                self._vectors,
                crowds.part_starts,
                visited,
                self._indices[part],
                self._squared[part],
            )

        Parallel(n_jobs=self._n_jobs, require="sharedmem")(delayed(look)(first) for first in range(0, n, VISITORS))

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
        step = max(1, min(VISITORS, -(-n // effective_n_jobs(self._n_jobs))))
        Parallel(n_jobs=self._n_jobs, require="sharedmem")(
            delayed(kernels.graphs.expand)(
                self._vectors, start, min(start + step, n), self._indices, self._squared, edges, fresh, indices, squared
            )
            for start in range(0, n, step)
        )
        # The part of the lists whose last entry came nearer.
        self._moved = float(np.mean(squared[:, -1] < self._squared[:, -1]))
        self._indices, self._squared = indices, squared
        self._width = min(MOST_WIDTH, self._width * WIDER)
        return True

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Candidates of the given rows."""
        places = self._indices[self._place[rows]]
        return np.where(places >= 0, self._rows[places], -1)


def _in_single_precision(vectors: np.ndarray) -> Callable[[slice | np.ndarray], np.ndarray]:
    """Give rows centred and scaled, so that single precision loses little; a few at a time, as they may be many."""
    centre = vectors.mean(axis=0, dtype=np.float64)
    unit = max(float(np.abs(side - centre).max()) for side in (vectors.min(axis=0), vectors.max(axis=0))) or 1.0
    return lambda rows: np.ascontiguousarray((vectors[rows] - centre) / unit, np.float32)


def _spread_rows(n: int, size: int) -> np.ndarray:
    """Different rows from everywhere, always the same."""
    return np.sort(np.random.default_rng(0).permutation(n)[:size])


def _means(vectors: np.ndarray, n_means: int) -> np.ndarray:
    """Centres of groups of like vectors, by faiss."""
    import faiss

    means = faiss.Kmeans(vectors.shape[1], n_means, niter=MEANS_ROUNDS, seed=1, min_points_per_centroid=1)
    with _one_thread(faiss):
        means.train(vectors)
    return np.ascontiguousarray(means.centroids, np.float32)


@contextmanager
def _one_thread(faiss: Any) -> Iterator[None]:
    """Hold faiss to one thread: what is learned on several depends on their number."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _nearest(
    queries: np.ndarray, vectors: np.ndarray, starts: np.ndarray, cells: np.ndarray, n_nearest: int
) -> np.ndarray:
    """Nearest vectors of each query in the cells that it looks into; -1 where these have no more."""
    indices = np.empty((len(queries), n_nearest), np.int32)
    squared = np.empty(indices.shape, np.float32)
    kernels.graphs.search_cells(queries, -1, vectors, starts, cells, indices, squared)
    return indices
