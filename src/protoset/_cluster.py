"""Work on a Dask cluster: whose client it is, whether it can work, and tasks that end in bounded time.

Tasks hold their data or know how to make it again, so that what a lost worker had is computed elsewhere. dask and
distributed are imported only where a client or a Dask collection is at hand.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from threading import Thread
from typing import Any, TypeVar

import numpy as np

WAIT_FOR_SCHEDULER, WAIT_FOR_WORKERS, LOST_FOR = 9.0, 10.0, 30.0
"""Seconds to wait for a scheduler, for a first worker, and for another one when all are lost."""

LOOK_EVERY = 1.0
RETRIES = 3
"""How often a task that fails is tried again."""

TASK_BYTES = 4 * 2**20
"""Data that one task carries at most; Dask warns of much more."""

IN_FLIGHT = 2
"""Tasks per worker that are sent ahead of their results: enough to keep it busy, few enough to stop soon."""

Job = TypeVar("Job")


def is_dask(X: Any) -> bool:
    """Whether something is a Dask array or DataFrame; asks for no import of Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


def resolve_client(client: Any, X: Any = None) -> Any:
    """Return the Dask client to work on, or None.

    The one given; else that of ``joblib.parallel_config("dask")``; else, for a Dask collection, the current one.
    """
    if client is None and "distributed" in sys.modules:
        from joblib.parallel import get_active_backend

        client = getattr(get_active_backend()[0], "client", None)
    if client is None and is_dask(X):
        from distributed import default_client

        try:
            client = default_client()
        except ValueError as error:
            raise ValueError(
                "X is a Dask collection, and there is no Dask client to work on it; pass client=..., or make one with "
                "distributed.Client()"
            ) from error
    if client is not None:
        check_client(client)
    return client


def connect(address: str) -> Any:
    """Return a client of the scheduler at an address, such as "tcp://host:8786"; in bounded time."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("a Dask cluster needs distributed; run pip install 'protoset[dask]'") from error
    # A client that does not get through takes long to end, and complains; so does a port that is not Dask's.
    said: list[Exception | None] = []
    asking = Thread(target=lambda: said.append(_knock(address)), daemon=True)
    asking.start()
    asking.join(WAIT_FOR_SCHEDULER + 1)
    wrong = said[0] if said else TimeoutError("it does not answer as a scheduler does")
    if isinstance(wrong, ValueError):
        raise ValueError(f"cluster={address!r} is no address: {wrong}; write one such as tcp://host:8786") from wrong
    if wrong is not None:
        raise RuntimeError(
            f"no Dask scheduler could be reached at {address!r}: {wrong}; see that it runs (dask scheduler) and that "
            "the address is the one it shows"
        ) from wrong
    return Client(address, timeout=WAIT_FOR_SCHEDULER, set_as_default=False)


def _knock(address: str) -> Exception | None:
    """Say what is wrong with the scheduler at an address, if anything is."""
    import asyncio

    from distributed.comm import connect
    from distributed.security import Security

    async def ask() -> None:
        arguments = Security().get_connection_args("client")
        comm = await connect(address, timeout=WAIT_FOR_SCHEDULER, **arguments)
        await comm.close()

    try:
        asyncio.run(ask())
    except Exception as error:  # whatever a stranger's answer leads to
        return error
    return None


def check_client(client: Any) -> None:
    """Refuse what is no client, is closed, or has no workers."""
    if not all(hasattr(client, name) for name in ("submit", "scheduler_info", "wait_for_workers")):
        raise TypeError(f"client={client!r} is not a Dask client; pass a distributed.Client")
    if getattr(client, "asynchronous", False):
        raise TypeError("client must not be asynchronous; make one with distributed.Client(asynchronous=False)")
    if client.status != "running":
        raise RuntimeError(f"the Dask client is {client.status}; connect a new one with distributed.Client(address)")
    try:
        client.wait_for_workers(1, timeout=WAIT_FOR_WORKERS)
    except TimeoutError as error:
        raise RuntimeError(
            f"the Dask cluster has no workers, also after {WAIT_FOR_WORKERS:g} seconds; start some, for example with "
            "cluster.scale(2)"
        ) from error


def submit(client: Any, function: Any, *arguments: Any, priority: int = 0) -> Any:
    """Make a task of its own, which is done again from its arguments where its result is lost."""
    return client.submit(function, *arguments, pure=False, retries=RETRIES, priority=priority)


def submit_each(client: Any, function: Any, *columns: Sequence[Any], priority: int = 0) -> list[Any]:
    """Make a task of every row of arguments; a third of the cost of one after the other."""
    return client.map(function, *columns, pure=False, retries=RETRIES, priority=priority)


def reduce_pairs(client: Any, function: Any, futures: Sequence[Any], *, priority: int = 0) -> Any:
    """Join results two by two, and these again, on the workers; always in the same order."""
    joined = list(futures)
    while len(joined) > 1:
        pairs = zip(joined[::2], joined[1::2], strict=False)
        last = [joined[-1]] if len(joined) % 2 else []
        joined = [submit(client, function, a, b, priority=priority) for a, b in pairs] + last
    return joined[0]


def send(client: Any, array: np.ndarray) -> Any:
    """Make an array the result of tasks that carry it in pieces, so that no worker is the only one to have it."""
    pieces = [submit(client, _itself, piece) for piece in cut_rows(array)]
    return pieces[0] if len(pieces) == 1 else submit(client, _join, *pieces)


def cut_rows(array: np.ndarray) -> list[np.ndarray]:
    """Consecutive rows of an array, as many as a task carries; copies, which keep nothing else alive."""
    step = max(1, TASK_BYTES // max(1, array[:1].nbytes))
    return [array[start : start + step].copy() for start in range(0, max(1, len(array)), step)]


def _itself(array: np.ndarray) -> np.ndarray:
    return array


def _join(*pieces: np.ndarray) -> np.ndarray:
    return np.concatenate(pieces)


def gather(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Bring the results of tasks here; one clear error where the cluster cannot give them any more.

    A worker that is lost is survived: Dask gives its tasks to others.
    """
    from distributed import KilledWorker

    try:
        with _explained("fit again"):
            return _fetch(client, futures)
    except _FailedTaskError as failed:
        cancel(client, futures)
        if not isinstance(failed.error, KilledWorker):
            raise failed.error from None  # the objects', or what computes them
        raise RuntimeError(
            f"Dask gave up a task of which several workers died ({failed.error}); they may lack memory: pass smaller "
            "chunks, or start workers with a larger memory limit"
        ) from failed.error
    except BaseException:  # also where the user interrupts
        cancel(client, futures)
        raise


class _FailedTaskError(Exception):
    """A task ended with an error of its own; nothing is wrong with the cluster."""

    def __init__(self, error: BaseException):
        super().__init__(str(error))
        self.error = error


def _fetch(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Bring results here in one transfer, which may take long, but is given up where the cluster is lost."""
    transfer = client.gather(list(futures), asynchronous=True)
    fetching = asyncio.run_coroutine_threadsafe(transfer, client.loop.asyncio_loop)
    try:
        _patiently(client, partial(_await, fetching))
        error = fetching.exception()
        if error is not None and any(future.status == "error" for future in futures):
            raise _FailedTaskError(error)
        return fetching.result()
    finally:
        fetching.cancel()


def _await(fetching: Future[Any]) -> None:
    """Wait a little for a transfer."""
    if not wait_for([fetching], timeout=LOOK_EVERY).done:
        raise TimeoutError


def as_done(
    client: Any, jobs: Iterable[Job], submit: Callable[[Job], Any], remedy: str
) -> Generator[tuple[Job, Any], None, None]:
    """Have jobs done as tasks, a few at a time, and return each with what became of it, as it is done.

    What is not done is cancelled where the caller wants no more, or is interrupted.

    Parameters
    ----------
    client : distributed.Client
    jobs : iterable
    submit : callable
        Makes a future of a job.
    remedy : str
        What to do when the cluster cannot go on, in the words of an error.

    Yields
    ------
    job, outcome
        The result, or the exception that Dask gave the task up with.
    """
    from distributed import wait

    waiting = iter(jobs)
    pending: dict[str, tuple[Job, Any]] = {}
    try:
        while True:
            with _explained(remedy):
                _check_running(client)
                room = IN_FLIGHT * max(1, len(client.nthreads())) - len(pending)
                for job in islice(waiting, max(0, room)):
                    future = submit(job)
                    pending[future.key] = job, future
                if not pending:
                    return
                futures = [future for _, future in pending.values()]
                some = partial(wait, futures, timeout=LOOK_EVERY, return_when="FIRST_COMPLETED")
                done = _patiently(client, some).done
            for future in done:
                with _explained(remedy):
                    outcome = _patiently(client, partial(_outcome, future))
                yield pending.pop(future.key)[0], outcome
    finally:
        cancel(client, [future for _, future in pending.values()])


def _outcome(future: Any) -> Any | Exception:
    """Bring a result here; time runs out only where its workers are lost, and then it is computed again."""
    return future.exception(LOST_FOR) if future.status == "error" else future.result(LOST_FOR)


def _patiently(client: Any, attempt: Callable[[], Any]) -> Any:
    """Try again what has run out of time, as long as there is hope."""
    last_seen = time.monotonic()
    while True:
        try:
            with client.as_current():  # ``wait`` asks the current client, which may be another one
                return attempt()
        except TimeoutError:
            pass
        _check_running(client)
        if client.scheduler_info()["workers"]:
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > LOST_FOR:
            raise RuntimeError(f"all Dask workers are lost, for more than {LOST_FOR:g} seconds")


def _check_running(client: Any) -> None:
    if client.status != "running":
        raise RuntimeError(f"the Dask client is {client.status}")


@contextmanager
def _explained(remedy: str) -> Iterator[None]:
    """Make one clear error of what a cluster that goes away leaves."""
    from distributed import KilledWorker
    from distributed.client import CancelledError

    try:
        yield
    except KilledWorker:
        raise
    except (CancelledError, RuntimeError, OSError) as error:
        what = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, CancelledError):  # which lists all tasks, on several lines
            what = "its tasks were cancelled, as when the connection to the scheduler is lost"
        raise RuntimeError(
            f"the work on the Dask cluster could not be finished: {what}; see that scheduler, workers and client are "
            f"alive, and {remedy}"
        ) from error


def cancel(client: Any, futures: Sequence[Any]) -> None:
    """Tell the cluster, if it is there, that nobody waits for tasks any more."""
    if futures and client.status == "running":
        with suppress(OSError, RuntimeError, TimeoutError):
            client.cancel(list(futures))


def gathered_labels(y: Any, client: Any = None) -> Any:
    """Labels as an array here, by a client if there is one; there is one small value per object."""
    if not is_dask(y):
        return y
    return np.asarray(y.compute() if client is None else gather(client, [client.compute(y, retries=RETRIES)])[0])


def map_rows(X: Any, function: Any, dtype: Any) -> Any:
    """Apply a function of rows to the blocks of a Dask collection, when it is computed."""
    rows = as_dask_rows(X)
    return rows.map_blocks(partial(_of_some, function, dtype), dtype=dtype, drop_axis=1, meta=np.empty(0, dtype))


def _of_some(function: Any, dtype: Any, rows: Any) -> Any:
    """Apply a function to rows, if there are any: a filter may leave none of a block."""
    return function(rows) if len(rows) else np.empty(0, dtype)


def column_names_of(X: Any) -> Any:
    """What has the column names of some objects: of a Dask DataFrame an empty frame, else the objects themselves."""
    return X._meta if is_dask(X) and hasattr(X, "columns") else X


def as_dask_rows(X: Any, client: Any = None) -> Any:
    """Return a Dask collection as an array whose blocks are whole rows; a client, if there is one, counts them."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array()
    if not hasattr(X, "ndim"):
        raise TypeError(f"X is a {type(X).__name__}; of Dask's collections pass an array of rows, or a DataFrame")
    if X.ndim != 2:
        raise ValueError(f"X must be a Dask array of rows with 2 dimensions, got {X.ndim}")
    if np.isnan(X.shape).any():
        X = X.compute_chunk_sizes() if client is None else _measured(X, client)
    return X.rechunk({1: -1})


def _measured(X: Any, client: Any) -> Any:
    """Return a Dask array of unknown size as one of known size; its blocks are computed by a client."""
    from dask import array, delayed

    blocks = X.to_delayed()
    shapes = gather(client, client.compute([delayed(np.shape)(block) for block in blocks.ravel()], retries=RETRIES))
    sizes = np.array(shapes, np.int64).reshape(*blocks.shape, 2)
    chunks = tuple(sizes[:, 0, 0].tolist()), tuple(sizes[0, :, 1].tolist())
    return array.Array(X.dask, X.name, chunks, meta=X)
