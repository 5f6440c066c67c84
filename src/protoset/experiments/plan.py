"""An experiment: data x distances x folds x methods x seeds, and the cells that these make.

A cell is one method on one fold. Its identifier is a digest of everything that its result depends on, and of nothing
else: not of labels, not of its position in the plan.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from protoset._validation import is_number
from protoset.datasets import Dataset
from protoset.decisions import RankRule
from protoset.models import MethodSpec, Preparation, prepare
from protoset.models.preparation import Nominal, Scaling, metric_of_dataset
from protoset.spaces import DISSIMILARITIES

GUESS = "guess"
"""The method that keeps nothing and always answers the most frequent class."""

EVERYTHING = "NoPS"
"""The method that keeps all objects; the nearest object decides."""

NEIGHBORS = "kNN"
"""The method that keeps all objects; the k nearest objects decide, with k chosen by leave-one-out."""

REFERENCES = (GUESS, EVERYTHING, NEIGHBORS)
"""Reference methods without prototypes; they are not selectors."""

Order = Literal["content", "rows"]
ORDERS: tuple[Order, ...] = ("content", "rows")
"""Orders in which objects are assigned to folds."""

PER_FOLD = "fold"
"""Value of ``seeds`` for which the seed of a cell is the number of its fold."""


@dataclass(frozen=True)
class Source:
    """Where a data set comes from: its name, or a file and the column of the labels in the file."""

    name: str
    path: str | None = None
    target: str | int | None = None

    def content(self) -> dict[str, Any]:
        """Everything that results depend on."""
        return {"name": self.name} if self.path is None else vars(self).copy()


@dataclass(frozen=True)
class Folds:
    """How objects are divided into training and test objects.

    With ``n=None``, the split that the data come with; with ``holdout``, a share of the objects is held out, once.
    With ``order="content"`` the order of the rows changes no fold; with "rows" objects are assigned in the order of
    their rows.
    """

    n: int | None = 5
    seed: int = 0
    stratified: bool = True
    holdout: float | None = None
    order: Order = "content"

    @property
    def count(self) -> int:
        """Number of folds."""
        return 1 if self.n is None else self.n

    def content(self) -> dict[str, Any]:
        """Everything that results depend on."""
        order = {} if self.order == "rows" else {"order": self.order}
        if self.holdout is not None:
            return {"holdout": self.holdout, "seed": self.seed} | order
        if self.n is None:
            return {"n": None}
        return {"n": self.n, "seed": self.seed, "stratified": self.stratified} | order


@dataclass(frozen=True)
class Distance:
    """How objects are compared, as in ``protoset.models.prepare``; ``scaling`` is for objects compared as vectors."""

    label: str
    metric: str = "auto"
    parameters: dict[str, Any] = field(default_factory=dict)
    scaling: Scaling | None = None
    nominal: Nominal | None = None

    def content(self) -> dict[str, Any]:
        """Everything that results depend on."""
        return {name: value for name, value in vars(self).items() if name != "label"}

    def prepare(self, dataset: Dataset, train: np.ndarray) -> Preparation:
        """Prepare a data set; the scaling is learned from the training rows."""
        metric = metric_of_dataset(dataset, self.metric, self.nominal)
        return prepare(
            dataset,
            train=train,
            metric=metric,
            metric_params=self.parameters if self.metric in ("auto", metric) else {},
            scaling=self.scaling if DISSIMILARITIES[metric].kind == "vectors" else None,
            nominal=self.nominal,
        )


@dataclass(frozen=True)
class PlannedMethod:
    """A method of a plan, at its own size or at a given size.

    ``label`` is such as ``FCNN(n_neighbors=2)`` or ``REPS at SSMA``. ``at`` is the label of the method whose number of
    prototypes this method keeps. ``rate`` may have a rate per data set, with the name ``rate_name``. ``seeds`` is None
    for deterministic methods.
    """

    label: str
    spec: MethodSpec
    at: str | None = None
    rate: float | dict[str, float] | None = None
    rate_name: str | None = None
    seeds: tuple[int, ...] | Literal["fold"] | None = None
    rule: RankRule = "nearest"

    @classmethod
    def reference(cls, name: Any) -> Self | None:
        """Return the reference of a name, in upper or lower case; None where the name is another one."""
        names = {reference.lower(): reference for reference in REFERENCES}
        reference = names.get(str(name).strip().lower())
        return None if reference is None else cls(reference, MethodSpec(reference))

    def rate_on(self, data: str) -> float | None:
        """Selection rate on a data set."""
        return self.rate[data] if isinstance(self.rate, dict) else self.rate


@dataclass(frozen=True)
class Cell:
    """One method on one fold.

    Attributes
    ----------
    id : str
        Digest of everything that the result depends on.
    data, distance, method : str
        Labels of the data set, the distance and the method in the plan.
    fold : int
    seed : int or None
    reference : str or None
        ``id`` of the cell whose number of prototypes this cell uses; None for most methods.
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
    """Plan of an experiment: data x distances x folds x methods. Made by :func:`protoset.experiments.read_plan`.

    Attributes
    ----------
    name : str
    data : tuple of Source
    distances : tuple of Distance
    folds : Folds
    methods : tuple of PlannedMethod
        Methods that take their size from another method come last.
    document : dict
        The plan as it was written.
    folder : Path
        Folder of relative paths of data.
    """

    name: str
    data: tuple[Source, ...]
    distances: tuple[Distance, ...]
    folds: Folds
    methods: tuple[PlannedMethod, ...]
    document: dict[str, Any]
    folder: Path

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells in the order in which they are computed; the cells of a fold are consecutive."""
        return tuple(
            self._cell(source, distance, fold, method, seed)
            for source in self.data
            for distance in self.distances
            for fold in range(self.folds.count)
            for method in self.methods
            for seed in self._seeds(method, fold)
        )

    @property
    def n_cells(self) -> int:
        """Number of cells, known before they are made."""
        n_methods = sum(len(self._seeds(method, 0)) for method in self.methods)
        return len(self.data) * len(self.distances) * self.folds.count * n_methods

    def method(self, label: str) -> PlannedMethod:
        """Return the method of a label."""
        return self._by_label[PlannedMethod, label]

    def distance(self, label: str) -> Distance:
        """Return the distance of a label."""
        return self._by_label[Distance, label]

    def source(self, name: str) -> Source:
        """Return the source of a data set."""
        return self._by_label[Source, name]

    @cached_property
    def _by_label(self) -> dict[tuple[type, str], Any]:
        entries: list[Source | Distance | PlannedMethod] = [*self.data, *self.distances, *self.methods]
        return {(type(entry), _label(entry)): entry for entry in entries}

    def _seeds(self, method: PlannedMethod, fold: int) -> tuple[int | None, ...]:
        seeds = method.seeds
        if method.at is not None and self.method(method.at).seeds is not None:
            seeds = self.method(method.at).seeds  # its size may differ from seed to seed
        if seeds is None:
            return (None,)
        return (fold,) if seeds == PER_FOLD else tuple(seeds)  # type: ignore[arg-type]

    def _cell(self, source: Source, distance: Distance, fold: int, method: PlannedMethod, seed: int | None) -> Cell:
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
                "selector": method.spec.selector,
                "parameters": method.spec.parameters,
                "refine": method.spec.refined,
                "rate": method.rate_on(source.name),
                # Rates of two names may be equal on some data set; they are still two cells.
                "rate_name": method.rate_name,
                "at": reference,
                **({"adapt": True} if method.spec.adapted else {}),
                **({} if method.rule == "nearest" else {"rule": method.rule}),
            },
        }
        return Cell(content_id(content), source.name, distance.label, fold, seed, method.label, reference)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.cells == other.cells

    def __hash__(self) -> int:
        return hash(self.cells)


def content_id(content: Mapping[str, Any]) -> str:
    """Return a digest of a content."""
    return hashlib.sha256(as_json(content, separators=(",", ":")).encode()).hexdigest()[:32]


def as_json(content: Any, **options: Any) -> str:
    """Return a content as JSON with sorted keys; values may be arrays, and numbers of other libraries."""
    return json.dumps(content, sort_keys=True, default=_json_value, **options)


def _json_value(value: Any) -> Any:
    """Return a value that JSON does not have as numbers or as text."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return float(value) if is_number(value) else repr(value)


def repeated(names: list[str]) -> list[str]:
    """Return the names that appear more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def lost_cells(old: Plan, new: Plan) -> list[str]:
    """Describe the parts of the old plan that the new plan lacks; empty if the new plan has all old cells."""
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
        entries = {_label(entry): entry for entry in after}
        for entry in before:
            label = _label(entry)
            if label not in entries:
                lost.append(f"{title} {label!r} is not there any more")
            elif entries[label] != entry:
                lost.append(f"{title} {label!r} is {_described(entries[label])}, and was {_described(entry)}")
    return lost


def _label(entry: Source | Distance | PlannedMethod) -> str:
    return entry.name if isinstance(entry, Source) else entry.label


def _described(entry: Source | Distance | PlannedMethod) -> str:
    values = {name: value for name, value in vars(entry).items() if name not in ("label", "name")}
    if isinstance(entry, PlannedMethod):
        values = vars(values.pop("spec")) | values
    return ", ".join(f"{name}={value!r}" for name, value in values.items())
