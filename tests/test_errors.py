"""Bad input: one clear error that names the argument, the value and the way out, and nothing half-done."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import kneighbors_graph
from sklearn.utils import check_array

from protoset import REPS, NeighborSearch, PrototypeClassifier, Refined
from protoset._validation import check_labels, check_vectors
from protoset.neighbors import build_lists
from protoset.solvers import SOLVERS
from protoset.spaces import make_space
from protoset.spaces.precomputed import PrecomputedSpace

from conftest import overlapping

X, Y = load_iris(return_X_y=True)
X_SMALL, Y_SMALL = X[::10], Y[::10]
MATRIX = cdist(X_SMALL, X_SMALL)


def with_value(array, position, value):
    changed = array.copy()
    changed[position] = value
    return changed


PARAMETERS = [
    ({"n_prototypes": 0}, "n_prototypes=0 must be a whole number of at least 1; pass a count"),
    ({"n_prototypes": -3}, "n_prototypes=-3 must be"),
    ({"n_prototypes": 151}, "n_prototypes=151 is more than the 150 training objects; pass at most 150"),
    ({"n_prototypes": 2}, "n_prototypes=2 is less than the 3 classes.*pass at least 3, or use allocation='global'"),
    (
        {"n_prototypes": 0.0},
        r"n_prototypes=0.0 is neither a count nor a rate; pass a count \(int\) or a rate in \(0, 1\]",
    ),
    ({"n_prototypes": 1.5}, "n_prototypes=1.5 is neither a count nor a rate; pass a count.*or 'auto'"),
    ({"n_prototypes": float("nan")}, "n_prototypes=nan is neither"),
    ({"n_prototypes": True}, "n_prototypes=True is neither"),
    ({"n_prototypes": None}, "n_prototypes=None is neither"),
    (
        {"n_prototypes": "atuo"},
        r"n_prototypes='atuo' is neither a count nor a rate \(did you mean 'auto'\?\); pass a count",
    ),
    (
        {"n_prototypes": "10%"},
        r"n_prototypes='10%' is neither a count nor a rate \(did you mean 0.1\?\); pass a count \(int\) or a rate in",
    ),
    ({"n_prototypes": "20"}, r"n_prototypes='20' is neither a count nor a rate \(did you mean 20\?\); pass a count"),
    ({"n_prototypes": 20.0}, r"n_prototypes=20.0 is neither a count nor a rate \(did you mean 20\?\); pass a count"),
    ({"n_prototypes": "120%"}, "n_prototypes='120%' is neither a count nor a rate; pass a count"),
    ({"beta": 1}, "beta=1 must be a finite number above 1 and at most 1e.06; the paper's choice is beta=2"),
    ({"beta": 0.5}, "beta=0.5 must be"),
    ({"beta": np.inf}, "beta=inf must be"),
    ({"beta": "2"}, "beta='2' must be"),
    ({"C": 0}, "C=0 must be a finite number above 1e-100 and at most 1e.100; the paper's choice is C=0.001"),
    ({"C": -1.0}, "C=-1.0 must be"),
    ({"C": np.nan}, "C=nan must be"),
    ({"C": 10**400}, "C=1000.*0 must be a finite number"),
    ({"C": 5e-324}, "C=5e-324 must be"),
    ({"C": 1e160}, "C=1e.160 must be"),
    ({"beta": 1e16}, "beta=1e.16 must be"),
    ({"random_state": "seed"}, "random_state='seed' must be None, a whole number"),
    ({"tol": 0.0}, "tol=0.0 must be a finite number above 0"),
    (
        {"search": NeighborSearch(n_neighbors=0)},
        "n_neighbors=0 must be a whole number of at least 1; pass a count or 'auto'",
    ),
    ({"search": NeighborSearch(n_neighbors=2.5)}, "n_neighbors=2.5 must be"),
    ({"search": NeighborSearch(n_neighbors="all")}, "n_neighbors='all' must be"),
    ({"search": NeighborSearch(n_neighbors=np.array([1, 2]))}, r"n_neighbors=array\(\[1, 2\]\) must be"),
    ({"loss": "max"}, r"loss='max' is not known.*choose one of \['mean', 'sum'\]"),
    ({"ties": "max"}, "ties='max' is not known"),
    ({"reading": "literally"}, r"reading='literally' is not known \(did you mean 'literal'\?\)"),
    ({"search": "approx"}, r"search='approx' is not known \(did you mean 'approximate'\?\)"),
    ({"search": NeighborSearch("approx")}, r"kind='approx' is not known \(did you mean 'approximate'\?\)"),
    ({"allocation": "proportionate"}, "allocation='proportionate' is not known.*did you mean 'proportional'"),
    ({"solver": "lbfgsb"}, "solver='lbfgsb' is not known.*did you mean 'lbfgs'"),
    ({"solver": None}, "solver=None is not known"),
    (
        {"metric": "euclidian"},
        r"metric='euclidian' is not known \(did you mean 'euclidean' or .*\?\).*metric='precomputed'",
    ),
    ({"metric": 3}, "metric=3 is not known"),
    (
        {"metric_params": {"p": 2}},
        r"metric_params=\{'p': 2\}: metric='euclidean' does not know \['p'\]; it takes no parameters",
    ),
    ({"n_jobs": 0}, "n_jobs=0 must be None, a number of workers up to 4096, or a negative number; n_jobs=-1 uses all"),
    ({"n_jobs": "two"}, "n_jobs='two' must be None"),
]


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS, ids=[str(p) for p, _ in PARAMETERS])
def test_parameters(parameters, message):
    selector = REPS(**({"n_prototypes": 0.1} | parameters))
    with pytest.raises(ValueError, match=message):
        selector.fit(X, Y)
    assert vars(selector) == vars(REPS(**({"n_prototypes": 0.1} | parameters)))


def test_metric_params_that_are_no_dict():
    with pytest.raises(TypeError, match="metric_params=5 must be a dict of the metric's arguments, or None"):
        REPS(0.1, metric_params=5).fit(X, Y)


@pytest.mark.parametrize(("metric", "objects"), [("euclidean", X_SMALL), ("dtw", X_SMALL), ("precomputed", MATRIX)])
def test_neighbours_of_what_is_no_training_set(metric, objects):
    space = make_space(objects, metric)
    with pytest.raises(TypeError, match=r"space=array\(.* is not a space; pass make_space\(X, metric\)"):
        build_lists(objects, 3)
    with pytest.raises(ValueError, match="build_lists needs the space of a training set, and this one has 0 queries"):
        build_lists(space.prototypes(np.array([0])), 3)
    with pytest.raises(ValueError, match="space has no objects.*pass at least 1 object"):
        build_lists(space.subset([]), 3)
    for search in ("exact", "approximate"):
        assert build_lists(space.subset([0]), 3, search=search).indptr.tolist() == [0, 0]


def test_more_neighbours_than_can_be_are_all_of_them():
    np.testing.assert_array_equal(
        REPS(0.1, search=NeighborSearch(n_neighbors=10**30)).fit(X, Y).ranking_,
        REPS(0.1, search=NeighborSearch(n_neighbors=149)).fit(X, Y).ranking_,
    )


def test_every_solver_name_in_the_error_exists():
    with pytest.raises(ValueError, match="choose one of") as caught:
        REPS(0.1, solver="x").fit(X, Y)
    assert str(list(SOLVERS)) in str(caught.value)


VECTORS = [
    (with_value(X, (3, 1), np.nan), "Input X contains NaN or infinity in row 3; remove those rows, fill"),
    (with_value(X, ([3, 17], 1), np.inf), "NaN or infinity in rows 3, 17;"),
    (np.full_like(X, np.nan), r"rows 0, 1, 2, 3, 4, ... \(150 in all\)"),
    (with_value(X, (3, 1), 1e200), "X has values up to 1e.200, whose squared distances overflow; scale X"),
    (X * 1e-170, "X has no value above 7.9e-170, and squared distances of such small values underflow to 0; scale X"),
    (X[:, 0], "Reshape your data"),
    (X[:, :0], r"0 feature\(s\)"),
    (np.char.add(X.astype(str), "x"), "could not convert string to float|found texts such as '5.1x'"),
    (X + 1j, "Complex data not supported"),
    (np.ma.masked_less(X, 1), "X is a masked array, whose mask would be ignored"),
]


@pytest.mark.parametrize(("bad", "message"), VECTORS, ids=range(len(VECTORS)))
def test_vectors(bad, message):
    with pytest.raises((ValueError, TypeError), match=message):
        REPS(0.1).fit(bad, Y)
    if bad.shape[1:] == X.shape[1:] and "underflow" not in message:  # tiny queries are near 0, and that is all
        classifier = PrototypeClassifier(REPS(0.1)).fit(X, Y)
        with pytest.raises((ValueError, TypeError), match=message):
            classifier.predict(bad)


MATRICES = [
    (MATRIX[:, :10], r"needs a square matrix for fit, got the shape \(15, 10\)"),
    (MATRIX[:, :, None], "needs a square matrix for fit"),
    (with_value(MATRIX, (2, 5), np.nan), "NaN or infinity in row 2 of the dissimilarities"),
    (MATRIX + np.diag(np.full(15, np.inf)), "NaN or infinity in rows.*put 0 on the diagonal"),
    (with_value(MATRIX, (4, 5), -0.1), "negative dissimilarities in row 4;.*X.max\\(\\) - X"),
    (MATRIX[0, :14], "a vector of length 14, which is not n\\(n-1\\)/2 for any n"),
    (np.array([1.0, -2.0, 3.0]), "negative dissimilarities in entry 1"),
    (sparse.csr_matrix(MATRIX[:10]), r"needs a square graph for fit, got the shape \(10, 15\)"),
    (sparse.csr_matrix(-MATRIX), "the graph holds negative dissimilarities in rows 0"),
    (sparse.csr_matrix(with_value(MATRIX, (4, 5), np.nan)), "NaN or infinity in row 4 of the graph"),
    (MATRIX.astype(str), "needs numbers, got an array of dtype"),
    (np.array([["a", 1], [2, "b"]], dtype=object), "needs numbers, but X holds other values"),
    (MATRIX + 1j, "Complex data not supported"),
    (sparse.csr_matrix(MATRIX + 1j), "a graph of real dissimilarities, got the dtype complex128"),
    (np.ma.masked_less(MATRIX, 1), "X is a masked array"),
    (5.0, "got scalar array instead: X=5.0"),
    (None, "got scalar array instead: X=None|needs numbers"),
    ([[0, 1], [1]], "the rows of X differ in length"),
    (sparse.csr_matrix((15, 15)), "the graph lists no neighbours"),
    (sparse.identity(15, format="csr"), "the graph lists no neighbours"),
    (np.empty((0, 0)), r"0 sample\(s\)"),
]


@pytest.mark.parametrize(("bad", "message"), MATRICES, ids=range(len(MATRICES)))
def test_matrices(bad, message):
    with pytest.raises((ValueError, TypeError), match=message):
        REPS(5, metric="precomputed").fit(bad, Y_SMALL)


def test_the_query_side_of_a_matrix():
    classifier = PrototypeClassifier(REPS(5, metric="precomputed")).fit(MATRIX, Y_SMALL)
    for width in (14, 16, 1):
        with pytest.raises(
            ValueError,
            match=f"X has {width} features, but precomputed is expecting 15.*or to the 5 prototypes",
        ):
            classifier.predict(np.ones((2, width)))
    with pytest.raises(ValueError, match="NaN or infinity in row 1"):
        classifier.predict(with_value(MATRIX, (1, 0), np.nan))
    with pytest.raises(ValueError, match="negative dissimilarities in row 1"):
        classifier.predict(with_value(MATRIX, (1, 0), -1.0))
    with pytest.raises(ValueError, match="Reshape your data"):
        classifier.predict(MATRIX[0])


def test_a_sparse_graph_cannot_choose_the_size():
    with pytest.raises(
        ValueError,
        match="n_prototypes='auto' needs dissimilarities.*pass a count or a rate as n_prototypes, or a dense matrix",
    ):
        REPS(metric="precomputed").fit(sparse.csr_matrix(MATRIX), Y_SMALL)


def test_a_graph_with_a_pair_listed_twice():
    graph = sparse.csr_matrix((np.array([1.0, 2, 3]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    for form in (graph, graph.tocoo()):
        with pytest.raises(ValueError, match="lists some pairs twice"):
            REPS(2, metric="precomputed").fit(form, [0, 1])


def test_a_graph_with_entries_outside_its_shape():
    """SciPy would read beyond its arrays."""
    graph = sparse.csr_matrix(MATRIX)
    graph.indices[7] = 10**6
    classifier = PrototypeClassifier(REPS(5, metric="precomputed")).fit(MATRIX, Y_SMALL)
    for call in (classifier.predict, lambda bad: REPS(5, metric="precomputed").fit(bad, Y_SMALL)):
        with pytest.raises(ValueError, match="indices must be < 15|column index"):
            call(graph)


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
def test_queries_that_list_no_prototype(rule):
    X, y = overlapping(60)
    classifier = PrototypeClassifier(REPS(0.2, metric="precomputed"), rule=rule).fit(cdist(X, X), y)
    queries = sparse.lil_matrix(cdist(X[:3], X))
    queries[1, classifier.sample_indices_] = 0
    for call in (classifier.predict, classifier.predict_proba, classifier.explain):
        with pytest.raises(ValueError, match="the sparse graph lists no prototype for row 1; list more neighbours"):
            call(queries.tocsr())


def test_the_columns_of_a_frame_of_dissimilarities():
    names = [f"object {i}" for i in range(15)]
    frame = pd.DataFrame(MATRIX, index=names, columns=names)
    classifier = PrototypeClassifier(REPS(5, metric="precomputed")).fit(frame, Y_SMALL)
    kept = frame.columns[classifier.sample_indices_]
    expected = classifier.predict(MATRIX)
    np.testing.assert_array_equal(classifier.predict(frame), expected)
    np.testing.assert_array_equal(classifier.predict(frame[kept]), expected)
    for wrong in (frame[names[::-1]], frame[kept[::-1]]):
        with pytest.raises(ValueError, match="The feature names should match.*column 0 of X is .* put the columns in"):
            classifier.predict(wrong)


LABELS = [
    (Y[:-1], "y has 149 labels for 150 objects in X"),
    (np.zeros(150, int), "y has only 1 class, 0, in 150 objects.*at least 2 classes"),
    (["a"] * 150, "y has only 1 class, 'a', in 150 objects"),
    (Y + 0.5, "Unknown label type: y has continuous numbers such as 0.5.*bin numbers"),
    (with_value(Y.astype(float), 3, np.nan), "Input y contains NaN, infinity or None at row 3; remove"),
    (with_value(Y.astype(object), 3, np.float32("nan")), "Input y contains NaN, infinity or None at row 3; remove"),
    (with_value(Y.astype(object), 3, None), "NaN, infinity or None at row 3"),
    (np.column_stack([Y, Y]), "y should be a 1d array"),
    (None, "requires y to be passed"),
    (["a"] * 75 + ["b"] * 74 + [float("nan")], "NaN, infinity or None at row 149"),
    (np.array(["2020", "NaT"] * 75, "M8[D]"), r"NaN, infinity or None at rows 1, 3"),
    (pd.Series(["a", pd.NA] * 75, dtype="string"), "NaN, infinity or None at rows 1, 3"),
    (pd.Series([1, None] * 75, dtype="Int64"), "NaN, infinity or None at rows 1, 3"),
]


def test_numbers_that_are_no_floats():
    """An int of 401 digits is a category or a token like any other, and no number of a row."""
    rows, labels = [[10**400, 1], [2, 3], [10**400, 4], [2, 6], [3, 1]], [0, 1, 0, 1, 1]
    table = np.array(rows, object)
    for metric in ("auto", "euclidean", "gower"):
        with pytest.raises(ValueError, match="X"):
            REPS(2, metric=metric).fit(table, labels)
    categories = REPS(2, metric="gower", metric_params={"categorical": [0]}).fit(table, labels)
    assert len(categories.sample_indices_) == 2
    tokens = PrototypeClassifier(REPS(3, metric="levenshtein")).fit(rows, labels)
    assert tokens.predict([[10**400, 1]])[0] == 0


def test_no_labels():
    with pytest.raises(ValueError, match="y has no classes in 0 objects"):
        check_labels([], 0)


@pytest.mark.parametrize(("bad", "message"), LABELS, ids=range(len(LABELS)))
def test_labels(bad, message):
    for estimator in (REPS(0.1), PrototypeClassifier(REPS(0.1))):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, bad)


def test_labels_without_an_order():
    labels = Y.astype(object)
    labels[:50] = "setosa"
    for form in (labels, labels.tolist()):
        with pytest.raises((TypeError, ValueError), match="y mixes labels of the types \\['int', 'str'\\]"):
            REPS(0.1).fit(X, form)
    with pytest.raises(TypeError, match="y has labels of the type bytes; decode them to str"):
        REPS(0.1).fit(X, np.array([b"a", b"b", b"c"])[Y])


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy before 2 has no StringDType")
def test_labels_of_stringdtype():
    labels = np.array(["a", "b", "cc"])[Y]
    fitted = PrototypeClassifier(REPS(6)).fit(X, labels.astype(np.dtypes.StringDType()))
    np.testing.assert_array_equal(fitted.predict(X), PrototypeClassifier(REPS(6)).fit(X, labels).predict(X))
    assert fitted.classes_.dtype == labels.dtype
    gaps = labels.astype(np.dtypes.StringDType(na_object=np.nan))
    gaps[3] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN, infinity or None at row 3"):
        REPS(6).fit(X, gaps)


def test_nullable_labels_stay_what_they_are():
    large = pd.Series(np.array([2**53, 2**53 + 1, 2**53 + 2])[Y], dtype="Int64")
    assert REPS(0.1).fit(X, large).classes_.tolist() == [2**53, 2**53 + 1, 2**53 + 2]
    assert REPS(0.1).fit(X, pd.Series(Y > 0, dtype="boolean")).classes_.tolist() == [False, True]
    assert REPS(0.1).fit(X, pd.Series(np.array(["a", "b", "c"])[Y], dtype="category")).classes_.tolist() == [
        "a",
        "b",
        "c",
    ]


@pytest.mark.parametrize("metric", ["euclidean", "gower"])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "explain"])
def test_a_missing_column_of_a_frame_is_named(metric, method):
    frame = pd.DataFrame(X, columns=["length", "width", "height", "weight"])
    classifier = PrototypeClassifier(REPS(6, metric=metric), adapt=False).fit(frame, Y)
    for other in (frame.drop(columns="height"), frame.rename(columns={"height": "depth"})):
        with pytest.raises(ValueError, match=r"seen at fit time, yet now missing:\n- height"):
            getattr(classifier, method)(other)
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- extra"):
        getattr(classifier, method)(frame.assign(extra=1))
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        getattr(classifier, method)(frame[["width", "length", "height", "weight"]])
    with pytest.raises(ValueError, match="X has several columns with the name 'height'"):
        getattr(classifier, method)(frame.rename(columns={"width": "height"}))


@pytest.mark.parametrize("estimator", [PrototypeClassifier, Refined])
@pytest.mark.parametrize("name", ["n_prototypes", "metric", "metric_params"])
def test_parameters_of_the_selector(estimator, name):
    with pytest.raises(TypeError, match=rf"{name}='x' is a parameter of the selector; use .*REPS\(.*{name}=\.\.\.\)"):
        estimator(**{name: "x"})
    assert name not in estimator().get_params(deep=False)


def test_classifier_arguments():
    with pytest.raises(ValueError, match="rule='nearst' is not known.*did you mean 'nearest'"):
        PrototypeClassifier(rule="nearst").fit(X, Y)
    with pytest.raises(TypeError, match="selector='REPS' is not a protoset selector; pass for example REPS"):
        PrototypeClassifier("REPS").fit(X, Y)
    classifier = PrototypeClassifier(REPS(0.1)).fit(X, Y)
    with pytest.raises(ValueError, match="n_neighbors=0 must be a whole number"):
        classifier.explain(X, n_neighbors=0)
    with pytest.raises(ValueError, match="X has 3 features, but euclidean is expecting 4"):
        classifier.predict(X[:, :3])
    with pytest.raises(ValueError, match=r"y has the label 9, which is not among the classes \[0, 1, 2\]; pass all"):
        classifier.partial_fit(X, np.full(150, 9))
    with pytest.raises(ValueError, match="classes=None: the first call of partial_fit needs the classes; pass a list"):
        clone(classifier).partial_fit(X, Y)
    with pytest.raises(ValueError, match="but adapt=False keeps them fixed; use .* adapt='auto' or True"):
        clone(classifier).set_params(adapt=False).partial_fit(X, Y)
    with pytest.raises(ValueError, match="rule='farthest' is not known"):
        classifier.set_params(rule="farthest").predict(X)


def test_the_adjusted_rule_says_which_classes_it_cannot_answer_with():
    """Setosa lies apart; with one class overlapping another all are within reach."""
    with pytest.warns(UserWarning, match=r"rule='adjusted' can never predict the classes \[0\]"):
        classifier = PrototypeClassifier(REPS(15), rule="adjusted").fit(X, Y)
    assert 0 not in classifier.predict(X)
    both = Y > 0
    PrototypeClassifier(REPS(15), rule="adjusted").fit(X[both], Y[both])


def test_a_graph_of_ones_is_taken_with_a_warning():
    graph = kneighbors_graph(X_SMALL, 5, mode="connectivity")
    with pytest.warns(UserWarning, match=r"every entry of the graph is 1.*kneighbors_graph\(mode='distance'\)"):
        REPS(5, metric="precomputed").fit(graph, Y_SMALL)


def test_unfitted():
    for call in (
        lambda: REPS().select(3),
        lambda: PrototypeClassifier().predict(X),
        lambda: PrototypeClassifier().predict_proba(X),
        lambda: PrototypeClassifier().explain(X),
    ):
        with pytest.raises(NotFittedError):
            call()


def test_select_refuses_what_fit_refuses():
    selector = REPS().fit(X, Y)
    for bad, message in (
        (0, "must be a whole number of at least 1"),
        (151, "is more than"),
        (2, "less than the 3 classes"),
        (1.2, "a rate"),
    ):
        with pytest.raises(ValueError, match=message):
            selector.select(bad)
    with pytest.raises(ValueError, match="allocation='fair' is not known"):
        selector.select(5, allocation="fair")
    with pytest.raises(ValueError, match=r"n_prototypes='auto' must be a count \(int\) or a rate.*call select\(\)"):
        selector.select("auto")
    with pytest.raises(
        ValueError, match=r"n_prototypes='10%' must be a count.*\(did you mean 0.1\?\).*call select\(\)"
    ):
        selector.select("10%")


def test_objects_of_weight_0_do_not_count_in_the_largest_size():
    weights = np.r_[np.zeros(20), np.ones(130)]
    for selector in (REPS(131), Refined(REPS(131))):
        with pytest.raises(
            ValueError, match="131 is more than the 130 training objects with a sample_weight above 0; pass at most 130"
        ):
            selector.fit(X, Y, sample_weight=weights)
    assert len(REPS(129).fit(X, Y, sample_weight=weights).sample_indices_) == 129


def test_an_interrupted_fit_changes_nothing(monkeypatch):
    classifier = PrototypeClassifier(REPS(5, metric="precomputed")).fit(MATRIX, Y_SMALL)
    before = dict(vars(classifier))

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(PrecomputedSpace, "prototypes", interrupt)
    with pytest.raises(KeyboardInterrupt):
        classifier.fit(MATRIX[::-1, ::-1], Y_SMALL > 0)
    assert vars(classifier) == before


@pytest.mark.parametrize("estimator", [REPS(50), PrototypeClassifier(REPS(50))])
@pytest.mark.parametrize(
    "bad",
    [(with_value(X, (0, 0), np.nan), Y), (X[:, :2], Y[:-1]), (X[:40, :2], Y[:40]), (X[::20, :2], Y[::20])],
)
def test_a_failed_fit_changes_nothing(estimator, bad):
    fitted = clone(estimator).fit(X, Y)
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match="NaN|labels|class|more than"):
        fitted.fit(*bad)
    assert vars(fitted) == before


@pytest.mark.parametrize("dtype", [">f8", "<f8", "float32", "float16", "int64", "longdouble"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_vectors_pass_as_scikit_learn_passes_them(dtype, order):
    """Arrays that skip scikit-learn's checks are those that the checks return unchanged."""
    given = np.asarray(np.arange(6).reshape(2, 3), dtype, order=order)
    expected = check_array(given, dtype=[np.float64, np.float32], order="C")
    passed = check_vectors(given)
    assert passed.dtype == expected.dtype
    assert passed.flags.c_contiguous
    assert (passed is given) == (expected is given)
    np.testing.assert_array_equal(passed, expected)
