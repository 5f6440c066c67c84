"""REPS at the selection rates of other methods, beside the REPS column of the paper.

    python -m benchmarks.paper_fsr FOLDER        FOLDER holds keel/*.dat and, beside it or in it, paper/table_fsr.csv

For every data set and each of FCNN, SSMA, DROP3 and RMHC: the mean 1-NN error over 5 stratified folds of the
prototypes that REPS keeps at that method's selection rate. Attributes are z-scored on the training part.
"""

from __future__ import annotations

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.keel import read_keel
from protoset import REPS
from protoset.selectors.ties import MajorityVote, counts_of
from protoset.spaces import make_space

METHODS = ("FCNN", "SSMA", "DROP3", "RMHC")
"""Methods whose selection rates are used."""

TARGET = 0.265
"""Largest mean error."""


def paper_table(path: Path) -> dict[str, dict[str, tuple[float, float]]]:
    """Read rate of the method and error of REPS in the paper, by data set and method."""
    table: dict[str, dict[str, tuple[float, float]]] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            table.setdefault(row["dataset"], {})[row["baseline"]] = (
                float(row["baseline_slr"]),
                float(row["reps_fsr_err"]),
            )
    return table


def fixed_rate_errors(X: np.ndarray, y: np.ndarray, rates: list[float], seed: int = 0) -> np.ndarray:
    """Mean error over 5 folds at each rate, all from one fit per fold."""
    errors = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        scaler = StandardScaler().fit(X[train])
        X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
        selector = REPS(n_prototypes=1.0).fit(X_train, y[train])
        queries = make_space(X_train).cross(X_test)
        _, codes = np.unique(y[train], return_inverse=True)
        fold = []
        for rate in rates:
            kept = selector.select(rate)
            vote = MajorityVote(codes[kept], counts_of(selector, kept), np.bincount(codes).astype(float))
            positions, _ = queries.nearest(columns=kept, choose=vote)
            fold.append(np.mean(y[train][kept[positions]] != y[test]))
        errors.append(fold)
    return np.mean(errors, axis=0)


def main(folder: Path) -> None:
    """Print the table."""
    tables = [parent / "paper" / "table_fsr.csv" for parent in (folder, folder.parent)]
    table_path = next((path for path in tables if path.exists()), None)
    if not (folder / "keel").is_dir() or table_path is None:
        print(f"paper_fsr: skipped, {folder} has no keel/ or no paper/table_fsr.csv in or beside it")
        return
    paper = paper_table(table_path)
    # Some sets have classes of two or three members; they are spread over as many folds.
    warnings.filterwarnings("ignore", message="The least populated class")
    print(f"{'data set':<16}" + "".join(f"{method:>20}" for method in METHODS))
    print(f"{'':<16}" + f"{'rate  here  paper':>20}" * len(METHODS))
    measured, printed = [], []
    for name, methods in sorted(paper.items()):
        path = folder / "keel" / f"{name}.dat"
        if not path.exists():
            print(f"{name:<16} skipped: no {path.name}")
            continue
        X, y = read_keel(path)
        rates = [methods[method][0] for method in METHODS]
        errors = fixed_rate_errors(X, y, rates)
        measured.append(errors)
        printed.append([methods[method][1] for method in METHODS])
        cells = zip(rates, errors, printed[-1], strict=True)
        print(
            f"{name:<16}" + "".join(f"{rate:>8.3f}{here:>6.3f}{there:>6.3f}" for rate, here, there in cells),
            flush=True,
        )
    here, there = np.array(measured), np.array(printed)
    columns = zip(here.mean(axis=0), there.mean(axis=0), strict=True)
    print(f"{'mean':<16}" + "".join(f"{'':>8}{a:>6.3f}{b:>6.3f}" for a, b in columns))
    print(
        f"mean over {len(here)} sets and {len(METHODS)} rates: REPS here {here.mean():.4f} (target <= {TARGET}), "
        f"in the paper {there.mean():.4f}; lower here on {(here < there).sum()}, higher on {(here > there).sum()} "
        f"of {here.size}"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
