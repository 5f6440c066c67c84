"""The engine of all experiments: cells in, results out, no files.

    plan --> groups of cells --> this process | other processes | a Dask cluster --> a result per cell --> receive

``run`` writes each result to a journal. ``compare`` and ``validate`` keep the results in memory.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from protoset._progress import REPORT_SECONDS, report
from protoset._validation import check_callable
from protoset.datasets import Dataset
from protoset.experiments.cells import CellResult, Group
from protoset.experiments.cluster import compute_on_cluster
from protoset.experiments.folds import check_first_fold
from protoset.experiments.loading import Loader
from protoset.experiments.plan import Cell, Distance, Folds, Plan, PlannedMethod, Source
from protoset.experiments.workers import compute_here, compute_in_processes
from protoset.models import Preparation
from protoset.spaces import DISSIMILARITIES


@dataclass(frozen=True)
class RunProgress:
    """Progress of a run.

    Attributes
    ----------
    done, failed, total : int
        Number of cells with a result, of failed cells, and of all cells of the plan. Cells of earlier runs are
        included.
    elapsed : float
        Seconds since the run began.
    remaining : float or None
        Estimate of the remaining seconds, from the times of each method so far; None before the first result.
    cell : str
        The cell that was computed last.
    """

    done: int
    failed: int
    total: int
    elapsed: float
    remaining: float | None
    cell: str


Callback = Callable[[RunProgress], Any]
"""Called after each cell; ends the run by returning True."""


def compute_plan(
    plan: Plan,
    load: Loader,
    receive: Callable[[CellResult], Any],
    *,
    sizes: Mapping[str, int | None] | None = None,
    retry_failed: bool = False,
    seconds: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    callback: Callback | None = None,
    verbose: int = 0,
) -> RunProgress:
    """Compute the cells of a plan; ``receive`` is called with each result as it is done.

    ``sizes`` has the cells that were computed before: number of prototypes by identifier, None where a cell failed.
    ``seconds`` has the mean time of each method before. The other arguments are those of ``run``, checked.
    """
    sizes = {} if sizes is None else sizes
    before = {identifier: size for identifier, size in sizes.items() if size is not None or not retry_failed}
    pending = [cell for cell in plan.cells if cell.id not in before]
    watch = _Watch(plan, before, pending, {} if seconds is None else seconds)
    report(verbose, "%d of %d cells are to be computed", len(pending), len(plan.cells))
    last = time.monotonic()
    groups = list(group_cells(plan, pending, before))
    if client is not None:
        results = compute_on_cluster(groups, load, client)
    elif effective_n_jobs(n_jobs) == 1:
        results = compute_here(groups, load)
    else:
        results = compute_in_processes(groups, load, effective_n_jobs(n_jobs))
    with closing(results):  # type: ignore[type-var]
        for result in results:
            receive(result)
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


def compute_dataset(
    dataset: Dataset,
    methods: Sequence[PlannedMethod],
    preparation: Preparation,
    folds: Folds,
    *,
    n_jobs: int | None,
    client: Any,
    callback: Callback | None,
) -> list[CellResult]:
    """Compute methods on the folds of one data set; results come in the order of folds and methods.

    Arguments that are wrong for every fold are refused before any method runs.
    """
    source = Source(dataset.name or "data")
    metric = preparation.metric
    distance = Distance(metric, metric, preparation.metric_params, preparation.scaling)
    plan = Plan(source.name, (source,), (distance,), folds, tuple(methods), {}, Path.cwd())
    check_callable("callback", callback)
    class_sizes = check_first_fold(dataset, distance, folds)
    for method in methods:
        method.spec.check_size(class_sizes)
    results: dict[str, CellResult] = {}
    compute_plan(
        plan,
        Loader({source.name: dataset}, plan.folder),
        lambda result: results.update({result.id: result}),
        n_jobs=n_jobs,
        client=client,
        callback=callback,
    )
    return [results[cell.id] for cell in plan.cells if cell.id in results]


def group_cells(plan: Plan, pending: list[Cell], sizes: Mapping[str, int | None]) -> Iterator[Group]:
    """Group the cells of a fold; for series and strings, the cells of all folds, because they may share one matrix."""
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

    def __init__(self, plan: Plan, before: Mapping[str, int | None], pending: list[Cell], seconds: Mapping[str, float]):
        self.cell = ""
        self._total = len(plan.cells)
        self._started = time.monotonic()
        self._names = {cell.id: str(cell) for cell in pending}
        self._left = Counter(cell.method for cell in pending)
        self._seconds: dict[str, list[float]] = {name: [mean] for name, mean in seconds.items()}
        self._work = 0.0
        self._done = sum(size is not None for size in before.values())
        self._failed = len(before) - self._done

    def add(self, result: CellResult) -> None:
        self.cell = self._names[result.id]
        self._left[result.method] -= 1
        if result.state == "done":
            self._done += 1
            self._seconds.setdefault(result.method, []).append(result.wall_seconds or 0.0)
            self._work += result.wall_seconds or 0.0
        else:
            self._failed += 1

    def progress(self) -> RunProgress:
        elapsed = time.monotonic() - self._started
        return RunProgress(self._done, self._failed, self._total, elapsed, self._remaining(elapsed), self.cell)

    def _remaining(self, elapsed: float) -> float | None:
        if not self._left.total():
            return 0.0
        if not self._work:
            return None
        means = {name: float(np.mean(seconds)) for name, seconds in self._seconds.items()}
        usual = float(np.mean(list(means.values())))
        expected = sum(count * means.get(name, usual) for name, count in self._left.items())
        # Loading and distances take time too: the ratio of all time so far to the methods' time includes them.
        return elapsed * expected / self._work


def _line(progress: RunProgress) -> str:
    left = "" if progress.remaining is None else f", about {progress.remaining:.0f} s left"
    return f"{progress.done} of {progress.total} cells done, {progress.failed} failed{left}"
