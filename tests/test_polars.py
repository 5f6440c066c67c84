"""DataFrames and Series of polars work as those of pandas: the same prototypes, the same predictions."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protoset import REPS, PrototypeClassifier, load, save
from protoset.selectors import FCNN, KMedoids
from protoset.spaces import choose_metric, make_space

pl = pytest.importorskip("polars", reason="no polars: pip install polars")

X, Y = load_iris(return_X_y=True)
NAMES = ["length", "width", "petal_length", "petal_width"]
SPECIES = np.array(["setosa", "versicolor", "virginica"])[Y]


def columns(seed=0, n_objects=90):
    """Columns of all kinds, with missing values, and labels that depend on some of them."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n_objects)
    missing = rng.random((6, n_objects)) < 0.1
    size = labels + rng.normal(0, 0.5, n_objects)
    count = labels * 3 + rng.integers(0, 4, n_objects)
    colour = np.array(["red", "blue", "green"])[(labels + (rng.random(n_objects) < 0.2)) % 3]
    table = {
        "size": [None if gone else float(value) for value, gone in zip(size, missing[0], strict=True)],
        "count": [None if gone else int(value) for value, gone in zip(count, missing[1], strict=True)],
        "whole": count.tolist(),
        "colour": [None if gone else str(value) for value, gone in zip(colour, missing[2], strict=True)],
        "shape": np.array(["round", "flat"])[rng.integers(0, 2, n_objects)].tolist(),
        "rank": np.array(["low", "mid", "high"])[labels].tolist(),
        "young": [None if gone else bool(value) for value, gone in zip(labels == 0, missing[3], strict=True)],
        "old": (labels == 2).tolist(),
        "town": rng.integers(0, 4, n_objects).tolist(),
    }
    return table, np.array(["a", "b", "c"])[labels]


def frames(table):
    """The same table in pandas and in polars, each with its own types."""
    ours = pd.DataFrame(
        {
            **table,
            "count": pd.array(table["count"], dtype="Int64"),
            "shape": pd.Categorical(table["shape"]),
            "rank": pd.Categorical(table["rank"], categories=["low", "mid", "high"], ordered=True),
            "young": pd.array(table["young"], dtype="boolean"),
        }
    )
    theirs = pl.DataFrame(
        table, schema_overrides={"shape": pl.Categorical, "rank": pl.Enum(["low", "mid", "high"]), "size": pl.Float64}
    )
    return ours, theirs


@pytest.mark.parametrize("metric", ["auto", "gower", "heom", "hvdm", "overlap"])
@pytest.mark.parametrize("categorical", [None, ["town"], [8], ["whole", "town"]])
def test_mixed_attributes(metric, categorical):
    table, y = columns()
    ours, theirs = frames(table)
    new_ours, new_theirs = frames(columns(1, 40)[0])
    params = None if categorical is None else {"categorical": categorical}
    fitted = [
        PrototypeClassifier(FCNN(metric=metric, metric_params=params)).fit(frame, labels)
        for frame, labels in ((ours, pd.Series(y)), (theirs, pl.Series(y)))
    ]
    assert fitted[0].selector_.metric_ == fitted[1].selector_.metric_
    np.testing.assert_array_equal(*(classifier.sample_indices_ for classifier in fitted))
    for expected, found in ((new_ours, new_theirs), (new_theirs, new_ours)):
        np.testing.assert_array_equal(fitted[0].predict(expected), fitted[1].predict(found))
        np.testing.assert_array_equal(fitted[0].predict_proba(expected), fitted[1].predict_proba(found))
    assert fitted[1].feature_names_in_.tolist() == list(table)
    assert fitted[1].classes_.tolist() == ["a", "b", "c"]


def test_files_and_categories_of_polars(tmp_path):
    table, y = columns()
    ours, theirs = frames(table)
    classifier = PrototypeClassifier(FCNN()).fit(theirs, y)
    save(classifier, tmp_path / "c.protoset")
    again = load(tmp_path / "c.protoset")
    np.testing.assert_array_equal(again.predict(theirs), classifier.predict(ours))


@pytest.mark.parametrize("labels", [SPECIES, Y, Y == 1])
def test_vectors(labels):
    ours, theirs = pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES)
    assert choose_metric(theirs) == choose_metric(ours) == "euclidean"
    selector, other = REPS(9).fit(ours, pd.Series(labels)), REPS(9).fit(theirs, pl.Series(labels))
    np.testing.assert_array_equal(selector.sample_indices_, other.sample_indices_)
    assert other.feature_names_in_.tolist() == NAMES
    assert other.classes_.tolist() == selector.classes_.tolist()
    classifier = PrototypeClassifier(REPS(9)).fit(theirs, pl.Series(labels))
    np.testing.assert_array_equal(classifier.predict(theirs), classifier.predict(ours))
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(theirs[:, ::-1])


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt32, pl.Float32, pl.Decimal(10, 2)])
def test_other_numbers(dtype):
    values = np.round(X[:, :2] * 10)
    frame = pl.DataFrame(values, schema=NAMES[:2]).cast(dtype)
    assert choose_metric(frame) == "euclidean"
    expected = FCNN(metric="gower").fit(values, Y).sample_indices_
    np.testing.assert_array_equal(FCNN(metric="gower").fit(frame, Y).sample_indices_, expected)
    expected = FCNN().fit(values, Y).sample_indices_
    np.testing.assert_array_equal(FCNN().fit(frame, Y).sample_indices_, expected)


def test_labels_of_all_kinds():
    for series in (
        pl.Series(SPECIES),
        pl.Series(SPECIES, dtype=pl.Categorical),
        pl.Series(SPECIES, dtype=pl.Enum(["virginica", "setosa", "versicolor"])),
        pl.Series(Y),
        pl.Series(Y, dtype=pl.UInt8),
    ):
        selector = FCNN().fit(X, series)
        assert selector.classes_.tolist() == sorted(set(series.to_list()))
        np.testing.assert_array_equal(selector.sample_indices_, FCNN().fit(X, Y).sample_indices_)
    for missing in (pl.Series([*SPECIES[:-1], None]), pl.Series([*Y[:-1].tolist(), None])):
        with pytest.raises(ValueError, match="contains NaN, infinity or None at row 149"):
            FCNN().fit(X, missing)


def test_resampling():
    table, y = columns()
    ours, theirs = frames(table)
    rows, labels = FCNN().fit_resample(theirs, pl.Series("kind", y))
    expected_rows, expected_labels = FCNN().fit_resample(ours, pd.Series(y))
    assert isinstance(rows, pl.DataFrame)
    assert rows.schema == theirs.schema
    assert isinstance(labels, pl.Series)
    assert labels.name == "kind"
    assert labels.to_list() == expected_labels.tolist()
    assert rows["whole"].to_list() == expected_rows["whole"].tolist()
    assert isinstance(FCNN().fit_resample(theirs, y)[1], np.ndarray)
    distances = make_space(X[::5]).block(slice(None), slice(None))
    square = pl.DataFrame(distances, schema=[f"o{row}" for row in range(30)])
    kept, labels = KMedoids(6, metric="precomputed", random_state=0).fit_resample(square, pl.Series(SPECIES[::5]))
    assert isinstance(kept, pl.DataFrame)
    positions = [int(name[1:]) for name in kept.columns]
    np.testing.assert_array_equal(kept.to_numpy(), distances[np.ix_(positions, positions)])
    assert labels.to_list() == SPECIES[::5][positions].tolist()


def test_a_matrix_in_a_frame_has_names():
    distances = make_space(X[::5]).block(slice(None), slice(None))
    names = [f"o{row}" for row in range(30)]
    frame = pl.DataFrame(distances, schema=names)
    classifier = PrototypeClassifier(FCNN(metric="precomputed")).fit(frame, Y[::5])
    assert classifier.feature_names_in_.tolist() == names
    kept = [names[row] for row in classifier.sample_indices_]
    np.testing.assert_array_equal(classifier.predict(frame), classifier.predict(frame[kept]))
    with pytest.raises(ValueError, match="put the columns in the order of fit"):
        classifier.predict(frame[kept[::-1]])


def test_strings_and_series():
    pytest.importorskip("rapidfuzz", reason="no rapidfuzz: pip install 'protoset[strings]'")
    words, kinds = ["anna", "hanna", "otto", "lotto", "hannah", "motto"], [0, 0, 1, 1, 0, 1]
    expected = FCNN().fit(words, kinds).sample_indices_
    for strings in (
        pl.Series(words),
        pl.Series(words, dtype=pl.Categorical),
        pl.DataFrame({"word": words}),
    ):
        metric = "levenshtein" if isinstance(strings, pl.DataFrame) else "auto"
        np.testing.assert_array_equal(FCNN(metric=metric).fit(strings, kinds).sample_indices_, expected)
    with pytest.raises(TypeError, match=r"row 1 hold NoneType \(missing values\?\)"):
        FCNN(metric="levenshtein").fit(pl.Series(["a", None, "b"]), [0, 1, 1])
    with pytest.raises(ValueError, match="compares strings, and X has 2 columns; pass the column of strings"):
        FCNN(metric="levenshtein").fit(pl.DataFrame({"a": words, "b": words}), kinds)
    series = pl.DataFrame(X, schema=NAMES)
    np.testing.assert_array_equal(
        FCNN(metric="dtw").fit(series, Y).sample_indices_, FCNN(metric="dtw").fit(X, Y).sample_indices_
    )


def test_in_a_pipeline():
    frame = pl.DataFrame(X, schema=NAMES)
    model = make_pipeline(StandardScaler(), PrototypeClassifier(FCNN())).fit(frame, pl.Series(SPECIES))
    assert model.score(frame, pl.Series(SPECIES)) > 0.9


@pytest.mark.parametrize("metric", ["auto", "euclidean", "gower", "precomputed", "dtw", "levenshtein"])
def test_lazy_frames_and_tables_of_pyarrow_say_what_to_pass(metric):
    frame = pl.DataFrame(X, schema=NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=r"X is a LazyFrame of polars.*pass X.collect\(\)"):
            FCNN(metric=metric).fit(frame.lazy(), Y)
    pytest.importorskip("pyarrow", reason="no pyarrow: pip install 'protoset[parquet]'")
    with pytest.raises(TypeError, match=r"X is a Table of pyarrow; pass X.to_pandas\(\), or polars.from_arrow\(X\)"):
        FCNN(metric=metric).fit(frame.to_arrow(), Y)
    fitted = PrototypeClassifier(FCNN()).fit(frame, Y)
    with pytest.raises(TypeError, match=r"pass X.collect\(\)"):
        fitted.predict(frame.lazy())


def test_dates_are_days_as_in_pandas():
    """Dates, times of day, time zones and missing dates: the same distances as with days as numbers."""
    days = [0.0, 0.25, 1.5, None, 40.0]
    times = [None if day is None else datetime.datetime(2020, 1, 1) + datetime.timedelta(days=day) for day in days]
    naive = pl.Series("day", times)
    zoned = naive.dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")
    expected = make_space(pd.DataFrame({"day": days}), "gower").block(range(5), range(5))
    frames = [pl.DataFrame({"day": column}) for column in (naive, zoned, naive.cast(pl.Datetime("ms")))]
    for frame in (pd.DataFrame({"day": pd.to_datetime(pd.Series(times))}), *frames):
        np.testing.assert_allclose(make_space(frame, "gower").block(range(5), range(5)), expected, atol=1e-12)
    whole = pl.DataFrame({"day": naive.cast(pl.Date)})
    floored = pd.DataFrame({"day": [0.0, 0, 1, None, 40]})
    blocks = [make_space(frame, "gower").block(range(5), range(5)) for frame in (whole, floored)]
    np.testing.assert_allclose(*blocks, atol=1e-12)


def test_what_is_wrong_is_said_as_for_pandas():
    table = {"day": [datetime.timedelta(days=day) for day in (1, 2, 3, 3)], "size": [1.0, 2, 3, 4]}
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        with pytest.raises(ValueError, match=r"X: column 'day' holds values such as .* where numbers are expected"):
            make_space(frame, "gower")
        space = make_space(frame, "overlap", {"categorical": ["day"]})
        assert space.block([2], [3])[0, 0] < space.block([2], [0])[0, 0]
        with pytest.raises(ValueError, match=r"categorical names the column 'dya', which X does not have \(did you m"):
            make_space(frame, "gower", {"categorical": ["dya"]})
    for frame in (pd.DataFrame({"a": [1.0, None], "b": [1, 2]}), pl.DataFrame({"a": [1.0, None], "b": [1, 2]})):
        with pytest.raises(ValueError, match="Input X contains NaN or infinity in row 1"):
            make_space(frame, "euclidean")
    with pytest.raises(TypeError, match=r"column 'tags' holds \['a'\] in row 0, which cannot be a category"):
        make_space(pl.DataFrame({"tags": [["a"], ["b"]]}), "gower")
    with pytest.raises(TypeError, match="X is a DataFrame, and a function as metric compares single objects"):
        FCNN(metric=lambda a, b: 0.0).fit(pl.DataFrame(X, schema=NAMES), Y)
