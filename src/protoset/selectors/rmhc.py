"""RMHC, random mutation hill climbing (Skalak 1994): a set of fixed size, improved one swap at a time.

A swap puts an outsider in the place of a member, and stays if more objects are then classified correctly.
How swaps are tried is in ``protoset.selectors._climbing``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset._validation import check_count
from protoset.selectors import _climbing
from protoset.selectors._limits import Callback, SearchLimits, check_limits
from protoset.selectors.allocation import check_size, resolve_size
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace

QUICK = 0.05
"""Seconds that a chunk of mutations may take for the next one to be longer."""

DRAWS = 4096
"""Mutations whose random numbers are drawn at a time."""


@dataclass(frozen=True, eq=False)
class Climb:
    """A set found by hill climbing.

    Attributes
    ----------
    members : ndarray of int
        The objects kept, ascending.
    hits : int
        Objects that their nearest members classify correctly, leaving each out of its own vote.
    n_swaps : int
        Mutations that stayed.
    n_evaluations : int
        Mutations tried.
    """

    members: np.ndarray
    hits: int
    n_swaps: int
    n_evaluations: int


def rmhc(
    space: TrainingSpace,
    codes: np.ndarray,
    start: np.ndarray,
    *,
    n_neighbors: int = 1,
    max_iter: int = 10_000,
    random_state: np.random.RandomState,
    limits: SearchLimits | None = None,
) -> Climb:
    """Improve a set by random swaps.

    Parameters
    ----------
    space : TrainingSpace
    codes : ndarray of int
        Class of each object.
    start : ndarray of int
        The members to begin with.
    n_neighbors, max_iter
        As in :class:`RMHC`.
    random_state : RandomState
    limits : SearchLimits, optional
        When to end early, with the best set so far.

    Returns
    -------
    Climb
    """
    limits = SearchLimits() if limits is None else limits
    climber = _climbing.Climber(space, codes, start, n_neighbors)
    found = (np.sort(start), climber.n_hits, 0)
    done = 0
    with limits.interruptible():
        for places, outside_places in _draws(max_iter, len(start), len(codes) - len(start), random_state):
            if limits.reached(done, max_iter, found[1] / len(codes), len(start)):
                break
            for members, hits in climber.improvements(places, outside_places):
                # In one assignment: an interruption, which may come anywhere, must never see half a swap.
                found = (members, hits, found[2] + 1)
            done += len(places)
    limits.warn(done, max_iter)
    return Climb(*found, n_evaluations=done)


def _draws(
    max_iter: int, n_members: int, n_outside: int, random_state: np.random.RandomState
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random places in the set and outside it, a chunk of mutations at a time; none where nobody is outside."""
    for first in range(0, max_iter if n_outside else 0, DRAWS):
        # All of them even for a few mutations, so that a short search is the beginning of a longer one.
        places, outside_places = (
            random_state.randint(n_members, size=DRAWS),
            random_state.randint(n_outside, size=DRAWS),
        )
        size = min(DRAWS, max_iter - first)
        start, step = 0, 1
        while start < size:
            chunk = slice(start, min(start + step, size))
            began = time.monotonic()
            yield places[chunk], outside_places[chunk]
            start = chunk.stop
            if time.monotonic() - began < QUICK:
                step = min(2 * step, _climbing.CHUNK)


class RMHC(BaseSelector):
    """Random mutation hill climbing: improves a random set of fixed size, one swap at a time.

    Each mutation swaps a random member for a random outsider, and stays if the number of training
    objects that their nearest prototypes classify correctly rises (an object never votes for itself).

    Parameters
    ----------
    n_prototypes : int or float, default=0.1
        Size of the set: an int is a count, a float in (0, 1] a rate. A class without a prototype at
        the end gets its medoid on top.
    n_neighbors : int, default=1
        How many nearest prototypes vote; all of them where there are fewer.
    max_iter : int, default=10_000
        Mutations to try.
    max_time : float, optional
        Seconds after which the search ends with the best set so far, and a ``ConvergenceWarning``.
        Ctrl-C during the search does the same. The distances to the first set come before the search.
    callback : callable, optional
        Called every 32 mutations with a :class:`SearchProgress`; ends the search by returning True.
    metric : str or callable, default="euclidean"
        Dissimilarity between objects, as in :class:`REPS`. Distances to single objects are kept in up to
        256 MB of memory, which hold all of them for 5,792 objects; the others are computed at each use.
    metric_params : dict, optional
        Arguments of the metric.
    n_jobs : int, optional
        Workers of searches; this method makes none.
    random_state : int or RandomState, optional
        Draws the start and the mutations.
    verbose : int, default=0
        Above 0, print the stages to stderr.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The objects kept, ascending.
    accuracy_ : float
        Leave-one-out accuracy on the training set, before any class's medoid was added.
    n_evaluations_ : int
        The same as ``n_iter_``, by the name that compares it with :class:`SSMA`.
    n_swaps_ : int
        Mutations that stayed.
    n_iter_ : int
        Mutations tried.
    classes_ : ndarray
        The labels, sorted.
    fallback_classes_ : ndarray
        The labels of which the method kept nothing, so that the medoid of the class was added.
    n_distances_ : int
        Dissimilarities asked for; a search for everyone's neighbours asks for each pair once.

    References
    ----------
    D. B. Skalak, "Prototype and feature selection by sampling and random mutation hill climbing
    algorithms", Proceedings of the 11th International Conference on Machine Learning (1994) 293-301.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import RMHC
    >>> X, y = load_iris(return_X_y=True)
    >>> len(RMHC(0.1, random_state=0).fit(X, y).sample_indices_)
    15
    """

    def __init__(
        self,
        n_prototypes: int | float = 0.1,
        *,
        n_neighbors: int = 1,
        max_iter: int = 10_000,
        max_time: float | None = None,
        callback: Callback | None = None,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.n_prototypes = n_prototypes
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.max_time = max_time
        self.callback = callback
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_size(self.n_prototypes)
        check_count("max_iter", self.max_iter, least=1, remedy="pass the number of mutations to try")
        check_limits(self.max_time, self.callback)

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        random_state = check_random_state(self.random_state)
        size = resolve_size(self.n_prototypes, np.bincount(codes), "global")
        found = rmhc(
            space,
            codes,
            random_state.permutation(len(codes))[:size],
            n_neighbors=min(self.n_neighbors, len(codes) - 1),
            max_iter=self.max_iter,
            random_state=random_state,
            limits=SearchLimits(self.max_time, self.callback, self.verbose, "mutations"),
        )
        self.accuracy_ = found.hits / len(codes)
        self.n_swaps_ = found.n_swaps
        self.n_evaluations_ = self.n_iter_ = found.n_evaluations
        return found.members
