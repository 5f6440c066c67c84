"""Fitted classifiers as files: a zip archive with plain arrays and JSON, never code.

metadata.json    format and version, metric, rule, labels, parameters, dtype and shape of every array; for a DataModel
                 also the preparation, the ids of the prototypes, and their values where there are categories; for a
                 Pipeline also its steps
NAME.npy         one per array, readable with ``numpy.load``

A file with a preparation or with steps has a format name of its own: its classifier must not be used on objects without
them.

A file may come from a stranger. Before anything is unpacked, the size of every array is compared with the metadata, and
the size of the content with a limit. ``from_state`` of the space and of the preparation check the content, and so does
``restore_pipeline``. ``save`` restores the classifier from the content before it writes the file, so that ``load``
accepts every file of ``save``.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import isabstract
from typing import IO, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from protoset import selectors
from protoset._files import write_atomically
from protoset._memory import beyond_limit, unpacking_limit
from protoset._pipelines import check_agreement, describe_pipeline, restore_pipeline
from protoset._validation import check_real
from protoset._version import __version__
from protoset.classifier import RULES, PrototypeClassifier
from protoset.exceptions import FileFormatError
from protoset.models import DataModel, Preparation
from protoset.selectors import BaseSelector, NeighborSearch
from protoset.spaces import DISSIMILARITIES
from protoset.spaces.callables import name_of

CLASSIFIER_FORMAT = "protoset-classifier"
"""Format name of a file with a PrototypeClassifier."""

MODEL_FORMAT = "protoset-model"
"""Format name of a file with a DataModel."""

PIPELINE_FORMAT = "protoset-pipeline"
"""Format name of a file with a Pipeline of scikit-learn."""

FORMATS_READ = (CLASSIFIER_FORMAT, MODEL_FORMAT, PIPELINE_FORMAT)
"""Format names of the files that ``load`` reads."""

FORMAT_VERSION = 1
"""Version of the files that this version of protoset writes and reads."""

METADATA = "metadata.json"
"""Name of the JSON file in the archive."""

HEADER_BYTES = 1024
"""Largest header of an array in the archive; NumPy writes 128 bytes for few dimensions."""

CHUNK_BYTES = 2**20
"""Bytes of an array that are unpacked at a time."""

JSON_VALUE_BYTES = 100
"""Largest memory of a JSON value in Python. Each comma, colon or opening bracket counts as one value."""


def save(classifier: PrototypeClassifier | DataModel | Pipeline, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to a file.

    The file holds the prototypes and everything that prediction needs. It holds no other training data and no code. It
    is written completely or not at all.

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
        If a step, a parameter or a label cannot be written without pickle. The message names it.
    ValueError
        If the classifier was changed after its fit so that it cannot work.

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
    values, arrays = classifier._prototypes.state()
    metadata = {
        "format": CLASSIFIER_FORMAT,
        "format_version": FORMAT_VERSION,
        "protoset": __version__,
        "rule": classifier.rule,
        "beta": classifier._beta,
        "selector": _describe(classifier.selector),
        "metric": classifier._prototypes.metric,
        "space": values,
        "classes": encode_classes(classifier.classes_),
        "n_features_in": getattr(classifier, "n_features_in_", None),
        "feature_names_in": list(getattr(classifier, "feature_names_in_", [])) or None,
    }
    arrays = {f"space_{name}": array for name, array in arrays.items()}
    arrays |= {"sample_indices": classifier.sample_indices_, "codes": classifier._codes}
    arrays |= {"prototype_counts": classifier.prototype_counts_, "class_counts": classifier.class_counts_}
    if classifier.degradations_ is not None:
        arrays["degradations"] = classifier.degradations_
    if model is not None:
        metadata["format"] = MODEL_FORMAT
        metadata["preparation"], learned = model.preparation.state()
        arrays |= {f"preparation_{name}": array for name, array in learned.items()}
        metadata["prototype_ids"] = None if model.prototype_ids_ is None else model.prototype_ids_.tolist()
        values = model.prototype_values_
        if values is not None and values.dtype == object:
            metadata["prototype_values"] = [[_plain_value(value) for value in row] for row in values]
        elif values is not None:
            arrays["prototype_values"] = values
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
    content = _pack(text, arrays, zipfile.ZIP_DEFLATED)
    if _content_bytes(text.encode(), metadata) > unpacking_limit(len(content), None):
        # The file is too small for its content, and load would refuse it.
        content = _pack(text, arrays, zipfile.ZIP_STORED)
    write_atomically(path, content)


def load(
    path: str | os.PathLike[str],
    *,
    metric: Callable[..., float] | None = None,
    max_bytes: int | str | None = None,
) -> PrototypeClassifier | DataModel | Pipeline:
    """Read a classifier that ``save`` wrote. It predicts as before, but has no ``selector_``.

    Nothing in the file is executed.

    Parameters
    ----------
    path : path-like
    metric : callable, optional
        The function that the classifier was fitted with. Needed only if its metric is a function: files hold no code.
    max_bytes : int or str, optional
        Largest content that is unpacked from the file, in bytes or as "4GB". By default 200 MB, or 20 times the size of
        the file if that is more; this is enough for every file of ``save``. Allow more only for files whose source you
        trust.

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
        with _naming_damage(name), zipfile.ZipFile(file) as archive:
            metadata = _read_metadata(archive, name, limit)
            arrays = _read_arrays(archive, metadata["arrays"])
    _check_function(metadata, metric, name)
    with _naming_damage(name):
        return _restore(metadata, arrays, metric)


@contextmanager
def _naming_damage(name: str) -> Iterator[None]:
    try:
        yield
    except FileFormatError:
        raise
    # On damaged files, the readers of zip, JSON and arrays raise errors of many types.
    except Exception as error:
        raise FileFormatError(f"{name!r} is damaged ({error}); write it again with protoset.save") from error


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


def _pack(metadata: str, arrays: dict[str, np.ndarray], compression: int) -> bytes:
    buffer = io.BytesIO()
    archive = zipfile.ZipFile(buffer, "w", compression)
    try:
        archive.writestr(METADATA, metadata)
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
            archive.writestr(f"{name}.npy", member.getvalue())
        archive.close()
    except BaseException:
        archive.fp = None  # closing an archive after Ctrl-C within a member would raise an error of its own
        raise
    return buffer.getvalue()


def _read_metadata(archive: zipfile.ZipFile, name: str, limit: int) -> dict[str, Any]:
    if METADATA not in archive.namelist():
        raise FileFormatError(f"{name!r} is not a protoset classifier: it is a zip archive without {METADATA}")
    _check_size(archive.getinfo(METADATA).file_size, limit, name)
    with _open_member(archive, METADATA) as file:
        text = file.read(archive.getinfo(METADATA).file_size)
    _check_size(_content_bytes(text), limit, name)
    metadata = json.loads(text)
    if not isinstance(metadata, dict) or metadata.get("format") not in FORMATS_READ:
        raise FileFormatError(
            f"{name!r} is not a protoset classifier: its {METADATA} does not say format={CLASSIFIER_FORMAT!r}"
        )
    version = metadata["format_version"]
    if type(version) is not int or version != FORMAT_VERSION:
        raise FileFormatError(
            f"{name!r} has format version {version!r}, written by protoset {metadata.get('protoset')}; "
            f"this is protoset {__version__}, which reads version {FORMAT_VERSION}: upgrade protoset"
        )
    _check_size(_content_bytes(text, metadata), limit, name)
    return metadata


def _check_size(size: int, limit: int, name: str) -> None:
    if size > limit:
        raise FileFormatError(f"{name!r} {beyond_limit(size, limit)}")


def _content_bytes(text: bytes, metadata: dict[str, Any] | None = None) -> int:
    """Upper bound on the memory of a content: its JSON and, with ``metadata``, its arrays and text labels."""
    size = 5 * len(text) + JSON_VALUE_BYTES * sum(text.count(mark) for mark in (b",", b":", b"[", b"{"))
    if metadata is None:
        return size
    declared, labels = metadata["arrays"], metadata["classes"]["values"]
    # NumPy keeps every text of an array with the length of the longest.
    longest = max((len(label) for label in labels if isinstance(label, str)), default=0)
    n_texts = len(labels) + int(np.prod(declared["codes"][1], dtype=object))
    return size + 4 * longest * n_texts + sum(_array_bytes(*entry) for entry in declared.values())


def _array_bytes(dtype: str, shape: list[int]) -> int:
    """Bytes of an array with a declared dtype and shape; refuses arrays of other things than numbers."""
    if np.dtype(dtype).kind not in "fiub" or not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"unknown dtype {dtype!r} or shape {shape!r} of an array")
    return np.dtype(dtype).itemsize * int(np.prod(shape, dtype=object))


def _read_arrays(archive: zipfile.ZipFile, declared: dict[str, Any]) -> dict[str, np.ndarray]:
    files = [f"{name}.npy" for name in declared]
    if sorted(archive.namelist()) != sorted([METADATA, *files]):
        raise ValueError(f"expected the arrays {list(declared)}")
    return {name: _read_array(archive, f"{name}.npy", *declared[name]) for name in declared}


def _open_member(archive: zipfile.ZipFile, file: str) -> IO[bytes]:
    # save writes no other compression; others could unpack a small file to a huge one.
    if archive.getinfo(file).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{file} has another compression than save writes")
    return archive.open(file)


def _read_array(archive: zipfile.ZipFile, file: str, dtype: str, shape: list[int]) -> np.ndarray:
    """Return an array whose size in the archive and header are as declared; nothing beyond that size is unpacked."""
    size = _array_bytes(dtype, shape)
    header_size = archive.getinfo(file).file_size - size
    if not 0 < header_size <= HEADER_BYTES:
        raise ValueError(f"{file} does not have the size of the array that {METADATA} declares")
    with _open_member(archive, file) as member:
        header = io.BytesIO(member.read(header_size))
        version = np.lib.format.read_magic(header)
        if version != (1, 0):
            raise ValueError(f"{file} has the array format {version}, expected (1, 0)")
        header_fields = np.lib.format.read_array_header_1_0(header)
        if header_fields != (tuple(shape), False, np.dtype(dtype)) or header.tell() != header_size:
            raise ValueError(f"{file} does not hold the array that {METADATA} declares")
        flat = np.empty(size, np.uint8)
        for start in range(0, size, CHUNK_BYTES):
            chunk = flat[start : start + CHUNK_BYTES]
            content = member.read(len(chunk))
            if len(content) != len(chunk):
                raise ValueError(f"{file} is cut short")
            chunk[:] = np.frombuffer(content, np.uint8)
    return flat.view(dtype).reshape(shape)


def _restore(
    metadata: dict[str, Any], arrays: dict[str, np.ndarray], function: Callable[..., float] | None
) -> PrototypeClassifier | DataModel | Pipeline:
    """Make the classifier or the model of a file; raises an error where its parts do not fit together."""
    classifier = _restore_classifier(metadata, arrays, function)
    if metadata["format"] == CLASSIFIER_FORMAT:
        return classifier
    if metadata["format"] == PIPELINE_FORMAT:
        return restore_pipeline(metadata["pipeline"], _with_prefix(arrays, "steps_"), classifier)
    preparation = _preparation(metadata, arrays)
    values = _prototype_values(metadata, arrays, preparation, len(classifier._codes))
    return DataModel(preparation, classifier, _prototype_ids(metadata, len(classifier._codes)), values)


def _restore_classifier(
    metadata: dict[str, Any], arrays: dict[str, np.ndarray], function: Callable[..., float] | None
) -> PrototypeClassifier:
    classifier = PrototypeClassifier(_restore_selector(metadata["selector"], function), rule=metadata["rule"])
    space = _with_prefix(arrays, "space_")
    metric: Any = metadata["metric"] if function is None else function
    classifier._prototypes = DISSIMILARITIES[metadata["metric"]].space.from_state(metric, metadata["space"], space)
    classifier._beta = check_real("beta", metadata["beta"], above=1, remedy="it is part of the file")
    classifier._codes = _native(arrays["codes"])
    classifier.sample_indices_ = arrays["sample_indices"]
    classifier.degradations_ = arrays.get("degradations")
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
    return classifier


def _restore_counts(classifier: PrototypeClassifier, arrays: dict[str, np.ndarray], n_classes: int) -> None:
    """Set the votes of prototypes and the sizes of classes: 1 each in a file of an older version."""
    counts = {"prototype_counts": len(classifier._codes), "class_counts": n_classes}
    for name, length in counts.items():
        array = _native(arrays[name]) if counts.keys() & arrays.keys() else np.ones(length)
        if array.shape != (length,) or array.dtype != np.float64 or not (np.isfinite(array) & (array >= 0)).all():
            raise ValueError(f"{name} must have {length} finite numbers of at least 0")
        setattr(classifier, f"{name}_", array)


def _native(array: np.ndarray) -> np.ndarray:
    """Return an array in the byte order of this machine, as the kernels need it."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _with_prefix(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _preparation(metadata: dict[str, Any], arrays: dict[str, np.ndarray]) -> Preparation:
    preparation = Preparation.from_state(metadata["preparation"], _with_prefix(arrays, "preparation_"))
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


def _prototype_values(
    metadata: dict[str, Any], arrays: dict[str, np.ndarray], preparation: Preparation, n_prototypes: int
) -> np.ndarray | None:
    """Values of the prototypes' attributes: an array of numbers, or rows in the metadata where there are categories."""
    values = arrays.get("prototype_values")
    rows = metadata.get("prototype_values")
    if rows is not None:
        is_row = [isinstance(row, list) and len(row) == len(preparation.attributes) for row in rows]
        if values is not None or not all(is_row):
            raise ValueError("prototype_values are not a row of values for each prototype")
        values = np.empty((len(rows), len(preparation.attributes)), object)
        for row, listed in enumerate(rows):
            values[row] = listed
        if not all(value is None or isinstance(value, (str, bool, int, float)) for value in values.flat):
            raise ValueError("prototype_values are not numbers and texts")
    if values is None:
        return None
    n_features = metadata["n_features_in"]
    if (values.dtype == object) != (preparation.kind == "mixed") or values.dtype.kind not in "fiubO":
        raise ValueError(f"prototype_values do not fit the kind {preparation.kind!r}")
    if preparation.kind not in ("vectors", "mixed", "series") or values.shape != (n_prototypes, n_features):
        raise ValueError("prototype_values are not a row of values for each prototype")
    return values


def _check_restored(classifier: PrototypeClassifier, classes: np.ndarray) -> None:
    n_prototypes = classifier._prototypes.shape[1]
    codes, indices, alpha = classifier._codes, classifier.sample_indices_, classifier.degradations_
    for array in (codes, indices):
        if array.shape != (n_prototypes,) or array.dtype.kind != "i" or array.min() < 0:
            raise ValueError("codes or sample_indices do not fit the number of prototypes")
    if (np.diff(indices) <= 0).any():
        raise ValueError("sample_indices are not increasing")
    if classifier._prototypes.metric == "precomputed" and indices.max() >= classifier.n_features_in_:
        raise ValueError("sample_indices are beyond the training objects")
    if classes.ndim != 1 or len(np.unique(classes)) != len(classes) or (np.unique(classes) != classes).any():
        raise ValueError("the classes are not sorted and distinct")
    if codes.max() >= len(classes) or (alpha is not None and (alpha.shape != codes.shape or not (alpha >= 0).all())):
        raise ValueError("codes or degradations do not fit the prototypes")
    if classifier.rule not in RULES or (classifier.rule == "adjusted" and alpha is None):
        raise ValueError(f"unknown rule {classifier.rule!r}, or no degradations for the rule 'adjusted'")
    names = getattr(classifier, "feature_names_in_", None)
    if names is not None and names.shape != (classifier._prototypes.n_features,):
        raise ValueError("the number of feature names differs from that of the prototypes")


def _describe(estimator: Any) -> dict[str, Any] | None:
    """Describe a selector, or a part of it, by its name and plain parameters."""
    if estimator is None:
        return None
    name = type(estimator).__name__
    if getattr(selectors, name, None) is not type(estimator):
        raise TypeError(f"selector={name} is not one of protoset's own and cannot be written without pickle")
    return {"name": name, "parameters": {key: _plain(estimator, key) for key in estimator.get_params(deep=False)}}


def _plain(estimator: Any, key: str) -> Any:
    """Return a parameter as a value that JSON has. Folders and function bodies stay on this machine."""
    value = getattr(estimator, key)
    if isinstance(value, (BaseSelector, NeighborSearch)):
        return _describe(value)
    value = value.item() if isinstance(value, np.generic) else value
    if key == "folder" or (key == "random_state" and not isinstance(value, int)):
        return None
    if key == "metric" and callable(value):
        return {"callable": name_of(value)}
    if key == "metric_params" and value is not None and callable(estimator.metric):
        value = {name: argument for name, argument in value.items() if name != "memory"}
    try:
        json.dumps(value)
    except TypeError as error:
        raise TypeError(
            f"{type(estimator).__name__}({key}={value!r}) cannot be written without pickle; use plain numbers, "
            "strings and lists"
        ) from error
    return value


def _restore_selector(described: dict[str, Any] | None, function: Callable[..., float] | None) -> BaseSelector | None:
    """Make the selector that ``_describe`` described."""
    if described is None:
        return None
    selector = _restore_estimator(described, function)
    if not isinstance(selector, BaseSelector):
        raise ValueError(f"selector {described['name']!r} is not known")
    selector._check_parameters()
    return selector


def _restore_estimator(described: dict[str, Any], function: Callable[..., float] | None) -> Any:
    kind = getattr(selectors, str(described["name"]))
    if not (isinstance(kind, type) and issubclass(kind, (BaseSelector, NeighborSearch))) or isabstract(kind):
        raise ValueError(f"selector {described['name']!r} is not known")
    parameters = dict(described["parameters"])
    for key in ("selector", "search"):
        if isinstance(parameters.get(key), dict):
            parameters[key] = _restore_estimator(parameters[key], function)
    if isinstance(parameters.get("metric"), dict):
        if function is None:
            raise ValueError("its selector has a function as metric, its prototypes have none")
        parameters["metric"] = function
    return kind(**parameters)


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
