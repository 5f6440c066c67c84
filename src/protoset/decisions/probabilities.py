"""Probabilities from the evidence for each class, calibrated on held-out training objects.

    evidence of one or two kinds -> sum of slope * evidence -> softmax -> mixed with a small equal share for each class

Slopes and share minimise the log loss on the held-out objects; with few objects, the slopes stay near usual values.
Slopes are not negative and the share is the same for all classes, so that the class with the strongest evidence has
the largest probability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

LARGEST_EVIDENCE = 1e6
"""Largest absolute evidence."""

LARGEST_SLOPE = 1e4
SMALLEST_SLOPE = 1e-4

LARGEST_SHARE = 0.5
"""Largest share of the probability that is divided equally among the classes."""


@dataclass(frozen=True, eq=False)
class ProbabilityMap:
    """Maps evidence to probabilities.

    Attributes
    ----------
    slopes : ndarray
        Slope of each kind of evidence.
    shared : float
        Share of the probability that is divided equally among all classes.
    """

    slopes: np.ndarray
    shared: float

    def __call__(self, evidence: np.ndarray) -> np.ndarray:
        """Probabilities, of shape (n_queries, n_classes), from evidence of shape (n_kinds, n_queries, n_classes)."""
        shares = _softmax(self.slopes, evidence)
        return (1.0 - self.shared) * shares + self.shared / shares.shape[1]


def learn_map(evidence: np.ndarray, codes: np.ndarray, weights: np.ndarray, usual: tuple[float, ...]) -> ProbabilityMap:
    """Return the map with the smallest log loss on held-out objects; ``usual`` are the slopes for very few objects."""
    rows, n_kinds, n_classes = np.arange(len(codes)), len(evidence), evidence.shape[2]
    weights, expected = weights / weights.sum(), np.log(usual)
    # The next object may be the first error.
    least = min(LARGEST_SHARE, 1.0 / (len(codes) + 1.0))

    def log_loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        slopes, shared = np.exp(parameters[:-1]), float(np.exp(parameters[-1]))
        shares = _softmax(slopes, evidence)
        own = shares[rows, codes]
        probabilities = (1.0 - shared) * own + shared / n_classes
        # How each kind of evidence for the class of an object differs from the mean over the classes.
        by_slope = [kind[rows, codes] - np.einsum("ij,ij->i", shares, kind) for kind in evidence]
        by_share = weights / probabilities
        gradient = [
            -(slope * by_share * (1.0 - shared) * own) @ kind for slope, kind in zip(slopes, by_slope, strict=True)
        ]
        gradient.append(-shared * by_share @ (1.0 / n_classes - own))
        unusual = np.append(parameters[:-1] - expected, 0.0)
        loss = float(-weights @ np.log(probabilities)) + 0.5 * float(unusual @ unusual) / len(codes)
        return loss, np.array(gradient) + unusual / len(codes)

    bounds = [(np.log(SMALLEST_SLOPE), np.log(LARGEST_SLOPE))] * n_kinds + [(np.log(least), np.log(LARGEST_SHARE))]
    start = np.append(expected, np.log(max(least, 0.02)))
    optimum = minimize(log_loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return ProbabilityMap(np.exp(optimum.x[:-1]), float(np.exp(optimum.x[-1])))


def _softmax(slopes: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    total = np.tensordot(slopes, evidence, axes=1)
    total -= total.max(axis=1, keepdims=True)
    shares = np.exp(total)
    return shares / shares.sum(axis=1, keepdims=True)
