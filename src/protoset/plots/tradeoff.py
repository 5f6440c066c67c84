"""Error against selection rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from protoset._validation import as_numbers, check_choice
from protoset.evaluation import pareto_ranks
from protoset.plots._labels import label_points
from protoset.plots._style import (
    FAINT_INK,
    NORMAL_TYPE,
    SMALL_TYPE,
    add_legend,
    clean_text,
    colour_and_shape,
    label_axes,
    open_axes,
    size_in_points,
    text_colour_on,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Scale = Literal["log", "linear"]
RATE_SCALES: tuple[Scale, ...] = ("log", "linear")
"""Values of the parameter ``scale``."""

TEXT_SHIFTS = {"^": -0.9, "v": 0.9}
"""Vertical shift of a number to the middle of its marker, in points."""


def plot_tradeoff(
    errors: Any,
    selection_rates: Any,
    methods: Sequence[Any],
    *,
    numbers: Sequence[Any] | None = None,
    scale: Scale = "log",
    ax: Axes | None = None,
) -> Figure:
    """Draw error against selection rate of several methods on many data sets.

    Each result is a marker. Colour and shape show the method, the number in the marker shows the data set, as in the
    paper.

    Parameters
    ----------
    errors, selection_rates : array-like of shape (n_datasets, n_methods)
        Cells with NaN (failed runs) are left out.
    methods : sequence of str
    numbers : sequence, optional
        Numbers of the data sets; by default 1, 2, ...
    scale : {"log", "linear"}
        Scale of the selection rate. It is linear if a rate is 0, or if all rates are within a factor of 3.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    check_choice("scale", scale, RATE_SCALES)
    error, rate = _check_results(errors, selection_rates, len(methods), 2, "one row per data set and one column")
    numbers = range(1, len(error) + 1) if numbers is None else numbers
    if len(numbers) != len(error):
        raise ValueError(f"numbers has {len(numbers)} entries for {len(error)} data sets; pass one for each")
    figure, ax = open_axes(ax, (7.2, 5.2))
    from matplotlib.lines import Line2D

    handles = []
    for column in range(len(methods)):
        colour, shape = colour_and_shape(column)
        ink = text_colour_on(colour)
        handles.append(Line2D([], [], linestyle="", marker=shape, color=colour, markersize=6))
        present = np.flatnonzero(np.isfinite(error[:, column]) & np.isfinite(rate[:, column]))
        for row in present.tolist():
            # Drawn marker by marker, so that a number is never visible through another marker.
            x, y, level = rate[row, column], error[row, column], 2 + row / len(error) + column / 1000
            ax.plot(
                [x],
                [y],
                shape,
                color=colour,
                markersize=8.5,
                markeredgecolor="white",
                markeredgewidth=0.4,
                alpha=0.9,
                zorder=level,
            )
            ax.annotate(
                clean_text(numbers[row], 3),
                (x, y),
                (0, TEXT_SHIFTS.get(shape, 0)),
                textcoords="offset points",
                color=ink,
                fontsize=4.6,
                ha="center",
                va="center_baseline",
                zorder=level + 1e-4,
                annotation_clip=True,
            )
    _scale_rates(ax, rate[np.isfinite(error)], scale)
    label_axes(ax, xlabel="selection rate", ylabel="error rate", grid="both")
    add_legend(ax, handles, [clean_text(method, 20) for method in methods], columns=6)
    return figure


def plot_front(
    errors: Any, selection_rates: Any, methods: Sequence[Any], *, scale: Scale = "log", ax: Axes | None = None
) -> Figure:
    """Draw error against selection rate of several methods on one data set, with the Pareto front.

    Parameters
    ----------
    errors, selection_rates : array-like of shape (n_methods,)
        Methods with NaN (failed runs) are left out.
    methods, scale
        As in :func:`plot_tradeoff`.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    check_choice("scale", scale, RATE_SCALES)
    error, rate = _check_results(errors, selection_rates, len(methods), 1, "one of each")
    ranks = pareto_ranks(np.column_stack([error, rate]))
    figure, ax = open_axes(ax, (4.8, 3.6))
    _scale_rates(ax, rate[~np.isnan(ranks)], scale)
    front = np.flatnonzero(ranks == 1)
    front = front[np.lexsort((error[front], rate[front]))]
    ax.plot(rate[front], error[front], drawstyle="steps-post", color=FAINT_INK, linewidth=1, linestyle="--", zorder=1)
    shown = np.flatnonzero(~np.isnan(ranks)).tolist()
    for position in shown:
        colour, shape = colour_and_shape(position)
        face = colour if ranks[position] == 1 else "white"
        ax.plot(
            [rate[position]], [error[position]], shape, color=colour, markerfacecolor=face, markersize=6.5, zorder=3
        )
    ax.margins(0.15)
    label_axes(ax, xlabel="selection rate", ylabel="error rate", title="filled: on the Pareto front", grid="both")
    # Corners of the line through the Pareto front.
    corners = np.column_stack([np.repeat(rate[front], 2)[1:], np.repeat(error[front], 2)[:-1]])
    points = np.column_stack([rate, error])[shown]
    names = [clean_text(methods[position]) for position in shown]
    label_points(ax, points, names, size=NORMAL_TYPE, avoid=corners)
    return figure


def _check_results(errors: Any, rates: Any, n_methods: int, ndim: int, needed: str) -> tuple[np.ndarray, np.ndarray]:
    error, rate = as_numbers("errors", errors), as_numbers("selection_rates", rates)
    if error.ndim != ndim or error.shape != rate.shape or error.shape[-1] != n_methods:
        raise ValueError(
            f"errors has the shape {error.shape}, selection_rates {rate.shape}, and there are {n_methods} methods; "
            f"pass {needed} per method"
        )
    return error, rate


def _scale_rates(ax: Axes, rates: np.ndarray, scale: Scale) -> None:
    """Set the axis of selection rates, in per cent. It is logarithmic only if it is wide enough to have ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    finite = rates[np.isfinite(rates)]
    percent = FuncFormatter(lambda value, _: f"{100 * value:.6g} %")
    spread = finite.max() / finite.min() if len(finite) and finite.min() > 0 else 1
    if scale == "log" and spread > 3:
        ax.set_xscale("log")
        roomy = spread < 10 or size_in_points(ax)[0] / np.log10(spread) > 110
        if roomy:
            ax.xaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
        ax.xaxis.set_minor_formatter(percent if roomy else NullFormatter())
        ax.tick_params(axis="x", which="minor", labelsize=SMALL_TYPE, length=3, pad=3.5)
    ax.xaxis.set_major_formatter(percent)
