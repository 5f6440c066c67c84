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
from protoset import REPS
from protoset.selectors import SSMA

KEEL_SSMA_SECONDS = 426.0
MAGIC_SIZES = (1_000, 2_000, 4_000, 8_000, 16_000)
LARGE = 50_000
RATE = 0.02


def measure_one(folder: str, data: str, n: int, method: str) -> None:
    """Print CPU seconds, peak memory and prototypes kept of one fit."""
    X, y = overlapping_classes(n, 20, 5) if data == "synthetic" else read_sample(Path(folder), data, n)
    selector = SSMA(random_state=0) if method == "SSMA" else REPS(RATE, refine=True)
    selector.fit(X[:300], y[:300])  # compiles, or loads what is compiled
    if method != "SSMA":
        selector.fit(X[:6000], y[:6000])
    seconds, fitted = cpu_seconds(lambda: selector.fit(X, y))
    print(seconds, peak_gigabytes(), len(fitted.sample_indices_))


def measure(folder: str, data: str, n: int, method: str) -> tuple[float, float]:
    """CPU seconds and peak memory of one fit in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.refinement_speed", folder, data, str(n), method]
    seconds, peak, _ = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(peak)


def main(folder: str) -> None:
    """Print times, growth and ratios."""
    print(f"REPS({RATE}, refine=True), CPU seconds after compilation")
    times = {}
    for n in MAGIC_SIZES:
        times[n], peak = measure(folder, "magic", n, "refined")
        print(f"magic {n:>7,}  {times[n]:7.2f} s  {peak:5.2f} GB", flush=True)
    exponent = np.polyfit(np.log(MAGIC_SIZES[1:]), np.log([times[n] for n in MAGIC_SIZES[1:]]), 1)[0]
    print(f"growth exponent from {MAGIC_SIZES[1]:,} objects on: {exponent:.2f}")
    ssma, _ = measure(folder, "magic", 4_000, "SSMA")
    print(f"faster than KEEL's SSMA at 4,000:     {verdict(KEEL_SSMA_SECONDS / times[4_000], 100, at_most=False)}")
    print(f"faster than protoset's SSMA at 4,000: {verdict(ssma / times[4_000], 10, at_most=False)}")
    seconds, peak = measure(folder, "synthetic", LARGE, "refined")
    print(f"{LARGE:,} objects, 20 attributes: {verdict(seconds / 60, 5, at_most=True)} minutes")
    print(f"peak memory: {verdict(peak, 2, at_most=True)} GB")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure_one(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main(sys.argv[1])
