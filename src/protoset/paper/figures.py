"""The figures of the report, from the plots of the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from protoset.paper.analysis import Choice
from protoset.paper.evidence import Case
from protoset.plots import NeighborGraphDisplay, SeriesDisplay, plot_sensitivity, plot_tradeoff

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CASE_CLASSES = {"Plane": (1, 2)}
"""Classes that a case study shows, if not all."""


def tradeoff(choices: Mapping[str, Choice]) -> Figure:
    """Draw error against selection rate with numbered markers."""
    errors = np.column_stack([choice.error for choice in choices.values()])
    rates = np.column_stack([choice.rate for choice in choices.values()])
    return plot_tradeoff(errors, rates, list(choices)).figure_


def sensitivity(values: Mapping[float, Mapping[float, np.ndarray]], parameter: str) -> Figure:
    """Draw boxes of log odds ratios by parameter value, a panel per rate."""
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(3.2 * len(values), 3.0), dpi=150, layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(values)))
    for position, (ax, (rate, by_value)) in enumerate(zip(axes, values.items(), strict=True)):
        measure = "log odds ratio" if position == 0 else ""
        plot_sensitivity(by_value, parameter=parameter, measure=measure, ax=ax)
        ax.set_title(f"selection rate {rate:.0%}", fontsize=8.5, loc="left", pad=14)
    return figure


def case_series(case: Case) -> Figure:
    """Draw kept and dropped series as small multiples."""
    classes = CASE_CLASSES.get(case.name)
    series = list(case.series)
    return SeriesDisplay(series, case.labels, case.kept, classes, max_panels=80, n_columns=10).plot().figure_


def case_graph(case: Case) -> Figure:
    """Draw the graph of nearest neighbours of the classes that the case study shows."""
    classes = CASE_CLASSES.get(case.name)
    members = np.arange(len(case.labels)) if classes is None else np.flatnonzero(np.isin(case.labels, classes))
    return NeighborGraphDisplay.from_distances(
        case.distances[np.ix_(members, members)],
        case.labels[members],
        np.isin(members, case.kept),
        series=list(case.series[members]),
    ).figure_
