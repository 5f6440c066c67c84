"""SIGKILL at random moments, and going on: the same table as of an undisturbed run, no cell lost or computed twice."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from protoset.experiments import read_plan, results, resume, run, status, table

from experiment_data import slow_load

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork, no SIGKILL on this system")

PLAN = {
    "data": ["iris", "wine"],
    "methods": [
        "NoPS",
        "FCNN",
        "DROP3",
        {"method": "REPS", "at": ["FCNN", "DROP3"]},
        {"method": "REPS", "rates": [0.1]},
        {"method": "adapted", "n_prototypes": 4, "n_passes": 2},
    ],
    "folds": 8,
}

# Forked from a process that has everything imported, so that kills hit the run and not the start of Python.
KILLER = """
import json, os, random, signal, sys, time
import experiment_data
from protoset.experiments import run
from protoset.experiments.selection import load_kernels
path, undisturbed, plan = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
for name in ("FCNN", "DROP3", "REPS"):
    load_kernels(name)
times = []
run(plan, undisturbed, data=experiment_data.slow_load)
os.unlink(undisturbed)
started = time.monotonic()
def tell(progress): times.append(time.monotonic() - started)
run(plan, undisturbed, data=experiment_data.slow_load, callback=tell)
longest = times[0] + (times[-1] - times[0]) / 10
n_kills = 0
while True:
    child = os.fork()
    if child == 0:
        run(plan, path, data=experiment_data.slow_load)
        os._exit(0)
    time.sleep(random.uniform(0, longest))
    longest *= 1.02  # should the machine have become slower
    os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    if code == 0:
        break
    n_kills += 1
    print(n_kills, flush=True)
    sys.stdin.readline()
print("done", flush=True)
"""


def started(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.slow
def test_killed_many_times(tmp_path):
    undisturbed, path = tmp_path / "undisturbed.sqlite", tmp_path / "killed.sqlite"
    killer = started(KILLER, str(path), str(undisturbed), json.dumps(PLAN))
    known, n_kills = {}, 0
    while killer.stdout.readline().strip() != "done":
        assert killer.poll() is None
        n_kills += 1
        if path.exists():  # else it was killed before there was one
            rows = {row.id: row for row in results(path, kept=True)}
            # What was there is there, and was not computed again.
            assert known.items() <= rows.items()
            known = rows
        killer.stdin.write("\n")
        killer.stdin.flush()
    killer.communicate()
    assert killer.returncode == 0
    assert n_kills >= 8
    rows = results(path, kept=True)
    assert known.items() <= {row.id: row for row in rows}.items()
    assert [row.id for row in rows] == [cell.id for cell in read_plan(PLAN).cells]
    assert {row.state for row in rows} == {"done"}
    assert [row.kept for row in rows] == [row.kept for row in results(undisturbed, kept=True)]
    for value in ("error", "selection_rate", "macro_f1", "n_distances"):
        np.testing.assert_array_equal(table(path, value).values, table(undisturbed, value).values)


PARALLEL = """
import sys, json, experiment_data
from protoset.experiments import run
def tell(progress): print(progress.done, flush=True)
run(json.loads(sys.argv[2]), sys.argv[1], n_jobs=2, data=experiment_data.slow_load, callback=tell)
"""


def workers_of(process):
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=False
    )
    return [int(pid) for pid in found.stdout.split()]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc to see processes in")
def test_killed_with_workers(tmp_path):
    """Workers end with the run, and what they sent before is there."""
    undisturbed, path = tmp_path / "undisturbed.sqlite", tmp_path / "killed.sqlite"
    run(PLAN, undisturbed, data=slow_load)
    process = started(PARALLEL, str(path), json.dumps(PLAN))
    seen = [int(process.stdout.readline()) for _ in range(7)]
    workers = workers_of(process)
    assert len(workers) == 2
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stdin.close()
    until = time.monotonic() + 30
    while any(is_running(pid) for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(is_running(pid) for pid in workers)
    found = status(path)
    assert (found.failed, found.running) == (0, False)
    assert found.done >= max(seen)
    before = {row.id: row for row in results(path, kept=True)}
    resume(path, data=slow_load)
    assert before.items() <= {row.id: row for row in results(path, kept=True)}.items()
    np.testing.assert_array_equal(table(path).values, table(undisturbed).values)
