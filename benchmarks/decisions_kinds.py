"""The rules "nearest" and "auto" on strings, a matrix, series and letter; what a prediction by scores costs.

    python -m benchmarks.decisions_kinds FOLDER
    FOLDER holds strings/, dissimilarity/, ucr/ and large/letter.dat

10 % of the objects are kept, by refined sets that do not move; 5 folds, or the default split of series. Letter: 80 %
are training objects, 2 % of them kept. CPU seconds per query are medians of predictions in turns.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.adaptation_large import read as read_large
from benchmarks.measure import cpu_seconds, verdict
from protoset import REPS, PrototypeClassifier, Refined

RATE, LETTER_RATE = 0.1, 0.02
N_SURNAMES = 2_000
SERIES = ("ECG200", "CBF")
LETTER_LIMIT = 0.105
TURNS = 7

Split = tuple[Any, np.ndarray, Any, np.ndarray]


def folds(objects: Any, labels: np.ndarray, *, is_matrix: bool = False) -> Iterator[Split]:
    """Training and test objects of each fold."""
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(labels, labels):
        if is_matrix:
            yield objects[np.ix_(train, train)], labels[train], objects[np.ix_(test, train)], labels[test]
        else:
            yield [objects[i] for i in train], labels[train], [objects[i] for i in test], labels[test]


def surnames(folder: Path) -> tuple[list[str], np.ndarray]:
    """Names with the language of each; the languages with enough names, as many as they have."""
    names, labels = [], []
    for path in sorted((folder / "strings" / "names").glob("*.txt")):
        lines = path.read_text("utf-8").splitlines()
        names += lines
        labels += [path.stem] * len(lines)
    some = np.random.default_rng(0).permutation(len(names))[:N_SURNAMES]
    kept = [i for i in some if labels.count(labels[i]) >= 50]
    return [names[i] for i in kept], np.array([labels[i] for i in kept])


def data_sets(folder: Path) -> Iterator[tuple[str, dict[str, Any], Iterator[Split]]]:
    """Name, metric and splits of each data set."""
    names, languages = surnames(folder)
    yield "surnames", {"metric": "levenshtein"}, folds(names, languages)
    lines = (folder / "strings" / "promotergene.tsv").read_text().split("\n")
    rows = [line.split("\t") for line in lines if line]
    yield "promoter", {"metric": "levenshtein"}, folds([row[1] for row in rows], np.array([row[0] for row in rows]))
    matrix = np.loadtxt(folder / "dissimilarity" / "protein_D.csv", delimiter=",")
    kinds = np.array((folder / "dissimilarity" / "protein_labels.txt").read_text().split())
    symmetric = (matrix + matrix.T) / 2
    yield "protein", {"metric": "precomputed"}, folds(symmetric, kinds, is_matrix=True)
    for name in SERIES:
        train, test = (np.loadtxt(folder / "ucr" / name / f"{name}_{part}.tsv.gz") for part in ("TRAIN", "TEST"))
        split = train[:, 1:], train[:, 0].astype(int), test[:, 1:], test[:, 0].astype(int)
        yield name, {"metric": "dtw", "metric_params": {"window": 5}}, iter([split])


def error(split: Split, rate: float, metric: dict[str, Any], rule: Any) -> tuple[float, PrototypeClassifier]:
    """Error on the test objects, and the classifier."""
    X, y, queries, truth = split
    classifier = PrototypeClassifier(Refined(REPS(rate, **metric)), rule=rule, adapt=False).fit(X, y)
    return float(np.mean(classifier.predict(queries) != truth)), classifier


def main(folder: str) -> None:
    """Print the tables and the verdicts."""
    warnings.simplefilter("ignore")
    print(f"{'':12}{'nearest':>10}{'auto':>10}   rules that were taken")
    table = []
    for name, metric, splits in data_sets(Path(folder)):
        rows, taken = [], []
        for split in splits:
            tried = [error(split, RATE, metric, rule) for rule in ("nearest", "auto")]
            rows.append([wrong for wrong, _ in tried])
            taken.append(tried[1][1].rule_)
        table.append(np.mean(rows, axis=0))
        print(f"{name:12}{table[-1][0]:10.4f}{table[-1][1]:10.4f}   {', '.join(taken)}", flush=True)
    means = np.mean(table, axis=0)
    print(f"{'mean':12}{means[0]:10.4f}{means[1]:10.4f}")
    print(f"auto over nearest: error {verdict(float(means[1] / means[0]), 1, at_most=True, digits=3)}")
    X, queries, y, truth = read_large(Path(folder), "letter")
    split = X, y, queries, truth
    (nearest, first), (scores, second) = (error(split, LETTER_RATE, {}, rule) for rule in ("nearest", "scores"))
    limit = verdict(scores, LETTER_LIMIT, at_most=True, digits=4)
    print(f"letter at {LETTER_RATE:.0%}, not moved: nearest {nearest:.4f}, scores {limit}")
    times = [[cpu_seconds(lambda c=c: c.predict(queries))[0] for c in (first, second)] for _ in range(TURNS)]
    plain, by_scores = np.median(times, axis=0) / len(queries)
    cost = verdict(by_scores / plain, 1.5, at_most=True)
    print(f"microseconds per query: nearest {1e6 * plain:.1f}, scores {1e6 * by_scores:.1f}; ratio {cost}")


if __name__ == "__main__":
    main(sys.argv[1])
