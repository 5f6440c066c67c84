"""Series as small multiples: kept ones plain, dropped ones faded in dotted frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from protoset.plots._objects import check_most, mark_objects
from protoset.plots._style import COLOURS, FAINT, INK, NORMAL, bare, class_name, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEADER = 0.55
"""Height of a class's heading, in heights of a panel."""


def plot_series(
    series: Any,
    labels: Any,
    kept: Any,
    *,
    classes: Sequence[Any] | None = None,
    max_panels: int = 32,
    max_classes: int = 8,
    n_columns: int = 8,
    ax: Axes | None = None,
) -> Figure:
    """Draw the series of each class in small panels on one scale, kept ones first.

    Kept series are drawn without frames, dropped ones faded in dotted frames, as in the paper. A heading counts both
    and says how many are not shown.

    Parameters
    ----------
    series : sequence of arrays (n_points,) or (n_points, n_channels)
    labels : array-like of shape (n_series,)
    kept : array-like of int or bool
        Positions of the prototypes, or whether each series is one.
    classes : sequence, optional
        Classes to show, in this order; by default all, up to ``max_classes``.
    max_panels : int
        Panels of a class at most; of them at least a quarter for dropped ones, if there are so many.
    max_classes : int
    n_columns : int
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    n_columns, max_panels = check_most("n_columns", n_columns), check_most("max_panels", max_panels)
    objects = mark_objects(labels, kept)
    if len(series) != len(objects.codes):
        raise ValueError(f"series has {len(series)} entries for {len(objects.codes)} labels; pass one label per series")
    codes = _chosen(objects.classes, classes)
    n_left_out = 0 if classes is not None else max(len(codes) - check_most("max_classes", max_classes), 0)
    codes = codes[: len(codes) - n_left_out]
    shown = {code: _shown(objects.codes == code, objects.kept, max_panels) for code in codes}
    n_rows = {code: -(-len(members) // n_columns) for code, members in shown.items()}
    height = sum(n_rows.values()) + HEADER * (len(codes) + (n_left_out > 0))
    figure, ax = open_axes(ax, (0.85 * n_columns, 0.62 * height))
    bare(ax)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    limits = _limits([series[member] for members in shown.values() for member in members])
    top = height
    for code, members in shown.items():
        is_class = objects.codes == code
        n_kept, n_all = int((is_class & objects.kept).sum()), int(is_class.sum())
        more = f", {n_all - len(members)} more not shown" if n_all > len(members) else ""
        top -= HEADER
        heading = f"{class_name(objects.classes[code])}: {n_kept} kept of {n_all}{more}"
        ax.text(0, (top + 0.12) / height, heading, fontsize=NORMAL, color=INK, va="bottom")
        for place, member in enumerate(members):
            row, column = divmod(place, n_columns)
            box = (column / n_columns, (top - row - 1) / height, 1 / n_columns, 1 / height)
            _draw_panel(ax, box, series[member], bool(objects.kept[member]), COLOURS[code % len(COLOURS)], limits)
        top -= n_rows[code]
    if n_left_out:
        ax.text(0, 0.12 / height, f"and {n_left_out} more classes", fontsize=NORMAL, color=INK, va="bottom")
    return figure


def _chosen(names: list[Any], classes: Sequence[Any] | None) -> list[int]:
    if classes is None:
        return list(range(len(names)))
    unknown = [name for name in classes if name not in names]
    if unknown:
        raise ValueError(f"classes has {unknown[0]!r}, which no label is; choose from {names}")
    return [names.index(name) for name in classes]


def _shown(is_class: np.ndarray, is_kept: np.ndarray, most: int) -> list[int]:
    """Return members to show: kept ones first, and room for some that were dropped."""
    kept, dropped = np.flatnonzero(is_class & is_kept).tolist(), np.flatnonzero(is_class & ~is_kept).tolist()
    n_dropped = max(min(len(dropped), most // 4), min(len(dropped), most - len(kept)))
    return [*kept[: most - n_dropped], *dropped[:n_dropped]]


def _limits(shown: list[Any]) -> tuple[float, float]:
    finite = [values[np.isfinite(values)] for values in (np.asarray(one, float) for one in shown)]
    values = np.concatenate([np.ravel(one) for one in finite]) if finite else np.empty(0)
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.5
    return low - margin, high + margin


def _draw_panel(
    ax: Axes, box: tuple[float, float, float, float], one: Any, is_kept: bool, colour: str, limits: tuple[float, float]
) -> None:
    left, bottom, width, height = box
    panel = ax.inset_axes((left + 0.04 * width, bottom + 0.06 * height, 0.92 * width, 0.88 * height))
    panel.set_gid("kept" if is_kept else "dropped")
    values = np.asarray(one, float)
    panel.plot(values, color=colour, linewidth=1.0, alpha=1 if is_kept else 0.4)
    panel.set_ylim(*limits)
    panel.margins(x=0.04)
    panel.set_xticks([])
    panel.set_yticks([])
    for spine in panel.spines.values():
        spine.set_visible(not is_kept)
        spine.set(linestyle=(0, (1, 2)), linewidth=0.8, color=FAINT)
