"""State of the memetic search between generations: the population of sets, and the threshold of the local search."""

from __future__ import annotations

import numpy as np

from protoset.selectors._set_evaluation import Individual, SetEvaluator

STALLED_GENERATIONS = 10
"""Generations without improvement after which the threshold of the local search changes."""


class Threshold:
    """Smallest change in the number of hits for which the local search drops a member.

    It rises after ``STALLED_GENERATIONS`` in which the best set gained no accuracy, and falls after as
    many generations in which the best set did not shrink. If both are due, a coin decides which change
    comes first; the other change follows in the next generation.
    """

    def __init__(self) -> None:
        self.value = 0
        self._hits, self._size = -1, np.inf
        self._without_hits = self._without_reduction = 0

    def update(self, best: Individual, coin: float) -> None:
        """Update the threshold by the best set of a generation; ``coin`` is a random number in [0, 1)."""
        self._without_hits = 0 if best.hits > self._hits else self._without_hits + 1
        self._without_reduction = 0 if best.size < self._size else self._without_reduction + 1
        self._hits, self._size = best.hits, best.size
        rises = self._without_hits >= STALLED_GENERATIONS
        falls = self._without_reduction >= STALLED_GENERATIONS
        if rises and (coin < 0.5 or not falls):
            self.value, self._without_hits = self.value + 1, 0
        elif falls:
            self.value, self._without_reduction = self.value - 1, 0


class Population:
    """Sets of members, best first; among equals, the oldest first. Updates ``state``, which draws the first sets."""

    def __init__(self, evaluator: SetEvaluator, n_objects: int, size: int, state: np.ndarray):
        starts, first_members = np.zeros(n_objects, np.int32), np.full(n_objects, -1, np.int32)
        empty = Individual(np.zeros(n_objects, bool), 0, 0, starts, first_members)
        sets = [evaluator.breed(empty, empty, 0.0, 0.5, state) for _ in range(size)]
        self._sets = _best_first(sets)

    @property
    def best(self) -> Individual:
        """The fittest set."""
        return self._sets[0]

    @property
    def worst(self) -> Individual:
        """The least fit set."""
        return self._sets[-1]

    def tournament(self, random_state: np.random.RandomState) -> Individual:
        """Draw two sets and return the better one."""
        draws = random_state.random_sample(2)
        size = len(self._sets)
        first, other = int(draws[0] * size), int(draws[1] * (size - 1))
        return self._sets[min(first, other + (other >= first))]

    def admit(self, children: list[Individual]) -> None:
        """Replace the worst sets by children that are better."""
        if max(child.score for child in children) > self.worst.score:
            self._sets = _best_first([*self._sets, *children])[: len(self._sets)]


def _best_first(sets: list[Individual]) -> list[Individual]:
    return sorted(sets, key=lambda individual: -individual.score)
