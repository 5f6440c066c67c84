"""REPS and refined REPS on the paper's 27 time-series sets, beside 1-NN on everything.

    python -m benchmarks.refinement_series FOLDER [WORKERS]        FOLDER holds ucr/NAME/NAME_TRAIN.tsv.gz and _TEST

The default split, dynamic time warping with a radius of 5 points.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from protoset import REPS, refine
from protoset.selectors.ties import MajorityVote, counts_of
from protoset.spaces import make_space

RATES = (0.1, 0.2, 0.3, 0.5)
RADIUS = 5


def measure(folder: Path) -> list[tuple[float, float]]:
    """Errors of REPS and of refined REPS at each rate; the first pair is the error of 1-NN on everything, twice."""
    warnings.simplefilter("ignore")
    train, test = (np.loadtxt(folder / f"{folder.name}_{part}.tsv.gz") for part in ("TRAIN", "TEST"))
    classes, codes = np.unique(train[:, 0], return_inverse=True)
    truth = test[:, 0]
    space = make_space(train[:, 1:], "dtw", {"window": RADIUS})
    matrix, queries = space.block(slice(None), slice(None)), space.cross(test[:, 1:]).block(slice(None), slice(None))

    ranked = REPS(1.0, metric="precomputed").fit(matrix, codes)

    def error(kept: np.ndarray) -> float:
        vote = MajorityVote(codes[kept], counts_of(ranked, kept), np.bincount(codes).astype(float))
        return float(np.mean(classes[vote.codes[vote(queries[:, kept])]] != truth))

    everything = error(np.arange(len(codes)))
    computed = make_space(matrix, "precomputed")
    starts = [ranked.select(rate) for rate in RATES]
    pairs = [(error(start), error(refine(computed, codes, start).indices)) for start in starts]
    return [(everything, everything), *pairs]


def main(folder: str, n_jobs: int = 2) -> None:
    """Print the table and its means."""
    paths = sorted(path for path in (Path(folder) / "ucr").iterdir() if path.is_dir())
    results = np.array(Parallel(n_jobs=n_jobs)(delayed(measure)(path) for path in paths))
    titles = "".join(f"{f'{rate:.0%}':>16}" for rate in RATES)
    print(f"{'':24}{'1-NN':>8}{titles}   (REPS, refined)")
    for name, row in [*zip([path.name for path in paths], results, strict=True), ("mean", results.mean(axis=0))]:
        print(f"{name:24}{row[0, 0]:8.3f}" + "".join(f"{plain:8.3f}{refined:8.3f}" for plain, refined in row[1:]))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
