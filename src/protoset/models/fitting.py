"""Fitting a method, by its name, to a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from protoset.classifier import PrototypeClassifier, Rule
from protoset.datasets import Dataset, take
from protoset.models.methods import REFINED, find_method
from protoset.models.model import DataModel
from protoset.models.preparation import Scaling, check_dataset, prepare


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
        Where the data come with a split, the training part is used; see :func:`training_rows`.
    method : str
        Name of a selector, such as "REPS" for the paper's method; "refined" is REPS with a refined set.
    metric, metric_params, scaling
        See :func:`prepare`.
    n_prototypes : int, float or "auto"
        A count, a rate, or the method's own choice.
    parameters : dict, optional
        Other parameters of the method.
    rule : {"nearest", "adjusted"}
        See ``protoset.PrototypeClassifier``.
    n_jobs : int, optional
        Workers of the method. Changes no result.
    random_state : int, optional
        Seed of the method.
    callback : callable, optional
        Called now and then during a long search, by methods that report their progress.

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
    rows = training_rows(check_dataset(dataset))
    spec = find_method(method, n_prototypes=n_prototypes, parameters=parameters)
    preparation = prepare(dataset, train=rows, metric=metric, metric_params=metric_params, scaling=scaling)
    selector = spec.build(preparation, random_state=random_state, n_jobs=n_jobs, callback=callback)
    training = dataset if len(rows) == dataset.n_objects else take(dataset, rows)
    classifier = PrototypeClassifier(selector, rule=rule).fit(preparation(training.objects), training.labels)
    if callback is not None:
        # Model files hold no functions.
        selector.set_params(**{name: None for name in selector.get_params() if name.endswith("callback")})
    kept = classifier.sample_indices_
    return DataModel(
        preparation,
        classifier,
        None if dataset.ids is None else np.array(dataset.ids[rows[kept]], dtype=object),
        preparation.attribute_values(take(training, kept).objects),
    )


def training_rows(dataset: Dataset) -> np.ndarray:
    """Rows of the training part, all of them where the data come without a split."""
    return np.arange(dataset.n_objects if dataset.n_train is None else dataset.n_train)
