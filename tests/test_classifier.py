"""Classification with prototypes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protoset import REPS, PrototypeClassifier, Refined
from protoset.decisions import AdjustedRule, decide, probabilities_of
from protoset.decisions.probabilities import ProbabilityMap
from protoset.selectors import FCNN
from protoset.selectors.ties import MajorityVote

from conftest import labelled_vectors, overlapping

X_WINE, Y_WINE = load_wine(return_X_y=True)
X_WINE = StandardScaler().fit_transform(X_WINE)
SPLIT = train_test_split(X_WINE, Y_WINE, random_state=0, stratify=Y_WINE)

blocks = st.tuples(st.integers(0, 9999), st.integers(1, 8), st.integers(1, 12), st.booleans())


def random_block(seed, n_queries, n_prototypes, tied):
    rng = np.random.default_rng(seed)
    shape = (n_queries, n_prototypes)
    return (rng.integers(0, 3, shape).astype(float) if tied else rng.random(shape)), rng


def each_its_own_class(n_prototypes):
    """A vote in which each prototype is a class of its own, so that the lowest position wins."""
    return MajorityVote(np.arange(n_prototypes), np.ones(n_prototypes), np.ones(n_prototypes))


def winners(block, degradations):
    return decide(block, degradations, each_its_own_class(block.shape[1])).winners


@given(blocks, st.sampled_from([0.0, 0.25, 7.0, np.inf]))
def test_equal_degradations_predict_as_plain_nearest_neighbour(shape, degradation):
    block, _ = random_block(*shape)
    np.testing.assert_array_equal(winners(block, np.full(block.shape[1], degradation)), block.argmin(axis=1))


@given(blocks, st.integers(0, 64).map(lambda eighths: eighths / 8))
def test_adding_to_every_degradation_changes_no_prediction(shape, amount):
    """Eighths, so that the sums are exact and ties stay ties."""
    block, rng = random_block(*shape)
    degradations = rng.integers(0, 40, block.shape[1]) / 8
    np.testing.assert_array_equal(winners(block, degradations), winners(block, degradations + amount))


@given(blocks)
def test_the_adjusted_rule_against_its_definition(shape):
    block, rng = random_block(*shape)
    degradations = rng.choice([0.0, 0.5, 1.25, 3.0, np.inf], block.shape[1])
    for row, winner in zip(block, winners(block, degradations), strict=True):
        ranks = np.array([1 + (row < distance).sum() for distance in row])
        best = min(range(len(row)), key=lambda j: (ranks[j] + degradations[j], row[j], j))
        assert winner == best


def test_equal_distances_share_the_best_rank():
    decision = decide(np.array([[2.0, 1.0, 1.0, 5.0]]), np.array([0.0, 1.5, 0.25, 0.0]), each_its_own_class(4))
    assert decision.order.tolist() == [[1, 2, 0, 3]]
    assert decision.distances.tolist() == [[1.0, 1.0, 2.0, 5.0]]
    assert decision.ranks.tolist() == [[1, 1, 3, 4]]
    assert decision.adjusted_ranks.tolist() == [[2.5, 1.25, 3, 4]]


@settings(max_examples=25)
@given(labelled_vectors(), st.integers(0, 99))
def test_keeping_everything_is_plain_nearest_neighbour(data, seed):
    X, y = data
    queries = np.random.default_rng(seed).normal(size=(20, X.shape[1]))
    classifier = PrototypeClassifier(REPS(n_prototypes=1.0), adapt=False).fit(X, y)
    np.testing.assert_array_equal(
        classifier.predict(queries), KNeighborsClassifier(1, algorithm="brute").fit(X, y).predict(queries)
    )


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
def test_precomputed_equals_the_named_metric(rule):
    X, X_test, y, y_test = SPLIT
    named = PrototypeClassifier(REPS(0.2), rule=rule, adapt=False).fit(X, y)
    ready = PrototypeClassifier(REPS(0.2, metric="precomputed"), rule=rule).fit(cdist(X, X), y)
    expected = named.predict(X_test)
    kept = ready.sample_indices_
    for queries in (cdist(X_test, X), cdist(X_test, X).astype(np.float32), cdist(X_test, X[kept])):
        np.testing.assert_array_equal(ready.predict(queries), expected)
    # The folds that calibrate are others: a matrix does not know the contents of the objects.
    assert np.abs(ready.predict_proba(cdist(X_test, X)) - named.predict_proba(X_test)).mean() < 0.1
    assert ready.score(cdist(X_test, X), y_test) == named.score(X_test, y_test) > 0.8


def test_a_sparse_query_graph():
    X, X_test, y, _ = SPLIT
    classifier = PrototypeClassifier(REPS(0.3, metric="precomputed")).fit(cdist(X, X), y)
    matrix = cdist(X_test, X)
    expected = classifier.predict(matrix)
    nearest_60 = np.where(matrix <= np.sort(matrix, axis=1)[:, 59:60], matrix, 0)
    np.testing.assert_array_equal(classifier.predict(sparse.csr_matrix(nearest_60)), expected)
    nearest_1 = np.where(matrix <= np.sort(matrix, axis=1)[:, :1], matrix, 0)
    with pytest.raises(ValueError, match="the sparse graph lists no prototype for rows"):
        classifier.predict(sparse.csr_matrix(nearest_1))


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
def test_shares_sum_to_one_and_agree_with_the_prediction(rule):
    X, X_test, y, _ = SPLIT
    classifier = PrototypeClassifier(REPS(0.15), rule=rule).fit(X, y)
    shares = classifier.predict_proba(X_test)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(classifier.classes_[shares.argmax(axis=1)], classifier.predict(X_test))


def test_what_a_query_graph_does_not_list_decides_nothing():
    """Whatever their degradations: only listed prototypes can win."""
    rng = np.random.default_rng(0)
    block, degradations = rng.random((30, 8)), rng.random(8) * 4
    block[rng.random((30, 8)) < 0.6] = np.inf
    block[:, 0] = 1.0
    winner = winners(block, degradations)
    assert np.isfinite(block[np.arange(30), winner]).all()
    for row in range(30):
        known = np.flatnonzero(np.isfinite(block[row]))
        np.testing.assert_array_equal(known[winners(block[row : row + 1, known], degradations[known])], winner[row])
    evidence = AdjustedRule(each_its_own_class(8), degradations).evidence(block)[0]
    np.testing.assert_array_equal(evidence < -100, np.isinf(block))
    np.testing.assert_array_equal(evidence.argmax(axis=1), winner)


def test_the_classifier_keeps_no_matrix(tmp_path):
    """Of a matrix, prediction needs the columns' numbers only."""
    X, _, y, _ = SPLIT
    matrix = cdist(X, X)
    classifier = PrototypeClassifier(REPS(1.0, metric="precomputed")).fit(matrix, y)
    del classifier.selector_
    assert len(pickle.dumps(classifier)) < matrix.nbytes / 6


def test_classes_without_a_prototype_have_their_equal_share_alone():
    X, X_test, y, _ = SPLIT
    classifier = PrototypeClassifier(REPS(1, allocation="global")).fit(X, y)
    shares = classifier.predict_proba(X_test)
    assert shares.shape[1] == 3
    shared = classifier.calibration_.probabilities.shared
    np.testing.assert_allclose(np.unique(shares.round(9)), [shared / 3, 1 - 2 * shared / 3], atol=1e-8)


def test_infinite_degradations_leave_the_decision_to_the_distances():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 1, 0, 1])
    vote = MajorityVote(y, np.ones(4), np.array([2.0, 2.0]))
    rule = AdjustedRule(vote, np.full(4, np.inf))
    block = cdist(X, X)
    np.testing.assert_array_equal(rule.labels(block), y)
    probabilities = probabilities_of(rule, ProbabilityMap(np.ones(1), 0.01), block)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), y)


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
def test_explanations_show_what_decided(rule):
    X, X_test, y, _ = SPLIT
    classifier = PrototypeClassifier(REPS(0.2), rule=rule, adapt=False).fit(X, y)
    shown = classifier.explain(X_test, n_neighbors=4)
    assert shown.indices.shape == (len(X_test), 4)
    np.testing.assert_array_equal(shown.labels[:, 0], classifier.predict(X_test))
    np.testing.assert_array_equal(shown.labels, y[shown.indices])
    assert np.isin(shown.indices, classifier.sample_indices_).all()
    np.testing.assert_allclose(shown.distances, np.take_along_axis(cdist(X_test, X), shown.indices, axis=1))
    np.testing.assert_array_equal(shown.degradations, classifier.selector_.degradations_[shown.indices])
    expected = shown.ranks + shown.degradations if rule == "adjusted" else shown.ranks
    np.testing.assert_array_equal(shown.adjusted_ranks, expected)
    # Written as comparisons, because differences of infinite ranks are not numbers.
    assert (shown.adjusted_ranks[:, 1:] >= shown.adjusted_ranks[:, :-1]).all()
    assert classifier.explain(X_test, n_neighbors=10_000).indices.shape[1] == len(classifier.sample_indices_)


def test_pipeline_grid_search_and_cross_validation():
    X, X_test, y, y_test = SPLIT
    pipeline = make_pipeline(StandardScaler(), PrototypeClassifier(REPS()))
    grid = {
        "prototypeclassifier__rule": ["nearest", "adjusted"],
        "prototypeclassifier__selector__n_prototypes": [0.1, 0.4],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.score(X_test, y_test) > 0.85
    assert cross_val_score(PrototypeClassifier(), X_WINE, Y_WINE, cv=3).mean() > 0.8


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
def test_cross_validation_slices_a_matrix_as_it_slices_vectors(rule):
    matrix = cdist(X_WINE, X_WINE)
    # With a seed the folds of the automatic size do not follow the contents, which a matrix does not have.
    named, ready = (REPS(metric=metric, random_state=0) for metric in ("auto", "precomputed"))
    named = cross_val_score(PrototypeClassifier(named, rule=rule, adapt=False), X_WINE, Y_WINE, cv=4)
    ready = cross_val_score(PrototypeClassifier(ready, rule=rule), matrix, Y_WINE, cv=4)
    np.testing.assert_array_equal(named, ready)
    grid = {"selector__n_prototypes": [0.1, 0.5]}
    nested = GridSearchCV(PrototypeClassifier(REPS(metric="precomputed")), grid, cv=3)
    assert cross_val_score(nested, matrix, Y_WINE, cv=3).mean() > 0.8


def test_frames_string_labels_and_feature_names():
    data = load_iris(as_frame=True)
    labels = data.target_names[data.target]
    classifier = PrototypeClassifier(REPS(0.2)).fit(data.data, labels)
    assert classifier.predict(data.data.iloc[:2]).tolist() == ["setosa", "setosa"]
    assert classifier.feature_names_in_.tolist() == data.data.columns.tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(data.data.rename(columns={"sepal length (cm)": "other"}))
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(data.data[data.data.columns[::-1]])
    series = pd.Series(labels, index=np.arange(150)[::-1])
    again = PrototypeClassifier(REPS(0.2)).fit(data.data, series)
    np.testing.assert_array_equal(again.prototype_labels_, classifier.prototype_labels_)


def test_the_training_data_are_not_kept():
    X, y = overlapping(5000, d=20)
    classifier = PrototypeClassifier(REPS(50)).fit(X, y)
    model_bytes = len(pickle.dumps(classifier.set_params(selector=None)._prototypes))
    assert model_bytes < 50 * 20 * 8 + 2000


def test_clone_pickle_and_defaults():
    classifier = PrototypeClassifier(REPS(0.2), rule="adjusted")
    assert clone(classifier).get_params()["selector__n_prototypes"] == 0.2
    X, X_test, y, _ = SPLIT
    classifier.fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(classifier)).predict(X_test), classifier.predict(X_test))
    assert isinstance(PrototypeClassifier().fit(X, y).selector_, Refined)
    assert PrototypeClassifier().metric == "auto"


def test_the_users_selector_is_not_fitted():
    selector = REPS(0.2)
    PrototypeClassifier(selector).fit(*SPLIT[::2])
    assert not hasattr(selector, "sample_indices_")


def test_degradations_of_a_selector_without_any_are_learned_for_its_set():
    X, X_test, y, y_test = SPLIT
    nearest = PrototypeClassifier(FCNN(), adapt=False).fit(X, y)
    assert nearest.degradations_ is None
    assert (nearest.explain(X[:2]).degradations == 0).all()
    adjusted = PrototypeClassifier(FCNN(), rule="adjusted").fit(X, y)
    assert adjusted.degradations_.shape == adjusted.sample_indices_.shape
    assert adjusted.score(X_test, y_test) > nearest.score(X_test, y_test) - 0.1


def test_a_second_fit_forgets_the_features_of_the_first():
    frame = pd.DataFrame(X_WINE[:, :2], columns=["a", "b"])
    classifier = PrototypeClassifier(REPS(4)).fit(frame, Y_WINE)
    assert classifier.fit(X_WINE, Y_WINE).n_features_in_ == X_WINE.shape[1]
    assert not hasattr(classifier, "feature_names_in_")
    classifier.fit(frame, Y_WINE).set_params(selector__metric="levenshtein").fit(
        [str(label) for label in Y_WINE], Y_WINE
    )
    assert not hasattr(classifier, "n_features_in_")
    assert not hasattr(classifier.selector_, "n_features_in_")
