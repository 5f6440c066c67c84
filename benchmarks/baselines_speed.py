"""CPU seconds of the baselines against KEEL's Java programs, with the growth over n.

python -m benchmarks.baselines_speed [folder]

The folder holds the benchmark data; ``large/magic.dat`` and ``large/letter.dat`` are read from it and scaled to [0, 1].
KEEL's seconds were measured once, on the same kind of machine, with the same parameters: ratios to them are rough,
growth exponents do not depend on them. Each size runs in its own process, so that peaks of memory do not mix.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.keel import read_keel
from benchmarks.measure import cpu_seconds, peak_gigabytes, verdict
from protoset.selectors import CCIS, DROP3, FCNN, ICF, RENN, RMHC, SSMA, KMedoids
from protoset.selectors.base import BaseSelector

SIZES = (1_000, 2_000, 4_000, 8_000, 16_000)
METHODS: dict[str, BaseSelector] = {
    "FCNN": FCNN(),
    "CCIS": CCIS(),
    "DROP3": DROP3(),
    "RMHC": RMHC(random_state=0),
    "SSMA": SSMA(random_state=0),
    "ICF": ICF(),
    "RENN": RENN(),
    "KMedoids": KMedoids(0.02, random_state=0),
}
NOT_ON_LETTER = ("SSMA",)
"""Methods that would take too long on letter."""

KEEL_SECONDS = {
    ("magic", 4_000): {"CCIS": 1.4, "FCNN": 0.6, "DROP3": 4.7, "RMHC": 148.0, "SSMA": 426.0},
    ("magic", 16_000): {"CCIS": 16.0, "FCNN": 4.0, "DROP3": 74.0},
    ("letter", 16_000): {"CCIS": 77.0, "FCNN": 4.9, "DROP3": 141.0},
}
WANTED_SPEEDUP = {"FCNN": 1, "CCIS": 1, "DROP3": 5, "RMHC": 50, "SSMA": 20}
"""Smallest speed-up over KEEL."""

MEMORY_GB = 1.5
"""Largest peak of memory."""


def read_sample(folder: Path, data: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Read the first n rows of a shuffle, with every attribute scaled to [0, 1]."""
    X, y = read_keel(folder / "large" / f"{data}.dat")
    order = np.random.default_rng(0).permutation(len(X))[:n]
    widths = np.ptp(X, axis=0)
    return ((X - X.min(axis=0)) / np.where(widths > 0, widths, 1.0))[order], y[order]


def measure_one(folder: Path, data: str, n: int, method: str) -> None:
    """Print CPU seconds, prototypes kept and peak memory of one fit."""
    X, y = read_sample(folder, data, n)
    METHODS[method].fit(X[:300], y[:300])  # compiles, or loads what is compiled
    seconds, fitted = cpu_seconds(lambda: METHODS[method].fit(X, y))
    print(seconds, len(fitted.sample_indices_), peak_gigabytes())


def measure(folder: Path, data: str, n: int, method: str) -> tuple[float, int, float]:
    """CPU seconds, prototypes kept and peak memory of one fit in its own process."""
    command = [sys.executable, "-m", "benchmarks.baselines_speed", str(folder), data, str(n), method]
    seconds, kept, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), int(kept), float(peak)


def main(folder: str = str(Path(__file__).parents[2] / "shared" / "data")) -> None:
    """Print the times on magic at every size, those on letter at the largest, and the ratios."""
    print("CPU seconds after compilation; magic: 10 attributes, 2 classes; letter: 16 attributes, 26 classes")
    print(f"{'':10}" + "".join(f"{n:>9,}" for n in SIZES) + "  exponent   letter 16,000   most memory")
    times: dict[tuple[str, int], dict[str, float]] = {}
    for method in METHODS:
        runs = [measure(Path(folder), "magic", n, method) for n in SIZES]
        for n, (seconds, _, _) in zip(SIZES, runs, strict=True):
            times.setdefault(("magic", n), {})[method] = seconds
        exponent = np.polyfit(np.log(SIZES[1:]), np.log([seconds for seconds, _, _ in runs[1:]]), 1)[0]
        line = (
            f"{method:10}" + "".join(f"{seconds:9.2f}" for seconds, _, _ in runs) + " " * 9 * (len(SIZES) - len(runs))
        )
        line += f"{exponent:10.2f}"
        peak = max(peak for _, _, peak in runs)
        if method not in NOT_ON_LETTER:
            seconds, _, letter_peak = measure(Path(folder), "letter", SIZES[-1], method)
            times.setdefault(("letter", SIZES[-1]), {})[method] = seconds
            peak = max(peak, letter_peak)
            line += f"{seconds:16.2f}"
        print(line + " " * (max(0, 85 - len(line))) + f"{peak:8.2f} GB", flush=True)
        if peak > MEMORY_GB:
            print(f"{method}: MISSED, at most {MEMORY_GB} GB wanted")
    print("\nfaster than KEEL's program")
    for (data, n), theirs in KEEL_SECONDS.items():
        for method, seconds in theirs.items():
            ratio = seconds / times[data, n][method]
            wanted = verdict(ratio, WANTED_SPEEDUP[method], at_most=False)
            print(f"{data:7}{n:>7,}  {method:6}{seconds:7.1f} s   {wanted}")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure_one(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main(*sys.argv[1:])
