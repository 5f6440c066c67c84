"""Fitting a method, by its name, to a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from protoset._validation import did_you_mean
from protoset.classifier import PrototypeClassifier, Rule
from protoset.datasets import Dataset, take
from protoset.models.model import DataModel
from protoset.models.preparation import Preparation, Scaling, prepare
from protoset.selectors import BaseSelector, Refined, all_selectors

RUNTIME = ("metric", "metric_params", "n_jobs", "random_state", "verbose", "callback", "n_prototypes", "selector")
"""Parameters of selectors that have arguments of their own here."""


REFINED = "refined REPS"
"""What the paper's method is called if its set is improved by swaps; "refined" for short."""


class Method(NamedTuple):
    """What the name of a method stands for.

    Attributes
    ----------
    name : str
        As it is written in tables.
    selector : type
    refined : bool
        Whether the set of the selector is refined.
    """

    name: str
    selector: type[BaseSelector]
    refined: bool


def find_method(name: str, others: Sequence[str] = ()) -> Method:
    """Find a method by its name; upper and lower case do not matter.

    The names are those of the selectors, so that "REPS" is the paper's method, and "refined" or "refined REPS".

    Parameters
    ----------
    name : str
    others : sequence of str
        Further names that the caller knows, for the error.
    """
    selectors = dict(all_selectors())
    known = {key: Method(key, selector, False) for key, selector in selectors.items()}
    known["refined"] = Method(REFINED, selectors["REPS"], True)
    by_lower = {key.lower(): found for key, found in known.items()} | {REFINED.lower(): known["refined"]}
    found = by_lower.get(str(name).strip().lower())
    if found is None:
        names = [*others, *sorted(known)]
        raise ValueError(f"method={name!r} is not known{did_you_mean(name, names)}; choose one of {names}")
    return found


def make_selector(
    method: str = REFINED,
    preparation: Preparation | None = None,
    *,
    n_prototypes: int | float | str = "auto",
    parameters: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: int | None = None,
    callback: Callable[[Any], Any] | None = None,
) -> BaseSelector:
    """Make a selector; arguments as in :func:`fit_model`."""
    _, kind, refined = find_method(method)
    own = kind().get_params(deep=False)
    given = dict(parameters or {})
    takes = [name for name in (own | Refined().get_params(deep=False) if refined else own) if name not in RUNTIME]
    for name in given:
        if name not in takes:
            raise ValueError(f"{kind.__name__} has no parameter {name!r}{did_you_mean(name, takes)}; it has {takes}")
    if n_prototypes != "auto":
        if "n_prototypes" not in own:
            raise ValueError(
                f"n_prototypes={n_prototypes!r}: {kind.__name__} chooses its size itself; use 'auto', or another method"
            )
        given["n_prototypes"] = n_prototypes
    if "callback" in own:
        given["callback"] = callback
    if "random_state" in own:
        given["random_state"] = random_state
    if preparation is not None:
        given |= {"metric": preparation.metric, "metric_params": preparation.metric_params or None}
    if not refined:
        return kind(**given, n_jobs=n_jobs)
    of_refined = {name: given.pop(name) for name in list(given) if name not in own}
    selector = kind(**given, n_jobs=n_jobs)
    return Refined(selector, **of_refined, callback=callback, random_state=random_state, n_jobs=n_jobs)


def fit_model(
    dataset: Dataset,
    method: str = REFINED,
    *,
    metric: str = "auto",
    metric_params: Mapping[str, Any] | None = None,
    scaling: Scaling | None = None,
    n_prototypes: int | float | str = "auto",
    parameters: Mapping[str, Any] | None = None,
    rule: Rule = "nearest",
    n_jobs: int | None = None,
    random_state: int | None = None,
    callback: Callable[[Any], Any] | None = None,
) -> DataModel:
    """Prepare the training objects of a data set, select prototypes among them, and classify with these.

    Parameters
    ----------
    dataset : Dataset
        Of one that comes with a split, the training part is used; see :func:`training_rows`.
    method : str
        Name of a selector, such as "REPS" for the paper's method; "refined" is the same with a refined set.
    metric, metric_params, scaling
        See :func:`prepare`.
    n_prototypes : int, float or "auto"
        A count, a rate, or what the method chooses.
    parameters : dict, optional
        Other parameters of the method.
    rule : {"nearest", "adjusted"}
    n_jobs : int, optional
    random_state : int, optional
    callback : callable, optional
        Told how far a long search is, by methods that can.

    Returns
    -------
    DataModel

    Examples
    --------
    >>> from protoset.datasets import load_dataset
    >>> from protoset.models import fit_model
    >>> iris = load_dataset("iris", download=False)
    >>> model = fit_model(iris, n_prototypes=6)
    >>> model.preparation.scaling, len(model.sample_indices_)
    ('z', 6)
    """
    rows = training_rows(dataset)
    training = dataset if len(rows) == dataset.n_objects else take(dataset, rows)
    preparation = prepare(training, metric=metric, metric_params=metric_params, scaling=scaling)
    selector = make_selector(
        method,
        preparation,
        n_prototypes=n_prototypes,
        parameters=parameters,
        n_jobs=n_jobs,
        random_state=random_state,
        callback=callback,
    )
    classifier = PrototypeClassifier(selector, rule=rule).fit(preparation(training.objects), training.labels)
    if callback is not None and "callback" in selector.get_params(deep=False):
        # It has done its work, and files hold no functions.
        selector.set_params(callback=None)
    return DataModel(preparation, classifier)


def training_rows(dataset: Dataset) -> np.ndarray:
    """Rows of the training part, all of them where the data come without a split."""
    return np.arange(dataset.n_objects if dataset.n_train is None else dataset.n_train)
