"""Error against selection rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from protoset._validation import as_numbers, check_choice
from protoset.evaluation import pareto_ranks
from protoset.plots._labels import label_points
from protoset.plots._style import FAINT, NORMAL, SMALL, add_legend, ink_on, look, open_axes, plain, size_of, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Scale = Literal["log", "linear"]
SCALES: tuple[Scale, ...] = ("log", "linear")

SHIFTS = {"^": -0.9, "v": 0.9}
"""How far the middle of a shape is from that of its box, in points."""


def plot_tradeoff(
    errors: Any,
    selection_rates: Any,
    methods: Sequence[Any],
    *,
    numbers: Sequence[Any] | None = None,
    scale: Scale = "log",
    ax: Axes | None = None,
) -> Figure:
    """Draw error against selection rate of several methods on many data sets, a numbered marker for each.

    Colour and shape tell the method, the number inside the marker the data set, as in the paper.

    Parameters
    ----------
    errors, selection_rates : array-like of shape (n_datasets, n_methods)
        Cells with NaN, failed runs, are left out.
    methods : sequence of str
    numbers : sequence, optional
        Of the data sets; 1, 2, ... by default.
    scale : {"log", "linear"}
        Of the selection rate; linear in any case where one is 0, or where all are within a factor of 3.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    check_choice("scale", scale, SCALES)
    error, rate = as_numbers("errors", errors), as_numbers("selection_rates", selection_rates)
    if error.ndim != 2 or error.shape != rate.shape or error.shape[1] != len(methods):
        raise ValueError(
            f"errors has the shape {error.shape}, selection_rates {rate.shape}, and there are {len(methods)} methods; "
            "pass one row per data set and one column per method"
        )
    numbers = range(1, len(error) + 1) if numbers is None else numbers
    if len(numbers) != len(error):
        raise ValueError(f"numbers has {len(numbers)} entries for {len(error)} data sets; pass one for each")
    figure, ax = open_axes(ax, (7.2, 5.2))
    from matplotlib.lines import Line2D

    handles = []
    for column in range(len(methods)):
        colour, shape = look(column)
        ink = ink_on(colour)
        handles.append(Line2D([], [], linestyle="", marker=shape, color=colour, markersize=6))
        present = np.flatnonzero(np.isfinite(error[:, column]) & np.isfinite(rate[:, column]))
        for row in present.tolist():
            # One by one, so that a number and its marker are covered together.
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
                plain(numbers[row], 3),
                (x, y),
                (0, SHIFTS.get(shape, 0)),
                textcoords="offset points",
                color=ink,
                fontsize=4.6,
                ha="center",
                va="center_baseline",
                zorder=level + 1e-4,
                annotation_clip=True,
            )
    _scale_rates(ax, rate[np.isfinite(error)], scale)
    tidy(ax, xlabel="selection rate", ylabel="error rate", grid="both")
    add_legend(ax, handles, [plain(method, 20) for method in methods], columns=6)
    return figure


def plot_front(
    errors: Any, selection_rates: Any, methods: Sequence[Any], *, scale: Scale = "log", ax: Axes | None = None
) -> Figure:
    """Draw error against selection rate of several methods on one data set, with the Pareto front.

    Parameters
    ----------
    errors, selection_rates : array-like of shape (n_methods,)
        Methods with NaN, failed runs, are left out.
    methods : sequence of str
    scale : {"log", "linear"}
        Of the selection rate; linear in any case where one is 0, or where all are within a factor of 3.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    check_choice("scale", scale, SCALES)
    error, rate = as_numbers("errors", errors), as_numbers("selection_rates", selection_rates)
    if error.ndim != 1 or error.shape != rate.shape or len(error) != len(methods):
        raise ValueError(
            f"errors has the shape {error.shape}, selection_rates {rate.shape}, and there are {len(methods)} methods; "
            "pass one of each per method"
        )
    ranks = pareto_ranks(np.column_stack([error, rate]))
    figure, ax = open_axes(ax, (4.8, 3.6))
    _scale_rates(ax, rate[~np.isnan(ranks)], scale)
    front = np.flatnonzero(ranks == 1)
    front = front[np.lexsort((error[front], rate[front]))]
    ax.plot(rate[front], error[front], drawstyle="steps-post", color=FAINT, linewidth=1, linestyle="--", zorder=1)
    shown = np.flatnonzero(~np.isnan(ranks)).tolist()
    for position in shown:
        colour, shape = look(position)
        face = colour if ranks[position] == 1 else "white"
        ax.plot(
            [rate[position]], [error[position]], shape, color=colour, markerfacecolor=face, markersize=6.5, zorder=3
        )
    ax.margins(0.15)
    tidy(ax, xlabel="selection rate", ylabel="error rate", title="filled: on the Pareto front", grid="both")
    points = np.column_stack([rate, error])[shown]
    names = [plain(methods[position]) for position in shown]
    label_points(ax, points, names, size=NORMAL, avoid=_steps(rate[front], error[front]))
    return figure


def _steps(rates: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Corners of the line that joins the front."""
    return np.column_stack([np.repeat(rates, 2)[1:], np.repeat(errors, 2)[:-1]])


def _scale_rates(ax: Axes, rates: np.ndarray, scale: Scale) -> None:
    """Set the axis of selection rates, in per cent; a logarithmic one only where it spans enough to have ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    known = rates[np.isfinite(rates)]
    percent = FuncFormatter(lambda value, _: f"{100 * value:.6g} %")
    spread = known.max() / known.min() if len(known) and known.min() > 0 else 1
    if scale == "log" and spread > 3:
        ax.set_xscale("log")
        roomy = spread < 10 or size_of(ax)[0] / np.log10(spread) > 110
        if roomy:
            ax.xaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
        ax.xaxis.set_minor_formatter(percent if roomy else NullFormatter())
        ax.tick_params(axis="x", which="minor", labelsize=SMALL, length=3, pad=3.5)
    ax.xaxis.set_major_formatter(percent)
