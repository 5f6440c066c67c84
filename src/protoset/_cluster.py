"""Work on a Dask cluster: whose client it is, whether it can work, and tasks that end in bounded time.

Tasks hold their data or know how to make it again, so that what a lost worker had is computed elsewhere. dask and
distributed are imported only where a client or a Dask collection is at hand.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

WAIT_FOR_WORKERS, LOST_FOR = 10.0, 30.0
"""Seconds to wait for a first worker, and for another one when all are lost."""

LOOK_EVERY = 1.0
RETRIES = 3
"""How often a task that fails is tried again."""

TASK_BYTES = 4 * 2**20
"""Data that one task carries at most; Dask warns of much more."""


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
    from distributed import KilledWorker, wait
    from distributed.client import CancelledError

    last_seen = time.monotonic()
    try:
        while True:
            try:
                with client.as_current():
                    wait(futures, timeout=LOOK_EVERY)
                return client.gather(list(futures))
            except TimeoutError:
                pass
            if client.status != "running":
                raise RuntimeError(f"the Dask client is {client.status}")
            if client.scheduler_info()["workers"]:
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > LOST_FOR:
                raise RuntimeError(f"all Dask workers are lost, for more than {LOST_FOR:g} seconds")
    except KilledWorker as error:
        _cancel(client, futures)
        raise RuntimeError(
            f"Dask gave up a task of which several workers died ({error}); they may lack memory: pass smaller "
            "chunks, or start workers with a larger memory limit"
        ) from error
    except (CancelledError, RuntimeError, OSError) as error:
        _cancel(client, futures)
        raise RuntimeError(
            f"the work on the Dask cluster could not be finished: {error or type(error).__name__}; see that scheduler, "
            "workers and client are alive, and fit again"
        ) from error


def _cancel(client: Any, futures: Sequence[Any]) -> None:
    if client.status == "running":
        client.cancel(list(futures))


def gathered_labels(y: Any) -> Any:
    """Labels as an array here; there is one small value per object."""
    return np.asarray(y.compute()) if is_dask(y) else y


def map_rows(X: Any, function: Any, dtype: Any) -> Any:
    """Apply a function of rows to the blocks of a Dask collection, when it is computed."""
    rows = as_dask_rows(X)
    return rows.map_blocks(function, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype))


def as_dask_rows(X: Any) -> Any:
    """Return a Dask collection as an array whose blocks are whole rows."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if X.ndim != 2:
        raise ValueError(f"X must be a Dask array of rows with 2 dimensions, got {X.ndim}")
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    return X.rechunk({1: -1})
