"""Functions as metrics: any objects, each pair once, errors that name the pair, files without code."""

import functools
import itertools
import json
import os
import pickle
import threading
import time
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags

from protoset import REPS, FileFormatError, NeighborSearch, PrototypeClassifier, Refined, _blocks, load, save
from protoset.selectors import RandomSelector, _refinable_set
from protoset.spaces import DISSIMILARITIES, _pair_evaluation, callables, make_space
from protoset.spaces._pair_evaluation import as_dissimilarity
from protoset.spaces._plain_objects import Encoder, decode
from protoset.spaces.callables import CallableSpace

from conftest import overlapping


def jaccard(a, b):
    return 1 - len(a & b) / max(1, len(a | b))


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]


def tree_distance(a, b):
    """Between nested tuples (label, child, child, ...), child by child."""
    if a is None or b is None:
        tree = a or b
        return 1 + sum(tree_distance(child, None) for child in tree[1:])
    children = [
        (a[place] if place < len(a) else None, b[place] if place < len(b) else None)
        for place in range(1, max(len(a), len(b)))
    ]
    return (a[0] != b[0]) + sum(tree_distance(*pair) for pair in children)


def directed(a, b, scale=1.0):
    """Not symmetric: what b has and a does not counts twice."""
    return scale * (len(a - b) + 2 * len(b - a))


def fails_on_seven(a, b):
    if 7 in (a, b):
        raise KeyError("seven")
    return abs(a - b)


def nan_on_seven(a, b):
    return float("nan") if 7 in (a, b) else abs(a - b)


def with_process(a, b, log):
    with open(log, "a") as file:
        file.write(f"{os.getpid()}\n")
    return jaccard(a, b)


def random_tree(rng, depth):
    children = [] if depth == 0 else [random_tree(rng, depth - 1) for _ in range(rng.integers(0, 4))]
    return (str(rng.choice(list("xyz"))), *children)


def objects_of(kind, n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    if kind == "sets":
        return [frozenset((rng.choice(12, 5) + 4 * label).tolist()) for label in y], y
    if kind == "tuples":
        return [tuple(rng.choice(list("abcd"[label:]), rng.integers(2, 7)).tolist()) for label in y], y
    return [random_tree(rng, 1 + label) for label in y], y


KINDS = {"sets": jaccard, "tuples": edit_distance, "trees": tree_distance}


class Counter:
    """Counts the calls of a function by pair."""

    def __init__(self, function):
        self.function, self.pairs = function, []

    def __call__(self, a, b, **arguments):
        self.pairs.append((id(a), id(b)))
        return self.function(a, b, **arguments)


def matrix_of(function, rows, columns):
    return np.array([[function(a, b) for b in columns] for a in rows], float)


# what is computed


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_function_equals_its_matrix(kind, symmetric):
    X, y = objects_of(kind)
    queries, _ = objects_of(kind, 15, seed=1)
    matrix = matrix_of(KINDS[kind], X, X)
    params = {"symmetric": symmetric}
    space, precomputed = make_space(X, KINDS[kind], params), make_space(matrix, "precomputed")
    assert space.shape == (40, 40)
    assert space.n_features is None
    assert space.metric == "callable"
    np.testing.assert_array_equal(space.block(slice(None), slice(None)), matrix)
    raw, expected = space.kneighbors(6, limit=40), precomputed.kneighbors(6, limit=40)
    np.testing.assert_array_equal(raw.indices, expected.indices)
    np.testing.assert_array_equal(raw.distances, expected.distances)
    rows, columns = np.arange(0, 40, 3), np.arange(1, 40, 3)
    np.testing.assert_array_equal(space.nearest(rows, columns)[0], precomputed.nearest(rows, columns)[0])
    cross = matrix_of(KINDS[kind], queries, X)
    np.testing.assert_array_equal(space.cross(queries).block(slice(None), columns), cross[:, columns])
    np.testing.assert_array_equal(space.prototypes(rows).cross(queries).block(slice(None), slice(None)), cross[:, rows])
    # A matrix tells which objects are copies, and orders ties and folds by content; a function does neither.
    _, distinct = np.unique(precomputed.identical(), return_index=True)
    distinct = np.sort(distinct)
    X, y, matrix = [X[row] for row in distinct], y[distinct], matrix[np.ix_(distinct, distinct)]
    for n_prototypes in (0.2, "auto"):
        ours = REPS(n_prototypes, metric=KINDS[kind], metric_params=params, random_state=0).fit(X, y)
        theirs = REPS(n_prototypes, metric="precomputed", random_state=0).fit(matrix, y)
        np.testing.assert_array_equal(ours.scores_, theirs.scores_)
    ours = PrototypeClassifier(REPS(1.0, metric=KINDS[kind], metric_params=params)).fit(X, y)
    theirs = PrototypeClassifier(REPS(1.0, metric="precomputed")).fit(matrix, y)
    np.testing.assert_array_equal(ours.predict(queries), theirs.predict(cross[:, distinct]))
    # Sets of a function are judged by leave-one-out, those of a matrix by folds.
    assert (ours.calibration_.how, theirs.calibration_.how) == ("leave-one-out", "folds")
    np.testing.assert_allclose(ours.predict_proba(queries).sum(axis=1), 1)


@given(st.lists(st.frozensets(st.integers(0, 5), max_size=4), min_size=3, max_size=12), st.integers(1, 12))
def test_an_asymmetric_function_is_read_from_object_to_prototype(sets, k):
    raw = make_space(sets, directed, {"scale": 3}).kneighbors(k, limit=12)
    matrix = 3 * matrix_of(directed, sets, sets)
    expected = make_space(matrix, "precomputed").kneighbors(k, limit=12)
    np.testing.assert_array_equal(raw.indices, expected.indices)
    np.testing.assert_array_equal(raw.distances, expected.distances)


@pytest.mark.parametrize("container", [list, tuple, np.array, pd.Series])
def test_rows_of_arrays_and_other_sequences(container):
    X, y = overlapping(50)
    numbers = container(X[:, 0].tolist())
    selector = REPS(0.2, metric=lambda a, b: abs(a - b)).fit(numbers, y)
    np.testing.assert_array_equal(
        selector.sample_indices_, REPS(0.2, metric="cityblock").fit(X[:, :1], y).sample_indices_
    )
    kept, _ = selector.fit_resample(numbers, y)
    np.testing.assert_array_equal(np.asarray(kept), X[selector.sample_indices_, 0])


def test_rows_of_an_array_are_objects_and_prototypes_do_not_keep_it_alive():
    X, y = overlapping(60)
    ours = PrototypeClassifier(REPS(0.2, metric=lambda a, b: np.abs(a - b).max())).fit(X, y)
    theirs = PrototypeClassifier(REPS(0.2, metric="chebyshev")).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert all(row.base is None for row in ours._prototypes._columns)


# how often


@pytest.mark.parametrize("n_prototypes", [0.2, "auto"])
def test_each_pair_is_computed_once_in_a_fit(n_prototypes):
    X, y = objects_of("sets", 50)
    X = [frozenset(part) for part in map(list, X)]  # distinct objects, so that ids tell them apart
    for symmetric, expected in ((False, 50 * 49), (True, 50 * 49 // 2)):
        counter = Counter(jaccard)
        space = make_space(X, counter, {"symmetric": symmetric})
        REPS(n_prototypes, search=NeighborSearch(n_neighbors=3)).fit(space, y)
        assert len(counter.pairs) == expected
        assert len({frozenset(pair) if symmetric else pair for pair in counter.pairs}) == expected
        assert all(a != b for a, b in counter.pairs)
        space.block(slice(None), slice(None))
        assert len(counter.pairs) == expected


@pytest.mark.parametrize("symmetric", [False, True])
def test_large_training_sets_are_not_kept_but_searched_pair_by_pair(symmetric, monkeypatch):
    monkeypatch.setattr(callables, "KNOWN_BYTES", 0)
    monkeypatch.setattr(callables, "STEP_PAIRS", 70)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 3000)
    X, _ = objects_of("sets", 30)
    counter = Counter(jaccard)
    raw = make_space(X, counter, {"symmetric": symmetric}).kneighbors(4, limit=30)
    assert len(counter.pairs) == 30 * 29 // (1 + symmetric)
    expected = make_space(matrix_of(jaccard, X, X), "precomputed").kneighbors(4, limit=30)
    np.testing.assert_array_equal(raw.indices, expected.indices)


@pytest.mark.parametrize("symmetric", [False, True])
def test_progress(symmetric):
    told = []
    X, _ = objects_of("sets", 30)
    make_space(X, jaccard, {"symmetric": symmetric}).kneighbors(3, limit=30, progress=lambda *now: told.append(now))
    total = 30 * 29 // (1 + symmetric)
    assert len(told) > 1
    assert told[-1] == (total, total)
    assert all(a[0] < b[0] for a, b in itertools.pairwise(told))


# workers


@pytest.mark.parametrize("symmetric", [False, True])
def test_n_jobs_starts_processes_and_changes_nothing(symmetric, tmp_path, monkeypatch):
    monkeypatch.setattr(_pair_evaluation, "WORKER_SECONDS", 1e-9)
    X, _ = objects_of("sets", 30)
    params = {"symmetric": symmetric, "log": str(tmp_path / "log")}
    got = make_space(X, with_process, params).kneighbors(4, limit=30, n_jobs=2)
    pids = (tmp_path / "log").read_text().split()
    # The first pairs are computed here, to measure the function.
    assert pids.count(str(os.getpid())) == 3
    assert len(pids) == 30 * 29 // (1 + symmetric)
    expected = make_space(X, jaccard).kneighbors(4, limit=30)
    np.testing.assert_array_equal(got.indices, expected.indices)
    np.testing.assert_array_equal(got.distances, expected.distances)


@pytest.mark.parametrize("n_jobs", [60, -1])
def test_little_work_starts_no_process(n_jobs, tmp_path):
    params = {"symmetric": True, "log": str(tmp_path / "log")}
    X, _ = objects_of("sets", 8)
    make_space(X, with_process, params).kneighbors(3, limit=8, n_jobs=n_jobs)
    assert (tmp_path / "log").read_text().split() == [str(os.getpid())] * 28


def test_as_many_workers_as_there_is_work_for():
    evaluator = _pair_evaluation.PairEvaluator(jaccard, {}, n_jobs=60)
    outcome = _pair_evaluation.Outcome(0, np.zeros(2), seconds=0.5)
    assert [evaluator._worthwhile(n_pairs, outcome) for n_pairs in (0, 3, 4, 12, 10**6)] == [0, 0, 1, 3, 60]


@pytest.mark.parametrize("what", ["function", "objects"])
def test_threads_where_something_cannot_be_pickled(what, monkeypatch):
    monkeypatch.setattr(_pair_evaluation, "WORKER_SECONDS", 1e-9)
    X, _ = objects_of("sets", 30)
    calls = []
    if what == "objects":
        X = [(part, threading.Lock()) for part in X]
    counting = lambda a, b: calls.append(os.getpid()) or jaccard(a, b)  # noqa: E731
    metric = counting if what == "function" else lambda a, b: counting(a[0], b[0])
    got = make_space(X, metric).kneighbors(4, limit=30, n_jobs=2)
    assert calls == [os.getpid()] * (30 * 29)
    expected = make_space(X, metric).kneighbors(4, limit=30)
    np.testing.assert_array_equal(got.indices, expected.indices)


@pytest.mark.parametrize("selector", [RandomSelector(6, random_state=0), Refined(REPS(6), n_starts=2, n_jobs=2)])
def test_a_function_is_not_called_by_several_threads_at_once(selector, monkeypatch):
    monkeypatch.setattr(callables, "KNOWN_BYTES", 0)  # distances are not kept
    monkeypatch.setattr(_refinable_set, "plan_candidates", lambda n_objects, n_neighbors: (20, 0))
    X, y = overlapping(60)
    inside, overlaps = threading.Lock(), []

    def distance(a, b):
        is_alone = inside.acquire(blocking=False)
        time.sleep(1e-5)  # lets other threads go on
        if is_alone:
            inside.release()
        else:
            overlaps.append(1)
        return float(np.abs(a - b).sum())

    ranking = getattr(selector, "selector", selector)
    ranking.set_params(metric=distance)
    answers = [PrototypeClassifier(selector, n_jobs=n).fit(list(X), y).predict_proba(list(X[:9])) for n in (1, 2)]
    assert not overlaps
    np.testing.assert_array_equal(*answers)


def test_an_interrupt_stops_the_search():
    calls = []

    def interrupted(a, b):
        calls.append(1)
        if len(calls) == 10:
            raise KeyboardInterrupt
        return 1.0

    X, y = objects_of("sets")
    selector = REPS(0.2, metric=interrupted)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    assert len(calls) == 10
    assert not hasattr(selector, "sample_indices_")


# errors


RETURNED = [
    (float("nan"), "nan"),
    (np.float64("nan"), "nan"),
    (float("inf"), "inf"),
    (-0.5, "-0.5"),
    (10**400, "1000.*"),
    (None, "None"),
    ("3", "'3'"),
    (b"3", "b'3'"),
    (1j, "1j"),
    (np.arange(2.0), r"array\(\[0., 1.\]\)"),
    (np.empty(0), r"array\(\[\].*"),
    (np.ma.masked, "masked"),
]


@pytest.mark.parametrize(("returned", "shown"), RETURNED, ids=[shown for _, shown in RETURNED])
def test_what_is_no_dissimilarity(returned, shown):
    message = f"metric returned {shown} for objects 3 and 5; a dissimilarity must be a finite number of at least 0"
    with pytest.raises(ValueError, match=message):
        make_space(range(8), lambda a, b: returned if (a, b) == (3, 5) else 1.0).kneighbors(2, limit=8)


@pytest.mark.parametrize("returned", [1, 1.5, True, np.float32(2), np.int8(3), np.array([[4.0]]), np.bool_(False)])
def test_what_is_a_dissimilarity(returned):
    assert as_dissimilarity(returned) == float(np.asarray(returned).item())


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_function_that_fails(n_jobs):
    y = np.arange(12) % 2
    with pytest.raises(RuntimeError, match="metric raised KeyError for objects 0 and 7: 'seven'") as caught:
        REPS(4, metric=fails_on_seven, n_jobs=n_jobs).fit(list(range(12)), y)
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__cause__.args == ("seven",)
    with pytest.raises(ValueError, match="metric returned nan for objects 0 and 7;"):
        REPS(4, metric=nan_on_seven, n_jobs=n_jobs).fit(list(range(12)), y)


class StrangeError(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def fails_strangely(a, b):
    if (a, b) == (3, 4):
        raise StrangeError(1, 2)
    return 1.0


def test_an_exception_that_cannot_be_sent_keeps_its_text(monkeypatch):
    monkeypatch.setattr(_pair_evaluation, "WORKER_SECONDS", 1e-9)
    with pytest.raises(RuntimeError, match="objects 3 and 4: 1 and 2") as caught:
        make_space(range(5), fails_strangely).kneighbors(2, limit=5, n_jobs=2)
    assert "StrangeError" in caught.value.__cause__.__notes__[0]


def test_a_function_that_fails_on_a_query():
    classifier = PrototypeClassifier(REPS(4, metric=fails_on_seven)).fit([1, 2, 3, 4, 5, 6], [0, 1] * 3)
    with pytest.raises(RuntimeError, match="metric raised KeyError for query 1 and prototype 0"):
        classifier.predict([3, 7])


BAD = [
    ((pd.DataFrame({"a": [1.0, 2]}), jaccard), {}, r"X is a DataFrame.*pass X.to_numpy\(\)"),
    ((sparse.identity(3), jaccard), {}, "X is a sparse matrix"),
    (("words", jaccard), {}, "X='words' is not a sequence of objects; pass a list"),
    (({1: 2}, jaccard), {}, "is not a sequence of objects"),
    (({1, 2}, jaccard), {}, "is not a sequence of objects"),
    ((iter([1, 2]), jaccard), {}, "is not a sequence of objects"),
    ((np.array(3), jaccard), {}, "is not a sequence of objects"),
    ((np.ma.masked_less(np.ones((3, 2)), 1), jaccard), {}, "X is a masked array"),
    (([], jaccard), {}, r"Found 0 sample\(s\) in X"),
    (([1, 2], jaccard), {"symmetric": 1}, "metric_params: symmetric=1 must be True or False"),
    (([1, 2], jaccard), {"memory": 5}, "metric_params: memory=5 must be the path of a folder, or None"),
    (([1, 2], jaccard), {"memory": __file__}, "exists and is not a folder; pass another"),
    (
        ([1, 2], jaccard),
        {"symetric": True},
        r"metric_params=\{'symetric': True\}: test_callables.jaccard cannot be called.*'symmetric' and 'memory'",
    ),
    (([1, 2], lambda a: 1), {}, "cannot be called with two objects"),
    (([1, 2], "callable"), {}, "metric='callable' stands for functions; pass the function itself, metric=function"),
    (([1, 2], 3), {}, "metric=3 is not known.*pass a function of two objects"),
]


@pytest.mark.parametrize(("arguments", "params", "message"), BAD, ids=range(len(BAD)))
def test_bad_arguments(arguments, params, message):
    with pytest.raises((TypeError, ValueError, NotADirectoryError), match=message):
        make_space(*arguments, params)


def test_a_frame_of_queries_is_refused_too():
    classifier = PrototypeClassifier(REPS(2, metric=lambda a, b: abs(a - b))).fit([1, 2, 3], [0, 1, 1])
    with pytest.raises(TypeError, match="X is a DataFrame"):
        classifier.predict(pd.DataFrame({"a": [1, 2]}))


# scikit-learn


def test_the_registry_lists_functions_but_not_by_name():
    record = DISSIMILARITIES["callable"]
    assert record.space is CallableSpace
    assert (record.kind, record.symmetric, record.ragged) == ("objects", False, True)
    with pytest.raises(ValueError, match="choose one of") as caught:
        make_space([1, 2], "callables")
    assert "'callable'" not in str(caught.value)


def test_scikit_learn_slices_clones_and_tags():
    X, y = objects_of("sets", 60)
    params = {"symmetric": True}
    classifier = PrototypeClassifier(REPS(0.3, metric=jaccard, metric_params=params))
    matrix = matrix_of(jaccard, X, X)
    expected = cross_val_score(PrototypeClassifier(REPS(0.3, metric="precomputed")), matrix, y, cv=4)
    np.testing.assert_array_equal(cross_val_score(classifier, X, y, cv=4), expected)
    search = GridSearchCV(classifier, {"selector__n_prototypes": [0.2, 0.4]}, cv=3).fit(X, y)
    assert len(search.predict(X[:5])) == 5
    assert clone(classifier).selector.metric is classifier.metric is jaccard
    assert not get_tags(classifier).input_tags.pairwise
    assert not get_tags(classifier).input_tags.sparse
    repr(classifier)


def test_a_fitted_classifier_can_be_pickled():
    X, y = objects_of("sets")
    classifier = PrototypeClassifier(REPS(0.3, metric=jaccard)).fit(X, y)
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict(X), classifier.predict(X))
    space = make_space(X, jaccard)
    space.kneighbors(3, limit=40)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(space)).kneighbors(3, limit=40).indices, space.kneighbors(3, limit=40).indices
    )


# files


def euclid(a, b, power=2):
    return float(np.abs(np.sum(np.abs(np.asarray(a)[:1] - np.asarray(b)[:1]) ** power)))


def ragged_arrays(n=20):
    rng = np.random.default_rng(0)
    return [rng.normal(size=rng.integers(1, 5)).astype([np.float32, np.float64][i % 2]) for i in range(n)]


FILES = {
    "sets": (objects_of("sets")[0], jaccard),
    "tuples": (objects_of("tuples")[0], edit_distance),
    "trees": (objects_of("trees")[0], tree_distance),
    "ragged arrays": (ragged_arrays(), euclid),
    "rows": (overlapping(20)[0], euclid),
    "numbers": (overlapping(20)[0][:, 0], lambda a, b: abs(a - b)),
    "strings": (["abc", "abd", "xyz", "xyy", "é"] * 4, edit_distance),
    "graphs": (
        [{"nodes": [1, 2], "edges": {(1, k): float(k)}, 3: None} for k in range(20)],
        lambda a, b: abs(len(a) - len(b)) + len(set(a["edges"]) ^ set(b["edges"])),
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_save_and_load(kind, tmp_path):
    X, function = FILES[kind]
    y = np.arange(len(X)) % 2
    classifier = PrototypeClassifier(REPS(8, metric=function, metric_params={"symmetric": True})).fit(X, y)
    save(classifier, tmp_path / "a")
    again = load(tmp_path / "a", metric=function)
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))
    assert again.selector.metric is function
    for old, new in zip(classifier._prototypes._columns, again._prototypes._columns, strict=True):
        assert type(old) is type(new)
    save(again, tmp_path / "b")
    with zipfile.ZipFile(tmp_path / "a") as a, zipfile.ZipFile(tmp_path / "b") as b:
        assert all(a.read(name) == b.read(name) for name in a.namelist())


def test_arguments_are_in_the_file_but_neither_function_nor_folder(tmp_path):
    X, y = ragged_arrays(), np.arange(20) % 2
    params = {"power": 3, "memory": tmp_path / "memory"}
    classifier = PrototypeClassifier(REPS(6, metric=euclid, metric_params=params)).fit(X, y)
    save(classifier, tmp_path / "model")
    again = load(tmp_path / "model", metric=euclid)
    np.testing.assert_array_equal(again.explain(X).distances, classifier.explain(X).distances)
    assert again.selector.metric_params == {"power": 3}
    assert again._prototypes._memory is None
    with zipfile.ZipFile(tmp_path / "model") as archive:
        metadata = json.loads(archive.read("metadata.json"))
    assert metadata["selector"]["parameters"]["metric"] == {"callable": "test_callables.euclid"}
    assert '"memory"' not in json.dumps(metadata["selector"])


def test_the_function_is_asked_for_where_it_is_needed(tmp_path):
    X, y = objects_of("sets")
    save(PrototypeClassifier(REPS(6, metric=jaccard)).fit(X, y), tmp_path / "ours")
    save(PrototypeClassifier(REPS(6)).fit(*overlapping(30)), tmp_path / "vectors")
    with pytest.raises(ValueError, match=r"metric, test_callables.jaccard, and files hold no code; pass the function"):
        load(tmp_path / "ours")
    with pytest.raises(TypeError, match="metric='jaccard' must be the function"):
        load(tmp_path / "ours", metric="jaccard")
    with pytest.raises(ValueError, match="has metric='euclidean', which is not a function; leave metric out"):
        load(tmp_path / "vectors", metric=jaccard)


class Thing:
    """Nothing that JSON knows."""

    size = 1


def test_objects_that_a_file_cannot_hold(tmp_path):
    loop = []
    loop.append(loop)
    for thing, message in (
        (Thing(), "prototype 0: the type Thing cannot be written without pickle; make the objects of numbers"),
        ([{"a": Thing()}], "the type Thing"),
        (np.array(["a"]), "the type ndarray"),
        (1j, "the type complex"),
        (loop, "holds itself"),
    ):
        classifier = PrototypeClassifier(REPS(2, metric=lambda a, b: 1.0)).fit([thing] * 4, [0, 0, 1, 1])
        with pytest.raises(TypeError, match=message):
            save(classifier, tmp_path / "model")
    classifier = PrototypeClassifier(REPS(2, metric=lambda a, b, cost: cost(), metric_params={"cost": float}))
    with pytest.raises(TypeError, match="metric_params: the type type cannot be written"):
        save(classifier.fit([1, 2, 3, 4], [0, 0, 1, 1]), tmp_path / "model")
    assert not os.listdir(tmp_path)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def test_strings_of_numpy_come_back_as_strings():
    words = np.array(["bread", "milk"])
    encoder = Encoder()
    encoded = encoder.encode([{words[0]}, {words[1]: 1}])
    assert decode(encoded, encoder.arrays()) == [{"bread"}, {"milk": 1}]
    assert json.dumps(encoded) == '[{"set": ["bread"]}, {"dict": [["milk", 1]]}]'


@given(st.lists(PLAIN | st.frozensets(st.integers() | st.tuples(st.text(max_size=2))), max_size=4))
def test_plain_objects_come_back_as_they_were(things):
    encoder = Encoder()
    values = json.loads(json.dumps([encoder.encode(thing) for thing in things]))
    again = [decode(value, encoder.arrays()) for value in values]
    assert repr(again) == repr(things) or again == things


def test_arrays_of_every_kind_come_back_as_they_were():
    things = [
        np.arange(6).reshape(2, 3),
        np.float32(2),
        np.array(3.5),
        np.zeros((0, 4)),
        np.array([True]),
        np.ones(2, ">f8"),
    ]
    encoder = Encoder()
    values = json.loads(json.dumps([encoder.encode(thing) for thing in things]))
    for thing, value in zip(things, values, strict=True):
        again = decode(value, encoder.arrays())
        assert type(again) is type(thing)
        assert again.shape == thing.shape
        assert again.dtype == thing.dtype.newbyteorder("=")
        np.testing.assert_array_equal(again, thing)


DAMAGE = {
    "no objects": lambda space: space.update(objects=[]),
    "objects of another kind": lambda space: space.update(objects={"tuple": [1]}),
    "an unknown kind": lambda space: space.update(objects=[{"eval": ["1"]}]),
    "two kinds": lambda space: space.update(objects=[{"tuple": [], "set": []}]),
    "beyond the numbers": lambda space: space["objects"][0].update(array=["f8", 0, [10**9]]),
    "overflow": lambda space: space["objects"][0].update(array=["f8", 0, [2**40, 2**40]]),
    "a negative place": lambda space: space["objects"][0].update(array=["f8", -1, [1]]),
    "another dtype": lambda space: space["objects"][0].update(array=["i8", 0, [1]]),
    "no symmetry": lambda space: space.pop("symmetric"),
    "strange symmetry": lambda space: space.update(symmetric="yes"),
    "no arguments": lambda space: space.update(arguments=3),
    "too few objects": lambda space: space["objects"].pop(),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damaged_files(case, tmp_path):
    X = list(overlapping(20)[0])
    save(PrototypeClassifier(REPS(6, metric=euclid)).fit(X, np.arange(20) % 2), tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    metadata = json.loads(members["metadata.json"])
    DAMAGE[case](metadata["space"])
    members["metadata.json"] = json.dumps(metadata).encode()
    with zipfile.ZipFile(tmp_path / "model", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(FileFormatError, match="damaged"):
        load(tmp_path / "model", metric=euclid)


def test_a_partial_and_an_object_that_can_be_called():
    X, y = objects_of("sets")
    expected = REPS(8, metric=directed, metric_params={"scale": 2}).fit(X, y).sample_indices_
    for function in (functools.partial(directed, scale=2), Counter(functools.partial(directed, scale=2))):
        np.testing.assert_array_equal(REPS(8, metric=function).fit(X, y).sample_indices_, expected)
