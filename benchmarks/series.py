"""Distances of time series: all pairs against other libraries, and exact neighbour search against all pairs.

    python -m benchmarks.series [FOLDER]        FOLDER holds ucr/TwoPatterns; made-up series where it does not

All pairs: 500 series of 150 points, radius 5, dynamic time warping, MSM and TWE. The peers that are installed take
part.

Search: the 32 nearest of 2,000 series of 128 points; the nearest of 1,000 series to 4,000 others. The plain kernel is
the recurrence as it stands, one pair after the other, each to its end: no bounds, no early end, no vector code. Its
time is measured on 600 of the series and multiplied by the number of pairs. The ratio to all pairs many at a time, with
vector instructions, is printed beside it.

Refinement beyond its matrix: distances of all series to a candidate, up to the distance of the 7th nearest of 50
prototypes, beside the same distances to the end.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import cpu_seconds, verdict
from protoset import kernels
from protoset.spaces import make_space

REPEATS = 2
RADIUS = 5
NEIGHBORS = 32

CANDIDATES = 100
"""Candidates of a refinement whose distances are computed."""

PLAIN_SERIES = 600
"""Series whose pairs the plain kernel computes."""

Pairwise = Callable[[np.ndarray], np.ndarray]


def peers(metric: str) -> dict[str, Pairwise]:
    """All distances with other libraries, their conventions translated to radii in points and square roots."""
    methods: dict[str, Pairwise] = {}
    if metric == "dtw" and importlib.util.find_spec("dtaidistance"):
        from dtaidistance import dtw

        # A window of w admits |i - j| < w in dtaidistance.
        methods["dtaidistance"] = lambda X: dtw.distance_matrix_fast(
            X, window=RADIUS + 1, parallel=False, compact=False
        )
    if metric == "dtw" and importlib.util.find_spec("tslearn"):
        from tslearn.metrics import cdist_dtw

        methods["tslearn"] = lambda X: cdist_dtw(X, global_constraint="sakoe_chiba", sakoe_chiba_radius=RADIUS)
    if importlib.util.find_spec("aeon"):
        from aeon import distances

        pairwise = getattr(distances, f"{metric}_pairwise_distance")
        # In aeon a window is a fraction of the length, and the warped distance is squared.
        root = np.sqrt if metric == "dtw" else np.asarray
        methods["aeon"] = lambda X: root(pairwise(X, window=(RADIUS + 0.01) / X.shape[1]))
    return methods


def all_pairs(metric: str) -> None:
    """Print CPU times and the largest difference of all distances."""
    X = np.random.default_rng(0).normal(size=(500, 150)).cumsum(axis=1)
    print(f"{metric}, all pairs of {len(X)} series of {X.shape[1]} points, radius {RADIUS}; best of {REPEATS}, CPU s")

    def ours(series: np.ndarray) -> np.ndarray:
        return make_space(series, metric, {"window": RADIUS}).block(slice(None), slice(None))

    def plain(series: np.ndarray) -> np.ndarray:
        return make_space(series, metric, {"window": RADIUS}).upper_block(slice(0, len(series)))

    methods = {"protoset": ours, "plain kernel": plain} | peers(metric)
    times: dict[str, list[float]] = {name: [] for name in methods}
    results = {}
    for method in methods.values():
        method(X[:5])  # compiles
    for _ in range(REPEATS):
        for name, method in methods.items():
            seconds, results[name] = cpu_seconds(lambda method=method: method(X))
            times[name].append(seconds)
    upper = np.triu_indices(len(X), 1)
    for name, result in results.items():
        relative = np.abs(result[upper] / results["protoset"][upper] - 1).max()
        print(f"{name:<14}{min(times[name]):7.3f} s   differs by at most a factor of 1 + {relative:.1e}")
    others = [min(seconds) for name, seconds in times.items() if name not in ("protoset", "plain kernel")]
    if others:
        print(f"protoset / fastest of the others: {verdict(min(times['protoset']) / min(others), 1.0, at_most=True)}")
    else:
        print("no peer is installed: pip install 'protoset[peers]'")


def best_of(function: Callable[[], Any]) -> tuple[float, Any]:
    """Least CPU seconds of some calls, and the last result."""
    runs = [cpu_seconds(function) for _ in range(REPEATS)]
    return min(seconds for seconds, _ in runs), runs[-1][1]


def describe(name: str, by_search: float, by_pair: float, in_lanes: float | None, wanted: float | None) -> None:
    """Print the CPU times of a search and of all pairs."""
    ratio = by_pair / by_search
    shown = f"{ratio:.1f}" if wanted is None else verdict(ratio, wanted, at_most=False)
    print(f"{name:<34}search {by_search:6.2f} s, plain kernel {by_pair:6.2f} s, ratio {shown}", end="")
    print("" if in_lanes is None else f"; all pairs many at a time {in_lanes:.2f} s, ratio {in_lanes / by_search:.1f}")


def search(name: str, X: np.ndarray, metric: str, parameters: dict[str, Any], wanted: float | None) -> None:
    """Print the CPU time of the neighbour search beside that of all pairs, and whether both agree on some series."""
    small, space = (make_space(series, metric, parameters) for series in (X[:PLAIN_SERIES], X))
    few = make_space(X[:70], metric, parameters)
    few.kneighbors(5, limit=70), few.block(slice(None), slice(None)), few.upper_block(slice(0, 70))  # compiles
    by_search, found = best_of(lambda: space.kneighbors(NEIGHBORS, limit=len(X)))
    scale = len(X) * (len(X) - 1) / (PLAIN_SERIES * (PLAIN_SERIES - 1))
    by_pair, _ = best_of(lambda: small.upper_block(slice(0, PLAIN_SERIES)))
    in_lanes, _ = best_of(lambda: small.block(slice(None), slice(None)))
    describe(name, by_search, by_pair * scale, in_lanes * scale, wanted)
    rows = np.arange(0, len(X), 50)
    expected = space.kneighbors_by_block(rows, NEIGHBORS, limit=len(X))
    starts = np.append(0, np.cumsum(found.counts))
    listed = np.concatenate([np.arange(starts[row], starts[row + 1]) for row in rows])
    same = np.array_equal(found.indices[listed], expected.indices)
    same = same and np.array_equal(found.distances[listed], expected.distances)
    counters = found.counters
    assert counters is not None
    print(
        f"{'':<34}{counters.pairs:,} pairs: {counters.bounded / counters.pairs:.1%} bounded away, "
        f"{counters.abandoned / counters.pairs:.1%} abandoned, {counters.computed / counters.pairs:.1%} computed; "
        f"{'the same neighbours and distances' if same else 'THE NEIGHBOURS DIFFER'} in {len(rows)} rows"
    )


def prediction(name: str, X: np.ndarray, queries: np.ndarray, wanted: float) -> None:
    """Print the CPU time of the nearest of all series to each query, beside that of all pairs."""
    space = make_space(X, "dtw", {"window": RADIUS})
    space.cross(queries[:70]).nearest()  # compiles
    by_search, (positions, distances) = best_of(space.cross(queries).nearest)
    some = space.cross(queries[:200])
    arrays, warping = (some._rows.arrays, some._columns.arrays), some._warping
    by_pair, block = best_of(
        lambda: kernels.series.series_block(arrays[0], np.arange(200), arrays[1], np.arange(len(X)), warping, False)
    )
    describe(name, by_search, by_pair * len(queries) / 200, None, wanted)
    same = np.array_equal(positions[:200], block.argmin(axis=1)) and np.array_equal(distances[:200], block.min(axis=1))
    print(f"{'':<34}{'the same neighbours and distances' if same else 'THE NEIGHBOURS DIFFER'} for 200 queries")


def candidates(name: str, X: np.ndarray, parameters: dict[str, Any]) -> None:
    """Print the CPU time of the distances to candidates up to cut-offs, beside that of all these distances."""
    space, n = make_space(X, "dtw", parameters), len(X)
    prototypes, tried = np.split(np.random.default_rng(0).permutation(n)[: n // 40 + CANDIDATES], [n // 40])
    cutoffs = np.partition(space.block(slice(None), prototypes), 6, axis=1)[:, 6]
    space.distances_to(0), space.distances_within(0, cutoffs)  # compiles
    whole, expected = best_of(lambda: [space.distances_to(column) for column in tried])
    columns = np.empty((CANDIDATES, n))
    limited, counts = best_of(
        lambda: [space._write_within(column, cutoffs, out) for column, out in zip(tried, columns, strict=True)]
    )
    bounded, abandoned, computed = np.sum(counts, axis=0) / columns.size
    same = all(
        np.array_equal(column, np.where(d <= cutoffs, d, np.inf)) for column, d in zip(columns, expected, strict=True)
    )
    print(
        f"{name:<34}up to cut-offs {limited:6.2f} s, to the end {whole:6.2f} s, ratio {whole / limited:.1f}; "
        f"{columns.size:,} pairs: {bounded:.1%} bounded away, {abandoned:.1%} abandoned, {computed:.1%} computed"
        f"{'' if same else '; THE DISTANCES DIFFER'}"
    )


def cylinder_bell_funnel(n: int, length: int) -> np.ndarray:
    """Series with a plateau, a rise or a fall at a random place, in noise."""
    rng = np.random.default_rng(0)
    t = np.arange(length)
    start, extent = rng.integers(16, 33, n)[:, None], rng.integers(32, 97, n)[:, None]
    inside = (t >= start) & (t <= start + extent)
    rising = (t - start) / extent
    shapes = np.stack([np.ones((n, length)), rising, 1 - rising])[rng.integers(3, size=n), np.arange(n)]
    return (6 + rng.normal(size=(n, 1))) * inside * shapes + rng.normal(size=(n, length))


def smooth_gestures(n: int, length: int) -> np.ndarray:
    """Smooth series with one rise and fall, as in GunPoint."""
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, length)
    centre, width = rng.normal(0.5, 0.05, (n, 1)), rng.uniform(0.1, 0.15, (n, 1))
    return np.exp(-(((t - centre) / width) ** 2) / 2) + 0.002 * rng.normal(size=(n, length)).cumsum(axis=1)


def main(folder: Path) -> None:
    """Print all comparisons."""
    warnings.filterwarnings("ignore")  # what peers say about themselves
    for metric in ("dtw", "msm", "twe"):
        all_pairs(metric)
    files = [folder / "ucr" / "TwoPatterns" / f"TwoPatterns_{part}.tsv.gz" for part in ("TRAIN", "TEST")]
    exist = all(path.exists() for path in files)
    hard, queries = (
        (np.loadtxt(path)[:, 1:] for path in files) if exist else np.split(cylinder_bell_funnel(5000, 128), [1000])
    )
    name = "TwoPatterns" if exist else "cylinder, bell, funnel"
    print(f"\n{NEIGHBORS} nearest neighbours of 2,000 series of {hard.shape[1]} points; best of {REPEATS}, CPU seconds")
    objects, band = queries[:2000], {"window": RADIUS}
    search(f"{name}, radius {RADIUS}", objects, "dtw", band, wanted=8)
    search("smooth, like GunPoint", smooth_gestures(2000, 128), "dtw", band | {"normalize": True}, wanted=8)
    search(f"{name}, erp, radius {RADIUS}", objects, "erp", band, wanted=6)
    search(f"{name}, msm, radius {RADIUS}", objects, "msm", band, wanted=None)
    search(f"{name}, twe, radius {RADIUS}", objects, "twe", band, wanted=None)
    search(f"{name}, no window", objects, "dtw", {}, wanted=15)
    print(f"\nnearest of {len(hard):,} series to {len(queries):,} others, radius {RADIUS}")
    prediction(name, hard, queries, wanted=10)
    print(f"\ndistances of 2,000 series to {CANDIDATES} candidates of a refinement")
    candidates(f"{name}, radius {RADIUS}", objects, band)
    candidates(f"{name}, no window", objects, {})
    candidates("smooth, like GunPoint", smooth_gestures(2000, 128), band | {"normalize": True})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("data"))
