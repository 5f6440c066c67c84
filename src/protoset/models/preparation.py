"""Metric and scaling of a data set, and how its objects are prepared for the metric.

    data set --> metric --> numbers --> scaled as the training set says --> objects of the metric
                 "auto"     (vectors)   (vectors)

    vectors  euclidean, gower where values are missing     series   dtw
    mixed    gower                                         strings  levenshtein
    matrix   precomputed

Series are transposed: channels become rows. Objects of other kinds are compared as they are. For objects that are not
a data set, ``metric="auto"`` is decided in ``protoset.spaces.automatic``, which does not look for missing values.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from protoset._display import Brief
from protoset._validation import check_choice, did_you_mean
from protoset.datasets import Attribute, Dataset, take
from protoset.datasets.base import ATTRIBUTE_TYPES, KINDS, Kind, LeftOut
from protoset.datasets.csv_sniffing import CSV_DELIMITERS
from protoset.datasets.roles import describe_roles
from protoset.spaces import DISSIMILARITIES, TrainingSpace, make_space
from protoset.spaces.automatic import warn_of_columns
from protoset.spaces.vectors import ANGULAR

Scaling = Literal["z", "minmax", "raw"]
SCALINGS: tuple[Scaling, ...] = ("z", "minmax", "raw")

Nominal = Literal["index", "heom"]
NOMINALS: tuple[Nominal, ...] = ("index", "heom")

METRIC_OF_KIND: dict[Kind, str] = {
    "vectors": "euclidean",
    "mixed": "gower",
    "series": "dtw",
    "strings": "levenshtein",
    "matrix": "precomputed",
}
"""Choice of ``metric="auto"`` for each kind of data; for vectors with missing values it is "gower"."""

COMPARABLE_AS: dict[Kind, tuple[str, ...]] = {
    "vectors": ("vectors", "mixed attributes", "series"),
    "mixed": ("mixed attributes",),
    "series": ("series", "vectors"),
    "strings": ("strings",),
    "matrix": ("matrix",),
}
"""Kinds of metrics that can compare each kind of data; the usual kind comes first."""


@dataclass(frozen=True, eq=False, repr=False)
class Preparation(Brief):
    """Preparation of objects for their metric. Call it with objects in the form of the data set.

    Attributes
    ----------
    kind : {"vectors", "mixed", "series", "strings", "matrix"}
    metric : str
    metric_params : dict
    scaling : {"z", "minmax", "raw"} or None
        Scaling of vectors; None if the metric does not compare vectors.
    centre, width : ndarray or None
        Offset and divisor of each attribute, learned from the training set; None without scaling.
    attributes : tuple of Attribute
        The columns of a table; empty for other objects.
    target : str or None
        Name of the column of labels, if there is one.
    target_position : int
        Position of the column of labels among all columns.
    id_column : str or None
        Name of the column of ids, if there is one.
    columns : tuple of str
        Names of all columns of the file, if some of them were left out; else empty.
    separator : str or None
        Character between the fields of the file, if it is not a comma, a semicolon or a tab.
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
    id_column: str | None = None
    columns: tuple[str, ...] = ()
    separator: str | None = None

    def __call__(self, objects: Any) -> Any:
        """Return objects as the metric takes them."""
        if DISSIMILARITIES[self.metric].kind == "vectors":
            return self._scaled(self._as_vectors(objects))
        if self.kind == "series":
            # A data set has channels as columns, a space as rows.
            return [np.asarray(series).T for series in _check_iterable(objects)]
        return objects

    def space(self, objects: Any) -> TrainingSpace:
        """Return the space of objects in the form of the data set, for metrics that need no labels."""
        return make_space(self(objects), self.metric, self.metric_params)

    def movable_space(self, objects: Any) -> TrainingSpace | None:
        """Return the space of objects that can move; None if they cannot."""
        if not DISSIMILARITIES[self.metric].moves:
            return None
        space = self.space(objects)
        return None if space.movable is None else space

    def undone(self, objects: Any) -> Any:
        """Return prepared objects, such as moved prototypes, in the form of the data set.

        None if there is no such form: for categories that were compared as numbers, and for directions of vectors.
        """
        if self.metric in ANGULAR:
            return None
        if DISSIMILARITIES[self.metric].kind != "vectors":
            return [np.asarray(series).T for series in objects] if self.kind == "series" else objects
        if self.kind == "mixed":
            return None
        numbers = _as_floats(objects)
        return numbers if self.centre is None or self.width is None else numbers * self.width + self.centre

    def restored_values(self, prototypes: Any) -> np.ndarray | None:
        """Return the attributes of prepared objects, such as moved prototypes, in the units of the data set.

        A value between several categories is a text of their shares. None if the metric compares no attributes, or
        only the directions of vectors.
        """
        if DISSIMILARITIES[self.metric].kind not in ("vectors", "mixed attributes"):
            return None
        objects = self.undone(prototypes)
        if objects is None or self.kind != "mixed":
            return None if objects is None else _as_floats(objects)
        values = np.asarray(objects, object)
        restored = np.empty(values.shape, object)
        restored.ravel()[:] = [shares_text(value) for value in values.ravel()]
        return restored

    def attribute_values(self, objects: Any) -> np.ndarray | None:
        """Return the attribute values in the form of the data set, a row per object.

        An array of numbers, or of objects if there are categories; None if the metric compares no attributes.
        """
        if DISSIMILARITIES[self.metric].kind not in ("vectors", "mixed attributes"):
            return None
        if self.kind == "mixed":
            return np.asarray(objects, object)
        return as_rows(objects) if self.kind == "series" else _as_floats(objects)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Columns of the training file that are neither attributes nor labels, without the reasons."""
        used = {attribute.name for attribute in self.attributes} | {self.target}
        return tuple(
            LeftOut(name, "id" if name == self.id_column else "not used", position, np.empty(0, object))
            for position, name in enumerate(self.columns)
            if name not in used
        )

    @property
    def roles(self) -> str:
        """Use of each column of the training file, in one line, as ``Dataset.roles``."""
        return describe_roles(self.kind, self.attributes, self.left_out, self.id_column)

    def attribute_names(self, n_attributes: int) -> tuple[str, ...]:
        """Return the names of the attributes; for series that are compared as vectors, of the points."""
        if self.attributes:
            return tuple(attribute.name for attribute in self.attributes)
        first, name = (0, "point") if self.kind == "series" else (1, "column")
        return tuple(f"{name} {position}" for position in range(first, first + n_attributes))

    def _as_vectors(self, objects: Any) -> Any:
        if self.kind == "mixed":
            return as_numbers(objects, self.attributes)
        return as_rows(objects) if self.kind == "series" else objects

    def _scaled(self, vectors: Any) -> Any:
        if self.centre is None or self.width is None:
            return vectors
        numbers = _as_floats(vectors)
        if numbers.ndim != 2 or numbers.shape[1] != len(self.centre):
            raise ValueError(
                f"X has the shape {numbers.shape}; expected rows of the {len(self.centre)} attributes of the training "
                "set"
            )
        return (numbers - self.centre) / self.width

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the content of a file: values for JSON, and arrays."""
        values: dict[str, Any] = {
            "kind": self.kind,
            "metric": self.metric,
            "metric_params": self.metric_params,
            "scaling": self.scaling,
            "attributes": [
                [column.name, column.type, list(column.values), *([column.form] if column.form else [])]
                for column in self.attributes
            ],
            "target": self.target,
            "target_position": self.target_position,
        }
        # Files of tables without left-out columns stay readable for older versions.
        more = {"id_column": self.id_column, "columns": list(self.columns), "separator": self.separator}
        values |= {name: value for name, value in more.items() if value}
        arrays = {"centre": self.centre, "width": self.width}
        return values, {name: array for name, array in arrays.items() if array is not None}

    @classmethod
    def from_state(cls, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Preparation:
        """Make a preparation from the content of a file; raise ``ValueError`` if the content is inconsistent."""
        attributes = tuple(
            Attribute(name, type_, tuple(texts), *form) for name, type_, texts, *form in values["attributes"]
        )
        columns = tuple(values.get("columns", ()))
        plain = {name: value for name, value in values.items() if name not in ("attributes", "columns")}
        preparation = cls(
            **plain, centre=arrays.get("centre"), width=arrays.get("width"), attributes=attributes, columns=columns
        )
        _check_state(preparation)
        return preparation


def prepare(
    dataset: Dataset,
    *,
    train: np.ndarray | None = None,
    metric: str = "auto",
    metric_params: Mapping[str, Any] | None = None,
    scaling: Scaling | None = None,
    nominal: Nominal | None = None,
) -> Preparation:
    """Choose the metric of a data set, and learn the preparation of its objects from the training objects.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    train : ndarray of int, optional
        Rows of the training objects; by default all rows. The scaling is learned from these rows alone. The choice of
        the metric uses all rows (their kind, and whether any value is missing), so that it is the same for every fold.
    metric : str
        "auto" is "euclidean" for vectors, "gower" for mixed attributes and for vectors with missing values, "dtw" for
        series, "levenshtein" for strings, "precomputed" for a matrix.
    metric_params : dict, optional
        Arguments of the metric.
    scaling : {"z", "minmax", "raw"}, optional
        Scaling of vectors: to mean 0 and standard deviation 1, to the range 0 to 1, or none. The default is "z", and
        "raw" for series. Other metrics raise an error: metrics of mixed attributes have a scaling of their own.
    nominal : {"index", "heom"}, optional
        Another comparison of mixed attributes. "index" replaces a category by its position in the declaration of the
        attribute, and compares vectors. "heom" uses the metric HEOM if there are categories or missing values, else
        compares vectors.

    Returns
    -------
    Preparation
    """
    is_automatic = isinstance(metric, str) and metric == "auto"
    metric = metric_of_dataset(check_dataset(dataset), metric, nominal)
    kind = DISSIMILARITIES[metric].kind
    if is_automatic and kind == "mixed attributes":
        objects = np.asarray(dataset.objects, object)
        warn_of_columns(((dataset.attributes[at].name, objects[:, at]) for at in dataset.categorical), stacklevel=3)
    params = check_parameters("metric_params", metric_params)
    if scaling is not None:
        check_choice("scaling", scaling, SCALINGS)
        if kind != "vectors":
            raise ValueError(
                f"scaling={scaling!r} works for vectors, but metric={metric!r} compares {kind} in its own way; leave "
                "scaling out"
            )
    elif kind == "vectors":
        scaling = "raw" if dataset.kind == "series" else "z"
    if kind == "mixed attributes":
        params.setdefault("categorical", dataset.categorical)
    plain = Preparation(
        dataset.kind, metric, params, scaling, attributes=dataset.attributes, **_columns_of_file(dataset)
    )
    if scaling in (None, "raw"):
        return plain
    training = dataset.objects if train is None else take(dataset, train).objects
    centre, width = learn_scaling(np.asarray(plain(training), np.float64), scaling)
    too_wide = np.flatnonzero(width == np.inf)
    if len(too_wide):
        name = plain.attribute_names(len(width))[too_wide[0]]
        raise ValueError(
            f"scaling={scaling!r} cannot scale {name!r}: its range is too large for a number; divide its values, or "
            "leave it out"
        )
    return replace(plain, centre=centre, width=width)


def _columns_of_file(dataset: Dataset) -> dict[str, Any]:
    """Columns of the file that a data set was read from, as a preparation describes them."""
    layout = dataset.layout
    if layout is None or not dataset.attributes:
        return {}
    return {
        "target": layout.target_name,
        "target_position": layout.target,
        "id_column": dataset.id_column,
        "columns": dataset.columns if dataset.left_out else (),
        "separator": None if layout.delimiter in CSV_DELIMITERS else layout.delimiter,
    }


def check_dataset(dataset: Any) -> Dataset:
    """Return a data set; refuse anything else."""
    if isinstance(dataset, Dataset):
        return dataset
    raise TypeError(
        f"dataset has the type {type(dataset).__name__}; pass a protoset.datasets.Dataset, for example "
        "Dataset(name, 'vectors', X, y)"
    )


def check_parameters(name: str, parameters: Any) -> dict[str, Any]:
    """Return parameters by name as a new dict; None stands for no parameters."""
    if parameters is None:
        return {}
    if isinstance(parameters, Mapping) and all(isinstance(key, str) for key in parameters):
        return dict(parameters)
    raise TypeError(f"{name}={parameters!r} must be a dict from names to values, or None")


def metric_of_dataset(dataset: Dataset, metric: str = "auto", nominal: Nominal | None = None) -> str:
    """Return the name of the metric that a data set is compared by; arguments as in :func:`prepare`."""
    if nominal is not None:
        check_choice("nominal", nominal, NOMINALS)
    names = sorted(DISSIMILARITIES.keys() - {"callable"})
    if not isinstance(metric, str) or metric not in ("auto", *names):
        raise ValueError(f"metric={metric!r} is not known{did_you_mean(metric, names)}; choose one of {names}")
    mixed = dataset.kind == "mixed" or (dataset.kind == "vectors" and has_missing(dataset.objects))
    if mixed and nominal == "heom" and (metric == "auto" or DISSIMILARITIES[metric].kind == "vectors"):
        return "heom"
    if metric == "auto":
        return "gower" if mixed and nominal is None else METRIC_OF_KIND["vectors" if mixed else dataset.kind]
    kinds = COMPARABLE_AS["vectors" if dataset.kind == "mixed" and nominal == "index" else dataset.kind]
    if DISSIMILARITIES[metric].kind not in kinds:
        fitting = [name for name in names if DISSIMILARITIES[name].kind == kinds[0]]
        raise ValueError(
            f"metric={metric!r} compares {DISSIMILARITIES[metric].kind}, and the data {dataset.name!r} are "
            f"{_kind_of_data(dataset)}; choose one of {fitting}, or 'auto'"
        )
    return metric


def learn_scaling(numbers: np.ndarray, scaling: Scaling) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre and the width of each column; the width of a constant or missing column is 1.

    The width of a column is infinite if its range is too large for a number.
    """
    with warnings.catch_warnings():
        # NumPy warns of a column without any known value, and of a range that is too large.
        warnings.simplefilter("ignore", RuntimeWarning)
        lowest, highest = np.nanmin(numbers, axis=0), np.nanmax(numbers, axis=0)
        if scaling == "minmax":
            centre, width = lowest, highest - lowest
        else:
            # Squares of very large or very small numbers would be infinite or 0. A power of 2 changes no digit.
            exponents = np.frexp(np.fmax(-lowest, highest))[1]
            units = np.ldexp(numbers, -exponents)
            has_gaps = np.isnan(numbers).any()
            means, deviations = (np.nanmean, np.nanstd) if has_gaps else (np.mean, np.std)
            centre, width = (np.ldexp(each(units, axis=0), exponents) for each in (means, deviations))
            width = np.where(highest - lowest < np.inf, width, np.inf)
    constant = ~(highest > lowest) | (width == 0)
    return np.where(np.isnan(centre), 0.0, centre), np.where(constant, 1.0, width)


def as_numbers(objects: np.ndarray, attributes: tuple[Attribute, ...]) -> np.ndarray:
    """Return mixed rows as numbers: a category is its position in the declaration, a missing value NaN."""
    objects = np.asarray(objects, object)
    if objects.ndim != 2 or objects.shape[1] != len(attributes):
        raise ValueError(f"X has the shape {objects.shape}; expected rows of the {len(attributes)} attributes")
    numbers = np.empty(objects.shape)
    for column, attribute in enumerate(attributes):
        values = [np.nan if is_missing(value) else value for value in objects[:, column]]
        if attribute.type == "nominal":
            positions = {value: float(position) for position, value in enumerate(attribute.values)} | {np.nan: np.nan}
            unknown = next((value for value in values if value not in positions), None)
            if unknown is not None:
                raise ValueError(
                    f"the attribute {attribute.name!r} has the value {unknown!r}, which is not among the declared "
                    f"values {list(attribute.values)}; declare it, or use metric='gower'"
                )
            values = [positions[value] for value in values]
        numbers[:, column] = _as_floats(values, f"the attribute {attribute.name!r}")
    return numbers


def _as_floats(values: Any, name: str = "X") -> np.ndarray:
    """Return numbers as float64; ``name`` names them in the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError, np.exceptions.ComplexWarning) as error:
        raise ValueError(f"{name} is not a table of numbers ({error}); pass a number for each attribute") from error


def _check_iterable(objects: Any) -> Any:
    """Return several series; refuse a single value."""
    if not isinstance(objects, Iterable):
        raise TypeError(f"X={objects!r} must be a list of series")
    return objects


def as_rows(series: Any) -> np.ndarray:
    """Return series of one length and one channel as rows of numbers."""
    shapes = {np.shape(points) for points in _check_iterable(series)}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise ValueError(
            "a metric of vectors takes series of one length and one channel; use 'dtw', 'ddtw', 'erp', 'msm' or 'twe' "
            "for others"
        )
    return _as_floats(series)


def has_missing(objects: Any) -> bool:
    """Whether any value is missing."""
    objects = np.asarray(objects)
    if objects.dtype.kind == "f":
        return bool(np.isnan(objects).any())
    return any(is_missing(value) for value in objects.ravel())


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and value != value)


def shares_text(value: Any, space: str = " ") -> Any:
    """Return a value between several categories, a dict of shares, as a text such as "red 70 %, blue 30 %".

    Shares that round to 0 are left out; other values are returned as they are.
    """
    if not isinstance(value, dict):
        return value
    return ", ".join(
        f"{category}{space}{100 * share:.0f}{space}%" for category, share in value.items() if share >= 0.005
    )


def _kind_of_data(dataset: Dataset) -> str:
    names = [dataset.attributes[position].name for position in dataset.categorical]
    more = ", ..." if len(names) > 3 else ""
    return f"mixed attributes (categories in {', '.join(names[:3])}{more})" if names else dataset.kind


def _check_state(preparation: Preparation) -> None:
    """Refuse a preparation from a file whose values are unknown or do not fit together."""
    known = {"kind": KINDS, "metric": DISSIMILARITIES, "scaling": (*SCALINGS, None)}
    for name, choices in known.items():
        if getattr(preparation, name) not in choices:
            raise ValueError(f"{name} {getattr(preparation, name)!r} is not known; expected one of {list(choices)}")
    texts = [text for column in preparation.attributes for text in (column.name, *column.values)]
    texts += [column.form for column in preparation.attributes]
    texts += [text for text in (preparation.target, preparation.id_column, preparation.separator) if text is not None]
    texts += preparation.columns
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("names or values of attributes are not texts")
    position = preparation.target_position
    if type(position) is not int or not 0 <= position <= max(len(preparation.attributes), len(preparation.columns)):
        raise ValueError(f"target_position {position!r} is not a position among its attributes")
    if not isinstance(preparation.metric_params, dict):
        raise ValueError("metric_params is not a dict")
    kind, compared = preparation.kind, DISSIMILARITIES[preparation.metric].kind
    if compared not in (*COMPARABLE_AS[kind], *(["vectors"] if kind == "mixed" and preparation.attributes else [])):
        without = " without attributes" if kind == "mixed" and compared == "vectors" else ""
        raise ValueError(f"metric {preparation.metric!r} does not compare the kind {kind!r}{without}")
    if any(column.type not in ATTRIBUTE_TYPES for column in preparation.attributes):
        raise ValueError(f"types of attributes are not known; expected one of {list(ATTRIBUTE_TYPES)}")
    centre, width = preparation.centre, preparation.width
    if (centre is None) != (width is None) or (centre is not None) != (preparation.scaling in ("z", "minmax")):
        raise ValueError(f"scaling {preparation.scaling!r} does not fit the arrays centre and width")
    if centre is None or width is None:
        return
    fits = centre.dtype == width.dtype == np.float64 and centre.ndim == 1 and centre.shape == width.shape
    if not fits or not np.isfinite([centre, width]).all() or not (width > 0).all():
        raise ValueError("centre and width are not a finite centre and a finite, positive width for each attribute")
    if preparation.attributes and len(preparation.attributes) != len(centre):
        raise ValueError(f"centre has {len(centre)} values for {len(preparation.attributes)} attributes")
