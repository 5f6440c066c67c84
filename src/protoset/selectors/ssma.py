"""SSMA, a steady-state memetic algorithm (Garcia, Cano & Herrera 2008).

    population of sets --tournaments--> two parents --crossover, mutation--> two children
          ^                                                                      |
          +---- the worst two give way to better children <--- local search -----+
                                                            (drop members)

How sets are evaluated and what local search does is in ``protoset.selectors._evaluation``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset._progress import report, reporter
from protoset._validation import check_count, check_probability
from protoset.selectors._evaluation import Individual, SetEvaluator, search_order
from protoset.selectors._limits import Callback, SearchLimits, check_limits
from protoset.selectors._population import Population, Threshold
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace

CHANCE = 1 / 16
"""Probability that a child no better than the worst goes through local search."""


@dataclass(frozen=True, eq=False)
class Evolution:
    """What a memetic search found.

    Attributes
    ----------
    best : Individual
    n_evaluations : float
        Evaluations spent; an attempt of a local search is a part of one.
    n_iter : int
        Generations.
    """

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

    Parameters
    ----------
    space : TrainingSpace
    order : ndarray of int32, shape (n_objects, length)
        Nearest others of each object, nearest first, as ``search_order`` finds them; any length.
    codes : ndarray of int
        Class of each object.
    n_neighbors, population_size, max_evaluations, crossover, mutation
        As in :class:`SSMA`.
    random_state : RandomState
    limits : SearchLimits, optional
        When to end early, with the best set so far.

    Returns
    -------
    Evolution
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
            coin, *luck = random_state.random_sample(3)
            threshold.update(population.best, coin)
            first, second = population.tournament(random_state), population.tournament(random_state)
            worst, children = population.worst, []
            for parents, chance in zip(((first, second), (second, first)), luck, strict=True):
                child = evaluator.breed(*parents, crossover, mutation, state)
                if child.score > worst.score or chance < CHANCE:
                    child, spent = evaluator.improve(child, threshold.value, state, ended)
                    n_losers += spent
                children.append(child)
            n_iter += 1
            population.admit(children)
    limits.warn(n_evaluations(), max_evaluations)
    return Evolution(population.best, n_evaluations(), n_iter)


class SSMA(BaseSelector):
    """Steady-state memetic algorithm: evolves sets that are small and classify the training set well.

    The fitness of a set is the mean of two percentages: of training objects that their nearest
    prototypes classify correctly (an object never votes for itself), and of objects left out. Each
    generation breeds two sets from two of the population; promising ones, and a few others, go through
    a local search that drops prototypes, and they take the places of the worst if they are better.

    Parameters
    ----------
    population_size : int, default=30
        Number of sets that evolve, at least 2.
    max_evaluations : int, default=10_000
        Evaluations to spend: one for each set bred, and in local search the share of the objects that
        lose a voter in each attempt to drop a prototype. The generation that reaches it is completed.
    crossover : float, default=0.5
        Probability that a bit of a child is that of its second parent.
    mutation : float, default=0.001
        Probability that a bit of a child flips.
    n_neighbors : int, default=1
        How many nearest prototypes vote; all of them where there are fewer.
    max_time : float, optional
        Seconds after which the search ends with the best set so far, and a ``ConvergenceWarning``.
        Ctrl-C during the search does the same. Finding everyone's neighbours comes before the search.
    callback : callable, optional
        Called at least once in each generation with a :class:`SearchProgress`; ends the search by
        returning True.
    metric : str or callable, default="euclidean"
        Dissimilarity between objects, as in :class:`REPS`. The nearest 8 sqrt(n) others of each object are
        searched (at least 256). An object for which they do not suffice gets a list of all others, as
        far as 192 MB go (which is for everyone up to 7,094 objects); what they leave out is computed at
        each use.
    metric_params : dict, optional
        Arguments of the metric.
    n_jobs : int, optional
        Workers of the neighbour search. Changes no result.
    random_state : int or RandomState, optional
        Draws the population and all that happens to it.
    verbose : int, default=0
        Above 0, print the stages to stderr.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The objects kept, ascending.
    accuracy_ : float
        Leave-one-out accuracy on the training set, before any class's medoid was added.
    fitness_ : float
        Fitness of the set, from 0 to 100, before any class's medoid was added.
    n_evaluations_ : float
        Evaluations spent.
    n_iter_ : int
        Generations.
    classes_ : ndarray
        The labels, sorted.
    fallback_classes_ : ndarray
        The labels of which the method kept nothing, so that the medoid of the class was added.
    n_distances_ : int
        Dissimilarities asked for; a search for everyone's neighbours asks for each pair once.

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
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.population_size = population_size
        self.max_evaluations = max_evaluations
        self.crossover = crossover
        self.mutation = mutation
        self.n_neighbors = n_neighbors
        self.max_time = max_time
        self.callback = callback
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("population_size", self.population_size, least=2, remedy="pass the number of sets that evolve")
        check_count("max_evaluations", self.max_evaluations, least=1, remedy="pass the number of sets to evaluate")
        check_probability("crossover", self.crossover)
        check_probability("mutation", self.mutation)
        check_limits(self.max_time, self.callback)

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        k = min(self.n_neighbors, len(codes) - 1)
        report(self.verbose, "searching the neighbours of %d objects", len(codes))
        order = search_order(space, k, self.n_jobs, reporter(self.verbose, "pairs compared"))
        found = ssma(
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
        self.accuracy_ = found.best.hits / len(codes)
        self.fitness_ = found.best.fitness
        self.n_evaluations_, self.n_iter_ = found.n_evaluations, found.n_iter
        return np.flatnonzero(found.best.member)
