"""One data set per kind of object: the error of 1-NN on everything and on the 10 % that REPS keeps.

python -m benchmarks.kinds FOLDER        FOLDER holds ucr/, strings/, keel/ and dissimilarity/
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from protoset import REPS, PrototypeClassifier

RATE = 0.1
"""Selection rate."""

N_NAMES = 2000
"""Number of surnames."""


def gunpoint(folder: Path) -> tuple[Any, np.ndarray]:
    """Read the movements of a hand with and without a gun: training and test part together."""
    parts = [np.loadtxt(folder / "ucr" / "GunPoint" / f"GunPoint_{part}.tsv.gz") for part in ("TRAIN", "TEST")]
    both = np.concatenate(parts)
    return both[:, 1:], both[:, 0].astype(int)


def surnames(folder: Path) -> tuple[Any, np.ndarray]:
    """Read surnames of 18 nationalities, a sample."""
    paths = sorted((folder / "strings" / "names").glob("*.txt"))
    pairs = [(name, path.stem) for path in paths for name in path.read_text("utf-8").splitlines()]
    chosen = np.random.default_rng(0).permutation(len(pairs))[:N_NAMES]
    return [pairs[i][0] for i in chosen], np.array([pairs[i][1] for i in chosen])


def credit(folder: Path) -> tuple[Any, np.ndarray]:
    """Read credit applications: nine categorical attributes, six numeric ones."""
    text = (folder / "keel" / "crx.dat").read_text()
    kinds = re.findall(r"^@attribute\s+\S+?\s*(\{|real|integer)", text, re.MULTILINE | re.IGNORECASE)
    rows = [
        [cell.strip() for cell in line.split(",")] for line in text.partition("@data")[2].split("\n") if line.strip()
    ]
    table = np.array(rows, dtype=object)
    for column, kind in enumerate(kinds[:-1]):
        if kind != "{":
            table[:, column] = table[:, column].astype(float)
    return table[:, :-1], table[:, -1].astype(str)


def proteins(folder: Path) -> tuple[Any, np.ndarray]:
    """Read dissimilarities of proteins of four families."""
    matrix = np.loadtxt(folder / "dissimilarity" / "protein_D.csv", delimiter=",")
    return matrix, np.loadtxt(folder / "dissimilarity" / "protein_labels.txt", dtype=str)


def main(folder: Path) -> None:
    """Print the table."""
    warnings.filterwarnings("ignore", message="The least populated class")
    categorical = {"categorical": [0, 3, 4, 5, 6, 8, 9, 11, 12]}
    cases = [
        ("GunPoint", "time series, DTW", gunpoint, "dtw", {"window": 0.1}),
        ("surnames", "strings, Levenshtein", surnames, "levenshtein", None),
        ("crx", "mixed attributes, HEOM", credit, "heom", categorical),
        ("protein", "matrix", proteins, "precomputed", None),
    ]
    print("| data | objects | 1-NN on everything | on 10 % |\n|---|---|---|---|")
    for name, kind, read, metric, parameters in cases:
        try:
            X, y = read(folder)
        except OSError as error:
            print(f"{name}: skipped, {error}")
            continue
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        errors = [
            1
            - cross_val_score(
                PrototypeClassifier(REPS(rate, metric=metric, metric_params=parameters), adapt=False), X, y, cv=folds
            ).mean()
            for rate in (1.0, RATE)
        ]
        print(f"| {name} ({len(y)}) | {kind} | {errors[0]:.3f} | {errors[1]:.3f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("data"))
