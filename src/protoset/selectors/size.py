"""The size of the prototype set by cross-validation, from cheap cuts of one ranking per fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from protoset.neighbors import NeighborLists
from protoset.selectors.allocation import Allocation, cut, resolve_size
from protoset.selectors.refinement import refine
from protoset.spaces import TrainingSpace, make_space

SizeRule = Literal["one_standard_error", "lowest_error"]
SIZE_RULES: tuple[SizeRule, ...] = ("one_standard_error", "lowest_error")

RATES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
N_FOLDS = 5

REFINED_RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
REFINED_STEPS = (10.0, 40.0)
SAMPLE_OBJECTS = 3000
"""Objects that the errors of refined sets are measured on; a stratified sample of more."""


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
    """
    rates, sizes = _grid(RATES, codes, allocation)
    n_folds = min(N_FOLDS, len(codes))
    folds = stratified_folds(codes, n_folds, random_state)
    errors = np.empty((n_folds, len(rates)))
    for fold in range(n_folds):
        train, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        # Classes are numbered anew: a small one may be missing from the training part.
        _, train_codes = np.unique(codes[train], return_inverse=True)
        ranking = rank(lists.restrict(train), train_codes)
        for column, rate in enumerate(rates):
            size = resolve_size(float(rate), np.bincount(train_codes), allocation)
            prototypes = train[cut(ranking, train_codes, size, allocation)]
            nearest = _nearest_prototype(space, lists, held_out, prototypes, n_jobs)
            errors[fold, column] = np.mean(codes[nearest] != codes[held_out])
    return _curve(rates, sizes, errors, rule)


def refined_size_curve(
    space: TrainingSpace,
    codes: np.ndarray,
    rank: Callable[[TrainingSpace, np.ndarray], np.ndarray],
    *,
    allocation: Allocation,
    rule: SizeRule = "one_standard_error",
    random_state: np.random.RandomState,
) -> SizeCurve:
    """Measure the error of refined sets at a few rates.

    Cheaper than the fit that follows: at most ``SAMPLE_OBJECTS`` objects, one start, two steps of steepness.

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
    """
    rates, sizes = _grid(REFINED_RATES, codes, allocation)
    sample = np.arange(len(codes))
    if len(sample) > SAMPLE_OBJECTS:
        sample = cut(random_state.permutation(len(codes)), codes, SAMPLE_OBJECTS, "proportional")
    matrix, sample_codes = space.block(sample, sample), codes[sample]
    n_folds = min(N_FOLDS, len(sample))
    folds = stratified_folds(sample_codes, n_folds, random_state)
    errors = np.empty((n_folds, len(rates)))
    for fold in range(n_folds):
        train, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        _, train_codes = np.unique(sample_codes[train], return_inverse=True)
        part = make_space(matrix[np.ix_(train, train)], "precomputed")
        ranking = rank(part, train_codes)
        for column, rate in enumerate(rates):
            size = resolve_size(float(rate), np.bincount(train_codes), allocation)
            start = cut(ranking, train_codes, size, allocation)
            refined = refine(part, train_codes, start, steepness=REFINED_STEPS, n_starts=1, random_state=random_state)
            prototypes = train[refined.indices]
            nearest = prototypes[matrix[np.ix_(held_out, prototypes)].argmin(axis=1)]
            errors[fold, column] = np.mean(sample_codes[nearest] != sample_codes[held_out])
    return _curve(rates, sizes, errors, rule)


def _grid(rates: tuple[float, ...], codes: np.ndarray, allocation: Allocation) -> tuple[np.ndarray, np.ndarray]:
    """Rates that give different sizes, and the sizes."""
    sizes = np.array([resolve_size(rate, np.bincount(codes), allocation) for rate in rates])
    sizes, first = np.unique(sizes, return_index=True)
    return np.array(rates)[first], sizes


def _curve(rates: np.ndarray, sizes: np.ndarray, errors: np.ndarray, rule: SizeRule) -> SizeCurve:
    mean, deviation = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    best = int(np.argmin(mean))
    chosen = best if rule == "lowest_error" else int(np.argmax(mean <= mean[best] + deviation[best]))
    return SizeCurve(rates, sizes, mean, deviation, best, chosen)


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
