"""What an experiment is: data x distances x folds x methods x seeds, and the cells that it consists of.

A cell is one method on one fold. Its identifier is made of all that its result depends on and of nothing
else: not of labels, not of its place in the plan.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from protoset.models import SCALINGS as SCALINGS
from protoset.models import Scaling

EVERYTHING = "NoPS"
"""The method that keeps all objects."""

Nominal = Literal["index", "heom"]
NOMINALS: tuple[Nominal, ...] = ("index", "heom")

PER_FOLD = "fold"
"""Seeds that are the numbers of the folds."""


@dataclass(frozen=True)
class Source:
    """Where a data set comes from.

    Attributes
    ----------
    name : str
    path : str or None
        The file, where the data are not known by their name.
    target : str, int or None
        The column of the labels in the file.
    """

    name: str
    path: str | None = None
    target: str | int | None = None

    def content(self) -> dict[str, Any]:
        """What results depend on."""
        return {"name": self.name} if self.path is None else vars(self).copy()


@dataclass(frozen=True)
class Folds:
    """How objects are dealt to training and testing.

    Attributes
    ----------
    n : int or None
        Number of folds; None takes the split that the data come with.
    seed : int
        Shuffles the objects before they are dealt.
    stratified : bool
        Whether each fold has the classes in their proportions.
    """

    n: int | None = 5
    seed: int = 0
    stratified: bool = True

    @property
    def count(self) -> int:
        """Number of folds."""
        return 1 if self.n is None else self.n

    def content(self) -> dict[str, Any]:
        """What results depend on."""
        return {"n": None} if self.n is None else vars(self).copy()


@dataclass(frozen=True)
class Distance:
    """How objects are compared.

    Attributes
    ----------
    label : str
    metric : str
        "auto" is Euclidean for vectors, "dtw" for series, "levenshtein" for strings; a ready matrix is
        taken as it is whatever the metric.
    parameters : dict
        Of the metric.
    scaling : {"z", "minmax", "raw"} or None
        Of the attributes of vectors, learned on the training part; None for metrics of other objects.
    nominal : {"index", "heom"} or None
        What becomes of data with nominal attributes: values are their positions in the declaration, or
        the metric is "heom", which has a scaling of its own and also takes missing values.
    """

    label: str
    metric: str = "auto"
    parameters: dict[str, Any] = field(default_factory=dict)
    scaling: Scaling | None = "z"
    nominal: Nominal | None = "index"

    def content(self) -> dict[str, Any]:
        """What results depend on."""
        return {name: value for name, value in vars(self).items() if name != "label"}


@dataclass(frozen=True)
class Method:
    """One method with one value of each parameter, at its own size or at a given one.

    Attributes
    ----------
    label : str
        Such as ``FCNN(n_neighbors=2)`` or ``REPS at SSMA``.
    selector : str
        A name in ``protoset.selectors.all_selectors()``, or "NoPS" for everything.
    parameters : dict
        Of the selector.
    refine : bool
        Whether the set is refined at its size.
    at : str or None
        Label of the method whose number of prototypes this one keeps.
    rate : float, dict or None
        The selection rate, or that of each data set by name.
    rate_name : str or None
        What rates by data set are called.
    seeds : tuple of int, "fold" or None
        What the method is repeated with; None for deterministic methods.
    """

    label: str
    selector: str
    parameters: dict[str, Any] = field(default_factory=dict)
    refine: bool = False
    at: str | None = None
    rate: float | dict[str, float] | None = None
    rate_name: str | None = None
    seeds: tuple[int, ...] | Literal["fold"] | None = None

    def rate_on(self, data: str) -> float | None:
        """Selection rate on a data set."""
        return self.rate[data] if isinstance(self.rate, dict) else self.rate


@dataclass(frozen=True)
class Cell:
    """One method on one fold.

    Attributes
    ----------
    id : str
        Made of all that the result depends on.
    data, distance, method : str
        Labels.
    fold : int
    seed : int or None
    reference : str or None
        Identifier of the cell whose number of prototypes this one keeps.
    """

    id: str
    data: str
    distance: str
    fold: int
    seed: int | None
    method: str
    reference: str | None = None

    def __str__(self) -> str:
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.method} on {self.data}, {self.distance}, fold {self.fold}{seed}"


@dataclass(frozen=True, eq=False)
class Plan:
    """An experiment; made by :func:`protoset.experiments.read_plan`.

    Attributes
    ----------
    name : str
    data : tuple of Source
    distances : tuple of Distance
    folds : Folds
    methods : tuple of Method
        Those that take their size from another one come last.
    document : dict
        The plan as it was written.
    folder : Path
        Where relative paths of data begin.
    """

    name: str
    data: tuple[Source, ...]
    distances: tuple[Distance, ...]
    folds: Folds
    methods: tuple[Method, ...]
    document: dict[str, Any]
    folder: Path

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, those of a fold together and in the order in which they are computed."""
        return tuple(
            self._cell(source, distance, fold, method, seed)
            for source in self.data
            for distance in self.distances
            for fold in range(self.folds.count)
            for method in self.methods
            for seed in self._seeds(method, fold)
        )

    def method(self, label: str) -> Method:
        """Return the method of a label."""
        return next(method for method in self.methods if method.label == label)

    def distance(self, label: str) -> Distance:
        """Return the distance of a label."""
        return next(distance for distance in self.distances if distance.label == label)

    def source(self, name: str) -> Source:
        """Return the source of a data set."""
        return next(source for source in self.data if source.name == name)

    def _seeds(self, method: Method, fold: int) -> tuple[int | None, ...]:
        seeds = method.seeds
        if method.at is not None and self.method(method.at).seeds is not None:
            seeds = self.method(method.at).seeds  # whose size may differ from seed to seed
        if seeds is None:
            return (None,)
        return (fold,) if seeds == PER_FOLD else tuple(seeds)  # type: ignore[arg-type]

    def _cell(self, source: Source, distance: Distance, fold: int, method: Method, seed: int | None) -> Cell:
        reference = None
        if method.at is not None:
            other = self.method(method.at)
            reference = self._cell(source, distance, fold, other, None if other.seeds is None else seed).id
        content = {
            "data": source.content(),
            "distance": distance.content(),
            "folds": self.folds.content(),
            "fold": fold,
            "seed": seed,
            "method": {
                "selector": method.selector,
                "parameters": method.parameters,
                "refine": method.refine,
                "rate": method.rate_on(source.name),
                # Rates of two names may be equal on some data set; the cells are two all the same.
                "rate_name": method.rate_name,
                "at": reference,
            },
        }
        return Cell(content_id(content), source.name, distance.label, fold, seed, method.label, reference)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.cells == other.cells

    def __hash__(self) -> int:
        return hash(self.cells)


def content_id(content: Mapping[str, Any]) -> str:
    """Name a thing by its content."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def repeated(names: list[str]) -> list[str]:
    """Return the names that appear more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def lost_cells(old: Plan, new: Plan) -> list[str]:
    """Say what of one plan another one does not have, in words; empty where everything is still there."""
    if not {cell.id for cell in old.cells} - {cell.id for cell in new.cells}:
        return []
    if old.folds != new.folds:
        return [f"folds are {new.folds.content()}, and were {old.folds.content()}"]
    lost = []
    for title, before, after in (
        ("data", old.data, new.data),
        ("distance", old.distances, new.distances),
        ("method", old.methods, new.methods),
    ):
        known = {_label(part): part for part in after}
        for part in before:
            if _label(part) not in known:
                lost.append(f"{title} {_label(part)!r} is not there any more")
            elif known[_label(part)] != part:
                lost.append(f"{title} {_label(part)!r} is {_told(known[_label(part)])}, and was {_told(part)}")
    return lost


def _label(part: Source | Distance | Method) -> str:
    return part.name if isinstance(part, Source) else part.label


def _told(part: Source | Distance | Method) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in vars(part).items() if name not in ("label", "name"))
