"""What all plots share: colours, shapes, axes and texts.

Figures are made without pyplot, so that nothing stays open and no window system is needed. Texts from data are
cleaned by ``plain`` and never read as formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555", "#A89F00")
"""Okabe and Ito's colours, which colour-blind people tell apart; black and yellow toned to be seen on white."""

SHAPES = ("o", "s", "D", "^", "v", "p", "h", "8")
"""All of them wide enough for a number."""

INK, FAINT, GRID = "#222222", "#8A8A8A", "#E3E3E3"

SMALL, NORMAL = 7.0, 8.5
"""Sizes of type in points."""

LONGEST_TEXT = 28


def look(position: int) -> tuple[str, str]:
    """Colour and shape of the class or method at a position; 64 pairs before one comes back."""
    return COLOURS[position % len(COLOURS)], SHAPES[(position + position // len(COLOURS)) % len(SHAPES)]


def ink_on(colour: str) -> str:
    """Black or white, whichever is read better on a colour."""
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


def plain(text: Any, most: int = LONGEST_TEXT) -> str:
    """Text for a picture: one line, of bounded length, without control characters, dollars not read as formulas."""
    line = " ".join(str(text).split())
    line = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)
    if len(line) > most:
        line = line[: most - 1] + "…"
    return line.replace("$", r"\$")


def class_name(label: Any, most: int = 20) -> str:
    """What to call a class: a label that is a number is named as what it is."""
    return plain(label, most) if isinstance(label, str) else f"class {plain(label, most)}"


def check_matplotlib() -> None:
    """Refuse to go on where nothing can be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError("plots need matplotlib, which is not installed; pip install 'protoset[plots]'") from error


def open_axes(ax: Axes | None, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """Axes to draw on and their figure: the given ones, or new ones of a size in inches."""
    check_matplotlib()
    from matplotlib.figure import Figure

    if ax is None:
        figure = Figure(figsize=size, dpi=150, layout="constrained")
        return figure, figure.add_subplot()
    if not hasattr(ax, "inset_axes"):
        raise TypeError(f"ax={ax!r} must be matplotlib axes, or None for a figure of its own")
    around: Any = ax.figure
    while not isinstance(around, Figure):  # a part of a figure
        around = around.figure
    return around, ax


def size_of(ax: Axes) -> tuple[float, float]:
    """Width and height of axes in points, as far as known before the layout."""
    box = ax.get_window_extent()
    return box.width * 72 / ax.figure.dpi, box.height * 72 / ax.figure.dpi


def tidy(
    ax: Axes, *, xlabel: str = "", ylabel: str = "", title: str = "", grid: Literal["x", "y", "both"] | None = None
) -> None:
    """Label axes and leave out what distracts."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL, length=3)
    ax.set_xlabel(xlabel, fontsize=NORMAL)
    ax.set_ylabel(ylabel, fontsize=NORMAL)
    if title:
        ax.set_title(title, fontsize=NORMAL, loc="left")
    if grid:
        ax.grid(axis=grid, color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)


def bare(ax: Axes) -> None:
    """Leave only what is drawn by hand."""
    ax.set_axis_off()


def add_legend(ax: Axes, handles: Sequence[Any], labels: Sequence[str], *, columns: int = 4) -> None:
    """Legend above the axes, in as many columns as fit.

    Labels are set afterwards: matplotlib leaves out those that begin with an underscore.
    """
    if not handles:
        return
    needed = 0.6 * SMALL * max(map(len, labels)) + 4 * SMALL
    columns = max(1, min(columns, len(handles), int(size_of(ax)[0] / needed)))
    legend = ax.legend(
        handles,
        [str(position) for position in range(len(handles))],
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
        borderaxespad=0,
        handletextpad=0.4,
        columnspacing=1.2,
    )
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)
