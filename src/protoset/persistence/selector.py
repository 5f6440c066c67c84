"""Selectors and their parameters as JSON values."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import isabstract
from typing import Any

import numpy as np

from protoset import selectors
from protoset.selectors import BaseSelector, NeighborSearch
from protoset.spaces.callables import name_of


def describe_selector(estimator: Any) -> dict[str, Any] | None:
    """Describe a selector, or a part of it, by its name and plain parameters."""
    if estimator is None:
        return None
    name = type(estimator).__name__
    if getattr(selectors, name, None) is not type(estimator):
        raise TypeError(f"selector={name} is not one of protoset's own and cannot be written without pickle")
    return {"name": name, "parameters": {key: _plain(estimator, key) for key in estimator.get_params(deep=False)}}


def _plain(estimator: Any, key: str) -> Any:
    """Return a parameter as a value that JSON has. Folders and function bodies stay on this machine."""
    value = getattr(estimator, key)
    if isinstance(value, (BaseSelector, NeighborSearch)):
        return describe_selector(value)
    value = value.item() if isinstance(value, np.generic) else value
    if key == "folder" or (key == "random_state" and not isinstance(value, int)):
        return None
    if key == "metric" and callable(value):
        return {"callable": name_of(value)}
    if key == "metric_params" and value is not None and callable(estimator.metric):
        value = {name: argument for name, argument in value.items() if name != "memory"}
    try:
        json.dumps(value)
    except TypeError as error:
        raise TypeError(
            f"{type(estimator).__name__}({key}={value!r}) cannot be written without pickle; use plain numbers, "
            "strings and lists"
        ) from error
    return value


def restore_selector(described: dict[str, Any] | None, function: Callable[..., float] | None) -> BaseSelector | None:
    """Make the selector that ``describe_selector`` described."""
    if described is None:
        return None
    selector = _restore_estimator(described, function)
    if not isinstance(selector, BaseSelector):
        raise ValueError(f"selector {described['name']!r} is not known")
    selector._check_parameters()
    return selector


def _restore_estimator(described: dict[str, Any], function: Callable[..., float] | None) -> Any:
    kind = getattr(selectors, str(described["name"]))
    if not (isinstance(kind, type) and issubclass(kind, (BaseSelector, NeighborSearch))) or isabstract(kind):
        raise ValueError(f"selector {described['name']!r} is not known")
    parameters = dict(described["parameters"])
    for key in ("selector", "search"):
        if isinstance(parameters.get(key), dict):
            parameters[key] = _restore_estimator(parameters[key], function)
    if isinstance(parameters.get("metric"), dict):
        if function is None:
            raise ValueError("its selector has a function as metric, its prototypes have none")
        parameters["metric"] = function
    return kind(**parameters)
