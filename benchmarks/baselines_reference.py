"""Error and selection rate of the baselines and of KEEL's programs, on the same folds and the same distances.

python -m benchmarks.baselines_reference [folder]

The folder holds the benchmark data; KEEL's results and the folds are read from ``reference`` beside it. The output is
the Markdown of docs/baselines.md: error / selection rate, protoset first, KEEL second.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks.keel import ReferenceFold, reference_folds
from protoset import PrototypeClassifier
from protoset.selectors import (
    CCIS,
    CNN,
    DROP3,
    ENN,
    FCNN,
    HMNEI,
    ICF,
    RENN,
    RMHC,
    SSMA,
    AllKNN,
    KMedoids,
    RandomSelector,
)
from protoset.selectors._voting import TieRule
from protoset.selectors.base import BaseSelector

SEEDS = (0, 1, 2)
"""Seeds of methods that draw random numbers."""

KEELS: TieRule = "row_order"
"""How KEEL's programs order equally near objects."""

BY_KEEL: dict[str, list[BaseSelector]] = {
    "CCIS": [CCIS(tie_rule=KEELS)],
    "DROP3": [DROP3(1, tie_rule=KEELS)],
    "FCNN1": [FCNN(1, tie_rule=KEELS)],
    "FCNN2": [FCNN(2, tie_rule=KEELS)],
    "FCNN3": [FCNN(3, tie_rule=KEELS)],
    "RMHC": [RMHC(tie_rule=KEELS, random_state=seed) for seed in SEEDS],
    "SSMA": [SSMA(random_state=seed) for seed in SEEDS],
}
"""Methods of which KEEL has a program, by its name there; one selector per seed."""

OTHERS: dict[str, list[BaseSelector]] = {
    "AllKNN": [AllKNN()],
    "CNN": [CNN()],
    "DROP3, k = 3": [DROP3(3)],
    "ENN": [ENN()],
    "HMNEI": [HMNEI()],
    "ICF": [ICF()],
    "KMedoids, 10 %": [KMedoids(random_state=seed) for seed in SEEDS],
    "RENN": [RENN()],
    "RandomSelector, 10 %": [RandomSelector(random_state=seed) for seed in SEEDS],
}


def measure(fold: ReferenceFold, selectors: list[BaseSelector]) -> tuple[float, float]:
    """Mean test error and selection rate over the seeds."""
    (X, y), (X_test, y_test) = fold.train, fold.test
    fitted = [PrototypeClassifier(selector, adapt=False).fit(X, y) for selector in selectors]
    errors = [1 - classifier.score(X_test, y_test) for classifier in fitted]
    return float(np.mean(errors)), float(np.mean([len(c.sample_indices_) / len(y) for c in fitted]))


def compare(folds: list[ReferenceFold], name: str) -> tuple[np.ndarray, np.ndarray]:
    """(error, rate) of protoset and of KEEL on each data set, without folds on which KEEL's program failed."""
    ours: dict[str, list[tuple[float, float]]] = {}
    theirs: dict[str, list[tuple[float, float]]] = {}
    for fold in folds:
        kept, error = fold.keel[name]
        if kept:
            ours.setdefault(fold.data, []).append(measure(fold, BY_KEEL[name]))
            theirs.setdefault(fold.data, []).append((error, kept / len(fold.train[1])))
    return tuple(np.array([np.mean(results[data], axis=0) for data in ours]) for results in (ours, theirs))


def show(result: np.ndarray) -> str:
    """Format an error and a selection rate."""
    return f"{result[0]:.3f} / {result[1]:.3f}"


def main(folder: str = str(Path(__file__).parents[2] / "shared" / "data")) -> None:
    """Print both tables."""
    folds = list(reference_folds(Path(folder).parent / "reference"))
    names = list(dict.fromkeys(fold.data for fold in folds))
    print("| method | |" + " | ".join(names) + " | mean | largest difference |")
    print("|---" * (len(names) + 4) + "|")
    for name in BY_KEEL:
        ours, theirs = compare(folds, name)
        difference = np.abs(ours - theirs).max(axis=0)
        print(
            f"| {name} | protoset | " + " | ".join(map(show, [*ours, ours.mean(axis=0)])) + f" | {show(difference)} |"
        )
        print("| | KEEL | " + " | ".join(map(show, [*theirs, theirs.mean(axis=0)])) + " | |", flush=True)
    print("\n| method | " + " | ".join(names) + " | mean |")
    print("|---" * (len(names) + 2) + "|")
    for name, selectors in OTHERS.items():
        results = [np.mean([measure(fold, selectors) for fold in folds if fold.data == data], axis=0) for data in names]
        print(f"| {name} | " + " | ".join(map(show, [*results, np.mean(results, axis=0)])) + " |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
