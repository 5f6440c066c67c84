"""The size of the prototype set by cross-validation, from cheap cuts of one ranking per fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from protoset._progress import ProgressCallback
from protoset.neighbors import NeighborLists
from protoset.selectors._improving import HASTY, improve
from protoset.selectors.allocation import Allocation, cut, resolve_size
from protoset.spaces import TrainingSpace, make_space

SizeRule = Literal["one_standard_error", "lowest_error"]
SIZE_RULES: tuple[SizeRule, ...] = ("one_standard_error", "lowest_error")

RATES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
N_FOLDS = 5

REFINED_RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
SAMPLE_OBJECTS = 2000
"""Objects that the errors of refined sets are measured on; a stratified sample of more."""

Choice = Callable[[int], np.ndarray]
"""Maps a size to the nearest prototype, in a set of that size, of every held-out object."""


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
        Position of the smallest size whose error is within one standard error of the best, or that of
        the best, by the rule.
    """

    rates: np.ndarray
    sizes: np.ndarray
    errors: np.ndarray
    standard_errors: np.ndarray
    best: int
    chosen: int


def stratified_folds(codes: np.ndarray, n_folds: int, random_state: np.random.RandomState | None) -> np.ndarray:
    """Fold of each object: the members of each class are dealt out in turn, shuffled if seeded."""
    order = np.arange(len(codes)) if random_state is None else random_state.permutation(len(codes))
    dealt = order[np.argsort(codes[order], kind="stable")]
    folds = np.empty(len(codes), int)
    folds[dealt] = np.arange(len(codes)) % n_folds
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
    """Measure the error at every rate of the grid.

    The lists of a fold are those of the whole set without the held-out objects, and a held-out
    object finds its nearest prototype in its own list; only where the list has none are
    dissimilarities computed.

    Parameters
    ----------
    space : TrainingSpace
    lists : NeighborLists
    codes : ndarray of int
    rank : callable
        Maps lists and codes of a training part to a ranking of its objects, best first.
    allocation : {"proportional", "equal", "global"}
    rule : {"one_standard_error", "lowest_error"}
    random_state : RandomState, optional
    n_jobs : int, optional
    progress : callable, optional
        Told how many folds are done.
    """

    def prepare(train: np.ndarray, held_out: np.ndarray, train_codes: np.ndarray) -> Choice:
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
    """Measure the error of refined sets at a few rates.

    On at most ``SAMPLE_OBJECTS`` objects (one per class if those are more), by hasty searches: all together a few
    fits' work.

    Parameters
    ----------
    space : TrainingSpace
    codes : ndarray of int
    rank : callable
        Maps the space and the codes of a training part to a ranking of its objects, best first.
    allocation : {"proportional", "equal"}
    rule : {"one_standard_error", "lowest_error"}
    random_state : RandomState
        Draws the sample, the folds and the order of candidates.
    progress : callable, optional
        Told how many folds are done.
    """
    sample = np.arange(len(codes))
    n_sampled = max(SAMPLE_OBJECTS, int(codes.max()) + 1)
    if len(sample) > n_sampled:
        sample = cut(random_state.permutation(len(codes)), codes, n_sampled, "proportional")
    matrix = space.block(sample, sample)

    def prepare(train: np.ndarray, held_out: np.ndarray, train_codes: np.ndarray) -> Choice:
        part = make_space(matrix[np.ix_(train, train)], "precomputed")
        ranking = rank(part, train_codes)

        def choose(size: int) -> np.ndarray:
            prototypes = cut(ranking, train_codes, size, allocation)
            if train_codes.any():  # with a single class left, any set answers alike
                prototypes = improve(part, train_codes, prototypes, size, HASTY, random_state).indices
            prototypes = train[prototypes]
            return prototypes[matrix[np.ix_(held_out, prototypes)].argmin(axis=1)]

        return choose

    sizes = _sizes(REFINED_RATES, codes, allocation)
    return _measure(sizes, codes[sample], prepare, allocation, rule, random_state, progress)


def _sizes(rates: tuple[float, ...], codes: np.ndarray, allocation: Allocation) -> dict[float, int]:
    """Prototypes at each rate; of rates that give the same, the lowest."""
    sizes: dict[int, float] = {}
    for rate in rates:
        sizes.setdefault(resolve_size(rate, np.bincount(codes), allocation), rate)
    return {rate: size for size, rate in sizes.items()}


def _measure(
    sizes: dict[float, int],
    codes: np.ndarray,
    prepare: Callable[[np.ndarray, np.ndarray, np.ndarray], Choice],
    allocation: Allocation,
    rule: SizeRule,
    random_state: np.random.RandomState | None,
    progress: ProgressCallback | None,
) -> SizeCurve:
    """Errors at each rate over the folds; ``prepare`` is told the two parts of a fold and the classes of the first."""
    n_folds = min(N_FOLDS, len(codes))
    folds = stratified_folds(codes, n_folds, random_state)
    errors = np.empty((n_folds, len(sizes)))
    for fold in range(n_folds):
        train, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        # Classes are numbered anew: a small one may be missing from the training part.
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
