"""Spaces: dissimilarities between objects of one kind.

A file registers its dissimilarities by listing them in its ``METRICS``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from protoset._validation import did_you_mean
from protoset.spaces._counting import CountedSpace
from protoset.spaces._lists import RawLists, SearchCounters
from protoset.spaces.automatic import choose_metric, warn_of_frame, warn_of_matrix
from protoset.spaces.base import Dissimilarities, Dissimilarity, PrototypeSpace, Space, TrainingSpace
from protoset.spaces.comparison import Alignment, Contributions, Edit, EditScript, PairComparison, Segment
from protoset.spaces.distributed_vectors import DistributedVectorSpace

__all__ = [
    "DISSIMILARITIES",
    "Alignment",
    "Contributions",
    "CountedSpace",
    "Dissimilarities",
    "Dissimilarity",
    "Edit",
    "EditScript",
    "PairComparison",
    "PrototypeSpace",
    "RawLists",
    "SearchCounters",
    "Segment",
    "Space",
    "TrainingSpace",
    "as_space",
    "choose_metric",
    "make_space",
]


WARNED_CALLER = 6
"""Number of calls between a warning about the objects and the code of the user that called ``fit``."""


def _registered() -> dict[str, Dissimilarity]:
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {record.name: record for module in modules for record in getattr(module, "METRICS", ())}


DISSIMILARITIES: dict[str, Dissimilarity] = _registered()
"""Every named dissimilarity, by its name: a :class:`Dissimilarity`."""


def make_space(X: Any, metric: Any = "auto", metric_params: Mapping[str, Any] | None = None, *, y: Any = None) -> Space:
    """Make the space of a training set.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix or list
        The training objects, of the kind that the metric compares.
    metric : str or callable, default="auto"
        A name in ``DISSIMILARITIES``, a function of two objects, or "auto"; see :func:`choose_metric`.
    metric_params : dict, optional
        Arguments of the metric.
    y : array-like, optional
        The labels, for metrics that learn from them.

    Returns
    -------
    Space
        Dissimilarities among the training objects. Every selector accepts it as ``X``.
    """
    if isinstance(X, Dissimilarities):
        raise TypeError("X is already a space; use it unchanged, or call as_space(X), which accepts spaces")
    metric, parameters = _resolve(X, metric, metric_params)
    return _record_of(metric).space.from_objects(X, metric, parameters, y)


def as_space(
    X: Any,
    metric: Any = "auto",
    metric_params: Mapping[str, Any] | None = None,
    *,
    y: Any = None,
    client: Any = None,
) -> TrainingSpace:
    """Return the space of a training set; ``X`` itself if it is a space.

    Parameters
    ----------
    X : TrainingSpace, or training objects
        A space has its own metric: ``metric`` must then be "auto" or the metric of the space, and ``metric_params``
        must be None.
    metric, metric_params, y
        See :func:`make_space`.
    client : distributed.Client, optional
        Dask client whose workers store and compare the objects. Works for vectors, and for metrics that learn nothing
        from the training set.

    Returns
    -------
    TrainingSpace
    """
    if isinstance(X, TrainingSpace):
        _check_space(X, metric, metric_params)
        return X
    if client is None:
        return make_space(X, metric, metric_params, y=y)
    if callable(metric):
        raise ValueError(f"metric={metric!r} is a function, which does not work with a Dask client; leave client out")
    metric, parameters = _resolve(X, metric, metric_params)
    return DistributedVectorSpace.from_objects(X, metric, parameters, y, client)


def _check_space(space: TrainingSpace, metric: Any, metric_params: Any) -> None:
    """Raise an error for a space that is not of a training set, or a metric that is not the metric of the space."""
    if not space._is_training:
        raise ValueError(f"X is a space of shape {space.shape}; pass the space of a training set, which is square")
    if not (isinstance(metric, str) and metric in ("auto", space.metric)):
        raise ValueError(f"metric={metric!r}, but X is a space with metric={space.metric!r}; pass metric='auto'")
    if metric_params is not None:
        raise ValueError(
            f"metric_params={metric_params!r}, but X is a space, which has its own; leave metric_params out"
        )


def _resolve(X: Any, metric: Any, metric_params: Any) -> tuple[Any, Mapping[str, Any]]:
    """Return the metric that "auto" stands for, and the arguments of the metric, checked."""
    if isinstance(metric, str) and metric == "auto":
        metric = choose_metric(X)
        if metric == "gower":
            warn_of_frame(X, stacklevel=WARNED_CALLER)
        elif metric == "euclidean":
            warn_of_matrix(X, stacklevel=WARNED_CALLER)
    record, metric_params = _record_of(metric), {} if metric_params is None else metric_params
    if not isinstance(metric_params, Mapping):
        raise TypeError(f"metric_params={metric_params!r} must be a dict of the metric's arguments, or None")
    unknown = [] if callable(metric) else [name for name in metric_params if name not in record.parameters]
    if unknown:
        takes = (
            f"takes {list(record.parameters)}" if record.parameters else "takes no parameters; leave metric_params=None"
        )
        raise ValueError(
            f"metric_params={dict(metric_params)!r}: metric={metric!r} does not know {unknown}; it {takes}"
        )
    return metric, metric_params


def _record_of(metric: Any) -> Dissimilarity:
    if callable(metric):
        return DISSIMILARITIES["callable"]
    if isinstance(metric, str) and metric == "callable":
        raise ValueError("metric='callable' stands for functions; pass the function itself, metric=function")
    if isinstance(metric, str) and metric in DISSIMILARITIES:
        return DISSIMILARITIES[metric]
    names = ["auto", *sorted(DISSIMILARITIES.keys() - {"callable"})]
    raise ValueError(
        f"metric={metric!r} is not known{did_you_mean(metric, names)}; choose one of {names}, pass a function of two "
        "objects, or compute the dissimilarities yourself and pass them with metric='precomputed'"
    )
