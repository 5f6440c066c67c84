"""Refined REPS: CPU seconds and growth with n, against protoset's SSMA and KEEL's.

    python -m benchmarks.refinement_speed FOLDER        FOLDER holds large/magic.dat

Each size in a process of its own, so that peaks of memory do not mix.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.baselines_speed import read_sample
from benchmarks.measure import cpu_seconds, overlapping_classes, peak_gigabytes, verdict
from protoset import REPS, Refined
from protoset.selectors import SSMA
from protoset.selectors.refinement import FEW_OBJECTS

KEEL_SSMA_SECONDS = 426.0
MAGIC_SIZES = (1_000, 2_000, 4_000, 8_000, 16_000)
COMPARED = 4_000
REPEATS = 3
LARGE = 50_000
RATE = 0.02


def measure_one(folder: str, data: str, n: int, method: str) -> None:
    """Print CPU seconds and peak memory of a fit; where methods are compared, the best of a few."""
    X, y = overlapping_classes(n, 20, 5) if data == "synthetic" else read_sample(Path(folder), data, n)
    selector = SSMA(random_state=0) if method == "SSMA" else Refined(REPS(RATE))
    selector.fit(X[:300], y[:300])  # compiles, or loads what is compiled
    if method != "SSMA":
        selector.fit(X[:6000], y[:6000])
    repeats = REPEATS if n == COMPARED else 1
    seconds = min(cpu_seconds(lambda: selector.fit(X, y))[0] for _ in range(repeats))
    print(seconds, peak_gigabytes())


def measure(folder: str, data: str, n: int, method: str) -> tuple[float, float]:
    """CPU seconds and peak memory of one fit in its own process."""
    command = [sys.executable, "-m", "benchmarks.refinement_speed", folder, data, str(n), method]
    seconds, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(peak)


def main(folder: str) -> None:
    """Print times, growth and ratios."""
    print(f"Refined(REPS({RATE})), CPU seconds after compilation")
    times = {}
    for n in MAGIC_SIZES:
        times[n], peak = measure(folder, "magic", n, "refined")
        print(f"magic {n:>7,}  {times[n]:7.2f} s  {peak:5.2f} GB", flush=True)
    # Up to 2,048 objects there are more starts and steps.
    many = [n for n in MAGIC_SIZES if n > FEW_OBJECTS]
    exponent = np.polyfit(np.log(many), np.log([times[n] for n in many]), 1)[0]
    print(f"growth exponent from {many[0]:,} objects on: {exponent:.2f}")
    ssma, _ = measure(folder, "magic", COMPARED, "SSMA")
    refined = times[COMPARED]
    print(f"faster than KEEL's SSMA at {COMPARED:,}:     {verdict(KEEL_SSMA_SECONDS / refined, 100, at_most=False)}")
    print(f"faster than protoset's SSMA at {COMPARED:,}: {verdict(ssma / refined, 10, at_most=False)}")
    seconds, peak = measure(folder, "synthetic", LARGE, "refined")
    print(f"{LARGE:,} objects, 20 attributes: {verdict(seconds / 60, 5, at_most=True)} minutes")
    print(f"peak memory: {verdict(peak, 2, at_most=True)} GB")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure_one(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main(sys.argv[1])
