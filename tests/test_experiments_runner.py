"""The runner: its numbers against a direct computation, whatever the number of processes; failures, interruptions."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from benchmarks.keel import read_keel_typed
from benchmarks.refinement_vectors import NEIGHBOR_RULE, measure
from protoset import REPS, Refined, refine
from protoset.datasets import Attribute, Dataset
from protoset.experiments import folds, read_plan, results, resume, run, status, table
from protoset.experiments.folds import digest
from protoset.selectors import FCNN, RMHC, SSMA, KMedoids
from protoset.spaces import Space, make_space

import experiment_data
from experiment_data import load

METHODS = [
    "NoPS",
    {"method": "SSMA", "max_evaluations": 200, "label": "SSMA"},
    {"method": "FCNN", "n_neighbors": [1, 2]},
    {"method": "KMedoids", "rates": [0.2]},
    {"method": "RMHC", "at": "FCNN", "max_iter": 100, "label": "RMHC"},
    {"method": "REPS", "refine": [False, True], "at": ["SSMA", "FCNN"]},
    {"method": "REPS", "rates": [0.02, 0.1]},
    {"method": "FCNN", "refine": True, "label": "better FCNN"},
    {"method": "REPS", "refine": True, "n_prototypes": 6, "label": "six"},
]
PLAN = {"data": ["iris", "wine"], "methods": METHODS, "folds": {"n": 3, "seed": 5}, "order": "rows", "seeds": [0, 1]}
MEASURES = ("error", "selection_rate", "n_prototypes", "macro_f1", "balanced_accuracy", "n_distances", "kept")


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    path = tmp_path_factory.mktemp("experiment") / "journal.sqlite"
    progress = run(PLAN, path, data=load)
    assert (progress.done, progress.failed) == (progress.total, 0)
    return path


def measured(path):
    return {row.id: [getattr(row, name) for name in MEASURES] for row in results(path, kept=True)}


def test_results_are_those_of_a_direct_computation(journal):
    rows = {(row.data, row.fold, row.method, row.seed): row for row in results(journal, kept=True)}
    assert len(rows) == 2 * 3 * (1 + 2 + 2 + 2 + 2 * 2 + 2 * (2 + 2) + 2 + 1 + 1)
    for data in ("iris", "wine"):
        dataset = load(data)
        X, y = dataset.objects, dataset.labels
        folds = StratifiedKFold(3, shuffle=True, random_state=5).split(X, y)
        for fold, (train, test) in enumerate(folds):
            scaler = StandardScaler().fit(X[train])
            A, B, labels = scaler.transform(X[train]), scaler.transform(X[test]), y[train]
            D = make_space(A).block(slice(None), slice(None))
            space = make_space(D, "precomputed")

            def check(kept, method, seed=None, data=data, fold=fold, A=A, B=B, train=train, test=test, y=y):
                row = rows[data, fold, method, seed]
                np.testing.assert_array_equal(row.kept_indices, train[kept], err_msg=method)
                predicted = KNeighborsClassifier(1, algorithm="brute").fit(A[kept], y[train][kept]).predict(B)
                assert row.error == pytest.approx(np.mean(predicted != y[test]))
                assert row.n_prototypes == len(kept)
                assert row.selection_rate == pytest.approx(len(kept) / len(train))
                assert (row.n_train, row.n_test) == (len(train), len(test))

            check(np.arange(len(train)), "NoPS")
            precomputed = {"metric": "precomputed"}
            ranked = REPS(1.0, **precomputed).fit(D, labels)
            for seed in (0, 1):
                own = SSMA(max_evaluations=200, random_state=seed, **precomputed).fit(D, labels).sample_indices_
                check(own, "SSMA", seed)
                check(ranked.select(len(own)), "REPS at SSMA", seed)
                check(
                    refine(space, labels, ranked.select(len(own))).indices,
                    "REPS(refine=True) at SSMA",
                    seed,
                )
                check(
                    KMedoids(0.2, random_state=seed, **precomputed).fit(D, labels).sample_indices_,
                    "KMedoids at 0.2",
                    seed,
                )
            for k in (1, 2):
                own = FCNN(k).fit(A, labels).sample_indices_
                check(own, f"FCNN(n_neighbors={k})")
                check(ranked.select(len(own)), f"REPS at FCNN(n_neighbors={k})")
                alone = Refined(REPS(len(own), **precomputed)).fit(D, labels)
                check(alone.sample_indices_, f"REPS(refine=True) at FCNN(n_neighbors={k})")
                climbed = RMHC(len(own), max_iter=100, random_state=1, **precomputed).fit(D, labels)
                check(climbed.sample_indices_, f"RMHC at FCNN(n_neighbors={k})", 1)
            check(refine(space, labels, FCNN().fit(A, labels).sample_indices_).indices, "better FCNN")
            check(ranked.select(0.02), "REPS at 0.02")
            check(ranked.select(0.1), "REPS at 0.1")
            check(Refined(REPS(6, **precomputed)).fit(D, labels).sample_indices_, "six")


def test_rows_say_how_they_came_about(journal):
    row = next(row for row in results(journal) if row.method == "FCNN(n_neighbors=2)")
    assert json.loads(row.parameters) == {"n_neighbors": 2, "start": "auto", "tie_rule": "majority", "refine": False}
    assert set(json.loads(row.versions)) == {"protoset", "numpy", "scipy", "scikit-learn", "numba", "python"}
    assert json.loads(row.counters)["n_iter"] >= 1
    assert row.n_distances > 0
    assert min(row.cpu_seconds, row.wall_seconds, row.distance_seconds) > 0
    assert row.finished.endswith("+00:00")


def test_two_processes_give_the_same(journal, tmp_path):
    run(PLAN, tmp_path / "two.sqlite", n_jobs=2, data=load)
    assert measured(tmp_path / "two.sqlite") == measured(journal)
    np.testing.assert_array_equal(table(tmp_path / "two.sqlite").values, table(journal).values)


def test_nothing_is_computed_twice(journal):
    before = results(journal, kept=True)
    seen = []
    progress = resume(journal, data=load, callback=seen.append)
    assert seen == []
    assert (progress.done, progress.remaining) == (progress.total, 0.0)
    assert status(journal).missing == 0
    assert results(journal, kept=True) == before


def test_a_run_that_stops_again_and_again_gives_the_same(journal, tmp_path):
    """Sizes of other methods then come from the journal."""
    path, rounds = tmp_path / "bits.sqlite", 0
    plan = PLAN | {"data": ["iris"]}
    while rounds == 0 or status(path).missing:
        run(plan, path, data=load, callback=lambda progress: progress.done % 4 == 0)
        rounds += 1
    assert rounds == -(-len(read_plan(plan).cells) // 4)
    whole = measured(journal)
    assert measured(path) == {name: whole[name] for name in measured(path)}


def test_methods_without_seeds_have_no_randomness():
    """Otherwise one run of them would not be enough."""
    plan = read_plan({"data": ["iris"], "methods": [name for name, _ in experiment_data.selectors()], "folds": 2})
    dataset = load("iris")
    for method in plan.methods:
        if method.seeds is None:
            selector = dict(experiment_data.selectors())[method.spec.selector]
            first, second = (selector().fit(dataset.objects, dataset.labels).sample_indices_ for _ in range(2))
            np.testing.assert_array_equal(first, second)


def errors(tmp_path, data, **plan):
    path = tmp_path / f"{data}.sqlite"
    progress = run({"data": [data], "methods": ["NoPS"], "folds": 3, "order": "rows"} | plan, path, data=load)
    assert progress.failed == 0, status(path).failures
    return [row.error for row in results(path)]


def nearest_errors(matrix, y, folds):
    return [np.mean(y[train][matrix[np.ix_(test, train)].argmin(axis=1)] != y[test]) for train, test in folds]


def dealt(y, kind=StratifiedKFold):
    return list(kind(3, shuffle=True, random_state=0).split(y, y))


def test_scalings(tmp_path):
    dataset = load("wine")
    X, y = dataset.objects, dataset.labels
    for scaling, scaler in (("raw", None), ("minmax", MinMaxScaler()), ("z", StandardScaler())):
        expected = []
        for train, test in dealt(y):
            A, B = (
                (X[train], X[test])
                if scaler is None
                else (scaler.fit(X[train]).transform(X[train]), scaler.transform(X[test]))
            )
            expected.append(np.mean(y[train][cdist(B, A).argmin(axis=1)] != y[test]))
        (tmp_path / scaling).mkdir()
        assert errors(tmp_path / scaling, "wine", distances=[scaling]) == pytest.approx(expected)


def test_nominal_attributes(tmp_path):
    dataset = load("mixed")
    places = {"green": 0.0, "red": 1.0, "blue": 2.0}
    X = np.array([[row[0], places[row[1]], row[2]] for row in dataset.objects])
    expected = nearest_errors(cdist(X, X), dataset.labels, dealt(dataset.labels))
    assert errors(tmp_path, "mixed", distances=[{"scaling": "raw", "nominal": "index"}]) == pytest.approx(expected)
    expected = []
    for train, test in dealt(dataset.labels):
        space = make_space(dataset.objects[train], "heom", {"categorical": [1]})
        positions, _ = space.cross(dataset.objects[test]).nearest()
        expected.append(np.mean(dataset.labels[train][positions] != dataset.labels[test]))
    for distance in ({"nominal": "heom"}, {"metric": "heom"}):
        (tmp_path / str(distance)).mkdir()
        assert errors(tmp_path / str(distance), "mixed", distances=[distance]) == pytest.approx(expected)


def test_series_share_one_matrix(tmp_path, monkeypatch):
    dataset = load("series")
    D = make_space(dataset.objects, "dtw", {"window": 2}).block(slice(None), slice(None))
    shapes = []
    monkeypatch.setattr(Space, "matrix", lambda space, matrix=Space.matrix: shapes.append(space.shape) or matrix(space))
    found = errors(tmp_path, "series", distances=[{"metric": "dtw", "window": 2}])
    assert found == pytest.approx(nearest_errors(D, dataset.labels, dealt(dataset.labels)))
    assert shapes == [(24, 24)]


def test_the_split_that_data_come_with(tmp_path):
    dataset = load("series")
    D = make_space(dataset.objects, "dtw", {"window": 2}).block(slice(None), slice(None))
    rows = np.arange(24)
    expected = nearest_errors(D, dataset.labels, [(rows[:14], rows[14:])])
    found = errors(tmp_path, "series", distances=[{"metric": "dtw", "window": 2}], folds="default")
    assert found == pytest.approx(expected)


def test_strings_and_matrices(tmp_path):
    dataset = load("matrix")
    expected = nearest_errors(dataset.objects, dataset.labels, dealt(dataset.labels, KFold))
    assert errors(tmp_path, "matrix", folds={"n": 3, "stratified": False}) == pytest.approx(expected)
    assert np.mean(errors(tmp_path, "strings")) < 0.2


@pytest.mark.parametrize("data", ["iris", "mixed", "series", "strings"])
def test_without_a_matrix_results_are_the_same(data, tmp_path, monkeypatch):
    plan = {"data": [data], "methods": ["NoPS", "REPS", "DROP3", {"method": "REPS", "refine": True, "rates": [0.3]}]}
    plan |= {"folds": 2, "distances": [{"nominal": "heom"}]}
    run(plan, tmp_path / "matrix.sqlite", data=load)
    monkeypatch.setattr(folds, "LARGEST_MATRIX", 5)
    run(plan, tmp_path / "objects.sqlite", data=load)
    assert measured(tmp_path / "objects.sqlite") == measured(tmp_path / "matrix.sqlite")
    assert status(tmp_path / "objects.sqlite").failed == 0


def test_failures_are_recorded_and_never_counted(tmp_path):
    path = tmp_path / "journal.sqlite"
    methods = ["NoPS", {"method": "RMHC", "n_prototypes": 40, "label": "much"}, {"method": "REPS", "at": "much"}]
    progress = run({"data": ["iris", "gone"], "methods": methods, "folds": 2}, path, data=load)
    assert (progress.done, progress.failed, progress.total) == (2, 10, 12)
    failures = dict(status(path).failures)
    assert failures == {
        "FileNotFoundError: there is no file gone.dat": 6,
        "ValueError: n_prototypes=40 is more than the 37 training objects; pass at most 37": 1,
        "ValueError: n_prototypes=40 is more than the 38 training objects; pass at most 38": 1,
        "ReferenceFailedError: cannot use the size of much: much failed on this fold": 2,
    }
    for row in results(path, kept=True):
        if row.state == "failed":
            assert (row.error, row.n_prototypes, row.kept_indices) == (None, None, None)
            assert row.failure_message in row.failure_traceback
    # Again only where that is asked for.
    assert resume(path, data=load).failed == 10
    progress = resume(path, data={"iris": load("iris"), "gone": load("wine")}, retry_failed=True)
    assert (progress.done, progress.failed, progress.total) == (8, 4, 12)


def test_warnings_are_kept(tmp_path):
    path = tmp_path / "journal.sqlite"
    run({"data": ["iris"], "methods": [{"method": "SSMA", "max_time": 1e-9}], "folds": 2}, path, data=load)
    assert "SearchStoppedWarning: the search was stopped at max_time" in results(path)[0].warnings


@pytest.mark.slow
def test_a_worker_that_dies(tmp_path):
    path = tmp_path / "journal.sqlite"
    plan = {"data": ["series", "deadly"], "methods": ["NoPS", "FCNN", "DROP3"], "folds": "default"}
    progress = run(plan, path, n_jobs=2, data=experiment_data.deadly_load)
    assert (progress.done, progress.failed) == (3, 3)
    message = "WorkerDiedError: the process ended with the exit code -9, perhaps for lack of memory"
    assert status(path).failures == ((message, 3),)


def test_data_that_cannot_be_sent(tmp_path):
    lock = threading.Lock()
    with pytest.raises(TypeError, match="data cannot be sent to other processes.*use n_jobs=1"):
        run({"data": ["iris"], "methods": ["NoPS"]}, tmp_path / "a.sqlite", n_jobs=2, data=lambda name: lock)


BAD_DATA = [
    ({"wine": None}, "DataError: data has no 'iris', only ['wine']; add it"),
    (lambda name: (1, 2), "DataError: data gave tuple for 'iris'; expected a protoset.datasets.Dataset"),
]


@pytest.mark.parametrize(("data", "message"), BAD_DATA)
def test_data_that_are_not(data, message, tmp_path):
    run({"data": ["iris"], "methods": ["NoPS"]}, tmp_path / "a.sqlite", data=data)
    assert status(tmp_path / "a.sqlite").failures == ((message, 5),)


def test_arguments(tmp_path):
    plan = {"data": ["iris"], "methods": ["NoPS"]}
    with pytest.raises(ValueError, match="n_jobs=0 must be"):
        run(plan, tmp_path / "a.sqlite", n_jobs=0, data=load)
    with pytest.raises(TypeError, match="data=3 must be a function from names to data sets"):
        run(plan, tmp_path / "a.sqlite", data=3)
    with pytest.raises(ValueError, match="retry_failed='no' must be True or False"):
        run(plan, tmp_path / "a.sqlite", data=load, retry_failed="no")
    assert list(tmp_path.iterdir()) == []


def test_progress(tmp_path):
    seen = []
    run(
        {"data": ["iris"], "methods": ["NoPS", "FCNN"], "folds": 2},
        tmp_path / "a.sqlite",
        data=load,
        callback=seen.append,
    )
    assert [(one.done, one.failed, one.total) for one in seen] == [(count, 0, 4) for count in (1, 2, 3, 4)]
    assert seen[-1].remaining == 0.0
    assert all(one.remaining > 0 for one in seen[1:-1])
    assert [one.elapsed for one in seen] == sorted(one.elapsed for one in seen)
    assert seen[1].cell == "FCNN on iris, auto, fold 0"


INTERRUPTED = """
import sys, experiment_data
from protoset.experiments import run
def tell(progress): print(progress.cell, flush=True)
run({"data": ["iris"], "methods": %r, "folds": 2}, sys.argv[1], n_jobs=int(sys.argv[2]),
    data=experiment_data.load, callback=tell)
"""
SHORT_AND_ENDLESS = [
    {"method": "SSMA", "max_evaluations": 100, "label": "short"},
    {"method": "SSMA", "max_evaluations": 1_000_000_000, "label": "endless"},
]
COMMAND_PLAN = """
data = [{path = "iris.csv", target = 4}]
folds = 2
[[methods]]
method = "SSMA"
max_evaluations = 100
label = "short"
[[methods]]
method = "SSMA"
max_evaluations = 1_000_000_000
label = "endless"
"""


@contextmanager
def started(words, folder):
    process = subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def check_only_whole_rows(path):
    """The search without end can have no result, and those that ended have made all their evaluations."""
    found, rows = status(path), list(results(path, kept=True))
    assert (found.done, found.failed, found.running) == (len(rows), 0, False)
    assert rows
    assert {row.method for row in rows} == {"short"}
    assert all(row.warnings == "[]" and json.loads(row.counters)["n_evaluations"] >= 100 for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_leaves_what_is_done(n_jobs, tmp_path):
    """A search that an interruption ends early is no result."""
    path = tmp_path / "journal.sqlite"
    with started(["-c", INTERRUPTED % SHORT_AND_ENDLESS, str(path), str(n_jobs)], tmp_path) as process:
        assert process.stdout.readline().startswith("short on iris")
        time.sleep(0.5)  # into the search without end, whose code is loaded
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode != 0
    assert stderr.rstrip().endswith("KeyboardInterrupt")
    check_only_whole_rows(path)


def test_ctrl_c_in_the_command_leaves_what_is_done(tmp_path):
    """The command has a handler of its own for Ctrl-C."""
    X, y = load_iris(return_X_y=True)
    np.savetxt(tmp_path / "iris.csv", np.column_stack([X, y]), delimiter=",")
    (tmp_path / "plan.toml").write_text(COMMAND_PLAN)
    path = tmp_path / "plan.journal"
    with started(["-m", "protoset", "experiment", "run", "plan.toml", "--n-jobs", "1"], tmp_path) as process:
        limit = time.monotonic() + 120
        while not (path.exists() and status(path).done):
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr == "protoset: interrupted; files that were not finished are not there\n"
    check_only_whole_rows(path)


def test_a_handler_that_does_not_interrupt_is_left_at_its_work(tmp_path):
    """It is called, the run goes on to its end, and the handler is there as before."""
    seen = []

    def handle(number, frame):
        seen.append(number)

    before = signal.signal(signal.SIGINT, handle)
    try:
        progress = run(
            {"data": ["iris"], "methods": ["NoPS"], "folds": 3},
            tmp_path / "a.sqlite",
            data=load,
            callback=lambda _: signal.raise_signal(signal.SIGINT),
        )
        assert signal.getsignal(signal.SIGINT) is handle
    finally:
        signal.signal(signal.SIGINT, before)
    assert (progress.done, seen) == (3, [signal.SIGINT] * 3)


def test_the_digest_tells_data_apart():
    seen = {digest(load(name)) for name in ("iris", "wine", "mixed", "series", "strings", "matrix")}
    assert len(seen) == 6
    X, y = load_iris(return_X_y=True)
    first = digest(Dataset("a", "vectors", X, y))
    assert first == digest(Dataset("b", "vectors", X.copy(), y))
    assert first != digest(Dataset("a", "vectors", X, y[::-1]))
    assert first != digest(Dataset("a", "vectors", X + 1e-9, y))
    mixed = load("mixed")
    mixed.objects[3, 1] = "green" if mixed.objects[3, 1] != "green" else "red"
    assert digest(mixed) != digest(load("mixed"))


@pytest.mark.slow
def test_the_protocol_of_the_refinement_benchmark(data_folder, tmp_path):
    """A plan says the same as the script that the tables of docs/refinement.md come from."""
    paths = [data_folder / "keel" / f"{name}.dat" for name in ("appendicitis", "lymphography")]
    others = ["SSMA", "RMHC", "CCIS", "DROP3", "FCNN"]
    plan = {
        "data": [path.stem for path in paths],
        "methods": [
            "NoPS",
            *others[:-1],
            # The script fits FCNN on matrices, which have no centroids.
            {"method": "FCNN", "start": "medoid", "label": "FCNN"},
            {"method": "REPS", "refine": [False, True], "at": others},
            {"method": "REPS", "refine": [False, True], "rates": [0.02, 0.05, 0.1]},
            {"method": "REPS", "refine": True, "size_rule": ["one_standard_error", "lowest_error"], "label": "auto"},
        ],
        "folds": {"n": 5, "seed": 0},
        "order": "rows",
        "seeds": "fold",
        "distances": [{"scaling": "minmax", "nominal": "heom"}],
    }

    def read(name):
        X, y, categorical = read_keel_typed(data_folder / "keel" / f"{name}.dat")
        attributes = tuple(
            Attribute(str(column), "nominal" if column in categorical else "real") for column in range(X.shape[1])
        )
        return Dataset(
            name, "mixed" if categorical else "vectors", X.astype(object) if categorical else X, y, attributes
        )

    run(plan, tmp_path / "journal.sqlite", data=read)
    found = {(row.data, row.fold, row.method): row for row in results(tmp_path / "journal.sqlite")}
    names = {NEIGHBOR_RULE: "NoPS"} | {name: name for name in others}
    for size in others:
        names |= {f"REPS at {size}": f"REPS at {size}", f"refined at {size}": f"REPS(refine=True) at {size}"}
    for rate, title in ((0.02, "2%"), (0.05, "5%"), (0.1, "10%")):
        names |= {f"REPS at {title}": f"REPS at {rate}", f"refined at {title}": f"REPS(refine=True) at {rate}"}
    for rule in ("one_standard_error", "lowest_error"):
        names[f"refined, {rule.replace('_', ' ')}"] = f"auto(size_rule={rule})"
    for path in paths:
        for name, (error, rate) in measure(path, 0, 0).items():
            row = found[path.stem, 0, names[name]]
            assert (row.error, row.selection_rate) == (pytest.approx(error), pytest.approx(rate)), name
