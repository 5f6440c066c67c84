"""Set-up of all tests."""

import os
import signal
import subprocess
import sys
from pathlib import Path

# Processes in the background of a shell ignore SIGINT, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# scikit-learn runs its array API check only where this is set before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis import strategies as st

from benchmarks.keel import reference_folds

settings.register_profile(
    "protoset",
    deadline=None,  # the first call of a kernel may compile
    derandomize=bool(os.environ.get("CI")),
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
settings.register_profile("thorough", settings.get_profile("protoset"), max_examples=120)  # of `make test-all`
# `make mutants` runs the tests thousands of times: always the same few examples, and no search for simpler ones.
settings.register_profile(
    "mutants",
    settings.get_profile("protoset"),
    max_examples=10,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("protoset")

ROOT = Path(__file__).parent.parent


def pytest_itemcollected(item):
    """Give items the attribute that mutmut 3.8 reads and pytest 9.2 does not have any more."""
    item._nodeid = item.nodeid


@pytest.fixture(scope="session")
def data_folder():
    """Folder with the benchmark data; the tests that need it are skipped where there is none."""
    folder = Path(os.environ.get("PROTOSET_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no benchmark data: {folder} is not there (set PROTOSET_DATA to its folder)")
    return folder


@pytest.fixture(scope="session")
def keel_folds(data_folder):
    """The 30 folds that KEEL's own results are known for; skipped where they are not beside the data."""
    folder = data_folder.parent / "reference"
    if not folder.is_dir():
        pytest.skip(f"no results of KEEL: {folder} is not there")
    folds = list(reference_folds(folder))
    assert len(folds) == 30
    return folds


@st.composite
def labelled_vectors(draw, max_objects=25, tied=False):
    """Vectors with labels of at least two classes; on a coarse grid, with ties and duplicates, if tied."""
    n = draw(st.integers(3, max_objects))
    d = draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, d)).astype(float) if tied else rng.normal(size=(n, d))
    n_classes = draw(st.integers(2, min(4, n)))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    return X, rng.permutation(y)


def without_copies(kept, X, y, tie_rule="majority"):
    """Objects without those that are identical to an earlier one of their class, ascending; all in the row order."""
    kept = np.sort(np.array(kept, int))
    if tie_rule == "row_order":
        return kept.tolist()
    pairs = np.column_stack([X, y])[kept]
    return [int(own) for own, row in zip(kept, pairs, strict=True) if not (pairs[kept < own] == row).all(axis=1).any()]


def distinct_vectors(data):
    """One object of each content, in the order of the rows; examples of which one class is left are passed over."""
    X, y = data
    first = np.sort(np.unique(X, axis=0, return_index=True)[1])
    assume(len(set(y[first])) > 1)
    return X[first], y[first]


def overlapping(n, d=3, n_classes=3, seed=0):
    """Overlapping Gaussian classes."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes, d))
    y = rng.integers(0, n_classes, n)
    return centres[y] + rng.normal(size=(n, d)), y


def vote(neighbors, codes):
    """Most frequent class of the neighbours, nearest first; that of the nearest among tied ones; -1 without any."""
    classes = [codes[other] for other in neighbors if other >= 0]
    return max(classes, key=lambda code: (classes.count(code), -classes.index(code)), default=-1)


def tied_vote(D, own, members, k, codes):
    """Class of most of the members at most as far as the k-th; then the nearest, then the more frequent class."""
    others = [other for other in members if other != own]
    if not others:
        return -1
    farthest = sorted(D[own, other] for other in others)[:k][-1]
    voters = [other for other in others if D[own, other] <= farthest]

    def strength(code):
        of_class = [D[own, other] for other in voters if codes[other] == code]
        return len(of_class), -min(of_class), np.sum(codes == code), -code

    return max({int(codes[other]) for other in voters}, key=strength)


def slow_near(D, member, k, priority=None):
    """The k nearest members of each object but itself, by (distance, priority or index); -1 where there are fewer."""
    n = len(D)
    near, priority = np.full((n, k), -1), np.arange(n) if priority is None else priority
    for own in range(n):
        others = (other for other in np.flatnonzero(member) if other != own)
        found = sorted((D[own, other], priority[other], other) for other in others)[:k]
        near[own, : len(found)] = [other for *_, other in found]
    return near


def slow_hits(D, member, codes, k, priority=None):
    """Count objects that their k nearest members classify correctly."""
    return sum(vote(row, codes) == code for row, code in zip(slow_near(D, member, k, priority), codes, strict=True))


def run_measured(program, *arguments):
    """Run a Python program in a process of its own; return its output and the peak of its memory in bytes."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("the peak memory of a process is read from /proc, which this system does not have")
    # Not ru_maxrss, which a new process inherits from the one that started it.
    end = "\nprint(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    command = [sys.executable, "-c", program + end, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    *output, kilobytes = result.stdout.splitlines()
    return "\n".join(output), int(kilobytes) * 1024


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a file system of its own with room for half a megabyte."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root mounts a small file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)
