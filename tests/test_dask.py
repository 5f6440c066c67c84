"""A Dask cluster gives what one process gives, also when workers die; a cluster that cannot work says so."""

import gc
import os
import signal
import threading
import time
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config

from protoset import REPS, PrototypeClassifier, _cluster
from protoset.neighbors import build_lists
from protoset.selectors import FCNN
from protoset.spaces import distributed_vectors, make_space, smallest_of
from protoset.spaces._lists import RawLists
from protoset.spaces._merging import merge_lists

from conftest import overlapping

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

# Dask's own, at its ends.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


PATIENCE = 240
"""Seconds after which whatever a test waits for is given up; nothing takes as long, also on a busy machine."""


@contextmanager
def bounded():
    """Interrupt a wait that does not end."""

    def give_up(number, frame):
        raise AssertionError(f"still waiting after {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE / 4
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


def make_cluster(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
    )


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
def small_blocks(monkeypatch):
    monkeypatch.setattr(distributed_vectors, "BLOCK_ROWS", 150)


@pytest.fixture(autouse=True)
def in_bounded_time():
    with bounded():
        yield
        # What Dask leaves open is closed here, not in the middle of another file's tests.
        gc.collect()


def same_fit(a, b):
    return all(
        (getattr(a, name) == getattr(b, name)).all() for name in ("sample_indices_", "weights_", "ranking_", "scores_")
    )


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 12), st.integers(0, 6), st.integers(1, 5))
def test_merged_lists_are_those_of_everything_at_once(seed, n_columns, k, more, n_parts):
    rng = np.random.default_rng(seed)
    block = rng.integers(0, 4, (5, n_columns)).astype(float)
    nobody = np.full(5, -1)
    k = min(k, n_columns)
    limit = k + more
    merged = None
    for columns in np.array_split(np.arange(n_columns), n_parts):
        if len(columns):
            found = smallest_of(np.ascontiguousarray(block[:, columns]), nobody, min(k, len(columns)), limit)
            part = RawLists(found.counts, columns[found.indices].astype(np.int32), found.distances, found.closed)
            merged = part if merged is None else merge_lists(merged, part, k, limit)
    whole = smallest_of(block, nobody, k, limit)
    for name in ("counts", "indices", "distances", "closed"):
        assert (getattr(merged, name) == getattr(whole, name)).all(), name


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
def test_the_cluster_gives_the_prototypes_of_one_process(client, metric):
    X, y = overlapping(500, d=4)
    one = REPS(0.1, metric=metric).fit(X, y)
    assert same_fit(REPS(0.1, metric=metric).fit(X, y, client=client), one)


def test_tied_objects_are_listed_as_by_one_process(client):
    X = np.random.default_rng(0).integers(0, 3, (400, 2)).astype(np.float32)
    one, many = build_lists(make_space(X), 7), build_lists(make_space(X, client=client), 7)
    for name in ("indptr", "indices", "distances", "closed", "ranks"):
        assert (getattr(one, name) == getattr(many, name)).all()


def test_joblib_names_the_cluster(client):
    X, y = overlapping(300)
    with parallel_config("dask"):
        found = REPS(20).fit(X, y)
        classifier = PrototypeClassifier(REPS(20)).fit(X, y)
    one = REPS(20).fit(X, y)
    assert same_fit(found, one)
    assert (classifier.sample_indices_ == one.sample_indices_).all()


def test_dask_arrays_stay_on_the_workers(client):
    """In blocks of any size; predictions are a Dask array too."""
    X, y = overlapping(400, d=3)
    blocks = da.from_array(X, chunks=(170, 2))
    classifier = PrototypeClassifier(REPS(30)).fit(blocks, da.from_array(y, chunks=90))
    one = PrototypeClassifier(REPS(30)).fit(X, y)
    assert (classifier.sample_indices_ == one.sample_indices_).all()
    predicted = classifier.predict(blocks)
    assert isinstance(predicted, da.Array)
    assert (predicted.compute() == one.predict(X)).all()


def test_dask_frames(client):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y = overlapping(200, d=3)
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=3)
    assert (REPS(15).fit(frame, y).sample_indices_ == REPS(15).fit(X, y).sample_indices_).all()


def test_refinement_and_size_on_a_cluster(client):
    X, y = overlapping(200, d=3)
    one, many = REPS(20, refine=True).fit(X, y), REPS(20, refine=True).fit(X, y, client=client)
    assert len(many.sample_indices_) == 20
    assert (many.sample_indices_ == one.sample_indices_).all()
    assert many.refinement_.objective_after == pytest.approx(one.refinement_.objective_after)
    assert (REPS().fit(X, y, client=client).sample_indices_ == REPS().fit(X, y).sample_indices_).all()


def test_a_worker_that_is_killed_is_survived(monkeypatch):
    """In mid-fit, by SIGKILL, with lists that nobody else has."""
    monkeypatch.setattr(distributed_vectors, "BLOCK_ROWS", 100)
    X, y = overlapping(1200, d=40)
    one = REPS(40).fit(X, y)
    with make_cluster(2) as cluster, distributed.Client(cluster) as client:
        address, victim = next(iter(client.run(os.getpid).items()))
        killed = threading.Event()

        def kill():
            wait_until(lambda: client.run_on_scheduler(_holds_lists, address=address))
            os.kill(victim, signal.SIGKILL)
            killed.set()

        thread = threading.Thread(target=kill)
        thread.start()
        found = REPS(40).fit(X, y, client=client)
        in_mid_fit = killed.is_set()
        thread.join(PATIENCE)
    assert in_mid_fit
    assert same_fit(found, one)


def _holds_lists(dask_scheduler, address):
    return any(
        "_extend" in str(key) and any(worker.address == address for worker in task.who_has or ())
        for key, task in dask_scheduler.tasks.items()
    )


def test_a_cluster_without_workers_is_refused_in_bounded_time(monkeypatch):
    monkeypatch.setattr(_cluster, "WAIT_FOR_WORKERS", 0.3)
    X, y = overlapping(60)
    with make_cluster(0) as cluster, distributed.Client(cluster) as client:
        selector = REPS(9)
        with pytest.raises(RuntimeError, match=r"the Dask cluster has no workers, also after 0.3 seconds; start some"):
            selector.fit(X, y, client=client)
        assert not hasattr(selector, "sample_indices_")


def test_workers_that_all_die_end_the_fit(monkeypatch):
    monkeypatch.setattr(_cluster, "LOST_FOR", 0.5)
    with make_cluster(1) as cluster, distributed.Client(cluster) as client:
        stuck = client.submit(time.sleep, 60)
        wait_until(lambda: any(client.processing().values()))
        threading.Timer(0.3, cluster.scale, [0]).start()
        with pytest.raises(RuntimeError, match="could not be finished: all Dask workers are lost.*fit again"):
            _cluster.gather(client, [stuck])


def test_a_client_that_closes_ends_the_fit():
    X, y = overlapping(60)
    with make_cluster(1) as cluster:
        client = distributed.Client(cluster)
        stuck = client.submit(time.sleep, 30)
        closing = threading.Timer(0.5, client.close)
        closing.start()
        with pytest.raises(RuntimeError, match="the work on the Dask cluster could not be finished"):
            _cluster.gather(client, [stuck])
        closing.join(PATIENCE)
        with pytest.raises(RuntimeError, match="the Dask client is closed; connect a new one"):
            REPS(9).fit(X, y, client=client)


def test_what_does_not_work_on_a_cluster(client):
    X, y = overlapping(60)
    with pytest.raises(ValueError, match=r"metric='manhattan' does not work on a Dask client yet; choose one of"):
        REPS(9, metric="manhattan").fit(X, y, client=client)
    with pytest.raises(TypeError, match="client=3 is not a Dask client; pass a distributed.Client"):
        REPS(9).fit(X, y, client=3)
    with pytest.raises(ValueError, match="neighbors='approximate' does not work on a Dask client"):
        REPS(9, neighbors="approximate").fit(X, y, client=client)
    with pytest.raises(ValueError, match=r"X is a Dask collection, which FCNN does not work on; use REPS"):
        FCNN().fit(da.from_array(X, chunks=(30, 3)), y)
    with parallel_config("dask"):
        assert len(REPS(9, metric="manhattan").fit(X, y).sample_indices_) == 9
    broken = X.copy()
    broken[40, 1] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN or infinity in row"):
        REPS(9).fit(da.from_array(broken, chunks=(30, 3)), y)


@pytest.mark.parametrize("C", [1e-6, 0.03])
def test_solving_on_the_workers_finds_the_same_prototypes(client, C):
    """By the closed form and by L-BFGS-B; the lists never come here."""
    X, y = overlapping(250, d=3)
    one, many = REPS(40, C=C).fit(X, y), REPS(40, C=C, solver="distributed").fit(X, y, client=client)
    assert many.solver_ in ("closed_form", "lbfgs")
    assert many.duality_gap_ <= 1e-6
    assert many.weights_ == pytest.approx(one.weights_, rel=1e-4, abs=1e-4 * one.weights_.max())
    assert np.isin(many.sample_indices_, one.sample_indices_).mean() >= 0.95
    assert many.truncation_bound_ == pytest.approx(one.truncation_bound_)


def test_solving_on_the_workers_needs_them():
    X, y = overlapping(60)
    with pytest.raises(ValueError, match="solver=.distributed. searches and solves on a Dask client; call fit"):
        REPS(9, solver="distributed").fit(X, y)


def test_block_features_are_a_matrix(client):
    from scipy import sparse

    from protoset.solvers.blocks import BlockFeatures

    rng = np.random.default_rng(0)
    matrix = sparse.random(50, 50, 0.2, "csr", random_state=0, data_rvs=lambda size: rng.normal(size=size))
    starts = np.array([0, 20, 21, 50])
    parts = [client.submit(matrix.__getitem__, slice(a, b)) for a, b in pairwise(starts)]
    blocks, vector = BlockFeatures(client, parts, starts), rng.normal(size=50)
    assert blocks @ vector == pytest.approx(matrix @ vector)
    assert blocks.T @ vector == pytest.approx(matrix.T @ vector)
    assert blocks.magnitudes().T @ vector == pytest.approx(abs(matrix).T @ vector)
