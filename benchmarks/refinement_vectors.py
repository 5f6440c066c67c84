"""Refined REPS against the baselines at their own sizes, and at fixed rates, on the paper's 34 vector sets.

    python -m benchmarks.refinement_vectors FOLDER [WORKERS]        FOLDER holds keel/*.dat

5 stratified folds, 3 seeds of everything that is drawn (SSMA, RMHC, the refinement), the same distances for all
methods: attributes scaled to [0, 1] on the training part, mixed ones by HEOM. One-sided Wilcoxon signed-rank tests over
the data sets, on means over folds and seeds.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sklearn.model_selection import StratifiedKFold

from benchmarks.keel import read_keel_typed
from protoset import REPS, Refined, refine
from protoset.selectors import CCIS, DROP3, FCNN, RMHC, SSMA
from protoset.selectors.ties import MajorityVote, counts_of
from protoset.spaces import Space, make_space

RATES = (0.02, 0.05, 0.1)
FOLDS = 5
SEEDS = 3
NEIGHBOR_RULE = "1-NN on everything"


def spaces_of_fold(
    X: np.ndarray, y: np.ndarray, categorical: list[int], train: np.ndarray, test: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Distances among the training objects, and from the test objects to them."""
    space: Space
    if categorical:
        space = make_space(X[train], "heom", {"categorical": categorical}, y=y[train])
        queries = X[test]
    else:
        least, width = X[train].min(axis=0), np.ptp(X[train], axis=0)
        width = np.where(width > 0, width, 1.0)
        space, queries = make_space((X[train] - least) / width), (X[test] - least) / width
    return space.block(slice(None), slice(None)), space.cross(queries).block(slice(None), slice(None))


def measure(path: Path, fold: int, seed: int) -> dict[str, tuple[float, float]]:
    """(error, selection rate) of every method on one fold, and of refined sets at the methods' sizes."""
    warnings.simplefilter("ignore")
    X, y, categorical = read_keel_typed(path)
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))[fold]
    matrix, queries = spaces_of_fold(X, y, categorical, train, test)
    codes = np.unique(y, return_inverse=True)[1]
    labels, truth = codes[train], codes[test]
    n, n_classes = len(train), len(np.unique(labels))

    def judge(kept: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
        vote = MajorityVote(labels[kept], counts, np.bincount(codes[train], minlength=codes.max() + 1).astype(float))
        nearest = kept[vote(queries[:, kept])]
        return float(np.mean(labels[nearest] != truth)), len(kept) / n

    results = {NEIGHBOR_RULE: judge(np.arange(n), np.ones(n))}
    ranked = REPS(1.0, metric="precomputed").fit(matrix, labels)
    space = make_space(matrix, "precomputed")

    def judge_at(size: int, name: str) -> None:
        start = ranked.select(max(size, n_classes))
        results[f"REPS at {name}"] = judge(start, counts_of(ranked, start))
        kept = refine(space, labels, start, random_state=seed).indices
        results[f"refined at {name}"] = judge(kept, counts_of(ranked, kept))

    for name, selector in (
        ("SSMA", SSMA(random_state=100 * seed + fold, metric="precomputed")),
        ("RMHC", RMHC(random_state=100 * seed + fold, metric="precomputed")),
        ("CCIS", CCIS(metric="precomputed")),
        ("DROP3", DROP3(metric="precomputed")),
        ("FCNN", FCNN(metric="precomputed")),
    ):
        kept = selector.fit(matrix, labels).sample_indices_
        results[name] = judge(kept, counts_of(selector, kept))
        judge_at(len(kept), name)
    for rate in RATES:
        judge_at(round(rate * n), f"{rate:.0%}")
    for rule in ("one_standard_error", "lowest_error"):
        automatic = Refined(REPS(size_rule=rule, metric="precomputed"), random_state=seed).fit(matrix, labels)
        results[f"refined, {rule.replace('_', ' ')}"] = judge(
            automatic.sample_indices_, counts_of(automatic, automatic.sample_indices_)
        )
    return results


def main(folder: str, n_jobs: int = 2) -> None:
    """Print the tables."""
    paths = sorted((Path(folder) / "keel").glob("*.dat"))
    cells = [(path, fold, seed) for path in paths for fold in range(FOLDS) for seed in range(SEEDS)]
    results = Parallel(n_jobs=n_jobs)(delayed(measure)(*cell) for cell in cells)
    names = list(results[0])
    by_set = {
        name: np.array([cell[name] for cell in results]).reshape(len(paths), FOLDS * SEEDS, 2).mean(axis=1)
        for name in names
    }
    print(f"{len(paths)} data sets, {FOLDS} folds, {SEEDS} seeds: mean error, mean selection rate")
    for name in names:
        error, rate = by_set[name].mean(axis=0)
        print(f"{name:32}{error:8.4f}{rate:8.4f}")
    print("\nrefined REPS against each method at that method's own size: wins, losses, one-sided p")
    for name in ("SSMA", "RMHC", "CCIS", "DROP3", "FCNN"):
        compare(f"against {name}", by_set[f"refined at {name}"][:, 0], by_set[name][:, 0])
    for rate in RATES:
        compare(f"{rate:.0%} against 1-NN", by_set[f"refined at {rate:.0%}"][:, 0], by_set[NEIGHBOR_RULE][:, 0])

    print("\nerrors by data set: 1-NN on everything, SSMA, refined REPS at its size, refined REPS at 5 %")
    columns = (NEIGHBOR_RULE, "SSMA", "refined at SSMA", "refined at 5%")
    for i, path in enumerate(paths):
        print(f"{path.stem:20}" + "".join(f"{by_set[name][i, 0]:8.3f}" for name in columns))


def compare(title: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    """Print means, wins and losses, and the one-sided Wilcoxon test."""
    p = wilcoxon(ours, theirs, alternative="less").pvalue
    wins, losses = int((ours < theirs).sum()), int((ours > theirs).sum())
    print(f"{title:24}{ours.mean():8.4f}{theirs.mean():8.4f}{wins:6}{losses:6}   p = {p:.2g}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
