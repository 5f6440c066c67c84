"""Approximate neighbours of many vectors: first lists from cells of similar vectors, then NN-descent.

    groups of cells -> cells of vectors -> lists from the nearest cells -> NN-descent, round after round
          (k-means, by faiss)                                  (our kernels)

The first lists miss many neighbours. In each round of NN-descent the neighbours of an object, and the objects that list
it, are compared with each other if one of the two edges is new, and every list keeps the nearest. The vectors around
one object stay in the cache of the processor, and a distance serves both ends of the pair. A list ends a round with the
nearest of its old and new entries, by (distance, index), so that nothing depends on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from joblib import delayed

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._blocks import in_threads, n_processors, row_slices
from protoset.spaces._candidates import faiss_threads, import_faiss

CELL_SIZE = 500
"""Average number of vectors in a cell."""

LARGEST_CELL = 4
"""A cell that is this many times larger than the average is split."""

CENTRE_SAMPLE = 48
"""Number of vectors per cell from which the centres are learned."""

KMEANS_ROUNDS = 8
"""Rounds of k-means."""

NEAR_GROUPS = 8
"""Number of nearest groups of a vector whose cells are compared with it."""

PROBED_CELLS = 10
"""Number of nearest cells of a vector from which its first list comes."""

MOST_WIDTH = 40
"""Largest number of outgoing edges of an object that a round of NN-descent follows, and of incoming edges."""

LEAST_DESCENT_GAIN = 0.01
"""NN-descent ends when a smaller share of the lists has improved in a round."""

DESCENT_ROUNDS = 12
"""Largest number of rounds of NN-descent."""

QUERIES_AT_ONCE = 16_384
"""Number of queries that search cells together."""

MOST_PROPOSALS = 2**21
"""Number of proposals of a round that are collected before they are merged into the lists."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Centres of cells and of groups of cells; group g has the cells ``starts[g]`` to ``starts[g + 1]``."""

    centres: np.ndarray
    groups: np.ndarray
    starts: np.ndarray

    @classmethod
    def learn(cls, sample: np.ndarray, n_cells: int) -> Cells:
        """Learn ``n_cells`` cells from a sample of the vectors."""
        centres = _means(sample, n_cells)
        groups = _means(centres, max(1, round(n_cells**0.5)))
        group = _nearest(centres, groups, row_pointers(np.array([len(groups)])), np.zeros((n_cells, 1), np.int32), 1)
        order = np.argsort(group[:, 0], kind="stable")
        return cls(centres[order], groups, row_pointers(np.bincount(group[:, 0], minlength=len(groups))))

    def nearest(self, vectors: np.ndarray, n_nearest: int) -> np.ndarray:
        """Nearest cells of each vector among the cells of its nearest groups; -1 where there are no more."""
        all_groups = np.zeros((len(vectors), 1), np.int32)
        near = min(NEAR_GROUPS, len(self.groups))
        groups = _nearest(vectors, self.groups, row_pointers(np.array([len(self.groups)])), all_groups, near)
        return _nearest(vectors, self.centres, self.starts, groups, min(n_nearest, len(self.centres)))


@dataclass(frozen=True, eq=False)
class SplitCells:
    """Cells, with large cells split into parts, so that not all vectors of a large cell are compared.

    Cell c has the parts ``first_part[c]`` to ``first_part[c + 1]``, part p the vectors ``part_starts[p]`` to
    ``part_starts[p + 1]``.
    """

    first_part: np.ndarray
    part_starts: np.ndarray

    @classmethod
    def of(cls, starts: np.ndarray, largest: int) -> SplitCells:
        """Split cells into parts of about equal size, of at most ``largest`` vectors."""
        sizes = np.diff(starts)
        n_parts = np.maximum(1, -(-sizes // largest))
        first_part = row_pointers(n_parts)
        cell = np.repeat(np.arange(len(sizes)), n_parts)
        number = np.arange(first_part[-1]) - first_part[cell]
        part_starts = starts[cell] + sizes[cell] * number // n_parts[cell]
        return cls(first_part, np.append(part_starts, starts[-1]))

    def choose(self, positions: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Choose a part of each cell that the vectors at some positions search: their own part, or parts in turn."""
        n_parts = np.diff(self.first_part)[cells]
        own_part = np.searchsorted(self.part_starts, positions, side="right")[:, None] - 1
        own_cell = np.searchsorted(self.first_part, own_part, side="right") - 1
        parts = np.where(cells == own_cell, own_part, self.first_part[cells] + positions[:, None] % n_parts)
        return np.where(cells >= 0, parts, -1).astype(np.int32)


class CellCandidates:
    """Candidates from cells of similar vectors, ``length`` for each vector, improved by NN-descent."""

    def __init__(self, vectors: np.ndarray, length: int, n_jobs: int | None):
        self._n_jobs, self._rounds, self._improved = n_jobs, 0, 1.0
        n, d = vectors.shape
        single, n_cells = _in_single_precision(vectors), max(1, n // CELL_SIZE)
        sample = np.sort(np.random.default_rng(0).permutation(n)[: CENTRE_SAMPLE * n_cells])
        cells = Cells.learn(single(sample), n_cells)
        blocks = list(row_slices(n, d * 24))
        cell_of = np.concatenate([self._nearest_cells(cells, single(block), 1)[:, 0] for block in blocks])
        # Vectors are sorted by cell: the row at each position, and the position of each row.
        self._rows = np.argsort(cell_of, kind="stable")
        self._position = np.empty(n, np.int64)
        self._position[self._rows] = np.arange(n)
        self._vectors = np.empty((n, d), np.float32)
        for block in blocks:
            self._vectors[block] = single(self._rows[block])
        self._indices, self._squared = np.empty((n, length), np.int32), np.empty((n, length), np.float32)
        self._edges = np.empty((n, 0), np.int32)
        self._search_cells(cells, row_pointers(np.bincount(cell_of, minlength=n_cells)))

    def _nearest_cells(self, cells: Cells, vectors: np.ndarray, n_nearest: int) -> np.ndarray:
        blocks = [vectors[start : start + QUERIES_AT_ONCE] for start in range(0, len(vectors), QUERIES_AT_ONCE)]
        workers = in_threads(self._n_jobs)
        return np.concatenate(workers(delayed(cells.nearest)(block, n_nearest) for block in blocks))

    def _search_cells(self, cells: Cells, starts: np.ndarray) -> None:
        n = len(self._vectors)
        split = SplitCells.of(starts, LARGEST_CELL * CELL_SIZE)

        def search(first: int) -> None:
            block = slice(first, min(first + QUERIES_AT_ONCE, n))
            probed = split.choose(np.arange(first, block.stop), cells.nearest(self._vectors[block], PROBED_CELLS))
            lists = self._indices[block], self._squared[block]
            kernels.graphs.search_cells(self._vectors[block], first, self._vectors, split.part_starts, probed, *lists)

        in_threads(self._n_jobs)(delayed(search)(first) for first in range(0, n, QUERIES_AT_ONCE))

    def improve(self) -> bool:
        """Run a round of NN-descent; False where the rounds have ended."""
        if self._rounds >= DESCENT_ROUNDS or self._improved < LEAST_DESCENT_GAIN:
            return False
        self._rounds += 1
        before = self._squared[:, -1].copy()
        edges = kernels.graphs.incident_edges(self._indices, MOST_WIDTH)
        is_new = kernels.graphs.new_edges(edges, self._edges)
        self._edges = edges
        self._compare_neighbors(is_new)
        # Share of the lists whose last entry is nearer than before.
        self._improved = float(np.mean(self._squared[:, -1] < before))
        return True

    def _compare_neighbors(self, is_new: np.ndarray) -> None:
        """Propose pairs and merge the proposals into the lists in turn, each worker for its share of the objects."""
        n, n_workers = len(is_new), n_processors(self._n_jobs)
        bounds = [n * worker // n_workers for worker in range(n_workers + 1)]
        room = max(MOST_PROPOSALS // n_workers, (is_new.shape[1] + 1) ** 2)
        proposals = [
            (np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32)) for _ in bounds[1:]
        ]
        # An object at the distance of the last entry is not proposed; otherwise many equal vectors would all be
        # proposed.
        reach = np.nextafter(self._squared[:, -1], np.float32(-1.0))

        def accept(start: int, stop: int, counts: list[int]) -> None:
            for (owners, others, squared), count in zip(proposals, counts, strict=True):
                made = owners[:count], others[:count], squared[:count]
                kernels.graphs.accept_proposals(*made, start, stop, self._indices, self._squared, reach)

        starts = bounds[:-1]
        with in_threads(self._n_jobs) as workers:
            while starts != bounds[1:]:
                ended = workers(
                    delayed(kernels.graphs.propose_pairs)(
                        self._vectors, start, stop, self._edges, is_new, self._indices, reach, *made
                    )
                    for start, stop, made in zip(starts, bounds[1:], proposals, strict=True)
                )
                starts, counts = [start for start, _ in ended], [count for _, count in ended]
                workers(delayed(accept)(start, stop, counts) for start, stop in pairwise(bounds))

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Candidates of the given rows, the same number for each; -1 where there are no more."""
        positions = self._indices[self._position[rows]]
        return np.where(positions >= 0, self._rows[positions], -1)


def _in_single_precision(vectors: np.ndarray) -> Callable[[slice | np.ndarray], np.ndarray]:
    """Function that returns rows centred and scaled, so that single precision loses little."""
    centre = vectors.mean(axis=0, dtype=np.float64)
    unit = max(float(np.abs(side - centre).max()) for side in (vectors.min(axis=0), vectors.max(axis=0))) or 1.0
    return lambda rows: np.ascontiguousarray((vectors[rows] - centre) / unit, np.float32)


def _means(vectors: np.ndarray, n_means: int) -> np.ndarray:
    """Centres of the vectors by k-means, by faiss."""
    means = import_faiss().Kmeans(vectors.shape[1], n_means, niter=KMEANS_ROUNDS, seed=1, min_points_per_centroid=1)
    with faiss_threads(1):  # with several threads the result depends on their number
        means.train(vectors)
    return np.ascontiguousarray(means.centroids, np.float32)


def _nearest(
    queries: np.ndarray, vectors: np.ndarray, starts: np.ndarray, cells: np.ndarray, n_nearest: int
) -> np.ndarray:
    """Nearest vectors of each query in its cells; -1 where there are no more."""
    indices = np.empty((len(queries), n_nearest), np.int32)
    squared = np.empty(indices.shape, np.float32)
    kernels.graphs.search_cells(queries, -1, vectors, starts, cells, indices, squared)
    return indices
