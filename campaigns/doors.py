"""Doors: the functions that the lines of cases call. Each calls a part of the library and checks the result."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np

from campaigns.checks import ask, require
from campaigns.columns import COLUMN_DOORS
from campaigns.commands import COMMAND_DOORS
from campaigns.data_files import DATA_FILE_DOORS
from campaigns.invariants import INVARIANT_DOORS
from campaigns.model_files import DROP, MODEL_FILE_DOORS
from campaigns.models import data_model, data_set, example_of, model
from campaigns.pipelines import PIPELINE_CLASSES, PIPELINE_DOORS
from campaigns.values import VALUES
from campaigns.weights import WEIGHT_DOORS
from protoset import NeighborSearch, PrototypeClassifier, Refined, refine, suspects
from protoset.experiments import compare, validate
from protoset.models import fit_model
from protoset.selectors import BaseSelector, all_selectors


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


def streamed(classifier: PrototypeClassifier, X: Any, y: Any, queries: Any) -> None:
    """Fit a classifier batch by batch and ask it; a batch that is refused changes nothing."""
    classifier.partial_fit(X, y, classes=np.unique(y))
    before = dict(vars(classifier))
    try:
        classifier.partial_fit(queries, np.resize(y, len(queries)))
    except (TypeError, ValueError):
        require(vars(classifier) == before, "a refused batch changed the classifier")
    ask(classifier, X)


def suspected(X: Any, y: Any, classifier: Any, **options: Any) -> None:
    """Look for wrong labels."""
    found = suspects(X, y, classifier, **options)
    require((np.diff(found.odds) <= 0).all(), "suspects: not the most doubtful first")
    require((found.given != found.suggested).all(), "suspects: a label that is suggested for itself")


def refined(X: Any, y: Any, indices: Any, **options: Any) -> None:
    """Refine a set: never worse, and within the budget."""
    result = refine(X, y, indices, **options)
    require(result.objective_after <= result.objective_before, "refine: worse than before")
    require(0 < len(result.indices) <= (options.get("n_prototypes") or len(indices)), "refine: over the budget")
    require((np.diff(result.indices) > 0).all(), "refine: indices not ascending")


def shown(metric: str, n_neighbors: Any) -> None:
    """Explain the training objects of a model."""
    explanation = model(metric).explain(eval(example_of(metric), VALUES), n_neighbors)
    require(explanation.labels.shape[1] == min(n_neighbors, 6), "explain shows another number of prototypes")


def fitted(dataset: Any, *arguments: Any, **options: Any) -> None:
    """Fit a model to a data set; it answers for the objects of the data set."""
    ask(fit_model(dataset, *arguments, **options), dataset.objects)


def validated(dataset: Any, *arguments: Any, **options: Any) -> None:
    """Measure the error of a method on a data set."""
    error = validate(dataset, *arguments, **options).estimate.error
    require(0 <= error <= 1, f"validate: error {error}")


def compared(dataset: Any, *arguments: Any, **options: Any) -> None:
    """Compare methods on a data set."""
    errors = compare(dataset, *arguments, **options).errors
    require((np.isnan(errors) | ((errors >= 0) & (errors <= 1))).all(), "compare: errors that are no shares")


def _by_name(functions: Iterable[Any]) -> dict[str, Any]:
    return {function.__name__: function for function in functions}


NAMESPACE: dict[str, Any] = (
    VALUES
    | dict(all_selectors())
    | _by_name([Refined, NeighborSearch, PrototypeClassifier, Decimal])
    | _by_name([streamed, suspected])
    | _by_name([fit, classify, ask, shown, refined, fitted, validated, compared, model, data_model, data_set, require])
    | _by_name([*MODEL_FILE_DOORS, *DATA_FILE_DOORS, *COMMAND_DOORS, *INVARIANT_DOORS])
    | _by_name([*PIPELINE_CLASSES, *PIPELINE_DOORS, *COLUMN_DOORS, *WEIGHT_DOORS])
    | {"DROP": DROP}
)
"""What the lines of cases may call."""
