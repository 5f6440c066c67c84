"""What every selector does, over the registry."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import _NotAnArray

import protoset.selectors
from protoset import PrototypeClassifier, load, save
from protoset.exceptions import HopelessClassWarning
from protoset.selectors import BaseSelector, all_selectors

from conftest import labelled_vectors, overlapping

SELECTORS = dict(all_selectors())
SHORT = {"RMHC": {"max_iter": 300}, "SSMA": {"max_evaluations": 300}, "REPS": {"n_prototypes": 0.3}}
SEEDED = [name for name, selector in SELECTORS.items() if "random_state" in inspect.signature(selector).parameters]
VOTING = [
    name
    for name, selector in SELECTORS.items()
    if name != "REPS" and "n_neighbors" in inspect.signature(selector).parameters
]
# What adds dissimilarities up, so that not their order alone counts.
BY_VALUE = ("KMedoids",)
# By a seed and the row that it draws, by the order of visits, or by scores of small counts that tie.
BY_ROW_ORDER = ("CCIS", "CNN", "KMedoids", "RMHC", "RandomSelector", "SSMA")

X, Y = overlapping(90, d=3, n_classes=3, seed=1)
WORDS = ["".join(chr(97 + int(abs(value) * 3) % 6) for value in row) for row in np.hstack([X, X**2])]


def make(name, **parameters):
    seed = {"random_state": 0} if name in SEEDED else {}
    return SELECTORS[name](**(seed | SHORT.get(name, {}) | parameters))


def check_fitted(selector, labels):
    kept = selector.sample_indices_
    assert kept.dtype == np.int64
    assert (np.diff(kept) > 0).all()
    assert len(kept) >= 1
    assert kept[0] >= 0
    assert kept[-1] < len(labels)
    labels = np.asarray(labels)
    assert set(labels[kept]) == set(labels)
    np.testing.assert_array_equal(selector.classes_, np.unique(labels))
    assert set(selector.fallback_classes_) <= set(selector.classes_)
    assert isinstance(selector.n_distances_, int)


@pytest.fixture(params=SELECTORS)
def name(request):
    return request.param


def test_the_registry_is_what_the_package_exports():
    exported = {
        name
        for name in protoset.selectors.__all__
        if isinstance(getattr(protoset.selectors, name), type)
        and issubclass(getattr(protoset.selectors, name), BaseSelector)
    } - {"BaseSelector", "Refined"}
    assert set(SELECTORS) == exported
    assert set(SELECTORS) == {
        *("AllKNN", "CCIS", "CNN", "DROP3", "ENN", "FCNN", "HMNEI", "ICF", "KMedoids"),
        *("RENN", "REPS", "RMHC", "RandomSelector", "SSMA"),
    }


def test_conventions(name):
    parameters = inspect.signature(SELECTORS[name]).parameters
    assert {"metric", "metric_params", "n_jobs", "verbose"} <= set(parameters)
    positional = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert len(positional) <= 1
    for documented in ("Parameters", "Attributes", "Examples", "sample_indices_", "fallback_classes_", "n_distances_"):
        assert documented in SELECTORS[name].__doc__, documented
    described = SELECTORS[name].__doc__ + BaseSelector.__doc__
    for parameter in parameters:
        assert parameter in SELECTORS[name].__doc__, parameter
        assert f"    {parameter} : " in described, parameter


def test_attributes(name):
    selector = make(name).fit(X, Y)
    check_fitted(selector, Y)
    for attribute in vars(selector):
        if attribute.endswith("_"):
            documented = SELECTORS[name].__doc__ + BaseSelector.__doc__
            assert f"    {attribute} : " in documented, attribute


def test_the_default_metric_of_numbers_is_euclidean(name):
    """Whether they come as an array, as lists, as a DataFrame or as something that only becomes an array."""
    expected = make(name, metric="euclidean").fit(X, Y)
    for objects in (X, X.tolist(), pd.DataFrame(X), _NotAnArray(X)):
        selector = make(name).fit(objects, Y)
        assert selector.metric == "auto"
        assert selector.metric_ == "euclidean"
        np.testing.assert_array_equal(selector.sample_indices_, expected.sample_indices_)
        assert selector.n_distances_ == expected.n_distances_


@given(labelled_vectors(tied=True), st.sampled_from(list(SELECTORS)))
def test_nothing_is_lost_on_tied_objects(data, name):
    objects, labels = data
    check_fitted(make(name).fit(objects, labels), labels)


def test_same_seed_same_set(name):
    selector = make(name)
    first = selector.fit(X, Y).sample_indices_
    np.testing.assert_array_equal(clone(selector).fit(X, Y).sample_indices_, first)
    np.testing.assert_array_equal(selector.fit(X, Y).sample_indices_, first)


@pytest.mark.parametrize("name", [name for name in SEEDED if name != "REPS"])  # whose seed shuffles folds only
def test_seeds_matter(name):
    sets = {tuple(make(name, random_state=seed).fit(X, Y).sample_indices_) for seed in range(5)}
    assert len(sets) > 1


def test_a_matrix_is_as_good_as_the_metric(name):
    # The medoid, because a matrix has no means.
    start = {"start": "medoid"} if name == "FCNN" else {}
    named = make(name, metric="cityblock", **start).fit(X, Y)
    given = make(name, metric="precomputed", **start).fit(cdist(X, X, "cityblock"), Y)
    np.testing.assert_array_equal(given.sample_indices_, named.sample_indices_)


@pytest.mark.parametrize("name", [name for name in SELECTORS if name not in BY_VALUE])
def test_only_the_order_of_dissimilarities_counts(name):
    plain = make(name).fit(X, Y).sample_indices_
    np.testing.assert_array_equal(make(name, metric="sqeuclidean").fit(X, Y).sample_indices_, plain)


@pytest.mark.parametrize("name", [name for name in SELECTORS if name not in BY_ROW_ORDER])
def test_permuting_the_rows_permutes_the_set(name):
    order = np.random.default_rng(0).permutation(len(X))
    moved = make(name).fit(X[order], Y[order]).sample_indices_
    np.testing.assert_array_equal(np.sort(order[moved]), make(name).fit(X, Y).sample_indices_)


def test_workers_and_precision_change_nothing(name):
    single = X.astype(np.float32)
    plain = make(name).fit(single.astype(float), Y).sample_indices_
    np.testing.assert_array_equal(make(name, n_jobs=2).fit(single, Y).sample_indices_, plain)


def test_strings(name):
    pytest.importorskip("rapidfuzz")
    classifier = PrototypeClassifier(make(name, metric="levenshtein")).fit(WORDS, Y)
    check_fitted(classifier.selector_, Y)
    assert len(classifier.predict(WORDS)) == len(WORDS)


def test_series_of_unequal_length(name):
    series = [np.cumsum(np.r_[row, row[: 1 + number % 3]]) for number, row in enumerate(X)]
    check_fitted(make(name, metric="dtw", metric_params={"window": 2}).fit(series, Y), Y)


def test_mixed_attributes(name):
    table = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "x", "y"), "c": X[:, 2]})
    selector = make(name, metric="gower")
    kept, labels = selector.fit_resample(table, pd.Series(Y, index=table.index))
    check_fitted(selector, Y)
    pd.testing.assert_frame_equal(kept, table.iloc[selector.sample_indices_])
    assert labels.index.equals(kept.index)


def test_any_function(name):
    def directed(a, b):  # not symmetric
        return float(np.abs(a - b).sum() + 0.1 * max(0.0, (a - b)[0]))

    check_fitted(make(name, metric=directed).fit(X[:40], Y[:40]), Y[:40])


def test_classifier_and_file(name, tmp_path):
    classifier = PrototypeClassifier(make(name)).fit(X, Y)
    alone = make(name).fit(X, Y)
    np.testing.assert_array_equal(classifier.sample_indices_, alone.sample_indices_)
    save(classifier, tmp_path / "c.protoset")
    np.testing.assert_array_equal(load(tmp_path / "c.protoset").predict(X), classifier.predict(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HopelessClassWarning)
        adjusted = PrototypeClassifier(make(name), rule="adjusted").fit(X, Y)
    assert adjusted.degradations_.shape == adjusted.sample_indices_.shape


def test_beats_the_largest_class(name):
    objects, labels = load_iris(return_X_y=True)
    classifier = PrototypeClassifier(make(name)).fit(objects[::2], labels[::2])
    assert classifier.score(objects[1::2], labels[1::2]) > 0.8


@pytest.mark.parametrize("name", VOTING)
def test_more_voters_than_objects_are_all_of_them(name):
    few, labels = X[:12], Y[:12]
    everyone = make(name, n_neighbors=11).fit(few, labels).sample_indices_
    np.testing.assert_array_equal(make(name, n_neighbors=10**12).fit(few, labels).sample_indices_, everyone)
    check_fitted(make(name, n_neighbors=10**12).fit(few, labels), labels)


def test_a_class_smaller_than_the_number_of_voters(name):
    labels = np.where(np.arange(90) == 7, 9, Y)
    labels = np.where(np.arange(90) == 8, 8, labels)
    parameters = {"n_neighbors": 5} if name in VOTING else {}
    check_fitted(make(name, **parameters).fit(X, labels), labels)


def test_identical_objects(name):
    check_fitted(make(name).fit(np.ones((12, 2)), np.arange(12) % 3), np.arange(12) % 3)


def test_two_objects(name):
    check_fitted(make(name).fit([[0.0], [1.0]], ["a", "b"]), ["a", "b"])


def test_lonely_objects(name):
    """Every object is a class of its own: all of them stay."""
    np.testing.assert_array_equal(make(name).fit(X[:6], np.arange(6)).sample_indices_, np.arange(6))


BAD = [
    ({"metric": "euclidian"}, "metric='euclidian' is not known"),
    ({"n_jobs": 0}, "n_jobs=0 must be None"),
    ({"n_neighbors": 0}, "n_neighbors=0 must be a whole number of at least 1"),
    ({"n_neighbors": 1.5}, "n_neighbors=1.5 must be a whole number"),
    ({"random_state": "dice"}, "random_state='dice' must be None, a whole number"),
    ({"n_prototypes": 0}, "n_prototypes=0 must be a whole number of at least 1; pass a count"),
    ({"n_prototypes": 1.5}, "n_prototypes=1.5 is neither a count nor a rate; pass a count"),
    ({"n_prototypes": 91}, "n_prototypes=91 is more than the 90 training objects; pass at most 90"),
    ({"max_time": -1}, "max_time=-1 must be a finite number above 0; pass seconds"),
    ({"max_iter": 0}, "max_iter=0 must be a whole number"),
    ({"max_evaluations": 0}, "max_evaluations=0 must be"),
    ({"allocation": "fair"}, "allocation='fair' is not known"),
    ({"start": "mean"}, "start='mean' is not known.*'centroid'"),
    ({"epsilon": -1}, "epsilon=-1 must be"),
    ({"population_size": 1}, "population_size=1 must be"),
    ({"crossover": 2}, "crossover=2 must be"),
    ({"mutation": -0.1}, "mutation=-0.1 must be"),
]


BAD_OF = [
    pytest.param(name, parameters, message, id=f"{name} {parameters}")
    for name, selector in SELECTORS.items()
    for parameters, message in BAD
    if set(parameters) <= set(inspect.signature(selector).parameters)
]


@pytest.mark.parametrize(("name", "parameters", "message"), BAD_OF)
def test_bad_parameters(name, parameters, message):
    selector = SELECTORS[name](**parameters)
    with pytest.raises(ValueError, match=message):
        selector.fit(X, Y)
    assert vars(selector) == vars(SELECTORS[name](**parameters))


def test_bad_objects_leave_a_fitted_selector_as_it_was(name):
    selector = make(name).fit(X, Y)
    before = dict(vars(selector))
    holes = X.copy()
    holes[3, 1] = np.nan
    for objects, labels, message in (
        (holes, Y, "NaN or infinity in row 3"),
        (X, np.zeros(90), "only 1 class"),
        (X, Y[:-1], "89 labels for 90 objects"),
    ):
        with pytest.raises(ValueError, match=message):
            selector.fit(objects, labels)
    assert vars(selector) == before


@pytest.mark.parametrize("name", [name for name in SELECTORS if name not in ("REPS", "RandomSelector")])
def test_a_graph_is_refused(name):
    graph = sparse.csr_matrix(cdist(X, X))
    with pytest.raises(ValueError, match=f"{name} needs dissimilarities that a sparse graph does not have; pass X"):
        make(name, metric="precomputed").fit(graph, Y)


def test_sparse_rows(name):
    rows = sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
    dense = make(name).fit(rows.toarray(), Y).sample_indices_
    np.testing.assert_array_equal(make(name).fit(rows, Y).sample_indices_, dense)


@pytest.mark.parametrize("layout", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
def test_sparse_rows_come_back_in_any_layout(layout):
    kept, labels = make("ENN").fit_resample(sparse.csr_matrix(X).asformat(layout), Y)
    rows = make("ENN").fit(X, Y).sample_indices_
    np.testing.assert_array_equal(kept.toarray(), X[rows])
    np.testing.assert_array_equal(labels, Y[rows])


def test_verbose_goes_to_stderr(name, capsys):
    make(name, verbose=1).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "of 90 objects" in err
