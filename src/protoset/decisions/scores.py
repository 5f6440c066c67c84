"""Class scores: every prototype contributes to the score of every class.

    distances to all prototypes -> exp(-(scale * distance)^power) -> times the scores of the prototypes

The scores come from scikit-learn's logistic regression of the classes on the features. Kernel and penalty are chosen by
held-out objects.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from protoset.decisions.held_out import JudgedSet, MeasuredObjects


class Kernel(NamedTuple):
    """Shape of the features: power of the distance, and sharpness in units of the typical distance."""

    power: int
    sharpness: float


KERNELS = (Kernel(2, 0.25), Kernel(2, 0.5), Kernel(1, 1.0))
"""Kernels that held-out objects choose from."""

PENALTIES = (1e-4, 1e-5, 1e-6)
"""Penalties per training object that held-out objects choose from."""

N_ITERATIONS = 100
"""Largest number of iterations of the logistic regression."""

ABSENT = -1e3
"""Score of a class without training objects."""

FEATURE_BYTES = 2**29
"""Largest memory of the features, but always enough for ``FEWEST_OBJECTS``; further objects are not used."""

FEWEST_OBJECTS = 2048
"""Smallest number of objects that are used, if there are as many."""

QUICK_ROUNDING = 1e-5
"""Largest rounding error of a feature in single precision."""


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Scores of classes, from the distances to all prototypes.

    Attributes
    ----------
    scores : ndarray of shape (n_prototypes, n_classes)
        Contribution of each prototype to the score of each class.
    intercepts : ndarray of shape (n_classes,)
    power : int
        Power of the distances, 1 or 2.
    scale : float
        The feature of a distance is exp(-(scale * distance)^power).
    """

    scores: np.ndarray
    intercepts: np.ndarray
    power: int
    scale: float

    def features(self, block: np.ndarray) -> np.ndarray:
        """Features of distances; 0 for an infinite one."""
        values = block * self.scale
        if self.power == 2:
            values *= values
        return np.exp(np.negative(values, out=values), out=values)

    def __call__(self, block: np.ndarray) -> np.ndarray:
        """Class scores of each row of distances."""
        return self.features(block) @ self.scores + self.intercepts

    def labels(self, squares: np.ndarray, exact: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Classes with the largest scores, from squared distances in single precision, which are overwritten.

        ``exact`` computes the distances of some rows: of those whose largest scores hardly differ.
        """
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            squares *= -np.square(np.float32(self.scale))
            scores = np.exp(squares, out=squares) @ self.scores.astype(np.float32) + self.intercepts.astype(np.float32)
        first = scores.argmax(axis=1)
        rows, largest = np.arange(len(scores)), scores[np.arange(len(scores)), first]
        scores[rows, first] = -np.inf
        doubt = 2 * QUICK_ROUNDING * float(np.abs(self.scores).sum(axis=0).max())
        with np.errstate(invalid="ignore"):
            close = np.flatnonzero(~(largest - scores.max(axis=1) > doubt))
        if len(close):
            first[close] = self(exact(close)).argmax(axis=1)
        return first


def typical_of(objects: MeasuredObjects, n_prototypes: int) -> float:
    """Median distance of objects to their nearest prototype; 1 where all are 0 or infinite."""
    nearest = np.concatenate([block.min(axis=1) for _, block in objects.blocks(n_prototypes)])
    nearest = nearest[np.isfinite(nearest)]
    if not len(nearest):
        return 1.0
    median = float(np.median(nearest))
    return median if median > 0 else float(nearest.mean()) or 1.0


def learn_scores(
    judged: JudgedSet, n_classes: int, kernel: Kernel, penalties: tuple[float, ...], typical: float
) -> list[ClassScores]:
    """Scores by multinomial logistic regression on the objects that a set knows, one for each penalty."""
    m = len(judged.codes)
    known = judged.known.sample(max(FEWEST_OBJECTS, FEATURE_BYTES // (8 * m)))
    plain = ClassScores(np.empty(0), np.empty(0), kernel.power, kernel.sharpness ** (1 / kernel.power) / typical)
    features = np.empty((len(known), m))
    for rows, block in known.blocks(m):
        features[rows] = plain.features(block)
    is_present = np.bincount(known.codes, known.costs, minlength=n_classes) > 0
    scores, intercepts = np.zeros((m, n_classes)), np.where(is_present, 0.0, ABSENT)
    if is_present.sum() < 2:
        return [replace(plain, scores=scores, intercepts=intercepts) for _ in penalties]
    from sklearn.linear_model import LogisticRegression  # takes long to import

    model = LogisticRegression(max_iter=N_ITERATIONS, warm_start=True)
    learned = []
    for penalty in penalties:
        model.C = 1.0 / (penalty * float(known.costs.sum()))
        with warnings.catch_warnings():
            # Held-out objects measure the result, whether it has converged or not.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(features, known.codes, sample_weight=known.costs)
        scores, intercepts = scores.copy(), intercepts.copy()
        coefficients, constants = model.coef_, model.intercept_
        if len(coefficients) == 1:
            coefficients, constants = np.vstack([-coefficients, coefficients]) / 2, np.append(-constants, constants) / 2
        scores[:, model.classes_], intercepts[model.classes_] = coefficients.T, constants
        learned.append(replace(plain, scores=scores, intercepts=intercepts))
    return learned


def choose_scores(sets: list[JudgedSet], n_classes: int) -> tuple[Kernel, float]:
    """Kernel and penalty with the smallest log loss on held-out objects."""
    losses = np.zeros((len(KERNELS), len(PENALTIES)))
    for judged in sets:
        typical = typical_of(judged.known, len(judged.codes))
        for row, kernel in enumerate(KERNELS):
            learned = learn_scores(judged, n_classes, kernel, PENALTIES, typical)
            for rows, block in judged.held_out.blocks(len(judged.codes)):
                codes, costs = judged.held_out.codes[rows], judged.held_out.costs[rows]
                losses[row] += [_log_loss(scores(block), codes, costs) for scores in learned]
    best = int(losses.argmin())
    return KERNELS[best // len(PENALTIES)], PENALTIES[best % len(PENALTIES)]


def _log_loss(scores: np.ndarray, codes: np.ndarray, costs: np.ndarray) -> float:
    """Sum of the log losses of the softmax of scores, multiplied by costs."""
    return float(costs @ (logsumexp(scores, axis=1) - scores[np.arange(len(codes)), codes]))
