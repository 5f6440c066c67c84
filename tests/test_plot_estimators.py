"""Plots of estimators: what is drawn is what was fitted; prototypes as pictures."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import matthews_corrcoef
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from protoset import REPS, PrototypeClassifier, Refined
from protoset.datasets import Attribute, Dataset
from protoset.evaluation import critical_difference
from protoset.experiments import compare
from protoset.models import fit_model, reference_errors
from protoset.plots import (
    CriticalDifferenceDisplay,
    FrontDisplay,
    ReliabilityDisplay,
    plot_confusion,
    plot_front,
    plot_map,
    plot_neighbor_graph,
    plot_prototypes,
    plot_reliability,
    plot_series,
    plot_size_curve,
    plot_weights,
)
from protoset.plots._checks import CheckedDissimilarities
from protoset.plots.layout import Plane
from protoset.spaces import make_space

from plot_cases import (
    ERRORS,
    MATRIX,
    SERIES,
    X,
    Y,
    labels,
    legend_of,
    marks,
    pixels,
    texts_of,
)


def test_the_map_of_a_classifier_marks_its_errors_on_new_objects():
    training, new = np.arange(0, 50, 2), np.arange(1, 50, 2)
    classifier = PrototypeClassifier(REPS(6), adapt=False).fit(X[training], Y[training])
    display = plot_map(classifier, X[new], Y[new])
    wrong = classifier.predict(X[new]) != Y[new]
    assert np.array_equal(display.is_wrong, wrong)
    assert marks(display, "misclassified") == wrong.sum()
    assert (marks(display, "objects"), marks(display, "prototypes")) == (25, 6)
    assert f"misclassified ({wrong.sum()})" in legend_of(display)


def test_moved_prototypes_are_where_they_are_now():
    """In a plane the map is exact, so the distances on it are those of the classifier."""
    points = np.random.default_rng(3).normal(size=(150, 2)) + np.repeat([[0, 0], [2, 0], [0, 2]], 50, axis=0)
    y = np.repeat([0, 1, 2], 50)
    classifier = PrototypeClassifier(REPS(6), adapt=True).fit(points, y)
    display = plot_map(classifier, points, y)
    moved = classifier.prototypes_
    assert not np.allclose(moved, points[classifier.sample_indices_])
    assert np.allclose(cdist(display.points, display.prototypes), cdist(points, moved), atol=1e-5)
    assert "moved prototypes (6)" in legend_of(display)


def test_the_map_has_plain_distances_where_relevances_were_learned():
    classifier = PrototypeClassifier(REPS(6), adapt={"relevances": True}).fit(X[:, :2], Y)
    display = plot_map(classifier, X[:, :2], Y)
    expected = cdist(X[:, :2], classifier.prototypes_)
    assert np.allclose(cdist(display.points, display.prototypes), expected, atol=1e-5)


def test_the_map_asks_for_no_square_of_distances():
    """250 landmarks, and the prototypes: that is all."""
    points = np.random.default_rng(0).normal(size=(1500, 3))
    y = np.repeat(["a", "b", "c"], 500)
    calls = []

    def distance(one, other):
        calls.append(1)
        return float(np.abs(one - other).sum())

    selector = REPS(9, metric="cityblock").fit(points, y)
    selector.metric, selector.metric_params = distance, None
    display = plot_map(selector, points, y)
    assert len(calls) < 1500 * (250 + 9) + 250**2 + 9
    assert len(display.points) == 1500


def test_landmarks_place_other_objects_too():
    points = np.random.default_rng(5).normal(size=(1100, 2))
    plane = Plane.of(CheckedDissimilarities(make_space(points), len(points)))
    others = np.random.default_rng(6).normal(size=(20, 2))
    placed = plane.place(cdist(others, points[plane.landmarks]))
    assert np.allclose(cdist(placed, plane.points), cdist(others, points), atol=1e-6)


def test_graphs_series_and_weights_of_estimators():
    selector = REPS(7, metric="dtw").fit(SERIES, labels(["a", "b", "c"]))
    kept = selector.sample_indices_
    graph = plot_neighbor_graph(selector, SERIES, labels(["a", "b", "c"]), series=True)
    assert [patch.get_gid() for patch in graph.ax_.patches] == ["kept" if i in kept else "dropped" for i in range(50)]
    assert np.allclose(graph.dissimilarities, make_space(SERIES, "dtw").block(slice(None), slice(None)))
    panels = plot_series(selector, SERIES, labels(["a", "b", "c"])).ax_.child_axes
    drawn = {tuple(panel.lines[0].get_ydata()) for panel in panels if panel.get_gid() == "kept"}
    assert drawn == {tuple(SERIES[row]) for row in kept}
    weights = plot_weights(Refined(selector).fit(SERIES, Y), SERIES, Y)
    upper, lower = weights.ax_.child_axes
    assert len(upper.patches) == 7
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("weight / largest", "degradation")
    assert legend_of(weights) == [f"class {label}" for label in np.unique(weights.labels)]


def test_the_front_of_a_comparison_has_its_standard_errors():
    data = Dataset("iris", "vectors", X, labels(["a", "b", "c"]), tuple(Attribute(name, "real") for name in "wxyz"))
    comparison = compare(data, methods=["guess", "NoPS", "FCNN", "REPS"], n_prototypes=6, folds=3)
    display = plot_front(comparison)
    assert list(display.methods) == ["NoPS", "FCNN", "REPS"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("selection rate", "error rate")
    assert legend_of(display) == ["on the Pareto front", "± standard error"]
    bars = [bar.lines[2][0].get_segments()[0][:, 1] for bar in display.ax_.containers]
    means = comparison.errors.mean(axis=0)[1:]
    expected = [(mean - error, mean + error) for mean, error in zip(means, comparison.standard_errors[1:], strict=True)]
    assert np.allclose(bars, expected)
    single = FrontDisplay.from_results([0.1, 0.2], [0.3, 0.1], ["a", "b"])
    assert not single.ax_.containers
    assert legend_of(single) == ["on the Pareto front"]
    with pytest.raises(TypeError, match="comparison has the type ndarray; pass the result of .*from_results"):
        plot_front(ERRORS)


def test_reference_lines_of_a_pipeline_are_those_of_its_space():
    pipeline = make_pipeline(StandardScaler(), REPS(random_state=0)).fit(X, Y)
    display = plot_size_curve(pipeline, X, Y)
    assert display.references == reference_errors(make_space(StandardScaler().fit_transform(X)), Y)
    assert [text.split(":")[0] for text in legend_of(display)] == [
        *("error of REPS ± standard error", "chosen", "lowest", "lowest + standard error", "1-NN on everything"),
        *(f"k-NN on everything, k = {display.references.k}", "always guessing"),
    ]
    assert plot_size_curve(pipeline).references is None


def test_a_size_curve_names_the_score_that_it_measured():
    balanced = REPS(scoring="balanced_accuracy", random_state=0).fit(X, Y)
    display = plot_size_curve(balanced, X, Y)
    assert display.references == reference_errors(make_space(X), Y, scoring="balanced_accuracy")
    assert display.ax_.get_ylabel() == "1 - balanced accuracy (cross-validated)"
    assert legend_of(display)[0] == "1 - balanced accuracy of REPS ± standard error"
    assert "with 1 - balanced accuracy = " in repr(balanced.size_curve_)
    by_function = REPS(scoring=matthews_corrcoef, random_state=0).fit(X, Y)
    display = plot_size_curve(by_function, X, Y)
    assert display.references is None, "no reference is measured by a function"
    assert display.ax_.get_ylabel() == "-matthews_corrcoef (cross-validated)"
    assert display.ax_.get_ylim()[0] < by_function.size_curve_.errors.min() < 0


def test_confusions_of_classifiers_beside_each_other():
    classifier = PrototypeClassifier(REPS(6), adapt=False).fit(X[::2], Y[::2])
    neighbors = KNeighborsClassifier(1).fit(X[::2], Y[::2])
    display = plot_confusion({"1-NN": neighbors, "prototypes": classifier}, X[1::2], Y[1::2])
    titles = [panel.get_title(loc="left") for panel in display.ax_.child_axes]
    assert titles == [
        f"{name}\nerror {1 - model.score(X[1::2], Y[1::2]):.3f}"
        for name, model in (("1-NN", neighbors), ("prototypes", classifier))
    ]
    (panel,) = plot_confusion(classifier, X[1::2], Y[1::2]).ax_.child_axes
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("predicted", "true")
    with pytest.raises(TypeError, match="has no predict; pass a fitted classifier"):
        plot_confusion(REPS(6).fit(X, Y), X, Y)


def test_ranks_from_errors():
    display = CriticalDifferenceDisplay.from_errors(ERRORS, list("abcdef"), alpha=0.1)
    result = critical_difference(ERRORS, 0.1, names=list("abcdef"))
    assert np.array_equal(display.result.average_ranks, result.average_ranks)
    assert any("α = 0.1" in text for text in texts_of(display))


def test_reliability_of_predictions_is_that_of_the_classifier():
    classifier = PrototypeClassifier(REPS(6), adapt=False).fit(X[::2], Y[::2])
    of_classifier = plot_reliability(classifier, X[1::2], Y[1::2])
    details = classifier.predict_details(X[1::2])
    of_predictions = ReliabilityDisplay.from_predictions(Y[1::2], details.labels, details.probabilities)
    assert pixels(of_classifier) == pixels(of_predictions)


# Prototypes


def panels_of(display, role):
    return [panel for panel in display.ax_.child_axes if panel.get_gid() == role]


def test_images_by_class_largest_first():
    rng = np.random.default_rng(0)
    pixels, y = rng.random((60, 12)), np.repeat(["a", "b", "c"], 20)
    selector = REPS(9).fit(pixels, y)
    display = plot_prototypes(selector, pixels, y, image_shape=(3, 4))
    kept = selector.sample_indices_
    nearest = kept[cdist(pixels, pixels[kept]).argmin(axis=1)]
    counts = {row: int((nearest == row).sum()) for row in kept.tolist()}
    order = sorted(kept.tolist(), key=lambda row: (y[row], -counts[row]))
    drawn = [panel.images[0].get_array() for panel in panels_of(display, "prototype")]
    assert np.allclose(drawn, pixels[order].reshape(-1, 3, 4))
    texts = [text.get_text() for text in display.ax_.texts]
    assert [text for text in texts if text.startswith("stands")] == [f"stands for {counts[row]}" for row in order]
    in_class = [row for row in kept if y[row] == "a"]
    assert texts[0] == f"a: {len(in_class)} prototypes for {sum(counts[row] for row in in_class)} objects"
    assert not panels_of(display, "exemplar")
    few = plot_prototypes(selector, pixels, y, image_shape=(3, 4), max_per_class=1, max_classes=2)
    assert len(few.ax_.child_axes) == 2
    assert "1 more classes are not shown." in texts_of(few)
    assert any(text.endswith("more not shown") for text in texts_of(few))


def test_colour_images_and_objects_beside_distances():
    bytes_of = np.random.default_rng(0).integers(0, 256, (50, 2, 2, 3))
    flat = plot_prototypes(REPS(6).fit(X, Y), X, Y, objects=bytes_of)
    (image,) = panels_of(flat, "prototype")[0].images
    assert image.get_array().shape == (2, 2, 3)
    assert 0 <= image.get_array().min() < image.get_array().max() <= 1
    matrix = plot_prototypes(REPS(6, metric="precomputed").fit(MATRIX, Y), MATRIX, Y, objects=bytes_of)
    assert pixels(matrix) == pixels(flat)
    with pytest.raises(ValueError, match="metric='precomputed' has no objects to draw; pass them as objects="):
        plot_prototypes(REPS(6, metric="precomputed").fit(MATRIX, Y), MATRIX, Y)
    with pytest.raises(ValueError, match="objects has 3 entries for 50 objects"):
        plot_prototypes(REPS(6).fit(X, Y), X, Y, objects=bytes_of[:3])
    with pytest.raises(ValueError, match=r"image_shape=\(3, 3\) has 9 values, but the objects have 4; pass the height"):
        plot_prototypes(REPS(6).fit(X, Y), X, Y, image_shape=(3, 3))


def test_moved_prototypes_beside_their_exemplars_in_the_units_of_the_data():
    pipeline = make_pipeline(StandardScaler(), PrototypeClassifier(REPS(6), adapt=True)).fit(X, Y)
    display = plot_prototypes(pipeline, X, Y, image_shape=(2, 2), ids=[f"iris {row}" for row in range(50)])
    classifier = pipeline[-1]
    moved = pipeline[:-1].inverse_transform(classifier.prototypes_)
    order = np.lexsort((-display.sizes, classifier.prototype_labels_))
    drawn = {
        role: np.reshape([panel.images[0].get_array() for panel in panels_of(display, role)], (-1, 4))
        for role in ("prototype", "exemplar")
    }
    assert np.allclose(drawn["prototype"], moved[order])
    assert np.allclose(drawn["exemplar"], X[classifier.exemplars_][order])
    texts = [text.get_text() for text in display.ax_.texts]
    assert [text for text in texts if text.startswith("iris")] == [
        f"iris {row}" for row in classifier.exemplars_[order]
    ]
    assert texts[0].startswith("Each prototype moved")


def test_without_an_inverse_the_exemplars_are_shown_and_said_so():
    forwards = FunctionTransformer(np.sqrt)
    for steps in ([forwards], [StandardScaler(), FunctionTransformer(np.tanh)]):
        pipeline = make_pipeline(*steps, PrototypeClassifier(REPS(6), adapt=True)).fit(X, Y)
        display = plot_prototypes(pipeline, X, Y)
        assert np.allclose(np.array(display.objects, float), X[pipeline[-1].exemplars_])
        assert display.exemplars is None
        assert "the nearest real objects are shown" in display.ax_.texts[0].get_text()


def test_rows_have_the_names_of_the_columns_and_the_attributes_that_differ():
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["w", "x", "y", "z"])
    display = plot_prototypes(REPS(6).fit(frame, Y), frame, Y)
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts[:4] == ["w", "x", "y", "z"]
    first = display.objects[np.lexsort((-display.sizes, display.labels))[0]]
    cells = [text.get_text() for text in display.ax_.texts if text.get_gid() == "prototype"]
    assert cells[:4] == [f"{value:.4g}" for value in first]
    assert len(cells) == 24
    noise = np.random.default_rng(0).normal(size=(50, 20))
    noise[:, 13] = 10 * Y
    many = plot_prototypes(REPS(6).fit(noise, Y), noise, Y)
    texts = [text.get_text() for text in many.ax_.texts]
    assert "Of 20 attributes, the 8 are shown that differ most." in texts
    assert texts[1] == "attribute 13"


def test_rows_of_mixed_attributes_have_categories_by_name():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"age": rng.integers(18, 80, 60), "colour": rng.choice(["red", "blue"], 60)})
    y = np.where(frame["colour"] == "red", "yes", "no")
    display = plot_prototypes(REPS(4).fit(frame, y), frame, y)
    cells = [text.get_text() for text in display.ax_.texts if text.get_gid() == "prototype"]
    assert {"red", "blue"} <= set(cells)
    moved = plot_prototypes(PrototypeClassifier(REPS(4), adapt=True).fit(frame, y), frame, y)
    assert moved.exemplars is not None
    assert any("%" in text or text in ("red", "blue") for text in texts_of(moved))


def test_series_strings_and_tokens():
    y = labels(["a", "b", "c"])
    of_series = plot_prototypes(REPS(6, metric="dtw").fit(SERIES, y), SERIES, y)
    lines = [panel.lines[0].get_ydata() for panel in panels_of(of_series, "prototype")]
    assert len(lines) == 6
    assert all(any(np.array_equal(line, curve) for curve in SERIES) for line in lines)
    assert len({panel.get_ylim() for panel in of_series.ax_.child_axes}) == 1
    channels = np.stack([SERIES, -SERIES], axis=1)
    of_channels = plot_prototypes(REPS(6, metric="dtw").fit(channels, y), channels, y)
    assert [len(panel.lines) for panel in of_channels.ax_.child_axes] == [2] * 6
    assert of_channels.objects[0].shape == (30, 2)
    words = [f"{'ab'[row % 2] * 5}{row}" for row in range(20)]
    for objects in (words, [list(word) for word in words]):
        y = np.array([word[0] for word in words])
        texts = texts_of(plot_prototypes(REPS(4, metric="levenshtein").fit(objects, y), objects, y))
        assert len([text for text in texts if text.replace(" ", "") in words]) == 4


def test_objects_of_a_function_are_rows_or_texts():
    numbers = X[:, 0].tolist()
    display = plot_prototypes(REPS(6, metric=lambda one, other: abs(one - other)).fit(numbers, Y), numbers, Y)
    assert display.kind == "strings"
    assert set(display.objects) <= set(map(str, numbers))
    rows = X.tolist()
    display = plot_prototypes(REPS(6, metric=lambda one, other: abs(one[0] - other[0])).fit(rows, Y), rows, Y)
    assert display.kind == "rows"


def test_prototypes_of_a_model_are_in_the_units_of_its_data():
    data = Dataset(
        "iris", "vectors", X * 100, labels(["a", "b", "c"]), tuple(Attribute(name, "real") for name in "wxyz")
    )
    model = fit_model(data, "adapted", n_prototypes=6)
    display = plot_prototypes(model, data.objects, data.labels)
    assert list(display.names) == ["w", "x", "y", "z"]
    assert np.allclose(np.array(display.objects, float), model.prototype_values_)
    assert marks(plot_map(model, data.objects, data.labels), "objects") == 50
