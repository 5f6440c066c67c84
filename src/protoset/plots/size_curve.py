"""Error against the number of prototypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protoset.plots._style import CLASS_COLOURS, FAINT_INK, add_legend, label_axes, open_axes
from protoset.selectors import SizeCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_size_curve(curve: SizeCurve, *, ax: Axes | None = None) -> Figure:
    """Draw the cross-validated error of every size that was tried, and the chosen size.

    Parameters
    ----------
    curve : SizeCurve
        ``size_curve_`` of a :class:`protoset.REPS` with ``n_prototypes="auto"``.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    if curve is None:
        raise ValueError("curve=None: size_curve_ is None for a fixed size; fit the selector with n_prototypes='auto'")
    figure, ax = open_axes(ax, (4.4, 2.9))
    low, high = curve.errors - curve.standard_errors, curve.errors + curve.standard_errors
    band = ax.fill_between(curve.sizes, low.clip(min=0), high, color=CLASS_COLOURS[0], alpha=0.18, linewidth=0)
    (line,) = ax.plot(curve.sizes, curve.errors, "o-", color=CLASS_COLOURS[0], markersize=3.5, linewidth=1.3)
    best_size, chosen_size = int(curve.sizes[curve.best]), int(curve.sizes[curve.chosen])
    (best,) = ax.plot(
        [best_size], [curve.errors[curve.best]], "s", color=CLASS_COLOURS[2], markersize=7, markerfacecolor="none"
    )
    (chosen,) = ax.plot(
        [chosen_size], [curve.errors[curve.chosen]], "o", color=CLASS_COLOURS[1], markersize=7, zorder=4
    )
    ax.axvline(chosen_size, color=CLASS_COLOURS[1], linewidth=0.8, linestyle=":")
    ax.axhline(high[curve.best], color=FAINT_INK, linewidth=0.8, linestyle="--")
    ax.set_xscale("log")
    sizes = _thin(curve.sizes.tolist(), keep=chosen_size)
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    label_axes(ax, xlabel="number of prototypes", ylabel="cross-validated error", grid="y")
    add_legend(
        ax,
        [(band, line), chosen, best],
        [
            "error ± standard error",
            f"chosen: {chosen_size} prototypes, {curve.errors[curve.chosen]:.3f}",
            f"lowest: {best_size}, {curve.errors[curve.best]:.3f}",
        ],
        columns=2,
    )
    return figure


def _thin(sizes: list[int], *, keep: int) -> list[int]:
    """Sizes whose tick labels do not overlap on a logarithmic axis."""
    far = (max(sizes) / min(sizes)) ** 0.07
    shown = [keep]
    for size in sizes:
        if all(size / other > far or other / size > far for other in shown):
            shown.append(size)
    return sorted(shown)
