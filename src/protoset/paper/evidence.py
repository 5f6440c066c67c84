"""All that was measured, read from the folder of a run."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from protoset.exceptions import JournalError
from protoset.experiments import Status, results, status
from protoset.experiments.journal import Journal
from protoset.paper.analysis import REFINED, Chosen, Measured, best_of, fixed, gather, variants
from protoset.paper.printed import BASELINES, METHODS
from protoset.paper.running import CASE_FILE, CASES
from protoset.paper.studies import REPS_OF_MIXTURE, STUDIES, journal_of

ALL_METHODS = (*METHODS, REFINED)

FIXED = {
    "CCIS": "CCIS",
    "FCNN": "FCNN(n_neighbors=1)",
    "SSMA": "SSMA",
    "DROP3": "DROP3",
    "RMHC": "RMHC(n_prototypes=0.1)",
    "REPS": "REPS auto",
    REFINED: "refined REPS auto",
}
"""The parameter of each method that no test object has a say in."""

AT_PRINTED = "REPS at paper's {}"
"""REPS at the rate that the paper prints for a method."""


@dataclass(frozen=True, eq=False)
class Case:
    """A case study.

    Attributes
    ----------
    name : str
    series, labels, distances : ndarray
        Of the training part.
    kept : ndarray of int
        Positions of the prototypes of REPS at the printed rate.
    """

    name: str
    series: np.ndarray
    labels: np.ndarray
    distances: np.ndarray
    kept: np.ndarray


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that was measured; parts that were not run are None or empty.

    Attributes
    ----------
    scaling : str
        Of the vector studies.
    vectors, sensitivity, mixture, mixture_reps, series : Measured or None
    windows : dict of int to Measured
        By the radius, without that of the study of the series.
    cases : tuple of Case
    states : dict of str to Status
        By the name of the plan.
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
    """Read the journals of a folder.

    Parameters
    ----------
    output : path-like
    scaling : {"z", "minmax", "raw"}, optional
        Of the vector studies; by default the first of these that the folder has.
    """
    folder = Path(output)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"there is no folder {os.fspath(folder)!r}; run the studies first, or name their output"
        )
    if scaling is None:
        known = [one for one in ("z", "minmax", "raw") if journal_of(folder, "vectors", one).exists()]
        scaling = known[0] if known else "z"
    states: dict[str, Status] = {}

    def read(plans: tuple[str, ...]) -> Measured | None:
        journals = []
        for plan in plans:
            journal = journal_of(folder, plan, scaling)
            if journal.exists():
                states[plan] = status(journal)
                journals.append(journal)
        return gather(journals) if journals else None

    found = {
        name: read(STUDIES[name].plans) for name in ("vectors", "series", "sensitivity", "mixture") if name in STUDIES
    }
    rest = None
    if journal_of(folder, REPS_OF_MIXTURE, scaling).exists():
        states[REPS_OF_MIXTURE] = status(journal_of(folder, REPS_OF_MIXTURE, scaling))
        rest = gather([journal_of(folder, REPS_OF_MIXTURE, scaling)])
    windows = {}
    place = journal_of(folder, "windows", scaling)
    if place.exists():
        states["windows"] = status(place)
        with Journal.to_read(place) as opened:
            distances = opened.plan.distances
        windows = {int(one.parameters["window"]): gather([place], distance=one.label) for one in distances}
    if not states:
        raise JournalError(f"the folder {os.fspath(folder)!r} has no results of the paper's studies; run them first")
    return Evidence(
        scaling,
        vectors=found["vectors"],
        sensitivity=found["sensitivity"],
        mixture=found["mixture"],
        mixture_reps=rest,
        series=found["series"],
        windows=windows,
        cases=_cases(folder),
        states=states,
    )


def _cases(folder: Path) -> tuple[Case, ...]:
    file, journal = folder / CASE_FILE, journal_of(folder, "series", "")
    if not file.exists() or not journal.exists():
        return ()
    kept = {
        row.data: row.kept_indices
        for row in results(journal, kept=True)
        if row.data in CASES and row.method == AT_PRINTED.format("REPS")
    }
    found = []
    with np.load(file, allow_pickle=False) as archive:
        for name in CASES:
            indices = kept.get(name)
            if f"{name}-labels" in archive.files and indices is not None:
                series, labels, distances = (archive[f"{name}-{part}"] for part in ("series", "labels", "distances"))
                found.append(Case(name, series, labels, distances, indices))
    return tuple(found)


def best_choices(measured: Measured) -> dict[str, Chosen]:
    """Take each method with its best parameter on the test folds, as the paper did."""
    return {method: best_of(measured, variants(measured, method)) for method in ALL_METHODS}


def fixed_choices(measured: Measured) -> dict[str, Chosen]:
    """Take each method with one parameter for all data sets, or chosen on the training part."""
    return {method: fixed(measured, label) for method, label in FIXED.items()}


def printed_rate_choices(measured: Measured) -> dict[str, Chosen]:
    """Take the baselines with their best parameter, RMHC and REPS at the rates that the paper prints for them.

    It prints 10 % for RMHC on all data sets.
    """
    best = best_choices(measured)
    own = {"RMHC": fixed(measured, FIXED["RMHC"]), "REPS": fixed(measured, AT_PRINTED.format("REPS"))}
    return {method: best[method] for method in BASELINES} | own
