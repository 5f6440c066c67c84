"""Plots: functions that return a matplotlib figure, or draw on given axes.

They need matplotlib (``pip install 'protoset[plots]'``), which is imported when a figure is drawn.
"""

from protoset.plots.confusion import plot_confusion
from protoset.plots.critical_difference import plot_critical_difference
from protoset.plots.figure_files import write_figure
from protoset.plots.maps import plot_map
from protoset.plots.neighbor_graph import plot_neighbor_graph
from protoset.plots.relevances import plot_relevances
from protoset.plots.reliability import plot_reliability
from protoset.plots.sensitivity import plot_sensitivity
from protoset.plots.series import plot_series
from protoset.plots.size_curve import plot_size_curve
from protoset.plots.tradeoff import plot_front, plot_tradeoff
from protoset.plots.weights import plot_weights

__all__ = [
    "plot_confusion",
    "plot_critical_difference",
    "plot_front",
    "plot_map",
    "plot_neighbor_graph",
    "plot_relevances",
    "plot_reliability",
    "plot_sensitivity",
    "plot_series",
    "plot_size_curve",
    "plot_tradeoff",
    "plot_weights",
    "write_figure",
]
