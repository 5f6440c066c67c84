"""Relevances: which attributes matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from protoset._validation import as_numbers
from protoset.plots._checks import check_limit
from protoset.plots._style import CLASS_COLOURS, INK, SMALL_TYPE, clean_text, label_axes, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_relevances(relevances: Any, *, names: Any = None, n_shown: int = 20, ax: Axes | None = None) -> Figure:
    """Draw the scale that was learned for each attribute, largest first, with a line at 1.

    Parameters
    ----------
    relevances : PrototypeClassifier, Adaptation or array-like of shape (n_attributes,)
        A classifier fitted with ``adapt={"relevances": True}``, the result of ``adapt(..., relevances=True)``, or their
        relevances.
    names : sequence, optional
        Names of the attributes (of series, of the channels). By default the column names that the classifier was
        fitted on, or positions.
    n_shown : int
        Largest number of attributes to show. The axis says how many more there are.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure

    Notes
    -----
    The mean of all relevances is 1. An attribute above 1 matters more than in the plain distance, one below 1 less.
    """
    check_limit("n_shown", n_shown)
    scales, fitted_names = _read_relevances(relevances)
    names = fitted_names if names is None else names
    names = [f"attribute {position}" for position in range(len(scales))] if names is None else list(names)
    if len(names) != len(scales):
        raise ValueError(f"names has {len(names)} entries for {len(scales)} relevances; pass one name per attribute")
    order = np.argsort(-scales, kind="stable")
    shown = order[:n_shown]
    figure, ax = open_axes(ax, (4.2, max(1.4, 0.19 * len(shown) + 0.8)))
    up = -np.arange(len(shown))
    ax.barh(up, scales[shown], height=0.7, color=CLASS_COLOURS[0])
    ax.axvline(1, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
    n_more = len(order) - len(shown)
    more = f"\n{n_more} more {'attributes' if n_more > 1 else 'attribute'} not shown" if n_more else ""
    label_axes(ax, xlabel=f"relevance, 1 on average{more}", grid="x")
    ax.set_yticks(up, [clean_text(names[position]) for position in shown], fontsize=SMALL_TYPE)
    ax.set_ylim(up[-1] - 0.6, 0.6)
    ax.set_xlim(0, 1.05 * max(1.0, float(scales.max())))
    return figure


def _read_relevances(relevances: Any) -> tuple[np.ndarray, Any]:
    """Return relevances, checked, and the names of the columns where a classifier knows them."""
    values, names = relevances, getattr(relevances, "feature_names_in_", None)
    for attribute in ("relevances_", "relevances"):
        if hasattr(relevances, attribute):
            values = getattr(relevances, attribute)
            break
    if values is None:
        raise ValueError(
            "relevances are None: no scales were learned; fit PrototypeClassifier(adapt={'relevances': True})"
        )
    scales = as_numbers("relevances", values)
    if scales.ndim != 1 or len(scales) == 0 or not (np.isfinite(scales) & (scales >= 0)).all():
        raise ValueError(
            f"relevances has the shape {scales.shape}, or numbers that are negative, infinite or missing; pass one "
            "scale per attribute"
        )
    return scales, names
