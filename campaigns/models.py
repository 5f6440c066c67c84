"""Models that were fitted to typical objects, once per process."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from campaigns.values import TYPICAL_OBJECTS, VALUES, jaccard, labels, matrix, series, table, vectors, words
from protoset import REPS, DataModel, PrototypeClassifier
from protoset.datasets import Attribute, Dataset
from protoset.decisions import RuleName
from protoset.models import fit_model
from protoset.spaces import DISSIMILARITIES

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
def model(metric: str, rule: RuleName = "nearest", frame: bool = False) -> PrototypeClassifier:
    """A classifier that was fitted to typical objects."""
    X = eval(example_of(metric), VALUES)
    if frame:
        X = VALUES["pd"].DataFrame(X).rename(columns=str)
    selector = REPS(6, metric=jaccard if metric == "callable" else metric)
    return PrototypeClassifier(selector, rule=rule).fit(X, labels(TYPICAL_OBJECTS))


@cache
def data_set(kind: str) -> Dataset:
    """A data set of a kind."""
    n = TYPICAL_OBJECTS
    attributes = tuple(Attribute(name, "real") for name in "abc") if kind == "vectors" else ()
    if kind == "mixed":
        own = table(n).astype({"colour": str, "flag": str})[["number", "colour", "word"]]
        attributes = (
            Attribute("number", "real"),
            Attribute("colour", "nominal", ("blue", "green", "red")),
            Attribute("word", "nominal", ("x", "y", "z")),
        )
        return Dataset(kind, "mixed", own.astype(object).to_numpy(), np.array(["u", "v"])[labels(n)], attributes)
    objects = {"vectors": vectors(n), "series": series(n), "strings": words(n), "matrix": matrix(n)}[kind]
    return Dataset(kind, kind, objects, labels(n), attributes)  # type: ignore[arg-type]


@cache
def data_model(kind: str) -> DataModel:
    """A model with its preparation, of objects with ids."""
    dataset = data_set(kind)
    ids = np.array([f"object {row}" for row in range(dataset.n_objects)])
    return fit_model(replace(dataset, ids=ids), "REPS", n_prototypes=6)
