"""One million objects: time and memory of each stage, and how they grow from 1,000 objects on.

    python -m benchmarks.scale_million [n ...] [FIGURE.png]        sizes; by default 1,000 to 1,000,000

20 attributes in single precision, 10 overlapping classes, 1 % of the objects kept: refined sets, and adapted ones, of
which the prototypes move. Each fit in a process of its own, so that peaks of memory do not mix. CPU seconds are those
of all threads; wall seconds depend on what else runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import product

import numpy as np

from benchmarks.measure import overlapping_classes, peak_gigabytes, verdict
from benchmarks.stages import StageClock
from protoset import REPS, PrototypeClassifier, Refined

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FEATURES = 20
CLASSES = 10
RATE = 0.01
QUERIES = 20_000
COMPILED_FROM = 100_000
"""Objects whose fit needs all that is to be compiled: lists of fewer have no rounds."""

STAGES = ("neighbours", "solve", "refine", "move", "predict", "fit")


def make_classifier(rate: float, search: str, adapt: bool) -> PrototypeClassifier:
    """Refined REPS, whose prototypes move or not."""
    return PrototypeClassifier(Refined(REPS(rate, search=search, n_jobs=2), n_jobs=2), adapt=adapt, n_jobs=2)


def measure_one(n: int, adapt: bool) -> None:
    """Print the seconds of each stage and the peak of memory, as JSON."""
    X, y = overlapping_classes(n + QUERIES, FEATURES, CLASSES)
    X, queries, truth = X[:n].astype(np.float32), X[n:].astype(np.float32), y[n:]
    y = y[:n]
    for search in ("exact", "approximate"):  # loads what is compiled
        warm = make_classifier(0.1, search, adapt).fit(X[:800], y[:800])
        warm.predict(queries[:100])
    before = peak_gigabytes()
    started = time.process_time(), time.perf_counter()
    with StageClock() as clock:
        classifier = make_classifier(RATE, "auto", adapt).fit(X, y)
    cpu, wall = time.process_time() - started[0], time.perf_counter() - started[1]
    selector = classifier.selector_.selector_
    started = time.process_time(), time.perf_counter()
    error = float(np.mean(classifier.predict(queries) != truth))
    predicted = time.process_time() - started[0]
    print(
        json.dumps(
            {
                "cpu": clock.cpu | {"fit": cpu, "predict": predicted},
                "wall": clock.wall | {"fit": wall},
                "peak": peak_gigabytes(),
                "before": before,
                "estimate": selector.memory_estimate_.peak / 1e9,
                "recall": selector.neighbor_recall_,
                "search": selector.neighbor_search_,
                "error": error,
            }
        )
    )


def measure(n: int, adapt: bool) -> dict:
    """Measure one fit in its own process."""
    command = [sys.executable, "-m", "benchmarks.scale_million", "one", str(n), str(int(adapt))]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def exponent(sizes: list[int], values: list[float]) -> float:
    """Slope of the values on a double logarithmic scale."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def draw(runs: dict[int, dict], path: str) -> None:
    """Draw the curves to a file: CPU seconds of each stage, and memory, against the number of objects."""
    import matplotlib.pyplot as plt

    sizes = sorted(runs)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for stage, marker in zip(STAGES, "o^sP*v", strict=True):
        left.loglog(sizes, [runs[n]["cpu"].get(stage, np.nan) for n in sizes], marker=marker, label=stage)
    left.loglog(sizes, [runs[sizes[0]]["cpu"]["fit"] * n / sizes[0] for n in sizes], ":", color="grey", label="n")
    left.set(xlabel="objects", ylabel="CPU seconds")
    left.legend()
    right.loglog(sizes, [runs[n]["peak"] for n in sizes], marker="o", label="peak of the process")
    right.loglog(sizes, [runs[n]["before"] for n in sizes], marker="^", label="before the fit, with X")
    right.set(xlabel="objects", ylabel="GB", ylim=(0.1, 10))
    right.legend()
    figure.savefig(path, dpi=120)


def main(sizes: tuple[int, ...], figure: str | None) -> None:
    """Print the curves, their exponents and the verdicts."""
    runs: dict[int, dict] = {}
    adapted: dict[int, dict] = {}
    measure(COMPILED_FROM, adapt=True)  # compiles
    for n, (name, by_size) in product(sizes, (("refined", runs), ("adapted", adapted))):
        by_size[n] = run = measure(n, adapt=name == "adapted")
        stages = "  ".join(f"{stage} {run['cpu'].get(stage, 0.0):8.3f}" for stage in STAGES)
        print(
            f"{n:>9,} {name}  CPU s: {stages}  wall {run['wall']['fit']:7.1f}  peak {run['peak']:5.2f} GB "
            f"(before {run['before']:.2f}, estimate {run['estimate']:.2f})  {run['search']} "
            f"recall {run['recall']:.3f}  error {run['error']:.4f}",
            flush=True,
        )
    if figure is not None:
        draw(adapted, figure)
    large = [n for n in sizes if n >= 100_000]
    if len(large) > 1:
        for stage in STAGES:
            seconds = [adapted[n]["cpu"].get(stage, 0.0) for n in large]
            if not all(seconds):
                continue
            slope = exponent(large, seconds)
            print(f"growth exponent from {large[0]:,} to {large[-1]:,}, {stage:10}: {slope:.2f}")
        for name in ("cpu", "wall"):
            # Refinement looks at a sample of many, so its share would flatter the exponent: it is left out.
            plain = [runs[n][name]["fit"] - runs[n][name]["refine"] for n in large]
            print(f"fit without refinement, {name}: {verdict(exponent(large, plain), 1.25, at_most=True)}")
        slope = exponent(large, [adapted[n]["cpu"]["fit"] for n in large])
        print(f"adapted fit, growth exponent of the CPU time: {verdict(slope, 1.2, at_most=True)}")
    last = runs[sizes[-1]]
    print(f"{sizes[-1]:,} objects, wall: {verdict(last['wall']['fit'] / 60, 20, at_most=True)} minutes")
    print(
        f"{sizes[-1]:,} objects, CPU time over 2 cores: {verdict(last['cpu']['fit'] / 120, 20, at_most=True)} minutes"
    )
    print(f"peak memory: {verdict(last['peak'], 6, at_most=True)} GB")
    last, n = adapted[sizes[-1]], sizes[-1]
    print(f"{n:,} objects, adapted, CPU seconds of the whole fit: {verdict(last['cpu']['fit'], 200, at_most=True)}")
    print(f"{n:,} objects, adapted, error: {verdict(last['error'], 0.135, at_most=True, digits=4)}")
    print(f"adapted, peak memory: {verdict(last['peak'], 6, at_most=True)} GB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        measure_one(int(sys.argv[2]), sys.argv[3] == "1")
    else:
        numbers = tuple(int(word) for word in sys.argv[1:] if word.isdigit())
        main(numbers or SIZES, next((word for word in sys.argv[1:] if not word.isdigit()), None))
