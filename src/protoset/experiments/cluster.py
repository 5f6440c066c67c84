"""Computing groups on a Dask cluster: each group is a task, and its cells come back together.

    this process                                              a worker
    the loader of a data set  -- once -------------------->   ``WorkerComputer``, as long as it is needed
    its groups                -- a task each, few ahead -->   ``_work``
                              <-- results of a group ------

When a worker is lost, Dask gives its groups to other workers. When workers die repeatedly during a group, Dask gives up
the group, and also the other groups that waited for the same workers. So these groups are computed again at the end,
one cell at a time, while nothing else runs. A cell during which workers die again is recorded as failed.

A worker computes one group at a time, in one thread, even if it has several threads: warnings, times and limits of
threads are properties of a process.
"""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from threadpoolctl import threadpool_limits

from protoset._cluster import RETRIES, as_done
from protoset.exceptions import WorkerDiedError
from protoset.experiments.cells import CellComputer, CellResult, Group, failed
from protoset.experiments.loading import Loader

REMEDY = "run it again; a journal keeps the cells that were done"
"""Way out in the errors of a cluster that is lost."""

_ALONE = threading.Lock()


def compute_on_cluster(groups: Sequence[Group], load: Loader, client: Any) -> Iterator[CellResult]:
    """Compute groups on the workers of a Dask client, and return the result of each cell as its group is done."""
    computers, suspects = _Computers(client, load, groups), []
    with closing(as_done(client, groups, computers.submit, REMEDY)) as outcomes:
        for group, outcome in outcomes:
            fatal = _is_fatal(outcome)
            computers.release(group, anew=fatal)
            if fatal:
                suspects.append(group)
            else:
                yield from outcome
    for group in suspects:
        yield from _by_cells(group, load, client)


def _by_cells(group: Group, load: Loader, client: Any) -> Iterator[CellResult]:
    """Compute cells alone, to see which cell kills workers; after two deaths in a row the rest is not tried."""
    sizes, computers = dict(group.sizes), _Computers(client, load, [group] * len(group.cells))
    deaths: list[Any] = []
    for entry in group.cells:
        if len(deaths) == 2:
            outcome = deaths[-1]
        else:
            single = replace(group, cells=(entry,), sizes=dict(sizes))
            [(_, outcome)] = as_done(client, [single], computers.submit, REMEDY)
        fatal = _is_fatal(outcome)
        computers.release(group, anew=fatal)
        if fatal:
            deaths = [*deaths, outcome][:2]
            result = failed(
                entry[0], WorkerDiedError(f"Dask workers died of it, perhaps for lack of memory: {outcome}")
            )
        else:
            deaths = []
            [result] = outcome
        sizes[result.id] = result.n_prototypes
        yield result


def _is_fatal(outcome: Any) -> bool:
    """Whether workers died during a task; any other error of the cluster ends the run."""
    from distributed import KilledWorker

    if isinstance(outcome, Exception) and not isinstance(outcome, KilledWorker):
        raise RuntimeError(
            f"the Dask workers cannot compute the cells: {type(outcome).__name__}: {outcome}; check that they have "
            "protoset and all packages that the data need, in the same versions as this process"
        ) from outcome
    return isinstance(outcome, KilledWorker)


class _Computers:
    """The computers of data sets that have groups left; after the last group, workers may forget a computer."""

    def __init__(self, client: Any, load: Loader, groups: Sequence[Group]):
        self._client, self._load = client, load
        self._computers: dict[str, Any] = {}
        self._left = Counter(group.source.name for group in groups)

    def submit(self, group: Group) -> Any:
        """Make a task of a group."""
        name = group.source.name
        if name not in self._computers:
            self._computers[name] = _send_computer(self._client, self._load.alone(group.source))
        return self._client.submit(_work, self._computers[name], group, pure=False, retries=RETRIES)

    def release(self, group: Group, anew: bool) -> None:
        """Note that a group is done; with ``anew``, the next group gets a new computer."""
        name = group.source.name
        self._left[name] -= 1
        if anew or not self._left[name]:
            self._computers.pop(name, None)


class WorkerComputer:
    """A ``CellComputer`` on a worker. Copies for other workers, or on disk, hold the loader and no data."""

    def __init__(self, load: Any):
        self._load, self.computer = load, CellComputer(load)

    def __reduce__(self) -> Any:
        return WorkerComputer, (self._load,)


def _work(worker: WorkerComputer, group: Group) -> list[CellResult]:
    with _ALONE, threadpool_limits(1):
        return [result for result in worker.computer.compute(group) if _is_wanted()]


def _is_wanted() -> bool:
    """Return True while the task is wanted; raise an error after it was cancelled, as by Ctrl-C."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    if task is not None and task.state == "cancelled":
        raise RuntimeError("these cells are not wanted any more")
    return True


def _send_computer(client: Any, load: Loader) -> Any:
    """Return the future of a ``WorkerComputer``, which Dask can make again if the workers that have it are lost."""
    import cloudpickle
    import dask

    try:
        packed = cloudpickle.dumps(load)
    except Exception as error:
        raise TypeError(f"data cannot be sent to the Dask workers: {error}; leave the client out") from error
    # The loader is sent once for all tasks, however large it is.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1PiB"}):
        return client.submit(_unpack, packed, pure=False, retries=RETRIES)


def _unpack(packed: bytes) -> WorkerComputer:
    return WorkerComputer(pickle.loads(packed))
