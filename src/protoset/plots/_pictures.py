"""Drawing of objects as themselves: images and curves in panels, rows of attributes as a table, strings as lines.

All positions are inches from the upper left corner of the axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from protoset.models.preparation import shares_text
from protoset.plots._style import FAINT_INK, INK, NORMAL_TYPE, SMALL_TYPE, channels_of, clean_text
from protoset.plots.series import common_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PictureKind = Literal["images", "series", "rows", "strings"]
PICTURE_KINDS: tuple[PictureKind, ...] = ("images", "series", "rows", "strings")
"""Ways to draw objects."""

PICTURE_WIDTH = 7.2
"""Width of the drawing, in inches."""

PANEL_WIDTH = 0.9
"""Width of a panel, in inches."""

CAPTION_HEIGHT = 0.2
"""Height of the caption below a panel, in inches."""

TABLE_HEADING = 0.3
"""Height of the heading of a class, in inches."""

TEXT_LINE = 0.19
"""Height of a line of a table, in inches."""

NAME_WIDTH = 1.35
"""Width of the first column of a table, in inches."""

MAX_COLUMNS = 8
"""Largest number of attributes in a table."""

MAX_STRING_LENGTH = 78
"""Characters of a string that fit in a line."""


@dataclass(frozen=True, eq=False)
class Card:
    """A prototype with its texts, and the real object beside it if the prototype moved."""

    picture: Any
    caption: str
    exemplar: Any = None
    exemplar_caption: str = ""


@dataclass(frozen=True, eq=False)
class CardGroup:
    """Prototypes of a class, with the heading and the colour of the class."""

    heading: str
    colour: str
    cards: list[Card]


def picture_height(kind: PictureKind, groups: Sequence[CardGroup], *, n_notes: int) -> float:
    """Height of the drawing, in inches."""
    height = TEXT_LINE * n_notes + TABLE_HEADING * len(groups)
    if kind in ("rows", "strings"):
        n_lines = sum(1 + (card.exemplar is not None) for group in groups for card in group.cards)
        return height + TEXT_LINE * (n_lines + (kind == "rows"))
    panel = _panel_height(kind, groups)
    return height + sum(-(-len(group.cards) // _cards_per_row(groups)) for group in groups) * panel


def draw_pictures(
    ax: Axes, kind: PictureKind, groups: Sequence[CardGroup], *, names: Sequence[Any], notes: Sequence[str]
) -> None:
    """Draw the groups below each other; ``names`` are those of the attributes of rows."""
    height = picture_height(kind, groups, n_notes=len(notes))
    ax.set_axis_off()
    ax.set_xlim(0, PICTURE_WIDTH)
    ax.set_ylim(height, 0)
    top = 0.0
    for note in notes:
        _write(ax, 0, top + TEXT_LINE / 2, note, color=FAINT_INK)
        top += TEXT_LINE
    if kind == "rows":
        _draw_table(ax, groups, names, top)
    elif kind == "strings":
        _draw_lines(ax, groups, top)
    else:
        _draw_panels(ax, kind, groups, top)


def _write(ax: Axes, x: float, y: float, text: str, **options: Any) -> None:
    shared: dict[str, Any] = {"fontsize": SMALL_TYPE, "color": INK, "va": "center"}
    ax.text(x, y, text, **(shared | options))


def _write_heading(ax: Axes, group: CardGroup, top: float) -> float:
    """Write the heading of a class, with a bar of its colour; returns where its cards begin."""
    middle = top + TABLE_HEADING / 2
    ax.plot([0.03, 0.03], [middle - 0.07, middle + 0.07], color=group.colour, linewidth=4, solid_capstyle="butt")
    _write(ax, 0.12, middle, group.heading, fontsize=NORMAL_TYPE)
    return top + TABLE_HEADING


# Panels


def _cards_per_row(groups: Sequence[CardGroup]) -> int:
    is_paired = any(card.exemplar is not None for group in groups for card in group.cards)
    return int(PICTURE_WIDTH / PANEL_WIDTH) // (2 if is_paired else 1)


def _panel_height(kind: PictureKind, groups: Sequence[CardGroup]) -> float:
    """Height of a panel with its caption; an image keeps its shape, up to twice as high as wide."""
    ratio = 0.7
    if kind == "images":
        ratio = max(card.picture.shape[0] / card.picture.shape[1] for group in groups for card in group.cards)
    return 0.92 * PANEL_WIDTH * min(ratio, 2.0) + CAPTION_HEIGHT


def _draw_panels(ax: Axes, kind: PictureKind, groups: Sequence[CardGroup], top: float) -> None:
    n_columns, height = _cards_per_row(groups), _panel_height(kind, groups)
    card_width = PICTURE_WIDTH / n_columns
    shown = [card.picture for group in groups for card in group.cards]
    real = [card.exemplar for group in groups for card in group.cards if card.exemplar is not None]
    shown += real
    bottom = ax.get_ylim()[0]
    # The range of real images: pixels of moved prototypes may leave it.
    limits = common_limits(shown) if kind == "series" else _grey_limits(real or shown)
    for group in groups:
        top = _write_heading(ax, group, top)
        for position, card in enumerate(group.cards):
            row, column = divmod(position, n_columns)
            left, upper = column * card_width, top + row * height
            parts = [(card.picture, card.caption, "prototype")]
            if card.exemplar is not None:
                parts.append((card.exemplar, card.exemplar_caption, "exemplar"))
            for slot, (picture, caption, role) in enumerate(parts):
                box = (left + slot * PANEL_WIDTH * 0.97, upper, 0.92 * PANEL_WIDTH, height - CAPTION_HEIGHT)
                panel = ax.inset_axes(_fractions(box, bottom))
                panel.set_gid(role)
                _draw_panel(panel, kind, picture, group.colour, limits, is_real=role == "exemplar")
                middle, below = box[0] + box[2] / 2, upper + height - CAPTION_HEIGHT
                _write(ax, middle, below + 0.09, caption, ha="center", fontsize=SMALL_TYPE - 0.5)
        top += -(-len(group.cards) // n_columns) * height


def _fractions(box: tuple[float, ...], height: float) -> tuple[float, float, float, float]:
    """Turn left, top, width and height in inches into left, bottom, width and height as parts of the axes."""
    bottom = 1 - (box[1] + box[3]) / height
    return box[0] / PICTURE_WIDTH, bottom, box[2] / PICTURE_WIDTH, box[3] / height


def _draw_panel(
    panel: Axes, kind: PictureKind, picture: Any, colour: str, limits: tuple[float, float], *, is_real: bool
) -> None:
    if kind == "images":
        panel.imshow(_as_colours(picture, limits), cmap="gray", vmin=limits[0], vmax=limits[1], aspect="equal")
    else:
        panel.plot(np.asarray(picture, float), color=FAINT_INK if is_real else colour, linewidth=1.0)
        panel.set_ylim(*limits)
        panel.margins(x=0.04)
    panel.set_xticks([])
    panel.set_yticks([])
    for spine in panel.spines.values():
        spine.set(color=FAINT_INK if is_real else colour, linewidth=0.7 if is_real else 1.2)
        spine.set_linestyle((0, (1, 2)) if is_real else "-")


def _grey_limits(images: Sequence[np.ndarray]) -> tuple[float, float]:
    values = np.concatenate([np.ravel(image) for image in images]) if images else np.zeros(1)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)


def _as_colours(image: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Colour images with values from 0 to 1; bytes are divided by 255, and moved prototypes may leave the range."""
    if image.ndim == 2:
        return image
    if limits[0] >= -1 and limits[1] <= 2:
        return np.clip(image, 0, 1)
    return np.clip(image / 255, 0, 1)


# Lines


def _draw_lines(ax: Axes, groups: Sequence[CardGroup], top: float) -> None:
    for group in groups:
        top = _write_heading(ax, group, top)
        for card in group.cards:
            _write(ax, 0.12, top + TEXT_LINE / 2, card.caption, color=FAINT_INK)
            text = clean_text(card.picture, MAX_STRING_LENGTH)
            _write(ax, NAME_WIDTH, top + TEXT_LINE / 2, text, family="monospace", gid="prototype")
            top += TEXT_LINE


def _draw_table(ax: Axes, groups: Sequence[CardGroup], names: Sequence[Any], top: float) -> None:
    from matplotlib.patches import Rectangle

    rows = [card.picture for group in groups for card in group.cards]
    columns = choose_columns([[card.picture for card in group.cards] for group in groups])
    width = min(1.3, (PICTURE_WIDTH - NAME_WIDTH) / len(columns))
    length = int(17 * width)
    shares = {column: _shares([row[column] for row in rows]) for column in columns}
    for slot, column in enumerate(columns):
        x = NAME_WIDTH + (slot + 0.5) * width
        _write(ax, x, top + TEXT_LINE / 2, clean_text(names[column], length), ha="center", color=FAINT_INK)
    top, number = top + TEXT_LINE, 0
    for group in groups:
        top = _write_heading(ax, group, top)
        for card in group.cards:
            _write(ax, 0.12, top + TEXT_LINE / 2, card.caption)
            for slot, column in enumerate(columns):
                x = NAME_WIDTH + slot * width
                share = shares[column][number]
                if np.isfinite(share):
                    colour = _tint(group.colour, 0.05 + 0.4 * share)
                    ax.add_patch(Rectangle((x, top), width, TEXT_LINE, facecolor=colour, edgecolor="white"))
                _write(
                    ax,
                    x + width / 2,
                    top + TEXT_LINE / 2,
                    _cell(card.picture[column], length),
                    ha="center",
                    gid="prototype",
                )
            top, number = top + TEXT_LINE, number + 1
            if card.exemplar is not None:
                _write(ax, 0.12, top + TEXT_LINE / 2, card.exemplar_caption, color=FAINT_INK, ha="left")
                for slot, column in enumerate(columns):
                    x = NAME_WIDTH + (slot + 0.5) * width
                    text = _cell(card.exemplar[column], length)
                    _write(ax, x, top + TEXT_LINE / 2, text, ha="center", color=FAINT_INK, gid="exemplar")
                top += TEXT_LINE


def choose_columns(groups: Sequence[Sequence[Sequence[Any]]]) -> list[int]:
    """Attributes to show: all, or of many those in which the classes differ most, the largest difference first."""
    n_columns = len(groups[0][0])
    if n_columns <= MAX_COLUMNS:
        return list(range(n_columns))
    scores = np.zeros(n_columns)
    for column in range(n_columns):
        values = [np.array([_number(row[column]) for row in rows]) for rows in groups]
        if all(np.isfinite(of_class).any() for of_class in values):
            spread = np.nanstd(np.concatenate(values))
            scores[column] = np.std([np.nanmean(of_class) for of_class in values]) / spread if spread > 0 else 0.0
    return np.argsort(-scores, kind="stable")[:MAX_COLUMNS].tolist()


def _number(value: Any) -> float:
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))
    return float(value) if is_number else np.nan


def _shares(values: Sequence[Any]) -> np.ndarray:
    """Where numbers are between the smallest and the largest of them, from 0 to 1; NaN for anything else."""
    numbers = np.array([_number(value) for value in values])
    finite = numbers[np.isfinite(numbers)]
    if len(finite) == 0 or finite.min() == finite.max():
        return np.full(len(numbers), np.nan)
    return (numbers - finite.min()) / (finite.max() - finite.min())


def _cell(value: Any, length: int) -> str:
    """Text of a value in a table, up to a length."""
    if isinstance(value, dict):
        return clean_text(shares_text(value), length)
    number = _number(value)
    if np.isfinite(number):
        return f"{number:.4g}"
    return "–" if value is None or value != value else clean_text(value, length)


def _tint(colour: str, strength: float) -> tuple[float, ...]:
    """Mix a colour with white."""
    return tuple(1 - strength + strength * channel for channel in channels_of(colour))
