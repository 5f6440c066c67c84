"""Classifiers as JSON values and arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from protoset._validation import check_count, check_real
from protoset.adaptation.streaming import Counters
from protoset.classifier import PrototypeClassifier
from protoset.decisions import RULES, AdjustedRule, NearestRule
from protoset.persistence.archive import native, with_prefix
from protoset.persistence.decisions import describe_calibration, describe_rule, restore_calibration, restore_rule
from protoset.persistence.selector import describe_selector, restore_selector
from protoset.spaces import DISSIMILARITIES


def describe_classifier(classifier: PrototypeClassifier) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the metadata and the arrays of a fitted classifier."""
    values, arrays = classifier._prototypes.state()
    metadata = {
        "rule": classifier.rule,
        "adapt": _describe_adapt(classifier.adapt),
        "calibrate": bool(classifier.calibrate) if not isinstance(classifier.calibrate, str) else "auto",
        "refuse": None if classifier.refuse is None else float(classifier.refuse),
        "outlier_label": _plain(classifier.outlier_label),
        "beta": classifier._beta,
        "selector": describe_selector(classifier.selector),
        "metric": classifier._prototypes.metric,
        "space": values,
        "classes": encode_classes(classifier.classes_),
        "n_features_in": getattr(classifier, "n_features_in_", None),
        "feature_names_in": list(getattr(classifier, "feature_names_in_", [])) or None,
        "counters": asdict(classifier._counters),
    }
    arrays = {f"space_{name}": array for name, array in arrays.items()}
    arrays |= {"sample_indices": classifier.sample_indices_, "codes": classifier._codes}
    arrays |= {"prototype_counts": classifier.prototype_counts_, "class_counts": classifier.class_counts_}
    if classifier.degradations_ is not None:
        arrays["degradations"] = classifier.degradations_
    if (classifier.exemplars_ != classifier.sample_indices_).any():
        arrays["exemplars"] = classifier.exemplars_
    if classifier.relevances_ is not None:
        arrays["relevances"] = classifier.relevances_
    metadata["learned"], learned = describe_rule(classifier._learned)
    arrays |= {f"rule_{name}": array for name, array in learned.items()}
    calibration = classifier.calibration_
    if calibration is not None:
        metadata["calibration"], calibrated = describe_calibration(calibration)
        arrays |= {f"calibration_{name}": array for name, array in calibrated.items()}
    return metadata, arrays


def restore_classifier(
    metadata: dict[str, Any], arrays: dict[str, np.ndarray], function: Callable[..., float] | None
) -> PrototypeClassifier:
    """Make a classifier; raises an error where its parts do not fit together."""
    # Files of older versions say nothing about an adaptation.
    adapt = metadata.get("adapt", False)
    selector = restore_selector(metadata["selector"], function)
    decisions = {name: metadata[name] for name in ("calibrate", "refuse", "outlier_label") if name in metadata}
    classifier = PrototypeClassifier(selector, rule=metadata["rule"], adapt=adapt, **decisions)
    classifier._check_parameters()
    space = with_prefix(arrays, "space_")
    metric: Any = metadata["metric"] if function is None else function
    classifier._prototypes = DISSIMILARITIES[metadata["metric"]].space.from_state(metric, metadata["space"], space)
    classifier._beta = check_real("beta", metadata["beta"], above=1, remedy="it is part of the file")
    classifier._codes = native(arrays["codes"])
    classifier.sample_indices_ = arrays["sample_indices"]
    classifier.degradations_ = arrays.get("degradations")
    classifier.exemplars_ = arrays.get("exemplars", classifier.sample_indices_)
    classifier.relevances_ = arrays.get("relevances")
    if metadata["n_features_in"] != classifier._prototypes.n_features:
        raise ValueError("the number of features differs from that of the prototypes")
    if classifier._prototypes.n_features is not None:
        classifier.n_features_in_ = classifier._prototypes.n_features
    classes = _decode_classes(metadata["classes"])
    names = metadata["feature_names_in"]
    if names is not None:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("the feature names are not strings")
        classifier.feature_names_in_ = np.array(names, dtype=object)
    _restore_counts(classifier, arrays, len(classes))
    _check_restored(classifier, classes)
    classifier.classes_ = classes
    classifier.prototype_labels_ = classes[classifier._codes]
    classifier._stream, classifier._counters = None, _restore_counters(metadata, classifier)
    _restore_decisions(classifier, metadata, arrays)
    return classifier


def _restore_decisions(
    classifier: PrototypeClassifier, metadata: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    """Set the rule and its calibration; a file of an older version has neither."""
    vote, alpha = classifier._vote, classifier.degradations_
    classifier._calibration, classifier._judged = None, None
    if "learned" not in metadata:
        classifier._learned = NearestRule(vote, 1.0)
        if classifier.rule == "adjusted" and alpha is not None:
            classifier._learned = AdjustedRule(vote, alpha)
        return
    classifier._learned = restore_rule(metadata["learned"], with_prefix(arrays, "rule_"), vote, alpha)
    _ = classifier._rule
    if "calibration" in metadata:
        given = with_prefix(arrays, "calibration_")
        classifier._calibration = restore_calibration(metadata["calibration"], given, classifier._learned)


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python number."""
    return value.item() if isinstance(value, np.generic) else value


def _describe_adapt(adapt: Any) -> Any:
    """Return the parameter ``adapt`` without values that JSON cannot hold: callbacks and random generators."""
    if not isinstance(adapt, Mapping):
        return bool(adapt) if isinstance(adapt, np.bool_) else adapt
    plain = {name: _plain(value) for name, value in adapt.items()}
    return {name: value for name, value in plain.items() if value is None or isinstance(value, (str, int, float))}


def _restore_counts(classifier: PrototypeClassifier, arrays: dict[str, np.ndarray], n_classes: int) -> None:
    """Set the votes of prototypes and the sizes of classes: 1 each in a file of an older version."""
    counts = {"prototype_counts": len(classifier._codes), "class_counts": n_classes}
    for name, length in counts.items():
        array = native(arrays[name]) if counts.keys() & arrays.keys() else np.ones(length)
        if array.shape != (length,) or array.dtype != np.float64 or not (np.isfinite(array) & (array >= 0)).all():
            raise ValueError(f"{name} must have {length} finite numbers of at least 0")
        setattr(classifier, f"{name}_", array)


def _restore_counters(metadata: dict[str, Any], classifier: PrototypeClassifier) -> Counters:
    """Return the counts of a stream; a file of an older version has none, and steps begin as for few objects."""
    least = int(max(classifier.sample_indices_.max(), classifier.exemplars_.max())) + 1
    counted = metadata.get("counters")
    if counted is None:
        return Counters(least)
    n_seen = check_count("n_seen", counted["n_seen"], least=least, remedy="it is part of the file")
    n_taken = check_count("n_taken", counted["n_taken"], least=0, remedy="it is part of the file")
    judged, wrong = float(counted["judged"]), float(counted["wrong"])
    if not 0 <= wrong <= judged < np.inf:
        raise ValueError(f"{wrong} of {judged} predictions of a stream cannot be wrong")
    return Counters(n_seen, n_taken, judged, wrong)


def _check_restored(classifier: PrototypeClassifier, classes: np.ndarray) -> None:
    n_prototypes = classifier._prototypes.shape[1]
    codes, indices, alpha = classifier._codes, classifier.sample_indices_, classifier.degradations_
    for array in (codes, indices, classifier.exemplars_):
        if array.shape != (n_prototypes,) or array.dtype.kind != "i" or array.min() < 0:
            raise ValueError("codes, sample_indices or exemplars do not fit the number of prototypes")
    if (np.diff(indices) <= 0).any():
        raise ValueError("sample_indices are not increasing")
    if classifier._prototypes.metric == "precomputed" and indices.max() >= classifier.n_features_in_:
        raise ValueError("sample_indices are beyond the training objects")
    if classes.ndim != 1 or len(np.unique(classes)) != len(classes) or (np.unique(classes) != classes).any():
        raise ValueError("the classes are not sorted and distinct")
    scales = classifier.relevances_
    if scales is not None and (scales.ndim != 1 or not (np.isfinite(scales) & (scales >= 0)).all()):
        raise ValueError("relevances are not finite numbers of at least 0")
    if codes.max() >= len(classes) or (alpha is not None and (alpha.shape != codes.shape or not (alpha >= 0).all())):
        raise ValueError("codes or degradations do not fit the prototypes")
    if classifier.rule not in RULES or (classifier.rule == "adjusted" and alpha is None):
        raise ValueError(f"unknown rule {classifier.rule!r}, or no degradations for the rule 'adjusted'")
    names = getattr(classifier, "feature_names_in_", None)
    if names is not None and names.shape != (classifier._prototypes.n_features,):
        raise ValueError("the number of feature names differs from that of the prototypes")


def encode_classes(classes: np.ndarray) -> dict[str, Any]:
    """Return labels as JSON values with their dtype; refuse labels that would need pickle."""
    values = classes.tolist()
    if classes.dtype.kind not in "OUTfiub" or not all(type(value) in (str, int, float, bool) for value in values):
        kinds = sorted({type(value).__name__ for value in classes})
        raise TypeError(
            f"labels of the types {kinds} cannot be written without pickle; use str, int, float or bool labels"
        )
    dtype = {"O": "object", "U": "str", "T": "str"}.get(classes.dtype.kind, classes.dtype.str)
    return {"dtype": dtype, "values": values}


def _decode_classes(encoded: dict[str, Any]) -> np.ndarray:
    dtype, values = encoded["dtype"], encoded["values"]
    if dtype not in ("object", "str") and np.dtype(dtype).kind not in "fiub":
        raise ValueError(f"unknown dtype {dtype!r} of the labels")
    return np.array(values, dtype={"object": object, "str": None}.get(dtype, dtype))
