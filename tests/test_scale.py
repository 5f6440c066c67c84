"""Many objects: approximate neighbours and their recall, memory, lists on disk, refinement on a sample."""

import contextlib
import gc
import importlib.util
import os
import stat
import subprocess
import sys
import tracemalloc
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protoset import REPS, NeighborLists, NeighborSearch, PrototypeClassifier, Refined, kernels, load, refine, save
from protoset._memory import WORKING_BYTES as WORK
from protoset._memory import MemoryEstimate, available_memory, check_fits, format_bytes, parse_bytes
from protoset._storage import Storage
from protoset.neighbors import build_lists
from protoset.neighbors.search import choose_search
from protoset.selectors import _overlap, _refinable_set
from protoset.selectors.allocation import cut
from protoset.selectors.refinement import refining_bytes, sample_with
from protoset.spaces import CountedSpace, _approximate, _cells, make_space

from conftest import overlapping

METRICS = ("euclidean", "sqeuclidean", "cosine", "correlation", "seuclidean", "mahalanobis")


def approximate(space, k, **parameters):
    return build_lists(space, k, search="approximate", **parameters)


@pytest.mark.parametrize("metric", METRICS)
def test_listed_distances_are_exact_and_sorted(metric):
    X, _ = overlapping(600, d=6)
    space = make_space(X, metric)
    lists = approximate(space, 10)
    rows = np.repeat(np.arange(600), 10)
    exact = np.array(
        [space.block(np.array([i]), np.array([j]))[0, 0] for i, j in zip(rows, lists.indices, strict=True)]
    )
    assert (lists.distances == exact).all()
    assert (np.diff(lists.distances.reshape(600, 10), axis=1) >= 0).all()
    assert not (lists.indices == rows).any()


def test_recall_is_that_of_the_sample():
    X, _ = overlapping(2000, d=5)
    lists = approximate(make_space(X), 20)
    true = np.sort(cdist(X, X), axis=1)[:, 1:21]
    everywhere = np.mean(lists.distances.reshape(2000, 20) <= true[:, -1:] * (1 + 1e-12))
    assert lists.recall == pytest.approx(everywhere, abs=0.02)
    assert lists.recall > 0.95


def test_approximate_lists_are_the_exact_ones_where_nothing_is_missed():
    """So few that the graph reaches everyone."""
    X, _ = overlapping(60, d=3)
    exact, found = build_lists(make_space(X), 8, search="exact"), approximate(make_space(X), 8)
    assert found.recall == 1.0
    assert (found.indices == exact.indices).all()
    assert (found.ranks == exact.ranks).all()
    assert not found.closed.any()
    assert exact.recall is None


@pytest.mark.slow
def test_rounds_find_what_the_cells_miss_whatever_the_workers(monkeypatch):
    """With small cells of which few are looked into, so that several rounds follow."""
    for name, value in (
        ("CELL_SIZE", 40),
        ("PROBED_CELLS", 2),
        ("QUERIES_AT_ONCE", 500),
        ("MOST_WIDTH", 10),
        ("MOST_PROPOSALS", 2000),
    ):
        monkeypatch.setattr(_cells, name, value)
    made, improve = [], _cells.CellCandidates.improve
    monkeypatch.setattr(_cells.CellCandidates, "improve", lambda self: made.append(improve(self)) or made[-1])
    X, _ = overlapping(3000, d=8)
    one, two = (approximate(make_space(X), 15, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert (one.indices == two.indices).all()
    assert (one.distances == two.distances).all()
    assert one.recall == two.recall > 0.95
    assert sum(made) >= 4, "rounds of both"
    monkeypatch.setattr(_cells, "DESCENT_ROUNDS", 0)
    with pytest.warns(UserWarning, match="true neighbours"):
        assert approximate(make_space(X), 15).recall < 0.9


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_very_few_objects(n):
    X, _ = overlapping(n, d=2)
    lists = approximate(make_space(X), 10)
    assert lists.recall == (1.0 if n > 1 else None)
    assert (lists.indices == build_lists(make_space(X), 10, search="exact").indices).all()


def test_crowds_are_cut_in_parts():
    """So that a million like vectors do not all visit each other; everybody visits their own part."""
    starts = np.array([0, 3, 3, 25, 26])
    crowds = _cells.SplitCells.of(starts, 5)
    assert crowds.part_starts.tolist() == [0, 3, 3, 7, 11, 16, 20, 25, 26]
    places = np.arange(26)
    cells = np.tile(np.array([2, 0, -1], np.int32), (26, 1))
    chosen = crowds.choose(places, cells)
    assert (chosen[:, 1] == 0).all()
    assert (chosen[:, 2] == -1).all()
    assert ((chosen[:, 0] >= 2) & (chosen[:, 0] <= 6)).all()
    inside = (places >= 3) & (places < 25)
    first, stop = crowds.part_starts[chosen[inside, 0]], crowds.part_starts[chosen[inside, 0] + 1]
    assert ((first <= places[inside]) & (places[inside] < stop)).all()


def test_a_crowd_of_duplicates_is_searched_in_parts(monkeypatch):
    monkeypatch.setattr(_cells, "CELL_SIZE", 20)
    X = np.random.default_rng(0).normal(size=(1000, 3))
    X[:700] = X[0]
    lists = approximate(make_space(X), 10)
    assert (lists.distances.reshape(1000, 10)[:700] == 0).all()
    assert lists.recall > 0.95


def test_a_crowd_is_not_introduced_to_itself(monkeypatch):
    """Where everyone is as near as the last of a list, nothing is proposed, in however many rounds."""
    proposed, introduce = [], kernels.graphs.propose_pairs
    monkeypatch.setattr(
        kernels.graphs, "propose_pairs", lambda *args: proposed.append(introduce(*args)[1]) or introduce(*args)
    )
    candidates = _cells.CellCandidates(np.ones((500, 3)), 10, None)
    assert candidates.improve()
    assert proposed == [0]


def test_many_duplicates_do_not_break_the_search():
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 3)), 100, axis=0)
    lists = approximate(make_space(X), 20)
    assert (lists.distances == 0).all()


@pytest.mark.slow
def test_pynndescent_serves_where_faiss_is_not_installed(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "faiss" else find(name, *rest))
    assert _approximate.approximate_library() == "pynndescent"
    X, _ = overlapping(400, d=4)
    lists = approximate(make_space(X.astype(np.float32)), 10)
    assert lists.recall > 0.9


def test_without_a_library_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None)
    X, y = overlapping(50)
    with pytest.raises(ImportError, match=r"needs faiss or pynndescent; run pip install 'protoset\[approximate\]'"):
        REPS(5, search="approximate").fit(X, y)
    assert REPS(5, search="auto").fit(X, y).neighbor_search_ == "exact"


def test_automatic_search_switches_at_the_stated_size(monkeypatch):
    X, y = overlapping(120)
    monkeypatch.setattr("protoset.neighbors.search.APPROXIMATE_FROM", 120)
    assert REPS(9).fit(X, y).neighbor_search_ == "approximate"
    assert REPS(9).fit(X[1:], y[1:]).neighbor_search_ == "exact"
    assert REPS(9, metric="manhattan").fit(X, y).neighbor_search_ == "exact"
    assert _approximate.APPROXIMATE_FROM == 100_000, "the documentation says so"


def test_kinds_without_an_approximate_search_are_refused():
    X, _ = overlapping(30)
    with pytest.raises(ValueError, match="search='approximate' needs time series, or dense vectors"):
        choose_search(make_space(X, "manhattan"), "approximate")
    X[0] = 0
    with pytest.raises(ValueError, match="without zero or constant vectors"):
        choose_search(make_space(X, "cosine"), "approximate")


def scattered(n, d, seed=0):
    """Vectors without structure, where graphs lead nowhere."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)).astype(np.float32), np.arange(n) % 3


def lazy(monkeypatch):
    """A search that looks into one small cell and no farther."""
    monkeypatch.setattr(_cells, "CELL_SIZE", 60)
    monkeypatch.setattr(_cells, "PROBED_CELLS", 1)
    monkeypatch.setattr(_cells, "DESCENT_ROUNDS", 0)


def test_low_recall_warns_with_the_way_out(monkeypatch):
    lazy(monkeypatch)
    monkeypatch.setattr("protoset.neighbors.search.LEAST_RECALL", 0.0)
    X, y = scattered(3000, 30)
    with pytest.warns(UserWarning, match=r"found \d+\.\d% of .* less than 95%.*search='exact'"):
        fitted = REPS(30, search="approximate").fit(X, y)
    assert 0 < fitted.neighbor_recall_ < 0.95


def test_too_low_recall_ends_the_fit(monkeypatch):
    lazy(monkeypatch)
    X, y = scattered(3000, 60)
    selector = REPS(30, search="approximate")
    with pytest.raises(ValueError, match=r"too few to learn from \(less than 50%\); use search='exact'"):
        selector.fit(X, y)
    assert not hasattr(selector, "sample_indices_")


def test_ties_that_approximate_lists_do_not_hold_are_named():
    X = np.eye(200)  # all are equally far from each other
    y = np.arange(200) % 3
    with pytest.warns(UserWarning, match="200 of 200 objects have more equally .* than approximate lists hold.*exact"):
        REPS(0.1, search="approximate").fit(X, y)
    REPS(0.1, search="exact").fit(X, y)


def test_overlap_of_prototypes_with_exact_ones(monkeypatch):
    X, y = overlapping(1500, d=6)
    assert REPS(0.1, search="approximate").fit(X, y).prototype_overlap_ > 0.9
    assert REPS(0.1, search="exact").fit(X, y).prototype_overlap_ == 1.0
    lists = build_lists(make_space(X), 20)
    assert np.isnan(REPS(0.1).fit(X, y, lists=lists).prototype_overlap_)
    monkeypatch.setattr(_overlap, "COMPARED_OBJECTS", 200)
    monkeypatch.setattr(_cells, "CELL_SIZE", 40)
    assert 0.5 < REPS(0.1, search="approximate").fit(X, y).prototype_overlap_ <= 1.0


def rough_fit(monkeypatch, cell, n_probed, d):
    """Fits on exact lists and on those of a search that misses many, and the part of the prototypes they share."""
    for name, value in (("CELL_SIZE", cell), ("PROBED_CELLS", n_probed), ("DESCENT_ROUNDS", 1)):
        monkeypatch.setattr(_cells, name, value)
    monkeypatch.setattr("protoset.neighbors.search.RECALL_WARNING", 0.0)
    X, y = overlapping(2500, d=d)
    rough, exact = REPS(0.1, search="approximate").fit(X, y), REPS(0.1, search="exact").fit(X, y)
    return rough, np.isin(exact.sample_indices_, rough.sample_indices_).mean()


@pytest.mark.parametrize(("cell", "n_probed", "d"), [(40, 2, 8), (60, 3, 20), (60, 5, 20)])
def test_overlap_does_not_flatter(monkeypatch, cell, n_probed, d):
    """Where the sample is everyone, so that the search itself is compared; what is struck out may tell of less."""
    rough, true = rough_fit(monkeypatch, cell, n_probed, d)
    assert true - 0.15 < rough.prototype_overlap_ <= true < 0.95


@pytest.mark.parametrize("recall", [0.0, 0.9, 1.0])
def test_thinned_lists(recall):
    """Some of the first entries of each list."""
    X, _ = overlapping(200)
    lists = build_lists(make_space(X), 20)
    thin = _overlap._thinned(lists, recall, 8)
    first = [set(row[:8]) for row in lists.indices.reshape(200, 20).tolist()]
    found = [set(thin.indices[start:stop].tolist()) for start, stop in pairwise(thin.indptr)]
    assert all(part <= whole for part, whole in zip(found, first, strict=True))
    assert len(thin.indices) / (200 * 8) == pytest.approx(recall, abs=0.03)
    assert not thin.closed.any()


# Memory


@pytest.mark.parametrize(
    ("text", "size"),
    [(1024, 1024), ("4GB", 4 * 10**9), ("1.5 MiB", 1572864), (" 2 tb ", 2 * 10**12)],
)
def test_sizes_of_memory(text, size):
    assert parse_bytes("max_memory", text) == size


@pytest.mark.parametrize("wrong", ["4", "GB", "-1GB", "4XB", 0, -5, 2.5, True, [], "0GB"])
def test_what_is_no_size_of_memory(wrong):
    with pytest.raises(ValueError, match="max_memory=.* is not a size of memory; pass bytes"):
        REPS(search=NeighborSearch(max_memory=wrong)).fit(*overlapping(20))


def test_sizes_are_written_for_people():
    assert [format_bytes(size) for size in (12, 3_100, 4.26e9, 7e12)] == ["12 B", "3.1 KB", "4.3 GB", "7.0 TB"]


def test_the_machine_says_what_it_has():
    available = available_memory()
    assert available is None or 2**20 < available < 2**50


def test_a_fit_that_does_not_fit_says_how_much_it_needs_before_it_starts():
    X, y = overlapping(500)
    selector = REPS(10, search=NeighborSearch(max_memory="1MB"))
    with pytest.raises(MemoryError, match=r"needs about \d+\.\d MB .* max_memory allows only 1.0 MB; pass search=Neig"):
        selector.fit(X, y)
    assert not hasattr(selector, "ranking_")


@pytest.mark.parametrize(
    ("n_neighbors", "advice"), [("auto", r"pass search=NeighborSearch\(n_neighbors=30\)"), (20, "pass float32")]
)
def test_the_error_does_not_advise_what_is_done(tmp_path, n_neighbors, advice):
    selector = REPS(10, search=NeighborSearch(max_memory="1MB", folder=tmp_path, n_neighbors=n_neighbors))
    with pytest.raises(MemoryError, match=f"max_memory allows only 1.0 MB; {advice}"):
        selector.fit(*overlapping(500))


def test_without_a_limit_the_machine_is_the_limit(monkeypatch):
    monkeypatch.setattr("protoset._memory.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"but this machine has only 1.0 KB"):
        REPS(10).fit(*overlapping(50))
    monkeypatch.setattr("protoset._memory.available_memory", lambda: None)
    assert REPS(10).fit(*overlapping(50)).memory_estimate_.peak > 1000


def test_lists_on_disk_need_less_memory(tmp_path):
    X, y = overlapping(3000)
    whole = REPS(10).fit(X, y).memory_estimate_
    assert set(whole.stages) == {"search", "solve"}
    assert whole.lists == 3000 * 53 * 20
    assert "neighbour lists" in str(whole)
    on_disk = REPS(10, search=NeighborSearch(folder=tmp_path)).fit(X, y).memory_estimate_
    assert on_disk.lists == whole.lists
    assert whole.stages["solve"] - on_disk.stages["solve"] == whole.lists
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    named = sum(sizes[f"neighbor_{part}.npy"] for part in ("indices", "distances", "ranks"))
    assert named == pytest.approx(whole.lists, rel=0.01)


def held_by_lists(space, folder):
    """Bytes that Python holds more when lists of 20 neighbours were found."""
    approximate(space, 20)
    tracemalloc.start()
    try:
        lists = approximate(space, 20, storage=Storage.at(folder))
        assert len(lists.indices) == 20 * space.shape[0]
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_lists_on_disk_are_not_in_memory(tmp_path):
    space = make_space(overlapping(3000, d=4)[0])
    entries = 20 * 3000
    assert held_by_lists(space, None) >= 20 * entries
    assert held_by_lists(space, tmp_path) < 5 * entries


def estimate_memory(n, n_neighbors, object_bytes, *, approximate, on_disk, refined, remote=False):
    """Estimate of a fit of REPS, refined or not, from the sizes alone."""
    objects = SimpleNamespace(
        shape=(n, n),
        object_bytes=object_bytes,
        remote=remote,
        approximate_search=len if approximate else None,
        approximate_bytes=lambda k, *, on_disk: _approximate.approximate_search_bytes(
            k, object_bytes, n, on_disk=on_disk
        ),
    )
    kind, folder = "approximate" if approximate else "exact", "." if on_disk else None
    selector = REPS(1, search=NeighborSearch(kind, n_neighbors=n_neighbors, folder=folder))
    estimate = selector._estimate_memory(objects, given=False, sized=False)
    return estimate if refined is None else estimate.with_stage("refine", refining_bytes(n, refined, object_bytes))


@pytest.mark.parametrize(
    ("n_objects", "object_bytes", "measured"),
    [(100_000, 80, 0.48e9), (300_000, 80, 0.68e9), (1_000_000, 80, 1.4e9), (522_910, 216, 0.66e9)],
)
def test_estimates_against_measured_fits(n_objects, object_bytes, measured):
    """Peaks of fits of float32 vectors that keep 1 % and refine them, beyond X and the libraries."""
    refined = n_objects // 100
    estimate = estimate_memory(n_objects, 30, object_bytes, approximate=True, on_disk=False, refined=refined)
    assert measured <= estimate.peak <= 1.6 * measured


@given(st.integers(1, 200), st.integers(1, 400))
def test_estimates_of_the_search_grow_with_its_edges(k, object_bytes):
    """Against a count of the arrays of a round: candidates and how far they reach, edges twice, and which are new."""
    n = 10**6
    found = estimate_memory(n, k, object_bytes, approximate=True, on_disk=True, refined=None).stages["search"]
    lists, edges = np.empty((1, k + 10), np.int32), np.empty((1, 2 * min(40, k + 10)), np.int32)
    a_round = 2 * lists.nbytes + 8 + 2 * edges.nbytes + edges.astype(bool).nbytes
    assert found - n * (object_bytes + a_round) == 4 * 64 * 2**20 + 16 * n


def test_the_automatic_size_needs_lists_of_the_folds(tmp_path):
    X, y = overlapping(300)
    plain = REPS(10, search=NeighborSearch(folder=tmp_path)).fit(X, y).memory_estimate_
    sized = REPS(n_prototypes="auto", search=NeighborSearch(folder=tmp_path)).fit(X, y).memory_estimate_
    assert set(sized.stages) == {"search", "solve", "size"}
    assert sized.stages["solve"] == plain.stages["solve"]
    # On disk are those of everyone alone.
    assert sized.stages["size"] - WORK == pytest.approx(0.8 * (sized.lists + plain.stages["solve"] - WORK), rel=1e-6)
    refined = Refined(REPS(n_prototypes="auto")).fit(X, y).memory_estimate_
    assert set(refined.stages) == {"search", "solve", "refine"}


def test_objects_elsewhere_need_no_memory_but_the_sample_does():
    sizes = {"approximate": False, "on_disk": False, "refined": 100}
    here, there = (estimate_memory(10**6, 30, 400, remote=remote, **sizes).stages for remote in (False, True))
    assert here["search"] - there["search"] == 2 * 10**6 * 400
    light = estimate_memory(10**6, 30, 0, remote=True, **sizes).stages
    assert there["search"] == light["search"]
    assert there["refine"] - light["refine"] == 3 * 50_000 * 400


@pytest.mark.parametrize(("n", "n_prototypes"), [(300, 30), (900, 30), (900, 300)])
def test_the_estimate_of_refinement_is_what_it_takes(monkeypatch, n, n_prototypes):
    """With bounds so small that there is a matrix of some and lists of others."""
    monkeypatch.setattr(_refinable_set, "MATRIX_BYTES", 2**20)
    monkeypatch.setattr(_refinable_set, "LIST_ENTRIES", 2**14)
    wanted = -(-6 * n // n_prototypes)
    candidates = _refinable_set.CandidateDistances(make_space(overlapping(n)[0]), n_neighbors=wanted, n_jobs=None)
    length, size = _refinable_set.plan_candidates(n, wanted)
    assert (length == 0) == (n == 300) == (len(candidates.arrays.columns) == n)
    if n == 300:
        assert candidates.arrays.columns.nbytes == size
    else:
        assert len(candidates.arrays.distances) == n * length == n * min(wanted, 2**14 // n)
        assert candidates.arrays.distances.nbytes + candidates.arrays.rows.nbytes < size == n * length * 40
    estimate = estimate_memory(n, 5, 0, approximate=False, on_disk=True, refined=n_prototypes)
    assert estimate.stages["refine"] == WORK + size + 256 * n


def test_short_lists_of_many_take_less_than_their_search():
    """As where a million objects are refined on, whose lists have eight entries."""
    n, n_prototypes = 1_000_000, 62_500
    length, size = _refinable_set.plan_candidates(n, 100)
    assert length == 8
    estimate = estimate_memory(n, 5, 80, approximate=False, on_disk=True, refined=n_prototypes)
    lists, edges = np.empty((1, length + 10), np.int32), np.empty((1, 2 * (length + 10)), np.int32)
    a_round = 80 + 16 + 2 * lists.nbytes + 8 + 2 * edges.nbytes + edges.astype(bool).nbytes
    assert estimate.stages["refine"] == WORK + max(size, n * a_round) + (3 * 80 + 256) * n > WORK + size


def test_on_a_cluster_the_sample_that_is_compared_is_planned():
    objects = SimpleNamespace(shape=(10**6, 10**6), object_bytes=80, remote=True, approximate_search=len)
    exact, rough = (
        REPS(1, solver="distributed", search=kind)._estimate_memory(objects, given=False, sized=False)
        for kind in ("exact", "approximate")
    )
    assert set(exact.stages) == {"solve"}
    assert rough.stages["solve"] == exact.stages["solve"]
    lists = 53 * (4 + 8 + 8) + 3 * 53 * 8  # and the features of the solver
    assert rough.stages["compare"] == 64 * 2**20 + 10_000 * (2 * 80 + lists)


def machine(folder, available=None, **files):
    """A folder with what a system says of its memory."""
    contents = {"proc/self/cgroup": "", **files}
    if available is not None:
        contents["proc/meminfo"] = f"MemTotal: 99999 kB\nMemAvailable:  {available} kB\n"
    for name, text in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(folder)


def group(folder, version, limit, usage, cache=0):
    """Files of a control group."""
    names = {1: ("memory.limit_in_bytes", "memory.usage_in_bytes"), 2: ("memory.max", "memory.current")}[version]
    line = f"inactive_file {cache}\n" if version == 2 else f"inactive_file 7\ntotal_inactive_file {cache}\n"
    values = (*((name, f"{value}\n") for name, value in zip(names, (limit, usage), strict=True)), ("memory.stat", line))
    return {f"{folder}/{name}": text for name, text in values}


TOP, JOB = "sys/fs/cgroup", "sys/fs/cgroup/jobs/one"
OLD_TOP, OLD_JOB = "sys/fs/cgroup/memory", "sys/fs/cgroup/memory/jobs/one"
NEW, OLD = {"proc/self/cgroup": "0::/jobs/one\n"}, {"proc/self/cgroup": "5:cpu:/\n4:memory,pids:/jobs/one\n0::/\n"}


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({}, 5000 * 1024),
        (NEW, 5000 * 1024),
        ({**NEW, **group(JOB, 2, 9000, 2500)}, 6500),
        ({**NEW, **group(JOB, 2, 9000, 2500, cache=1000)}, 7500),
        ({**NEW, **group(JOB, 2, "max", 2500)}, 5000 * 1024),
        ({**NEW, **group(JOB, 2, 10**12, 2500)}, 5000 * 1024),
        ({**NEW, **group(JOB, 2, 9000, 2500), **group("sys/fs/cgroup/jobs", 2, 8000, 4000)}, 4000),
        ({**NEW, **group(TOP, 2, 3000, 1000)}, 2000),
        ({**NEW, **group(JOB, 2, 1000, 2500)}, 0),
        ({**OLD, **group(OLD_JOB, 1, 9000, 2500, cache=1000)}, 7500),
        ({**OLD, **group(OLD_TOP, 1, 2**63 - 4096, 2500), **group(OLD_JOB, 1, 9000, 8000)}, 1000),
        ({"proc/self/cgroup": "nonsense\n\n::\n"}, 5000 * 1024),
    ],
)
def test_the_least_of_machine_and_control_groups_is_left(tmp_path, files, left):
    assert available_memory(machine(tmp_path, 5000, **files)) == left


def test_control_groups_say_it_where_the_machine_does_not(tmp_path):
    assert available_memory(machine(tmp_path, **NEW)) is None
    assert available_memory(machine(tmp_path, **NEW, **group(JOB, 2, 9000, 1000))) == 8000
    assert available_memory(str(tmp_path / "nowhere")) is None


def test_check_fits_compares_with_the_peak():
    estimate = MemoryEstimate({"search": 10, "solve": 30}, 5)
    check_fits(estimate, 30, "")
    with pytest.raises(MemoryError, match="30 B"):
        check_fits(estimate, 29, "run")


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_lists_on_disk_change_nothing(tmp_path, search):
    X, y = overlapping(900, d=5)
    in_memory = REPS(0.1, search=search).fit(X, y)
    on_disk = REPS(0.1, search=NeighborSearch(search, folder=tmp_path)).fit(X, y)
    assert (on_disk.ranking_ == in_memory.ranking_).all()
    assert (on_disk.weights_ == in_memory.weights_).all()
    assert on_disk.memory_estimate_.peak < in_memory.memory_estimate_.peak
    lists = NeighborLists.from_folder(tmp_path)
    again = REPS(0.1).fit(X, y, lists=lists)
    assert (again.ranking_ == in_memory.ranking_).all()
    assert again.neighbor_search_ == "given"
    assert (again.neighbor_recall_ == on_disk.neighbor_recall_) == (search == "approximate")
    assert np.isnan(again.neighbor_recall_) == (search == "exact")


def test_files_of_classifiers_do_not_name_the_folder(tmp_path):
    X, y = overlapping(60)
    (tmp_path / "lists").mkdir()
    selector = REPS(6, search=NeighborSearch("exact", folder=tmp_path / "lists", max_memory="2GB"))
    save(PrototypeClassifier(selector).fit(X, y), tmp_path / "file")
    search = load(tmp_path / "file").selector.search
    assert (search.kind, search.folder, search.max_memory) == ("exact", None, "2GB")


def test_lists_on_disk_are_mapped(tmp_path):
    X, _ = overlapping(300)
    lists = build_lists(make_space(X), 10, storage=Storage.at(tmp_path))
    for array in (lists.indices, lists.distances, lists.ranks):
        base = array
        while base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)


def test_two_fits_at_once_in_one_folder(tmp_path):
    X, y = overlapping(60)
    selector = REPS(5, search=NeighborSearch(folder=tmp_path))
    with (
        Storage.at(tmp_path).locked(),
        pytest.raises(
            ValueError, match="folder=.*another fit is writing its neighbour lists there; wait until it ends"
        ),
    ):
        selector.fit(X, y)
    assert not Storage.at(tmp_path).holds("neighbor_indices")
    assert len(selector.fit(X, y).sample_indices_) == 5


def test_folders_that_do_not_serve(tmp_path):
    X, y = overlapping(60)
    with pytest.raises(FileNotFoundError, match="folder=.*nowhere' is not a folder; create it first"):
        REPS(5, search=NeighborSearch(folder=tmp_path / "nowhere")).fit(X, y)
    with pytest.raises(TypeError, match="folder=3 must be the path"):
        REPS(5, search=NeighborSearch(folder=3)).fit(X, y)
    with pytest.raises(FileNotFoundError, match="holds no neighbour lists"):
        NeighborLists.from_folder(tmp_path)
    (tmp_path / "neighbor_counts.npy").write_bytes(b"no array")
    with pytest.raises(ValueError, match="is damaged"):
        NeighborLists.from_folder(tmp_path)
    with pytest.raises(OSError, match="has .* left, and huge needs .*; pass a folder on a larger disk"):
        Storage.at(tmp_path).empty("huge", (2**50,), np.float64)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system does not allocate files")
def test_files_take_their_room_at_once(tmp_path):
    """Otherwise each of several would be compared with room that the others will fill."""
    array = Storage.at(tmp_path).empty("array", (2**20,), np.float64)
    assert os.stat(tmp_path / "array.npy").st_blocks * 512 >= array.nbytes
    array[:] = 3.0
    assert (np.load(tmp_path / "array.npy") == 3.0).all()


def test_a_file_that_cannot_be_allocated_is_an_error_and_leaves_nothing(tmp_path):
    resource = pytest.importorskip("resource")
    storage, before = Storage.at(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    storage.keep("small", np.arange(5), np.int64)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, before[1]))
    try:
        message = r"has .* left, and \w*array needs 8.4 MB .*; pass a folder on a larger disk"
        with pytest.raises(OSError, match=message):
            storage.empty("array", (2**20,), np.int64)
        with pytest.raises(OSError, match=message):
            storage.keep("array", np.zeros(2**20), np.int64)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["small.npy"]


def test_what_somebody_has_mapped_stays_as_it_is(tmp_path):
    storage = Storage.at(tmp_path)
    storage.keep("array", np.arange(5), np.int64)
    mapped = storage.open("array")
    storage.keep("array", np.zeros((2, 3)), np.float32)
    assert mapped.tolist() == [0, 1, 2, 3, 4]
    assert storage.open("array").shape == (2, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["array.npy"]


@pytest.mark.parametrize("refused", [True, False])
def test_lists_of_an_unfinished_fit_are_refused(tmp_path, monkeypatch, refused):
    """What an older fit left is no part of them."""
    X, y = scattered(1000, 60)
    REPS(30, search=NeighborSearch("exact", n_neighbors=5, folder=tmp_path)).fit(X, y)
    assert NeighborLists.from_folder(tmp_path).n_objects == 1000
    if refused:
        lazy(monkeypatch)
        with pytest.raises(ValueError, match="too few to learn from"):
            REPS(30, search=NeighborSearch("approximate", n_neighbors=5, folder=tmp_path)).fit(X, y)
    else:

        def interrupt(done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            build_lists(make_space(X, "manhattan"), 5, storage=Storage.at(tmp_path), progress=interrupt)
    with pytest.raises(ValueError, match=r"neighbour lists in .* are unfinished; fit again"):
        NeighborLists.from_folder(tmp_path)
    fitted = REPS(30, search=NeighborSearch("exact", n_neighbors=5, folder=tmp_path)).fit(X, y)
    again = REPS(30).fit(X, y, lists=NeighborLists.from_folder(tmp_path))
    assert (again.ranking_ == fitted.ranking_).all()


def test_a_fit_that_cannot_start_leaves_the_lists_alone(tmp_path):
    X, _ = overlapping(50)
    build_lists(make_space(X), 5, storage=Storage.at(tmp_path))
    with pytest.raises(ValueError, match="needs time series, or dense vectors"):
        build_lists(make_space(X, "manhattan"), 5, search="approximate", storage=Storage.at(tmp_path))
    assert NeighborLists.from_folder(tmp_path).n_objects == 50


@contextlib.contextmanager
def without_rights(folder):
    """Stand in a folder where nothing may be written, as somebody who may not either."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    folder.chmod(0o555)
    own = os.geteuid()
    try:
        with contextlib.chdir(folder):
            try:
                if own == 0:
                    os.seteuid(65534)
                yield
            finally:
                os.seteuid(own)
    finally:
        folder.chmod(mode)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no such rights")
def test_lists_are_read_from_a_folder_that_is_read_only(tmp_path):
    X, _ = overlapping(200)
    found = build_lists(make_space(X), 10, storage=Storage.at(tmp_path))
    with without_rights(tmp_path):
        lists = NeighborLists.from_folder(".", ties="average")
        with pytest.raises(PermissionError):
            Storage.at(".").empty("other", (3,), float)
    assert (lists.indices == found.indices).all()
    assert (lists.ranks == NeighborLists.from_folder(tmp_path, ties="average").ranks).all()


def test_memory_mapped_single_precision_stays_as_it_is(tmp_path):
    """Nothing of the size of X in double precision is allocated by an approximate search."""
    program = f"""
import numpy as np, tracemalloc
from protoset import _blocks
from protoset.neighbors import build_lists
from protoset.spaces import make_space
np.save({str(tmp_path / "X.npy")!r}, np.random.default_rng(0).normal(size=(6_000, 300)).astype(np.float32))
X = np.load({str(tmp_path / "X.npy")!r}, mmap_mode="r")
_blocks.BLOCK_BYTES = 2**18
build_lists(make_space(X), 3, search="approximate")  # compiles, which takes memory too
tracemalloc.start()
space = make_space(X)
assert space._columns.dtype == np.float32 and np.shares_memory(space._columns, X)
build_lists(space, 3, search="approximate")
print(tracemalloc.get_traced_memory()[1] / (X.size * 8))
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    # Half of it is the copy of the search in single precision, the rest samples, lists and edges; a copy in double
    # precision would add 1.
    assert float(out) < 1.5


# Refinement of many objects


def test_refinement_on_a_sample_keeps_its_promises():
    X, y = overlapping(3000, d=4)
    space = make_space(X)
    start = cut(np.random.default_rng(0).permutation(3000), y, 30, "proportional")
    refined = refine(space, y, start, max_objects=600)
    assert refined.n_objects == 600
    assert len(refined.indices) == 30
    assert set(y[refined.indices]) == set(y)
    assert refined.objective_after < refined.objective_before
    own = cdist(X, X[refined.indices]).argmin(axis=1)
    before = cdist(X, X[start]).argmin(axis=1)
    assert np.mean(y[refined.indices][own] != y) < np.mean(y[start][before] != y)
    again = refine(space, y, start, max_objects=600)
    assert (again.indices == refined.indices).all()


def test_refinement_of_a_sample_is_that_of_its_objects():
    """As if there were no others."""
    X, y = overlapping(300, d=3)
    start = np.sort([np.flatnonzero(y == c)[i] for c in range(3) for i in (0, 4)])
    sampled = refine(make_space(X), y, start, max_objects=90, random_state=5)
    assert sampled.n_objects == 90
    generator = np.random.RandomState(5)
    members = sample_with(start, y, 90, generator)
    alone = refine(make_space(X[members]), y[members], np.searchsorted(members, start), random_state=generator)
    assert (sampled.indices == members[alone.indices]).all()
    assert sampled.objective_after == alone.objective_after < alone.objective_before == sampled.objective_before
    assert refine(make_space(X), y, start, random_state=5).n_objects == 300
    with pytest.raises(ValueError, match="max_objects=0 must be"):
        refine(make_space(X), y, start, max_objects=0)


def test_a_sample_holds_the_budget():
    X, y = overlapping(300, d=3)
    start = np.array([np.flatnonzero(y == c)[0] for c in range(3)])
    refined = refine(make_space(X), y, start, n_prototypes=40, max_objects=45)
    assert refined.n_objects == 45
    assert len(refined.indices) <= 40


def test_the_size_of_refined_sets_with_an_approximate_search():
    """Its samples are small, and searched exactly."""
    X, y = overlapping(150)
    selector = Refined(REPS(search="approximate")).fit(X, y)
    assert selector.selector_.neighbor_search_ == "approximate"
    assert len(selector.sample_indices_) <= selector.size_curve_.sizes[selector.size_curve_.chosen]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_subsets_are_spaces_of_their_own(metric):
    X, _ = overlapping(80)
    objects = cdist(X, X) if metric == "precomputed" else X
    members = np.array([3, 9, 10, 44, 71, 79])
    whole, part = make_space(objects, metric), CountedSpace(make_space(objects, metric)).subset(members)
    assert part.shape == (6, 6)
    assert (part.block(slice(None), slice(None)) == whole.block(members, members)).all()
    expected = make_space(
        cdist(X, X, "cityblock" if metric == "manhattan" else "euclidean")[np.ix_(members, members)], "precomputed"
    )
    found = part.kneighbors(2, limit=2)
    assert (found.indices == expected.kneighbors(2, limit=2).indices).all()
    positions, _ = part.nearest(np.array([0, 1]), np.array([4, 5]))
    assert set(positions) <= {0, 1}


# Kernels, against plain twins


def random_lists(seed, n=30, k=5):
    """Lists of some others of each vector, nearest first, with gaps at the end of a few."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, 3)).astype(np.float32)
    squared = ((vectors[:, None].astype(np.float64) - vectors[None]) ** 2).sum(axis=2)
    indices, listed = np.full((n, k), -1, np.int32), np.full((n, k), np.inf, np.float32)
    for own in range(n):
        others = rng.permutation(np.delete(np.arange(n), own))[: k - (own % 3 == 0)]
        others = others[np.argsort(squared[own, others])]
        indices[own, : len(others)], listed[own, : len(others)] = others, squared[own, others]
    return vectors, squared, indices, listed


def slow_both_ways(indices, width):
    n, step = len(indices), kernels.graphs.NEAR_OWNERS
    edges = [[int(j) for j in row[:width] if j >= 0] for row in indices]
    for start in range(0, n, step):
        for place in range(indices.shape[1]):
            for own in range(start, min(start + step, n)):
                other = indices[own, place]
                if other >= 0 and len(edges[other]) < 2 * width and own not in edges[other]:
                    edges[other].append(own)
    return edges


@pytest.mark.parametrize("width", [1, 3, 5])
def test_edges_in_both_directions(width):
    _, _, indices, _ = random_lists(1)
    edges = kernels.graphs.incident_edges(indices, width)
    assert [[j for j in row if j >= 0] for row in edges.tolist()] == slow_both_ways(indices, width)


def test_edges_of_more_than_are_turned_round_together():
    """Of whom some are listed by everyone, and take only the nearest."""
    n = kernels.graphs.NEAR_OWNERS + 100
    rng = np.random.default_rng(0)
    indices = ((np.arange(n)[:, None] + rng.permutation(np.arange(1, 6))) % n).astype(np.int32)
    indices[10:, 2] = rng.integers(0, 10, n - 10)
    edges = kernels.graphs.incident_edges(indices, 3)
    assert [[j for j in row if j >= 0] for row in edges.tolist()] == slow_both_ways(indices, 3)


def test_fresh_edges_are_those_that_were_not_there():
    _, _, indices, _ = random_lists(2)
    before, after = kernels.graphs.incident_edges(indices, 2), kernels.graphs.incident_edges(indices, 4)
    fresh = kernels.graphs.new_edges(after, before)
    for own in range(len(indices)):
        assert fresh[own].tolist() == [j >= 0 and j not in before[own] for j in after[own]]


def introduced(edges, fresh):
    """Pairs that meet: the ends of two edges of somebody, or of one edge, of which one is fresh."""
    pairs = set()
    for middle, (row, is_fresh) in enumerate(zip(edges.tolist(), fresh.tolist(), strict=True)):
        ends = [(middle, False)] + [(j, new) for j, new in zip(row, is_fresh, strict=True) if j >= 0]
        pairs |= {(i, j) for i, i_new in ends for j, j_new in ends if i != j and (i_new or j_new)}
    return pairs


@pytest.mark.parametrize("room", [100, 10_000])
@pytest.mark.parametrize("seed", range(4))
def test_lists_keep_the_nearest_of_those_who_were_introduced(seed, room):
    """With much room for proposals, and with so little that they have to be accepted often."""
    vectors, squared, indices, listed = random_lists(seed)
    known = [{j for j in row if j >= 0} for row in indices.tolist()]
    edges = kernels.graphs.incident_edges(indices, 3)
    fresh = (np.random.default_rng(seed).random(edges.shape) < 0.7) & (edges >= 0)
    reach = listed[:, -1].copy()
    owners, others, found = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32)
    start, n_turns = 0, 0
    while start < 30:
        start, n = kernels.graphs.propose_pairs(vectors, start, 30, edges, fresh, indices, reach, owners, others, found)
        for part in ((0, 11), (11, 30)):
            kernels.graphs.accept_proposals(owners[:n], others[:n], found[:n], *part, indices, listed, reach)
        n_turns += 1
    assert (n_turns == 1) == (room == 10_000)
    for i, j in introduced(edges, fresh):
        known[i].add(j)
    for own in range(30):
        best = sorted(known[own], key=lambda j: squared[own, j])[: indices.shape[1]]
        assert [j for j in indices[own] if j >= 0] == best
        assert listed[own, : len(best)] == pytest.approx(squared[own, best], rel=1e-5)
    assert (reach == listed[:, -1]).all()


def test_the_order_of_proposals_does_not_matter():
    """Not even of those as far away as each other."""
    rng = np.random.default_rng(1)
    owners, others = rng.integers(0, 6, 300).astype(np.int32), rng.integers(10, 60, 300).astype(np.int32)
    squared = (others % 4).astype(np.float32)
    results = []
    for order in (np.arange(300), np.arange(300)[::-1], rng.permutation(300)):
        indices, listed = np.full((6, 5), -1, np.int32), np.full((6, 5), np.inf, np.float32)
        reach = listed[:, -1].copy()
        kernels.graphs.accept_proposals(owners[order], others[order], squared[order], 0, 6, indices, listed, reach)
        results.append(indices)
    for own in range(6):
        met = np.unique(others[owners == own])
        assert results[0][own].tolist() == sorted(met, key=lambda j: (j % 4, j))[:5]
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()


@pytest.mark.parametrize("d", [1, 3, 4, 7, 20])
def test_a_distance_is_the_same_wherever_it_is_computed(d):
    """So that it does not matter from which middle a pair is looked at, nor from which end."""
    rng = np.random.default_rng(d)
    vectors = rng.normal(size=(96, d)).astype(np.float32)
    sums = np.empty(96, np.float32)
    kernels.graphs.squared_distances(vectors[5], np.ascontiguousarray(vectors.T), 0, 96, sums)
    first = sums.copy()
    assert first == pytest.approx(((vectors.astype(float) - vectors[5]) ** 2).sum(axis=1), rel=1e-5)
    for start, stop in ((0, 16), (16, 96), (32, 80), (80, 96), (0, 7), (0, 93), (5, 6)):
        order = rng.permutation(96)
        kernels.graphs.squared_distances(vectors[5], np.ascontiguousarray(vectors[order].T), start, stop, sums)
        assert (sums[start:stop] == first[order[start:stop]]).all()
    one = np.empty(96, np.float32)
    for other in range(96):
        kernels.graphs.squared_distances(vectors[other], np.ascontiguousarray(vectors.T), 0, 96, one)
        assert one[5] == first[other]


@pytest.mark.parametrize("own", [True, False])
def test_the_nearest_in_cells(own):
    """Cells of any size, some empty; queries that look into some of them, or fewer."""
    rng = np.random.default_rng(3)
    starts = np.array([0, 4, 4, 11, 12, 20])
    vectors = rng.normal(size=(20, 3)).astype(np.float32)
    first = 5 if own else -1
    queries = vectors[5:14] if own else rng.normal(size=(9, 3)).astype(np.float32)
    cells = np.array([rng.permutation(5)[:3] for _ in queries], np.int32)
    cells[2, 1:] = -1
    found, squared = np.empty((9, 6), np.int32), np.empty((9, 6), np.float32)
    kernels.graphs.search_cells(queries, first, vectors, starts, cells, found, squared)
    for number, query in enumerate(queries):
        inside = [
            j
            for c in cells[number]
            if c >= 0
            for j in range(starts[c], starts[c + 1])
            if j != first + number or not own
        ]
        true = ((vectors.astype(float) - query) ** 2).sum(axis=1)
        best = sorted(inside, key=lambda j: true[j])[:6]
        assert found[number].tolist() == best + [-1] * (6 - len(best))
        assert squared[number, : len(best)] == pytest.approx(true[best], rel=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 6))
def test_the_smallest_of_blocks(seed, n_columns, k):
    rng = np.random.default_rng(seed)
    block = rng.integers(0, 5, (4, n_columns)).astype(float)
    own = rng.integers(-3, n_columns + 3, 4)
    nearest = np.full((4, k), np.inf)
    for columns in np.array_split(np.arange(n_columns), 3):
        if len(columns):
            kernels.lists.keep_smallest(np.ascontiguousarray(block[:, columns]), own - columns[0], nearest)
    for row in range(4):
        others = np.sort(np.delete(block[row], own[row]) if 0 <= own[row] < n_columns else block[row])
        padded = np.concatenate([others, np.full(k, np.inf)])[:k]
        assert nearest[row].tolist() == padded.tolist()


def test_a_sample_must_hold_more_than_the_prototypes():
    X, y = overlapping(100)
    with pytest.raises(ValueError, match="max_objects=5 leaves no objects other than the 12 prototypes"):
        refine(make_space(X), y, np.arange(12), max_objects=5)


def test_importing_takes_no_library_of_scale():
    program = "import sys, protoset; print({'dask', 'distributed', 'faiss', 'pynndescent'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
