"""What predictions are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import f1_score, recall_score


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
    """Measure predictions."""
    recall = recall_score(truth, predicted, labels=np.unique(truth), average="macro", zero_division=0)
    f1 = f1_score(truth, predicted, average="macro", zero_division=0)
    return Scores(float(np.mean(truth != predicted)), float(f1), float(recall))
