"""Mixed attributes: every dissimilarity agrees with its definition, value by value."""

import contextlib
import json
import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import cross_val_score

from protoset import REPS, FileFormatError, PrototypeClassifier, _blocks, load, save
from protoset.spaces import DISSIMILARITIES, make_space
from protoset.spaces.attributes import Attributes
from protoset.spaces.mixed import MixedSpace

METRICS = ("gower", "heom", "hvdm", "overlap")


# the definitions, on plain rows with None where a value is missing


def naive(metric, train, labels, categorical, a, b):
    """Dissimilarity of two rows, in pure Python."""
    columns = list(zip(*train, strict=True))
    attributes = list(zip(columns, categorical, a, b, strict=True))
    if metric == "overlap":
        return sum(x != y for _, _, x, y in attributes) / len(attributes)
    if metric == "gower":
        known = [
            min(1, naive_difference(column, is_category, x, y, statistics_range))
            for column, is_category, x, y in attributes
            if x is not None and y is not None
        ]
        return sum(known) / len(known) if known else 1
    if metric == "heom":
        return math.sqrt(
            sum(
                naive_difference(column, is_category, x, y, statistics_range) ** 2
                for column, is_category, x, y in attributes
            )
        )
    total = 0.0
    for column, is_category, x, y in attributes:
        if is_category:
            total += sum(
                (naive_share(column, labels, x, label) - naive_share(column, labels, y, label)) ** 2
                for label in set(labels)
            )
        else:
            total += naive_difference(column, False, x, y, lambda known: 4 * statistics.pstdev(known)) ** 2
    return math.sqrt(total)


def naive_difference(column, is_category, x, y, unit_of):
    if x is None or y is None:
        return 1
    if is_category:
        return int(x != y)
    known = [value for value in column if value is not None]
    unit = unit_of(known) if len(set(known)) > 1 else 0
    return abs(x - y) / unit if unit else int(x != y)


def statistics_range(known):
    return max(known) - min(known)


def naive_share(column, labels, value, label):
    having = [own for other, own in zip(column, labels, strict=True) if other == value]
    return having.count(label) / len(having) if having else 0


def naive_block(metric, train, labels, categorical, queries, columns):
    return np.array([[naive(metric, train, labels, categorical, a, b) for b in columns] for a in queries])


NUMBERS = st.one_of(st.none(), st.integers(-3, 3).map(float), st.floats(-50, 50).map(lambda x: round(x, 3)))
CATEGORIES = st.sampled_from([None, "a", "b", "1", 1, 2.5, False])
UNSEEN = st.sampled_from([None, "a", "new", 7, ("t", 1), True])


@st.composite
def mixed_rows(draw):
    """Rows to learn from with their labels, further rows, and which columns are categorical."""
    categorical = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    train_row = st.tuples(*(CATEGORIES if c else NUMBERS for c in categorical)).map(list)
    query_row = st.tuples(*(UNSEEN if c else NUMBERS for c in categorical)).map(list)
    train = draw(st.lists(train_row, min_size=3, max_size=10))
    labels = ["x", "y", *draw(st.lists(st.sampled_from("xyz"), min_size=len(train) - 2, max_size=len(train) - 2))]
    queries = draw(st.lists(query_row, min_size=1, max_size=4))
    for position, is_category in enumerate(categorical):
        known = [row[position] for row in train if row[position] is not None]
        if is_category and known and all(isinstance(value, str) for value in known):
            # Numbers are refused where all categories are text.
            for row in queries:
                row[position] = "new" if isinstance(row[position], (bool, int)) else row[position]
    return train, labels, queries, categorical


@pytest.mark.parametrize("metric", METRICS)
@given(data=mixed_rows())
def test_agrees_with_its_definition(metric, data):
    train, labels, queries, categorical = data
    space = make_space(train, metric, {"categorical": categorical}, y=labels)
    block = space.block(slice(None), slice(None))
    np.testing.assert_allclose(
        block, naive_block(metric, train, labels, categorical, train, train), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(block, block.T)
    np.testing.assert_array_equal(space.block(np.array([2, 0]), slice(1, 3)), block[[2, 0], 1:3])
    kept = np.array([0, 2])
    expected = naive_block(metric, train, labels, categorical, queries, [train[0], train[2]])
    crossed = space.prototypes(kept).cross(queries)
    assert crossed.shape == (len(queries), 2)
    np.testing.assert_allclose(crossed.block(slice(None), slice(None)), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(
        space.cross(queries).block(slice(None), kept), crossed.block(slice(None), slice(None))
    )


@pytest.mark.parametrize("metric", METRICS)
@given(data=mixed_rows())
def test_state_round_trip(metric, data):
    train, labels, queries, categorical = data
    space = make_space(train, metric, {"categorical": categorical}, y=labels).prototypes(np.array([1, 2]))
    values, arrays = space.state()
    again = MixedSpace.from_state(metric, json.loads(json.dumps(values)), arrays)
    assert again.n_features == len(categorical)
    np.testing.assert_array_equal(
        again.cross(queries).block(slice(None), slice(None)), space.cross(queries).block(slice(None), slice(None))
    )


# an example by hand

PEOPLE = pd.DataFrame(
    {
        "age": [20.0, 30.0, np.nan, 60.0],
        "colour": ["red", "blue", "red", None],
        "member": [True, False, False, True],
    }
)
GROUPS = ["a", "b", "a", "b"]


def test_by_hand():
    """Ages span 40; ages 20, 30, 60 have the variance 2600 / 9."""
    heom = make_space(PEOPLE, "heom").block(slice(None), slice(None))
    assert heom[0, 1] == math.sqrt(0.25**2 + 1 + 1)
    assert heom[0, 2] == math.sqrt(1 + 0 + 1)
    assert heom[3, 0] == math.sqrt(1 + 1 + 0)
    assert heom[2, 2] == 1
    gower = make_space(PEOPLE, "gower").block(slice(None), slice(None))
    assert gower[0, 1] == (0.25 + 1 + 1) / 3
    assert gower[0, 2] == (0 + 1) / 2
    assert gower[0, 3] == (1 + 0) / 2
    overlap = make_space(PEOPLE, "overlap").block(slice(None), slice(None))
    np.testing.assert_array_equal(overlap[0], [0, 1, 2 / 3, 2 / 3])
    hvdm = make_space(PEOPLE, "hvdm", y=GROUPS).block(slice(None), slice(None))
    # red is always a, blue always b, as is the missing colour; members are a in one of two, others too.
    assert hvdm[0, 1] == pytest.approx(math.sqrt(100 / (16 * 2600 / 9) + 2 + 0))
    assert hvdm[1, 3] == pytest.approx(math.sqrt(900 / (16 * 2600 / 9) + 0 + 0))
    assert hvdm[0, 2] == 1


def test_queries_beyond_the_training_range():
    X = [[0.0], [10.0]]
    assert make_space(X, "gower").cross([[40.0]]).block(slice(None), slice(None)).tolist() == [[1, 1]]
    assert make_space(X, "heom").cross([[40.0]]).block(slice(None), slice(None)).tolist() == [[4, 3]]
    assert make_space(X, "hvdm", y=[0, 1]).cross([[40.0]]).block(slice(None), slice(None)).tolist() == [[2, 1.5]]


@pytest.mark.parametrize("metric", METRICS)
def test_a_constant_attribute_is_equal_or_not(metric):
    space = make_space([[5.0], [5.0], [None]], metric, y=[0, 1, 1])
    assert space.block(slice(0, 2), slice(0, 2)).tolist() == [[0, 0], [0, 0]]
    assert space.cross([[5.0], [5.001]]).block(slice(None), slice(0, 2)).tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize("metric", METRICS)
def test_an_attribute_that_is_never_known(metric):
    space = make_space([[None, 0.0], [np.nan, 1.0]], metric, y=[0, 1])
    assert np.isfinite(space.cross([[3.0, 0.0]]).block(slice(None), slice(None))).all()
    space = make_space([[None, 0.0], [np.nan, 1.0]], metric, {"categorical": [0]}, y=[0, 1])
    assert np.isfinite(space.cross([["new", 0.0]]).block(slice(None), slice(None))).all()


@pytest.mark.parametrize("metric", ["gower", "heom", "hvdm"])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e140])
def test_extreme_numbers_stay_finite(metric, scale):
    X = [[0.0], [scale], [3 * scale]]
    space = make_space(X, metric, y=[0, 1, 1])
    plain = make_space([[0.0], [1.0], [3.0]], metric, y=[0, 1, 1])
    np.testing.assert_allclose(space.block(slice(None), slice(None)), plain.block(slice(None), slice(None)), rtol=1e-9)
    assert np.isfinite(space.cross([[1e150]]).block(slice(None), slice(None))).all()


def test_nothing_is_learned_from_queries():
    train = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    query = pd.DataFrame({"size": [2.5], "colour": ["blue"]})
    far = pd.DataFrame({"size": [900.0], "colour": ["green"]})
    for metric in METRICS:
        space = make_space(train, metric, y=[0, 1, 1])
        before = space.block(slice(None), slice(None))
        alone = space.cross(query).block(slice(None), slice(None))
        together = space.cross(pd.concat([far, query])).block(slice(None), slice(None))
        np.testing.assert_array_equal(alone[0], together[1])
        np.testing.assert_array_equal(space.block(slice(None), slice(None)), before)


@pytest.mark.parametrize("metric", METRICS)
def test_prototypes_keep_what_all_of_the_training_set_taught(metric):
    X, y = people(60)
    space = make_space(X, metric, y=y)
    kept = np.array([3, 30, 31])
    np.testing.assert_array_equal(
        space.prototypes(kept).cross(X).block(slice(None), slice(None)), space.block(slice(None), kept)
    )


# forms of the input


def people(n, seed=0):
    """Return a DataFrame with columns of many kinds, and labels that depend on some of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    income = rng.normal(size=n) + 1.5 * y
    income[rng.random(n) < 0.1] = np.nan
    colour = np.array(["red", "green", "blue"], dtype=object)[(y + rng.integers(0, 2, n)) % 3]
    colour[rng.random(n) < 0.1] = None
    frame = pd.DataFrame(
        {
            "income": income,
            "colour": colour,
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
            "member": rng.random(n) < 0.5,
            "children": pd.array(rng.integers(0, 4, n), dtype="Int64"),
            "town": rng.integers(100, 105, n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "children"] = pd.NA
    return frame, np.array(["no", "yes"])[y]


def as_rows(frame):
    return [[None if pd.isna(value) else value for value in row] for row in frame.itertuples(index=False)]


@pytest.mark.parametrize("metric", METRICS)
def test_forms_agree(metric):
    frame, y = people(40)
    queries, _ = people(9, seed=1)
    rows, query_rows = as_rows(frame), as_rows(queries)
    space = make_space(frame, metric, {"categorical": ["town"]}, y=y)
    expected = space.block(slice(None), slice(None))
    crossed = space.cross(queries).block(slice(None), slice(None))
    forms = [
        (frame, [5]),
        (frame.set_axis(list("abcdef"), axis=1), ["f"]),
        (frame.astype({"town": "category"}), None),
        (frame.astype({"colour": object, "grade": object, "income": "Float64", "member": "boolean"}), {"town"}),
        (rows, [1, 2, 3, 5]),
        (np.array(rows, dtype=object), np.array([False, True, True, True, False, True])),
        (tuple(map(tuple, rows)), (1, 2, 3, 5)),
    ]
    for form, categorical in forms:
        other = make_space(form, metric, {"categorical": categorical}, y=y)
        np.testing.assert_array_equal(other.block(slice(None), slice(None)), expected)
        for form_of_queries in (query_rows, np.array(query_rows, dtype=object)):
            np.testing.assert_array_equal(other.cross(form_of_queries).block(slice(None), slice(None)), crossed)


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT")])
def test_missing_values_in_every_guise(missing):
    X = np.array([[1.0, "a"], [missing, missing], [3.0, "b"]], dtype=object)
    block = make_space(X, "heom", {"categorical": [1]}).block(slice(None), slice(None))
    assert block.tolist() == [[0, math.sqrt(2), math.sqrt(2)], [math.sqrt(2)] * 3, [math.sqrt(2), math.sqrt(2), 0]]


def test_numeric_dtypes_of_pandas():
    for dtype in ("int8", "uint16", "float32", "Int64", "Float32", "Sparse[float64]"):
        frame = pd.DataFrame({"a": pd.Series([0, 1, 4]).astype(dtype)})
        assert make_space(frame, "gower").block(slice(None), slice(None))[0].tolist() == [0, 0.25, 1], dtype


def test_categories_are_compared_as_python_does():
    """1, 1.0 and True are one, "1" is another; a column may mix types that have no order."""
    column = [[1], ["1"], [1.0], [True], [None], [("a", 2)], [np.int64(1)], [np.str_("1")]]
    block = make_space(column, "overlap", {"categorical": [0]}).block(slice(None), slice(None))
    assert block[0].tolist() == [0, 1, 0, 0, 1, 1, 0, 1]
    assert block[1].tolist() == [1, 0, 1, 1, 1, 1, 1, 0]


def test_a_whole_number_that_became_a_float_stays_its_category():
    space = make_space(pd.DataFrame({"town": [1, 2, 3]}), "overlap", {"categorical": ["town"]})
    queries = pd.DataFrame({"town": [2.0, np.nan]})
    assert space.cross(queries).block(slice(None), slice(None)).tolist() == [[1, 0, 1], [1, 1, 1]]


def test_names_go_before_positions():
    frame = pd.DataFrame([[1, 5], [2, 5], [9, 6]], columns=[1, 0])
    block = make_space(frame, "heom", {"categorical": [0]}).block(slice(None), slice(None))
    assert block[0].tolist() == [0, 0.125, math.sqrt(2)]


def test_dates_may_be_categories():
    dates = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02", None, "2020-01-01"])})
    for X, categorical in ((dates, ["day"]), (dates.to_numpy(), [0])):
        block = make_space(X, "overlap", {"categorical": categorical}).block(slice(None), slice(None))
        assert block[0].tolist() == [0, 1, 1, 0]


# searches and estimators


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_searches_agree_with_the_block_whatever_its_size(metric, n_jobs, monkeypatch):
    X, y = people(80)
    space = make_space(X[["colour", "children", "member", "grade"]], metric, y=y)
    matrix = space.block(slice(None), slice(None))
    expected = make_space(matrix, "precomputed").kneighbors(6, limit=80)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 3000)
    got = space.kneighbors(6, limit=80, n_jobs=n_jobs)
    for name in ("counts", "indices", "distances", "closed"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))
    positions, distances = space.nearest(slice(None), np.arange(20), n_jobs=n_jobs)
    np.testing.assert_array_equal(positions, matrix[:, :20].argmin(axis=1))
    np.testing.assert_array_equal(distances, matrix[:, :20].min(axis=1))


@pytest.mark.parametrize("metric", METRICS)
def test_estimators(metric, tmp_path):
    X, y = people(120)
    selector = REPS(0.2, metric=metric, metric_params={"categorical": ["town"]})
    classifier = PrototypeClassifier(selector).fit(X, y)
    assert classifier.n_features_in_ == 6
    assert classifier.feature_names_in_.tolist() == X.columns.tolist()
    save(classifier, tmp_path / "model")
    again = load(tmp_path / "model")
    queries, _ = people(30, seed=1)
    np.testing.assert_array_equal(again.predict(queries), classifier.predict(queries))
    np.testing.assert_array_equal(again.predict_proba(queries), classifier.predict_proba(queries))
    np.testing.assert_array_equal(again.explain(queries).distances, classifier.explain(queries).distances)
    assert (cross_val_score(PrototypeClassifier(selector), X, y, cv=3) > 0.5).all()
    by_position = REPS(0.2, metric=metric, metric_params={"categorical": [1, 2, 3, 5]})
    for form in (as_rows(X), np.array(as_rows(X), dtype=object)):
        np.testing.assert_array_equal(by_position.fit(form, y).sample_indices_, selector.fit(X, y).sample_indices_)
        assert (cross_val_score(PrototypeClassifier(by_position), form, y, cv=3) > 0.5).all()
    kept, _ = selector.fit_resample(X, y)
    pd.testing.assert_frame_equal(kept, X.iloc[selector.sample_indices_])


def test_the_size_may_be_chosen():
    X, y = people(80)
    assert REPS(metric="gower").fit(X, y).size_curve_ is not None


def test_credit_data(data_folder):
    """Numbers and categories of credit applications: better than always the more frequent answer."""
    lines = (data_folder / "keel" / "crx.dat").read_text().splitlines()
    nominal = [
        place for place, line in enumerate(line for line in lines if line.startswith("@attribute")) if "{" in line
    ]
    rows = [[value.strip() for value in line.split(",")] for line in lines if line and not line.startswith("@")]
    frame = pd.DataFrame(rows)
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()
    X = X.astype({column: float for column in X.columns if column not in nominal})
    scores = cross_val_score(PrototypeClassifier(REPS(0.1, metric="heom")), X, y, cv=5)
    assert scores.mean() > pd.Series(y).value_counts(normalize=True).max() + 0.1


# refusals

FRAME = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "red"]})
ROWS = [[1.0, "red"], [2.0, "blue"], [3.0, "red"]]

TRAINING = [
    (
        ROWS,
        None,
        ValueError,
        r"X: column 1 holds values such as 'red' in rows 0, 1, 2 where numbers are expected; .*add 1",
    ),
    (np.array([["1", "a"]]), [1], ValueError, "X: column 0 holds values such as '1' in row 0 .*convert it to numbers"),
    (
        FRAME.assign(size=[1, np.inf, 2, -np.inf]),
        None,
        ValueError,
        r"column 'size' holds infinity.* in rows 1, 3; remove",
    ),
    ([[10**400], [1]], None, ValueError, "column 0 holds infinity or numbers beyond 1e.150 in row 0"),
    (
        pd.DataFrame({"age": pd.to_timedelta(["3 days"])}),
        None,
        ValueError,
        "column 'age' holds values such as Timedelta",
    ),
    (np.array([[1 + 2j], [1]]), None, ValueError, r"column 0 holds values such as \(1\+2j\)"),
    ([[[1], 2]], [0], TypeError, r"column 0 holds \[1\] in row 0, which cannot be a category"),
    (np.zeros((1, 2, 3)), [0], ValueError, "Expected 2D array, got 3D array"),
    (
        [[1, 2], [3]],
        None,
        ValueError,
        "the rows of X differ in length: 2 values in row 0, other numbers in row 1; pass a value",
    ),
    ([1.0, 2.0], None, ValueError, "Expected 2D array, got 1D array instead. Reshape your data"),
    ([[1.0, 2.0], 3.0], None, ValueError, "Expected 2D array, got 1D array"),
    ([[], []], None, ValueError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
    ([], None, ValueError, "Expected 2D array, got 1D array"),
    (FRAME["size"], None, ValueError, "Expected 2D array, got 1D"),
    (None, None, ValueError, "Expected 2D array, got 0D"),
    (np.empty((0, 2)), None, ValueError, r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\)"),
    (FRAME.iloc[:, :0], None, ValueError, r"Found array with 0 feature\(s\)"),
    (sparse.csr_matrix([[1.0]]), None, TypeError, "metric='heom' does not take a sparse matrix; pass .*toarray"),
    (np.ma.masked_less([[1.0], [2.0]], 2), None, TypeError, "X is a masked array"),
    (
        pd.DataFrame({"tags": ["a", ["b"]]}),
        None,
        TypeError,
        r"column 'tags' holds \['b'\] in row 1, which cannot be a cat",
    ),
    (
        FRAME,
        ["color"],
        ValueError,
        r"categorical names the column 'color', which X does not have \(did you mean 'colour'",
    ),
    (FRAME, [2], ValueError, "the column 2, which X does not have; pass a name or a position from 0 to 1"),
    (FRAME, [-1], ValueError, "the column -1, which X does not have"),
    (FRAME, [True, 1], ValueError, "the column True, which X does not have"),
    (FRAME, np.array([[0, 1]]), ValueError, r"the column array\(\[0, 1\]\), which X does not have"),
    (ROWS, ["size"], ValueError, "the column 'size', which X does not have; pass a position from 0 to 1"),
    (ROWS, [1.0], ValueError, "the column 1.0, which X does not have"),
    (ROWS, [True], ValueError, "categorical is a mask of 1 columns, but X has 2; pass one truth value per column"),
    (FRAME, "colour", TypeError, r"categorical='colour' must be a list.*pass categorical=\['colour'\]"),
    (FRAME, 1, TypeError, r"categorical=1 must be a list of columns or a mask; pass categorical=\[1\]"),
]


@pytest.mark.parametrize(("X", "categorical", "kind", "message"), TRAINING, ids=range(len(TRAINING)))
def test_training_sets_that_are_refused(X, categorical, kind, message):
    with pytest.raises(kind, match=message):
        make_space(X, "heom", {"categorical": categorical})


QUERIES = [
    (FRAME[["size"]], "X has 1 features, but heom is expecting 2 features as input; pass the same columns"),
    (FRAME[["colour", "size"]], "'size' holds numbers such as 1.0 in rows .* where fit had text such as 'blue'"),
    (
        FRAME.assign(size=["1", "2", None, "x"]),
        "column 'size' holds values such as '1' in rows 0, 1, 3 where fit had numbers",
    ),
    ([["red", "red"]], "column 0 holds values such as 'red' in row 0 where fit had numbers; pass the same columns"),
    ([[1.0, 3]], "column 1 holds numbers such as 3 in row 0 where fit had text .* with categories as text"),
    (np.array([[1.0, 3.0]]), r"column 1 holds numbers such as 3\.0 in row 0 where fit had text"),
    ([[1.0, "red"], [1.0, None], [1.0, True]], "column 1 holds numbers such as True in row 2 where fit had text"),
    (FRAME.assign(size=np.inf), "column 'size' holds infinity"),
]


@pytest.mark.parametrize(("X", "message"), QUERIES, ids=range(len(QUERIES)))
def test_queries_that_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        make_space(FRAME, "heom").cross(X)


def test_queries_of_other_dtypes_that_make_sense():
    space = make_space(FRAME, "heom")
    expected = space.cross([[2.0, None]]).block(slice(None), slice(None))
    for query in (
        pd.DataFrame({"size": [2], "colour": [np.nan]}),
        pd.DataFrame({"size": pd.Series([2], dtype=object), "colour": pd.Series([pd.NA], dtype="Int64")}),
        pd.DataFrame({"size": pd.Categorical([2]), "colour": [None]}),
    ):
        np.testing.assert_array_equal(space.cross(query).block(slice(None), slice(None)), expected)
    with pytest.raises(ValueError, match="feature names should match"):
        PrototypeClassifier(REPS(2, metric="heom")).fit(FRAME, GROUPS).predict(FRAME.rename(columns={"size": "height"}))


def test_labels_for_hvdm():
    with pytest.raises(ValueError, match="metric='hvdm' learns from the labels and requires y .*or use metric='heom'"):
        make_space(FRAME, "hvdm")
    with pytest.raises(ValueError, match="y has 2 labels for 4 objects"):
        make_space(FRAME, "hvdm", y=[0, 1])
    with pytest.raises(ValueError, match=r"does not know \['categories'\]; it takes \['categorical'\]"):
        make_space(FRAME, "hvdm", {"categories": [0]}, y=GROUPS)


@pytest.mark.parametrize("value", [pd.Timestamp("2020-01-01"), pd.Interval(0, 1), (1, 2), b"bytes"])
def test_categories_that_a_file_cannot_hold(value, tmp_path):
    frame = pd.DataFrame({"size": [1.0, 2, 3, 4], "when": pd.Series([value, "x", "y", None], dtype=object)})
    classifier = PrototypeClassifier(REPS(2, metric="gower")).fit(frame, GROUPS)
    message = f"column 'when' has categories of the type {type(value).__name__}, .*convert the column to str before fit"
    with pytest.raises(TypeError, match=message):
        save(classifier, tmp_path / "model")
    assert not list(tmp_path.iterdir())


DAMAGE = {
    "no categories": lambda v, a: v.pop("categories"),
    "categories as text": lambda v, a: v.update(categories="ab"),
    "no attribute": lambda v, a: v.update(categories=[]),
    "unknown type": lambda v, a: v["categories"][1][0].__setitem__(0, "complex"),
    "other type": lambda v, a: v["categories"][1][0].__setitem__(0, "int"),
    "nan as a category": lambda v, a: v["categories"][1].__setitem__(0, ["float", np.nan]),
    "repeated category": lambda v, a: v["categories"].__setitem__(1, [["str", "red"], ["str", "red"]]),
    "category lost": lambda v, a: v["categories"].__setitem__(1, []),
    "attribute too many": lambda v, a: v["categories"].append(None),
    "no numbers": lambda v, a: a.pop("numbers"),
    "no objects": lambda v, a: a.update(numbers=a["numbers"][:0], codes=a["codes"][:0]),
    "other numbers": lambda v, a: a.update(numbers=a["numbers"].astype(np.float32)),
    "infinite number": lambda v, a: a.update(numbers=np.full_like(a["numbers"], np.inf)),
    "fewer codes": lambda v, a: a.update(codes=a["codes"][1:]),
    "wide codes": lambda v, a: a.update(codes=a["codes"].astype(np.int64)),
    "code too high": lambda v, a: a.update(codes=a["codes"] + 2),
    "code too low": lambda v, a: a.update(codes=a["codes"] - 3),
    "no divisors": lambda v, a: a.pop("divisors"),
    "negative divisor": lambda v, a: a.update(divisors=-a["divisors"]),
    "missing divisor": lambda v, a: a.update(divisors=a["divisors"][:0]),
    "nan divisor": lambda v, a: a.update(divisors=a["divisors"] * np.nan),
    "no shares": lambda v, a: a.pop("shares"),
    "shares above 1": lambda v, a: a.update(shares=a["shares"] * 2),
    "fewer shares": lambda v, a: a.update(shares=a["shares"][1:]),
    "flat shares": lambda v, a: a.update(shares=a["shares"][:, 0]),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damaged_states(case):
    values, arrays = make_space(FRAME, "hvdm", y=GROUPS).state()
    MixedSpace.from_state("hvdm", values, arrays)
    DAMAGE[case](values, arrays)
    with pytest.raises((ValueError, KeyError)):
        MixedSpace.from_state("hvdm", values, arrays)


def test_no_flipped_byte_breaks_loading(tmp_path):
    place = tmp_path / "model"
    save(PrototypeClassifier(REPS(2, metric="hvdm")).fit(FRAME, GROUPS), place)
    expected = load(place).predict(FRAME)
    content = bytearray(place.read_bytes())
    for position in range(0, len(content), 3):
        content[position] ^= 0x5A
        place.write_bytes(content)
        with contextlib.suppress(FileFormatError):
            np.testing.assert_array_equal(load(place).predict(FRAME), expected)
        content[position] ^= 0x5A


def test_what_the_registry_says():
    for metric in METRICS:
        record = DISSIMILARITIES[metric]
        assert (record.kind, record.parameters, record.symmetric) == ("mixed attributes", ("categorical",), True)
        assert record.needs_fitting == (metric != "overlap")


def test_categories_are_numbered_by_value():
    """The order of the rows does not matter; types may be mixed and values missing."""
    values = ["b", 2, None, "a", 10, (1, 2), 2.0, np.nan, 1]
    for order in (np.arange(9), np.arange(9)[::-1]):
        X = pd.DataFrame({"c": pd.Series([values[row] for row in order], dtype=object)})
        attributes, table = Attributes.learn(X, None, "heom")
        assert attributes.categories == ({1: 0, 2: 1, 10: 2, "a": 3, "b": 4, (1, 2): 5},)
        assert list(attributes.categories[0].values()) == list(range(6))
        assert table.codes[np.argsort(order), 0].tolist() == [4, 1, -1, 3, 2, 5, 1, -1, 0]


def test_a_saved_space_keeps_the_order_of_its_categories():
    """Files of older versions have categories in the order of the rows."""
    space = make_space(pd.DataFrame({"c": ["a", "b", "b"]}), "heom")
    values, arrays = space.state()
    assert values["categories"] == [[["str", "a"], ["str", "b"]]]
    older = {"categories": [[["str", "b"], ["str", "a"]]]}
    restored = type(space).from_state("heom", older, arrays | {"codes": 1 - arrays["codes"]})
    assert restored.objects.tolist() == [["a"], ["b"], ["b"]]
    queries = pd.DataFrame({"c": ["b", "a", "c", None]})
    np.testing.assert_array_equal(
        restored.cross(queries).block(slice(None), slice(None)), space.cross(queries).block(slice(None), slice(None))
    )
