"""Series in small panels: kept series plain, dropped series faded in dotted frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset.plots._checks import check_limit, mark_objects
from protoset.plots._display import Display
from protoset.plots._fitted import Fitted, labels_of
from protoset.plots._style import FAINT_INK, INK, NORMAL_TYPE, class_name, colour_and_shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADING_HEIGHT = 0.55
"""Height of the heading of a class, in heights of a panel."""


@dataclass(eq=False, repr=False)
class SeriesDisplay(Display):
    """The series of each class in small panels on a common scale, kept series first.

    Kept series are drawn without frames, dropped series faded in dotted frames, as in the paper. The heading of a class
    counts kept, dropped and hidden series.

    Parameters
    ----------
    series : sequence of arrays (n_points,) or (n_points, n_channels)
    labels : array-like of shape (n_series,)
    kept : array-like of int or bool
        Positions of the prototypes, or a mask with True for each prototype.
    classes : sequence, optional
        Classes to show, in this order; by default all classes, up to ``max_classes``.
    max_panels : int, default=32
        Largest number of panels of a class. At least a quarter of the panels show dropped series, if there are enough.
    max_classes : int, default=8
        Largest number of classes, if ``classes`` is None.
    n_columns : int, default=8
        Panels in a row.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``; each series has axes of its own in ``ax_.child_axes``.
    """

    series: Any
    labels: Any
    kept: Any
    classes: Sequence[Any] | None = None
    max_panels: int = 32
    max_classes: int = 8
    n_columns: int = 8

    def __post_init__(self) -> None:
        for name in ("max_panels", "max_classes", "n_columns"):
            check_limit(name, getattr(self, name))
        self._objects = objects = mark_objects(self.labels, self.kept)
        if len(self.series) != len(objects.codes):
            raise ValueError(
                f"series has {len(self.series)} entries for {len(objects.codes)} labels; pass one label per series"
            )
        codes = _chosen(objects.classes, self.classes)
        self._n_left_out = 0 if self.classes is not None else max(len(codes) - self.max_classes, 0)
        codes = codes[: len(codes) - self._n_left_out]
        self._shown = {code: _shown(objects.codes == code, objects.kept, self.max_panels) for code in codes}

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw the series that an estimator kept, and those that it dropped.

        Parameters
        ----------
        estimator : PrototypeClassifier, selector, Pipeline or DataModel
            Fitted; a Pipeline must end with a PrototypeClassifier or a selector. Of prototypes that moved, the nearest
            real series are shown; :class:`PrototypesDisplay` shows both.
        X, y : training series and their labels
        ax : matplotlib axes, optional
        **options
            ``classes``, ``max_panels``, ``max_classes`` and ``n_columns`` of the class.

        Returns
        -------
        SeriesDisplay
        """
        fitted = Fitted.of(estimator)
        curves = fitted.curves(X)
        kept = np.unique(fitted.training_rows(len(curves)))
        return cls(curves, labels_of(y, len(curves)), kept, **options).plot(ax)

    @classmethod
    def from_series(cls, series: Any, labels: Any, kept: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw series; the arguments are those of the class.

        Returns
        -------
        SeriesDisplay
        """
        return cls(series, labels, kept, **options).plot(ax)

    def _height(self) -> float:
        """Height in panels."""
        n_rows = sum(-(-len(members) // self.n_columns) for members in self._shown.values())
        return n_rows + HEADING_HEIGHT * (len(self._shown) + (self._n_left_out > 0))

    def _figure_size(self) -> tuple[float, float]:
        return 0.85 * self.n_columns, 0.62 * self._height()

    def _draw(self, ax: Axes) -> None:
        objects, height = self._objects, self._height()
        ax.set_axis_off()
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        limits = common_limits([self.series[member] for members in self._shown.values() for member in members])
        top = height
        for code, members in self._shown.items():
            is_class = objects.codes == code
            n_kept, n_all = int((is_class & objects.kept).sum()), int(is_class.sum())
            more = f", {n_all - len(members)} more not shown" if n_all > len(members) else ""
            top -= HEADING_HEIGHT
            heading = f"{class_name(objects.classes[code])}: {n_kept} kept of {n_all}{more}"
            ax.text(0, (top + 0.12) / height, heading, fontsize=NORMAL_TYPE, color=INK, va="bottom")
            for position, member in enumerate(members):
                row, column = divmod(position, self.n_columns)
                box = (column / self.n_columns, (top - row - 1) / height, 1 / self.n_columns, 1 / height)
                _draw_panel(ax, box, self.series[member], bool(objects.kept[member]), colour_and_shape(code)[0], limits)
            top -= -(-len(members) // self.n_columns)
        if self._n_left_out:
            text = f"and {self._n_left_out} more classes"
            ax.text(0, 0.12 / height, text, fontsize=NORMAL_TYPE, color=INK, va="bottom")


def _chosen(names: list[Any], classes: Sequence[Any] | None) -> list[int]:
    if classes is None:
        return list(range(len(names)))
    unknown = [name for name in classes if name not in names]
    if unknown:
        raise ValueError(f"classes has {unknown[0]!r}, which is not a label; choose from {names}")
    return [names.index(name) for name in classes]


def _shown(is_class: np.ndarray, is_kept: np.ndarray, most: int) -> list[int]:
    """Members of a class to show: kept ones first, with room for some dropped ones."""
    kept, dropped = np.flatnonzero(is_class & is_kept).tolist(), np.flatnonzero(is_class & ~is_kept).tolist()
    n_dropped = max(min(len(dropped), most // 4), min(len(dropped), most - len(kept)))
    return [*kept[: most - n_dropped], *dropped[:n_dropped]]


def common_limits(shown: Sequence[Any]) -> tuple[float, float]:
    """Lower and upper end of an axis that all curves fit in."""
    values = np.concatenate([np.ravel(np.asarray(curve, float)) for curve in shown]) if shown else np.empty(0)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.5
    return low - margin, high + margin


def _draw_panel(
    ax: Axes,
    box: tuple[float, float, float, float],
    curve: Any,
    is_kept: bool,
    colour: str,
    limits: tuple[float, float],
) -> None:
    left, bottom, width, height = box
    panel = ax.inset_axes((left + 0.04 * width, bottom + 0.06 * height, 0.92 * width, 0.88 * height))
    panel.set_gid("kept" if is_kept else "dropped")
    panel.plot(np.asarray(curve, float), color=colour, linewidth=1.0, alpha=1 if is_kept else 0.4)
    panel.set_ylim(*limits)
    panel.margins(x=0.04)
    panel.set_xticks([])
    panel.set_yticks([])
    for spine in panel.spines.values():
        spine.set_visible(not is_kept)
        spine.set(linestyle=(0, (1, 2)), linewidth=0.8, color=FAINT_INK)


plot_series = SeriesDisplay.from_estimator
