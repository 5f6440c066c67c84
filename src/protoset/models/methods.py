"""From the name of a method and its parameters to a selector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Self

import numpy as np

from protoset._validation import did_you_mean
from protoset.models.preparation import Preparation, check_parameters
from protoset.selectors import BaseSelector, NeighborSearch, Refined, all_selectors
from protoset.selectors.allocation import resolve_size

REFINED = "refined REPS"
"""Name of REPS whose set is improved by swaps; "refined" for short."""

RUN_PARAMETERS = ("metric", "metric_params", "n_jobs", "random_state", "verbose", "callback")
"""Parameters of selectors that say how a method is run, not what it is."""

REFINED_PARAMETERS = ("steepness", "n_starts", "max_objects", "max_time")
"""Parameters of the refinement of a set."""

RENAMED_PARAMETERS = {
    "score": "reading",
    "neighbors": "search",
    "n_neighbors": "search__n_neighbors",
    "max_memory": "search__max_memory",
    "lists_folder": "search__folder",
}
"""Old names of parameters of REPS, each with its new name."""

UNSEEDED = ("CNN", "REPS")
"""Methods that take a random_state, and are deterministic without one."""


@dataclass(frozen=True)
class MethodSpec:
    """A method and its parameters, without data.

    Attributes
    ----------
    selector : str
        A name in ``protoset.selectors.all_selectors()``.
    parameters : dict
        Parameters of the selector. ``search__n_neighbors`` and the like are those of its ``NeighborSearch``.
    refined : bool
        Whether the set of the selector is refined.
    """

    selector: str
    parameters: dict[str, Any] = field(default_factory=dict)
    refined: bool = False

    @property
    def name(self) -> str:
        """Name in tables, such as "REPS" or "refined REPS"."""
        return f"refined {self.selector}" if self.refined else self.selector

    @property
    def randomised(self) -> bool:
        """Whether the method always draws at random, so that it needs a seed."""
        return self.selector not in UNSEEDED and "random_state" in _parameters(self.selector)

    @property
    def parameter_names(self) -> list[str]:
        """Names of all parameters that the method can have."""
        names = [name for name in _parameters(self.selector) if name not in RUN_PARAMETERS]
        names += [f"search__{name}" for name in NeighborSearch().get_params() if name != "kind" and "search" in names]
        return names + [name for name in REFINED_PARAMETERS if self.refined and name not in names]

    @property
    def refined_parameters(self) -> dict[str, Any]:
        """The parameters of the refinement: those that the selector does not have itself."""
        own = _parameters(self.selector)
        return {name: self.parameters[name] for name in REFINED_PARAMETERS if name in self.parameters.keys() - set(own)}

    def check(self) -> Self:
        """Refuse wrong values of parameters, without data."""
        self.build()._check_parameters()
        return self

    def check_size(self, class_sizes: np.ndarray) -> None:
        """Refuse a number of prototypes that a training set with these classes cannot have."""
        size = self.parameters.get("n_prototypes", "auto")
        if not isinstance(size, str):
            allocation = replace(self, refined=False).build().get_params().get("allocation", "global")
            resolve_size(size, class_sizes, allocation)

    def build(
        self,
        preparation: Preparation | None = None,
        *,
        random_state: int | None = None,
        n_jobs: int | None = None,
        callback: Callable[[Any], Any] | None = None,
    ) -> BaseSelector:
        """Make the selector.

        Parameters
        ----------
        preparation : Preparation, optional
            Gives the metric. Leave it out for a selector that is fitted on a space.
        random_state : int, optional
            For methods that take a random_state.
        n_jobs : int, optional
        callback : callable, optional
            For methods that report their progress.
        """
        names = _parameters(self.selector)
        run: dict[str, Any] = {"random_state": random_state, "callback": callback, "n_jobs": n_jobs}
        arguments = {name: value for name, value in run.items() if name in names}
        arguments |= {name: value for name, value in self.parameters.items() if name not in self.refined_parameters}
        search = {name.removeprefix("search__"): arguments.pop(name) for name in [*arguments] if "search__" in name}
        if search:
            arguments["search"] = NeighborSearch(arguments.get("search", "auto"), **search)
        arguments["metric"] = "auto"
        if preparation is not None:
            arguments |= {"metric": preparation.metric, "metric_params": preparation.metric_params or None}
        selector = selector_classes()[self.selector](**arguments)
        return Refined(selector, **self.refined_parameters, **run) if self.refined else selector


def explain_unknown(selector: str, name: str, names: Sequence[str]) -> str:
    """Describe a parameter that a method does not have: its new name, or names that are close."""
    if selector == "REPS" and name in RENAMED_PARAMETERS:
        return f"{selector} has no parameter {name!r} any more; write {RENAMED_PARAMETERS[name]!r}"
    if selector == "REPS" and name in ("refine", *REFINED_PARAMETERS):
        return f"REPS has no parameter {name!r}; method='refined' refines its set, with {list(REFINED_PARAMETERS)}"
    return f"{selector} has no parameter {name!r}{did_you_mean(name, names)}; it has {list(names)}"


@cache
def _parameters(selector: str) -> tuple[str, ...]:
    return tuple(selector_classes()[selector]().get_params(deep=False))


@cache
def selector_classes() -> dict[str, type[BaseSelector]]:
    """Return all selectors by name."""
    return dict(all_selectors())


def find_method(
    name: str,
    *,
    n_prototypes: int | float | str = "auto",
    parameters: Mapping[str, Any] | None = None,
    others: Sequence[str] = (),
) -> MethodSpec:
    """Find a method by its name; upper and lower case do not matter.

    Parameters
    ----------
    name : str
        Name of a selector, such as "REPS" for the paper's method; "refined" or "refined REPS" for REPS with a refined
        set.
    n_prototypes, parameters
        As in :func:`fit_model`.
    others : sequence of str
        Further names that the caller accepts, for the error message.

    Returns
    -------
    MethodSpec
    """
    names = {key.lower(): MethodSpec(key) for key in selector_classes()}
    names["refined"] = names[REFINED.lower()] = MethodSpec("REPS", refined=True)
    method = names.get(str(name).strip().lower())
    if method is None:
        choices = [*others, "refined", *selector_classes()]
        raise ValueError(f"method={name!r} is not known{did_you_mean(name, choices)}; choose one of {choices}")
    takes = [parameter for parameter in method.parameter_names if parameter != "n_prototypes"]
    given = check_parameters("parameters", parameters)
    for parameter in given:
        if parameter not in takes:
            raise ValueError(explain_unknown(method.selector, parameter, takes))
    if not (isinstance(n_prototypes, str) and n_prototypes == "auto"):
        if "n_prototypes" not in method.parameter_names:
            raise ValueError(
                f"n_prototypes={n_prototypes!r}: {method.selector} chooses its size itself; use 'auto', or another "
                "method"
            )
        given["n_prototypes"] = n_prototypes
    return MethodSpec(method.selector, given, method.refined).check()
