"""Rules and their calibration as JSON values and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset._validation import check_choice, check_count, check_probability, check_real
from protoset.decisions import AdjustedRule, Calibration, NearestRule, Rule, ScoresRule
from protoset.decisions.held_out import FOLDS, LEAVE_ONE_OUT, PART
from protoset.decisions.novelty import HeldOutScores
from protoset.decisions.prequential import PREQUENTIAL
from protoset.decisions.probabilities import ProbabilityMap
from protoset.decisions.rules import RANK_RULES
from protoset.decisions.scores import ClassScores
from protoset.persistence.archive import native
from protoset.selectors.ties import MajorityVote

REMEDY = "it is part of the file"


def describe_rule(rule: Rule) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the values and the arrays of a rule; degradations are those of the classifier."""
    if isinstance(rule, ScoresRule):
        scores = rule.scores
        arrays = {"scores": scores.scores, "intercepts": scores.intercepts}
        return {"name": rule.name, "power": scores.power, "scale": scores.scale}, arrays
    return {"name": rule.name} | ({"typical": rule.typical} if isinstance(rule, NearestRule) else {}), {}


def restore_rule(
    values: dict[str, Any], arrays: dict[str, np.ndarray], vote: MajorityVote, degradations: np.ndarray | None
) -> Rule:
    """Make a rule; raises an error where its parts do not fit the prototypes."""
    name = check_choice("rule", values["name"], (*RANK_RULES, "scores"))
    if name == "adjusted":
        if degradations is None:
            raise ValueError("there are no degradations for the rule 'adjusted'")
        return AdjustedRule(vote, degradations)
    if name == "nearest":
        return NearestRule(vote, check_real("typical", values["typical"], above=0, remedy=REMEDY))
    n_classes = len(vote.class_totals)
    scores, intercepts = native(arrays["scores"]), native(arrays["intercepts"])
    for array, shape in ((scores, (len(vote.codes), n_classes)), (intercepts, (n_classes,))):
        if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError(f"class scores must be finite numbers of the shape {shape}")
    power = check_count("power", values["power"], least=1, remedy=REMEDY)
    if power > 2:
        raise ValueError(f"power={power} must be 1 or 2")
    scale = check_real("scale", values["scale"], above=0, remedy=REMEDY)
    return ScoresRule(vote, ClassScores(scores, intercepts, power, scale))


def describe_calibration(calibration: Calibration) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the values and the arrays of a calibration."""
    values = {
        "how": calibration.how,
        "n_objects": calibration.n_objects,
        "errors": calibration.errors,
        "slopes": calibration.probabilities.slopes.tolist(),
        "shared": calibration.probabilities.shared,
    }
    arrays = {"radii": calibration.radii, "codes": calibration.codes}
    for name, scores in (("novelty", calibration.novelty), ("strangeness", calibration.strangeness)):
        arrays |= {f"{name}_values": scores.values, f"{name}_weights": scores.weights}
    return values, arrays


def restore_calibration(values: dict[str, Any], arrays: dict[str, np.ndarray], rule: Rule) -> Calibration:
    """Make a calibration; raises an error where its parts do not fit the rule."""
    check_choice("how", values["how"], (FOLDS, PART, LEAVE_ONE_OUT, PREQUENTIAL))
    n_objects = check_count("n_objects", values["n_objects"], least=1, remedy=REMEDY)
    errors = {str(name): check_probability("error", error) for name, error in values["errors"].items()}
    slopes = np.array(values["slopes"], float)
    if slopes.shape != (len(rule.usual_slopes),) or not (np.isfinite(slopes) & (slopes > 0)).all():
        raise ValueError("slopes of the probabilities must be positive, one for each kind of evidence")
    shared = check_real("shared", values["shared"], above=0, most=1, remedy=REMEDY)
    radii, codes = native(arrays["radii"]), native(arrays["codes"])
    if radii.shape != rule.vote.codes.shape or not (np.isfinite(radii) & (radii > 0)).all():
        raise ValueError("radii must be positive numbers, one for each prototype")
    if codes.shape != (n_objects,) or codes.dtype.kind != "i" or codes.min() < 0 or codes.max() >= rule.n_classes:
        raise ValueError("the classes of held-out objects do not fit their number")
    novelty, strangeness = (_restore_scores(arrays, name, n_objects) for name in ("novelty", "strangeness"))
    probabilities = ProbabilityMap(slopes, shared)
    return Calibration(values["how"], n_objects, errors, probabilities, radii, novelty, strangeness, codes)


def _restore_scores(arrays: dict[str, np.ndarray], name: str, n_objects: int) -> HeldOutScores:
    values, weights = native(arrays[f"{name}_values"]), native(arrays[f"{name}_weights"])
    if values.shape != (n_objects,) or weights.shape != (n_objects,) or not (weights >= 0).all():
        raise ValueError(f"{name} must have a number and a weight for each of the {n_objects} held-out objects")
    if not (values >= 0).all() or (np.diff(values) < 0).any():
        raise ValueError(f"{name} must have numbers of at least 0 in ascending order")
    return HeldOutScores(values, weights)
