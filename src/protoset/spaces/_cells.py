"""Neighbours of many vectors from cells of like ones, improved along the edges of the lists.

    groups of cells -> cells of vectors -> lists from the nearest cells -> introductions, round after round
           (means, by faiss)                                 (our kernels)

The cells give lists that miss many; in each round those that somebody lists, or that list it, are introduced to each
other, where one of the two edges is new, and everyone keeps who is nearest. So a pair is looked at from its middle,
whose few vectors are in the processor's cache, and for both of its ends at once. A list ends a round with the nearest
of those it had and those it met, by (distance, number), so that nothing depends on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._blocks import row_slices
from protoset.spaces._candidates import import_faiss

CELL, LARGEST, TRAINING, MEANS_ROUNDS = 500, 4, 48, 8
"""Vectors in a cell, how many times as many it may have before it is cut in parts, vectors that its centre is learned
from, and in how many rounds."""

NEAR_GROUPS, PROBED = 8, 10
"""Groups whose cells are looked at, and cells that the first lists are from."""

MOST_WIDTH, LEAST_GAIN, MOST_ROUNDS = 40, 0.01, 12
"""Edges of each direction that a round follows at most, and when rounds end."""

VISITORS, PROPOSALS = 16_384, 2**21
"""Vectors that look into cells together, and proposals of a round that are collected before lists take them."""


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
        self._n_jobs, self._rounds, self._moved = n_jobs, 0, 1.0
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
        crowds = Crowds.of(starts, LARGEST * CELL)

        def look(first: int) -> None:
            part = slice(first, min(first + VISITORS, n))
            visited = crowds.choose(np.arange(first, part.stop), cells.nearest(self._vectors[part], PROBED))
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
        """Introduce those that somebody has edges to, to each other."""
        if self._rounds >= MOST_ROUNDS or self._moved < LEAST_GAIN:
            return False
        self._rounds += 1
        before = self._squared[:, -1].copy()
        edges = kernels.graphs.both_ways(self._indices, MOST_WIDTH)
        fresh = kernels.graphs.fresh_edges(edges, self._edges)
        self._edges = edges
        self._introduce(fresh)
        # The part of the lists whose last entry came nearer.
        self._moved = float(np.mean(self._squared[:, -1] < before))
        return True

    def _introduce(self, fresh: np.ndarray) -> None:
        """Propose and accept in turn, each worker for its part of the objects."""
        n, n_workers = len(fresh), effective_n_jobs(self._n_jobs)
        bounds = [n * worker // n_workers for worker in range(n_workers + 1)]
        room = max(PROPOSALS // n_workers, (fresh.shape[1] + 1) ** 2)
        proposals = [
            (np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32)) for _ in bounds[1:]
        ]
        # Who is only as near as the last one stays away: crowds of like vectors would all be proposed to each other.
        reach = np.nextafter(self._squared[:, -1], np.float32(-1.0))

        def accept(start: int, stop: int, counts: list[int]) -> None:
            for (owners, others, squared), count in zip(proposals, counts, strict=True):
                made = owners[:count], others[:count], squared[:count]
                kernels.graphs.accept(*made, start, stop, self._indices, self._squared, reach)

        starts = bounds[:-1]
        with Parallel(n_jobs=self._n_jobs, require="sharedmem") as workers:
            while starts != bounds[1:]:
                ended = workers(
                    delayed(kernels.graphs.introduce)(
                        self._vectors, start, stop, self._edges, fresh, self._indices, reach, *made
                    )
                    for start, stop, made in zip(starts, bounds[1:], proposals, strict=True)
                )
                starts, counts = [start for start, _ in ended], [count for _, count in ended]
                workers(delayed(accept)(start, stop, counts) for start, stop in pairwise(bounds))

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
    faiss = import_faiss()
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
