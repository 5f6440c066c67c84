"""Exact Euclidean neighbours of 20,000 vectors of 784 features, from faiss's candidates, against faiss alone.

python -m benchmarks.high_dimensional [n]
"""

from __future__ import annotations

import importlib.util
import sys

import numpy as np

from benchmarks.measure import cpu_seconds, overlapping_classes, verdict
from protoset.spaces import make_space

REPEATS = 3
FEATURES = 784
NEIGHBORS = 53


def main(n: int = 20_000) -> None:
    """Print the ratio of CPU times."""
    if importlib.util.find_spec("faiss") is None:
        print("high_dimensional: skipped, faiss is not installed: pip install 'protoset[faiss]'")
        return
    import faiss

    X, _ = overlapping_classes(n, FEATURES, 10)
    space = make_space(X)
    make_space(X[:2500, :40]).kneighbors(5, limit=10)  # compiles, or loads what is compiled

    def alone() -> np.ndarray:
        single = X.astype(np.float32)
        index = faiss.IndexFlatL2(FEATURES)
        index.add(single)
        return index.search(single, NEIGHBORS + 1)[1]

    times: dict[str, list[float]] = {"faiss": [], "protoset": []}
    for _ in range(REPEATS):
        seconds, approximate = cpu_seconds(alone)
        times["faiss"].append(seconds)
        seconds, raw = cpu_seconds(lambda: space.kneighbors(NEIGHBORS, limit=2 * NEIGHBORS))
        times["protoset"].append(seconds)
    ours = raw.indices.reshape(n, -1)[:, :NEIGHBORS]
    differ = sum(set(ours[row]) != set(approximate[row][approximate[row] != row][:NEIGHBORS]) for row in range(n))
    print(f"{NEIGHBORS} neighbours of {n:,} x {FEATURES}; best of {REPEATS}, CPU seconds, taken in turns")
    print(f"faiss alone, single precision      {min(times['faiss']):6.2f} s   {differ} rows differ from the exact ones")
    ratio = verdict(min(times["protoset"]) / min(times["faiss"]), 1.3, at_most=True)
    print(f"protoset, exact                    {min(times['protoset']):6.2f} s   ratio {ratio}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
