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
from sklearn.base import clone

from protoset import REPS, NeighborSearch, PrototypeClassifier, Refined, _cluster, adapt
from protoset.adaptation import adapting, descent
from protoset.adaptation.descent import MovingSet, WeightedObjects
from protoset.neighbors import NeighborLists, build_lists
from protoset.neighbors.search import choose_search
from protoset.selectors import FCNN, _features_on_workers, _refinable_set
from protoset.selectors.ties import MajorityVote
from protoset.spaces import (
    _approximate,
    _cluster_sample,
    _region_tasks,
    _regions,
    as_space,
    distributed_vectors,
    make_space,
)
from protoset.spaces._lists import RawLists, smallest_of
from protoset.spaces._merging import merge_lists
from protoset.spaces._region_tasks import Members, PartialLists, search_region
from protoset.spaces.movable import Moved

from conftest import overlapping


@pytest.fixture(autouse=True)
def rows_in_their_order(monkeypatch):
    """Objects in memory move in the order of their rows, as those on workers do."""
    monkeypatch.setattr(adapting, "CHUNK_OBJECTS", 0)


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


@pytest.fixture
def small_regions(monkeypatch):
    monkeypatch.setattr(_regions, "REGION_ROWS", 300)
    monkeypatch.setattr(_regions, "MERGED_REGIONS", 5)


def same_fit(a, b):
    """Up to the order of objects with equal scores and supports: a cluster does not know their contents."""
    in_order = (a.scores_[a.ranking_] == b.scores_[b.ranking_]).all()
    return in_order and all((getattr(a, name) == getattr(b, name)).all() for name in ("weights_", "scores_"))


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
    one, many = build_lists(make_space(X), 7), build_lists(as_space(X, client=client), 7)
    for name in ("indptr", "indices", "distances", "closed", "ranks"):
        assert (getattr(one, name) == getattr(many, name)).all()


def test_joblib_names_the_cluster(client):
    X, y = overlapping(300)
    with parallel_config("dask"):
        found = REPS(20).fit(X, y)
        refined = Refined(REPS(20)).fit(X, y)
        classifier = PrototypeClassifier(REPS(20)).fit(X, y)
    one = REPS(20).fit(X, y)
    assert same_fit(found, one)
    assert (refined.sample_indices_ == Refined(REPS(20)).fit(X, y).sample_indices_).all()
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


def test_blocks_that_are_not_what_they_say(client):
    """Of another width, masked, or failing by themselves: the objects' errors, not the cluster's."""
    X, y = overlapping(200, d=4)
    rows = da.from_array(X, chunks=(100, 4))
    narrow = rows.map_blocks(lambda block: block[:, :3], dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(
        ValueError, match=r"in the block of X from row \d+ on: it has the shape \(100, 3\), but X declares"
    ):
        REPS(9).fit(narrow, y, client=client)
    with pytest.raises(TypeError, match="in the block of X from row .* masked array"):
        REPS(9).fit(da.ma.masked_greater(rows, 1), y, client=client)

    def read(block):
        raise FileNotFoundError("/data/part1.parquet")

    with pytest.raises(FileNotFoundError, match="part1"):
        REPS(9).fit(rows.map_blocks(read, dtype=float, meta=np.empty((0, 0))), y, client=client)


def test_other_collections_are_refused(client):
    bag = pytest.importorskip("dask.bag")
    with pytest.raises(TypeError, match="X is a Bag; pass a Dask array of rows, or a Dask DataFrame"):
        REPS(9).fit(bag.from_sequence(range(30)), np.arange(30) % 3, client=client)


def test_names_of_columns(client):
    """Of Dask DataFrames as of others: kept by a fit, checked by a prediction."""
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y = overlapping(200, d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    parts = dd.from_pandas(frame, npartitions=3)
    there, here = PrototypeClassifier(REPS(15)).fit(parts, y), PrototypeClassifier(REPS(15)).fit(frame, y)
    assert there.feature_names_in_.tolist() == here.feature_names_in_.tolist() == ["a", "b", "c"]
    assert (here.predict(parts).compute() == there.predict(frame)).all()
    for classifier in (there, here):
        with pytest.raises(ValueError, match="feature names should match"):
            classifier.predict(parts[["c", "b", "a"]])
        with pytest.raises(ValueError, match=r"feature names|2 features"):
            classifier.predict(parts[["a", "b"]])
    with pytest.raises(ValueError, match="2 features"):
        PrototypeClassifier(REPS(15)).fit(X, y).predict(da.from_array(X[:, :2], chunks=(50, 2)))


def test_classifiers_take_a_client(client):
    X, y = overlapping(200, d=3)
    found = PrototypeClassifier(REPS(20, solver="distributed")).fit(X, y, client=client)
    assert len(found.sample_indices_) == 20
    with pytest.raises(ValueError, match="does not work with FCNN; use REPS"):
        PrototypeClassifier(FCNN()).fit(X, y, client=client)


def test_the_automatic_metric_looks_at_no_row(client):
    X, y = overlapping(200, d=3)
    rows = da.from_array(X, chunks=(70, 3))
    assert REPS(15, metric="auto").fit(rows, y).metric_ == "euclidean"
    with pytest.raises(ValueError, match="metric='auto' has no metric for Array"):
        REPS(15, metric="auto").fit(rows.astype(str), y)


def test_dask_frames(client):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y = overlapping(200, d=3)
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=3)
    assert (REPS(15).fit(frame, y).sample_indices_ == REPS(15).fit(X, y).sample_indices_).all()


def test_partitions_that_a_filter_leaves_empty(client):
    """The first, one in the middle and the last; of arrays of unknown size too."""
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y = overlapping(200, d=3)
    kept = np.isin(np.arange(200) // 25, [1, 2, 4, 5, 6])
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, kept=kept)
    frame = dd.from_pandas(table, npartitions=8)
    frame = frame[frame["kept"]]
    rows = da.from_array(X, chunks=(25, 2))[da.from_array(kept, chunks=25)]
    one = PrototypeClassifier(REPS(15)).fit(X[kept], y[kept])
    for some, labels in ((frame[["a", "b", "c"]], frame["y"]), (rows, y[kept])):
        found = PrototypeClassifier(REPS(15)).fit(some, labels)
        assert (found.sample_indices_ == one.sample_indices_).all()
        assert (found.predict(some).compute() == one.predict(X[kept])).all()
    nothing = frame[frame["a"] > X.max()][["a", "b", "c"]]
    named = PrototypeClassifier(REPS(15)).fit(table.loc[kept, ["a", "b", "c"]], y[kept])
    assert len(named.predict(nothing).compute()) == 0
    with pytest.raises(ValueError, match="X has no rows; pass at least two objects"):
        REPS(15).fit(nothing, y)


def test_collections_are_measured_by_the_client_that_is_given(client):
    """Also where another one is the current one, which here could not do it."""
    X, y = overlapping(120, d=3)
    rows, labels = da.from_array(X, chunks=(40, 3)), da.from_array(y, chunks=40)
    unknown = rows[da.from_array(np.arange(120) < 100, chunks=40)]
    with (
        make_cluster(0) as nobody,
        distributed.Client(nobody, set_as_default=False) as idle,
        idle.as_current(),
    ):
        assert (_cluster.gathered_labels(labels, client) == y).all()
        found = REPS(15).fit(unknown, y[:100], client=client)
    assert (found.sample_indices_ == REPS(15).fit(X[:100], y[:100]).sample_indices_).all()


def test_more_rows_than_lists_can_number_are_refused(client):
    many = da.zeros((2**31, 1), chunks=(2**26, 1))
    with pytest.raises(ValueError, match="X has 2147483648 rows, and neighbour lists number at most 2147483647; "):
        REPS(9).fit(many, [0, 1], client=client)


def test_two_objects_are_searched_by_regions(client):
    """Of which one is there to tune by and the other to measure by."""
    fit = REPS(2, search="approximate").fit([[0.0], [1.0]], [0, 1], client=client)
    assert fit.sample_indices_.tolist() == [0, 1]
    assert fit.neighbor_recall_ == 1.0


@given(st.integers(1, 2000))
def test_rows_to_tune_by_are_not_those_to_measure_by(n):
    tuning, measuring = _approximate.sampled_rows(n)
    assert min(len(tuning), len(measuring)) >= 1
    assert n == 1 or len(np.intersect1d(tuning, measuring)) == 0


def test_refinement_and_size_on_a_cluster(client):
    X, y = overlapping(200, d=3)
    one, many = Refined(REPS(20)).fit(X, y), Refined(REPS(20)).fit(X, y, client=client)
    assert len(many.sample_indices_) == 20
    assert (many.sample_indices_ == one.sample_indices_).all()
    assert many.refinement_.objective_after == pytest.approx(one.refinement_.objective_after)
    assert (REPS().fit(X, y, client=client).sample_indices_ == REPS().fit(X, y).sample_indices_).all()


def fit_while_a_worker_dies(selector, X, y, tasks):
    """Fit on two workers, one of which is killed when it alone has the result of a task of one of those names."""
    with make_cluster(2) as cluster, distributed.Client(cluster) as client:
        address, victim = next(iter(client.run(os.getpid).items()))
        killed = threading.Event()

        def kill():
            wait_until(lambda: client.run_on_scheduler(_holds, address=address, names=tasks))
            os.kill(victim, signal.SIGKILL)
            killed.set()

        thread = threading.Thread(target=kill)
        thread.start()
        found = selector.fit(X, y, client=client)
        in_mid_fit = killed.is_set()
        thread.join(PATIENCE)
    assert in_mid_fit
    return found


def _holds(dask_scheduler, address, names):
    return any(
        str(key).startswith(names) and [worker.address for worker in task.who_has or ()] == [address]
        for key, task in dask_scheduler.tasks.items()
    )


@pytest.mark.slow
def test_a_worker_that_is_killed_is_survived(monkeypatch):
    """In mid-fit, by SIGKILL, with lists that nobody else has."""
    monkeypatch.setattr(distributed_vectors, "BLOCK_ROWS", 100)
    X, y = overlapping(1200, d=40)
    assert same_fit(fit_while_a_worker_dies(REPS(40), X, y, ("_extend",)), REPS(40).fit(X, y))


@pytest.mark.slow
def test_a_worker_that_is_killed_among_regions_is_survived(client, small_regions):
    X, y = overlapping(1000, d=6)
    one = REPS(40, search="approximate").fit(X, y, client=client)
    tasks = ("search_region", "share", "merge")
    killed = fit_while_a_worker_dies(REPS(40, search="approximate"), X, y, tasks)
    assert same_fit(killed, one)
    assert killed.neighbor_recall_ == one.neighbor_recall_


def test_a_cluster_without_workers_is_refused_in_bounded_time(monkeypatch):
    monkeypatch.setattr(_cluster, "WAIT_FOR_WORKERS", 0.3)
    X, y = overlapping(60)
    with make_cluster(0) as cluster, distributed.Client(cluster) as client:
        selector = REPS(9)
        with pytest.raises(RuntimeError, match=r"the Dask cluster has no workers after 0.3 seconds; start some"):
            selector.fit(X, y, client=client)
        assert not hasattr(selector, "sample_indices_")


@pytest.mark.slow
def test_workers_that_all_die_end_the_fit(monkeypatch):
    monkeypatch.setattr(_cluster, "LOST_FOR", 0.5)
    with make_cluster(1) as cluster, distributed.Client(cluster) as client:
        stuck = client.submit(time.sleep, 60)
        wait_until(lambda: any(client.processing().values()))
        threading.Timer(0.3, cluster.scale, [0]).start()
        with pytest.raises(RuntimeError, match="could not be finished: all Dask workers have been lost.*fit again"):
            _cluster.gather(client, [stuck])


class LosesWorkers:
    """A client whose workers go when all tasks are done, just before the results are fetched."""

    def __init__(self, client, cluster):
        self._client, self._cluster = client, cluster

    def gather(self, futures, **options):
        distributed.wait(futures)
        self._cluster.scale(0)
        wait_until(lambda: not self._client.scheduler_info()["workers"])
        return self._client.gather(futures, **options)

    def __getattr__(self, name):
        return getattr(self._client, name)


def test_workers_that_are_lost_before_their_results_are_fetched_end_the_fit(monkeypatch):
    monkeypatch.setattr(_cluster, "LOST_FOR", 0.5)
    with make_cluster(1) as cluster, distributed.Client(cluster) as client:
        done = [client.submit(np.ones, size) for size in range(20)]
        with pytest.raises(RuntimeError, match="could not be finished: all Dask workers have been lost.*fit again"):
            _cluster.gather(LosesWorkers(client, cluster), done)


def test_an_interruption_cancels_what_is_waited_for():
    with make_cluster(1) as cluster, distributed.Client(cluster) as client:
        stuck = client.submit(time.sleep, 60)
        wait_until(lambda: any(client.processing().values()))
        threading.Timer(1.0, os.kill, [os.getpid(), signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            _cluster.gather(client, [stuck])
        assert stuck.status == "cancelled"


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
    with_zeros = X.copy()
    with_zeros[7] = 0.0
    with pytest.raises(ValueError, match="search='approximate' needs .* without zero or constant vectors"):
        REPS(9, metric="cosine", search="approximate").fit(with_zeros, y, client=client)
    with pytest.raises(ValueError, match=r"X is a Dask collection, which FCNN does not support; use REPS"):
        FCNN().fit(da.from_array(X, chunks=(30, 3)), y)
    with parallel_config("dask"):
        assert len(REPS(9, metric="manhattan").fit(X, y).sample_indices_) == 9
    broken = X.copy()
    broken[40, 1] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN or infinity in row"):
        REPS(9).fit(da.from_array(broken, chunks=(30, 3)), y)


def test_workers_decide_ties_alike(client):
    rng = np.random.default_rng(0)
    X, columns = rng.integers(0, 3, (400, 3)).astype(float), np.arange(0, 400, 9)
    codes = rng.integers(0, 3, 400)
    vote = MajorityVote(
        codes[columns], rng.integers(1, 4, len(columns)).astype(float), np.bincount(codes).astype(float)
    )
    here, there = (space.nearest(columns=columns, choose=vote) for space in (make_space(X), as_space(X, client=client)))
    np.testing.assert_array_equal(here[0], there[0])
    np.testing.assert_array_equal(here[1], there[1])


@pytest.mark.parametrize("C", [1e-6, 0.03, 1.0])
def test_solving_on_the_workers_finds_the_same_prototypes(client, C):
    """By the closed form and by L-BFGS-B; the lists never come here."""
    X, y = overlapping(250, d=3)
    one, many = REPS(40, C=C).fit(X, y), REPS(40, C=C, solver="distributed").fit(X, y, client=client)
    assert many.solver_ in ("closed_form", "lbfgs")
    assert many.duality_gap_ <= 1e-6
    assert many.weights_ == pytest.approx(one.weights_, rel=1e-4, abs=1e-4 * one.weights_.max())
    assert np.isin(many.sample_indices_, one.sample_indices_).mean() >= 0.95
    assert many.truncation_bound_ == pytest.approx(one.truncation_bound_)


def test_solving_on_the_workers_brings_few_numbers_here(client, monkeypatch):
    """However many blocks there are; and finds the same."""
    X, y = overlapping(240, d=3)
    selector = REPS(40, C=1e-6, solver="distributed")
    few_blocks = selector.fit(X, y, client=client).weights_.copy()
    monkeypatch.setattr(distributed_vectors, "BLOCK_ROWS", 20)
    came = []

    def counting(client, futures):
        found = _cluster.gather(client, futures)
        came.extend(found)
        return found

    monkeypatch.setattr(_features_on_workers, "gather", counting)
    selector.fit(X, y, client=client)
    assert sum(np.size(value) for part in came for value in _values(part)) <= 4 * len(X) + 12
    assert selector.weights_ == pytest.approx(few_blocks, rel=1e-9)
    assert selector.truncation_bound_ == pytest.approx(REPS(40, C=1e-6).fit(X, y).truncation_bound_)


def _values(part):
    return part if isinstance(part, tuple) else vars(part).values()


def test_memory_of_solving_on_the_workers_is_bounded(client):
    """What does not fit here is refused before a neighbour is searched."""
    X, y = overlapping(200, d=3)
    searched = []
    for refine, stages in ((False, {"solve"}), (True, {"solve", "refine"})):
        ranked = REPS(20, solver="distributed", search=NeighborSearch(max_memory="90KB"))
        selector = Refined(ranked) if refine else ranked
        with pytest.raises(
            MemoryError, match=r"max_memory allows only 90.0 KB; pass a larger max_memory, or select from p"
        ):
            selector.fit(X, y, client=Watched(client, searched))
        ranked.search.set_params(max_memory="8GB")
        fit = selector.fit(X, y, client=client)
        assert set(fit.memory_estimate_.stages) == stages
        assert fit.memory_estimate_.stages["solve"] == 64 * 8 * 200
    assert searched
    assert "_extend" not in searched


def test_solving_on_the_workers_needs_them():
    X, y = overlapping(60)
    with pytest.raises(ValueError, match="solver=.distributed. needs a Dask client and no lists; call fit"):
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


def clustered(n, d=6, seed=0):
    """Tight groups of very different size, most rows in one of them, and some rows far off."""
    rng = np.random.default_rng(seed)
    group = np.minimum(rng.geometric(0.4, n), 8)
    spread = rng.choice([0.1, 5.0], (n, 1), p=[0.9, 0.1])
    return 10 * rng.normal(size=(9, d))[group] + spread * rng.normal(size=(n, d))


def uniform(n, d=6, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, d))


def part_of_true_neighbors(lists, space, k):
    """Over all rows; of equally near ones any will do."""
    last = space.kneighbors(k, limit=k).distances.reshape(-1, k)[:, -1]
    return np.sum(lists.distances <= np.repeat(last, np.diff(lists.indptr))) / (len(last) * k)


@pytest.mark.parametrize("metric", ["euclidean", "correlation"])
@pytest.mark.parametrize("make", [clustered, uniform])
def test_regions_find_most_neighbors(client, small_regions, make, metric):
    """With exact distances, by (distance, index), and about as many as is said."""
    X, here = make(1300), make_space(make(1300), metric)
    lists = build_lists(as_space(X, metric, client=client), 10, search="approximate")
    true_recall = part_of_true_neighbors(lists, here, 10)
    assert true_recall >= 0.97
    assert lists.recall == pytest.approx(true_recall, abs=0.02)
    assert (np.diff(lists.indptr) == 10).all()
    for row in range(0, 1300, 100):
        entries = slice(lists.indptr[row], lists.indptr[row + 1])
        indices, distances = lists.indices[entries], lists.distances[entries]
        assert (distances == here.block(np.array([row]), indices)[0]).all()
        assert (np.lexsort((indices, distances)) == np.arange(10)).all()


@pytest.mark.slow
def test_lists_of_regions_do_not_depend_on_workers_blocks_or_input(client, small_regions, monkeypatch):
    X = uniform(700, d=8)

    def find(space):
        found = build_lists(space, 12, search="approximate")
        return found.indptr, found.indices, found.distances, found.recall

    first = find(as_space(X, client=client))
    others = [find(as_space(da.from_array(X, chunks=(370, 5)), client=client))]
    monkeypatch.setattr(distributed_vectors, "BLOCK_ROWS", 230)
    with make_cluster(1) as cluster, distributed.Client(cluster, set_as_default=False) as alone:
        others.append(find(as_space(X, client=alone)))
    for other in others:
        assert all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize(
    ("n", "n_regions", "n_visited"),
    [(50_000, 1, 1), (50_001, 3, 2), (100_000, 4, 2), (200_000, 12, 3), (10_000_000, 200, 4), (50_000_000, 400, 4)],
)
def test_regions_grow_with_the_data_and_then_in_number(client, n, n_regions, n_visited):
    space = distributed_vectors.DistributedVectorSpace(client, "euclidean", [], [n], 20, 80)
    plan = _regions.make_plan(space, 30)
    assert (plan.n_regions, plan.n_visited) == (n_regions, n_visited)
    assert n * n_visited / n_regions <= 500_000
    assert plan.most_rows == 3 * max(50_000, n * n_visited // n_regions)


def test_a_region_that_is_too_large_is_cut(client, small_regions, monkeypatch):
    """Here of rows that nothing tells apart: each still has equals in its part."""
    monkeypatch.setattr(_regions, "LARGEST_REGION", 1)
    X = np.vstack([np.zeros((1200, 3)), uniform(200, d=3)])
    lists = build_lists(as_space(X, client=client), 8, search="approximate")
    assert lists.recall >= 0.97
    assert (lists.distances[: 1200 * 8] == 0).all()


def test_few_rows_are_one_region(client):
    """Whose lists are exact where the search within it is."""
    X = uniform(400)
    exact, lists = (build_lists(as_space(X, client=client), 9, search=search) for search in ("exact", "approximate"))
    assert lists.recall == 1.0
    assert (lists.indices == exact.indices).all()
    assert (lists.distances == exact.distances).all()


def test_lists_of_regions_on_disk(client, small_regions, tmp_path):
    X, y = overlapping(700)
    fit = REPS(20, search=NeighborSearch("approximate", folder=tmp_path)).fit(X, y, client=client)
    in_memory = REPS(20, search="approximate").fit(X, y, client=client)
    assert same_fit(fit, in_memory)
    assert NeighborLists.from_folder(tmp_path).n_objects == 700


def test_solving_on_the_workers_with_lists_of_regions(client, small_regions):
    """Of a Dask array: neither rows nor lists come here."""
    X, y = overlapping(450, d=5)
    here = REPS(40, C=1e-6, search="approximate").fit(X, y, client=client)
    blocks = da.from_array(X, chunks=(250, 2))
    there = REPS(40, C=1e-6, solver="distributed", search="approximate").fit(blocks, y, client=client)
    assert there.neighbor_search_ == here.neighbor_search_ == "approximate"
    assert there.neighbor_recall_ == here.neighbor_recall_ >= 0.97
    assert there.weights_ == pytest.approx(here.weights_, rel=1e-4, abs=1e-4 * here.weights_.max())
    assert np.isin(there.sample_indices_, here.sample_indices_).mean() >= 0.95
    exact = REPS(40, C=1e-6, search="exact").fit(X, y)
    assert np.isin(there.sample_indices_, exact.sample_indices_).mean() >= 0.9


def test_low_recall_is_said_and_refused(client, small_regions, monkeypatch):
    """Where rows visit one region, once."""
    monkeypatch.setattr(_regions, "VISITED_REGIONS", 1)
    monkeypatch.setattr(_regions, "REGION_ROUNDS", 1)
    X, y = uniform(900, d=5), np.arange(900) % 3
    with pytest.warns(UserWarning, match=r"found [5-9]\d\.\d% of the true neighbours of a sample"):
        fit = REPS(20, search="approximate").fit(X, y, client=client)
    assert 0.5 < fit.neighbor_recall_ < 0.95
    assert 0.2 < fit.prototype_overlap_ < 1
    monkeypatch.setattr(_regions, "REGION_ROWS", 20)
    for solver in ("auto", "distributed"):
        with pytest.raises(ValueError, match=r"found .* too few to learn from .* use search='exact'"):
            REPS(20, solver=solver, search="approximate").fit(X, y, client=client)


def test_rounds_go_on_while_they_help(client, small_regions, monkeypatch):
    monkeypatch.setattr(_regions, "VISITED_REGIONS", 1)
    space = as_space(uniform(900), client=client)
    reached = space.approximate_on_workers(8).recall_by_round
    assert 2 <= len(reached) <= _regions.REGION_ROUNDS
    assert all(after - before > 0 for before, after in pairwise(reached))
    assert all(recall < 0.97 for recall in reached[:-1])
    monkeypatch.setattr(_regions, "LEAST_REGION_GAIN", 1.0)
    assert space.approximate_on_workers(8).recall_by_round == reached[:2]


def test_many_objects_are_searched_by_regions_unless_some_have_no_direction(client, monkeypatch):
    monkeypatch.setattr("protoset.neighbors.search.APPROXIMATE_FROM", 300)
    X = uniform(301) + 0.1
    assert choose_search(as_space(X, client=client), "auto") == "approximate"
    assert choose_search(as_space(X[:299], client=client), "auto") == "exact"
    assert choose_search(as_space(X, "cosine", client=client), "auto") == "approximate"
    X[300] = 0.0
    assert choose_search(as_space(X, "cosine", client=client), "auto") == "exact"


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 6), st.booleans())
def test_lists_of_several_regions_are_merged_without_repeats(seed, k, n_shares, has_lists):
    """Into the nearest of all that any of them lists."""
    rng = np.random.default_rng(seed)
    n, n_columns = 6, 12
    distance = rng.integers(0, 4, (n, n_columns)).astype(float)
    known = [set() for _ in range(n)]

    def lists_of(rows):
        chosen = [np.flatnonzero(rng.random(n_columns) < 0.5) for _ in rows]
        chosen = [found[np.lexsort((found, distance[row, found]))] for row, found in zip(rows, chosen, strict=True)]
        for row, found in zip(rows, chosen, strict=True):
            known[row].update(found.tolist())
        far = np.concatenate([distance[row, found] for row, found in zip(rows, chosen, strict=True)] + [np.empty(0)])
        flat = np.concatenate([*chosen, np.empty(0, int)]).astype(np.int32)
        return RawLists(np.array([len(found) for found in chosen], np.int64), flat, far, np.zeros(len(rows), bool))

    lists = lists_of(range(n)) if has_lists else None
    rows = [np.flatnonzero(rng.random(n) < 0.6) for _ in range(n_shares)]
    merged = _region_tasks.merge(n, k, lists, *(PartialLists(some, lists_of(some)) for some in rows))
    expected = [sorted((distance[row, j], j) for j in known[row])[:k] for row in range(n)]
    assert merged.counts.tolist() == [len(row) for row in expected]
    assert merged.indices.tolist() == [j for row in expected for _, j in row]
    assert merged.distances.tolist() == [far for row in expected for far, _ in row]
    assert not merged.closed.any()


@pytest.mark.parametrize("approximately", [False, True])
def test_a_region_is_searched_as_in_one_process(monkeypatch, approximately):
    if approximately:
        pytest.importorskip("faiss")
    monkeypatch.setattr(_region_tasks, "APPROXIMATE_ROWS", 1000)
    X = uniform(1200).astype(np.float32)
    rows = np.sort(np.random.default_rng(0).choice(5000, 1200, replace=False))
    parts = [Members(rows[some], make_space(X[some])) for some in (slice(500), slice(500, 1200))]
    found = search_region(10, approximately, *parts)
    exact = make_space(X).kneighbors(10, limit=10)
    assert (found.rows == rows).all()
    assert (found.lists.counts == 10).all()
    assert (found.lists.indices == rows[exact.indices]).mean() >= (0.95 if approximately else 1)
    assert (found.lists.closed != approximately).all()  # only the exact search knows


def test_a_worker_without_faiss_among_others_is_refused(monkeypatch):
    """Its lists would not be theirs."""
    monkeypatch.setattr(_region_tasks, "APPROXIMATE_ROWS", 10)
    monkeypatch.setattr(_region_tasks, "approximate_library", lambda: "pynndescent")
    members = Members(np.arange(50), make_space(uniform(50)))
    with pytest.raises(RuntimeError, match="faiss is missing on a worker, but installed on another; install it on all"):
        search_region(5, True, members)


def test_a_region_of_one_has_no_neighbors():
    alone = search_region(5, False, Members(np.array([3]), make_space(np.ones((1, 2)))))
    assert alone.rows.tolist() == [3]
    assert alone.lists.counts.tolist() == [0]


def test_blocks_grow_and_come_in_pieces(client, monkeypatch):
    monkeypatch.setattr(distributed_vectors, "MOST_BLOCKS", 3)
    monkeypatch.setattr(_cluster, "TASK_BYTES", 1000)
    X = uniform(640)
    space = as_space(X, client=client)
    assert len(space.blocks) == 3
    exact = build_lists(make_space(X), 6)
    assert (build_lists(space, 6).indices == exact.indices).all()


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_workers_search_for_the_refinement(client, monkeypatch, metric):
    """A sample that is here, with ties; the lists are those of one process."""
    monkeypatch.setattr(_cluster_sample, "LEAST_SAMPLE_ROWS", 100)
    monkeypatch.setattr(_cluster_sample, "SAMPLE_TASK_ROWS", 64)
    X = np.random.default_rng(0).integers(0, 4, (300, 3)).astype(np.float32)
    members = np.arange(0, 300, 2)
    sample = as_space(X, metric, client=client).subset(members)
    searched = []
    monkeypatch.setattr(sample, "_client", Watched(client, searched))
    found, one = (space.kneighbors(9, limit=12) for space in (sample, make_space(X[members], metric)))
    assert "_search_rows" in searched
    for name in ("counts", "indices", "distances", "closed"):
        assert (getattr(found, name) == getattr(one, name)).all()
    assert (sample.subset(np.arange(20)).block(slice(None), slice(None)) == sample.block(slice(20), slice(20))).all()


class Watched:
    """A client, and the names of what it was given to do."""

    def __init__(self, client, names):
        self._client, self._names = client, names

    def submit(self, function, *arguments, **options):
        self._names.append(function.__name__)
        return self._client.submit(function, *arguments, **options)

    def __getattr__(self, name):
        return getattr(self._client, name)


def test_refinement_by_lists_of_the_workers(client, monkeypatch):
    """Where the distances of the sample are too many for a matrix."""
    monkeypatch.setattr(_refinable_set, "MATRIX_BYTES", 0)
    monkeypatch.setattr(_refinable_set, "LIST_ENTRY_BYTES", 0)
    monkeypatch.setattr(_cluster_sample, "LEAST_SAMPLE_ROWS", 100)
    X, y = overlapping(400, d=3)
    one, many = Refined(REPS(30)).fit(X, y), Refined(REPS(30)).fit(X, y, client=client)
    assert (many.sample_indices_ == one.sample_indices_).all()
    assert many.refinement_.objective_after == one.refinement_.objective_after


# Moves of prototypes


def starting(X, y, n_prototypes, metric):
    """Objects in memory, and prototypes that stand where the first ones are."""
    objects = WeightedObjects(make_space(X, metric).movable, y, np.ones(len(y)))
    own = np.where(np.arange(len(y)) < n_prototypes, np.arange(len(y)), -1)
    first = Moved(objects.movable.start(np.arange(n_prototypes)), np.ones(X.shape[1]))
    return objects, MovingSet(first, y[:n_prototypes], own)


def same_moves(there, here):
    assert there.adaptation_.has_moved
    assert (there.sample_indices_ == here.sample_indices_).all()
    assert there.adaptation_.prototypes == pytest.approx(here.adaptation_.prototypes, abs=1e-9)
    assert there.adaptation_.held_out_after == here.adaptation_.held_out_after
    assert (there.exemplars_ == here.exemplars_).all()


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "correlation"])
@pytest.mark.parametrize("loss", ["relative", "softmax"])
def test_prototypes_move_among_objects_on_workers_as_among_objects_here(client, monkeypatch, metric, loss):
    """From the same start with the same seed, in several chunks, with lists of nearby prototypes."""
    monkeypatch.setattr(descent, "CHUNK_OBJECTS", 256)
    monkeypatch.setattr(descent, "MANY_IN_SOFTMAX" if loss == "softmax" else "MANY_PROTOTYPES", 50)
    X, y = overlapping(900, d=4)
    here, start = starting(X, y, 60, metric)
    rows = da.from_array(X, chunks=(170, 3))
    there = WeightedObjects(as_space(rows, metric, client=client).movable, y, np.ones(900))
    course = descent.Course(loss, n_passes=3, noise=0.2, relevances=True)
    moved, same = (
        descent.descend(objects, start, np.arange(900), course, np.random.RandomState(0)).moved
        for objects in (there, here)
    )
    assert (moved.points != start.moved.points).any()
    assert moved.points == pytest.approx(same.points, abs=1e-9)
    assert moved.scales == pytest.approx(same.scales, abs=1e-9)
    assert there.movable.objects(moved) == pytest.approx(here.movable.objects(same), abs=1e-9)


def test_a_chunk_comes_in_one_transfer(client, monkeypatch):
    """A task for each block that has rows of the chunk; rows in any order, of single precision as they are."""
    X = uniform(500).astype(np.float32)
    space, transfers = as_space(da.from_array(X, chunks=(100, 2)), client=client), []

    def gather(client, futures):
        transfers.append(len(futures))
        return _cluster.gather(client, futures)

    monkeypatch.setattr(distributed_vectors, "gather", gather)
    rows = np.array([120, 30, 199, 0, 410])
    taken = space.movable.take(rows)
    assert transfers == [3]
    assert taken.coordinates.images.dtype == np.float32
    assert (taken.coordinates.images == X[rows]).all()
    assert space.movable.take(np.arange(0)).coordinates.images.shape == (0, X.shape[1])


def test_classifiers_move_prototypes_among_objects_on_workers(client, monkeypatch):
    """Trials, moves and exemplars; of a Dask array, of an array, and of a Dask DataFrame with names of columns."""
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    monkeypatch.setattr(descent, "CHUNK_OBJECTS", 256)
    X, y = overlapping(700, d=4)
    classifier = PrototypeClassifier(Refined(REPS(9)), adapt={"n_passes": 4})
    here = clone(classifier).fit(X, y)
    same_moves(clone(classifier).fit(da.from_array(X, chunks=(170, 2)), da.from_array(y, chunks=90)), here)
    same_moves(clone(classifier).fit(X, y, client=client), here)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    named = clone(classifier).fit(dd.from_pandas(frame, npartitions=3), y)
    same_moves(named, here)
    assert named.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert (named.predict(dd.from_pandas(frame, npartitions=2)).compute() == here.predict(X)).all()


def test_the_automatic_size_of_moved_sets_on_a_cluster(client):
    X, y = overlapping(300, d=8, n_classes=4)
    classifier = PrototypeClassifier(Refined(REPS()), adapt={"n_passes": 10})
    there, here = clone(classifier).fit(X, y, client=client), clone(classifier).fit(X, y)
    # In memory the objects move in the order of their contents, on workers in that of the rows.
    assert there.selector_.size_curve_.errors == pytest.approx(here.selector_.size_curve_.errors, abs=0.06)
    assert (there.selector_.size_curve_.sizes == here.selector_.size_curve_.sizes).all()


@pytest.mark.parametrize("options", [{"solver": "distributed"}, {"search": "approximate"}])
def test_trials_of_moves_select_in_this_process(client, options):
    """Whatever selects among the objects on the workers."""
    X, y = overlapping(700, d=4)
    found = PrototypeClassifier(REPS(9, **options), adapt={"n_passes": 4}).fit(X, y, client=client)
    assert found.adaptation_.has_moved
    assert found.score(X, y) > PrototypeClassifier(REPS(9), adapt=False).fit(X, y).score(X, y)


def test_adapt_takes_dask_arrays(client):
    X, y = overlapping(600, d=4)
    there = adapt(da.from_array(X, chunks=(170, 2)), da.from_array(y, chunks=90), X[:9], y[:9], n_passes=4)
    here = adapt(X, y, X[:9], y[:9], n_passes=4)
    assert there.has_moved
    assert there.prototypes == pytest.approx(here.prototypes, abs=1e-9)
    assert there.objective_after == pytest.approx(here.objective_after, abs=1e-9)


def test_vectors_without_a_direction_do_not_move_on_a_cluster_either(client):
    X, y = overlapping(200, d=3)
    X[150] = 0.0
    classifier = PrototypeClassifier(REPS(9, metric="cosine"))
    assert clone(classifier).fit(X, y, client=client).adaptation_ is None
    with pytest.raises(ValueError, match="a vector of X has none, as all its values are 0"):
        clone(classifier).set_params(adapt=True).fit(X, y, client=client)


@pytest.mark.slow
def test_a_worker_that_is_killed_during_the_moves_is_survived(monkeypatch):
    monkeypatch.setattr(descent, "CHUNK_OBJECTS", 256)
    monkeypatch.setattr(distributed_vectors, "BLOCK_ROWS", 100)
    X, y = overlapping(900, d=4)
    here = PrototypeClassifier(REPS(9), adapt={"n_passes": 4}).fit(X, y)
    with make_cluster(2) as cluster, distributed.Client(cluster) as client:
        victims = list(client.run(os.getpid).values())[:1]

        def kill(progress):
            if victims:
                os.kill(victims.pop(), signal.SIGKILL)

        moves = {"n_passes": 4, "callback": kill}
        there = PrototypeClassifier(REPS(9), adapt=moves).fit(X, y, client=client)
        assert not victims
    same_moves(there, here)
