"""``export``: a classifier as one Python file that predicts with NumPy alone."""

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
from protoset._version import __version__
from protoset.classifier import PrototypeClassifier
from protoset.decisions import AdjustedRule, Rule
from protoset.decisions.refusal import check_refuse, outlier_label_for
from protoset.persistence import encode_classes
from protoset.persistence.decisions import describe_rule
from protoset.spaces.vectors import VectorSpace

START_MARK = "# PROTOSET: the classifier\n"
"""Line of ``_standalone.py`` after which the classifier is inserted."""

END_MARK = "# PROTOSET: end of the classifier\n"
"""Line of ``_standalone.py`` before which the classifier ends."""

DATA_LINE_LENGTH = 116
"""Characters of encoded arrays per line of the exported file."""


def export(classifier: PrototypeClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier as one Python file that needs only NumPy.

    The file has a function ``predict(X)`` that returns the same labels as the classifier, including ties and refusals.
    If the classifier is calibrated, the file also has ``predict_proba(X)``. Run as a program, the file reads queries
    from standard input. It contains the prototypes and no other training data. The file is written completely or not at
    all.

    Parameters
    ----------
    classifier : PrototypeClassifier
        Fitted on dense vectors with the metric "euclidean", "l2", "sqeuclidean", "cosine", "correlation", "seuclidean"
        or "mahalanobis".
    path : path-like
        File to write, such as ``"model.py"``. Unlike a file of ``save``, the file is code: run only files that you
        trust.

    Examples
    --------
    >>> import protoset
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = protoset.PrototypeClassifier(protoset.REPS(n_prototypes=9)).fit(X, y)
    >>> protoset.export(classifier, "model.py")  # doctest: +SKIP
    """
    if not isinstance(classifier, PrototypeClassifier):
        raise TypeError(
            f"export takes a fitted PrototypeClassifier, got {type(classifier).__name__}; of a pipeline export the "
            "last step, pipeline[-1], and apply the steps before it to the queries yourself"
        )
    check_is_fitted(classifier, "classes_")
    # The rule may have been changed since fit, as predict allows.
    rule = classifier._rule
    space = classifier._prototypes
    if not isinstance(space, VectorSpace):
        raise ValueError(
            f"metric={space.metric!r} cannot be exported; export takes dense vectors with a Euclidean-like metric. "
            "Use protoset.save and protoset.load"
        )
    target = _check_path(path)
    _, state = space.state()
    arrays: dict[str, np.ndarray] = {"images": state["images"], "codes": classifier._codes}
    arrays |= {"counts": classifier.prototype_counts_, "class_totals": classifier.class_counts_}
    if "learned" in state:
        learned = state["learned"]
        arrays["learned"] = learned if learned.ndim == 1 else np.linalg.cholesky(learned)
    if "factors" in state:
        arrays["factors"] = state["factors"]
    decided, decisions = _describe_decisions(classifier, rule)
    arrays |= decisions
    labels = encode_classes(classifier.classes_)
    about: dict[str, Any] = {
        "protoset": __version__,
        "metric": space.metric,
        **decided,
        "n_features": space.n_features,
        "classes": labels["values"],
        "dtype": labels["dtype"],
    }
    content = _fill_in(json.dumps(about), arrays).encode()
    try:
        write_atomically(target, content)
    except OSError as error:
        if error.errno is None:
            raise
        # The message of the system names the temporary file, not the path of the user.
        raise type(error)(
            f"cannot write path={target!r}: {error.strerror}; choose another path with free space, where you may write"
        ) from error


def _describe_decisions(classifier: PrototypeClassifier, rule: Rule) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the values and arrays of the rule, of the probabilities and of refusals."""
    about, arrays = describe_rule(rule)
    about["rule"] = about.pop("name")
    if isinstance(rule, AdjustedRule):
        arrays["degradations"] = rule.degradations
    calibration = classifier.calibration_
    if calibration is not None and rule is classifier._learned:
        about |= {"slopes": calibration.probabilities.slopes.tolist(), "shared": calibration.probabilities.shared}
    refuse = check_refuse(classifier.refuse)
    if refuse is not None:
        calibration = classifier._calibrated()
        about["outlier"] = outlier_label_for(classifier.outlier_label, classifier.classes_, refuse)
        about["limit"] = calibration.novelty.limit(refuse)
        arrays["radii"] = calibration.radii
    return about, arrays


def _check_path(path: Any) -> str:
    """Return a path as text if it can be the path of a Python module."""
    try:
        target = os.fsdecode(path)
    except TypeError as error:
        raise TypeError(f"path={path!r} must be a str or a path, such as 'model.py'") from error
    if not target.endswith(".py"):
        raise ValueError(f"path={target!r} must end in .py, as Python's modules do")
    try:
        possible = b"\0" not in os.fsencode(target)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise ValueError(f"path={target!r} holds a character that no file name can have; choose another name")
    return target


def _fill_in(description: str, arrays: dict[str, np.ndarray]) -> str:
    """Put a classifier into the text of ``_standalone.py``."""
    before, rest = Path(__file__).with_name("_standalone.py").read_text(encoding="utf-8").split(START_MARK)
    after = rest.split(END_MARK)[1]
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    text = base64.b64encode(zlib.compress(packed.getvalue(), 6)).decode()
    lines = "\n".join(
        f'    "{text[start : start + DATA_LINE_LENGTH]}"' for start in range(0, len(text), DATA_LINE_LENGTH)
    )
    return f"{before}{START_MARK}DESCRIPTION = {description!r}\nARRAYS = (\n{lines}\n)\n{END_MARK}{after}"
