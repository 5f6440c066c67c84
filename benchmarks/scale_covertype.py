"""Covertype: prototypes of half a million objects, 1 % of them kept.

    python -m benchmarks.scale_covertype FOLDER [n]        FOLDER holds large/covtype.csv.gz; n rows of it

Scaled to [0, 1], 10 % held out. Errors on the held-out part; of 1-NN on everything on a sample of it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.measure import peak_gigabytes, verdict
from benchmarks.stages import StageClock
from protoset import REPS, PrototypeClassifier, Refined
from protoset.selectors import RandomSelector

RATE = 0.01
SAMPLED_QUERIES = 3_000


def read_covertype(folder: Path, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Scaled attributes in single precision, and classes; n rows drawn from everywhere."""
    table = pd.read_csv(folder / "large" / "covtype.csv.gz").to_numpy(np.float32)
    if n is not None and n < len(table):
        table = table[np.sort(np.random.default_rng(0).permutation(len(table))[:n])]
    X, y = table[:, :-1], table[:, -1].astype(int)
    low, high = X.min(axis=0), X.max(axis=0)
    return np.ascontiguousarray((X - low) / np.where(high > low, high - low, 1)), y


def main(folder: str, n: str | None = None) -> None:
    """Print times, memory and errors."""
    X, y = read_covertype(Path(folder), None if n is None else int(n))
    X, held_out, y, truth = train_test_split(X, y, test_size=0.1, random_state=0, stratify=y)
    for search in ("exact", "approximate"):
        Refined(REPS(0.1, search=search)).fit(X[:800], y[:800])
    print(f"{len(X):,} x {X.shape[1]}, {len(held_out):,} held out, {RATE:.0%} kept", flush=True)
    errors, whole = {}, {}
    for name, selector in (
        ("random", RandomSelector(RATE, random_state=0)),
        ("REPS", REPS(RATE, n_jobs=2, search="approximate")),
        ("refined", Refined(REPS(RATE, n_jobs=2, search="approximate"), n_jobs=2)),
    ):
        started = time.process_time(), time.perf_counter()
        with StageClock() as clock:
            classifier = PrototypeClassifier(selector).fit(X, y)
        cpu, whole[name] = time.process_time() - started[0], time.perf_counter() - started[1]
        errors[name] = float(np.mean(classifier.predict(held_out) != truth))
        ranked = getattr(classifier.selector_, "selector_", classifier.selector_)
        recall = getattr(ranked, "neighbor_recall_", 1.0)
        kept, peak = len(classifier.sample_indices_), peak_gigabytes()
        print(f"{name:8} error {errors[name]:.4f}  {kept:,} kept  CPU {cpu:.1f} s, wall {whole[name]:.1f} s")
        print(f"         recall {recall:.3f}  peak {peak:.2f} GB  {clock.line()}", flush=True)
        if name == "refined":
            print(f"estimate {ranked.memory_estimate_}")
    for name in ("REPS", "refined"):
        print(f"{name}, fit with approximate lists, wall: {verdict(whole[name] / 60, 20, at_most=True)} minutes")
    print(f"peak memory: {verdict(peak_gigabytes(), 6, at_most=True)} GB")
    print(f"error of refined over random: {verdict(errors['refined'] / errors['random'], 0.9, at_most=True)}")
    sample = np.random.default_rng(1).permutation(len(held_out))[:SAMPLED_QUERIES]
    nearest = KNeighborsClassifier(1, algorithm="brute", n_jobs=2).fit(X, y)
    wrong = nearest.predict(held_out[sample]) != truth[sample]
    print(f"error of 1-NN on everything, {len(sample):,} queries: {wrong.mean():.4f}")
    overlap = ranked.prototype_overlap_
    print(f"prototypes that approximate and exact lists share, on a sample: {verdict(overlap, 0.9, at_most=False)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
