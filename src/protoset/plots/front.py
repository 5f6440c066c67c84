"""Error against selection rate of several methods on one data set, with the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset._validation import as_numbers, check_choice
from protoset.evaluation import pareto_ranks
from protoset.plots._display import Display
from protoset.plots._labels import label_points
from protoset.plots._rates import RATE_SCALES, Scale, check_results, scale_rates
from protoset.plots._style import FAINT_INK, INK, NORMAL_TYPE, add_legend, clean_text, colour_and_shape, label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GUESS = "guess"
"""Name of guessing in a comparison. It keeps nothing, and a logarithmic scale has no 0."""


HIGHEST_SHOWN_RATE = 1.7
"""End of the axis of selection rates, with room for names beside a rate of 1."""


@dataclass(eq=False, repr=False)
class FrontDisplay(Display):
    """Error ± standard error against selection rate of several methods on one data set, with the Pareto front.

    Parameters
    ----------
    errors, selection_rates : array-like of shape (n_methods,)
        Methods with NaN (failed runs) are left out.
    methods : sequence of str
    standard_errors : array-like of shape (n_methods,), optional
        Standard errors of the errors, drawn as bars; NaN if unknown.
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
    standard_errors: Any = None
    scale: Scale = "log"

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, RATE_SCALES)
        n_methods = len(self.methods)
        self.errors, self.selection_rates = check_results(
            self.errors, self.selection_rates, n_methods, 1, "one of each"
        )
        if self.standard_errors is None:
            self.standard_errors = np.full(n_methods, np.nan)
        self.standard_errors = as_numbers("standard_errors", self.standard_errors)
        if self.standard_errors.shape != (n_methods,):
            raise ValueError(
                f"standard_errors has the shape {self.standard_errors.shape} for {n_methods} methods; pass one per "
                "method"
            )

    @classmethod
    def from_comparison(cls, comparison: Any, *, scale: Scale = "log", ax: Axes | None = None) -> Self:
        """Draw a comparison of methods: means over the folds, with their standard errors.

        Parameters
        ----------
        comparison : Comparison
            Result of :func:`protoset.experiments.compare`. Guessing is left out, because it keeps no objects.
        scale : {"log", "linear"}, default="log"
            Scale of the selection rate.
        ax : matplotlib axes, optional

        Returns
        -------
        FrontDisplay
        """
        try:
            methods, deviations = list(comparison.methods), comparison.standard_errors
            errors, rates = comparison.errors.mean(axis=0), comparison.selection_rates.mean(axis=0)
        except AttributeError as error:
            raise TypeError(
                f"comparison has the type {type(comparison).__name__}; pass the result of "
                "protoset.experiments.compare, or use FrontDisplay.from_results"
            ) from error
        drawn = [column for column, method in enumerate(methods) if method != GUESS]
        names = [methods[column] for column in drawn]
        return cls(errors[drawn], rates[drawn], names, deviations[drawn], scale).plot(ax)

    @classmethod
    def from_results(
        cls,
        errors: Any,
        selection_rates: Any,
        methods: Sequence[Any],
        *,
        standard_errors: Any = None,
        scale: Scale = "log",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the results of methods on one data set; the arguments are those of the class.

        Returns
        -------
        FrontDisplay
        """
        return cls(errors, selection_rates, methods, standard_errors, scale).plot(ax)

    def _figure_size(self) -> tuple[float, float]:
        return 5.0, 3.8

    def _draw(self, ax: Axes) -> None:
        from matplotlib.lines import Line2D

        error, rate = self.errors, self.selection_rates
        ranks = pareto_ranks(np.column_stack([error, rate]))
        shown = np.flatnonzero(~np.isnan(ranks))
        scale_rates(ax, rate[shown], self.scale)
        front = np.flatnonzero(ranks == 1)
        front = front[np.lexsort((error[front], rate[front]))]
        ax.plot(
            rate[front], error[front], drawstyle="steps-post", color=FAINT_INK, linewidth=1, linestyle="--", zorder=1
        )
        for position in shown.tolist():
            colour, shape = colour_and_shape(position)
            face = colour if ranks[position] == 1 else "white"
            if np.isfinite(self.standard_errors[position]):
                deviation = [self.standard_errors[position]]
                ax.errorbar(
                    rate[[position]], error[[position]], deviation, fmt="none", ecolor=colour, elinewidth=1, capsize=2.5
                )
            ax.plot(
                [rate[position]], [error[position]], shape, color=colour, markerfacecolor=face, markersize=6.5, zorder=3
            )
        ax.margins(0.2, 0.15)
        ax.set_xlim(right=min(ax.get_xlim()[1], max(HIGHEST_SHOWN_RATE, float(rate[shown].max(initial=0)))))
        label_axes(ax, xlabel="selection rate", ylabel="error rate", grid="both")
        handles = [Line2D([], [], linestyle="--", linewidth=1, marker="o", color=FAINT_INK, markersize=5)]
        names = ["on the Pareto front"]
        if np.isfinite(self.standard_errors[shown]).any():
            handles.append(Line2D([], [], linestyle="", marker="|", color=INK, markersize=8))
            names.append("± standard error")
        add_legend(ax, handles, names, columns=3)
        # Labels keep clear of the line through the Pareto front, and of the bars.
        lines = [np.column_stack([np.repeat(rate[front], 2)[1:], np.repeat(error[front], 2)[:-1]])]
        points = np.column_stack([rate, error])[shown]
        for point, deviation in zip(points, self.standard_errors[shown], strict=True):
            if np.isfinite(deviation):
                lines.append(point + np.array([[0, -deviation], [0, deviation]]))
        labels = [clean_text(self.methods[position]) for position in shown.tolist()]
        label_points(ax, points, labels, size=NORMAL_TYPE, avoid=lines, gap=6.5)


plot_front = FrontDisplay.from_comparison
