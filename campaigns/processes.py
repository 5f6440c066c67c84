"""Processes that run cases, and the parent that watches them.

    parent                         worker
      batch (part, seed, cases) ──▶  draws a line
      note the line, the time  ◀──  line
                                     runs it
      count the outcome        ◀──  outcome
      ...                            ...

The parent knows the line before it runs: it kills a worker that takes too long, or sees that it died, and starts
another one, which draws the same lines again and goes on after that line.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path

from campaigns.outcomes import CRASH, HANG, WRONG, Outcome

LIMIT_SECONDS = 60.0
"""Seconds after which a case counts as a hang. A first call may compile kernels."""

CASE_BYTES = 500 * 2**20
"""Memory by which one case may raise the peak of its process."""

BATCH_CASES = 600
"""Number of cases in a round. A round has one batch per part, each with a seed of its own."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Environment of the workers: cases are small, and threads would only wait for each other."""


@dataclass(frozen=True)
class Batch:
    """Cases to run: ``count`` lines of a part, of which the first ``skip`` are drawn but not run.

    If ``lines`` are given, they are run instead of drawn lines.
    """

    part: str
    seed: int = 0
    count: int = 0
    skip: int = 0
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """A case that was run."""

    part: str
    line: str
    outcome: Outcome
    cpu_seconds: float
    peak_bytes: int


def batch_of(part: str, seed: int, number: int, count: int = BATCH_CASES) -> Batch:
    """Return a batch of a campaign: its seed depends on the part, the campaign's seed and its number."""
    return Batch(part, zlib.crc32(f"{part} {seed} {number}".encode()), count)


def run_batches(
    batches: Iterable[Batch], n_processes: int, *, seconds: float | None = None, limit: float = LIMIT_SECONDS
) -> Iterator[Report]:
    """Run batches in processes, and yield every case; end after some seconds if given.

    A case that takes longer than ``limit`` seconds is a hang.
    """
    end = None if seconds is None else time.monotonic() + seconds
    queue = iter(batches)
    # Workers are killed and cannot remove their files; the parent removes them.
    folder = tempfile.TemporaryDirectory(prefix="protoset-fuzz-", ignore_cleanup_errors=True)
    workers = [_Worker(folder.name) for _ in range(n_processes)]
    try:
        busy = [worker for worker in workers if worker.take(next(queue, None))]
        while busy and (end is None or time.monotonic() < end):
            wait([worker.connection for worker in busy], timeout=1)
            for worker in busy:
                yield from worker.reports(limit)
                if worker.batch is None:
                    worker.take(next(queue, None))
            busy = [worker for worker in busy if worker.batch is not None]
    finally:
        for worker in workers:
            worker.stop()
        folder.cleanup()


class _Worker:
    """A process, the batch that it works on, and the line that it runs."""

    def __init__(self, folder: str) -> None:
        self.batch: Batch | None = None
        self._folder = folder
        self._start()

    def _start(self) -> None:
        self._line, self._since, self._done = "", time.monotonic(), 0
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs,), daemon=True)
        before = dict(os.environ)
        os.environ.update(ONE_THREAD, TMPDIR=self._folder)
        try:
            self._process.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        theirs.close()

    def take(self, batch: Batch | None) -> bool:
        """Give the worker something to do; return whether there is something."""
        self.batch, self._line, self._done = batch, "", 0
        if batch is not None:
            self._done, self._since = batch.skip, time.monotonic()
            self.connection.send(batch)
        return batch is not None

    def reports(self, limit: float) -> Iterator[Report]:
        """Yield the cases that ended; a worker that hangs or died is replaced."""
        assert self.batch is not None
        try:
            while self.connection.poll():
                message = self.connection.recv()
                if message is None:
                    self.batch = None
                    return
                if isinstance(message, str):
                    self._line, self._since = message, time.monotonic()
                    continue
                outcome, cpu_seconds, peak = message
                self._done += 1
                report = Report(self.batch.part, self._line, outcome, cpu_seconds, peak)
                self._line = ""
                yield report
        except (EOFError, OSError):
            self._process.join(5)
            if not self._line:
                code = self._process.exitcode
                raise RuntimeError(f"a process died between cases, exit code {code}:\n{self._last_words()}") from None
            yield self._lost(Outcome(CRASH, f"exit code {self._process.exitcode}", "the process died"))
            return
        if self._line and self._waited() > limit:
            yield self._lost(Outcome(HANG, self._line.partition("(")[0], f"longer than {limit:g} s"))

    def _last_words(self) -> str:
        path = Path(self._folder, str(self._process.pid))
        return path.read_text() if path.exists() else ""

    def _waited(self) -> float:
        return time.monotonic() - self._since

    def _lost(self, outcome: Outcome) -> Report:
        assert self.batch is not None
        report = Report(self.batch.part, self._line, outcome, self._waited(), 0)
        rest = replace(self.batch, skip=self._done + 1)
        self.stop()
        self._start()
        self.take(rest)
        return report

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


def work(connection: Connection) -> None:
    """Run batches until the connection is closed; the main function of a worker.

    An error of the campaign itself, as in a strategy, is written to a file for the parent.
    """
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        _run_all(connection)
    except Exception:
        Path(os.environ["TMPDIR"], str(os.getpid())).write_text(traceback.format_exc())
        raise


def _run_all(connection: Connection) -> None:
    from campaigns.doors import NAMESPACE
    from campaigns.lines import PARTS, each_line
    from campaigns.outcomes import judge

    while True:
        try:
            batch: Batch = connection.recv()
        except EOFError:
            return
        drawn = 0

        def run(line: str) -> None:
            nonlocal drawn
            drawn += 1
            if drawn <= batch.skip:  # noqa: B023
                return
            connection.send(line)
            started, peak = time.process_time(), _peak_bytes()
            outcome = judge(line, NAMESPACE)
            grown = _peak_bytes() - peak
            if grown > CASE_BYTES:
                outcome = Outcome(WRONG, f"memory in {line.partition('(')[0]}", f"memory: {grown / 2**20:.0f} MB more")
            connection.send((outcome, time.process_time() - started, peak + grown))

        if batch.lines:
            for line in batch.lines:
                run(line)
        else:
            each_line(PARTS[batch.part].strategy, batch.seed, batch.count, run)
        connection.send(None)


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
