"""Moved prototypes against refined ones, 1-NN and tuned k-NN on everything, on the paper's 34 vector sets.

    python -m benchmarks.adaptation_vectors FOLDER [WORKERS [SEEDS]]        FOLDER holds keel/*.dat

5 stratified folds; by default 2 workers and 3 seeds of everything that is drawn, the folds included. Attributes scaled
to [0, 1] on the training part, mixed ones by HEOM. Wilcoxon signed-rank tests over the data sets, on means over folds
and seeds; the last ones also for each seed alone.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sklearn.model_selection import StratifiedKFold

from benchmarks.keel import read_keel_typed
from benchmarks.measure import peak_gigabytes, verdict
from protoset import REPS, PrototypeClassifier, Refined
from protoset.models.references import reference_errors, vote_of_neighbors
from protoset.spaces import make_space

FOLDS = 5
SEEDS = 3
NEAREST = "1-NN on everything"
TUNED = "k-NN on everything"
BY_RULE = "adapted at 5%, relevances, rule auto"
"""Relevances, and the rule chosen on held-out training objects: "nearest" or "scores"."""


def objects_of_fold(
    X: np.ndarray, categorical: list[int], train: np.ndarray, test: np.ndarray
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Training objects, test objects, and the metric of both; attributes with one training value are left out."""
    varies = np.array([len(set(column)) > 1 for column in X[train].T.tolist()])
    kept = np.flatnonzero(varies)
    X, categorical = X[:, kept], np.flatnonzero(np.isin(kept, categorical)).tolist()
    if categorical:
        return X[train], X[test], {"metric": "heom", "metric_params": {"categorical": categorical}}
    least, width = X[train].min(axis=0), np.ptp(X[train], axis=0)
    width = np.where(width > 0, width, 1.0)
    return (X[train] - least) / width, (X[test] - least) / width, {"metric": "euclidean"}


def measure(path: Path, fold: int, seed: int) -> tuple[dict[str, tuple[float, float, float]], float]:
    """(error, selection rate, CPU seconds of the fit) of every method on one fold; peak memory of the worker."""
    warnings.simplefilter("ignore")
    X, y, categorical = read_keel_typed(path)
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))[fold]
    codes = np.unique(y, return_inverse=True)[1]
    objects, queries, metric = objects_of_fold(X, categorical, train, test)
    results = {}
    for name, rate, adapt in (
        ("refined at 2%", 0.02, False),
        ("adapted at 2%", 0.02, {}),
        ("refined at 5%", 0.05, False),
        ("adapted at 5%", 0.05, {}),
        ("adapted at 5%, relevances", 0.05, {"relevances": True}),
        (BY_RULE, 0.05, {"relevances": True}),
        ("refined, automatic", "auto", False),
        ("adapted, automatic", "auto", {}),
    ):
        settings = adapt if adapt is False else adapt | {"random_state": seed}
        size = rate if rate == "auto" else max(round(rate * len(train)), len(np.unique(codes[train])))
        selector = Refined(REPS(size, **metric), random_state=seed)
        rule = "auto" if name == BY_RULE else "nearest"
        started = time.process_time()
        classifier = PrototypeClassifier(selector, adapt=settings, rule=rule).fit(objects, codes[train])
        seconds = time.process_time() - started
        error = float(np.mean(classifier.predict(queries) != codes[test]))
        results[name] = error, len(classifier.sample_indices_) / len(train), seconds
    space = make_space(objects, **metric)
    k = reference_errors(space, codes[train]).k
    for name, neighbors in ((NEAREST, 1), (TUNED, k)):
        answers = vote_of_neighbors(space.cross(queries), codes[train], neighbors)
        results[name] = float(np.mean(answers != codes[test])), 1.0, 0.0
    return results, peak_gigabytes()


def main(folder: str, n_jobs: int = 2, n_seeds: int = SEEDS) -> None:
    """Print the tables and the verdicts."""
    paths = sorted((Path(folder) / "keel").glob("*.dat"))
    cells = [(path, fold, seed) for path in paths for fold in range(FOLDS) for seed in range(n_seeds)]
    measured, peaks = zip(*Parallel(n_jobs=n_jobs)(delayed(measure)(*cell) for cell in cells), strict=True)
    names = list(measured[0])
    by_seed = {
        name: np.array([cell[name] for cell in measured]).reshape(len(paths), FOLDS, n_seeds, 3).mean(axis=1)
        for name in names
    }
    by_set = {name: values.mean(axis=1) for name, values in by_seed.items()}
    errors = {name: values[:, 0] for name, values in by_set.items()}
    print(f"{len(paths)} data sets, {FOLDS} folds, {n_seeds} seeds: mean error, selection rate, CPU seconds of a fit")
    for name in names:
        print(f"{name:38}" + "".join(f"{value:9.4f}" for value in by_set[name].mean(axis=0)))
    print("\nerrors, wins, losses, two-sided p")
    for ours, theirs in (
        ("adapted at 2%", "refined at 2%"),
        ("adapted at 5%", "refined at 5%"),
        ("adapted at 5%", TUNED),
        ("adapted at 5%, relevances", "adapted at 5%"),
        ("adapted at 5%, relevances", TUNED),
        (BY_RULE, "adapted at 5%, relevances"),
        (BY_RULE, TUNED),
        ("adapted, automatic", "refined, automatic"),
        ("adapted, automatic", TUNED),
    ):
        wins, losses = int((errors[ours] < errors[theirs]).sum()), int((errors[ours] > errors[theirs]).sum())
        p = wilcoxon(errors[ours], errors[theirs]).pvalue
        print(
            f"{ours:38}{theirs:27}{errors[ours].mean():8.4f}{errors[theirs].mean():8.4f}{wins:5}{losses:5}  p = {p:.2g}"
        )
    for name, limit in (
        ("adapted at 2%", 0.206),
        ("adapted at 5%", 0.202),
        ("adapted at 5%, relevances", 0.198),
        (BY_RULE, 0.198),
        ("adapted, automatic", 0.202),
    ):
        print(f"{name}: {verdict(round(float(errors[name].mean()), 4), limit, at_most=True, digits=4)}")
    rate = float(by_set["adapted, automatic"][:, 1].mean())
    print(f"adapted, automatic, mean share of the objects that is kept: {verdict(rate, 0.04, at_most=True, digits=4)}")
    for ours, theirs, limit in (
        ("adapted at 5%, relevances", TUNED, 0.05),
        (BY_RULE, TUNED, 0.05),
        ("adapted at 2%", "refined at 2%", 0.001),
    ):
        ratio = float(errors[ours].mean() / errors[theirs].mean())
        p = float(wilcoxon(errors[ours], errors[theirs]).pvalue)
        print(f"{ours} over {theirs}: error {verdict(ratio, 1, at_most=True, digits=3)}")
        print(f"{ours} against {theirs}: two-sided p = {verdict(p, limit, at_most=True, digits=6)}")
        each = [wilcoxon(by_seed[ours][:, seed, 0], by_seed[theirs][:, seed, 0]).pvalue for seed in range(n_seeds)]
        print("  with the folds of each seed alone: p = " + ", ".join(f"{value:.2g}" for value in each))
    print(f"peak memory of a worker: {max(peaks):.2f} GB")
    print("\nerrors by data set: 1-NN, k-NN, refined at 5 %, adapted at 2 %, at 5 %, at 5 % with relevances, by rule")
    columns = (NEAREST, TUNED, "refined at 5%", "adapted at 2%", "adapted at 5%", "adapted at 5%, relevances", BY_RULE)
    for i, path in enumerate(paths):
        print(f"{path.stem:20}" + "".join(f"{errors[name][i]:8.3f}" for name in columns))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
