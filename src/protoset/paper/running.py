"""Running the studies: a journal per plan in one folder, so that a run that was ended goes on where it was."""

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
from protoset.experiments import Progress, run
from protoset.experiments.distances import square
from protoset.experiments.loading import Data, Loader
from protoset.experiments.plan import SCALINGS, Scaling, Source
from protoset.paper.analysis import gather
from protoset.paper.printed import BASELINES
from protoset.paper.studies import (
    REPS_OF_MIXTURE,
    SLOW,
    STUDIES,
    journal_of,
    mixture_document,
    plan_document,
)
from protoset.spaces import make_space

CASES = ("Plane", "ECG200")
"""Data sets of the case studies."""

CASE_FILE = "case-studies.npz"
WINDOW = 5

PaperCallback = Callable[[str, Progress], Any]
"""Called after each cell with the name of the plan; ends the run by returning True."""


@dataclass(frozen=True)
class PlanRun:
    """What became of a plan.

    Attributes
    ----------
    plan : str
    progress : Progress
        As of its end.
    """

    plan: str
    progress: Progress


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
    """Run the studies of the paper; run again, it computes what is still missing.

    Parameters
    ----------
    output : path-like
        Folder of the journals; made if it is not there.
    data : path-like, dict or callable, optional
        A folder for ``protoset.datasets.load_dataset``, data sets by name, or a function from names to data sets.
        Of a dict, studies take the data sets that it has.
    studies : sequence of {"vectors", "series", "windows", "sensitivity", "mixture"}, optional
        All of them by default.
    datasets : sequence of str, optional
        Only these data sets, by the paper's or the archive's names. A later run can add more, and take none away.
    scaling : {"z", "minmax", "raw"}
        Of the attributes of vectors, the same for all methods. The study "mixture" has the paper's own: baselines on
        unscaled attributes, REPS on z-scored ones.
    without : sequence of {"SSMA", "RMHC"}
        Slow methods to leave out; a later run can add them.
    n_jobs : int, optional
        Processes; one by default.
    progress : callable, optional
        Called after each cell with the name of the plan and a ``Progress``; the run ends when it returns True.
    retry_failed : bool
        Whether cells that failed are computed again.
    verbose : int
        Above 0, say on stderr how far it is.

    Returns
    -------
    list of PlanRun
        In the order of the work.
    """
    chosen = list(STUDIES) if studies is None else list(studies)
    for name in chosen:
        check_choice("studies", name, tuple(STUDIES))
    for method in without:
        check_choice("without", method, SLOW)
    check_choice("scaling", scaling, SCALINGS)
    if not chosen:
        raise ValueError(f"studies=[] must name at least one of {list(STUDIES)}")
    names = _names(data, datasets)
    if isinstance(data, (str, os.PathLike)) and not Path(data).expanduser().is_dir():
        raise DataError(f"data={os.fspath(data)!r}: there is no such folder; pass the folder of the data sets, or none")
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    found: list[PlanRun] = []

    def work(plan: str, document: Mapping[str, Any]) -> bool:
        """Run a plan; whether the run is to go on."""
        if not document["data"]:
            return True
        stopped = False

        def told(state: Progress) -> bool:
            nonlocal stopped
            stopped = progress is not None and progress(plan, state) is True
            return stopped

        report(verbose, "%s", plan)
        journal = journal_of(folder, plan, scaling)
        state = run(
            document, journal, n_jobs=n_jobs, data=data, callback=told, retry_failed=retry_failed, verbose=verbose
        )
        found.append(PlanRun(plan, state))
        return not stopped

    for study in (STUDIES[name] for name in STUDIES if name in chosen):
        for plan in study.plans:
            if any(plan.endswith(f"-{method.lower()}") for method in without):
                continue
            if not work(plan, plan_document(plan, scaling=scaling, data=names)):
                return found
        if study.name == "mixture" and not _run_rest_of_mixture(folder, work):
            return found
        if study.name == "series":
            _keep_cases(folder, data, names)
    return found


def _names(data: Data, datasets: Sequence[str] | None) -> list[str]:
    """Names of the data sets to take."""
    if datasets is not None:
        return [find(name).name for name in datasets]
    return [name for name in DATASETS if not isinstance(data, Mapping) or name in data]


def _run_rest_of_mixture(folder: Path, work: Callable[[str, Mapping[str, Any]], bool]) -> bool:
    """Run REPS on z-scored attributes at the rates that the baselines have on unscaled ones."""
    journals = [journal_of(folder, plan, "raw") for plan in STUDIES["mixture"].plans]
    measured = gather([journal for journal in journals if journal.exists()])
    rates: dict[str, dict[str, float]] = {}
    for label in measured.methods:
        values = measured.rates(label)
        # A method that failed somewhere has no mean rate there.
        if label.partition("(")[0] in BASELINES and np.isfinite(values).all():
            rates[label] = dict(zip(measured.data, values.tolist(), strict=True))
    return work(REPS_OF_MIXTURE, mixture_document(rates, measured.data)) if rates else True


def _keep_cases(folder: Path, data: Data, names: Sequence[str]) -> None:
    """Keep the training series of the case studies and their distances, so that the report needs no data."""
    file = folder / CASE_FILE
    kept = _archive(file) if file.exists() else {}
    wanted = [name for name in CASES if name in names and f"{name}-labels" not in kept]
    n_before = len(kept)
    for name in wanted:
        try:
            dataset: Dataset = Loader(data, Path.cwd())(Source(name))
        except DataError:  # its cells have failed with the same message
            continue
        series = np.array(dataset.objects[: dataset.n_train])
        kept |= {
            f"{name}-series": series,
            f"{name}-labels": np.asarray(dataset.labels[: dataset.n_train]),
            f"{name}-distances": square(make_space(series, "dtw", {"window": WINDOW})),
        }
    if len(kept) > n_before:
        content = io.BytesIO()
        np.savez_compressed(content, **kept)  # type: ignore[arg-type]
        write_atomically(file, content.getvalue())


def _archive(file: Path) -> dict[str, np.ndarray]:
    with np.load(file, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
