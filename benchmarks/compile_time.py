"""CPU seconds of the first use after an installation, and what each kernel takes of them to compile.

python -m benchmarks.compile_time

Every door runs in processes of its own, each with an empty cache: ``protoset select`` of a small mixed table, and first
fits of vectors, series under dynamic time warping, and strings. The fastest of ``REPEATS`` processes counts. Python's
bytecode is there, as after an installation. The seconds of a kernel include its parts. The seconds of a part are its
own, without the parts that it calls.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.measure import verdict

LIMITS = {"mixed": 8.0, "series": 10.0}
"""CPU seconds that the whole process may take, by door."""

REPEATS = 3
"""First uses of each door; the machine may be busy during some of them."""

N_PARTS = 12
"""Parts that are printed of all doors, the slowest first."""

WATCH = """
import atexit, json, sys, time
import numpy as np
from numba.core import event

class Listener(event.Listener):
    def __init__(self):
        self.running, self.rows = [], []
    def on_start(self, event):
        self.running.append([time.process_time(), 0.0])
    def on_end(self, event):
        started, inside = self.running.pop()
        seconds = time.process_time() - started
        if self.running:
            self.running[-1][1] += seconds
        function = event.data["dispatcher"].py_func
        name = f"{function.__module__}.{function.__qualname__}".removeprefix("protoset.kernels.")
        self.rows.append((name, not self.running, seconds, seconds - inside))

listener = Listener()
event.register("numba:compile", listener)
rng = np.random.default_rng(0)
"""

DOORS = {
    "mixed": """
labels = np.arange(200) % 2
with open("table.csv", "w") as file:
    print("age,income,colour,city,label", file=file)
    for label in labels:
        colour, city = rng.choice(["red", "green", "blue"]), rng.choice(["Bern", "Basel", "Zug"])
        print(40 + 5 * label + 10 * rng.normal(), 3000 + 500 * label + 800 * rng.normal(), colour, city,
              "yes" if label else "no", sep=",", file=file)
import contextlib, os
from protoset.cli import main
with contextlib.redirect_stdout(open(os.devnull, "w")):
    assert main(["select", "table.csv", "--quiet"]) == 0
""",
    "series": """
from protoset import REPS, PrototypeClassifier, Refined
labels = np.arange(60) % 3
X = np.sin(np.linspace(0, 6, 40) * (1 + labels[:, None])) + 0.3 * rng.normal(size=(60, 40))
PrototypeClassifier(Refined(REPS(metric="dtw"))).fit(X, labels).predict(X[:5])
""",
    "vectors": """
from protoset import PrototypeClassifier
labels = np.arange(200) % 3
X = rng.normal(size=(200, 5)) + labels[:, None]
PrototypeClassifier().fit(X, labels).predict(X[:5])
""",
    "strings": """
from protoset import REPS, PrototypeClassifier
labels = np.arange(100) % 2
X = ["".join(rng.choice(list("cdef" if label else "abcd"), 8)) for label in labels]
PrototypeClassifier(REPS(metric="levenshtein")).fit(X, labels).predict(X[:5])
""",
}
"""Programs of the first uses."""

Row = tuple[str, bool, float, float]
"""Name of a compiled function, whether Python calls it, its seconds with and without its parts."""


def first_use(door: str, cache: Path) -> tuple[float, list[Row]]:
    """Run a door with a cache folder; return the CPU seconds of the whole process, and what it compiled."""
    program = WATCH + DOORS[door] + "\nsys.stderr.write(json.dumps(listener.rows))"
    source = Path(__file__).parents[1] / "src"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=cache, capture_output=True, text=True, check=False
    )
    after = os.times()
    if done.returncode:
        raise RuntimeError(f"door {door!r} failed: {done.stderr}")
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, json.loads(done.stderr[done.stderr.rindex("[[") :] if "[[" in done.stderr else "[]")


def first_use_without_cache(door: str) -> tuple[float, list[Row]]:
    """Run a door with an empty cache; returns as ``first_use``."""
    with tempfile.TemporaryDirectory() as folder:
        return first_use(door, Path(folder))


def by_name(rows: list[Any], column: int) -> list[tuple[str, int, float]]:
    """Specialisations and seconds of each name, the slowest first."""
    seconds, counts = defaultdict(float), defaultdict(int)
    for row in rows:
        seconds[row[0]] += row[column]
        counts[row[0]] += 1
    return [(name, counts[name], seconds[name]) for name in sorted(seconds, key=seconds.get, reverse=True)]  # type: ignore[arg-type]


def main() -> None:
    """Print the kernels of each door, the slowest parts of all doors, and the CPU seconds of each door."""
    parts, totals, again = [], {}, {}
    for door in DOORS:
        with tempfile.TemporaryDirectory() as folder:
            first_use(door, Path(folder))  # writes the bytecode
            again[door], compiled_again = first_use(door, Path(folder))
        assert not compiled_again, f"{door}: the second use compiles {compiled_again}"
        totals[door], rows = min((first_use_without_cache(door) for _ in range(REPEATS)), key=lambda use: use[0])
        parts += [row for row in rows if not row[1]]
        print(f"{door}: {len(rows)} functions compiled\n  {'kernel':<36}{'specialisations':>16}{'seconds':>9}")
        for name, count, seconds in by_name([row for row in rows if row[1]], 2):
            print(f"  {name:<36}{count:>16}{seconds:>9.2f}")
    print(f"slowest parts, over all doors\n  {'part':<72}{'compiled':>9}{'seconds':>9}")
    for name, count, seconds in by_name(parts, 3)[:N_PARTS]:
        print(f"  {name:<72}{count:>9}{seconds:>9.2f}")
    print("CPU seconds of the first use, and of the second")
    for door, seconds in totals.items():
        first = verdict(seconds, LIMITS[door], at_most=True) if door in LIMITS else f"{seconds:.2f}"
        print(f"  {door:<10}{first}; then {again[door]:.2f}")


if __name__ == "__main__":
    main()
