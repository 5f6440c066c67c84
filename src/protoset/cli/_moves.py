"""The moves of the prototypes after their selection, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protoset.cli._output import plain, say

if TYPE_CHECKING:
    from protoset.datasets import Dataset
    from protoset.models import DataModel

SHOWN_RELEVANCES = 10
"""Attributes whose relevance is shown."""


def adaptation_document(model: DataModel, dataset: Dataset, *, wanted: bool) -> dict[str, Any] | None:
    """Return the moves of the prototypes for a document; None if no moves were asked for.

    ``wanted`` says whether the prototypes were to move wherever objects can.
    """
    adaptation = model.classifier.adaptation_
    if adaptation is not None:
        return {
            "moved": adaptation.has_moved,
            "reason": adaptation.reason,
            "loss": adaptation.loss,
            "passes": adaptation.n_passes,
            "held_out_before": adaptation.held_out_before,
            "held_out_after": adaptation.held_out_after,
            "relevances": _relevances(model, dataset),
        }
    if not wanted:
        return None
    reason = f"objects under the metric {model.preparation.metric} cannot move"
    unknown = ("loss", "passes", "held_out_before", "held_out_after", "relevances")
    return {"moved": False, "reason": reason} | dict.fromkeys(unknown)


def _relevances(model: DataModel, dataset: Dataset) -> dict[str, float] | None:
    """Scale of each attribute, or of each channel of series, by name."""
    scales = model.classifier.relevances_
    if scales is None:
        return None
    names = model.preparation.attribute_names(len(scales))
    if dataset.kind == "series" and model.preparation.attribute_values(dataset.objects[:1]) is None:
        names = tuple(f"channel {channel}" for channel in range(1, len(scales) + 1))
    return dict(zip(names, scales.tolist(), strict=True))


def kept_text(document: dict[str, Any] | None, with_errors: bool) -> str:
    """End of the sentence about the kept objects: whether they moved."""
    if document is None:
        return ""
    if not document["moved"]:
        return f"; not moved: {plain(document['reason'])}"
    if not with_errors:
        return ", then moved"
    before, after = document["held_out_before"], document["held_out_after"]
    return f", then moved: error on held-out training objects {before:.3f} before, {after:.3f} after"


def say_relevances(document: dict[str, Any] | None) -> None:
    """Print how much each attribute counts, where that was learned; the largest first."""
    if document is None or not document["moved"] or document["relevances"] is None:
        return
    ordered = sorted(document["relevances"].items(), key=lambda item: -item[1])
    shown = ", ".join(f"{plain(name)} {scale:.2f}" for name, scale in ordered[:SHOWN_RELEVANCES])
    more = f", and {len(ordered) - SHOWN_RELEVANCES} more" if len(ordered) > SHOWN_RELEVANCES else ""
    say(f"relevances (1 on average): {shown}{more}")
