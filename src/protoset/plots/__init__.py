"""Plots in the form of scikit-learn's Displays.

``SizeCurveDisplay.from_estimator(classifier, X, y)``, or ``plot_size_curve(classifier, X, y)`` for short, draws and
returns a Display, which has its figure in ``figure_``. A notebook shows it. Every plot takes ``ax=``, and nothing
touches pyplot.

They need matplotlib (``pip install 'protoset[plots]'``), which is imported when a figure is drawn.
"""

from protoset.plots.confusion import ConfusionDisplay, plot_confusion
from protoset.plots.critical_difference import CriticalDifferenceDisplay, plot_critical_difference
from protoset.plots.figure_files import write_figure
from protoset.plots.front import FrontDisplay, plot_front
from protoset.plots.neighbor_graph import NeighborGraphDisplay, plot_neighbor_graph
from protoset.plots.prototype_map import PrototypeMapDisplay, plot_map
from protoset.plots.prototypes import PrototypesDisplay, plot_prototypes
from protoset.plots.relevances import RelevancesDisplay, plot_relevances
from protoset.plots.reliability import ReliabilityDisplay, plot_reliability
from protoset.plots.sensitivity import SensitivityDisplay, plot_sensitivity
from protoset.plots.series import SeriesDisplay, plot_series
from protoset.plots.size_curve import SizeCurveDisplay, plot_size_curve
from protoset.plots.tradeoff import TradeoffDisplay, plot_tradeoff
from protoset.plots.weights import WeightsDisplay, plot_weights

__all__ = [
    "ConfusionDisplay",
    "CriticalDifferenceDisplay",
    "FrontDisplay",
    "NeighborGraphDisplay",
    "PrototypeMapDisplay",
    "PrototypesDisplay",
    "RelevancesDisplay",
    "ReliabilityDisplay",
    "SensitivityDisplay",
    "SeriesDisplay",
    "SizeCurveDisplay",
    "TradeoffDisplay",
    "WeightsDisplay",
    "plot_confusion",
    "plot_critical_difference",
    "plot_front",
    "plot_map",
    "plot_neighbor_graph",
    "plot_prototypes",
    "plot_relevances",
    "plot_reliability",
    "plot_sensitivity",
    "plot_series",
    "plot_size_curve",
    "plot_tradeoff",
    "plot_weights",
    "write_figure",
]
