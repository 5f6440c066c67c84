"""Spaces: dissimilarities between objects of one kind, behind one interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protoset._validation import did_you_mean
from protoset.spaces.base import RawLists, Rows, Space
from protoset.spaces.precomputed import PrecomputedSpace
from protoset.spaces.vectors import VectorSpace

__all__ = ["SPACES", "PrecomputedSpace", "RawLists", "Rows", "Space", "VectorSpace", "make_space"]

SPACES: dict[str, type[Space]] = {space.metric: space for space in (VectorSpace, PrecomputedSpace)}
"""Every known dissimilarity by its name."""


def make_space(X: Any, metric: str = "euclidean", metric_params: dict[str, Any] | None = None) -> Space:
    """Make the space of a training set.

    Parameters
    ----------
    X : array-like or sparse matrix
        The training objects, of the kind that the metric takes.
    metric : str
        A name in ``SPACES``.
    metric_params : dict, optional
        Arguments of the metric.

    Returns
    -------
    Space
    """
    if not isinstance(metric, str) or metric not in SPACES:
        raise ValueError(
            f"metric={metric!r} is not known{did_you_mean(metric, SPACES)}; choose one of {sorted(SPACES)}, "
            "or compute the dissimilarities yourself and pass them with metric='precomputed'"
        )
    space, metric_params = SPACES[metric], {} if metric_params is None else metric_params
    if not isinstance(metric_params, Mapping):
        raise TypeError(f"metric_params={metric_params!r} must be a dict of the metric's arguments, or None")
    unknown = [name for name in metric_params if name not in space.parameters]
    if unknown:
        takes = (
            f"takes {list(space.parameters)}" if space.parameters else "takes no parameters; leave metric_params=None"
        )
        raise ValueError(f"metric_params={metric_params!r}: metric={metric!r} does not know {unknown}; it {takes}")
    return space.from_objects(X, **metric_params)
