"""Seconds by the clock of work on time series with one worker and with two: search, refined fit, prediction.

    python -m benchmarks.series_jobs

Made-up smooth series of 128 points in four classes, dynamic time warping. The best of ``REPEATS`` runs counts. Other
work on the machine changes the ratios, so run it alone.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measure import verdict
from protoset import REPS, PrototypeClassifier, Refined
from protoset.spaces import make_space

POINTS = 128
NEIGHBORS = 32
RATE = 0.05
REPEATS = 3

LEAST_RATIO = 1.7
"""Ratio of the seconds with one worker to those with two."""


@dataclass(frozen=True)
class Work:
    """Number of training series and of queries for one window."""

    title: str
    metric_params: dict[str, Any]
    n_series: int
    n_queries: int


WORKS = (Work("radius 5", {"window": 5}, 6_000, 60_000), Work("no window", {}, 3_000, 10_000))


def smooth_series(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sines of four frequencies, with a random phase and a random walk; their classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 4
    frequencies = 1 + 0.3 * labels + 0.1 * rng.normal(size=n)
    sines = np.sin(np.linspace(0, 6, POINTS) * frequencies[:, None] + rng.normal(size=(n, 1)))
    return sines + np.cumsum(0.1 * rng.normal(size=(n, POINTS)), axis=1), labels


def seconds_of(function: Callable[[], Any]) -> float:
    """Seconds by the clock of the fastest of some calls."""
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def measure(work: Work, n_jobs: int) -> dict[str, float]:
    """Seconds of each kind of work."""
    X, y = smooth_series(work.n_series, 0)
    queries, _ = smooth_series(work.n_queries, 1)

    def search() -> None:
        make_space(X, "dtw", work.metric_params).kneighbors(NEIGHBORS, limit=NEIGHBORS, n_jobs=n_jobs)

    ranked = REPS(RATE, metric="dtw", metric_params=work.metric_params, n_jobs=n_jobs)
    classifier = PrototypeClassifier(Refined(ranked, n_jobs=n_jobs), adapt=False, n_jobs=n_jobs)
    classifier.fit(X[:200], y[:200]).predict(queries[:20_000])  # compiles
    return {
        "search": seconds_of(search),
        "refined fit": seconds_of(lambda: classifier.fit(X, y)),
        "prediction": seconds_of(lambda: classifier.predict(queries)),
    }


def main() -> None:
    """Print the seconds and their ratios."""
    warnings.simplefilter("ignore")
    for work in WORKS:
        print(f"{work.title}: {work.n_series:,} series, {work.n_queries:,} queries", flush=True)
        one, two = (measure(work, n_jobs) for n_jobs in (1, 2))
        for name, seconds in one.items():
            ratio = verdict(seconds / two[name], LEAST_RATIO, at_most=False)
            print(f"  {name:12} n_jobs=1 {seconds:7.2f} s, n_jobs=2 {two[name]:7.2f} s, ratio {ratio}")


if __name__ == "__main__":
    main()
