"""Confusion matrices before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from protoset.evaluation import error_rate
from protoset.plots._style import INK, NORMAL, SMALL, bare, open_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NUMBERS, MOST_NAMES = 12, 30
"""Classes up to which cells have numbers, and up to which rows and columns have names."""


def plot_confusion(
    y_true: Any,
    everything: Any,
    prototypes: Any,
    *,
    names: tuple[str, str] = ("everything", "prototypes"),
    ax: Axes | None = None,
) -> Figure:
    """Draw which class is taken for which, with the whole training set and with the prototypes.

    A cell is as dark as its share of its row, the true class; its number counts objects.

    Parameters
    ----------
    y_true : array-like of shape (n_objects,)
        Labels of the test objects.
    everything, prototypes : array-like of shape (n_objects,)
        What 1-NN predicts with the whole training set, and with the prototypes.
    names : (str, str)
        What to call the two.
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
    shown_names = [plain(name, 12) for name in classes.tolist()]
    longest = 0.07 * max(map(len, shown_names))
    figure, ax = open_axes(ax, (2 * side + 1 + longest, side + 1.15 + longest))
    bare(ax)
    for half, (predicted, error, name) in enumerate(zip(predictions, errors, names, strict=True)):
        panel = ax.inset_axes((0.53 * half, 0, 0.47, 0.96))
        counts = np.zeros((k, k), int)
        np.add.at(counts, (np.searchsorted(classes, true), np.searchsorted(classes, predicted)), 1)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        panel.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="equal")
        if k <= MOST_NUMBERS:
            for i, j in np.argwhere(counts):
                ink = "white" if shares[i, j] > 0.55 else INK
                panel.text(j, i, str(counts[i, j]), ha="center", va="center", fontsize=SMALL, color=ink)
        ticks = range(k) if k <= MOST_NAMES else []
        turned = max(map(len, shown_names)) > 3
        panel.set_xticks(ticks, shown_names if ticks else [], rotation=90 if turned else 0, fontsize=SMALL)
        panel.set_yticks(ticks, shown_names if ticks and half == 0 else [""] * len(ticks), fontsize=SMALL)
        panel.tick_params(length=0)
        panel.set_xlabel("predicted", fontsize=SMALL)
        panel.set_ylabel("true" if half == 0 else "", fontsize=SMALL)
        panel.set_title(f"{plain(name)}\nerror {error:.3f}", fontsize=NORMAL, loc="left")
    return figure
