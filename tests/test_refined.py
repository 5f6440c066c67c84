"""Refined, spaces as X, and the automatic metric, through every door of the estimators."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from protoset import REPS, NeighborSearch, PrototypeClassifier, Refined, load, refine, save
from protoset.neighbors import build_lists
from protoset.selectors import DROP3, FCNN, RMHC, KMedoids, RandomSelector, all_selectors, refined
from protoset.spaces import make_space
from protoset.spaces.elastic import ElasticSpace
from protoset.spaces.series import SeriesSpace

from conftest import overlapping

X, Y = overlapping(120, n_classes=3, seed=3)
SHORT = {"RMHC": {"max_iter": 50}, "SSMA": {"max_evaluations": 50}}


def test_distances_of_a_sample_are_counted():
    refined = Refined(REPS(0.1), max_objects=60).fit(X, Y)
    assert refined.n_distances_ == refined.selector_.n_distances_ + refined.refinement_.n_distances


@pytest.mark.parametrize(
    "selector", [REPS(0.1), FCNN(), DROP3(), KMedoids(12, random_state=0), RandomSelector(0.1, random_state=0)]
)
def test_refined_is_refine_of_the_selected_set(selector):
    refined = Refined(selector).fit(X, Y)
    plain = clone(selector).fit(X, Y)
    np.testing.assert_array_equal(refined.selector_.sample_indices_, plain.sample_indices_)
    expected = refine(X, Y, plain.sample_indices_)
    np.testing.assert_array_equal(refined.sample_indices_, expected.indices)
    assert refined.refinement_.objective_after == expected.objective_after < expected.objective_before
    assert refined.n_distances_ == refined.selector_.n_distances_ + expected.n_distances
    assert not hasattr(selector, "sample_indices_")


def test_a_space_of_the_user_keeps_no_distances():
    series = np.random.default_rng(0).normal(size=(30, 12))
    space = make_space(series, "dtw")
    fits = [Refined(REPS(4)).fit(space, np.arange(30) % 2) for _ in range(2)]
    assert space._remembered is None
    np.testing.assert_array_equal(fits[0].sample_indices_, fits[1].sample_indices_)


def computed_matrices(monkeypatch):
    """Return a list to which every computation of all distances of series adds their number and that of workers."""
    computed = []

    def watch(space):
        compute, pairs = space._compute_matrix, space._all_pairs

        def compute_matrix(self, matrix, n_jobs):
            computed.append((len(matrix), n_jobs))
            compute(self, matrix, n_jobs)

        def all_pairs(self, rows, columns):
            if len(rows) == len(columns):
                computed.append((len(rows), 1))
            return pairs(self, rows, columns)

        monkeypatch.setattr(space, "_compute_matrix", compute_matrix)
        monkeypatch.setattr(space, "_all_pairs", all_pairs)

    watch(SeriesSpace)
    watch(ElasticSpace)
    return computed


@pytest.mark.parametrize("metric", ["dtw", pytest.param("erp", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("selector", "n_matrices"), [(REPS(0.2), 1), (REPS(), 1), (FCNN(), 1), (REPS(0.2), 0)])
def test_distances_of_series_are_computed_once(metric, selector, n_matrices, monkeypatch):
    """For the lists, the automatic size and the refinement; not where a sample is refined."""
    series = np.repeat(X, 6, axis=1).cumsum(axis=1)
    computed = computed_matrices(monkeypatch)
    options = {"metric": metric, "metric_params": {"window": 3}}
    refined = Refined(clone(selector).set_params(**options), max_objects=None if n_matrices else 60).fit(series, Y)
    assert [n_series for n_series, _ in computed] == [120 if n_matrices else 60]
    matrix = make_space(series, **options).block(slice(None), slice(None))
    if n_matrices:
        selector = clone(selector).set_params(metric="precomputed")
        expected = Refined(selector).fit(matrix, Y)
        np.testing.assert_array_equal(refined.sample_indices_, expected.sample_indices_)
    if isinstance(selector, REPS):
        counters = refined.selector_.search_counters_
        assert (counters.computed == counters.pairs) == bool(n_matrices)


@pytest.mark.parametrize(
    ("metric", "adapt"), [("dtw", True), ("dtw", False), pytest.param("erp", False, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("repeated", ["none", "copies", "weights", "no weight"])
def test_distances_of_distinct_series_are_computed_once(metric, adapt, repeated, monkeypatch):
    """For the refinement, the moves and the calibration, also where identical series count as one."""
    series, y, weights = np.repeat(X, 6, axis=1).cumsum(axis=1), Y, None
    if repeated == "copies":
        series, y = np.concatenate([series, series[::3]]), np.concatenate([Y, Y[::3]])
    elif repeated != "none":
        weights = np.random.default_rng(0).uniform(0.5, 2, len(Y))
        weights[:20] = 0 if repeated == "no weight" else 1
    computed = computed_matrices(monkeypatch)
    selector = Refined(REPS(0.2, metric=metric, metric_params={"window": 3}), n_jobs=2)
    classifier = PrototypeClassifier(selector, adapt=adapt, calibrate=True).fit(series, y, sample_weight=weights)
    assert computed == [(100 if repeated == "no weight" else 120, 2)]
    monkeypatch.setattr(SeriesSpace, "remember_members", lambda *_: None)
    again = PrototypeClassifier(selector, adapt=adapt, calibrate=True).fit(series, y, sample_weight=weights)
    assert (len(computed) > 2) == (repeated != "none")
    np.testing.assert_array_equal(again.predict_proba(series), classifier.predict_proba(series))


@pytest.mark.parametrize("selector", [REPS, KMedoids, RMHC, RandomSelector])
def test_a_wrong_size_is_refused_before_distances_are_computed(selector, monkeypatch):
    computed = computed_matrices(monkeypatch)
    with pytest.raises(ValueError, match="n_prototypes=500 is more than the 120 training objects"):
        Refined(selector(n_prototypes=500, metric="dtw")).fit(np.repeat(X, 6, axis=1), Y)
    assert not computed


def test_workers_compute_the_distances_of_series_that_move(monkeypatch):
    """Also where the refinement, which computes them before the moves, is left out."""
    series = np.repeat(X, 6, axis=1).cumsum(axis=1)
    monkeypatch.setattr(refined, "SWAPPED_COSTLY_OBJECTS", 50)
    computed = computed_matrices(monkeypatch)
    selector = Refined(REPS(0.2, metric="dtw", metric_params={"window": 3}))
    fits = [PrototypeClassifier(selector, adapt=True, n_jobs=n_jobs).fit(series, Y) for n_jobs in (2, 1)]
    assert computed == [(120, 2), (120, 1)]
    np.testing.assert_array_equal(*(fit.predict_proba(series) for fit in fits))


def test_arguments_reach_the_refinement():
    start = REPS(0.1).fit(X, Y).sample_indices_
    arguments = {"steepness": (5, 30), "n_starts": 3, "max_objects": 60, "random_state": 4}
    expected = refine(X, Y, start, **arguments)
    np.testing.assert_array_equal(Refined(REPS(0.1), **arguments).fit(X, Y).sample_indices_, expected.indices)
    assert expected.n_objects == 60


def test_ready_lists_reach_reps():
    lists = build_lists(make_space(X), 53)
    given = Refined(REPS(0.1)).fit(X, Y, lists=lists)
    assert given.selector_.neighbor_search_ == "given"
    np.testing.assert_array_equal(given.sample_indices_, Refined(REPS(0.1)).fit(X, Y).sample_indices_)
    with pytest.raises(ValueError, match=r"lists=... works with REPS only, but the selector is Refined\(selector=FCNN"):
        Refined(FCNN()).fit(X, Y, lists=lists)


def test_the_adjusted_rule_has_degradations_of_the_refined_set():
    """Those of the ranking belong to another set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = PrototypeClassifier(Refined(REPS(0.2, beta=3.0)), rule="adjusted").fit(X, Y)
    assert classifier.degradations_.shape == classifier.sample_indices_.shape
    assert (classifier.degradations_ >= 0).all()
    assert classifier.score(X, Y) > 0.8
    assert classifier._beta == 3.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"selector": "REPS"}, TypeError, "selector='REPS' is not a protoset selector; pass for example REPS"),
        ({"selector": REPS(0.1, allocation="global")}, ValueError, "Refined needs a set with every class, but REPS"),
        ({"selector": REPS(beta=1)}, ValueError, "beta=1 must be a finite number above 1"),
        ({"n_starts": 0}, ValueError, "n_starts=0 must be a whole number"),
        ({"steepness": ()}, ValueError, "at least one number"),
        ({"max_objects": 0}, ValueError, "max_objects=0 must be a whole number"),
        ({"max_time": -1}, ValueError, "max_time=-1 must be"),
        ({"callback": 3}, TypeError, "callback=3 must be a function"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0 must be"),
        ({"random_state": "x"}, ValueError, "random_state='x' must be"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    selector = Refined(**arguments)
    with pytest.raises(error, match=message):
        selector.fit(X, Y)
    assert not hasattr(selector, "classes_")


def test_a_sparse_graph_is_refused_before_any_work():
    graph = sparse.csr_matrix(cdist(X, X))
    with pytest.raises(ValueError, match="Refined needs dissimilarities that a sparse graph does not have"):
        Refined(REPS(5, metric="precomputed")).fit(graph, Y)


@pytest.mark.parametrize(
    "old", ["score", "refine", "neighbors", "n_neighbors", "max_memory", "lists_folder", "max_time", "callback"]
)
def test_old_names_name_the_new_ones(old):
    new = {
        "score": "reading=",
        "refine": "Refined",
        "neighbors": "search=",
        "max_time": "Refined",
        "callback": "Refined",
    }
    with pytest.raises(TypeError, match=f"{old}=1 is an old name; use {new.get(old, 'search=NeighborSearch')}"):
        REPS(**{old: 1})
    if old == "neighbors":
        with pytest.raises(TypeError, match="neighbors=None is an old name; use lists="):
            REPS(5).fit(X, Y, neighbors=None)


@pytest.mark.parametrize(
    ("classifier", "grid"),
    [
        (PrototypeClassifier(Refined(REPS())), {"selector__selector__n_prototypes": [3, 12]}),
        (PrototypeClassifier(REPS()), {"selector__n_prototypes": [3, 12], "selector__reading": ["literal"]}),
        (PrototypeClassifier(Refined(KMedoids())), {"selector__selector__n_prototypes": [3, 12]}),
        (
            PrototypeClassifier(REPS(9, search=NeighborSearch("exact"))),
            {"selector__search__n_neighbors": [5, 20], "rule": ["nearest"]},
        ),
    ],
)
def test_grid_search_over_nested_parameters(classifier, grid):
    search = GridSearchCV(classifier, grid, cv=3, error_score="raise").fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.5


@pytest.mark.parametrize(("name", "kind"), all_selectors())
def test_a_space_is_a_legal_x_for_every_selector(name, kind):
    selector = kind(**SHORT.get(name, {}))
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    objects, space = clone(selector).fit(X, Y), clone(selector).fit(make_space(X), Y)
    np.testing.assert_array_equal(space.sample_indices_, objects.sample_indices_)
    assert (space.metric_, space.n_features_in_) == ("euclidean", X.shape[1])
    kept, labels = clone(selector).fit_resample(make_space(X), Y)
    np.testing.assert_array_equal(
        kept.block(slice(None), slice(None)), cdist(X[objects.sample_indices_], X[objects.sample_indices_])
    )
    assert len(labels) == len(objects.sample_indices_)


@pytest.mark.parametrize("selector", [None, REPS(0.1), Refined(FCNN())])
def test_a_space_is_a_legal_x_for_the_classifier(selector, tmp_path):
    objects, space = (PrototypeClassifier(selector).fit(given, Y) for given in (X, make_space(X)))
    np.testing.assert_array_equal(space.predict(X), objects.predict(X))
    half = make_space(X).subset(np.arange(0, len(X), 2))
    of_half = PrototypeClassifier(selector).fit(half, Y[::2])
    np.testing.assert_array_equal(of_half.predict(X), PrototypeClassifier(selector).fit(X[::2], Y[::2]).predict(X))
    save(space, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), objects.predict(X))


def test_a_space_brings_its_own_metric():
    space = make_space(X, "cityblock")
    assert REPS(5).fit(space, Y).metric_ == "cityblock"
    assert REPS(5, metric="cityblock").fit(space, Y).metric_ == "cityblock"
    with pytest.raises(ValueError, match="metric='cosine', but X is a space with metric='cityblock'; pass metric='au"):
        REPS(5, metric="cosine").fit(space, Y)
    with pytest.raises(ValueError, match=r"metric_params=\{'p': 1\}, but X is a space, which has its own"):
        REPS(5, metric_params={"p": 1}).fit(space, Y)
    with pytest.raises(
        ValueError, match=r"metric_params=\{'p': 1\}, but X is a space, which has its own; leave metric_params out"
    ):
        REPS(5, metric="minkowski", metric_params={"p": 1}).fit(make_space(X, "minkowski", {"p": 9}), Y)
    with pytest.raises(ValueError, match="metric=.*function.*, but X is a space with metric='callable'; pass metric="):
        REPS(5, metric=lambda a, b: 0.0).fit(make_space(X, lambda a, b: float(abs(a - b).sum())), Y)
    with pytest.raises(ValueError, match=r"X is a space of shape \(3, 5\); pass the space of a training set"):
        REPS(5).fit(make_space(X[:5]).cross(X[:3]), Y[:3])


def test_the_default_classifier_takes_mixed_tables_strings_and_series():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    table = pd.DataFrame({"size": y + 0.3 * rng.normal(size=60), "colour": np.where(rng.random(60) < 0.8, y, 1 - y)})
    table["colour"] = table["colour"].map({0: "red", 1: "blue"})
    texts = ["".join(rng.choice(list("abc" if label else "xyz"), 5)) for label in y]
    series = [np.sin(np.arange(rng.integers(20, 30)) / (2 if label else 5)) for label in y]
    for objects, metric in ((table, "gower"), (texts, "levenshtein"), (series, "dtw")):
        if metric == "levenshtein":
            pytest.importorskip("rapidfuzz", reason="strings need rapidfuzz")
        classifier = PrototypeClassifier().fit(objects, y)
        assert classifier.selector_.metric_ == metric
        assert classifier.score(objects, y) > 0.8
        for selector in (REPS(0.2), Refined(REPS(0.2)), FCNN()):
            assert clone(selector).fit(objects, y).metric_ == metric
