"""Error against selection rate of several methods on many data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset._validation import check_choice
from protoset.plots._display import Display
from protoset.plots._rates import RATE_SCALES, Scale, check_results, scale_rates
from protoset.plots._style import add_legend, class_marker, clean_text, colour_and_shape, label_axes, text_colour_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEXT_SHIFTS = {"^": (0, -0.9), "v": (0, 0.9), "<": (0.9, 0), ">": (-0.9, 0)}
"""Shift of a number to the middle of its marker, across and up, in points."""


@dataclass(eq=False, repr=False)
class TradeoffDisplay(Display):
    """Error against selection rate of several methods on many data sets.

    Each result is a marker. Colour and shape show the method, the number in the marker shows the data set, as in the
    paper.

    Parameters
    ----------
    errors, selection_rates : array-like of shape (n_datasets, n_methods)
        Cells with NaN (failed runs) are left out.
    methods : sequence of str
    numbers : sequence, optional
        Numbers of the data sets; by default 1, 2, ...
    scale : {"log", "linear"}, default="log"
        Scale of the selection rate. It is linear if a rate is 0, or if all rates are within a factor of 3.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``.
    """

    errors: Any
    selection_rates: Any
    methods: Sequence[Any]
    numbers: Sequence[Any] | None = None
    scale: Scale = "log"

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, RATE_SCALES)
        needed = "one row per data set and one column"
        self.errors, self.selection_rates = check_results(
            self.errors, self.selection_rates, len(self.methods), 2, needed
        )
        n_datasets = len(self.errors)
        self.numbers = range(1, n_datasets + 1) if self.numbers is None else self.numbers
        if len(self.numbers) != n_datasets:
            raise ValueError(f"numbers has {len(self.numbers)} entries for {n_datasets} data sets; pass one for each")

    @classmethod
    def from_results(
        cls,
        errors: Any,
        selection_rates: Any,
        methods: Sequence[Any],
        *,
        numbers: Sequence[Any] | None = None,
        scale: Scale = "log",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the results of methods on data sets; the arguments are those of the class.

        Returns
        -------
        TradeoffDisplay
        """
        return cls(errors, selection_rates, methods, numbers, scale).plot(ax)

    def _figure_size(self) -> tuple[float, float]:
        return 7.2, 5.2

    def _draw(self, ax: Axes) -> None:
        error, rate = self.errors, self.selection_rates
        numbers: Any = self.numbers
        for column in range(len(self.methods)):
            colour, shape = colour_and_shape(column)
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
                    TEXT_SHIFTS.get(shape, (0, 0)),
                    textcoords="offset points",
                    color=text_colour_on(colour),
                    fontsize=4.6,
                    ha="center",
                    va="center_baseline",
                    zorder=level + 1e-4,
                    annotation_clip=True,
                )
        scale_rates(ax, rate[np.isfinite(error)], self.scale)
        label_axes(ax, xlabel="selection rate", ylabel="error rate", grid="both")
        handles = [class_marker(column) for column in range(len(self.methods))]
        add_legend(ax, handles, [clean_text(method, 20) for method in self.methods], columns=6)


plot_tradeoff = TradeoffDisplay.from_results
