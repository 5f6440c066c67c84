"""Refinement: better prototypes of the same number, for the set of any method.

The search is in ``protoset.selectors._improving``. This file has its arguments, its defaults, and the sample that is
used in place of very many objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protoset._validation import (
    check_count,
    check_jobs,
    check_positions,
    check_real,
    check_seed,
    check_verbose,
    is_count,
    name_rows,
)
from protoset.selectors._distinct import DistinctObjects, TrainingSet
from protoset.selectors._improving import CROWDED, HASTY, LIST_REACH, PATIENT, Refinement, improve
from protoset.selectors._limits import Callback, SearchLimits, check_limits
from protoset.selectors._refinable_set import APPROXIMATE_LISTS_FROM, MATRIX_BYTES, plan_candidates
from protoset.selectors._weights import ClassWeight, check_class_weight, refuse_unknown_labels
from protoset.spaces import CountedSpace, TrainingSpace, as_space
from protoset.spaces._approximate import approximate_search_bytes

FEW_OBJECTS = 2048
"""Largest number of objects for the schedule ``PATIENT``; for more objects, ``HASTY`` is used."""

MANY_OBJECTS = 20_000
"""Number of objects above which the schedule ``CROWDED`` is used: with many prototypes each move saves little."""

REFINED_OBJECTS = 50_000
"""Number of objects above which the refinement uses a sample."""

OBJECTS_PER_PROTOTYPE = 16
"""Smallest number of objects per prototype in the sample."""

REFINED_OBJECT_BYTES = 256
"""Memory per object, in bytes, for its nearest prototypes and their losses."""


def refine(
    X: Any,
    y: Any,
    indices: Any,
    *,
    sample_weight: Any = None,
    class_weight: ClassWeight = None,
    metric: Any = "auto",
    metric_params: Mapping[str, Any] | None = None,
    n_prototypes: int | None = None,
    steepness: float | Sequence[float] | None = None,
    n_starts: int | None = None,
    max_objects: int | None = None,
    max_time: float | None = None,
    callback: Callback | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> Refinement:
    """Improve a set of prototypes of any method: swaps lower a smooth leave-one-out error.

    Parameters
    ----------
    X : array-like, or TrainingSpace
        The training objects, of the kind that ``metric`` compares, or their space.
    y : array-like of shape (n_objects,)
        Labels of the training objects.
    indices : array-like of int
        Positions of the prototypes to start from, at least one of each class. Of identical objects of one class, the
        first is used.
    sample_weight : array-like of shape (n_objects,), optional
        Weight of each object: a weight of 2 is the object twice, and an object of weight 0 is not used.
    class_weight : dict, "balanced" or None, default=None
        Cost of an error on an object of each class, as in :class:`REPS`.
    metric, metric_params
        Dissimilarity between objects, as in :class:`REPS`.
    n_prototypes : int, optional
        Number of prototypes of the refined set, at least the number of ``indices``. By default the number of
        ``indices``.
    steepness : float or sequence of float, optional
        Steepness of the loss in each step of the refinement. By default 10, 20, 40 for up to 2,048 objects, and 10, 40
        for more.
    n_starts : int, optional
        Number of sets to refine: the given set and random sets. The best refined set is returned. By default 8 for up
        to 2,048 objects, and 1 for more.
    max_objects : int, optional
        Number of objects to refine on: the given prototypes and a random sample. The refined prototypes come from
        these objects. By default 50,000, or 16 per prototype if that is more. The page "Many objects" of the
        documentation shows how much a sample increases the error.
    max_time : float, optional
        Seconds after which the best set so far is returned, with a ``SearchStoppedWarning``. The distances or
        neighbours are always computed completely; after that, Ctrl-C also returns the best set so far.
    callback : callable, optional
        Called regularly with a :class:`SearchProgress` of the current set; its unit of work is a step of steepness.
        Return True to end the search. With ``n_jobs`` it may be called in any thread, one call at a time.
    n_jobs : int, optional
        Number of workers that compute distances, search neighbours and refine several starts at the same time. It does
        not change any result.
    random_state : int or RandomState, optional
        Seed of the order of the candidates and of the random sets. With None a fixed seed is used.
    verbose : int, default=0
        Above 0, print progress to stderr.

    Returns
    -------
    Refinement
        The refined set, with its loss before and after.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset import refine
    >>> X, y = load_iris(return_X_y=True)
    >>> refined = refine(X, y, [0, 1, 50, 51, 100, 101])
    >>> bool(refined.objective_after < refined.objective_before)
    True
    """
    space = as_space(X, metric, metric_params, y=y)
    if space.partial:
        raise ValueError("refine needs dissimilarities that a sparse graph does not have; pass a dense matrix")
    class_weight = check_class_weight(class_weight)
    training = TrainingSet.of(space, y, sample_weight)
    refuse_unknown_labels(class_weight, training.objects.classes)
    start, budget = _check_set(training, indices, n_prototypes)
    refined = refine_distinct(
        training.distinct_space(space),
        training.objects,
        start,
        budget,
        class_weight=class_weight,
        steepness=steepness,
        n_starts=n_starts,
        max_objects=max_objects,
        max_time=max_time,
        callback=callback,
        n_jobs=n_jobs,
        random_state=random_state,
        verbose=verbose,
    )
    return replace(refined, indices=np.sort(training.rows[refined.indices]))


def refine_distinct(
    space: TrainingSpace,
    objects: DistinctObjects,
    start: np.ndarray,
    budget: int,
    *,
    class_weight: ClassWeight,
    steepness: Any,
    n_starts: Any,
    max_objects: Any,
    max_time: Any,
    callback: Any,
    n_jobs: Any,
    random_state: Any,
    verbose: Any,
) -> Refinement:
    """Improve a set of distinct objects; see :func:`refine`."""
    codes, costs = objects.codes, objects.costs(class_weight)
    hasty = HASTY if len(codes) <= MANY_OBJECTS else CROWDED
    default = PATIENT if len(codes) <= FEW_OBJECTS else hasty
    given = {name: value for name, value in check_schedule(steepness, n_starts).items() if value is not None}
    schedule = replace(default, **given)
    n_jobs, verbose = check_jobs(n_jobs), check_verbose(verbose)
    max_objects = check_max_objects(max_objects)
    generator = check_random_state(0 if random_state is None else check_seed(random_state))
    limits = SearchLimits(**check_limits(max_time, callback), verbose=verbose, what="steps of the refinement")
    n_sampled = objects_to_refine_on(len(codes), budget, max_objects)
    if n_sampled == budget < len(codes):
        raise ValueError(
            f"max_objects={max_objects!r} leaves no objects other than the {budget} prototypes to refine on; pass "
            f"about {10 * budget}"
        )
    members, refined_on = np.arange(len(codes)), space
    if n_sampled < len(codes) or space.remote:
        members = sample_with(start, codes, n_sampled, generator)
        refined_on, start = space.subset(members), np.searchsorted(members, start)
    refined = improve(
        refined_on,
        codes[members],
        start,
        budget,
        schedule,
        generator,
        counts=objects.counts[members],
        costs=costs[members],
        limits=limits,
        n_jobs=n_jobs,
    )
    if isinstance(space, CountedSpace) and refined_on is not space:
        space.n_distances += refined.n_distances
    return replace(refined, indices=members[refined.indices])


def refining_bytes(n_objects: int, n_prototypes: int, object_bytes: int, max_objects: int | None = None) -> int:
    """Memory of a refinement: the distances or lists of its objects, the search for the lists, and the objects."""
    m = objects_to_refine_on(n_objects, n_prototypes, max_objects)
    length, seen = plan_candidates(m, -(-LIST_REACH * m // n_prototypes))
    searched = 0
    if length > 0 and m >= APPROXIMATE_LISTS_FROM:
        searched = approximate_search_bytes(length, object_bytes, m, on_disk=False)
    return max(seen, searched) + m * (3 * object_bytes + REFINED_OBJECT_BYTES)


def keeps_matrix(objects: DistinctObjects) -> bool:
    """Whether a refinement of these objects keeps all their distances, for any number of prototypes."""
    return (len(objects) + int((objects.counts > 1).sum())) ** 2 * 8 <= MATRIX_BYTES


def objects_to_refine_on(n_objects: int, n_prototypes: int, max_objects: int | None = None) -> int:
    """Number of objects that a refinement works on."""
    most = max(REFINED_OBJECTS, OBJECTS_PER_PROTOTYPE * n_prototypes) if max_objects is None else max_objects
    return min(n_objects, max(most, n_prototypes))


def sample_with(members: np.ndarray, codes: np.ndarray, size: int, random_state: np.random.RandomState) -> np.ndarray:
    """Return the given objects and random others, ascending; all objects where ``size`` is their number."""
    if size == len(codes):
        return np.arange(size)
    others = np.delete(np.arange(len(codes)), members)
    drawn = random_state.permutation(others)[: size - len(members)]
    return np.sort(np.concatenate([members, drawn]))


def _check_set(training: TrainingSet, indices: Any, n_prototypes: Any) -> tuple[np.ndarray, int]:
    """Return the distinct objects to start from, and the number of prototypes."""
    n, classes, codes = len(training.codes), training.objects.classes, training.codes
    start = np.asarray(indices)
    if start.dtype.kind == "b":
        raise ValueError("indices is a mask, but must be positions of training objects; pass np.flatnonzero(mask)")
    if start.ndim != 1 or start.dtype.kind not in "iu" or len(start) == 0:
        raise ValueError(
            f"indices={indices!r} must be a list of positions of training objects; pass for example sample_indices_"
        )
    start = check_positions("indices", start, n)
    positions, counts = np.unique(start, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"indices has {name_rows(positions[counts > 1])} more than once; pass each position once")
    absent = positions[training.position[positions] < 0]
    if len(absent):
        raise ValueError(f"indices has {name_rows(absent)}, whose sample_weight is zero; leave these out")
    missing = np.setdiff1d(training.objects.codes, codes[start])
    if len(missing):
        raise ValueError(
            f"indices has no object of the classes {classes[missing].tolist()}; add at least one object of each class"
        )
    budget = len(start) if n_prototypes is None else n_prototypes
    if not is_count(budget) or not len(start) <= budget <= n:
        raise ValueError(
            f"n_prototypes={n_prototypes!r} must be a count between {len(start)}, the number of indices, and {n}, the "
            "number of training objects; leave it out to keep the number of indices"
        )
    # Keep the first copy of each object, in the order of the indices.
    _, first = np.unique(training.position[start], return_index=True)
    return training.position[start[np.sort(first)]], min(int(budget), len(training.rows))


def check_schedule(steepness: Any, n_starts: Any) -> dict[str, Any]:
    """Return both parameters by name, as plain values; None stands for the default."""
    if steepness is not None:
        if isinstance(steepness, Iterator):
            raise TypeError(f"steepness={steepness!r} is an iterator; pass a list or a tuple of numbers")
        single = isinstance(steepness, str) or getattr(steepness, "ndim", 1) == 0
        steps = (steepness,) if single or not isinstance(steepness, Iterable) else steepness
        remedy = "the default is (10, 20, 40)"
        steepness = tuple(check_real("steepness", step, above=0, remedy=remedy) for step in steps)
        if not steepness:
            raise ValueError(f"steepness=() must have at least one number; {remedy}")
    if n_starts is not None:
        n_starts = check_count("n_starts", n_starts, least=1, remedy="pass how many sets to refine")
    return {"steepness": steepness, "n_starts": n_starts}


def check_max_objects(max_objects: Any) -> int | None:
    """Return ``max_objects`` as an int, or None."""
    if max_objects is None:
        return None
    return check_count("max_objects", max_objects, least=1, remedy="pass how many objects to refine on")
