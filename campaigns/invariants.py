"""Doors for invariants: what must not change the result, or must change it in a known way."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from campaigns.checks import ask, require, same
from campaigns.values import jaccard, scratch
from protoset import PrototypeClassifier, export, load, save
from protoset.selectors import BaseSelector
from protoset.spaces import make_space


def _kept(selector: BaseSelector, X: Any, y: Any, **changed: Any) -> np.ndarray:
    kept: np.ndarray = clone(selector).set_params(**changed).fit(X, y).sample_indices_
    return kept


def _dissimilarities(selector: BaseSelector, X: Any, y: Any) -> np.ndarray:
    space = make_space(X, selector.metric, selector.metric_params, y=y)
    return space.block(slice(None), slice(None))


def _identical(X: Any, selector: BaseSelector, y: Any) -> np.ndarray:
    """Numbers of the objects by their content."""
    return _numbered(make_space(X, selector.metric, selector.metric_params, y=y).identical())


def _numbered(numbers: np.ndarray | None) -> np.ndarray:
    """The lowest row of each number; another order of the numbers changes nothing."""
    assert numbers is not None
    _, first, group = np.unique(numbers, return_index=True, return_inverse=True)
    return first[group]


def permuted(selector: BaseSelector, X: Any, y: Any, seed: int) -> None:
    """Rows in another order give the same set, unless distances tie: then the first row wins.

    A class may also have got its medoid, and of two members either is one.
    """
    distances = _dissimilarities(selector, X, y)
    if any(len(np.unique(row)) < len(row) for row in distances):
        return
    order = np.random.default_rng(seed).permutation(len(y))
    rows = X[np.ix_(order, order)] if selector.metric == "precomputed" else _safe_indexing(X, order)
    fitted = clone(selector).fit(X, y)
    moved = np.sort(order[_kept(selector, rows, y[order])])
    require(len(fitted.fallback_classes_) or same(moved, fitted.sample_indices_), "permuted rows give another set")


def scaled(selector: BaseSelector, X: np.ndarray, y: Any, exponent: int) -> None:
    """Objects that are scaled by a power of 2 give the same set."""
    require(same(_kept(selector, X * 2.0**exponent, y), _kept(selector, X, y)), "scaled objects give another set")


def relabelled(selector: BaseSelector, X: Any, y: np.ndarray) -> None:
    """Other labels in the same order give the same set."""
    kept = _kept(selector, X, y)
    names = np.array([f"class {code:03d}" for code in range(y.max() + 1)])
    require(same(_kept(selector, X, names[y]), kept), "labels that are texts give another set")
    require(same(_kept(selector, X, y * 10 - 3), kept), "other numbers as labels give another set")


def precomputed(selector: BaseSelector, X: Any, y: Any) -> None:
    """The matrix of dissimilarities gives the same set as the metric.

    Some metrics are above 0 between an object and itself, and a matrix has zeros there: KMedoids then differs. Under
    yule, objects may differ and have the same distances: they are identical in a matrix alone.
    """
    matrix = _dissimilarities(selector, X, y)
    by_content, by_distances = _identical(X, selector, y), make_space(matrix, "precomputed").identical()
    if matrix.diagonal().any() or not same(by_content, _numbered(by_distances)):
        return
    kept = _kept(selector, X, y)
    given = {"metric": "precomputed", "metric_params": None}
    require(same(_kept(selector, matrix, y, **given), kept), "a matrix gives another set than the metric")
    if same(matrix, matrix.T):
        half = squareform(matrix, checks=False)
        require(same(_kept(selector, half, y, **given), kept), "half a matrix gives another set than the metric")


def workers(selector: BaseSelector, X: Any, y: Any) -> None:
    """The number of workers changes nothing."""
    require(same(_kept(selector, X, y, n_jobs=2), _kept(selector, X, y)), "n_jobs=2 gives another set")


def single(selector: BaseSelector, X: np.ndarray, y: Any) -> None:
    """Single precision changes nothing where the numbers are exact in it."""
    exact = X.astype(np.float32)
    require(same(_kept(selector, exact, y), _kept(selector, exact.astype(float), y)), "float32 gives another set")


def one_by_one(classifier: PrototypeClassifier, X: Any, y: Any, queries: Any) -> None:
    """Queries one by one are answered as all at once, and by a loaded classifier too."""
    classifier.fit(X, y)
    predicted = ask(classifier, queries)
    separately = [classifier.predict(_safe_indexing(queries, [row]))[0] for row in range(len(predicted))]
    require(same(separately, predicted), "queries one by one are answered otherwise")
    path = scratch() / "invariant"
    save(classifier, path)
    loaded = load(path, metric=jaccard) if callable(classifier.metric) else load(path)
    require(same(ask(loaded, queries), predicted), "a loaded classifier predicts otherwise")
    require(
        same(loaded.explain(queries).distances, classifier.explain(queries).distances),
        "a loaded classifier explains otherwise",
    )


def exported(classifier: PrototypeClassifier, X: np.ndarray, y: Any, queries: np.ndarray) -> None:
    """The exported program answers as the classifier."""
    classifier.fit(X, y)
    path = scratch() / "exported.py"
    export(classifier, path)
    program: dict[str, Any] = {"__name__": "exported"}
    exec(compile(path.read_text(), str(path), "exec"), program)
    require(same(program["predict"](queries), classifier.predict(queries)), "the exported program predicts otherwise")


INVARIANT_DOORS = (permuted, scaled, relabelled, precomputed, workers, single, one_by_one, exported)
