"""Computing groups, here or in other processes; every cell comes back as it is done.

    this process                                        a worker
    one thread per worker  -- loader, then groups -->   ``serve``
    one queue of results   <-- a result per cell --

A worker that dies takes one cell with it, which is recorded as failed; the others of its group go to a new worker.
Workers end by themselves when this process is gone, as their input ends. They compute in one thread each, and have a
session of their own so that Ctrl-C reaches this process alone.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType
from typing import Any, BinaryIO

from joblib import wrap_non_picklable_objects
from threadpoolctl import threadpool_limits

from protoset.datasets import Dataset
from protoset.exceptions import WorkerDiedError
from protoset.experiments.cells import CellResult, Group, Workshop, failed
from protoset.experiments.plan import Source

Load = Callable[[Source], Dataset]

GRACE = 0.5
"""Seconds between the end of a worker and recording it: who ended it may be about to end this process as well."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
COMMAND = "from protoset.experiments.workers import serve; serve()"


def compute(groups: Iterable[Group], load: Load, n_jobs: int) -> Iterator[CellResult]:
    """Compute groups, and return the result of each cell as it is done."""
    return _here(groups, load) if n_jobs == 1 else _in_processes(groups, load, n_jobs)


def _here(groups: Iterable[Group], load: Load) -> Iterator[CellResult]:
    workshop = Workshop(load)
    with threadpool_limits(1), _interruptions() as interrupted:
        for group in groups:
            for result in workshop.work(group):
                if interrupted():
                    raise KeyboardInterrupt
                yield result


@contextmanager
def _interruptions() -> Iterator[Callable[[], bool]]:
    """Remember Ctrl-C: searches end early at it and return the best so far, which is no result to keep.

    Whatever handler there is goes on doing its work; one that does not interrupt, interrupts nothing here.
    """
    seen, before = False, signal.getsignal(signal.SIGINT)

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        assert callable(before)
        try:
            before(number, frame)
        except KeyboardInterrupt:
            seen = True
            raise

    is_ours = threading.current_thread() is threading.main_thread() and callable(before)
    if is_ours:
        signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: seen
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, before)


def _in_processes(groups: Iterable[Group], load: Load, n_jobs: int) -> Iterator[CellResult]:
    try:
        loader = pickle.dumps(wrap_non_picklable_objects(load, keep_wrapper=False))
    except Exception as error:
        raise TypeError(f"data cannot be sent to other processes: {error}; use n_jobs=1") from error
    waiting, found = deque(groups), queue.SimpleQueue()  # type: ignore[var-annotated]
    drivers = [_Driver(waiting, found, loader) for _ in range(min(n_jobs, len(waiting)))]
    n_running = len(drivers)
    try:
        while n_running:
            event = found.get()
            if event is None:
                n_running -= 1
            elif isinstance(event, BaseException):
                raise event
            else:
                yield event
    finally:
        for driver in drivers:
            driver.stop()


class _Driver:
    """A thread that gives groups to a worker and passes its results on.

    Parameters
    ----------
    waiting : deque of Group
        Shared by all drivers.
    found : SimpleQueue
        Gets results, an exception where the worker cannot work at all, and None at the end.
    loader : bytes
        The function that loads data.
    """

    def __init__(self, waiting: deque[Group], found: queue.SimpleQueue[Any], loader: bytes):
        self._waiting, self._found, self._loader = waiting, found, loader
        self._lock, self._stopping = threading.Lock(), False
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._drive, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the worker, whatever it is doing."""
        with self._lock:
            self._stopping = True
            self._end()
        self._thread.join()

    def _drive(self) -> None:
        try:
            while self._waiting and not self._stopping:
                try:
                    group = self._waiting.popleft()
                except IndexError:  # another driver was faster
                    break
                self._work(group)
        except BaseException as error:
            self._found.put(error)
        finally:
            with self._lock:
                self._end()
            self._found.put(None)

    def _work(self, group: Group) -> None:
        """Have a group computed, by several workers if some die."""
        sizes, left, n_deaths = dict(group.sizes), list(group.cells), 0
        while left and not self._stopping:
            try:
                for result in self._ask(replace(group, cells=tuple(left), sizes=sizes)):
                    sizes[result.id] = result.n_prototypes
                    left.pop(0)
                    n_deaths = 0
                    self._found.put(result)
            except (EOFError, OSError, pickle.UnpicklingError):
                with self._lock:
                    code = self._end(patience=10)
                time.sleep(GRACE)
                if self._stopping:
                    return
                n_deaths += 1
                # Twice without a result in between: it is the fold, not a method.
                for cell, _ in left[: 1 if n_deaths == 1 else None]:
                    error = WorkerDiedError(f"the process ended with the exit code {code}, perhaps for lack of memory")
                    sizes[cell.id] = None
                    self._found.put(failed(cell, error))
                left = left[1 if n_deaths == 1 else len(left) :]

    def _ask(self, group: Group) -> Iterator[CellResult]:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        _send(process.stdin, group)
        while (answer := pickle.load(process.stdout)) is not None:
            if isinstance(answer, BaseException):
                raise answer
            yield answer

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopping:
                raise EOFError
            if self._process is None:
                environment = os.environ | dict.fromkeys(THREADS, "1")
                environment["PYTHONPATH"] = os.pathsep.join(place or os.getcwd() for place in sys.path)
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", COMMAND],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                    start_new_session=True,
                )
                assert self._process.stdin is not None
                _send(self._process.stdin, self._loader)
            return self._process

    def _end(self, patience: float = 0) -> int | None:
        """End the process, if there is one and it has not ended within some seconds; return its exit code."""
        if self._process is None:
            return None
        process, self._process = self._process, None
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with suppress(OSError):  # what could not be sent any more
                stream.close()
        return process.returncode


def _send(stream: Any, message: Any) -> None:
    pickle.dump(message, stream)
    stream.flush()


def serve() -> None:
    """Be a worker: read the loader and then groups from the standard input, write results to the standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print does not belong between the results
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, inbox), daemon=True).start()
    try:
        workshop = Workshop(pickle.loads(inbox.get()))
    except Exception as error:
        _send(answers, TypeError(f"data cannot be sent to other processes: {error}; use n_jobs=1"))
        return
    with threadpool_limits(1):
        while True:
            for result in workshop.work(inbox.get()):
                _send(answers, result)
            _send(answers, None)


def _listen(stream: BinaryIO, inbox: queue.SimpleQueue[Any]) -> None:
    """Pass messages on; at the end of the input nobody waits for results any more."""
    while True:
        try:
            inbox.put(pickle.load(stream))
        except (EOFError, OSError):
            os._exit(0)
