"""The nearest-neighbour graph of the training set, with kept, dropped and misclassified objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from protoset.plots._objects import Dissimilarities, MarkedObjects, mark_objects
from protoset.plots._style import COLOURS, FAINT, INK, add_legend, bare, look, open_axes, size_of
from protoset.plots.layout import classical_scaling, untangle
from protoset.plots.maps import MOST_CLASSES, class_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_OBJECTS = 1000
"""Objects up to which edges can be told apart."""

DOTTED = (0, (1, 1.2))


def plot_neighbor_graph(
    dissimilarities: Any, labels: Any, kept: Any, *, series: Any = None, ax: Axes | None = None
) -> Figure:
    """Draw an edge from every object to its nearest neighbour.

    Kept objects are filled, dropped ones hollow and dotted; colour and shape tell classes, and edges between classes
    are dark. A cross marks objects that 1-NN with the kept ones misclassifies; a kept object is not its own
    neighbour. Of equally near neighbours the first counts. Places come from classical scaling, moved so that nothing
    is covered: near means similar, but far means little.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects), or Space
        Among the training objects, at most 1,000.
    labels : array-like of shape (n_objects,)
    kept : array-like of int or bool
        Positions of the prototypes, or whether each object is one.
    series : sequence of arrays (n_points,), optional
        Drawn in place of markers, as in the paper: on the colour of their class, dropped ones in dotted frames.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    objects = mark_objects(labels, kept)
    n = len(objects.codes)
    if n > MOST_OBJECTS:
        raise ValueError(
            f"dissimilarities are of {n} objects, and a graph of more than {MOST_OBJECTS} cannot be read; choose some "
            "of them, or use plot_map"
        )
    if series is not None and len(series) != n:
        raise ValueError(f"series has {len(series)} entries for {n} labels; pass one series per label")
    matrix = Dissimilarities(dissimilarities, n).square()
    edges = nearest_edges(matrix)
    wrong = misclassified(matrix, objects)
    figure, ax = open_axes(ax, (6.4, 5.2) if series is None else (9.0, 6.6))
    bare(ax)
    # The more there are, the less room for each; a series needs more than a marker.
    size = size_of(ax)
    share = (0.16 if series is None else 0.4) / n
    width, height = np.sqrt(share * size[1] / size[0]), np.sqrt(share * size[0] / size[1])
    if series is not None:
        width, height = width * 1.25, height / 1.25
    places = untangle(_unit_square(classical_scaling(matrix)), edges, (width, height))
    for start, end in edges:
        same = objects.codes[start] == objects.codes[end]
        ax.plot(*places[[start, end]].T, color=FAINT if same else INK, linewidth=0.7, zorder=1, gid="edge")
    if series is None:
        _draw_markers(ax, places, objects, 0.55 * _points_per_unit(places, size))
    else:
        _draw_series(ax, places, objects, series)
    handles, names = class_legend(objects) if series is None else _frame_legend(objects)
    at = places[wrong] + ([0, 0] if series is None else [0.42, 0.36])
    crossed = ax.scatter(at[:, 0], at[:, 1], marker="x", s=18, color=INK, linewidths=1, zorder=5)
    if wrong.any():
        handles, names = [*handles, crossed], [*names, f"misclassified ({int(wrong.sum())})"]
    low, high = places.min(axis=0) - 0.8, places.max(axis=0) + 0.8
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    add_legend(ax, handles, names, columns=5)
    return figure


def nearest_edges(matrix: np.ndarray) -> np.ndarray:
    """From every object to its nearest neighbour; pairs that are each other's nearest are there once."""
    n = len(matrix)
    if n < 2:
        return np.empty((0, 2), int)
    others = matrix.copy()
    np.fill_diagonal(others, np.inf)
    pairs = np.sort(np.column_stack([np.arange(n), others.argmin(axis=1)]), axis=1)
    return np.unique(pairs, axis=0)


def misclassified(matrix: np.ndarray, objects: MarkedObjects) -> np.ndarray:
    """Whether the nearest kept other object is of another class; not where there is none."""
    kept = np.flatnonzero(objects.kept)
    if len(kept) == 0:
        return np.zeros(len(matrix), bool)
    others = matrix[:, kept].copy()
    others[kept, np.arange(len(kept))] = np.inf
    nearest = others.argmin(axis=1)
    judged = np.isfinite(others[np.arange(len(matrix)), nearest])
    return judged & (objects.codes[kept[nearest]] != objects.codes)


def _unit_square(points: np.ndarray) -> np.ndarray:
    low, spread = points.min(axis=0), np.ptp(points, axis=0)
    return (points - low) / np.where(spread > 0, spread, 1)


def _points_per_unit(places: np.ndarray, size: tuple[float, float]) -> float:
    """How large a unit is drawn on the shorter side."""
    spread = np.ptp(places, axis=0) + 1.6
    return float(min(size[0] / spread[0], size[1] / spread[1]))


def _draw_markers(ax: Axes, places: np.ndarray, objects: MarkedObjects, points: float) -> None:
    area = float(np.clip(points, 3.5, 8)) ** 2
    for code in range(len(objects.classes)):
        colour, shape = look(code)
        for is_kept in (False, True):
            shown = places[(objects.codes == code) & (objects.kept == is_kept)]
            ax.scatter(
                shown[:, 0],
                shown[:, 1],
                s=area,
                marker=shape,
                facecolors=colour if is_kept else "white",
                edgecolors=colour,
                linestyles="-" if is_kept else [DOTTED],
                linewidths=0.9,
                zorder=3,
            )


def _draw_series(ax: Axes, places: np.ndarray, objects: MarkedObjects, series: Any) -> None:
    from matplotlib.patches import Rectangle

    values = [np.asarray(one, float) for one in series]
    finite = [one[np.isfinite(one)] for one in values]
    low = min((one.min() for one in finite if one.size), default=0.0)
    high = max((one.max() for one in finite if one.size), default=1.0)
    for position, (x, y) in enumerate(places):
        colour, is_kept = COLOURS[objects.codes[position] % len(COLOURS)], bool(objects.kept[position])
        frame = Rectangle(
            (x - 0.5, y - 0.45),
            1,
            0.9,
            facecolor=_tint(colour, 0.3 if is_kept else 0.1),
            edgecolor=colour if is_kept else FAINT,
            linestyle="-" if is_kept else DOTTED,
            linewidth=0.8,
            zorder=2,
            gid="kept" if is_kept else "dropped",
        )
        ax.add_patch(frame)
        one = values[position]
        across = np.linspace(x - 0.44, x + 0.44, len(one))
        up = y - 0.38 + 0.76 * (one - low) / ((high - low) or 1)
        ax.plot(across, up, color=INK, linewidth=0.7, alpha=1 if is_kept else 0.5, zorder=3)


def _frame_legend(objects: MarkedObjects) -> tuple[list[Any], list[str]]:
    """Say what the frames of series mean, in the words of the legend of markers."""
    from matplotlib.patches import Patch

    _, names = class_legend(objects)
    handles = [
        Patch(facecolor=_tint(COLOURS[code % len(COLOURS)], 0.3), edgecolor=COLOURS[code % len(COLOURS)])
        for code in range(min(len(objects.classes), MOST_CLASSES))
    ]
    if len(objects.classes) > MOST_CLASSES:
        handles.append(Patch(visible=False))
    kept = Patch(facecolor="white", edgecolor=INK)
    dropped = Patch(facecolor="white", edgecolor=FAINT, linestyle=DOTTED)
    return [*handles, kept, dropped], names


def _tint(colour: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with white: edges behind must not shine through."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (1 - strength + strength * part for part in parts)
    return red, green, blue
