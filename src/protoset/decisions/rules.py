"""The rules by which prototypes decide about queries.

    "nearest"    the class of the nearest prototype
    "adjusted"   the class of the prototype with the smallest rank + degradation
    "scores"     the class with the largest score; every prototype contributes to the score of every class

A rule turns the distances of queries to all prototypes into evidence for each class, which a ``ProbabilityMap`` turns
into probabilities. Among equally near prototypes the majority of their labels decides (``protoset.selectors.ties``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from protoset.decisions.degradations import learn_degradations
from protoset.decisions.held_out import JudgedSet
from protoset.decisions.probabilities import LARGEST_EVIDENCE
from protoset.decisions.ranks import decide, nearest_of_classes
from protoset.decisions.scores import ClassScores, Kernel, learn_scores, typical_of
from protoset.selectors.ties import MajorityVote

RuleName = Literal["auto", "nearest", "adjusted", "scores"]
RULES: tuple[RuleName, ...] = ("nearest", "adjusted", "scores", "auto")

RankRule = Literal["nearest", "adjusted"]
RANK_RULES: tuple[RankRule, ...] = ("nearest", "adjusted")
"""Rules that the paper has."""

NEAR = 0.01
"""Fraction of the typical distance below which distances hardly differ."""


class Rule(ABC):
    """A rule for the prototypes of a set."""

    name: str
    usual_slopes: tuple[float, ...]
    """Slopes of the evidence if few objects are held out."""
    vote: MajorityVote

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.vote.class_totals)

    @abstractmethod
    def evidence(self, block: np.ndarray) -> np.ndarray:
        """Evidence for each class, of shape (n_kinds, n_queries, n_classes), from distances to all prototypes."""

    def with_vote(self, vote: MajorityVote) -> Rule:
        """Return the same rule with other votes."""
        return replace(self, vote=vote)  # type: ignore[type-var]

    @abstractmethod
    def winners(self, block: np.ndarray) -> np.ndarray:
        """Position of the prototype that decides about each query."""

    def labels(self, block: np.ndarray) -> np.ndarray:
        """Class of each query."""
        return self.vote.codes[self.winners(block)]

    def tied(self, block: np.ndarray) -> np.ndarray | None:
        """Prototypes of each query among which the majority decides; None where there are none."""
        return None


@dataclass(frozen=True, eq=False)
class NearestRule(Rule):
    """The nearest prototype decides. ``typical`` is the unit of its evidence."""

    vote: MajorityVote
    typical: float
    name = "nearest"
    usual_slopes = (2.0, 2.0)

    def evidence(self, block: np.ndarray) -> np.ndarray:
        """How near the nearest prototype of each class is: as a ratio, and as a difference."""
        return self.evidence_of(nearest_of_classes(block, self.vote.codes, self.n_classes))

    def evidence_of(self, distances: np.ndarray) -> np.ndarray:
        """Evidence from the distances to the nearest prototype of each class."""
        distances = np.minimum(distances / self.typical, LARGEST_EVIDENCE)
        return np.stack([-np.log(distances + NEAR), -distances])

    def winners(self, block: np.ndarray) -> np.ndarray:
        """Nearest prototypes."""
        return self.vote(block)

    def tied(self, block: np.ndarray) -> np.ndarray:
        """Prototypes that are equally near."""
        return block == block.min(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class AdjustedRule(Rule):
    """The prototype with the smallest rank + degradation decides; in a tie, the nearest of them."""

    vote: MajorityVote
    degradations: np.ndarray
    name = "adjusted"
    usual_slopes = (0.7,)

    def evidence(self, block: np.ndarray) -> np.ndarray:
        """Adjusted rank of the best prototype of each class."""
        decision = decide(block, self.degradations, self.vote)
        ranks = np.empty(block.shape)
        np.put_along_axis(ranks, decision.order, decision.adjusted_ranks, axis=1)
        best = nearest_of_classes(ranks, self.vote.codes, self.n_classes)
        return -np.minimum(best, LARGEST_EVIDENCE)[None]

    def winners(self, block: np.ndarray) -> np.ndarray:
        """Prototypes with the smallest adjusted ranks."""
        return decide(block, self.degradations, self.vote).winners

    def tied(self, block: np.ndarray) -> np.ndarray:
        """Prototypes with equal adjusted ranks and distances."""
        return decide(block, self.degradations, self.vote).tied


@dataclass(frozen=True, eq=False)
class ScoresRule(Rule):
    """The class with the largest score is predicted; its prototype that adds most is shown as the deciding one."""

    vote: MajorityVote
    scores: ClassScores
    name = "scores"
    usual_slopes = (1.0,)

    def evidence(self, block: np.ndarray) -> np.ndarray:
        """Scores of the classes."""
        return self.scores(block)[None]

    def labels(self, block: np.ndarray) -> np.ndarray:
        """Classes with the largest scores."""
        return self.scores(block).argmax(axis=1)

    def winners(self, block: np.ndarray) -> np.ndarray:
        """Prototypes that add most to the class that wins, of this class if it has any."""
        codes = self.labels(block)
        is_own = self.vote.codes == codes[:, None]
        has_own = is_own.any(axis=1, keepdims=True)
        return np.where(is_own | ~has_own, self.added(block, codes), -np.inf).argmax(axis=1)

    def added(self, block: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Contribution of each prototype to the score of one class per row."""
        return self.scores.features(block) * self.scores.scores[:, codes].T


def learn_rule(
    name: str, judged: JudgedSet, class_totals: np.ndarray, *, beta: float, choice: tuple[Kernel, float] | None = None
) -> Rule:
    """Learn a rule from the objects that a set knows; ``choice`` is the kernel and penalty of scores."""
    vote = MajorityVote(judged.codes, judged.counts, class_totals)
    if name == "adjusted":
        given = judged.degradations
        return AdjustedRule(vote, learn_degradations(judged, vote, beta) if given is None else given)
    typical = typical_of(judged.known, len(judged.codes))
    if name == "scores":
        if choice is None:
            raise ValueError("scores need a kernel and a penalty")
        kernel, penalty = choice
        return ScoresRule(vote, learn_scores(judged, len(class_totals), kernel, (penalty,), typical)[0])
    return NearestRule(vote, typical)
