"""A stream of a million objects: partial_fit on batches, in bounded memory.

    python -m benchmarks.adaptation_stream [n]        n objects; by default 1,000,000

20 attributes, 10 overlapping classes, 500 prototypes, selected from the first batch. Each batch is predicted before
the prototypes move on it: the prequential error, over all objects so far, and over those since the line before. Batches
are made as they come, so that memory is that of the stream alone.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc

import numpy as np

from benchmarks.measure import cpu_seconds, overlapping_classes, peak_gigabytes, verdict
from protoset import REPS, PrototypeClassifier

OBJECTS = 1_000_000
BATCH = 1_000
FEATURES = 20
CLASSES = 10
PROTOTYPES = 500
PRINTED = (1_000, 2_000, 5_000, 10_000, 100_000, 300_000, 1_000_000)
TRACED_BATCHES = 20
"""Batches over which the growth of memory is traced, after the stream."""


def make_classifier() -> PrototypeClassifier:
    """Prototypes that REPS selects and a stream moves."""
    return PrototypeClassifier(REPS(PROTOTYPES))


def batch(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Objects of a batch; all batches have the same classes."""
    centres = 0.7 * np.random.default_rng(0).normal(size=(CLASSES, FEATURES))
    generator = np.random.default_rng([1, number])
    labels = generator.integers(CLASSES, size=BATCH)
    return centres[labels] + generator.normal(size=(BATCH, FEATURES)), labels


def main(n: int = OBJECTS) -> None:
    """Print errors, CPU seconds and memory."""
    classes = np.arange(CLASSES)
    warm = make_classifier()  # compiles
    for number in range(3):
        warm.partial_fit(*batch(number), classes=classes)
    classifier, seconds, before = make_classifier(), 0.0, (0, 0.0)
    started, first_peak = peak_gigabytes(), 0.0
    print(f"{n:,} x {FEATURES} in batches of {BATCH:,}, {PROTOTYPES} prototypes", flush=True)
    for number in range(n // BATCH):
        objects, labels = batch(number)
        seconds += cpu_seconds(lambda X=objects, y=labels: classifier.partial_fit(X, y, classes=classes))[0]
        seen, error = classifier.n_seen_, classifier.prequential_error_
        if number == 1:
            first_peak = peak_gigabytes()
        if seen in PRINTED:
            wrong = 0.0 if np.isnan(error) else error * (seen - BATCH)
            since = (wrong - before[1]) / max(seen - max(before[0], BATCH), 1)
            errors = "no predictions yet" if np.isnan(error) else f"prequential error {error:.4f}, of late {since:.4f}"
            print(f"{seen:>9,} seen  {errors}  CPU {seconds:.1f} s  peak {peak_gigabytes():.3f} GB", flush=True)
            before = seen, wrong
    grown = (peak_gigabytes() - max(first_peak, started)) * 1000
    print(
        f"peak memory: {peak_gigabytes():.3f} GB, grown since the second batch: {verdict(grown, 20, at_most=True)} MB"
    )
    X, y = overlapping_classes(20_000, FEATURES, CLASSES)
    print(f"error on 20,000 other objects: {1 - classifier.score(X, y):.4f}")
    print(f"memory kept of {TRACED_BATCHES} more batches: {traced_growth(classifier, n // BATCH):.1f} kB")


def traced_growth(classifier: PrototypeClassifier, number: int) -> float:
    """Kilobytes that further batches leave behind."""
    tracemalloc.start()
    classifier.partial_fit(*batch(number))
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for other in range(number + 1, number + 1 + TRACED_BATCHES):
        classifier.partial_fit(*batch(other))
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return grown / 1000


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
