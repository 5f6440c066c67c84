"""Reference methods without prototypes: guessing, and 1-NN and k-NN on all training objects.

    training space --> neighbour lists with all ties --> votes of 1, 3, 5, ... neighbours --> errors by leave-one-out

The errors are measured by leave-one-out: an object is classified by all other objects. All objects at the distance of
the k-th neighbour vote, so the order of rows decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._blocks import map_blocks
from protoset._validation import as_numbers, check_choice, check_jobs
from protoset.models.votes import vote_of_nearest
from protoset.selectors._scoring import SCORINGS, scored_error
from protoset.selectors.allocation import cut
from protoset.spaces import Dissimilarities, TrainingSpace
from protoset.spaces._lists import RawLists, smallest_of

K_CANDIDATES = tuple(range(1, 52, 2))
"""Numbers of neighbours that leave-one-out chooses from: 1, 3, 5, ..., 51."""

MOST_QUERIES = 20_000
"""Largest number of objects for which every object is left out in turn; otherwise a stratified sample is left out."""

FEWEST_QUERIES = 1000
"""Smallest size of the sample."""

MOST_PAIRS = 2 * 10**8
"""Number of dissimilarities from the sample to all objects, if the sample is larger than ``FEWEST_QUERIES``."""

SAMPLE_SEED = 0
"""Seed of the sample."""

ROOM_FOR_TIES = 2
"""Neighbour lists may be this many times longer than the largest k; rows with more ties are searched by block."""


@dataclass(frozen=True)
class ReferenceErrors:
    """Errors of methods without prototypes, to compare with the error of a set.

    Attributes
    ----------
    guess : float
        Error of always predicting the most frequent class.
    nearest : float
        Error of 1-NN on all training objects.
    knn : float
        Error of k-NN on all training objects.
    k : int
        Number of neighbours with the lowest error by leave-one-out; the smallest of several.
    answer : int
        The most frequent class; the lowest of several.
    n_objects : int
        Number of objects on which the errors of 1-NN and k-NN were measured.
    """

    guess: float
    nearest: float
    knn: float
    k: int
    answer: int
    n_objects: int


def reference_errors(
    space: TrainingSpace,
    codes: np.ndarray,
    *,
    weights: Any = None,
    scoring: str = "accuracy",
    n_jobs: int | None = None,
) -> ReferenceErrors:
    """Measure the errors of guessing, 1-NN and k-NN on all training objects, by leave-one-out.

    Parameters
    ----------
    space : TrainingSpace
        Space of the training objects.
    codes : ndarray of int
        Class of each training object, from 0 on.
    weights : array-like, optional
        Weight of each object; a weight of 2 equals the object twice.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        The errors are 1 - accuracy or 1 - balanced accuracy; the latter is the mean error of the classes.
    n_jobs : int, optional
        Threads. Changes no result.

    Returns
    -------
    ReferenceErrors

    Notes
    -----
    k is one of 1, 3, 5, ..., 51 and less than the number of objects. All objects at the distance of the k-th neighbour
    vote. Of classes with equal votes the more frequent one wins, then the lower code.

    For more than 20,000 objects, the errors are measured on a stratified sample: as many objects as need 2 * 10^8
    dissimilarities (2,000 of 100,000), at least 1,000. The sample is drawn with a fixed seed. Neighbours are searched
    among all objects.

    Guessing is not measured by leave-one-out: its error is the share of the other classes. With two classes of equal
    size, leaving out an object would always make the other class the more frequent one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.models import reference_errors
    >>> from protoset.spaces import make_space
    >>> iris = load_iris()
    >>> errors = reference_errors(make_space(iris.data, "euclidean"), iris.target)
    >>> round(errors.guess, 3), round(errors.nearest, 3), round(errors.knn, 3), errors.k
    (0.667, 0.04, 0.02, 19)
    """
    if space.remote:
        raise ValueError("the objects of space are on a Dask cluster; pass the space of a sample in this process")
    scoring = check_choice("scoring", scoring, SCORINGS)
    codes, weights = _check_objects(space, codes, weights)
    totals = np.bincount(codes, weights)
    answer = int(np.argmax(totals))
    guess = scored_error(scoring, totals, codes, np.full(len(codes), answer), weights)
    ks = np.array([k for k in K_CANDIDATES if k < max(2, totals.sum())])
    # All neighbours that a graph has are listed; nothing is gained by a sample.
    queries = np.arange(len(codes)) if space.partial else _queries(codes)
    winners = _left_out_votes(space, codes, weights, totals, queries, ks, check_jobs(n_jobs))
    # Sums of wrong answers are exact for whole weights, so equal errors stay equal for any order of the rows.
    errors = [scored_error(scoring, totals, codes[queries], answers, weights[queries]) for answers in winners.T]
    best = int(np.argmin(errors))
    return ReferenceErrors(guess, errors[0], errors[best], int(ks[best]), answer, len(queries))


def vote_of_neighbors(
    queries: Dissimilarities,
    codes: np.ndarray,
    k: int,
    *,
    rows: np.ndarray | None = None,
    weights: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Predict the classes of queries by k-NN on all training objects, with the ties of :func:`reference_errors`.

    Parameters
    ----------
    queries : Dissimilarities
        Dissimilarities of the queries to all training objects.
    codes : ndarray of int
        Class of each training object, from 0 on.
    k : int
        Number of neighbours; ``reference_errors(...).k`` is the best by leave-one-out.
    rows : ndarray of int, optional
        Positions of the queries to predict; by default all.
    weights : array-like, optional
        Weight of each training object.
    n_jobs : int, optional
        Threads. Changes no result.

    Returns
    -------
    ndarray of int
        Class of each query.
    """
    codes, weights = _check_objects(queries, codes, weights)
    totals = np.bincount(codes, weights)
    rows = np.arange(queries.shape[0]) if rows is None else rows
    return _votes_by_block(queries, codes, weights, totals, rows, np.array([k]), False, n_jobs)[:, 0]


def _check_objects(space: Dissimilarities, codes: np.ndarray, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    codes, n_objects = np.asarray(codes), space.shape[1]
    if codes.shape != (n_objects,) or codes.dtype.kind not in "iu" or codes.min() < 0:
        raise ValueError(f"codes={codes!r} must have a class, counted from 0, for each of the {n_objects} objects")
    if weights is None:
        return codes, np.ones(n_objects)
    numbers = as_numbers("weights", weights)
    if numbers.shape != codes.shape or not np.isfinite(numbers).all() or numbers.min() < 0 or numbers.max() == 0:
        raise ValueError(f"weights={weights!r} must have a number of at least 0 for each of the {n_objects} objects")
    return codes, numbers


def _queries(codes: np.ndarray) -> np.ndarray:
    """Objects that are left out: all of them, or a stratified sample."""
    n_objects = len(codes)
    return np.arange(n_objects) if n_objects <= MOST_QUERIES else sample_queries(codes, n_objects)


def sample_queries(codes: np.ndarray, n_training: int) -> np.ndarray:
    """Draw a stratified sample of queries, given by their classes, small enough for a comparison with a training set.

    Returns ascending positions; all of them where the queries are few. Always drawn with the same seed.
    """
    _, present = np.unique(codes, return_inverse=True)
    n_queries = max(FEWEST_QUERIES, MOST_PAIRS // n_training, int(present.max()) + 1)
    if n_queries >= len(codes):
        return np.arange(len(codes))
    drawn = np.random.RandomState(SAMPLE_SEED).permutation(len(codes))
    return np.sort(cut(drawn, present, n_queries, "proportional"))


def _left_out_votes(
    space: TrainingSpace,
    codes: np.ndarray,
    weights: np.ndarray,
    totals: np.ndarray,
    queries: np.ndarray,
    ks: np.ndarray,
    n_jobs: int | None,
) -> np.ndarray:
    """Class that each query gets from all other objects, for each k."""
    if len(queries) < len(codes):
        return _votes_by_block(space, codes, weights, totals, queries, ks, True, n_jobs)
    lists = space.kneighbors(int(ks[-1]), limit=ROOM_FOR_TIES * int(ks[-1]), n_jobs=n_jobs)
    winners = _votes(lists, codes, weights, totals, queries, ks)
    # A graph has only the neighbours that it lists.
    unclosed = np.flatnonzero(~lists.closed) if not space.partial else np.empty(0, int)
    if len(unclosed):
        winners[unclosed] = _votes_by_block(space, codes, weights, totals, unclosed, ks, True, n_jobs)
    return winners


def _votes_by_block(
    space: Dissimilarities,
    codes: np.ndarray,
    weights: np.ndarray,
    totals: np.ndarray,
    rows: np.ndarray,
    ks: np.ndarray,
    left_out: bool,
    n_jobs: int | None,
) -> np.ndarray:
    """Class that each row gets, for each k; the votes of a block are counted before the next block is computed."""
    n_columns = space.shape[1]
    longest = min(int(ks[-1]), n_columns - left_out)

    def vote(some: slice) -> np.ndarray:
        own = rows[some] if left_out else np.full(len(rows[some]), -1)
        lists = smallest_of(space.block(rows[some], slice(None)), own, longest, n_columns)
        return _votes(lists, codes, weights, totals, own, ks)

    return np.concatenate(map_blocks(vote, len(rows), n_columns, n_jobs))


def _votes(
    lists: RawLists, codes: np.ndarray, weights: np.ndarray, totals: np.ndarray, own: np.ndarray, ks: np.ndarray
) -> np.ndarray:
    """Count the votes of lists; ``own`` is the training object that each row is, or -1."""
    # If one copy of an object of weight 3 is left out, two copies remain.
    own_weights = np.where(own >= 0, np.maximum(weights[own] - 1, 0), 0.0)
    return vote_of_nearest(lists, codes, weights, totals, codes[own], own_weights, ks)
