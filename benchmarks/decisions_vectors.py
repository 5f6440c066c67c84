"""Rules, probabilities, sets of labels and refusals on the paper's 34 vector sets.

    python -m benchmarks.decisions_vectors FOLDER [WORKERS [SEEDS]]        FOLDER holds keel/*.dat

5 stratified folds, 5 % kept; attributes scaled to [0, 1] on the training part, mixed ones by HEOM. Rules on refined sets
that do not move. Probabilities of moved sets beside those of k-NN on everything, k by leave-one-out. Coverage and
refusals by set, over all folds and seeds; a set misses where the rate is more than three standard errors away.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.adaptation_vectors import FOLDS, objects_of_fold
from benchmarks.keel import read_keel_typed
from benchmarks.measure import verdict
from protoset import REPS, PrototypeClassifier, Refined
from protoset.models.references import reference_errors
from protoset.spaces import make_space

RATE = 0.05
RULES = ("nearest", "adjusted", "scores", "auto")
COVERAGE = 0.9
REFUSE = 0.05
LEAST_PROBABILITY = 1e-6
"""Probabilities in a log loss at least."""


def log_loss(probabilities: np.ndarray, codes: np.ndarray) -> float:
    """Mean of -log of the probability of the true class."""
    return float(-np.log(np.maximum(probabilities[np.arange(len(codes)), codes], LEAST_PROBABILITY)).mean())


def brier_score(probabilities: np.ndarray, codes: np.ndarray) -> float:
    """Mean squared difference between probabilities and classes, summed over the classes."""
    truth = np.zeros_like(probabilities)
    truth[np.arange(len(codes)), codes] = 1.0
    return float(((probabilities - truth) ** 2).sum(axis=1).mean())


def neighbor_shares(block: np.ndarray, codes: np.ndarray, k: int, n_classes: int) -> np.ndarray:
    """Shares of the classes among the k nearest."""
    nearest = np.argsort(block, axis=1, kind="stable")[:, :k]
    return np.stack([(codes[nearest] == code).mean(axis=1) for code in range(n_classes)], axis=1)


def measure(path: Path, fold: int, seed: int) -> dict[str, Any]:
    """All figures of one fold."""
    warnings.simplefilter("ignore")
    X, y, categorical = read_keel_typed(path)
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))[fold]
    codes = np.unique(y, return_inverse=True)[1]
    objects, queries, metric = objects_of_fold(X, categorical, train, test)
    n_classes, truth = int(codes.max()) + 1, codes[test]
    size = max(round(RATE * len(train)), len(np.unique(codes[train])))
    results: dict[str, Any] = {}
    for rule in RULES:
        selector = Refined(REPS(size, **metric), random_state=seed)
        classifier = PrototypeClassifier(selector, rule=rule, adapt=False).fit(objects, codes[train])
        results[rule] = float(np.mean(classifier.predict(queries) != truth))
    for name, adapt in (("refined", False), ("moved", "auto")):
        selector = Refined(REPS(size, **metric), random_state=seed)
        classifier = PrototypeClassifier(selector, adapt=adapt).fit(objects, codes[train])
        # A class without training objects has no column.
        probabilities = np.zeros((len(queries), n_classes))
        probabilities[:, classifier.classes_] = classifier.predict_proba(queries)
        results |= {f"{name} log loss": log_loss(probabilities, truth)}
        results |= {f"{name} Brier score": brier_score(probabilities, truth)}
        for kind, by_class in (("", False), (" by class", True)):
            sets = np.zeros(probabilities.shape, bool)
            sets[:, classifier.classes_] = classifier.predict_set(queries, COVERAGE, by_class=by_class)
            results[f"{name} covered{kind}"] = sets[np.arange(len(truth)), truth]
            results[f"{name} size{kind}"] = float(sets.sum(axis=1).mean())
        results[f"{name} refused"] = classifier.is_novel(queries, REFUSE)
    space = make_space(objects, **metric)
    k = reference_errors(space, codes[train]).k
    shares = neighbor_shares(space.cross(queries).block(slice(None), slice(None)), codes[train], k, n_classes)
    results |= {"k-NN log loss": log_loss(shares, truth), "k-NN Brier score": brier_score(shares, truth)}
    if not categorical:
        results |= _unknown_classes(objects, codes[train], queries, truth, metric, seed)
    return results


def _unknown_classes(
    objects: np.ndarray, codes: np.ndarray, queries: np.ndarray, truth: np.ndarray, metric: dict[str, Any], seed: int
) -> dict[str, list[float]]:
    """Areas under the curve of novelty scores, each class in turn being unknown."""
    areas: dict[str, list[float]] = {"protoset": [], "LocalOutlierFactor": [], "IsolationForest": []}
    for unknown in np.unique(truth):
        known = codes != unknown
        is_unknown = truth == unknown
        if len(np.unique(codes[known])) < 2 or is_unknown.all() or not is_unknown.any():
            continue
        X, y = objects[known], codes[known]
        selector = Refined(REPS(max(round(RATE * len(X)), len(np.unique(y))), **metric), random_state=seed)
        ours = PrototypeClassifier(selector).fit(X, y).novelty_scores(queries)
        lof = LocalOutlierFactor(novelty=True).fit(X).score_samples(queries)
        forest = IsolationForest(random_state=seed).fit(X).score_samples(queries)
        for name, scores in zip(areas, (ours, -lof, -forest), strict=True):
            areas[name].append(float(roc_auc_score(is_unknown, scores)))
    return areas


def main(folder: str, n_jobs: int = 2, n_seeds: int = 1) -> None:
    """Print the tables and the verdicts."""
    paths = sorted((Path(folder) / "keel").glob("*.dat"))
    cells = [(path, fold, seed) for path in paths for fold in range(FOLDS) for seed in range(n_seeds)]
    measured = Parallel(n_jobs=n_jobs)(delayed(measure)(*cell) for cell in cells)
    per_set = FOLDS * n_seeds
    groups = [measured[first : first + per_set] for first in range(0, len(measured), per_set)]

    def by_set(name: str) -> np.ndarray:
        return np.array([np.mean([cell[name] for cell in group]) for group in groups])

    print(f"{len(paths)} data sets, {FOLDS} folds, {n_seeds} seeds, {RATE:.0%} kept")
    print("refined sets that do not move, mean errors by rule")
    nearest = by_set("nearest")
    for rule in RULES:
        errors = by_set(rule)
        wins, losses = int((errors < nearest).sum()), int((errors > nearest).sum())
        p = 1.0 if rule == "nearest" else float(wilcoxon(errors, nearest).pvalue)
        print(f"{rule:10}{errors.mean():8.4f}  wins {wins:2}  losses {losses:2}  p = {p:.2g}")
    print(
        f"adjusted minus nearest: {verdict(float((by_set('adjusted') - nearest).mean()), 0.005, at_most=True, digits=4)}"
    )
    for rule in ("scores", "auto"):
        print(
            f"{rule} over nearest: error {verdict(float(by_set(rule).mean() / nearest.mean()), 1, at_most=True, digits=3)}"
        )
    print("\nprobabilities: mean log loss, mean Brier score")
    for name in ("k-NN", "refined", "moved"):
        print(f"{name:10}{by_set(f'{name} log loss').mean():8.4f}{by_set(f'{name} Brier score').mean():8.4f}")
    for score in ("log loss", "Brier score"):
        ours, theirs = by_set(f"moved {score}"), by_set(f"k-NN {score}")
        ratio, p = float(ours.mean() / theirs.mean()), float(wilcoxon(ours, theirs).pvalue)
        wins = int((ours < theirs).sum())
        print(f"moved over k-NN, {score}: {verdict(ratio, 1, at_most=True, digits=3)}; wins {wins}, p = {p:.2g}")
    print(f"\nsets of labels at {COVERAGE:.0%}: mean coverage, smallest z, mean size; sets that miss")
    for name in ("refined", "moved"):
        for kind in ("", " by class"):
            rates = [np.concatenate([cell[f"{name} covered{kind}"] for cell in group]) for group in groups]
            _say_rates(f"{name}{kind}", paths, rates, COVERAGE, both_sides=False)
            print(f"{'':28}mean size {by_set(f'{name} size{kind}').mean():.2f}")
    print(f"\nrefusals at {REFUSE:.0%}: mean rate, largest z; sets that miss")
    for name in ("refined", "moved"):
        rates = [np.concatenate([cell[f"{name} refused"] for cell in group]) for group in groups]
        _say_rates(name, paths, rates, REFUSE, both_sides=True)
    print("\nunknown classes, sets of numbers: mean area under the curve of novelty scores")
    for name in ("protoset", "LocalOutlierFactor", "IsolationForest"):
        areas = [np.mean([np.mean(c[name]) for c in group]) for group in groups if group[0].get(name)]
        print(f"{name:20}{np.mean(areas):8.4f}  ({len(areas)} sets)")


def _say_rates(name: str, paths: list[Path], rates: list[np.ndarray], wanted: float, *, both_sides: bool) -> None:
    """Print a rate over the sets, and the sets in which it is more than three standard errors away."""
    z = np.array([(rate.mean() - wanted) / np.sqrt(wanted * (1 - wanted) / len(rate)) for rate in rates])
    away = np.abs(z) if both_sides else -z
    missed = [f"{path.stem} ({rate.mean():.3f})" for path, rate, far in zip(paths, rates, away, strict=True) if far > 3]
    mean = float(np.mean([rate.mean() for rate in rates]))
    print(f"{name:28}{mean:.4f}  z {z.min():.1f} to {z.max():.1f}  {len(missed)} miss: {', '.join(missed)}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
