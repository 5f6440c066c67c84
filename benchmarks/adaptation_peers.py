"""Moved prototypes against the generalised learning vector quantisation (GLVQ) of other libraries, at equal size.

    python -m benchmarks.adaptation_peers FOLDER [DATA ...]        FOLDER holds large/letter.dat and keel/*.dat

DATA are names among ``RATES``; by default all of them. Attributes are scaled to [0, 1]. Of letter 80 % are training
objects; of the others four folds of five in turn, for each of ``SEEDS`` partitions, and means are printed. Peers get as
many prototypes of each class as protoset keeps. The best parameters of prosemble's grid are those with the lowest error
on a fifth of the first training part. Peers that are not installed are left out; sklvq 0.1.2 needs scikit-learn 1.6.

CPU seconds are those of the first fit in a fresh process, without imports, of a process that only imports the library,
and of a second fit in one process. protoset keeps compiled code on disk, so that a fresh process loads it; JAX compiles
in every process. A last line has the cost of a fit of protoset that compiles everything, which happens once after an
installation.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.keel import read_keel_typed
from benchmarks.measure import cpu_seconds, peak_gigabytes, verdict
from protoset import REPS, PrototypeClassifier, Refined

os.environ.setdefault("JAX_PLATFORMS", "cpu")

SMALL = ("yeast", "contraceptive", "vehicle", "mammographic", "pima", "wisconsin", "balance", "wdbc")
"""Those of the 34 sets that have numbers alone and at least 500 objects, the largest first."""

RATES = {"letter": 0.02} | dict.fromkeys(SMALL, 0.05)
"""Share of the training objects that is kept."""

FOLDS = 5
SEEDS = 3
"""Partitions into folds; the seed of a partition is also the seed of the fits."""

PROSEMBLE_GRID = {"lr": (0.003, 0.01, 0.03), "batch_size": (None, 256), "transfer_fn": ("identity", "sigmoid_beta")}
OURS = "protoset, adapted"
DEFAULTS = "prosemble, defaults"
BEST = "prosemble, best of grid"

Fit = Callable[[np.ndarray, np.ndarray], Any]
"""Fits a new classifier to objects and class numbers."""


class Split(NamedTuple):
    """Scaled training objects, scaled test objects, and the class numbers of both."""

    X: np.ndarray
    queries: np.ndarray
    y: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True)
class Measured:
    """A classifier on one split, or its means over the splits.

    Attributes
    ----------
    error : float
        On the test objects.
    again : float
        CPU seconds of the fit, once everything is compiled.
    """

    error: float
    again: float


@dataclass(frozen=True)
class FreshProcess:
    """CPU seconds of a process that imports the library, and of the first fit in another process."""

    imports: float
    fit: float


def splits(folder: Path, name: str) -> Iterator[tuple[int, Split]]:
    """Seed and objects of each split."""
    is_large = name == "letter"
    X, y, _ = read_keel_typed(folder / ("large" if is_large else "keel") / f"{name}.dat")
    codes = np.unique(y, return_inverse=True)[1]
    if is_large:
        pairs = [(0, train_test_split(np.arange(len(X)), test_size=0.2, stratify=y, random_state=0))]
    else:
        partitions = [StratifiedKFold(FOLDS, shuffle=True, random_state=seed) for seed in range(SEEDS)]
        pairs = [(seed, pair) for seed, folds in enumerate(partitions) for pair in folds.split(X, y)]
    for seed, (train, test) in pairs:
        least, width = X[train].min(axis=0), np.ptp(X[train], axis=0)
        scaled = (X - least) / np.where(width > 0, width, 1.0)
        yield seed, Split(scaled[train], scaled[test], codes[train], codes[test])


def measured(fit: Fit, split: Split, *, compiles: bool = True) -> tuple[Measured, Any]:
    """Error and CPU seconds of a fit, twice where it ``compiles`` anything; the classifier."""
    seconds, classifier = cpu_seconds(lambda: fit(split.X, split.y))
    if compiles:
        seconds, _ = cpu_seconds(lambda: fit(split.X, split.y))
    return Measured(error_of(classifier, split.queries, split.truth), seconds), classifier


def error_of(classifier: Any, queries: np.ndarray, truth: np.ndarray) -> float:
    """Share of wrong answers."""
    return float(np.mean(np.asarray(classifier.predict(queries)) != truth))


def fit_protoset(rate: float, seed: int = 0) -> Fit:
    """Return a fit of refined and moved prototypes."""
    selector = Refined(REPS(rate), random_state=seed)
    return lambda X, y: PrototypeClassifier(selector, adapt={"random_state": seed}).fit(X, y)


def fit_prosemble(counts: np.ndarray, seed: int = 0, transfer_fn: str = "identity", **parameters: Any) -> Fit:
    """Return a fit of prosemble's GLVQ with so many prototypes of each class."""
    models = importlib.import_module("prosemble.models")
    transfer = getattr(importlib.import_module("prosemble.core.activations"), transfer_fn)
    per_class = dict(enumerate(counts.tolist()))
    return lambda X, y: models.GLVQ(
        n_prototypes_per_class=per_class, transfer_fn=transfer, random_seed=seed, **parameters
    ).fit(X.astype(np.float32), y)


def fit_sklvq(counts: np.ndarray, seed: int = 0) -> Fit:
    """Return a fit of sklvq's GLVQ with so many prototypes of each class."""
    model = importlib.import_module("sklvq").GLVQ
    return lambda X, y: model(prototype_n_per_class=counts, random_state=seed).fit(X, y)


def best_of_grid(X: np.ndarray, y: np.ndarray, counts: np.ndarray) -> tuple[dict[str, Any], float]:
    """Parameters of prosemble's GLVQ with the lowest error on a fifth of the objects; CPU seconds of the search."""
    started = time.process_time()
    # Classes of a single object cannot be split in shares.
    shares = y if np.bincount(y).min() > 1 else None
    seen, held_out = train_test_split(np.arange(len(X)), test_size=0.2, random_state=0, stratify=shares)
    counts = np.minimum(counts, np.maximum(np.bincount(y[seen], minlength=len(counts)), 1))
    grid: list[dict[str, Any]] = [
        dict(zip(PROSEMBLE_GRID, values, strict=True)) for values in product(*PROSEMBLE_GRID.values())
    ]
    errors = [
        error_of(fit_prosemble(counts, **parameters)(X[seen], y[seen]), X[held_out], y[held_out]) for parameters in grid
    ]
    return grid[int(np.argmin(errors))], time.process_time() - started


def runs(name: str) -> bool:
    """Whether a peer is installed and runs here; else say in a line why not."""
    counts, few = np.array([2, 2]), np.random.default_rng(0).normal(size=(20, 2))
    try:
        (fit_prosemble if name == "prosemble" else fit_sklvq)(counts)(few, np.arange(20) % 2)
    except Exception as error:  # a peer may break in its own way with newer packages
        print(f"{name} is left out: {type(error).__name__}: {error}")
        return False
    return True


def measure_data(folder: Path, name: str, peers: list[str]) -> dict[str, tuple[Measured, FreshProcess | None]]:
    """Measure protoset and its peers on one data set: means over the splits, and a fresh process on the first one."""
    results: dict[str, list[Measured]] = {}
    fresh: dict[str, FreshProcess] = {}
    chosen: dict[str, Any] = {}
    for number, (seed, split) in enumerate(splits(folder, name)):
        X, y = split.X, split.y
        ours, classifier = measured(fit_protoset(RATES[name], seed), split)
        results.setdefault(OURS, []).append(ours)
        counts = np.maximum(np.bincount(classifier.prototype_labels_, minlength=y.max() + 1), 1)
        if number == 0:
            print(f"{name}, {len(X):,} x {X.shape[1]}, {counts.sum()} kept", flush=True)
            fresh[OURS] = in_fresh_process(folder, name, {})
        if "prosemble" in peers:
            results.setdefault(DEFAULTS, []).append(measured(fit_prosemble(counts, seed), split)[0])
            if number == 0:
                chosen, search = best_of_grid(X, y, counts)
                print(f"  {BEST}: {chosen}; CPU seconds of this choice {search:.1f}", flush=True)
                sizes = {"counts": counts.tolist()}
                fresh |= {DEFAULTS: in_fresh_process(folder, name, sizes)}
                fresh |= {BEST: in_fresh_process(folder, name, sizes | chosen)}
            results.setdefault(BEST, []).append(measured(fit_prosemble(counts, seed, **chosen), split)[0])
        if "sklvq" in peers:
            theirs, _ = measured(fit_sklvq(counts, seed), split, compiles=False)
            results.setdefault("sklvq, defaults", []).append(theirs)
    return {title: (mean_of(each), fresh.get(title)) for title, each in results.items()}


def mean_of(parts: list[Measured]) -> Measured:
    """Mean over the splits."""
    return Measured(*np.mean([(part.error, part.again) for part in parts], axis=0).tolist())


def in_fresh_process(folder: Path, name: str, parameters: dict[str, Any], **environment: str) -> FreshProcess:
    """Fit the first split in a process of its own: prosemble where there are parameters, else protoset."""
    command = [sys.executable, "-m", "benchmarks.adaptation_peers", "one", str(folder), name, json.dumps(parameters)]
    process = subprocess.run(command, env=os.environ | environment, stdout=subprocess.PIPE, text=True, check=True)
    return FreshProcess(import_seconds("prosemble.models" if parameters else "protoset"), float(process.stdout))


def import_seconds(module: str) -> float:
    """CPU seconds of a process that imports a module."""
    before = os.times()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def fit_once(folder: str, name: str, parameters: dict[str, Any]) -> None:
    """Print the CPU seconds of one fit."""
    _, (X, _, y, _) = next(splits(Path(folder), name))
    counts = np.array(parameters.pop("counts", []), int)
    fit = fit_prosemble(counts, **parameters) if len(counts) else fit_protoset(RATES[name])
    seconds, _ = cpu_seconds(lambda: fit(X, y))
    print(seconds)


def first_fit_ever(folder: str) -> float:
    """CPU seconds of a fit in a process that has nothing compiled."""
    with tempfile.TemporaryDirectory() as cache:
        return in_fresh_process(Path(folder), "vehicle", {}, NUMBA_CACHE_DIR=cache).fit


def main(folder: str, *names: str) -> None:
    """Print errors, CPU seconds and verdicts."""
    warnings.simplefilter("ignore")
    peers = [name for name in ("prosemble", "sklvq") if runs(name)]
    lower: dict[str, list[str]] = {}
    for name in names or tuple(RATES):
        measures = measure_data(Path(folder), name, peers)
        print(
            "  error, CPU seconds of a second fit; of the first fit in a fresh process, and of a process that imports"
        )
        for title, (mean, fresh) in measures.items():
            alone = f"{fresh.fit:9.2f}{fresh.imports:9.2f}" if fresh else ""
            print(f"  {title:26}{mean.error:8.4f}{mean.again:9.2f}{alone}")
        ours, ours_fresh = measures.pop(OURS)
        for title, (theirs, fresh) in measures.items():
            ratios = {"error": ours.error / theirs.error, "CPU time of a second fit": ours.again / theirs.again}
            if ours_fresh and fresh:
                ratios["CPU time of the first fit in a fresh process"] = ours_fresh.fit / fresh.fit
            for quantity, ratio in ratios.items():
                print(f"  {quantity} over that of {title}: {verdict(ratio, 1, at_most=True)}", flush=True)
            lower.setdefault(title, []).extend([name] * (ours.error < theirs.error and ours.again < theirs.again))
    for title, sets in lower.items():
        print(f"lower error and less CPU time in a second fit than {title}: {', '.join(sets) or 'nowhere'}")
    print(f"vehicle, CPU seconds of a fit that compiles everything: {first_fit_ever(folder):.1f}")
    print(f"peak memory: {peak_gigabytes():.2f} GB")


if __name__ == "__main__":
    if sys.argv[1] == "one":
        fit_once(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))
    else:
        main(*sys.argv[1:])
