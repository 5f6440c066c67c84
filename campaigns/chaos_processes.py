"""Processes to kill: starting them, striking at a random moment, and looking for processes that stay behind."""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
"""Folder of the repository."""

MARK_VARIABLE = "PROTOSET_CHAOS"
"""Environment variable that marks a process and all processes that it starts."""

END_SECONDS = 90.0
"""A process that has not ended after this time hangs."""

STAY_SECONDS = 20.0
"""A process whose parent was killed has to end within this time."""


class WrongError(Exception):
    """Something was lost, doubled, truncated, orphaned or locked, or a process ended in an unexpected way."""


def expect(condition: object, message: str) -> None:
    """Raise a WrongError with a message unless a condition holds."""
    if not condition:
        raise WrongError(message)


class Child:
    """A Python process that does the work of a scenario. It prepares itself at once, and works after ``begin``."""

    def __init__(self, scenario: str):
        self._mark = secrets.token_hex(8)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "campaigns.chaos_child", scenario],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=ROOT,
            env=os.environ | {MARK_VARIABLE: self._mark, "PYTHONPATH": paths},
            start_new_session=True,
        )

    def begin(self, folder: Path, options: dict[str, Any]) -> None:
        """Wait until the process is ready, and start its work."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            code, errors = self.end()
            raise WrongError(f"the process was not ready: exit code {code}, {errors}")
        self._process.stdin.write(json.dumps({"folder": str(folder), "options": options}) + "\n")
        self._process.stdin.flush()

    def seconds_of_work(self) -> float:
        """Wait for the end of the work, and return the seconds that it took; the end of Python takes more."""
        assert self._process.stdout is not None
        return float(self._process.stdout.readline() or "nan")

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Process identifier, which is that of its process group too."""
        return self._process.pid

    def end(self) -> tuple[int, str]:
        """Wait for the end of the process; return its exit code and its standard error."""
        try:
            code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.destroy()
            raise WrongError(f"hangs: the process has not ended after {END_SECONDS:g} seconds") from None
        self._errors.seek(0)
        errors = self._errors.read().decode(errors="replace")
        self._close()
        return code, errors

    def descendants(self) -> list[int]:
        """Living processes that the process started, at any depth; empty where the system has no /proc."""
        marked = f"{MARK_VARIABLE}={self._mark}".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                environment, state = (entry / "environ").read_bytes(), (entry / "stat").read_text()
            except OSError:
                continue
            living = state.rsplit(")", 1)[1].split()[0] != "Z"
            if living and marked in environment.split(b"\0") and int(entry.name) != self._process.pid:
                found.append(int(entry.name))
        return found

    def check_alone(self) -> None:
        """Check that no process of an ended one stays behind."""
        until = time.monotonic() + STAY_SECONDS
        while (left := self.descendants()) and time.monotonic() < until:
            time.sleep(0.05)
        expect(not left, f"orphaned: {len(left)} processes still run after {STAY_SECONDS:g} seconds")

    def destroy(self) -> None:
        """End the process and all that it started."""
        self._process.kill()
        for pid in self.descendants():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._close()

    def _close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


@contextmanager
def children(scenario: str, n_children: int) -> Iterator[list[Child]]:
    """Start processes that get ready side by side; at the end none of them is left."""
    started = [Child(scenario) for _ in range(n_children)]
    try:
        yield started
    finally:
        for child in started:
            child.destroy()


def wait_for_moment(child: Child, folder: Path, rng: random.Random, seconds: float) -> None:
    """Wait for a random part of the usual time of the work; in half of the cases then also for the next new file name.

    Temporary files exist for moments only, which a random time alone would seldom meet.
    """
    until = time.monotonic() + rng.uniform(0, seconds)
    with_names = rng.random() < 0.5
    while child.is_running and time.monotonic() < until:
        time.sleep(min(0.002, max(0.0, until - time.monotonic())))
    if with_names:
        names, until = names_in(folder), time.monotonic() + seconds
        while child.is_running and time.monotonic() < until and names_in(folder) <= names:
            time.sleep(0.0001)


def names_in(folder: Path) -> set[str]:
    """Paths of the files in a folder and its subfolders. Lock files are not among them: they may stay."""
    return {
        os.path.relpath(os.path.join(directory, name), folder)
        for directory, _, names in os.walk(folder)
        for name in names
        if not name.endswith(".lock")
    }


class SmallDisk:
    """A file system in memory over a folder, whose size can be changed; needs root."""

    def __init__(self, folder: Path):
        self._folder = folder
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder], check=True, capture_output=True)

    def resize(self, n_bytes: int | None = None) -> None:
        """Leave so many bytes free, or plenty."""
        usage = os.statvfs(self._folder)
        used = (usage.f_blocks - usage.f_bfree) * usage.f_frsize
        size = "64m" if n_bytes is None else str(max(used + n_bytes, usage.f_frsize))
        subprocess.run(["mount", "-o", f"remount,size={size}", self._folder], check=True, capture_output=True)

    def remove(self) -> None:
        """Take the file system away, with all its files."""
        subprocess.run(["umount", "-l", self._folder], check=True, capture_output=True)


def why_no_small_disk() -> str | None:
    """Return why a file system cannot be mounted here, or None if it can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "mounting a file system needs root"
    with tempfile.TemporaryDirectory() as folder:
        try:
            SmallDisk(Path(folder)).remove()
        except (OSError, subprocess.CalledProcessError) as error:
            return f"no file system can be mounted here ({error})"
    return None
