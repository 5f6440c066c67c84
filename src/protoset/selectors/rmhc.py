"""RMHC, random mutation hill climbing (Skalak 1994): a set of fixed size, improved one swap at a time.

A swap replaces a member of the set by an outsider. It is kept if more objects are then classified
correctly. ``protoset.selectors._hill_climbing`` tries the swaps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset._validation import check_count
from protoset.selectors import _hill_climbing
from protoset.selectors._limits import Callback, SearchLimits, check_limits
from protoset.selectors.allocation import check_size, resolve_size
from protoset.selectors.base import BaseSelector, TieRule
from protoset.spaces import TrainingSpace

SHORT_CHUNK_SECONDS = 0.05
"""Seconds: after a chunk of mutations that took less time, the next chunk is twice as long."""

MUTATIONS_PER_DRAW = 4096
"""Number of mutations whose random numbers are drawn at a time."""


@dataclass(frozen=True, eq=False)
class Climb:
    """A set found by hill climbing; ``members`` are ascending.

    ``hits`` counts the objects that their nearest members classify correctly, leave-one-out; ``n_swaps`` the swaps that
    were kept, ``n_evaluations`` the swaps tried.
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
    tie_rule: TieRule = "majority",
    random_state: np.random.RandomState,
    limits: SearchLimits | None = None,
) -> Climb:
    """Improve the set ``start`` by random swaps; ``limits`` may end the search early, with the best set so far."""
    limits = SearchLimits() if limits is None else limits
    climber = _hill_climbing.Climber(space, codes, start, n_neighbors, tie_rule)
    best = (np.sort(start), climber.n_hits, 0)
    n_tried = 0
    with limits.interruptible():
        for leaving, entering in _random_swaps(max_iter, len(start), len(codes) - len(start), random_state):
            if limits.reached(n_tried, max_iter, best[1] / len(codes), len(start)):
                break
            for members, hits in climber.improvements(leaving, entering):
                # One assignment, because an interruption may come anywhere and must not see half a swap.
                best = (members, hits, best[2] + 1)
            n_tried += len(leaving)
    limits.warn(n_tried, max_iter)
    return Climb(*best, n_evaluations=n_tried)


def _random_swaps(
    max_iter: int, n_members: int, n_outside: int, random_state: np.random.RandomState
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random positions among the members and among the outsiders, a chunk of swaps at a time."""
    for first in range(0, max_iter if n_outside else 0, MUTATIONS_PER_DRAW):
        # Always a full draw, so that a short search is the beginning of a longer one.
        leaving, entering = (
            random_state.randint(n_members, size=MUTATIONS_PER_DRAW),
            random_state.randint(n_outside, size=MUTATIONS_PER_DRAW),
        )
        size = min(MUTATIONS_PER_DRAW, max_iter - first)
        start, step = 0, 1
        while start < size:
            chunk = slice(start, min(start + step, size))
            began = time.monotonic()
            yield leaving[chunk], entering[chunk]
            start = chunk.stop
            if time.monotonic() - began < SHORT_CHUNK_SECONDS:
                step = min(2 * step, _hill_climbing.MAX_CHUNK)


class RMHC(BaseSelector):
    """Random mutation hill climbing: improves a random set of fixed size, one swap at a time.

    Each mutation replaces a random prototype by a random object outside the set. The mutation is kept if the nearest
    prototypes then classify more training objects correctly, by leave-one-out.

    Parameters
    ----------
    n_prototypes : int or float, default=0.1
        Number of prototypes. An int is a count, a float in (0, 1] is a rate. If a class has no prototype at the end,
        its medoid is added.
    n_neighbors : int, default=1
        Number of nearest prototypes that vote.
    max_iter : int, default=10_000
        Number of mutations to try.
    tie_rule : {"majority", "row_order"}, default="majority"
        Which of several equally near prototypes votes first. "majority": the prototype of the more frequent class.
        "row_order": the prototype in the earlier row.
    max_time : float, optional
        Seconds after which the search stops with the best set so far and a ``SearchStoppedWarning``.
        Ctrl-C also stops the search.
    callback : callable, optional
        Called at most every 32 mutations with a :class:`SearchProgress`. Return True to stop the search.
    n_jobs : int, optional
        Not used: this method does no parallel work.
    random_state : int or RandomState, optional
        Draws the first set and the mutations.
    metric, metric_params, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    accuracy_ : float
        Leave-one-out accuracy on the training set, before medoids were added.
    n_evaluations_ : int
        Equal to ``n_iter_``; :class:`SSMA` has an attribute of the same name.
    n_swaps_ : int
        Mutations that were kept.
    n_iter_ : int
        Mutations tried.
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

    Notes
    -----
    ``max_time`` does not count the distances to the first set, which are computed before the search.
    Up to 256 MB of distances are kept, which is enough for all pairs of 5,792 objects. Other distances are computed at
    each use.

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
        tie_rule: TieRule = "majority",
        max_time: float | None = None,
        callback: Callback | None = None,
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.n_prototypes = n_prototypes
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tie_rule = tie_rule
        self.max_time = max_time
        self.callback = callback
        self.random_state = random_state

    def _check_parameters(self) -> dict[str, Any]:
        return {
            **super()._check_parameters(),
            "n_prototypes": check_size(self.n_prototypes),
            "max_iter": check_count("max_iter", self.max_iter, least=1, remedy="pass the number of mutations to try"),
            **check_limits(self.max_time, self.callback),
        }

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        random_state = check_random_state(self.random_state)
        size = resolve_size(self.n_prototypes, np.bincount(codes), "global")
        climb = rmhc(
            space,
            codes,
            random_state.permutation(len(codes))[:size],
            n_neighbors=min(self.n_neighbors, len(codes) - 1),
            max_iter=self.max_iter,
            tie_rule=self.tie_rule,
            random_state=random_state,
            limits=SearchLimits(self.max_time, self.callback, self.verbose, "mutations"),
        )
        self.accuracy_ = climb.hits / len(codes)
        self.n_swaps_ = climb.n_swaps
        self.n_evaluations_ = self.n_iter_ = climb.n_evaluations
        return climb.members
