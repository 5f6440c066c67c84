"""Style of all plots: colours, shapes, axes and texts.

Figures are made without pyplot, so that no figure stays open and no window system is needed. Texts from data go
through ``clean_text``, so that matplotlib never reads them as formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from protoset._display import NO_NAME
from protoset._extras import how_to_install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLASS_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555", "#A89F00")
"""Okabe and Ito's colours, which colour-blind readers can tell apart. Black and yellow are changed for white paper."""

MARKER_SHAPES = ("o", "D", "s", "p", "^", "<", "v", ">")
"""Shapes of markers; each is wide enough for a number. Every second one differs most, see ``colour_and_shape``."""

MAX_LEGEND_CLASSES = 32
"""Largest number of classes that a legend names; further classes are counted."""

INK = "#222222"
"""Colour of texts and lines."""

FAINT_INK = "#8A8A8A"
"""Colour of lines in the background."""

GRID_COLOUR = "#E3E3E3"
"""Colour of the grid."""

SMALL_TYPE = 7.0
"""Size of ticks and legends, in points."""

NORMAL_TYPE = 8.5
"""Size of titles and names of axes, in points."""

MAX_TEXT_LENGTH = 28
"""Largest number of characters of a text; longer texts are cut."""


def colour_and_shape(position: int) -> tuple[str, str]:
    """Colour and shape of the class or method at a position. The first 64 pairs are different.

    Among the first 32, classes of one colour have circle, square and two triangles, or diamond, pentagon and two
    triangles, which differ even where markers are small.
    """
    turn, column = divmod(position, len(CLASS_COLOURS))
    return CLASS_COLOURS[column], MARKER_SHAPES[(column + 2 * turn + turn // 4) % len(MARKER_SHAPES)]


def class_marker(code: int, **options: Any) -> Any:
    """Handle of a class in a legend: a marker of its colour and shape."""
    from matplotlib.lines import Line2D

    colour, shape = colour_and_shape(code)
    return Line2D([], [], linestyle="", marker=shape, color=colour, markersize=5, **options)


def class_legend(classes: Sequence[Any], codes: np.ndarray) -> tuple[list[Any], list[str]]:
    """Handles and names of the classes for a legend, each with its number of objects."""
    from matplotlib.lines import Line2D

    sizes = np.bincount(codes, minlength=len(classes))
    shown = range(min(len(classes), MAX_LEGEND_CLASSES))
    handles = [class_marker(code) for code in shown]
    names = [f"{class_name(classes[code])} ({sizes[code]})" for code in shown]
    if len(classes) > len(shown):
        handles.append(Line2D([], [], linestyle=""))
        names.append(f"and {len(classes) - len(shown)} more classes")
    return handles, names


def legend_height(n_names: int, columns: int = 4) -> float:
    """Height of a legend in inches, for the size of a new figure."""
    return 0.145 * -(-n_names // columns)


def channels_of(colour: str) -> list[float]:
    """Red, green and blue of a colour such as "#0072B2", from 0 to 1."""
    return [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]


def text_colour_on(colour: str) -> str:
    """Colour of a text on a coloured background: dark or white."""
    red, green, blue = channels_of(colour)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


def clean_text(text: Any, most: int = MAX_TEXT_LENGTH) -> str:
    """Text for a figure: a single short line without control characters, in which dollar signs start no formula."""
    line = " ".join(str(text).split())
    line = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)
    if len(line) > most:
        line = line[: most - 1] + "…"
    return line.replace("$", r"\$")


def class_name(label: Any, most: int = 20) -> str:
    """Name of a class: its label, with the word "class" before a label that is not a text."""
    return (clean_text(label, most) or NO_NAME) if isinstance(label, str) else f"class {clean_text(label, most)}"


def check_matplotlib() -> None:
    """Raise ImportError if matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(f"plots need matplotlib, which is not installed; {how_to_install('plots')}") from error


def check_axes(ax: Axes | None) -> None:
    """Check, before any work, that matplotlib is installed and that axes are axes, or None."""
    check_matplotlib()
    if ax is not None and not hasattr(ax, "inset_axes"):
        raise TypeError(f"ax={ax!r} must be matplotlib axes; pass None for a new figure")


def open_axes(ax: Axes | None, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """Return the given axes and their figure, or new axes in a figure of a size in inches."""
    check_axes(ax)
    from matplotlib.figure import Figure

    if ax is None:
        figure = Figure(figsize=size, dpi=150, layout="constrained")
        return figure, figure.add_subplot()
    parent: Any = ax.figure
    while not isinstance(parent, Figure):  # a subfigure
        parent = parent.figure
    return parent, ax


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Width and height of axes in points, estimated before the layout."""
    box = ax.get_window_extent()
    return box.width * 72 / ax.figure.dpi, box.height * 72 / ax.figure.dpi


def label_axes(
    ax: Axes, *, xlabel: str = "", ylabel: str = "", title: str = "", grid: Literal["x", "y", "both"] | None = None
) -> None:
    """Set the texts and the grid of axes, and hide the upper and the right frame."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL_TYPE, length=3)
    ax.set_xlabel(xlabel, fontsize=NORMAL_TYPE)
    ax.set_ylabel(ylabel, fontsize=NORMAL_TYPE)
    if title:
        ax.set_title(title, fontsize=NORMAL_TYPE, loc="left")
    if grid:
        ax.grid(axis=grid, color=GRID_COLOUR, linewidth=0.6)
    ax.set_axisbelow(True)


def add_legend(
    ax: Axes, handles: Sequence[Any], labels: Sequence[str], *, columns: int = 4, below: bool = False
) -> None:
    """Draw a legend above or below the axes, in as many columns as fit. Axes may have one of each."""
    if not handles:
        return
    columns = _columns_that_fit(labels, min(columns, len(labels)), _legend_room(ax))
    earlier = ax.get_legend()
    legend = ax.legend(
        handles,
        # The labels are set below: matplotlib leaves out labels that begin with an underscore.
        [str(position) for position in range(len(handles))],
        loc="upper left" if below else "lower left",
        bbox_to_anchor=(0, -0.01 if below else 1.01),
        ncols=columns,
        fontsize=SMALL_TYPE,
        frameon=False,
        borderaxespad=0,
        handletextpad=0.4,
        columnspacing=1.2,
    )
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)
    if earlier is not None:
        ax.add_artist(earlier)
        # Artists that are clipped to the axes have no room of their own in the layout.
        earlier.set_clip_on(False)


def _columns_that_fit(labels: Sequence[str], most: int, room: float) -> int:
    """Largest number of columns of a legend that fit in a width in points, by the longest label of each column."""
    lengths = np.array([len(label) for label in labels])
    for columns in range(most, 1, -1):
        longest = np.array([column.max() for column in np.array_split(lengths, columns)])
        if (0.58 * SMALL_TYPE * longest + 4 * SMALL_TYPE).sum() <= room:
            return columns
    return 1


def _legend_room(ax: Axes) -> float:
    """Width for a legend, in points; the layout widens axes that are alone in a figure."""
    figure = ax.figure
    is_alone = len(figure.axes) == 1 and figure.get_layout_engine() is not None
    return figure.bbox.width * 72 / figure.dpi - 50 if is_alone else size_in_points(ax)[0]
