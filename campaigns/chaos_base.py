"""What a scenario is: the work of a process that is killed, and what has to hold afterwards.

prepare   the folder before the first process works in it
warm      what a process does before it says that it is ready: imports, kernels, fits
work      what it does then, and while it is killed
check     what holds after each kill
recover   the next writer, undisturbed; afterwards all is as if no process had been killed
close     ends what prepare started
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import signal
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from campaigns.chaos_processes import Child, expect
from protoset.cli import main

SIGNALS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "INT": signal.SIGINT}
"""Signals by the name of the attack."""

TWO = "two at once"
"""Attack: a signal to one of two processes that work in the same folder."""

FULL = "full disk"
"""Attack: the disk becomes full during the work."""

WORKER = "worker"
"""Attack: KILL to a process that computes for the process that writes."""

SCHEDULER = "scheduler"
"""Attack: KILL to the scheduler of a Dask cluster."""

LIBRARY_ERROR = re.compile(r"^(OSError|protoset\.[\w.]+Error): ", re.MULTILINE)
"""Last line of a program that ends with an error of the system or of the library."""


def make_data(n_objects: int, n_attributes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return overlapping classes, always the same."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, n_objects)
    return labels[:, None] + rng.normal(size=(n_objects, n_attributes)), labels


def write_table(path: Path, n_objects: int) -> None:
    """Write a CSV file of data with labels."""
    objects, labels = make_data(n_objects, 4)
    rows = [",".join([*map(str, row), f"class {label}"]) for row, label in zip(objects, labels, strict=True)]
    path.write_text("\n".join(["a,b,c,d,label", *rows]) + "\n")


def run_command(*arguments: object) -> int:
    """Run the command in this process."""
    return main([str(argument) for argument in arguments])


def finish_command(*arguments: object) -> None:
    """Run the command in this process; it has to succeed."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = run_command(*arguments)
    expect(code == 0, f"locked or damaged: the next command ended with {code}, {errors.getvalue()!r}")


class Scenario:
    """What is killed and what is checked; a subclass says each."""

    name: str

    attacks: ClassVar[tuple[str, ...]] = (*SIGNALS, TWO, FULL)
    """Attacks that the scenario has to survive."""

    is_command: ClassVar[bool] = False
    """Whether the work is the command, which ends with 130 and one line after Ctrl-C."""

    def prepare(self, folder: Path) -> None:
        """Write the files that the work needs."""

    def close(self) -> None:
        """End what ``prepare`` started."""

    def choices(self) -> list[dict[str, Any]]:
        """Options of the work, one of which is drawn for each process; the last has workers, if any has."""
        return [{}]

    def warm(self) -> None:
        """Get ready in the process to be killed."""
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(Path(folder))
            self.work(Path(folder), **self.choices()[0])

    def work(self, folder: Path, **options: Any) -> int:
        """Do the work in the process to be killed; return its exit code."""
        raise NotImplementedError

    def victim(self, attack: str, child: Child, rng: random.Random) -> int | None:
        """Process that gets the signal, or None where there is none yet or any more."""
        if attack != WORKER:
            return child.pid
        workers = child.descendants()
        return rng.choice(workers) if workers else None

    def check_end(self, attack: str, code: int, errors: str) -> None:
        """Check how a process ended that did not succeed after a signal to it, or on a full disk."""
        if attack == FULL:
            lines = errors.count("\n") == 1 if self.is_command else LIBRARY_ERROR.search(errors)
            expect(code == 1 and lines, f"ended with {code} on a full disk: {errors}")
            return
        interrupted = self.is_command and attack == "INT"
        expect(code == (130 if interrupted else -SIGNALS[attack]), f"ended with {code} after {attack}: {errors}")
        if interrupted:
            expect(errors.count("\n") == 1, f"the command says more than one line after Ctrl-C: {errors}")

    def is_refusal(self, code: int, errors: str) -> bool:
        """Whether a process ended because another one works in the folder."""
        return False

    def check(self, folder: Path) -> None:
        """Check a folder after a strike."""

    def recover(self, folder: Path) -> None:
        """Do the work without a strike, and check that it is as if there had been none."""
        raise NotImplementedError
