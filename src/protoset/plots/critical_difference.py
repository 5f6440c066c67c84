"""Critical-difference diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset.evaluation import CriticalDifference, critical_difference
from protoset.plots._display import Display
from protoset.plots._style import CLASS_COLOURS, FAINT_INK, INK, NORMAL_TYPE, SMALL_TYPE, clean_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME_HEIGHT = 0.75
"""Height of a name, in units of the vertical axis."""

FIRST_NAME_DEPTH = 0.4
"""Depth of the first name below the bars."""


@dataclass(eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
    """Average ranks on a line, best on the left, with a bar for every group of methods that do not differ.

    Parameters
    ----------
    result : CriticalDifference
        Result of :func:`protoset.evaluation.critical_difference`.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``.

    Examples
    --------
    >>> from protoset.evaluation import critical_difference
    >>> from protoset.plots import CriticalDifferenceDisplay
    >>> result = critical_difference([[0.1, 0.2, 0.4], [0.2, 0.1, 0.5]], names=["REPS", "SSMA", "CNN"])
    >>> CriticalDifferenceDisplay.from_result(result).figure_.savefig("ranks.svg")  # doctest: +SKIP
    """

    result: CriticalDifference

    def __post_init__(self) -> None:
        if not isinstance(self.result, CriticalDifference):
            raise TypeError(
                f"result={self.result!r:.60} must be the result of protoset.evaluation.critical_difference; for a "
                "table of errors, use CriticalDifferenceDisplay.from_errors"
            )

    @classmethod
    def from_result(cls, result: CriticalDifference, *, ax: Axes | None = None) -> Self:
        """Draw the result of :func:`protoset.evaluation.critical_difference`.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        return cls(result).plot(ax)

    @classmethod
    def from_errors(
        cls, errors: Any, methods: Sequence[str] | None = None, *, alpha: float = 0.05, ax: Axes | None = None
    ) -> Self:
        """Compare methods by their errors on many data sets, and draw the result.

        Parameters
        ----------
        errors : array-like of shape (n_datasets, n_methods)
            Lower is better.
        methods : sequence of str, optional
        alpha : float, default=0.05
            Level of the test.
        ax : matplotlib axes, optional

        Returns
        -------
        CriticalDifferenceDisplay
        """
        return cls(critical_difference(errors, names=methods, alpha=alpha)).plot(ax)

    def _figure_size(self) -> tuple[float, float]:
        return 6.5, 0.9 + 0.13 * _levels(self.result)[0] + 0.22 * ((len(self.result.names) + 1) // 2)

    def _draw(self, ax: Axes) -> None:
        result = self.result
        k = len(result.names)
        order = np.argsort(result.average_ranks, kind="stable")
        n_left = (k + 1) // 2
        n_levels, levels = _levels(result)
        below = 0.35 + 0.3 * n_levels
        ax.set_axis_off()
        low, high = 1.0, float(max(k, 2))
        ax.plot([low, high], [0, 0], color=INK, linewidth=1, solid_capstyle="butt")
        for tick in range(1, int(high) + 1):
            ax.plot([tick, tick], [0, 0.18], color=INK, linewidth=1)
            ax.text(tick, 0.28, str(tick), ha="center", va="bottom", fontsize=SMALL_TYPE, color=INK)
        _draw_scale(ax, result, low, high)
        margin = 0.03 * (high - low)
        for position, column in enumerate(order):
            rank = float(result.average_ranks[column])
            is_left = position < n_left
            row = position if is_left else k - 1 - position
            height = -(below + FIRST_NAME_DEPTH + NAME_HEIGHT * row)
            end = low - margin if is_left else high + margin
            ax.plot([rank, rank, end], [0, height, height], color=FAINT_INK, linewidth=0.8)
            ax.plot([rank], [0], "o", color=CLASS_COLOURS[0], markersize=3.5, zorder=3)
            name = clean_text(result.names[column])
            ax.text(
                end + (-margin if is_left else margin) / 2,
                height,
                f"{name}  {rank:.2f}" if is_left else f"{rank:.2f}  {name}",
                ha="right" if is_left else "left",
                va="center",
                fontsize=NORMAL_TYPE,
                color=INK,
            )
        for group, level in zip(result.groups, levels, strict=True):
            ends = result.average_ranks[[group[0], group[-1]]]
            height = -(0.35 + 0.3 * level)
            ax.plot(ends, [height, height], color=INK, linewidth=3, solid_capstyle="butt", gid="group", zorder=2)
        ax.set_xlim(low - margin, high + margin)
        ax.set_ylim(-(below + FIRST_NAME_DEPTH + NAME_HEIGHT * (n_left - 1) + 0.4), 2.1)


def _levels(result: CriticalDifference) -> tuple[int, list[int]]:
    """Level of each bar: the first level on which the bar touches no earlier bar."""
    ends: list[float] = []
    levels = []
    for group in result.groups:
        start, end = result.average_ranks[[group[0], group[-1]]]
        level = next((level for level, earlier in enumerate(ends) if earlier < start), len(ends))
        ends[level : level + 1] = [float(end)]
        levels.append(level)
    return len(ends), levels


def _draw_scale(ax: Axes, result: CriticalDifference, low: float, high: float) -> None:
    """Draw the critical difference as a length, or as a number only if it is longer than the line."""
    test = f"Nemenyi, α = {result.alpha:g}, {result.n_datasets} data sets"
    text = f"critical difference {result.critical_difference:.2f}  ({test})"
    end = low + result.critical_difference
    if end <= high:
        ax.plot(
            [low, low, low, end, end, end], [1.15, 1.45, 1.3, 1.3, 1.45, 1.15], color=CLASS_COLOURS[1], linewidth=1.2
        )
    ax.text(low, 1.6, text, ha="left", va="bottom", fontsize=SMALL_TYPE, color=INK)


plot_critical_difference = CriticalDifferenceDisplay.from_result
