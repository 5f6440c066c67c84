"""The cross-validated error of a set: no held-out object takes part in the selection."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from protoset import REPS, NeighborSearch, PrototypeClassifier, Refined
from protoset.adaptation import AdaptSettings
from protoset.adaptation.selected import move_selected
from protoset.exceptions import SearchStoppedWarning
from protoset.models import cross_validated_error
from protoset.models.cross_validation import (
    FOLD_SEED,
    SHORT_REFINEMENT,
    at_size,
    draw_by_content,
    error_of,
    moves_of,
    stratified_folds,
)
from protoset.selectors import FCNN, KMedoids, refined
from protoset.selectors._distinct import TrainingSet
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
        classifier = PrototypeClassifier(copy, rule=rule, adapt=False).fit(X[folds != fold], Y[folds != fold])
        errors.append(np.mean(classifier.predict(X[folds == fold]) != Y[folds == fold]))
    assert measured.error == pytest.approx(np.mean(errors))
    assert measured.standard_error == pytest.approx(np.std(errors, ddof=1) / np.sqrt(5))
    assert measured.n_objects == 150


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "cosine", "cityblock", "gower", "dtw"])
def test_prototypes_of_folds_move_among_the_objects_of_the_other_folds(metric):
    """Held-out objects take no part in the moves, and are classified by the moved prototypes."""
    objects = [np.sin(np.arange(12 + number % 3) * (1 + label)) + X[number, 0] for number, label in enumerate(Y)]
    objects = objects if metric == "dtw" else X
    space, moves = make_space(objects, metric), AdaptSettings(loss="relative", n_passes=5)
    selector = REPS(9).fit(space, Y)
    measured = cross_validated_error(selector, space, Y, moves=moves)
    folds = stratified_folds(Y, draw_by_content(space, Y), 5)
    errors = []
    for fold in range(5):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        part = space.subset(train)
        training, copy = TrainingSet.of(part, Y[train]), REPS(9).fit(part, Y[train])
        moved = part.movable.place(move_selected(part.movable, np.arange(len(train)), training, copy, moves))
        slots, _ = moved.cross([objects[row] for row in test]).nearest()
        errors.append(np.mean(Y[train][copy.sample_indices_[slots]] != Y[test]))
    assert measured.error == pytest.approx(np.mean(errors))


def test_copies_of_an_object_are_one_that_counts_more():
    """An object and its copy in different folds give what a classifier on the other folds gives."""
    twice, labels = make_space(np.vstack([X, X[:40]])), np.concatenate([Y, Y[:40]])
    moves = AdaptSettings(loss="relative", n_passes=5)
    measured = cross_validated_error(REPS(9).fit(twice, labels), twice, labels, moves=moves)
    order = np.random.default_rng(3).permutation(190)
    shuffled = make_space(np.vstack([X, X[:40]])[order])
    again = cross_validated_error(REPS(9).fit(shuffled, labels[order]), shuffled, labels[order], moves=moves)
    assert measured.n_objects == 190
    assert abs(measured.error - again.error) < 0.05


def test_moves_are_those_of_the_classifier():
    """Relevances and lengths of its own, the loss that it chose; none where its prototypes stayed."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:600, X[:600].std(axis=0) > 0], y[:600]
    classifier = PrototypeClassifier(REPS(20), adapt={"relevances": True, "n_passes": 10, "step": 0.2}).fit(X, y)
    moves = moves_of(classifier)
    assert (moves.loss, moves.relevances, moves.n_passes, moves.step) == (classifier.adaptation_.loss, True, 10, 0.2)
    space = make_space(X)
    measured = [cross_validated_error(classifier.selector_, space, y, moves=each).error for each in (None, moves)]
    assert measured[1] < measured[0] - 0.03
    assert moves_of(PrototypeClassifier(REPS(20), adapt=False).fit(X, y)) is None
    stopped = PrototypeClassifier(REPS(20), adapt={"callback": lambda progress: True})
    with pytest.warns(SearchStoppedWarning):
        assert moves_of(stopped.fit(X, y)) is None


def test_sets_that_moved_without_swaps_are_measured_without_swaps(monkeypatch):
    for limit in ("SWAPPED_OBJECTS", "SWAPPED_COSTLY_OBJECTS"):
        monkeypatch.setattr(refined, limit, 10)
    classifier = PrototypeClassifier(Refined(REPS(12))).fit(SPACE, Y)
    assert classifier.selector_.refinement_ is None
    moves = AdaptSettings(n_passes=5)
    measured = cross_validated_error(classifier.selector_, SPACE, Y, moves=moves)
    plain = cross_validated_error(REPS(12).fit(SPACE, Y), SPACE, Y, moves=moves)
    assert (measured.predicted == plain.predicted).all()
    swapped = cross_validated_error(Refined(REPS(12)).fit(SPACE, Y), SPACE, Y, moves=moves)
    assert (measured.predicted != swapped.predicted).any()


def test_objects_that_cannot_move():
    space = make_space(cdist(X, X), "precomputed")
    selector = REPS(9).fit(space, Y)
    with pytest.raises(ValueError, match="cannot move"):
        cross_validated_error(selector, space, Y, moves=AdaptSettings())
    with pytest.raises(ValueError, match="step=-1"):
        cross_validated_error(selector, SPACE, Y, moves=AdaptSettings(step=-1))


@pytest.mark.parametrize("moves", [None, AdaptSettings()], ids=["chosen", "moved"])
def test_labels_without_meaning_are_not_learned(moves):
    """A set that learns its training objects by heart does no better than guessing."""
    labels = np.random.default_rng(0).integers(0, 2, 150)
    selector = FCNN().fit(SPACE, labels)
    assert cross_validated_error(selector, SPACE, labels, moves=moves).error > 0.35


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
        classifier = PrototypeClassifier(FCNN(metric="manhattan"), adapt=False).fit(X[train], Y[train])
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


def test_moved_prototypes_of_many_objects_are_measured_among_many():
    """A sample of 2,000 objects would be too few for the prototypes to move among."""
    many, labels = overlapping(2_600, d=2, seed=2)
    classifier = PrototypeClassifier(Refined(REPS(40))).fit(many, labels)
    measured = error_of(classifier, make_space(many), labels)
    assert measured.how == "held-out objects"
    assert (measured.error, measured.n_objects) == (classifier.calibration_.errors["nearest"], 520)
    uncalibrated = PrototypeClassifier(Refined(REPS(40)), calibrate=False).fit(many, labels)
    assert error_of(uncalibrated, make_space(many), labels).n_objects == 2_000


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
