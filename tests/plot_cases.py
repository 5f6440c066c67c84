"""What the tests of plots share: data, every plot as a function, and what a reader sees of a figure."""

import io
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from protoset.evaluation import critical_difference
from protoset.plots import (
    ConfusionDisplay,
    CriticalDifferenceDisplay,
    FrontDisplay,
    NeighborGraphDisplay,
    PrototypeMapDisplay,
    PrototypesDisplay,
    RelevancesDisplay,
    ReliabilityDisplay,
    SensitivityDisplay,
    SeriesDisplay,
    SizeCurveDisplay,
    TradeoffDisplay,
    WeightsDisplay,
)
from protoset.selectors import SizeCurve

matplotlib = pytest.importorskip("matplotlib", reason="no matplotlib: pip install 'protoset[plots]'")

RNG = np.random.default_rng(0)
X, Y = load_iris(return_X_y=True)
X, Y = X[::3], Y[::3]
MATRIX = cdist(X, X)
KEPT = np.array([0, 1, 20, 21, 40, 41, 42])
SERIES = np.cumsum(RNG.normal(size=(len(Y), 30)), axis=1)
CURVE = SizeCurve(
    np.array([0.1, 0.2, 0.5]), np.array([5, 10, 25]), np.array([0.3, 0.2, 0.1]), np.array([0.05, 0.04, 0.11]), 2, 1
)
ERRORS, RATES = RNG.random((9, 6)), RNG.uniform(0.01, 1, (9, 6))
KNOWN = np.random.default_rng(1).dirichlet(np.ones(3), len(Y))


class Known:
    """A classifier that returns the probabilities that it is asked for."""

    def __init__(self, classes):
        self.classes_ = np.array(list(classes))[:3]

    def predict_proba(self, probabilities):
        return np.asarray(probabilities)


def confuse(names, ax):
    true = np.array(names)[np.arange(60) % len(names)]
    return ConfusionDisplay.from_predictions(true, {"everything": true, "prototypes": np.roll(true, 1)}, ax=ax)


def labels(names):
    return np.array(names)[Y]


def draw_prototypes(names, ax, objects, **options):
    sizes = np.arange(1, len(KEPT) + 1)
    return PrototypesDisplay.from_objects(objects, labels(names)[KEPT], sizes=sizes, ax=ax, **options)


# Each plot as a function of (names of classes or methods, axes).
PLOTS = {
    "ConfusionDisplay": confuse,
    "CriticalDifferenceDisplay": lambda names, ax: CriticalDifferenceDisplay.from_result(
        critical_difference(ERRORS[:, : len(names)], names=names), ax=ax
    ),
    "FrontDisplay": lambda names, ax: FrontDisplay.from_results(
        ERRORS[0, : len(names)],
        RATES[0, : len(names)],
        names,
        standard_errors=ERRORS[1, : len(names)] / 20,
        ax=ax,
    ),
    "NeighborGraphDisplay": lambda names, ax: NeighborGraphDisplay.from_distances(MATRIX, labels(names), KEPT, ax=ax),
    "NeighborGraphDisplay of series": lambda names, ax: NeighborGraphDisplay.from_distances(
        MATRIX, labels(names), KEPT, series=SERIES, ax=ax
    ),
    "PrototypeMapDisplay": lambda names, ax: PrototypeMapDisplay.from_distances(MATRIX, labels(names), KEPT, ax=ax),
    "PrototypesDisplay of images": lambda names, ax: draw_prototypes(names, ax, X[KEPT], image_shape=(2, 2)),
    "PrototypesDisplay of pairs": lambda names, ax: draw_prototypes(
        names, ax, SERIES[KEPT], kind="series", exemplars=SERIES[KEPT + 1], ids=KEPT + 1
    ),
    "PrototypesDisplay of rows": lambda names, ax: draw_prototypes(names, ax, X[KEPT], exemplars=X[KEPT + 1]),
    "PrototypesDisplay of strings": lambda names, ax: draw_prototypes(names, ax, [f"text {row}" for row in KEPT]),
    "RelevancesDisplay": lambda names, ax: RelevancesDisplay.from_relevances(
        ERRORS[0, : len(names)], names=names, ax=ax
    ),
    "ReliabilityDisplay": lambda names, ax: ReliabilityDisplay.from_estimator(
        Known(names), KNOWN, labels(names), ax=ax
    ),
    "SensitivityDisplay": lambda names, ax: SensitivityDisplay.from_results(
        dict(zip(names, ERRORS.T, strict=False)), parameter=names[0], ax=ax
    ),
    "SeriesDisplay": lambda names, ax: SeriesDisplay.from_series(SERIES, labels(names), KEPT, ax=ax),
    "SizeCurveDisplay": lambda names, ax: SizeCurveDisplay.from_curve(CURVE, name=names[0], ax=ax),
    "TradeoffDisplay": lambda names, ax: TradeoffDisplay.from_results(
        ERRORS[:, : len(names)], RATES[:, : len(names)], names, ax=ax
    ),
    "WeightsDisplay": lambda names, ax: WeightsDisplay.from_weights(Y + 1.0, 2.0 - Y, labels(names), KEPT, ax=ax),
}


def texts_of(drawn):
    """Texts of a figure, or of the figure of a Display, as a reader of the picture sees them."""
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        file = io.BytesIO()
        getattr(drawn, "figure_", drawn).savefig(file, format="svg")
    tree = ElementTree.fromstring(file.getvalue())
    return ["".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text")]


def pixels(drawn):
    """The picture itself, as bytes."""
    file = io.BytesIO()
    getattr(drawn, "figure_", drawn).savefig(file, format="raw", dpi=60)
    return file.getvalue()


def legend_of(display):
    """Entries of all legends of the axes of a Display."""
    from matplotlib.legend import Legend

    legends = [artist for artist in display.ax_.get_children() if isinstance(artist, Legend)]
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def marks(display, gid):
    """Number of markers in the collections with a gid."""
    return sum(len(group.get_offsets()) for group in display.ax_.collections if group.get_gid() == gid)
