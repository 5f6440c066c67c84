"""CCIS, class conditional instance selection (Marchiori 2010): central objects first, then the border of these.

All is read off the graph of each object's nearest neighbour in each class. An object that many of its
own class have as nearest and few of another class lies safely inside its class.

1. Pairs. Each class is paired with the class whose in-degrees are most like those within: the sum of
   ``|within - between|`` over both classes, divided by the size of the smaller one, is least. A tie
   goes to the class that is first in sorted order. Two classes that choose each other are one pair.
2. Scores. Within a pair, p is an object's share of the within-class in-degrees of both classes and q
   its share of the in-degrees from the other class of the pair. Its score is K(p, q) - K(q, p) with
   K(p, q) = p ln(2p / (p + q)), and K(0, q) = 0. Shares of a sum of 0 are 0. So the score has the sign of
   p - q, and an object that nobody has as nearest scores 0.
3. Growth. The set is empty at first and common to all pairs, whose turn comes by their classes. The
   objects of a pair with a score of at least 0 are ordered by score, equal scores by index. The first
   max(number of classes, A / 2 rounded up) join, where A is the number of leave-one-out errors of the
   whole training set. Then one after the other joins as long as the set makes more than A errors on the
   training set, leave-one-out, and the new one lowers their number; one that is in the set already
   lowers nothing.
4. Thin-out, by edges between paired classes; nobody but the members of the set at hand counts. Kept are
   the members that are the nearest of a member of a paired class. Then round by round: of the rest, those
   are added that are such a neighbour within the rest and were one, or the nearest of a member of their
   own class, within the set of the round before (in the first round, the whole set). The rounds end when
   an addition does not lower the number of leave-one-out errors on the training set; it is not made.
   Without any edge between paired classes, as when the growth took a single class, there is nothing to
   thin out by, and the set stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset._progress import report
from protoset.selectors._class_neighbors import ClassNeighbors
from protoset.selectors._voting import NearestMembers
from protoset.selectors.base import BaseSelector
from protoset.spaces import TrainingSpace


def ccis(space: TrainingSpace, codes: np.ndarray, *, n_jobs: int | None = None, verbose: int = 0) -> np.ndarray:
    """Select from a training set.

    Parameters
    ----------
    space : TrainingSpace
    codes : ndarray of int
        Class of each object, from 0 on without gaps.
    n_jobs, verbose
        As in :class:`CCIS`.

    Returns
    -------
    ndarray of int
        The objects kept, ascending. A class may be without any; there is none at all where every
        class has a single member.
    """
    report(verbose, "searching the nearest of each class for %d objects", len(codes))
    graph = ClassNeighbors.search(space, codes, n_jobs)
    degrees = graph.in_degrees()
    pairs = paired_classes(degrees, codes)
    most_errors = int((codes[graph.nearest()] != codes).sum())
    grown = _grow(space, codes, degrees, pairs, most_errors)
    report(verbose, "grew a set of %d objects from %d pairs of classes", len(grown), len(pairs))
    return _thin_out(space, graph.restrict(space, grown), pairs) if len(grown) else grown


def paired_classes(degrees: np.ndarray, codes: np.ndarray) -> list[tuple[int, int]]:
    """Pair each class with the class that correlates most with it.

    Parameters
    ----------
    degrees : ndarray of shape (n_objects, n_classes)
        How many objects of each class have each object as their nearest in its class.
    codes : ndarray of int

    Returns
    -------
    list of (int, int)
        The pairs, the lower class first, without repetition, in the order of the classes that chose.
    """
    n_classes = degrees.shape[1]
    sizes = np.bincount(codes, minlength=n_classes)
    differences = np.abs(_within(degrees, codes)[:, None] - degrees)
    sums = np.stack([differences[codes == code].sum(axis=0) for code in range(n_classes)])
    unlikeness = (sums + sums.T) / np.minimum.outer(sizes, sizes)
    np.fill_diagonal(unlikeness, np.inf)
    chosen = [(code, int(partner)) for code, partner in enumerate(unlikeness.argmin(axis=1))]
    return list(dict.fromkeys((min(pair), max(pair)) for pair in chosen))


def pair_scores(within: np.ndarray, between: np.ndarray) -> np.ndarray:
    """Score the objects of a pair of classes by their in-degrees."""
    p, q = within / max(1, within.sum()), between / max(1, between.sum())
    return _divergence(p, q) - _divergence(q, p)


def _divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    ratio = np.divide(2 * p, p + q, out=np.ones_like(p), where=p > 0)
    return p * np.log(ratio)


def _within(degrees: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return degrees[np.arange(len(codes)), codes]


def _grow(
    space: TrainingSpace, codes: np.ndarray, degrees: np.ndarray, pairs: list[tuple[int, int]], most_errors: int
) -> np.ndarray:
    """Take the best objects of each pair of classes, until they do as well as the whole training set."""
    within = _within(degrees, codes)
    n_first = max(degrees.shape[1], -(-most_errors // 2))
    nearest = NearestMembers(space, 1)
    is_member = np.zeros(len(codes), bool)
    everyone = np.arange(len(codes))
    for a, b in pairs:
        objects = np.flatnonzero((codes == a) | (codes == b))
        scores = pair_scores(within[objects], degrees[objects, a + b - codes[objects]])
        order = np.lexsort((objects, -scores))
        ranking = objects[order[scores[order] >= 0]]
        first = np.sort(ranking[:n_first])
        nearest.add(first[~is_member[first]], everyone)
        is_member[first] = True
        errors = _errors(nearest, codes)
        for candidate in ranking[n_first:]:
            # A member of another pair's set that comes up again would lower nothing.
            if errors <= most_errors or is_member[candidate]:
                break
            before = nearest.neighbors.copy(), nearest.distances.copy()
            nearest.add(np.array([candidate]), everyone)
            errors_before, errors = errors, _errors(nearest, codes)
            if errors >= errors_before:
                nearest.neighbors, nearest.distances = before
                break
            is_member[candidate] = True
    return np.flatnonzero(is_member)


def _thin_out(space: TrainingSpace, graph: ClassNeighbors, pairs: list[tuple[int, int]]) -> np.ndarray:
    """Keep the members at the border between paired classes, and further ones as long as errors fall."""
    codes, members = graph.codes, graph.members
    everyone, nearest = np.arange(len(codes)), NearestMembers(space, 1)
    has_within, has_between = _edges(graph, pairs)
    kept = has_between
    nearest.add(members[kept], everyone)
    errors = _errors(nearest, codes)
    places = np.flatnonzero(~kept)
    had_edge = (has_within | has_between)[places]
    while len(places):
        graph = graph.restrict(space, members[places])
        has_within, has_between = _edges(graph, pairs)
        added = has_between & had_edge
        nearest.add(members[places[added]], everyone)
        errors_before, errors = errors, _errors(nearest, codes)
        if errors >= errors_before:
            break
        kept[places[added]] = True
        places, had_edge = places[~added], (has_within | has_between)[~added]
    return members[kept] if kept.any() else members


def _edges(graph: ClassNeighbors, pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Whether each member is the nearest of one of its class, and of one of a class paired with its own."""
    degrees, codes = graph.in_degrees(), graph.codes[graph.members]
    is_pair = np.zeros((degrees.shape[1], degrees.shape[1]), bool)
    for a, b in pairs:
        is_pair[a, b] = is_pair[b, a] = True
    return _within(degrees, codes) > 0, ((degrees > 0) & is_pair[codes]).any(axis=1)


def _errors(nearest: NearestMembers, codes: np.ndarray) -> int:
    """Objects whose nearest member has another class, or that have none."""
    return int((nearest.votes(np.arange(len(codes)), codes) != codes).sum())


class CCIS(BaseSelector):
    """Class conditional instance selection: the central objects of the classes, thinned out to their border.

    It has no parameters of its own and keeps few objects. In a pair of classes it may take objects
    of one class only; the medoid of the other class is then added. Scores are made of small counts and
    often tie; ties go by index, so that another order of the objects may give another set.

    Parameters
    ----------
    metric : str or callable, default="euclidean"
        Dissimilarity between objects, as in :class:`REPS`.
    metric_params : dict, optional
        Arguments of the metric.
    n_jobs : int, optional
        Workers of the neighbour search. Changes no result.
    verbose : int, default=0
        Above 0, print the stages to stderr.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The objects kept, ascending.
    classes_ : ndarray
        The labels, sorted.
    fallback_classes_ : ndarray
        The labels of which the method kept nothing, so that the medoid of the class was added.
    n_distances_ : int
        Dissimilarities asked for; a search for everyone's neighbours asks for each pair once.

    Notes
    -----
    Scores weigh how often an object is the nearest of its own class against how often it is that of the
    class paired with its own. The best are taken until the set makes no more errors on the training set,
    leave-one-out, than the whole training set does, or until the next one lowers their number no
    further. Of these, objects at the border between the classes are kept. How open points of the
    publication are settled stands at the head of ``protoset/selectors/ccis.py``.

    References
    ----------
    E. Marchiori, "Class conditional nearest neighbor for large margin instance selection", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 32 (2010) 364-370.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset.selectors import CCIS
    >>> X, y = load_iris(return_X_y=True)
    >>> len(CCIS().fit(X, y).sample_indices_)
    3
    """

    def __init__(
        self,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        return ccis(space, codes, n_jobs=self.n_jobs, verbose=self.verbose)
