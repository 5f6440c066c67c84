"""Approximate neighbours of many series.

    means of segments -> nearest vectors -> NN-descent under the metric -> recall on a sample
                         (``_cells``)        (``_pair_descent``)

Series with similar means of segments are the first candidates. If neighbours differ by shifts, these candidates are a
poor start. The rounds of NN-descent find the other neighbours, because a neighbour of a neighbour is likely to be a
neighbour. Rounds go along more edges until the share ``RECALL_TARGET`` of the neighbours of a sample is found. Another
sample measures the recall of the result. Listed distances are those of the exact search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import delayed

from protoset._blocks import in_threads, row_slices
from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset.spaces._approximate import RECALL_TARGET, NNDescentCandidates, approximate_library
from protoset.spaces._cells import CellCandidates
from protoset.spaces._lists import RawLists, SearchCounters
from protoset.spaces._pair_descent import GATHERED_PAIRS, PairDescent, PairDistances
from protoset.spaces.series_data import Series

SERIES_APPROXIMATE_FROM = 20_000
"""Smallest number of series for which ``"auto"`` chooses the approximate search."""

MEAN_SEGMENTS = (16, 8, 4)
"""Numbers of segments of a series whose means are compared to find candidates. Few long segments tolerate shifts. With
short segments alone, series with sharp steps form groups that no edge connects."""

UNWARPED_SEGMENTS = 128
"""Segments where no point is matched with a point at another time."""

USUAL_QUANTILE = 0.9
"""Quantile of the largest absolute means of all series that is taken for a usual size."""

LARGEST_MEAN = 2.0**20
"""Absolute mean, in units of the usual size, at which means are cut: single precision still separates usual means."""

LEAST_LISTED = 30
"""Smallest number of neighbours that rounds keep: fewer neighbours lead to too few further candidates."""

WIDTHS = (20, 30)
"""Outgoing edges of a series that rounds follow, and as many incoming edges; more until the recall is reached."""

LEAST_ROUND_GAIN = 0.02
"""Rounds of a width end when a smaller share of the lists has improved in a round."""

ROUNDS_PER_WIDTH = 12
"""Largest number of rounds of a width."""

TYPICAL_ROUNDS = 7
"""Number of rounds that reports of progress assume."""

TUNING_SERIES = 100
"""Series searched exactly to decide whether rounds along more edges follow."""

MEASURED_SERIES = 300
"""Series searched exactly to measure the recall."""

CELLS_AT_ONCE = 2**28
"""Number of cells of warping paths between two checks for an interruption: one second at most."""


@dataclass(frozen=True, eq=False)
class ComparedSeries:
    """Series, their distances, and the cost of a distance.

    Attributes
    ----------
    series : Series
        The prepared series.
    distances : callable
        Distances of pairs within cut-offs, see ``PairDistances``.
    radius : int
        Radius of the band in points.
    """

    series: Series
    distances: PairDistances
    radius: int

    @property
    def pairs_at_once(self) -> int:
        """Number of pairs that are compared in at most about one second."""
        length = float(self.series.lengths.mean())
        cells = length * min(length, 2 * self.radius + 1) * self.series.n_channels
        return max(1, int(CELLS_AT_ONCE / cells))

    def means(self) -> Iterator[np.ndarray]:
        """Means of segments of each series, as vectors: of short segments, and of longer ones."""
        for n_segments in segment_numbers(self.radius):
            yield in_single_precision(segment_means(self.series, n_segments))


def segment_numbers(radius: int) -> tuple[int, ...]:
    """Numbers of segments whose means propose candidates, for series with a band of this radius."""
    return (UNWARPED_SEGMENTS,) if radius == 0 else MEAN_SEGMENTS


def series_search_bytes(
    n_neighbors: int, object_bytes: int, segments: Sequence[int], n_channels: int, n_objects: int, *, on_disk: bool
) -> int:
    """Peak memory of an approximate search: of the candidates, in a round, or when the lists are written.

    ``segments`` are the numbers of segments whose means propose candidates.
    """
    index, number = 4, 8
    length = min(max(n_neighbors, LEAST_LISTED), n_objects - 1)
    n_edges, n_candidates = 2 * min(WIDTHS[-1], length), min(len(segments) * length, n_objects)
    n_means = max(segments) * n_channels
    lists = length * (index + number)
    # Per object: vectors as given and as searched, sums, candidates with distances, in three copies at the end.
    of_candidates = lists + n_means * (number + 2 * index) + object_bytes + n_candidates * (3 * index + 2 * number)
    # Edges of this round and of the one before, the same edges inverted, and which of both are new.
    in_a_round = lists + n_edges * (3 * index + 2) + 4 * number
    at_the_end = lists + n_edges * index + (0 if on_disk else n_neighbors * (index + number))
    # A copy of the series, prepared.
    return n_objects * (object_bytes + max(of_candidates, in_a_round, at_the_end)) + 2 * GATHERED_PAIRS * 64


def segment_means(series: Series, n_segments: int) -> np.ndarray:
    """Return the means of segments of each series, the same number for all; segments of short series overlap."""
    n_segments = min(n_segments, int(series.lengths.max()))
    points = series.values.reshape(len(series.values), -1)
    means = np.empty((len(series), n_segments * series.n_channels))
    series_bytes = 8 * points.size // len(series)
    for rows in row_slices(len(series), series_bytes + 80 * means.shape[1]):
        starts = series.starts[rows.start : rows.stop + 1]
        block = points[starts[0] : starts[-1]]
        means[rows] = _means_of_segments(block, starts - starts[0], n_segments)
    return means


def _means_of_segments(points: np.ndarray, starts: np.ndarray, n_segments: int) -> np.ndarray:
    lengths = np.diff(starts)
    bounds = np.arange(n_segments + 1) * lengths[:, None] // n_segments
    first = np.minimum(bounds[:, :-1], lengths[:, None] - 1)
    last = np.maximum(bounds[:, 1:], first + 1)
    edges = starts[:-1, None, None] + np.stack([first, last], axis=2)
    # Every second sum is that of a segment. Another point follows the end, where the last segment must stop.
    # Differences of cumulative sums would lose small series after large ones.
    sums = np.add.reduceat(np.vstack([points, points[:1]]), edges.reshape(-1), axis=0)[::2]
    return (sums.reshape(*first.shape, -1) / (last - first)[:, :, None]).reshape(len(lengths), -1)


def in_single_precision(means: np.ndarray) -> np.ndarray:
    """Round means to single precision, in units of their usual size; means far beyond it are cut.

    The unit is a power of 2, which keeps the digits. A few very large series would otherwise round all others to 0.
    """
    sizes = np.abs(means).max(axis=1)
    usual = np.quantile(sizes, USUAL_QUANTILE, method="lower") or sizes.max()
    cut = np.clip(means, -LARGEST_MEAN * usual, LARGEST_MEAN * usual)
    return np.ldexp(cut, -np.frexp(usual)[1]).astype(np.float32)


def approximate_series_lists(
    compared: ComparedSeries,
    n_neighbors: int,
    *,
    storage: Storage,
    n_jobs: int | None,
    progress: ProgressCallback | None = None,
) -> RawLists:
    """Find most nearest neighbours of each series. All lists have the same length; none is marked as closed."""
    n = len(compared.series)
    k = min(n_neighbors, n - 1)
    total = (TYPICAL_ROUNDS + 1) * n

    def report(n_done: int) -> None:
        if progress is not None:
            progress(min(n_done, total - 1), total)

    length = min(max(k, LEAST_LISTED), n - 1)
    descent = PairDescent(n, length, compared.distances, compared.pairs_at_once, n_jobs, report)
    descent.compare_candidates(_candidates(compared, length, n_jobs))
    _complete(descent, n_jobs)
    tuning, measuring = _sampled_rows(n)
    for width in WIDTHS:
        for _ in range(ROUNDS_PER_WIDTH):
            if descent.compare_neighbors(width) < LEAST_ROUND_GAIN:
                break
        if _recall(descent, tuning, k, n_jobs) >= RECALL_TARGET:
            break
    recall = _recall(descent, measuring, k, n_jobs)
    if progress is not None:
        progress(total, total)
    return _write_lists(descent, k, recall, storage)


def _candidates(compared: ComparedSeries, length: int, n_jobs: int | None) -> np.ndarray:
    """Series with similar means of segments; all others where there are few."""
    n = len(compared.series)
    if n - 1 <= len(segment_numbers(compared.radius)) * length:
        return np.tile(np.arange(n, dtype=np.int32), (n, 1))
    kind = CellCandidates if approximate_library() == "faiss" else NNDescentCandidates
    by_means = [kind(means, length, n_jobs).of(np.arange(n)).astype(np.int32) for means in compared.means()]
    candidates = np.sort(np.concatenate(by_means, axis=1), axis=1)
    candidates[:, 1:][candidates[:, 1:] == candidates[:, :-1]] = -1
    return candidates


def _complete(descent: PairDescent, n_jobs: int | None) -> None:
    """Search exactly the neighbours of series that had too few candidates."""
    length = descent.indices.shape[1]

    def search(row: int) -> None:
        others, distances = descent.distances_from(row)
        nearest = np.lexsort((others, distances))[:length]
        descent.indices[row], descent.distances[row] = others[nearest], distances[nearest]

    in_threads(n_jobs)(delayed(search)(row) for row in np.flatnonzero(descent.indices[:, -1] < 0))


def _sampled_rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that tune the search, and rows that measure it; they overlap if there are very few rows."""
    drawn = np.random.default_rng(0).permutation(n)[: TUNING_SERIES + MEASURED_SERIES]
    n_tuning = min(TUNING_SERIES, max(1, len(drawn) // 3))
    return np.sort(drawn[:n_tuning]), np.sort(drawn[min(n_tuning, len(drawn) - 1) :])


def _recall(descent: PairDescent, rows: np.ndarray, k: int, n_jobs: int | None) -> float:
    """Share of the true neighbours of some rows that are listed; any neighbour at the same distance counts."""

    def search(row: int) -> float:
        listed = descent.distances[row, :k]
        _, distances = descent.distances_from(row, listed[-1])
        nearest = np.partition(distances, k - 1)[:k]
        farthest = nearest[-1]
        n_tied = min(np.count_nonzero(listed == farthest), np.count_nonzero(nearest == farthest))
        return (np.count_nonzero(listed < farthest) + n_tied) / k

    return float(np.mean(in_threads(n_jobs)(delayed(search)(row) for row in rows)))


def _write_lists(descent: PairDescent, k: int, recall: float, storage: Storage) -> RawLists:
    n = len(descent.indices)
    indices = storage.empty("neighbor_indices", (n, k), np.int32)
    distances = storage.empty("neighbor_distances", (n, k), np.float64)
    for block in row_slices(n, k * 12):
        indices[block], distances[block] = descent.indices[block, :k], descent.distances[block, :k]
    counters = SearchCounters(n * (n - 1) // 2, *descent.counters.tolist())
    counts, closed = np.full(n, k, np.int64), np.zeros(n, bool)
    return RawLists(counts, indices.reshape(-1), distances.reshape(-1), closed, counters, recall)
