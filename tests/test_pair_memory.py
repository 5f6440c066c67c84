"""What was computed is kept in files: nothing known is computed again, and nothing wrong is taken for known."""

import functools
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import hash as joblib_hash
from numba import njit
from sklearn.model_selection import cross_val_score

from protoset import REPS, PrototypeClassifier
from protoset.spaces import make_space
from protoset.spaces._pair_memory import canonical, function_digest

CALLS = []


def jaccard(a, b, scale=1.0):
    CALLS.append((a, b))
    return scale * (1 - len(a & b) / max(1, len(a | b)))


def some_sets(n=40):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    # The number makes each of them another.
    return [frozenset([f"object {i}", *map(str, rng.choice(12, 5) + 4 * y[i])]) for i in range(n)], y


def calls_of(work):
    CALLS.clear()
    work()
    return len(CALLS)


@pytest.fixture
def reference():
    X, y = some_sets()
    return PrototypeClassifier(REPS(0.2, metric=jaccard)).fit(X, y)


@pytest.mark.parametrize("symmetric", [False, True])
def test_nothing_is_computed_twice(symmetric, tmp_path, reference):
    X, y = some_sets()
    params = {"symmetric": symmetric, "memory": tmp_path / "made" / "here"}
    classifier = PrototypeClassifier(REPS(0.2, metric=jaccard, metric_params=params))
    assert calls_of(lambda: classifier.fit(X, y)) == 40 * 39 // (1 + symmetric)
    assert calls_of(lambda: classifier.fit(X, y)) == 0
    np.testing.assert_array_equal(classifier.sample_indices_, reference.sample_indices_)
    # Fresh copies of the objects are the same objects; only each prototype and itself is new.
    copies = [frozenset(sorted(part)) for part in X]
    assert calls_of(lambda: classifier.predict(copies)) == len(classifier.sample_indices_)
    assert calls_of(lambda: classifier.predict(copies)) == 0
    assert calls_of(lambda: cross_val_score(classifier, copies, y, cv=4)) == 0
    np.testing.assert_array_equal(classifier.predict(X), reference.predict(X))
    assert calls_of(lambda: classifier.set_params(selector__n_prototypes="auto").fit(X[:30], y[:30])) == 0
    assert [name.split("-")[0] for name in os.listdir(tmp_path / "made" / "here")] == ["jaccard"]


def test_other_arguments_and_symmetry_have_files_of_their_own(tmp_path):
    X, _ = some_sets(10)
    for params in ({}, {"scale": 2.0}, {"scale": 3}, {"symmetric": True}):
        assert calls_of(lambda p=params: make_space(X, jaccard, p | {"memory": tmp_path}).kneighbors(2, limit=9)) > 0
    assert len(os.listdir(tmp_path)) == 4


def fragile(a, b):
    CALLS.append((a, b))
    if BROKEN and (a, b) == (5, 0):
        raise OSError("no answer")
    return abs(a - b)


BROKEN = []


def test_what_was_computed_before_a_failure_is_kept(tmp_path):
    BROKEN.append(True)
    space = make_space(range(10), fragile, {"memory": tmp_path})
    with pytest.raises(RuntimeError, match="objects 5 and 0: no answer"):
        space.kneighbors(3, limit=9)
    BROKEN.clear()
    assert calls_of(lambda: make_space(range(10), fragile, {"memory": tmp_path}).kneighbors(3, limit=9)) == 5 * 9


# files of a function


def power(exponent):
    def distance(a, b):
        return abs(a - b) ** exponent

    return distance


def recursive():
    def distance(a, b):
        return distance(b, a) if a < b else a - b

    return distance


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, a, b):
        return self.scale * abs(a - b)

    def method(self, a, b):
        return self.scale * abs(a - b)


def two(a, b, c=1, *, d=2):
    return abs(a - b) * c * d


FUNCTIONS = {
    "closure of 1": power(1),
    "closure of 2": power(2),
    "first on its line": [lambda a, b: 1.0, lambda a, b: 2.0][0],
    "second on its line": [lambda a, b: 1.0, lambda a, b: 2.0][1],
    "recursive": recursive(),
    "object of 1": Scaled(1),
    "object of 2": Scaled(2),
    "method of 1": Scaled(1).method,
    "method of 2": Scaled(2).method,
    "plain": two,
    "partial of 2": functools.partial(two, c=2),
    "partial of 3": functools.partial(two, c=3),
    "closure of a function": (lambda inner: lambda a, b: inner(a, b))(power(1)),
    "closure of another function": (lambda inner: lambda a, b: inner(a, b))(power(2)),
    "compiled": njit(two),
    "cached": functools.lru_cache(power(3)),
    "of NumPy": np.subtract,
    "built in": max,
}


def test_functions_that_differ_have_digests_that_differ():
    digests = {name: function_digest(function, {}, False) for name, function in FUNCTIONS.items()}
    assert len(set(digests.values())) == len(FUNCTIONS)
    assert function_digest(power(1), {}, False) == digests["closure of 1"]
    assert function_digest(Scaled(2), {}, False) == digests["object of 2"]
    assert function_digest(functools.partial(two, c=2), {}, False) == digests["partial of 2"]
    assert function_digest(two, {}, True) != digests["plain"]
    assert function_digest(two, {"c": power(1)}, False) != function_digest(two, {"c": power(2)}, False)
    with pytest.raises(
        TypeError, match="recognises a function by its code.*pass a plain function, or leave memory out"
    ):
        function_digest(two, {"c": threading.Lock()}, False)


# keys of objects


@given(st.lists(st.integers() | st.text(max_size=3) | st.tuples(st.integers(0, 3), st.text(max_size=2)), max_size=6))
def test_the_order_of_sets_and_dicts_does_not_matter(parts):
    back = parts[::-1]
    for here, there in (
        (set(parts), set(back)),
        (frozenset(parts), frozenset(back)),
        ({part: [1] for part in parts}, {part: [1] for part in back}),
        ([{1: frozenset(parts)}], [{1: frozenset(back)}]),
    ):
        assert joblib_hash(canonical(here)) == joblib_hash(canonical(there))


def test_things_that_differ_have_keys_that_differ():
    things = [1, 1.0, True, "1", b"1", None, [1], (1,), {1}, frozenset([1]), {1: 1}, [[1]], [1, 1], [1.0], np.ones(1)]
    things += [np.ones(1, int), np.ones((1, 1)), {-1, "a"}, {-2, "a"}, {-1: 0, "a": 0}, {-2: 0, "a": 0}, ("list", [1])]
    assert len({joblib_hash(canonical(thing)) for thing in things}) == len(things)
    row = np.arange(6.0).reshape(2, 3)
    assert joblib_hash(canonical(np.asfortranarray(row)[0])) == joblib_hash(canonical(row[0]))


def test_objects_that_cannot_be_hashed(tmp_path):
    objects = [(1,), (2,), (threading.Lock(),)]
    with pytest.raises(TypeError, match="object 2 of the type tuple cannot be hashed.*leave memory out"):
        make_space(objects, lambda a, b: 1.0, {"memory": tmp_path}).kneighbors(1, limit=2)


# files that are not right


def filled(folder):
    X, _ = some_sets(12)
    space = make_space(X, jaccard, {"memory": folder})
    space.kneighbors(2, limit=12)
    [name] = os.listdir(folder)
    return X, folder / name


@pytest.mark.parametrize("damage", ["text", "middle", "values"])
def test_a_damaged_file(damage, tmp_path):
    X, path = filled(tmp_path)
    if damage == "values":
        connection = sqlite3.connect(path)
        connection.execute("UPDATE pairs SET value = -1")
        connection.commit()
        connection.close()
    else:
        content = path.read_bytes()
        path.write_bytes(b"hello " * 1000 if damage == "text" else content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(ValueError, match=rf"memory: '.*{path.name}' is damaged .*; delete it, .*-wal and -shm"):
        make_space(X, jaccard, {"memory": tmp_path}).kneighbors(2, limit=12)
    path.unlink()
    make_space(X, jaccard, {"memory": tmp_path}).kneighbors(2, limit=12)


def test_a_file_that_cannot_be_opened(tmp_path):
    X, path = filled(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="cannot be used .*make sure that its folder can be written to"):
        make_space(X, jaccard, {"memory": tmp_path}).kneighbors(2, limit=12)


# several processes


PROGRAM = """
import sys, time
from protoset import REPS

def distance(a, b):
    with open(sys.argv[2], "a") as log:
        log.write(".")
    time.sleep(0.003)
    return 1 - len(a & b) / len(a | b)

if __name__ == "__main__":
    X = [frozenset(f"{word}{i % 7}" for word in "abcdefg"[i % 3:] + str(i)) for i in range(30)]
    params = {"symmetric": True, "memory": sys.argv[1]}
    selector = REPS(6, metric=distance, metric_params=params).fit(X, [0, 1, 2] * 10)
    print(*selector.sample_indices_)
"""
PAIRS = 30 * 29 // 2


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def start(log):
        command = [sys.executable, tmp_path / "program.py", tmp_path / "memory", tmp_path / log]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


def finish(process):
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return output


def stored(folder):
    """Pairs in the one file of the folder, 0 while it is not there."""
    files = list(folder.glob("*.sqlite3")) if folder.is_dir() else []
    if not files:
        return 0
    connection = sqlite3.connect(files[0], timeout=60)
    try:
        return connection.execute("SELECT count(*) FROM pairs").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_run_goes_on_where_it_was(program, tmp_path):
    """In other processes, in which sets of strings have another order."""
    first = program("first")
    while stored(tmp_path / "memory") < 50 and first.poll() is None:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    known = stored(tmp_path / "memory")
    assert 50 <= known <= len((tmp_path / "first").read_text())
    output = finish(program("second"))
    assert len((tmp_path / "second").read_text()) == PAIRS - known
    assert finish(program("third")) == output
    assert not (tmp_path / "third").exists()


def test_two_processes_at_once(program, tmp_path):
    both = [program("one"), program("other")]
    outputs = [finish(process) for process in both]
    assert outputs[0] == outputs[1]
    assert stored(tmp_path / "memory") == PAIRS
