"""Facts at the end of the page: the data, the method with its parameters, the versions."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator

from protoset._display import cut_text
from protoset._report.certainty import REFUSED_RATE, calibration_of, tells_novelty
from protoset._report.inputs import ReportInputs
from protoset._report.stops import inner_selector
from protoset._version import __version__
from protoset.classifier import PrototypeClassifier
from protoset.decisions.held_out import FOLDS, LEAVE_ONE_OUT, PART
from protoset.decisions.prequential import PREQUENTIAL
from protoset.selectors import BaseSelector

MAX_PARAMETER_LENGTH = 120
"""Characters of a parameter that the page shows at most."""

OMITTED_PARAMETERS = ("metric", "metric_params", "selector", "n_jobs", "verbose", "callback")
"""Parameters that are stated elsewhere, or change no result."""

KIND_NAMES = {
    "vectors": "vectors",
    "mixed": "rows of mixed attributes",
    "series": "time series",
    "strings": "strings",
    "matrix": "a matrix of dissimilarities",
}
"""How the page names the kinds of data sets."""

HELD_OUT_NAMES = {
    FOLDS: "training objects, held out in folds",
    PART: "training objects, held out once",
    LEAVE_ONE_OUT: "training objects, each left out of the set that was chosen with them",
    PREQUENTIAL: "objects of a stream, before the prototypes moved on them",
}
"""How the page names the objects that calibrate decisions."""

Facts = list[dict[str, Any]]


def state_facts(inputs: ReportInputs, created: str) -> Facts:
    """Lists of names and texts, each with a heading."""
    train, selector = inputs.train, inputs.selector
    data = [["name", train.name], ["kind", KIND_NAMES[train.kind]], ["training objects", f"{train.n_objects:,}"]]
    if inputs.test is not None:
        data.append(["test objects", f"{inputs.test.n_objects:,}"])
    data.append(["classes", f"{len(selector.classes_):,}"])
    if train.attributes:
        data += [["attributes", f"{len(train.attributes):,}"], ["columns", train.roles]]
    if train.path is not None:
        # Only the name: pages are mailed, and folders tell about their owner.
        data.append(["file", train.path.name])
    metric = [["metric", show(selector.metric) if callable(selector.metric) else selector.metric_]]
    metric += [
        [str(name), _metric_parameter(inputs, name, value)] for name, value in (selector.metric_params or {}).items()
    ]
    if inputs.transform_name:
        metric.append(["objects were transformed by", inputs.transform_name])
    inner = inner_selector(selector)
    refinement = getattr(selector, "refinement_", None)
    refined = "" if refinement is None else "refined "
    method = [["method", f"{refined}{type(inner).__name__}"], ["rule", _rule(inputs)], *_parameters(inner)]
    if refinement is not None:
        method += _parameters(selector)
        method.append(["swaps of the refinement", f"{refinement.n_swaps:,}"])
    method.append(["distances asked for", f"{selector.n_distances_:,}"])
    versions = [
        ["protoset", __version__],
        ["NumPy", np.__version__],
        ["SciPy", scipy.__version__],
        ["scikit-learn", sklearn.__version__],
        ["Python", platform.python_version()],
        ["made", created],
    ]
    headed = {
        "Data": data,
        "Dissimilarity": metric,
        "Method": method,
        "Moves": _moves(inputs),
        "Calibration": _calibration(inputs),
        "Versions": versions,
    }
    return [{"heading": heading, "rows": rows} for heading, rows in headed.items() if rows]


def _metric_parameter(inputs: ReportInputs, name: Any, value: Any) -> str:
    """Text of a parameter of the metric; columns of categories by their names, where there are names."""
    names = [str(attribute.name) for attribute in inputs.train.attributes]
    if name == "categorical" and names and isinstance(value, (list, tuple, np.ndarray)):
        positions = np.asarray(value)
        if positions.dtype.kind == "b":
            positions = np.flatnonzero(positions)
        if positions.dtype.kind in "iu" and (np.abs(positions) < len(names)).all():
            return cut_text(", ".join(names[position] for position in positions), MAX_PARAMETER_LENGTH)
    return show(value)


def _rule(inputs: ReportInputs) -> str:
    """The rule that decides; it may have been chosen."""
    is_chosen = inputs.classifier is not None and inputs.classifier.rule == "auto"
    return f"{inputs.rule}, chosen automatically" if is_chosen else inputs.rule


def _calibration(inputs: ReportInputs) -> list[list[str]]:
    """How the decisions were calibrated, and by how many objects; nothing where they were not."""
    calibration = calibration_of(inputs.classifier)
    if calibration is None:
        return []
    rows = [["calibrated by", f"{calibration.n_objects:,} {HELD_OUT_NAMES[calibration.how]}"]]
    adaptation = inputs.adaptation
    is_before_moves = calibration.how == FOLDS and inputs.train.kind == "series"
    if is_before_moves and adaptation is not None and adaptation.has_moved:
        rows.append(["probabilities", "those of the prototypes before their moves, so rather too low"])
    # The page states no error on objects that took part in the selection.
    if len(calibration.errors) > 1 and calibration.how != LEAVE_ONE_OUT:
        rows += [[f"held-out error of {name}", f"{100 * error:.1f} %"] for name, error in calibration.errors.items()]
    if tells_novelty(calibration):
        rows.append(["unlike anything seen", f"farther than {100 * (1 - REFUSED_RATE):.0f} % of them"])
    else:
        rows.append(["unlike anything seen", "not told: too few held-out objects"])
    return rows


def _moves(inputs: ReportInputs) -> list[list[str]]:
    """Whether the prototypes have moved, how, and why no further; nothing for a selector alone."""
    if inputs.classifier is None:
        return []
    adaptation = inputs.adaptation
    if adaptation is None:
        return [["prototypes", f"not moved: {_why_not_moved(inputs.classifier)}"]]
    moves = [
        ["prototypes", "moved" if adaptation.has_moved else "not moved"],
        ["loss", adaptation.loss],
    ]
    if not np.isnan(adaptation.held_out_before):
        moves += [["held-out error before the moves", f"{100 * adaptation.held_out_before:.1f} %"]]
    if adaptation.has_moved:
        moves += [["held-out error after the moves", f"{100 * adaptation.held_out_after:.1f} %"]]
        moves += [["passes over the objects", f"{adaptation.n_passes:,}"]]
    moves.append(["why they ended" if adaptation.has_moved else "why", adaptation.reason])
    if adaptation.relevances is not None:
        moves.append(["relevances", "learned"])
    return moves


def _why_not_moved(classifier: PrototypeClassifier) -> str:
    if classifier.rule == "adjusted":
        return "degradations belong to prototypes that stay where they are"
    if isinstance(classifier.adapt, str):
        return "objects of this kind cannot move"
    return "adapt=False"


def _parameters(selector: BaseSelector) -> list[list[str]]:
    params = selector.get_params(deep=False).items()
    return [[name, show(value)] for name, value in params if name not in OMITTED_PARAMETERS and value is not None]


def show(value: Any) -> str:
    """Text of a parameter. Functions and objects are named without their addresses, so every run gives the same."""
    if callable(value):
        text = getattr(value, "__qualname__", type(value).__name__)
    elif isinstance(value, np.ndarray):
        text = f"array of shape {value.shape}"
    elif isinstance(value, BaseEstimator):
        text = repr(value)
    elif value is None or isinstance(value, (bool, int, float, str, list, tuple, dict, np.generic)):
        text = str(value.item() if isinstance(value, np.generic) else value)
    else:
        text = type(value).__name__
    return cut_text(text, MAX_PARAMETER_LENGTH)
