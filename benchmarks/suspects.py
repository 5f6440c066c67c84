"""Suspected label errors against cleanlab, on ten of the paper's vector sets with flipped labels.

    python -m benchmarks.suspects FOLDER [WORKERS [SEEDS]]        FOLDER holds keel/*.dat

5 % of the labels are flipped to another class, drawn with each seed; by default 2 workers and 5 seeds. Numeric
attributes are scaled to [0, 1], mixed ones are compared by HEOM. cleanlab gets the probabilities that ``suspects``
works with, and those of k-NN from 5 stratified folds, k chosen by leave-one-out in each training part. Precision and
recall are of the sets that are found, the average precision is of the ranking of all objects. Only flipped labels count
as errors.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from joblib import Parallel, delayed
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.adaptation_vectors import objects_of_fold
from benchmarks.keel import read_keel_typed
from protoset import REPS, PrototypeClassifier, Refined, suspects
from protoset.models.references import reference_errors
from protoset.spaces import make_space

SETS = (
    "australian",
    "balance",
    "dermatology",
    "ecoli",
    "housevotes",
    "ionosphere",
    "newthyroid",
    "wdbc",
    "wine",
    "wisconsin",
)
FLIPPED = 0.05
FOLDS = 5
SEEDS = 5
OURS = "suspects"
OUR_PROBABILITIES = "cleanlab, prototypes"
NEIGHBORS = "cleanlab, k-NN"
METHODS = (OURS, OUR_PROBABILITIES, NEIGHBORS)


def flip(codes: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes of which some are flipped to another class, and which ones."""
    rng, n_classes = np.random.default_rng(seed), int(codes.max()) + 1
    is_flipped = np.zeros(len(codes), bool)
    is_flipped[rng.choice(len(codes), round(FLIPPED * len(codes)), replace=False)] = True
    wrong = codes.copy()
    wrong[is_flipped] = (codes[is_flipped] + rng.integers(1, n_classes, is_flipped.sum())) % n_classes
    return np.unique(wrong, return_inverse=True)[1], is_flipped


def by_neighbors(X: np.ndarray, codes: np.ndarray, queries: np.ndarray, metric: dict[str, Any]) -> np.ndarray:
    """Shares of the classes among the k nearest neighbours."""
    space = make_space(X, **metric)
    k = reference_errors(space, np.unique(codes, return_inverse=True)[1]).k
    nearest = np.argsort(space.cross(queries).block(slice(None), slice(None)), axis=1, kind="stable")[:, :k]
    return np.column_stack([(codes[nearest] == code).mean(axis=1) for code in np.unique(codes)])


def out_of_fold(X: np.ndarray, codes: np.ndarray, metric: dict[str, Any], seed: int) -> np.ndarray:
    """Shares of the classes among the nearest neighbours of all objects in the other folds."""
    probabilities = np.zeros((len(codes), int(codes.max()) + 1))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, codes):
        known = np.unique(codes[train])
        probabilities[np.ix_(test, known)] = by_neighbors(X[train], codes[train], X[test], metric)
    return probabilities


def scores_of(found: np.ndarray, doubt: np.ndarray, is_flipped: np.ndarray) -> tuple[float, float, float, float]:
    """Precision, recall and F1 of a set, and average precision of a ranking."""
    n_right = int((found & is_flipped).sum())
    precision, recall = n_right / max(int(found.sum()), 1), n_right / int(is_flipped.sum())
    f1 = 2 * n_right / int(found.sum() + is_flipped.sum())
    return precision, recall, f1, float(average_precision_score(is_flipped, doubt))


def measure(path: Path, seed: int) -> list[tuple[float, float, float, float]]:
    """Scores of each of the ``METHODS`` on one data set."""
    warnings.simplefilter("ignore")
    X, y, categorical = read_keel_typed(path)
    everything = np.arange(len(y))
    X, _, metric = objects_of_fold(X, categorical, everything, everything[:0])
    codes, is_flipped = flip(np.unique(y, return_inverse=True)[1], seed)
    classifier = PrototypeClassifier(Refined(REPS(**metric)))
    result = suspects(X, codes, classifier, n_folds=FOLDS, random_state=seed)
    is_judged = np.isfinite(result.all_odds)
    scores = [scores_of(np.isin(everything, result.indices), np.where(is_judged, result.all_odds, 0.0), is_flipped)]
    # The only member of a class is not judged, so its label counts as certain.
    certain = np.eye(int(codes.max()) + 1)[codes]
    ours = np.where(is_judged[:, None], result.all_probabilities, certain)
    for probabilities in (ours, out_of_fold(X, codes, metric, seed)):
        found = find_label_issues(codes, probabilities, n_jobs=1)
        scores.append(scores_of(found, -get_label_quality_scores(codes, probabilities), is_flipped))
    return scores


def main(folder: str, n_jobs: int = 2, n_seeds: int = SEEDS) -> None:
    """Print the table."""
    cells = [(Path(folder) / "keel" / f"{name}.dat", seed) for name in SETS for seed in range(n_seeds)]
    measured = Parallel(n_jobs=n_jobs)(delayed(measure)(*cell) for cell in cells)
    by_set = np.array(measured).reshape(len(SETS), n_seeds, len(METHODS), 4).mean(axis=1)
    print(f"{FLIPPED:.0%} of the labels flipped, {n_seeds} seeds: precision, recall, F1, average precision")
    print(" " * 14 + "".join(f"{name:>29}" for name in METHODS))
    for name, row in (*zip(SETS, by_set, strict=True), ("mean", by_set.mean(axis=0))):
        print(f"{name:14}" + "".join("  " + "".join(f"{value:6.2f}" for value in method) + "   " for method in row))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
