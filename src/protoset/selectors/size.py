"""The automatic size of the prototype set, by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from joblib import delayed

from protoset._blocks import in_threads, n_processors, one_blas_thread
from protoset._display import Displayed, Table, percent
from protoset._progress import ProgressCallback
from protoset.neighbors import NeighborLists
from protoset.neighbors.search import LISTED_BYTES
from protoset.selectors._distinct import DistinctObjects
from protoset.selectors._improving import HASTY, distances_for, improve_among, reserve_draws
from protoset.selectors._scoring import Scoring, name_of_scoring, scored_error
from protoset.selectors._weights import ClassWeight
from protoset.selectors.allocation import Allocation, cut, resolve_size
from protoset.selectors.ranking import solving_bytes
from protoset.selectors.ties import MajorityVote, nearest_prototypes
from protoset.spaces import CountedSpace, TrainingSpace, make_space

SizeRule = Literal["one_standard_error", "lowest_error"]
SIZE_RULES: tuple[SizeRule, ...] = ("one_standard_error", "lowest_error")

RATES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
"""Selection rates that are tried."""

REFINED_RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
"""Selection rates that are tried with refined sets."""

N_SIZE_FOLDS = 5
"""Folds of the cross-validation."""

SAMPLE_OBJECTS = 2000
"""Largest number of objects on which the errors of refined sets are measured; larger sets are sampled by class."""

LEAST_SHARE = 1e-9
"""Fraction of an object, or of a copy, that counts as a rounding error."""

ADAPTED_RATES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
"""Selection rates that are tried with sets that will move: fewer prototypes are enough."""

CodesAtSize = Callable[[int, Any], np.ndarray]
"""Maps a size and its generator, if sets are drawn, to the predicted class of every held-out object, by a set of that
size."""

Finish = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Prepares a selected set and predicts: maps training objects, the prototypes among them and held-out objects, all as
positions, to the predicted classes of the held-out objects."""


@dataclass(frozen=True, repr=False)
class SizeCurve(Displayed):
    """Cross-validated error of the nearest-prototype rule at several sizes.

    Attributes
    ----------
    rates : ndarray
        Selection rates of the whole training set. Moved sets of many objects are measured on a sample, at larger
        rates.
    sizes : ndarray of int
        Number of prototypes of the whole training set at each rate.
    errors, standard_errors : ndarray
        Mean error over the folds, and its standard error. With ``scoring="balanced_accuracy"``, the error is
        1 - balanced accuracy; with a function, minus its score.
    best : int
        Position of the lowest error.
    chosen : int
        Position of the chosen size. It depends on ``size_rule``: the smallest size whose error is within one standard
        error of the lowest error, or the size with the lowest error.
    scoring : str
        Score that was measured: "accuracy", "balanced_accuracy", or the name of a function.
    """

    rates: np.ndarray
    sizes: np.ndarray
    errors: np.ndarray
    standard_errors: np.ndarray
    best: int
    chosen: int
    scoring: str = "accuracy"

    @property
    def measure(self) -> str:
        """Name of what ``errors`` holds: "error", "1 - balanced accuracy", or "-" and the name of a function."""
        return {"accuracy": "error", "balanced_accuracy": "1 - balanced accuracy"}.get(self.scoring, f"-{self.scoring}")

    def _summary(self) -> str:
        size, error = int(self.sizes[self.chosen]), self.errors[self.chosen]
        found = f"{error:.4f} ± {self.standard_errors[self.chosen]:.4f}"
        reached = f"an error of {found}" if self.scoring == "accuracy" else f"{self.measure} = {found}"
        return f"{len(self.sizes)} sizes, chosen {size:,} with {reached}"

    def _table(self) -> Table:
        marks = [
            " ".join(name for name, marked in (("chosen", self.chosen), ("best", self.best)) if marked == position)
            for position in range(len(self.sizes))
        ]
        columns = (self.sizes.tolist(), map(percent, self.rates), self.errors, self.standard_errors, marks)
        headings = ["prototypes", "rate", self.measure, "standard error", ""]
        return Table(headings, zip(*columns, strict=True), len(marks))


def sizing_bytes(n_objects: int, n_entries: int) -> int:
    """Memory of one training part, four of five objects: its lists, which are always in memory, and its solver."""
    return 4 * (n_entries * LISTED_BYTES + solving_bytes(n_objects, n_entries)) // 5


def deal_copies(
    objects: DistinctObjects, n_folds: int, random_state: np.random.RandomState | None, *, by_content: bool = False
) -> np.ndarray:
    """Copies of each object that each fold holds out, shape (n_folds, n_objects).

    The copies of the members of a class go to the folds in turn, object by object: in the order of their contents, or
    shuffled, see ``shuffled``, if there is a random state. An object of weight 2.5 is two copies of weight 1.25.
    """
    order = np.argsort(objects.order) if random_state is None else shuffled(objects, random_state, by_content)
    by_class = order[np.argsort(objects.codes[order], kind="stable")]
    copies = copies_of(objects)
    shares = np.empty((n_folds, len(objects)))
    shares[:, by_class] = [copies_in_fold(copies[by_class], n_folds, fold) for fold in range(n_folds)]
    return shares * (objects.counts / copies)


def shuffled(objects: DistinctObjects, random_state: np.random.RandomState, by_content: bool) -> np.ndarray:
    """Shuffle objects; ``by_content``, so that the order of the rows does not matter.

    The rows of a matrix have no contents: only by the order of the rows a matrix gives the same result as its vectors.
    """
    drawn = random_state.permutation(len(objects))
    return np.argsort(objects.order)[drawn] if by_content else drawn


def copies_in_fold(copies: np.ndarray, n_folds: int, fold: int) -> np.ndarray:
    """Copies of each object that go to a fold, if all copies go to the folds in turn."""
    ends = np.append(0.0, np.cumsum(copies))
    return np.diff(np.floor((ends + n_folds - 1 - fold) / n_folds))


def copies_of(objects: DistinctObjects) -> np.ndarray:
    """Number of copies of each object. A copy is never divided: a training part would reveal a held-out part.

    A copy has a weight of at least 1, or of at least the mean weight if that is below 1. An object of a smaller weight
    is one copy.
    """
    unit = min(1.0, float(objects.counts.mean()))
    return np.maximum(np.floor(objects.counts / unit + LEAST_SHARE), 1.0)


def size_curve(
    space: TrainingSpace,
    lists: NeighborLists,
    objects: DistinctObjects,
    rank: Callable[[NeighborLists, DistinctObjects], np.ndarray],
    *,
    allocation: Allocation,
    rule: SizeRule = "one_standard_error",
    class_weight: ClassWeight = None,
    scoring: Scoring = "accuracy",
    random_state: np.random.RandomState | None = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> SizeCurve:
    """Measure the error at each of the ``RATES``.

    The lists of a fold are the lists of the whole set without the held-out objects. A held-out object finds its
    nearest prototype in its own list; dissimilarities are computed only where the list holds no prototype.

    ``rank`` maps the lists and the objects of a training part to a ranking, best first.
    """

    def prepare(train: np.ndarray, held_out: np.ndarray, training: DistinctObjects) -> CodesAtSize:
        ranking, masses = rank(lists.restrict(train), training), training.class_masses(class_weight)
        counts = np.zeros(len(objects))
        counts[train] = training.counts
        totals = np.bincount(objects.codes, counts, minlength=len(objects.classes))

        def choose(size: int, _generator: None) -> np.ndarray:
            prototypes = train[cut(ranking, training.codes, size, allocation, masses)]
            member = np.zeros(len(objects), bool)
            member[prototypes] = True
            nearest = lists.nearest_members(held_out, member, (objects.codes, counts, totals))
            unlisted = np.flatnonzero(nearest < 0)
            if len(unlisted):
                vote = objects.codes[prototypes], counts[prototypes], totals
                positions, _ = nearest_prototypes(space, *vote, held_out[unlisted], prototypes, n_jobs=n_jobs)
                nearest[unlisted] = prototypes[positions]
            return objects.codes[nearest]

        return choose

    sizes = _sizes(RATES, objects, allocation)
    return _measure(sizes, objects, prepare, allocation, rule, scoring, random_state, progress)


def refined_size_curve(
    space: TrainingSpace,
    objects: DistinctObjects,
    rank: Callable[[TrainingSpace, DistinctObjects], np.ndarray],
    *,
    allocation: Allocation,
    rule: SizeRule = "one_standard_error",
    class_weight: ClassWeight = None,
    refining_class_weight: ClassWeight = None,
    scoring: Scoring = "accuracy",
    random_state: np.random.RandomState,
    finish: Finish | None = None,
    has_swaps: bool = True,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> SizeCurve:
    """Measure the error of refined sets at each of the ``REFINED_RATES``, or after ``finish`` at the ``ADAPTED_RATES``.

    Works on at most ``SAMPLE_OBJECTS`` objects (one per class if there are more classes), with short refinements.
    Without ``has_swaps`` the sets are not refined before ``finish``. ``rank`` maps the space and the objects of a
    training part to a ranking, best first. The refinements run in ``n_jobs`` threads.

    Of many objects, a smaller share of moved prototypes is enough: their number grows with the square root of the
    number of objects.
    """
    # Swaps depend on the order of the rows in any case.
    by_content = not has_swaps
    n_sampled = max(SAMPLE_OBJECTS, len(objects.classes))
    growth = 1.0 if finish is None else max(1.0, math.sqrt(len(objects) / n_sampled))
    rates = REFINED_RATES if finish is None else [rate / growth for rate in ADAPTED_RATES]
    sample, sizes = np.arange(len(objects)), _sizes(rates, objects, allocation)
    if len(sample) > n_sampled:
        sample = cut(shuffled(objects, random_state, by_content), objects.codes, n_sampled, "proportional")
        objects = objects.take(sample)
    sampled = space if len(sample) == space.shape[0] else space.subset(sample)
    matrix = sampled.matrix(n_jobs=n_jobs)
    if sampled is not space and isinstance(space, CountedSpace):
        space.n_distances += matrix.size
    # A copy that is held out may find its object among the prototypes.
    np.fill_diagonal(matrix, 0.0)

    def prepare(train: np.ndarray, held_out: np.ndarray, training: DistinctObjects) -> CodesAtSize:
        train_space = make_space(matrix[np.ix_(train, train)], "precomputed")
        ranking, masses = rank(train_space, training), training.class_masses(class_weight)
        counts, costs = training.counts, training.costs(refining_class_weight)
        n_fewest = resolve_size(min(sizes) * growth, training.class_sizes, allocation)
        candidates = distances_for(train_space, n_fewest, counts) if has_swaps else None
        totals = training.class_counts

        def choose(size: int, random_state: np.random.RandomState) -> np.ndarray:
            kept = cut(ranking, training.codes, size, allocation, masses)
            if _has_several_classes(training):
                if candidates is not None:
                    refined = improve_among(candidates, training.codes, kept, size, HASTY, random_state, counts, costs)
                    kept = refined.indices
                if finish is not None:
                    return finish(sample[train], sample[train[kept]], sample[held_out])
            vote = MajorityVote(training.codes[kept], training.counts[kept], totals)
            return objects.codes[train[kept[vote(matrix[np.ix_(held_out, train[kept])])]]]

        return choose

    def reserve(training: DistinctObjects) -> np.random.RandomState:
        return reserve_draws(random_state, len(training), HASTY) if _has_several_classes(training) else random_state

    return _measure(
        sizes,
        objects,
        prepare,
        allocation,
        rule,
        scoring,
        random_state,
        progress,
        reserve,
        n_jobs,
        growth=growth,
        by_content=by_content,
    )


def _has_several_classes(training: DistinctObjects) -> bool:
    """Whether a set is worth refining: with a single class left, all sets answer alike."""
    return len(training.classes) > 1


def _sizes(rates: Iterable[float], objects: DistinctObjects, allocation: Allocation) -> dict[float, int]:
    """Number of prototypes at each rate; if several rates give the same number, the lowest rate is kept."""
    sizes: dict[int, float] = {}
    for rate in rates:
        sizes.setdefault(resolve_size(rate, objects.class_sizes, allocation), rate)
    return {rate: size for size, rate in sizes.items()}


class _Fold(NamedTuple):
    """A fold of the cross-validation: positions, the training objects, and copies held out of each object."""

    train: np.ndarray
    held_out: np.ndarray
    training: DistinctObjects
    shares: np.ndarray

    @classmethod
    def of(cls, objects: DistinctObjects, shares: np.ndarray) -> Self:
        """Make the fold that holds out the given copies of each object."""
        counts = objects.counts
        remaining = np.where(counts - shares < LEAST_SHARE * counts, 0.0, counts - shares)
        train = np.flatnonzero(remaining)
        # Classes are renumbered: a small class may be missing from the training part.
        return cls(train, np.flatnonzero(shares), objects.take(train, remaining[train]), shares)


def _measure(
    sizes: dict[float, int],
    objects: DistinctObjects,
    prepare: Callable[[np.ndarray, np.ndarray, DistinctObjects], CodesAtSize],
    allocation: Allocation,
    rule: SizeRule,
    scoring: Scoring,
    random_state: np.random.RandomState | None,
    progress: ProgressCallback | None,
    reserve: Callable[[DistinctObjects], Any] = lambda _: None,
    n_jobs: int | None = 1,
    *,
    growth: float = 1.0,
    by_content: bool = False,
) -> SizeCurve:
    """Measure the errors at each rate, multiplied by ``growth``, over the folds.

    ``prepare`` maps the training objects, the held-out objects and the former with their counts to a ``CodesAtSize``.
    ``reserve`` returns the generator of a set, if sets are drawn. Folds and sizes are measured in ``n_jobs`` threads;
    the generators are reserved in the order of the folds and sizes, so that threads change no result.
    """
    codes = objects.codes
    n_folds = int(min(N_SIZE_FOLDS, copies_of(objects).sum()))
    errors = np.empty((n_folds, len(sizes)))
    folds = [_Fold.of(objects, shares) for shares in deal_copies(objects, n_folds, random_state, by_content=by_content)]
    # As many folds at a time as there are threads: each keeps its distances in memory.
    n_together, workers = n_processors(n_jobs), in_threads(n_jobs)
    with one_blas_thread():
        for first in range(0, n_folds, n_together):
            together = folds[first : first + n_together]
            draws = [[reserve(fold.training) for _ in sizes] for fold in together]
            choices = workers(delayed(prepare)(fold.train, fold.held_out, fold.training) for fold in together)
            predictions = iter(
                workers(
                    delayed(choose)(resolve_size(rate * growth, fold.training.class_sizes, allocation), draw)
                    for fold, choose, fold_draws in zip(together, choices, draws, strict=True)
                    for rate, draw in zip(sizes, fold_draws, strict=True)
                )
            )
            for number, fold in enumerate(together, first):
                truth, shares = codes[fold.held_out], fold.shares[fold.held_out]
                for column in range(len(sizes)):
                    errors[number, column] = scored_error(scoring, objects.classes, truth, next(predictions), shares)
                if progress is not None:
                    progress(number + 1, n_folds)
    mean, deviation = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(n_folds)
    best = int(np.argmin(mean))
    chosen = best if rule == "lowest_error" else int(np.argmax(mean <= mean[best] + deviation[best]))
    rates, counts_kept = np.array(list(sizes)), np.array(list(sizes.values()))
    return SizeCurve(rates, counts_kept, mean, deviation, best, chosen, name_of_scoring(scoring))
