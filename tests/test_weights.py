"""Weights of objects and classes: a weight of 2 is the object twice."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, balanced_accuracy_score, recall_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from protoset import REPS, NeighborSearch, PrototypeClassifier, Refined, export, refine
from protoset.features import rank_exponential
from protoset.neighbors import NeighborLists, build_lists
from protoset.selectors import FCNN, _improving, _refinable_set, all_selectors, rank_prototypes
from protoset.selectors._distinct import DistinctObjects
from protoset.selectors.size import deal_copies
from protoset.spaces import make_space
from test_refinement import slow_losses

from conftest import labelled_vectors, overlapping


@st.composite
def counted_objects(draw, largest=4):
    """Distinct pairs of vectors and labels, and how often each stands in a training set."""
    n, d = draw(st.integers(3, 12)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, 4, (n, d)).astype(float) if draw(st.booleans()) else rng.normal(size=(n, d))
    y = np.concatenate([[0, 1], rng.integers(0, draw(st.integers(2, 3)), n - 2)])
    _, first = np.unique(np.column_stack([X, y]), axis=0, return_index=True)
    first = np.sort(np.union1d(first, [0, 1]))
    X, y = X[first], y[first]
    return X, y, rng.integers(1, largest + 1, len(X)).astype(float), rng


@settings(max_examples=150)
@given(
    counted_objects(),
    st.sampled_from(["mean", "sum"]),
    st.sampled_from([1e-3, 1.0, 100.0]),
    st.sampled_from(["min", "average"]),
    st.sampled_from(["consistent", "literal"]),
    st.sampled_from([1.5, 2.0]),
)
def test_counts_are_copies(problem, loss, C, ties, reading, beta):
    """Weights, degradations and scores are those of the objects standing as often as they count."""
    X, y, counts, _ = problem
    copies = np.repeat(np.arange(len(X)), counts.astype(int))
    options = {"loss": loss, "C": C, "reading": reading, "beta": beta, "tol": 1e-10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        merged = rank_prototypes(build_lists(make_space(X), 99, ties=ties), y, counts=counts, **options)
        space = make_space(X[copies])
        whole = rank_prototypes(build_lists(space, 99, ties=ties), y[copies], **options)
    scale = whole.weights.max()
    np.testing.assert_allclose(merged.weights[copies], whole.weights, atol=1e-5 * scale, rtol=1e-5)
    clear = np.isfinite(whole.degradations) & (whole.weights > 1e-4 * scale)
    np.testing.assert_allclose(merged.degradations[copies][clear], whole.degradations[clear], atol=1e-3)
    assert merged.solution.primal == pytest.approx(whole.solution.primal, rel=1e-6)
    assert merged.truncation_bound == pytest.approx(whole.truncation_bound, rel=1e-9)
    np.testing.assert_allclose(merged.scores[copies][clear], whole.scores[clear], atol=1e-3)


def brute_force_objective(X, y, copies, kept, steepness, class_weight):
    """Weighted mean loss of all copies, where the first copy of each object in ``kept`` is a prototype."""
    matrix = cdist(X[copies], X[copies])
    first = np.array([np.flatnonzero(copies == member)[0] for member in kept])
    losses = slow_losses(matrix, y[copies], first, steepness)
    return np.average(losses, weights=np.array([class_weight[label] for label in y[copies]]))


@settings(max_examples=40)
@given(counted_objects(), st.booleans(), st.data())
def test_refined_sets_with_weights_are_those_of_the_copies(problem, lists, data):
    """Weighted objects, copies in any order, and the objective from scratch."""
    X, y, counts, rng = problem
    class_weight = {0: data.draw(st.sampled_from([1.0, 3.5]))}
    costs = {0: class_weight[0], 1: 1.0, 2: 1.0}
    _, first = np.unique(y, return_index=True)
    start = np.union1d(first, rng.permutation(len(X))[: data.draw(st.integers(0, 3))])
    copies = np.repeat(np.arange(len(X)), counts.astype(int))
    shuffled = rng.permutation(copies)
    options = {"steepness": (5.0, 20.0), "random_state": 0, "class_weight": class_weight}
    with pytest.MonkeyPatch.context() as patch:
        if lists:
            patch.setattr(_refinable_set, "MATRIX_BYTES", 0)
            patch.setattr(_refinable_set, "LIST_ENTRY_BYTES", 0)
            patch.setattr(_improving, "LIST_REACH", 10**6)
        weighted = refine(X, y, start, sample_weight=counts, **options)
        places = np.array([np.flatnonzero(shuffled == member)[0] for member in start])
        repeated = refine(X[shuffled], y[shuffled], places, **options)
    assert sorted(shuffled[repeated.indices]) == weighted.indices.tolist()
    assert repeated.objective_after == pytest.approx(weighted.objective_after, abs=1e-12)
    before, after = (brute_force_objective(X, y, copies, kept, 20.0, costs) for kept in (start, weighted.indices))
    assert weighted.objective_before == pytest.approx(before, abs=1e-9)
    assert weighted.objective_after == pytest.approx(after, abs=1e-9)


@settings(max_examples=25)
@given(counted_objects(), st.sampled_from([REPS(), Refined(REPS()), REPS(0.5), Refined(FCNN())]), st.booleans())
def test_a_weight_of_two_is_the_object_twice(problem, selector, balanced):
    X, y, counts, rng = problem
    counts[rng.random(len(counts)) < 0.2] = 0
    counts[:2] = np.maximum(counts[:2], 1)
    selector = clone(selector)
    if balanced:
        selector.set_params(class_weight="balanced")
    copies = rng.permutation(np.repeat(np.arange(len(X)), counts.astype(int)))
    weighted, repeated = clone(selector).fit(X, y, sample_weight=counts), clone(selector).fit(X[copies], y[copies])
    assert sorted(copies[repeated.sample_indices_]) == weighted.sample_indices_.tolist()
    np.testing.assert_array_equal(weighted.sample_counts_, counts[weighted.sample_indices_])
    np.testing.assert_array_equal(weighted.class_counts_, np.bincount(y[copies])[np.unique(y[copies])])
    np.testing.assert_array_equal(weighted.class_counts_, repeated.class_counts_)
    np.testing.assert_array_equal(weighted.classes_, repeated.classes_)
    if getattr(weighted, "size_curve_", None) is not None:
        np.testing.assert_allclose(weighted.size_curve_.errors, repeated.size_curve_.errors, atol=1e-12)
        np.testing.assert_array_equal(weighted.size_curve_.sizes, repeated.size_curve_.sizes)
    if hasattr(weighted, "ranking_"):
        present = counts[weighted.ranking_] > 0
        assert sorted(weighted.ranking_) == list(range(len(X)))
        assert not present[present.sum() :].any()
        of_copies = copies[repeated.ranking_]
        assert of_copies[np.sort(np.unique(of_copies, return_index=True)[1])].tolist() == (
            weighted.ranking_[present].tolist()
        )
        np.testing.assert_allclose(repeated.scores_, weighted.scores_[copies], atol=1e-9)


def test_the_size_curve_is_that_of_all_copies():
    """Against fits from scratch on the copies of each fold; ties go by the majority of the copies."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, (90, 2)).astype(float), rng.integers(0, 3, 90)
    curve = REPS().fit(X, y).size_curve_
    folds = np.empty(90, int)
    folds[np.lexsort((*X.T[::-1], y))] = np.arange(90) % 5
    for rate, error in zip(curve.rates, curve.errors, strict=True):
        wrong = 0
        for fold in range(5):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            fitted = REPS(float(rate)).fit(X[train], y[train])
            kept, totals = train[fitted.sample_indices_], np.bincount(y[train])
            for row in test:
                distances = cdist(X[[row]], X[kept])[0]
                near = distances == distances.min()
                votes = np.bincount(y[kept][near], fitted.sample_counts_[near], minlength=3)
                wrong += max(range(3), key=lambda code: (votes[code], totals[code], -code)) != y[row]
        assert error == pytest.approx(wrong / 90)


def test_copies_are_dealt_and_never_divided():
    counts = np.array([2.5, 0.5, 3.0, 1.0, 4.0])
    objects = replace(DistinctObjects.once_each(np.array([0, 0, 1, 1, 1])), counts=counts)
    shares = deal_copies(objects, 5, None)
    np.testing.assert_allclose(shares.sum(axis=0), counts)
    np.testing.assert_allclose(shares[:, 0], [1.25, 1.25, 0, 0, 0])
    np.testing.assert_allclose(shares[:, 1], [0, 0, 0.5, 0, 0])
    small = deal_copies(replace(objects, counts=np.full(5, 1e-6)), 5, None)
    np.testing.assert_allclose(small, 1e-6 * np.eye(5))


@settings(max_examples=50)
@given(st.integers(3, 40), st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 0.4, 1.0, 1.9]))
def test_an_object_of_less_than_two_copies_is_held_out_as_a_whole(n, seed, spread):
    """Otherwise its other part would be among the prototypes, and keeping everything would have no error."""
    rng = np.random.default_rng(seed)
    counts = 1 + rng.uniform(0, 1 - 1e-6, n) * min(spread, 1.0)
    counts[rng.integers(n)] = rng.choice([1e-300, 1e-9, 0.9, 1.0])
    counts = counts if spread <= 1 else counts / counts.sum() / 2
    objects = replace(DistinctObjects.once_each(rng.integers(0, 2, n)), counts=counts)
    shares = deal_copies(objects, 3, None)
    np.testing.assert_allclose(shares.sum(axis=0), counts)
    halves = counts / min(1.0, counts.mean()) < 2
    assert ((shares[:, halves] > 0).sum(axis=0) == 1).all()


def test_one_lighter_object_leaves_the_size_as_it_is():
    X, y = overlapping(200, seed=1)
    weights = np.ones(200)
    weights[0] = 0.9
    plain, weighted = REPS().fit(X, y).size_curve_, REPS().fit(X, y, sample_weight=weights).size_curve_
    np.testing.assert_allclose(plain.errors, weighted.errors, atol=0.03)


@pytest.mark.parametrize("selector", [REPS(), Refined(REPS()), Refined(REPS(0.2), class_weight="balanced")])
def test_weights_may_be_fractions(selector):
    X, y = overlapping(80, seed=1)
    weights = np.random.default_rng(0).uniform(0.2, 3, 80)
    fitted = clone(selector).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(fitted.sample_counts_, weights[fitted.sample_indices_])
    np.testing.assert_allclose(fitted.class_counts_, np.bincount(y, weights))
    tiny = clone(selector).fit(X, y, sample_weight=weights / weights.sum())
    assert set(y[tiny.sample_indices_]) == {0, 1, 2}
    ones = clone(selector).fit(X, y, sample_weight=np.ones(80))
    np.testing.assert_array_equal(ones.sample_indices_, clone(selector).fit(X, y).sample_indices_)


@pytest.mark.parametrize("name", [name for name, _ in all_selectors()] + ["Refined"])
def test_no_class_keeps_two_identical_objects(name):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, (120, 2)).astype(float), rng.integers(0, 3, 120)
    selector = Refined() if name == "Refined" else dict(all_selectors())[name]()
    short = {"max_iter": 50, "max_evaluations": 50, "random_state": 0}
    selector.set_params(**{key: value for key, value in short.items() if key in selector.get_params()})
    selector.fit(X, y)
    kept = np.column_stack([X, y])[selector.sample_indices_]
    assert len(np.unique(kept, axis=0)) == len(kept)
    same = (X[:, None] == X[selector.sample_indices_]).all(axis=2) & (y[:, None] == y[selector.sample_indices_])
    np.testing.assert_array_equal(selector.sample_counts_, same.sum(axis=0))
    np.testing.assert_array_equal(selector.class_counts_, np.bincount(y))
    if name in ("REPS", "Refined"):
        np.testing.assert_array_equal(selector.sample_indices_, [np.flatnonzero(column)[0] for column in same.T])


@settings(max_examples=30)
@given(labelled_vectors(tied=True, max_objects=40), st.integers(0, 99), st.sampled_from(["auto", 0.3]))
def test_shuffling_the_rows_changes_no_set_of_reps(data, seed, size):
    X, y = data
    order = np.random.default_rng(seed).permutation(len(X))
    straight, shuffled = REPS(size).fit(X, y), REPS(size).fit(X[order], y[order])
    pairs = [
        sorted(map(tuple, np.column_stack([rows, labels])[fitted.sample_indices_]))
        for rows, labels, fitted in ((X, y, straight), (X[order], y[order], shuffled))
    ]
    assert pairs[0] == pairs[1]


@pytest.mark.slow
@settings(max_examples=40)
@given(labelled_vectors(tied=True, max_objects=30), st.integers(0, 2**32 - 1), st.sampled_from(["auto", 0.5, 1.0]))
def test_shuffling_weighted_rows_changes_no_prediction(data, seed, size):
    """Sums such as 0.1 + 0.2 + 0.3 depend on the order of their terms, and must not decide."""
    X, y = data
    rng = np.random.default_rng(seed)
    weights, order = rng.choice([0.1, 0.2, 0.3, 0.6, 0.7], len(X)), rng.permutation(len(X))
    queries = (X[rng.integers(len(X), size=20)] + X[rng.integers(len(X), size=20)]) / 2
    fits = [
        PrototypeClassifier(REPS(size)).fit(X[rows], y[rows], sample_weight=weights[rows])
        for rows in (np.arange(len(X)), order)
    ]
    np.testing.assert_array_equal(*(fitted.predict(queries) for fitted in fits))
    np.testing.assert_array_equal(*(fitted.selector_.class_counts_ for fitted in fits))


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 1, 0, 3], [1, 2, 0, 3], [3, 2, 1, 0]])
def test_equal_totals_are_equal_but_for_rounding(order, tmp_path):
    X, y, weights = np.array([[0.0], [0.0], [0.0], [2.0]]), np.array([*"bbba"]), np.array([0.1, 0.2, 0.3, 0.6])
    fitted = PrototypeClassifier(REPS(2)).fit(X[order], y[order], sample_weight=weights[order])
    assert fitted.predict([[1.0]]) == ["a"]
    export(fitted, tmp_path / "exported.py")
    program = {"__name__": "exported"}
    exec((tmp_path / "exported.py").read_text(), program)
    assert program["predict"](np.array([[1.0]])).tolist() == ["a"]


def test_costs_are_those_of_errors():
    """The objective from scratch: each hinge times the weight of its class."""
    X, y = overlapping(60, seed=4)
    costs = np.where(y == 0, 5.0, 0.5)
    lists = build_lists(make_space(X), 59)
    ranked = rank_prototypes(lists, y, C=1.0, costs=costs)
    plain = rank_exponential(lists, y)
    hinges = np.maximum(plain.rho - plain.features @ ranked.weights, 0)
    objective = 0.5 * ranked.weights @ ranked.weights + (costs * hinges).sum() / 60
    assert ranked.solution.primal == pytest.approx(objective)
    assert ranked.solution.gap <= 1e-6


def test_classes_get_prototypes_by_their_weights():
    X, y = overlapping(200, n_classes=2, seed=2)
    y = np.where(np.arange(200) < 180, 0, 1)
    assert np.bincount(y[REPS(40).fit(X, y).sample_indices_]).tolist() == [36, 4]
    assert np.bincount(y[REPS(30, class_weight="balanced").fit(X, y).sample_indices_]).tolist() == [15, 15]
    assert np.bincount(y[REPS(60, class_weight="balanced").fit(X, y).sample_indices_]).tolist() == [40, 20]
    assert np.bincount(y[REPS(40, class_weight={1: 3.0}).fit(X, y).sample_indices_]).tolist() == [30, 10]
    weights = np.where(y == 1, 3.0, 1.0)
    assert np.bincount(y[REPS(40).fit(X, y, sample_weight=weights).sample_indices_]).tolist() == [30, 10]


@pytest.mark.parametrize("selector", [REPS(), Refined(REPS())])
def test_scoring_decides_the_size(selector):
    X, y = overlapping(150, seed=7)
    labels = np.array(["a", "b", "c"])[y]
    inner = "selector__" if isinstance(selector, Refined) else ""

    def curve(scoring):
        fitted = clone(selector).set_params(**{f"{inner}scoring": scoring}).fit(X, labels)
        return fitted.size_curve_

    plain, balanced = curve("accuracy"), curve("balanced_accuracy")
    assert (plain.scoring, balanced.scoring) == ("accuracy", "balanced_accuracy")
    assert not np.array_equal(plain.errors, balanced.errors)
    for scoring, expected in ((accuracy_score, plain), (balanced_accuracy_score, balanced)):
        measured = curve(scoring)
        assert measured.scoring == scoring.__name__
        np.testing.assert_allclose(measured.errors, expected.errors - 1)
        assert measured.chosen == expected.chosen

    def without_weights(truth, predicted):
        assert set(truth) <= set("abc")
        return float(np.mean(truth == predicted))

    np.testing.assert_allclose(curve(without_weights).errors, plain.errors - 1)


def test_a_score_of_copies_without_weights():
    X, y = overlapping(40, seed=7)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    named = REPS().fit(X, y).size_curve_
    counted = REPS(scoring=lambda truth, predicted: np.mean(truth == predicted)).fit(X, y).size_curve_
    np.testing.assert_allclose(counted.errors, named.errors - 1)


X_SMALL, Y_SMALL = overlapping(30, seed=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: REPS().fit(X_SMALL, Y_SMALL, sample_weight=np.ones(29)), r"shape \(29,\) for 30 objects"),
        (lambda: REPS().fit(X_SMALL, Y_SMALL, sample_weight=np.ones((30, 2))), r"shape \(30, 2\)"),
        (lambda: REPS().fit(X_SMALL, Y_SMALL, sample_weight=-np.ones(30)), "-1 in rows 0, 1.*negative"),
        (lambda: REPS().fit(X_SMALL, Y_SMALL, sample_weight=[np.nan] * 30), "sample_weight is nan"),
        (lambda: REPS().fit(X_SMALL, Y_SMALL, sample_weight=["a"] * 30), "sample_weight=.* must be numbers"),
        (lambda: REPS().fit(X_SMALL, Y_SMALL, sample_weight=np.full(30, 1j)), "must be numbers, and not complex"),
        (lambda: REPS().fit(X_SMALL, Y_SMALL, sample_weight=np.full(30, 1e308)), r"1e\+308 in rows.*to 1e\+12"),
        (lambda: REPS().fit(X_SMALL, Y_SMALL, sample_weight=[5e-324] + [1] * 29), "e-324 in row 0; .* from 1e-12"),
        (lambda: REPS(class_weight={0: 1e308}).fit(X_SMALL, Y_SMALL), r"has 1e\+308 for the label 0"),
        (lambda: REPS(class_weight={0: 5e-324}).fit(X_SMALL, Y_SMALL), "has 5e-324 for the label 0"),
        (
            lambda: REPS(scoring=lambda truth, predicted: 1.0).fit(X_SMALL, Y_SMALL, sample_weight=np.full(30, 1e9)),
            "scoring=<lambda> has no argument sample_weight, and would get .* labels",
        ),
        (lambda: REPS().fit(X_SMALL, Y_SMALL, sample_weight=np.zeros(30)), "zero for all objects"),
        (lambda: REPS().fit(X_SMALL, Y_SMALL, sample_weight=Y_SMALL == 0), "weight above zero: y has only 1 class"),
        (
            lambda: PrototypeClassifier(FCNN()).fit(X_SMALL, Y_SMALL, sample_weight=np.ones(30)),
            r"with REPS and Refined only, but the selector is FCNN\(\)",
        ),
        (lambda: REPS(class_weight="equal").fit(X_SMALL, Y_SMALL), "class_weight='equal' is not known"),
        (lambda: REPS(class_weight={0: 0}).fit(X_SMALL, Y_SMALL), "has 0 for the label 0"),
        (lambda: REPS(class_weight={"x": 2}).fit(X_SMALL, Y_SMALL), r"\['x'\], which are not among the labels"),
        (lambda: Refined(class_weight={9: 2}).fit(X_SMALL, Y_SMALL), r"\[9\], which are not among"),
        (lambda: refine(X_SMALL, Y_SMALL, range(30), class_weight={9: 2}), r"\[9\], which are not among"),
        (
            lambda: refine(X_SMALL, Y_SMALL, range(30), sample_weight=np.arange(30)),
            "indices has row 0, whose sample_weight is zero",
        ),
        (lambda: REPS(scoring="f1").fit(X_SMALL, Y_SMALL), "scoring='f1' is not known"),
        (lambda: REPS(scoring=lambda *_: "good").fit(X_SMALL, Y_SMALL), "returned 'good'"),
    ],
)
def test_wrong_weights_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("selector", [REPS(), REPS(8), Refined(REPS())])
def test_the_largest_and_smallest_weights_work(selector):
    rng = np.random.default_rng(0)
    for weights in (np.full(30, 1e12), np.full(30, 1e-12), 10.0 ** rng.uniform(-12, 12, 30)):
        fitted = clone(selector).fit(X_SMALL, Y_SMALL, sample_weight=weights)
        assert set(Y_SMALL[fitted.sample_indices_]) == set(Y_SMALL)
        for class_weight in ("balanced", {0: 1e-12, 1: 1e12}):
            clone(selector).set_params(class_weight=class_weight).fit(X_SMALL, Y_SMALL, sample_weight=weights)


def test_weights_are_routed():
    X, y = overlapping(90, seed=3)
    weights = np.where(np.arange(90) % 3, 1.0, 4.0)
    with sklearn.config_context(enable_metadata_routing=True):
        for estimator in (REPS(), Refined(), PrototypeClassifier()):
            assert estimator.set_fit_request(sample_weight=True) is estimator
        classifier = PrototypeClassifier(REPS(0.2)).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(MinMaxScaler(), classifier).fit(X, y, sample_weight=weights)
        scaled = MinMaxScaler().fit_transform(X)
        direct = PrototypeClassifier(REPS(0.2)).fit(scaled, y, sample_weight=weights)
        np.testing.assert_array_equal(pipeline[-1].sample_indices_, direct.sample_indices_)
        unweighted = PrototypeClassifier(REPS(0.2)).fit(scaled, y)
        assert not np.array_equal(direct.sample_indices_, unweighted.sample_indices_)
        search = GridSearchCV(
            classifier.set_score_request(sample_weight=False), {"selector__n_prototypes": [0.1, 0.3]}, cv=3
        ).fit(scaled, y, sample_weight=weights)
        again = clone(search.best_estimator_).fit(scaled, y, sample_weight=weights)
        np.testing.assert_array_equal(search.best_estimator_.sample_indices_, again.sample_indices_)
        results = cross_validate(classifier, scaled, y, params={"sample_weight": weights}, cv=3, return_estimator=True)
        train = next(iter(StratifiedKFold(3).split(scaled, y)))[0]
        first = clone(classifier).fit(scaled[train], y[train], sample_weight=weights[train])
        np.testing.assert_array_equal(results["estimator"][0].sample_indices_, first.sample_indices_)


def test_lists_of_all_objects_and_of_the_distinct_ones(tmp_path):
    """Given lists hold copies; a fit that keeps its lists keeps those of the distinct objects."""
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 6, (150, 2)).astype(float), rng.integers(0, 2, 150)
    searched = REPS(0.2, search=NeighborSearch(folder=tmp_path)).fit(X, y)
    lists = build_lists(make_space(X), 149)
    kept = NeighborLists.from_folder(tmp_path)
    assert kept.n_objects < 150
    for given_lists in (lists, kept):
        fitted = REPS(0.2).fit(X, y, lists=given_lists)
        np.testing.assert_allclose(fitted.weights_, searched.weights_, rtol=1e-6)
        np.testing.assert_array_equal(fitted.ranking_, searched.ranking_)


@pytest.mark.slow
def test_balanced_weights_find_the_rare_class():
    """96 : 4: recall of the rare class on new objects, beside that of 1-NN on everything."""
    recalls = {"everything": [], "balanced": [], "plain": []}
    for seed in range(3):
        X, y = make_classification(
            1600,
            n_features=5,
            n_informative=2,
            n_redundant=0,
            n_clusters_per_class=1,
            weights=[0.96],
            class_sep=0.8,
            flip_y=0.0,
            random_state=seed,
        )
        train, test = np.arange(1600) < 600, np.arange(1600) >= 600
        nearest = KNeighborsClassifier(1).fit(X[train], y[train]).predict(X[test])
        recalls["everything"].append(recall_score(y[test], nearest))
        for name, class_weight in (("balanced", "balanced"), ("plain", None)):
            classifier = PrototypeClassifier(Refined(class_weight=class_weight)).fit(X[train], y[train])
            recalls[name].append(recall_score(y[test], classifier.predict(X[test])))
    mean = {name: np.mean(values) for name, values in recalls.items()}
    assert mean["balanced"] > mean["everything"] + 0.1
    assert mean["balanced"] > mean["plain"] + 0.1


def test_a_graph_without_the_objects_that_do_not_count():
    X, y = overlapping(60, seed=2)
    present = np.arange(60) % 4 > 0
    graph = kneighbors_graph(X, 50, mode="distance")
    weighted = REPS(0.2, metric="precomputed").fit(graph, y, sample_weight=present)
    without = REPS(0.2, metric="precomputed").fit(graph[present][:, present], y[present])
    np.testing.assert_array_equal(weighted.sample_indices_, np.flatnonzero(present)[without.sample_indices_])
