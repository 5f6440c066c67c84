"""Labels beside points, placed so that they do not cover each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from protoset.plots._style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABEL_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Sides of a point where its label may be, best first."""


def label_points(
    ax: Axes, points: np.ndarray, labels: Sequence[str], *, size: float, avoid: Sequence[np.ndarray], gap: float = 5
) -> None:
    """Write labels beside points, each on the side where it covers least. Set the limits of the axes before.

    Size of the type and gap to the point are in typographic points; ``avoid`` has the corners of each line that
    labels should not cover. Widths are estimated from the number of characters: measuring them would need a drawing.
    """
    ax.autoscale_view()
    centres = ax.transData.transform(points) * 72 / ax.figure.dpi
    taken = [(x - gap, y - gap, x + gap, y + gap) for x, y in centres]
    for line in avoid:
        corners = ax.transData.transform(line) * 72 / ax.figure.dpi
        for start, end in itertools.pairwise(corners):
            along = start + np.linspace(0, 1, 40)[:, None] * (end - start)
            taken += [(x - 1, y - 1, x + 1, y + 1) for x, y in along]
    frame = ax.get_window_extent()
    low, high = np.array([[frame.x0, frame.y0], [frame.x1, frame.y1]]) * 72 / ax.figure.dpi
    for (x, y), point, label in zip(centres, points, labels, strict=True):
        width, height = 0.6 * size * len(label), 1.25 * size
        costs, boxes = [], []
        for across, up in LABEL_SIDES:
            left = x + across * gap - width * (1 - across) / 2
            bottom = y + up * gap - height * (1 - up) / 2
            box = (left, bottom, left + width, bottom + height)
            outside = max(low[0] - box[0], 0) + max(box[2] - high[0], 0) + max(low[1] - box[1], 0)
            costs.append(sum(_shared_area(box, other) for other in taken) + 10 * (outside + max(box[3] - high[1], 0)))
            boxes.append(box)
        best = int(np.argmin(np.round(costs, 1)))
        across, up = LABEL_SIDES[best]
        taken.append(boxes[best])
        ax.annotate(
            label,
            point,
            (across * gap, up * gap),
            textcoords="offset points",
            ha={1: "left", 0: "center", -1: "right"}[across],
            va={1: "bottom", 0: "center", -1: "top"}[up],
            fontsize=size,
            color=INK,
        )


def _shared_area(box: tuple[float, ...], other: tuple[float, ...]) -> float:
    across = min(box[2], other[2]) - max(box[0], other[0])
    up = min(box[3], other[3]) - max(box[1], other[1])
    return max(across, 0) * max(up, 0)
