"""Error against the number of prototypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protoset.classifier import PrototypeClassifier
from protoset.plots._style import CLASS_COLOURS, FAINT_INK, add_legend, label_axes, open_axes
from protoset.selectors import BaseSelector, Refined, SizeCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from protoset.models import ReferenceErrors

REFERENCE_LINES = ((0, (6, 3)), (0, (1.2, 1.6)), (0, (8, 2, 1.5, 2)))
"""Line styles of 1-NN, k-NN and guessing."""

GUESSING_NEARBY = 1.6
"""The axis reaches up to the error of guessing if it is at most this many times the others."""


def plot_size_curve(
    curve: SizeCurve | BaseSelector | PrototypeClassifier,
    *,
    references: ReferenceErrors | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the cross-validated error of every size that was tried, and the chosen size.

    Every error is measured on objects that took no part in the selection.

    Parameters
    ----------
    curve : SizeCurve, selector or PrototypeClassifier
        ``size_curve_`` of a :class:`protoset.REPS` or :class:`protoset.Refined` with ``n_prototypes="auto"``; or the
        fitted selector or classifier itself, whose method the figure then names.
    references : ReferenceErrors, optional
        Errors of guessing, 1-NN and k-NN on everything, from :func:`protoset.models.reference_errors`, drawn as lines.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    fitted = curve.selector_ if isinstance(curve, PrototypeClassifier) else curve
    drawn = getattr(fitted, "size_curve_", None) if isinstance(fitted, BaseSelector) else fitted
    if drawn is None:
        raise ValueError("curve=None: size_curve_ is None for a fixed size; fit the selector with n_prototypes='auto'")
    figure, ax = open_axes(ax, (4.4, 2.9))
    low, high = drawn.errors - drawn.standard_errors, drawn.errors + drawn.standard_errors
    band = ax.fill_between(drawn.sizes, low.clip(min=0), high, color=CLASS_COLOURS[0], alpha=0.18, linewidth=0)
    (line,) = ax.plot(drawn.sizes, drawn.errors, "o-", color=CLASS_COLOURS[0], markersize=3.5, linewidth=1.3)
    best_size, chosen_size = int(drawn.sizes[drawn.best]), int(drawn.sizes[drawn.chosen])
    (best,) = ax.plot(
        [best_size], [drawn.errors[drawn.best]], "s", color=CLASS_COLOURS[2], markersize=7, markerfacecolor="none"
    )
    (chosen,) = ax.plot(
        [chosen_size], [drawn.errors[drawn.chosen]], "o", color=CLASS_COLOURS[1], markersize=7, zorder=4
    )
    ax.axvline(chosen_size, color=CLASS_COLOURS[1], linewidth=0.8, linestyle=":")
    limit = ax.axhline(high[drawn.best], color=CLASS_COLOURS[2], linewidth=0.8, linestyle="--")
    ax.set_xscale("log")
    sizes = _thin(drawn.sizes.tolist(), keep=chosen_size)
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    handles: list[Any] = [(band, line), chosen, best, limit]
    names = [
        f"error{_method(fitted)} ± standard error",
        f"chosen: {chosen_size} prototypes, {drawn.errors[drawn.chosen]:.3f}",
        f"lowest: {best_size}, {drawn.errors[drawn.best]:.3f}",
        f"lowest + standard error: {high[drawn.best]:.3f}",
    ]
    if references is not None:
        highest = 1.08 * max(float(high.max()), references.nearest, references.knn)
        is_near = references.guess <= GUESSING_NEARBY * highest
        ax.set_ylim(top=max(highest, 1.08 * references.guess) if is_near else highest)
        lines = {
            f"1-NN on everything: {references.nearest:.3f}": references.nearest,
            f"k-NN on everything, k = {references.k}: {references.knn:.3f}": references.knn,
            f"always guessing: {references.guess:.3f}{'' if is_near else ' (above)'}": references.guess,
        }
        for style, (name, error) in zip(REFERENCE_LINES, lines.items(), strict=True):
            handles.append(ax.axhline(error, color=FAINT_INK, linewidth=1.1, linestyle=style))
            names.append(name)
    label_axes(ax, xlabel="number of prototypes", ylabel="cross-validated error", grid="y")
    add_legend(ax, handles, names, columns=2)
    return figure


def _method(fitted: Any) -> str:
    """Name of the method of a fitted selector; empty for a curve."""
    if isinstance(fitted, Refined):
        return f" of refined {type(fitted.selector_).__name__}"
    return f" of {type(fitted).__name__}" if isinstance(fitted, BaseSelector) else ""


def _thin(sizes: list[int], *, keep: int) -> list[int]:
    """Sizes whose tick labels do not overlap on a logarithmic axis."""
    far = (max(sizes) / min(sizes)) ** 0.07
    shown = [keep]
    for size in sizes:
        if all(size / other > far or other / size > far for other in shown):
            shown.append(size)
    return sorted(shown)
