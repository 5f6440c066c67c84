"""The base class of all estimators: plain parameters during a fit, nested parameters, the page about a fit."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

from protoset._display import Table, percent, table_html
from protoset._progress import asking, close_bar

MOST_NAMED_CLASSES = 6
"""Classes that a notebook names at most."""


class Reported:
    """Base class of objects with a report page: estimators and models."""

    def report(self, X: Any, y: Any = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Make a page about the prototypes, and write it to a file if a path is given.

        Parameters
        ----------
        X : array-like, DataFrame, list of series or strings, or Dataset
            The training objects, as in ``fit``.
        y : array-like of shape (n_objects,), optional
            Labels of the training objects. Leave it out if ``X`` is a Dataset.
        path : path, optional
            File to write, such as "page.html".
        **options
            ``X_test``, ``y_test``, ``image_shape``, ``title``, ``overwrite`` and others; see :func:`protoset.report`.

        Returns
        -------
        Report
            Notebooks display the page. ``write(path)`` writes it to a file.
        """
        # Imported by name when called: imports point one way, and the report module imports the estimators.
        return import_module("protoset._report.building").report(self, X, y, path, **options)


class CheckedEstimator(Reported, BaseEstimator):
    """Base class of estimators: a fit uses checked, plain parameter values; the values that users gave stay."""

    def _check_parameters(self) -> dict[str, Any]:
        """Return the parameters as plain values; raise an error if a value is wrong."""
        return {}

    @contextmanager
    def _fitting(self) -> Iterator[Self]:
        """Yield a copy with plain parameters to fit, then take over its learned attributes.

        A fit that fails changes nothing.
        """
        plain = copy.copy(self)
        plain.__dict__.update(self._check_parameters())
        # Features of an earlier fit; objects such as arrays and strings have no names, or no features.
        features = ("n_features_in_", "feature_names_in_")
        for name in features:
            plain.__dict__.pop(name, None)
        try:
            with asking(getattr(plain, "verbose", 0)):
                yield plain
        finally:
            # A silent fit within another one leaves the bar of the other.
            if getattr(plain, "verbose", 1):
                close_bar()
        parameters = self.get_params(deep=False)
        for name in features:
            self.__dict__.pop(name, None)
        self.__dict__.update({name: value for name, value in vars(plain).items() if name not in parameters})

    def _repr_html_inner(self) -> str:
        """Diagram of scikit-learn, and after a fit what was learned."""
        learned = learned_facts(self)
        diagram = estimator_html_repr(self)
        return diagram + table_html("Learned", Table((), learned, len(learned))) if learned else diagram

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**options)
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of nested estimators, as in ``selector__n_prototypes=10``.

        Returns
        -------
        self
        """
        present = self.get_params(deep=False) | params
        for name in params:
            outer, _, inner = name.partition("__")
            if inner and outer in present and not hasattr(present[outer], "set_params"):
                raise ValueError(
                    f"{name}={params[name]!r} sets a parameter of {outer}={present[outer]!r}, which has no parameters; "
                    f"set an estimator first, with set_params({outer}=...)"
                )
        return super().set_params(**params)


def learned_facts(estimator: Any) -> list[tuple[str, str]]:
    """Return names and texts of the main results of a fit; empty before the fit."""
    if not hasattr(estimator, "sample_indices_"):
        return []
    selector = getattr(estimator, "selector_", estimator)
    n_kept, n_objects = len(estimator.sample_indices_), float(np.sum(estimator.class_counts_))
    facts = [("prototypes", f"{n_kept:,} of {n_objects:,.10g} objects ({percent(n_kept / n_objects)})")]
    facts.append(("classes", _classes(estimator.classes_, getattr(estimator, "prototype_labels_", None))))
    if hasattr(selector, "metric_"):
        facts.append(("metric", str(selector.metric_)))
    curve = getattr(selector, "size_curve_", None)
    if curve is not None:
        facts.append(("size", f"chosen among {len(curve.sizes)} sizes by cross-validation, see size_curve_"))
    if hasattr(estimator, "rule_"):
        facts.append(("rule", str(estimator.rule_)))
    adaptation = getattr(estimator, "adaptation_", None)
    if adaptation is not None:
        before, after = percent(adaptation.held_out_before), percent(adaptation.held_out_after)
        errors = f"; held-out error {before} before, {after} after" if before else ""
        facts.append(("moves", f"moved{errors}" if adaptation.has_moved else "not moved"))
    calibration = getattr(estimator, "calibration_", None)
    if calibration is not None:
        facts.append(("calibrated by", f"{calibration.n_objects:,} held-out objects"))
    return facts


def _classes(classes: np.ndarray, labels: np.ndarray | None) -> str:
    """Names of the first classes, with the number of their prototypes where it is known."""
    names = [str(label) for label in classes[:MOST_NAMED_CLASSES].tolist()]
    if labels is not None:
        names = [f"{name} ({np.sum(labels == label)})" for name, label in zip(names, classes, strict=False)]
    more = ", ..." if len(classes) > MOST_NAMED_CLASSES else ""
    return f"{len(classes):,}: {', '.join(names)}{more}"
