"""Running a plan: what is not in the journal yet is computed, and written as it is done."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from protoset._cluster import resolve_client
from protoset._progress import REPORT_SECONDS, report
from protoset._validation import check_flag, check_jobs
from protoset.experiments.cells import CellResult, Group
from protoset.experiments.cluster import compute_on_cluster
from protoset.experiments.journal import Journal
from protoset.experiments.loading import Data, Loader
from protoset.experiments.parsing import read_plan
from protoset.experiments.plan import Cell, Plan
from protoset.experiments.workers import compute
from protoset.spaces import DISSIMILARITIES


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, failed, total : int
        Cells of the plan: results, failures, and all of them; also those of earlier runs.
    elapsed : float
        Seconds since the run began.
    remaining : float or None
        Seconds that it will probably take, by what each method has taken so far; None before the first result.
    cell : str
        The last cell.
    """

    done: int
    failed: int
    total: int
    elapsed: float
    remaining: float | None
    cell: str


Callback = Callable[[Progress], Any]
"""Called after each cell; ends the run by returning True."""


def run(
    plan: str | os.PathLike[str] | Mapping[str, Any] | Plan,
    journal: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    data: Data = None,
    callback: Callback | None = None,
    retry_failed: bool = False,
    verbose: int = 0,
    client: Any = None,
) -> Progress:
    """Compute the cells of a plan that a journal does not have yet.

    A run may be ended at any moment and started again: no cell is lost or computed twice. Results depend neither on
    ``n_jobs`` or ``client`` nor on the order of the cells. A cell that fails is recorded with its message, and the run
    goes on.

    Parameters
    ----------
    plan : path-like, dict or Plan
        See :func:`read_plan`. A journal's plan may grow, and then only the new cells are computed.
    journal : path-like
        The SQLite file that results are written to; made if it is not there.
    n_jobs : int, optional
        Processes. With one (the default) everything is computed in this process. Each uses one thread. Of no
        account where there is a client.
    data : callable, dict or path-like, optional
        A function from names to data sets, data sets by name, or a folder for ``protoset.datasets.load_dataset``. With
        several processes or on a cluster it is sent to them; a folder, and files of the plan, must be readable there.
    callback : callable, optional
        Called after each cell with a :class:`Progress`; the run ends when it returns True.
    retry_failed : bool, default=False
        Whether cells that failed are computed again.
    verbose : int, default=0
        Above 0, say on stderr how far it is.
    client : distributed.Client, optional
        Computes on its Dask cluster; by default that of ``joblib.parallel_config("dask")``, if there is one. The cells
        of a fold, of series and strings those of all folds, are a task and come back together; this process alone
        writes. A worker takes one task at a time, also if it has several threads. Tasks of workers that are lost go
        to others.

    Returns
    -------
    Progress
        As of the end.

    Raises
    ------
    PlanError
        The plan cannot be read.
    JournalError
        The journal cannot be written to: it is locked, read-only, of another version or plan, or not a journal.
    RuntimeError
        The cluster has no workers, or cannot finish the work. What was done is in the journal.
    """
    check_jobs(n_jobs)
    check_flag("retry_failed", retry_failed)
    plan = read_plan(plan)
    loader = Loader(data, plan.folder)
    client = resolve_client(client)
    with Journal.to_write(journal, plan) as opened:
        if client is not None:
            work = partial(compute_on_cluster, load=loader, client=client)
        else:
            work = partial(compute, load=loader, n_jobs=effective_n_jobs(n_jobs))
        return _run(opened, work, callback, retry_failed, verbose)


def _run(
    journal: Journal,
    work: Callable[[list[Group]], Iterator[CellResult]],
    callback: Callback | None,
    retry_failed: bool,
    verbose: int,
) -> Progress:
    sizes = journal.sizes()
    is_done = {identifier for identifier, size in sizes.items() if size is not None or not retry_failed}
    pending = [cell for cell in journal.plan.cells if cell.id not in is_done]
    watch = _Watch(journal, sizes, pending)
    groups = list(grouped(journal.plan, pending, {name: size for name, size in sizes.items() if name in is_done}))
    report(verbose, "%d of %d cells are to be computed", len(pending), watch.total)
    last = time.monotonic()
    with closing(work(groups)) as results:  # type: ignore[type-var]
        for result in results:
            journal.add([result])
            watch.add(result)
            if result.state == "failed":
                report(verbose, "failed: %s: %s: %s", watch.cell, result.failure_type, result.failure_message)
            if time.monotonic() - last >= REPORT_SECONDS:
                last = time.monotonic()
                report(verbose, "%s", _line(watch.progress()))
            if callback is not None and callback(watch.progress()) is True:
                break
    report(verbose, "%s", _line(watch.progress()))
    return watch.progress()


def grouped(plan: Plan, pending: list[Cell], sizes: Mapping[str, int | None]) -> Iterator[Group]:
    """Put cells that share dissimilarities together: those of a fold, or of all folds that are cut from one matrix."""
    methods = {method.label: method for method in plan.methods}

    def key(cell: Cell) -> tuple[str, str, int]:
        metric = DISSIMILARITIES.get(plan.distance(cell.distance).metric)
        one_matrix = metric is not None and metric.kind in ("series", "strings")
        return cell.data, cell.distance, 0 if one_matrix else cell.fold

    for (data, distance, _), members in groupby(pending, key):
        cells = list(members)
        needed = {cell.reference for cell in cells} & sizes.keys()
        yield Group(
            plan.source(data),
            plan.distance(distance),
            plan.folds,
            tuple((cell, methods[cell.method]) for cell in cells),
            {name: sizes[name] for name in needed if name is not None},
        )


class _Watch:
    """Counts cells and estimates the time that is left."""

    def __init__(self, journal: Journal, sizes: Mapping[str, int | None], pending: list[Cell]):
        self.total = len(journal.plan.cells)
        self.cell = ""
        self._started = time.monotonic()
        self._names = {cell.id: str(cell) for cell in pending}
        self._left = Counter(cell.method for cell in pending)
        self._spent: dict[str, list[float]] = {name: [mean] for name, mean in journal.seconds().items()}
        self._work = 0.0
        again = self._names.keys()
        self._done = sum(size is not None for size in sizes.values())
        self._failed = sum(size is None for name, size in sizes.items() if name not in again)

    def add(self, result: CellResult) -> None:
        self.cell = self._names[result.id]
        self._left[result.method] -= 1
        if result.state == "done":
            self._done += 1
            self._spent.setdefault(result.method, []).append(result.wall_seconds or 0.0)
            self._work += result.wall_seconds or 0.0
        else:
            self._failed += 1

    def progress(self) -> Progress:
        elapsed = time.monotonic() - self._started
        return Progress(self._done, self._failed, self.total, elapsed, self._remaining(elapsed), self.cell)

    def _remaining(self, elapsed: float) -> float | None:
        if not self._left.total():
            return 0.0
        if not self._work:
            return None
        means = {name: float(np.mean(seconds)) for name, seconds in self._spent.items()}
        usual = float(np.mean(list(means.values())))
        expected = sum(count * means.get(name, usual) for name, count in self._left.items())
        # Not only the methods take time: what all took together says how much there is besides.
        return elapsed * expected / self._work


def _line(progress: Progress) -> str:
    left = "" if progress.remaining is None else f", about {progress.remaining:.0f} s left"
    return f"{progress.done} of {progress.total} cells done, {progress.failed} failed{left}"
