"""Weights and degradations of the prototypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from protoset._validation import as_numbers
from protoset.plots._checks import check_limit, mark_objects
from protoset.plots._style import add_legend, class_name, clean_text, colour_and_shape, label_axes, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_weights(
    weights: Any,
    degradations: Any,
    labels: Any,
    kept: Any,
    *,
    names: Any = None,
    max_prototypes: int = 60,
    ax: Axes | None = None,
) -> Figure:
    """Draw the weight of each prototype, and its degradation below; largest weight first.

    Parameters
    ----------
    weights, degradations : array-like of shape (n_objects,)
        ``weights_`` and ``degradations_`` of a :class:`protoset.REPS`. A weight of 0 has an infinite degradation,
        which is drawn as ∞ at the top.
    labels : array-like of shape (n_objects,)
    kept : array-like of int or bool
        Positions of the prototypes, or a mask with True for each prototype.
    names : sequence, optional
        Names of the objects; by default their positions.
    max_prototypes : int
        Largest number of prototypes to show. The axis says how many more there are.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    check_limit("max_prototypes", max_prototypes)
    objects = mark_objects(labels, kept)
    n = len(objects.codes)
    weight, degradation = as_numbers("weights", weights), as_numbers("degradations", degradations)
    for name, values in (("weights", weight), ("degradations", degradation)):
        if values.shape != (n,) or np.isnan(values).any():
            raise ValueError(
                f"{name} has the shape {values.shape} or holds NaN, for {n} labels; pass one number per object"
            )
    names = range(n) if names is None else names
    if len(names) != n:
        raise ValueError(f"names has {len(names)} entries for {n} labels; pass one name per object")
    members = np.flatnonzero(objects.kept)
    members = members[np.lexsort((members, degradation[members], -weight[members]))]
    shown = members[:max_prototypes]
    figure, ax = open_axes(ax, (max(3.6, 0.16 * len(shown) + 1), 3.6))
    from matplotlib.patches import Patch

    ax.set_axis_off()
    upper, lower = ax.inset_axes((0, 0.54, 1, 0.46)), ax.inset_axes((0, 0, 1, 0.46))
    across = np.arange(len(shown))
    finite = degradation[shown][np.isfinite(degradation[shown])]
    ceiling = 1.15 * float(finite.max()) + 1e-9 if len(finite) and finite.max() > 0 else 1.0
    codes = objects.codes[shown]
    largest = float(weight.max()) or 1.0
    upper.bar(across, weight[shown] / largest, color=[colour_and_shape(int(code))[0] for code in codes], width=0.75)
    for code in np.unique(codes):
        colour, shape = colour_and_shape(int(code))
        here = across[codes == code]
        values = degradation[shown[here]]
        is_finite = np.isfinite(values)
        lower.plot(here[is_finite], values[is_finite], shape, color=colour, markersize=4, clip_on=False)
        above = np.full(int((~is_finite).sum()), ceiling)
        lower.scatter(here[~is_finite], above, marker="$\\infty$", color=colour, s=50, gid="infinite")
    more = f"{len(members) - len(shown)} more prototypes not shown" if len(members) > len(shown) else ""
    label_axes(upper, ylabel="weight / largest", grid="y")
    label_axes(lower, ylabel="degradation", xlabel=f"prototype; {more}" if more else "prototype", grid="y")
    for panel in (upper, lower):
        panel.set_xlim(-0.7, max(len(shown), 1) - 0.3)
        panel.set_ylim(bottom=0)
    lower.set_ylim(top=ceiling * 1.08)
    upper.set_xticks(across, [""] * len(shown))
    lower.set_xticks(across, [clean_text(names[member], 10) for member in shown], rotation=90, fontsize=6)
    present = np.unique(codes)[:12]
    add_legend(
        ax,
        [Patch(color=colour_and_shape(int(code))[0]) for code in present],
        [class_name(objects.classes[code]) for code in present],
        columns=4,
    )
    return figure
