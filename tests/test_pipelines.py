"""Pipelines of scikit-learn as files."""

import json
import os
import random
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from protoset import REPS, FileFormatError, PrototypeClassifier, export, load, save
from protoset.cli import main
from protoset.selectors import RandomSelector

from conftest import run_measured

NUMBERS, CATEGORIES, LEVELS = ["height", "width"], ["colour", "shape"], ["level"]


def make_table(rng, n, *, unknown=False, missing=True):
    """Numbers, texts with rare and, in queries, unknown values, integers; some are missing."""
    colours = ["red", "red", "red", "green", "green", "blue", *["black"] * unknown]
    table = pd.DataFrame(
        {
            "height": rng.normal(size=n),
            "colour": rng.choice(np.array(colours, dtype=object), n),
            "width": rng.normal(5, 100, n).round(1),
            "level": rng.integers(0, 4 + 3 * unknown, n),
            "shape": rng.choice(np.array(["round", "flat"], dtype=object), n),
        }
    )
    if missing:
        table.loc[rng.random(n) < 0.2, "height"] = np.nan
        table.loc[rng.random(n) < 0.2, "shape"] = np.nan
    return table


LABELS = np.arange(30) % 3
TRAINING = make_table(np.random.default_rng(0), 30)
QUERIES = make_table(np.random.default_rng(1), 20, unknown=True)


def classifier():
    return PrototypeClassifier(RandomSelector(6, random_state=0))


def assert_round_trip(model, folder, queries=()):
    """Save, load, compare; returns the loaded model."""
    path = os.path.join(folder, "model.protoset")
    save(model, path)
    again = load(path)
    assert repr(again.get_params()) == repr(model.get_params())
    for table in queries:
        if len(model) > 1:
            assert_same(outcome(model[:-1].transform, table), outcome(again[:-1].transform, table))
        assert_same(outcome(model.predict, table), outcome(again.predict, table))
        assert_same(outcome(model.predict_proba, table), outcome(again.predict_proba, table))
    assert_same(outcome(model[:-1].get_feature_names_out), outcome(again[:-1].get_feature_names_out))
    return again


def outcome(function, *arguments):
    """What a call returns, or the text of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments)
        except (ValueError, AttributeError) as error:
            return str(error)


def assert_same(a, b):
    assert type(a) is type(b)
    if a is None or isinstance(a, str):
        assert a == b
    elif isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    else:
        assert a.dtype == b.dtype
        a, b = (a.toarray(), b.toarray()) if sparse.issparse(a) else (a, b)
        if a.dtype == object:
            assert repr(a.tolist()) == repr(b.tolist())
        else:
            np.testing.assert_array_equal(a, b)


# round trips

SCALERS = st.one_of(
    st.builds(StandardScaler, with_mean=st.booleans(), with_std=st.booleans()),
    st.builds(MinMaxScaler, feature_range=st.sampled_from([(0, 1), (-2.0, 3)]), clip=st.booleans()),
    st.builds(
        RobustScaler,
        with_centering=st.booleans(),
        with_scaling=st.booleans(),
        quantile_range=st.sampled_from([(25.0, 75.0), (10, 80)]),
        unit_variance=st.booleans(),
    ),
)
NUMBER_IMPUTERS = st.builds(
    SimpleImputer,
    strategy=st.sampled_from(["mean", "median", "most_frequent", "constant"]),
    fill_value=st.sampled_from([None, -1.5]),
    add_indicator=st.booleans(),
    keep_empty_features=st.booleans(),
)
TEXT_IMPUTERS = st.builds(
    SimpleImputer,
    strategy=st.sampled_from(["most_frequent", "constant"]),
    fill_value=st.sampled_from([None, "none", "other"]),
    missing_values=st.sampled_from([None, np.nan]),
    add_indicator=st.booleans(),
)
ENCODERS = st.builds(
    OneHotEncoder,
    drop=st.sampled_from([None, "first", "if_binary"]),
    sparse_output=st.booleans(),
    dtype=st.sampled_from([float, np.float64, np.float32, "int64", np.dtype("uint8"), bool]),
    handle_unknown=st.sampled_from(["error", "ignore", "infrequent_if_exist"]),
    min_frequency=st.sampled_from([None, None, 2, 8, 0.3]),
    max_categories=st.sampled_from([None, None, 1, 2, 9]),
)


@st.composite
def number_steps(draw):
    steps = [("imputer", draw(NUMBER_IMPUTERS)), ("scaler", draw(SCALERS))]
    if draw(st.booleans()):
        steps.reverse()
    return Pipeline(steps) if draw(st.booleans()) else steps[0][1]


@st.composite
def category_steps(draw):
    encoder = draw(ENCODERS)
    return make_pipeline(draw(TEXT_IMPUTERS), encoder) if draw(st.booleans()) else encoder


@st.composite
def column_steps(draw):
    """A ColumnTransformer whose columns are named in one of the ways of scikit-learn."""
    positions = {name: position for position, name in enumerate(TRAINING.columns)}
    ways = {
        "names": lambda names: names,
        "index": lambda names: TRAINING.columns[[positions[name] for name in names]],
        "positions": lambda names: [positions[name] for name in names],
        "negative": lambda names: np.array([positions[name] - 5 for name in names]),
        "mask": lambda names: TRAINING.columns.isin(names),
        "truths": lambda names: TRAINING.columns.isin(names).tolist(),
        "function": lambda names: lambda table: names,
    }
    way = ways[draw(st.sampled_from([*ways]))]
    transformers = [
        ("numbers", draw(number_steps()), way(NUMBERS)),
        ("categories", draw(category_steps()), way(CATEGORIES)),
    ]
    if draw(st.booleans()):
        transformers.append(("levels", draw(st.sampled_from(["drop", "passthrough"])), way(LEVELS)))
    if draw(st.booleans()):
        transformers.append(("nothing", StandardScaler(), []))
    return ColumnTransformer(
        draw(st.permutations(transformers)),
        remainder=draw(st.sampled_from(["drop", "passthrough", MinMaxScaler()])),
        sparse_threshold=draw(st.sampled_from([0, 0.3, 1])),
        transformer_weights=draw(st.sampled_from([None, {"numbers": 0.5}])),
        verbose_feature_names_out=draw(st.booleans()),
    )


@settings(max_examples=40, deadline=None)
@given(column_steps(), st.sampled_from([None, StandardScaler(with_mean=False), "passthrough"]), st.booleans())
def test_pipelines_predict_and_transform_as_before(tmp_path_factory, columns, scaler, frames):
    model = clone(make_pipeline(columns, scaler, classifier()))
    if frames:
        model.set_output(transform="pandas")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(TRAINING, LABELS)
    except (ValueError, TypeError):
        assume(False)
    functions = any(callable(columns) for *_, columns in model[0].transformers)
    folder = tmp_path_factory.mktemp("models")
    tables = [TRAINING, QUERIES, QUERIES[QUERIES.columns[::-1]], QUERIES.to_numpy(), QUERIES[["colour"]]]
    if not functions and not any(isinstance(columns, pd.Index) for *_, columns in model[0].transformers):
        assert_round_trip(model, folder, tables)
        return
    # A function or an Index becomes a list of columns.
    save(model, folder / "model")
    again = load(folder / "model")
    for table in tables:
        assert_same(outcome(model.predict_proba, table), outcome(again.predict_proba, table))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(SCALERS | NUMBER_IMPUTERS | st.just("passthrough"), max_size=3),
    st.sampled_from([np.float64, np.float32, int, object]),
    st.booleans(),
)
def test_pipelines_of_arrays(tmp_path_factory, steps, dtype, empty_column):
    rows = TRAINING[["height", "width", "level"]].fillna(7).to_numpy(dtype)
    if empty_column and dtype is not int:
        rows = np.column_stack([rows, np.full(30, np.nan)])
    model = make_pipeline(*steps, classifier())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows, LABELS)
    except (ValueError, TypeError):
        assume(False)
    assert_round_trip(model, tmp_path_factory.mktemp("models"), [rows, rows[::-1] * 2, rows[:, :2]])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.lists(st.text(max_size=3) | st.none() | st.just(float("nan")), min_size=12, max_size=12),
            st.lists(st.integers(-3, 3), min_size=12, max_size=12),
            st.lists(st.sampled_from([0.5, -1e300, float("nan")]), min_size=12, max_size=12),
            st.lists(st.booleans(), min_size=12, max_size=12),
        ),
        min_size=1,
        max_size=4,
    ),
    ENCODERS,
    st.sampled_from(["frame", "objects", "texts"]),
    st.booleans(),
)
def test_encoders_of_any_categories(tmp_path_factory, columns, encoder, form, explicit):
    if form == "frame":
        rows = pd.DataFrame({f"column {number}": values for number, values in enumerate(columns)})
    else:
        rows = np.array(columns, dtype=object).T
        rows = rows.astype(str) if form == "texts" else rows
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if explicit:
                known = clone(encoder).fit(rows)
                encoder.set_params(categories=[values.tolist() for values in known.categories_])
                if known.drop_idx_ is not None and None not in known.drop_idx_:
                    values = zip(known.categories_, known.drop_idx_, strict=True)
                    encoder.set_params(drop=[categories.tolist()[index] for categories, index in values])
            model = make_pipeline(encoder, classifier()).fit(rows, np.arange(12) % 2)
    # scikit-learn raises an AttributeError where it wants to refuse to drop an infrequent category.
    except (ValueError, TypeError, AttributeError):
        assume(False)
    unknown = rows.astype(object)
    unknown[:1] = "unknown"
    again = assert_round_trip(model, tmp_path_factory.mktemp("models"), [rows, unknown])
    infrequent = [repr(outcome(getattr, step, "infrequent_categories_")) for step in (model[0], again[0])]
    assert infrequent[0] == infrequent[1]
    encoded = model[0].transform(rows)
    assert_same(
        outcome(lambda: model[0].inverse_transform(encoded)), outcome(lambda: again[0].inverse_transform(encoded))
    )


@pytest.fixture(scope="module")
def rich():
    """A fitted pipeline with a step of every kind."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    texts = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"),
        OneHotEncoder(min_frequency=8, handle_unknown="infrequent_if_exist"),
    )
    columns = ColumnTransformer(
        [("numbers", numbers, NUMBERS), ("texts", texts, CATEGORIES), ("rest", "passthrough", LEVELS)],
        verbose_feature_names_out="{transformer_name}:{feature_name}",
    )
    steps = [("columns", columns), ("robust", RobustScaler(with_centering=False)), ("box", MinMaxScaler())]
    model = Pipeline([*steps, ("classifier", classifier())])
    return model.fit(TRAINING, LABELS)


def test_a_loaded_pipeline_is_an_estimator_like_any_other(rich, tmp_path):
    again = assert_round_trip(rich, tmp_path, [TRAINING, QUERIES])
    assert repr(again) == repr(rich)
    assert again.feature_names_in_.tolist() == TRAINING.columns.tolist()
    assert again.n_features_in_ == 5
    assert again.classes_.tolist() == [0, 1, 2]
    again._repr_html_()
    fitted = clone(again).fit(TRAINING, LABELS)
    np.testing.assert_array_equal(fitted.predict(TRAINING), clone(rich).fit(TRAINING, LABELS).predict(TRAINING))
    again.set_params(box__clip=True, columns__numbers__standardscaler__with_mean=False)
    assert_round_trip(again, tmp_path, [TRAINING, QUERIES])


def test_saved_again_it_is_the_same_file(rich, tmp_path):
    save(rich, tmp_path / "a")
    save(load(tmp_path / "a"), tmp_path / "b")
    with zipfile.ZipFile(tmp_path / "a") as a, zipfile.ZipFile(tmp_path / "b") as b:
        assert a.namelist() == b.namelist()
        assert all(a.read(name) == b.read(name) for name in a.namelist())


def test_another_process_predicts_the_same(rich, tmp_path):
    save(rich, tmp_path / "model.protoset")
    QUERIES.to_csv(tmp_path / "queries.csv", index=False)
    program = (
        "import sys, pandas as pd, protoset;"
        "print(protoset.load(sys.argv[1]).predict_proba(pd.read_csv(sys.argv[2])).tolist())"
    )
    arguments = [sys.executable, "-c", program, str(tmp_path / "model.protoset"), str(tmp_path / "queries.csv")]
    result = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert json.loads(result.stdout) == rich.predict_proba(pd.read_csv(tmp_path / "queries.csv")).tolist()


def test_mixed_attributes_sparse_rows_and_chosen_metrics(tmp_path):
    mixed = make_column_transformer(
        (SimpleImputer(), NUMBERS), remainder="passthrough", verbose_feature_names_out=False
    )
    table = make_table(np.random.default_rng(0), 30, missing=False)
    gower = make_pipeline(mixed, PrototypeClassifier(REPS(4, metric="gower")))
    listed = clone(gower).set_params(prototypeclassifier__selector__metric_params={"categorical": [2, 4]})
    assert listed.fit(table, LABELS)[0].transform(table).dtype == object
    assert_round_trip(listed, tmp_path, [table])
    framed = clone(gower).set_output(transform="pandas").fit(table, LABELS)
    assert load_after_save(framed, tmp_path)[-1].feature_names_in_.tolist()[:2] == NUMBERS
    assert_round_trip(framed, tmp_path, [table])
    encoded = make_pipeline(OneHotEncoder(handle_unknown="ignore"), PrototypeClassifier(REPS(4, metric="cityblock")))
    assert sparse.issparse(encoded.fit(table[CATEGORIES], LABELS)[0].transform(table[CATEGORIES]))
    assert_round_trip(encoded, tmp_path, [table[CATEGORIES]])
    rows = sparse.csr_matrix(encoded[0].transform(table[CATEGORIES]))
    scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(with_mean=False), classifier())
    assert_round_trip(scaled.fit(rows, LABELS), tmp_path, [rows])


def load_after_save(model, folder):
    save(model, folder / "model")
    return load(folder / "model")


def test_weights_and_missing_values_of_scalers_come_back(tmp_path):
    rows = TRAINING[NUMBERS].to_numpy()
    model = make_pipeline(StandardScaler(), SimpleImputer(), classifier())
    model.fit(rows, LABELS, standardscaler__sample_weight=np.linspace(1, 2, 30))
    assert np.ndim(model[0].n_samples_seen_) == 1
    again = assert_round_trip(model, tmp_path, [rows])
    for scaler in (again[0], model[0]):
        scaler.partial_fit(rows[:7])
    np.testing.assert_array_equal(again[0].scale_, model[0].scale_)


def test_a_function_as_metric_and_as_selector_of_columns(tmp_path):
    def distance(a, b):
        return float(np.abs(a - b).sum())

    columns = make_column_transformer((StandardScaler(), make_column_selector(dtype_include="number")))
    model = make_pipeline(columns, SimpleImputer(), PrototypeClassifier(REPS(4, metric=distance)))
    save(model.fit(TRAINING, LABELS), tmp_path / "model")
    with pytest.raises(ValueError, match=r"protoset\.load\(path, metric=function\)"):
        load(tmp_path / "model")
    again = load(tmp_path / "model", metric=distance)
    np.testing.assert_array_equal(again.predict(QUERIES), model.predict(QUERIES))
    assert again[0].transformers[0][2] == ["height", "width", "level"]
    clone(again).fit(TRAINING, LABELS)


@pytest.mark.parametrize("setting", [{"transform_output": "pandas"}, {"enable_metadata_routing": True}])
def test_global_settings_of_scikit_learn_change_nothing(setting, rich, tmp_path):
    with sklearn.config_context(**setting):
        model = clone(rich).set_params(columns__texts__onehotencoder__sparse_output=False).fit(TRAINING, LABELS)
        assert_round_trip(model, tmp_path, [TRAINING, QUERIES])


def test_memory_is_not_saved(tmp_path):
    rows = TRAINING[NUMBERS].fillna(0)
    model = make_pipeline(StandardScaler(), classifier(), memory=str(tmp_path / "cache"), verbose=False)
    assert load_after_save(model.fit(rows, LABELS), tmp_path).memory is None


def test_missing_values_of_pandas(tmp_path):
    table = pd.DataFrame({"a": pd.array([1.0, None, 3.0] * 10, dtype="Float64")})
    model = make_pipeline(SimpleImputer(missing_values=pd.NA, strategy="most_frequent"), classifier())
    again = assert_round_trip(model.fit(table.astype(object), LABELS), tmp_path, [table.astype(object)])
    assert again[0].missing_values is pd.NA


# refusals


class Mine(StandardScaler):
    pass


class Doubled(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X * 2


REFUSED = {
    "PCA": (
        PCA(1),
        r"step 'step' is sklearn\.PCA, which cannot be written without pickle; use the steps Standard",
    ),
    "own class": (Doubled(), r"step 'step' is test_pipelines\.Doubled"),
    "subclass": (Mine(), r"step 'step' is test_pipelines\.Mine"),
    "KNNImputer": (KNNImputer(), r"step 'step' is sklearn\.KNNImputer.*protoset\.save\(pipeline\[-1\], path\)"),
    "union": (FeatureUnion([("a", StandardScaler())]), r"sklearn\.FeatureUnion"),
    "function": (FunctionTransformer(np.abs), r"step 'step': func=<ufunc 'absolute'> of FunctionTransformer cannot"),
    "type": (FunctionTransformer(kw_args={}, inverse_func=float), r"inverse_func=<class 'float'> of FunctionTransf"),
    "nested": (make_pipeline(StandardScaler(), PCA(1)), r"step 'step > pca' is sklearn\.PCA"),
    "columns": (ColumnTransformer([("a", OrdinalEncoder(), [0])]), r"step 'step > a' is sklearn\.OrdinalEncoder"),
    "remainder": (
        ColumnTransformer([("a", StandardScaler(), [0])], remainder=PCA(1)),
        r"step 'step > remainder' is sklearn\.PCA",
    ),
    "strategy": (SimpleImputer(strategy=np.max), r"step 'step': strategy=<function .* of SimpleImputer cannot"),
    "names": (
        ColumnTransformer([("a", StandardScaler(), [0])], verbose_feature_names_out="{feature_name!r}".format),
        "verbose_feature_names_out=.* of ColumnTransformer cannot be written",
    ),
    "combiner": (OneHotEncoder(feature_name_combiner=str.__add__, handle_unknown="ignore"), "feature_name_combiner=<"),
    "complex": (OneHotEncoder(dtype=complex), "dtype=<class 'complex'> of OneHotEncoder cannot be written"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_steps_that_cannot_be_written_are_refused_by_name(case, tmp_path):
    step, message = REFUSED[case]
    rows = TRAINING[NUMBERS].fillna(0).to_numpy()
    if case == "complex":
        model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), classifier()).fit(rows, LABELS)
        model[0].dtype = complex
        model.steps[0] = ("step", model[0])
    else:
        model = Pipeline([("step", step), ("classifier", classifier())]).fit(rows, LABELS)
    with pytest.raises(TypeError, match=message):
        save(model, tmp_path / "model")
    assert not os.listdir(tmp_path)


def test_categories_that_a_file_cannot_hold(tmp_path):
    dates = np.array(["2020-01-01", "2021-01-01"] * 15, "M8[D]")[:, None]
    model = make_pipeline(OneHotEncoder(), classifier()).fit(dates, LABELS)
    with pytest.raises(TypeError, match="step 'onehotencoder': categories_=.* of OneHotEncoder cannot be written"):
        save(model, tmp_path / "model")


def test_other_pipelines_are_refused(tmp_path):
    class Own(Pipeline):
        pass

    rows = TRAINING[NUMBERS].fillna(0).to_numpy()
    model = make_pipeline(StandardScaler(), classifier())
    own = Own([("scaler", StandardScaler()), ("classifier", classifier())]).fit(rows, LABELS)
    other = make_pipeline(StandardScaler(), KNeighborsClassifier()).fit(rows, LABELS)
    search = GridSearchCV(model, {"standardscaler__with_mean": [True, False]}, cv=2).fit(rows, LABELS)
    for wrong, message in (
        (own, r"pipelines of the class sklearn\.pipeline\.Pipeline, got test_pipelines\.Own"),
        (other, r"last step 'kneighborsclassifier' is sklearn\.KNeighborsClassifier"),
        (make_pipeline(StandardScaler(), "passthrough").fit(rows), "last step 'passthrough' is passthrough"),
        (make_pipeline(StandardScaler(), model).fit(rows, LABELS), r"last step 'pipeline' is sklearn\.Pipeline"),
        (search, r"got GridSearchCV; .* save its best_estimator_"),
    ):
        with pytest.raises(TypeError, match=message):
            save(wrong, tmp_path / "model")
    assert_round_trip(search.best_estimator_, tmp_path, [rows])
    with pytest.raises(NotFittedError, match="step 'standardscaler', StandardScaler, is not fitted; fit the pipeline"):
        save(clone(model), tmp_path / "model")
    with pytest.raises(NotFittedError):
        save(make_pipeline(classifier()), tmp_path / "model")
    with pytest.raises(TypeError, match=r"of a pipeline export the last step, pipeline\[-1\]"):
        export(search.best_estimator_, tmp_path / "model.py")


def test_steps_that_were_changed_after_the_fit_are_refused(tmp_path):
    table = TRAINING[CATEGORIES].fillna("none")
    model = make_pipeline(OneHotEncoder(), classifier()).fit(table, LABELS)
    model[0].drop = "first"
    with pytest.raises(ValueError, match="fit it again|fit the pipeline again"):
        save(model, tmp_path / "model")
    model[0].drop = None
    save(model, tmp_path / "model")
    model[0].note = "mine"
    with pytest.raises(TypeError, match="has the attribute 'note', which protoset cannot write"):
        save(model, tmp_path / "model")
    rows = TRAINING[NUMBERS].fillna(0).to_numpy()
    model = make_pipeline(StandardScaler(), classifier()).fit(rows, LABELS)
    model[0].fit(rows[:, :1])
    with pytest.raises(ValueError, match="its steps return 1 columns, but its classifier expects 2"):
        save(model, tmp_path / "model")


def test_the_command_says_that_a_pipeline_is_for_python(rich, tmp_path, capsys):
    save(rich, tmp_path / "model.protoset")
    QUERIES.to_csv(tmp_path / "queries.csv", index=False)
    assert main(["predict", str(tmp_path / "model.protoset"), str(tmp_path / "queries.csv")]) != 0
    assert "has a pipeline of scikit-learn, which this command cannot use" in capsys.readouterr().err


# files that are not right


def read_members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path, members, metadata):
    members = members | {"metadata.json": json.dumps(metadata).encode()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def slots(node):
    """Yield each dict or list in a JSON value with each of its keys."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in [*pairs]:
        yield node, key
        yield from slots(value)


WRONG_VALUES = [
    *(None, True, False, -1, 0, 1, 3, 7, 2**40, 2**70, 1e300, -0.5, float("nan"), float("inf"), "", "x", "numbers"),
    *([], [1], ["a", "b"], {}, {"type": "float"}, {"objects": [None, 1]}, {"slice": [0, 1, None]}, {"dtype": "<f4"}),
    *(
        {"array": ["f8", 0, [2]]},
        {"array": ["f8", 0, [10**9]]},
        {"tuple": [1, 2]},
        "drop",
        "passthrough",
        "MinMaxScaler",
    ),
    *({"missing": "pandas.NA"}, {"text": {"array": ["f8", 0, [1, 1]]}}, {"class": "Pipeline"}),
]


def attack(path, members, rng):
    """Change one or two values of the steps, in JSON or in arrays; the file is loaded and used, or refused."""
    metadata = json.loads(members["metadata.json"])
    changed = dict(members)
    for _ in range(rng.choice([1, 1, 2])):
        if rng.random() < 0.85:
            holder, key = rng.choice([*slots(metadata["pipeline"])])
            if rng.random() < 0.2:
                del holder[key]
            else:
                holder[key] = rng.choice(WRONG_VALUES)
        else:
            name = rng.choice([name for name in members if name.startswith("steps_")])
            content = bytearray(changed[name])
            start = rng.randrange(128, len(content) - 7)
            content[start : start + 8] = np.float64(rng.choice([0, np.nan, np.inf, 1e300])).tobytes()
            changed[name] = bytes(content)
    write_members(path, changed, metadata)
    try:
        again = load(path)
    except FileFormatError as error:
        assert "is damaged" in str(error)
        return 1
    assert again[:-1].steps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Other numbers are no damage; queries may not fit to other categories, names or columns.
        try:
            again.predict(QUERIES)
        except (ValueError, KeyError, TypeError) as error:
            assert str(error)
        else:
            save(again, path)
            load(path)
    return 0


def test_attacked_files_are_refused_or_work(rich, tmp_path):
    save(rich, tmp_path / "model")
    members = read_members(tmp_path / "model")
    refused = sum(attack(tmp_path / "model", members, random.Random(seed)) for seed in range(250))
    assert refused > 125


def columns_of(metadata):
    return metadata["pipeline"]["steps"][0][1]


HOSTILE = {
    "unknown class": (lambda m: columns_of(m).update({"class": "PCA"}), "PCA"),
    "module as class": (lambda m: columns_of(m).update({"class": "os.system"}), "os.system"),
    "function": (lambda m: columns_of(m)["parameters"].update(verbose_feature_names_out={"type": "int"}), "a function"),
    "function as columns": (lambda m: columns_of(m)["transformers"][0].__setitem__(2, {"type": "int"}), "a function"),
    "wide format": (
        lambda m: columns_of(m)["parameters"].update(verbose_feature_names_out="{feature_name:>1000000000}"),
        "does not work with its format",
    ),
    "format with attributes": (
        lambda m: columns_of(m)["parameters"].update(verbose_feature_names_out="{feature_name.__class__}"),
        "does not work with its format",
    ),
    "unknown parameter": (lambda m: columns_of(m)["parameters"].update(evil=1), "step 'columns': .*evil"),
    "wrong parameter": (
        lambda m: columns_of(m)["parameters"].update(sparse_threshold="a"),
        "step 'columns': .*sparse_thr",
    ),
    "column out of range": (lambda m: columns_of(m)["fitted"][0].__setitem__(2, [0, 9]), "with its columns"),
    "column of two": (lambda m: columns_of(m)["fitted"][2].__setitem__(2, [0]), "columns"),
    "huge table": (lambda m: columns_of(m)["learned"].update(n_features_in_=10**12), "columns left over|feature names"),
    "same names": (lambda m: m["pipeline"]["steps"][1].__setitem__(0, "box"), "unique"),
    "no name": (lambda m: m["pipeline"]["steps"][1].__setitem__(0, None), "name, which is no text"),
    "step twice": (lambda m: m["pipeline"]["steps"].append(m["pipeline"]["steps"][0]), "same numbers twice"),
    "dropped step": (lambda m: m["pipeline"]["steps"][1].__setitem__(1, "drop"), "step 'drop'"),
    "unfitted passthrough": (lambda m: columns_of(m)["fitted"][0].__setitem__(1, "passthrough"), "step 'passthrough'"),
    "output": (lambda m: columns_of(m).update(output="code"), "output 'code'"),
    "other version": (
        lambda m: (m["pipeline"].update(scikit_learn="0.1"), columns_of(m)["parameters"].update(more=1)),
        r"were written with scikit-learn 0\.1 and do not work with",
    ),
    "scaler of another width": (
        lambda m: m["pipeline"]["steps"][1][1]["learned"].update(n_features_in_=3),
        "step 'robust': a step does not work with its scale_",
    ),
    "width of the classifier": (lambda m: m["pipeline"]["steps"].pop(), None),
    "left out": (lambda m: m["pipeline"]["steps"].pop(0), None),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_pipelines(case, rich, tmp_path):
    change, message = HOSTILE[case]
    save(rich, tmp_path / "model")
    members = read_members(tmp_path / "model")
    metadata = json.loads(members["metadata.json"])
    change(metadata)
    write_members(tmp_path / "model", members, metadata)
    if message is None:
        # The other steps fit together.
        load(tmp_path / "model")
        return
    with pytest.raises(FileFormatError, match=f"is damaged.*({message})"):
        load(tmp_path / "model")


def test_small_files_cannot_ask_for_much_memory(tmp_path):
    """Infrequent categories of many columns, and a scaler of a billion columns."""
    table = pd.DataFrame({"a": list("aabbcd"), "b": list("xyxyxy")})
    encoder = OneHotEncoder(min_frequency=2, handle_unknown="ignore")
    save(make_pipeline(encoder, classifier()).fit(table, [0, 1] * 3), tmp_path / "encoder")
    members = read_members(tmp_path / "encoder")
    metadata = json.loads(members["metadata.json"])
    learned = metadata["pipeline"]["steps"][0][1]["learned"]
    n_columns = 20_000
    many, single = {"objects": [str(number) for number in range(n_columns)]}, {"objects": ["a", "b"]}
    learned.update(categories_=[many, *[single] * n_columns], infrequent=[[0], *[[0]] * n_columns])
    learned.update(n_features_in_=n_columns + 1, feature_names_in_=None)
    write_members(tmp_path / "encoder", members, metadata)

    rows = TRAINING[NUMBERS].fillna(0).to_numpy()
    model = make_pipeline(StandardScaler(with_mean=False, with_std=False), classifier()).fit(rows, LABELS)
    save(model, tmp_path / "scaler")
    members = read_members(tmp_path / "scaler")
    metadata = json.loads(members["metadata.json"])
    metadata["pipeline"]["steps"][0][1]["learned"]["n_features_in_"] = 10**9
    write_members(tmp_path / "scaler", members, metadata)

    program = """
import sys
from protoset import FileFormatError, load
for path in sys.argv[1:]:
    try:
        load(path)
    except FileFormatError as error:
        print(error)
"""
    output, peak = run_measured(program, tmp_path / "encoder", tmp_path / "scaler")
    assert "too many of them in too many columns" in output
    assert "its steps return 1000000000 columns, but its classifier expects 2" in output
    assert peak < 500_000_000
