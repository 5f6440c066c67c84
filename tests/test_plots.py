"""Plots: one form for all of them. Labels from data stay text; nothing global is touched; notebooks show them once."""

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protoset import REPS, PrototypeClassifier, plots
from protoset.plots import (
    FrontDisplay,
    PrototypeMapDisplay,
    SizeCurveDisplay,
    plot_map,
    plot_prototypes,
    plot_relevances,
    plot_size_curve,
    write_figure,
)
from protoset.plots._style import CLASS_COLOURS, clean_text, colour_and_shape

from conftest import ROOT
from plot_cases import CURVE, PLOTS, legend_of, matplotlib, pixels, texts_of

pyplot = pytest.importorskip("matplotlib.pyplot")
HOSTILE = ["$x_{", "<b>&amp;", "_hidden", "a$b$c", "\\frac{", "50 %"]
DISPLAYS = sorted(name for name in plots.__all__ if name.endswith("Display"))
DOORS = sorted(name for name in plots.__all__ if name.startswith("plot_"))
NAMELESS = ("ReliabilityDisplay", "SizeCurveDisplay")
# Only these draw as many names as there are.
N_NAMES = {
    name: 3 if {"labels", "draw_prototypes"} & set(plot.__code__.co_names) else 6 for name, plot in PLOTS.items()
}
NAMED = [name for name in PLOTS if name not in NAMELESS]


def test_every_display_is_tested_here():
    assert {name.split()[0] for name in PLOTS} == set(DISPLAYS)


def test_every_display_has_a_door_and_the_form_of_scikit_learn():
    sources = {getattr(plots, door).__self__.__name__: getattr(plots, door).__name__ for door in DOORS}
    assert sorted(sources) == DISPLAYS
    for name in DISPLAYS:
        display = getattr(plots, name)
        makers = [made for made in dir(display) if made.startswith("from_")]
        assert "from_estimator" in makers or "from_results" in makers or "from_result" in makers
        assert len(makers) > 1 or name in ("SensitivityDisplay", "TradeoffDisplay"), name
        for maker in makers:
            parameters = inspect.signature(getattr(display, maker)).parameters
            assert parameters["ax"].default is None
            assert inspect.getdoc(getattr(display, maker)), maker
        if "from_estimator" in makers:
            assert sources[name] == "from_estimator"
            assert list(inspect.signature(display.from_estimator).parameters)[:3] == ["estimator", "X", "y"]


@pytest.mark.parametrize("name", PLOTS)
def test_a_figure_of_its_own_or_axes_that_are_given(name):
    names = ["setosa", "versicolor", "virginica"]
    own = PLOTS[name](names, None)
    assert isinstance(own, getattr(plots, name.split()[0]))
    assert isinstance(own.figure_, matplotlib.figure.Figure)
    assert own.ax_.figure is own.figure_
    before = pixels(own)
    assert before == pixels(PLOTS[name](names, None)), "drawn differently the second time"
    first = own.figure_
    assert own.plot() is own
    assert own.figure_ is not first
    assert pixels(own) == before, "the data of a Display changed while it was drawn"
    figure = matplotlib.figure.Figure(figsize=(10, 5))
    part, _ = figure.subfigures(1, 2)
    left, right = part.subplots(1, 2)
    display = PLOTS[name](names, left)
    assert (display.figure_, display.ax_) == (figure, left)
    assert not right.lines
    assert not right.texts
    assert not right.collections
    # Smaller axes have other ticks; all else is there.
    assert {text for text in texts_of(own) if not re.fullmatch(r"[\d.−]+( %)?", text)} <= set(texts_of(figure))


@pytest.mark.parametrize("name", NAMED)
def test_labels_from_data_stay_text(name):
    for start in (0, 3):
        names = (HOSTILE[start:] + HOSTILE[:start])[: N_NAMES[name]]
        written = " ".join(texts_of(PLOTS[name](names, None)))
        for hostile in names:
            assert hostile in written, hostile


@pytest.mark.parametrize("name", NAMED)
def test_long_labels_and_lines_are_cut(name):
    texts = texts_of(PLOTS[name](["long " * 40, "a\nb\tc\x00\ud800", "ordinary"], None))
    assert max(map(len, texts)) < 85
    assert any("a b c\ufffd\ufffd" in text for text in texts)


@pytest.mark.parametrize("names", [["a", "b", "c"], ["long name of a class", "another long name, too", "the third"]])
@pytest.mark.parametrize("name", PLOTS)
def test_nothing_is_cut_at_the_edge(name, names):
    figure = PLOTS[name](names, None).figure_
    figure.draw_without_rendering()
    drawn = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert drawn.x0 > -0.02
    assert drawn.y0 > -0.02
    assert drawn.x1 < width + 0.02
    assert drawn.y1 < height + 0.02


def test_nothing_stays_open_and_no_setting_changes():
    settings_before = dict(matplotlib.rcParams)
    for plot in PLOTS.values():
        plot(["a", "b", "c"], None)._repr_png_()
    assert not pyplot.get_fignums()
    assert dict(matplotlib.rcParams) == settings_before


def test_without_matplotlib_the_error_says_what_to_install():
    program = """
import sys
for name in ("matplotlib", "matplotlib.figure", "matplotlib.lines", "matplotlib.patches"):
    sys.modules[name] = None
import numpy as np
from protoset import REPS, PrototypeClassifier
from protoset.plots import *
from protoset.evaluation import critical_difference
rng = np.random.default_rng(0)
X, y = rng.random((60, 3)), np.repeat(["a", "b"], 30)
selector, two = REPS(random_state=0).fit(X, y), ["a", "b"]
classifier = PrototypeClassifier(REPS(4), adapt={"relevances": True}).fit(X, y)
class Comparison:
    methods, errors, selection_rates, standard_errors = two, np.ones((3, 2)), np.ones((3, 2)), np.ones(2)
calls = [
    lambda: plot_confusion(classifier, X, y),
    lambda: plot_critical_difference(critical_difference(np.ones((2, 2)))),
    lambda: plot_front(Comparison()),
    lambda: plot_map(selector, X, y),
    lambda: plot_neighbor_graph(selector, X, y),
    lambda: plot_prototypes(selector, X, y),
    lambda: plot_relevances(classifier),
    lambda: plot_reliability(classifier, X, y),
    lambda: plot_sensitivity({1: [1, 2]}),
    lambda: plot_series(selector, X, y),
    lambda: plot_size_curve(selector),
    lambda: plot_tradeoff([[0.1]], [[0.2]], ["a"]),
    lambda: plot_weights(selector, X, y),
]
for call in calls:
    try:
        call()
    except ImportError as error:
        print(error)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    way_out = "run pip install 'protoset[plots]' (in a clone: pip install '.[plots]')"
    expected = f"plots need matplotlib, which is not installed; {way_out}"
    assert result.stdout.splitlines() == [expected] * len(DOORS)


# Notebooks


@pytest.mark.parametrize("name", PLOTS)
def test_a_notebook_shows_every_display(name):
    display = PLOTS[name](["a", "b", "c"], None)
    picture, size = display._repr_png_()
    assert picture.startswith(b"\x89PNG")
    width, height = (int.from_bytes(picture[start : start + 4], "big") for start in (16, 20))
    assert width > size["width"] > 250, "fewer pixels than the screen has"
    assert width / height == pytest.approx(size["width"] / size["height"], rel=0.02)


def test_a_display_that_is_not_drawn_yet_shows_itself():
    display = SizeCurveDisplay(CURVE)
    assert not hasattr(display, "figure_")
    assert display._repr_png_()[0].startswith(b"\x89PNG")
    assert not pyplot.get_fignums()


def test_figures_of_pyplot_are_shown_by_pyplot_alone():
    figure, ax = pyplot.subplots()
    try:
        assert SizeCurveDisplay.from_curve(CURVE, ax=ax)._repr_png_() is None
    finally:
        pyplot.close(figure)


def test_ipython_shows_a_picture_once():
    """Without %matplotlib inline, and with it: the formatter of figures does not know Displays."""
    formatters = pytest.importorskip("IPython.core.formatters")
    shown, sizes = formatters.DisplayFormatter().format(SizeCurveDisplay.from_curve(CURVE))
    assert set(shown) == {"text/plain", "image/png"}
    assert set(sizes["image/png"]) == {"width", "height"}


# Estimators


@pytest.fixture(scope="module")
def digits():
    from sklearn.datasets import load_digits

    data = load_digits()
    return data.data[:120], data.target[:120]


def fitted_estimators(X, y):
    """The same prototypes, as a selector, a classifier, in pipelines and in a search."""
    selector = REPS(20)
    classifier = PrototypeClassifier(selector, adapt=False)
    search = GridSearchCV(
        PrototypeClassifier(REPS(), adapt=False, calibrate=False), {"selector__n_prototypes": [20]}, cv=2
    )
    return {
        "selector": selector.fit(X, y),
        "classifier": classifier.fit(X, y),
        "pipeline of a selector": make_pipeline(StandardScaler(with_std=False), REPS(20)).fit(X, y),
        "pipeline": make_pipeline(StandardScaler(with_std=False), PrototypeClassifier(REPS(20), adapt=False)).fit(X, y),
        "search": search.fit(X, y),
    }


def test_maps_and_pictures_of_all_estimators_agree(digits):
    X, y = digits
    maps, pictures = {}, {}
    for name, estimator in fitted_estimators(X, y).items():
        maps[name] = plot_map(estimator, X, y, errors=False)
        pictures[name] = plot_prototypes(estimator, X, y, image_shape=(8, 8))
    one, picture = maps["selector"], pictures["selector"]
    for name in maps:
        assert np.allclose(maps[name].points, one.points, atol=1e-6), name
        assert np.allclose(maps[name].prototypes, one.prototypes, atol=1e-6), name
        assert legend_of(maps[name]) == legend_of(one), name
        assert np.array_equal(pictures[name].objects, picture.objects), name
        assert np.array_equal(pictures[name].sizes, picture.sizes), name
        assert texts_of(pictures[name]) == texts_of(picture), name


def test_what_is_no_estimator(digits):
    X, y = digits
    for wrong in (StandardScaler(), make_pipeline(StandardScaler()), "REPS"):
        with pytest.raises(TypeError, match="estimator has the type .*; pass a fitted PrototypeClassifier, selector"):
            plot_map(wrong, X, y)
    with pytest.raises(ValueError, match="not fitted yet"):
        plot_map(REPS(), X, y)
    with pytest.raises(ValueError, match="X has 5 objects, but the estimator keeps the training object"):
        plot_map(REPS(20).fit(X, y), X[:5], y[:5])
    with pytest.raises(ValueError, match="y has 119 labels for 120 objects"):
        plot_map(REPS(20).fit(X, y), X, y[:119])
    with pytest.raises(TypeError, match="ax=3 must be matplotlib axes; pass None"):
        plot_size_curve(REPS(random_state=0).fit(X, y), ax=3)
    with pytest.raises(ValueError, match="no scales were learned"):
        plot_relevances(REPS(20).fit(X, y))


# Style and files


@given(st.text(max_size=60))
def test_plain_text_is_one_line_and_no_formula(text):
    cleaned = clean_text(text)
    assert "\n" not in cleaned
    assert cleaned.replace(r"\$", "").count("$") == 0
    assert len(cleaned.replace(r"\$", "$")) <= 28
    if text.isprintable() and len(text) <= 28 and text == " ".join(text.split()):
        assert cleaned.replace(r"\$", "$") == text


def test_colours_and_shapes_differ():
    looks = [colour_and_shape(position) for position in range(64)]
    assert len(set(looks)) == 64
    assert len({colour for colour, _ in looks[:8]}) == len({shape for _, shape in looks[:8]}) == 8
    # Circle and pentagon, and square and diamond, are alike where they are small.
    for colour in CLASS_COLOURS:
        shapes = {shape for own, shape in looks[:32] if own == colour}
        assert len(shapes) == 4
        assert not {"o", "p"} <= shapes
        assert not {"s", "D"} <= shapes


@pytest.mark.parametrize("n_classes", [2, 12, 32])
def test_a_legend_names_up_to_32_classes_and_does_not_cover_the_map(n_classes):
    points = np.random.default_rng(0).random((640, 2))
    labels = np.arange(640) % n_classes
    display = PrototypeMapDisplay(points, labels, points[:64], labels[:64], labels == 1).plot()
    entries = legend_of(display)
    assert len(entries) == n_classes + 3
    handles = [
        handle
        for legend in (display.ax_.get_children())
        if hasattr(legend, "legend_handles")
        for handle in legend.legend_handles
    ]
    looks = {(handle.get_color(), handle.get_marker()) for handle in handles if hasattr(handle, "get_marker")}
    assert len(looks) == n_classes + 1, "classes, and the circle of objects and prototypes"
    display.figure_.draw_without_rendering()
    box = display.ax_.get_window_extent()
    assert box.height > 0.45 * display.figure_.bbox.height
    for legend in display.ax_.get_children():
        if hasattr(legend, "legend_handles"):
            drawn = legend.get_window_extent()
            assert drawn.y0 >= box.y1 - 1 or drawn.y1 <= box.y0 + 1
            assert drawn.x1 <= display.figure_.bbox.x1
            assert display.figure_.bbox.y0 <= drawn.y0 < drawn.y1 <= display.figure_.bbox.y1


def test_more_than_32_classes_are_counted():
    points = np.random.default_rng(0).random((40, 2))
    assert "and 8 more classes" in legend_of(PrototypeMapDisplay(points, np.arange(40), points[:1], [0]).plot())


def test_figures_as_files(tmp_path):
    """Two figures of the same numbers are the same file."""
    for name, beginning in (("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF")):
        contents = []
        for _ in range(2):
            display = FrontDisplay.from_results([0.1, 0.2], [0.3, 0.1], ["a", "b"])
            write_figure(display, tmp_path / name)
            contents.append((tmp_path / name).read_bytes())
        assert contents[0].startswith(beginning)
        assert contents[0] == contents[1]
        write_figure(display.figure_, tmp_path / f"figure {name}")
        assert (tmp_path / f"figure {name}").read_bytes().startswith(beginning)
    with pytest.raises(ValueError, match="must end with .png, .svg or .pdf"):
        write_figure(display, tmp_path / "a.gif")
    with pytest.raises(TypeError, match=r"is not a figure; pass a Display after its plot\(\)"):
        write_figure(FrontDisplay([0.1], [0.3], ["a"]), tmp_path / "a.png")


@pytest.mark.slow
def test_the_page_about_plots(tmp_path):
    """Its blocks work, and its table names every plot."""
    page = (ROOT / "docs" / "plots.md").read_text()
    program = "".join(re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE))
    subprocess.run([sys.executable, "-W", "error", "-c", program], cwd=tmp_path, check=True)
    assert {path.name for path in tmp_path.iterdir()} == {"prototypes.png", "map.svg", "sizes.png"}
    for door in DOORS:
        display = getattr(plots, door).__self__.__name__
        assert f"| `{display}` | `{door}` |" in page
