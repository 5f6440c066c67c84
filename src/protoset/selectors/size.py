"""The size of the prototype set by cross-validation, from cheap cuts of one ranking per fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from protoset.neighbors import NeighborLists
from protoset.selectors.allocation import Allocation, cut, resolve_size
from protoset.spaces import TrainingSpace

RATES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
N_FOLDS = 5


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
        Position of the smallest size whose error is within one standard error of the best.
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
    random_state : RandomState, optional
    n_jobs : int, optional
    """
    sizes = np.array([resolve_size(rate, np.bincount(codes), allocation) for rate in RATES])
    sizes, first = np.unique(sizes, return_index=True)
    rates = np.array(RATES)[first]
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
    mean, deviation = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(n_folds)
    best = int(np.argmin(mean))
    chosen = int(np.argmax(mean <= mean[best] + deviation[best]))
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
