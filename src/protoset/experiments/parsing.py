"""Reading plans: one TOML file, or a dict of the same shape.

name = "..."                              optional
data = ["iris", {path, target, name}]
methods = ["SSMA", {method, label, at, rates, seeds, refine, and parameters of the method}]
folds = 5 | "default" | {n, seed, stratified}
seeds = [0, 1] | "fold"                   for randomised methods
distances = ["z", {metric, scaling, nominal, and parameters of the metric}]

A list of values is a grid: one variant per value.
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

from protoset._validation import did_you_mean, is_count, is_number
from protoset.exceptions import PlanError
from protoset.experiments.plan import EVERYTHING, PER_FOLD, Distance, Folds, Plan, PlannedMethod, Source, repeated
from protoset.models import MethodSpec
from protoset.models.methods import RENAMED_PARAMETERS, selector_classes
from protoset.models.preparation import NOMINALS, SCALINGS
from protoset.spaces import DISSIMILARITIES

PLAN_KEYS = ("name", "data", "methods", "folds", "seeds", "distances")
"""Keys of a plan."""

METHOD_KEYS = ("method", "label", "at", "rates", "seeds", "refine")
"""Keys of a method, besides its parameters."""

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
        A TOML file, or its content. A plan is returned unchanged.

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
    path = Path(source)
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise PlanError(f"cannot read the plan {os.fspath(path)!r}: {error.strerror}; pass a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: not TOML: {error}") from error
    return parse_plan(document, str(path), path.resolve().parent)


def parse_plan(document: dict[str, Any], origin: str, folder: Path) -> Plan:
    """Make a plan of a dict; ``origin`` names it in errors."""
    reader = _Reader(origin)
    reader.only("", document, PLAN_KEYS)
    for key in ("data", "methods"):
        if key not in document:
            reader.fail(key, "is missing; a plan names its data and methods")
    name = document.get("name", "")
    if not isinstance(name, str):
        reader.fail("name", f"is {name!r}; expected a text")
    data = [reader.source(key, entry) for key, entry in reader.entries("data", document["data"])]
    reader.refuse_repeated("data", [source.name for source in data])
    seeds = reader.seeds("seeds", document.get("seeds", [0]))
    entries = reader.entries("methods", document["methods"])
    names = [source.name for source in data]
    methods = [method for key, entry in entries for method in reader.methods(key, entry, seeds, names)]
    methods = reader.with_references(methods)
    reader.refuse_repeated("methods", [method.label for method in methods])
    given = reader.entries("distances", document.get("distances", [{}]))
    distances = [distance for key, entry in given for distance in reader.distances(key, entry)]
    reader.refuse_repeated("distances", [distance.label for distance in distances])
    folds = reader.folds(document.get("folds", {}))
    plan = Plan(name, tuple(data), tuple(distances), folds, tuple(methods), document, folder)
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

    def folds(self, value: Any) -> Folds:
        if value == "default":
            return Folds(None)
        value = {"n": value} if is_count(value) else value
        if not isinstance(value, dict):
            self.fail("folds", f"is {value!r}; expected a number, 'default', or a table with n, seed, stratified")
        self.only("folds", value, ("n", "seed", "stratified"))
        folds = Folds(**value)
        if not is_count(folds.n) or folds.n < 2:  # type: ignore[operator]
            self.fail("folds.n", f"is {folds.n!r}; expected a whole number of at least 2, or folds = 'default'")
        if not is_count(folds.seed) or folds.seed < 0:
            self.fail("folds.seed", f"is {folds.seed!r}; expected a whole number of at least 0")
        if not isinstance(folds.stratified, bool):
            self.fail("folds.stratified", f"is {folds.stratified!r}; expected true or false")
        return folds

    def seeds(self, key: str, value: Any) -> tuple[int, ...] | Any:
        if value == PER_FOLD:
            return value
        if not isinstance(value, (list, tuple)) or not all(is_count(seed) and 0 <= seed < 2**32 for seed in value):
            self.fail(key, f"is {value!r}; expected a list of whole numbers from 0 to 4294967295, or 'fold'")
        if not value or len(set(value)) < len(value):
            self.fail(key, f"is {value!r}; expected at least one seed, and each once")
        return tuple(int(seed) for seed in value)

    def methods(self, key: str, entry: Any, seeds: Any, data: list[str]) -> list[PlannedMethod]:
        entry = {"method": entry} if isinstance(entry, str) else entry
        if not isinstance(entry, dict) or "method" not in entry:
            self.fail(key, f"is {entry!r}; expected the name of a method, or a table with the key 'method'")
        name = self.choice(f"{key}.method", entry["method"], [EVERYTHING, *selector_classes()])
        own = [] if name == EVERYTHING else MethodSpec(name, refined=bool(entry.get("refine"))).parameter_names
        for parameter in entry.keys() & NOT_FOR_PLANS.keys():
            self.fail(f"{key}.{parameter}", f"is not for plans: {NOT_FOR_PLANS[parameter]}")
        for parameter in entry.keys() & (RENAMED_PARAMETERS.keys() - set(own) if name == "REPS" else set()):
            self.fail(f"{key}.{parameter}", f"is not known any more: write {RENAMED_PARAMETERS[parameter]!r}")
        self.only(f"{key} ({name})", entry, ["method"] if name == EVERYTHING else [*METHOD_KEYS, *own])
        label = entry.get("label", name)
        if not isinstance(label, str) or not label:
            self.fail(f"{key}.label", f"is {label!r}; expected a text")
        seeded = name != EVERYTHING and "random_state" in selector_classes()[name]().get_params()
        if "seeds" in entry and not (seeded or entry.get("refine")):
            self.fail(f"{key}.seeds", f"is for randomised methods, and {name} is not one")
        if "seeds" in entry:
            seeds = self.seeds(f"{key}.seeds", entry["seeds"])
        elif name == EVERYTHING or not MethodSpec(name).randomised:
            seeds = None
        sizes = self._sizes(key, name, entry, own, data)
        given = {name: value for name, value in entry.items() if name in own or name == "refine"}
        variants = []
        for chosen in self._grid(key, given):
            shown = {p: v for p, v in chosen.items() if "label" not in entry or isinstance(given[p], list)}
            parameters, refine = dict(chosen), chosen.get("refine", False)
            parameters.pop("refine", None)
            if not refine:
                shown.pop("refine", None)
            if not isinstance(refine, bool):
                self.fail(f"{key}.refine", f"is {refine!r}; expected true or false")
            spec = MethodSpec(name, parameters, refine)
            self._check_values(key, spec)
            for title, at, rate in sizes:
                full = label + _in_brackets(shown) + (f" at {title}" if title else "")
                rate_name = title if isinstance(rate, dict) else None
                variants.append(PlannedMethod(full, spec, at, rate, rate_name, seeds))
        return variants

    def _grid(self, key: str, given: dict[str, Any]) -> list[dict[str, Any]]:
        """Return one dict per combination of values; a list of values is a grid."""
        for name, value in given.items():
            values = value if isinstance(value, list) else [value]
            if not values or not all(_is_plain(item) for item in values):
                self.fail(f"{key}.{name}", f"is {value!r}; expected a value, or a list of values to try")
        lists = [value if isinstance(value, list) else [value] for value in given.values()]
        return [dict(zip(given, values, strict=True)) for values in itertools.product(*lists)]

    def _check_values(self, key: str, spec: MethodSpec) -> None:
        if spec.selector == EVERYTHING:
            return
        try:
            spec.check()
        except (TypeError, ValueError) as error:
            self.fail(f"{key} ({spec.selector}):", str(error))

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

    def with_references(self, methods: list[PlannedMethod]) -> list[PlannedMethod]:
        """Turn the names of methods in ``at`` into labels; put methods with ``at`` last."""
        ordered = [method for method in methods if method.at is None]
        own = [method.label for method in ordered]
        self.refuse_repeated("methods", own)
        for method in methods:
            if method.at is None:
                continue
            # The name of a method with a grid stands for all its variants.
            labels = [method.at] if method.at in own else [label for label in own if label.startswith(f"{method.at}(")]
            if not labels:
                hint = did_you_mean(method.at, own)
                self.fail("methods", f"has at = {method.at!r}, which is no method of the plan{hint}; add it")
            base = method.label.removesuffix(f" at {method.at}")
            ordered += [replace(method, label=f"{base} at {label}", at=label) for label in labels]
        return ordered

    def distances(self, key: str, entry: Any) -> list[Distance]:
        if isinstance(entry, str):
            known = [*SCALINGS, "auto", *sorted(DISSIMILARITIES.keys() - {"callable"})]
            name = self.choice(key, entry, known)
            entry = {"scaling": name} if name in SCALINGS else {"metric": name}
        if not isinstance(entry, dict):
            self.fail(key, f"is {entry!r}; expected a scaling, a metric, or a table")
        names = ["auto", *sorted(DISSIMILARITIES.keys() - {"callable"})]
        metric = self.choice(f"{key}.metric", entry.get("metric", "auto"), names)
        record = DISSIMILARITIES.get(metric)
        vectors = record is None or record.kind == "vectors"
        takes = () if record is None else tuple(name for name in record.parameters if name != "categorical")
        self.only(f"{key} ({metric})", entry, ("metric", *(("scaling", "nominal") if vectors else ()), *takes))
        grid = self._grid(key, {name: value for name, value in entry.items() if name != "metric"})
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


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, bool)) or (is_number(value) and math.isfinite(value))
