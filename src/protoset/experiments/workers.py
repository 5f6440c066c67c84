"""Computing groups, in this process or in others; every result comes back as it is done.

    this process                                        a worker
    one thread per worker  -- loader, then groups -->   ``serve``
    one queue of results   <-- a result per cell --

When a worker dies, the cell it computed is recorded as failed; the other cells of its group go to a new worker.
Workers end by themselves when this process is gone, because their input ends. Each computes in one thread, and has its
own session, so that Ctrl-C reaches this process alone.
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
from protoset.experiments.cells import CellComputer, CellResult, Group, failed
from protoset.experiments.plan import Source

Load = Callable[[Source], Dataset]

GRACE = 0.5
"""Seconds between the death of a worker and its record: the same signal may be about to end this process."""

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Environment variables that limit a worker to one thread."""

WORKER_COMMAND = "from protoset.experiments.workers import serve; serve()"
"""Program of a worker."""


def compute_here(groups: Iterable[Group], load: Load) -> Iterator[CellResult]:
    """Compute groups in this process; each result comes as it is done."""
    computer = CellComputer(load)
    with threadpool_limits(1), _interruptions() as interrupted:
        for group in groups:
            for result in computer.compute(group):
                if interrupted():
                    raise KeyboardInterrupt
                yield result


@contextmanager
def _interruptions() -> Iterator[Callable[[], bool]]:
    """Remember Ctrl-C: a search that it ends returns the best set so far, which must not be stored as a result.

    The present handler of the signal is still called. If it does not raise KeyboardInterrupt, the run continues.
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

    is_handled = threading.current_thread() is threading.main_thread() and callable(before)
    if is_handled:
        signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: seen
    finally:
        if is_handled:
            signal.signal(signal.SIGINT, before)


def compute_in_processes(groups: Iterable[Group], load: Load, n_jobs: int) -> Iterator[CellResult]:
    """Compute groups in several processes; each result comes as it is done."""
    try:
        loader = pickle.dumps(wrap_non_picklable_objects(load, keep_wrapper=False))
    except Exception as error:
        raise TypeError(f"data cannot be sent to other processes: {error}; use n_jobs=1") from error
    waiting, events = deque(groups), queue.SimpleQueue()  # type: ignore[var-annotated]
    drivers = [_Driver(waiting, events, loader) for _ in range(min(n_jobs, len(waiting)))]
    n_running = len(drivers)
    try:
        while n_running:
            event = events.get()
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
    """A thread that gives groups, which all drivers share, to a worker and passes its results on.

    ``events`` gets results, an exception where the worker cannot work at all, and None at the end.
    """

    def __init__(self, waiting: deque[Group], events: queue.SimpleQueue[Any], loader: bytes):
        self._waiting, self._events, self._loader = waiting, events, loader
        self._lock, self._stopping = threading.Lock(), False
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._drive, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the worker at once, even during a cell."""
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
            self._events.put(error)
        finally:
            with self._lock:
                self._end()
            self._events.put(None)

    def _work(self, group: Group) -> None:
        """Have a group computed, by several workers if some die."""
        sizes, left, n_deaths = dict(group.sizes), list(group.cells), 0
        while left and not self._stopping:
            try:
                for result in self._ask(replace(group, cells=tuple(left), sizes=sizes)):
                    sizes[result.id] = result.n_prototypes
                    left.pop(0)
                    n_deaths = 0
                    self._events.put(result)
            except (EOFError, OSError, pickle.UnpicklingError):
                with self._lock:
                    code = self._end(patience=10)
                time.sleep(GRACE)
                if self._stopping:
                    return
                n_deaths += 1
                # Two deaths without a result between them: the fold is the reason, not a method.
                for cell, _ in left[: 1 if n_deaths == 1 else None]:
                    error = WorkerDiedError(f"the process ended with the exit code {code}, perhaps for lack of memory")
                    sizes[cell.id] = None
                    self._events.put(failed(cell, error))
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
                environment = os.environ | dict.fromkeys(THREAD_VARIABLES, "1")
                environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", WORKER_COMMAND],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                    start_new_session=True,
                )
                assert self._process.stdin is not None
                _send(self._process.stdin, self._loader)
            return self._process

    def _end(self, patience: float = 0) -> int | None:
        """Wait up to ``patience`` seconds for the process, end it, and return its exit code; None without a process."""
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
            with suppress(OSError):  # buffered input that could not be sent
                stream.close()
        return process.returncode


def _send(stream: Any, message: Any) -> None:
    pickle.dump(message, stream)
    stream.flush()


def serve() -> None:
    """Be a worker: read the loader and then groups from the standard input, write results to the standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with the results
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, inbox), daemon=True).start()
    try:
        computer = CellComputer(pickle.loads(inbox.get()))
    except Exception as error:
        _send(answers, TypeError(f"data cannot be sent to other processes: {error}; use n_jobs=1"))
        return
    with threadpool_limits(1):
        while True:
            for result in computer.compute(inbox.get()):
                _send(answers, result)
            _send(answers, None)


def _listen(stream: BinaryIO, inbox: queue.SimpleQueue[Any]) -> None:
    """Pass messages on; end the process at the end of the input, as no process waits for results any more."""
    while True:
        try:
            inbox.put(pickle.load(stream))
        except (EOFError, OSError):
            os._exit(0)
