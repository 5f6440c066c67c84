"""Work on a Dask cluster: finding and checking the client, sending tasks, and fetching results in bounded time.

Tasks hold their data or can compute it again, so that the results of a lost worker are computed elsewhere. dask and
distributed are imported only if there is a client or a Dask collection.
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

from protoset._extras import how_to_install

WAIT_FOR_SCHEDULER = 9.0
"""Seconds to wait for the scheduler to answer."""

WAIT_FOR_WORKERS = 10.0
"""Seconds to wait for the first worker."""

LOST_FOR = 30.0
"""Seconds to wait for a new worker when all workers are lost."""

LOOK_EVERY = 1.0
"""Seconds between two looks at the cluster during a wait."""

RETRIES = 3
"""Number of times that a failed task is tried again."""

TASK_BYTES = 4 * 2**20
"""Most data that one task carries; Dask warns of larger tasks."""

IN_FLIGHT = 2
"""Tasks per worker that are sent before their results come: enough to keep workers busy, few enough to stop soon."""

Job = TypeVar("Job")


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array or DataFrame, without importing Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


def resolve_client(client: Any, X: Any = None) -> Any:
    """Return the Dask client to work on, or None.

    The given client; else the client of ``joblib.parallel_config("dask")``; else, for a Dask collection, the current
    client.
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
                "X is a Dask collection, but there is no Dask client; pass client=..., or create one with "
                "distributed.Client()"
            ) from error
    if client is not None:
        check_client(client)
    return client


def connect(address: str) -> Any:
    """Return a client of the scheduler at an address such as "tcp://host:8786", or fail in bounded time."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            f"a Dask cluster needs distributed, which is not installed; {how_to_install('dask')}"
        ) from error
    # Try the connection first: a client that cannot connect takes long to close, and logs errors.
    outcomes: list[Exception | None] = []
    attempt = Thread(target=lambda: outcomes.append(_try_connection(address)), daemon=True)
    attempt.start()
    attempt.join(WAIT_FOR_SCHEDULER + 1)
    failure = outcomes[0] if outcomes else TimeoutError("no answer from a scheduler")
    if isinstance(failure, ValueError):
        raise ValueError(
            f"cluster={address!r} is not an address: {failure}; pass for example tcp://host:8786"
        ) from failure
    if failure is not None:
        raise RuntimeError(
            f"no Dask scheduler could be reached at {address!r}: {failure}; check that the scheduler runs (dask "
            "scheduler), and pass the address that it prints"
        ) from failure
    return Client(address, timeout=WAIT_FOR_SCHEDULER, set_as_default=False)


def _try_connection(address: str) -> Exception | None:
    """Return the error of a connection to the scheduler, or None."""
    from distributed.comm import connect
    from distributed.security import Security

    async def ask() -> None:
        arguments = Security().get_connection_args("client")
        comm = await connect(address, timeout=WAIT_FOR_SCHEDULER, **arguments)
        await comm.close()

    try:
        asyncio.run(ask())
    except Exception as error:  # another program may answer anything
        return error
    return None


def check_client(client: Any) -> None:
    """Raise an error for an object that is not a client, is closed, or has no workers."""
    if not all(hasattr(client, name) for name in ("submit", "scheduler_info", "wait_for_workers")):
        raise TypeError(f"client={client!r} is not a Dask client; pass a distributed.Client")
    if getattr(client, "asynchronous", False):
        raise TypeError("client is asynchronous; create a client with distributed.Client(asynchronous=False)")
    if client.status != "running":
        raise RuntimeError(f"the Dask client is {client.status}; connect a new one with distributed.Client(address)")
    try:
        client.wait_for_workers(1, timeout=WAIT_FOR_WORKERS)
    except TimeoutError as error:
        raise RuntimeError(
            f"the Dask cluster has no workers after {WAIT_FOR_WORKERS:g} seconds; start some, for example with "
            "cluster.scale(2)"
        ) from error


def submit(client: Any, function: Any, *arguments: Any, priority: int = 0) -> Any:
    """Submit a task, which is computed again from its arguments if its result is lost."""
    return client.submit(function, *arguments, pure=False, retries=RETRIES, priority=priority)


def submit_each(client: Any, function: Any, *columns: Sequence[Any], priority: int = 0) -> list[Any]:
    """Submit a task per row of arguments, at a third of the cost of single calls of ``submit``."""
    return client.map(function, *columns, pure=False, retries=RETRIES, priority=priority)


def reduce_pairs(client: Any, function: Any, futures: Sequence[Any], *, priority: int = 0) -> Any:
    """Combine results in pairs on the workers, until one is left; always in the same order."""
    joined = list(futures)
    while len(joined) > 1:
        pairs = zip(joined[::2], joined[1::2], strict=False)
        last = [joined[-1]] if len(joined) % 2 else []
        joined = [submit(client, function, a, b, priority=priority) for a, b in pairs] + last
    return joined[0]


def send(client: Any, array: np.ndarray) -> Any:
    """Send an array as the result of tasks that carry its pieces, so that a lost worker does not lose it."""
    pieces = [submit(client, _itself, piece) for piece in cut_rows(array)]
    return pieces[0] if len(pieces) == 1 else submit(client, _join, *pieces)


def cut_rows(array: np.ndarray) -> list[np.ndarray]:
    """Return blocks of consecutive rows that a task can carry; copies, which do not keep the whole array alive."""
    step = max(1, TASK_BYTES // max(1, array[:1].nbytes))
    return [array[start : start + step].copy() for start in range(0, max(1, len(array)), step)]


def _itself(array: np.ndarray) -> np.ndarray:
    return array


def _join(*pieces: np.ndarray) -> np.ndarray:
    return np.concatenate(pieces)


def gather(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Fetch the results of tasks, or raise one clear error if the cluster is lost.

    If one worker is lost, Dask gives its tasks to other workers.
    """
    from distributed import KilledWorker

    try:
        with _explained("fit again"):
            return _fetch(client, futures)
    except _FailedTaskError as failed:
        cancel(client, futures)
        if not isinstance(failed.error, KilledWorker):
            raise failed.error from None  # an error of the computation, not of the cluster
        raise RuntimeError(
            f"several Dask workers died on the same task ({failed.error}), probably for lack of memory; pass smaller "
            "chunks, or start workers with a larger memory limit"
        ) from failed.error
    except BaseException:  # also Ctrl-C
        cancel(client, futures)
        raise


class _FailedTaskError(Exception):
    """A task failed with an error of its own; the cluster works."""

    def __init__(self, error: BaseException):
        super().__init__(str(error))
        self.error = error


def _fetch(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Fetch results in one transfer, which may take long; give up if the cluster is lost."""
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
    """Wait for a transfer, at most LOOK_EVERY seconds."""
    if not wait_for([fetching], timeout=LOOK_EVERY).done:
        raise TimeoutError


def as_done(
    client: Any, jobs: Iterable[Job], submit: Callable[[Job], Any], remedy: str
) -> Generator[tuple[Job, Any], None, None]:
    """Run jobs as tasks, a few at a time, and yield each job with its outcome as soon as it is done.

    The outcome is the result, or the exception with which Dask gave up the task. The remaining tasks are cancelled if
    the caller stops or is interrupted. The remedy ends the error message if the cluster is lost.
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
    """Fetch a result. A timeout means that its workers are lost; then it is computed again."""
    return future.exception(LOST_FOR) if future.status == "error" else future.result(LOST_FOR)


def _patiently(client: Any, attempt: Callable[[], Any]) -> Any:
    """Repeat an attempt that timed out, until the client is closed or all workers are lost for too long."""
    last_seen = time.monotonic()
    while True:
        try:
            with client.as_current():  # ``wait`` uses the current client, which may be another one
                return attempt()
        except TimeoutError:
            pass
        _check_running(client)
        if client.scheduler_info()["workers"]:
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > LOST_FOR:
            raise RuntimeError(f"all Dask workers have been lost for more than {LOST_FOR:g} seconds")


def _check_running(client: Any) -> None:
    if client.status != "running":
        raise RuntimeError(f"the Dask client is {client.status}")


@contextmanager
def _explained(remedy: str) -> Iterator[None]:
    """Turn the many errors of a lost cluster into one clear error."""
    from distributed import KilledWorker
    from distributed.client import CancelledError

    try:
        yield
    except KilledWorker:
        raise
    except (CancelledError, RuntimeError, OSError) as error:
        what = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, CancelledError):  # its message lists all tasks on several lines
            what = "its tasks were cancelled, perhaps because the connection to the scheduler was lost"
        raise RuntimeError(
            f"the work on the Dask cluster could not be finished: {what}; check that scheduler, workers and client are "
            f"running, and {remedy}"
        ) from error


def cancel(client: Any, futures: Sequence[Any]) -> None:
    """Cancel tasks, if the cluster is still there."""
    if futures and client.status == "running":
        with suppress(OSError, RuntimeError, TimeoutError):
            client.cancel(list(futures))


def gathered_labels(y: Any, client: Any = None) -> Any:
    """Return labels as a local array; Dask labels are computed, by the client if there is one."""
    if not is_dask(y):
        return y
    return np.asarray(y.compute() if client is None else gather(client, [client.compute(y, retries=RETRIES)])[0])


def map_rows(X: Any, function: Any, dtype: Any) -> Any:
    """Return a lazy Dask array: a function of rows, applied to the blocks of a Dask collection."""
    rows = as_dask_rows(X)
    return rows.map_blocks(partial(_of_some, function, dtype), dtype=dtype, drop_axis=1, meta=np.empty(0, dtype))


def _of_some(function: Any, dtype: Any, rows: Any) -> Any:
    """Apply a function to rows; after a filter a block may have no rows."""
    return function(rows) if len(rows) else np.empty(0, dtype)


def column_names_of(X: Any) -> Any:
    """Return an object with the column names of X: an empty frame for a Dask DataFrame, else X itself."""
    return X._meta if is_dask(X) and hasattr(X, "columns") else X


def as_dask_rows(X: Any, client: Any = None) -> Any:
    """Return a Dask collection as an array whose blocks hold whole rows; the client counts rows if that is needed."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array()
    if not hasattr(X, "ndim"):
        raise TypeError(f"X is a {type(X).__name__}; pass a Dask array of rows, or a Dask DataFrame")
    if X.ndim != 2:
        raise ValueError(f"X must be a Dask array of rows with 2 dimensions, got {X.ndim}")
    if np.isnan(X.shape).any():
        X = X.compute_chunk_sizes() if client is None else _measured(X, client)
    return X.rechunk({1: -1})


def _measured(X: Any, client: Any) -> Any:
    """Return a Dask array with its number of rows, which the client computes block by block."""
    from dask import array, delayed

    blocks = X.to_delayed()
    shapes = gather(client, client.compute([delayed(np.shape)(block) for block in blocks.ravel()], retries=RETRIES))
    sizes = np.array(shapes, np.int64).reshape(*blocks.shape, 2)
    chunks = tuple(sizes[:, 0, 0].tolist()), tuple(sizes[0, :, 1].tolist())
    return array.Array(X.dask, X.name, chunks, meta=X)
