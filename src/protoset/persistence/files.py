"""``save`` and ``load``."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from protoset._files import write_atomically
from protoset._memory import unpacking_limit
from protoset._pipelines import check_agreement, describe_pipeline, restore_pipeline
from protoset._version import __version__
from protoset.classifier import PrototypeClassifier
from protoset.exceptions import FileFormatError
from protoset.models import DataModel
from protoset.persistence.archive import (
    CLASSIFIER_FORMAT,
    FORMAT_VERSION,
    MODEL_FORMAT,
    PIPELINE_FORMAT,
    content_bytes,
    naming_damage,
    pack,
    read_arrays,
    read_metadata,
    with_prefix,
)
from protoset.persistence.classifier import describe_classifier, restore_classifier
from protoset.persistence.model import describe_model, restore_model


def save(classifier: PrototypeClassifier | DataModel | Pipeline, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to a file.

    The file has the prototypes and everything that prediction needs. It has no other training data and no code. The
    file is written completely or not at all.

    Parameters
    ----------
    classifier : PrototypeClassifier, DataModel or Pipeline
        A fitted classifier, or a fitted Pipeline of scikit-learn whose last step is a PrototypeClassifier. The other
        steps of a Pipeline may be StandardScaler, MinMaxScaler, RobustScaler, OneHotEncoder, SimpleImputer,
        ColumnTransformer and Pipeline of these, and "passthrough".
    path : path-like
        File to write; an existing file is replaced.

    Raises
    ------
    TypeError
        If a step, a parameter or a label cannot be written without pickle. The message has its name.
    ValueError
        If the classifier was changed after its fit, so that the saved classifier would not work.

    Notes
    -----
    A ``random_state`` that is not a number is saved as None, and so is ``memory`` of a Pipeline. Where a function
    selects the columns of a ColumnTransformer, the selected columns are saved. Requests for metadata
    (``set_fit_request``) are not saved.
    """
    model = classifier if isinstance(classifier, DataModel) else None
    pipeline = classifier if isinstance(classifier, Pipeline) else None
    classifier = classifier.classifier if isinstance(classifier, DataModel) else classifier
    steps, learned = ({}, {}) if pipeline is None else describe_pipeline(pipeline)
    classifier = classifier if pipeline is None else pipeline.steps[-1][1]
    if not isinstance(classifier, PrototypeClassifier):
        raise TypeError(
            f"save takes a fitted PrototypeClassifier, got {type(classifier).__name__}; it also takes a Pipeline that "
            "ends in one, and models of protoset.models.fit_model. Of a search save its best_estimator_"
        )
    check_is_fitted(classifier, "classes_")
    described, arrays = describe_classifier(classifier)
    metadata: dict[str, Any] = {
        "format": CLASSIFIER_FORMAT,
        "format_version": FORMAT_VERSION,
        "protoset": __version__,
        **described,
    }
    if model is not None:
        described, more = describe_model(model)
        metadata |= {"format": MODEL_FORMAT, **described}
        arrays |= more
    if pipeline is not None:
        metadata["format"] = PIPELINE_FORMAT
        metadata["pipeline"] = steps
        arrays |= {f"steps_{name}": array for name, array in learned.items()}
    metadata["arrays"] = {name: [array.dtype.str, list(array.shape)] for name, array in sorted(arrays.items())}
    text = json.dumps(metadata, indent=1)
    try:
        restored = _restore(json.loads(text), arrays, getattr(classifier._prototypes, "_function", None))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"the classifier cannot be saved, because it would not work after load ({error}); fit it again"
        ) from error
    if pipeline is not None:
        check_agreement(pipeline, restored)
    content = pack(text, arrays, zipfile.ZIP_DEFLATED)
    if content_bytes(text.encode(), metadata) > unpacking_limit(len(content), None):
        # The file is too small for its content, and load would refuse it.
        content = pack(text, arrays, zipfile.ZIP_STORED)
    write_atomically(path, content)


def load(
    path: str | os.PathLike[str],
    *,
    metric: Callable[..., float] | None = None,
    max_bytes: int | str | None = None,
) -> PrototypeClassifier | DataModel | Pipeline:
    """Read a classifier that ``save`` wrote.

    The classifier predicts the same as before; it has no ``selector_`` and no ``adaptation_``. Nothing in the file is
    executed.

    Parameters
    ----------
    path : path-like
        File to read.
    metric : callable, optional
        The function that the classifier was fitted with. Needed only if its metric is a function, because files have
        no code.
    max_bytes : int or str, optional
        Largest content to unpack from the file, in bytes or as "4GB". By default 200 MB, or 20 times the size of the
        file if that is more; this is enough for every file of ``save``. Allow more only for files that you trust.

    Returns
    -------
    PrototypeClassifier, DataModel or Pipeline
        The object that was saved. A Pipeline may need the version of scikit-learn with which it was saved.

    Raises
    ------
    FileFormatError
        If the file is damaged, not a file of protoset, larger than ``max_bytes`` when unpacked, or written by a newer
        version.
    """
    name = os.fspath(path)
    with open(path, "rb") as file:
        limit = unpacking_limit(os.fstat(file.fileno()).st_size, max_bytes)
        if not zipfile.is_zipfile(file):
            raise FileFormatError(
                f"{name!r} is not a protoset classifier, or is cut short; write it again with protoset.save"
            )
        with naming_damage(name), zipfile.ZipFile(file) as archive:
            metadata = read_metadata(archive, name, limit)
            arrays = read_arrays(archive, metadata["arrays"])
    _check_function(metadata, metric, name)
    with naming_damage(name):
        return _restore(metadata, arrays, metric)


def _check_function(metadata: dict[str, Any], metric: Any, name: str) -> None:
    needed = metadata.get("metric") == "callable"
    if metric is not None and not callable(metric):
        raise TypeError(f"metric={metric!r} must be the function that the classifier was fitted with, or None")
    if needed and metric is None:
        space = metadata.get("space")
        function = space.get("function") if isinstance(space, dict) else None
        raise ValueError(
            f"{name!r} was fitted with a function as its metric, {function}, and files hold no code; "
            "pass the function: protoset.load(path, metric=function)"
        )
    if metric is not None and not needed:
        raise ValueError(f"{name!r} has metric={metadata.get('metric')!r}, which is not a function; leave metric out")


def _restore(
    metadata: dict[str, Any], arrays: dict[str, np.ndarray], function: Callable[..., float] | None
) -> PrototypeClassifier | DataModel | Pipeline:
    """Make the classifier or the model of a file; raises an error where its parts do not fit together."""
    classifier = restore_classifier(metadata, arrays, function)
    if metadata["format"] == CLASSIFIER_FORMAT:
        return classifier
    if metadata["format"] == PIPELINE_FORMAT:
        return restore_pipeline(metadata["pipeline"], with_prefix(arrays, "steps_"), classifier)
    return restore_model(metadata, arrays, classifier)
