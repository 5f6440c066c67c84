"""How a value depends on a parameter, over many data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from protoset._validation import as_numbers
from protoset.plots._style import COLOURS, FAINT, INK, SMALL, open_axes, plain, size_of, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_sensitivity(
    values: Mapping[Any, Any], *, parameter: str = "β", measure: str = "log odds ratio", ax: Axes | None = None
) -> Figure:
    """Draw a box for each value of a parameter: quartiles, whiskers up to 1.5 times their distance, outliers.

    Parameters
    ----------
    values : dict
        For each value of the parameter the results on the data sets; missing ones (NaN) are left out, and the number
        of those left is then written above the box.
    parameter, measure : str
        Names of the axes.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    if not isinstance(values, Mapping) or not values:
        raise ValueError(f"values={values!r} must be a dict of results by the value of the parameter, not an empty one")
    columns = [np.ravel(as_numbers(f"values[{key!r}]", column)) for key, column in values.items()]
    shown = [column[np.isfinite(column)] for column in columns]
    figure, ax = open_axes(ax, (max(3.2, 0.45 * len(columns) + 1), 2.8))
    positions = np.arange(1, len(columns) + 1)
    ax.boxplot(
        shown,
        positions=positions,
        widths=0.55,
        patch_artist=True,
        boxprops={"facecolor": "#CFE3F1", "edgecolor": COLOURS[0], "linewidth": 0.9},
        medianprops={"color": COLOURS[1], "linewidth": 1.6},
        whiskerprops={"color": COLOURS[0], "linewidth": 0.9},
        capprops={"color": COLOURS[0], "linewidth": 0.9},
        flierprops={"marker": "o", "markersize": 2.5, "markeredgecolor": FAINT, "markerfacecolor": "none"},
    )
    tidy(ax, xlabel=plain(parameter), ylabel=plain(measure), grid="y")
    names = [plain(f"{key:g}" if isinstance(key, float) else key, 14) for key in values]
    fits = 0.65 * SMALL * max(map(len, names)) * len(names) < size_of(ax)[0]
    ax.set_xticks(positions, names, rotation=0 if fits else 45, ha="center" if fits else "right")
    for position, column, kept in zip(positions, columns, shown, strict=True):
        if len(kept) < len(column):
            ax.text(
                float(position),
                1.0,
                f"n = {len(kept)}",
                transform=ax.get_xaxis_transform(),
                ha="center",
                va="bottom",
                fontsize=SMALL,
                color=INK,
            )
    return figure
