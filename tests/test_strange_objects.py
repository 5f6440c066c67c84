"""Objects that no metric takes: one clear error each, at fit and at predict."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from protoset import REPS, PrototypeClassifier
from protoset.spaces import make_space

X, Y = (array[::5] for array in load_iris(return_X_y=True))
TWICE = pd.DataFrame(X, columns=["a", "a", "b", "c"])


@pytest.mark.parametrize("metric", ["auto", "manhattan", "nan_euclidean", "dice", "gower", "dtw", "precomputed"])
def test_two_columns_of_one_name(metric):
    with pytest.raises(ValueError, match="several columns with the name 'a'; give each column a name of its own"):
        make_space(TWICE, metric)


def test_queries_with_two_columns_of_one_name():
    for metric in ("euclidean", "gower"):
        classifier = PrototypeClassifier(REPS(0.2, metric=metric)).fit(pd.DataFrame(X, columns=list("abcd")), Y)
        with pytest.raises(ValueError, match="several columns with the name 'a'"):
            classifier.predict(TWICE)


CONVERSIONS = [
    ("euclidean", [[10**400, 1], [1, 2]], ValueError, "rows of numbers: int too large"),
    ("euclidean", pd.DataFrame({"a": [[1], [2]]}), ValueError, "rows of numbers: setting an array element"),
    ("nan_euclidean", pd.DataFrame({"a": pd.Categorical(["x", None])}), ValueError, "rows of numbers: could not conv"),
    ("precomputed", [10**400, 1, 1], ValueError, "needs numbers, but X holds other values: int too large"),
    ("dtw", [[10**400], [1]], ValueError, "row 0 of X is not a series of numbers: int too large"),
    ("overlap", [np.zeros((2, 1)), np.zeros((2, 2))], ValueError, "rows of X differ in their shapes"),
    ("levenshtein", np.array(5), TypeError, "takes a list, an array or a Series of strings"),
    ("euclidean", make_space(X), TypeError, "X is already a space; use it unchanged, or call as_space"),
]


@pytest.mark.parametrize(("metric", "objects", "kind", "message"), CONVERSIONS)
def test_objects_that_cannot_be_converted(metric, objects, kind, message):
    with pytest.raises(kind, match=message):
        make_space(objects, metric)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "gower", "dtw"])
def test_a_space_is_not_predicted(metric):
    classifier = PrototypeClassifier(REPS(0.2, metric=metric)).fit(X, Y)
    for ask in (classifier.predict, classifier.predict_proba, classifier.explain):
        with pytest.raises(TypeError, match="X is a space, but predictions need the objects themselves"):
            ask(make_space(X))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "gower", "dtw"])
def test_a_space_of_queries_is_no_training_set(metric):
    """Also where there are as many queries as prototypes."""
    prototypes = make_space(X, metric).prototypes(np.arange(6))
    for n_queries in (6, 8):
        queries = prototypes.cross(X[:n_queries])
        with pytest.raises(ValueError, match=rf"kneighbors needs the space of a training set.* {n_queries} queries"):
            queries.kneighbors(2, limit=3)
        with pytest.raises(ValueError, match="subset needs the space of a training set"):
            queries.subset([0])
        with pytest.raises(ValueError, match="pass the space of a training set"):
            REPS(2).fit(queries, Y[:n_queries])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "gower", "dtw", "precomputed"])
def test_members_of_a_subset(metric):
    objects = np.abs(X[:, :1] - X[:, 0]) if metric == "precomputed" else X
    space = make_space(objects, metric)
    mask = np.arange(30) < 3
    for members in ([0, 1, 2], mask, slice(3), np.arange(3, dtype=np.uint8), (0, 1, 2)):
        some = space.subset(members)
        np.testing.assert_array_equal(some.block(slice(None), slice(None)), space.block(np.arange(3), np.arange(3)))
    for members in ("a", None, 3, [1.5], [[1, 2], [3, 4]], [[1], [2, 3]], np.ones(7, bool), ["1"], {1, 2}):
        with pytest.raises(ValueError, match="members=.* must be positions of objects, a mask of 30 values, or a sl"):
            space.subset(members)
    for members in ([30], [-1], [0, 100]):
        with pytest.raises(ValueError, match=f"members has {members[-1]}; pass positions from 0 to 29"):
            space.subset(members)
    with pytest.raises(ValueError, match="members has 5; pass positions from 0 to 2"):
        space.subset([0, 1, 2]).subset([5])


@pytest.mark.parametrize("arguments", [{"n_neighbors": "a"}, {"n_neighbors": -1}, {"limit": None}, {"n_jobs": 0}])
def test_arguments_of_a_search(arguments):
    with pytest.raises(ValueError, match=f"{next(iter(arguments))}="):
        make_space(X).kneighbors(**{"n_neighbors": 2, "limit": 3, **arguments})
