"""One door to the page: estimators, pipelines and models, with objects as users have them."""

import datetime

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import protoset
from protoset import REPS, PrototypeClassifier
from protoset._report import building
from protoset._report.building import build_report
from protoset.datasets import Attribute, Dataset, load_dataset
from protoset.models import CrossValidation, ReferenceErrors, fit_model
from protoset.selectors import FCNN
from protoset.spaces import make_space

from conftest import overlapping

X, Y = overlapping(90, d=3, seed=1)
X_TEST, Y_TEST = X[:30] + 0.3, Y[:30]
DAY = datetime.date(2026, 1, 31)
# Not the topic here, and slow to measure.
KNOWN = {
    "created": DAY,
    "cross_validation": CrossValidation(0.1, 0.1, 9),
    "references": ReferenceErrors(0.5, 0.1, 0.1, 1, 0, 9),
    "suspects": False,
}
WINE = load_wine(as_frame=True)
NAMES = np.array(["red", "rosé", "white"])


def without_names(model):
    """The model of a page without its title and the facts about the data."""
    return {key: value for key, value in model.items() if key not in ("title", "facts")}


def facts(model, heading):
    (rows,) = (each["rows"] for each in model["facts"] if each["heading"] == heading)
    return dict(rows)


@pytest.mark.parametrize("wrap", [np.asarray, list, pd.DataFrame, lambda X: np.asarray(X, np.float32)])
def test_plain_objects_give_the_page_of_their_data_set(wrap):
    objects = np.asarray(X, np.float32).astype(float)
    classifier = PrototypeClassifier(REPS(9), adapt=False).fit(objects, Y)
    expected = build_report(
        Dataset("d", "vectors", objects, Y), classifier, test=Dataset("d", "vectors", X_TEST, Y_TEST), **KNOWN
    )
    if wrap is pd.DataFrame:
        classifier = clone(classifier).fit(wrap(objects), Y)
    made = protoset.report(
        classifier, wrap(objects), list(Y), X_test=pd.DataFrame(X_TEST), y_test=pd.Series(Y_TEST), **KNOWN
    )
    values, others = made.model["objects"].pop("values"), expected.model["objects"].pop("values")
    assert values["values"] == others["values"]
    for key in ("summary", "stops", "objects"):
        assert made.model[key] == expected.model[key]
    assert made.model["queries"]["nearest"] == expected.model["queries"]["nearest"]
    assert made.model["title"] == "Prototypes of 90 rows"


@pytest.mark.parametrize("kind", ["classifier", "selector", "model"])
def test_estimators_and_models_have_the_method(kind, tmp_path):
    dataset = Dataset("blobs", "vectors", X, Y)
    estimator = {
        "classifier": lambda: PrototypeClassifier(REPS(9)).fit(X, Y),
        "selector": lambda: FCNN().fit(X, Y),
        "model": lambda: fit_model(dataset, n_prototypes=9),
    }[kind]()
    made = estimator.report(X, Y, tmp_path / "page.html", title="Blobs", **KNOWN)
    assert (tmp_path / "page.html").read_text() == made.html
    assert made.html == protoset.report(estimator, X, Y, title="Blobs", **KNOWN).html
    assert without_names(made.model) == without_names(estimator.report(dataset, **KNOWN).model)
    assert repr(made).startswith("<Report 'Blobs': ")
    assert repr(made).endswith("; see write(path)>" if made.path is None else f"; written to {made.path}>")


def test_a_pipeline_shows_the_values_before_its_steps():
    frame, labels = WINE.data, NAMES[WINE.target]
    pipeline = make_pipeline(StandardScaler(), PrototypeClassifier(REPS(9), adapt=True)).fit(frame, labels)
    assert pipeline[-1].adaptation_.has_moved
    made = protoset.report(pipeline, frame, labels, X_test=frame[:20], y_test=labels[:20], **KNOWN).model
    assert made["objects"]["values"]["names"] == list(frame.columns)
    np.testing.assert_allclose(made["objects"]["values"]["values"], frame.to_numpy(), rtol=1e-3)
    moved = np.array(made["moved"]["values"]["values"], float)
    expected = pipeline[0].inverse_transform(pipeline[-1].adaptation_.prototypes)
    np.testing.assert_allclose(moved, expected, rtol=1e-3)
    assert facts(made, "Dissimilarity")["objects were transformed by"] == "StandardScaler"
    columns = tuple(Attribute(name, "real") for name in frame.columns)
    same = build_report(
        Dataset("wine", "vectors", frame.to_numpy(), labels, columns),
        pipeline[-1],
        test=Dataset("wine", "vectors", frame[:20].to_numpy(), labels[:20], columns),
        transform=StandardScaler().fit(frame.to_numpy()).transform,
        **KNOWN,
    ).model
    assert without_names(made) == without_names(same)
    # The same by hand, with the columns of the frame.
    scaler = pipeline[0]
    by_hand = protoset.report(pipeline[-1], frame, labels, transform=scaler.transform, **KNOWN).model
    assert by_hand["moved"]["values"] == made["moved"]["values"]
    error = float(np.mean(pipeline.predict(frame[:20]) != labels[:20]))
    assert made["summary"]["error"]["error"] == error


def test_labels_are_checked_after_the_steps(capsys):
    frame, labels = WINE.data, NAMES[WINE.target]
    labels = np.where(np.arange(len(labels)) == 7, "white", labels)
    pipeline = make_pipeline(StandardScaler(), PrototypeClassifier(REPS(9), adapt=False)).fit(frame, labels)
    found = protoset.suspects(pipeline[0].transform(frame), labels, pipeline[-1])
    assert 7 in found.indices
    pipeline[-1].set_params(selector__verbose=1)
    made = protoset.report(pipeline, frame, labels, **{**KNOWN, "suspects": None}).model
    assert capsys.readouterr().err == ""
    assert [entry["object"][1] for entry in made["suspects"]] == [str(row) for row in found.indices]


def test_steps_without_an_inverse_are_said():
    frame = WINE.data.copy()
    frame.iloc[::7, 0] = np.nan
    steps = (SimpleImputer(), StandardScaler())
    for pipeline in (
        make_pipeline(*steps, PrototypeClassifier(REPS(9), adapt=True)),
        Pipeline(
            [
                ("all", make_pipeline(*steps)),
                ("inner", make_pipeline("passthrough", PrototypeClassifier(REPS(9), adapt=True))),
            ]
        ),
    ):
        made = protoset.report(pipeline.fit(frame, WINE.target), frame, WINE.target, **KNOWN).model
        assert (
            "The values of the moved prototypes are not shown: the transform of the objects has no inverse."
            in made["notes"]
        )
        assert made["objects"]["values"]["values"][0][0] is None
        np.testing.assert_array_equal(made["class_sizes"], np.bincount(WINE.target))


def test_components_of_images_are_shown_as_images():
    digits = load_digits()
    rows, labels = digits.data[:200], digits.target[:200]
    pipeline = make_pipeline(PCA(10, random_state=0), PrototypeClassifier(REPS(30), adapt=False)).fit(rows, labels)
    made = protoset.report(pipeline, rows, labels, image_shape=(8, 8), **KNOWN).model
    assert made["objects"]["values"]["kind"] == "images"


def mixed_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=60),
            "colour": pd.Categorical(rng.choice(["blue", "<b>red</b>"], 60)),
            "path": rng.choice(["a", "b"], 60),
            "new": rng.random(60) > 0.5,
            "day": pd.Timestamp("2024-01-05") + pd.to_timedelta(rng.integers(0, 90, 60), "D"),
        },
        index=[f"case {row}" for row in range(60)],
    )
    labels = np.where(frame["size"] + (frame["colour"] == "blue") > 0.5, "yes", "no")
    frame.iloc[3, [1, 4]] = None
    return frame, labels


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_of_a_mixed_frame(library):
    frame, labels = mixed_frame()
    ids = list(frame.index)
    if library == "polars":
        frame = pytest.importorskip("polars").from_pandas(frame)
    classifier = PrototypeClassifier(REPS(8), adapt=True).fit(frame, labels)
    made = protoset.report(classifier, frame, labels, **KNOWN).model
    assert made["kind"] == "mixed"
    assert made["objects"]["values"]["names"] == ["size", "colour", "path", "new", "day"]
    first = made["objects"]["values"]["values"][0]
    assert first[1] in ("blue", "<b>red</b>")
    assert first[3] in ("True", "False")
    assert datetime.date.fromisoformat(first[4]) >= datetime.date(2024, 1, 5)
    assert made["objects"]["values"]["values"][3][1] is None
    assert made["objects"]["values"]["values"][3][4] is None
    assert made["objects"]["ids"][:2] == (ids[:2] if library == "pandas" else ["0", "1"])


def test_a_pipeline_of_categories_shows_their_names():
    frame, labels = mixed_frame()
    frame = frame[["size", "colour", "path"]].ffill()
    columns = ColumnTransformer([("n", StandardScaler(), ["size"]), ("c", OneHotEncoder(), ["colour", "path"])])
    pipeline = make_pipeline(columns, PrototypeClassifier(REPS(8))).fit(frame, labels)
    made = protoset.report(pipeline, frame, labels, X_test=frame[:9], y_test=labels[:9], **KNOWN).model
    assert made["objects"]["values"]["names"] == ["size", "colour", "path"]
    assert {row[1] for row in made["objects"]["values"]["values"]} == {"blue", "<b>red</b>"}
    assert made["queries"]["ids"][0] == "case 0"


def test_strings_tokens_and_strange_objects():
    texts = ["".join(np.random.default_rng(row).choice(list("abc"), 6)) for row in range(30)]
    labels = np.arange(30) % 2
    made = protoset.report(REPS(6).fit(texts, labels), pd.Series(texts), labels, **KNOWN).model
    assert made["objects"]["values"]["values"] == texts
    tokens = [list(text) for text in texts]
    made = protoset.report(REPS(6, metric="levenshtein").fit(tokens, labels), tokens, labels, **KNOWN).model
    assert made["objects"]["values"]["values"][0] == " ".join(texts[0])
    things = [frozenset(text) | {row} for row, text in enumerate(texts)]
    metric = FCNN(metric=lambda a, b: len(a ^ b))
    made = protoset.report(metric.fit(things, labels), things, labels, **KNOWN).model
    assert made["objects"]["values"]["kind"] == "strings"
    assert made["objects"]["values"]["values"][0] == str(things[0])


def test_series_of_several_lengths_and_channels():
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    ragged = [
        np.sin(np.linspace(0, 3 + 4 * label, 20 + row % 5)) + rng.normal(scale=0.1, size=20 + row % 5)
        for row, label in enumerate(labels)
    ]
    made = protoset.report(REPS(6).fit(ragged, labels), ragged, labels, **KNOWN).model
    assert made["objects"]["values"]["lengths"][:6] == [20, 21, 22, 23, 24, 20]
    channels = rng.normal(size=(40, 2, 15)) + labels[:, None, None]
    classifier = PrototypeClassifier(REPS(6), adapt=True).fit(channels, labels)
    made = protoset.report(classifier, channels, labels, X_test=channels[:5], y_test=labels[:5], **KNOWN).model
    assert set(made["objects"]["values"]["lengths"]) == {15}
    assert len(made["objects"]["values"]["values"][0]) == 2
    assert classifier.adaptation_.has_moved
    assert set(made["moved"]["values"]["lengths"]) == {15}
    assert "objects were transformed by" not in facts(made, "Dissimilarity")


def test_matrices_and_sparse_rows():
    expected = protoset.report(REPS(6).fit(X, Y), X, Y, **KNOWN).model
    distances = squareform(pdist(X))
    for given in (distances, pd.DataFrame(distances), pdist(X)):
        made = protoset.report(REPS(6, metric="precomputed").fit(given, Y), given, Y, **KNOWN).model
        assert made["kind"] == "matrix"
        assert [stop["kept"] for stop in made["stops"]] == [stop["kept"] for stop in expected["stops"]]
    rows = sparse.csr_array(X)
    made = protoset.report(REPS(6).fit(rows, Y), rows, Y, **KNOWN).model
    assert made["objects"] == expected["objects"]


def test_a_large_sparse_matrix_is_refused(monkeypatch):
    monkeypatch.setattr("protoset._report.arguments.MOST_DENSE_VALUES", 100)
    rows = sparse.csr_array(X)
    with pytest.raises(ValueError, match="X is sparse, and has 270 values with its zeros"):
        protoset.report(REPS(6).fit(rows, Y), rows, Y)


def test_the_best_estimator_of_a_search():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PrototypeClassifier(REPS(), adapt=False)),
        {"prototypeclassifier__selector__n_prototypes": [6, 9]},
    )
    made = protoset.report(search.fit(X, Y), X, Y, **KNOWN)
    kept = search.best_params_["prototypeclassifier__selector__n_prototypes"]
    assert made.model["summary"]["n_prototypes"] == kept


def test_a_model_takes_what_its_methods_take():
    dataset = load_dataset("iris", download=False)
    model = fit_model(dataset, n_prototypes=6)
    expected = protoset.report(model, dataset, **KNOWN).model
    for objects in (dataset.objects, pd.DataFrame(dataset.objects)):
        assert without_names(model.report(objects, dataset.labels, **KNOWN).model) == without_names(expected)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((1, 3), (1, 3, 1)), ([3, 1], (3, 1, 1)), (None, None), (False, None)],
)
def test_shapes_of_images_reach_the_page(monkeypatch, shape, expected):
    seen = []
    monkeypatch.setattr(
        "protoset._report.building.page_model", lambda inputs, **_: seen.append(inputs.image_shape) or {}
    )
    protoset.report(REPS(6).fit(X, Y), X, Y, image_shape=shape)
    assert seen == [expected]


def test_wrong_arguments():
    selector = REPS(6).fit(X, Y)
    for shape in (True, 3, "3x1", (3,), (3, 1, 2), (0, 3), (3, 1.0), (1, 1, 1, 3)):
        with pytest.raises(ValueError, match=r"image_shape=.* must be \(height, width\) or \(height, width, 3\)"):
            protoset.report(selector, X, Y, image_shape=shape)
    with pytest.raises(ValueError, match=r"image_shape=\(2, 2\) has 4 values, but the objects have 3"):
        protoset.report(selector, X, Y, image_shape=(2, 2))
    texts = ["a", "b", "ab", "ba"]
    with pytest.raises(ValueError, match="works for rows of numbers, but the objects are of the kind 'strings'"):
        protoset.report(REPS(2).fit(texts, [0, 1, 0, 1]), texts, [0, 1, 0, 1], image_shape=(1, 1))
    with pytest.raises(ValueError, match="y=None: X has no labels; pass y, or a Dataset as X"):
        protoset.report(selector, X)
    with pytest.raises(ValueError, match="y_test=None: X_test has no labels"):
        protoset.report(selector, X, Y, X_test=X_TEST)
    with pytest.raises(ValueError, match="y_test is given without X_test"):
        protoset.report(selector, X, Y, y_test=Y_TEST)
    with pytest.raises(ValueError, match="y is given, but X is a Dataset"):
        protoset.report(selector, Dataset("d", "vectors", X, Y), Y)
    with pytest.raises(TypeError, match="X_test has the type ndarray; X is a Dataset"):
        protoset.report(selector, Dataset("d", "vectors", X, Y), X_test=X_TEST)
    with pytest.raises(TypeError, match="X is a space, which has no objects to show"):
        protoset.report(selector, make_space(X, "euclidean"), Y)
    with pytest.raises(TypeError, match="estimator has the type Pipeline; pass a fitted PrototypeClassifier"):
        protoset.report(make_pipeline(StandardScaler()), X, Y)
    with pytest.raises(TypeError, match="estimator has the type ndarray"):
        protoset.report(X, Y)
    with pytest.raises(ValueError, match="X has no objects"):
        protoset.report(selector, X[:0], Y[:0])
    with pytest.raises(ValueError, match="X_test has no objects"):
        protoset.report(selector, X, Y, X_test=[], y_test=[])
    with pytest.raises(ValueError, match=r"X has the shape \(90,\); pass a row of values per object"):
        protoset.report(selector, X[:, 0], Y)
    with pytest.raises(TypeError, match="X is of the type str"):
        protoset.report(selector, "data.csv", Y)
    with pytest.raises(ValueError, match="y has 30 labels for 90 objects in X"):
        protoset.report(selector, X, Y_TEST)
    pipeline = make_pipeline(StandardScaler(), PrototypeClassifier(REPS(6))).fit(X, Y)
    with pytest.raises(ValueError, match="is given, but the estimator has steps of its own"):
        protoset.report(pipeline, X, Y, transform=np.log)


def test_a_path_is_checked_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "page.html").write_text("mine")
    monkeypatch.setattr(building, "page_model", None)
    with pytest.raises(FileExistsError, match="pass overwrite=True"):
        protoset.report(REPS(6).fit(X, Y), X, Y, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "mine"
