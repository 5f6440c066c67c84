"""The studies of the paper as plans.

A study has one or more plans, each with its own journal. Slow methods have plans of their own, so that they can be left
out and added later. The plans are TOML files in ``plans``; users can copy and change them.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from protoset._validation import check_choice
from protoset.models.preparation import SCALINGS, Scaling

SLOW_METHODS = ("SSMA", "RMHC")
"""Methods that can be left out of a run."""


@dataclass(frozen=True)
class Study:
    """A study of the paper; the plan of a slow method ends with the method's name.

    If ``scaled``, users can choose the scaling of the attributes.
    """

    name: str
    title: str
    plans: tuple[str, ...]
    scaled: bool = False


STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        Study("vectors", "vector data", ("vectors", "vectors-ssma", "vectors-rmhc"), scaled=True),
        Study("series", "time series, DTW with a radius of 5", ("series",)),
        Study("windows", "time series, wider windows", ("windows",)),
        Study("sensitivity", "sensitivity to beta and C", ("sensitivity",), scaled=True),
        Study("mixture", "the paper's mixture of distances", ("mixture", "mixture-ssma", "mixture-rmhc")),
    )
}
"""The studies of the paper, by name."""

REPS_OF_MIXTURE = "mixture-reps"
"""Second plan of the mixture, made from the rates that the first plan measured."""


def plan_document(name: str, *, scaling: Scaling = "z", data: Sequence[str] | None = None) -> dict[str, Any]:
    """Return a plan of the package as a dict.

    Parameters
    ----------
    name : str
        For example "vectors" or "vectors-ssma".
    scaling : {"z", "minmax", "raw"}
        Scaling of the attributes, in the studies with that option.
    data : sequence of str, optional
        Keep only these data sets.

    Returns
    -------
    dict
        For :func:`protoset.experiments.read_plan`.
    """
    check_choice("name", name, plan_names())
    check_choice("scaling", scaling, SCALINGS)
    document = tomllib.loads((files("protoset.paper") / "plans" / f"{name}.toml").read_text("utf-8"))
    if is_scaled(name):
        document["distances"] = [{"scaling": scaling, "nominal": "index"}]
    return document if data is None else with_data(document, data)


def with_data(document: Mapping[str, Any], data: Sequence[str]) -> dict[str, Any]:
    """Return a copy of a plan with only these data sets."""
    smaller = copy.deepcopy(dict(document))
    smaller["data"] = [name for name in document["data"] if name in data]
    for method in smaller["methods"]:
        for rates in method["rates"].values() if isinstance(method.get("rates"), dict) else ():
            for name in [name for name in rates if name not in smaller["data"]]:
                del rates[name]
    return smaller


def plan_names() -> tuple[str, ...]:
    """Names of all plans of the package."""
    return tuple(plan for study in STUDIES.values() for plan in study.plans)


def is_scaled(plan: str) -> bool:
    """Whether users can choose the scaling of a plan."""
    return any(plan in study.plans and study.scaled for study in STUDIES.values())


def journal_of(output: Path, plan: str, scaling: str) -> Path:
    """Return the path of a plan's journal."""
    return output / f"{plan}{f'-{scaling}' if is_scaled(plan) else ''}.sqlite"


def mixture_document(rates: Mapping[str, Mapping[str, float]], data: Sequence[str]) -> dict[str, Any]:
    """Return the second plan of the mixture: REPS on z-scored attributes at the baselines' measured rates.

    ``rates`` has, by label of the baseline, its selection rate on each data set.
    """
    vectors = plan_document("vectors", data=data)
    plain: list[dict[str, Any]] = [
        {"method": "REPS", "rates": {label: dict(by_data)}} for label, by_data in rates.items()
    ]
    refined = [entry | {"label": "refined REPS", "refine": True} for entry in plain]
    return {
        "name": REPS_OF_MIXTURE,
        "folds": vectors["folds"],
        "order": vectors["order"],
        "distances": [{"scaling": "z", "nominal": "index"}],
        "data": vectors["data"],
        "methods": plain + refined,
    }
