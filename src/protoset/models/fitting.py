"""Fitting a method, by its name, to a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from protoset.classifier import PrototypeClassifier
from protoset.datasets import Dataset, take
from protoset.decisions import RuleName
from protoset.models.methods import REFINED, Adapt, find_method, with_moves
from protoset.models.model import DataModel, has_moved
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
    rule: RuleName = "nearest",
    adapt: Adapt = "auto",
    n_jobs: int | None = None,
    random_state: int | None = None,
    callback: Callable[[Any], Any] | None = None,
) -> DataModel:
    """Fit a classifier to a data set: prepare the objects, select prototypes, and move them.

    Parameters
    ----------
    dataset : Dataset
        The data. If they have a split, only the training part is used; see :func:`training_rows`.
    method : str
        Name of a selector, such as "REPS" for the paper's method. "refined" is REPS with a refined set. "adapted" is
        refined REPS whose prototypes then move; it raises an error if the objects cannot move.
    metric, metric_params, scaling
        See :func:`prepare`.
    n_prototypes : int, float or "auto"
        A count, a rate, or the method's own choice.
    parameters : dict, optional
        Other parameters of the method.
    rule : {"nearest", "adjusted", "scores", "auto"}
        How the prototypes predict a class; see ``protoset.PrototypeClassifier``.
    adapt : {"auto", True, False} or dict, default="auto"
        Whether the prototypes move after the selection. "auto" moves the prototypes of the default method if the
        objects can move; prototypes of other methods do not move. True moves the prototypes of any method, and raises
        an error if the objects cannot move. A dict has arguments of :func:`protoset.adapt`, such as
        ``{"relevances": True}``.
    n_jobs : int, optional
        Number of workers of the method. It does not change any result.
    random_state : int, optional
        Seed of the method and of the moves.
    callback : callable, optional
        Called regularly during a long search, by methods that report their progress.

    Returns
    -------
    DataModel
        The fitted classifier with the preparation of its objects.

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
    training = dataset if len(rows) == dataset.n_objects else take(dataset, rows)
    spec = with_moves(spec, adapt, preparation, training.objects, rule=rule)
    selector = spec.build(preparation, random_state=random_state, n_jobs=n_jobs, callback=callback)
    moves: Any = False
    if spec.moves is not None:
        moves = {"random_state": random_state} | (dict(adapt) if isinstance(adapt, Mapping) else {}) | spec.moves
    classifier = PrototypeClassifier(selector, rule=rule, adapt=moves, n_jobs=n_jobs)
    classifier.fit(preparation(training.objects), training.labels)
    if callback is not None:
        # Model files hold no functions.
        selector.set_params(**{name: None for name in selector.get_params() if name.endswith("callback")})
    shown = classifier.exemplars_
    values = preparation.attribute_values(take(training, shown).objects)
    ids = None if dataset.ids is None else np.array(dataset.ids[rows[shown]], dtype=object)
    if not has_moved(classifier):
        return DataModel(preparation, classifier, ids, values)
    moved = preparation.restored_values(classifier.adaptation_.prototypes)  # type: ignore[union-attr]
    return DataModel(preparation, classifier, ids, moved, values, has_moved=True)


def training_rows(dataset: Dataset) -> np.ndarray:
    """Return the rows of the training part; all rows if the data have no split.

    Parameters
    ----------
    dataset : Dataset
        The data set.

    Returns
    -------
    ndarray of int
        Positions of the training objects.
    """
    return np.arange(dataset.n_objects if dataset.n_train is None else dataset.n_train)
