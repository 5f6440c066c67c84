"""Checks of the arguments of an adaptation: objects that cannot move are refused, with the reason."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from protoset._validation import check_labels
from protoset.adaptation.settings import AdaptSettings
from protoset.selectors._distinct import TrainingSet
from protoset.spaces import DISSIMILARITIES, Dissimilarities, TrainingSpace
from protoset.spaces.movable import MovableObjects
from protoset.spaces.sparse_vectors import SparseVectorSpace


def refuse_constant_attributes(movable: MovableObjects) -> None:
    """Refuse to learn scales if an attribute has a single value: its scale would mean nothing."""
    constant = movable.constant_attributes()
    if len(constant):
        names = f"{movable.attribute_word} {constant[0]}"
        if len(constant) > 1:
            names = f"each of the {movable.attribute_word}s {reprlib.repr(constant.tolist())}"
        raise ValueError(
            f"relevances=True learns how much each attribute matters, and {names} of X has one value in all "
            f"training objects; drop it, or leave relevances out ({movable.attribute_word} 0 is the first)"
        )


def check_movable(space: TrainingSpace, training: TrainingSet | None = None) -> MovableObjects:
    """Return the objects, or the distinct ones, as numbers that can move; refuse objects that cannot."""
    movable = space.movable if training is None or training.is_plain else space.movable_among(training.rows)
    if movable is None:
        raise ValueError(
            f"the prototypes cannot move: {why_unmovable(space)}; choose one of these metrics, or keep the prototypes "
            "where they are with PrototypeClassifier(adapt=False)"
        )
    return movable


def check_relevances(settings: AdaptSettings, movable: MovableObjects) -> None:
    """Refuse relevances if no coordinate belongs to a single attribute."""
    if settings.relevances and movable.mixes_attributes:
        raise ValueError(
            "relevances=True learns a scale for each attribute, and the coordinates of this metric mix the attributes; "
            "leave relevances out, or use metric='seuclidean'"
        )


def why_unmovable(space: Dissimilarities) -> str:
    """Say why the objects of a space cannot move."""
    moving = ", ".join(sorted(name for name, record in DISSIMILARITIES.items() if record.moves))
    if space.metric in moving.split(", "):
        if isinstance(space, SparseVectorSpace):
            return f"X is a sparse matrix, and under metric={space.metric!r} dense vectors move; X.toarray() is dense"
        why = "all its values are equal" if space.metric == "correlation" else "all its values are 0"
        return f"metric={space.metric!r} compares directions, and a vector of X has none, as {why}"
    return f"objects under metric={space.metric!r} cannot move; those under {moving} can"


def check_names(X: Any, prototypes: Any) -> None:
    """Refuse a table of prototypes whose columns are not those of the table of training objects."""
    names, expected = (list(getattr(table, "columns", ())) for table in (prototypes, X))
    if names and expected and names != expected:
        raise ValueError(
            f"prototypes has the columns {reprlib.repr(names)}, and X has {reprlib.repr(expected)}; pass the columns "
            "of X in their order"
        )


def refuse_no_prototypes(prototypes: Any) -> None:
    """Raise an error if there are no prototypes to start from."""
    if prototypes is None:
        raise ValueError(
            "prototypes=None, but the moves need prototypes to start from; pass objects of the same kind as X, for "
            "example some rows of X"
        )


def read_prototypes(movable: MovableObjects, prototypes: Any) -> np.ndarray:
    """Coordinates of the given prototypes; errors name the argument, not the training objects."""
    try:
        return movable.read(prototypes)
    except (TypeError, ValueError) as error:
        raise type(error)(f"prototypes cannot be read as objects of the kind of X: {error}") from error


def weightless_classes(y: Any, training: TrainingSet) -> list[Any]:
    """Return the labels in ``y`` whose objects all have weight 0."""
    if (training.codes >= 0).all():
        return []
    return np.setdiff1d(check_labels(y, len(training.codes))[0], training.objects.classes).tolist()


def prototype_codes(labels: Any, classes: np.ndarray, n_prototypes: int, weightless: Sequence[Any] = ()) -> np.ndarray:
    """Return the classes of the prototypes as positions; ``weightless`` are classes without weight."""
    try:
        given, known = np.asarray(labels), set(classes.tolist())
        unknown = [label for label in given.ravel().tolist() if label not in known]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"labels={reprlib.repr(labels)} must have one label of y for each prototype: {error}"
        ) from error
    if given.shape != (n_prototypes,):
        raise ValueError(f"labels has the shape {given.shape}, and there are {n_prototypes} prototypes; pass one each")
    if unknown and unknown[0] in weightless:
        raise ValueError(
            f"labels has {unknown[0]!r}, but all objects of class {unknown[0]!r} have sample_weight 0; give some of "
            "them a weight above 0, or remove the prototypes of this class"
        )
    if unknown:
        raise ValueError(f"labels has {unknown[0]!r}, which is not in y; pass labels of y")
    codes = np.searchsorted(classes, given)
    missing = np.setdiff1d(np.arange(len(classes)), codes)
    if len(missing):
        raise ValueError(f"labels has no prototype of the classes {classes[missing].tolist()}; add one of each")
    return codes
