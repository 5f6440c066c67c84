"""Sensitivity of a measure to a parameter, over many data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset._validation import as_numbers
from protoset.plots._display import Display
from protoset.plots._style import CLASS_COLOURS, FAINT_INK, INK, SMALL_TYPE, clean_text, label_axes, size_in_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class SensitivityDisplay(Display):
    """A box plot for each value of a parameter: quartiles, whiskers of 1.5 interquartile ranges, outliers.

    Parameters
    ----------
    values : dict
        Results on the data sets, by the value of the parameter. Missing results (NaN) are left out; the number of
        remaining results is then written above the box.
    parameter, measure : str
        Names of the axes.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``.
    """

    values: Mapping[Any, Any]
    parameter: str = "β"
    measure: str = "log odds ratio"

    def __post_init__(self) -> None:
        if not isinstance(self.values, Mapping) or not self.values:
            raise ValueError(
                f"values={self.values!r} must be a dict, not empty; pass the results by the value of the parameter"
            )
        self.values = {key: np.ravel(as_numbers(f"values[{key!r}]", column)) for key, column in self.values.items()}

    @classmethod
    def from_results(
        cls,
        values: Mapping[Any, Any],
        *,
        parameter: str = "β",
        measure: str = "log odds ratio",
        ax: Axes | None = None,
    ) -> Self:
        """Draw results by the value of a parameter; the arguments are those of the class.

        Returns
        -------
        SensitivityDisplay
        """
        return cls(values, parameter, measure).plot(ax)

    def _figure_size(self) -> tuple[float, float]:
        return max(3.2, 0.45 * len(self.values) + 1), 2.8

    def _draw(self, ax: Axes) -> None:
        columns = list(self.values.values())
        shown = [column[np.isfinite(column)] for column in columns]
        positions = np.arange(1, len(columns) + 1)
        ax.boxplot(
            shown,
            positions=positions,
            widths=0.55,
            patch_artist=True,
            boxprops={"facecolor": "#CFE3F1", "edgecolor": CLASS_COLOURS[0], "linewidth": 0.9},
            medianprops={"color": CLASS_COLOURS[1], "linewidth": 1.6},
            whiskerprops={"color": CLASS_COLOURS[0], "linewidth": 0.9},
            capprops={"color": CLASS_COLOURS[0], "linewidth": 0.9},
            flierprops={"marker": "o", "markersize": 2.5, "markeredgecolor": FAINT_INK, "markerfacecolor": "none"},
        )
        label_axes(ax, xlabel=clean_text(self.parameter), ylabel=clean_text(self.measure), grid="y")
        names = [clean_text(f"{key:g}" if isinstance(key, float) else key, 14) for key in self.values]
        fits = 0.65 * SMALL_TYPE * max(map(len, names)) * len(names) < size_in_points(ax)[0]
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
                    fontsize=SMALL_TYPE,
                    color=INK,
                )


plot_sensitivity = SensitivityDisplay.from_results
