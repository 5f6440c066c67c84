"""Novelty: how far a query is from all training objects.

The novelty of a query is its distance to the nearest prototype, divided by the mean distance of the training objects
near that prototype. A query is refused if its novelty is among the largest of the held-out training objects. So the
requested share of known objects is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset.decisions.held_out import JudgedSet

FEW_NEIGHBORS = 4.0
"""Weight of the mean over all objects in the mean of a prototype, in objects."""


def radii_of(judged: JudgedSet) -> np.ndarray:
    """Mean distance of the objects near each prototype; with few objects, drawn towards the mean of all objects."""
    m = len(judged.codes)
    sums, totals = np.zeros(m), np.zeros(m)
    for rows, block in judged.known.blocks(m):
        nearest = block.argmin(axis=1)
        distances, weights = block[np.arange(len(block)), nearest], judged.known.weights[rows]
        is_known = np.isfinite(distances)
        sums += np.bincount(nearest[is_known], (weights * distances)[is_known], minlength=m)
        totals += np.bincount(nearest[is_known], weights[is_known], minlength=m)
    mean = float(sums.sum() / totals.sum()) if totals.sum() > 0 else 0.0
    radii = (sums + FEW_NEIGHBORS * mean) / (totals + FEW_NEIGHBORS)
    return radii if mean > 0 else np.ones(m)


def held_out_novelty(judged: JudgedSet) -> np.ndarray:
    """Novelty of the objects that a set does not know."""
    radii, scores = radii_of(judged), np.empty(len(judged.held_out))
    for rows, block in judged.held_out.blocks(len(radii)):
        nearest = block.argmin(axis=1)
        scores[rows] = block[np.arange(len(block)), nearest] / radii[nearest]
    return scores


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Numbers of held-out objects, ascending, with the weight of each object."""

    values: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray) -> HeldOutScores:
        """Sort numbers."""
        order = np.argsort(values, kind="stable")
        return cls(values[order], weights[order])

    @property
    def total(self) -> float:
        """Weight of all objects."""
        return float(self.weights.sum())

    @property
    def smallest_tail(self) -> float:
        """Tail of a number beyond all others."""
        return 1.0 / (self.total + 1.0)

    def limit(self, rate: float) -> float:
        """Largest number whose tail is above a rate; larger numbers belong to that share of the objects."""
        tails = self.tail(self.values)
        return float(self.values[tails > rate].max(initial=-np.inf))

    def tail(self, queries: np.ndarray) -> np.ndarray:
        """Share of the objects, with the query as one of them, whose number is at least that of the query."""
        above = np.append(np.cumsum(self.weights[::-1])[::-1], 0.0)
        return (above[np.searchsorted(self.values, queries, side="left")] + 1.0) / (self.total + 1.0)
