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
    """Compute the cells of a plan that are not yet in a journal.

    A run may be ended at any moment and started again: no cell is lost or computed twice. Results do not depend on
    ``n_jobs``, ``client`` or the order of the cells. The failure of a cell is recorded with its message, and the run
    continues.

    Parameters
    ----------
    plan : path-like, dict or Plan
        See :func:`read_plan`. If the journal has an earlier version of the plan, only the new cells are computed.
    journal : path-like
        The SQLite file for the results; created if it does not exist.
    n_jobs : int, optional
        Number of processes, each with one thread. By default everything is computed in this process. Ignored with a
        client.
    data : callable, dict or path-like, optional
        A function from names to data sets, a dict of data sets by name, or a folder for
        ``protoset.datasets.load_dataset``. With several processes or a cluster, the argument is sent to the workers; a
        folder, and files of the plan, must be readable there.
    callback : callable, optional
        Called after each cell with a :class:`RunProgress`. Return True to end the run.
    retry_failed : bool, default=False
        Whether to compute failed cells again.
    verbose : int, default=0
        Above 0, print the progress to stderr.
    client : distributed.Client, optional
        Dask client whose cluster computes the cells. By default the client of ``joblib.parallel_config("dask")``, if
        there is one; see Notes.

    Returns
    -------
    RunProgress
        Progress at the end of the run.

    Raises
    ------
    PlanError
        The plan cannot be read.
    JournalError
        The journal cannot be written to: it is locked, read-only, of another version or plan, or not a journal.
    RuntimeError
        The cluster has no workers, or cannot finish the work. The journal has the cells that were done.

    Notes
    -----
    On a cluster, the cells of a fold are one task; for series and strings, the cells of all folds are one task. A
    worker computes one task at a time, even if it has several threads. If a worker is lost, other workers compute its
    tasks. Only this process writes to the journal.
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
    """Continue the plan of a journal.

    Parameters
    ----------
    journal : path-like
        The journal of an earlier run.
    n_jobs, data, callback, retry_failed, verbose, client
        As in :func:`run`.

    Returns
    -------
    RunProgress
        Progress at the end of the run.
    """
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
