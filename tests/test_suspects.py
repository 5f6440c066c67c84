"""Suspected label errors: flipped labels are found, and nothing but content decides."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import KMeans
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import protoset
from protoset import REPS, PrototypeClassifier, Refined, suspects
from protoset._suspects import LEAST_ODDS, most_probable_others
from protoset.selectors import ENN, KMedoids
from protoset.spaces import make_space

from conftest import overlapping

seeds = st.integers(0, 2**32 - 1)
STILL = PrototypeClassifier(REPS(12), adapt=False)
"""Prototypes that stay, so that distances are all that matters."""


def separated(n=90, seed=0, n_classes=3):
    """Classes far from each other."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return 10.0 * np.eye(n_classes)[y] + rng.normal(size=(n, n_classes)), y


def flipped(y, rows, n_classes=3):
    wrong = y.copy()
    wrong[rows] = (y[rows] + 1) % n_classes
    return wrong


def drawn_rows(n, n_rows, seed):
    return np.sort(np.random.default_rng(seed).choice(n, n_rows, replace=False))


@settings(max_examples=8)
@given(seed=seeds, n_flipped=st.integers(0, 6))
def test_flipped_labels_are_found_and_nothing_else(seed, n_flipped):
    X, y = separated(seed=seed)
    rows = drawn_rows(len(y), n_flipped, seed)
    found = suspects(X, flipped(y, rows), PrototypeClassifier(adapt=False))
    assert sorted(found.indices) == rows.tolist()
    np.testing.assert_array_equal(found.suggested, y[found.indices])
    np.testing.assert_array_equal(found.given, flipped(y, rows)[found.indices])


def test_a_wrong_label_among_the_prototypes_casts_doubt_on_its_neighbours():
    """A fixed size may keep an error as a prototype; it is the evidence then, and a worse suspect itself."""
    X, y = separated(seed=1723)
    rows = drawn_rows(len(y), 4, 1723)
    found = suspects(X, flipped(y, rows), STILL)
    assert sorted(found.indices[:4]) == rows.tolist()
    assert len(found) > 4
    assert np.isin(found.evidence[4:, 0], rows).all()


def test_the_default_classifier_finds_flipped_labels():
    X, y = separated()
    rows = np.array([3, 40, 77])
    assert sorted(suspects(X, flipped(y, rows)).indices) == rows.tolist()


@pytest.mark.parametrize("classifier", [None, STILL, PrototypeClassifier(KMedoids(12)), PrototypeClassifier(ENN())])
def test_the_result_is_consistent(classifier):
    X, y = overlapping(120)
    found = suspects(X, y, classifier)
    assert len(found) == len(found.indices) > 0
    np.testing.assert_array_equal(found.given, y[found.indices])
    assert (found.given != found.suggested).all()
    assert (found.odds >= LEAST_ODDS).all()
    assert (np.diff(found.odds) <= 0).all()
    np.testing.assert_array_equal(found.odds, found.probabilities / found.self_confidence)
    np.testing.assert_array_equal(found.odds, found.all_odds[found.indices])
    assert (found.all_odds >= LEAST_ODDS).sum() == len(found)
    assert found.all_odds.shape == y.shape
    assert found.classes.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.all_probabilities.sum(axis=1), 1)
    columns = np.searchsorted(found.classes, found.suggested)
    np.testing.assert_array_equal(found.all_probabilities[found.indices, columns], found.probabilities)


def test_the_evidence_is_real_and_does_not_know_the_suspect():
    X, y = overlapping(120)
    found = suspects(X, y, STILL, n_evidence=4)
    assert found.evidence.shape == (len(found), 4)
    np.testing.assert_array_equal(found.evidence_labels, y[found.evidence])
    np.testing.assert_array_equal(found.evidence_labels[:, 0], found.suggested)
    assert (found.evidence != found.indices[:, None]).all()
    expected = np.linalg.norm(X[found.evidence] - X[found.indices][:, None], axis=2)
    np.testing.assert_allclose(found.evidence_distances, expected)
    assert (np.diff(found.evidence_distances, axis=1) >= 0).all()


def test_there_is_at_most_as_much_evidence_as_prototypes():
    X, y = separated()
    y = flipped(y, [5])
    found = suspects(X, y, PrototypeClassifier(REPS(4), adapt=False), n_evidence=10)
    assert found.evidence.shape == (1, 4)


def test_no_suspects_are_an_empty_result():
    found = suspects(*separated(), STILL)
    assert len(found) == 0
    assert found.evidence.shape == (0, 3)
    assert found.suggested.dtype == found.given.dtype == np.arange(1).dtype


@pytest.mark.slow
@settings(max_examples=6)
@given(seed=seeds)
def test_the_order_of_rows_changes_nothing(seed):
    X, y = overlapping(80, seed=seed % 1000)
    rows = np.random.default_rng(seed).permutation(len(y))
    found, other = suspects(X, y), suspects(X[rows], y[rows])
    np.testing.assert_array_equal(rows[other.indices], found.indices)
    np.testing.assert_array_equal(other.odds, found.odds)
    np.testing.assert_array_equal(rows[other.evidence], found.evidence)


def test_the_order_of_rows_changes_nothing_in_a_matrix_or_a_pipeline():
    X, y = overlapping(80)
    rows = np.random.default_rng(0).permutation(len(y))
    D = cdist(X, X)
    in_matrix = PrototypeClassifier(REPS(12, metric="precomputed"))
    found, other = suspects(D, y, in_matrix), suspects(D[np.ix_(rows, rows)], y[rows], in_matrix)
    np.testing.assert_array_equal(rows[other.indices], found.indices)
    in_pipeline = make_pipeline(MinMaxScaler(), STILL)
    found, other = suspects(X, y, in_pipeline), suspects(X[rows], y[rows], in_pipeline)
    np.testing.assert_array_equal(rows[other.indices], found.indices)


def test_identical_objects_count_alike_in_every_order():
    X, y = overlapping(60)
    X, y = np.round(np.concatenate([X, X])), np.concatenate([y, y])
    rows = np.random.default_rng(0).permutation(len(y))
    found, other = suspects(X, y, STILL), suspects(X[rows], y[rows], STILL)
    np.testing.assert_array_equal(other.odds, found.odds)


@pytest.mark.slow
@settings(max_examples=6)
@given(seed=seeds)
def test_a_matrix_of_the_same_distances_gives_the_same_suspects(seed):
    X, y = separated(seed=seed)
    y = flipped(y, drawn_rows(len(y), 4, seed))
    D = make_space(X).block(slice(None), slice(None))
    in_matrix = PrototypeClassifier(Refined(REPS(metric="precomputed")))
    found = suspects(D, y, in_matrix)
    assert sorted(found.indices) == sorted(suspects(X, y, PrototypeClassifier(adapt=False)).indices)
    for other in (pd.DataFrame(D), pdist(X)):
        np.testing.assert_array_equal(suspects(other, y, in_matrix).indices, found.indices)


@pytest.mark.slow
def test_the_result_is_deterministic_and_does_not_depend_on_jobs():
    X, y = overlapping(100)
    found = suspects(X, y, random_state=3)
    for n_jobs in (None, 2):
        other = suspects(X, y, random_state=3, n_jobs=n_jobs)
        for name in vars(found):
            np.testing.assert_array_equal(getattr(found, name), getattr(other, name))
    np.testing.assert_array_equal(suspects(X, y).all_odds, suspects(X, y).all_odds)
    by_state = suspects(X, y, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(by_state.all_odds, found.all_odds)


def test_the_folds_depend_on_the_seed():
    X, y = overlapping(100)
    assert (suspects(X, y, STILL, random_state=1).all_odds != suspects(X, y, STILL).all_odds).any()


def test_the_classifier_is_not_changed():
    X, y = overlapping(60)
    classifier = PrototypeClassifier(REPS(9))
    suspects(X, y, classifier)
    assert not hasattr(classifier, "classes_")


def test_objects_of_weight_0_are_left_out():
    X, y = overlapping(100)
    weights = np.ones(100)
    weights[::7] = 0
    rows = np.flatnonzero(weights)
    found, alone = suspects(X, y, STILL, sample_weight=weights), suspects(X[rows], y[rows], STILL)
    np.testing.assert_array_equal(found.indices, rows[alone.indices])
    np.testing.assert_array_equal(found.odds, alone.odds)
    np.testing.assert_array_equal(np.isnan(found.all_odds), weights == 0)


def test_weights_reach_the_classifier_of_a_pipeline():
    X, y = overlapping(100)
    weights = np.random.default_rng(0).integers(1, 4, 100)
    found = suspects(X, y, make_pipeline("passthrough", STILL), sample_weight=weights)
    expected = suspects(X, y, STILL, sample_weight=weights)
    np.testing.assert_array_equal(found.all_odds, expected.all_odds)
    assert (expected.all_odds != suspects(X, y, STILL).all_odds).any()


@pytest.mark.slow
def test_small_classes_do_not_fail():
    """A class of two is judged; the only member of a class is not, and all others know it."""
    X, y = separated(62, n_classes=2)
    X = np.vstack([X, [[30, 30], [31, 30], [-30, -30]]])
    y = np.append(y, [2, 2, 3])
    y[4] = 1 - y[4]
    found = suspects(X, y, STILL)
    assert found.indices.tolist() == [4]
    assert np.flatnonzero(np.isnan(found.all_odds)).tolist() == [64]
    assert sorted(suspects(X, y, STILL, n_folds=70).indices) == [4]


def words(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return ["".join(rng.choice(list("abc" if label else "xyz"), 6)) for label in y], y


def test_strings_series_and_labels_of_text():
    texts, y = words()
    named = np.array(["left", "right"])[flipped(y, [10], 2)]
    for X in (texts, np.array(texts), [list(text) for text in texts]):
        found = suspects(X, named, PrototypeClassifier(REPS(8, metric="levenshtein")))
        assert found.indices.tolist() == [10]
        assert (found.given[0], found.suggested[0]) == ("right", "left")
    rng = np.random.default_rng(0)
    series = [
        np.sin((1 + label) * np.arange(20 + i % 3) / 3) + 0.1 * rng.normal(size=20 + i % 3) for i, label in enumerate(y)
    ]
    found = suspects(series, named, PrototypeClassifier(REPS(8, metric="dtw")))
    assert found.indices.tolist() == [10]


def test_frames_of_mixed_columns_and_sparse_rows():
    X, y = separated(n_classes=2)
    y = flipped(y, [12], 2)
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(len(y)) + 500)
    frame["colour"] = np.where(X[:, 0] > 5, "red", "blue")
    for table in (frame, pl.from_pandas(frame)):
        assert suspects(table, pd.Series(y), PrototypeClassifier(REPS(8))).indices.tolist() == [12]
    counts = sparse.csr_matrix(np.round(np.abs(X)))
    assert suspects(counts, y, PrototypeClassifier(REPS(8, metric="cosine"))).indices.tolist() == [12]


def test_a_function_as_metric():
    X, y = separated(60)
    y = flipped(y, [12])
    found = suspects(X, y, PrototypeClassifier(REPS(8, metric=lambda a, b: float(np.abs(a - b).sum()))))
    assert found.indices.tolist() == [12]


def test_the_steps_of_a_pipeline_are_fitted_without_the_fold():
    X, y = separated()
    y = flipped(y, [12])
    X[5, 0] = np.nan
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), STILL)
    assert suspects(X, y, pipeline).indices.tolist() == [12]
    clean, labels = overlapping(80)
    alone = suspects(clean, labels, make_pipeline(STILL))
    np.testing.assert_array_equal(alone.all_odds, suspects(clean, labels, STILL).all_odds)


def test_odds_by_hand():
    probabilities = np.array([[0.8, 0.1, 0.1], [0.1, 0.4, 0.5], [0.0, 0.75, 0.25], [0.2, 0.2, 0.6]])
    others, odds = most_probable_others(probabilities, np.array([0, 0, 0, 2]))
    assert others.tolist() == [1, 2, 1, 0]
    np.testing.assert_allclose(odds, [1 / 8, 5, np.inf, 1 / 3])


X_BAD, Y_BAD = overlapping(60)
BAD = [
    ({"n_folds": 1}, ValueError, "n_folds=1 must be a whole number of at least 2; 5 is usual"),
    ({"n_folds": 2.5}, ValueError, "n_folds=2.5 must be"),
    ({"n_evidence": 0}, ValueError, "n_evidence=0 must be a whole number of at least 1"),
    ({"n_jobs": 0}, ValueError, "n_jobs=0 must be"),
    ({"random_state": "seed"}, ValueError, "random_state='seed' must be"),
    ({"y": Y_BAD[:50]}, ValueError, "y has 50 labels for 60 objects in X"),
    ({"y": np.arange(60)}, ValueError, "y has 60 classes of one object each.*pass classes of several objects"),
    ({"y": np.zeros(60)}, ValueError, "y has only 1 class"),
    ({"y": None}, ValueError, "target y is None"),
    ({"sample_weight": [1, 2]}, ValueError, r"sample_weight=\[1, 2\] has the shape"),
    ({"sample_weight": (Y_BAD == 0).astype(float)}, ValueError, "y has only 1 class"),
    (
        {"classifier": LogisticRegression()},
        TypeError,
        r"classifier=LogisticRegression\(\) is neither.*pass for example",
    ),
    ({"classifier": make_pipeline(StandardScaler(), KMeans())}, TypeError, "a Pipeline that ends with one"),
    ({"classifier": PrototypeClassifier}, TypeError, "is neither a PrototypeClassifier nor"),
    ({"classifier": PrototypeClassifier(calibrate=False)}, ValueError, "calibrate=False.*calibrate='auto'"),
    ({"classifier": PrototypeClassifier("REPS")}, TypeError, "selector='REPS' is not a protoset selector"),
    ({"classifier": PrototypeClassifier(KMedoids(9)), "sample_weight": np.ones(60)}, ValueError, "works with REPS and"),
    ({"X": make_space(X_BAD)}, TypeError, "X has the type VectorSpace.*pass the objects themselves"),
    (
        {
            "X": kneighbors_graph(X_BAD, 10, mode="distance"),
            "classifier": PrototypeClassifier(REPS(metric="precomputed")),
        },
        ValueError,
        "X is a sparse graph of 60 objects.*pass a dense matrix",
    ),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD, ids=[case[2][:30] for case in BAD])
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        suspects(**{"X": X_BAD, "y": Y_BAD, "classifier": STILL} | arguments)


def test_a_dask_collection_is_refused():
    array = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=r"X has the type Array.*X.compute\(\)"):
        suspects(array.from_array(X_BAD), Y_BAD)


def test_the_function_keeps_its_name():
    """A module of the same name would take its place at import."""
    assert protoset.Suspects is type(suspects(X_BAD, Y_BAD, PrototypeClassifier(Refined(REPS(9)))))
    assert callable(protoset.suspects)
