"""Doors for weights of objects and classes, and for scores of sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from campaigns.checks import require, same
from protoset.selectors import BaseSelector


def weighted(selector: BaseSelector, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit with weights; objects without weight are never kept, and a refused fit leaves the selector unchanged."""
    before = dict(vars(selector))
    try:
        selector.fit(X, y, sample_weight=sample_weight)  # type: ignore[call-arg]
    except Exception:
        require(vars(selector).keys() == before.keys(), "a fit that failed left attributes")
        raise
    kept, weights = selector.sample_indices_, np.asarray(sample_weight, float)
    require((weights[kept] > 0).all(), "an object without weight is kept")
    require(len(set(np.asarray(y)[kept])) == len(selector.classes_), "a class is lost")
    require(np.isfinite(selector.sample_counts_).all(), "counts that are no numbers")
    for curve in (getattr(selector, "size_curve_", None),):
        require(curve is None or np.isfinite(curve.errors).all(), "errors that are no numbers")


def counted(selector: BaseSelector, X: np.ndarray, y: np.ndarray, counts: np.ndarray, seed: int) -> None:
    """Weights that are whole numbers are as many rows, in any order."""
    rows = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(y)), counts))
    by_weight = clone(selector).fit(X, y, sample_weight=counts)
    by_rows = clone(selector).fit(X[rows], y[rows])
    pairs = [np.column_stack([X, y])[kept] for kept in (by_weight.sample_indices_, rows[by_rows.sample_indices_])]
    require(same(*(np.unique(pair, axis=0) for pair in pairs)), "weights give another set than rows")
    require(same(np.sort(by_weight.sample_counts_), np.sort(by_rows.sample_counts_)), "weights give other counts")


WEIGHT_DOORS = (weighted, counted)
