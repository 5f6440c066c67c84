"""Properties of REPS."""

import itertools
import logging
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.preprocessing import StandardScaler

from protoset import REPS, NeighborSearch, PrototypeClassifier, Refined
from protoset.features import rank_exponential
from protoset.neighbors import build_lists
from protoset.selectors import rank_prototypes, size
from protoset.selectors._distinct import DistinctObjects
from protoset.spaces import make_space

from conftest import labelled_vectors, overlapping

X_WINE, Y_WINE = load_wine(return_X_y=True)
X_WINE = StandardScaler().fit_transform(X_WINE)


def assert_same_fit(a, b, rtol=1e-3):
    """Two fits agree: the same sets, and weights within the precision of the solver."""
    np.testing.assert_array_equal(a.sample_indices_, b.sample_indices_)
    np.testing.assert_allclose(a.weights_, b.weights_, atol=rtol * a.weights_.max())


def support_of(X, y):
    """Sum of everyone's features of each object."""
    features = rank_exponential(build_lists(make_space(X), 53), y).features
    return np.round(np.asarray(features.sum(axis=0)).ravel(), 6)


def precise(**parameters):
    return REPS(**({"n_prototypes": 0.2} | parameters))


def check_equal_up_to_ties(selector, other):
    """Objects with equal scores and supports may come in another order: a matrix does not know their contents."""
    largest = selector.weights_.max()
    np.testing.assert_allclose(other.weights_, selector.weights_, atol=1e-6 * largest, rtol=1e-6)
    np.testing.assert_allclose(other.scores_[other.ranking_], selector.scores_[selector.ranking_], atol=1e-5, rtol=1e-6)


@given(labelled_vectors())
def test_precomputed_equals_the_named_metric(data):
    X, y = data
    named = precise().fit(X, y)
    given_matrix = precise(metric="precomputed").fit(make_space(X).block(slice(None), slice(None)), y)
    check_equal_up_to_ties(named, given_matrix)


@given(labelled_vectors(tied=True), st.sampled_from([np.sqrt, np.square, np.log1p, lambda d: 3 * d + np.sign(d)]))
def test_an_increasing_transform_of_the_dissimilarities_changes_nothing(data, transform):
    X, y = data
    matrix = cdist(X, X)
    plain = precise(metric="precomputed").fit(matrix, y)
    transformed = precise(metric="precomputed").fit(transform(matrix), y)
    check_equal_up_to_ties(plain, transformed)


@pytest.mark.parametrize("ties", ["min", "average"])
@pytest.mark.parametrize("loss_C", [("mean", 1e-3), ("sum", 1.0)])
@given(data=labelled_vectors(tied=True), seed=st.integers(0, 999))
def test_permuting_the_rows_permutes_the_answer(ties, loss_C, data, seed):
    X, y = data
    order = np.random.default_rng(seed).permutation(len(X))
    loss, C = loss_C
    straight = precise(ties=ties, loss=loss, C=C).fit(X, y)
    permuted = precise(ties=ties, loss=loss, C=C).fit(X[order], y[order])
    largest = straight.weights_.max()
    np.testing.assert_allclose(permuted.weights_, straight.weights_[order], atol=1e-4 * largest)


@given(data=labelled_vectors(), seed=st.integers(0, 999))
def test_permuting_the_rows_permutes_the_ranking(data, seed):
    """Where no two objects are alike. Mirror images on a line are, so there are two dimensions at least."""
    X, y = data
    X = np.column_stack([X, X[:, 0] ** 2])
    order = np.random.default_rng(seed).permutation(len(X))
    straight, permuted = REPS(0.2).fit(X, y), REPS(0.2).fit(X[order], y[order])
    scores, support = np.round(straight.scores_, 6), support_of(X, y)
    alike = len({*zip(scores, support, strict=True)}) < len(X)
    if not alike:
        np.testing.assert_array_equal(order[permuted.ranking_], straight.ranking_)


def test_permuting_the_rows_permutes_the_prototypes():
    order = np.random.default_rng(0).permutation(len(X_WINE))
    straight, permuted = REPS(0.2).fit(X_WINE, Y_WINE), REPS(0.2).fit(X_WINE[order], Y_WINE[order])
    assert set(order[permuted.sample_indices_]) == set(straight.sample_indices_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_n_jobs_changes_nothing(n_jobs):
    for X, metric in ((X_WINE, "euclidean"), (cdist(X_WINE, X_WINE), "precomputed")):
        a = REPS(metric=metric).fit(X, Y_WINE)
        b = REPS(metric=metric, n_jobs=n_jobs).fit(X, Y_WINE)
        np.testing.assert_array_equal(a.weights_, b.weights_)
        np.testing.assert_array_equal(a.sample_indices_, b.sample_indices_)
        np.testing.assert_array_equal(a.size_curve_.errors, b.size_curve_.errors)


def test_float32_and_float64_agree():
    single = X_WINE.astype(np.float32)
    a, b = REPS(0.2).fit(single, Y_WINE), REPS(0.2).fit(single.astype(np.float64), Y_WINE)
    np.testing.assert_array_equal(a.weights_, b.weights_)
    np.testing.assert_array_equal(a.ranking_, b.ranking_)
    matrix = cdist(X_WINE, X_WINE).astype(np.float32)
    a = REPS(0.2, metric="precomputed").fit(matrix, Y_WINE)
    b = REPS(0.2, metric="precomputed").fit(matrix.astype(np.float64), Y_WINE)
    np.testing.assert_array_equal(a.weights_, b.weights_)


def test_the_truncated_fit_equals_the_untruncated_one():
    X = np.random.default_rng(3).normal(size=(400, 3))
    y = np.arange(400) % 3
    for C, precision in ((1e-6, 1e-12), (1e4, 1e-4)):  # in closed form, and as precisely as the solver goes
        cut_lists, whole = REPS(0.1, C=C).fit(X, y), REPS(0.1, C=C, search=NeighborSearch(n_neighbors=399)).fit(X, y)
        assert (whole.solver_ == "closed_form") == (C < 1)
        assert 0 < cut_lists.truncation_bound_ < 1e-12 * C
        assert whole.truncation_bound_ == 0
        np.testing.assert_allclose(cut_lists.weights_, whole.weights_, atol=precision * whole.weights_.max())
        np.testing.assert_array_equal(cut_lists.ranking_, whole.ranking_)


@given(labelled_vectors(tied=True), st.sampled_from([("mean", 1e-3), ("mean", 10.0), ("sum", 1.0)]))
def test_what_the_attributes_say(data, loss_C):
    X, y = data
    loss, C = loss_C
    selector = REPS(0.3, loss=loss, C=C).fit(X, y)
    n = len(X)
    assert (selector.weights_ >= 0).all()
    largest = selector.weights_.max()
    if largest > 0:
        positive = selector.weights_ > 0
        np.testing.assert_allclose(2.0 ** -selector.degradations_[positive], selector.weights_[positive] / largest)
        assert np.isinf(selector.degradations_[~positive]).all()
        assert selector.degradations_.min() == 0
    assert sorted(selector.ranking_) == list(range(n))
    ordered = np.round(selector.scores_[selector.ranking_], 6)
    assert all(a <= b for a, b in itertools.pairwise(ordered))
    assert selector.duality_gap_ <= 1e-6
    assert set(y[selector.sample_indices_]) == set(y)
    n_distinct = len(np.unique(np.column_stack([X, y]), axis=0))
    for k in range(len(np.unique(y)), n + 1):
        assert len(selector.select(k)) == min(k, n_distinct)


def test_every_budget_is_a_cut_of_one_fit():
    fitted = REPS().fit(X_WINE, Y_WINE)
    for budget in (3, 0.05, 0.3, 100, 1.0):
        for allocation in ("proportional", "equal", "global"):
            direct = REPS(budget, allocation=allocation).fit(X_WINE, Y_WINE)
            np.testing.assert_array_equal(fitted.select(budget, allocation=allocation), direct.sample_indices_)
    np.testing.assert_array_equal(fitted.select(), fitted.sample_indices_)


def test_the_functional_core_is_the_method():
    lists = build_lists(make_space(X_WINE), 53)
    ranked = rank_prototypes(lists, Y_WINE, order=make_space(X_WINE).identical())
    fitted = REPS(0.1).fit(X_WINE, Y_WINE)
    np.testing.assert_array_equal(ranked.ranking, fitted.ranking_)
    np.testing.assert_array_equal(ranked.weights, fitted.weights_)


def test_tied_scores_are_ordered_by_support():
    """With every weight at 0 all scores are best ranks; the hub comes before those with a lower index."""
    X = np.array([[0.0, 0], [1, 0.1], [-1, 0.2], [0.1, 1], [100, 0], [101, 0.1], [99, 0.2], [100, 1]])[
        [1, 2, 3, 0, 5, 6, 7, 4]
    ]
    y = np.repeat([0, 1], 4)
    selector = REPS(2, search=NeighborSearch(n_neighbors=3)).fit(X, y)
    assert selector.weights_.max() == 0
    assert selector.sample_indices_.tolist() == [3, 7]
    assert np.isinf(REPS(2, search=NeighborSearch(n_neighbors=1)).fit(X, y).scores_).any()  # nobody's nearest neighbour


def test_weights_that_are_not_proved_are_named():
    """The master problem of the cutting planes has digits for the objective, not for weights of a millionth of it."""
    with pytest.warns(
        ConvergenceWarning, match="'cutting_plane' guarantees the weights only up to a relative error of"
    ):
        selector = REPS(0.2, solver="cutting_plane").fit(X_WINE, Y_WINE)
    assert selector.duality_gap_ <= 1e-6
    assert selector.weight_error_ > 1e-3
    assert REPS(0.2).fit(X_WINE, Y_WINE).weight_error_ <= 1e-6


@pytest.mark.parametrize(
    ("solver", "loss", "C"),
    [
        *itertools.product(["coordinate", "lbfgs"], ["mean"], [1e-6, 1e-3]),
        *itertools.product(["coordinate", "lbfgs", "cutting_plane"], ["sum"], [1.0]),
    ],
)
def test_solvers_keep_the_same_prototypes(solver, loss, C):
    assert_same_fit(
        REPS(0.2, loss=loss, C=C, solver=solver).fit(X_WINE, Y_WINE),
        REPS(0.2, loss=loss, C=C).fit(X_WINE, Y_WINE),
    )


def test_ready_made_neighbours():
    expected = REPS(0.2).fit(X_WINE, Y_WINE)
    distances, indices = NearestNeighbors(n_neighbors=53).fit(X_WINE).kneighbors()
    graph = kneighbors_graph(X_WINE, 53, mode="distance")
    for neighbors in ((indices, distances), graph, build_lists(make_space(X_WINE), 53)):
        assert_same_fit(REPS(0.2).fit(X_WINE, Y_WINE, lists=neighbors), expected)
    assert_same_fit(REPS(0.2, metric="precomputed").fit(graph, Y_WINE), expected)
    assert_same_fit(REPS(0.2, metric="precomputed").fit(sparse.csr_array(graph), Y_WINE), expected)


def test_an_asymmetric_dissimilarity_is_read_from_object_to_prototype():
    rng = np.random.default_rng(0)
    matrix, y = rng.random((40, 40)), rng.integers(0, 2, 40)
    a = REPS(0.3, metric="precomputed").fit(matrix, y)
    b = REPS(0.3, metric="precomputed").fit(matrix.T, y)
    assert not np.allclose(a.weights_, b.weights_)


# fit_resample


def test_resampling_keeps_frames_and_their_index():
    data = load_iris(as_frame=True)
    frame = data.data.set_index(pd.Index([f"flower {i}" for i in range(150)]))
    labels = pd.Series(data.target_names[data.target], index=frame.index, name="species")
    selector = REPS(0.1)
    X, y = selector.fit_resample(frame, labels)
    pd.testing.assert_frame_equal(X, frame.iloc[selector.sample_indices_])
    pd.testing.assert_series_equal(y, labels.iloc[selector.sample_indices_])
    assert selector.feature_names_in_.tolist() == frame.columns.tolist()


def test_resampling_arrays_lists_and_matrices():
    selector = REPS(0.1)
    X, y = selector.fit_resample(X_WINE, Y_WINE)
    kept = selector.sample_indices_
    np.testing.assert_array_equal(X, X_WINE[kept])
    np.testing.assert_array_equal(y, Y_WINE[kept])
    X, y = selector.fit_resample(X_WINE.tolist(), Y_WINE.tolist())
    np.testing.assert_array_equal(X, X_WINE[kept])
    np.testing.assert_array_equal(y, Y_WINE[kept])
    matrix = squareform(pdist(X_WINE))
    selector = REPS(0.1, metric="precomputed")
    X, _ = selector.fit_resample(matrix, Y_WINE)
    np.testing.assert_array_equal(X, matrix[np.ix_(kept, kept)])
    X, _ = selector.fit_resample(squareform(matrix), Y_WINE)
    np.testing.assert_allclose(X, squareform(matrix[np.ix_(kept, kept)]))
    X, _ = selector.fit_resample(sparse.csr_matrix(matrix), Y_WINE)
    np.testing.assert_array_equal(X.toarray(), matrix[np.ix_(kept, kept)])


# the automatic size


def test_the_automatic_size_is_the_smallest_within_one_standard_error():
    selector = REPS().fit(X_WINE, Y_WINE)
    curve = selector.size_curve_
    threshold = curve.errors[curve.best] + curve.standard_errors[curve.best]
    assert curve.errors[curve.best] == curve.errors.min()
    assert curve.errors[curve.chosen] <= threshold
    assert (curve.errors[: curve.chosen] > threshold).all()
    assert len(selector.sample_indices_) == curve.sizes[curve.chosen]
    assert (np.diff(curve.sizes) > 0).all()
    assert REPS(5).fit(X_WINE, Y_WINE).size_curve_ is None


def test_the_size_curve_is_the_error_of_refitting_on_each_fold():
    """The cheap curve, from filtered lists, against fits from scratch on every training part."""
    X, y = overlapping(200, seed=5)
    curve = REPS().fit(X, y).size_curve_
    folds = np.empty(200, int)
    folds[np.lexsort((*X.T[::-1], y))] = np.arange(200) % 5  # class by class, by the values of the objects
    for rate, error in zip(curve.rates, curve.errors, strict=True):
        fold_errors = []
        for fold in range(5):
            train, test = folds != fold, folds == fold
            kept = REPS(float(rate)).fit(X[train], y[train]).sample_indices_
            nearest = cdist(X[test], X[train][kept]).argmin(axis=1)
            fold_errors.append(np.mean(y[train][kept][nearest] != y[test]))
        assert error == pytest.approx(np.mean(fold_errors), abs=1e-12)


def test_folds_are_stratified_and_seeded():
    codes = np.repeat([0, 1, 2], [50, 23, 2])
    for state in (None, np.random.RandomState(0)):
        folds = size.deal_copies(DistinctObjects.once_each(codes), 5, state).argmax(axis=0)
        for code in range(3):
            counts = np.bincount(folds[codes == code], minlength=5)
            assert counts.max() - counts.min() <= 1
    a = REPS(random_state=0).fit(X_WINE, Y_WINE).size_curve_
    b = REPS(random_state=0).fit(X_WINE, Y_WINE).size_curve_
    c = REPS(random_state=1).fit(X_WINE, Y_WINE).size_curve_
    np.testing.assert_array_equal(a.errors, b.errors)
    assert not np.array_equal(a.errors, c.errors)


# input that is unusual but right


def test_all_distances_equal():
    y = np.arange(30) % 3
    for X, metric in ((np.ones((30, 2)), "euclidean"), (np.ones((30, 30)) - np.eye(30), "precomputed")):
        for n_prototypes in ("auto", 6):
            selector = REPS(n_prototypes, metric=metric).fit(X, y)
            assert set(y[selector.sample_indices_]) == {0, 1, 2}
            assert np.ptp(selector.weights_) <= 1e-12


def test_duplicates_with_different_labels():
    X, y = overlapping(40)
    selector = REPS(0.3).fit(np.concatenate([X, X]), np.concatenate([y, (y + 1) % 3]))
    assert len(selector.sample_indices_) == 24


def test_a_class_with_one_member_keeps_it():
    y = Y_WINE.copy()
    y[7] = 9
    for n_prototypes in ("auto", 0.02, 4):
        assert 7 in REPS(n_prototypes).fit(X_WINE, y).sample_indices_


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("n_prototypes", ["auto", 2, 1.0])
def test_tiny_training_sets(n, n_prototypes):
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    assert set(y[REPS(n_prototypes).fit(X, y).sample_indices_]) == {0, 1}


def test_fewer_objects_than_neighbours():
    selector = REPS(4, search=NeighborSearch(n_neighbors=1000)).fit(X_WINE[::20], Y_WINE[::20])
    assert selector.truncation_bound_ == 0


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["setosa", "versicolor", "virginica"])[Y_WINE],
        np.array(["setosa", "versicolor", "virginica"], dtype=object)[Y_WINE],
        Y_WINE > 0,
        Y_WINE.astype(float),
        Y_WINE.astype(np.uint8),
        [str(label) for label in Y_WINE],
        pd.Series(Y_WINE, index=np.arange(178)[::-1]),
        pd.Categorical.from_codes(Y_WINE, ["a", "b", "c"]),
    ],
    ids=["str", "object", "bool", "float", "uint8", "list", "series", "categorical"],
)
def test_labels_of_every_kind(labels):
    selector = REPS(0.1).fit(X_WINE, labels)
    values = np.asarray(labels)
    np.testing.assert_array_equal(selector.classes_, np.unique(values))
    assert set(values[selector.sample_indices_]) == set(np.unique(values))


def test_beta_near_one_uses_the_whole_lists():
    selector = REPS(0.1, beta=1.0001).fit(X_WINE, Y_WINE)
    assert selector.truncation_bound_ == 0
    assert REPS(0.1, beta=50.0).fit(X_WINE, Y_WINE).duality_gap_ <= 1e-6


def test_clone_and_pickle():
    selector = REPS(0.2, beta=3.0, metric="precomputed")
    assert clone(selector).get_params() == selector.get_params()
    fitted = REPS(0.2).fit(X_WINE, Y_WINE)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).select(9), fitted.select(9))


def test_verbose_shows_the_stages(capsys, caplog):
    with caplog.at_level(logging.INFO, logger="protoset"):
        REPS().fit(X_WINE, Y_WINE)
    stages = [record.getMessage() for record in caplog.records]
    assert [stage.split()[0] for stage in stages] == [
        "metric='auto'",
        "the",
        "searching",
        "solving",
        "measuring",
        "kept",
    ]
    assert stages[1].startswith("the fit needs about ")
    assert stages[2] == "searching 53 neighbours of 178 objects"
    assert capsys.readouterr().err == ""
    REPS(verbose=1).fit(X_WINE, Y_WINE)
    assert capsys.readouterr().err.splitlines() == [f"[protoset] {stage}" for stage in stages]


@pytest.mark.parametrize("sizes", [(53, 53), (40, 40), (52, 54), (20, 200)])
@pytest.mark.parametrize("n_neighbors", ["auto", 10_000])
@pytest.mark.parametrize(("loss", "C"), [("mean", 1e-3), ("sum", 1.0)])
def test_separated_classes_are_solved_too(sizes, n_neighbors, loss, C):
    """Thresholds of 2^-40 and less; a ConvergenceWarning would be an error here."""
    X, y = make_blobs(sizes, centers=[[0, 0], [20, 0]], random_state=0)
    selector = REPS(4, loss=loss, C=C, search=NeighborSearch(n_neighbors=n_neighbors)).fit(X, y)
    assert selector.duality_gap_ <= 1e-6
    assert 0 < selector.weights_.max() < 1e-5
    assert PrototypeClassifier(REPS(4, search=NeighborSearch(n_neighbors=n_neighbors))).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize("solver", ["coordinate", "lbfgs"])
def test_what_is_kept_of_a_class_far_away_depends_on_neither_solver_nor_row_order(solver):
    """Setosa's weights are 10^10 times smaller than the others': no solver tells them apart."""
    X, y = load_iris(return_X_y=True)
    X += np.random.default_rng(0).normal(scale=1e-6, size=X.shape)  # without duplicates, which row order decides
    kept = REPS(15).fit(X, y).sample_indices_
    order = np.random.default_rng(1).permutation(len(y))
    again = REPS(15, solver=solver).fit(X[order], y[order])
    np.testing.assert_array_equal(np.sort(order[again.sample_indices_]), kept)


def test_scores_that_differ_by_rounding_errors_are_tied():
    """On a symmetric grid the support decides, so that mirrored rows keep the mirrored objects."""
    grid = np.array([[a, b] for a in range(7) for b in range(7)], float)
    y = (grid[:, 0] + grid[:, 1] >= 6).astype(int)
    selector = REPS(0.3).fit(grid, y)
    rounded = np.round(selector.scores_, 6)
    position = np.empty(len(y), int)
    position[selector.ranking_] = np.arange(len(y))
    assert (np.diff(rounded[selector.ranking_][np.isfinite(rounded[selector.ranking_])]) >= 0).all()
    mirrored = REPS(0.3).fit(grid[:, ::-1], y)
    np.testing.assert_array_equal(grid[mirrored.ranking_][:, ::-1], grid[selector.ranking_])


def test_fit_resample_takes_every_sparse_format():
    graph = kneighbors_graph(X_WINE, 20, mode="distance")
    expected, _ = REPS(20, metric="precomputed").fit_resample(graph, Y_WINE)
    for kind in ("coo", "csc", "lil"):
        found, _ = REPS(20, metric="precomputed").fit_resample(graph.asformat(kind), Y_WINE)
        np.testing.assert_array_equal(found.toarray(), expected.toarray())


def test_lists_that_do_not_fit_in_memory_are_named(monkeypatch):
    monkeypatch.setattr("protoset.neighbors.search.TIED_LISTS_BYTES", 0)
    with pytest.warns(UserWarning, match="100 of 100 objects have more equally distant neighbours"):
        selector = REPS(4, metric="precomputed").fit(np.ones((100, 100)), np.arange(100) % 2)
    assert selector.truncation_bound_ > 1e-4


def test_refinement_lowers_the_objective_within_the_budget():
    X, y = overlapping(300, seed=6)
    plain, refined = REPS(0.1).fit(X, y), Refined(REPS(0.1)).fit(X, y)
    np.testing.assert_array_equal(plain.ranking_, refined.selector_.ranking_)
    np.testing.assert_array_equal(refined.sample_indices_, refined.refinement_.indices)
    assert len(refined.sample_indices_) <= len(plain.sample_indices_)
    assert refined.refinement_.objective_after < refined.refinement_.objective_before
    np.testing.assert_array_equal(refined.selector_.select(0.1), plain.sample_indices_)


def test_refined_automatic_size():
    X, y = overlapping(260, seed=6)
    small, low = (Refined(REPS(size_rule=rule)).fit(X, y) for rule in ("one_standard_error", "lowest_error"))
    for selector in (small, low):
        curve = selector.size_curve_
        assert len(selector.sample_indices_) <= curve.sizes[curve.chosen]
        assert curve.best == np.argmin(curve.errors)
    assert low.size_curve_.chosen == low.size_curve_.best
    assert small.size_curve_.chosen <= small.size_curve_.best
    again = Refined(REPS()).fit(X, y)
    np.testing.assert_array_equal(again.sample_indices_, small.sample_indices_)


def test_refined_size_is_measured_on_a_sample_of_many(monkeypatch):
    X, y = overlapping(400, seed=6)
    monkeypatch.setattr(size, "SAMPLE_OBJECTS", 120)
    curve = Refined(REPS()).fit(X, y).size_curve_
    assert curve.sizes[-1] == 120  # 30 % of all


def test_refinement_can_be_stopped():
    X, y = overlapping(300, seed=6)
    with pytest.warns(ConvergenceWarning, match="by its callback"):
        selector = Refined(REPS(0.1), callback=lambda progress: True).fit(X, y)
    assert set(y[selector.sample_indices_]) == set(y)


def test_refinement_keeps_classes_so_that_they_need_places():
    with pytest.raises(
        ValueError, match="Refined needs a set with every class, but REPS.* may leave out a class; use allocation='prop"
    ):
        Refined(REPS(0.1, allocation="global")).fit(*overlapping(50))
    with pytest.raises(ValueError, match="size_rule='small' is not known"):
        REPS(size_rule="small").fit(*overlapping(50))
