"""SSMA, a steady-state memetic algorithm (Garcia, Cano & Herrera 2008).

    population of sets --tournaments--> two parents --crossover, mutation--> two children
          ^                                                                      |
          +---- the worst two give way to better children <--- local search -----+
                                                            (drop members)

``protoset.selectors._set_evaluation`` evaluates sets and has the local search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset._progress import report, reporter
from protoset._validation import check_count, check_probability
from protoset.selectors._limits import Callback, SearchLimits, check_limits
from protoset.selectors._population import Population, Threshold
from protoset.selectors._set_evaluation import Individual, SetEvaluator, search_order
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace

LOCAL_SEARCH_PROBABILITY = 1 / 16
"""Probability of a local search for a child that is not better than the worst set."""

LARGEST_POPULATION = 10_000
"""Largest number of sets that evolve; all of them are in memory."""


@dataclass(frozen=True, eq=False)
class Evolution:
    """Result of a memetic search; an attempt of a local search counts as a fraction of an evaluation."""

    best: Individual
    n_evaluations: float
    n_iter: int


def ssma(
    space: TrainingSpace,
    order: np.ndarray,
    codes: np.ndarray,
    *,
    n_neighbors: int = 1,
    population_size: int = 30,
    max_evaluations: int = 10_000,
    crossover: float = 0.5,
    mutation: float = 0.001,
    random_state: np.random.RandomState,
    limits: SearchLimits | None = None,
) -> Evolution:
    """Search for a small set that classifies the training set well.

    ``order`` holds the neighbours of each object, nearest first, from ``search_order``; any number of them.
    """
    n_objects = len(codes)
    limits = SearchLimits() if limits is None else limits
    evaluator = SetEvaluator(space, order, codes, n_neighbors)
    state = random_state.randint(2**32, size=1, dtype=np.uint64)
    population = Population(evaluator, n_objects, population_size, state)
    threshold = Threshold()
    n_losers = n_iter = 0

    def n_evaluations() -> float:
        return 2 * n_iter + n_losers / n_objects

    def ended() -> bool:
        best = population.best
        return limits.reached(n_evaluations(), max_evaluations, best.hits / n_objects, best.size)

    with limits.interruptible():
        while n_evaluations() < max_evaluations and not ended():
            coin, *draws = random_state.random_sample(3)
            threshold.update(population.best, coin)
            first, second = population.tournament(random_state), population.tournament(random_state)
            worst, children = population.worst, []
            for parents, draw in zip(((first, second), (second, first)), draws, strict=True):
                child = evaluator.breed(*parents, crossover, mutation, state)
                if child.score > worst.score or draw < LOCAL_SEARCH_PROBABILITY:
                    child, n_lost = evaluator.improve(child, threshold.value, state, ended)
                    n_losers += n_lost
                children.append(child)
            n_iter += 1
            population.admit(children)
    limits.warn(n_evaluations(), max_evaluations)
    return Evolution(population.best, n_evaluations(), n_iter)


class SSMA(BaseSelector):
    """Steady-state memetic algorithm: evolves sets that are small and classify the training set well.

    The fitness of a set is the mean of two percentages: training objects that their nearest prototypes
    classify correctly (leave-one-out), and objects that are not prototypes. Each generation breeds two
    sets from two sets of the population. A local search drops prototypes from sets that are better than
    the worst of the population, and from a few others. Children replace the worst sets if they are better.

    Parameters
    ----------
    population_size : int, default=30
        Number of sets that evolve, from 2 to 10,000.
    max_evaluations : int, default=10_000
        Number of evaluations to spend. More evaluations give better sets.
    crossover : float, default=0.5
        Probability that a child takes over the membership of an object from its second parent.
    mutation : float, default=0.001
        Probability that the membership of an object in a child is changed.
    n_neighbors : int, default=1
        Number of nearest prototypes that vote.
    max_time : float, optional
        Seconds after which the search stops with the best set so far and a ``SearchStoppedWarning``.
        Ctrl-C also stops the search.
    callback : callable, optional
        Called at least once per generation with a :class:`SearchProgress`. Return True to stop the search.
    random_state : int or RandomState, optional
        Draws the first population, the parents and the mutations.
    metric, metric_params, n_jobs, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    accuracy_ : float
        Leave-one-out accuracy on the training set, before medoids were added.
    fitness_ : float
        Fitness of the set, from 0 to 100, before medoids were added.
    n_evaluations_ : float
        Evaluations spent.
    n_iter_ : int
        Generations.
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

    Notes
    -----
    Each bred set costs one evaluation. In the local search, an attempt to drop a prototype costs a share of an
    evaluation: the share of the objects that lose a neighbour. The last generation is completed. ``max_time`` does not
    count the neighbour search, which comes first.

    The neighbour search finds the 8 sqrt(n) nearest neighbours of each object (at least 256). If they are not enough
    for an object, all its neighbours are listed, in up to 192 MB for all objects (enough for 7,094 objects). Beyond
    that, distances are computed at each use.

    References
    ----------
    S. Garcia, J. R. Cano and F. Herrera, "A memetic algorithm for evolutionary prototype selection: A
    scaling up approach", Pattern Recognition 41 (2008) 2693-2709.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import SSMA
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = SSMA(max_evaluations=1000, random_state=0).fit(X, y)
    >>> len(selector.sample_indices_) < 15 and selector.accuracy_ > 0.95
    True
    """

    def __init__(
        self,
        *,
        population_size: int = 30,
        max_evaluations: int = 10_000,
        crossover: float = 0.5,
        mutation: float = 0.001,
        n_neighbors: int = 1,
        max_time: float | None = None,
        callback: Callback | None = None,
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.population_size = population_size
        self.max_evaluations = max_evaluations
        self.crossover = crossover
        self.mutation = mutation
        self.n_neighbors = n_neighbors
        self.max_time = max_time
        self.callback = callback
        self.random_state = random_state

    def _check_parameters(self) -> dict[str, Any]:
        size, work = "pass the number of sets that evolve", "pass the number of sets to evaluate"
        return {
            **super()._check_parameters(),
            "population_size": check_count(
                "population_size", self.population_size, least=2, most=LARGEST_POPULATION, remedy=size
            ),
            "max_evaluations": check_count("max_evaluations", self.max_evaluations, least=1, remedy=work),
            "crossover": check_probability("crossover", self.crossover),
            "mutation": check_probability("mutation", self.mutation),
            **check_limits(self.max_time, self.callback),
        }

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        k = min(self.n_neighbors, len(codes) - 1)
        report(self.verbose, "searching the neighbours of %d objects", len(codes))
        order = search_order(space, k, self.n_jobs, reporter(self.verbose, "pairs compared"))
        evolution = ssma(
            space,
            order,
            codes,
            n_neighbors=k,
            population_size=self.population_size,
            max_evaluations=self.max_evaluations,
            crossover=self.crossover,
            mutation=self.mutation,
            random_state=check_random_state(self.random_state),
            limits=SearchLimits(self.max_time, self.callback, self.verbose, "evaluations"),
        )
        self.accuracy_ = evolution.best.hits / len(codes)
        self.fitness_ = evolution.best.fitness
        self.n_evaluations_, self.n_iter_ = evolution.n_evaluations, evolution.n_iter
        return np.flatnonzero(evolution.best.member)
