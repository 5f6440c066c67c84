"""The cross-validated error of a set: no held-out object takes part in the selection."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from protoset import REPS, NeighborSearch, PrototypeClassifier, Refined
from protoset.models import cross_validated_error
from protoset.models.cross_validation import (
    FOLD_SEED,
    SHORT_REFINEMENT,
    at_size,
    draw_by_content,
    stratified_folds,
)
from protoset.selectors import FCNN, KMedoids
from protoset.spaces import make_space

from conftest import overlapping

X, Y = overlapping(150, d=2, seed=1)
SPACE = make_space(X)


@pytest.mark.parametrize(
    ("selector", "copy", "rule"),
    [
        (REPS(12), REPS(12), "nearest"),
        (REPS(12), REPS(12), "adjusted"),
        (REPS(0.1), REPS(0.1), "nearest"),
        (Refined(REPS(12)), Refined(REPS(12), **SHORT_REFINEMENT), "nearest"),
        (Refined(REPS(9), n_starts=2, steepness=20), Refined(REPS(9), n_starts=2, steepness=20), "nearest"),
        (KMedoids(9), KMedoids(9, random_state=FOLD_SEED), "nearest"),
        (FCNN(), FCNN(), "nearest"),
    ],
    ids=["count", "adjusted rule", "rate", "refined", "refined with parameters", "k-medoids", "condensed"],
)
def test_it_is_the_error_of_classifiers_that_were_fitted_on_the_other_folds(selector, copy, rule):
    measured = cross_validated_error(selector.fit(SPACE, Y), SPACE, Y, rule=rule)
    folds = stratified_folds(Y, draw_by_content(SPACE, Y), 5)
    errors = []
    for fold in range(5):
        classifier = PrototypeClassifier(copy, rule=rule).fit(X[folds != fold], Y[folds != fold])
        errors.append(np.mean(classifier.predict(X[folds == fold]) != Y[folds == fold]))
    assert measured.error == pytest.approx(np.mean(errors))
    assert measured.standard_error == pytest.approx(np.std(errors, ddof=1) / np.sqrt(5))
    assert measured.n_objects == 150


def test_labels_without_meaning_are_not_learned():
    """A set that learns its training objects by heart does no better than guessing."""
    labels = np.random.default_rng(0).integers(0, 2, 150)
    selector = FCNN().fit(SPACE, labels)
    assert cross_validated_error(selector, SPACE, labels).error > 0.35


def test_other_dissimilarities_are_computed_once():
    calls = []

    def distance(a, b):
        calls.append(1)
        return float(np.abs(a - b).sum())

    space = make_space(X[:40], distance)
    selector = FCNN().fit(space, Y[:40])
    calls.clear()
    measured = cross_validated_error(selector, space, Y[:40])
    assert len(calls) <= 40 * 40
    folds = stratified_folds(Y[:40], draw_by_content(space, Y[:40]), 5)
    errors = []
    for fold in range(5):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        classifier = PrototypeClassifier(FCNN(metric="manhattan")).fit(X[train], Y[train])
        errors.append(np.mean(classifier.predict(X[test]) != Y[test]))
    assert measured.error == pytest.approx(np.mean(errors))


def test_the_order_of_the_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(150)
    shuffled = make_space(X[order])
    errors = [
        cross_validated_error(REPS(12).fit(space, labels), space, labels).error
        for space, labels in ((SPACE, Y), (shuffled, Y[order]))
    ]
    assert errors[0] == errors[1]


def test_many_objects_are_sampled_and_few_are_enough(monkeypatch):
    monkeypatch.setattr("protoset.models.cross_validation.SAMPLE_OBJECTS", 60)
    assert cross_validated_error(REPS(100).fit(SPACE, Y), SPACE, Y).n_objects == 60
    tiny = make_space(X[:4])
    labels = np.array(["a", "b", "a", "c"])
    measured = cross_validated_error(REPS(3).fit(tiny, labels), tiny, labels)
    assert 0.5 <= measured.error <= 1
    two = make_space(X[:2])
    assert cross_validated_error(REPS(2).fit(two, labels[:2]), two, labels[:2]).error == 1


def test_unknown_distances_are_errors():
    distances = cdist(X, X)
    order = np.argsort(distances, axis=1)[:, :8]
    graph = np.zeros_like(distances)
    np.put_along_axis(graph, order, np.take_along_axis(distances, order, axis=1), axis=1)
    space = make_space(sparse.csr_matrix(graph), "precomputed")
    measured = cross_validated_error(REPS(12).fit(space, Y), space, Y)
    assert 0 < measured.error <= 1


def test_the_method_at_another_size(tmp_path):
    selector = REPS(12, search=NeighborSearch(folder=tmp_path, n_neighbors=5), solver="distributed", verbose=1)
    copy = at_size(selector, 7)
    assert (copy.n_prototypes, copy.solver, copy.verbose) == (7, "auto", 0)
    assert (copy.search.folder, copy.search.n_neighbors) == (None, 5)
    refined = at_size(Refined(REPS(), max_objects=70, callback=print).fit(SPACE, Y), 7)
    assert (refined.selector.n_prototypes, refined.max_objects, refined.callback) == (7, 70, None)
    assert (selector.n_prototypes, selector.verbose) == (12, 1)
    assert at_size(KMedoids(0.1, random_state=3), 7).get_params() == KMedoids(0.1, random_state=3).get_params()
