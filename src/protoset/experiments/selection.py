"""The methods on one fold: the prototypes of each, their cost, and their predictions.

REPS gives every size from one fit, so one ranking serves all sizes and their refinements. Sets whose prototypes move
are fitted by a ``PrototypeClassifier``, size by size.
"""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from protoset._validation import is_number
from protoset.adaptation import AdaptSettings
from protoset.adaptation.checks import check_movable
from protoset.classifier import PrototypeClassifier
from protoset.decisions import RankRule, decide, learn_degradations, leave_one_out
from protoset.decisions.degradations import warn_of_hopeless_classes
from protoset.experiments.folds import Fold
from protoset.experiments.plan import EVERYTHING, GUESS, NEIGHBORS, as_json
from protoset.models import MethodSpec, reference_errors, vote_of_neighbors
from protoset.models.known_distances import KnownDistances
from protoset.models.methods import ADAPTED_PARAMETERS, RUN_PARAMETERS
from protoset.selectors import REPS, Refinement, refine
from protoset.selectors.ties import MajorityVote, counts_of
from protoset.spaces import CountedSpace, PrototypeSpace, make_space


@dataclass(frozen=True, eq=False)
class Selection:
    """The prototypes of a method: ascending positions among the training objects.

    ``counts`` are the votes of the prototypes where several are equally near; 1 each by default. ``n_distances`` counts
    the dissimilarities that the method asked for; ``counters`` has its other numbers. k-NN on everything has
    ``n_neighbors``; the method that always guesses has an ``answer``. Prototypes that moved have a space, ``moved``.
    """

    kept: np.ndarray
    counts: np.ndarray | None = None
    degradations: np.ndarray | None = None
    n_distances: int = 0
    counters: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    n_neighbors: int | None = None
    answer: int | None = None
    moved: PrototypeSpace | None = None

    def predict(self, fold: Fold, rule: RankRule = "nearest") -> np.ndarray:
        """Predict the classes of the test objects."""
        if rule != "nearest" and (self.answer is not None or self.n_neighbors is not None):
            name = "kNN" if self.answer is None else "guess"
            raise ValueError(f"rule={rule!r} needs prototypes, but {name} has none; use rule='nearest'")
        if self.answer is not None:
            return np.full(len(fold.test), self.answer)
        if self.n_neighbors is not None:
            return vote_of_neighbors(fold.queries, fold.labels, self.n_neighbors)
        counts = np.ones(len(self.kept)) if self.counts is None else self.counts
        sizes = np.bincount(fold.labels, minlength=len(fold.classes)).astype(float)
        vote = MajorityVote(fold.labels[self.kept], counts, sizes)
        if self.moved is not None:
            winners, _ = self.moved.cross(fold.test_objects()).nearest(choose=vote)
        elif rule == "nearest":
            winners, _ = fold.queries.nearest(columns=self.kept, choose=vote)
        else:
            degradations = self.degradations
            if degradations is None:
                degradations = learn_degradations(leave_one_out(fold.space, fold.labels, self.kept), vote)
            warn_of_hopeless_classes(degradations, fold.labels[self.kept], fold.classes)
            winners = decide(fold.queries.block(slice(None), self.kept), degradations, vote).winners
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
        if spec.selector == GUESS:
            return Selection(np.empty(0, int), answer=int(np.bincount(self.fold.labels).argmax()))
        if spec.selector == NEIGHBORS:
            return self._neighbors()
        load_kernels(spec.selector)
        if isinstance(size, int):
            size = max(size, self._n_classes)
        if spec.moves is not None:
            return self._adapted(spec, spec.moves, seed, size)
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
        ranking = selector if isinstance(selector, REPS) and refined is None else None
        return Selection(
            kept,
            counts_of(selector, kept),
            None if ranking is None else ranking.degradations_[kept],
            int(n_distances),
            _counters(selector, refined),
            _parameters(selector, spec, size),
            shared[0] + time.process_time() - cpu,
            shared[1] + time.perf_counter() - wall,
        )

    def _adapted(
        self, spec: MethodSpec, moves: dict[str, Any], seed: int | None, size: int | float | None
    ) -> Selection:
        """Select prototypes, and move them."""
        space = self.fold.space
        check_movable(space.objects if isinstance(space, KnownDistances) else space)
        sized = spec if size is None else replace(spec, parameters=spec.parameters | {"n_prototypes": size})
        classifier = PrototypeClassifier(sized.build(random_state=seed), adapt=moves | {"random_state": seed})
        load_moves(self.fold)
        cpu, wall = time.process_time(), time.perf_counter()
        classifier.fit(space, self.fold.labels)
        seconds = time.process_time() - cpu, time.perf_counter() - wall
        selector, adaptation = classifier.selector_, classifier.adaptation_
        assert adaptation is not None
        counters = {
            "n_passes_of_moves": adaptation.n_passes,
            "held_out_before": adaptation.held_out_before,
            "held_out_after": adaptation.held_out_after,
        }
        kept = classifier.sample_indices_
        return Selection(
            kept,
            counts_of(selector, kept),
            n_distances=int(selector.n_distances_),
            counters=_counters(selector, getattr(selector, "refinement_", None)) | counters,
            parameters=_parameters(selector, spec, size) | _parameters_of_moves(moves),
            cpu_seconds=seconds[0],
            wall_seconds=seconds[1],
            moved=classifier._prototypes if adaptation.has_moved else None,
        )

    def _neighbors(self) -> Selection:
        """Keep everything, and choose the number of neighbours by leave-one-out."""
        load_kernels(NEIGHBORS)
        cpu, wall = time.process_time(), time.perf_counter()
        counted = CountedSpace(self.fold.space)
        k = reference_errors(counted, self.fold.labels).k
        return Selection(
            np.arange(len(self.fold.train)),
            n_distances=counted.n_distances,
            counters={"k": k},
            cpu_seconds=time.process_time() - cpu,
            wall_seconds=time.perf_counter() - wall,
            n_neighbors=k,
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
    if name == NEIGHBORS:
        reference_errors(space, labels)
        return
    selector = MethodSpec(name).build()
    few = {"n_prototypes": 4, "max_evaluations": 40, "max_iter": 40}
    selector.set_params(**{name: value for name, value in few.items() if name in selector.get_params()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(space, labels)
        refine(space, labels, selector.sample_indices_)


_metrics_with_loaded_moves: set[str] = set()


def load_moves(fold: Fold) -> None:
    """Move prototypes among a few objects of a fold, so that no measured time includes the loading of compiled code."""
    if fold.space.metric in _metrics_with_loaded_moves:
        return
    _metrics_with_loaded_moves.add(fold.space.metric)
    some = np.concatenate([np.flatnonzero(fold.labels == label)[:12] for label in np.unique(fold.labels)[:2]])
    classifier = PrototypeClassifier(REPS(2), adapt={"n_passes": 1})
    # If this fails, the fit of the fold fails too, and gives the reason.
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        classifier.fit(fold.space.subset(some), fold.labels[some])


def _parameters_of_moves(moves: dict[str, Any]) -> dict[str, Any]:
    """All parameters of the moves."""
    settings = AdaptSettings(**moves)
    return {"adapt": True} | {name: getattr(settings, argument) for name, argument in ADAPTED_PARAMETERS.items()}


def _parameters(selector: Any, spec: MethodSpec, size: int | float | None) -> dict[str, Any]:
    """All parameters of a fitted method that change its result."""
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
