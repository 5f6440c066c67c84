"""The automatic size of the prototype set, by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from protoset._progress import ProgressCallback
from protoset.neighbors import NeighborLists
from protoset.neighbors.search import LISTED_BYTES
from protoset.selectors._improving import HASTY, improve
from protoset.selectors.allocation import Allocation, cut, resolve_size
from protoset.selectors.ranking import solving_bytes
from protoset.spaces import TrainingSpace, make_space

SizeRule = Literal["one_standard_error", "lowest_error"]
SIZE_RULES: tuple[SizeRule, ...] = ("one_standard_error", "lowest_error")

RATES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
"""Selection rates that are tried."""

REFINED_RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
"""Selection rates that are tried with refined sets."""

N_SIZE_FOLDS = 5
"""Folds of the cross-validation."""

SAMPLE_OBJECTS = 2000
"""Objects on which the errors of refined sets are measured; a stratified sample of more."""

NearestAtSize = Callable[[int], np.ndarray]
"""Maps a size to the nearest prototype of every held-out object, in a set of that size."""


@dataclass(frozen=True)
class SizeCurve:
    """Cross-validated error of 1-NN over the prototypes at each size tried.

    Attributes
    ----------
    rates : ndarray
        Selection rates tried.
    sizes : ndarray of int
        Prototypes on the whole training set at each rate.
    errors, standard_errors : ndarray
        Mean error over the folds, and its standard error.
    best : int
        Position of the lowest error.
    chosen : int
        Position of the chosen size: the smallest whose error is within one standard error of the best, or the
        best, by the rule.
    """

    rates: np.ndarray
    sizes: np.ndarray
    errors: np.ndarray
    standard_errors: np.ndarray
    best: int
    chosen: int


def sizing_bytes(n_objects: int, n_entries: int) -> int:
    """Memory of one training part, four of five objects: its lists, which are always in memory, and its solver."""
    return 4 * (n_entries * LISTED_BYTES + solving_bytes(n_objects, n_entries)) // 5


def stratified_folds(codes: np.ndarray, n_folds: int, random_state: np.random.RandomState | None) -> np.ndarray:
    """Fold of each object: the members of a class go to the folds in turn, shuffled if there is a random state."""
    order = np.arange(len(codes)) if random_state is None else random_state.permutation(len(codes))
    by_class = order[np.argsort(codes[order], kind="stable")]
    folds = np.empty(len(codes), int)
    folds[by_class] = np.arange(len(codes)) % n_folds
    return folds


def size_curve(
    space: TrainingSpace,
    lists: NeighborLists,
    codes: np.ndarray,
    rank: Callable[[NeighborLists, np.ndarray], np.ndarray],
    *,
    allocation: Allocation,
    rule: SizeRule = "one_standard_error",
    random_state: np.random.RandomState | None = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> SizeCurve:
    """Measure the error at each of the ``RATES``.

    The lists of a fold are the lists of the whole set without the held-out objects. A held-out object finds its
    nearest prototype in its own list; dissimilarities are computed only where the list holds no prototype.

    ``rank`` maps lists and codes of a training part to a ranking of its objects, best first.
    """

    def prepare(train: np.ndarray, held_out: np.ndarray, train_codes: np.ndarray) -> NearestAtSize:
        ranking = rank(lists.restrict(train), train_codes)

        def choose(size: int) -> np.ndarray:
            prototypes = train[cut(ranking, train_codes, size, allocation)]
            return _nearest_prototype(space, lists, held_out, prototypes, n_jobs)

        return choose

    sizes = _sizes(RATES, codes, allocation)
    return _measure(sizes, codes, prepare, allocation, rule, random_state, progress)


def refined_size_curve(
    space: TrainingSpace,
    codes: np.ndarray,
    rank: Callable[[TrainingSpace, np.ndarray], np.ndarray],
    *,
    allocation: Allocation,
    rule: SizeRule = "one_standard_error",
    random_state: np.random.RandomState,
    progress: ProgressCallback | None = None,
) -> SizeCurve:
    """Measure the error of refined sets at each of the ``REFINED_RATES``.

    Works on at most ``SAMPLE_OBJECTS`` objects (one per class if there are more classes), with short refinements.
    ``rank`` maps the space and the codes of a training part to a ranking of its objects, best first.
    """
    sample = np.arange(len(codes))
    n_sampled = max(SAMPLE_OBJECTS, int(codes.max()) + 1)
    if len(sample) > n_sampled:
        sample = cut(random_state.permutation(len(codes)), codes, n_sampled, "proportional")
    matrix = space.block(sample, sample)

    def prepare(train: np.ndarray, held_out: np.ndarray, train_codes: np.ndarray) -> NearestAtSize:
        train_space = make_space(matrix[np.ix_(train, train)], "precomputed")
        ranking = rank(train_space, train_codes)

        def choose(size: int) -> np.ndarray:
            prototypes = cut(ranking, train_codes, size, allocation)
            if train_codes.any():  # with a single class left, all sets answer alike
                prototypes = improve(train_space, train_codes, prototypes, size, HASTY, random_state).indices
            prototypes = train[prototypes]
            return prototypes[matrix[np.ix_(held_out, prototypes)].argmin(axis=1)]

        return choose

    sizes = _sizes(REFINED_RATES, codes, allocation)
    return _measure(sizes, codes[sample], prepare, allocation, rule, random_state, progress)


def _sizes(rates: tuple[float, ...], codes: np.ndarray, allocation: Allocation) -> dict[float, int]:
    """Number of prototypes at each rate; of rates with the same number, the lowest."""
    sizes: dict[int, float] = {}
    for rate in rates:
        sizes.setdefault(resolve_size(rate, np.bincount(codes), allocation), rate)
    return {rate: size for size, rate in sizes.items()}


def _measure(
    sizes: dict[float, int],
    codes: np.ndarray,
    prepare: Callable[[np.ndarray, np.ndarray, np.ndarray], NearestAtSize],
    allocation: Allocation,
    rule: SizeRule,
    random_state: np.random.RandomState | None,
    progress: ProgressCallback | None,
) -> SizeCurve:
    """Measure the errors at each rate over the folds.

    ``prepare`` maps the training rows, the held-out rows and the training classes of a fold to a ``NearestAtSize``.
    """
    n_folds = min(N_SIZE_FOLDS, len(codes))
    folds = stratified_folds(codes, n_folds, random_state)
    errors = np.empty((n_folds, len(sizes)))
    for fold in range(n_folds):
        train, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        # Classes are renumbered: a small class may be missing from the training part.
        _, train_codes = np.unique(codes[train], return_inverse=True)
        choose = prepare(train, held_out, train_codes)
        for column, rate in enumerate(sizes):
            nearest = choose(resolve_size(rate, np.bincount(train_codes), allocation))
            errors[fold, column] = np.mean(codes[nearest] != codes[held_out])
        if progress is not None:
            progress(fold + 1, n_folds)
    mean, deviation = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(n_folds)
    best = int(np.argmin(mean))
    chosen = best if rule == "lowest_error" else int(np.argmax(mean <= mean[best] + deviation[best]))
    return SizeCurve(np.array(list(sizes)), np.array(list(sizes.values())), mean, deviation, best, chosen)


def _nearest_prototype(
    space: TrainingSpace, lists: NeighborLists, rows: np.ndarray, prototypes: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    member = np.zeros(lists.n_objects, bool)
    member[prototypes] = True
    nearest = lists.first_members(rows, member, 1)[:, 0]
    unlisted = np.flatnonzero(nearest < 0)
    if len(unlisted):
        positions, _ = space.nearest(rows[unlisted], prototypes, n_jobs=n_jobs)
        nearest[unlisted] = prototypes[positions]
    return nearest
