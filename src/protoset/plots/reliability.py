"""Reliability: whether predicted probabilities are as frequent as they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset._validation import as_numbers
from protoset.evaluation import ErrorEstimate, estimate_error
from protoset.plots._checks import check_limit
from protoset.plots._display import Display
from protoset.plots._labels import label_points
from protoset.plots._style import CLASS_COLOURS, FAINT_INK, SMALL_TYPE, add_legend, check_axes, label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class ReliabilityDisplay(Display):
    """Reliability diagram: share of right predictions against their probabilities, with the diagonal.

    Parameters
    ----------
    probabilities : array-like of shape (n_objects,)
        Probability of each prediction.
    is_right : array-like of bool of shape (n_objects,)
        Whether each prediction is right.
    n_bins : int, default=10
        Largest number of bins. The objects are sorted by probability and divided into bins of equal size; equal
        probabilities stay in one bin.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``.

    Notes
    -----
    A point shows the mean probability in a bin and its share of right predictions, with the 95 % Wilson interval. The
    legend has the number of objects per bin; if bins differ, each bin has its own number. Points on the diagonal are
    calibrated. Below the diagonal, the probabilities are too high.
    """

    probabilities: Any
    is_right: Any
    n_bins: int = 10

    def __post_init__(self) -> None:
        check_limit("n_bins", self.n_bins)
        self.probabilities = as_numbers("probabilities", self.probabilities)
        self.is_right = np.asarray(self.is_right, bool)
        shape = self.probabilities.shape
        if len(shape) != 1 or self.is_right.shape != shape or shape[0] == 0:
            raise ValueError(
                f"probabilities has the shape {shape} and is_right {self.is_right.shape}; pass one of each per object, "
                "and at least one object"
            )

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, n_bins: int = 10, ax: Axes | None = None) -> Self:
        """Draw the reliability of a classifier on objects.

        Parameters
        ----------
        estimator : PrototypeClassifier, Pipeline or DataModel
            Fitted and calibrated. Any classifier with ``predict_proba`` and ``classes_`` works.
        X : objects
            Objects that were not used in the fit, as for ``predict_proba``.
        y : array-like of shape (n_objects,)
            Their labels. A label that the classifier does not know counts as a wrong prediction.
        n_bins : int, default=10
            Bins at most.
        ax : matplotlib axes, optional

        Returns
        -------
        ReliabilityDisplay
        """
        check_axes(ax)
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(f"estimator={estimator!r:.60} has no predict_proba; pass a fitted PrototypeClassifier")
        shares = as_numbers("predict_proba", estimator.predict_proba(X))
        answers = estimator.classes_[shares.argmax(axis=1)]
        return cls.from_predictions(y, answers, shares.max(axis=1, initial=0), n_bins=n_bins, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, probabilities: Any, *, n_bins: int = 10, ax: Axes | None = None
    ) -> Self:
        """Draw the reliability of predictions.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_objects,)
            Labels, and predicted labels.
        probabilities : array-like of shape (n_objects,)
            Probability of each prediction, such as ``predict_details(X).probabilities``.
        n_bins : int, default=10
            Bins at most.
        ax : matplotlib axes, optional

        Returns
        -------
        ReliabilityDisplay
        """
        true, answers = np.asarray(y_true), np.asarray(y_pred)
        if true.ndim != 1 or true.shape != answers.shape:
            raise ValueError(f"y has the shape {true.shape} for {len(answers)} predictions; pass one label per object")
        is_right = [answer == label for answer, label in zip(answers.tolist(), true.tolist(), strict=True)]
        return cls(probabilities, is_right, n_bins).plot(ax)

    def _figure_size(self) -> tuple[float, float]:
        return 3.9, 3.6

    def _draw(self, ax: Axes) -> None:
        bins = equal_bins(self.probabilities, self.n_bins)
        means = np.array([self.probabilities[rows].mean() for rows in bins])
        # The interval of the share of right predictions is that of the errors, seen from the other side.
        estimates = [estimate_error(int((~self.is_right[rows]).sum()), len(rows)) for rows in bins]
        low = _lower_limit(means, estimates)
        (diagonal,) = ax.plot([low, 1], [low, 1], color=FAINT_INK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)
        shares = np.array([1 - estimate.error for estimate in estimates])
        reach = [
            [share - (1 - estimate.upper) for share, estimate in zip(shares, estimates, strict=True)],
            [(1 - estimate.lower) - share for share, estimate in zip(shares, estimates, strict=True)],
        ]
        points = ax.errorbar(
            means,
            shares,
            yerr=np.maximum(reach, 0),
            fmt="o",
            color=CLASS_COLOURS[0],
            markersize=4,
            linewidth=1,
            capsize=2,
        )
        label_axes(ax, xlabel="probability of the prediction", ylabel="share of right predictions", grid="both")
        margin = 0.04 * (1 - low)
        ax.set_xlim(low - margin, 1 + margin)
        ax.set_ylim(low - margin, 1 + 2.5 * margin)
        ax.set_aspect("equal", adjustable="box")
        counts = [estimate.n_test for estimate in estimates]
        add_legend(ax, [points, diagonal], [_bins_text(counts), "calibrated"], columns=1)
        if max(counts) > min(counts) + 1:
            corners = [np.array([[low, low], [1, 1]])]
            label_points(ax, np.column_stack([means, shares]), list(map(str, counts)), size=SMALL_TYPE, avoid=corners)


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


plot_reliability = ReliabilityDisplay.from_estimator
