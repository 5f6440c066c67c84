"""Errors and selection rates of methods: checks, and the axis of selection rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from protoset._validation import as_numbers
from protoset.plots._style import SMALL_TYPE, size_in_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Scale = Literal["log", "linear"]
RATE_SCALES: tuple[Scale, ...] = ("log", "linear")
"""Values of the parameter ``scale``."""


def check_results(errors: Any, rates: Any, n_methods: int, ndim: int, needed: str) -> tuple[np.ndarray, np.ndarray]:
    """Return errors and selection rates as arrays of the same shape, with a column per method."""
    error, rate = as_numbers("errors", errors), as_numbers("selection_rates", rates)
    if error.ndim != ndim or error.shape != rate.shape or error.shape[-1] != n_methods:
        raise ValueError(
            f"errors has the shape {error.shape}, selection_rates {rate.shape}, and there are {n_methods} methods; "
            f"pass {needed} per method"
        )
    return error, rate


def scale_rates(ax: Axes, rates: np.ndarray, scale: Scale) -> None:
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
