"""Decisions: rules by which prototypes predict, and their calibration on held-out training objects."""

from protoset.decisions.answers import Explanation, Predictions
from protoset.decisions.calibration import Calibration, calibrate, choose_rule, label_sets, probabilities_of
from protoset.decisions.degradations import learn_degradations
from protoset.decisions.held_out import hold_out, leave_one_out
from protoset.decisions.ranks import Decision, decide
from protoset.decisions.rules import RANK_RULES, RULES, AdjustedRule, NearestRule, RankRule, Rule, RuleName, ScoresRule

__all__ = [
    "RANK_RULES",
    "RULES",
    "AdjustedRule",
    "Calibration",
    "Decision",
    "Explanation",
    "NearestRule",
    "Predictions",
    "RankRule",
    "Rule",
    "RuleName",
    "ScoresRule",
    "calibrate",
    "choose_rule",
    "decide",
    "hold_out",
    "label_sets",
    "learn_degradations",
    "leave_one_out",
    "probabilities_of",
]
