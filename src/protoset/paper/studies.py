"""The studies of the paper as plans.

A study is one plan or several, a journal each: what takes long has a plan of its own, so that it can be left out and
added later. The plans are TOML files in ``plans``, to be copied and changed.
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
from protoset.experiments.plan import SCALINGS, Scaling

SLOW = ("SSMA", "RMHC")
"""Methods that take long, and can be left out."""


@dataclass(frozen=True)
class Study:
    """A part of the paper.

    Attributes
    ----------
    name : str
    title : str
    plans : tuple of str
        Names of its plans; those of the slow methods end with their names.
    scaled : bool
        Whether the scaling of attributes is an option of it.
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

REPS_OF_MIXTURE = "mixture-reps"
"""Second half of the mixture: its plan is made from the rates that the first half measured."""


def plan_document(name: str, *, scaling: Scaling = "z", data: Sequence[str] | None = None) -> dict[str, Any]:
    """Return a plan of the package as a dict.

    Parameters
    ----------
    name : str
        Such as "vectors" or "vectors-ssma".
    scaling : {"z", "minmax", "raw"}
        Of the attributes, in the studies where it is an option.
    data : sequence of str, optional
        Only these of its data sets.

    Returns
    -------
    dict
        For :func:`protoset.experiments.read_plan`.
    """
    check_choice("name", name, plan_names())
    check_choice("scaling", scaling, SCALINGS)
    document = tomllib.loads((files("protoset.paper") / "plans" / f"{name}.toml").read_text("utf-8"))
    if is_scaled(name):
        document["distances"] = [scaling]
    return document if data is None else with_data(document, data)


def with_data(document: Mapping[str, Any], data: Sequence[str]) -> dict[str, Any]:
    """Return a plan with some of its data sets."""
    found = copy.deepcopy(dict(document))
    found["data"] = [name for name in document["data"] if name in data]
    for method in found["methods"]:
        for rates in method["rates"].values() if isinstance(method.get("rates"), dict) else ():
            for name in [name for name in rates if name not in found["data"]]:
                del rates[name]
    return found


def plan_names() -> tuple[str, ...]:
    """Names of all plans of the package."""
    return tuple(plan for study in STUDIES.values() for plan in study.plans)


def study_of(plan: str) -> Study:
    """Return the study that a plan belongs to."""
    return next(study for study in STUDIES.values() if plan in study.plans)


def is_scaled(plan: str) -> bool:
    """Whether the scaling is an option of a plan."""
    return study_of(plan).scaled


def journal_of(output: Path, plan: str, scaling: str) -> Path:
    """Return where the results of a plan are."""
    scaled = plan != REPS_OF_MIXTURE and is_scaled(plan)
    return output / f"{plan}{f'-{scaling}' if scaled else ''}.sqlite"


def mixture_document(rates: Mapping[str, Mapping[str, float]], data: Sequence[str]) -> dict[str, Any]:
    """Return the second half of the mixture: REPS on z-scored attributes at the baselines' measured rates.

    Parameters
    ----------
    rates : dict of str to dict
        Selection rate on each data set, by the label of the baseline.
    data : sequence of str
    """
    vectors = plan_document("vectors", data=data)
    given: list[dict[str, Any]] = [
        {"method": "REPS", "rates": {label: dict(by_data)}} for label, by_data in rates.items()
    ]
    refined = [entry | {"label": "refined REPS", "refine": True} for entry in given]
    return {
        "name": REPS_OF_MIXTURE,
        "folds": vectors["folds"],
        "distances": ["z"],
        "data": vectors["data"],
        "methods": given + refined,
    }
