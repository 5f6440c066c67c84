"""What predictions are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Scores:
    """Measures of predictions.

    Attributes
    ----------
    error : float
        Share of wrong predictions.
    macro_f1 : float
        Mean F1 over the classes that are there or predicted; 0 for a class never predicted rightly.
    balanced_accuracy : float
        Mean recall over the classes that are there.
    """

    error: float
    macro_f1: float
    balanced_accuracy: float


def score(truth: np.ndarray, predicted: np.ndarray) -> Scores:
    """Measure predictions; classes are numbers from 0 on."""
    # By counting: scikit-learn's functions, which give the same, take longer than most methods on small data.
    n_classes = int(max(truth.max(), predicted.max())) + 1
    there, told = np.bincount(truth, minlength=n_classes), np.bincount(predicted, minlength=n_classes)
    hits = np.bincount(truth[truth == predicted], minlength=n_classes)
    known = there + told > 0
    f1 = 2 * hits[known] / (there + told)[known]
    recall = hits[there > 0] / there[there > 0]
    return Scores(float(np.mean(truth != predicted)), float(f1.mean()), float(recall.mean()))
