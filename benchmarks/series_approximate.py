"""Approximate neighbours of many series under dynamic time warping, against the cost of all pairs.

    python -m benchmarks.series_approximate [SERIES]        50,000 by default

The 30 nearest neighbours of series of 128 points, z-normalised, radius 6. The series of five generators are searched
together, in three sizes, and each generator alone. The cost of all pairs is estimated from a sample of pairs: with the
kernel that computes one pair at a time, and with the one that computes 64 at a time. CPU seconds of one worker.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from benchmarks.measure import cpu_seconds, peak_gigabytes, verdict
from protoset.neighbors import NeighborLists, build_lists
from protoset.spaces import make_space

NEIGHBORS = 30
LENGTH = 128
PARAMETERS = {"window": 6, "normalize": True}
TIMED = 1000
REPEATS = 3


def cylinder_bell_funnel(n: int, rng: np.random.Generator) -> np.ndarray:
    """Series with a plateau, a rise or a fall at a random time, in noise."""
    t = np.arange(LENGTH)
    start, extent = rng.integers(16, 33, n)[:, None], rng.integers(32, 97, n)[:, None]
    rising = (t - start) / extent
    shapes = np.stack([np.ones((n, LENGTH)), rising, 1 - rising])[rng.integers(3, size=n), np.arange(n)]
    inside = (t >= start) & (t <= start + extent)
    return (6 + rng.normal(size=(n, 1))) * inside * shapes + rng.normal(size=(n, LENGTH))


def gestures(n: int, rng: np.random.Generator) -> np.ndarray:
    """Smooth series with one rise and fall, as in GunPoint."""
    t = np.linspace(0, 1, LENGTH)
    centre, width = rng.normal(0.5, 0.05, (n, 1)), rng.uniform(0.1, 0.15, (n, 1))
    return np.exp(-(((t - centre) / width) ** 2) / 2) + 0.002 * rng.normal(size=(n, LENGTH)).cumsum(axis=1)


def random_walks(n: int, rng: np.random.Generator) -> np.ndarray:
    """Sums of normal steps."""
    return rng.normal(size=(n, LENGTH)).cumsum(axis=1)


def harmonics(n: int, rng: np.random.Generator) -> np.ndarray:
    """Sums of four sines of random phases, with a little noise."""
    t, series = np.linspace(0, 1, LENGTH), 0.1 * rng.normal(size=(n, LENGTH))
    for harmonic in range(1, 5):
        series += rng.normal(size=(n, 1)) / harmonic * np.sin(2 * np.pi * (harmonic * t + rng.random((n, 1))))
    return series


def two_steps(n: int, rng: np.random.Generator) -> np.ndarray:
    """Two steps up or down at random times, as in TwoPatterns."""
    t, series = np.arange(LENGTH), 0.1 * rng.normal(size=(n, LENGTH))
    for earliest in (8, 66):
        start, width = rng.integers(earliest, earliest + 20, n)[:, None], rng.integers(12, 24, n)[:, None]
        step = np.where(t < start + width // 2, -5, 5) * rng.choice([-1, 1], n)[:, None]
        series += step * ((t >= start) & (t < start + width))
    return series


GENERATORS: tuple[Callable[[int, np.random.Generator], np.ndarray], ...] = (
    cylinder_bell_funnel,
    gestures,
    random_walks,
    harmonics,
    two_steps,
)


def mixture(n: int) -> np.ndarray:
    """Series of all generators, in random order."""
    rng = np.random.default_rng(0)
    sizes = np.diff(np.arange(len(GENERATORS) + 1) * n // len(GENERATORS))
    series = np.concatenate([make(int(size), rng) for make, size in zip(GENERATORS, sizes, strict=True)])
    return series[rng.permutation(n)]


def pair_microseconds(X: np.ndarray) -> dict[str, float]:
    """CPU time of a pair: one at a time, and 64 at a time; best of ``REPEATS``."""
    space = make_space(X[:TIMED], "dtw", PARAMETERS)
    kernels = {
        "one at a time": lambda: space.upper_block(slice(0, TIMED)),
        "64 at a time": lambda: space.block(slice(None), slice(None)),
    }
    n_pairs = TIMED * (TIMED - 1) / 2
    return {
        name: 1e6 / n_pairs * min(cpu_seconds(all_pairs)[0] for _ in range(REPEATS))
        for name, all_pairs in kernels.items()
    }


def search(name: str, X: np.ndarray) -> tuple[float, NeighborLists]:
    """Search, and print the CPU seconds and the recall."""
    space = make_space(X, "dtw", PARAMETERS)
    seconds, lists = cpu_seconds(lambda: build_lists(space, NEIGHBORS, search="approximate"))
    print(f"{name:<24}{len(X):8,} series{seconds:9.1f} s   recall {lists.recall:.4f}", flush=True)
    return seconds, lists


def main(n: int) -> None:
    """Print the searches, and what was wanted of the largest."""
    build_lists(make_space(mixture(200), "dtw", PARAMETERS), 5, search="approximate")  # compiles
    pair_microseconds(mixture(TIMED))
    print(
        f"{NEIGHBORS} neighbours of series of {LENGTH} points, radius {PARAMETERS['window']}; CPU seconds, one worker"
    )
    for make in GENERATORS:
        search(make.__name__.replace("_", " "), make(n // 5, np.random.default_rng(1)))
    sizes = (n // 4, n // 2, n)
    times = []
    for size in sizes:
        seconds, lists = search("all generators", mixture(size))
        times.append(seconds)
    peak = peak_gigabytes()
    print(f"\nrecall: {verdict(lists.recall or 0.0, 0.95, at_most=False, digits=3)}")
    n_pairs = n * (n - 1) / 2
    for kernel, microseconds in pair_microseconds(mixture(TIMED)).items():
        all_pairs = n_pairs * microseconds / 1e6
        print(
            f"all pairs, {kernel}: {microseconds:.2f} microseconds each, {all_pairs:,.0f} s (estimated); the search "
            f"takes this share: {verdict(times[-1] / all_pairs, 0.1, at_most=True, digits=4)}"
        )
    exponent = np.log(times[-1] / times[0]) / np.log(sizes[-1] / sizes[0])
    print(f"exponent of growth, {sizes[0]:,} to {n:,} series: {verdict(exponent, 1.4, at_most=True)}")
    print(f"peak memory of the process, GB: {verdict(peak, 3.0, at_most=True)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
