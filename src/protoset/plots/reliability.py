"""Reliability: whether predicted probabilities are as frequent as they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from protoset._validation import as_numbers
from protoset.evaluation import ErrorEstimate, estimate_error
from protoset.plots._checks import check_limit
from protoset.plots._labels import label_points
from protoset.plots._style import CLASS_COLOURS, FAINT_INK, SMALL_TYPE, add_legend, label_axes, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_reliability(classifier: Any, X: Any, y: Any, *, n_bins: int = 10, ax: Axes | None = None) -> Figure:
    """Draw how often predictions are right against the probabilities that they have, with the diagonal.

    Parameters
    ----------
    classifier : PrototypeClassifier or DataModel
        Fitted and calibrated; any classifier with ``predict_proba`` and ``classes_``.
    X : objects
        Objects that took no part in the fit, as for ``predict_proba``.
    y : array-like of shape (n_objects,)
        Their labels. A label that the classifier does not know counts as a wrong prediction.
    n_bins : int, default=10
        Bins at most. The objects are sorted by the probability of the predicted class, and divided into bins of equal
        count; equal probabilities stay in one bin.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib Figure

    Notes
    -----
    A point is the mean probability in a bin and the share of right predictions there, with the Wilson interval at
    95 %. The legend says how many objects a bin has; where bins differ, each has its number. Points on the diagonal
    are calibrated; below it, predictions are less often right than their probabilities say.
    """
    check_limit("n_bins", n_bins)
    certainty, is_right = _read_predictions(classifier, X, y)
    bins = equal_bins(certainty, n_bins)
    means = np.array([certainty[rows].mean() for rows in bins])
    # The interval of the share of right predictions is that of the errors, seen from the other side.
    estimates = [estimate_error(int((~is_right[rows]).sum()), len(rows)) for rows in bins]
    figure, ax = open_axes(ax, (3.9, 3.6))
    low = _lower_limit(means, estimates)
    diagonal = ax.plot([low, 1], [low, 1], color=FAINT_INK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)[0]
    shares = np.array([1 - estimate.error for estimate in estimates])
    reach = [
        [share - (1 - estimate.upper) for share, estimate in zip(shares, estimates, strict=True)],
        [(1 - estimate.lower) - share for share, estimate in zip(shares, estimates, strict=True)],
    ]
    points = ax.errorbar(
        means, shares, yerr=np.maximum(reach, 0), fmt="o", color=CLASS_COLOURS[0], markersize=4, linewidth=1, capsize=2
    )
    label_axes(ax, xlabel="probability of the prediction", ylabel="share of right predictions", grid="both")
    margin = 0.04 * (1 - low)
    ax.set_xlim(low - margin, 1 + margin)
    ax.set_ylim(low - margin, 1 + 2.5 * margin)
    ax.set_aspect("equal", adjustable="box")
    counts = [estimate.n_test for estimate in estimates]
    add_legend(ax, [points, diagonal], [_bins_text(counts), "calibrated"], columns=1)
    if max(counts) > min(counts) + 1:
        corners = np.array([[low, low], [1, 1]])
        label_points(ax, np.column_stack([means, shares]), list(map(str, counts)), size=SMALL_TYPE, avoid=corners)
    return figure


def _bins_text(counts: list[int]) -> str:
    """How many objects the bins have, for the legend."""
    least, most = min(counts), max(counts)
    objects = f"{least} to {most} objects" if most > least else f"{least} {'objects' if least > 1 else 'object'}"
    return f"{len(counts)} {'bins' if len(counts) > 1 else 'bin'} of {objects}, 95 % interval"


def equal_bins(values: np.ndarray, n_bins: int) -> list[np.ndarray]:
    """Divide positions into at most ``n_bins`` bins of equal count, by ascending values; equal values stay together."""
    order = np.argsort(values, kind="stable")
    ends = np.round(np.linspace(0, len(values), min(n_bins, len(values)) + 1)[1:]).astype(int)
    ends = np.unique(np.searchsorted(values[order], values[order][ends - 1], side="right"))
    return np.split(order, ends[:-1])


def _lower_limit(means: np.ndarray, estimates: list[ErrorEstimate]) -> float:
    """Lower end of both axes, a tenth: probabilities of predictions are seldom small."""
    smallest = min(float(means.min()), *(1 - estimate.upper for estimate in estimates))
    return min(0.9, np.floor(10 * smallest) / 10)


def _read_predictions(classifier: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of each prediction, and whether the prediction is right."""
    if not hasattr(classifier, "predict_proba"):
        raise TypeError(f"classifier={classifier!r} has no predict_proba; pass a fitted PrototypeClassifier")
    labels = np.asarray(y)
    probabilities = as_numbers("predict_proba", classifier.predict_proba(X))
    if labels.ndim != 1 or len(labels) != len(probabilities) or len(labels) == 0:
        raise ValueError(
            f"y has the shape {labels.shape} for {len(probabilities)} objects; pass one label per object, and at least "
            "one object"
        )
    rows, predicted = np.arange(len(labels)), probabilities.argmax(axis=1)
    answers = classifier.classes_[predicted].tolist()
    is_right = np.array([answer == label for answer, label in zip(answers, labels.tolist(), strict=True)])
    return probabilities[rows, predicted], is_right
