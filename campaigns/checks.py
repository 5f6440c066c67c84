"""Checks of results, shared by the doors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from campaigns.outcomes import Wrong


def require(condition: Any, message: str) -> None:
    """Raise Wrong if a condition does not hold."""
    if not condition:
        raise Wrong(message)


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same shape and values."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and bool((a == b).all())


def ask(classifier: Any, queries: Any) -> np.ndarray:
    """Predict with predict, explain and predict_proba: all agree, or all raise the same error and change nothing."""
    before = dict(vars(classifier))
    answers = [_answer(classifier.predict, queries), _answer(classifier.explain, queries)]
    probabilities = _answer(classifier.predict_proba, queries)
    is_calibrated = not (isinstance(probabilities, ValueError) and "not calibrated" in str(probabilities))
    if is_calibrated:
        answers.append(probabilities)
    require(vars(classifier).keys() == before.keys(), "prediction changed the classifier")
    refused = [answer for answer in answers if isinstance(answer, Exception)]
    if refused:
        kinds = {type(answer).__name__ for answer in answers}
        require(len(kinds) == 1, f"predict, explain and predict_proba differ: {sorted(kinds)}")
        raise refused[0]
    predicted, explanation = answers[:2]
    require(np.isin(predicted, classifier.classes_).all(), "predictions outside of classes_")
    require(same(explanation.labels[:, 0], predicted), "explain and predict disagree")
    require(not np.isnan(explanation.distances).any(), "NaN among the distances of explain")
    require((explanation.distances >= 0).all(), "negative distances in explain")
    require((explanation.ranks >= 1).all(), "ranks below 1 in explain")
    if is_calibrated:
        require(probabilities.shape == (len(predicted), len(classifier.classes_)), "shape of predict_proba")
        require(np.allclose(probabilities.sum(axis=1), 1) and (probabilities >= 0).all(), "no sum of 1")
        best = classifier.classes_[probabilities.argmax(axis=1)]
        require(same(best, predicted), "predict_proba and predict disagree")
    return np.asarray(predicted)


def _answer(function: Callable[[Any], Any], queries: Any) -> Any:
    try:
        return function(queries)
    except Exception as error:
        return error
