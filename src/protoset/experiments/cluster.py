"""Computing groups on a Dask cluster: each group is a task, and its cells come back together.

    this process                                              a worker
    the loader of a data set  -- once -------------------->   ``Bench``: a workshop, as long as it is needed
    its groups                -- a task each, few ahead -->   ``_work``
                              <-- results of a group ------

A worker that is lost costs time: Dask gives its groups to others. Where workers die of a group again and again, Dask
gives it up, but also what else was waiting at the same workers. So such groups are done again at the end, one cell at a
time and nothing beside it; a cell of which workers die then is recorded as failed.

A worker computes one group at a time, in one thread, whatever its number of threads: warnings, times and limits of
threads belong to a process.
"""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from threadpoolctl import threadpool_limits

from protoset._cluster import RETRIES, as_done
from protoset.exceptions import WorkerDiedError
from protoset.experiments.cells import CellResult, Group, Workshop, failed
from protoset.experiments.loading import Loader

REMEDY = "run the plan again: what was done is in the journal"

_ALONE = threading.Lock()


def compute_on_cluster(groups: Sequence[Group], load: Loader, client: Any) -> Iterator[CellResult]:
    """Compute groups on the workers of a Dask client, and return the result of each cell as its group is done."""
    benches, suspects = _Benches(client, load, groups), []
    with closing(as_done(client, groups, benches.submit, REMEDY)) as outcomes:
        for group, outcome in outcomes:
            fatal = _is_fatal(outcome)
            benches.release(group, anew=fatal)
            if fatal:
                suspects.append(group)
            else:
                yield from outcome
    for group in suspects:
        yield from _by_cells(group, load, client)


def _by_cells(group: Group, load: Loader, client: Any) -> Iterator[CellResult]:
    """Compute cells alone, to see of which workers die; of two in a row it is the fold, not a method."""
    sizes, benches = dict(group.sizes), _Benches(client, load, [group] * len(group.cells))
    deaths: list[Any] = []
    for one in group.cells:
        if len(deaths) == 2:
            outcome = deaths[-1]
        else:
            single = replace(group, cells=(one,), sizes=dict(sizes))
            [(_, outcome)] = as_done(client, [single], benches.submit, REMEDY)
        fatal = _is_fatal(outcome)
        benches.release(group, anew=fatal)
        if fatal:
            deaths = [*deaths, outcome][:2]
            result = failed(one[0], WorkerDiedError(f"Dask workers died of it, perhaps for lack of memory: {outcome}"))
        else:
            deaths = []
            [result] = outcome
        sizes[result.id] = result.n_prototypes
        yield result


def _is_fatal(outcome: Any) -> bool:
    """Whether workers died of a task; what went wrong in other ways ends the run, as it would everywhere."""
    from distributed import KilledWorker

    if isinstance(outcome, Exception) and not isinstance(outcome, KilledWorker):
        raise unable(outcome) from outcome
    return isinstance(outcome, KilledWorker)


def unable(error: Exception) -> RuntimeError:
    """Return the error of workers that cannot do a task at all."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return RuntimeError(
            f"Dask gave up a task of which several workers died ({error}); they may lack memory: start workers with a "
            "larger memory limit"
        )
    return RuntimeError(
        f"the Dask workers cannot do this work: {type(error).__name__}: {error}; see that they have protoset and all "
        "that the data need, in the versions that are here"
    )


class _Benches:
    """The benches of data sets that have groups left; where the last one is done, workers may forget them.

    Parameters
    ----------
    client : distributed.Client
    load : Loader
    groups : sequence of Group
        All that will be submitted.
    """

    def __init__(self, client: Any, load: Loader, groups: Sequence[Group]):
        self._client, self._load = client, load
        self._benches: dict[str, Any] = {}
        self._left = Counter(group.source.name for group in groups)

    def submit(self, group: Group) -> Any:
        """Make a task of a group."""
        name = group.source.name
        if name not in self._benches:
            self._benches[name] = send_object(self._client, self._load.alone(group.source), Bench)
        return self._client.submit(_work, self._benches[name], group, pure=False, retries=RETRIES)

    def release(self, group: Group, anew: bool) -> None:
        """Note that a group is done; the bench of one that was given up may have been given up too."""
        name = group.source.name
        self._left[name] -= 1
        if anew or not self._left[name]:
            self._benches.pop(name, None)


class Bench:
    """A workshop on a worker. Copies for other workers, or on disk, have the way to the data and nothing else.

    Parameters
    ----------
    load : callable
        Takes a source and returns its data set.
    """

    def __init__(self, load: Any):
        self._load, self.workshop = load, Workshop(load)

    def __reduce__(self) -> Any:
        return Bench, (self._load,)


def _work(bench: Bench, group: Group) -> list[CellResult]:
    with alone():
        return [result for result in bench.workshop.work(group) if _is_wanted()]


def _is_wanted() -> bool:
    """Return True where someone waits for this task; end it otherwise, as after Ctrl-C."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    if task is not None and task.state == "cancelled":
        raise RuntimeError("nobody waits for these cells any more")
    return True


@contextmanager
def alone() -> Iterator[None]:
    """Compute in one thread, and nothing else of this kind in the same process."""
    with _ALONE, threadpool_limits(1):
        yield


def send_object(client: Any, value: Any, make: Any = None) -> Any:
    """Return the future of ``make(value)``, which Dask can make again where workers that have it are lost."""
    import cloudpickle
    import dask

    try:
        packed = cloudpickle.dumps(value)
    except Exception as error:
        raise TypeError(f"data cannot be sent to the Dask workers: {error}; leave the client out") from error
    # It is sent once for all tasks, however large it is.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1PiB"}):
        return client.submit(_unpack, packed, make, pure=False, retries=RETRIES)


def _unpack(packed: bytes, make: Any) -> Any:
    value = pickle.loads(packed)
    return value if make is None else make(value)
