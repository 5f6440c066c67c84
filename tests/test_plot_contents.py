"""Plots: what is drawn agrees with the data, kind by kind."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protoset import REPS, PrototypeClassifier, Refined
from protoset.evaluation import critical_difference, estimate_error, pareto_ranks
from protoset.models import reference_errors
from protoset.plots import (
    ConfusionDisplay,
    FrontDisplay,
    NeighborGraphDisplay,
    PrototypeMapDisplay,
    PrototypesDisplay,
    RelevancesDisplay,
    SeriesDisplay,
    SizeCurveDisplay,
    WeightsDisplay,
    plot_critical_difference,
    plot_relevances,
    plot_reliability,
    plot_sensitivity,
    plot_size_curve,
    plot_tradeoff,
)
from protoset.plots._checks import CheckedDissimilarities, mark_objects, misclassified
from protoset.plots._style import CLASS_COLOURS, colour_and_shape
from protoset.plots.layout import classical_scaling, plane_coordinates, untangle
from protoset.plots.neighbor_graph import nearest_edges
from protoset.plots.reliability import equal_bins
from protoset.spaces import make_space

from plot_cases import (
    ERRORS,
    KEPT,
    KNOWN,
    MATRIX,
    RATES,
    RNG,
    SERIES,
    Known,
    X,
    Y,
    legend_of,
    marks,
    matplotlib,
    pixels,
    texts_of,
)

# Critical differences


@pytest.mark.parametrize("seed", range(6))
def test_the_diagram_shows_the_numbers(seed):
    rng = np.random.default_rng(seed)
    result = critical_difference(rng.random((30, 7)) + np.arange(7) / 4 * rng.random(), names=list("ABCDEFG"))
    display = plot_critical_difference(result)
    figure, ax = display.figure_, display.ax_
    bars = [line for line in ax.lines if line.get_gid() == "group"]
    ends = [tuple(result.average_ranks[[group[0], group[-1]]]) for group in result.groups]
    assert [tuple(bar.get_xdata()) for bar in bars] == ends
    for bar, other in itertools.combinations(bars, 2):
        if bar.get_ydata()[0] == other.get_ydata()[0]:
            assert bar.get_xdata()[1] < other.get_xdata()[0] or other.get_xdata()[1] < bar.get_xdata()[0]
    written = texts_of(figure)
    for name, rank in zip(result.names, result.average_ranks, strict=True):
        assert any(re.fullmatch(rf"({name}\s+{rank:.2f})|({rank:.2f}\s+{name})", text) for text in written)
    assert any(text.startswith(f"critical difference {result.critical_difference:.2f}") for text in written)
    scale = [line for line in ax.lines if line.get_color() == CLASS_COLOURS[1]]
    assert np.ptp(scale[0].get_xdata()) == pytest.approx(result.critical_difference)


# Error against selection rate


def test_a_numbered_marker_for_every_result():
    errors = ERRORS.copy()
    errors[2, 3] = np.nan
    ax = plot_tradeoff(errors, RATES, list("abcdef"), numbers=range(11, 20)).ax_
    drawn = {(float(line.get_xdata()[0]), float(line.get_ydata()[0])): line for line in ax.lines}
    assert len(ax.lines) == len(ax.texts) == 53
    numbers = {tuple(map(float, text.xy)): text.get_text() for text in ax.texts}
    for row, column in np.argwhere(np.isfinite(errors)):
        at = (RATES[row, column], errors[row, column])
        assert (drawn[at].get_color(), drawn[at].get_marker()) == colour_and_shape(column)
        assert numbers[at] == str(row + 11)
    assert ax.get_xscale() == "log"


@pytest.mark.parametrize("rates", [[0.3, 0.33], [0.1, 0.9], [0.004, 0.9], [0.3, 0.3]])
def test_rates_are_written_as_percentages(rates):
    display = FrontDisplay.from_results([0.1, 0.2], rates, ["a", "b"])
    figure, ax = display.figure_, display.ax_
    figure.draw_without_rendering()
    low, high = ax.get_xlim()
    labels = [*ax.get_xticklabels(), *ax.get_xticklabels(minor=True)]
    shown = [label for label in labels if label.get_text() and low <= label.get_position()[0] <= high]
    assert len(shown) >= 2
    assert all(label.get_text() == f"{100 * label.get_position()[0]:.6g} %" for label in shown)


def test_a_rate_of_0_is_shown():
    ax = plot_tradeoff([[0.1, 0.2]], [[0.0, 0.5]], ["a", "b"]).ax_
    assert ax.get_xscale() == "linear"
    assert len(ax.lines) == 2


@pytest.mark.parametrize("seed", range(4))
def test_the_front_is_that_of_the_ranks(seed):
    rng = np.random.default_rng(seed)
    errors, rates = rng.random(9), rng.uniform(0.01, 1, 9)
    errors[4] = np.nan
    display = FrontDisplay.from_results(errors, rates, [f"method {position}" for position in range(9)])
    figure, ax = display.figure_, display.ax_
    front = pareto_ranks(np.column_stack([errors, rates])) == 1
    steps, *markers = ax.lines
    assert set(steps.get_xdata()) == set(rates[front])
    assert np.all(np.diff(steps.get_xdata()) > 0)
    assert np.all(np.diff(steps.get_ydata()) < 0)
    filled = {float(line.get_xdata()[0]) for line in markers if line.get_markerfacecolor() == line.get_color()}
    assert filled == set(rates[front])
    assert sorted(text.get_text() for text in ax.texts) == [
        f"method {position}" for position in range(9) if position != 4
    ]
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert sum(one.overlaps(other) for one, other in itertools.combinations(boxes, 2)) <= 1


# Sensitivity and sizes


def test_boxes_have_the_medians():
    values = {1.5: [1.0, 2, 9], 2: [4.0, np.nan, 5], 3: [7.0]}
    ax = plot_sensitivity(values, parameter="β", measure="error").ax_
    medians = [line.get_ydata() for line in ax.lines if line.get_color() == CLASS_COLOURS[1]]
    assert [float(median[0]) for median in medians] == [2, 4.5, 7]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1.5", "2", "3"]
    assert [text.get_text() for text in ax.texts] == ["n = 2"]


def test_the_curve_has_the_chosen_size():
    curve = REPS(random_state=0).fit(X, Y).size_curve_
    figure = SizeCurveDisplay.from_curve(curve)
    ax = figure.ax_
    line, best, chosen = ax.lines[:3]
    assert np.array_equal(line.get_xdata(), curve.sizes)
    assert np.array_equal(line.get_ydata(), curve.errors)
    assert (best.get_xdata()[0], best.get_ydata()[0]) == (curve.sizes[curve.best], curve.errors[curve.best])
    assert (chosen.get_xdata()[0], chosen.get_ydata()[0]) == (curve.sizes[curve.chosen], curve.errors[curve.chosen])
    size = curve.sizes[curve.chosen]
    assert any(text.startswith(f"chosen: {size} prototypes") for text in texts_of(figure))
    assert str(size) in [label.get_text() for label in ax.get_xticklabels()]


@pytest.mark.parametrize(
    ("fitted", "name"),
    [
        (REPS(random_state=0), "error of REPS ± standard error"),
        (PrototypeClassifier(Refined()), "error of adapted REPS ± standard error"),
        (PrototypeClassifier(Refined(), adapt=False), "error of refined REPS ± standard error"),
    ],
)
def test_the_curve_of_a_fit_names_the_method_and_the_references(fitted, name):
    fitted.fit(X, Y)
    references = reference_errors(make_space(X), Y)
    figure = plot_size_curve(fitted, references=references)
    curve = getattr(fitted, "selector_", fitted).size_curve_
    assert np.array_equal(figure.ax_.lines[0].get_ydata(), curve.errors)
    lines = {float(line.get_ydata()[0]) for line in figure.ax_.lines if len(set(line.get_ydata())) == 1}
    assert {references.guess, references.nearest, references.knn} <= lines
    texts = texts_of(figure)
    assert name in texts
    assert f"k-NN on everything, k = {references.k}: {references.knn:.3f}" in texts
    # The error of guessing is far above the curve.
    assert f"always guessing: {references.guess:.3f} (above)" in texts
    assert figure.ax_.get_ylim()[1] < references.guess
    with pytest.raises(ValueError, match="REPS has no size curve: it takes no size, or has a fixed one; .*'auto'"):
        plot_size_curve(REPS(9).fit(X, Y))


# Series


def test_small_multiples_show_the_series():
    figure = SeriesDisplay.from_series(SERIES, Y, KEPT)
    panels = figure.ax_.child_axes
    drawn = {tuple(panel.lines[0].get_ydata()): panel for panel in panels}
    assert len(panels) == len(drawn) == len(Y)
    for position, one in enumerate(SERIES):
        panel = drawn[tuple(one)]
        is_kept = position in KEPT
        assert panel.get_gid() == ("kept" if is_kept else "dropped")
        assert all(spine.get_visible() != is_kept for spine in panel.spines.values())
        assert (panel.lines[0].get_alpha() == 1) == is_kept
        assert panel.lines[0].get_color() == CLASS_COLOURS[Y[position]]
    assert len({panel.get_ylim() for panel in panels}) == 1
    headings = [text.get_text() for text in figure.ax_.texts]
    assert headings == ["class 0: 2 kept of 17", "class 1: 2 kept of 17", "class 2: 3 kept of 16"]


def test_panels_are_limited_and_counted():
    figure = SeriesDisplay.from_series(SERIES, Y, np.arange(25), max_panels=8, max_classes=2)
    assert len(figure.ax_.child_axes) == 16
    headings = [text.get_text() for text in figure.ax_.texts]
    assert headings == [
        "class 0: 17 kept of 17, 9 more not shown",
        "class 1: 8 kept of 17, 9 more not shown",
        "and 1 more classes",
    ]
    marks = [panel.get_gid() for panel in figure.ax_.child_axes]
    assert marks == ["kept"] * 8 + ["kept"] * 6 + ["dropped"] * 2
    chosen = SeriesDisplay.from_series(SERIES, Y, KEPT, classes=[2])
    assert [text.get_text() for text in chosen.ax_.texts] == ["class 2: 3 kept of 16"]


def test_series_of_channels_and_of_unequal_lengths():
    series = [np.ones((5, 2)), np.arange(7.0), [1, np.nan, 2]]
    panels = SeriesDisplay.from_series(series, ["a", "a", "b"], [0]).ax_.child_axes
    assert [len(panel.lines) for panel in panels] == [2, 1, 1]


def test_panels_do_not_overlap():
    figure = SeriesDisplay.from_series(SERIES, Y, KEPT)
    figure.figure_.draw_without_rendering()
    boxes = [panel.get_window_extent() for panel in figure.ax_.child_axes]
    boxes += [text.get_window_extent() for text in figure.ax_.texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


# Graphs and maps


@given(st.integers(1, 25), st.integers(0, 2**32 - 1))
def test_edges_and_errors_by_brute_force(n, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 9, (n, n)).astype(float)
    objects = mark_objects(rng.integers(0, 3, n), rng.random(n) < 0.5)
    edges, wrong = set(), []
    for own in range(n):
        others = sorted((matrix[own, other], other) for other in range(n) if other != own)
        if others:
            edges.add(tuple(sorted((own, others[0][1]))))
        kept = [other for _, other in others if objects.kept[other]]
        wrong.append(bool(kept) and objects.codes[kept[0]] != objects.codes[own])
    assert set(map(tuple, nearest_edges(matrix).tolist())) == edges
    assert misclassified(CheckedDissimilarities(matrix, n), objects).tolist() == wrong


def test_the_graph_marks_kept_dropped_and_misclassified():
    ax = NeighborGraphDisplay.from_distances(MATRIX, Y, KEPT).ax_
    assert sum(line.get_gid() == "edge" for line in ax.lines) == len(nearest_edges(MATRIX))
    *groups, crosses = ax.collections
    wrong = misclassified(CheckedDissimilarities(MATRIX, len(Y)), mark_objects(Y, KEPT))
    assert len(crosses.get_offsets()) == wrong.sum() > 0
    for code, (dropped, kept) in enumerate(zip(groups[::2], groups[1::2], strict=True)):
        assert len(kept.get_offsets()) == (Y[KEPT] == code).sum()
        assert len(dropped.get_offsets()) == (code == Y).sum() - (Y[KEPT] == code).sum()
        assert matplotlib.colors.to_hex(kept.get_facecolor()[0]) == CLASS_COLOURS[code].lower()
        assert matplotlib.colors.to_hex(dropped.get_facecolor()[0]) == "#ffffff"
        assert dropped.get_linestyles() != kept.get_linestyles()
    places = np.concatenate([group.get_offsets() for group in groups])
    crossed = {tuple(place) for place in crosses.get_offsets()}
    assert crossed <= {tuple(place) for place in places}


def test_series_in_a_graph_do_not_cover_each_other():
    ax = NeighborGraphDisplay.from_distances(MATRIX, Y, KEPT, series=SERIES).ax_
    assert [patch.get_gid() for patch in ax.patches] == ["kept" if i in KEPT else "dropped" for i in range(len(Y))]
    boxes = [patch.get_bbox() for patch in ax.patches]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    curves = [line for line in ax.lines if line.get_gid() != "edge"]
    for curve, one in zip(curves, SERIES, strict=True):
        assert np.corrcoef(curve.get_ydata(), one)[0, 1] == pytest.approx(1)


@settings(max_examples=20)
@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.booleans())
def test_untangled_boxes_are_apart(n, seed, on_one_spot):
    points = np.zeros((n, 2)) if on_one_spot else np.random.default_rng(seed).random((n, 2))
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)]) if n > 1 else np.empty((0, 2), int)
    places = untangle(points, edges, (0.05, 0.05))
    apart = np.abs(places[:, None] - places[None]).max(axis=2)[np.triu_indices(n, 1)]
    assert len(apart) == 0 or apart.min() > 0.95


@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_points_of_a_plane_keep_their_distances(n, seed):
    points = np.random.default_rng(seed).normal(size=(n, 2))
    matrix = cdist(points, points)
    placed = classical_scaling(matrix)
    assert placed.shape == (n, 2)
    assert np.allclose(cdist(placed, placed), matrix, atol=1e-6)


def test_landmarks_place_points_of_a_plane_exactly():
    points = RNG.normal(size=(1100, 2))
    placed = plane_coordinates(CheckedDissimilarities(make_space(points), len(points)))
    assert np.allclose(cdist(placed, placed), cdist(points, points), atol=1e-6)


def test_maps_of_what_has_no_extent():
    for matrix in (np.zeros((1, 1)), np.zeros((4, 4)), np.ones((2, 2)) - np.eye(2)):
        names = ["a"] * len(matrix)
        figure = PrototypeMapDisplay.from_distances(matrix, names, [0])
        places = np.concatenate([group.get_offsets() for group in figure.ax_.collections])
        assert places.shape == (len(matrix) + 1, 2)
        assert np.isfinite(places).all()
        for drawn in (
            figure,
            NeighborGraphDisplay.from_distances(matrix, names, [0]),
            NeighborGraphDisplay.from_distances(matrix, names, [], series=[[1.0]] * len(matrix)),
        ):
            assert len(set(pixels(drawn))) > 1, "something is on the page"


def test_a_map_has_every_object_and_takes_spaces():
    display = PrototypeMapDisplay.from_distances(MATRIX, Y, KEPT)
    groups = display.ax_.collections
    assert [len(group.get_offsets()) for group in groups[:-1]] == [17, 2, 17, 2, 16, 3]
    wrong = misclassified(CheckedDissimilarities(MATRIX, len(Y)), mark_objects(Y, KEPT))
    assert marks(display, "misclassified") == wrong.sum() > 0
    assert np.allclose(groups[-1].get_offsets(), display.points[wrong])
    assert legend_of(display) == [
        *("class 0 (17)", "class 1 (17)", "class 2 (16)", "prototypes (7)", "objects (50)"),
        f"misclassified ({wrong.sum()})",
    ]
    from_space = PrototypeMapDisplay.from_distances(make_space(X), Y, KEPT)
    assert np.allclose(display.points, from_space.points, atol=1e-6)
    assert np.allclose(display.prototypes, from_space.prototypes, atol=1e-6)
    assert not display.ax_.get_xticks().size
    plain = PrototypeMapDisplay.from_distances(MATRIX, Y, KEPT, errors=False)
    assert marks(plain, "misclassified") == 0
    assert not any("misclassified" in text for text in texts_of(plain))


# Weights and confusions


def test_bars_are_weights_and_points_degradations():
    weights = np.linspace(1, 0, len(Y))
    degradations = np.where(weights > 0.3, -np.log2(np.maximum(weights, 0.3)), np.inf)
    figure = WeightsDisplay.from_weights(
        weights, degradations, Y, KEPT, names=[f"id {position}" for position in range(len(Y))]
    )
    upper, lower = figure.ax_.child_axes
    assert [bar.get_height() for bar in upper.patches] == pytest.approx(weights[KEPT])
    drawn = {float(x): float(y) for line in lower.lines for x, y in zip(*line.get_data(), strict=True)}
    finite = np.isfinite(degradations[KEPT])
    assert drawn == pytest.approx(dict(zip(np.flatnonzero(finite), degradations[KEPT][finite], strict=True)))
    infinite = [group for group in lower.collections if group.get_gid() == "infinite"]
    assert sum(len(group.get_offsets()) for group in infinite) == (~finite).sum() > 0
    assert [label.get_text() for label in lower.get_xticklabels()] == [f"id {position}" for position in KEPT]
    few = WeightsDisplay.from_weights(weights, degradations, Y, KEPT, max_prototypes=3)
    assert len(few.ax_.child_axes[0].patches) == 3
    assert "prototype; 4 more prototypes not shown" in texts_of(few)


def test_bars_are_relevances_largest_first():
    rng = np.random.default_rng(0)
    scales = rng.permutation(np.linspace(0, 2, 25))
    names = [f"column {position}" for position in range(25)]
    ax = RelevancesDisplay.from_relevances(scales, names=names, n_shown=10).ax_
    order = np.argsort(-scales)[:10]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(scales[order])
    assert [label.get_text() for label in ax.get_yticklabels()] == [names[position] for position in order]
    heights = [bar.get_y() for bar in ax.patches]
    assert heights == sorted(heights, reverse=True)
    assert [set(line.get_xdata()) for line in ax.lines] == [{1}]
    assert "15 more attributes not shown" in ax.get_xlabel()
    assert "more" not in RelevancesDisplay.from_relevances(scales, n_shown=25).ax_.get_xlabel()
    figure = RelevancesDisplay.from_relevances(scales, names=["a long name of an attribute " * 3] * 25).figure_
    figure.draw_without_rendering()
    assert figure.get_tightbbox().x1 < figure.get_size_inches()[0] + 0.02


@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), st.integers(1, 12))
def test_bins_have_equal_counts_but_for_equal_values(values, n_bins):
    values = np.array(values) / 10
    bins = equal_bins(values, n_bins)
    assert sorted(np.concatenate(bins).tolist()) == list(range(len(values)))
    assert 1 <= len(bins) <= n_bins
    assert all(len(rows) for rows in bins)
    for before, after in itertools.pairwise(bins):
        assert values[before].max() < values[after].min()
    if len(set(values.tolist())) == len(values):
        assert len(bins) == min(n_bins, len(values))
        assert max(map(len, bins)) <= min(map(len, bins)) + 1


def test_points_are_shares_of_right_predictions():
    rng = np.random.default_rng(0)
    probabilities, y = rng.dirichlet(np.ones(3), 203), rng.integers(0, 3, 203)
    ax = plot_reliability(Known([0, 1, 2]), probabilities, y, n_bins=4).ax_
    certainty, is_right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    parts = np.array_split(np.argsort(certainty), [51, 102, 152])
    points, diagonal = ax.containers[0].lines[0], ax.lines[0]
    np.testing.assert_allclose(points.get_xdata(), [certainty[rows].mean() for rows in parts])
    np.testing.assert_allclose(points.get_ydata(), [is_right[rows].mean() for rows in parts])
    (bars,) = ax.containers[0].lines[2]
    for segment, rows in zip(bars.get_segments(), parts, strict=True):
        estimate = estimate_error(int((~is_right[rows]).sum()), len(rows))
        np.testing.assert_allclose(segment[:, 1], [1 - estimate.upper, 1 - estimate.lower])
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata())
    assert "4 bins of 50 to 51 objects, 95 % interval" in texts_of(ax.figure)


def test_bins_that_differ_have_numbers():
    probabilities = np.repeat([[0.6, 0.4], [0.9, 0.1]], [30, 12], axis=0)
    figure = plot_reliability(Known([0, 1]), probabilities, np.zeros(42, int))
    assert {"30", "12", "2 bins of 12 to 30 objects, 95 % interval"} <= set(texts_of(figure))
    one = plot_reliability(Known(["a", "b"]), probabilities[:1], ["unknown label"])
    assert one.ax_.containers[0].lines[0].get_ydata() == [0]
    assert "1 bin of 1 object, 95 % interval" in texts_of(one)


def test_reliability_of_a_classifier():
    classifier = PrototypeClassifier(REPS(6), adapt=False).fit(X[::2], Y[::2])
    ax = plot_reliability(classifier, X[1::2], Y[1::2], n_bins=3).ax_
    assert len(ax.containers[0].lines[0].get_xdata()) == 3
    with pytest.raises(ValueError, match="not calibrated"):
        plot_reliability(PrototypeClassifier(REPS(6), calibrate=False).fit(X, Y), X, Y)
    with pytest.raises(TypeError, match="estimator=3 has no predict_proba; pass a fitted PrototypeClassifier"):
        plot_reliability(3, X, Y)


def test_relevances_of_a_classifier_and_of_an_adaptation():
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c", "d"])
    classifier = PrototypeClassifier(REPS(6), adapt={"relevances": True}).fit(frame, Y)
    order = np.argsort(-classifier.relevances_, kind="stable")
    positions = [f"attribute {position}" for position in range(4)]
    of_adaptation = RelevancesDisplay.from_relevances(classifier.adaptation_)
    for display, names in ((plot_relevances(classifier), list("abcd")), (of_adaptation, positions)):
        assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx(classifier.relevances_[order])
        assert [label.get_text() for label in display.ax_.get_yticklabels()] == [names[at] for at in order]
        assert display.ax_.get_xlabel() == "relevance, 1 on average"
    with pytest.raises(ValueError, match="no scales were learned"):
        plot_relevances(PrototypeClassifier(REPS(6)).fit(X, Y))


def test_confusions_count_all_objects():
    true = np.array(["a", "b", "b", "c", "c", "c"])
    figure = ConfusionDisplay.from_predictions(
        true, {"everything": true, "prototypes": np.array(["a", "b", "c", "c", "c", "d"])}
    )
    before, after = figure.ax_.child_axes
    assert [text.get_text() for text in before.texts] == ["1", "2", "3"]
    assert [text.get_text() for text in after.texts] == ["1", "1", "1", "2", "1"]
    assert (before.get_title(loc="left"), after.get_title(loc="left")) == (
        "everything\nerror 0.000",
        "prototypes\nerror 0.333",
    )
    assert after.images[0].get_array()[1].tolist() == [0, 0.5, 0.5, 0]


# Bad input


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        (
            lambda: PrototypeMapDisplay.from_distances(MATRIX[:3], Y, KEPT),
            r"dissimilarities has the shape \(3, 50\) for 50 labels; pass a square",
        ),
        (
            lambda: PrototypeMapDisplay.from_distances(MATRIX * np.nan, Y, KEPT),
            "dissimilarities are infinite or missing in rows 0, 1, 2, 3, 4, ...",
        ),
        (lambda: PrototypeMapDisplay.from_distances(MATRIX, [], KEPT), r"labels has the shape \(0,\)"),
        (
            lambda: PrototypeMapDisplay.from_distances(MATRIX, Y, [50]),
            "kept has the position 50; pass positions from 0 to 49",
        ),
        (lambda: PrototypeMapDisplay.from_distances(MATRIX, Y, [-1]), "kept has the position -1"),
        (lambda: PrototypeMapDisplay.from_distances(MATRIX, Y, [0.5]), r"kept=\[0.5\] must be positions"),
        (lambda: PrototypeMapDisplay.from_distances(MATRIX, Y, [True]), r"kept=\[True\] must be positions"),
        (
            lambda: NeighborGraphDisplay.from_distances(MATRIX, Y, KEPT, series=SERIES[:2]),
            "series has 2 entries for 50 labels",
        ),
        (
            lambda: NeighborGraphDisplay.from_distances(np.zeros((1001, 1001)), np.zeros(1001), [0]),
            "has 1001 objects, but a graph of more than 1000 is not readable; .*PrototypeMapDisplay",
        ),
        (lambda: SeriesDisplay.from_series(SERIES[:2], Y, KEPT), "series has 2 entries for 50 labels"),
        (
            lambda: SeriesDisplay.from_series(SERIES, Y, KEPT, classes=[7]),
            r"classes has 7, which is not a label; choose from \[0, 1, 2\]",
        ),
        (
            lambda: SeriesDisplay.from_series(SERIES, Y, KEPT, max_panels=0),
            "max_panels=0 must be a whole number of at least 1",
        ),
        (
            lambda: RelevancesDisplay.from_relevances(None),
            "relevances are None: no scales were learned; fit .*'relevances': True",
        ),
        (
            lambda: RelevancesDisplay.from_relevances([1, -1]),
            r"relevances has the shape \(2,\), or numbers that are negative",
        ),
        (
            lambda: RelevancesDisplay.from_relevances([1, np.nan]),
            r"relevances has the shape \(2,\), or .* missing; pass one scale",
        ),
        (lambda: RelevancesDisplay.from_relevances([[1]]), r"relevances has the shape \(1, 1\)"),
        (
            lambda: RelevancesDisplay.from_relevances([1, 1], names=["a"]),
            "names has 1 entries for 2 relevances; pass one name per",
        ),
        (
            lambda: RelevancesDisplay.from_relevances([1, 1], n_shown=0),
            "n_shown=0 must be a whole number of at least 1",
        ),
        (
            lambda: plot_reliability(Known("abc"), KNOWN, Y[:3]),
            r"y has the shape \(3,\) for 50 predictions; pass one label",
        ),
        (lambda: plot_reliability(Known("abc"), KNOWN[:0], []), "pass one of each per object, and at least one object"),
        (lambda: plot_reliability(Known("abc"), KNOWN, Y, n_bins=0), "n_bins=0 must be a whole number of at least 1"),
        (lambda: PrototypesDisplay(X, Y, "pictures"), "kind='pictures' is not known"),
        (lambda: PrototypesDisplay(X, Y[:3], "rows"), "labels has 3 entries for 50 objects; pass one per object"),
        (lambda: PrototypesDisplay(X, Y, "rows", names=["a"]), "names has 1 entries for rows of 4 attributes"),
        (lambda: PrototypeMapDisplay(X, Y, X, Y), r"points has the shape \(50, 4\) for 50 labels; pass two numbers"),
        (lambda: PrototypeMapDisplay(X[:, :2], Y, X[:1, :2], Y[:1], [True]), r"is_wrong has the shape \(1,\) for 50"),
        (
            lambda: FrontDisplay([0.1], [0.1], ["a"], standard_errors=[1, 2]),
            r"standard_errors has the shape \(2,\) for 1 methods",
        ),
        (lambda: ConfusionDisplay({"": [[1]]}, ["a", "b"]), r"has the shape \(1, 1\) for 2 display_labels"),
        (lambda: plot_sensitivity({}), r"values=\{\} must be a dict"),
        (lambda: plot_sensitivity({2: ["x"]}), r"values\[2\]=\['x'\] must be numbers"),
        (lambda: plot_tradeoff(ERRORS, RATES, ["a"]), r"errors has the shape \(9, 6\), .* there are 1 methods"),
        (lambda: plot_tradeoff(ERRORS, RATES, list("abcdef"), numbers=[1]), "numbers has 1 entries for 9 data sets"),
        (
            lambda: FrontDisplay.from_results([0.1], [0.1], ["a"], scale="logs"),
            "scale='logs' is not known.*did you mean 'log'",
        ),
        (
            lambda: WeightsDisplay.from_weights([1], [1], Y, KEPT),
            r"weights has the shape \(1,\) or holds NaN, for 50 labels",
        ),
        (lambda: ConfusionDisplay.from_predictions(Y, Y[:3]), r"y_true has the shape \(50,\) and y_pred \(3,\)"),
    ],
)
def test_what_cannot_be_drawn(plot, message):
    with pytest.raises(ValueError, match=message):
        plot()
