"""The methods on one fold: what each keeps, and what it costs.

REPS gives every size from one fit, so one ranking serves all sizes and their refinements.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from protoset._validation import is_number
from protoset.experiments.distances import FoldDistances
from protoset.experiments.plan import EVERYTHING, Method
from protoset.selectors import REPS, BaseSelector, Refined, Refinement, all_selectors, refine
from protoset.spaces import make_space

RUNTIME = ("metric", "metric_params", "n_jobs", "verbose", "callback", "random_state")
"""Parameters that say how a method is run, not what it is."""


@dataclass(frozen=True, eq=False)
class Selection:
    """What a method kept.

    Attributes
    ----------
    kept : ndarray of int
        Positions among the training objects, ascending.
    n_distances : int
    counters : dict
        What else the method counted.
    parameters : dict
        All parameters of the method.
    cpu_seconds, wall_seconds : float
    """

    kept: np.ndarray
    n_distances: int
    counters: dict[str, Any]
    parameters: dict[str, Any]
    cpu_seconds: float
    wall_seconds: float


class FoldMethods:
    """The methods on one fold.

    Parameters
    ----------
    fold : FoldDistances
    """

    def __init__(self, fold: FoldDistances):
        self.fold = fold
        self._rankings: dict[str, tuple[REPS, float, float]] = {}

    def select(self, method: Method, seed: int | None, size: int | float | None) -> Selection:
        """Select prototypes; ``size`` is a count, a rate, or None where the method says how many itself."""
        if method.selector == EVERYTHING:
            return Selection(np.arange(len(self.fold.train)), 0, {}, {}, 0.0, 0.0)
        load_kernels(method.selector)
        # A method without seeds of its own may be here once per seed of the method whose size it takes.
        seed = None if method.seeds is None else seed
        cpu, wall = time.process_time(), time.perf_counter()
        if method.selector == "REPS" and size is not None:
            selector, kept, shared = self._ranked(method, size)
            refined = self._refine(kept, method, seed) if method.refine else None
        else:
            selector, shared = self._make(method, seed, size), (0.0, 0.0)
            selector.fit(self.fold.objects, self.fold.labels)
            kept = selector.sample_indices_
            refined = self._refine(kept, method, seed) if method.refine and method.selector != "REPS" else None
        if refined is not None:
            kept = refined.indices
        inner: Any = getattr(selector, "selector_", selector)
        parameters = {name: value for name, value in inner.get_params(deep=False).items() if name not in RUNTIME}
        parameters |= {"refine": method.refine} | ({} if size is None else {"n_prototypes": size})
        return Selection(
            kept,
            int(selector.n_distances_) + (0 if refined is None else refined.n_distances),
            _counters(selector, refined),
            parameters,
            shared[0] + time.process_time() - cpu,
            shared[1] + time.perf_counter() - wall,
        )

    def _make(self, method: Method, seed: int | None, size: int | float | None) -> Any:
        arguments = dict(method.parameters, metric=self.fold.metric, metric_params=self.fold.metric_params)
        if size is not None:
            arguments["n_prototypes"] = max(size, self._n_classes) if isinstance(size, int) else size
        if seed is not None and "random_state" in selector_classes()[method.selector]().get_params():
            arguments["random_state"] = seed
        selector = selector_classes()[method.selector](**arguments)
        if method.refine and method.selector == "REPS":
            return Refined(selector, random_state=seed)
        return selector

    @property
    def _n_classes(self) -> int:
        return len(np.unique(self.fold.labels))

    def _ranked(self, method: Method, size: int | float) -> tuple[REPS, np.ndarray, tuple[float, float]]:
        """Cut the ranking that all sizes and refinements of REPS share; also the seconds that it took before."""
        key = json.dumps(method.parameters, sort_keys=True)
        shared = (0.0, 0.0)
        if key in self._rankings:
            ranked, *seconds = self._rankings[key]
            shared = (seconds[0], seconds[1])
        else:
            cpu, wall = time.process_time(), time.perf_counter()
            ranked = self._make(Method("", "REPS", method.parameters), None, 1.0)
            ranked.fit(self.fold.objects, self.fold.labels)
            self._rankings[key] = ranked, time.process_time() - cpu, time.perf_counter() - wall
        size = max(size, self._n_classes) if isinstance(size, int) else size
        return ranked, ranked.select(size), shared

    def _refine(self, kept: np.ndarray, method: Method, seed: int | None) -> Refinement:
        return refine(self.fold.space, self.fold.labels, kept, random_state=seed)


@cache
def selector_classes() -> dict[str, type[BaseSelector]]:
    """Return all selectors by name."""
    return dict(all_selectors())


@cache
def load_kernels(name: str) -> None:
    """Run a method once on a few objects, so that no time that is measured includes loading compiled code."""
    points = np.arange(24.0)
    matrix, labels = np.abs(points[:, None] - points), np.arange(24) // 3 % 2
    selector = selector_classes()[name](metric="precomputed")
    few = {"n_prototypes": 4, "max_evaluations": 40, "max_iter": 40}
    selector.set_params(**{name: value for name, value in few.items() if name in selector.get_params()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(matrix, labels)
        refine(make_space(matrix, "precomputed"), labels, selector.sample_indices_)


def _counters(selector: Any, refined: Refinement | None) -> dict[str, Any]:
    """Numbers that a fitted selector and its refinement tell of themselves."""
    found = {
        name.rstrip("_"): value.item() if isinstance(value, np.generic) else value
        for name, value in (vars(getattr(selector, "selector_", selector)) | vars(selector)).items()
        if name.endswith("_") and not name.startswith("_") and is_number(value)
    }
    for name in ("n_features_in", "n_distances"):
        found.pop(name, None)
    found["n_fallback_classes"] = len(selector.fallback_classes_)
    refined = getattr(selector, "refinement_", None) if refined is None else refined
    if refined is not None:
        found |= {"n_swaps": refined.n_swaps, "n_passes": refined.n_passes, "objective": refined.objective_after}
    return {name: value if np.isfinite(value) else None for name, value in found.items()}
