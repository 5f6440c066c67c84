"""Doors: the functions that the lines of cases call. Each goes through a part of the library and checks the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from campaigns.outcomes import Wrong, same
from campaigns.values import TYPICAL_OBJECTS, VALUES, jaccard, labels
from protoset import REPS, NeighborSearch, PrototypeClassifier, Refined, refine
from protoset.classifier import Rule
from protoset.selectors import BaseSelector, all_selectors
from protoset.spaces import DISSIMILARITIES


def require(condition: Any, message: str) -> None:
    """Raise Wrong if a condition does not hold."""
    if not condition:
        raise Wrong(message)


def fit(selector: BaseSelector, X: Any, y: Any) -> BaseSelector:
    """Fit a selector; a refused fit leaves it unchanged."""
    before = dict(vars(selector))
    try:
        selector.fit(X, y)
    except Exception:
        require(vars(selector).keys() == before.keys(), "a fit that failed left attributes")
        raise
    check_selected(selector, len(y))
    return selector


def check_selected(selector: BaseSelector, n: int) -> None:
    """Check the attributes of a fitted selector."""
    kept = selector.sample_indices_
    require(kept.dtype == np.int64 and kept.ndim == 1, f"sample_indices_: dtype {kept.dtype}, {kept.ndim} axes")
    require(len(kept) > 0 and kept[0] >= 0 and kept[-1] < n, f"sample_indices_ out of range: {kept}")
    require((np.diff(kept) > 0).all(), f"sample_indices_ not ascending: {kept}")
    require(not selector._keeps_every_class() or len(kept) >= len(selector.classes_), "a class is lost")
    require(type(selector.n_distances_) is int and selector.n_distances_ >= 0, "n_distances_ is no count")
    learned = getattr(selector, "degradations_", None)
    require(learned is None or (learned >= 0).all(), "degradations_ below 0 or NaN")


def classify(classifier: PrototypeClassifier, X: Any, y: Any, queries: Any) -> None:
    """Fit a classifier and ask it."""
    classifier.fit(X, y)
    ask(classifier, queries)


def ask(classifier: Any, queries: Any) -> np.ndarray:
    """Predict in all ways; they agree, also in refusing, and a refusal changes nothing."""
    before = dict(vars(classifier))
    answers = [
        _answer(classifier.predict, queries),
        _answer(classifier.explain, queries),
        _answer(classifier.predict_proba, queries),
    ]
    require(vars(classifier).keys() == before.keys(), "prediction changed the classifier")
    refused = [answer for answer in answers if isinstance(answer, Exception)]
    if refused:
        kinds = {type(answer).__name__ for answer in answers}
        require(len(kinds) == 1, f"predict, explain and predict_proba differ: {sorted(kinds)}")
        raise refused[0]
    predicted, explanation, shares = answers
    require(np.isin(predicted, classifier.classes_).all(), "predictions outside of classes_")
    require(same(explanation.labels[:, 0], predicted), "explain and predict disagree")
    require(not np.isnan(explanation.distances).any(), "NaN among the distances of explain")
    require((explanation.distances >= 0).all(), "negative distances in explain")
    require((explanation.ranks >= 1).all(), "ranks below 1 in explain")
    require(shares.shape == (len(predicted), len(classifier.classes_)), "shape of predict_proba")
    require(np.allclose(shares.sum(axis=1), 1) and (shares >= 0).all(), "class shares do not add up to 1")
    return np.asarray(predicted)


def _answer(function: Callable[[Any], Any], queries: Any) -> Any:
    try:
        return function(queries)
    except Exception as error:
        return error


def refined(X: Any, y: Any, indices: Any, **options: Any) -> None:
    """Refine a set: never worse, and within the budget."""
    result = refine(X, y, indices, **options)
    require(result.objective_after <= result.objective_before, "refine: worse than before")
    require(0 < len(result.indices) <= (options.get("n_prototypes") or len(indices)), "refine: over the budget")
    require((np.diff(result.indices) > 0).all(), "refine: indices not ascending")


EXAMPLES = {
    "vectors": "vectors(24)",
    "mixed attributes": "table(24)",
    "series": "series(24)",
    "strings": "words(24)",
    "matrix": "matrix(24)",
    "objects": "sets(24)",
}
"""Training objects of each kind, as a line."""

SPECIAL_EXAMPLES = {
    **dict.fromkeys(("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"), "vectors(24) > 0.7"),
    "braycurtis": "abs(vectors(24))",
    "haversine": "np.clip(vectors(24, 2), -1.5, 1.5)",
    "nan_euclidean": "spoiled(vectors(24), nan)",
}
"""Training objects of metrics that do not take all objects of their kind."""


def example_of(metric: str) -> str:
    """Return training objects for a metric, as a line."""
    return SPECIAL_EXAMPLES.get(metric) or EXAMPLES[DISSIMILARITIES[metric].kind]


@cache
def model(metric: str, rule: Rule = "nearest", frame: bool = False) -> PrototypeClassifier:
    """A classifier that was fitted to typical objects."""
    X = eval(example_of(metric), VALUES)
    if frame:
        X = VALUES["pd"].DataFrame(X).rename(columns=str)
    selector = REPS(6, metric=jaccard if metric == "callable" else metric)
    return PrototypeClassifier(selector, rule=rule).fit(X, labels(TYPICAL_OBJECTS))


def shown(metric: str, n_neighbors: Any) -> None:
    """Explain the training objects of a model."""
    explanation = model(metric).explain(eval(example_of(metric), VALUES), n_neighbors)
    require(explanation.labels.shape[1] == min(n_neighbors, 6), "explain shows another number of prototypes")


def _doors(functions: Sequence[Any]) -> dict[str, Any]:
    return {function.__name__: function for function in functions}


NAMESPACE: dict[str, Any] = (
    VALUES
    | dict(all_selectors())
    | _doors([Refined, NeighborSearch, PrototypeClassifier, Decimal])
    | _doors([fit, classify, ask, shown, refined, model, require])
)
"""What the lines of cases may call."""
