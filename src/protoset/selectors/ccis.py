"""CCIS, class conditional instance selection (Marchiori 2010): select central objects, then keep their border.

The method works on the graph that joins each object to its nearest neighbour in each class. The
within-class in-degree of an object counts the edges from its own class, a between-class in-degree the
edges from another class. An object with many within-class and few between-class edges lies safely
inside its class. Errors are leave-one-out errors on the training set.

1. Pairs. Each class is paired with the class whose edges to it are most like its own: the sum of
   ``|within - between|`` over the objects of both classes, divided by the size of the smaller class, is
   least. A tie goes to the first class in sorted order. Two classes that choose each other are one pair.
2. Scores. Within a pair, p is the share of an object in the within-class in-degrees of both classes, and
   q its share in the in-degrees between the two classes. The score is K(p, q) - K(q, p) with
   K(p, q) = p ln(2p / (p + q)) and K(0, q) = 0. A share of a sum of 0 is 0. So the score has the sign of
   p - q, and an object without incoming edges scores 0.
3. Growth. One set, empty at first, is common to all pairs. The pairs are treated in the order of their
   classes. The objects of a pair with a score of at least 0 are ordered by score, equal scores by index.
   The first max(number of classes, A / 2 rounded up) objects join the set, where A is the number of
   errors of the whole training set. Then objects join one at a time, while the set makes more than A
   errors and the new object lowers their number. An object that is already in the set lowers nothing.
4. Thin-out, on the graph of the grown set. A border member is the nearest neighbour of a member of a
   paired class. The border members are kept. Then rounds follow, each on the graph of the remaining
   members: a round adds the border members of this graph that had an incoming edge, from their own or a
   paired class, in the graph of the round before (in the first round, of the grown set). The rounds end
   with the first addition that does not lower the number of errors; this addition is not made.
   If the grown set has no border members, as when it holds a single class, it is returned whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset._blocks import row_slices
from protoset._progress import report
from protoset.selectors._class_neighbors import ClassNeighbors
from protoset.selectors._voting import NearestMembers
from protoset.selectors.base import BaseSelector, TieRule
from protoset.selectors.ties import MajorityVote
from protoset.spaces import TrainingSpace


def ccis(
    space: TrainingSpace,
    codes: np.ndarray,
    *,
    tie_rule: TieRule = "majority",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> np.ndarray:
    """Return the objects kept, ascending; ``codes`` are numbered without gaps.

    A class may lose all its objects. The result is empty if every class has a single member.
    """
    report(verbose, "searching the nearest of each class for %d objects", len(codes))
    graph = ClassNeighbors.search(space, codes, n_jobs)
    degrees = graph.in_degrees()
    pairs = paired_classes(degrees, codes)
    most_errors = _errors_of_all(space, graph, tie_rule)
    grown = _grow(space, codes, degrees, pairs, most_errors, tie_rule)
    report(verbose, "grew a set of %d objects from %d pairs of classes", len(grown), len(pairs))
    return _thin_out(space, graph.restrict(space, grown), pairs, tie_rule) if len(grown) else grown


def paired_classes(degrees: np.ndarray, codes: np.ndarray) -> list[tuple[int, int]]:
    """Pair each class with the class that correlates most with it.

    Returns each pair once, lower class first, in the order of the classes that chose it.
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
    space: TrainingSpace,
    codes: np.ndarray,
    degrees: np.ndarray,
    pairs: list[tuple[int, int]],
    most_errors: int,
    tie_rule: TieRule,
) -> np.ndarray:
    """Take the best objects of each pair of classes until the set is as accurate as the whole training set."""
    within = _within(degrees, codes)
    n_first = max(degrees.shape[1], -(-most_errors // 2))
    nearest = NearestMembers.of(space, codes, 1, tie_rule)
    is_member = np.zeros(len(codes), bool)
    every_row = np.arange(len(codes))
    for a, b in pairs:
        objects = np.flatnonzero((codes == a) | (codes == b))
        scores = pair_scores(within[objects], degrees[objects, a + b - codes[objects]])
        order = np.lexsort((objects, -scores))
        ranking = objects[order[scores[order] >= 0]]
        first = np.sort(ranking[:n_first])
        nearest.add(first[~is_member[first]], every_row)
        is_member[first] = True
        errors = _errors(nearest, codes)
        for candidate in ranking[n_first:]:
            # A candidate that joined with another pair lowers nothing.
            if errors <= most_errors or is_member[candidate]:
                break
            before = nearest.snapshot()
            nearest.add(np.array([candidate]), every_row)
            errors_before, errors = errors, _errors(nearest, codes)
            if errors >= errors_before:
                nearest.restore(before)
                break
            is_member[candidate] = True
    return np.flatnonzero(is_member)


def _thin_out(
    space: TrainingSpace, graph: ClassNeighbors, pairs: list[tuple[int, int]], tie_rule: TieRule
) -> np.ndarray:
    """Keep the members at the border between paired classes, and add more while the number of errors falls."""
    codes, members = graph.codes, graph.members
    every_row, nearest = np.arange(len(codes)), NearestMembers.of(space, codes, 1, tie_rule)
    has_within, has_between = _edges(graph, pairs)
    kept = has_between
    nearest.add(members[kept], every_row)
    errors = _errors(nearest, codes)
    rest = np.flatnonzero(~kept)
    had_edge = (has_within | has_between)[rest]
    while len(rest):
        graph = graph.restrict(space, members[rest])
        has_within, has_between = _edges(graph, pairs)
        added = has_between & had_edge
        nearest.add(members[rest[added]], every_row)
        errors_before, errors = errors, _errors(nearest, codes)
        if errors >= errors_before:
            break
        kept[rest[added]] = True
        rest, had_edge = rest[~added], (has_within | has_between)[~added]
    return members[kept] if kept.any() else members


def _edges(graph: ClassNeighbors, pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Whether each member has an incoming edge from its own class, and from a class paired with its own."""
    degrees, codes = graph.in_degrees(), graph.codes[graph.members]
    is_pair = np.zeros((degrees.shape[1], degrees.shape[1]), bool)
    for a, b in pairs:
        is_pair[a, b] = is_pair[b, a] = True
    return _within(degrees, codes) > 0, ((degrees > 0) & is_pair[codes]).any(axis=1)


def _errors_of_all(space: TrainingSpace, graph: ClassNeighbors, tie_rule: TieRule) -> int:
    """Leave-one-out errors of 1-NN on all objects."""
    codes, distances = graph.codes, graph.distances
    winners = codes[graph.nearest()]
    if tie_rule == "majority":
        # Ties matter only between classes.
        tied = np.flatnonzero((distances == distances.min(axis=1, keepdims=True)).sum(axis=1) > 1)
        vote = MajorityVote(codes, np.ones(len(codes)), np.bincount(codes).astype(float))
        for block in row_slices(len(tied), len(codes) * 8):
            rows = tied[block]
            to_others = np.array(space.block(rows, slice(None)))
            to_others[np.arange(len(rows)), rows] = np.inf
            winners[rows] = codes[vote(to_others)]
    return int((winners != codes).sum())


def _errors(nearest: NearestMembers, codes: np.ndarray) -> int:
    """Number of objects whose nearest member has another class, or that have no nearest member."""
    return int((nearest.votes(np.arange(len(codes)), codes) != codes).sum())


class CCIS(BaseSelector):
    """Class conditional instance selection: central objects of the classes, thinned out to their border.

    The method keeps few objects, and has no parameter for the size.

    Parameters
    ----------
    tie_rule : {"majority", "row_order"}, default="majority"
        Class of an object if several kept objects are equally near. "majority": the majority of their labels, and in a
        tie the more frequent class. "row_order": the class of the first row.
    metric, metric_params, n_jobs, verbose
        See :class:`BaseSelector`.

    Attributes
    ----------
    sample_indices_, classes_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`.

    Notes
    -----
    Each class is paired with another one. The score of an object compares how often it is the nearest
    neighbour of objects of its own class and of the paired class. Objects with the best scores are taken
    until the set makes no more leave-one-out errors than the whole training set, or until the next object
    does not lower the number of errors. Of this set, the objects at the border between paired classes are
    kept. The head of ``protoset/selectors/ccis.py`` gives all steps, and the choices that the publication
    leaves open.

    Scores come from small counts and often tie. Ties are ordered by index, so another order of the objects
    may give another set. From a pair of classes the method may take objects of one class only; the medoid
    of the other class is then added.

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
        tie_rule: TieRule = "majority",
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.tie_rule = tie_rule

    def _select(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        return ccis(space, codes, tie_rule=self.tie_rule, n_jobs=self.n_jobs, verbose=self.verbose)
