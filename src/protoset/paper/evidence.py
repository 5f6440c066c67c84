"""All measured results, read from the journals of a run."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from protoset.exceptions import JournalError
from protoset.experiments import Status, results, status
from protoset.experiments.journal import Journal
from protoset.paper.analysis import REFINED_REPS, Choice, Measured, best_of, fixed, gather, variants
from protoset.paper.printed import BASELINES, METHODS
from protoset.paper.running import CASE_FILE, CASES
from protoset.paper.studies import REPS_OF_MIXTURE, STUDIES, journal_of

ALL_METHODS = (*METHODS, REFINED_REPS)
"""The methods of the paper, and refined REPS."""

FIXED_VARIANTS = {
    "CCIS": "CCIS",
    "FCNN": "FCNN(n_neighbors=1)",
    "SSMA": "SSMA",
    "DROP3": "DROP3",
    "RMHC": "RMHC(n_prototypes=0.1)",
    "REPS": "REPS auto",
    REFINED_REPS: "refined REPS auto",
}
"""Variant of each method whose parameter is not chosen on test objects."""

AT_PRINTED_RATE = "REPS at paper's {}"
"""Label of REPS at the rate that the paper prints for a method."""


@dataclass(frozen=True, eq=False)
class Case:
    """The training series of a case study; ``kept`` has the positions of the prototypes of REPS at the printed rate."""

    name: str
    series: np.ndarray
    labels: np.ndarray
    distances: np.ndarray
    kept: np.ndarray

    def is_kept(self) -> np.ndarray:
        """Whether each training series is a prototype."""
        return np.isin(np.arange(len(self.labels)), self.kept)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All measured results; studies that were not run are None or empty.

    ``scaling`` is that of the vector studies. ``windows`` has the results by radius, without the radius of the series
    study. ``states`` has the status of each plan by name.
    """

    scaling: str
    vectors: Measured | None = None
    sensitivity: Measured | None = None
    mixture: Measured | None = None
    mixture_reps: Measured | None = None
    series: Measured | None = None
    windows: dict[int, Measured] = field(default_factory=dict)
    cases: tuple[Case, ...] = ()
    states: dict[str, Status] = field(default_factory=dict)


def read_evidence(output: str | os.PathLike[str], scaling: str | None = None) -> Evidence:
    """Read the journals of a folder; by default with the first of the scalings z, minmax and raw that it has."""
    folder = Path(output)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"there is no folder {os.fspath(folder)!r}; run the studies first, or pass their output folder"
        )
    if scaling is None:
        available = [name for name in ("z", "minmax", "raw") if journal_of(folder, "vectors", name).exists()]
        scaling = available[0] if available else "z"
    states: dict[str, Status] = {}

    def read(plans: tuple[str, ...]) -> Measured | None:
        journals = []
        for plan in plans:
            journal = journal_of(folder, plan, scaling)
            if journal.exists():
                states[plan] = status(journal)
                journals.append(journal)
        return gather(journals) if journals else None

    studies = {name: read(STUDIES[name].plans) for name in ("vectors", "series", "sensitivity", "mixture")}
    mixture_reps = read((REPS_OF_MIXTURE,))
    windows = {}
    path = journal_of(folder, "windows", scaling)
    if path.exists():
        states["windows"] = status(path)
        with Journal.to_read(path) as journal:
            distances = journal.plan.distances
        windows = {int(each.parameters["window"]): gather([path], distance=each.label) for each in distances}
    if not states:
        raise JournalError(f"the folder {os.fspath(folder)!r} has no results of the paper's studies; run them first")
    cases = _cases(folder)
    return Evidence(scaling, **studies, mixture_reps=mixture_reps, windows=windows, cases=cases, states=states)


def _cases(folder: Path) -> tuple[Case, ...]:
    path, journal = folder / CASE_FILE, journal_of(folder, "series", "")
    if not path.exists() or not journal.exists():
        return ()
    kept = {
        row.data: row.kept_indices
        for row in results(journal, kept=True)
        if row.data in CASES and row.method == AT_PRINTED_RATE.format("REPS")
    }
    cases = []
    with np.load(path, allow_pickle=False) as archive:
        for name in CASES:
            indices = kept.get(name)
            if f"{name}-labels" in archive.files and indices is not None:
                series, labels, distances = (archive[f"{name}-{array}"] for array in ("series", "labels", "distances"))
                cases.append(Case(name, series, labels, distances, indices))
    return tuple(cases)


def best_choices(measured: Measured) -> dict[str, Choice]:
    """Take each method with its best parameter on the test folds, as the paper did."""
    return {method: best_of(measured, variants(measured, method)) for method in ALL_METHODS}


def fixed_choices(measured: Measured) -> dict[str, Choice]:
    """Take each method with one parameter for all data sets, or with a size chosen on the training part."""
    return {method: fixed(measured, label) for method, label in FIXED_VARIANTS.items()}


def printed_rate_choices(measured: Measured) -> dict[str, Choice]:
    """Take the baselines with their best parameter, RMHC and REPS at the rates that the paper prints for them.

    The paper prints 10 % for RMHC on all data sets.
    """
    best = best_choices(measured)
    own = {"RMHC": fixed(measured, FIXED_VARIANTS["RMHC"]), "REPS": fixed(measured, AT_PRINTED_RATE.format("REPS"))}
    return {method: best[method] for method in BASELINES} | own
