"""Queries per second of a 2 % prototype set against 1-NN on everything, 54 attributes.

    python -m benchmarks.scale_serving [FOLDER] [n]        FOLDER holds large/covtype.csv.gz; else synthetic data

CPU seconds, best of three, taken in turns; both in double precision, and both free to use all cores.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.measure import cpu_seconds, overlapping_classes, verdict
from benchmarks.scale_covertype import read_covertype
from protoset import PrototypeClassifier, export
from protoset.selectors import RandomSelector

RATE = 0.02
QUERIES = 2_000
REPEATS = 3


def load_file(path: Path) -> Any:
    """Import an exported file."""
    spec = importlib.util.spec_from_file_location("exported", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(folder: str | None = None, n: str = "100000") -> None:
    """Print queries per CPU second and their ratios."""
    size = int(n)
    if folder is None:
        X, y = overlapping_classes(size + QUERIES, 54, 7)
    else:
        X, y = read_covertype(Path(folder), size + QUERIES)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order].astype(np.float64), y[order]
    X, queries, y = X[:size], X[size:], y[:size]
    # The choice of prototypes does not matter for speed.
    classifier = PrototypeClassifier(RandomSelector(RATE, random_state=0), adapt=False).fit(X, y)
    everything = KNeighborsClassifier(1, algorithm="brute").fit(X, y)
    with tempfile.TemporaryDirectory() as folder_name:
        path = Path(folder_name) / "exported.py"
        export(classifier, path)
        exported = load_file(path)
        print(f"{len(X):,} x {X.shape[1]}, {len(classifier.sample_indices_):,} prototypes, {len(queries):,} queries")
        print(f"exported file: {path.stat().st_size / 1e6:.2f} MB")
    ways = {"protoset": classifier.predict, "exported file": exported.predict, "scikit-learn": everything.predict}
    classifier.predict(queries[:50])  # compiles, or loads what is compiled
    best = {
        name: min(cpu_seconds(lambda way=way: way(queries))[0] for _ in range(REPEATS)) for name, way in ways.items()
    }
    for name, seconds in best.items():
        print(f"{name:14} {len(queries) / seconds:12,.0f} queries per CPU second")
    print(f"protoset over scikit-learn: {verdict(best['scikit-learn'] / best['protoset'], 20, at_most=False)}")
    print(f"exported file over scikit-learn: {best['scikit-learn'] / best['exported file']:.1f}")
    same = (exported.predict(queries) == classifier.predict(queries)).all()
    print(f"the exported file predicts identically: {'reached' if same else 'MISSED'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
