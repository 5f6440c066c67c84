"""The order of the rows of a data set changes no evaluation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protoset.datasets import Attribute, Dataset, take
from protoset.experiments import compare, results, run, validate
from protoset.experiments.folds import splits
from protoset.experiments.ordering import content_order
from protoset.experiments.plan import Folds

seeds = st.integers(0, 2**32 - 1)
KINDS = ("vectors", "missing", "mixed", "series", "strings", "matrix", "counts")


def example(kind, seed, n_objects=40):
    """A data set of a kind, without ties and without identical objects for the kinds of numbers."""
    rng = np.random.default_rng(seed)
    labels = np.array(["a", "b", "c"])[rng.integers(0, 3, n_objects)]
    X = rng.normal(size=(n_objects, 3)) + (labels == "a")[:, None]
    columns = tuple(Attribute(name, "real") for name in "xyz")
    if kind == "vectors":
        return Dataset(kind, "vectors", X, labels, columns)
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
        return Dataset(kind, "vectors", X, labels, columns)
    if kind == "matrix":
        return Dataset(kind, "matrix", cdist(X, X), labels)
    if kind == "counts":
        small = rng.integers(0, 2, (n_objects, 3)).astype(float)
        return Dataset(kind, "matrix", cdist(small, small, "cityblock"), labels)
    if kind == "series":
        return Dataset(kind, "series", [rng.normal(size=8) + (label == "a") for label in labels], labels)
    if kind == "strings":
        return Dataset(kind, "strings", ["".join(rng.choice(list("abc"), 5)) for _ in labels], labels)
    objects = np.empty((n_objects, 3), object)
    objects[:, 0], objects[:, 1] = X[:, 0].tolist(), X[:, 1].tolist()
    objects[:, 2] = rng.choice(["red", "green"], n_objects).tolist()
    return Dataset(kind, "mixed", objects, labels, (*columns[:2], Attribute("z", "nominal", ("red", "green"))))


def shuffled(dataset, seed):
    rows = np.random.default_rng(seed).permutation(dataset.n_objects)
    return take(dataset, rows), rows


def contents(dataset, rows):
    """Labels and objects of some rows, as texts; of a matrix the labels and the sorted distances."""
    objects = take(dataset, np.arange(dataset.n_objects)).objects
    describe = (lambda item: np.sort(np.round(item, 9))) if dataset.kind == "matrix" else (lambda item: item)
    return [(str(dataset.labels[row]), str(describe(objects[row]))) for row in rows]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_the_order_depends_on_content_alone(kind, seed):
    dataset = example(kind, seed)
    other, _ = shuffled(dataset, seed + 1)
    order = content_order(dataset)
    assert sorted(order) == list(range(dataset.n_objects))
    assert contents(dataset, order) == contents(other, content_order(other))


def test_the_order_looks_drawn():
    """Neither sorted by value nor by label, so that methods that depend on the order see no pattern."""
    X = np.arange(2000.0)[:, None]
    order = content_order(Dataset("line", "vectors", X, np.arange(2000) // 1000))
    assert abs(np.corrcoef(order, np.arange(2000))[0, 1]) < 0.1
    assert 800 < (np.diff(order) > 0).sum() < 1200


def test_equal_numbers_are_equal_in_the_order():
    """0 and -0, whole numbers and floats, float32 and float64, NaN and None."""
    labels = np.array([0, 1, 1, 0])
    X = np.array([[0.0, 1], [2, 0], [3, 4], [5, np.nan]])
    expected = content_order(Dataset("x", "vectors", X, labels)).tolist()
    negative = np.where(X == 0, -0.0, X)
    objects = X.astype(object)
    objects[3, 1] = None
    for other in (negative, X.astype(np.float32), X.astype(object), objects):
        assert content_order(Dataset("x", "vectors", other, labels)).tolist() == expected
    whole = X[:3].astype(int)
    assert (
        content_order(Dataset("x", "vectors", whole, labels[:3])).tolist()
        == content_order(Dataset("x", "vectors", X[:3], labels[:3])).tolist()
    )


def test_the_labels_belong_to_the_content():
    X = np.zeros((6, 1))
    order = content_order(Dataset("x", "vectors", X, np.array([0, 1, 0, 1, 0, 1])))
    assert sorted(order[:3] % 2) in ([0, 0, 0], [1, 1, 1])


@pytest.mark.parametrize("folds", [Folds(3), Folds(4, seed=7, stratified=False), Folds(None, holdout=0.3)])
def test_folds_hold_the_same_objects(folds):
    dataset = example("vectors", 0)
    other, rows = shuffled(dataset, 1)
    for (train, test), (other_train, other_test) in zip(splits(dataset, folds), splits(other, folds), strict=True):
        assert rows[other_train].tolist() == train.tolist()
        assert rows[other_test].tolist() == test.tolist()
        assert sorted([*train, *test]) == list(range(40))
    by_rows = replace(folds, order="rows")
    assert [test.tolist() for _, test in splits(dataset, by_rows)] != [
        rows[test].tolist() for _, test in splits(other, by_rows)
    ]
    assert all((np.diff(train) > 0).all() for train, _ in splits(dataset, by_rows) if folds.holdout is None)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "counts"])
@settings(max_examples=3, deadline=None)
@given(seed=seeds)
def test_shuffled_rows_give_the_same_errors(kind, seed):
    """Of all methods, drawn ones included: they see the same objects in the same order."""
    dataset = example(kind, seed)
    other, _ = shuffled(dataset, seed + 1)
    methods = ["guess", "NoPS", "kNN", "REPS", "FCNN", "CNN", "KMedoids"]
    expected, got = (compare(data, methods, n_prototypes=6, folds=3) for data in (dataset, other))
    np.testing.assert_array_equal(got.errors, expected.errors)
    np.testing.assert_array_equal(got.selection_rates, expected.selection_rates)


@settings(max_examples=5, deadline=None)
@given(seed=seeds)
def test_shuffled_rows_with_many_ties_give_the_same_errors(seed):
    """Few categories: most rows are identical, most distances are equal, and the labels of identical rows differ."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2, (80, 3))
    labels = np.where(rng.random(80) < 0.3, "no", np.where(values[:, 0] == 1, "yes", "no"))
    objects = np.array(["low", "high"], object)[values]
    columns = tuple(Attribute(name, "nominal", ("low", "high")) for name in "abc")
    dataset = Dataset("titanic", "mixed", objects, labels, columns)
    other, _ = shuffled(dataset, seed + 1)
    methods = ["guess", "NoPS", "kNN", "REPS", "refined"]
    expected, got = (compare(data, methods, n_prototypes=4, folds=3) for data in (dataset, other))
    np.testing.assert_array_equal(got.errors, expected.errors)


def test_shuffled_rows_change_no_validation():
    dataset = example("mixed", 3, 60)
    other, _ = shuffled(dataset, 4)
    for options in ({}, {"folds": 3}, {"holdout": 0.3}):
        first, second = (validate(data, "REPS", n_prototypes=6, **options) for data in (dataset, other))
        assert (first.estimate, first.references) == (second.estimate, second.references)
        np.testing.assert_array_equal(first.confusion, second.confusion)


def test_kept_rows_are_those_of_the_data_set(tmp_path):
    dataset = example("vectors", 5)
    other, rows = shuffled(dataset, 6)
    plan = {"data": ["it"], "methods": ["FCNN", "guess", "kNN"], "folds": 3}
    for name, data in (("one", dataset), ("two", other)):
        run(plan, tmp_path / name, data={"it": data})
    for first, second in zip(*(results(tmp_path / name, kept=True) for name in ("one", "two")), strict=True):
        assert (np.diff(first.kept_indices) > 0).all()
        assert first.kept_indices.tolist() == sorted(rows[second.kept_indices])
    guessed = [row for row in results(tmp_path / "one", kept=True) if row.method == "guess"]
    assert [(row.n_prototypes, row.selection_rate, len(row.kept_indices)) for row in guessed] == [(0, 0.0, 0)] * 3


def test_a_plan_with_rows_keeps_its_identifiers():
    """Plans with order = "rows" have the cells that they had before there was an order."""
    assert Folds(5, order="rows").content() == {"n": 5, "seed": 0, "stratified": True}
    assert Folds(5).content() == {"n": 5, "seed": 0, "stratified": True, "order": "content"}
    assert Folds(None).content() == {"n": None}
