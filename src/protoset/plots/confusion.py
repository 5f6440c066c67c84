"""Confusion matrices, one or several beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset._display import NO_NAME
from protoset._validation import as_numbers
from protoset.evaluation import error_rate
from protoset.plots._display import Display
from protoset.plots._style import INK, NORMAL_TYPE, SMALL_TYPE, clean_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_NUMBERED_CLASSES = 12
"""Largest number of classes for which cells show numbers."""

MAX_NAMED_CLASSES = 32
"""Largest number of classes for which rows and columns have names."""


@dataclass(eq=False, repr=False)
class ConfusionDisplay(Display):
    """Confusion matrices of one or several classifiers on the same objects, beside each other.

    Rows are true classes, columns are predicted classes. Darker cells have a larger share of their row. The number in a
    cell is a number of objects.

    Parameters
    ----------
    confusion_matrices : dict
        Counts of shape (n_classes, n_classes) by the name of the classifier; the name may be empty.
    display_labels : sequence
        Labels of the classes, in the order of rows and columns.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``; each matrix has axes of its own in ``ax_.child_axes``.
    """

    confusion_matrices: Mapping[str, Any]
    display_labels: Sequence[Any]

    def __post_init__(self) -> None:
        if not isinstance(self.confusion_matrices, Mapping) or not self.confusion_matrices:
            raise TypeError(
                f"confusion_matrices={self.confusion_matrices!r:.60} must be a dict of matrices by name, not empty"
            )
        k = len(self.display_labels)
        for name, counts in self.confusion_matrices.items():
            shape = as_numbers("confusion_matrices", counts).shape
            if shape != (k, k):
                raise ValueError(
                    f"confusion_matrices[{name!r}] has the shape {shape} for {k} display_labels; pass a row "
                    "and a column per label"
                )

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Self:
        """Draw the confusions of a classifier, or of several beside each other.

        Parameters
        ----------
        estimator : classifier, or dict of classifiers by name
            Any fitted classifier with ``predict``, such as a PrototypeClassifier, a Pipeline, a DataModel, or
            scikit-learn's k-NN on the whole training set.
        X, y : objects and their labels
            Objects that were not used in the fit.
        ax : matplotlib axes, optional

        Returns
        -------
        ConfusionDisplay
        """
        classifiers = estimator if isinstance(estimator, Mapping) else {"": estimator}
        for name, classifier in classifiers.items():
            if not hasattr(classifier, "predict"):
                which = f"estimator[{name!r}]" if isinstance(estimator, Mapping) else "estimator"
                raise TypeError(
                    f"{which}={classifier!r:.60} has no predict; pass a fitted classifier, such as "
                    "PrototypeClassifier(selector)"
                )
        predictions = {name: classifier.predict(X) for name, classifier in classifiers.items()}
        return cls.from_predictions(y, predictions, ax=ax)

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, *, ax: Axes | None = None) -> Self:
        """Draw the confusions of predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_objects,)
            Labels of the objects.
        y_pred : array-like of shape (n_objects,), or dict of these by name
            Predicted labels. A dict gives one matrix per name.
        ax : matplotlib axes, optional

        Returns
        -------
        ConfusionDisplay
        """
        predictions = y_pred if isinstance(y_pred, Mapping) else {"": y_pred}
        for predicted in predictions.values():
            error_rate(y_true, predicted)
        true = np.asarray(y_true)
        classes = np.unique(np.concatenate([true, *map(np.asarray, predictions.values())]))
        matrices = {}
        for name, predicted in predictions.items():
            matrices[name] = np.zeros((len(classes), len(classes)), int)
            np.add.at(matrices[name], (np.searchsorted(classes, true), np.searchsorted(classes, predicted)), 1)
        return cls(matrices, classes.tolist()).plot(ax)

    def _names(self) -> list[str]:
        return [clean_text(name, 12) or NO_NAME for name in self.display_labels]

    def _figure_size(self) -> tuple[float, float]:
        side = min(max(1.6, 0.3 * len(self.display_labels)), 4.5)
        longest = 0.07 * max(map(len, self._names()))
        return len(self.confusion_matrices) * side + 1 + longest, side + 1.15 + longest

    def _draw(self, ax: Axes) -> None:
        ax.set_axis_off()
        names, n_panels = self._names(), len(self.confusion_matrices)
        ticks = range(len(names)) if len(names) <= MAX_NAMED_CLASSES else []
        is_turned = max(map(len, names)) > 3
        for position, (name, matrix) in enumerate(self.confusion_matrices.items()):
            counts = np.asarray(matrix)
            width = 1 / (n_panels + 0.06 * (n_panels - 1))
            panel = ax.inset_axes((1.06 * position * width, 0, width, 0.96))
            shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
            panel.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="equal")
            if len(names) <= MAX_NUMBERED_CLASSES:
                for i, j in np.argwhere(counts):
                    ink = "white" if shares[i, j] > 0.55 else INK
                    panel.text(j, i, str(counts[i, j]), ha="center", va="center", fontsize=SMALL_TYPE, color=ink)
            panel.set_xticks(ticks, names if ticks else [], rotation=90 if is_turned else 0, fontsize=SMALL_TYPE)
            panel.set_yticks(ticks, names if ticks and position == 0 else [""] * len(ticks), fontsize=SMALL_TYPE)
            panel.tick_params(length=0)
            panel.set_xlabel("predicted", fontsize=SMALL_TYPE)
            panel.set_ylabel("true" if position == 0 else "", fontsize=SMALL_TYPE)
            error = f"error {1 - np.trace(counts) / max(counts.sum(), 1):.3f}"
            panel.set_title(f"{clean_text(name)}\n{error}" if name else error, fontsize=NORMAL_TYPE, loc="left")


plot_confusion = ConfusionDisplay.from_estimator
