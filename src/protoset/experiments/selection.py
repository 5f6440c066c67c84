"""The methods on one fold: the prototypes of each, their cost, and their predictions.

REPS gives every size from one fit, so one ranking serves all sizes and their refinements.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from protoset._validation import is_number
from protoset.classifier import Rule, decide, warn_of_hopeless_classes
from protoset.experiments.folds import Fold
from protoset.experiments.plan import EVERYTHING, as_json
from protoset.models import MethodSpec
from protoset.models.methods import RUN_PARAMETERS
from protoset.selectors import REPS, Refinement, refine
from protoset.spaces import make_space


@dataclass(frozen=True, eq=False)
class Selection:
    """The prototypes of a method: ascending positions among the training objects.

    ``n_distances`` counts the dissimilarities that the method asked for; ``counters`` has its other numbers.
    """

    kept: np.ndarray
    degradations: np.ndarray | None = None
    n_distances: int = 0
    counters: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    def predict(self, fold: Fold, rule: Rule = "nearest") -> np.ndarray:
        """Predict the classes of the test objects."""
        if rule == "nearest":
            winners, _ = fold.queries.nearest(columns=self.kept)
        elif self.degradations is None:
            raise ValueError(f"rule={rule!r} needs degradations, which only REPS learns; use rule='nearest'")
        else:
            warn_of_hopeless_classes(self.degradations, fold.labels[self.kept], fold.classes)
            decision = decide(fold.queries.block(slice(None), self.kept), self.degradations)
            best = decision.adjusted_ranks.argmin(axis=1)
            winners = decision.order[np.arange(len(best)), best]
        return fold.labels[self.kept[winners]]


class FoldSelector:
    """Selects prototypes by any method on one fold."""

    def __init__(self, fold: Fold):
        self.fold = fold
        self._n_classes = len(np.unique(fold.labels))
        self._rankings: dict[str, tuple[REPS, tuple[float, float]]] = {}

    def select(self, spec: MethodSpec, seed: int | None, size: int | float | None) -> Selection:
        """Select prototypes; ``size`` is a count, a rate, or None where the method itself decides."""
        if spec.selector == EVERYTHING:
            return Selection(np.arange(len(self.fold.train)))
        load_kernels(spec.selector)
        if isinstance(size, int):
            size = max(size, self._n_classes)
        cpu, wall = time.process_time(), time.perf_counter()
        if spec.selector == "REPS" and size is not None:
            selector, shared = self._ranked(spec)
            kept = selector.select(size)
            refined, n_distances = None, selector.n_distances_
            if spec.refined:
                options = spec.refined_parameters
                refined = refine(self.fold.space, self.fold.labels, kept, random_state=seed, **options)
                kept, n_distances = refined.indices, n_distances + refined.n_distances
        else:
            sized = spec if size is None else replace(spec, parameters=spec.parameters | {"n_prototypes": size})
            selector, shared = sized.build(random_state=seed).fit(self.fold.space, self.fold.labels), (0.0, 0.0)
            kept, n_distances = selector.sample_indices_, selector.n_distances_
            refined = getattr(selector, "refinement_", None)
        degradations = getattr(selector, "degradations_", None)
        return Selection(
            kept,
            None if degradations is None else degradations[kept],
            int(n_distances),
            _counters(selector, refined),
            _parameters(selector, spec, size),
            shared[0] + time.process_time() - cpu,
            shared[1] + time.perf_counter() - wall,
        )

    def _ranked(self, spec: MethodSpec) -> tuple[REPS, tuple[float, float]]:
        """Return a fit of REPS whose ranking all sizes share, and the CPU and wall time that it took before."""
        key = as_json(spec.parameters)
        if key in self._rankings:
            return self._rankings[key]
        cpu, wall = time.process_time(), time.perf_counter()
        own = {name: value for name, value in spec.parameters.items() if name not in spec.refined_parameters}
        ranked = MethodSpec("REPS", own | {"n_prototypes": 1.0}).build()
        ranked.fit(self.fold.space, self.fold.labels)
        self._rankings[key] = ranked, (time.process_time() - cpu, time.perf_counter() - wall)
        return ranked, (0.0, 0.0)


@cache
def load_kernels(name: str) -> None:
    """Run a method once on a few objects, so that no measured time includes the loading of compiled code."""
    points = np.arange(24.0)
    space, labels = make_space(np.abs(points[:, None] - points), "precomputed"), np.arange(24) // 3 % 2
    selector = MethodSpec(name).build()
    few = {"n_prototypes": 4, "max_evaluations": 40, "max_iter": 40}
    selector.set_params(**{name: value for name, value in few.items() if name in selector.get_params()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(space, labels)
        refine(space, labels, selector.sample_indices_)


def _parameters(selector: Any, spec: MethodSpec, size: int | float | None) -> dict[str, Any]:
    """All parameters of a fitted method that say what it is."""
    every = getattr(selector, "selector_", selector).get_params() | spec.refined_parameters | {"refine": spec.refined}
    every |= {} if size is None else {"n_prototypes": size}
    return {
        name: value
        for name, value in every.items()
        if name not in RUN_PARAMETERS and not isinstance(value, BaseEstimator)
    }


def _counters(selector: Any, refined: Refinement | None) -> dict[str, Any]:
    """Numbers among the attributes of a fitted selector and of its refinement."""
    counters = {
        name.rstrip("_"): value.item() if isinstance(value, np.generic) else value
        for name, value in (vars(getattr(selector, "selector_", selector)) | vars(selector)).items()
        if name.endswith("_") and not name.startswith("_") and is_number(value)
    }
    for name in ("n_features_in", "n_distances"):
        counters.pop(name, None)
    counters["n_fallback_classes"] = len(selector.fallback_classes_)
    if refined is not None:
        counters |= {"n_swaps": refined.n_swaps, "n_passes": refined.n_passes, "objective": refined.objective_after}
    return {name: value if np.isfinite(value) else None for name, value in counters.items()}
