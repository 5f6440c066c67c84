"""From the name of a method and its parameters to a selector, and to the moves of its prototypes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, Self

import numpy as np

from protoset._validation import did_you_mean
from protoset.adaptation import AdaptSettings
from protoset.adaptation.checks import check_movable
from protoset.classifier import PrototypeClassifier
from protoset.decisions import RuleName
from protoset.models.preparation import Preparation, check_parameters
from protoset.selectors import BaseSelector, NeighborSearch, Refined, all_selectors
from protoset.selectors.allocation import resolve_size

REFINED = "refined REPS"
"""Name of REPS whose set is improved by swaps; "refined" for short."""

ADAPTED = "adapted REPS"
"""Name of refined REPS whose prototypes then move; "adapted" for short."""

RUN_PARAMETERS = ("metric", "metric_params", "n_jobs", "random_state", "verbose", "callback")
"""Parameters of selectors that a run sets, such as the metric and the seed; they are not part of a method."""

REFINED_PARAMETERS = ("steepness", "n_starts", "max_objects", "max_time")
"""Parameters of the refinement of a set."""

ADAPTED_PARAMETERS = {"relevances": "relevances", "n_passes": "n_passes", "step": "step", "adapt__loss": "loss"}
"""Parameters of the moves, each with its name in ``protoset.adapt``; ``loss`` alone is a parameter of REPS."""

Adapt = Literal["auto"] | bool | dict[str, Any]
"""Whether and how prototypes move; see :func:`fit_model`."""

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
        Parameters of the selector. ``search__n_neighbors`` sets a parameter of its ``NeighborSearch``.
    refined : bool
        Whether the set of the selector is refined.
    adapted : bool
        Whether the prototypes then move; see ``protoset.adapt``.
    """

    selector: str
    parameters: dict[str, Any] = field(default_factory=dict)
    refined: bool = False
    adapted: bool = False

    @property
    def name(self) -> str:
        """Name in tables, such as "REPS", "refined REPS" or "adapted REPS", which is also refined."""
        if self.adapted and self.selector == "REPS":
            return ADAPTED if self.refined else "adapted unrefined REPS"
        return ("adapted " if self.adapted else "") + ("refined " if self.refined else "") + self.selector

    @property
    def randomised(self) -> bool:
        """Whether the method always draws at random, so that it needs a seed."""
        return self.selector not in UNSEEDED and "random_state" in _parameters(self.selector)

    @property
    def parameter_names(self) -> list[str]:
        """Names of all parameters that the method can have."""
        names = [name for name in _parameters(self.selector) if name not in RUN_PARAMETERS]
        names += [f"search__{name}" for name in NeighborSearch().get_params() if name != "kind" and "search" in names]
        names += [name for name in REFINED_PARAMETERS if self.refined and name not in names]
        return names + [name for name in ADAPTED_PARAMETERS if self.adapted]

    @property
    def refined_parameters(self) -> dict[str, Any]:
        """The parameters of the refinement, which the selector itself does not have."""
        own = _parameters(self.selector)
        return {name: self.parameters[name] for name in REFINED_PARAMETERS if name in self.parameters.keys() - set(own)}

    @property
    def moves(self) -> dict[str, Any] | None:
        """Value of ``adapt`` for a ``PrototypeClassifier``; None if the prototypes do not move."""
        if not self.adapted:
            return None
        given = self.parameters
        return {argument: given[name] for name, argument in ADAPTED_PARAMETERS.items() if name in given}

    def check(self) -> Self:
        """Raise an error for wrong parameter values, before there are data."""
        self.build()._check_parameters()
        if self.moves is not None:
            AdaptSettings(**self.moves).checked()
        return self

    def check_size(self, class_sizes: np.ndarray) -> None:
        """Raise an error for a number of prototypes that a training set with these classes cannot have."""
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
        """Make the selector. It does not move prototypes; see ``moves``.

        Parameters
        ----------
        preparation : Preparation, optional
            Sets the metric. Leave it out for a selector that is fitted on a space.
        random_state : int, optional
            For methods that take a random_state.
        n_jobs : int, optional
        callback : callable, optional
            For methods that report their progress.
        """
        names = _parameters(self.selector)
        run: dict[str, Any] = {"random_state": random_state, "callback": callback, "n_jobs": n_jobs}
        arguments = {name: value for name, value in run.items() if name in names}
        later = {*self.refined_parameters, *ADAPTED_PARAMETERS}
        arguments |= {name: value for name, value in self.parameters.items() if name not in later}
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
    if name in ("adapt", *ADAPTED_PARAMETERS):
        taken = list(ADAPTED_PARAMETERS)
        return f"{selector} has no parameter {name!r}; method='adapted' moves the prototypes of REPS, with {taken}"
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
        set; "adapted" or "adapted REPS" for refined REPS whose prototypes then move.
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
    names["adapted"] = names[ADAPTED.lower()] = MethodSpec("REPS", refined=True, adapted=True)
    method = names.get(str(name).strip().lower())
    if method is None:
        choices = [*others, "adapted", "refined", *selector_classes()]
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
    return replace(method, parameters=given).check()


def with_moves(
    spec: MethodSpec, adapt: Adapt, preparation: Preparation, objects: Any, *, rule: RuleName = "nearest"
) -> MethodSpec:
    """Return a method with the moves that ``adapt`` asks for on the objects of a data set.

    Parameters
    ----------
    spec : MethodSpec
    adapt : {"auto", True, False} or dict
        "auto" moves the prototypes of refined REPS where the objects can move, and of no other method. True and a dict
        of parameters of the moves do so for every method.
    preparation : Preparation
        Prepares the objects.
    objects : objects of a data set
    rule : {"nearest", "adjusted", "scores", "auto"}
        With "adjusted", "auto" moves nothing.

    Returns
    -------
    MethodSpec
    """
    PrototypeClassifier(rule=rule, adapt=adapt)._check_parameters()
    if isinstance(adapt, str):
        is_default = spec.refined and spec.selector == "REPS" and rule != "adjusted"
        if not spec.adapted:
            return replace(spec, adapted=is_default and preparation.movable_space(objects) is not None)
    elif not isinstance(adapt, dict) and not adapt:
        if spec.adapted:
            raise ValueError(f"adapt={adapt!r} and method={spec.name!r} exclude each other; use method='refined'")
        return spec
    if preparation.movable_space(objects) is None:
        check_movable(preparation.space(objects))
    names = {argument: name for name, argument in ADAPTED_PARAMETERS.items()}
    given = adapt if isinstance(adapt, dict) else {}
    own = {names[argument]: value for argument, value in given.items() if argument in names}
    return replace(spec, adapted=True, parameters=spec.parameters | own)
