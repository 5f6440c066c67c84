"""Spaces: dissimilarities between objects of one kind, behind one interface.

A space registers its dissimilarities by listing them in ``METRICS`` of its module.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from protoset._validation import did_you_mean
from protoset.spaces._approximate import APPROXIMATE_FROM, LEAST_RECALL, RECALL_WARNING, approximate_library
from protoset.spaces._counting import CountedSpace
from protoset.spaces._lists import RawLists, SearchCounters, smallest_of
from protoset.spaces._nearest_so_far import NearestSoFar
from protoset.spaces.automatic import choose_metric
from protoset.spaces.base import Dissimilarity, Rows, Space, TrainingSpace
from protoset.spaces.distributed_vectors import DistributedVectorSpace

__all__ = [
    "APPROXIMATE_FROM",
    "DISSIMILARITIES",
    "LEAST_RECALL",
    "RECALL_WARNING",
    "CountedSpace",
    "Dissimilarity",
    "NearestSoFar",
    "RawLists",
    "Rows",
    "SearchCounters",
    "Space",
    "TrainingSpace",
    "approximate_library",
    "choose_metric",
    "make_space",
    "smallest_of",
]


def _registered() -> dict[str, Dissimilarity]:
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {record.name: record for module in modules for record in getattr(module, "METRICS", ())}


DISSIMILARITIES: dict[str, Dissimilarity] = _registered()
"""Every named dissimilarity."""


def make_space(
    X: Any,
    metric: Any = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    *,
    y: Any = None,
    client: Any = None,
) -> Space:
    """Make the space of a training set.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix or list
        The training objects, of the kind that the metric takes.
    metric : str or callable
        A name in ``DISSIMILARITIES``, a function of two objects, or "auto" (see ``choose_metric``).
    metric_params : dict, optional
        Arguments of the metric.
    y : array-like, optional
        The labels, for dissimilarities that learn from them.
    client : distributed.Client, optional
        Dask client whose workers hold the objects and compare them: vectors under metrics that learn nothing.

    Returns
    -------
    Space
    """
    metric = choose_metric(X) if isinstance(metric, str) and metric == "auto" else metric
    record, metric_params = _record_of(metric), {} if metric_params is None else metric_params
    if not isinstance(metric_params, Mapping):
        raise TypeError(f"metric_params={metric_params!r} must be a dict of the metric's arguments, or None")
    if callable(metric) and client is not None:
        raise ValueError("metric=function does not work on a Dask client yet; compute here, without client=")
    if callable(metric):
        return record.space.from_objects(X, metric, metric_params, y)
    unknown = [name for name in metric_params if name not in record.parameters]
    if unknown:
        takes = (
            f"takes {list(record.parameters)}" if record.parameters else "takes no parameters; leave metric_params=None"
        )
        raise ValueError(
            f"metric_params={dict(metric_params)!r}: metric={metric!r} does not know {unknown}; it {takes}"
        )
    if client is not None:
        return DistributedVectorSpace.from_objects(X, metric, metric_params, y, client)
    return record.space.from_objects(X, metric, metric_params, y)


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
