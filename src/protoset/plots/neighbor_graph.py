"""The nearest-neighbour graph of the training set, with kept, dropped and misclassified objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset.plots._checks import CheckedDissimilarities, MarkedObjects, mark_objects, misclassified
from protoset.plots._display import Display
from protoset.plots._fitted import Fitted, labels_of
from protoset.plots._style import (
    FAINT_INK,
    INK,
    MAX_LEGEND_CLASSES,
    add_legend,
    channels_of,
    check_axes,
    class_legend,
    colour_and_shape,
    legend_height,
    size_in_points,
)
from protoset.plots.layout import classical_scaling, untangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_GRAPH_OBJECTS = 1000
"""Largest number of objects for which the graph is readable."""

DOTTED_LINE = (0, (1, 1.2))
"""Line style of dropped objects."""


@dataclass(eq=False, repr=False)
class NeighborGraphDisplay(Display):
    """The nearest-neighbour graph: an edge from every object to its nearest neighbour.

    Kept objects are filled; dropped objects are hollow and dotted. Colour and shape show the class; edges between
    classes are dark. A cross marks training objects that 1-NN with the kept objects misclassifies, by leave-one-out.
    The share of crosses is not an error of the set, because these objects were used in the selection. Of equally near
    neighbours, the first is used. Coordinates come from classical multidimensional scaling, and overlapping objects are
    moved apart: near objects are similar, but distant objects are not always different.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects), or Space
        Dissimilarities among the training objects, at most 1,000.
    labels : array-like of shape (n_objects,)
    kept : array-like of int or bool
        Positions of the prototypes, or a mask with True for each prototype.
    series : sequence of arrays (n_points,), optional
        Series to draw instead of markers, as in the paper: on the colour of their class, dropped series in dotted
        frames.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``.
    """

    dissimilarities: Any
    labels: Any
    kept: Any
    series: Any = None

    def __post_init__(self) -> None:
        self._objects = mark_objects(self.labels, self.kept)
        n = len(self._objects.codes)
        if n > MAX_GRAPH_OBJECTS:
            raise ValueError(
                f"dissimilarities has {n} objects, but a graph of more than {MAX_GRAPH_OBJECTS} is not readable; pass "
                "fewer objects, or use PrototypeMapDisplay"
            )
        if self.series is not None and len(self.series) != n:
            raise ValueError(f"series has {len(self.series)} entries for {n} labels; pass one series per label")
        self.dissimilarities = CheckedDissimilarities(self.dissimilarities, n).square()

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, series: bool = False, ax: Axes | None = None) -> Self:
        """Draw the graph of the training objects of an estimator.

        Parameters
        ----------
        estimator : PrototypeClassifier, selector, Pipeline or DataModel
            Fitted; a Pipeline must end with a PrototypeClassifier or a selector. Of prototypes that moved, the nearest
            real objects are marked as kept.
        X, y : training objects and their labels
            At most 1,000.
        series : bool, default=False
            Whether to draw series themselves, instead of markers.
        ax : matplotlib axes, optional

        Returns
        -------
        NeighborGraphDisplay
        """
        check_axes(ax)
        fitted = Fitted.of(estimator)
        space = fitted.space(fitted.prepare(X), y)
        n = space.shape[0]
        kept = np.unique(fitted.training_rows(n))
        return cls(space, labels_of(y, n), kept, fitted.curves(X) if series else None).plot(ax)

    @classmethod
    def from_distances(
        cls, dissimilarities: Any, labels: Any, kept: Any, *, series: Any = None, ax: Axes | None = None
    ) -> Self:
        """Draw the graph of objects whose dissimilarities are known; the arguments are those of the class.

        Returns
        -------
        NeighborGraphDisplay
        """
        return cls(dissimilarities, labels, kept, series).plot(ax)

    def _figure_size(self) -> tuple[float, float]:
        width, height = (6.4, 5.0) if self.series is None else (9.0, 6.4)
        return width, height + legend_height(min(len(self._objects.classes), MAX_LEGEND_CLASSES), columns=5)

    def _draw(self, ax: Axes) -> None:
        objects, matrix, series = self._objects, self.dissimilarities, self.series
        n = len(matrix)
        edges, wrong = nearest_edges(matrix), misclassified(CheckedDissimilarities(matrix, n), objects)
        ax.set_axis_off()
        # The more objects, the smaller each is drawn; a series needs more room than a marker.
        size = size_in_points(ax)
        share = (0.16 if series is None else 0.4) / n
        width, height = np.sqrt(share * size[1] / size[0]), np.sqrt(share * size[0] / size[1])
        if series is not None:
            width, height = width * 1.25, height / 1.25
        points = untangle(_unit_square(classical_scaling(matrix)), edges, (width, height))
        for start, end in edges:
            same = objects.codes[start] == objects.codes[end]
            ax.plot(*points[[start, end]].T, color=FAINT_INK if same else INK, linewidth=0.7, zorder=1, gid="edge")
        if series is None:
            _draw_markers(ax, points, objects, 0.55 * _points_per_unit(points, size))
        else:
            _draw_series(ax, points, objects, series)
        handles, names = _legend(objects, framed=series is not None)
        at = points[wrong] + ([0, 0] if series is None else [0.42, 0.36])
        crossed = ax.scatter(at[:, 0], at[:, 1], marker="x", s=18, color=INK, linewidths=1, zorder=5)
        if wrong.any():
            handles, names = [*handles, crossed], [*names, f"misclassified ({wrong.sum()})"]
        low, high = points.min(axis=0) - 0.8, points.max(axis=0) + 0.8
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
        add_legend(ax, handles, names, columns=5)


def nearest_edges(matrix: np.ndarray) -> np.ndarray:
    """Edges from every object to its nearest neighbour; mutual neighbours give a single edge."""
    n = len(matrix)
    if n < 2:
        return np.empty((0, 2), int)
    others = matrix.copy()
    np.fill_diagonal(others, np.inf)
    pairs = np.sort(np.column_stack([np.arange(n), others.argmin(axis=1)]), axis=1)
    return np.unique(pairs, axis=0)


def _unit_square(points: np.ndarray) -> np.ndarray:
    low, spread = points.min(axis=0), np.ptp(points, axis=0)
    return (points - low) / np.where(spread > 0, spread, 1)


def _points_per_unit(points: np.ndarray, size: tuple[float, float]) -> float:
    """Size of a unit in typographic points, on the shorter side."""
    spread = np.ptp(points, axis=0) + 1.6
    return float(min(size[0] / spread[0], size[1] / spread[1]))


def _draw_markers(ax: Axes, points: np.ndarray, objects: MarkedObjects, size: float) -> None:
    area = float(np.clip(size, 3.5, 8)) ** 2
    for code in range(len(objects.classes)):
        colour, shape = colour_and_shape(code)
        for is_kept in (False, True):
            shown = points[(objects.codes == code) & (objects.kept == is_kept)]
            ax.scatter(
                shown[:, 0],
                shown[:, 1],
                s=area,
                marker=shape,
                facecolors=colour if is_kept else "white",
                edgecolors=colour,
                linestyles="-" if is_kept else [DOTTED_LINE],
                linewidths=0.9,
                zorder=3,
            )


def _draw_series(ax: Axes, points: np.ndarray, objects: MarkedObjects, series: Any) -> None:
    from matplotlib.patches import Rectangle

    curves = [np.asarray(curve, float) for curve in series]
    finite = [curve[np.isfinite(curve)] for curve in curves]
    low = min((values.min() for values in finite if values.size), default=0.0)
    high = max((values.max() for values in finite if values.size), default=1.0)
    for position, (x, y) in enumerate(points):
        colour, is_kept = colour_and_shape(objects.codes[position])[0], bool(objects.kept[position])
        frame = Rectangle(
            (x - 0.5, y - 0.45),
            1,
            0.9,
            facecolor=_tint(colour, 0.3 if is_kept else 0.1),
            edgecolor=colour if is_kept else FAINT_INK,
            linestyle="-" if is_kept else DOTTED_LINE,
            linewidth=0.8,
            zorder=2,
            gid="kept" if is_kept else "dropped",
        )
        ax.add_patch(frame)
        curve = curves[position]
        across = np.linspace(x - 0.44, x + 0.44, len(curve))
        up = y - 0.38 + 0.76 * (curve - low) / ((high - low) or 1)
        ax.plot(across, up, color=INK, linewidth=0.7, alpha=1 if is_kept else 0.5, zorder=3)


def _legend(objects: MarkedObjects, *, framed: bool) -> tuple[list[Any], list[str]]:
    """Handles and names of a legend: classes, kept and dropped; ``framed`` for series on the colour of their class."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles, names = class_legend(objects.classes, objects.codes)
    n_kept = int(objects.kept.sum())
    names += [f"kept ({n_kept})", f"dropped ({len(objects.kept) - n_kept})"]
    if not framed:
        for face in (FAINT_INK, "none"):
            circle = Line2D([], [], linestyle="", marker="o", color=FAINT_INK, markerfacecolor=face, markersize=5)
            handles.append(circle)
        return handles, names
    for code in range(min(len(objects.classes), MAX_LEGEND_CLASSES)):
        colour = colour_and_shape(code)[0]
        handles[code] = Patch(facecolor=_tint(colour, 0.3), edgecolor=colour)
    kept = Patch(facecolor="white", edgecolor=INK)
    return [*handles, kept, Patch(facecolor="white", edgecolor=FAINT_INK, linestyle=DOTTED_LINE)], names


def _tint(colour: str, strength: float) -> tuple[float, float, float]:
    """Mix a colour with white. The result is opaque, so that edges behind it stay hidden."""
    red, green, blue = (1 - strength + strength * channel for channel in channels_of(colour))
    return red, green, blue


plot_neighbor_graph = NeighborGraphDisplay.from_estimator
