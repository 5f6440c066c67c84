"""Data that nearest neighbours can hardly learn from: one warning per fit, and none on the usual data sets."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from protoset import REPS, PrototypeClassifier, Refined
from protoset.datasets import Attribute, Dataset, read
from protoset.exceptions import DoubtfulDataWarning
from protoset.experiments import compare, validate
from protoset.models import fit_model, prepare
from protoset.selectors import FCNN
from protoset.selectors.base import warn_of_classes
from protoset.spaces import make_space

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 100)
SIZES = (Y + RNG.normal(0, 0.3, 100)).round(3)
NOTES = np.array([f"note {row}" for row in range(100)])


def caught(function):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function()
    assert {warning.category for warning in found} <= {DoubtfulDataWarning}
    return [str(warning.message) for warning in found]


def frame(notes=NOTES, **more):
    return pd.DataFrame({"size": SIZES, "note": notes, **more})


def dataset(notes=NOTES, labels=Y):
    objects = np.column_stack([SIZES.astype(object), np.array(notes, object)])
    attributes = (Attribute("size", "real"), Attribute("note", "nominal", tuple(dict.fromkeys(notes))))
    return Dataset("made", "mixed", objects, np.asarray(labels), attributes)


SELECTORS = [FCNN(), REPS(), Refined(REPS(8)), REPS(0.1)]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_a_column_of_unique_texts(selector):
    expected = (
        "metric='auto' takes the column 'note' (100 categories in 100 objects) as categories; hardly any two objects "
        "share one, so that nearly all distances grow by the same amount and prototypes stand for themselves alone; "
        "leave the column out, group the values, convert dates to a datetime type, or compare one column of texts "
        "alone by metric='levenshtein'"
    )
    assert caught(lambda: selector.fit(frame(), Y)) == [expected]
    assert caught(lambda: PrototypeClassifier(selector).fit(frame(), Y)) == [expected]
    assert caught(lambda: PrototypeClassifier(selector).fit(frame().drop(columns="note"), Y)) == []


def test_a_data_set_with_unique_texts():
    assert len(caught(lambda: fit_model(dataset(), n_prototypes=8))) == 1
    assert len(caught(lambda: prepare(dataset()))) == 1
    assert caught(lambda: prepare(dataset(), metric="gower")) == []
    # Once for all folds, not once per fold.
    assert len(caught(lambda: validate(dataset(), "FCNN", folds=5))) == 1
    assert len(caught(lambda: compare(dataset(), ["FCNN", "NoPS"], folds=3))) == 1


def test_the_user_who_names_a_metric_knows():
    assert caught(lambda: FCNN(metric="gower").fit(frame(), Y)) == []
    assert caught(lambda: FCNN().fit(make_space(frame(), "gower"), Y)) == []


def test_which_columns_are_doubtful():
    half = np.array([f"note {row // 2}" for row in range(100)])
    more = np.where(np.arange(100) < 3, np.char.add("my ", NOTES), half)
    assert caught(lambda: FCNN().fit(frame(half), Y)) == []
    assert len(caught(lambda: FCNN().fit(frame(more), Y))) == 1
    # Missing values are no categories; few values say nothing; all columns are in one message.
    assert caught(lambda: FCNN().fit(frame(np.where(np.arange(100) < 15, NOTES, None)), Y)) == []
    assert caught(lambda: FCNN().fit(frame().iloc[:19], Y[:19])) == []
    (message,) = caught(lambda: FCNN().fit(frame(town=NOTES, a=NOTES, b=NOTES, c=half), Y))
    assert "takes the columns 'note' (100 categories in 100 objects), 'town' (" in message
    assert "objects) and 1 more as categories" in message
    # Dates are numbers.
    days = pd.date_range("2020-01-01", periods=100)
    assert caught(lambda: FCNN().fit(frame(half, day=days, zoned=days.tz_localize("UTC")), Y)) == []
    # Strings alone are compared as strings.
    assert caught(lambda: FCNN().fit(NOTES.tolist(), Y)) == []


def test_thousands_of_categories():
    n_objects = 5000
    towns = RNG.integers(0, 1200, n_objects).astype(str)
    table = pd.DataFrame({"size": RNG.normal(size=n_objects), "town": towns})
    (message,) = caught(lambda: make_space(table))
    assert "'town' (1,1" in message or "'town' (1,2" in message
    assert caught(lambda: make_space(table.assign(town=towns.astype(int) % 900).astype({"town": str}))) == []


def test_polars():
    pl = pytest.importorskip("polars", reason="no polars: pip install polars")
    assert caught(lambda: FCNN().fit(pl.DataFrame(frame().to_dict("list")), Y)) == caught(
        lambda: FCNN().fit(frame(), Y)
    )


@pytest.mark.parametrize("selector", [FCNN(), REPS(), REPS(0.7), Refined(REPS(65))], ids=repr)
def test_labels_that_are_ids(selector):
    y = np.arange(100) % 60
    (message,) = caught(lambda: PrototypeClassifier(selector).fit(SIZES[:, None], y))
    assert message == (
        "y has 60 classes in 100 objects, and 20 of the classes have one object. An object without a neighbour of its "
        "class is always kept, and no error can be measured for it. If the labels are ids or texts, choose another "
        "column; otherwise merge or remove the rare classes"
    )


def test_labels_of_a_data_set_are_judged_once():
    y = np.concatenate([np.arange(60), np.zeros(40, int)])
    made = Dataset("made", "vectors", SIZES[:, None], y)
    for function in (
        lambda: fit_model(made, "FCNN"),
        lambda: validate(made, "FCNN", folds=2),
        lambda: compare(made, ["FCNN"], folds=2),
    ):
        (message,) = caught(function)
        assert message.startswith("y has 60 classes in 100 objects, and 59 of the classes have one object")


def test_which_labels_are_doubtful():
    (message,) = caught(lambda: warn_of_classes(np.arange(10_000) % 1000))
    assert message.startswith("y has 1,000 classes. At least one prototype of each class is kept")
    assert caught(lambda: warn_of_classes(np.arange(10_000) % 999)) == []
    assert caught(lambda: warn_of_classes(np.arange(40) % 20)) == []
    assert len(caught(lambda: warn_of_classes(np.arange(39) % 20))) == 1
    assert caught(lambda: warn_of_classes(np.arange(20))) == []
    assert len(caught(lambda: warn_of_classes(np.arange(21)))) == 1
    assert caught(lambda: warn_of_classes(np.repeat(np.arange(10), [91, *[1] * 9]))) == []
    assert len(caught(lambda: warn_of_classes(np.repeat(np.arange(11), [90, *[1] * 10])))) == 1


def test_the_usual_data_sets_are_not_doubtful(data_folder):
    paths = [*sorted((data_folder / "keel").glob("*.dat")), data_folder / "strings" / "names"]
    assert len(paths) == 35
    for path in paths:
        known = read(path)
        assert caught(lambda known=known: prepare(known)) == []
        assert caught(lambda known=known: warn_of_classes(np.unique(known.labels, return_inverse=True)[1])) == []
    assert caught(lambda: warn_of_classes(np.arange(20_000) % 26)) == []


def test_a_matrix_that_is_taken_as_vectors():
    X = np.random.default_rng(0).normal(size=(12, 2))
    y, matrix = np.arange(12) % 2, squareform(pdist(X))
    with pytest.warns(DoubtfulDataWarning, match="distances between 12 objects.*metric='precomputed'"):
        REPS(4).fit(matrix, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        REPS(4, metric="precomputed").fit(matrix, y)
        REPS(4, metric="euclidean").fit(matrix, y)
        REPS(4).fit(matrix + np.eye(12), y)
