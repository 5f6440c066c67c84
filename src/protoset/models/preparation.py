"""What is done to the objects of a data set before they are compared.

    objects of a data set --> numbers --> scaled by what the training set says --> objects of the metric
                              (vectors)   (vectors)

Series are turned so that their channels are rows; objects of other kinds are compared as they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from protoset._validation import check_choice, did_you_mean
from protoset.datasets import Attribute, Dataset
from protoset.datasets.base import KINDS, Kind
from protoset.spaces import DISSIMILARITIES

Scaling = Literal["z", "minmax", "raw"]
SCALINGS: tuple[Scaling, ...] = ("z", "minmax", "raw")

FITTING: dict[str, tuple[str, ...]] = {
    "vectors": ("vectors", "mixed attributes", "series"),
    "mixed": ("mixed attributes",),
    "series": ("series", "vectors"),
    "strings": ("strings",),
    "matrix": ("matrix",),
}
"""Kinds of dissimilarities that a kind of data can be compared by; the first is the usual one."""


@dataclass(frozen=True, eq=False)
class Preparation:
    """How objects are made ready for their dissimilarity; call it with objects as a data set has them.

    Attributes
    ----------
    kind : {"vectors", "mixed", "series", "strings", "matrix"}
    metric : str
    metric_params : dict
    scaling : {"z", "minmax", "raw"} or None
        None where the metric does not take vectors.
    centre, width : ndarray or None
        Of each attribute, as learned from the training set; None without scaling.
    attributes : tuple of Attribute
        The columns, where there are any.
    target : str or None
        Name of the column of labels, where there is one.
    target_position : int
        Its position among all columns.
    """

    kind: Kind
    metric: str
    metric_params: dict[str, Any]
    scaling: Scaling | None = None
    centre: np.ndarray | None = None
    width: np.ndarray | None = None
    attributes: tuple[Attribute, ...] = ()
    target: str | None = None
    target_position: int = 0

    def __call__(self, objects: Any) -> Any:
        """Return objects as the metric takes them."""
        if self.kind == "series" and DISSIMILARITIES[self.metric].kind == "series":
            # A data set has channels as columns, a space as rows.
            return [np.asarray(one).T for one in objects]
        if self.kind == "series":
            return as_rows(objects)
        if self.centre is None or self.width is None:
            return objects
        numbers = np.asarray(objects, np.float64)
        if numbers.ndim != 2 or numbers.shape[1] != len(self.centre):
            raise ValueError(
                f"X has the shape {numbers.shape}; expected rows of the {len(self.centre)} attributes of the training "
                "set"
            )
        return (numbers - self.centre) / self.width

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what a file holds: values that JSON has, and arrays."""
        values = {
            "kind": self.kind,
            "metric": self.metric,
            "metric_params": self.metric_params,
            "scaling": self.scaling,
            "attributes": [[one.name, one.type, list(one.values)] for one in self.attributes],
            "target": self.target,
            "target_position": self.target_position,
        }
        arrays = {"centre": self.centre, "width": self.width}
        return values, {name: array for name, array in arrays.items() if array is not None}

    @classmethod
    def from_state(cls, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Preparation:
        """Make a preparation of what a file holds; refuses what does not fit together."""
        attributes = tuple(Attribute(name, of_type, tuple(known)) for name, of_type, known in values["attributes"])
        given = {name: value for name, value in values.items() if name != "attributes"}
        found = cls(**given, centre=arrays.get("centre"), width=arrays.get("width"), attributes=attributes)
        texts = [text for one in attributes for text in (one.name, *one.values)]
        if found.target is not None:
            texts.append(found.target)
        if found.kind not in KINDS or found.metric not in DISSIMILARITIES or found.scaling not in (*SCALINGS, None):
            raise ValueError("its kind, metric or scaling is not known")
        if not all(isinstance(text, str) for text in texts) or type(found.target_position) is not int:
            raise ValueError("its names of attributes are not texts")
        if any(one.type not in ("real", "integer", "nominal") for one in attributes):
            raise ValueError("its types of attributes are not known")
        _check_scaling(found)
        return found


def prepare(
    dataset: Dataset,
    *,
    metric: str = "auto",
    metric_params: Mapping[str, Any] | None = None,
    scaling: Scaling | None = None,
) -> Preparation:
    """Learn from a training set how objects are to be prepared.

    Parameters
    ----------
    dataset : Dataset
        All of it is training.
    metric : str
        "auto" is "euclidean" for vectors, "gower" where there are categories or missing values, "dtw" for series,
        "levenshtein" for strings, and the distances themselves for a matrix.
    metric_params : dict, optional
        Arguments of the metric.
    scaling : {"z", "minmax", "raw"}, optional
        Of attributes that are compared as vectors: mean 0 and deviation 1 (the usual choice), range 0 to 1, or not at
        all. Refused for other metrics: those of mixed attributes have a scaling of their own.

    Returns
    -------
    Preparation
    """
    chosen = _choose_metric(dataset, metric)
    record = DISSIMILARITIES[chosen]
    params = dict(metric_params or {})
    if scaling is not None:
        check_choice("scaling", scaling, SCALINGS)
        if record.kind != "vectors":
            raise ValueError(
                f"scaling={scaling!r} is for vectors, and metric={chosen!r} compares {record.kind} in its own way; "
                "leave it out"
            )
    elif record.kind == "vectors":
        scaling = "z" if dataset.kind == "vectors" else "raw"
    if record.kind == "mixed attributes":
        params.setdefault("categorical", dataset.categorical)
    centre = width = None
    if scaling in ("z", "minmax"):
        numbers = as_rows(dataset.objects) if dataset.kind == "series" else np.asarray(dataset.objects, np.float64)
        centre, width = learn_scaling(numbers, scaling)
    layout = dataset.layout
    has_columns = bool(dataset.attributes) and layout is not None
    return Preparation(
        dataset.kind,
        chosen,
        params,
        scaling,
        centre,
        width,
        dataset.attributes,
        layout.target_name if layout is not None and has_columns else None,
        layout.target if layout is not None and has_columns else 0,
    )


def learn_scaling(numbers: np.ndarray, scaling: Scaling) -> tuple[np.ndarray, np.ndarray]:
    """Return by what columns are moved and divided; one that is constant, or all missing, is only moved."""
    with warnings.catch_warnings():
        # A column without any known value.
        warnings.simplefilter("ignore", RuntimeWarning)
        gaps = bool(np.isnan(numbers).any())
        lowest, highest = np.nanmin(numbers, axis=0), np.nanmax(numbers, axis=0)
        if scaling == "raw":
            centre, width = np.zeros(numbers.shape[1]), np.ones(numbers.shape[1])
        elif scaling == "minmax":
            centre, width = lowest, highest - lowest
        elif gaps:
            centre, width = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)
        else:
            centre, width = numbers.mean(axis=0), numbers.std(axis=0)
    constant = ~(highest > lowest) | (width == 0)
    return np.where(np.isnan(centre), 0.0, centre), np.where(constant, 1.0, width)


def as_rows(series: Any) -> np.ndarray:
    """Return series of one length and one channel as rows of numbers."""
    shapes = {np.shape(one) for one in series}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise ValueError(
            "a metric of vectors takes series of one length and one channel; use 'dtw', 'ddtw', 'erp' for others"
        )
    return np.asarray(series, np.float64)


def has_missing(objects: Any) -> bool:
    """Whether any value is missing."""
    objects = np.asarray(objects)
    if objects.dtype.kind == "f":
        return bool(np.isnan(objects).any())
    return any(is_missing(value) for value in objects.ravel())


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and value != value)


def _choose_metric(dataset: Dataset, metric: str) -> str:
    if metric == "auto":
        usual = {"vectors": "euclidean", "mixed": "gower", "series": "dtw", "strings": "levenshtein"}
        if dataset.kind == "vectors" and has_missing(dataset.objects):
            return "gower"
        return usual.get(dataset.kind, "precomputed")
    known = sorted(DISSIMILARITIES.keys() - {"callable"})
    if metric not in known:
        raise ValueError(f"metric={metric!r} is not known{did_you_mean(metric, known)}; choose one of {known}")
    kinds = FITTING[dataset.kind]
    if DISSIMILARITIES[metric].kind not in kinds:
        fitting = [name for name in known if DISSIMILARITIES[name].kind == kinds[0]]
        raise ValueError(
            f"metric={metric!r} compares {DISSIMILARITIES[metric].kind}, and the data {dataset.name!r} are "
            f"{_told(dataset)}; choose one of {fitting}, or 'auto'"
        )
    return metric


def _told(dataset: Dataset) -> str:
    names = [dataset.attributes[position].name for position in dataset.categorical]
    more = ", ..." if len(names) > 3 else ""
    return f"mixed attributes (categories in {', '.join(names[:3])}{more})" if names else dataset.kind


def _check_scaling(preparation: Preparation) -> None:
    centre, width = preparation.centre, preparation.width
    if (centre is None) != (width is None) or (centre is not None) != (preparation.scaling in ("z", "minmax")):
        raise ValueError("its scaling lacks what it needs")
    if centre is None or width is None:
        return
    if centre.ndim != 1 or centre.shape != width.shape or not (np.isfinite(centre).all() and (width > 0).all()):
        raise ValueError("its scaling is not one")
    if preparation.attributes and len(preparation.attributes) != len(centre):
        raise ValueError("its scaling does not fit its attributes")
