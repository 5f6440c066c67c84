"""Running a plan: cells that are not in the journal yet are computed, and written as they are done."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from protoset._cluster import resolve_client
from protoset._validation import check_callable, check_flag, check_jobs, check_verbose
from protoset.experiments.engine import Callback, RunProgress, compute_plan
from protoset.experiments.journal import Journal
from protoset.experiments.loading import Data, Loader
from protoset.experiments.parsing import read_plan
from protoset.experiments.plan import Plan


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
) -> RunProgress:
    """Compute the cells of a plan that a journal does not have yet.

    A run may be ended at any moment and started again: no cell is lost or computed twice. Results depend neither on
    ``n_jobs`` or ``client`` nor on the order of the cells. A cell that fails is recorded with its message, and the run
    goes on.

    Parameters
    ----------
    plan : path-like, dict or Plan
        See :func:`read_plan`. A journal's plan may grow, and then only the new cells are computed.
    journal : path-like
        The SQLite file for the results; created if it does not exist.
    n_jobs : int, optional
        Processes, with one thread each. The default is one: everything is computed in this process. Ignored with a
        client.
    data : callable, dict or path-like, optional
        A function from names to data sets, data sets by name, or a folder for ``protoset.datasets.load_dataset``. It is
        sent to other processes and to a cluster; a folder, and files of the plan, must be readable there.
    callback : callable, optional
        Called after each cell with a :class:`RunProgress`; the run ends when it returns True.
    retry_failed : bool, default=False
        Whether cells that failed are computed again.
    verbose : int, default=0
        Above 0, print the progress to stderr.
    client : distributed.Client, optional
        Computes on its Dask cluster; by default that of ``joblib.parallel_config("dask")``, if there is one. The cells
        of a fold are one task; for series and strings the cells of all folds are one task. This process alone writes.
        A worker computes one task at a time, even if it has several threads. Tasks of lost workers go to others.

    Returns
    -------
    RunProgress
        At the end of the run.

    Raises
    ------
    PlanError
        The plan cannot be read.
    JournalError
        The journal cannot be written to: it is locked, read-only, of another version or plan, or not a journal.
    RuntimeError
        The cluster has no workers, or cannot finish the work. The journal has the cells that were done.
    """
    n_jobs, verbose = check_jobs(n_jobs), check_verbose(verbose)
    check_callable("callback", callback)
    check_flag("retry_failed", retry_failed)
    plan = read_plan(plan)
    loader = Loader(data, plan.folder)
    client = resolve_client(client)
    with Journal.to_write(journal, plan) as opened:
        return compute_plan(
            opened.plan,
            loader,
            lambda result: opened.add([result]),
            sizes=opened.sizes(),
            retry_failed=retry_failed,
            seconds=opened.seconds(),
            n_jobs=n_jobs,
            client=client,
            callback=callback,
            verbose=verbose,
        )


def resume(
    journal: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    data: Data = None,
    callback: Callback | None = None,
    retry_failed: bool = False,
    verbose: int = 0,
    client: Any = None,
) -> RunProgress:
    """Go on with the plan that is in a journal; the arguments are those of :func:`run`."""
    with Journal.to_read(journal) as opened:
        plan = opened.plan
    return run(
        plan,
        journal,
        n_jobs=n_jobs,
        data=data,
        callback=callback,
        retry_failed=retry_failed,
        verbose=verbose,
        client=client,
    )
