"""Moved prototypes on the paper's 27 time-series sets, beside refined ones and 1-NN on everything.

    python -m benchmarks.adaptation_series FOLDER [WORKERS]        FOLDER holds ucr/NAME/NAME_TRAIN.tsv.gz and _TEST

The default split, dynamic time warping with a radius of 5 points. CPU seconds are those of whole fits. Errors and
seconds are means over ``SEEDS`` seeds of everything that is drawn.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from benchmarks.measure import cpu_seconds, verdict
from protoset import REPS, PrototypeClassifier, Refined
from protoset.spaces import make_space

RATES = (0.1, 0.2)
SEEDS = 5
RADIUS = 5
LIMITS = {0.1: 0.190, 0.2: 0.178}


def measure(folder: Path) -> list[float]:
    """Error of 1-NN; for each rate the errors of the refined and of the moved set, and the CPU seconds of both fits."""
    warnings.simplefilter("ignore")
    train, test = (np.loadtxt(folder / f"{folder.name}_{part}.tsv.gz") for part in ("TRAIN", "TEST"))
    X, y, queries, truth = train[:, 1:], train[:, 0].astype(int), test[:, 1:], test[:, 0].astype(int)
    metric = {"metric": "dtw", "metric_params": {"window": RADIUS}}
    nearest, _ = make_space(X, "dtw", {"window": RADIUS}).cross(queries).nearest()
    results = [float(np.mean(y[nearest] != truth))]

    def fit(rate: float, moves: bool, seed: int) -> tuple[float, float]:
        selector, adapt = Refined(REPS(rate, **metric), random_state=seed), moves and {"random_state": seed}
        seconds, classifier = cpu_seconds(lambda: PrototypeClassifier(selector, adapt=adapt).fit(X, y))
        return float(np.mean(classifier.predict(queries) != truth)), seconds

    fit(0.2, True, 0)  # compiles
    for rate in RATES:
        fits = [[fit(rate, moves, seed) for seed in range(SEEDS)] for moves in (False, True)]
        results += np.mean(fits, axis=1).T.ravel().tolist()
    return results


def main(folder: str, n_jobs: int = 2) -> None:
    """Print the table, its means and the verdicts."""
    paths = sorted(path for path in (Path(folder) / "ucr").iterdir() if path.is_dir())
    results = np.array(Parallel(n_jobs=n_jobs)(delayed(measure)(path) for path in paths))
    print(
        f"{'':24}{'1-NN':>8}" + "".join(f"{f'{rate:.0%}':>16}{'CPU s':>16}" for rate in RATES) + "   (refined, moved)"
    )
    for name, row in [*zip([path.name for path in paths], results, strict=True), ("mean", results.mean(axis=0))]:
        print(f"{name:24}" + "".join(f"{value:8.3f}" for value in row))
    means = results.mean(axis=0)
    for column, (rate, limit) in enumerate(LIMITS.items()):
        moved, refined_cpu, moved_cpu = means[2 + 4 * column], means[3 + 4 * column], means[4 + 4 * column]
        print(f"{rate:.0%}: {verdict(moved, limit, at_most=True, digits=3)}")
        print(f"  CPU seconds over those of refined fits: {verdict(moved_cpu / refined_cpu, 2, at_most=True)}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
