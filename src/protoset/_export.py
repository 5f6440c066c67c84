"""Classifiers for machines without protoset: one Python file that predicts with NumPy alone."""

from __future__ import annotations

import base64
import io
import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from protoset._files import write_atomically
from protoset._validation import check_choice
from protoset._version import __version__
from protoset.classifier import RULES, PrototypeClassifier
from protoset.persistence import encode_classes
from protoset.spaces.vectors import VectorSpace

START, END = "# PROTOSET: the classifier\n", "# PROTOSET: end of the classifier\n"
LINE = 116


def export(classifier: PrototypeClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier as one Python file that needs NumPy and nothing else.

    The file has a function ``predict(X)`` that gives the labels that the classifier gives, ties included, and reads
    queries from standard input when it is run. It holds the prototypes and no other training data. It is written
    beside its place and then renamed.

    Parameters
    ----------
    classifier : PrototypeClassifier
        Fitted on dense vectors under the Euclidean distance or one that becomes Euclidean ("euclidean", "l2",
        "sqeuclidean", "cosine", "correlation", "seuclidean", "mahalanobis").
    path : path-like
        Such as ``"model.py"``. Unlike the files of ``save``, this one is code: run only files that you trust.
    """
    if not isinstance(classifier, PrototypeClassifier):
        raise TypeError(
            f"export takes a fitted PrototypeClassifier, got {type(classifier).__name__}; of a pipeline export the "
            "last step, pipeline[-1], and apply the steps before it to the queries yourself"
        )
    check_is_fitted(classifier, "classes_")
    # As predict does: the rule may have been changed since fit.
    rule = check_choice("rule", classifier.rule, RULES)
    space = classifier._prototypes
    if not isinstance(space, VectorSpace):
        raise ValueError(
            f"metric={space.metric!r} cannot be exported, which serves dense vectors under Euclidean-like metrics; "
            "use protoset.save, whose files protoset.load reads"
        )
    place = _check_path(path)
    _, state = space.state()
    arrays: dict[str, np.ndarray] = {"images": state["images"], "codes": classifier._codes}
    if "learned" in state:
        learned = state["learned"]
        arrays["learned"] = learned if learned.ndim == 1 else np.linalg.cholesky(learned)
    if rule == "adjusted" and classifier.degradations_ is not None:
        arrays["degradations"] = classifier.degradations_
    labels = encode_classes(classifier.classes_)
    about: dict[str, Any] = {
        "protoset": __version__,
        "metric": space.metric,
        "rule": rule,
        "n_features": space.n_features,
        "classes": labels["values"],
        "dtype": labels["dtype"],
    }
    content = _fill_in(json.dumps(about), arrays).encode()
    try:
        write_atomically(place, content)
    except OSError as error:
        if error.errno is None:
            raise
        # The system's own words name the file beside the place, which nobody asked for.
        raise type(error)(
            f"cannot write path={place!r}: {error.strerror}; choose a place with room where you may write"
        ) from error


def _check_path(path: Any) -> str:
    """Return a path as text if it can be that of a Python module."""
    try:
        place = os.fsdecode(path)
    except TypeError as error:
        raise TypeError(f"path={path!r} must be a str or a path, such as 'model.py'") from error
    if not place.endswith(".py"):
        raise ValueError(f"path={place!r} must end in .py, as Python's modules do")
    try:
        possible = b"\0" not in os.fsencode(place)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise ValueError(f"path={place!r} holds a character that no file name can have; choose another name")
    return place


def _fill_in(description: str, arrays: dict[str, np.ndarray]) -> str:
    """Put a classifier into the text of ``_standalone.py``."""
    before, rest = Path(__file__).with_name("_standalone.py").read_text(encoding="utf-8").split(START)
    after = rest.split(END)[1]
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    text = base64.b64encode(zlib.compress(packed.getvalue(), 6)).decode()
    lines = "\n".join(f'    "{text[start : start + LINE]}"' for start in range(0, len(text), LINE))
    return f"{before}{START}DESCRIPTION = {description!r}\nARRAYS = (\n{lines}\n)\n{END}{after}"
