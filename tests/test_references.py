"""Guessing, 1-NN and k-NN on everything, against plain twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from protoset.datasets import Attribute, Dataset
from protoset.evaluation import no_better_than
from protoset.experiments import compare, validate, validate_model
from protoset.experiments.folds import splits
from protoset.experiments.plan import Folds
from protoset.models import fit_model, reference_errors, references, vote_of_neighbors
from protoset.models.references import sample_queries
from protoset.models.votes import vote_of_nearest
from protoset.spaces import RawLists, make_space

seeds = st.integers(0, 2**32 - 1)


def plain_vote(distances, codes, totals, k):
    """Class that wins the vote of all objects up to the distance of the k-th."""
    votes = np.bincount(codes[distances <= np.sort(distances)[k - 1]], minlength=len(totals))
    return min(range(len(totals)), key=lambda code: (-votes[code], -totals[code], code))


def plain_left_out(matrix, codes, k):
    totals = np.bincount(codes)
    others = [np.delete(np.arange(len(codes)), row) for row in range(len(codes))]
    return np.array([plain_vote(matrix[row, rest], codes[rest], totals, k) for row, rest in enumerate(others)])


def tied_table(seed, n_objects, n_classes=3):
    """Objects with few values, so that most distances tie."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (n_objects, 2)).astype(float), rng.integers(0, n_classes, n_objects)


def test_the_vote_of_a_list_by_hand():
    """Neighbours of the classes 0, 1, 1 | 0, 0, 2 where | divides distances 1 and 2."""
    codes, distances = np.array([0, 1, 1, 0, 0, 2]), np.array([1.0, 1, 1, 2, 2, 2])
    lists = RawLists(np.array([6]), np.arange(6), distances, np.ones(1, bool))
    arguments = lists, codes, np.ones(6), np.bincount(codes).astype(float)
    nobody, ks = (np.zeros(1, int), np.zeros(1)), np.array([1, 3, 4, 6])
    assert vote_of_nearest(*arguments, *nobody, ks).tolist() == [[1, 1, 0, 0]]
    twins = np.array([2]), np.array([2.0])
    assert vote_of_nearest(*arguments, *twins, ks).tolist() == [[2, 1, 1, 0]]


@settings(max_examples=40)
@given(seeds, st.integers(4, 40), st.integers(1, 9))
def test_votes_of_queries_equal_the_twin(seed, n_objects, k):
    objects, codes = tied_table(seed, n_objects)
    queries, _ = tied_table(seed + 1, 7)
    expected = [plain_vote(row, codes, np.bincount(codes), min(k, n_objects)) for row in cdist(queries, objects)]
    space = make_space(objects, "euclidean")
    assert vote_of_neighbors(space.cross(queries), codes, k).tolist() == expected


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(4, 70))
def test_errors_by_leave_one_out_equal_the_twin(seed, n_objects):
    objects, codes = tied_table(seed, n_objects)
    matrix = cdist(objects, objects)
    ks = [k for k in range(1, 52, 2) if k < n_objects]
    expected = [np.mean(plain_left_out(matrix, codes, k) != codes) for k in ks]
    errors = reference_errors(make_space(objects, "euclidean"), codes)
    assert errors.nearest == pytest.approx(expected[0])
    assert errors.k == ks[int(np.argmin(np.round(expected, 12)))]
    assert errors.knn == pytest.approx(min(expected))
    assert errors.guess == pytest.approx(1 - np.bincount(codes).max() / n_objects)
    assert errors.answer == np.bincount(codes).argmax()
    assert errors.n_objects == n_objects
    by_matrix = reference_errors(make_space(matrix, "precomputed"), codes)
    assert by_matrix == errors


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(4, 40))
def test_a_weight_equals_repeated_objects(seed, n_objects):
    objects, codes = tied_table(seed, n_objects)
    counts = np.random.default_rng(seed).integers(1, 4, n_objects)
    repeated = reference_errors(make_space(np.repeat(objects, counts, axis=0), "euclidean"), np.repeat(codes, counts))
    weighted = reference_errors(make_space(objects, "euclidean"), codes, weights=counts)
    assert (weighted.guess, weighted.answer, weighted.k) == (repeated.guess, repeated.answer, repeated.k)
    assert (weighted.nearest, weighted.knn) == (repeated.nearest, repeated.knn)


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(4, 40))
def test_the_order_of_rows_decides_nothing(seed, n_objects):
    objects, codes = tied_table(seed, n_objects)
    order = np.random.default_rng(seed).permutation(n_objects)
    errors = reference_errors(make_space(objects, "euclidean"), codes)
    assert reference_errors(make_space(objects[order], "euclidean"), codes[order]) == errors


def test_without_ties_votes_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    objects, codes, queries = rng.normal(size=(300, 4)), rng.integers(0, 2, 300), rng.normal(size=(80, 4))
    space = make_space(objects, "euclidean")
    for k in (1, 3, 15):
        expected = KNeighborsClassifier(k).fit(objects, codes).predict(queries)
        assert vote_of_neighbors(space.cross(queries), codes, k).tolist() == expected.tolist()


def test_neither_blocks_nor_threads_nor_the_search_change_errors(monkeypatch):
    objects, codes = tied_table(3, 300)
    expected = reference_errors(make_space(objects, "euclidean"), codes)
    assert reference_errors(make_space(objects, "euclidean"), codes, n_jobs=2) == expected
    monkeypatch.setattr("protoset._blocks.BLOCK_BYTES", 300 * 8 * 7)
    assert reference_errors(make_space(objects, "euclidean"), codes, n_jobs=2) == expected


def test_many_objects_are_measured_on_a_stratified_sample(monkeypatch):
    rng = np.random.default_rng(1)
    objects, codes = rng.normal(size=(2000, 2)), (rng.random(2000) < 0.1).astype(int)
    objects[codes == 1] += 1.5
    everything = reference_errors(make_space(objects, "euclidean"), codes)
    monkeypatch.setattr(references, "MOST_QUERIES", 1999)
    monkeypatch.setattr(references, "MOST_PAIRS", 2000 * 1500)
    sampled = reference_errors(make_space(objects, "euclidean"), codes)
    assert (everything.n_objects, sampled.n_objects) == (2000, 1500)
    assert sampled.guess == everything.guess
    assert abs(sampled.knn - everything.knn) < 0.03
    assert sampled == reference_errors(make_space(objects, "euclidean"), codes)
    monkeypatch.setattr(references, "MOST_PAIRS", 1)
    assert reference_errors(make_space(objects, "euclidean"), codes).n_objects == references.FEWEST_QUERIES


def test_a_graph_is_used_as_far_as_it_goes():
    points = np.array([0.0, 1, 3, 10, 11, 13])
    matrix = np.abs(points[:, None] - points)
    graph = csr_matrix(np.where((matrix > 0) & (matrix < 4), matrix, 0))
    errors = reference_errors(make_space(graph, "precomputed"), np.array([0, 0, 0, 1, 1, 1]))
    assert (errors.nearest, errors.knn, errors.k) == (0.0, 0.0, 1)


def test_very_few_objects():
    assert reference_errors(make_space(np.zeros((1, 2)), "euclidean"), np.zeros(1, int)).k == 1
    two = reference_errors(make_space(np.arange(2.0)[:, None], "euclidean"), np.arange(2))
    assert (two.guess, two.nearest, two.knn, two.k) == (0.5, 1.0, 1.0, 1)


def test_wrong_arguments():
    space = make_space(np.arange(6.0)[:, None], "euclidean")
    with pytest.raises(ValueError, match="codes=.*a class, counted from 0, for each of the 6 objects"):
        reference_errors(space, np.zeros(5, int))
    with pytest.raises(ValueError, match="weights=.*at least 0 for each of the 6 objects"):
        reference_errors(space, np.arange(6) % 2, weights=[1, 1, 1, 1, 1, -1])


def flowers():
    iris = load_iris()
    columns = tuple(Attribute(name, "real") for name in "abcd")
    return Dataset("iris", "vectors", iris.data, iris.target_names[iris.target], columns)


def noise(n_objects=120):
    """Labels that have nothing to do with the objects; two of three are "no"."""
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(n_objects) % 3 == 0, "yes", "no")
    return Dataset(
        "noise", "vectors", rng.normal(size=(n_objects, 2)), labels, tuple(Attribute(a, "real") for a in "xy")
    )


def test_references_of_folds_by_hand():
    dataset = flowers()
    compared = compare(dataset, ["Guess", "nops", "KNN"], folds=3, scaling="raw")
    assert compared.methods == ("guess", "NoPS", "kNN")
    assert compared.selection_rates.tolist() == [[0.0, 1.0, 1.0]] * 3
    validated = validate(dataset, "FCNN", folds=3, scaling="raw")
    _, codes = np.unique(dataset.labels, return_inverse=True)
    for fold, (train, test) in enumerate(splits(dataset, Folds(3))):
        space = make_space(dataset.objects[train], "euclidean")
        k = reference_errors(space, codes[train]).k
        assert validated.references.k[fold] == k
        for column, neighbors in ((1, 1), (2, k)):
            votes = vote_of_neighbors(space.cross(dataset.objects[test]), codes[train], neighbors)
            assert compared.errors[fold, column] == np.mean(votes != codes[test])
        assert compared.errors[fold, 0] == np.mean(codes[test] != np.bincount(codes[train]).argmax())
    beside = validated.references
    n_test = [len(test) for _, test in splits(dataset, Folds(3))]
    for estimate, column in ((beside.guess, 0), (beside.nearest, 1), (beside.knn, 2)):
        assert estimate.error == pytest.approx(np.average(compared.errors[:, column], weights=n_test))
    assert (beside.answer, beside.guessed_from) == ("setosa", "training")


def test_each_reference_is_a_method_of_validate():
    dataset = flowers()
    for name, field in (("GUESS", "guess"), ("NoPS", "nearest"), ("knn", "knn")):
        found = validate(dataset, name, holdout=0.3)
        assert found.estimate == getattr(found.references, field)
        assert found.no_better_than_guessing is (name == "GUESS")
    assert validate(dataset, "NoPS", references=False).references is None
    assert validate(dataset, "NoPS", references=False).no_better_than_guessing is None
    with pytest.raises(ValueError, match="n_prototypes=3 and parameters=None, but kNN has no size"):
        validate(dataset, "kNN", n_prototypes=3)
    with pytest.raises(ValueError, match="method='kn' is not known .did you mean 'kNN'.*'guess', 'NoPS', 'kNN'"):
        validate(dataset, "kn")
    with pytest.raises(ValueError, match="rule='adjusted' needs prototypes, but kNN has none"):
        validate(dataset, "kNN", rule="adjusted")


def test_many_objects_stand_beside_neighbors_of_a_sample(monkeypatch):
    """The sample is of the first fold, of whose 30 objects 12 are drawn, as many of each class."""
    monkeypatch.setattr("protoset.experiments.validation.MOST_FOR_REFERENCES", 149)
    monkeypatch.setattr("protoset.models.references.FEWEST_QUERIES", 3)
    monkeypatch.setattr("protoset.models.references.MOST_PAIRS", 12 * 120)
    dataset = flowers()
    beside = validate(dataset, "FCNN", scaling="raw").references
    train, test = splits(dataset, Folds(5))[0]
    _, codes = np.unique(dataset.labels, return_inverse=True)
    rows = sample_queries(codes[test], len(train))
    assert np.bincount(codes[test][rows]).tolist() == [4, 4, 4]
    space = make_space(dataset.objects[train], "euclidean")
    k = reference_errors(space, codes[train]).k
    for estimate, n_neighbors in ((beside.nearest, 1), (beside.knn, k)):
        votes = vote_of_neighbors(space.cross(dataset.objects[test][rows]), codes[train], n_neighbors)
        assert (estimate.n_errors, estimate.n_test) == (np.sum(votes != codes[test][rows]), 12)
    assert (beside.k, beside.answer, beside.guess.n_test) == ((k,), "setosa", 150)
    assert beside.guess.error == pytest.approx(2 / 3)
    # A reference that is the method itself is measured on all objects.
    beside = validate(dataset, "kNN").references
    assert (beside.nearest.n_test, beside.knn.n_test, len(beside.k)) == (12, 150, 5)
    with_few = sample_queries(codes[test], 40)
    assert with_few.tolist() == list(range(30))


def test_progress_counts_folds():
    seen = []
    validate(flowers(), "FCNN", folds=3, progress=lambda done, total: seen.append((done, total)))
    assert (seen[0], seen[-1]) == ((0, 3), (3, 3))
    assert seen == sorted(seen)


def test_no_better_than_guessing():
    assert no_better_than(0.4, 0.0, 0.4)
    assert no_better_than(0.38, 0.02, 0.4)
    assert not no_better_than(0.37, 0.02, 0.4)
    with pytest.raises(ValueError, match="reference=2"):
        no_better_than(0.1, 0.1, 2)
    assert validate(noise(), "FCNN").no_better_than_guessing
    assert not validate(flowers(), "FCNN").no_better_than_guessing
    compared = compare(noise(), ["guess", "NoPS", "FCNN"])
    assert compared.no_better_than_guessing == ("NoPS", "FCNN")
    assert compare(noise(), ["NoPS", "FCNN"]).no_better_than_guessing == ()
    assert compare(flowers(), ["guess", "NoPS", "FCNN"]).no_better_than_guessing == ()


def test_guessing_is_not_tested():
    """Seven folds allow a test of three pairs, but not of the six pairs with guessing."""
    with_guess = compare(flowers(), ["guess", "NoPS", "FCNN", "REPS"], n_prototypes=3, folds=7)
    assert with_guess.tests.names == ("NoPS", "FCNN", "REPS")
    assert np.isfinite(with_guess.pareto_ranks).all()
    assert with_guess.pareto_ranks[0] == 1


def test_a_model_on_a_file_stands_beside_guessing():
    dataset = flowers()
    model = fit_model(dataset, n_prototypes=3)
    found = validate_model(model, dataset.objects[:80], dataset.labels[:80])
    beside = found.references
    assert (beside.nearest, beside.knn, beside.k) == (None, None, ())
    assert beside.answer == "setosa"
    assert beside.guess.error == 30 / 80


@pytest.mark.parametrize("seed", range(3))
def test_balanced_errors_are_the_mean_of_the_classes(seed):
    X, codes = tied_table(seed, 60)
    matrix = cdist(X, X)
    errors = reference_errors(make_space(X), codes, scoring="balanced_accuracy")

    def balanced_error(answers):
        return np.mean([(answers[codes == code] != code).mean() for code in range(3)])

    assert errors.guess == pytest.approx(2 / 3)
    by_k = {k: balanced_error(plain_left_out(matrix, codes, k)) for k in range(1, 52, 2)}
    assert errors.nearest == pytest.approx(by_k[1])
    assert errors.knn == pytest.approx(min(by_k.values())) == pytest.approx(by_k[errors.k])
    with pytest.raises(ValueError, match=r"scoring='f1' is not known.*'balanced_accuracy'"):
        reference_errors(make_space(X), codes, scoring="f1")
