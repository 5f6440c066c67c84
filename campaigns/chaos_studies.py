"""Scenarios of experiments: plans, the studies of the paper, experiments on a Dask cluster."""

from __future__ import annotations

import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from campaigns.chaos_base import (
    FULL,
    SCHEDULER,
    SIGNALS,
    TWO,
    WORKER,
    Scenario,
    finish_command,
    run_command,
    write_table,
)
from campaigns.chaos_processes import Child, expect

PLAN = """
data = [{path = "data.csv", target = "label", name = "data"}]
folds = 6
methods = ["NoPS", "FCNN", "DROP3", {method = "REPS", rates = [0.1, 0.2]}, {method = "REPS", at = ["FCNN"]}]
"""
"""Plan of the experiments."""

CLUSTER_SECONDS = 60.0
"""A scheduler has to be there after this time."""

TIMES = ("cpu_seconds", "wall_seconds", "distance_seconds", "finished")
"""Attributes of a result that differ between two runs."""


def results_by_id(journal: Path, *, times: bool) -> dict[str, dict[str, Any]]:
    """Results in a journal by cell, with or without the attributes that differ between runs."""
    from protoset.experiments import results

    rows = {row.id: dict(vars(row)) for row in results(journal, kept=True)}
    return rows if times else {key: {name: row[name] for name in row if name not in TIMES} for key, row in rows.items()}


class Experiment(Scenario):
    """``protoset experiment``: cells in the journal stay as they are, and the rest is computed later."""

    name = "experiment"
    is_command = True
    attacks = (*SIGNALS, TWO, FULL, WORKER)
    journals: tuple[str, ...] = ("results.journal",)

    def prepare(self, folder: Path) -> None:
        """Write data and plan."""
        self._write_inputs(folder)
        self._seen: dict[str, Any] = {}

    def _write_inputs(self, folder: Path) -> None:
        write_table(folder / "data.csv", 200)
        (folder / "plan.toml").write_text(PLAN)

    def choices(self) -> list[dict[str, Any]]:
        """In one process, or in two more."""
        return [{"n_jobs": 1}, {"n_jobs": 2}]

    def work(self, folder: Path, *, n_jobs: int = 1, **_: Any) -> int:
        """Run the plan, or go on with it."""
        return run_command(*self._command(folder), "--n-jobs", n_jobs, "--quiet")

    def _command(self, folder: Path) -> list[object]:
        path = folder / self.journals[0]
        words = ["resume", path] if path.exists() else ["run", folder / "plan.toml", "--journal", path]
        return ["experiment", *words]

    @functools.cached_property
    def results(self) -> dict[str, Any]:
        """Results of an undisturbed run."""
        with tempfile.TemporaryDirectory() as folder:
            self._write_inputs(Path(folder))
            finish_command(*self._command(Path(folder)))
            return self._results(Path(folder), times=False)

    def _results(self, folder: Path, *, times: bool) -> dict[str, dict[str, Any]]:
        """Results that are done by journal and cell, with or without the attributes that differ between runs."""
        from protoset.experiments import results

        rows = {
            f"{journal} {row.id}": dict(vars(row))
            for journal in self.journals
            if (folder / journal).exists()
            for row in results(folder / journal, kept=True)
            if row.state == "done"
        }
        left_out = () if times else TIMES
        return {key: {name: row[name] for name in row if name not in left_out} for key, row in rows.items()}

    def check_end(self, attack: str, code: int, errors: str) -> None:
        """A run without one of its workers ends with cells that failed."""
        if attack == WORKER:
            expected = code == 1 and "shows what failed" in errors
            expect(expected, f"ended with {code} after a worker was killed: {errors}")
        else:
            super().check_end(attack, code, errors)

    def is_refusal(self, code: int, errors: str) -> bool:
        """A second run of a journal is refused while the first one runs."""
        return code == 2 and re.search("the journal .* is locked", errors) is not None

    def check(self, folder: Path) -> None:
        """Journals have what they had; no run holds them; no cell failed, but on workers that were killed."""
        from protoset.experiments import status

        for journal in self.journals:
            if (folder / journal).exists():
                state = status(folder / journal)
                expect(not state.running, f"locked: {journal} counts as being written to")
                strange = [message for message, _ in state.failures if "the process ended" not in message]
                expect(not strange, f"cells failed: {strange}")
        self._check_seen(folder)

    def _check_seen(self, folder: Path) -> None:
        rows = self._results(folder, times=True)
        expect(self._seen.items() <= rows.items(), "lost or computed again: a cell is not as it was before the strike")
        self._seen = rows

    def recover(self, folder: Path) -> None:
        """Go on to the end."""
        finish_command(*self._command(folder), "--retry-failed")
        self._check_seen(folder)
        expect(self._results(folder, times=False) == self.results, "results differ from those of an undisturbed run")


class Paper(Experiment):
    """``protoset paper``: two journals and the pages of the report."""

    name = "paper"
    attacks = (*SIGNALS, FULL)
    journals = ("output/mixture-raw.sqlite", "output/mixture-reps.sqlite")

    def _write_inputs(self, folder: Path) -> None:
        """Its data come with the library."""

    def choices(self) -> list[dict[str, Any]]:
        """In one process."""
        return [{}]

    def _command(self, folder: Path) -> list[object]:
        words = "paper run --dataset iris --study mixture --without SSMA --without RMHC --output"
        return [*words.split(), folder / "output"]

    def work(self, folder: Path, **_: Any) -> int:
        """Run the study, and report it."""
        report = ["paper", "report", "--output", folder / "output", "--force"]
        return run_command(*self._command(folder)) or run_command(*report)

    def recover(self, folder: Path) -> None:
        """Go on to the end, and report again."""
        super().recover(folder)
        finish_command("paper", "report", "--output", folder / "output", "--force")
        pages = [path for path in (folder / "output" / "report").iterdir() if not path.stat().st_size]
        expect(not pages, f"truncated: {pages} are empty")


class OnCluster(Experiment):
    """``protoset experiment run --cluster``: a lost worker costs time alone, a lost scheduler ends the run."""

    name = "dask"
    attacks = (*SIGNALS, WORKER, SCHEDULER)

    def prepare(self, folder: Path) -> None:
        """Write data and plan, and start a scheduler with two workers; they end by themselves if nothing ends them."""
        super().prepare(folder)
        self._folder = tempfile.TemporaryDirectory(prefix="protoset-chaos-")
        self._processes = [self._start("scheduler", "--port", "0", "--host", "127.0.0.1", "--idle-timeout", "900")]
        self._processes += [
            self._start("worker", "--nthreads", "1", "--no-nanny", "--death-timeout", "60") for _ in range(2)
        ]

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        file = f"{self._folder.name}/scheduler.json"
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", "--scheduler-file", file]
        return subprocess.Popen(
            [*command, *arguments],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=self._folder.name,
        )

    def close(self) -> None:
        """End the cluster."""
        for process in reversed(self._processes):
            process.kill()
            process.wait()
        self._folder.cleanup()

    def warm(self) -> None:
        """Import what the client needs."""
        import distributed  # noqa: F401

        import protoset.experiments.cluster  # noqa: F401

    def choices(self) -> list[dict[str, Any]]:
        """The address of the scheduler."""
        path, until = Path(self._folder.name) / "scheduler.json", time.monotonic() + CLUSTER_SECONDS
        while not (path.exists() and path.read_text().strip().endswith("}")):
            expect(time.monotonic() < until, "the scheduler does not start")
            time.sleep(0.05)
        return [{"address": json.loads(path.read_text())["address"]}]

    def work(self, folder: Path, *, address: str = "", **_: Any) -> int:
        """Run the plan on the cluster, or go on with it."""
        return run_command(*self._command(folder), "--cluster", address, "--quiet")

    def victim(self, attack: str, child: Child, rng: random.Random) -> int | None:
        """A process of the cluster, or the process that writes."""
        if attack not in (WORKER, SCHEDULER):
            return super().victim(attack, child, rng)
        chosen = self._processes[0] if attack == SCHEDULER else rng.choice(self._processes[1:])
        return chosen.pid if chosen.poll() is None else None

    def check_end(self, attack: str, code: int, errors: str) -> None:
        """A run that has lost its scheduler, or all workers, ends with one line."""
        if attack not in (WORKER, SCHEDULER):
            super().check_end(attack, code, errors)
            return
        alone = attack == SCHEDULER or all(process.poll() is not None for process in self._processes[1:])
        expect(alone, f"ended with {code} though a worker is left: {errors}")
        expect(code == 1 and errors.count("\n") == 1, f"ended with {code} without its cluster: {errors}")
