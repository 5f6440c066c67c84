"""The rule by which prototypes decide, and its calibration, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protoset.cli._output import say

if TYPE_CHECKING:
    from protoset.classifier import PrototypeClassifier


def rule_document(classifier: PrototypeClassifier) -> dict[str, Any]:
    """Return the rule that decides, and its calibration on held-out training objects, for a document."""
    calibration = classifier.calibration_
    described = None
    if calibration is not None:
        described = {"how": calibration.how, "n_objects": calibration.n_objects, "errors": calibration.errors}
    return {"rule": classifier.rule_, "calibration": described}


def say_rule(document: dict[str, Any]) -> None:
    """Print the rule that decides; where several were tried, with their errors on held-out objects."""
    calibration = document["calibration"]
    if calibration is None:
        say(f"rule: {document['rule']}, not calibrated: predictions have no probabilities")
        return
    objects = f"{calibration['n_objects']} held-out training objects ({calibration['how']})"
    listed = ", ".join(f"{name} {error:.3f}" for name, error in calibration["errors"].items())
    errors = f"; errors on them: {listed}" if len(calibration["errors"]) > 1 else ""
    say(f"rule: {document['rule']}, calibrated by {objects}{errors}")
