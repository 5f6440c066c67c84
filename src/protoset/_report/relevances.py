"""Relevances of the attributes: the scales that the moves learned, with the names of the attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset._report.inputs import ReportInputs
from protoset._report.objects import shown_name, significant

MAX_RELEVANCES = 100
"""Attributes whose relevance the page shows at most."""


def describe_relevances(inputs: ReportInputs) -> dict[str, Any] | None:
    """Return the relevances as JSON values, largest first; None where none were learned, or one for all.

    ``n_all`` is the number of all attributes, of which the page may hold the first ones.
    """
    relevances = getattr(inputs.classifier, "relevances_", None)
    if relevances is None or len(relevances) < 2:
        return None
    names = relevance_names(inputs, len(relevances))
    order = np.argsort(-relevances, kind="stable")[:MAX_RELEVANCES]
    return {
        "what": "channel" if inputs.train.kind == "series" else "attribute",
        "n_all": len(relevances),
        "names": [names[position] for position in order],
        "values": [significant(float(relevances[position])) for position in order],
    }


def relevance_names(inputs: ReportInputs, n_scales: int) -> list[str]:
    """Names of the attributes; numbers where a transform has changed the columns, and of channels and points."""
    names = [shown_name(attribute.name) for attribute in inputs.train.attributes]
    if len(names) == n_scales:
        return names
    is_series = inputs.train.kind == "series"
    first = np.asarray(inputs.train.objects[0]) if is_series else None
    what = "attribute" if first is None else "channel" if first.ndim > 1 else "point"
    return [f"{what} {position}" for position in range(n_scales)]
