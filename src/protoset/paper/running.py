"""``run_paper``: run the studies, a journal per plan in one folder. A stopped run continues where it ended."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protoset._files import write_atomically
from protoset._progress import report
from protoset._validation import check_choice
from protoset.datasets import DATASETS, Dataset, find
from protoset.exceptions import DataError
from protoset.experiments import RunProgress, run
from protoset.experiments.loading import Data, Loader
from protoset.experiments.plan import Source
from protoset.models.preparation import SCALINGS, Scaling
from protoset.paper.analysis import gather
from protoset.paper.printed import BASELINES
from protoset.paper.studies import REPS_OF_MIXTURE, SLOW_METHODS, STUDIES, journal_of, mixture_document, plan_document
from protoset.spaces import make_space

CASES = ("Plane", "ECG200")
"""Data sets of the case studies."""

CASE_FILE = "case-studies.npz"
"""File with the training series of the case studies, in the output folder."""

SERIES_WINDOW = 5
"""Radius of DTW in the series study."""

PaperCallback = Callable[[str, RunProgress], Any]
"""Called after each cell with the name of the plan and its progress; returns True to end the run."""


@dataclass(frozen=True)
class PlanRun:
    """Result of running a plan.

    Attributes
    ----------
    plan : str
    progress : RunProgress
        State at the end of the run.
    """

    plan: str
    progress: RunProgress


def run_paper(
    output: str | os.PathLike[str],
    *,
    data: Data = None,
    studies: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    scaling: Scaling = "z",
    without: Sequence[str] = (),
    n_jobs: int | None = None,
    progress: PaperCallback | None = None,
    retry_failed: bool = False,
    verbose: int = 0,
) -> list[PlanRun]:
    """Run the studies of the paper. A second run computes only the missing results.

    Parameters
    ----------
    output : path-like
        Folder of the journals; created if needed.
    data : path-like, dict or callable, optional
        A folder for ``protoset.datasets.load_dataset``, data sets by name, or a function from names to data sets.
        With a dict, the studies use only its data sets.
    studies : sequence of {"vectors", "series", "windows", "sensitivity", "mixture"}, optional
        By default all.
    datasets : sequence of str, optional
        Use only these data sets, by the paper's or the archive's names. A later run can add data sets, but not
        remove any.
    scaling : {"z", "minmax", "raw"}
        Scaling of vector attributes, for all methods. The study "mixture" ignores it: as in the paper, baselines use
        unscaled attributes and REPS z-scored ones.
    without : sequence of {"SSMA", "RMHC"}
        Slow methods to leave out. A later run can add them.
    n_jobs, retry_failed, verbose
        As in :func:`protoset.experiments.run`.
    progress : callable, optional
        Called after each cell with the name of the plan and a ``RunProgress``. Return True to end the run.

    Returns
    -------
    list of PlanRun
        Results, in the order of the plans.
    """
    chosen = list(STUDIES) if studies is None else list(studies)
    for name in chosen:
        check_choice("studies", name, tuple(STUDIES))
    for method in without:
        check_choice("without", method, SLOW_METHODS)
    check_choice("scaling", scaling, SCALINGS)
    if not chosen:
        raise ValueError(f"studies=[] must name at least one of {list(STUDIES)}")
    names = _dataset_names(data, datasets)
    if isinstance(data, (str, os.PathLike)) and not Path(data).expanduser().is_dir():
        raise DataError(f"data={os.fspath(data)!r}: there is no such folder; pass the folder of the data sets, or None")
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    runs: list[PlanRun] = []

    def work(plan: str, document: Mapping[str, Any]) -> bool:
        """Run a plan; return whether to continue with the next one."""
        if not document["data"]:
            return True
        stopped = False

        def stop(state: RunProgress) -> bool:
            nonlocal stopped
            stopped = progress is not None and progress(plan, state) is True
            return stopped

        report(verbose, "%s", plan)
        journal = journal_of(folder, plan, scaling)
        state = run(
            document, journal, n_jobs=n_jobs, data=data, callback=stop, retry_failed=retry_failed, verbose=verbose
        )
        runs.append(PlanRun(plan, state))
        return not stopped

    for study in (STUDIES[name] for name in STUDIES if name in chosen):
        for plan in study.plans:
            if any(plan.endswith(f"-{method.lower()}") for method in without):
                continue
            if not work(plan, plan_document(plan, scaling=scaling, data=names)):
                return runs
        if study.name == "mixture" and not _run_mixture_reps(folder, work):
            return runs
        if study.name == "series":
            _save_cases(folder, data, names)
    return runs


def _dataset_names(data: Data, datasets: Sequence[str] | None) -> list[str]:
    """Names of the data sets to use."""
    if datasets is not None:
        return [find(name).name for name in datasets]
    return [name for name in DATASETS if not isinstance(data, Mapping) or name in data]


def _run_mixture_reps(folder: Path, work: Callable[[str, Mapping[str, Any]], bool]) -> bool:
    """Run REPS on z-scored attributes at the rates of the baselines on unscaled ones."""
    journals = [journal_of(folder, plan, "raw") for plan in STUDIES["mixture"].plans]
    measured = gather([journal for journal in journals if journal.exists()])
    rates: dict[str, dict[str, float]] = {}
    for label in measured.methods:
        values = measured.rates(label)
        # A method with failed cells has no mean rate.
        if label.partition("(")[0] in BASELINES and np.isfinite(values).all():
            rates[label] = dict(zip(measured.data, values.tolist(), strict=True))
    return work(REPS_OF_MIXTURE, mixture_document(rates, measured.data)) if rates else True


def _save_cases(folder: Path, data: Data, names: Sequence[str]) -> None:
    """Save the training series of the case studies and their distances, so that the report needs no data."""
    path = folder / CASE_FILE
    arrays: dict[str, np.ndarray] = {}
    if path.exists():
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive)
    n_before = len(arrays)
    for name in [name for name in CASES if name in names and f"{name}-labels" not in arrays]:
        try:
            dataset: Dataset = Loader(data, Path.cwd())(Source(name))
        except DataError:  # the cells of this data set have failed with the same message
            continue
        series = np.array(dataset.objects[: dataset.n_train])
        arrays |= {
            f"{name}-series": series,
            f"{name}-labels": np.asarray(dataset.labels[: dataset.n_train]),
            f"{name}-distances": make_space(series, "dtw", {"window": SERIES_WINDOW}).matrix(),
        }
    if len(arrays) > n_before:
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
        write_atomically(path, content.getvalue())
