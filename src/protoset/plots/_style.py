"""Style of all plots: colours, shapes, axes and texts.

Figures are made without pyplot, so that no figure stays open and no window system is needed. Texts from data go
through ``clean_text``, so that matplotlib never reads them as formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLASS_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555", "#A89F00")
"""Okabe and Ito's colours, which colour-blind readers can tell apart. Black and yellow are changed for white paper."""

MARKER_SHAPES = ("o", "s", "D", "^", "v", "p", "h", "8")
"""Shapes of markers; each is wide enough for a number."""

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
"""Longer texts are cut to so many characters."""


def colour_and_shape(position: int) -> tuple[str, str]:
    """Colour and shape of the class or method at a position. The first 64 pairs are different."""
    return CLASS_COLOURS[position % len(CLASS_COLOURS)], MARKER_SHAPES[
        (position + position // len(CLASS_COLOURS)) % len(MARKER_SHAPES)
    ]


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
    return clean_text(label, most) if isinstance(label, str) else f"class {clean_text(label, most)}"


def check_matplotlib() -> None:
    """Raise ImportError if matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError("plots need matplotlib, which is not installed; pip install 'protoset[plots]'") from error


def open_axes(ax: Axes | None, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """Return the given axes and their figure, or new axes in a figure of a size in inches."""
    check_matplotlib()
    from matplotlib.figure import Figure

    if ax is None:
        figure = Figure(figsize=size, dpi=150, layout="constrained")
        return figure, figure.add_subplot()
    if not hasattr(ax, "inset_axes"):
        raise TypeError(f"ax={ax!r} must be matplotlib axes; pass None for a new figure")
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


def add_legend(ax: Axes, handles: Sequence[Any], labels: Sequence[str], *, columns: int = 4) -> None:
    """Draw a legend above the axes, in as many columns as fit."""
    if not handles:
        return
    needed = 0.6 * SMALL_TYPE * max(map(len, labels)) + 4 * SMALL_TYPE
    columns = max(1, min(columns, len(handles), int(size_in_points(ax)[0] / needed)))
    legend = ax.legend(
        handles,
        # The labels are set below: matplotlib leaves out labels that begin with an underscore.
        [str(position) for position in range(len(handles))],
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        ncols=columns,
        fontsize=SMALL_TYPE,
        frameon=False,
        borderaxespad=0,
        handletextpad=0.4,
        columnspacing=1.2,
    )
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)
