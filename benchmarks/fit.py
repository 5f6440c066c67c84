"""A whole fit against scikit-learn's neighbour search alone: n = 50,000, d = 20, K = 53.

python -m benchmarks.fit [n]
"""

from __future__ import annotations

import sys

from sklearn.neighbors import NearestNeighbors

from benchmarks.measure import cpu_seconds, overlapping_classes, peak_gigabytes, verdict
from protoset import REPS

REPEATS = 3
FEATURES = 20
NEIGHBORS = 53


def main(n: int = 50_000) -> None:
    """Print the ratio of CPU times and the peak of memory."""
    X, y = overlapping_classes(n, FEATURES, 5)
    for n_prototypes in (0.1, "auto"):
        REPS(n_prototypes).fit(X[:500], y[:500])  # compiles, or loads what is compiled
    print(f"n = {n:,}, d = {FEATURES}, K = {NEIGHBORS}; best of {REPEATS}, CPU seconds, taken in turns")
    times: dict[str, list[float]] = {"search": [], "fixed": [], "auto": []}
    for _ in range(REPEATS):
        times["search"].append(cpu_seconds(lambda: NearestNeighbors(n_neighbors=NEIGHBORS).fit(X).kneighbors())[0])
        seconds, fitted = cpu_seconds(lambda: REPS(n_prototypes=0.05).fit(X, y))
        times["fixed"].append(seconds)
        seconds, automatic = cpu_seconds(lambda: REPS().fit(X, y))
        times["auto"].append(seconds)
    search, fixed, auto = (min(times[name]) for name in ("search", "fixed", "auto"))
    print(f"scikit-learn, NearestNeighbors.kneighbors      {search:6.2f} s")
    ratio = verdict(fixed / search, 1.25, at_most=True)
    print(f"protoset, REPS(0.05).fit                       {fixed:6.2f} s   ratio {ratio}")
    chosen = f"automatic size ({len(automatic.sample_indices_):,})"
    print(f"protoset, REPS().fit, {chosen:<25}{auto:6.2f} s   ratio {auto / search:.2f}")
    print(f"gap {fitted.duality_gap_:.1e}, solver {fitted.solver_}, {fitted.n_iter_} iterations")
    print(f"peak memory, scikit-learn's search included    {verdict(peak_gigabytes(), 1.0, at_most=True)} GB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
