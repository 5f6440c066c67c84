"""Calls of a function on pairs of objects, in this process, in worker processes or in threads.

    pairs -> tasks of about a quarter of a second -> outcomes in order

The first tasks run in this process. Their times decide how many workers the remaining pairs are worth, if any. The size
of the tasks and the number of workers depend on measured times; the values do not.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import reprlib
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

TASK_SECONDS = 0.25
"""Time that a task should take: much more than sending it, and little work to lose."""

WORKER_SECONDS = 1.0
"""Seconds of work that are worth another worker: about the time that starting it takes."""

LARGEST_TASK = 2**16
"""Largest number of pairs in a task."""

PARENT_SECONDS = 1.0
"""Seconds between two checks of a worker whether the process that sends its tasks is alive."""


@dataclass(frozen=True)
class Failure:
    """A pair without a dissimilarity: the exception that the function raised, or the value that it returned."""

    error: Exception | None
    returned: str = ""


@dataclass(frozen=True)
class Outcome:
    """Dissimilarities of the pairs from ``start`` on, up to the first failure."""

    start: int
    values: np.ndarray
    seconds: float
    failure: Failure | None = None


class PairEvaluator:
    """Calls a function on pairs of objects, with further arguments by keyword.

    There are at most ``n_jobs`` workers: processes where the function and the objects can be pickled, else threads.
    """

    def __init__(self, function: Callable[..., Any], arguments: Mapping[str, Any], n_jobs: int | None = 1):
        self.function, self.arguments, self.n_jobs = function, dict(arguments), n_jobs
        self._task_size = 1

    def evaluate(
        self, rows: list[Any], columns: list[Any], left: np.ndarray, right: np.ndarray, naming: tuple[str, str]
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the dissimilarities of the pairs ``rows[left]``, ``columns[right]``, some at a time and in order.

        ``naming`` are the words for the two objects of a pair in errors.
        """
        # After a failure no more tasks start, but the results of running tasks are consumed: joblib warns of results
        # that are not consumed, and a memory keeps them.
        end = [len(left)]
        failed: tuple[Failure, str] | None = None
        for outcome in self._outcomes(rows, columns, left, right, end):
            done = len(outcome.values)
            yield slice(outcome.start, outcome.start + done), outcome.values
            if outcome.failure is None:
                self._learn(done, outcome.seconds)
            elif failed is None:
                bad = outcome.start + done
                failed = outcome.failure, f"{naming[0]} {left[bad]} and {naming[1]}{right[bad]}"
                end[0] = 0
        if failed is not None:
            _raise(*failed)

    def _outcomes(
        self, rows: list[Any], columns: list[Any], left: np.ndarray, right: np.ndarray, end: list[int]
    ) -> Iterator[Outcome]:
        blocks, n_workers = self._blocks(end), 1
        for position, block in enumerate(blocks):
            outcome = self._task(rows, columns, left, right, block)()
            yield outcome
            # The first call may take longer than others, as it may compile or import something.
            if position > 0:
                n_workers = self._worthwhile(end[0] - block.stop, outcome)
            if n_workers > 1:
                break
        else:
            return
        used = [rows[i] for i in np.unique(left)] + [columns[j] for j in np.unique(right)]
        in_processes = all(_can_pickle(obj) for obj in (self.function, self.arguments, *used))
        if in_processes:
            run: Any = _run_remote
            where = {"prefer": "processes", "initializer": _end_with_sender, "initargs": (os.getpid(),)}
        else:
            run, where = Task.__call__, {"require": "sharedmem"}
        workers = Parallel(n_jobs=n_workers, batch_size=1, return_as="generator", **where)
        yield from workers(delayed(run)(self._task(rows, columns, left, right, block)) for block in blocks)

    def _worthwhile(self, n_pairs: int, outcome: Outcome) -> int:
        """Number of workers that further pairs are worth, at the speed of an outcome."""
        seconds = n_pairs * outcome.seconds / max(1, len(outcome.values))
        return min(effective_n_jobs(self.n_jobs), int(seconds / WORKER_SECONDS))

    def _blocks(self, end: list[int]) -> Iterator[slice]:
        start = 0
        while start < end[0]:
            stop = min(start + self._task_size, end[0])
            yield slice(start, stop)
            start = stop

    def _task(self, rows: list[Any], columns: list[Any], left: np.ndarray, right: np.ndarray, block: slice) -> Task:
        # Only with the objects that it needs: a task may be sent to another process.
        used_rows, i = np.unique(left[block], return_inverse=True)
        used_columns, j = np.unique(right[block], return_inverse=True)
        objects = [rows[row] for row in used_rows], [columns[column] for column in used_columns]
        return Task(self.function, self.arguments, block.start, *objects, i.tolist(), j.tolist())

    def _learn(self, n_pairs: int, seconds: float) -> None:
        wanted = n_pairs * TASK_SECONDS / max(seconds, 1e-9)
        self._task_size = int(max(1, min(wanted, 2 * self._task_size, LARGEST_TASK)))


@dataclass(frozen=True)
class Task:
    """Pairs ``rows[i]``, ``columns[j]`` to call a function on."""

    function: Callable[..., Any]
    arguments: dict[str, Any]
    start: int
    rows: list[Any]
    columns: list[Any]
    i: list[int]
    j: list[int]

    def __call__(self) -> Outcome:
        """Call the function on each pair in turn."""
        began, values = time.perf_counter(), np.empty(len(self.i))
        for position, (i, j) in enumerate(zip(self.i, self.j, strict=True)):
            try:
                returned = self.function(self.rows[i], self.columns[j], **self.arguments)
            except Exception as error:
                return Outcome(self.start, values[:position], 0.0, Failure(error))
            values[position] = as_dissimilarity(returned)
            if math.isnan(values[position]):
                return Outcome(self.start, values[:position], 0.0, Failure(None, _shown(returned)))
        return Outcome(self.start, values, time.perf_counter() - began)


def as_dissimilarity(returned: Any) -> float:
    """Convert the result of a function to float; NaN where it is not a finite number of at least 0."""
    if isinstance(returned, (str, bytes, bytearray)) or returned is np.ma.masked:
        return math.nan
    if isinstance(returned, np.ndarray):
        returned = returned.item() if returned.size == 1 else None
    try:
        number = float(returned)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if 0 <= number < math.inf else math.nan


def _shown(returned: Any) -> str:
    return reprlib.repr(returned.item() if isinstance(returned, np.generic) else returned)


def _raise(failure: Failure, pair: str) -> None:
    if failure.error is None:
        raise ValueError(
            f"metric returned {failure.returned} for {pair}; a dissimilarity must be a finite number of at least 0"
        )
    raise RuntimeError(f"metric raised {type(failure.error).__name__} for {pair}: {failure.error}") from failure.error


def _run_remote(task: Task) -> Outcome:
    """Run a task so that its outcome can be sent back, with the lines where the function failed."""
    outcome = task()
    error = None if outcome.failure is None else outcome.failure.error
    if error is None:
        return outcome
    lines = "".join(traceback.format_exception(error))
    if not _survives_pickle(error):
        error = RuntimeError(str(error))
    error.add_note(f"In the worker:\n{lines}")
    return Outcome(outcome.start, outcome.values, outcome.seconds, Failure(error))


def _end_with_sender(sender: int) -> None:
    """End this process soon after the process that sends tasks was killed, if that process is its parent.

    Otherwise a worker of joblib would wait for further tasks, for five minutes.
    """

    def watch() -> None:
        while os.getppid() == sender:
            time.sleep(PARENT_SECONDS)
        os._exit(1)

    parent = multiprocessing.parent_process()
    if os.name == "posix" and parent is not None and parent.pid == sender:
        threading.Thread(target=watch, daemon=True).start()


def _can_pickle(obj: Any) -> bool:
    # Objects may raise any exception here; then threads are used.
    try:
        pickle.dumps(obj)
    except Exception:
        return False
    return True


def _survives_pickle(error: Exception) -> bool:
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:
        return False
