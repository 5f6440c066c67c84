"""The rule of ties: among equally near prototypes the majority of the labels decides, then the more frequent class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from protoset import PrototypeClassifier, _blocks, export, kernels, load, save
from protoset.datasets import Attribute, Dataset
from protoset.decisions import AdjustedRule, NearestRule, decide, probabilities_of
from protoset.decisions.probabilities import ProbabilityMap
from protoset.experiments import compare
from protoset.selectors import RandomSelector
from protoset.selectors.ties import MajorityVote, nearest_prototypes
from protoset.spaces import CountedSpace, make_space

SEEDS = st.integers(0, 2**32 - 1)


def absolute_difference(a, b):
    return abs(float(a[0]) - float(b[0]))


def integers(rng, n):
    return rng.integers(0, 3, (n, 3)).astype(float)


def categories(rng, n):
    return rng.choice(["a", "b", "c"], (n, 3)).astype(object)


def strings(rng, n):
    return ["".join(row) for row in rng.choice(list("ab"), (n, 4))]


KINDS = {
    "euclidean": (integers, {}),
    "cosine": (lambda rng, n: np.add(integers(rng, n), [1, 0, 0]), {}),
    "manhattan": (integers, {}),
    "sqeuclidean": (integers, {}),
    "hamming": (integers, {}),
    "gower": (categories, {"categorical": [0, 1, 2]}),
    "levenshtein": (strings, {}),
    "dtw": (integers, {"window": 1}),
    "erp": (integers, {}),
    "msm": (integers, {"window": 1}),
    "twe": (integers, {"lmbda": 0.5}),
    "series_euclidean": (integers, {"squared": True}),
    "callable": (integers, {}),
}
"""Metrics with objects that have many ties, and the arguments of the metric."""


def make_kind(name, rng, n):
    draw, parameters = KINDS[name]
    objects = draw(rng, n)
    return objects, (absolute_difference if name == "callable" else name), parameters


def drawn_vote(rng, n, n_classes=3):
    codes = rng.integers(0, n_classes, n)
    return codes, rng.integers(1, 4, n).astype(float), np.bincount(codes, minlength=n_classes).astype(float)


@pytest.mark.parametrize("name", KINDS)
@given(seed=SEEDS)
def test_nearest_prototypes_are_those_of_the_block(name, seed):
    rng = np.random.default_rng(seed)
    objects, metric, parameters = make_kind(name, rng, 24)
    space = make_space(objects, metric, parameters)
    rows, columns = np.arange(12), rng.permutation(24)[:10]
    vote = drawn_vote(rng, len(columns))
    block = space.block(rows, columns)
    expected = kernels.ties.nearest_by_majority(block, *vote)
    precomputed = make_space(space.block(slice(None), slice(None)), "precomputed")
    for dissimilarities in (space, CountedSpace(space), precomputed):
        positions, distances = nearest_prototypes(dissimilarities, *vote, rows, columns)
        np.testing.assert_array_equal(positions, expected)
        np.testing.assert_array_equal(distances, block.min(axis=1))
    members = np.concatenate([rows, columns])
    subset = space.subset(members)
    positions, _ = nearest_prototypes(subset, *vote, np.arange(len(rows)), np.arange(len(rows), len(members)))
    np.testing.assert_array_equal(positions, expected)


@pytest.mark.parametrize("name", ["euclidean", "gower", "dtw"])
def test_n_jobs_and_blocks_change_no_vote(name, monkeypatch):
    rng = np.random.default_rng(0)
    objects, metric, parameters = make_kind(name, rng, 120)
    space = make_space(objects, metric, parameters)
    columns = np.arange(0, 120, 3)
    vote = drawn_vote(rng, len(columns))
    expected = nearest_prototypes(space, *vote, columns=columns)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 3000)
    for n_jobs in (1, 2):
        positions, distances = nearest_prototypes(space, *vote, columns=columns, n_jobs=n_jobs)
        np.testing.assert_array_equal(positions, expected[0])
        np.testing.assert_array_equal(distances, expected[1])


# predictions


def everything(metric="auto", parameters=None):
    """1-NN on all objects."""
    return PrototypeClassifier(RandomSelector(1.0, metric=metric, metric_params=parameters), adapt=False)


def take(objects, rows):
    return [objects[row] for row in rows] if isinstance(objects, list) else objects[rows]


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=25)
@given(seed=SEEDS)
def test_the_order_of_rows_decides_nothing(name, seed):
    rng = np.random.default_rng(seed)
    objects, metric, parameters = make_kind(name, rng, 40)
    labels = np.concatenate([["x", "y", "z"], rng.choice(["x", "y", "z"], 27)])
    train, queries = take(objects, np.arange(30)), take(objects, np.arange(30, 40))
    classifier = everything(metric, parameters).fit(train, labels)
    expected, shares = classifier.predict(queries), classifier.predict_proba(queries)
    assert (classifier.explain(queries).labels[:, 0] == expected).all()
    assert (classifier.classes_[shares.argmax(axis=1)] == expected).all()
    order = rng.permutation(30)
    shuffled = everything(metric, parameters).fit(take(train, order), labels[order])
    np.testing.assert_array_equal(shuffled.predict(queries), expected)
    np.testing.assert_allclose(shuffled.predict_proba(queries), shares)
    # A matrix of the dissimilarities says the same.
    matrix = make_space(objects, metric, parameters).block(slice(None), slice(None))
    if name != "gower":  # its ranges are those of the training objects
        given_matrix = everything("precomputed").fit(matrix[:30, :30], labels)
        np.testing.assert_array_equal(given_matrix.predict(matrix[30:, :30]), expected)


@given(SEEDS)
def test_adjusted_ranks_then_distances_then_votes(seed):
    rng = np.random.default_rng(seed)
    block = rng.integers(0, 3, (10, 8)).astype(float)
    degradations = rng.choice([0.0, 1.0, 2.0, np.inf], 8)
    vote = MajorityVote(*drawn_vote(rng, 8))
    decision = decide(block, degradations, vote)
    by_ranks = ProbabilityMap(np.array([np.log(2.0)]), 0.01)
    shares = probabilities_of(AdjustedRule(vote, degradations), by_ranks, block)
    for row, winner in enumerate(decision.winners):
        ranks = np.array([1 + (block[row] < distance).sum() for distance in block[row]])
        keys = list(zip(ranks + degradations, block[row], strict=True))
        tied = np.flatnonzero([key == min(keys) for key in keys])
        assert winner in tied
        votes = np.bincount(vote.codes[tied], vote.counts[tied], minlength=3)
        present = set(vote.codes[tied].tolist())
        best = max(present, key=lambda code: (votes[code], vote.class_totals[code], -code))
        assert vote.codes[winner] == best
        assert shares[row, best] == shares[row].max()
    order = rng.permutation(8)
    again = MajorityVote(vote.codes[order], vote.counts[order], vote.class_totals)
    shuffled = decide(block[:, order], degradations[order], again)
    np.testing.assert_array_equal(again.codes[shuffled.winners], vote.codes[decision.winners])
    again_shares = probabilities_of(AdjustedRule(again, degradations[order]), by_ranks, block[:, order])
    np.testing.assert_allclose(again_shares, shares)


def test_tied_classes_divide_their_shares_by_votes_then_by_size():
    block = np.array([[1.0, 1.0, 1.0, 2.0], [1.0, 2.0, 1.0, 1.0], [1.0, 2.0, 2.0, 2.0]])
    vote = MajorityVote(np.array([0, 0, 1, 2]), np.array([2.0, 1.0, 1.0, 2.0]), np.array([30.0, 10.0, 10.0]))
    # The probability falls by half with each unit of the distance.
    shares = probabilities_of(NearestRule(vote, 1.0), ProbabilityMap(np.array([0.0, np.log(2.0)]), 0.0), block)
    # 3 votes against 1 over two equal shares; the third class is one unit behind.
    np.testing.assert_allclose(shares[0], np.array([1.5, 0.5, 0.5]) / 2.5)
    # 2, 1 and 2 votes: the classes with 2 votes divide 4 of 5 parts by their sizes, 30 and 10.
    np.testing.assert_allclose(shares[1], [3 / 5, 1 / 5, 1 / 5])
    np.testing.assert_allclose(shares[2], np.array([1, 0.5, 0.5]) / 2)


def tied_data(n=120):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (n, 3)).astype(float)
    return X, rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])


def weighted_classifier(X, y, rule="nearest"):
    """A classifier with prototypes of several objects each, as a selector that merges identical objects has them."""
    classifier = everything().fit(X, y).set_params(rule=rule)
    rng = np.random.default_rng(1)
    n_prototypes = len(classifier.sample_indices_)
    classifier.prototype_counts_ = rng.integers(1, 5, n_prototypes).astype(float)
    classifier.degradations_ = rng.choice([0.0, 1.0, 3.0], n_prototypes) if rule == "adjusted" else None
    return classifier


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
def test_files_and_exported_files_decide_ties_alike(rule, tmp_path):
    X, y = tied_data()
    classifier = weighted_classifier(X, y, rule)
    queries = np.vstack([X + 0.5, X, -X])
    expected = classifier.predict(queries)
    plain = classifier.prototype_counts_
    classifier.prototype_counts_ = np.ones(len(plain))
    assert (classifier.predict(queries) != expected).any()
    classifier.prototype_counts_ = plain
    save(classifier, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(queries), expected)
    np.testing.assert_array_equal(again.prototype_counts_, plain)
    np.testing.assert_array_equal(again.class_counts_, [np.sum(y == label) for label in "abc"])
    export(classifier, tmp_path / "model.py")
    names = {"__name__": "exported"}
    exec(compile((tmp_path / "model.py").read_text(), "model.py", "exec"), names)
    np.testing.assert_array_equal(names["predict"](queries), expected)


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_n_jobs_and_dask_decide_ties_alike(rule, n_jobs, monkeypatch):
    da = pytest.importorskip("dask.array")
    X, y = tied_data()
    classifier = weighted_classifier(X, y, rule)
    queries = np.vstack([X + 0.5, X, -X])
    expected = classifier.predict(queries)
    classifier.n_jobs = n_jobs
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 5000)
    np.testing.assert_array_equal(classifier.predict(queries), expected)
    blocks = da.from_array(queries, chunks=(50, 3))
    np.testing.assert_array_equal(classifier.predict(blocks).compute(scheduler="threads"), expected)


# the Titanic: class, sex, age and survival of 2,201 persons, in 32 cells

DROWNED = {
    ("male", "child"): (0, 0, 35, 0),
    ("female", "child"): (0, 0, 17, 0),
    ("male", "adult"): (118, 154, 387, 670),
    ("female", "adult"): (4, 13, 89, 3),
}
"""Persons of the first, second and third class, and of the crew."""

SURVIVED = {
    ("male", "child"): (5, 11, 13, 0),
    ("female", "child"): (1, 13, 14, 0),
    ("male", "adult"): (57, 14, 75, 192),
    ("female", "adult"): (140, 80, 76, 20),
}


def titanic():
    rows, labels = [], []
    for label, cells in (("no", DROWNED), ("yes", SURVIVED)):
        for (sex, age), counts in cells.items():
            for passenger_class, count in zip(("1st", "2nd", "3rd", "crew"), counts, strict=True):
                rows += [(passenger_class, sex, age)] * count
                labels += [label] * count
    assert len(rows) == 2201
    return np.array(rows, dtype=object), np.array(labels)


def test_titanic_is_not_an_artefact_of_sorting():
    X, y = titanic()
    order = np.random.default_rng(0).permutation(len(X))
    attributes = tuple(Attribute(name, "nominal") for name in ("class", "sex", "age"))
    for rows in (np.arange(len(X)), order):
        dataset = Dataset("titanic", "mixed", X[rows], y[rows], attributes)
        assert compare(dataset, ["NoPS"], folds=5).errors.mean() <= 0.25
    parameters = {"categorical": [0, 1, 2]}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    predicted = cross_val_predict(everything("gower", parameters), X, y, cv=folds)
    assert np.mean(predicted != y) <= 0.25
    fitted = [everything("gower", parameters).fit(X[rows], y[rows]).predict(X) for rows in (np.arange(len(X)), order)]
    np.testing.assert_array_equal(*fitted)
    assert np.mean(fitted[0] != y) == np.mean(fitted[1] != y) == best_possible_error(X, y)


def best_possible_error(X, y):
    """Error of the majority of each cell."""
    _, cells = np.unique(X.astype(str), axis=0, return_inverse=True)
    survivors, persons = np.bincount(cells.ravel(), y == "yes"), np.bincount(cells.ravel())
    return np.minimum(survivors, persons - survivors).sum() / len(y)
