"""What a page says of itself: the data, the method with its parameters, the versions."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import scipy
import sklearn

from protoset._version import __version__
from protoset.report.parts import Parts

LONGEST = 120
LEFT_OUT = ("metric", "metric_params", "n_jobs", "verbose", "callback")
"""Parameters that are stated elsewhere, or change no result."""

KINDS = {
    "vectors": "vectors",
    "mixed": "rows of mixed attributes",
    "series": "time series",
    "strings": "strings",
    "matrix": "a matrix of dissimilarities",
}

Facts = list[dict[str, Any]]


def state_facts(parts: Parts, created: str) -> Facts:
    """Headed lists of names and texts."""
    train, selector = parts.train, parts.selector
    data = [["name", train.name], ["kind", KINDS[train.kind]], ["training objects", f"{train.n_objects:,}"]]
    if parts.test is not None:
        data.append(["test objects", f"{parts.test.n_objects:,}"])
    data.append(["classes", f"{len(selector.classes_):,}"])
    if train.attributes:
        data.append(["attributes", f"{len(train.attributes):,}"])
    if train.path is not None:
        # The name alone: a page is mailed, and folders say more of their owner than of the data.
        data.append(["file", train.path.name])
    metric = [["metric", show(selector.metric) if callable(selector.metric) else selector.metric_]]
    metric += [[str(name), show(value)] for name, value in (selector.metric_params or {}).items()]
    if parts.transformed:
        metric.append(["objects were transformed by", parts.transformed])
    method = [["method", type(selector).__name__], ["rule", parts.rule]]
    given = {name: value for name, value in selector.get_params().items() if name not in LEFT_OUT and value is not None}
    method += [[name, show(value)] for name, value in given.items()]
    refinement = getattr(selector, "refinement_", None)
    if refinement is not None:
        change = f"{refinement.objective_before:.4g} → {refinement.objective_after:.4g}"
        method += [["swaps of the refinement", f"{refinement.n_swaps:,}"], ["its objective", change]]
    method.append(["distances asked for", f"{selector.n_distances_:,}"])
    versions = [
        ["protoset", __version__],
        ["NumPy", np.__version__],
        ["SciPy", scipy.__version__],
        ["scikit-learn", sklearn.__version__],
        ["Python", platform.python_version()],
        ["made", created],
    ]
    headed = {"Data": data, "Dissimilarity": metric, "Method": method, "Versions": versions}
    return [{"heading": heading, "rows": rows} for heading, rows in headed.items()]


def show(value: Any) -> str:
    """Text of a parameter, the same at every run: functions and objects by their names, not by addresses."""
    if callable(value):
        text = getattr(value, "__qualname__", type(value).__name__)
    elif isinstance(value, np.ndarray):
        text = f"array of the shape {value.shape}"
    elif value is None or isinstance(value, (bool, int, float, str, list, tuple, dict, np.generic)):
        text = str(value.item() if isinstance(value, np.generic) else value)
    else:
        text = type(value).__name__
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
