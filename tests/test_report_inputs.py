"""What pages and plots take, and refuse: searches in pipelines, images, strange names, objects in another order."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import protoset
from protoset import REPS, PrototypeClassifier, Refined
from protoset._report.objects import MAX_NAME_LENGTH, describe_objects
from protoset.datasets import Attribute, Dataset
from protoset.models import CrossValidation, ReferenceErrors
from protoset.models.unpacking import undo, unpack_estimator
from protoset.plots import plot_confusion, plot_map, plot_prototypes

from conftest import overlapping
from plot_cases import legend_of

X, Y = overlapping(90, d=3, seed=1)
# Not the topic here, and slow to measure.
KNOWN = {
    "cross_validation": CrossValidation(0.1, 0.1, 9),
    "references": ReferenceErrors(0.5, 0.1, 0.1, 1, 0, 9),
    "suspects": False,
}


def test_searches_and_pipelines_may_hold_each_other():
    inner = PrototypeClassifier(REPS(9), adapt=False)
    plain = make_pipeline(StandardScaler(), inner).fit(X, Y)
    expected = protoset.report(plain, X, Y, created="now", **KNOWN).model
    points = plot_map(plain, X, Y).prototypes
    grid = {"adapt": [False]}
    search = make_pipeline(StandardScaler(), GridSearchCV(inner, grid, cv=2)).fit(X, Y)
    nested = make_pipeline(make_pipeline(StandardScaler()), make_pipeline("passthrough", inner)).fit(X, Y)
    for estimator in (search, nested):
        model = protoset.report(estimator, X, Y, created="now", **KNOWN).model
        assert model["objects"] == expected["objects"]
        assert np.allclose(plot_map(estimator, X, Y).prototypes, points)
    with pytest.raises(TypeError, match=r"estimator has the type GridSearchCV; pass a fitted"):
        unpack_estimator(GridSearchCV(inner, grid))


def test_only_a_right_inverse_undoes_a_transform():
    scaler = StandardScaler().fit(X)
    assert np.allclose(undo(scaler.transform, scaler.transform(X)), X)
    assert undo(FunctionTransformer(np.square).fit(X).transform, X**2) is None
    assert undo(np.square, X**2) is None


def test_objects_in_another_order_are_refused():
    for adapt in (True, False):
        classifier = PrototypeClassifier(REPS(9), adapt=adapt).fit(X, Y)
        with pytest.raises(ValueError, match=r"not fitted on the 90 objects of X: their order differs"):
            classifier.report(X[::-1], Y[::-1])
        with pytest.raises(ValueError, match="not fitted on the 80 objects of X: their number differs"):
            classifier.report(X[:80], Y[:80])


def test_errors_about_test_objects_name_them():
    classifier = PrototypeClassifier(REPS(9), adapt=False).fit(X, Y)
    with pytest.raises(ValueError, match="y_test has 4 labels for 5 objects in X_test"):
        classifier.report(X, Y, X_test=X[:5], y_test=Y[:4])
    for wrong in (X[:5, :2], X[:5] * np.nan):
        with pytest.raises(ValueError, match="X_test cannot be compared with X: "):
            classifier.report(X, Y, X_test=wrong, y_test=Y[:5])
    with pytest.raises(TypeError, match="ids='.*' must be a list"):
        classifier.report(X, Y, ids="a" * 90)


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(PermissionError, match="is in a folder that cannot be written; choose another folder"):
        protoset.report(None, None, path=tmp_path / "page.html")


def test_long_and_empty_names():
    names = np.array(["", "   ", "x" * 10_000], object)
    dataset = Dataset("d", "vectors", X, names[Y], tuple(Attribute(name, "real") for name in names))
    selector = REPS(9).fit(X, names[Y])
    model = protoset.report(selector, dataset, ids=names[Y], **KNOWN).model
    cut = "x" * (MAX_NAME_LENGTH - 1) + "…"
    assert model["classes"] == ["(empty)", "(empty)", cut]
    assert set(model["objects"]["ids"]) == {"(empty)", cut}
    assert model["objects"]["values"]["names"] == ["(empty)", "(empty)", cut]
    given = [{"row": 3, "given": "x" * 10_000, "suggested": ""}]
    (suspect,) = protoset.report(selector, dataset, **KNOWN | {"suspects": given}).model["suspects"]
    assert suspect["given"] == [2, cut]
    classifier = PrototypeClassifier(REPS(9), adapt=False).fit(X, np.where(Y == 0, "", names[Y]))
    assert any(
        text.startswith("(empty)") for text in legend_of(plot_map(classifier, X, np.where(Y == 0, "", names[Y])))
    )


def test_images_name_the_page_and_are_guessed_by_plots():
    digits, codes = load_digits(return_X_y=True)
    selector = REPS(20).fit(digits[:200], codes[:200])
    for options, name in (({}, "images"), ({"image_shape": False}, "rows")):
        report = protoset.report(selector, digits[:200], codes[:200], **KNOWN, **options)
        assert report.model["title"] == f"Prototypes of 200 {name}"
        assert report.model["objects"]["values"]["kind"] == name
        for objects in (digits[:200], pd.DataFrame(digits[:200]).add_prefix("pixel_")):
            assert plot_prototypes(selector, objects, codes[:200], **options).kind == name
    for wrong in (8, True, (-8, -8), (8.0, 8.0), np.array([8, 8]), (8, 8, 3)):
        with pytest.raises(ValueError, match="image_shape="):
            plot_prototypes(selector, digits[:200], codes[:200], image_shape=wrong)
    picture = plot_prototypes(selector, digits[:200], codes[:200], image_shape=(8, 8, 1))
    assert picture.objects[0].shape == (8, 8)


def test_dates_of_moved_prototypes_are_rounded():
    table = np.array([[19_900.0, 0.5], [19_900.123456789, 0.5], [19_900.25, 0.5]], object)
    forms = {None: ["2024-06-26", "2024-06-26", "2024-06-26T06:00"]}
    forms["YYYY-MM-DDThh:mm:ss"] = ["2024-06-26T00:00:00", "2024-06-26T02:57:47", "2024-06-26T06:00:00"]
    for form, expected in forms.items():
        columns = (Attribute("day", "date", form=form), Attribute("size", "real"))
        dataset = Dataset("d", "mixed", table, np.array(["a", "b", "b"]), columns)
        values, _ = describe_objects(dataset, np.arange(3))
        assert [row[0] for row in values["values"]] == expected


def test_a_set_that_was_not_refined_is_not_called_refined():
    """Of many objects that will move, the default leaves out the swaps."""
    selector = Refined(REPS(9)).fit(X, Y)
    assert protoset.report(selector, X, Y, **KNOWN).model["summary"]["refined"]
    selector.refinement_ = None
    assert not protoset.report(selector, X, Y, **KNOWN).model["summary"]["refined"]


@pytest.mark.parametrize("adapt", [False, True])
def test_the_last_step_of_a_pipeline_with_the_objects_of_the_pipeline_is_refused(adapt):
    many = np.column_stack([1000.0 * X[:, 0], X[:, 1:]])
    pipeline = make_pipeline(StandardScaler(), PrototypeClassifier(REPS(9), adapt=adapt)).fit(many, Y)
    assert protoset.report(pipeline, many, Y, **KNOWN).model["summary"]["n_train"] == len(Y)
    with pytest.raises(ValueError, match=r"not fitted on the objects of X: .* protoset.report\(pipeline, X, y\)"):
        pipeline[-1].report(many, Y, **KNOWN)


@pytest.mark.parametrize("adapt", [False, "auto"])
@pytest.mark.parametrize("metric", ["euclidean", "sparse", "nan_euclidean", "heom", "gower", "ddtw", "levenshtein"])
def test_the_objects_of_the_fit_are_recognised(metric, adapt):
    rng = np.random.default_rng(0)
    objects = X
    if metric in ("nan_euclidean", "heom", "gower"):
        objects = X.copy()
        objects[np.arange(len(X)), rng.integers(0, X.shape[1], len(X))] = np.nan
    elif metric == "ddtw":
        objects = [rng.normal(size=rng.integers(15, 25)) + label for label in Y]
    elif metric == "levenshtein":
        objects = ["".join(rng.choice(list("abcd"), 6)) for _ in Y]
    elif metric == "sparse":
        objects, metric = sparse.csr_array(np.maximum(X, 0)), "euclidean"
    weights = rng.integers(0, 2, len(Y))
    for sample_weight in (None, weights):
        classifier = PrototypeClassifier(REPS(6, metric=metric), adapt=adapt).fit(objects, Y, sample_weight)
        assert protoset.report(classifier, objects, Y, **KNOWN).model["summary"]["n_train"] == len(Y)


def test_a_classifier_of_a_stream_has_no_page():
    classifier = PrototypeClassifier(REPS(6)).fit(X, Y).partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"estimator has learned from a stream \(partial_fit\)"):
        protoset.report(classifier, X, Y)


def test_errors_of_one_classifier_do_not_name_it():
    with pytest.raises(TypeError, match=r"^estimator=REPS\(\) has no predict"):
        plot_confusion(REPS(), X, Y)
    with pytest.raises(TypeError, match=r"^estimator\['one'\]=REPS\(\) has no predict"):
        plot_confusion({"one": REPS()}, X, Y)
