"""Class scores: every prototype says something about every class.

    distances to all prototypes -> exp(-sharpness * distance^power) -> times the scores of the prototypes

The scores come from a ridge regression of the classes on the features, with an intercept that is not penalised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from protoset.decisions.held_out import JudgedSet, MeasuredObjects


class Kernel(NamedTuple):
    """Shape of the features: power of the distance, and sharpness in units of the typical distance."""

    power: int
    sharpness: float


KERNELS = (Kernel(1, 0.5), Kernel(1, 1.0), Kernel(1, 2.0), Kernel(2, 0.25), Kernel(2, 0.5), Kernel(2, 1.0))
"""Kernels that held-out objects choose from."""

PENALTIES = (1e-6, 1e-5, 1e-4)
"""Penalties per training object that held-out objects choose from."""


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Scores of classes, from the distances to all prototypes.

    Attributes
    ----------
    scores : ndarray of shape (n_prototypes, n_classes)
        What each prototype says about each class.
    intercepts : ndarray of shape (n_classes,)
    power : int
        Power of the distances, 1 or 2.
    sharpness : float
        The feature of a distance is exp(-sharpness * distance^power).
    """

    scores: np.ndarray
    intercepts: np.ndarray
    power: int
    sharpness: float

    def features(self, block: np.ndarray) -> np.ndarray:
        """Features of distances; 0 for an infinite one."""
        values = block * block if self.power == 2 else block.copy()
        values *= -self.sharpness
        return np.exp(values, out=values)

    def __call__(self, block: np.ndarray) -> np.ndarray:
        """Class scores of each row of distances."""
        return self.features(block) @ self.scores + self.intercepts


def typical_of(objects: MeasuredObjects, n_prototypes: int) -> float:
    """Median distance of objects to their nearest prototype; 1 where all distances are 0."""
    nearest = np.concatenate([block.min(axis=1) for _, block in objects.blocks(n_prototypes)])
    nearest = nearest[np.isfinite(nearest)]
    if not len(nearest):
        return 1.0
    median = float(np.median(nearest))
    return median if median > 0 else float(nearest.mean()) or 1.0


def learn_scores(
    judged: JudgedSet, n_classes: int, kernel: Kernel, penalties: tuple[float, ...], typical: float
) -> list[ClassScores]:
    """Scores by ridge regression on the objects that a set knows, one for each penalty."""
    m, known = len(judged.codes), judged.known
    plain = ClassScores(np.empty(0), np.empty(0), kernel.power, kernel.sharpness / typical**kernel.power)
    products, targets = np.zeros((m, m)), np.zeros((m, n_classes))
    sums, class_sums, total = np.zeros(m), np.zeros(n_classes), float(known.weights.sum())
    for part, block in known.blocks(m):
        features, weights, codes = plain.features(block), known.weights[part], known.codes[part]
        weighted = features * weights[:, None]
        products += weighted.T @ features
        sums += weighted.sum(axis=0)
        class_sums += np.bincount(codes, weights, minlength=n_classes)
        one_hot = np.zeros((len(codes), n_classes))
        one_hot[np.arange(len(codes)), codes] = 1.0
        targets += weighted.T @ one_hot
    means, shares = sums / total, class_sums / total
    products -= total * np.outer(means, means)
    targets -= total * np.outer(means, shares)
    learned = []
    for penalty in penalties:
        matrix = products + penalty * total * np.eye(m)
        scores = linalg.solve(matrix, targets, assume_a="pos")
        learned.append(ClassScores(scores, shares - means @ scores, plain.power, plain.sharpness))
    return learned


def choose_scores(sets: list[JudgedSet], n_classes: int) -> tuple[Kernel, float]:
    """Kernel and penalty with the smallest squared errors on held-out objects."""
    squares = np.zeros((len(KERNELS), len(PENALTIES)))
    for judged in sets:
        typical = typical_of(judged.known, len(judged.codes))
        for row, kernel in enumerate(KERNELS):
            learned = learn_scores(judged, n_classes, kernel, PENALTIES, typical)
            for part, block in judged.held_out.blocks(len(judged.codes)):
                squares[row] += [
                    _squares(scores(block), judged.held_out.codes[part], judged.held_out.weights[part])
                    for scores in learned
                ]
    best = int(squares.argmin())
    return KERNELS[best // len(PENALTIES)], PENALTIES[best % len(PENALTIES)]


def _squares(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """Sum of the squared differences between scores and classes, by weight."""
    rows = np.arange(len(codes))
    squares = np.einsum("ij,ij->i", scores, scores) - 2 * scores[rows, codes] + 1.0
    return float(weights @ squares)
