"""Results of a classifier with details: predictions, and the prototypes behind them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset._display import MOST_ROWS, Displayed, Named, Table
from protoset.decisions.degradations import ranks_of
from protoset.decisions.ranks import decide
from protoset.decisions.rules import AdjustedRule, Rule, ScoresRule


@dataclass(frozen=True, repr=False)
class Explanation(Displayed):
    """The prototypes behind the predictions. Arrays have one row per query, the deciding prototype first.

    Attributes
    ----------
    indices : ndarray of int, shape (n_queries, n_shown)
        Positions of the prototypes in the training set. For moved prototypes: of the objects from which they started.
    labels : ndarray
        Labels of the prototypes. With the rules "nearest" and "adjusted" the first label is the prediction.
    distances : ndarray
        Dissimilarities of the query to the prototypes.
    ranks : ndarray
        Ranks of the prototypes by distance, 1 for the nearest. Equal distances have the same, best rank.
    degradations : ndarray
        Degradations of the prototypes; 0 if the selector learns none.
    adjusted_ranks : ndarray
        Values by which the rule orders the prototypes: the rank for "nearest", rank + degradation for "adjusted". For
        "scores": the rank by the amount that a prototype adds to the score of the predicted class.
    exemplars : ndarray of int
        Position of a training object for each prototype: the prototype itself or, if it moved, the nearest training
        object of its class.
    """

    indices: np.ndarray
    labels: np.ndarray
    distances: np.ndarray
    ranks: np.ndarray
    degradations: np.ndarray
    adjusted_ranks: np.ndarray
    exemplars: np.ndarray

    def _summary(self) -> str:
        n_queries, n_shown = self.indices.shape
        return f"{n_queries:,} queries, {n_shown} prototypes each"

    def _table(self) -> Table:
        rows = [
            [query, *(Named(label, f"({row}, {distance:.4g})") for label, row, distance in zip(*of_query, strict=True))]
            for query, of_query in enumerate(
                zip(self.labels[:MOST_ROWS], self.exemplars[:MOST_ROWS], self.distances[:MOST_ROWS], strict=True)
            )
        ]
        others = ["then"] * (self.indices.shape[1] - 1)
        note = "Each with its label, its row in the training set and its distance; the label of the first is predicted."
        if (self.exemplars != self.indices).any():
            note += " The prototypes moved: the rows are those of the nearest objects of their classes."
        return Table(["query", "decided by", *others], rows, len(self.indices), note)


@dataclass(frozen=True, repr=False)
class Predictions(Displayed):
    """Predicted labels with probabilities and deciding prototypes. Arrays have one entry per query.

    Attributes
    ----------
    labels : ndarray
        Predicted labels.
    probabilities : ndarray
        Probability of the predicted class, as in ``predict_proba``; NaN if the classifier is not calibrated.
    indices : ndarray of int
        Position of the deciding prototype in the training set.
    distances : ndarray
        Dissimilarity of the query to the deciding prototype.
    exemplars : ndarray of int
        Position of a training object for the deciding prototype: the prototype itself or, if it moved, the nearest
        training object of its class.
    """

    labels: np.ndarray
    probabilities: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    exemplars: np.ndarray

    def _summary(self) -> str:
        return f"{len(self.labels):,} queries"

    def _table(self) -> Table:
        columns = (self.labels, self.probabilities, self.exemplars, self.distances)
        rows = zip(range(MOST_ROWS), *(column[:MOST_ROWS].tolist() for column in columns), strict=False)
        headings = ["query", "label", "probability", "decided by row", "distance"]
        return Table(headings, rows, len(self.labels))


def order_of(rule: Rule, block: np.ndarray, n_shown: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First prototypes of each query in the order of the rule, with their ranks and adjusted ranks.

    The deciding prototype comes first.
    """
    ranks, winners = ranks_of(block), rule.winners(block)
    adjusted = ranks
    if isinstance(rule, AdjustedRule):
        decision = decide(block, rule.degradations, rule.vote)
        adjusted = np.empty(block.shape)
        np.put_along_axis(adjusted, decision.order, decision.adjusted_ranks, axis=1)
    elif isinstance(rule, ScoresRule):
        adjusted = ranks_of(-rule.added(block, rule.labels(block)))
    is_winner = np.arange(block.shape[1]) == winners[:, None]
    order = np.lexsort((block, adjusted, ~is_winner), axis=1)[:, :n_shown]
    return order, np.take_along_axis(ranks, order, axis=1), np.take_along_axis(adjusted, order, axis=1)
