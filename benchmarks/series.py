"""Dynamic time warping: all pairs against other libraries, and the neighbour search against all pairs.

    python -m benchmarks.series [FOLDER]        FOLDER holds ucr/TwoPatterns; made-up series where it does not

All pairs: 500 series of 150 points, radius 5. Search: the 32 nearest of 2,000 series of 128 points, z-normalised,
radius 10 % of the length. The peers that are installed take part.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measure import cpu_seconds, verdict
from protoset.spaces import make_space

REPEATS = 3
RADIUS = 5
NEIGHBORS = 32


def peers() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """All distances with other libraries, their conventions translated to radii in points and square roots."""
    methods: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
    if importlib.util.find_spec("dtaidistance"):
        from dtaidistance import dtw

        # A window of w admits |i - j| < w in dtaidistance.
        methods["dtaidistance"] = lambda X: dtw.distance_matrix_fast(
            X, window=RADIUS + 1, parallel=False, compact=False
        )
    if importlib.util.find_spec("tslearn"):
        from tslearn.metrics import cdist_dtw

        methods["tslearn"] = lambda X: cdist_dtw(X, global_constraint="sakoe_chiba", sakoe_chiba_radius=RADIUS)
    if importlib.util.find_spec("aeon"):
        from aeon.distances import dtw_pairwise_distance

        # In aeon a window is a fraction of the length, and the distance is squared.
        methods["aeon"] = lambda X: np.sqrt(dtw_pairwise_distance(X, window=(RADIUS + 0.01) / X.shape[1]))
    return methods


def all_pairs() -> None:
    """Print CPU times and the largest difference of all distances."""
    X = np.random.default_rng(0).normal(size=(500, 150)).cumsum(axis=1)
    print(f"all pairs of {len(X)} series of {X.shape[1]} points, radius {RADIUS}; best of {REPEATS}, CPU seconds")

    def ours(series: np.ndarray) -> np.ndarray:
        return make_space(series, "dtw", {"window": RADIUS}).upper_block(slice(0, len(series)))

    methods = {"protoset": ours} | peers()
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
        difference = np.abs(result[upper] - results["protoset"][upper]).max()
        print(f"{name:<14}{min(times[name]):7.2f} s   differs by at most {difference:.1e}")
    if len(methods) == 1:
        print("no peer is installed: pip install 'protoset[peers]'")
        return
    fastest = min(min(seconds) for name, seconds in times.items() if name != "protoset")
    print(f"protoset / fastest of the others: {verdict(min(times['protoset']) / fastest, 1.0, at_most=True)}")


def search(name: str, X: np.ndarray, wanted: float | None) -> None:
    """Print the CPU time of the neighbour search beside that of all pairs with the same kernel."""
    space = make_space(X, "dtw", {"window": 0.1, "normalize": True})
    times: dict[str, list[float]] = {"search": [], "pairs": []}
    for _ in range(REPEATS):
        seconds, found = cpu_seconds(lambda: space.kneighbors(NEIGHBORS, limit=len(X)))
        times["search"].append(seconds)
        seconds, _ = cpu_seconds(lambda: space.upper_block(slice(0, len(X))))
        times["pairs"].append(seconds)
    by_search, by_pair = min(times["search"]), min(times["pairs"])
    expected = space.kneighbors_by_pair(NEIGHBORS, limit=len(X))
    same = np.array_equal(found.indices, expected.indices) and np.array_equal(found.distances, expected.distances)
    ratio = by_pair / by_search
    shown = f"{ratio:.2f}" if wanted is None else verdict(ratio, wanted, at_most=False)
    counters = found.counters
    assert counters is not None
    print(
        f"{name:<28}search {by_search:6.2f} s, all pairs {by_pair:6.2f} s, ratio {shown}; "
        f"{'the same neighbours and distances' if same else 'THE NEIGHBOURS DIFFER'}\n"
        f"{'':<28}{counters.pairs:,} pairs: {counters.bounded / counters.pairs:.1%} bounded away, "
        f"{counters.abandoned / counters.pairs:.1%} abandoned, {counters.computed / counters.pairs:.1%} computed"
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
    """Print both comparisons."""
    warnings.filterwarnings("ignore")  # what peers say about themselves
    all_pairs()
    path = folder / "ucr" / "TwoPatterns" / "TwoPatterns_TEST.tsv.gz"
    hard = np.loadtxt(path)[:2000, 1:] if path.exists() else cylinder_bell_funnel(2000, 128)
    make_space(hard[:60], "dtw", {"window": 0.1}).kneighbors(5, limit=10)  # compiles
    print(f"\n{NEIGHBORS} nearest neighbours of {len(hard):,} series of {hard.shape[1]} points, in turns; CPU seconds")
    search("TwoPatterns" if path.exists() else "cylinder, bell, funnel", hard, wanted=4)
    search("smooth, like GunPoint", smooth_gestures(2000, 128), wanted=None)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("data"))
