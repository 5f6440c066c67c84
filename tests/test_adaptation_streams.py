"""Moves among objects that are not in memory: the results of objects in memory, and memory for a chunk of them."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoset import REPS, NeighborSearch, PrototypeClassifier, Refined, _blocks, adapt
from protoset.adaptation import adapting, descent, validation
from protoset.adaptation.descent import Course, MovingSet, WeightedObjects, descend
from protoset.neighbors import NeighborLists
from protoset.spaces import make_space
from protoset.spaces.movable import Moved
from protoset.spaces.movable_vectors import ChosenRows

from conftest import overlapping


def mapped(tmp_path, X):
    """Return X as a file that is mapped into memory."""
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(descent, "CHUNK_OBJECTS", 256)
    monkeypatch.setattr(adapting, "CHUNK_OBJECTS", 256)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 2**13)


def same_adaptation(a, b):
    values = ("held_out_before", "held_out_after", "objective_before", "objective_after", "n_passes", "reason", "loss")
    return (a.prototypes == b.prototypes).all() and all(getattr(a, name) == getattr(b, name) for name in values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "seuclidean", "cityblock"])
def test_mapped_arrays_give_what_arrays_in_memory_give(tmp_path, small_chunks, dtype, metric):
    X, y = overlapping(1500, d=4)
    X = X.astype(dtype)
    there, here = (
        adapt(rows, y, X[:30], y[:30], metric=metric, relevances=True, n_passes=3) for rows in (mapped(tmp_path, X), X)
    )
    assert there.has_moved
    assert same_adaptation(there, here)


def test_mapped_arrays_with_copies_and_weights(tmp_path, small_chunks):
    """Objects that occur several times, and objects that do not count, are left where they are too."""
    X, y = overlapping(1500, d=4)
    X[700:900], y[700:900] = X[:200], y[:200]
    weights = (np.arange(1500) % 5 > 0).astype(float)
    rows, labels = X[weights > 0], y[weights > 0]
    there = adapt(mapped(tmp_path, X), y, X[:30], y[:30], sample_weight=weights, n_passes=3)
    assert there.has_moved
    assert same_adaptation(there, adapt(rows, labels, X[:30], y[:30], n_passes=3))


def test_a_classifier_of_a_mapped_array(tmp_path, small_chunks):
    X, y = overlapping(1200, d=4)
    X[600:650], y[600:650] = X[:50], y[:50]
    there, here = (
        PrototypeClassifier(Refined(REPS(15)), adapt={"n_passes": 4}).fit(rows, y) for rows in (mapped(tmp_path, X), X)
    )
    assert there.adaptation_.has_moved
    assert same_adaptation(there.adaptation_, here.adaptation_)
    assert (there.exemplars_ == here.exemplars_).all()
    for label, prototype, exemplar in zip(
        there.prototype_labels_, there.adaptation_.prototypes, there.exemplars_, strict=True
    ):
        distances = np.where(y == label, np.linalg.norm(X - prototype, axis=1), np.inf)
        assert distances[exemplar] == distances.min()


def test_trials_leave_the_lists_of_a_folder_alone(tmp_path):
    X, y = overlapping(500, d=4)
    search = NeighborSearch(n_neighbors=20, folder=tmp_path)
    moved = PrototypeClassifier(REPS(15, search=search), adapt={"n_passes": 4}).fit(X, y)
    assert moved.adaptation_.has_moved
    assert NeighborLists.from_folder(tmp_path).n_objects == 500


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 60))
def test_chosen_rows_are_the_rows(seed, n, n_chosen):
    rng = np.random.default_rng(seed)
    X, members, asked = rng.normal(size=(n, 3)), rng.integers(0, n, n_chosen), rng.integers(0, n_chosen, 7)
    rows = ChosenRows(X, members)
    assert rows.shape == X[members].shape
    for some in (asked, slice(1, 4), slice(None)):
        assert (rows[some] == X[members][some]).all()


def test_trials_are_the_same_in_memory(monkeypatch):
    """Whether their objects are taken out of all objects, or left among them."""
    X, y = overlapping(3000, d=4)
    taken = adapt(X, y, X[:30], y[:30], n_passes=3)
    monkeypatch.setattr(validation, "in_memory", lambda objects, trials: (objects, trials))
    assert same_adaptation(adapt(X, y, X[:30], y[:30], n_passes=3), taken)


def test_noise_does_not_depend_on_blocks(monkeypatch):
    X, y = overlapping(2500, d=4)
    one = adapt(X, y, X[:30], y[:30], n_passes=3, loss="softmax")
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 2**12)
    other = adapt(X, y, X[:30], y[:30], n_passes=3, loss="softmax")
    assert one.has_moved
    assert (one.prototypes == other.prototypes).all()


def test_wide_objects_come_in_smaller_chunks(monkeypatch):
    X, y = overlapping(500, d=6)
    monkeypatch.setattr(descent, "CHUNK_COORDINATE_BYTES", 100 * 6 * 8)
    movable, shares = make_space(X).movable, []
    start = MovingSet(Moved(X[:10].copy(), np.ones(6)), y[:10], np.full(500, -1))

    def watch(prototypes, share):
        shares.append(share)

    objects = WeightedObjects(movable, y, np.ones(500))
    descend(objects, start, np.arange(500), Course(n_passes=2), np.random.RandomState(0), watch)
    assert max(shares) * 500 <= 100 + descent.CHUNK_BLOCKS
    assert sum(shares) == pytest.approx(2.0)


@pytest.mark.parametrize("loss", ["relative", "softmax"])
def test_workers_that_list_prototypes_change_nothing(monkeypatch, loss):
    """With more prototypes than an object looks at; the lists of a chunk are made in several blocks."""
    monkeypatch.setattr(descent, "CHUNK_OBJECTS", 1024)
    monkeypatch.setattr(adapting, "CHUNK_OBJECTS", 1024)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 2**20)
    X, y = overlapping(3000, d=6, n_classes=5)
    n_prototypes = descent.MANY_PROTOTYPES + 88
    own = np.full(3000, -1)
    own[:n_prototypes] = np.arange(n_prototypes)
    objects = WeightedObjects(make_space(X).movable, y, np.ones(3000))
    start = MovingSet(Moved(X[:n_prototypes].copy(), np.ones(6)), y[:n_prototypes], own)
    one, two = (
        descend(
            objects, start, np.arange(3000), Course(loss, n_passes=3), np.random.RandomState(0), n_jobs=n_jobs
        ).moved.points
        for n_jobs in (None, 2)
    )
    assert (one != start.moved.points).any()
    assert (one == two).all()


MEMORY_PROGRAM = """
import sys, threading, time, tracemalloc
import numpy as np
from protoset import _blocks, adapt
from protoset.adaptation import adapting, descent, validation

path, n, width, dtype, is_small = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5] == "small"
rng, y = np.random.default_rng(0), np.arange(n) % 4
X = np.lib.format.open_memmap(path, "w+", dtype, (n, width))
for first in range(0, n, 20_000):
    labels = y[first : first + 20_000, None]
    X[first : first + 20_000] = rng.standard_normal((len(labels), width), np.float32) + 0.3 * labels
X[n // 2], y[n // 2] = X[1], y[1]  # a copy, so that not every row is an object of its own
X.flush()
del X
X = np.load(path, mmap_mode="r")
if is_small:
    _blocks.BLOCK_BYTES, descent.CHUNK_OBJECTS, adapting.CHUNK_OBJECTS = 2**18, 2**9, 2**9
    validation.TRIAL_OBJECTS = 500
    validation.MOST_HELD_OUT = 200


def resident():
    # Pages of the file do not count: the system takes them back when it needs memory.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) * 1024


def move(loss):
    return adapt(X, y, X[:12], y[:12], n_passes=1, loss=loss)


def move_copy():
    adapt(np.array(X[:3000]), y[:3000], X[:12], y[:12], n_passes=1)  # compiles, which takes memory too


move_copy()
before, most, is_done = 0 if is_small else resident(), 0, False


def look():
    global most
    while not is_done:
        most = max(most, resident())
        time.sleep(0.002)


watch = threading.Thread(target=look)
if not is_small:
    watch.start()
tracemalloc.start()
moved = [move(loss) for loss in ("relative", "softmax")]
traced = tracemalloc.get_traced_memory()[1]
is_done = True
assert all(each.has_moved for each in moved)
print(max(traced, most - before) / X.nbytes)
"""


def share_of_memory(tmp_path, *arguments):
    """Memory of moves among a mapped array, as a share of its size."""
    program = [sys.executable, "-c", MEMORY_PROGRAM, str(tmp_path / "X.npy"), *map(str, arguments)]
    return float(subprocess.run(program, capture_output=True, text=True, check=True).stdout)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_moves_among_a_mapped_array_hold_a_chunk_of_it(tmp_path, dtype):
    assert share_of_memory(tmp_path, 40_000, 200, dtype, "small") < 0.4


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the memory")
@pytest.mark.parametrize(("n_objects", "dtype"), [(500_000, "f4"), (250_000, "f8")])
def test_moves_among_400_megabytes_hold_a_chunk_of_them(tmp_path, n_objects, dtype):
    assert share_of_memory(tmp_path, n_objects, 200, dtype, "large") < 0.66
