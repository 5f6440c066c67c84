"""The common form of all plots: a Display, as in scikit-learn.

    XDisplay(data, ...)                   holds the data; draws nothing
    XDisplay.from_estimator(...)          computes the data, draws, returns the Display
    display.plot(ax=None)                 draws on the given axes, or in a new figure; sets ax_ and figure_
    plot_x(...)                           short name of a class method of XDisplay

A new figure is made without pyplot, so it is shown once: by the notebook, as the picture of the Display.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

from protoset.plots._style import open_axes
from protoset.plots.figure_files import figure_content

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCREEN_DPI = 100
"""Pixels per inch of a picture in a notebook; the picture itself has more."""


class Display(ABC):
    """Base class of all plots: data as attributes, and ``plot``.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes of the last call of ``plot``.
    figure_ : matplotlib Figure
        Figure of these axes.
    """

    ax_: Axes
    figure_: Figure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, and set ``ax_`` and ``figure_``.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        self
        """
        figure, axes = open_axes(ax, self._figure_size())
        self._draw(axes)
        self.figure_, self.ax_ = figure, axes
        return self

    @abstractmethod
    def _figure_size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on axes."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]] | None:
        """Picture for notebooks, with its size on the screen; None for figures of pyplot, which pyplot shows."""
        if not hasattr(self, "figure_"):
            self.plot()
        if getattr(self.figure_.canvas, "manager", None) is not None:
            return None
        width, height = (round(SCREEN_DPI * float(inches)) for inches in self.figure_.get_size_inches())
        return figure_content(self.figure_, "png"), {"width": width, "height": height}
