"""Confusion matrices with the whole training set and with the prototypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from protoset.evaluation import error_rate
from protoset.plots._style import INK, NORMAL_TYPE, SMALL_TYPE, clean_text, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_NUMBERED_CLASSES = 12
"""Largest number of classes for which cells show numbers."""

MAX_NAMED_CLASSES = 30
"""Largest number of classes for which rows and columns have names."""


def plot_confusion(
    y_true: Any,
    everything: Any,
    prototypes: Any,
    *,
    names: tuple[str, str] = ("everything", "prototypes"),
    ax: Axes | None = None,
) -> Figure:
    """Draw the confusion matrices with the whole training set and with the prototypes.

    Rows are true classes. The darker a cell, the larger its share of its row; its number counts objects.

    Parameters
    ----------
    y_true : array-like of shape (n_objects,)
        Labels of the test objects.
    everything, prototypes : array-like of shape (n_objects,)
        Predicted labels of 1-NN with the whole training set, and with the prototypes.
    names : (str, str)
        Titles of the two matrices.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure
    """
    predictions = [np.asarray(everything), np.asarray(prototypes)]
    errors = [error_rate(y_true, predicted) for predicted in predictions]
    true = np.asarray(y_true)
    classes = np.unique(np.concatenate([true, *predictions]))
    k = len(classes)
    side = min(max(1.6, 0.3 * k), 4.5)
    shown_names = [clean_text(name, 12) for name in classes.tolist()]
    longest = 0.07 * max(map(len, shown_names))
    figure, ax = open_axes(ax, (2 * side + 1 + longest, side + 1.15 + longest))
    ax.set_axis_off()
    for half, (predicted, error, name) in enumerate(zip(predictions, errors, names, strict=True)):
        panel = ax.inset_axes((0.53 * half, 0, 0.47, 0.96))
        counts = np.zeros((k, k), int)
        np.add.at(counts, (np.searchsorted(classes, true), np.searchsorted(classes, predicted)), 1)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        panel.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="equal")
        if k <= MAX_NUMBERED_CLASSES:
            for i, j in np.argwhere(counts):
                ink = "white" if shares[i, j] > 0.55 else INK
                panel.text(j, i, str(counts[i, j]), ha="center", va="center", fontsize=SMALL_TYPE, color=ink)
        ticks = range(k) if k <= MAX_NAMED_CLASSES else []
        turned = max(map(len, shown_names)) > 3
        panel.set_xticks(ticks, shown_names if ticks else [], rotation=90 if turned else 0, fontsize=SMALL_TYPE)
        panel.set_yticks(ticks, shown_names if ticks and half == 0 else [""] * len(ticks), fontsize=SMALL_TYPE)
        panel.tick_params(length=0)
        panel.set_xlabel("predicted", fontsize=SMALL_TYPE)
        panel.set_ylabel("true" if half == 0 else "", fontsize=SMALL_TYPE)
        panel.set_title(f"{clean_text(name)}\nerror {error:.3f}", fontsize=NORMAL_TYPE, loc="left")
    return figure
