"""Maps of the objects in the plane, from their dissimilarities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from protoset.plots._checks import CheckedDissimilarities, MarkedObjects, mark_objects
from protoset.plots._style import FAINT_INK, add_legend, class_name, colour_and_shape, open_axes
from protoset.plots.layout import plane_coordinates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_LEGEND_CLASSES = 12
"""Largest number of classes that a legend names; further classes are counted."""


def plot_map(dissimilarities: Any, labels: Any, kept: Any, *, ax: Axes | None = None) -> Figure:
    """Draw all objects in the plane: kept objects filled, dropped objects small and faint.

    Coordinates come from classical scaling of the dissimilarities; above 1,000 objects, from the dissimilarities to 250
    landmarks. Colour and shape show the class.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects), or Space
        Dissimilarities among the training objects.
    labels : array-like of shape (n_objects,)
    kept : array-like of int or bool
        Positions of the prototypes, or a mask with True for each prototype.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    objects = mark_objects(labels, kept)
    points = plane_coordinates(CheckedDissimilarities(dissimilarities, len(objects.codes)))
    figure, ax = open_axes(ax, (5, 4.2))
    few = len(points) <= 400
    for is_kept in (False, True):
        for code in range(len(objects.classes)):
            shown = points[(objects.codes == code) & (objects.kept == is_kept)]
            colour, shape = colour_and_shape(code)
            ax.scatter(
                shown[:, 0],
                shown[:, 1],
                s=34 if is_kept else (16 if few else 6),
                marker=shape,
                facecolors=colour if is_kept else "none",
                edgecolors="white" if is_kept else colour,
                linewidths=0.6,
                alpha=1 if is_kept else (0.6 if few else 0.35),
                zorder=3 if is_kept else 2,
            )
    # Only distances have a meaning: both axes have the same scale and no numbers.
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    add_legend(ax, *class_legend(objects), columns=4)
    return figure


def class_legend(objects: MarkedObjects) -> tuple[list[Any], list[str]]:
    """Handles and labels of a legend: the classes, then kept and dropped."""
    from matplotlib.lines import Line2D

    sizes = np.bincount(objects.codes, minlength=len(objects.classes))
    handles, names = [], []
    for code, name in enumerate(objects.classes[:MAX_LEGEND_CLASSES]):
        colour, shape = colour_and_shape(code)
        handles.append(Line2D([], [], linestyle="", marker=shape, color=colour, markersize=5))
        names.append(f"{class_name(name)} ({sizes[code]})")
    if len(objects.classes) > MAX_LEGEND_CLASSES:
        handles.append(Line2D([], [], linestyle=""))
        names.append(f"and {len(objects.classes) - MAX_LEGEND_CLASSES} more classes")
    n_kept = int(objects.kept.sum())
    for filled, name in ((True, f"kept ({n_kept})"), (False, f"dropped ({len(objects.kept) - n_kept})")):
        face = FAINT_INK if filled else "none"
        handles.append(Line2D([], [], linestyle="", marker="o", color=FAINT_INK, markerfacecolor=face, markersize=5))
        names.append(name)
    return handles, names
