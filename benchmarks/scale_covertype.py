"""Covertype: prototypes of half a million objects, 1 % of them kept.

    python -m benchmarks.scale_covertype FOLDER [n] [--passes 1 3]    FOLDER holds large/covtype.csv.gz; n rows of it

Scaled to [0, 1], 10 % held out. Errors on the held-out part; of 1-NN on everything on a sample of it. Moved sets are
measured once more after each number of passes: --passes 1 3 10 30 shows how low the error goes, in some ten minutes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.measure import peak_gigabytes, verdict
from benchmarks.stages import StageClock
from protoset import REPS, PrototypeClassifier, Refined
from protoset.selectors import BaseSelector, RandomSelector

RATE = 0.01
SAMPLED_QUERIES = 3_000
PASSES = (1, 3)
"""Passes over the training objects after which moved sets are measured."""


def read_covertype(folder: Path, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Scaled attributes in single precision, and classes; n rows drawn from everywhere."""
    table = pd.read_csv(folder / "large" / "covtype.csv.gz").to_numpy(np.float32)
    if n is not None and n < len(table):
        table = table[np.sort(np.random.default_rng(0).permutation(len(table))[:n])]
    X, y = table[:, :-1], table[:, -1].astype(int)
    low, high = X.min(axis=0), X.max(axis=0)
    return np.ascontiguousarray((X - low) / np.where(high > low, high - low, 1)), y


def main(folder: str, n: int | None = None, passes: tuple[int, ...] = PASSES) -> None:
    """Print times, memory and errors."""
    X, y = read_covertype(Path(folder), n)
    X, held_out, y, truth = train_test_split(X, y, test_size=0.1, random_state=0, stratify=y)
    for search in ("exact", "approximate"):
        PrototypeClassifier(Refined(REPS(0.1, search=search)), adapt=True).fit(X[:800], y[:800])
    print(f"{len(X):,} x {X.shape[1]}, {len(held_out):,} held out, {RATE:.0%} kept", flush=True)
    random = RandomSelector(RATE, random_state=0)
    ranked = REPS(RATE, n_jobs=2, search="approximate")
    refined = Refined(ranked, n_jobs=2)
    cases: list[tuple[str, BaseSelector, Any]] = [
        ("random", random, False),
        ("REPS", ranked, False),
        ("refined", refined, False),
        ("random, moved", random, True),
        ("adapted", refined, True),
        *((f"adapted, {number} passes", refined, {"n_passes": number}) for number in passes),
    ]
    errors, whole, cpu, peak = {}, {}, {}, {}
    for name, selector, adapt in cases:
        started = time.process_time(), time.perf_counter()
        with StageClock() as clock:
            classifier = PrototypeClassifier(selector, adapt=adapt, n_jobs=2).fit(X, y)
        cpu[name], whole[name] = time.process_time() - started[0], time.perf_counter() - started[1]
        errors[name] = float(np.mean(classifier.predict(held_out) != truth))
        fitted = getattr(classifier.selector_, "selector_", classifier.selector_)
        recall = getattr(fitted, "neighbor_recall_", 1.0)
        kept, peak[name] = len(classifier.sample_indices_), peak_gigabytes()
        print(f"{name:20} error {errors[name]:.4f}  {kept:,} kept  CPU {cpu[name]:.1f} s, wall {whole[name]:.1f} s")
        print(f"{'':20} recall {recall:.3f}  peak {peak[name]:.2f} GB  {clock.line()}", flush=True)
        if adapt is not False:
            moves = classifier.adaptation_
            print(f"{'':20} {moves.loss}, {moves.n_passes} passes, ended: {moves.reason}", flush=True)
        if name == "refined":
            print(f"estimate {fitted.memory_estimate_}")
            overlap = fitted.prototype_overlap_
    for name in ("REPS", "refined"):
        print(f"{name}, fit with approximate lists, wall: {verdict(whole[name] / 60, 20, at_most=True)} minutes")
    print(f"peak memory: {verdict(peak_gigabytes(), 6, at_most=True)} GB")
    print(f"adapted, error: {verdict(errors['adapted'], 0.1, at_most=True, digits=4)}")
    print(f"adapted, CPU seconds of the whole fit: {verdict(cpu['adapted'], 150, at_most=True)}")
    print(f"adapted, peak memory: {verdict(peak['adapted'], 3, at_most=True)} GB")
    print(f"error of refined over random: {verdict(errors['refined'] / errors['random'], 0.9, at_most=True)}")
    sample = np.random.default_rng(1).permutation(len(held_out))[:SAMPLED_QUERIES]
    nearest = KNeighborsClassifier(1, algorithm="brute", n_jobs=2).fit(X, y)
    wrong = nearest.predict(held_out[sample]) != truth[sample]
    print(f"error of 1-NN on everything, {len(sample):,} queries: {wrong.mean():.4f}")
    print(f"prototypes that approximate and exact lists share, on a sample: {verdict(overlap, 0.9, at_most=False)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("n", nargs="?", type=int)
    parser.add_argument("--passes", nargs="*", type=int, default=PASSES)
    given = parser.parse_args()
    main(given.folder, given.n, tuple(given.passes))
