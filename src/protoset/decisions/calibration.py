"""Calibration of the decisions of a rule on held-out training objects.

sets that do not know some objects -> a rule for each set -> evidence, novelty of the objects it does not know
evidence, classes                  -> probabilities
probabilities of the own class     -> sets of labels with a coverage
novelty                            -> refusals at a given rate
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from protoset._blocks import one_blas_thread
from protoset._display import Brief
from protoset.decisions.held_out import HeldOut
from protoset.decisions.novelty import HeldOutScores, held_out_novelty, radii_of
from protoset.decisions.probabilities import ProbabilityMap, learn_map
from protoset.decisions.ranks import tied_shares
from protoset.decisions.rules import Rule, learn_rule
from protoset.decisions.scores import choose_scores


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Brief):
    """Calibration of a classifier on held-out training objects.

    Attributes
    ----------
    how : str
        How the objects were held out. "folds": in several folds. "held-out part": as one part. "leave-one-out": the
        selection used the objects, only the distance of an object to itself is left out; the errors are then too small.
        "prequential": objects of a stream, before the prototypes moved on them.
    n_objects : int
        Number of held-out objects.
    errors : dict of str to float
        Error on the held-out objects of each rule that was tried.
    probabilities : ProbabilityMap
        Map from evidence to probabilities.
    radii : ndarray
        Mean distance of the training objects near each prototype.
    novelty : HeldOutScores
        Novelty scores of the held-out objects.
    strangeness : HeldOutScores
        1 - probability of the true class, for each held-out object.
    codes : ndarray of int
        Classes of the held-out objects, in the order of ``strangeness``.
    """

    how: str
    n_objects: int
    errors: dict[str, float]
    probabilities: ProbabilityMap
    radii: np.ndarray = field(repr=False)
    novelty: HeldOutScores = field(repr=False)
    strangeness: HeldOutScores = field(repr=False)
    codes: np.ndarray = field(repr=False)

    def novelty_of(self, nearest: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Novelty of queries, from their nearest prototypes and the distances to these."""
        return distances / self.radii[nearest]


@dataclass(frozen=True, eq=False)
class Judgement:
    """Evidence of a rule, learned in each of several sets, for the objects that were held out from the set.

    ``ties`` are the factors by which tied classes divide their probabilities. ``error`` is the share of wrong answers;
    ``cost`` is that share where each object counts as often as its class weighs.
    """

    evidence: np.ndarray
    ties: np.ndarray
    error: float
    cost: float


def choose_rule(name: str, held_out: HeldOut, beta: float) -> tuple[Rule, dict[str, Judgement]]:
    """Learn a rule for a set; "auto" is "nearest" or "scores", whichever has the lower cost on held-out objects."""
    choice = None
    names = ("nearest", "scores") if name == "auto" else (name,)
    with one_blas_thread():
        if "scores" in names:
            choice = choose_scores(held_out.sets, len(held_out.class_totals))
        judged = {each: _judge(each, held_out, beta, choice) for each in names}
        best = min(names, key=lambda each: judged[each].cost)
        return learn_rule(best, held_out.final, held_out.class_totals, beta=beta, choice=choice), judged


def calibrate(rule: Rule, held_out: HeldOut, judged: dict[str, Judgement]) -> Calibration:
    """Learn probabilities, refusals and sets of labels for a rule."""
    codes = np.concatenate([each.held_out.codes for each in held_out.sets])
    weights = np.concatenate([each.held_out.weights for each in held_out.sets])
    costs = np.concatenate([each.held_out.costs for each in held_out.sets])
    # A query counts as one object, so the mean weight of the objects must not be below 1.
    weights = weights / min(1.0, float(weights.mean()))
    novelty = HeldOutScores.of(np.concatenate([held_out_novelty(each) for each in held_out.sets]), weights)
    errors = {name: each.error for name, each in judged.items()}
    judgement = judged[rule.name]
    radii = radii_of(held_out.final)
    return calibration_by(held_out.how, rule, judgement, codes, weights, costs, errors, radii, novelty)


def calibration_by(
    how: str,
    rule: Rule,
    judgement: Judgement,
    codes: np.ndarray,
    weights: np.ndarray,
    costs: np.ndarray,
    errors: dict[str, float],
    radii: np.ndarray,
    novelty: HeldOutScores,
) -> Calibration:
    """Learn probabilities, and the strangeness of held-out objects, from the evidence for their classes."""
    probabilities = learn_map(judgement.evidence, codes, costs, rule.usual_slopes)
    shares = probabilities(judgement.evidence) * judgement.ties
    strangeness = np.maximum(1.0 - shares[np.arange(len(codes)), codes], 0.0)
    order = np.argsort(strangeness, kind="stable")
    strange = HeldOutScores(strangeness[order], weights[order])
    return Calibration(how, len(codes), errors, probabilities, radii, novelty, strange, codes[order])


def _judge(name: str, held_out: HeldOut, beta: float, choice: tuple | None) -> Judgement:
    """Learn a rule in each set, and apply it to the objects that the set does not know."""
    evidence, ties, wrong, total = [], [], np.zeros(2), np.zeros(2)
    for judged in held_out.sets:
        rule = learn_rule(name, judged, held_out.class_totals, beta=beta, choice=choice)
        for rows, block in judged.held_out.blocks(len(judged.codes)):
            evidence.append(rule.evidence(block))
            ties.append(_divided_ties(rule, block))
            counted = np.array([judged.held_out.weights[rows], judged.held_out.costs[rows]])
            wrong += counted[:, rule.labels(block) != judged.held_out.codes[rows]].sum(axis=1)
            total += counted.sum(axis=1)
    error, cost = (wrong / total).tolist()
    return Judgement(np.concatenate(evidence, axis=1), np.concatenate(ties), error, cost)


def _divided_ties(rule: Rule, block: np.ndarray) -> np.ndarray:
    """Factors by which the classes of tied prototypes divide their probabilities."""
    tied = rule.tied(block)
    return np.ones((len(block), rule.n_classes)) if tied is None else tied_shares(tied, rule.vote)


def probabilities_of(rule: Rule, probabilities: ProbabilityMap, block: np.ndarray) -> np.ndarray:
    """Probabilities of the classes of each query; the class that the rule answers has the largest.

    The classes of tied prototypes divide their equal probabilities by votes. Among them, the classes with most votes
    divide theirs by their sizes in the training set.
    """
    shares = probabilities(rule.evidence(block)) * _divided_ties(rule, block)
    rows, codes = np.arange(len(shares)), rule.labels(block)
    largest = shares.max(axis=1)
    # Evidence that differs by less than its rounding is equal.
    is_behind = shares.argmax(axis=1) != codes
    shares[rows[is_behind], codes[is_behind]] = np.nextafter(largest[is_behind], 2.0)
    return shares


def label_sets(
    calibration: Calibration, probabilities: np.ndarray, codes: np.ndarray, coverage: float, *, by_class: bool
) -> np.ndarray:
    """Labels that remain possible for each query, as a row of bool.

    The predicted labels, ``codes``, are always among them. A label is left out if at most the share 1 - ``coverage`` of
    the held-out objects (with ``by_class``, of this class) has such a low probability of its own label.
    """
    strangeness, possible = 1.0 - probabilities, np.empty(probabilities.shape, bool)
    known = calibration.strangeness
    for code in range(probabilities.shape[1]):
        among = known
        if by_class:
            own = calibration.codes == code
            among = HeldOutScores(known.values[own], known.weights[own])
        possible[:, code] = among.tail(strangeness[:, code]) > 1.0 - coverage
    possible[np.arange(len(codes)), codes] = True
    return possible
