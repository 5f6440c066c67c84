"""Which steps and how many starts refine best, judged by cross-validation on training data alone.

    python -m benchmarks.refinement_choice FOLDER [WORKERS]        FOLDER holds keel/*.dat

The 34 vector sets and the 5 folds of ``refinement_vectors``. Every variant is measured at two rates by 3 inner folds
of each training part; the test parts are not used. The table says on how many folds a variant is the best.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold

from benchmarks.keel import read_keel_typed
from benchmarks.refinement_vectors import spaces_of_fold
from protoset import REPS, refine
from protoset.selectors.ties import MajorityVote, counts_of
from protoset.spaces import make_space

RATES = (0.02, 0.05)
VARIANTS: dict[str, tuple[tuple[float, ...], int]] = {
    "40, 1 start": ((40,), 1),
    "10-20-40, 1 start": ((10, 20, 40), 1),
    "5-10-20-40, 1 start": ((5, 10, 20, 40), 1),
    "10-20, 4 starts": ((10, 20), 4),
    "10-20-40, 4 starts": ((10, 20, 40), 4),
    "10-20-40-80, 4 starts": ((10, 20, 40, 80), 4),
    "5-10-20-40, 4 starts": ((5, 10, 20, 40), 4),
    "10-20-40, 8 starts": ((10, 20, 40), 8),
    "5-10-20-40, 8 starts": ((5, 10, 20, 40), 8),
    "10-20-40, 16 starts": ((10, 20, 40), 16),
}


def measure(path: Path, fold: int) -> np.ndarray:
    """Error of each variant within the training part of one fold, mean over inner folds and rates."""
    warnings.simplefilter("ignore")
    X, y, categorical = read_keel_typed(path)
    outer, _ = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))[fold]
    X, y = X[outer], y[outer]
    errors = []
    for train, held_out in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
        matrix, queries = spaces_of_fold(X, y, categorical, train, held_out)
        codes = np.unique(y, return_inverse=True)[1]
        ranked = REPS(1.0, metric="precomputed").fit(matrix, codes[train])
        sizes = np.bincount(codes[train], minlength=codes.max() + 1).astype(float)
        space = make_space(matrix, "precomputed")
        for rate in RATES:
            start = ranked.select(rate)
            row = []
            for steps, n_starts in VARIANTS.values():
                kept = refine(space, codes[train], start, steepness=steps, n_starts=n_starts).indices
                vote = MajorityVote(codes[train][kept], counts_of(ranked, kept), sizes)
                row.append(np.mean(vote.codes[vote(queries[:, kept])] != codes[held_out]))
            errors.append(row)
    return np.mean(errors, axis=0)


def main(folder: str, n_jobs: int = 2) -> None:
    """Print the table."""
    paths = sorted((Path(folder) / "keel").glob("*.dat"))
    cells = Parallel(n_jobs=n_jobs)(delayed(measure)(path, fold) for path in paths for fold in range(5))
    errors = np.array(cells).reshape(len(paths), 5, len(VARIANTS)).mean(axis=0)
    print(f"{len(paths)} data sets, errors by cross-validation within the training parts of 5 folds")
    best = errors.argmin(axis=1)
    for column, name in enumerate(VARIANTS):
        of_folds = " ".join(f"{error:.4f}" for error in errors[:, column])
        print(f"{name:26}{errors[:, column].mean():8.4f}   ({of_folds}), best of {np.sum(best == column)} folds")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
