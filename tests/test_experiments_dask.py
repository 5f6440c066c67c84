"""Experiments on a Dask cluster: what one process gives, whatever happens to workers; what cannot work says so."""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config

from protoset import _cluster
from protoset.datasets import Dataset
from protoset.experiments import compare, read_plan, results, resume, run, status, validate

import experiment_data
from cli_cases import run_many, write_files
from experiment_data import load

distributed = pytest.importorskip("distributed")

from test_dask import PATIENCE, bounded, make_cluster, wait_until  # noqa: E402

# Dask's own, at its ends.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

METHODS = [
    "NoPS",
    {"method": "FCNN", "n_neighbors": [1, 2]},
    {"method": "SSMA", "max_evaluations": 60, "label": "SSMA"},
    {"method": "REPS", "refine": [False, True], "at": ["SSMA", "FCNN"]},
    {"method": "KMedoids", "n_prototypes": 2, "label": "too few"},
]
PLAN = {
    "data": ["iris", "wine", "strings", "gone"],
    "methods": METHODS,
    "folds": {"n": 3, "seed": 5},
    "seeds": [0, 1],
}
SMALL = {
    "data": ["iris", "wine"],
    "methods": ["NoPS", {"method": "RMHC", "max_time": 1e-9, "label": "warns"}, {"method": "REPS", "at": "warns"}],
    "folds": 3,
}
VARYING = {"cpu_seconds", "wall_seconds", "distance_seconds", "finished", "failure_traceback"}


def made(path):
    """All columns but times."""
    rows = results(path, kept=True)
    return [{name: value for name, value in vars(row).items() if name not in VARYING} for row in rows]


@pytest.fixture(scope="module")
def client():
    with bounded():
        cluster = make_cluster(2)
        client = distributed.Client(cluster)
    yield client
    with bounded():
        client.close()
        cluster.close()
        gc.collect()


@pytest.fixture(autouse=True)
def in_bounded_time():
    with bounded():
        yield
        gc.collect()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Journals of the plans, by one process."""
    folder = tmp_path_factory.mktemp("alone")
    run(PLAN, folder / "plan", data=load)
    run(SMALL, folder / "small", data=load)
    return {"plan": made(folder / "plan"), "small": made(folder / "small")}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.sqlite"


def is_idle(client):
    return not any(client.processing().values())


@pytest.mark.slow
@settings(max_examples=4)
@given(stops=st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=3), last=st.booleans())
def test_stopped_and_resumed_here_and_there(client, alone, tmp_path_factory, stops, last):
    """Whoever computes which part, and wherever a callback ends a run: the results of one process."""
    path = tmp_path_factory.mktemp("runs") / "journal.sqlite"
    for after, remote in [*stops, (None, last)]:
        told = []

        def stop(progress, told=told, after=after):
            told.append(progress)
            return len(told) == after

        run(SMALL, path, data=load, client=client if remote else None, callback=stop)
        assert after is None or len(told) <= after
    assert made(path) == alone["small"]


def test_the_cluster_gives_the_results_of_one_process(client, alone, path):
    """With cells that fail, and data that cannot be loaded."""
    seen = []
    progress = run(PLAN, path, data=load, client=client, callback=seen.append)
    assert made(path) == alone["plan"]
    states = [row["state"] for row in alone["plan"]]
    assert (progress.done, progress.failed) == (states.count("done"), states.count("failed"))
    assert [one.done + one.failed for one in seen] == list(range(1, len(states) + 1))
    failures = {row["failure_message"] for row in alone["plan"]}
    assert "there is no file gone.dat" in failures
    assert len(failures) > 2
    assert resume(path, data=load, client=client, callback=seen.append).remaining == 0.0
    assert len(seen) == len(states)


def test_data_by_name_go_there(client, path, tmp_path):
    """Each data set once; names that are missing are listed as here."""
    data = {name: load(name) for name in ("iris", "wine", "strings")}
    run(PLAN, tmp_path / "here", data=data)
    run(PLAN, path, data=data, client=client)
    assert made(path) == made(tmp_path / "here")
    wait_until(lambda: not any(client.has_what().values()))


def test_large_data_go_there(client, path):
    rng = np.random.default_rng(0)
    large = Dataset("large", "vectors", rng.normal(size=(60, 30_000)), np.arange(60) % 2)
    progress = run(SMALL | {"data": ["large"]}, path, data={"large": large}, client=client)
    assert (progress.done, progress.failed) == (9, 0)


def test_files_of_a_plan_are_read_there(client, tmp_path, monkeypatch):
    (tmp_path / "plan.toml").write_text(
        'data = [{path = "mine.csv", target = "c", name = "mine"}]\nmethods = ["NoPS", "FCNN"]\nfolds = 2\n'
    )
    rows = [f"{x},{x % 3},{'ab'[x % 2]}" for x in range(20)]
    (tmp_path / "mine.csv").write_text("\n".join(["a,b,c", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)  # workers are elsewhere
    assert run("plan.toml", "journal.sqlite", client=client).done == 4


def test_joblib_names_the_cluster(client, alone, path, tmp_path):
    folder = str(tmp_path)

    def note_and_load(name):
        open(os.path.join(folder, f"process-{os.getpid()}"), "a").close()
        return experiment_data.load(name)

    with parallel_config("dask"):
        run(SMALL, path, data=note_and_load)
    assert made(path) == alone["small"]
    processes = {int(file.name.split("-")[1]) for file in tmp_path.glob("process-*")}
    assert processes
    assert processes <= set(client.run(os.getpid).values())


def test_a_worker_with_several_threads(alone, path):
    """One group at a time: warnings and limits of threads are those of the process."""
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=4, processes=True, dashboard_address=":0", memory_limit=0
    )
    with cluster, distributed.Client(cluster) as client:
        run(SMALL, path, data=experiment_data.exclusive_load, client=client)
    assert made(path) == alone["small"]
    assert ["stopped at max_time" in row["warnings"] for row in alone["small"]] == [False, True, False] * 6


@pytest.mark.slow
def test_a_worker_that_is_killed_is_survived(client, alone, path):
    killed = []

    def kill(progress):
        busy = [address for address, tasks in client.processing().items() if tasks]
        if busy and not killed:
            killed.append(client.run(os.getpid, workers=busy[:1])[busy[0]])
            os.kill(killed[0], signal.SIGKILL)

    progress = run(SMALL, path, data=experiment_data.lingering_load, client=client, callback=kill)
    assert killed
    assert killed[0] not in client.run(os.getpid).values()
    assert (progress.done, progress.failed) == (18, 0)
    assert made(path) == alone["small"]


@pytest.mark.slow
def test_workers_that_die_again_and_again(client, path, tmp_path, monkeypatch):
    """Of one data set: its cells fail, the others do not."""
    plan = SMALL | {"data": ["series", "deadly"], "folds": "default"}
    run(plan | {"data": ["series"]}, tmp_path / "alone", data=load)
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    progress = run(plan, path, data=experiment_data.deadly_load, client=client)
    assert (progress.done, progress.failed) == (3, 3)
    rows = results(path)
    assert {row.failure_type for row in rows[3:]} == {"WorkerDiedError"}
    assert all("Dask workers died of it, perhaps for lack of memory" in row.failure_message for row in rows[3:])
    assert made(path)[:3] == made(tmp_path / "alone")


def test_ctrl_c_ends_a_run(client, path):
    """What is pending is cancelled, and workers leave their groups at the next cell: these would take many minutes."""
    many = {"method": "RMHC", "max_iter": 100_000, "label": "RMHC"}
    plan = {"data": ["wine"], "methods": ["NoPS", many], "folds": 2, "seeds": list(range(2000))}
    failed = []

    def interrupt():
        try:
            wait_until(lambda: any(client.run(_is_computing).values()))
        except BaseException as error:
            failed.append(error)
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        run(plan, path, data=load, client=client)
    interrupting.join(PATIENCE)
    assert not failed
    wait_until(lambda: not any(client.run(_is_computing).values()))
    assert is_idle(client)
    found = status(path)
    assert (found.done, found.failed, found.running) == (0, 0, False)


def _is_computing(dask_worker):
    return bool(dask_worker.active_threads)


@contextmanager
def cluster_of(client, who):
    """Give a client, and what ends it, its cluster or its workers."""
    if who == "client":
        other = distributed.Client(client.scheduler.address, set_as_default=False)
        yield other, other.close
        return
    with make_cluster(1) as cluster, distributed.Client(cluster, set_as_default=False) as other:
        yield other, cluster.close if who == "cluster" else lambda: cluster.scale(0)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["client", "cluster", "workers"])
def test_a_cluster_that_goes_away(client, who, alone, path, monkeypatch):
    """One error, in bounded time; what was done is there, and the run goes on without a cluster."""
    monkeypatch.setattr(_cluster, "LOST_FOR", 0.5)
    with cluster_of(client, who) as (other, end):

        def leave(progress):
            if progress.done == 3:
                end()

        with pytest.raises(
            RuntimeError, match=r"could not be finished: .*; check that .* run it again; a journal keeps"
        ):
            run(SMALL, path, data=load, client=other, callback=leave)
        if who != "workers":
            with pytest.raises(RuntimeError, match="the Dask client is"):
                run(SMALL, path, data=load, client=other)
    found = status(path)
    assert 3 <= found.done < 18
    assert (found.failed, found.running) == (0, False)
    resume(path, data=load)
    assert made(path) == alone["small"]


def test_what_does_not_work(client, path, tmp_path, monkeypatch):
    with pytest.raises(TypeError, match="client=3 is not a Dask client; pass a distributed.Client"):
        run(SMALL, path, data=load, client=3)
    assert not path.exists()
    lock = threading.Lock()
    with pytest.raises(TypeError, match="data cannot be sent to the Dask workers: .*; leave the client out"):
        run(SMALL, path, data=lambda name: (lock, load(name))[1], client=client)
    (tmp_path / "only_here.py").write_text("from experiment_data import load as load_here\n\ndef load(name): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    with pytest.raises(
        RuntimeError, match="the Dask workers cannot compute the cells: ModuleNotFoundError: .*only_here.*"
    ):
        run(SMALL, path, data=only_here.load, client=client)
    assert status(path).missing == len(read_plan(SMALL).cells)


def same(a, b):
    for name, value in vars(a).items():
        np.testing.assert_array_equal(getattr(b, name), value, err_msg=name)


@pytest.mark.parametrize(
    ("name", "method", "options"),
    [
        ("iris", "refined", {"folds": 4, "n_prototypes": 6}),
        ("mixed", "REPS", {"holdout": 0.3}),
        ("matrix", "FCNN", {"folds": 3, "random_state": 2}),
        ("series", "RMHC", {"n_prototypes": 4, "parameters": {"max_iter": 50}}),
    ],
)
def test_validation_gives_the_numbers_of_one_process(client, name, method, options):
    told = []
    one = validate(load(name), method, **options)
    same(one, validate(load(name), method, **options, client=client, n_jobs=2, progress=lambda *how: told.append(how)))
    assert told == [(done, len(one.fold_errors)) for done in range(len(one.fold_errors) + 1)]
    with parallel_config("dask"):
        same(one, validate(load(name), method, **options))


def test_validation_says_what_happened_there(client):
    from sklearn.exceptions import ConvergenceWarning

    with pytest.raises(ValueError, match="n_prototypes=1"):
        validate(load("iris"), "REPS", n_prototypes=1, client=client)
    slow = {"parameters": {"max_time": 1e-9}, "n_prototypes": 5}
    with warnings.catch_warnings(record=True) as here:
        warnings.simplefilter("always")
        validate(load("iris"), "RMHC", folds=2, **slow)
    with pytest.warns(ConvergenceWarning) as there:
        validate(load("iris"), "RMHC", folds=2, **slow, client=client)
    assert [str(one.message) for one in there] == [str(one.message) for one in here]


def test_comparison_gives_the_numbers_of_one_process(client):
    one, many = (compare(load("wine"), ["NoPS", "FCNN", "refined"], folds=3, client=who) for who in (None, client))
    for name in ("errors", "selection_rates", "pareto_ranks"):
        np.testing.assert_array_equal(getattr(many, name), getattr(one, name))
    assert (many.methods, many.note, many.failures) == (one.methods, one.note, one.failures)


@pytest.fixture
def address(tmp_path):
    """A scheduler and a worker, as they are started by hand."""
    file = tmp_path / "scheduler.json"
    scheduler = ["distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1"]
    worker = ["distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", *command, "--scheduler-file", str(file)],
            env=environment,
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
        )
        for command in (scheduler, worker)
    ]
    try:
        wait_until(lambda: file.exists() and file.read_text().strip().endswith("}"))
        yield json.loads(file.read_text())["address"]
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def test_the_command(address, tmp_path):
    folder = write_files(tmp_path)
    (folder / "plan.toml").write_text(
        'data = [{path = "flowers.csv", target = "species", name = "mine"}]\n'
        'methods = ["NoPS", "FCNN"]\nfolds = 3\ndistances = [{metric = "gower"}]\n'
    )
    where, words = ["--cluster", address], ["flowers.csv", "--target", "species", "--folds", "3"]
    commands = [
        ["experiment", "run", "plan.toml", *where],
        ["experiment", "resume", "plan.journal", *where],
        ["evaluate", *words, "--method", "fcnn"],
        ["evaluate", *words, "--method", "fcnn", *where],
        ["compare", *words, "--methods", "nops,fcnn"],
        ["compare", *words, "--methods", "nops,fcnn", *where],
    ]
    answers = run_many([[*command, "--json"] for command in commands], folder)
    assert [(code, err) for code, _, err in answers] == [(0, "")] * len(commands)
    run, resumed, evaluated, there, compared, compared_there = (json.loads(out) for _, out, _ in answers)
    assert (run["done"], resumed["done"]) == (6, 6)
    assert there == evaluated
    assert compared_there["errors"] == compared["errors"]


def test_the_command_without_a_cluster(tmp_path, monkeypatch, capsys):
    from protoset.cli import main

    monkeypatch.setattr(_cluster, "WAIT_FOR_SCHEDULER", 0.3)
    words = ["evaluate", str(write_files(tmp_path) / "flowers.csv"), "--target", "species", "--cluster"]
    expected = {
        "tcp://127.0.0.1:9": (1, "no Dask scheduler could be reached at 'tcp://127.0.0.1:9': Timed out"),
        "nonsense": (2, "--cluster='nonsense' is not an address: missing port"),
    }
    with socket.create_server(("127.0.0.1", 0)) as stranger:  # listens, and says nothing
        silent = f"127.0.0.1:{stranger.getsockname()[1]}"
        expected[silent] = (1, f"no Dask scheduler could be reached at {silent!r}: ")
        for address, (code, message) in expected.items():
            assert main([*words, address]) == code
            said = capsys.readouterr().err
            assert said.startswith(f"protoset: {message}")
            assert said.count("\n") == 1
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main([*words, "host:1"]) == 2
    assert "run pip install 'protoset[dask]'" in capsys.readouterr().err
