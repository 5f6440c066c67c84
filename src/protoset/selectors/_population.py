"""What the memetic search keeps from one generation to the next: its sets, and what it asks of a drop."""

from __future__ import annotations

import numpy as np

from protoset.selectors._evaluation import Individual, SetEvaluator

PATIENCE = 10
"""Generations without gain after which the threshold of the local search changes."""


class Threshold:
    """Change in hits that local search asks for before it drops a member.

    It rises after ``PATIENCE`` generations in which the best set gained no accuracy, so that the search
    goes for accuracy, and falls after as many in which the best set did not shrink. Where both are due,
    a coin decides which one comes first; the other follows in the next generation.

    Attributes
    ----------
    value : int
    """

    def __init__(self) -> None:
        self.value = 0
        self._hits, self._size = -1, np.inf
        self._without_hits = self._without_reduction = 0

    def update(self, best: Individual, coin: float) -> None:
        """Take notice of the best set of a generation; the coin is a random number in [0, 1)."""
        self._without_hits = 0 if best.hits > self._hits else self._without_hits + 1
        self._without_reduction = 0 if best.size < self._size else self._without_reduction + 1
        self._hits, self._size = best.hits, best.size
        rises, falls = self._without_hits >= PATIENCE, self._without_reduction >= PATIENCE
        if rises and (coin < 0.5 or not falls):
            self.value, self._without_hits = self.value + 1, 0
        elif falls:
            self.value, self._without_reduction = self.value - 1, 0


class Population:
    """Sets of members, best first; equal ones in order of age.

    Parameters
    ----------
    evaluator : SetEvaluator
    n_objects : int
    size : int
    state : ndarray of one uint64
        Of the random numbers that draw the first sets; moved on.
    """

    def __init__(self, evaluator: SetEvaluator, n_objects: int, size: int, state: np.ndarray):
        start_places, first_members = np.zeros(n_objects, np.int32), np.full(n_objects, -1, np.int32)
        nobody = Individual(np.zeros(n_objects, bool), 0, 0, start_places, first_members)
        sets = [evaluator.breed(nobody, nobody, 0.0, 0.5, state) for _ in range(size)]
        self._sets = _best_first(sets)

    @property
    def best(self) -> Individual:
        """The fittest."""
        return self._sets[0]

    @property
    def worst(self) -> Individual:
        """The least fit."""
        return self._sets[-1]

    def tournament(self, random_state: np.random.RandomState) -> Individual:
        """Draw two, and return the better one."""
        draws = random_state.random_sample(2)
        size = len(self._sets)
        first, other = int(draws[0] * size), int(draws[1] * (size - 1))
        return self._sets[min(first, other + (other >= first))]

    def admit(self, children: list[Individual]) -> None:
        """Let children take the places of the worst, where they are better."""
        if max(child.score for child in children) > self.worst.score:
            self._sets = _best_first([*self._sets, *children])[: len(self._sets)]


def _best_first(sets: list[Individual]) -> list[Individual]:
    return sorted(sets, key=lambda individual: -individual.score)
