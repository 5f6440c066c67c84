"""Neighbour lists of objects whose distances are expensive, by comparing neighbours of neighbours (NN-descent).

    candidates of each object -> pairs, each once -> distances within cut-offs -> lists, round after round
                                      (kernels)          (the metric)

After Dong, Moses and Li (2011). Unlike in ``_cells``, pairs are gathered first and each is compared once in a round. A
pair is too far if it could enter neither list; bounds and abandoning save work on such pairs. A list ends a round with
the nearest of its old and new entries, by (distance, index), so that nothing depends on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from joblib import delayed

from protoset import kernels
from protoset._blocks import in_threads, n_processors

PairDistances = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[int, int, int]]
"""Called with the first objects, the second objects and the cut-offs of pairs, and an array to write distances to:
infinity beyond the cut-off. Returns the numbers of pairs excluded by a bound, abandoned and computed."""

GatherPairs = Callable[[int, int, np.ndarray, np.ndarray, np.ndarray], tuple[int, int]]
"""Called with the first and last object, work space, and arrays to write pairs to; see ``kernels.neighbor_pairs``."""

Proposals = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Owners of lists, objects to enter into the lists, and their distances."""

GATHERED_PAIRS = 2**17
"""Number of pairs that a worker gathers at a time; at least the number of objects."""


class PairDescent:
    """Neighbour lists while they improve.

    Parameters
    ----------
    n_objects, length : int
        Number of the lists and of the entries of each.
    distances : callable
        Distances of pairs, see ``PairDistances``.
    pairs_at_once : int
        Pairs that a worker compares in one call; an interruption waits for its end.
    n_jobs : int or None
        Workers.
    report : callable
        Called with the number of objects done so far in all rounds.

    Attributes
    ----------
    indices, distances : ndarray of shape (n_objects, length)
        The lists, by (distance, index); -1 and infinity at the end of short ones.
    counters : ndarray of int64, shape (3,)
        Pairs excluded by a bound, abandoned and computed so far.
    """

    def __init__(
        self,
        n_objects: int,
        length: int,
        distances: PairDistances,
        pairs_at_once: int,
        n_jobs: int | None,
        report: Callable[[int], object],
    ):
        self.indices = np.full((n_objects, length), -1, np.int32)
        self.distances = np.full((n_objects, length), np.inf)
        self.counters = np.zeros(3, np.int64)
        self._distances_of, self._pairs_at_once, self._n_jobs, self._report = distances, pairs_at_once, n_jobs, report
        self._edges, self._n_done = np.empty((n_objects, 0), np.int32), 0

    def compare_candidates(self, candidates: np.ndarray) -> None:
        """Compare each object with its candidates, the same number for each; -1 for none."""

        def gather(start: int, stop: int, _: np.ndarray, firsts: np.ndarray, seconds: np.ndarray) -> tuple[int, int]:
            return kernels.neighbor_pairs.candidate_pairs(start, stop, candidates, firsts, seconds)

        self._compare(gather, self.distances[:, -1].copy())

    def compare_neighbors(self, width: int) -> float:
        """Compare neighbours of neighbours, along ``width`` outgoing and as many incoming edges of each object.

        Returns the share of the lists that are nearer than before.
        """
        edges = kernels.graphs.incident_edges(self.indices, width)
        is_new = kernels.graphs.new_edges(edges, self._edges)
        # If distances tie, an entry may be nearer although the last entry is as far as before.
        self._edges, before = edges, self.distances.sum(axis=1)
        middles = kernels.neighbor_pairs.invert_edges(edges, is_new)

        def gather(start: int, stop: int, seen: np.ndarray, firsts: np.ndarray, seconds: np.ndarray) -> tuple[int, int]:
            return kernels.neighbor_pairs.neighbor_pairs(
                start, stop, edges, is_new, middles, self.indices, seen, firsts, seconds
            )

        # An object at the distance of the last entry is not compared; otherwise many equal objects would all be
        # compared.
        self._compare(gather, np.nextafter(self.distances[:, -1], -1.0))
        return float(np.mean(self.distances.sum(axis=1) < before))

    def _compare(self, gather: GatherPairs, reach: np.ndarray) -> None:
        """Compute the distances of pairs and merge them into the lists in turn, each worker for its objects."""
        n, n_workers = len(self.indices), n_processors(self._n_jobs)
        bounds = [n * worker // n_workers for worker in range(n_workers + 1)]
        # An object may be in a pair with each of the others.
        room = max(GATHERED_PAIRS, n)
        pairs = [(np.empty(room, np.int32), np.empty(room, np.int32)) for _ in bounds[1:]]
        seen = [np.full(n, -1, np.int32) for _ in bounds[1:]]

        def propose(worker: int, start: int) -> tuple[int, list[Proposals], np.ndarray]:
            firsts, seconds = pairs[worker]
            stopped, count = gather(start, bounds[worker + 1], seen[worker], firsts, seconds)
            firsts, seconds = firsts[:count], seconds[:count]
            distances, counts = self.distances_within(firsts, seconds, np.maximum(reach[firsts], reach[seconds]))
            proposals = []
            for owners, others in ((firsts, seconds), (seconds, firsts)):
                near = distances <= reach[owners]
                proposals.append((owners[near], others[near], distances[near]))
            return stopped, proposals, counts

        def accept(start: int, stop: int, proposals: list[Proposals]) -> None:
            for made in proposals:
                kernels.graphs.accept_proposals(*made, start, stop, self.indices, self.distances, reach)

        starts = bounds[:-1]
        with in_threads(self._n_jobs) as workers:
            while starts != bounds[1:]:
                results = workers(delayed(propose)(worker, start) for worker, start in enumerate(starts))
                starts = [stopped for stopped, _, _ in results]
                proposals = [made for _, both, _ in results for made in both]
                self.counters += sum(counts for _, _, counts in results)
                workers(delayed(accept)(start, stop, proposals) for start, stop in pairwise(bounds))
                self._report(self._n_done + sum(starts) - sum(bounds[:-1]))
        self._n_done += n

    def distances_from(self, row: int, cutoff: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
        """All other objects, and their distances from an object: infinity beyond the cut-off."""
        others = np.delete(np.arange(len(self.indices), dtype=np.int32), row)
        distances, _ = self.distances_within(np.full_like(others, row), others, np.full(len(others), cutoff))
        return others, distances

    def distances_within(
        self, firsts: np.ndarray, seconds: np.ndarray, cutoffs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distances of pairs, infinity beyond their cut-offs; with the pairs excluded, abandoned and computed."""
        distances, counts = np.empty(len(firsts)), np.zeros(3, np.int64)
        for start in range(0, len(firsts), self._pairs_at_once):
            some = slice(start, start + self._pairs_at_once)
            counts += self._distances_of(firsts[some], seconds[some], cutoffs[some], distances[some])
        return distances, counts
