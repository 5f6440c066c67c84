"""The content of a model in addition to its classifier, as JSON values and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from protoset.classifier import PrototypeClassifier
from protoset.models import DataModel, Preparation
from protoset.persistence.archive import with_prefix

VALUES = ("prototype_values", "exemplar_values")
"""Values of attributes that a model may have: of its prototypes, and of their exemplars where they moved."""


def describe_model(model: DataModel) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the metadata and the arrays of a model that its classifier does not have."""
    metadata: dict[str, Any] = {}
    metadata["preparation"], learned = model.preparation.state()
    arrays = {f"preparation_{name}": array for name, array in learned.items()}
    metadata["prototype_ids"] = None if model.prototype_ids_ is None else model.prototype_ids_.tolist()
    for name in VALUES:
        values = getattr(model, f"{name}_")
        if values is not None and values.dtype == object:
            metadata[name] = [[_plain_value(value) for value in row] for row in values]
        elif values is not None:
            arrays[name] = values
    # Files of prototypes that did not move have the format from before prototypes could move.
    return metadata | ({"moved": True} if model.has_moved else {}), arrays


def restore_model(
    metadata: dict[str, Any], arrays: dict[str, np.ndarray], classifier: PrototypeClassifier
) -> DataModel:
    """Make the model of a classifier; raises an error where its parts do not fit together."""
    preparation, n_prototypes = _preparation(metadata, arrays), len(classifier._codes)
    values = {f"{name}_": _attribute_values(name, metadata, arrays, preparation, n_prototypes) for name in VALUES}
    has_moved = metadata.get("moved", False)
    if not isinstance(has_moved, bool):
        raise ValueError(f"moved is {has_moved!r}; expected true or false")
    return DataModel(preparation, classifier, _prototype_ids(metadata, n_prototypes), **values, has_moved=has_moved)


def _preparation(metadata: dict[str, Any], arrays: dict[str, np.ndarray]) -> Preparation:
    preparation = Preparation.from_state(metadata["preparation"], with_prefix(arrays, "preparation_"))
    if preparation.metric != metadata["metric"]:
        raise ValueError("the preparation has another metric than the classifier")
    n_features = metadata["n_features_in"]
    if preparation.centre is not None and len(preparation.centre) != n_features:
        raise ValueError("the preparation has another number of features than the prototypes")
    if preparation.attributes and n_features is not None and len(preparation.attributes) != n_features:
        raise ValueError("the preparation has another number of attributes than the prototypes")
    return preparation


def _plain_value(value: Any) -> str | float | None:
    """Return the value of an attribute as JSON has it, None where it is missing."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value != value:
        return None
    return value if isinstance(value, (str, bool, int, float)) else str(value)


def _prototype_ids(metadata: dict[str, Any], n_prototypes: int) -> np.ndarray | None:
    ids = metadata.get("prototype_ids")
    if ids is None:
        return None
    if not isinstance(ids, list) or len(ids) != n_prototypes or not all(isinstance(text, str) for text in ids):
        raise ValueError("prototype_ids are not a text for each prototype")
    return np.array(ids, dtype=object)


def _attribute_values(
    name: str, metadata: dict[str, Any], arrays: dict[str, np.ndarray], preparation: Preparation, n_prototypes: int
) -> np.ndarray | None:
    """Values of attributes: an array of numbers, or rows in the metadata where there are categories."""
    values = arrays.get(name)
    rows = metadata.get(name)
    if rows is not None:
        is_row = [isinstance(row, list) and len(row) == len(preparation.attributes) for row in rows]
        if values is not None or not all(is_row):
            raise ValueError(f"{name} are not a row of values for each prototype")
        values = np.empty((len(rows), len(preparation.attributes)), object)
        for row, listed in enumerate(rows):
            values[row] = listed
        if not all(value is None or isinstance(value, (str, bool, int, float)) for value in values.flat):
            raise ValueError(f"{name} are not numbers and texts")
    if values is None:
        return None
    n_features = metadata["n_features_in"]
    if (values.dtype == object) != (preparation.kind == "mixed") or values.dtype.kind not in "fiubO":
        raise ValueError(f"{name} do not fit the kind {preparation.kind!r}")
    if preparation.kind not in ("vectors", "mixed", "series") or values.shape != (n_prototypes, n_features):
        raise ValueError(f"{name} are not a row of values for each prototype")
    return values
