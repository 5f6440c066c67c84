"""Reading plans: one TOML file, or a dict of the same shape.

name = "..."                              optional
data = ["iris", {path, target, name}]
methods = ["SSMA", "refined", "adapted", {method, label, at, rates, seeds, refine, adapt, and parameters of the method}]
folds = 5 | "default" | {n, seed, stratified}
order = "content" | "rows"                how objects are assigned to folds
seeds = [0, 1] | "fold"                   for randomised methods
distances = ["z", {metric, scaling, nominal, and parameters of the metric}]

A list of values is a grid: one variant per value. A plan with more than ``MOST_CELLS`` cells is refused before the
cells are made.
"""

from __future__ import annotations

import itertools
import math
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from protoset._validation import LARGEST_SEED, did_you_mean, is_count, is_number
from protoset.exceptions import PlanError
from protoset.experiments.plan import (
    GUESS,
    ORDERS,
    PER_FOLD,
    REFERENCES,
    Distance,
    Folds,
    Order,
    Plan,
    PlannedMethod,
    Source,
    repeated,
)
from protoset.models import MethodSpec
from protoset.models.methods import ADAPTED, REFINED, RENAMED_PARAMETERS, selector_classes
from protoset.models.preparation import NOMINALS, SCALINGS
from protoset.spaces import DISSIMILARITIES

PLAN_KEYS = ("name", "data", "methods", "folds", "order", "seeds", "distances")
"""Keys of a plan."""

MOST_CELLS = 200_000
"""Largest number of cells in a plan."""

DEEPEST_PLAN = 8
"""Largest number of nested lists and tables in a plan. The deepest key, a rate for a data set, is at level 5."""

METHOD_KEYS = ("method", "label", "at", "rates", "seeds", "refine", "adapt")
"""Keys of a method, besides its parameters."""

FINISHES = ("refine", "adapt")
"""Keys that say how the set of a method is changed."""

NOT_FOR_PLANS = {
    "metric": "distances say how objects are compared",
    "metric_params": "distances say how objects are compared",
    "random_state": "seeds = [...] says what randomised methods are repeated with",
    "n_jobs": "the call that runs the plan takes n_jobs",
    "verbose": "the call that runs the plan takes verbose",
    "callback": "the call that runs the plan takes callback",
}
"""Parameters of selectors that plans refuse, with the reason."""


def read_plan(source: str | os.PathLike[str] | Mapping[str, Any] | Plan) -> Plan:
    """Read a plan.

    Parameters
    ----------
    source : path-like or dict
        A TOML file, or a dict with the same keys. A :class:`Plan` is returned unchanged.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from protoset.experiments import read_plan
    >>> plan = read_plan({"data": ["iris"], "methods": ["NoPS", {"method": "FCNN", "n_neighbors": [1, 2]}]})
    >>> [method.label for method in plan.methods]
    ['NoPS', 'FCNN(n_neighbors=1)', 'FCNN(n_neighbors=2)']
    >>> len(plan.cells)
    15
    """
    if isinstance(source, Plan):
        return source
    if isinstance(source, Mapping):
        return parse_plan(dict(source), "the plan", Path.cwd())
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"plan={source!r} is not a plan; pass the path of a TOML file, or a dict with the same keys")
    path = Path(source)
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise PlanError(f"cannot read the plan {os.fspath(path)!r}: {error.strerror}; pass a TOML file") from error
    except (ValueError, RecursionError) as error:
        raise PlanError(f"{path}: not TOML: {error}") from error
    return parse_plan(document, str(path), path.resolve().parent)


def parse_plan(document: dict[str, Any], origin: str, folder: Path) -> Plan:
    """Make a plan of a dict; ``origin`` names it in errors."""
    reader = _Reader(origin)
    document = reader.plain(document)
    reader.only("", document, PLAN_KEYS)
    for key in ("data", "methods"):
        if key not in document:
            reader.fail(key, "is missing; a plan names its data and methods")
    name = document.get("name", "")
    if not isinstance(name, str):
        reader.fail("name", f"is {name!r}; expected a text")
    data = [reader.source(key, entry) for key, entry in reader.entries("data", document["data"])]
    names = [source.name for source in data]
    reader.refuse_repeated("data", names)
    order = reader.choice("order", document.get("order", "content"), ORDERS)
    folds = reader.folds(document.get("folds", {}), order)  # type: ignore[arg-type]
    n_cells = reader.check_cells(len(data) * folds.count)
    given = reader.entries("distances", document.get("distances", [{}]))
    distances = [distance for key, entry in given for distance in reader.distances(key, entry, n_cells)]
    reader.refuse_repeated("distances", [distance.label for distance in distances])
    n_cells = reader.check_cells(n_cells * len(distances))
    seeds = reader.seeds("seeds", document.get("seeds", [0]))
    entries = reader.entries("methods", document["methods"])
    methods = [method for key, entry in entries for method in reader.methods(key, entry, seeds, names, n_cells)]
    methods = reader.with_references(methods, n_cells)
    reader.refuse_repeated("methods", [method.label for method in methods])
    plan = Plan(name, tuple(data), tuple(distances), folds, tuple(methods), document, folder)
    reader.check_cells(plan.n_cells)
    twice = repeated([cell.id for cell in plan.cells])
    if twice:
        same = [cell for cell in plan.cells if cell.id == twice[0]]
        reader.fail("methods", f"has {same[0].method!r} twice (also as {same[1].method!r}); remove one")
    return plan


class _Reader:
    """Reads parts of a plan; ``origin`` names the file in errors."""

    def __init__(self, origin: str):
        self._origin = origin

    def fail(self, key: str, message: str) -> NoReturn:
        raise PlanError(f"{self._origin}: {key}{' ' if key else ''}{message}")

    def plain(self, value: Any, key: str = "", depth: int = 0) -> Any:
        """Return a document with plain values only, as TOML and JSON have them."""
        if depth > DEEPEST_PLAN:
            self.fail(key, "is nested too deeply; the page 'Experiments' of the documentation has the keys of a plan")
        if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
            inner = {name: f"{key}.{name}" if key else name for name in value}
            return {name: self.plain(value[name], path, depth + 1) for name, path in inner.items()}
        if isinstance(value, (list, tuple)):
            return [self.plain(item, f"{key}[{position}]", depth + 1) for position, item in enumerate(value)]
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, (str, bool, float)) or (is_count(value) and -(2**63) <= value < 2**63):
            return value
        self.fail(key, f"is {value!r}; expected a text, a number of at most 64 bits, true, false, a list or a table")

    def check_cells(self, count: int) -> int:
        """Refuse a plan with too many cells; ``count`` is a lower bound of their number."""
        if count > MOST_CELLS:
            self.fail(
                "",
                f"data x distances x folds x methods x seeds make at least {count:,} cells, and a plan may have at "
                f"most {MOST_CELLS:,}; divide it into several plans",
            )
        return count

    def only(self, entry: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in table:
            if key not in known:
                where = f"{entry}: " if entry else ""
                self.fail("", f"{where}the key {key!r} is not known{did_you_mean(key, known)}; known are {list(known)}")

    def choice(self, key: str, value: Any, choices: Iterable[str]) -> str:
        if isinstance(value, str) and value in choices:
            return value
        self.fail(key, f"is {value!r}, which is not known{did_you_mean(value, choices)}; known are {sorted(choices)}")

    def entries(self, key: str, value: Any) -> list[tuple[str, Any]]:
        if not isinstance(value, (list, tuple)) or not value:
            self.fail(key, f"is {value!r}; expected a list with at least one entry")
        return [(f"{key}[{position}]", entry) for position, entry in enumerate(value)]

    def refuse_repeated(self, key: str, labels: list[str]) -> None:
        if repeated(labels):
            self.fail(key, f"has {repeated(labels)[0]!r} twice; remove one, or give it another name")

    def source(self, key: str, entry: Any) -> Source:
        if isinstance(entry, str) and entry:
            return Source(entry)
        if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
            self.fail(key, f"is {entry!r}; expected a name, or a table with the path of a file and its target")
        self.only(key, entry, ("path", "target", "name"))
        path, target, name = entry["path"], entry.get("target"), entry.get("name", Path(entry["path"]).stem)
        if not isinstance(name, str) or not name:
            self.fail(f"{key}.name", f"is {name!r}; expected a text")
        if target is not None and not (isinstance(target, str) or is_count(target)):
            self.fail(f"{key}.target", f"is {target!r}; expected the name or position of a column")
        return Source(name, path, target)

    def folds(self, value: Any, order: Order) -> Folds:
        if value == "default":
            return Folds(None)
        value = {"n": value} if is_count(value) else value
        if not isinstance(value, dict):
            self.fail("folds", f"is {value!r}; expected a number, 'default', or a table with n, seed, stratified")
        self.only("folds", value, ("n", "seed", "stratified"))
        folds = Folds(**value, order=order)
        if not is_count(folds.n) or folds.n < 2:  # type: ignore[operator]
            self.fail("folds.n", f"is {folds.n!r}; expected a whole number of at least 2, or folds = 'default'")
        if not is_count(folds.seed) or not 0 <= folds.seed <= LARGEST_SEED:
            self.fail("folds.seed", f"is {folds.seed!r}; expected a whole number from 0 to {LARGEST_SEED}")
        if not isinstance(folds.stratified, bool):
            self.fail("folds.stratified", f"is {folds.stratified!r}; expected true or false")
        return folds

    def seeds(self, key: str, value: Any) -> tuple[int, ...] | Any:
        if value == PER_FOLD:
            return value
        if not isinstance(value, (list, tuple)) or not all(
            is_count(seed) and 0 <= seed <= LARGEST_SEED for seed in value
        ):
            self.fail(key, f"is {value!r}; expected a list of whole numbers from 0 to {LARGEST_SEED}, or 'fold'")
        if not value or len(set(value)) < len(value):
            self.fail(key, f"is {value!r}; expected at least one seed, and each once")
        return tuple(int(seed) for seed in value)

    def methods(self, key: str, entry: Any, seeds: Any, data: list[str], n_cells: int) -> list[PlannedMethod]:
        """Read the variants of a method; each variant has at least ``n_cells`` cells."""
        entry = {"method": entry} if isinstance(entry, str) else entry
        if not isinstance(entry, dict) or "method" not in entry:
            self.fail(key, f"is {entry!r}; expected the name of a method, or a table with the key 'method'")
        short = {"refined": REFINED, "adapted": ADAPTED}
        known = [*REFERENCES, *short, *short.values(), *selector_classes()]
        title = self.choice(f"{key}.method", entry["method"], known)
        full_name = short.get(title, title)
        name = "REPS" if full_name in short.values() else title
        # The names "refined" and "adapted" already say how the set is changed.
        refine = [True] if name != title else self._flags(key, entry, "refine")
        adapt = [full_name == ADAPTED] if name != title else self._flags(key, entry, "adapt")
        for parameter in entry.keys() & NOT_FOR_PLANS.keys():
            self.fail(f"{key}.{parameter}", f"is not for plans: {NOT_FOR_PLANS[parameter]}")
        if name in REFERENCES:
            self.only(f"{key} ({title})", entry, ["method"])
            return [PlannedMethod(name, MethodSpec(name))]
        own = MethodSpec(name, refined=any(refine), adapted=any(adapt)).parameter_names
        for parameter in entry.keys() & (RENAMED_PARAMETERS.keys() - set(own) if name == "REPS" else set()):
            self.fail(f"{key}.{parameter}", f"is not known any more: write {RENAMED_PARAMETERS[parameter]!r}")
        keys = METHOD_KEYS if name == title else tuple(other for other in METHOD_KEYS if other not in FINISHES)
        self.only(f"{key} ({title})", entry, [*keys, *own])
        label = entry.get("label", full_name)
        if not isinstance(label, str) or not label:
            self.fail(f"{key}.label", f"is {label!r}; expected a text")
        seeded = "random_state" in selector_classes()[name]().get_params()
        if "seeds" in entry and not (seeded or any(refine) or any(adapt)):
            self.fail(f"{key}.seeds", f"is for randomised methods, and {name} is not one")
        if "seeds" in entry:
            seeds = self.seeds(f"{key}.seeds", entry["seeds"])
        elif not MethodSpec(name).randomised:
            seeds = None
        sizes = self._sizes(key, name, entry, own, data)
        variants = []
        for refined, adapted in itertools.product(refine, adapt):
            # Parameters of the refinement need a set that is refined, parameters of the moves a set that moves.
            takes = MethodSpec(name, refined=refined, adapted=adapted).parameter_names
            given = {parameter: value for parameter, value in entry.items() if parameter in takes}
            for parameters in self._grid(key, given, n_cells * len(sizes)):
                spec = MethodSpec(name, parameters, refined, adapted)
                try:
                    spec.check()
                except (TypeError, ValueError, OSError) as error:
                    self.fail(f"{key} ({name}):", str(error))
                values = parameters | ({"refine": True} if refined and "refine" in entry else {})
                values |= {"adapt": True} if adapted and "adapt" in entry else {}
                shown = {
                    parameter: values[parameter]
                    for parameter in entry
                    if parameter in values and ("label" not in entry or isinstance(entry[parameter], list))
                }
                for size, at, rate in sizes:
                    full_label = label + _in_brackets(shown) + (f" at {size}" if size else "")
                    rate_name = size if isinstance(rate, dict) else None
                    variants.append(PlannedMethod(full_label, spec, at, rate, rate_name, seeds))
        return variants

    def _flags(self, key: str, entry: dict[str, Any], name: str) -> list[bool]:
        """Return the values of a key that is true or false, or a list of both."""
        values = _values(entry.get(name, False))
        if not values or not all(isinstance(value, bool) for value in values):
            self.fail(f"{key}.{name}", f"is {entry[name]!r}; expected true or false")
        return values

    def _grid(self, key: str, given: dict[str, Any], n_cells: int) -> list[dict[str, Any]]:
        """Return one dict per combination of values, each for at least ``n_cells`` cells; a list is a grid."""
        for name, value in given.items():
            if not _values(value) or not all(_is_plain(item) for item in _values(value)):
                self.fail(f"{key}.{name}", f"is {value!r}; expected a value, or a list of values to try")
        lists = [_values(value) for value in given.values()]
        self.check_cells(n_cells * math.prod(len(values) for values in lists))
        return [dict(zip(given, values, strict=True)) for values in itertools.product(*lists)]

    def _sizes(
        self, key: str, name: str, entry: dict[str, Any], own: list[str], data: list[str]
    ) -> list[tuple[str, str | None, float | dict[str, float] | None]]:
        """Return (name, method whose size is taken, rate) of each requested size."""
        given = [size for size in ("at", "rates", "n_prototypes") if size in entry]
        if len(given) > 1:
            self.fail(key, f"({name}) has {given}, which all say how many prototypes to keep; leave one")
        if not given or given == ["n_prototypes"]:
            return [("", None, None)]
        if "n_prototypes" not in own:
            self.fail(f"{key}.{given[0]}", f"cannot be: {name} chooses its size itself")
        value = entry[given[0]]
        if given == ["at"]:
            labels = [value] if isinstance(value, str) else value
            if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
                self.fail(f"{key}.at", f"is {value!r}; expected the label of a method, or a list of them")
            return [(other, other, None) for other in labels]
        value = {f"{rate}": rate for rate in value} if isinstance(value, list) else value
        if not isinstance(value, dict) or not value:
            self.fail(f"{key}.rates", f"is {value!r}; expected a list of rates, or a table with a rate per name")
        return [(title, None, self._rate(f"{key}.rates", title, rate, data)) for title, rate in value.items()]

    def _rate(self, key: str, title: str, rate: Any, data: list[str]) -> float | dict[str, float]:
        for value in rate.values() if isinstance(rate, dict) else [rate]:
            if not (is_number(value) and 0 < value <= 1):
                self.fail(key, f"has {title!r} with {value!r}; expected a rate above 0 and at most 1")
        lacking = [name for name in data if name not in rate] if isinstance(rate, dict) else []
        if lacking:
            self.fail(key, f"has {title!r} without a rate for the data {lacking}; give one, or one rate for all data")
        return {name: float(rate[name]) for name in data} if isinstance(rate, dict) else float(rate)

    def with_references(self, methods: list[PlannedMethod], n_cells: int) -> list[PlannedMethod]:
        """Turn the names of methods in ``at`` into labels; put methods with ``at`` last."""
        ordered = [method for method in methods if method.at is None]
        own = [method.label for method in ordered]
        self.refuse_repeated("methods", own)
        labels_of: dict[str, list[str]] = {}
        for label in own:
            # The name of a method with a grid stands for all its variants.
            for position, mark in enumerate(label):
                if mark == "(":
                    labels_of.setdefault(label[:position], []).append(label)
        labels_of |= {label: [label] for label in own}
        for method in methods:
            if method.at is None:
                continue
            if method.at not in labels_of:
                hint = did_you_mean(method.at, own)
                self.fail("methods", f"has at = {method.at!r}, which is no method of the plan{hint}; add it")
            if method.at == GUESS:
                self.fail("methods", f"has at = {GUESS!r}, which keeps no objects; name another method")
            base = method.label.removesuffix(f" at {method.at}")
            self.check_cells(n_cells * (len(ordered) + len(labels_of[method.at])))
            ordered += [replace(method, label=f"{base} at {label}", at=label) for label in labels_of[method.at]]
        return ordered

    def distances(self, key: str, entry: Any, n_cells: int) -> list[Distance]:
        """Read the variants of a distance; each variant has at least ``n_cells`` cells."""
        names = ["auto", *sorted(DISSIMILARITIES.keys() - {"callable"})]
        if isinstance(entry, str):
            name = self.choice(key, entry, [*SCALINGS, *names])
            entry = {"scaling": name} if name in SCALINGS else {"metric": name}
        if not isinstance(entry, dict):
            self.fail(key, f"is {entry!r}; expected a scaling, a metric, or a table")
        metric = self.choice(f"{key}.metric", entry.get("metric", "auto"), names)
        record = DISSIMILARITIES.get(metric)
        vectors = record is None or record.kind == "vectors"
        takes = () if record is None else tuple(name for name in record.parameters if name != "categorical")
        self.only(f"{key} ({metric})", entry, ("metric", *(("scaling", "nominal") if vectors else ()), *takes))
        grid = self._grid(key, {name: value for name, value in entry.items() if name != "metric"}, n_cells)
        variants = []
        for chosen in grid:
            scaling, nominal = chosen.pop("scaling", None), chosen.pop("nominal", None)
            if scaling is not None:
                self.choice(f"{key}.scaling", scaling, SCALINGS)
            if nominal is not None:
                self.choice(f"{key}.nominal", nominal, NOMINALS)
            words = [metric + _in_brackets(chosen)] if metric != "auto" else []
            words += [word for word in (scaling, nominal) if word]
            variants.append(Distance(", ".join(words) or "auto", metric, chosen, scaling, nominal))
        return variants


def _in_brackets(parameters: Mapping[str, Any]) -> str:
    inner = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return f"({inner})" if inner else ""


def _values(value: Any) -> list[Any]:
    """Return the values of a grid; a single value is a grid of one."""
    return value if isinstance(value, list) else [value]


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, bool)) or (is_number(value) and math.isfinite(value))
