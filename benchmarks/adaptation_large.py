"""Moved prototypes on letter and magic, against refined ones and 1-NN on everything: errors and CPU seconds.

    python -m benchmarks.adaptation_large FOLDER        FOLDER holds large/letter.dat and large/magic.dat

80 % are training objects, scaled to [0, 1]. The costs of adapted and refined fits are medians of CPU times on 4,000
objects of magic, 2 % kept; the fits run in turns.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.keel import read_keel_typed
from benchmarks.measure import cpu_seconds, peak_gigabytes, verdict
from protoset import REPS, PrototypeClassifier, Refined

LIMITS = {("letter", 0.01): 0.070, ("letter", 0.02): 0.038, ("magic", 0.01): 0.135}
BELOW_NEAREST = {("letter", 0.02)}
"""Data and rates at which the error is to be below that of 1-NN on everything."""

COMPARED_OBJECTS = 4_000
COMPARED_FITS = 5
"""Fits of either kind, in turns, whose medians are compared."""


def read(folder: Path, name: str) -> list[np.ndarray]:
    """Training objects, test objects and their labels."""
    X, y, _ = read_keel_typed(folder / "large" / f"{name}.dat")
    X, queries, y, truth = train_test_split(X.astype(float), y, test_size=0.2, stratify=y, random_state=0)
    least, width = X.min(axis=0), np.ptp(X, axis=0)
    width = np.where(width > 0, width, 1.0)
    return [(X - least) / width, (queries - least) / width, y, truth]


def fit(X: np.ndarray, y: np.ndarray, rate: float, adapt: Any) -> tuple[float, PrototypeClassifier]:
    """CPU seconds of a fit, and the classifier."""
    return cpu_seconds(lambda: PrototypeClassifier(Refined(REPS(rate)), adapt=adapt).fit(X, y))


def main(folder: str) -> None:
    """Print errors, CPU seconds and verdicts."""
    for name in ("magic", "letter"):
        X, queries, y, truth = read(Path(folder), name)
        for adapt in (False, True):
            fit(X[:800], y[:800], 0.05, adapt)  # compiles
        if name == "magic":
            some = np.random.default_rng(0).permutation(len(X))[:COMPARED_OBJECTS]
            turns = [[fit(X[some], y[some], 0.02, adapt)[0] for adapt in (False, True)] for _ in range(COMPARED_FITS)]
            refined, adapted = np.median(turns, axis=0)
            cost = verdict(adapted / refined, 1.5, at_most=True)
            print(
                f"{name}, {COMPARED_OBJECTS:,} objects, 2 %: CPU seconds {refined:.2f}, adapted {adapted:.2f}: {cost}"
            )
        nearest = 1 - KNeighborsClassifier(1, n_jobs=2).fit(X, y).score(queries, truth)
        print(f"{name}, {len(X):,} training objects: 1-NN on everything {nearest:.4f}")
        for rate in (0.01, 0.02, 0.04):
            for title, adapt in (("refined", False), ("adapted", True), ("relevances", {"relevances": True})):
                seconds, classifier = fit(X, y, rate, adapt)
                error = 1 - classifier.score(queries, truth)
                print(f"{name} {rate:.0%} {title:12}{error:8.4f}  CPU seconds {seconds:6.1f}", flush=True)
                if adapt is True and (name, rate) in LIMITS:
                    print(f"  error: {verdict(error, LIMITS[name, rate], at_most=True, digits=4)}")
                if adapt is True and (name, rate) in BELOW_NEAREST:
                    below = verdict(error / nearest, 1, at_most=True, digits=3)
                    print(f"  error over that of 1-NN on everything: {below}")
    print(f"peak memory: {peak_gigabytes():.2f} GB")


if __name__ == "__main__":
    main(sys.argv[1])
